#include "core/infer/spin_moments.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/errors.h"
#include "core/math/logspace.h"

namespace granary {

namespace {

// A matrix product is symmetric up to rounding only, and couplings moved along it would be too.
void clip(MomentResult& result) {
  result.mean = result.mean.cwiseMax(-1.0).cwiseMin(1.0);
  result.second = ((result.second + result.second.transpose()) / 2).eval().cwiseMax(-1.0).cwiseMin(1.0);
  result.second.diagonal().setOnes();
}

MatrixXd product_sample(ConstVectorRef mean, Index rows, Rng& rng) {
  MatrixXd x(rows, mean.size());
  for (Index i = 0; i < x.cols(); ++i) {
    for (Index t = 0; t < rows; ++t) x(t, i) = rng.uniform() < 0.5 * (1 + mean[i]) ? 1.0 : -1.0;
  }
  return x;
}

void average(const MatrixXd& x, MomentResult& result) {
  const double n = static_cast<double>(x.rows());
  result.mean = x.colwise().sum().transpose() / n;
  result.second = x.transpose() * x / n;
}

// Gelman and Rubin's potential scale reduction of the energy: means and mean squares of each chain over `length` sweeps.
double scale_reduction(const VectorXd& sum, const VectorXd& squares, int length) {
  const double chains = static_cast<double>(sum.size()), steps = length;
  if (length < 2 || sum.size() < 2) return Convergence::unknown;
  const VectorXd mean = sum / steps;
  const double within = ((squares / steps - mean.cwiseProduct(mean)).mean()) * steps / (steps - 1);
  const double between = (mean.array() - mean.mean()).square().sum() / (chains - 1);
  // Chains that never move have no variance within: alike they agree, otherwise they never will.
  if (!(within > 1e-12 * (1 + squares.mean() / steps))) return between > 1e-12 ? std::numeric_limits<double>::infinity() : 1.0;
  return std::sqrt((steps - 1) / steps + between / within);
}

double binary_entropy(double p) {  // of a coin that shows heads with probability p
  return (p > 0 ? -p * std::log(p) : 0) + (p < 1 ? -(1 - p) * std::log1p(-p) : 0);
}

// Pairs without an edge. Given its neighbour k towards i, x_j depends on x_i no more, and E(x_j | x_k) is linear in x_k, so
// cov(x_i, x_j) = cov(x_i, x_k) cov(x_k, x_j) / var(x_k): exact on a forest, along a shortest path otherwise.
void correlate_along_paths(const std::vector<std::vector<Index>>& neighbours, MomentResult& result) {
  const Index n = result.mean.size();
  const VectorXd variance = 1 - result.mean.array().square();
  MatrixXd covariance = result.second - result.mean * result.mean.transpose();
  for (Index i = 0; i < n; ++i) {
    std::vector<char> seen(static_cast<std::size_t>(n), 0);
    std::vector<Index> queue{i};
    VectorXd row = VectorXd::Zero(n);
    row[i] = variance[i];
    seen[static_cast<std::size_t>(i)] = 1;
    for (std::size_t at = 0; at < queue.size(); ++at) {
      const Index k = queue[at];
      for (const Index j : neighbours[static_cast<std::size_t>(k)]) {
        if (seen[static_cast<std::size_t>(j)]) continue;
        seen[static_cast<std::size_t>(j)] = 1;
        queue.push_back(j);
        row[j] = k == i ? covariance(i, j) : variance[k] > 0 ? row[k] * covariance(k, j) / variance[k] : 0;
        if (k != i && j > i) result.second(i, j) = result.second(j, i) = std::clamp(result.mean[i] * result.mean[j] + row[j], -1.0, 1.0);
      }
    }
  }
}

}  // namespace

MeanField mean_field(ConstMatrixRef w, ConstVectorRef b, ConstVectorRef start, const MomentOptions& options, Monitor& monitor) {
  const Index n = b.size();
  MeanField result;
  VectorXd m = start.size() == n ? VectorXd(start) : VectorXd(b.array().tanh());
  const int limit = 10 * options.max_iter;
  double change = 0;
  for (int k = 1; k <= limit; ++k) {
    monitor.check();
    change = 0;
    for (Index i = 0; i < n; ++i) {
      const double target = std::tanh(b[i] + 2 * w.col(i).dot(m));
      const double next = options.damping * m[i] + (1 - options.damping) * target;
      change = std::max(change, std::abs(next - m[i]));
      m[i] = next;
    }
    result.convergence.iterations = k;
    if (change < options.tol) {
      result.convergence.converged = true;
      break;
    }
  }
  result.convergence.residual = change;
  double entropy = 0;
  for (Index i = 0; i < n; ++i) entropy += binary_entropy(0.5 * (1 + m[i]));
  result.log_partition = m.dot(w * m) + b.dot(m) + entropy;
  result.mean = m;
  return result;
}

void gibbs_sweep(ConstMatrixRef w, ConstVectorRef b, MatrixRef x, Rng& rng, Monitor& monitor) {
  const Index n = b.size();
  std::vector<std::vector<Index>> neighbours(n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      if (w(j, i) != 0) neighbours[i].push_back(j);
    }
  }
  VectorXd field(x.rows());
  for (Index i = 0; i < n; ++i) {
    monitor.check();
    field.setConstant(b[i]);
    for (const Index j : neighbours[i]) field += 2 * w(j, i) * x.col(j);
    for (Index t = 0; t < x.rows(); ++t) x(t, i) = rng.uniform() < expit(2 * field[t]) ? 1.0 : -1.0;
  }
}

MomentResult belief_moments(ConstMatrixRef w, ConstVectorRef b, const MomentOptions& options, Monitor& monitor) {
  const Index n = b.size();
  // message(j, i): the field that j sends to i, atanh(tanh(2 w_ij) tanh(b_j + all messages to j but that of i)).
  MatrixXd message = MatrixXd::Zero(n, n);
  std::vector<std::vector<Index>> neighbours(n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      if (w(j, i) != 0) neighbours[i].push_back(j);
    }
  }
  // atanh(tanh(a) tanh(h)) = (log cosh(a + h) - log cosh(a - h)) / 2, which never overflows.
  const auto log_cosh = [](double v) { return std::abs(v) + std::log1p(std::exp(-2 * std::abs(v))) - std::log(2.0); };
  const auto send = [&](double a, double h) { return 0.5 * (log_cosh(a + h) - log_cosh(a - h)); };
  VectorXd total = b;
  MomentResult result;
  double change = 0;
  for (int k = 1; k <= options.max_iter; ++k) {
    monitor.check();
    change = 0;
    for (Index j = 0; j < n; ++j) {
      for (const Index i : neighbours[j]) {
        const double cavity = total[j] - message(i, j);
        const double target = send(2 * w(i, j), cavity);
        const double next = options.damping * message(j, i) + (1 - options.damping) * target;
        const double move = next - message(j, i);
        change = std::max(change, std::abs(move));
        message(j, i) = next;
        total[i] += move;
      }
    }
    result.convergence.iterations = k;
    if (change < options.tol) {
      result.convergence.converged = true;
      break;
    }
  }
  result.convergence.residual = change;
  if (!result.convergence.converged) result.convergence.message = "belief propagation did not settle";
  for (Index i = 0; i < n; ++i) {  // the running totals carry the rounding of every change
    total[i] = b[i];
    for (const Index j : neighbours[i]) total[i] += message(j, i);
  }
  result.mean = total.array().tanh();
  result.second = result.mean * result.mean.transpose();
  double bethe = 0;
  for (Index i = 0; i < n; ++i) {
    const double degree = static_cast<double>(neighbours[i].size());
    bethe += (1 - degree) * binary_entropy(0.5 * (1 + result.mean[i])) + b[i] * result.mean[i];
  }
  for (Index j = 0; j < n; ++j) {
    for (const Index i : neighbours[j]) {
      if (i > j) continue;
      // The belief of the pair: exp(2 w x_i x_j + h_i x_i + h_j x_j), h the cavity fields.
      const double a = 2 * w(i, j), h_i = total[i] - message(j, i), h_j = total[j] - message(i, j);
      VectorXd log_p(4);
      log_p << a + h_i + h_j, -a + h_i - h_j, -a - h_i + h_j, a - h_i - h_j;
      const VectorXd p = softmax(log_p);
      result.second(i, j) = result.second(j, i) = p[0] - p[1] - p[2] + p[3];
      for (int s = 0; s < 4; ++s) bethe -= p[s] > 0 ? p[s] * std::log(p[s]) : 0;
      bethe += a * result.second(i, j);
    }
  }
  result.log_partition = bethe;
  clip(result);
  correlate_along_paths(neighbours, result);
  return result;
}

MomentResult spin_moments(ConstMatrixRef w, ConstVectorRef b, MomentMethod method, const MomentOptions& options, MatrixXd& chains,
                          Rng& rng, Monitor& monitor) {
  if (options.samples < 1) throw InputError(message("`samples` must be at least 1, not ", options.samples, "."));
  MomentResult result;
  if (method == MomentMethod::belief) return belief_moments(w, b, options, monitor);
  if (method == MomentMethod::exact) {
    SpinMoments exact = exact_moments(w, b, monitor);
    result.mean = std::move(exact.mean);
    result.second = std::move(exact.second);
    result.log_partition = exact.log_partition;
    result.convergence.converged = true;
    return result;
  }
  if (method == MomentMethod::persistent) {
    if (chains.rows() != options.samples || chains.cols() != b.size()) {
      // More chains may be asked for as the steps go on: the new ones start as copies of the old.
      MatrixXd grown = product_sample(VectorXd::Zero(b.size()), options.samples, rng);
      if (chains.cols() == b.size()) {
        for (Index t = 0; t < std::min<Index>(grown.rows(), chains.rows()); ++t) grown.row(t) = chains.row(t);
      }
      chains = std::move(grown);
    }
    for (int k = 0; k < options.sweeps; ++k) gibbs_sweep(w, b, chains, rng, monitor);
    average(chains, result);
    result.convergence.converged = true;
    result.effective_samples = options.samples;
    clip(result);
    return result;
  }
  const MeanField field = mean_field(w, b, VectorXd(), options, monitor);
  result.convergence = field.convergence;
  if (method == MomentMethod::mean_field) {
    result.mean = field.mean;
    result.second = field.mean * field.mean.transpose();
    result.log_partition = field.log_partition;
    clip(result);
    return result;
  }
  MatrixXd x = product_sample(field.mean, options.samples, rng);
  if (method == MomentMethod::gibbs) {
    const int kept = options.sweeps - options.sweeps / 2;
    VectorXd sum = VectorXd::Zero(x.rows()), squares = sum;
    for (int k = 0; k < options.sweeps; ++k) {
      gibbs_sweep(w, b, x, rng, monitor);
      if (options.diagnose && k >= options.sweeps - kept) {
        const VectorXd energy = (x * w).cwiseProduct(x).rowwise().sum() + x * b;
        sum += energy;
        squares += energy.cwiseProduct(energy);
      }
    }
    average(x, result);
    result.effective_samples = options.samples;
    if (options.diagnose) result.r_hat = scale_reduction(sum, squares, kept);
  } else {
    VectorXd log_weight = (x * w).cwiseProduct(x).rowwise().sum() + x * b;
    for (Index i = 0; i < x.cols(); ++i) {
      const double plus = std::log(0.5 * (1 + field.mean[i])), minus = std::log(0.5 * (1 - field.mean[i]));
      for (Index t = 0; t < x.rows(); ++t) log_weight[t] -= x(t, i) > 0 ? plus : minus;
    }
    result.log_partition = log_mean_exp(log_weight);
    const VectorXd weight = softmax(log_weight);
    result.mean = x.transpose() * weight;
    result.second = x.transpose() * weight.asDiagonal() * x;
    result.effective_samples = 1 / weight.squaredNorm();
  }
  result.convergence.converged = true;
  clip(result);
  return result;
}

MatrixXd gibbs_spin_sample(ConstMatrixRef w, ConstVectorRef b, Index rows, int burn_in, int thin, Rng& rng, Monitor& monitor) {
  // As many chains as rows would waste the burn-in; one chain would tie all rows together.
  const Index chains = std::min<Index>(rows, 32);
  MatrixXd state = product_sample(VectorXd::Zero(b.size()), chains, rng), x(rows, b.size());
  for (int k = 0; k < burn_in; ++k) gibbs_sweep(w, b, state, rng, monitor);
  for (Index done = 0; done < rows; done += chains) {
    for (int k = 0; k < thin; ++k) gibbs_sweep(w, b, state, rng, monitor);
    const Index take = std::min(chains, rows - done);
    x.middleRows(done, take) = state.topRows(take);
    monitor.progress(static_cast<double>(done) / static_cast<double>(rows));
  }
  return x;
}

MatrixXd spin_sample(const SpinModel& model, const SpinSampleOptions& options, Rng rng, Monitor& monitor) {
  if (options.exact) return exact_spin_sample(model.w, model.b, options.rows, rng, monitor);
  return gibbs_spin_sample(model.w, model.b, options.rows, options.burn_in, options.thin, rng, monitor);
}

}  // namespace granary
