#include "regress/gen_lasso_penalty.h"

#include "core/linalg/sparse_cholesky.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/base/errors.h"
#include "core/prox/proximal.h"
#include "core/linalg/spd.h"
#include "core/graph/union_find.h"
#include "core/linalg/dense.h"

namespace granary::regress {

GenPenalty::GenPenalty(Rows r, const std::vector<int>& size, const MatrixXd& null)
    : r_(std::move(r)), r_transposed_(r_.transpose()) {
  start_.push_back(0);
  if (size.empty()) {
    for (Index j = 0; j < rows(); ++j) start_.push_back(static_cast<int>(j) + 1);
  } else {
    for (const int k : size) {
      if (k < 1) throw InputError("every block of the penalty must have at least one row.");
      start_.push_back(start_.back() + k);
    }
  }
  if (start_.back() != rows()) throw InputError("the blocks do not add up to the rows of the penalty.");
  analyse(null);
}

void GenPenalty::analyse(const MatrixXd& null) {
  const Index p = cols();
  bool diagonal = true;
  differences_ = true;
  for (Index j = 0; j < rows(); ++j) {
    int entries = 0;
    double sum = 0, size = 0;
    for (Rows::InnerIterator it(r_, j); it; ++it) {
      if (it.value() == 0) continue;
      ++entries;
      sum += it.value();
      size += std::abs(it.value());
    }
    if (entries > 1) diagonal = false;
    if (entries > 2 || (entries == 2 && std::abs(sum) > 1e-14 * size)) differences_ = false;
  }
  threshold_ = VectorXd::Zero(p);
  if (differences_) {
    std::map<std::pair<int, int>, int> number;
    EdgeList edges;
    std::vector<double> weight;
    edge_of_row_.assign(rows(), -1);
    sign_ = VectorXd::Zero(rows());
    share_ = VectorXd::Zero(rows());
    for (Index j = 0; j < rows(); ++j) {
      int at[2] = {-1, -1}, entries = 0;
      double value = 0;
      for (Rows::InnerIterator it(r_, j); it; ++it) {
        if (it.value() == 0) continue;
        if (entries == 0) value = it.value();
        at[entries++] = static_cast<int>(it.col());
      }
      sign_[j] = value < 0 ? -1 : 1;
      share_[j] = std::abs(value);
      if (entries == 1) {
        edge_of_row_[j] = -1 - at[0];
        threshold_[at[0]] += share_[j];
      } else if (entries == 2) {
        const auto found = number.emplace(std::make_pair(at[0], at[1]), static_cast<int>(edges.size()));
        if (found.second) {
          edges.emplace_back(at[0], at[1]);
          weight.push_back(0);
        }
        edge_of_row_[j] = found.first->second;
        weight[found.first->second] += share_[j];
      } else {
        edge_of_row_[j] = -1;
        share_[j] = 0;
      }
    }
    edge_weight_ = Eigen::Map<VectorXd>(weight.data(), static_cast<Index>(weight.size()));
    any_threshold_ = (threshold_.array() > 0).any();
    if (single_rows()) {
      kind_ = diagonal ? Kind::diagonal : Kind::graph;
      if (!diagonal) tv_ = std::make_unique<GraphTv>(static_cast<int>(p), edges);
    }
    // Null space: the pieces of the graph in which nothing is held at zero.
    UnionFind pieces(static_cast<int>(p));
    for (const auto& edge : edges) pieces.unite(edge.first, edge.second);
    std::vector<char> held(p, 0);
    std::vector<int> column(p, -1);
    for (Index i = 0; i < p; ++i) {
      if (threshold_[i] > 0) held[pieces.find(static_cast<int>(i))] = 1;
    }
    int count = 0;
    for (Index i = 0; i < p; ++i) {
      const int root = pieces.find(static_cast<int>(i));
      if (!held[root] && column[root] < 0) column[root] = count++;
    }
    null_known_ = count <= 500;
    if (null_known_) {
      null_ = MatrixXd::Zero(p, count);
      for (Index i = 0; i < p; ++i) {
        const int root = pieces.find(static_cast<int>(i));
        if (!held[root]) null_(i, column[root]) = 1;
      }
    }
    return;
  }
  if (null.rows() == p) {
    null_ = null;
    null_known_ = true;
  } else if (static_cast<double>(rows()) * static_cast<double>(p) <= 4e6) {
    const PivotedQr qr(MatrixXd(r_.transpose()));
    const MatrixXd q = qr.full_q();
    null_ = q.rightCols(p - qr.rank());
    null_known_ = true;
  }
}

double GenPenalty::value(ConstVectorRef b) const {
  const VectorXd image = r_ * b;
  if (single_rows()) return image.lpNorm<1>();
  double sum = 0;
  for (std::size_t k = 0; k + 1 < start_.size(); ++k) sum += image.segment(start_[k], start_[k + 1] - start_[k]).norm();
  return sum;
}

double GenPenalty::dual_norm(ConstVectorRef mu) const {
  if (single_rows()) return mu.size() > 0 ? mu.cwiseAbs().maxCoeff() : 0;
  double most = 0;
  for (std::size_t k = 0; k + 1 < start_.size(); ++k)
    most = std::max(most, mu.segment(start_[k], start_[k + 1] - start_[k]).norm());
  return most;
}

double GenPenalty::inner_gap(ConstVectorRef b, ConstVectorRef mu, double lambda) const {
  return std::max(0.0, lambda * value(b) - mu.dot(r_ * b));
}

double GenPenalty::prox(ConstVectorRef z, ConstVectorRef d, double lambda, double gap_tol, bool want_mu, Monitor& monitor,
                        VectorXd& b, VectorXd& mu) {
  if (mu.size() != rows()) mu = VectorXd::Zero(rows());
  if (rows() == 0 || lambda == 0) {
    b = z;
    mu.setZero();
    return 0;
  }
  if (kind_ == Kind::diagonal) {
    b.resize(z.size());
    for (Index i = 0; i < z.size(); ++i) b[i] = soft_threshold(z[i], lambda * threshold_[i] / d[i]);
    if (want_mu) {
      const VectorXd pull = d.cwiseProduct(z - b);
      for (Index j = 0; j < rows(); ++j) {
        const int i = -1 - edge_of_row_[j];
        mu[j] = share_[j] > 0 ? sign_[j] * std::min(std::max(pull[i] / threshold_[i], -lambda), lambda) : 0.0;
      }
    }
    return 0;
  }
  if (kind_ == Kind::graph) return graph_prox(z, d, lambda, want_mu, monitor, b, mu);
  double gap = ascent(z, d, lambda, gap_tol, monitor, b, mu);
  if (gap <= gap_tol) return gap;
  return single_rows() && rows() <= 300000 ? interior(z, d, lambda, gap_tol, monitor, b, mu)
                                           : accelerated(z, d, lambda, gap_tol, monitor, b, mu);
}

double GenPenalty::graph_prox(ConstVectorRef z, ConstVectorRef d, double lambda, bool want_mu, Monitor& monitor, VectorXd& b,
                              VectorXd& mu) {
  const VectorXd edge = lambda * edge_weight_;
  if (any_threshold_ && tv_->all_paths() && !want_mu) {
    // The positive part of the solution is that of the problem moved down by the thresholds, the negative part that of the one
    // moved up: the level sets above zero know of |b| only that it pulls down.
    const VectorXd move = lambda * threshold_.cwiseQuotient(d);
    b = tv_->solve(z - move, edge, 0, monitor, d).x.cwiseMax(0);
    b += tv_->solve(z + move, edge, 0, monitor, d).x.cwiseMin(0);
    return 0;
  }
  const GraphTvResult fit =
      any_threshold_ ? tv_->solve_thresholded(z, edge, lambda * threshold_, monitor, d) : tv_->solve(z, edge, 0, monitor, d);
  b = fit.x;
  if (!want_mu) return 0;
  const VectorXd flow = tv_->flow();
  VectorXd left = d.cwiseProduct(z - b);
  for (Index e = 0; e < flow.size(); ++e) {
    left[tv_->edges()[e].first] -= flow[e];
    left[tv_->edges()[e].second] += flow[e];
  }
  for (Index j = 0; j < rows(); ++j) {
    const int k = edge_of_row_[j];
    if (share_[j] == 0) {
      mu[j] = 0;
    } else if (k >= 0) {
      mu[j] = sign_[j] * flow[k] / edge_weight_[k];
    } else {
      mu[j] = sign_[j] * std::min(std::max(left[-1 - k] / threshold_[-1 - k], -lambda), lambda);
    }
  }
  return 0;
}

std::vector<int> GenPenalty::groups(ConstVectorRef b, double tolerance, int& count) const {
  const Index p = cols();
  UnionFind sets(static_cast<int>(p) + 1);  // the last one: zero
  const VectorXd image = r_ * b;
  std::vector<char> closed(rows(), 0);
  for (std::size_t k = 0; k + 1 < start_.size(); ++k) {
    const int from = start_[k], size = start_[k + 1] - from;
    const bool zero = image.segment(from, size).norm() <= tolerance;
    for (int j = from; j < from + size; ++j) closed[j] = zero;
  }
  for (Index j = 0; j < rows(); ++j) {
    if (!closed[j] || share_.size() == 0 || share_[j] == 0) continue;
    int other = -1;
    for (Rows::InnerIterator it(r_, j); it; ++it) {
      if (it.value() == 0) continue;
      if (other >= 0) sets.unite(other, static_cast<int>(it.col()));
      other = static_cast<int>(it.col());
    }
    if (edge_of_row_[j] < 0 && other >= 0) sets.unite(other, static_cast<int>(p));
  }
  std::vector<int> label(p, -1), number(p + 1, -1);
  count = 0;
  const int zero = sets.find(static_cast<int>(p));
  for (Index i = 0; i < p; ++i) {
    const int root = sets.find(static_cast<int>(i));
    if (root == zero) continue;
    if (number[root] < 0) number[root] = count++;
    label[i] = number[root];
  }
  return label;
}

double GenPenalty::degrees_of_freedom(ConstVectorRef b, ConstVectorRef mu, double lambda, double tolerance, bool settled) const {
  if (differences_) {
    int count = 0;
    groups(b, tolerance, count);
    return count;
  }
  // Where R b = 0 the fit lies in the null space, however near mu is to its bound.
  if (null_known_ && value(b) <= 1e-12 * static_cast<double>(rows()) * b.cwiseAbs().maxCoeff()) return static_cast<double>(null_.cols());
  // p minus the rank of the rows where mu is inside its ball.
  std::vector<int> inside;
  for (std::size_t k = 0; k + 1 < start_.size(); ++k) {
    const int from = start_[k], size = start_[k + 1] - from;
    if (lambda > 0 && mu.segment(from, size).norm() >= lambda * (1 - (settled ? 1e-14 : 1e-4))) continue;
    for (int j = from; j < from + size; ++j) inside.push_back(j);
  }
  const double p = static_cast<double>(cols());
  if (null_known_ && static_cast<Index>(rows()) + null_.cols() == cols())
    return p - static_cast<double>(inside.size());  // full row rank
  if (static_cast<double>(inside.size()) * p > 4e6) return std::numeric_limits<double>::quiet_NaN();
  MatrixXd part(static_cast<Index>(inside.size()), cols());
  for (std::size_t k = 0; k < inside.size(); ++k) part.row(static_cast<Index>(k)) = MatrixXd(r_.row(inside[k]));
  if (part.rows() == 0) return p;
  return p - static_cast<double>(PivotedQr(part).rank());
}

double GenPenalty::largest(ConstVectorRef v, Monitor& monitor, bool& exact) {
  exact = true;
  if (rows() == 0) return 0;
  if (kind_ == Kind::diagonal) {
    double most = 0;
    for (Index i = 0; i < cols(); ++i) {
      if (threshold_[i] > 0) most = std::max(most, std::abs(v[i]) / threshold_[i]);
    }
    return most;
  }
  if (kind_ == Kind::graph) {
    // lambda_max = max over sets S of |v(S)| / (weight of the edges that leave S + thresholds in S): Newton's method on cuts.
    VectorXd reach = threshold_;
    const EdgeList& edges = tv_->edges();
    for (std::size_t e = 0; e < edges.size(); ++e) {
      reach[edges[e].first] += edge_weight_[e];
      reach[edges[e].second] += edge_weight_[e];
    }
    double lambda = 0;
    for (Index i = 0; i < cols(); ++i) {
      if (reach[i] > 0) lambda = std::max(lambda, std::abs(v[i]) / reach[i]);
    }
    GraphTv tv(static_cast<int>(cols()), edges);
    for (int round = 0; round < 100 && lambda > 0; ++round) {
      const VectorXd x = any_threshold_ ? tv.solve_thresholded(v, lambda * edge_weight_, lambda * threshold_, monitor).x
                                        : tv.solve(v, lambda * edge_weight_, 0, monitor).x;
      double better = lambda;
      const double small = 1e-13 * v.cwiseAbs().maxCoeff();
      for (const int side : {1, -1}) {
        double pull = 0, cut = 0;
        for (Index i = 0; i < cols(); ++i) {
          if (side * x[i] > small) {
            pull += side * v[i];
            cut += threshold_[i];
          }
        }
        for (std::size_t e = 0; e < edges.size(); ++e) {
          if ((side * x[edges[e].first] > small) != (side * x[edges[e].second] > small)) cut += edge_weight_[e];
        }
        if (cut > 0) better = std::max(better, pull / cut);
      }
      if (better <= lambda * (1 + 1e-12)) break;
      lambda = better;
    }
    return lambda;
  }
  exact = null_known_ && rows() + null_.cols() == cols();
  const VectorXd direct = exact ? substituted(v) : VectorXd();
  return dual_norm(direct.size() > 0 ? direct : complete(v, VectorXd::Zero(rows()), monitor));
}

VectorXd GenPenalty::substituted(ConstVectorRef v) const {
  VectorXd rest = v, mu(rows());
  int before = -1;
  for (Index j = 0; j < rows(); ++j) {
    Rows::InnerIterator first(r_, j);
    while (first && first.value() == 0) ++first;
    if (!first || static_cast<int>(first.col()) != before + 1) return VectorXd();
    before = static_cast<int>(first.col());
    mu[j] = rest[before] / first.value();
    for (Rows::InnerIterator it(r_, j); it; ++it) rest[it.col()] -= mu[j] * it.value();
  }
  return mu;
}

VectorXd GenPenalty::complete(ConstVectorRef v, ConstVectorRef mu, Monitor& monitor) {
  VectorXd rest = v - r_transposed_ * mu;
  if (rest.size() == 0 || rest.cwiseAbs().maxCoeff() == 0) return mu;
  if (null_known_ && cols() <= 20000) {
    // R'R with a little on the diagonal, and refinement; what rounding puts into the null space is taken out.
    if (!normal_factor_) {
      SparseMatrix normal = SparseMatrix(r_transposed_ * r_), identity(cols(), cols());
      const double top = VectorXd(normal.diagonal()).maxCoeff();
      if (!(top > 0)) return mu;
      identity.setIdentity();
      normal += 1e-10 * top * identity;
      normal_factor_ = std::make_unique<Eigen::SimplicialLDLT<SparseMatrix>>(normal);
      if (null_.cols() > 0) {
        const Qr qr(null_);
        null_basis_ = qr.thin_q();
      }
    }
    if (normal_factor_->info() != Eigen::Success) return mu;
    VectorXd out = mu;
    double size = rest.norm();
    for (int round = 0; round < 10 && size > 0; ++round) {
      if (null_basis_.cols() > 0) rest -= null_basis_ * (null_basis_.transpose() * rest);
      const VectorXd next = out + r_ * VectorXd(normal_factor_->solve(rest));
      rest = v - r_transposed_ * next;
      const double now = rest.norm();
      if (!(now < 0.9 * size)) break;
      out = next;
      size = now;
    }
    return out;
  }
  const VectorXd diagonal = VectorXd(SparseMatrix(r_transposed_ * r_).diagonal());
  const double top = diagonal.maxCoeff();
  if (!(top > 0)) return mu;
  const LinearOperator apply = [&](ConstVectorRef x, VectorRef y) { y = r_transposed_ * (r_ * x); };
  const LinearOperator precondition = [&](ConstVectorRef x, VectorRef y) { y = x.cwiseQuotient(diagonal.cwiseMax(1e-12 * top)); };
  CgOptions options;
  options.tol = 1e-12;
  options.max_iter = 2000;
  const VectorXd x = conjugate_gradient(apply, rest, options, monitor, precondition).x;
  if (!x.allFinite()) return mu;
  return mu + r_ * x;
}

}  // namespace granary::regress
