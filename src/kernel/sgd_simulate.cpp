#include "kernel/sgd_simulate.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "core/base/errors.h"
#include "core/base/parallel.h"

namespace granary::kernel {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double half_mean_square(const VectorXd& residual) { return 0.5 * residual.squaredNorm() / static_cast<double>(residual.size()); }

// Runs `order` over the examples until each of `times`, then calls record(k, w).
template <class Record>
void descend(const MatrixXd& x, const VectorXd& y, const SgdStep& step, SgdOrder order, const ConstVectorRef& times, Rng& rng,
             Monitor& monitor, Record&& record) {
  const Index weights = x.rows(), examples = x.cols();
  const double n = static_cast<double>(weights), root = std::sqrt(n);
  const double decay = 1 - step.eta * step.lambda / static_cast<double>(examples);  // gamma / N = lambda / p
  VectorXd w = VectorXd::Zero(weights);
  std::vector<int> queue(static_cast<std::size_t>(examples));
  std::iota(queue.begin(), queue.end(), 0);
  // A check costs a clock reading: one in every hundred thousand multiplications or so.
  const long between_checks = std::max<long>(1, 100000 / static_cast<long>(weights));
  long done = 0;
  bool finite = true;
  for (Index k = 0; k < times.size(); ++k) {
    const long until = std::lround(times[k] * n);
    for (; done < until && finite; ++done) {
      const Index place = done % examples;
      if (order == SgdOrder::full) {
        if (place == examples - 1) {
          const VectorXd residual = x.transpose() * w / root - y;
          w -= step.eta * (x * residual / root + step.lambda * w);
          monitor.check();
        }
        continue;
      }
      Index mu = place;
      if (order == SgdOrder::replacement) {
        mu = static_cast<Index>(rng.below(static_cast<std::uint64_t>(examples)));
      } else if (order == SgdOrder::shuffled) {
        if (place == 0) rng.shuffle(queue);
        mu = queue[static_cast<std::size_t>(place)];
      }
      const double error = x.col(mu).dot(w) / root - y[mu];
      w = decay * w - (step.eta * error / root) * x.col(mu);
      if (done % between_checks == 0) {
        monitor.check();
        finite = w.squaredNorm() < 1e200;
      }
    }
    record(k, w);
  }
}

double bounded(double error) { return error < 1e200 ? error : infinity; }

}  // namespace

SgdRuns simulate_sgd(const SgdSimulation& setting, ConstVectorRef times, Index replicates, const Rng& rng, int threads,
                     Monitor& monitor) {
  const Index weights = setting.weights, examples = setting.examples;
  if (weights < 1 || examples < 1) throw InputError("there must be at least one weight and one example.");
  const double n = static_cast<double>(weights);
  SgdRuns runs{MatrixXd(times.size(), replicates), MatrixXd(times.size(), replicates)};
  std::atomic<Index> done{0};
  parallel_for(replicates, threads, monitor, [&](Index r) {
    Rng own = rng.stream(static_cast<std::uint64_t>(r));
    MatrixXd x(weights, examples);
    for (Index mu = 0; mu < examples; ++mu) {
      x.col(mu) = own.normals(weights);
      if (setting.inputs == SgdInputs::sphere) x.col(mu) *= std::sqrt(n) / x.col(mu).norm();
    }
    VectorXd teacher = own.normals(weights);
    teacher *= std::sqrt(n) / teacher.norm();
    const VectorXd y = x.transpose() * teacher / std::sqrt(n) + std::sqrt(setting.sigma2) * own.normals(examples);
    descend(x, y, setting.step, setting.order, times, own, monitor, [&](Index k, const VectorXd& w) {
      runs.test(k, r) = bounded((w - teacher).squaredNorm() / (2 * n));
      runs.train(k, r) = bounded(half_mean_square(x.transpose() * w / std::sqrt(n) - y));
    });
    monitor.progress(static_cast<double>(++done) / static_cast<double>(replicates));
  });
  return runs;
}

SgdRuns simulate_sgd(const SgdData& data, const SgdStep& step, SgdOrder order, ConstVectorRef times, Index replicates,
                     const Rng& rng, int threads, Monitor& monitor) {
  if (data.x.cols() < 1 || data.y.size() != data.x.cols()) throw InputError("there must be one response per example.");
  const double root = std::sqrt(static_cast<double>(data.x.rows()));
  const bool test = data.test_x.cols() > 0;
  SgdRuns runs{MatrixXd(test ? times.size() : 0, replicates), MatrixXd(times.size(), replicates)};
  std::atomic<Index> done{0};
  parallel_for(replicates, threads, monitor, [&](Index r) {
    Rng own = rng.stream(static_cast<std::uint64_t>(r));
    descend(data.x, data.y, step, order, times, own, monitor, [&](Index k, const VectorXd& w) {
      runs.train(k, r) = bounded(half_mean_square(data.x.transpose() * w / root - data.y));
      if (test) runs.test(k, r) = bounded(half_mean_square(data.test_x.transpose() * w / root - data.test_y));
    });
    monitor.progress(static_cast<double>(++done) / static_cast<double>(replicates));
  });
  return runs;
}

// With B_mu = beta I - (eta/N) x x' and c_mu = (eta/sqrt N) x_mu y_mu:
//   E w  <- mean_mu (B_mu E w + c_mu)
//   E ww' <- mean_mu (B_mu E ww' B_mu + B_mu E w c_mu' + c_mu E w' B_mu + c_mu c_mu').
// Noise enters through U = E[w xi'] (N x p), which starts at zero and gains (eta / (p sqrt N)) sigma2 x_mu in column mu.
SgdMoments exact_sgd(const MatrixXd& x, const VectorXd& y, const VectorXd& teacher, bool average_noise, double sigma2,
                     const SgdStep& step, const VectorXi& updates, Monitor& monitor) {
  const Index weights = x.rows(), examples = x.cols();
  if (y.size() != examples) throw InputError("there must be one response per example.");
  if (teacher.size() != 0 && teacher.size() != weights) throw InputError("the teacher must have one entry per weight.");
  const double n = static_cast<double>(weights), p = static_cast<double>(examples), root = std::sqrt(n);
  const double beta = 1 - step.eta * step.lambda / p, scale = step.eta / n, push = step.eta / root;
  const double extra = average_noise ? sigma2 : 0;
  const MatrixXd second = x * x.transpose() / p;
  const VectorXd drive = x * y / p;  // mean of x y
  VectorXd mean = VectorXd::Zero(weights);
  MatrixXd moment = MatrixXd::Zero(weights, weights), noise;
  if (extra > 0) noise = MatrixXd::Zero(weights, examples);
  SgdMoments result;
  const Index count = updates.size();
  result.train.resize(count);
  result.test = VectorXd::Constant(count, std::numeric_limits<double>::quiet_NaN());
  result.mean.resize(weights, count);
  result.variance.resize(weights, count);
  const double response = y.squaredNorm() / p + extra;
  Index done = 0;
  for (Index k = 0; k < count; ++k) {
    for (; done < updates[k]; ++done) {
      monitor.progress(static_cast<double>(done) / std::max(1, updates[count - 1]));
      // Per example: x'(E ww')x, and s = x'E w y + x'E[w xi].
      const VectorXd quadratic = (x.cwiseProduct(moment * x)).colwise().sum().transpose();
      VectorXd cross = (x.transpose() * mean).cwiseProduct(y);
      if (extra > 0) cross += x.cwiseProduct(noise).colwise().sum().transpose();
      // Coefficient of x x' / p: from the three terms that end in x on both sides.
      VectorXd on_x = scale * scale * quadratic - 2 * scale * push * cross;
      on_x += push * push * (y.array().square() + extra).matrix();
      const MatrixXd shrunk = second * moment;
      MatrixXd next = beta * beta * moment - beta * scale * (shrunk + shrunk.transpose());
      next.noalias() += (x * on_x.asDiagonal() / p) * x.transpose();
      MatrixXd outer = mean * drive.transpose();
      if (extra > 0) outer.noalias() += noise * x.transpose() / p;
      next += beta * push * (outer + outer.transpose());
      moment = 0.5 * (next + next.transpose());
      mean = beta * mean - scale * (second * mean) + push * drive;
      if (extra > 0) noise = (beta * noise - scale * (second * noise) + (push * extra / p) * x).eval();
      if (!(moment.cwiseAbs().maxCoeff() < 1e200)) {
        throw NumericalError(message("the second moment of the weights is beyond 1e200 after ", done + 1,
                                     " updates: eta is above its critical value. ", "Ask for fewer updates or a smaller rate."));
      }
    }
    result.mean.col(k) = mean;
    result.variance.col(k) = (moment.diagonal() - mean.cwiseProduct(mean)).cwiseMax(0);
    double fitted = (second.cwiseProduct(moment)).sum() / n - 2 * mean.dot(drive) / root;
    if (extra > 0) fitted -= 2 * x.cwiseProduct(noise).sum() / (p * root);
    result.train[k] = std::max(0.0, 0.5 * (response + fitted));
    if (teacher.size() > 0) {
      result.test[k] = std::max(0.0, (moment.trace() - 2 * mean.dot(teacher) + teacher.squaredNorm()) / (2 * n));
    }
  }
  return result;
}

}  // namespace granary::kernel
