#include "regress/completion_cells.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "core/linalg/spectral.h"
#include "core/linalg/dense.h"

namespace granary::regress {

namespace {

constexpr Index chunk = 64;  // columns per task: enough work to be worth a thread

}  // namespace

ObservedCells observe(const std::vector<int>& row, const std::vector<int>& col, const std::vector<double>& value, Index rows,
                      Index cols, bool weighted) {
  const std::size_t n = value.size();
  if (n == 0) throw InputError("no cell is observed; there is nothing to complete.");
  // Two stable counting sorts, by row and then by column: O(N + rows + cols).
  const auto sorted = [n](const std::vector<int>& key, Index size, const std::vector<int>& order) {
    std::vector<int> start(size + 1, 0), result(n);
    for (const int k : key) ++start[k + 1];
    std::partial_sum(start.begin(), start.end(), start.begin());
    for (const int at : order) result[start[key[at]]++] = at;
    return result;
  };
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  order = sorted(col, cols, sorted(row, rows, order));

  ObservedCells cells;
  cells.rows = rows;
  cells.cols = cols;
  CellList& by_col = cells.by_col;
  by_col.start.assign(cols + 1, 0);
  for (std::size_t k = 0; k < n;) {
    const int i = row[order[k]], j = col[order[k]];
    std::size_t end = k;
    double sum = 0;
    for (; end < n && row[order[end]] == i && col[order[end]] == j; ++end) sum += value[order[end]];
    const double seen = static_cast<double>(end - k), mean = sum / seen, weight = weighted ? seen : 1;
    if (weighted) {
      for (std::size_t a = k; a < end; ++a) cells.within += std::pow(value[order[a]] - mean, 2);
    }
    by_col.index.push_back(i);
    by_col.value.push_back(mean);
    by_col.weight.push_back(weight);
    ++by_col.start[j + 1];
    cells.observations += weight;
    cells.total += weight * mean * mean;
    cells.largest_weight = std::max(cells.largest_weight, weight);
    k = end;
  }
  std::partial_sum(by_col.start.begin(), by_col.start.end(), by_col.start.begin());

  CellList& by_row = cells.by_row;
  const std::size_t distinct = by_col.index.size();
  by_row.start.assign(rows + 1, 0);
  by_row.index.resize(distinct);
  by_row.value.resize(distinct);
  by_row.weight.resize(distinct);
  cells.row_place.resize(distinct);
  for (const int i : by_col.index) ++by_row.start[i + 1];
  std::partial_sum(by_row.start.begin(), by_row.start.end(), by_row.start.begin());
  std::vector<int> next(by_row.start.begin(), by_row.start.end() - 1);
  for (Index j = 0; j < cols; ++j) {
    for (int a = by_col.start[j]; a < by_col.start[j + 1]; ++a) {
      const int at = next[by_col.index[a]]++;
      by_row.index[at] = static_cast<int>(j);
      by_row.value[at] = by_col.value[a];
      by_row.weight[at] = by_col.weight[a];
      cells.row_place[at] = a;
    }
  }
  return cells;
}

ObservedCells with_values(const ObservedCells& cells, const std::vector<double>& by_col) {
  ObservedCells other = cells;
  other.by_col.value = by_col;
  other.total = 0;
  for (std::size_t a = 0; a < by_col.size(); ++a) other.total += cells.by_col.weight[a] * by_col[a] * by_col[a];
  for (std::size_t a = 0; a < by_col.size(); ++a) other.by_row.value[a] = by_col[cells.row_place[a]];
  return other;
}

ThinSvd thin_svd(const Factors& w, double drop) {
  const Index m = w.u.cols(), n = w.v.cols(), r = w.rank();
  if (r == 0) return {MatrixXd(m, 0), VectorXd(0), MatrixXd(n, 0)};
  const Index ru = std::min(m, r), rv = std::min(n, r);
  const Qr left(w.u.transpose()), right(w.v.transpose());
  const MatrixXd a = left.matrixQR().topRows(ru).triangularView<Eigen::Upper>();
  const MatrixXd b = right.matrixQR().topRows(rv).triangularView<Eigen::Upper>();
  const MatrixXd middle = a * b.transpose();
  if (!middle.allFinite()) throw NumericalError("the factors left the finite numbers; rescale the data or raise lambda.");
  const Svd svd(middle, SvdParts::thin);
  const VectorXd& d = svd.singularValues();
  Index keep = 0;
  while (keep < d.size() && d[keep] > 0 && d[keep] >= drop * d[0]) ++keep;
  ThinSvd result;
  result.d = d.head(keep);
  result.p = left.thin_q(ru) * svd.matrixU().leftCols(keep);
  result.q = right.thin_q(rv) * svd.matrixV().leftCols(keep);
  fix_signs(result.q, result.p);
  return result;
}

Factors balanced(const ThinSvd& svd) {
  const VectorXd root = svd.d.cwiseSqrt();
  return {root.asDiagonal() * svd.p.transpose(), root.asDiagonal() * svd.q.transpose()};
}

std::vector<double> fitted_cells(const ObservedCells& cells, const Factors& w, int threads, Monitor& monitor) {
  std::vector<double> fitted(cells.by_col.index.size(), 0);
  if (w.rank() == 0) return fitted;
  parallel_for((cells.cols + chunk - 1) / chunk, threads, monitor, [&](Index task) {
    for (Index j = task * chunk; j < std::min(cells.cols, (task + 1) * chunk); ++j) {
      for (int a = cells.by_col.start[j]; a < cells.by_col.start[j + 1]; ++a) {
        fitted[a] = w.u.col(cells.by_col.index[a]).dot(w.v.col(j));
      }
    }
  });
  return fitted;
}

void add_products(const ObservedCells& cells, const std::vector<double>& g, const Factors& w, MatrixRef gu, MatrixRef gv, int threads,
                  Monitor& monitor) {
  const auto add = [&](const CellList& list, const std::vector<int>* place, const MatrixXd& other, MatrixRef out) {
    parallel_for((list.size() + chunk - 1) / chunk, threads, monitor, [&](Index task) {
      for (Index k = task * chunk; k < std::min(list.size(), (task + 1) * chunk); ++k) {
        for (int a = list.start[k]; a < list.start[k + 1]; ++a) {
          out.col(k) += g[place != nullptr ? (*place)[a] : a] * other.col(list.index[a]);
        }
      }
    });
  };
  add(cells.by_row, &cells.row_place, w.v, gu);
  add(cells.by_col, nullptr, w.u, gv);
}

double squared_loss(const ObservedCells& cells, const std::vector<double>& fitted) {
  double loss = 0;
  for (std::size_t a = 0; a < fitted.size(); ++a) loss += cells.by_col.weight[a] * std::pow(cells.by_col.value[a] - fitted[a], 2);
  return loss;
}

SparseMatrix on_cells(const ObservedCells& cells, const std::vector<double>& by_col) {
  return Eigen::Map<const SparseMatrix>(cells.rows, cells.cols, cells.count(), cells.by_col.start.data(),
                                        cells.by_col.index.data(), by_col.data());
}

std::vector<double> negative_gradient(const ObservedCells& cells, const std::vector<double>& fitted) {
  std::vector<double> g(fitted.size());
  for (std::size_t a = 0; a < g.size(); ++a) g[a] = 2 * cells.by_col.weight[a] * (cells.by_col.value[a] - fitted[a]);
  return g;
}

double spectral_norm(const SparseMatrix& a, Monitor& monitor) {
  EigenOptions options;
  options.tol = 1e-9;
  return truncated_svd(a, 1, options, monitor).values[0];
}

double lambda_max(const ObservedCells& cells, Monitor& monitor) {
  const std::vector<double> zero(cells.by_col.index.size(), 0);
  return spectral_norm(on_cells(cells, negative_gradient(cells, zero)), monitor);
}

Centre fit_centre(const ObservedCells& cells, bool rows, bool cols, Monitor& monitor) {
  Centre centre{VectorXd::Zero(cells.rows), VectorXd::Zero(cells.cols)};
  // Least squares given the other side is a mean of what it leaves; alternating is Gauss-Seidel on the normal equations.
  const auto means = [&monitor](const CellList& list, const VectorXd& other, VectorXd& mine) {
    double moved = 0;
    for (Index k = 0; k < list.size(); ++k) {
      double sum = 0, weight = 0;
      for (int a = list.start[k]; a < list.start[k + 1]; ++a) {
        sum += list.weight[a] * (list.value[a] - other[list.index[a]]);
        weight += list.weight[a];
      }
      const double mean = weight > 0 ? sum / weight : 0;
      moved = std::max(moved, std::abs(mean - mine[k]));
      mine[k] = mean;
    }
    monitor.check();
    return moved;
  };
  const double scale = std::sqrt(cells.total / cells.observations);
  for (int round = 0; round < 2000; ++round) {
    const double moved_rows = rows ? means(cells.by_row, centre.col, centre.row) : 0;
    const double moved_cols = cols ? means(cells.by_col, centre.row, centre.col) : 0;
    if (!(rows && cols) || std::max(moved_rows, moved_cols) <= 1e-10 * scale) break;
  }
  return centre;
}

Centre fit_scale(const ObservedCells& cells, bool rows, bool cols, Monitor& monitor) {
  Centre scale{VectorXd::Ones(cells.rows), VectorXd::Ones(cells.cols)};
  const auto spread = [&monitor](const CellList& list, const VectorXd& other, VectorXd& mine) {
    double moved = 0;
    for (Index k = 0; k < list.size(); ++k) {
      double sum = 0, weight = 0;
      for (int a = list.start[k]; a < list.start[k + 1]; ++a) {
        sum += list.weight[a] * std::pow(list.value[a] / other[list.index[a]], 2);
        weight += list.weight[a];
      }
      const double root = sum > 0 ? std::sqrt(sum / weight) : 1;
      moved = std::max(moved, std::abs(std::log(root / mine[k])));
      mine[k] = root;
    }
    monitor.check();
    return moved;
  };
  for (int round = 0; round < 500; ++round) {
    const double moved_rows = rows ? spread(cells.by_row, scale.col, scale.row) : 0;
    const double moved_cols = cols ? spread(cells.by_col, scale.row, scale.col) : 0;
    if (!(rows && cols) || std::max(moved_rows, moved_cols) <= 1e-8) break;
  }
  if (rows && cols) {
    const double share = std::exp(scale.col.array().log().mean());
    scale.col /= share;
    scale.row *= share;
  }
  return scale;
}

}  // namespace granary::regress
