// A matrix A that is only asked for products, some of its columns and rows, and sums of squares: dense, sparse, or read block by
// block from wherever it is kept (a file, a database), in passes from beginning to end.
//
// What low-rank methods need of their data; all answers are dense and as small as the method's rank.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/base/monitor.h"
#include "core/base/types.h"
#include "core/linalg/design.h"

namespace granary {

struct Work {  // how to work: on so many threads, under this monitor
  int threads;
  Monitor& monitor;
};

class MatrixSource {
 public:
  virtual ~MatrixSource() = default;
  virtual Index rows() const = 0;
  virtual Index cols() const = 0;

  virtual MatrixXd times(ConstMatrixRef b, const Work& work) const = 0;                        // A B
  virtual MatrixXd transposed_times(ConstMatrixRef b, const Work& work) const = 0;             // A'B
  virtual MatrixXd some_columns(const std::vector<Index>& which, const Work& work) const = 0;  // A(:, which)
  virtual MatrixXd some_rows(const std::vector<Index>& which, const Work& work) const = 0;     // A(which, :)
  virtual VectorXd column_squares(const Work& work) const = 0;
  virtual VectorXd row_squares(const Work& work) const = 0;
  // The squared lengths of the columns of A - L R', entry by entry: for where |a|^2 - |L'a|^2 would cancel.
  virtual VectorXd residual_column_squares(ConstMatrixRef left, ConstMatrixRef right, const Work& work) const = 0;
  virtual VectorXd residual_row_squares(ConstMatrixRef left, ConstMatrixRef right, const Work& work) const = 0;
  virtual double passes() const { return 0; }  // over data that are read in blocks
};

// Views: the numbers must outlive the source.
std::unique_ptr<MatrixSource> dense_source(const MatrixView& a);
std::unique_ptr<MatrixSource> sparse_source(const ConstSparseMap& a);
std::unique_ptr<MatrixSource> make_source(const Design& a);

// The next block of whole rows (by_rows) or whole columns; `restart`: the first one. Empty at the end.
using BlockReader = std::function<MatrixXd(bool restart)>;
std::unique_ptr<MatrixSource> block_source(Index rows, Index cols, bool by_rows, BlockReader reader);

// A', by the same calls; `a` must outlive it.
std::unique_ptr<MatrixSource> transposed_source(const MatrixSource& a);

}  // namespace granary
