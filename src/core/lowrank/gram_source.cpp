#include "core/lowrank/gram_source.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "core/kernel/kernel_rows.h"

namespace granary {

namespace {

class KernelGram : public GramSource {
 public:
  KernelGram(const KernelSpec& spec, const MatrixView& x) : kernel_(spec, x.cols()), x_(x.data(), x.rows(), x.cols()) {}
  Index size() const override { return x_.rows(); }
  VectorXd diagonal(const Work&) const override { return kernel_.diagonal(x_, false); }
  MatrixXd columns(const std::vector<Index>& which, const Work& work) const override {
    MatrixXd points(static_cast<Index>(which.size()), x_.cols());
    for (Index i = 0; i < points.rows(); ++i) points.row(i) = x_.row(which[static_cast<std::size_t>(i)]);
    return kernel_.cross(x_, points, work.threads, work.monitor);
  }

 private:
  Kernel kernel_;
  MatrixView x_;
};

class SparseGram : public GramSource {
 public:
  SparseGram(const KernelSpec& spec, const ConstSparseMap& x) : spec_(spec), x_(x) {}
  Index size() const override { return x_.rows(); }
  VectorXd diagonal(const Work& work) const override {
    VectorXd out(size());
    for (Index from = 0; from < size(); from += 1024) {  // rows as they are needed: a kernel of few of them is cheap
      work.monitor.check();
      const Index rows = std::min<Index>(1024, size() - from);
      out.segment(from, rows) = KernelRows(spec_, SparseMatrix(x_.middleRows(from, rows))).diagonal();
    }
    return out;
  }
  MatrixXd columns(const std::vector<Index>& which, const Work& work) const override {
    RowMajor chosen(static_cast<Index>(which.size()), x_.cols());
    for (std::size_t k = 0; k < which.size(); ++k) {
      chosen.startVec(static_cast<Index>(k));
      for (RowMajor::InnerIterator it(x_, which[k]); it; ++it) chosen.insertBack(static_cast<Index>(k), it.col()) = it.value();
    }
    chosen.finalize();
    const KernelRows support(spec_, SparseMatrix(chosen));
    MatrixXd out(size(), static_cast<Index>(which.size()));
    constexpr Index height = 256;
    parallel_for((size() + height - 1) / height, work.threads, work.monitor, [&](Index p) {
      const Index from = p * height, rows = std::min(height, size() - from);
      out.middleRows(from, rows) = support.cross(SparseMatrix(x_.middleRows(from, rows))).transpose();
    });
    return out;
  }

 private:
  using RowMajor = Eigen::SparseMatrix<double, Eigen::RowMajor>;
  KernelSpec spec_;
  RowMajor x_;
};

class MatrixGram : public GramSource {
 public:
  explicit MatrixGram(const MatrixView& g) : g_(g.data(), g.rows(), g.cols()) {
    if (g.rows() != g.cols()) throw InputError("a kernel matrix must be square.");
  }
  Index size() const override { return g_.rows(); }
  VectorXd diagonal(const Work&) const override { return g_.diagonal(); }
  MatrixXd columns(const std::vector<Index>& which, const Work&) const override {
    MatrixXd out(size(), static_cast<Index>(which.size()));
    for (Index j = 0; j < out.cols(); ++j) out.col(j) = g_.col(which[static_cast<std::size_t>(j)]);
    return out;
  }

 private:
  MatrixView g_;
};

class FunctionGram : public GramSource {
 public:
  FunctionGram(Index size, GramBlock block) : size_(size), block_(std::move(block)) {}
  Index size() const override { return size_; }
  VectorXd diagonal(const Work& work) const override {
    VectorXd out(size_);
    constexpr Index width = 32;  // the price of a block is its square
    for (Index from = 0; from < size_; from += width) {
      work.monitor.check();
      const VectorXd at = places(from, std::min(width, size_ - from));
      out.segment(from, at.size()) = checked(at, at).diagonal();
    }
    return out;
  }
  MatrixXd columns(const std::vector<Index>& which, const Work& work) const override {
    VectorXd at(static_cast<Index>(which.size()));
    for (Index j = 0; j < at.size(); ++j) at[j] = static_cast<double>(which[static_cast<std::size_t>(j)] + 1);
    MatrixXd out(size_, at.size());
    constexpr Index height = 4096;
    for (Index from = 0; from < size_; from += height) {
      work.monitor.check();
      const VectorXd rows = places(from, std::min(height, size_ - from));
      out.middleRows(from, rows.size()) = checked(rows, at);
    }
    return out;
  }

 private:
  static VectorXd places(Index from, Index count) {
    return VectorXd::LinSpaced(count, static_cast<double>(from + 1), static_cast<double>(from + count));
  }
  MatrixXd checked(const VectorXd& rows, const VectorXd& columns) const {
    MatrixXd k = block_(rows, columns);
    if (k.rows() != rows.size() || k.cols() != columns.size())
      throw InputError(message("the function of rows and columns must give a ", rows.size(), " x ", columns.size(),
                               " matrix here, but it is ", k.rows(), " x ", k.cols(), "."));
    if (!k.allFinite()) throw InputError("the function of rows and columns gave a value that is missing or not finite.");
    return k;
  }

  Index size_;
  GramBlock block_;
};

}  // namespace

std::unique_ptr<GramSource> kernel_gram(const KernelSpec& spec, const MatrixView& x) {
  return std::make_unique<KernelGram>(spec, x);
}
std::unique_ptr<GramSource> kernel_gram(const KernelSpec& spec, const ConstSparseMap& x) {
  return std::make_unique<SparseGram>(spec, x);
}
std::unique_ptr<GramSource> matrix_gram(const MatrixView& gram) { return std::make_unique<MatrixGram>(gram); }
std::unique_ptr<GramSource> function_gram(Index size, GramBlock block) {
  return std::make_unique<FunctionGram>(size, std::move(block));
}

std::vector<Index> residual_pivots(const GramSource& g, Index count, double tol, Rng* rng, const Work& work) {
  const VectorXd diagonal = g.diagonal(work);
  VectorXd left = diagonal.cwiseMax(0.0);
  const double trace = left.sum(), least = 1e-14 * left.maxCoeff();
  const Index most = std::min(count, g.size());
  MatrixXd f(g.size(), most);
  std::vector<Index> out;
  while (static_cast<Index>(out.size()) < most) {
    work.monitor.check();
    Index next = 0;
    if (!(left.maxCoeff(&next) > least) || left.sum() <= tol * trace) break;
    if (rng != nullptr) next = rng->categorical(left);
    const Index done = static_cast<Index>(out.size());
    VectorXd column = g.columns({next}, work);
    if (done > 0) column -= f.leftCols(done) * f.row(next).head(done).transpose();
    const double pivot = column[next];
    if (!(pivot > least)) {  // what was left there was rounding
      left[next] = 0;
      continue;
    }
    f.col(done) = column / std::sqrt(pivot);
    out.push_back(next);
    left = (left - f.col(done).cwiseAbs2()).cwiseMax(0.0);
    left[next] = 0;
  }
  return out;
}

}  // namespace granary
