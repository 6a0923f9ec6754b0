#include "core/lowrank/matrix_source.h"

#include <algorithm>
#include <utility>

#include "core/base/errors.h"
#include "core/base/parallel.h"

namespace granary {

namespace {

constexpr Index panel = 256;

template <class F>
void by_panels(Index size, const Work& work, F&& f, Index width = panel) {
  parallel_for((size + width - 1) / width, work.threads, work.monitor,
               [&](Index p) { f(p * width, std::min(width, size - p * width)); });
}

class DenseSource : public MatrixSource {
 public:
  explicit DenseSource(const MatrixView& a) : a_(a.data(), a.rows(), a.cols()) {}
  Index rows() const override { return a_.rows(); }
  Index cols() const override { return a_.cols(); }
  MatrixXd times(ConstMatrixRef b, const Work& work) const override {
    MatrixXd out(rows(), b.cols());
    by_panels(rows(), work,
              [&](Index from, Index size) { out.middleRows(from, size).noalias() = a_.middleRows(from, size) * b; });
    return out;
  }
  MatrixXd transposed_times(ConstMatrixRef b, const Work& work) const override {
    MatrixXd out(cols(), b.cols());
    by_panels(cols(), work,
              [&](Index from, Index size) { out.middleRows(from, size).noalias() = a_.middleCols(from, size).transpose() * b; });
    return out;
  }
  MatrixXd some_columns(const std::vector<Index>& which, const Work&) const override {
    MatrixXd out(rows(), static_cast<Index>(which.size()));
    for (Index j = 0; j < out.cols(); ++j) out.col(j) = a_.col(which[static_cast<std::size_t>(j)]);
    return out;
  }
  MatrixXd some_rows(const std::vector<Index>& which, const Work&) const override {
    MatrixXd out(static_cast<Index>(which.size()), cols());
    for (Index j = 0; j < cols(); ++j)
      for (Index i = 0; i < out.rows(); ++i) out(i, j) = a_(which[static_cast<std::size_t>(i)], j);
    return out;
  }
  VectorXd column_squares(const Work& work) const override {
    VectorXd out(cols());
    by_panels(cols(), work, [&](Index from, Index size) {
      for (Index j = from; j < from + size; ++j) out[j] = a_.col(j).squaredNorm();
    });
    return out;
  }
  VectorXd row_squares(const Work& work) const override {
    VectorXd out(rows());
    by_panels(rows(), work,
              [&](Index from, Index size) { out.segment(from, size) = a_.middleRows(from, size).rowwise().squaredNorm(); });
    return out;
  }
  VectorXd residual_column_squares(ConstMatrixRef left, ConstMatrixRef right, const Work& work) const override {
    VectorXd out(cols());
    by_panels(
        cols(), work,
        [&](Index from, Index size) {
          MatrixXd rest = a_.middleCols(from, size);
          rest.noalias() -= left * right.middleRows(from, size).transpose();
          out.segment(from, size) = rest.colwise().squaredNorm().transpose();
        },
        64);
    return out;
  }
  VectorXd residual_row_squares(ConstMatrixRef left, ConstMatrixRef right, const Work& work) const override {
    VectorXd out(rows());
    by_panels(
        rows(), work,
        [&](Index from, Index size) {
          MatrixXd rest = a_.middleRows(from, size);
          rest.noalias() -= left.middleRows(from, size) * right.transpose();
          out.segment(from, size) = rest.rowwise().squaredNorm();
        },
        64);
    return out;
  }

 private:
  MatrixView a_;
};

// Column-compressed, as R keeps it: one pass over the entries for each product.
class SparseSource : public MatrixSource {
 public:
  explicit SparseSource(const ConstSparseMap& a) : a_(a) {}
  Index rows() const override { return a_.rows(); }
  Index cols() const override { return a_.cols(); }
  MatrixXd times(ConstMatrixRef b, const Work& work) const override {
    MatrixXd out = MatrixXd::Zero(rows(), b.cols());
    parallel_for(b.cols(), work.threads, work.monitor, [&](Index t) {
      double* y = out.col(t).data();
      for (Index j = 0; j < cols(); ++j) {
        const double by = b(j, t);
        if (by == 0) continue;
        for (ConstSparseMap::InnerIterator it(a_, j); it; ++it) y[it.row()] += by * it.value();
      }
    });
    return out;
  }
  MatrixXd transposed_times(ConstMatrixRef b, const Work& work) const override {
    MatrixXd out(cols(), b.cols());
    by_panels(
        cols(), work,
        [&](Index from, Index size) {
          for (Index t = 0; t < b.cols(); ++t) {  // the entries of a panel stay in cache
            const double* y = b.col(t).data();
            for (Index j = from; j < from + size; ++j) {
              double sum = 0;
              for (ConstSparseMap::InnerIterator it(a_, j); it; ++it) sum += it.value() * y[it.row()];
              out(j, t) = sum;
            }
          }
        },
        16);
    return out;
  }
  MatrixXd some_columns(const std::vector<Index>& which, const Work&) const override {
    MatrixXd out = MatrixXd::Zero(rows(), static_cast<Index>(which.size()));
    for (Index k = 0; k < out.cols(); ++k)
      for (ConstSparseMap::InnerIterator it(a_, which[static_cast<std::size_t>(k)]); it; ++it) out(it.row(), k) = it.value();
    return out;
  }
  MatrixXd some_rows(const std::vector<Index>& which, const Work& work) const override {
    std::vector<std::vector<Index>> at(static_cast<std::size_t>(rows()));
    for (std::size_t k = 0; k < which.size(); ++k) at[static_cast<std::size_t>(which[k])].push_back(static_cast<Index>(k));
    MatrixXd out = MatrixXd::Zero(static_cast<Index>(which.size()), cols());
    by_panels(cols(), work, [&](Index from, Index size) {
      for (Index j = from; j < from + size; ++j)
        for (ConstSparseMap::InnerIterator it(a_, j); it; ++it)
          for (const Index k : at[static_cast<std::size_t>(it.row())]) out(k, j) = it.value();
    });
    return out;
  }
  VectorXd column_squares(const Work&) const override {
    VectorXd out = VectorXd::Zero(cols());
    for (Index j = 0; j < cols(); ++j)
      for (ConstSparseMap::InnerIterator it(a_, j); it; ++it) out[j] += it.value() * it.value();
    return out;
  }
  VectorXd row_squares(const Work&) const override {
    VectorXd out = VectorXd::Zero(rows());
    for (Index j = 0; j < cols(); ++j)
      for (ConstSparseMap::InnerIterator it(a_, j); it; ++it) out[it.row()] += it.value() * it.value();
    return out;
  }
  VectorXd residual_column_squares(ConstMatrixRef left, ConstMatrixRef right, const Work& work) const override {
    VectorXd out(cols());
    by_panels(
        cols(), work,
        [&](Index from, Index size) {
          MatrixXd rest = a_.middleCols(from, size);
          rest.noalias() -= left * right.middleRows(from, size).transpose();
          out.segment(from, size) = rest.colwise().squaredNorm().transpose();
        },
        8);
    return out;
  }
  VectorXd residual_row_squares(ConstMatrixRef left, ConstMatrixRef right, const Work& work) const override {
    VectorXd out = VectorXd::Zero(rows());
    for (Index from = 0; from < cols(); from += 8) {
      work.monitor.check();
      const Index size = std::min<Index>(8, cols() - from);
      MatrixXd rest = a_.middleCols(from, size);
      rest.noalias() -= left * right.middleRows(from, size).transpose();
      out += rest.rowwise().squaredNorm();
    }
    return out;
  }

 private:
  ConstSparseMap a_;
};

// Blocks of columns, one after the other; each is worked on as a dense matrix.
class ColumnBlocks : public MatrixSource {
 public:
  ColumnBlocks(Index rows, Index cols, BlockReader reader) : rows_(rows), cols_(cols), reader_(std::move(reader)) {}
  Index rows() const override { return rows_; }
  Index cols() const override { return cols_; }
  MatrixXd times(ConstMatrixRef b, const Work& work) const override {
    MatrixXd out = MatrixXd::Zero(rows_, b.cols());
    pass(work, [&](Index from, const MatrixXd& block) {
      by_panels(rows_, work, [&](Index i, Index size) {
        out.middleRows(i, size).noalias() += block.middleRows(i, size) * b.middleRows(from, block.cols());
      });
    });
    return out;
  }
  MatrixXd transposed_times(ConstMatrixRef b, const Work& work) const override {
    MatrixXd out(cols_, b.cols());
    pass(work,
         [&](Index from, const MatrixXd& block) { out.middleRows(from, block.cols()) = view(block)->transposed_times(b, work); });
    return out;
  }
  MatrixXd some_columns(const std::vector<Index>& which, const Work& work) const override {
    MatrixXd out(rows_, static_cast<Index>(which.size()));
    pass(work, [&](Index from, const MatrixXd& block) {
      for (std::size_t k = 0; k < which.size(); ++k)
        if (from <= which[k] && which[k] < from + block.cols()) out.col(static_cast<Index>(k)) = block.col(which[k] - from);
    });
    return out;
  }
  MatrixXd some_rows(const std::vector<Index>& which, const Work& work) const override {
    MatrixXd out(static_cast<Index>(which.size()), cols_);
    pass(work,
         [&](Index from, const MatrixXd& block) { out.middleCols(from, block.cols()) = view(block)->some_rows(which, work); });
    return out;
  }
  VectorXd column_squares(const Work& work) const override {
    VectorXd out(cols_);
    pass(work, [&](Index from, const MatrixXd& block) { out.segment(from, block.cols()) = view(block)->column_squares(work); });
    return out;
  }
  VectorXd row_squares(const Work& work) const override {
    VectorXd out = VectorXd::Zero(rows_);
    pass(work, [&](Index, const MatrixXd& block) { out += view(block)->row_squares(work); });
    return out;
  }
  VectorXd residual_column_squares(ConstMatrixRef left, ConstMatrixRef right, const Work& work) const override {
    VectorXd out(cols_);
    pass(work, [&](Index from, const MatrixXd& block) {
      out.segment(from, block.cols()) = view(block)->residual_column_squares(left, right.middleRows(from, block.cols()), work);
    });
    return out;
  }
  VectorXd residual_row_squares(ConstMatrixRef left, ConstMatrixRef right, const Work& work) const override {
    VectorXd out = VectorXd::Zero(rows_);
    pass(work, [&](Index from, const MatrixXd& block) {
      out += view(block)->residual_row_squares(left, right.middleRows(from, block.cols()), work);
    });
    return out;
  }
  double passes() const override { return passes_; }

 private:
  static std::unique_ptr<MatrixSource> view(const MatrixXd& block) {
    return dense_source(MatrixView(block.data(), block.rows(), block.cols()));
  }
  template <class F>
  void pass(const Work& work, F&& f) const {
    ++passes_;
    Index from = 0;
    for (bool restart = true; from < cols_; restart = false) {
      work.monitor.check();
      const MatrixXd block = reader_(restart);
      if (block.size() == 0)
        throw InputError(
            message("the data ended after ", from, " of ", cols_, " rows or columns: they are shorter than in the first pass."));
      if (block.rows() != rows_ || from + block.cols() > cols_)
        throw InputError(message("a block of the data has ", block.rows(), " x ", block.cols(), " numbers, but ", rows_,
                                 " x at most ", cols_ - from, " are left."));
      if (!block.allFinite()) throw InputError("a block of the data has missing or infinite values.");
      f(from, block);
      from += block.cols();
    }
  }

  Index rows_, cols_;
  BlockReader reader_;
  mutable double passes_ = 0;
};

class TransposedSource : public MatrixSource {
 public:
  explicit TransposedSource(const MatrixSource& a) : a_(a) {}
  Index rows() const override { return a_.cols(); }
  Index cols() const override { return a_.rows(); }
  MatrixXd times(ConstMatrixRef b, const Work& work) const override { return a_.transposed_times(b, work); }
  MatrixXd transposed_times(ConstMatrixRef b, const Work& work) const override { return a_.times(b, work); }
  MatrixXd some_columns(const std::vector<Index>& which, const Work& work) const override {
    return a_.some_rows(which, work).transpose();
  }
  MatrixXd some_rows(const std::vector<Index>& which, const Work& work) const override {
    return a_.some_columns(which, work).transpose();
  }
  VectorXd column_squares(const Work& work) const override { return a_.row_squares(work); }
  VectorXd row_squares(const Work& work) const override { return a_.column_squares(work); }
  VectorXd residual_column_squares(ConstMatrixRef left, ConstMatrixRef right, const Work& work) const override {
    return a_.residual_row_squares(right, left, work);
  }
  VectorXd residual_row_squares(ConstMatrixRef left, ConstMatrixRef right, const Work& work) const override {
    return a_.residual_column_squares(right, left, work);
  }
  double passes() const override { return a_.passes(); }

 private:
  const MatrixSource& a_;
};

// Blocks of rows are blocks of columns of A'.
class RowBlocks : public TransposedSource {
 public:
  explicit RowBlocks(std::unique_ptr<MatrixSource> columns) : TransposedSource(*columns), columns_(std::move(columns)) {}

 private:
  std::unique_ptr<MatrixSource> columns_;
};

}  // namespace

std::unique_ptr<MatrixSource> dense_source(const MatrixView& a) { return std::make_unique<DenseSource>(a); }
std::unique_ptr<MatrixSource> sparse_source(const ConstSparseMap& a) { return std::make_unique<SparseSource>(a); }
std::unique_ptr<MatrixSource> make_source(const Design& a) {
  return a.is_sparse() ? sparse_source(a.sparse()) : dense_source(a.dense());
}
std::unique_ptr<MatrixSource> transposed_source(const MatrixSource& a) { return std::make_unique<TransposedSource>(a); }

std::unique_ptr<MatrixSource> block_source(Index rows, Index cols, bool by_rows, BlockReader reader) {
  if (!by_rows) return std::make_unique<ColumnBlocks>(rows, cols, std::move(reader));
  return std::make_unique<RowBlocks>(std::make_unique<ColumnBlocks>(
      cols, rows, [reader = std::move(reader)](bool restart) { return MatrixXd(reader(restart).transpose()); }));
}

}  // namespace granary
