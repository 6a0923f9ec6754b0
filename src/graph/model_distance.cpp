#include "graph/model_distance.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/math/logspace.h"
#include "core/linalg/dense.h"

namespace granary::graph {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const double log_2pi = std::log(2 * 3.14159265358979323846);

struct Factor {
  std::vector<int> nodes;  // first fastest
  VectorXd table;
};

Index table_size(const std::vector<int>& nodes, const std::vector<int>& levels) {
  double size = 1;
  for (int j : nodes) size *= levels[j];
  if (size > 1 << 24) {
    throw InputError(
        message("Exact inference in this network needs a table of ", size, " entries. Use exact = FALSE (simulation)."));
  }
  return static_cast<Index>(size);
}

// The product of the factors summed over all nodes but `keep`, which lie within their scope.
Factor multiply_and_sum(const std::vector<Factor>& factors, const std::vector<int>& scope, const std::vector<int>& keep,
                        const std::vector<int>& levels) {
  Factor out{keep, VectorXd::Zero(table_size(keep, levels))};
  const Index size = table_size(scope, levels);
  const auto strides = [&](const std::vector<int>& nodes) {
    std::vector<Index> result(scope.size(), 0);
    Index stride = 1;
    for (int j : nodes) {
      result[std::find(scope.begin(), scope.end(), j) - scope.begin()] = stride;
      stride *= levels[j];
    }
    return result;
  };
  std::vector<std::vector<Index>> steps;
  for (const Factor& f : factors) steps.push_back(strides(f.nodes));
  const std::vector<Index> to = strides(keep);
  std::vector<Index> at(factors.size(), 0);
  std::vector<int> value(scope.size(), 0);
  Index target = 0;
  for (Index t = 0; t < size; ++t) {
    double product = 1;
    for (std::size_t f = 0; f < factors.size(); ++f) product *= factors[f].table[at[f]];
    out.table[target] += product;
    for (std::size_t k = 0; k < scope.size(); ++k) {
      const bool carry = ++value[k] == levels[scope[k]];
      const Index move = carry ? 1 - levels[scope[k]] : 1;
      for (std::size_t f = 0; f < factors.size(); ++f) at[f] += move * steps[f][k];
      target += move * to[k];
      if (!carry) break;
      value[k] = 0;
    }
  }
  return out;
}

}  // namespace

GaussianModel make_gaussian(ConstVectorRef mean, ConstMatrixRef matrix, bool is_precision) {
  const Llt llt(matrix);
  const MatrixXd lower = llt.matrixL();
  const double floor = 1e-15 * matrix.diagonal().cwiseAbs().maxCoeff();
  if (llt.info() != Eigen::Success || !(lower.diagonal().array().square().minCoeff() > floor)) {
    const SymmetricEigen eigen(matrix, EigenParts::values);
    throw InputError(message("The ", is_precision ? "precision" : "covariance",
                             " matrix must be positive definite, but its smallest eigenvalue is ", eigen.eigenvalues()[0], "."));
  }
  const MatrixXd inverse_transposed =
      lower.transpose().triangularView<Eigen::Upper>().solve(MatrixXd::Identity(lower.rows(), lower.cols()));
  GaussianModel out;
  out.mean = mean;
  out.a = is_precision ? inverse_transposed : lower;
  out.b = is_precision ? lower : inverse_transposed;
  out.log_det_precision = (is_precision ? 2 : -2) * lower.diagonal().array().log().sum();
  return out;
}

double gaussian_kl(const GaussianModel& p, const GaussianModel& q) {
  const double trace = (p.a.transpose() * q.b).squaredNorm();
  const double shift = (q.b.transpose() * (p.mean - q.mean)).squaredNorm();
  return std::max(0.0, (p.log_det_precision - q.log_det_precision + trace - static_cast<double>(p.mean.size()) + shift) / 2);
}

double gaussian_bhattacharyya(const GaussianModel& p, const GaussianModel& q) {
  const MatrixXd middle = (p.a * p.a.transpose() + q.a * q.a.transpose()) / 2;
  const Llt llt(middle);
  const MatrixXd lower = llt.matrixL();
  const VectorXd shift = lower.triangularView<Eigen::Lower>().solve(p.mean - q.mean);
  return std::max(
      0.0, shift.squaredNorm() / 8 + lower.diagonal().array().log().sum() + (p.log_det_precision + q.log_det_precision) / 4);
}

double gaussian_entropy(const GaussianModel& p) {
  return (static_cast<double>(p.mean.size()) * (1 + log_2pi) - p.log_det_precision) / 2;
}

MatrixXd gaussian_sample(const GaussianModel& p, Index n, Rng& rng) {
  MatrixXd z(n, p.mean.size());
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < z.cols(); ++j) z(i, j) = rng.normal();
  }
  return (z * p.a.transpose()).rowwise() + p.mean.transpose();
}

VectorXd gaussian_log_density(const GaussianModel& p, ConstMatrixRef x) {
  const MatrixXd z = (x.rowwise() - p.mean.transpose()) * p.b;
  return ((p.log_det_precision - static_cast<double>(p.mean.size()) * log_2pi) / 2 - z.rowwise().squaredNorm().array() / 2)
      .matrix();
}

VectorXd ising_log_probabilities(ConstMatrixRef theta, Monitor& monitor) {
  const int p = static_cast<int>(theta.rows());
  if (p > 22) throw InputError(message("An Ising model is enumerated for at most 22 variables, not ", p, "."));
  VectorXd out(Index{1} << p);
  out[0] = 0;
  // State s without its highest bit h has been done: add what x_h = 1 brings.
  for (int h = 0; h < p; ++h) {
    monitor.check();
    const Index half = Index{1} << h;
    VectorXd field(half);  // t_hh + sum_k t_hk x_k over the lower bits
    field[0] = theta(h, h);
    for (int k = 0; k < h; ++k) {
      const Index block = Index{1} << k;
      for (Index s = 0; s < block; ++s) field[block + s] = field[s] + theta(h, k);
    }
    out.segment(half, half) = out.head(half) + field;
  }
  return (out.array() - log_sum_exp(out)).matrix();
}

VectorXd bn_log_probabilities(const BnStructure& s, const BnTables& tables, Monitor& monitor) {
  double size = 1;
  for (int levels : s.levels) size *= levels;
  if (size > 1 << 22)
    throw InputError(message("The network has ", size, " states, too many to enumerate. Use exact = FALSE (simulation)."));
  Eigen::MatrixXi states(static_cast<Index>(size), s.nodes());
  Index stride = 1;
  for (int j = 0; j < s.nodes(); ++j) {
    monitor.check();
    for (Index t = 0; t < states.rows(); ++t) states(t, j) = static_cast<int>(t / stride % s.levels[j]);
    stride *= s.levels[j];
  }
  return bn_log_density(s, tables, states);
}

double discrete_divergence(const VectorXd& p, const VectorXd& q, Divergence type) {
  double kl = 0, reverse = 0, js = 0, rho = 0, error = 0;
  const auto term = [](double lp, double lq) {  // p (log p - log q), 0 at p = 0
    if (lp == -infinity) return 0.0;
    return lq == -infinity ? infinity : std::exp(lp) * (lp - lq);
  };
  for (Index i = 0; i < p.size(); ++i) {
    const double middle = log_sum_exp(p[i], q[i]) - std::log(2.0);
    kl += term(p[i], q[i]);
    reverse += term(q[i], p[i]);
    js += (term(p[i], middle) + term(q[i], middle)) / 2;
    rho += std::exp((p[i] + q[i]) / 2);
    error += std::exp(std::min(p[i], q[i])) / 2;
  }
  switch (type) {
    case Divergence::kl:
      return std::max(0.0, kl);
    case Divergence::symkl:
      return std::max(0.0, kl + reverse);
    case Divergence::js:
      return std::max(0.0, js);
    case Divergence::hellinger:
      return std::sqrt(std::max(0.0, 1 - rho));
    case Divergence::bhattacharyya:
      return std::max(0.0, -std::log(rho));
    default:
      return error;
  }
}

Estimate sampled_divergence(const VectorXd& r_p, const VectorXd& r_q, Divergence type) {
  const auto moments = [](const VectorXd& v) {
    const double mean = v.mean();
    return std::make_pair(
        mean, (v.array() - mean).square().sum() / (static_cast<double>(v.size()) * (static_cast<double>(v.size()) - 1)));
  };
  const auto mixture = [&](auto f) {
    const auto a = moments(r_p.unaryExpr(f)), b = moments(r_q.unaryExpr(f));
    return Estimate{(a.first + b.first) / 2, std::sqrt((a.second + b.second) / 4)};
  };
  const double log2 = std::log(2.0);
  if (type == Divergence::kl) {
    const auto a = moments(r_p);
    return {a.first, std::sqrt(a.second)};
  }
  if (type == Divergence::symkl) {
    const auto a = moments(r_p), b = moments(r_q);
    return {a.first - b.first, std::sqrt(a.second + b.second)};
  }
  if (type == Divergence::js) {
    const auto a = moments(r_p.unaryExpr([&](double r) { return log2 - log1pexp(-r); }));
    const auto b = moments(r_q.unaryExpr([&](double r) { return log2 - log1pexp(r); }));
    return {(a.first + b.first) / 2, std::sqrt((a.second + b.second) / 4)};
  }
  if (type == Divergence::bayes_error) return mixture([](double r) { return 1 / (1 + std::exp(std::abs(r))); });
  const Estimate rho = mixture([](double r) { return 1 / std::cosh(std::min(std::abs(r) / 2, 700.0)); });
  if (type == Divergence::bhattacharyya) return {-std::log(rho.value), rho.se / rho.value};
  const double h = std::sqrt(std::max(0.0, 1 - rho.value));
  return {h, h > 0 ? rho.se / (2 * h) : rho.se};
}

VectorXd bn_marginal(const BnStructure& s, const BnTables& tables, const std::vector<int>& nodes, Monitor& monitor) {
  const int p = s.nodes();
  Bitset needed(p, nodes);
  for (auto it = s.order.rbegin(); it != s.order.rend(); ++it) {
    if (!needed.test(*it)) continue;
    for (int j : s.parents[*it]) needed.set(j);
  }
  const Bitset target(p, nodes);
  std::vector<Factor> factors;
  for (int i : needed) {
    Factor f{s.parents[i], VectorXd()};
    f.nodes.push_back(i);
    const Index patterns = s.patterns(i);
    f.table.resize(patterns * s.levels[i]);
    for (Index a = 0; a < patterns; ++a) {
      const int g = s.group.empty() || s.group[i].empty() ? static_cast<int>(a) : s.group[i][a];
      for (int v = 0; v < s.levels[i]; ++v) f.table[a + patterns * v] = tables[i](g, v);
    }
    factors.push_back(std::move(f));
  }
  Bitset rest = needed - target;
  const auto scope_of = [&](int node) {  // of the product that eliminating `node` makes
    Bitset scope(p);
    for (const Factor& f : factors) {
      if (node < 0 || std::find(f.nodes.begin(), f.nodes.end(), node) != f.nodes.end()) scope |= Bitset(p, f.nodes);
    }
    return scope;
  };
  Index largest = 1;
  for (const Factor& f : factors) largest = std::max(largest, f.table.size());
  while (rest.any()) {
    monitor.check();
    int best = -1;
    double smallest = infinity;
    for (int j : rest) {
      double size = 1;
      for (int k : scope_of(j)) size *= s.levels[k];
      if (size < smallest) {
        smallest = size;
        best = j;
      }
      if (smallest <= static_cast<double>(largest)) break;  // no larger than what is there: no need to look further
    }
    Bitset keep = scope_of(best);
    const std::vector<int> scope = keep.members();
    keep.reset(best);
    std::vector<Factor> used, left;
    for (Factor& f : factors) {
      (std::find(f.nodes.begin(), f.nodes.end(), best) != f.nodes.end() ? used : left).push_back(std::move(f));
    }
    left.push_back(multiply_and_sum(used, scope, keep.members(), s.levels));
    factors = std::move(left);
    rest.reset(best);
  }
  return multiply_and_sum(factors, scope_of(-1).members(), nodes, s.levels).table;
}

double bn_kl(const BnStructure& sp, const BnTables& p, const BnStructure& sq, const BnTables& q, Monitor& monitor) {
  // E_p log r(x_i | parents) for the table r of another network; by rows of that table.
  const auto expected = [&](const BnStructure& s, const BnTables& tables, int i, const auto& per_row) {
    std::vector<int> nodes = s.parents[i];
    nodes.insert(std::upper_bound(nodes.begin(), nodes.end(), i), i);
    const VectorXd joint = bn_marginal(sp, p, nodes, monitor);
    MatrixXd by_row = MatrixXd::Zero(s.groups(i), s.levels[i]);
    std::vector<int> x(s.nodes(), 0);
    for (Index t = 0; t < joint.size(); ++t) {
      Index left = t;
      for (int j : nodes) {
        x[j] = static_cast<int>(left % s.levels[j]);
        left /= s.levels[j];
      }
      by_row(s.group_of(i, x.data()), x[i]) += joint[t];
    }
    double total = 0;
    for (Index g = 0; g < by_row.rows(); ++g) {
      for (int v = 0; v < s.levels[i]; ++v) {
        if (by_row(g, v) > 0) total += by_row(g, v) * per_row(tables, i, g, v);
      }
    }
    return total;
  };
  double kl = 0;
  for (int i = 0; i < sp.nodes(); ++i) {
    monitor.check();
    if (sp.parents[i] == sq.parents[i] && sp.group.empty() && sq.group.empty()) {
      kl += expected(sp, p, i, [&](const BnTables& own, int node, Index g, int v) {
        return q[node](g, v) > 0 ? std::log(own[node](g, v) / q[node](g, v)) : infinity;
      });
    } else {
      const auto log_entry = [](const BnTables& own, int node, Index g, int v) { return std::log(own[node](g, v)); };
      kl += expected(sp, p, i, log_entry) - expected(sq, q, i, log_entry);
    }
  }
  return std::max(0.0, kl);
}

Eigen::MatrixXi bn_sample(const BnStructure& s, const BnTables& tables, Index n, Rng& rng, Monitor& monitor) {
  Eigen::MatrixXi x = Eigen::MatrixXi::Zero(n, s.nodes());
  std::vector<int> row(s.nodes());
  for (Index r = 0; r < n; ++r) {
    if (r % 1024 == 0) monitor.check();
    for (int i : s.order) row[i] = rng.categorical(tables[i].row(s.group_of(i, row.data())).transpose());
    for (int j = 0; j < s.nodes(); ++j) x(r, j) = row[j];
  }
  return x;
}

GaussianNorms gaussian_norms(const GaussianModel& p, const GaussianModel& q) {
  const auto eigenvalues = [](const MatrixXd& m) {
    return VectorXd(SymmetricEigen(m, EigenParts::values).eigenvalues());
  };
  const MatrixXd o1 = p.b * p.b.transpose(), o2 = q.b * q.b.transpose(), s1 = p.a * p.a.transpose(), s2 = q.a * q.a.transpose();
  const VectorXd e1 = eigenvalues(o1), e2 = eigenvalues(o2);
  const VectorXd dp = eigenvalues(o1 - o2).cwiseAbs(), dc = eigenvalues(s1 - s2).cwiseAbs();
  GaussianNorms out;
  out.smallest = std::min(e1[0], e2[0]);
  out.largest = std::max(e1[e1.size() - 1], e2[e2.size() - 1]);
  out.precision_nuclear = dp.sum();
  out.precision_frobenius = dp.norm();
  out.precision_spectral = dp.maxCoeff();
  out.covariance_nuclear = dc.sum();
  out.covariance_frobenius = dc.norm();
  out.covariance_spectral = dc.maxCoeff();
  // E exp(-d ||x||^2 / 2) = det(I + d S)^-1/2 for mean zero.
  const double d = out.precision_nuclear;
  const auto log_mean = [d](const VectorXd& e) { return -0.5 * (1 + d / e.array()).log().sum(); };
  out.log_bb = -d / (2 * out.smallest) + log_sum_exp(log_mean(e1), log_mean(e2));
  return out;
}

}  // namespace granary::graph
