#include "graph/local_problem.h"

#include <algorithm>
#include <cmath>

#include "core/base/convergence.h"
#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "core/prox/proximal.h"
#include "graph/nodes_problem.h"
#include "graph/penalty.h"

namespace granary::graph {

namespace {

using Rows = RowsProx::Rows;
using Triplets = std::vector<Eigen::Triplet<double>>;

// Position of the pair i < j in the upper triangle, column by column.
inline int pair_index(int i, int j) { return i < j ? j * (j - 1) / 2 + i : i * (i - 1) / 2 + j; }

int pair_count(int p) { return p * (p - 1) / 2; }

EdgeList lifted_edges(int p, const EdgeList& neighbours) {
  EdgeList edges;
  edges.reserve(neighbours.size() * static_cast<std::size_t>(std::max(p - 2, 0)));
  for (const auto& pair : neighbours) {
    for (int k = 0; k < p; ++k) {
      if (k != pair.first && k != pair.second) edges.emplace_back(pair_index(pair.first, k), pair_index(pair.second, k));
    }
  }
  return edges;
}

bool contains(const Rows& d, Index row, int column) {
  for (Rows::InnerIterator it(d, row); it; ++it) {
    if (it.col() == column) return true;
  }
  return false;
}

Rows lifted_rows(const Rows& d) {
  const int p = static_cast<int>(d.cols());
  Triplets entries;
  Index count = 0;
  for (Index m = 0; m < d.rows(); ++m) {
    for (int k = 0; k < p; ++k) {
      if (contains(d, m, k)) continue;
      for (Rows::InnerIterator it(d, m); it; ++it)
        entries.emplace_back(count, pair_index(static_cast<int>(it.col()), k), it.value());
      ++count;
    }
  }
  Rows out(count, pair_count(p));
  out.setFromTriplets(entries.begin(), entries.end());
  return out;
}

}  // namespace

LocalOperator LocalOperator::differences(int p, const EdgeList& neighbours) {
  GraphTv check(p, neighbours);  // loops, repeats and pairs out of range
  LocalOperator out;
  out.p_ = p;
  out.difference_ = true;
  out.neighbours_ = neighbours;
  out.adjacent_.resize(p);
  Triplets entries;
  for (std::size_t m = 0; m < neighbours.size(); ++m) {
    const int a = neighbours[m].first, b = neighbours[m].second;
    out.adjacent_[a].push_back(b);
    out.adjacent_[b].push_back(a);
    entries.emplace_back(static_cast<int>(m), a, 1.0);
    entries.emplace_back(static_cast<int>(m), b, -1.0);
  }
  out.d_.resize(static_cast<Index>(neighbours.size()), p);
  out.d_.setFromTriplets(entries.begin(), entries.end());
  return out;
}

LocalOperator LocalOperator::laplacian(int p, const EdgeList& neighbours) {
  GraphTv check(p, neighbours);
  LocalOperator out;
  out.p_ = p;
  out.neighbours_ = neighbours;
  Triplets entries;
  for (const auto& pair : neighbours) {
    const int a = pair.first, b = pair.second;
    entries.emplace_back(a, a, 1.0);
    entries.emplace_back(b, b, 1.0);
    entries.emplace_back(a, b, -1.0);
    entries.emplace_back(b, a, -1.0);
  }
  out.d_.resize(p, p);
  out.d_.setFromTriplets(entries.begin(), entries.end());
  return out;
}

LocalOperator LocalOperator::rows(const SparseMatrix& d) {
  LocalOperator out;
  out.p_ = static_cast<int>(d.cols());
  out.d_ = d;
  out.d_.prune([](Index, Index, double value) { return value != 0; });
  for (Index k = 0; k < out.d_.nonZeros(); ++k) {
    if (!std::isfinite(out.d_.valuePtr()[k])) throw InputError("the operator D must be finite.");
  }
  return out;
}

double local_penalty(const MatrixXd& x, const LocalOperator& op, const LocalPenalty& penalty) {
  const Rows& d = op.matrix();
  double variation = 0;
  std::vector<std::pair<int, double>> row;
  for (Index m = 0; penalty.tau > 0 && m < d.rows(); ++m) {
    row.clear();
    for (Rows::InnerIterator it(d, m); it; ++it) row.emplace_back(static_cast<int>(it.col()), it.value());
    VectorXd image = VectorXd::Zero(x.rows());
    for (const auto& part : row) image += part.second * x.col(part.first);  // X is symmetric: columns are rows
    for (const auto& part : row) image[part.first] = 0;
    variation += image.lpNorm<1>();
  }
  return penalty.rho * x.cwiseAbs().sum() + penalty.tau * variation;
}

void check_local_problem(const ConstMatrixRef& s, const LocalOperator& op, const LocalPenalty& penalty) {
  if (s.rows() != s.cols()) throw InputError(message("S must be square, but it is ", s.rows(), " x ", s.cols(), "."));
  if (s.rows() != op.size()) {
    throw InputError(message("there are ", s.rows(), " variables, but the neighbourhood is one of ", op.size(), "."));
  }
  if (s.rows() > 40000) throw InputError("more than 40000 variables are too many for this method.");
  check_penalties(s, penalty.rho, penalty.tau);
  // The differences vanish on constant matrices, so without rho a singular S leaves the likelihood unbounded.
  if (penalty.rho == 0 && !std::isfinite(minus_log_det(s))) {
    throw NumericalError("the covariance is singular, so the likelihood is unbounded at rho = 0; use a rho above 0.");
  }
}

LocalProx::LocalProx(const LocalOperator& op) : p_(op.size()), in_(pair_count(op.size())), out_(pair_count(op.size())) {
  if (op.is_difference()) {
    tv_ = std::make_unique<GraphTv>(pair_count(p_), lifted_edges(p_, op.neighbours()));
  } else {
    rows_ = std::make_unique<RowsProx>(lifted_rows(op.matrix()));
  }
}

MatrixXd LocalProx::operator()(const MatrixXd& v, double step, const LocalPenalty& penalty, double gap_tol, Monitor& monitor) {
  for (int j = 1, k = 0; j < p_; ++j) {
    for (int i = 0; i < j; ++i, ++k) in_[k] = 0.5 * (v(i, j) + v(j, i));
  }
  if (penalty.tau == 0) {
    out_ = soft_threshold(in_, step * penalty.rho);
  } else if (tv_) {
    tv_->solve(in_, 0.5 * step * penalty.tau, step * penalty.rho, monitor, out_);
  } else {
    rows_->solve(in_, 0.5 * step * penalty.tau, step * penalty.rho, 0.5 * step * gap_tol, 5000, monitor, out_);
  }
  MatrixXd x(p_, p_);
  for (int j = 0, k = 0; j < p_; ++j) {
    for (int i = 0; i < j; ++i, ++k) x(i, j) = x(j, i) = out_[k];
    x(j, j) = soft_threshold(v(j, j), step * penalty.rho);
  }
  return x;
}

LocalColumnsProx::LocalColumnsProx(const LocalOperator& op) {
  const int p = op.size();
  for (int n = 0; n < p; ++n) {
    if (op.is_difference()) {
      EdgeList kept;  // node n itself stays, without edges
      for (const auto& pair : op.neighbours()) {
        if (pair.first != n && pair.second != n) kept.push_back(pair);
      }
      tv_.push_back(std::make_unique<GraphTv>(p, std::move(kept)));
    } else {
      const Rows& d = op.matrix();
      Triplets entries;
      int count = 0;
      for (Index m = 0; m < d.rows(); ++m) {
        if (contains(d, m, n)) continue;
        for (Rows::InnerIterator it(d, m); it; ++it) entries.emplace_back(count, static_cast<int>(it.col()), it.value());
        ++count;
      }
      Rows kept(count, p);
      kept.setFromTriplets(entries.begin(), entries.end());
      rows_.push_back(std::make_unique<RowsProx>(std::move(kept)));
    }
  }
}

MatrixXd LocalColumnsProx::operator()(const MatrixXd& c, double g, double l1, double tau, int threads, Monitor& monitor) {
  MatrixXd z(c.rows(), c.cols());
  parallel_for(c.cols(), threads, monitor, [&](Index n) {
    if (tau == 0) {
      z.col(n) = soft_threshold(c.col(n), l1 / g);
    } else if (!tv_.empty()) {
      tv_[n]->solve(c.col(n), tau / g, l1 / g, monitor, z.col(n));
    } else {
      const double size = c.col(n).squaredNorm();
      rows_[n]->solve(c.col(n), tau / g, l1 / g, 1e-13 * size, 2000, monitor, z.col(n));
    }
  });
  return z;
}

double local_gap(const ConstMatrixRef& s, double objective, const MatrixXd& sym_y) { return nodes_gap(s, objective, sym_y); }

std::vector<char> isolated_variables(const ConstMatrixRef& s, const LocalOperator& op, const LocalPenalty& penalty) {
  const int p = op.size();
  std::vector<char> out(p, 0);
  if (!op.is_difference()) return out;
  for (int n = 0; n < p; ++n) {
    double largest = 0;
    for (int k = 0; k < p; ++k) {
      if (k != n) largest = std::max(largest, std::abs(s(k, n)));
    }
    out[n] = largest <= penalty.rho - 0.5 * penalty.tau * static_cast<double>(op.adjacent()[n].size());
  }
  return out;
}

Eigen::MatrixXi local_blocks(const MatrixXd& x, const LocalOperator& op, double tol) {
  const int p = static_cast<int>(x.cols());
  std::vector<std::vector<int>> adjacent(p);
  for (const auto& pair : op.neighbours()) {
    adjacent[pair.first].push_back(pair.second);
    adjacent[pair.second].push_back(pair.first);
  }
  Eigen::MatrixXi label = Eigen::MatrixXi::Zero(p, p);  // upper triangle
  std::vector<int> size;
  std::vector<std::pair<int, int>> stack;
  for (int j = 1; j < p; ++j) {
    for (int i = 0; i < j; ++i) {
      if (x(i, j) == 0 || label(i, j) != 0) continue;
      const int id = static_cast<int>(size.size()) + 1;
      size.push_back(0);
      label(i, j) = id;
      stack.assign(1, {i, j});
      while (!stack.empty()) {
        const auto at = stack.back();
        stack.pop_back();
        ++size[id - 1];
        for (int end = 0; end < 2; ++end) {
          const int moves = end == 0 ? at.first : at.second, stays = end == 0 ? at.second : at.first;
          for (const int to : adjacent[moves]) {
            if (to == stays) continue;
            const int a = std::min(to, stays), b = std::max(to, stays);
            if (label(a, b) != 0 || x(a, b) == 0 || std::abs(x(a, b) - x(i, j)) > tol) continue;
            label(a, b) = id;
            stack.push_back({a, b});
          }
        }
      }
    }
  }
  std::vector<int> order(size.size()), rank(size.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = static_cast<int>(k);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return size[a] > size[b]; });
  for (std::size_t k = 0; k < order.size(); ++k) rank[order[k]] = static_cast<int>(k) + 1;
  for (int j = 1; j < p; ++j) {
    for (int i = 0; i < j; ++i) {
      if (label(i, j) != 0) label(i, j) = rank[label(i, j) - 1];
    }
  }
  return label;
}

LocalOperator LocalOperator::make(const OperatorSpec& spec) {
  if (spec.type == OperatorType::rows) return rows(spec.rows);
  const EdgeList edges = edge_list(spec.edges);
  return spec.type == OperatorType::laplacian ? laplacian(spec.p, edges) : differences(spec.p, edges);
}

EdgeList edge_list(const Eigen::MatrixXi& pairs) {
  if (pairs.cols() != 2) throw InputError("pairs of neighbours must be a matrix of two columns.");
  EdgeList out;
  for (Index m = 0; m < pairs.rows(); ++m) out.emplace_back(pairs(m, 0), pairs(m, 1));
  return out;
}

Eigen::MatrixXi edge_matrix(const EdgeList& edges) {
  Eigen::MatrixXi out(static_cast<Index>(edges.size()), 2);
  for (Index m = 0; m < out.rows(); ++m) out.row(m) << edges[m].first, edges[m].second;
  return out;
}

EdgeList masked_grid_edges(const GridOptions& options) {
  std::vector<int> dims = options.dims;
  dims.resize(3, 1);
  if (static_cast<double>(options.mask.size()) != static_cast<double>(dims[0]) * dims[1] * dims[2]) {
    throw InputError("the mask must have one entry per cell of the grid.");
  }
  std::vector<int> number(options.mask.size(), -1);
  int count = 0;
  for (std::size_t k = 0; k < number.size(); ++k) {
    if (options.mask[k]) number[k] = count++;
  }
  EdgeList kept;
  for (const auto& [a, b] : grid_edges(dims[0], dims[1], dims[2])) {
    if (number[a] >= 0 && number[b] >= 0) kept.emplace_back(number[a], number[b]);
  }
  return kept;
}

}  // namespace granary::graph
