// The observed cells S of a matrix X with holes, and what every completion method asks of them.
//
//   loss(W) = sum_S w_ij (X_ij - W_ij)^2,    G = -gradient = 2 w_ij (X_ij - W_ij) on S, zero elsewhere
//
// A cell seen h times counts as its mean with weight w = h: the sum of squares over all its values is that plus a constant. Cells
// are kept by row and by column, so that a sweep over either factor reads memory in order: O(N) in all, never the dense matrix.
#pragma once

#include <vector>

#include "core/base/fields.h"
#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary::regress {

// One order of the cells: those of row (or column) k are start[k] .. start[k + 1] - 1.
struct CellList {
  std::vector<int> start;
  std::vector<int> index;      // the column (or row) of each cell
  std::vector<double> value;   // X
  std::vector<double> weight;  // w
  Index size() const { return static_cast<Index>(start.size()) - 1; }
};

struct ObservedCells {
  Index rows = 0;
  Index cols = 0;
  CellList by_row;
  CellList by_col;
  std::vector<int> row_place;  // where a cell of by_row stands in by_col
  double total = 0;            // sum_S w X^2
  double within = 0;           // the constant: squared deviations of repeated values from their cell's mean
  double observations = 0;     // sum_S w, or the number of values when repeats count once
  double largest_weight = 1;
  Index count() const { return static_cast<Index>(by_col.index.size()); }
};

// From triplets in any order, indices from zero. `weighted`: a repeated cell weighs as often as it was seen, else once.
ObservedCells observe(const std::vector<int>& row, const std::vector<int>& col, const std::vector<double>& value, Index rows,
                      Index cols, bool weighted);
ObservedCells with_values(const ObservedCells& cells, const std::vector<double>& by_col);  // the same cells, other values

// W = U'V: one column of U per row of X, one of V per column, so that the factors of a cell lie together in memory.
struct Factors {
  MatrixXd u;  // r x rows
  MatrixXd v;  // r x cols
  Index rank() const { return u.rows(); }
  static Factors zero(const ObservedCells& cells) { return {MatrixXd(0, cells.rows), MatrixXd(0, cells.cols)}; }
};

// W = P diag(d) Q' with d > 0 descending; `balanced` puts sqrt(d) into both factors, where (|U|^2 + |V|^2) / 2 = ||W||_tr.
struct ThinSvd {
  MatrixXd p;  // rows x r
  VectorXd d;
  MatrixXd q;  // cols x r
};
template <class V>
void fields(V& v, ThinSvd& t) {
  v("u", t.p);
  v("d", t.d);
  v("v", t.q);
}
ThinSvd thin_svd(const Factors& w, double drop = 1e-12);  // values below drop times the largest are left out
Factors balanced(const ThinSvd& svd);

// W on S, in the order of by_col.
std::vector<double> fitted_cells(const ObservedCells& cells, const Factors& w, int threads, Monitor& monitor);
// gu += V g', gv += U g for values g on S in the order of by_col: what a gradient in W says of the factors.
void add_products(const ObservedCells& cells, const std::vector<double>& g, const Factors& w, MatrixRef gu, MatrixRef gv, int threads,
                  Monitor& monitor);
double squared_loss(const ObservedCells& cells, const std::vector<double>& fitted);
// A sparse matrix on S, from values in the order of by_col.
SparseMatrix on_cells(const ObservedCells& cells, const std::vector<double>& by_col);
std::vector<double> negative_gradient(const ObservedCells& cells, const std::vector<double>& fitted);  // G
double spectral_norm(const SparseMatrix& a, Monitor& monitor);
double lambda_max(const ObservedCells& cells, Monitor& monitor);  // 2 ||w X||_sp: W = 0 from there on

// The weighted least-squares fit of a constant per row, per column, or both; zero for rows and columns that were never seen.
struct Centre {
  VectorXd row;
  VectorXd col;
};
template <class V>
void fields(V& v, Centre& t) {
  v("row", t.row);
  v("col", t.col);
}
Centre fit_centre(const ObservedCells& cells, bool rows, bool cols, Monitor& monitor);

// Scales s_i t_j that bring the mean square of what is seen in each row, in each column, or in both to one, as far as the pattern allows (alternating, the
// columns last; their geometric mean is one where both are asked for). Rows and columns that hold nothing but zeros keep the scale one.
Centre fit_scale(const ObservedCells& cells, bool rows, bool cols, Monitor& monitor);

}  // namespace granary::regress
