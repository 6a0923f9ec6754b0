#include "kernel/svm_data.h"

#include <algorithm>
#include <numeric>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "core/linalg/dense.h"

namespace granary::kernel {

namespace {

using RowMajor = Eigen::SparseMatrix<double, Eigen::RowMajor>;
constexpr double panel_values = 65536;  // kernel values computed before they are summed: they stay in the second-level cache

MatrixXd some_rows(const Eigen::Map<const MatrixXd>& x, const std::vector<Index>& which) {
  MatrixXd out(static_cast<Index>(which.size()), x.cols());
  for (Index c = 0; c < x.cols(); ++c)
    for (Index i = 0; i < out.rows(); ++i) out(i, c) = x(which[static_cast<std::size_t>(i)], c);
  return out;
}

SparseMatrix some_rows(const SparseMatrix& x, const std::vector<Index>& which) {
  const RowMajor by_row = x;
  RowMajor out(static_cast<Index>(which.size()), x.cols());
  Index entries = 0;
  for (const Index i : which) entries += by_row.outerIndexPtr()[i + 1] - by_row.outerIndexPtr()[i];
  out.reserve(entries);
  for (std::size_t k = 0; k < which.size(); ++k) {
    out.startVec(static_cast<Index>(k));
    for (RowMajor::InnerIterator it(by_row, which[k]); it; ++it) out.insertBack(static_cast<Index>(k), it.col()) = it.value();
  }
  out.finalize();
  return SparseMatrix(out);
}

bool is_everything(const std::vector<Index>& which, Index size) {
  if (static_cast<Index>(which.size()) != size) return false;
  for (std::size_t k = 0; k < which.size(); ++k)
    if (which[k] != static_cast<Index>(k)) return false;
  return true;
}

template <class Points>
MatrixXd in_panels(const KernelRows& support, ConstMatrixRef coefficients, const Points& z, int threads, Monitor& monitor) {
  if (coefficients.rows() != support.size()) throw InputError("there must be one coefficient for each support vector.");
  MatrixXd out(z.rows(), coefficients.cols());
  const double wanted = panel_values / static_cast<double>(std::max<Index>(1, support.size()));
  const Index height = std::max<Index>(16, std::min<Index>(512, static_cast<Index>(wanted)));
  parallel_for((z.rows() + height - 1) / height, threads, monitor, [&](Index p) {
    const Index from = p * height, size = std::min(height, z.rows() - from);
    const MatrixXd k = support.cross(z.middleRows(from, size));
    out.middleRows(from, size).noalias() = k.transpose() * coefficients;
  });
  return out;
}

}  // namespace

SvmData::SvmData(KernelSpec spec, const Eigen::Map<const MatrixXd>& x)
    : kind_(Kind::dense), spec_(std::move(spec)), dense_(x), size_(x.rows()) {}
SvmData::SvmData(KernelSpec spec, SparseMatrix x)
    : kind_(Kind::sparse), spec_(std::move(spec)), dense_(nullptr, 0, 0), sparse_(std::move(x)), size_(sparse_.rows()) {}
SvmData::SvmData(const Eigen::Map<const MatrixXd>& gram) : kind_(Kind::gram), dense_(gram), size_(gram.rows()) {
  if (gram.rows() != gram.cols()) throw InputError("a kernel matrix must be square.");
}

SvmData::Chosen SvmData::choose(const std::vector<Index>& which) const {
  const bool everything = is_everything(which, size_);
  if (kind_ == Kind::sparse)
    return {{}, everything ? KernelRows(spec_, sparse_) : KernelRows(spec_, some_rows(sparse_, which))};
  if (kind_ == Kind::dense) return {{}, everything ? KernelRows(spec_, dense_) : KernelRows(spec_, some_rows(dense_, which))};
  if (everything) return {{}, KernelRows(dense_)};
  const Index n = static_cast<Index>(which.size());
  MatrixXd part(n, n);
  for (Index j = 0; j < n; ++j)
    for (Index i = 0; i < n; ++i) part(i, j) = dense_(which[static_cast<std::size_t>(i)], which[static_cast<std::size_t>(j)]);
  KernelRows rows(Eigen::Map<const MatrixXd>(part.data(), n, n));
  return {std::move(part), std::move(rows)};  // the numbers stay where they are
}

bool SvmData::indefinite(const std::vector<Index>& which) const {
  Chosen chosen = choose(which);
  const Index n = chosen.rows.size();
  MatrixXd k;
  std::vector<Index> all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), Index(0));
  chosen.rows.block(all, 0, n, k);
  k = (0.5 * (k + k.transpose())).eval();
  k.rowwise() -= k.colwise().mean().eval();
  k.colwise() -= k.rowwise().mean().eval();
  const double size = k.diagonal().cwiseAbs().maxCoeff();
  if (!(size > 0)) return false;
  return SymmetricEigen(k, EigenParts::values).eigenvalues()[0] < -1e-8 * size * static_cast<double>(n);
}

VectorXd SvmData::decision(const std::vector<Index>& which, ConstVectorRef coefficients, const std::vector<Index>& at,
                           Monitor& monitor) const {
  std::vector<Index> support;
  std::vector<double> weight;
  for (std::size_t k = 0; k < which.size(); ++k) {
    if (coefficients[static_cast<Index>(k)] == 0) continue;
    support.push_back(which[k]);
    weight.push_back(coefficients[static_cast<Index>(k)]);
  }
  const Eigen::Map<const VectorXd> c(weight.data(), static_cast<Index>(weight.size()));
  VectorXd out = VectorXd::Zero(static_cast<Index>(at.size()));
  if (support.empty() || at.empty()) return out;
  if (kind_ == Kind::gram) {
    for (std::size_t k = 0; k < at.size(); ++k)
      for (std::size_t s = 0; s < support.size(); ++s) out[static_cast<Index>(k)] += dense_(support[s], at[k]) * weight[s];
    return out;
  }
  const KernelRows rows = choose(support).rows;
  if (kind_ == Kind::dense) return decision_values(rows, c, some_rows(dense_, at), 1, monitor);
  return decision_values(rows, c, some_rows(sparse_, at), 1, monitor);
}

MatrixXd decision_values(const KernelRows& support, ConstMatrixRef coefficients, ConstMatrixRef z, int threads,
                         Monitor& monitor) {
  return in_panels(support, coefficients, z, threads, monitor);
}

MatrixXd decision_values(const KernelRows& support, ConstMatrixRef coefficients, const SparseMatrix& z, int threads,
                         Monitor& monitor) {
  const RowMajor by_row = z;
  return in_panels(support, coefficients, by_row, threads, monitor);
}

}  // namespace granary::kernel
