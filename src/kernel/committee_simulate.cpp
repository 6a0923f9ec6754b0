#include "kernel/committee_simulate.h"

#include <atomic>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "core/math/special.h"
#include "core/linalg/dense.h"
#include "core/linalg/small.h"

namespace granary::kernel {

namespace {

struct Problem {
  MatrixXd teacher;   // N x M
  MatrixXd students;  // N x L, at the start
  MatrixXd x;         // N x p
  VectorXd y;
};

double squash(double u, bool linear) { return linear ? u : std::erf(u / std::sqrt(2.0)); }
double slope(double u, bool linear) { return linear ? 1 : 2 * normal_pdf(u); }

double respond(const CommitteeModel& model, const MatrixXd& teacher, const VectorXd& x, Rng& rng) {
  const double root = std::sqrt(static_cast<double>(x.size()));
  double y = std::sqrt(model.noise[0]) * rng.normal();
  for (Index m = 0; m < model.teachers; ++m) {
    y += squash(teacher.col(m).dot(x) / root + std::sqrt(model.noise[m + 1]) * rng.normal(), model.linear);
  }
  return y;
}

// A root of T by its pivoted LDL', so that singular overlaps work too: columns f with f f' = T.
MatrixXd overlap_root(const MatrixXd& t) {
  const Eigen::LDLT<MatrixXd> factor(t);
  const VectorXd d = factor.vectorD().cwiseMax(0).cwiseSqrt();
  const MatrixXd lower = factor.matrixL();
  return factor.transpositionsP().transpose() * MatrixXd(lower * d.asDiagonal());
}

Problem draw_problem(const CommitteeModel& model, const CommitteeSimulation& setting, Rng& rng) {
  const Index n = setting.inputs;
  Problem problem;
  // Orthonormal directions from Gaussian ones, then the overlaps asked for.
  MatrixXd gaussian(n, model.teachers);
  for (Index m = 0; m < model.teachers; ++m) gaussian.col(m) = rng.normals(n);
  const Qr qr(gaussian);
  MatrixXd basis = qr.thin_q(model.teachers);
  problem.teacher = std::sqrt(static_cast<double>(n)) * basis * overlap_root(model.teacher).transpose();
  problem.students.resize(n, model.students);
  for (Index l = 0; l < model.students; ++l) problem.students.col(l) = std::sqrt(setting.start) * rng.normals(n);
  problem.x.resize(n, setting.examples);
  problem.y.resize(setting.examples);
  for (Index mu = 0; mu < setting.examples; ++mu) {
    problem.x.col(mu) = rng.normals(n);
    problem.y[mu] = respond(model, problem.teacher, problem.x.col(mu), rng);
  }
  return problem;
}

double training_error(const CommitteeModel& model, const Problem& problem, const MatrixXd& w) {
  const MatrixXd h = problem.x.transpose() * w / std::sqrt(static_cast<double>(w.rows()));
  double sum = 0;
  for (Index mu = 0; mu < h.rows(); ++mu) {
    double output = -problem.y[mu];
    for (Index l = 0; l < h.cols(); ++l) output += squash(h(mu, l), model.linear);
    sum += output * output;
  }
  return 0.5 * sum / static_cast<double>(h.rows());
}

double excess_kurtosis(const VectorXd& values) {
  const Eigen::ArrayXd centred = values.array() - values.mean();
  const double variance = centred.square().mean();
  return variance > 0 ? centred.square().square().mean() / (variance * variance) - 3 : 0;
}

}  // namespace

CommitteeRuns simulate_committee(const CommitteeModel& model, const CommitteeSimulation& setting, ConstVectorRef times,
                                 Index replicates, const Rng& rng, int threads, Monitor& monitor) {
  const Index n = setting.inputs, count = times.size();
  if (n < model.teachers) throw InputError("a network needs at least as many inputs as its teacher has hidden units.");
  const bool finite = setting.examples > 0;
  const double root = std::sqrt(static_cast<double>(n));
  CommitteeRuns runs;
  runs.test.resize(count, replicates);
  runs.train.resize(finite ? count : 0, replicates);
  runs.q.assign(static_cast<std::size_t>(replicates), MatrixXd(model.students * model.students, count));
  runs.r.assign(static_cast<std::size_t>(replicates), MatrixXd(model.students * model.teachers, count));
  runs.kurtosis.resize(finite ? model.students : 0, replicates);
  Problem shared;
  if (setting.same_set) {
    Rng own = rng.stream(0);
    shared = draw_problem(model, setting, own);
  }
  std::atomic<Index> done{0};
  parallel_for(replicates, threads, monitor, [&](Index replicate) {
    Rng own = rng.stream(static_cast<std::uint64_t>(replicate) + 1);
    Problem drawn;
    if (!setting.same_set) drawn = draw_problem(model, setting, own);
    const Problem& problem = setting.same_set ? shared : drawn;
    MatrixXd w = problem.students;
    VectorXd fresh, h(model.students), step(model.students);
    const long between_checks = std::max<long>(1, 50000 / static_cast<long>(n * model.students));
    long update = 0;
    for (Index k = 0; k < count; ++k) {
      const long until = std::lround(times[k] * static_cast<double>(n));
      for (; update < until; ++update) {
        double y;
        Index mu = 0;
        if (finite) {
          mu = static_cast<Index>(own.below(static_cast<std::uint64_t>(setting.examples)));
          y = problem.y[mu];
        } else {
          fresh = own.normals(n);
          y = respond(model, problem.teacher, fresh, own);
        }
        const double* input = finite ? problem.x.col(mu).data() : fresh.data();
        const Eigen::Map<const VectorXd> x(input, n);
        h.noalias() = w.transpose() * x;
        h /= root;
        double error = -y;
        for (Index l = 0; l < model.students; ++l) error += squash(h[l], model.linear);
        for (Index l = 0; l < model.students; ++l) w.col(l) -= (model.eta / root * slope(h[l], model.linear) * error) * x;
        if (update % between_checks == 0) monitor.check();
      }
      const MatrixXd q = w.transpose() * w / static_cast<double>(n), r = w.transpose() * problem.teacher / static_cast<double>(n);
      runs.q[replicate].col(k) = Eigen::Map<const VectorXd>(q.data(), q.size());
      runs.r[replicate].col(k) = Eigen::Map<const VectorXd>(r.data(), r.size());
      const bool sane = q.trace() < 1e200;
      runs.test(k, replicate) = sane ? mean_half_square(test_covariance(model, q, r), model.students, model.linear)
                                     : std::numeric_limits<double>::infinity();
      if (finite) runs.train(k, replicate) = sane ? training_error(model, problem, w) : std::numeric_limits<double>::infinity();
      if (!sane) {  // the rest is infinite too
        for (Index j = k; j < count; ++j) {
          runs.test(j, replicate) = std::numeric_limits<double>::infinity();
          if (finite) runs.train(j, replicate) = std::numeric_limits<double>::infinity();
          runs.q[replicate].col(j).setConstant(std::numeric_limits<double>::infinity());
          runs.r[replicate].col(j).setConstant(std::numeric_limits<double>::infinity());
        }
        break;
      }
    }
    if (finite) {
      const MatrixXd activation = problem.x.transpose() * w / root;
      for (Index l = 0; l < model.students; ++l) runs.kurtosis(l, replicate) = excess_kurtosis(activation.col(l));
      if (replicate == 0) runs.activations = activation.col(0);
    }
    monitor.progress(static_cast<double>(++done) / static_cast<double>(replicates));
  });
  return runs;
}

}  // namespace granary::kernel
