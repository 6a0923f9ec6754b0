#include "graph/bn_kernel_linear.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/errors.h"
#include "core/optim/lbfgs.h"
#include "core/math/logspace.h"
#include "core/base/parallel.h"

namespace granary::graph {

LinearFit fit_linear(const ConstSparseRef& phi, ConstVectorRef y, const LinearOptions& options, ConstVectorRef start,
                     Monitor& monitor) {
  const Stopwatch clock;
  const Index n = phi.rows(), p = phi.cols();
  const double scale = 1 / static_cast<double>(n);
  VectorXd margin(n), slope(n);
  const auto data_loss = [&](const VectorXd& theta, VectorXd& gradient) {
    margin.noalias() = phi * theta.tail(p);
    margin.array() += theta[0];
    double loss = 0;
    for (Index i = 0; i < n; ++i) {
      const double m = y[i] * margin[i];
      if (options.loss == LinearLoss::logistic) {
        loss += log1pexp(-m);
        slope[i] = -y[i] * expit(-m) * scale;
      } else {
        const double short_by = std::max(0.0, 1 - m);
        loss += short_by * short_by;
        slope[i] = -2 * y[i] * short_by * scale;
      }
    }
    gradient.resize(p + 1);
    gradient[0] = options.intercept ? slope.sum() : 0;
    gradient.tail(p).noalias() = phi.transpose() * slope;
    return loss * scale;
  };
  const Objective smooth = [&](const VectorXd& theta, VectorXd& gradient) {
    double value = data_loss(theta, gradient);
    if (!options.l1) {
      value += options.lambda / 2 * theta.tail(p).squaredNorm();
      gradient.tail(p) += options.lambda * theta.tail(p);
    }
    return value;
  };
  VectorXd from = VectorXd::Zero(p + 1);
  if (start.size() == p + 1) from = start;
  // The stopping rule of lbfgs is relative to the gradient it starts with; ours to that of w = 0, so that a good start does not
  // make the problem harder.
  VectorXd gradient, at_zero;
  smooth(VectorXd::Zero(p + 1), at_zero);
  smooth(from, gradient);
  const double wanted = options.tol * at_zero.cwiseAbs().maxCoeff(), first = gradient.cwiseAbs().maxCoeff();
  LbfgsOptions settings;
  settings.max_iter = options.max_iter;
  settings.tol = first > 0 ? std::min(0.5, std::max(wanted / first, 1e-14)) : options.tol;
  LinearFit fit;
  VectorXd theta = from;
  if (first > wanted || options.l1) {
    LbfgsResult result;
    if (options.l1) {
      VectorXd weights = VectorXd::Constant(p + 1, options.lambda);
      weights[0] = 0;
      result = lbfgs_l1(smooth, from, weights, settings, monitor);
    } else {
      result = lbfgs(smooth, from, settings, monitor);
    }
    theta = result.x;
    fit.convergence = result.convergence;
    if (first > 0 && wanted > 0) fit.convergence.residual = result.convergence.residual * first / (wanted / options.tol);
  } else {
    fit.convergence.converged = true;
    fit.convergence.residual = 0;
  }
  fit.intercept = theta[0];
  fit.weights = theta.tail(p);
  fit.loss = data_loss(theta, gradient);
  fit.objective = fit.loss + options.lambda * (options.l1 ? fit.weights.cwiseAbs().sum() : fit.weights.squaredNorm() / 2);
  fit.convergence.seconds = clock.seconds();
  return fit;
}

namespace {

SparseMatrix columns_of(ConstMatrixRef x, const std::vector<int>& which) {
  std::vector<Eigen::Triplet<double>> entries;
  for (std::size_t c = 0; c < which.size(); ++c) {
    for (Index r = 0; r < x.rows(); ++r) {
      if (x(r, which[c]) != 0) entries.emplace_back(static_cast<int>(r), static_cast<int>(c), x(r, which[c]));
    }
  }
  SparseMatrix out(x.rows(), static_cast<Index>(which.size()));
  out.setFromTriplets(entries.begin(), entries.end());
  return out;
}

LinearFit fit_node(ConstMatrixRef x, int node, const std::vector<int>& before, const LinearOptions& options, Monitor& monitor) {
  const VectorXd y = (2 * x.col(node).array() - 1).matrix();
  return fit_linear(columns_of(x, before), y, options, VectorXd(), monitor);
}

}  // namespace

SigmoidFit fit_sigmoid_network(ConstMatrixRef x, const std::vector<int>& given, SigmoidOrder rule, const LinearOptions& options,
                               int threads, Monitor& monitor) {
  const Stopwatch clock;
  const int p = static_cast<int>(x.cols());
  std::vector<int> order = given;
  SigmoidFit out;
  int work = 0;
  const auto head = [](const std::vector<int>& items, int count) {
    return std::vector<int>(items.begin(), items.begin() + count);
  };
  if (rule == SigmoidOrder::score) {
    std::vector<int> rest(p), reversed;
    std::iota(rest.begin(), rest.end(), 0);
    while (!rest.empty()) {
      std::vector<double> objective(rest.size());
      parallel_for(static_cast<Index>(rest.size()), threads, monitor, [&](Index k) {
        std::vector<int> others;
        for (int j : rest) {
          if (j != rest[k]) others.push_back(j);
        }
        // Gain over the node alone: a node that hardly varies is no sink for that.
        objective[k] =
            fit_node(x, rest[k], others, options, monitor).objective - fit_node(x, rest[k], {}, options, monitor).objective;
      });
      const auto best = std::min_element(objective.begin(), objective.end()) - objective.begin();
      reversed.push_back(rest[best]);
      rest.erase(rest.begin() + best);
      monitor.progress(0.7 * static_cast<double>(reversed.size()) / p);
    }
    order.assign(reversed.rbegin(), reversed.rend());
    const auto pair_objective = [&](int t, const std::vector<int>& in) {
      return fit_node(x, in[t], head(in, t), options, monitor).objective +
             fit_node(x, in[t + 1], head(in, t + 1), options, monitor).objective;
    };
    for (int sweep = 0; sweep < p; ++sweep) {
      bool swapped = false;
      for (int t = 0; t + 1 < p; ++t) {
        std::vector<int> turned = order;
        std::swap(turned[t], turned[t + 1]);
        if (pair_objective(t, turned) < pair_objective(t, order) - 1e-7) {
          order = turned;
          swapped = true;
        }
      }
      if (!swapped) break;
    }
  }
  std::vector<LinearFit> fits(p);
  parallel_for(p, threads, monitor,
               [&](Index t) { fits[t] = fit_node(x, order[t], head(order, static_cast<int>(t)), options, monitor); });
  out.network.order = order;
  out.network.bias = VectorXd::Zero(p);
  out.network.weights = MatrixXd::Zero(p, p);
  out.convergence.converged = true;
  out.convergence.residual = 0;
  for (int t = 0; t < p; ++t) {
    const int i = order[t];
    out.network.bias[i] = fits[t].intercept;
    for (int k = 0; k < t; ++k) out.network.weights(i, order[k]) = fits[t].weights[k];
    out.log_likelihood -= fits[t].loss * static_cast<double>(x.rows());
    work += fits[t].convergence.iterations;
    out.convergence.residual = std::max(out.convergence.residual, fits[t].convergence.residual);
    if (!fits[t].convergence.converged) {
      out.convergence.converged = false;
      out.convergence.message = message("node ", i + 1, " stopped early");
    }
  }
  out.convergence.iterations = work;
  out.convergence.seconds = clock.seconds();
  return out;
}

VectorXd sigmoid_log_density(const SigmoidNetwork& network, ConstMatrixRef x) {
  const MatrixXd eta = (x * network.weights.transpose()).rowwise() + network.bias.transpose();
  VectorXd out = VectorXd::Zero(x.rows());
  for (Index j = 0; j < x.cols(); ++j) {
    for (Index r = 0; r < x.rows(); ++r) out[r] += x(r, j) > 0.5 ? log_expit(eta(r, j)) : log_expit(-eta(r, j));
  }
  return out;
}

MatrixXd sigmoid_sample(const SigmoidNetwork& network, Index n, Rng& rng, Monitor& monitor) {
  MatrixXd x = MatrixXd::Zero(n, network.bias.size());
  for (int i : network.order) {
    monitor.check();
    const VectorXd eta = (x * network.weights.row(i).transpose()).array() + network.bias[i];
    for (Index r = 0; r < n; ++r) x(r, i) = rng.bernoulli(expit(eta[r])) ? 1 : 0;
  }
  return x;
}

VectorXd modified_log_density(const ModifiedNetwork& network, ConstMatrixRef x) {
  const Index m = network.top.size();
  if (x.cols() != m + 1) throw InputError(message("x must have ", m + 1, " columns, one per node, not ", x.cols(), "."));
  VectorXd out(x.rows());
  for (Index r = 0; r < x.rows(); ++r) {
    double total = 0, above = 0;
    for (Index i = 0; i < m; ++i) {
      double eta = 0;
      for (Index j = 0; j < i; ++j) eta += network.weights(i, j) * x(r, j);
      above += network.top[i] * expit(eta);
      total += x(r, i) > 0.5 ? log_expit(eta) : log_expit(-eta);
    }
    out[r] = total + (x(r, m) > 0.5 ? log_expit(above) : log_expit(-above));
  }
  return out;
}

ModifiedNetwork parity_network(const std::vector<int>& a) {
  const int k = static_cast<int>(a.size()), n = 2 * k;
  // Unit t answers whether a'x >= t; then 1 + 2 sum_t (-1)^t unit_t = (-1)^{a'x}. At steepness 30 a unit is off by at most e^-15.
  constexpr double steepness = 30, height = 5;
  ModifiedNetwork network{MatrixXd::Zero(n + 1, n + 1), VectorXd::Zero(n + 1)};
  network.top[0] = 2 * height;  // node 0 has no parents, so its sigmoid is 1/2
  int ones = 0;
  for (int bit : a) ones += bit;
  for (int t = 1; t <= ones; ++t) {
    const int unit = k + t;
    network.weights(unit, 0) = steepness * (0.5 - t);
    for (int j = 0; j < k; ++j) network.weights(unit, j + 1) = steepness * a[j];
    network.top[unit] = (t % 2 ? -2 : 2) * height;
  }
  return network;
}

void check(const SigmoidNetwork& t) {
  const Index p = t.bias.size();
  require(static_cast<Index>(t.order.size()) == p && t.weights.rows() == p && t.weights.cols() == p, "`order`, `bias` and `weights` do not fit each other.");
  std::vector<char> seen(static_cast<std::size_t>(p), 0);
  for (const int i : t.order) {
    require(i >= 0 && i < p && !seen[static_cast<std::size_t>(i)], "`order` is no order of the columns.");
    seen[static_cast<std::size_t>(i)] = 1;
  }
}

}  // namespace granary::graph
