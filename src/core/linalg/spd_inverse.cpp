#include "core/linalg/spd_inverse.h"

#include "core/linalg/sparse_cholesky.h"
#include <algorithm>
#include <cmath>

#include "core/graph/union_find.h"
#include "core/linalg/dense.h"

namespace granary {

namespace {

constexpr Index base_size = 32;    // below this, plain loops beat the set-up of blocked products
constexpr int columns_at_once = 8;  // right-hand sides the sparse inverse carries together, for SIMD

// Gives access to the size of the factor, which Eigen knows after the symbolic analysis but does not tell.
struct SparseCholesky : Eigen::SimplicialLLT<SparseMatrix, Eigen::Upper, Eigen::AMDOrdering<int>> {
  Index factor_size() const { return m_matrix.nonZeros(); }
};

}  // namespace

void invert_lower(MatrixRef lower) {
  const Index n = lower.rows();
  if (n <= base_size) {
    for (Index j = 0; j < n; ++j) {
      lower(j, j) = 1 / lower(j, j);
      for (Index i = j + 1; i < n; ++i) {
        const double dot = lower.row(i).segment(j, i - j).dot(lower.col(j).segment(j, i - j));
        lower(i, j) = -dot / lower(i, i);
      }
    }
    return;
  }
  const Index k = n / 2;
  auto l11 = lower.topLeftCorner(k, k), l22 = lower.bottomRightCorner(n - k, n - k);
  auto l21 = lower.bottomLeftCorner(n - k, k);
  l22.triangularView<Eigen::Lower>().solveInPlace(l21);
  l11.triangularView<Eigen::Lower>().solveInPlace<Eigen::OnTheRight>(l21);
  l21 = -l21;
  invert_lower(l11);
  invert_lower(l22);
}

void cross_product_lower(MatrixRef m) {
  const Index n = m.rows();
  if (n <= base_size) {
    for (Index j = 0; j < n; ++j) {
      for (Index i = j; i < n; ++i) m(i, j) = m.col(i).tail(n - i).dot(m.col(j).tail(n - i));
    }
    return;
  }
  const Index k = n / 2;
  auto m11 = m.topLeftCorner(k, k), m22 = m.bottomRightCorner(n - k, n - k);
  auto m21 = m.bottomLeftCorner(n - k, k);
  cross_product_lower(m11);
  m11.selfadjointView<Eigen::Lower>().rankUpdate(m21.transpose());
  m21 = (m22.triangularView<Eigen::Lower>().transpose() * m21).eval();
  cross_product_lower(m22);
}

void inverse_from_cholesky(MatrixRef lower) {
  invert_lower(lower);
  cross_product_lower(lower);
}

struct SpdInverse::Component {
  std::vector<int> members;
  MatrixXd dense;                          // Cholesky factor in the lower triangle, or empty
  std::unique_ptr<SparseCholesky> sparse;  // or this

  bool factorise_dense(const SparseMatrix& upper) {
    dense.setZero(upper.rows(), upper.cols());
    for (Index j = 0; j < upper.cols(); ++j) {
      for (SparseMatrix::InnerIterator it(upper, j); it; ++it) dense(j, it.row()) = it.value();
    }
    const LltInPlace in_place(dense);
    return in_place.info() == Eigen::Success;
  }

  double log_det() const {
    double sum = 0;
    if (sparse) {
      const SparseMatrix& l = sparse->matrixL().nestedExpression();
      for (Index j = 0; j < l.cols(); ++j) sum += std::log(l.valuePtr()[l.outerIndexPtr()[j]]);
    } else {
      sum = dense.diagonal().array().log().sum();
    }
    return 2 * sum;
  }

  void inverse_dense(MatrixXd& w) const {
    if (w.rows() == dense.rows()) {  // one component, in its own order
      w = dense;
      inverse_from_cholesky(w);
      w.triangularView<Eigen::StrictlyUpper>() = w.transpose();
      return;
    }
    MatrixXd inverse = dense;
    inverse_from_cholesky(inverse);
    const Index n = dense.rows();
    for (Index j = 0; j < n; ++j) {
      for (Index i = j; i < n; ++i) {
        w(members[i], members[j]) = inverse(i, j);
        w(members[j], members[i]) = inverse(i, j);
      }
    }
  }

  // Solves L L' Y = I a few columns at a time. For the columns k0, k0+1, ... only the rows from k0 on are needed: the rest of W
  // follows by symmetry, and neither substitution looks at earlier rows.
  void inverse_sparse(MatrixXd& w) const {
    const SparseMatrix& l = sparse->matrixL().nestedExpression();
    const auto& order = sparse->permutationPinv().indices();
    const int* start = l.outerIndexPtr();
    const int* row = l.innerIndexPtr();
    const double* value = l.valuePtr();
    const Index n = l.cols();
    using Panel = Eigen::Matrix<double, columns_at_once, Eigen::Dynamic>;
    using Strip = Eigen::Matrix<double, columns_at_once, 1>;
    Panel y(columns_at_once, n);
    for (Index k0 = 0; k0 < n; k0 += columns_at_once) {
      const Index width = std::min<Index>(columns_at_once, n - k0);
      y.rightCols(n - k0).setZero();
      for (Index c = 0; c < width; ++c) y(c, k0 + c) = 1;
      for (Index j = k0; j < n; ++j) {
        const Strip yj = y.col(j) / value[start[j]];
        y.col(j) = yj;
        for (int k = start[j] + 1; k < start[j + 1]; ++k) y.col(row[k]) -= value[k] * yj;
      }
      for (Index j = n - 1; j >= k0; --j) {
        Strip yj = y.col(j);
        for (int k = start[j] + 1; k < start[j + 1]; ++k) yj -= value[k] * y.col(row[k]);
        y.col(j) = yj / value[start[j]];
      }
      for (Index j = k0; j < n; ++j) {
        const int gj = members[order[j]];
        for (Index c = 0; c < width; ++c) {
          const int gc = members[order[k0 + c]];
          w(gj, gc) = y(c, j);
          w(gc, gj) = y(c, j);
        }
      }
    }
  }
};

SpdInverse::SpdInverse() = default;
SpdInverse::~SpdInverse() = default;
SpdInverse::SpdInverse(SpdInverse&&) noexcept = default;
SpdInverse& SpdInverse::operator=(SpdInverse&&) noexcept = default;

int SpdInverse::components() const { return static_cast<int>(components_.size()); }

bool SpdInverse::factorise(const SparseMatrix& upper) {
  components_.clear();
  size_ = upper.rows();
  log_det_ = 0;

  UnionFind sets(static_cast<int>(size_));
  for (Index j = 0; j < size_; ++j) {
    for (SparseMatrix::InnerIterator it(upper, j); it; ++it) {
      if (it.value() != 0) sets.unite(static_cast<int>(it.row()), static_cast<int>(j));
    }
  }
  const std::vector<int> label = sets.labels();
  std::vector<std::vector<int>> members(sets.sets());
  std::vector<int> position(size_);
  for (int i = 0; i < size_; ++i) {
    position[i] = static_cast<int>(members[label[i]].size());
    members[label[i]].push_back(i);
  }

  std::vector<Eigen::Triplet<double>> entries;
  for (auto& group : members) {
    const int n = static_cast<int>(group.size());
    entries.clear();
    for (int j = 0; j < n; ++j) {
      for (SparseMatrix::InnerIterator it(upper, group[j]); it; ++it) {
        if (it.value() != 0) entries.emplace_back(position[it.row()], j, it.value());
      }
    }
    SparseMatrix x(n, n);
    x.setFromTriplets(entries.begin(), entries.end());
    auto component = std::make_unique<Component>();
    component->members = std::move(group);

    // The sparse route needs about nnz(L) n multiplications at a third of the speed of the dense one's n^3 / 2.
    const Index full = Index(n) * n;
    bool dense = n <= base_size || (dense_from_ >= 0 && x.nonZeros() >= dense_from_) || x.nonZeros() > full / 8;
    if (!dense) {
      component->sparse = std::make_unique<SparseCholesky>();
      component->sparse->analyzePattern(x);
      if (component->sparse->factor_size() > full / 7) {
        dense_from_ = x.nonZeros();
        component->sparse.reset();
        dense = true;
      }
    }
    bool positive;
    if (dense) {
      positive = component->factorise_dense(x);
    } else {
      component->sparse->factorize(x);
      positive = component->sparse->info() == Eigen::Success;
    }
    const double log_det = positive ? component->log_det() : 0;
    if (!positive || !std::isfinite(log_det)) {
      components_.clear();
      size_ = 0;
      return false;
    }
    log_det_ += log_det;
    components_.push_back(std::move(component));
  }
  return true;
}

void SpdInverse::inverse(MatrixXd& w) const {
  w.setZero(size_, size_);
  for (const auto& component : components_) {
    if (component->sparse) {
      component->inverse_sparse(w);
    } else {
      component->inverse_dense(w);
    }
  }
}

}  // namespace granary
