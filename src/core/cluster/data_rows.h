// Rows to be clustered, dense or sparse, in case of need with weights: all a clustering asks of its data are products of blocks of rows with the
// parameters of the clusters, and sums of rows. Tables of clusters are k x columns, so that a sparse entry meets k numbers side by side.
#pragma once

#include <vector>

#include "core/base/types.h"
#include "core/linalg/design.h"

namespace granary {

class DataRows {
 public:
  // The numbers of a dense x stay where they are; a sparse x is copied by rows.
  explicit DataRows(const Design& x);
  DataRows(const DataRows&) = delete;  // x_ may be a view of own_
  DataRows& operator=(const DataRows&) = delete;
  explicit DataRows(ConstMatrixRef x) : DataRows(Design(MatrixView(x.data(), x.rows(), x.cols()))) { check_plain(x); }

  // Every row divided by its length, which is returned; rows of zeros stay. Dense rows are copied unless all have length 1 within rounding.
  VectorXd normalise();
  VectorXd lengths() const;  // of the rows, also where their squares would overflow

  Index rows() const { return x_.rows(); }
  Index cols() const { return x_.cols(); }
  bool is_sparse() const { return x_.is_sparse(); }

  // out = X[from .. from + out.rows()] table' + 1 bias'
  void scores(Index from, ConstMatrixRef table, ConstVectorRef bias, MatrixRef out) const;
  // The same for some rows only, out(r, :) for row which[r].
  void scores(const std::vector<Index>& which, ConstMatrixRef table, ConstVectorRef bias, MatrixRef out, MatrixXd& gathered) const;
  double score(Index i, ConstMatrixRef table, Index h) const;  // x_i' table(h, :)

  // sums += P' X[from .. from + P.rows()]
  void add_sums(Index from, ConstMatrixRef p, MatrixRef sums) const;
  void add_row(Index i, double weight, MatrixRef sums, Index h) const;  // sums(h, :) += weight x_i
  void add_labelled(const VectorXi& cluster, ConstVectorRef weights, MatrixRef sums) const;  // the same for all rows; no weights: ones
  void row(Index i, VectorRef out) const;

  VectorXd squared_norms() const;
  VectorXd squared_distances(Index i) const;                           // of every row from row i, by differences: no cancellation
  double squared_distance(Index i, ConstMatrixRef table, Index h) const;  // |x_i - table(h, :)|^2

 private:
  void sparse_scores(Index i, ConstMatrixRef table, ConstVectorRef bias, VectorXd& sum, MatrixRef out, Index r) const;
  static void check_plain(ConstMatrixRef x);
  using ByRows = Eigen::SparseMatrix<double, Eigen::RowMajor>;
  Design x_;
  MatrixXd own_;  // dense rows that had to be changed
  ByRows by_rows_;
};

}  // namespace granary
