#include "graph/nodes_problem.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/convergence.h"
#include "core/base/errors.h"
#include "core/prox/proximal.h"
#include "core/graph/union_find.h"
#include "graph/penalty.h"
#include "core/linalg/dense.h"

namespace granary::graph {

double row_norm(ConstVectorRef v, RowNorm norm) {
  if (v.size() == 0) return 0;
  return norm == RowNorm::l2 ? v.stableNorm() : v.cwiseAbs().maxCoeff();
}

double dual_norm(ConstVectorRef v, RowNorm norm) {
  if (v.size() == 0) return 0;
  return norm == RowNorm::l2 ? v.stableNorm() : v.lpNorm<1>();
}

VectorXd row_norms(const MatrixXd& x, RowNorm norm) {
  VectorXd out(x.cols()), column;
  for (Index n = 0; n < x.cols(); ++n) {
    column = x.col(n);
    column[n] = 0;
    out[n] = row_norm(column, norm);
  }
  return out;
}

double nodes_penalty(const MatrixXd& x, const NodesPenalty& penalty) {
  return penalty.rho * x.cwiseAbs().sum() + penalty.tau * row_norms(x, penalty.norm).sum();
}

double minus_log_det(const MatrixXd& x) {
  const Llt llt(x);
  if (llt.info() != Eigen::Success) return std::numeric_limits<double>::infinity();
  return -2 * llt.matrixLLT().diagonal().array().log().sum();
}

void check_nodes_problem(const ConstMatrixRef& s, const NodesPenalty& penalty) {
  if (s.rows() != s.cols()) throw InputError(message("S must be square, but it is ", s.rows(), " x ", s.cols(), "."));
  check_penalties(s, penalty.rho, penalty.tau);
  if (penalty.rho == 0 && penalty.tau == 0 && !std::isfinite(minus_log_det(s))) {
    throw NumericalError(
        "the likelihood is unbounded: the covariance is singular and nothing is penalised; use a rho or a tau above 0.");
  }
}

MatrixXd nearest_dual(const ConstMatrixRef& s, const MatrixXd& inverse, const NodesPenalty& penalty) {
  const Index p = s.rows();
  MatrixXd target = inverse - s;
  target.diagonal().setZero();
  const double size = target.norm(), rho = penalty.rho;
  MatrixXd b = MatrixXd::Zero(p, p), ahead = b, sym = b;  // columns of b are the rows of B: the problem is symmetric
  const auto excess = [&](const MatrixXd& row_part) -> MatrixXd {
    return soft_threshold(target - 0.5 * (row_part + row_part.transpose()), rho);
  };
  double momentum = 1;
  for (int k = 0; penalty.tau > 0 && k < 500; ++k) {
    MatrixXd next = ahead + excess(ahead);  // sym is a projection, so the step 1 is safe
    for (Index n = 0; n < p; ++n) {
      next(n, n) = 0;
      next.col(n) =
          penalty.norm == RowNorm::l2 ? project_l2_ball(next.col(n), penalty.tau) : project_l1_ball(next.col(n), penalty.tau);
    }
    const double grown = 0.5 * (1 + std::sqrt(1 + 4 * momentum * momentum));
    const double moved = (next - b).norm();
    ahead = next + (momentum - 1) / grown * (next - b);
    momentum = grown;
    b = std::move(next);
    if (moved <= 1e-13 * size) break;
  }
  sym = 0.5 * (b + b.transpose());
  MatrixXd out = sym + (target - sym).cwiseMax(-rho).cwiseMin(rho);
  out.diagonal().setConstant(rho);
  return out;
}

double nodes_gap(const ConstMatrixRef& s, double objective, const MatrixXd& sym_y) {
  for (const double shrink : {0.0, 1e-3, 1e-2, 0.1, 0.3, 0.6, 1.0}) {
    MatrixXd v = s + (1 - shrink) * sym_y;
    v.diagonal() = s.diagonal() + sym_y.diagonal();
    const double value = minus_log_det(v);
    if (std::isfinite(value)) return objective + value - static_cast<double>(s.rows());
  }
  return Convergence::unknown;
}

namespace {

// The part a covariance adds to a dual row norm, and the norm from the sum of parts.
double part(double t, RowNorm norm) { return norm == RowNorm::l2 ? t * t : t; }
double whole(double sum, RowNorm norm) { return norm == RowNorm::l2 ? std::sqrt(sum) : sum; }

double excess(const ConstMatrixRef& s, double rho, Index i, Index j) { return std::max(std::abs(s(i, j)) - rho, 0.0); }

// Lemma 3.5 as printed, on the whole row.
bool lemma_applies(const ConstMatrixRef& s, Index n, const NodesPenalty& penalty) {
  VectorXd row = s.col(n);
  row[n] = 0;
  const double others = static_cast<double>(s.cols() - 1);
  const double share = others > 0 ? whole(others, penalty.norm) : 1;  // (N-1)^(1/q')
  return row.cwiseAbs().maxCoeff() <= penalty.rho + penalty.tau / (2 * share) ||
         dual_norm(row, penalty.norm) <= penalty.rho + penalty.tau / 2;
}

// Isolates the largest set the rule allows among `left` and shortens `left` to the rest; false when there was none.
bool peel(const ConstMatrixRef& s, const NodesPenalty& penalty, std::vector<int>& left, std::vector<ScreenRule>& rule) {
  const RowNorm norm = penalty.norm;
  const Index m = static_cast<Index>(left.size());
  const double half = part(0.5, norm), bound = penalty.tau / 2;
  VectorXd full = VectorXd::Zero(m), sum(m);  // sums of parts: as if alone in A, and as A stands
  for (Index b = 0; b < m; ++b) {
    for (Index a = 0; a < b; ++a) {
      const double t = part(excess(s, penalty.rho, left[a], left[b]), norm);
      full[a] += t;
      full[b] += t;
    }
  }
  sum = half * full;
  std::vector<char> inside(m, 1);
  std::vector<Index> struck;
  const auto strike_if_failing = [&](Index n) {
    if (inside[n] && whole(sum[n], norm) > bound && whole(full[n], norm) > bound) {
      inside[n] = 0;
      struck.push_back(n);
    }
  };
  for (Index n = 0; n < m; ++n) strike_if_failing(n);
  for (std::size_t k = 0; k < struck.size(); ++k) {
    const Index out = struck[k];
    for (Index n = 0; n < m; ++n) {
      if (!inside[n]) continue;
      const double t = part(excess(s, penalty.rho, left[out], left[n]), norm);
      if (t == 0) continue;
      sum[n] += (1 - half) * t;
      strike_if_failing(n);
    }
  }
  std::vector<int> rest;
  for (Index n = 0; n < m; ++n) {
    if (!inside[n]) {
      rest.push_back(left[n]);
    } else {
      rule[left[n]] = whole(full[n], norm) > bound         ? ScreenRule::set
                      : lemma_applies(s, left[n], penalty) ? ScreenRule::lemma
                                                           : ScreenRule::row;
    }
  }
  const bool changed = static_cast<Index>(rest.size()) < m;
  left = std::move(rest);
  return changed;
}

}  // namespace

NodesScreening screen_nodes(const ConstMatrixRef& s, const NodesPenalty& penalty, bool screen) {
  const int p = static_cast<int>(s.rows());
  NodesScreening out;
  out.rule.assign(p, ScreenRule::none);
  std::vector<int> left(p);
  for (int n = 0; n < p; ++n) left[n] = n;
  while (screen && !left.empty() && peel(s, penalty, left, out.rule)) {
  }
  UnionFind sets(p);
  if (screen) {
    for (std::size_t b = 0; b < left.size(); ++b) {
      for (std::size_t a = 0; a < b; ++a) {
        if (std::abs(s(left[a], left[b])) > penalty.rho) sets.unite(left[a], left[b]);
      }
    }
  } else {
    for (int n = 1; n < p; ++n) sets.unite(0, n);
  }
  out.components = sets.members();
  return out;
}

double largest_tau(const ConstMatrixRef& s, double rho, RowNorm norm) {
  double largest = 0;
  for (Index n = 0; n < s.cols(); ++n) {
    double sum = 0;
    for (Index j = 0; j < s.cols(); ++j) {
      if (j != n) sum += part(excess(s, rho, j, n), norm);
    }
    largest = std::max(largest, whole(sum, norm));
  }
  return largest;
}

double largest_rho(const ConstMatrixRef& s, RowNorm norm, const std::function<double(double)>& tau) {
  double high = 0;
  for (Index j = 0; j < s.cols(); ++j) {
    for (Index i = 0; i < s.rows(); ++i) {
      if (i != j) high = std::max(high, std::abs(s(i, j)));
    }
  }
  if (high == 0) return std::max(s.diagonal().maxCoeff(), 1e-300);
  const auto empties = [&](double rho) { return tau(rho) >= largest_tau(s, rho, norm); };
  if (empties(high * 1e-12)) return high * 1e-2;
  double low = 0;
  while (high - low > 1e-6 * high) {
    const double middle = (low + high) / 2;
    (empties(middle) ? high : low) = middle;
  }
  return high;
}

std::pair<double, double> nodes_bounds(double spectral_norm, Index p, const NodesPenalty& penalty) {
  const double n = static_cast<double>(p), share = penalty.norm == RowNorm::l2 ? std::sqrt(n) : n;
  return {1 / (spectral_norm + n * penalty.rho + share * penalty.tau), n / penalty.rho};
}

}  // namespace granary::graph
