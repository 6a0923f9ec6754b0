#include "core/kernel/kernel_rows.h"

#include <algorithm>
#include <numeric>

#include "core/base/errors.h"
#include "core/kernel/kernel_parts.h"
#include "core/base/parallel.h"

namespace granary {

namespace rows_detail {

using kernel_detail::InnerView;
using kernel_detail::Part;

// A kernel or a part of one, over prepared data.
class Term {
 public:
  virtual ~Term() = default;
  virtual void row(Index i, Index from, Index to, double* out) = 0;
  virtual void block(const std::vector<Index>& which, Index from, Index to, MatrixRef out) {
    for (std::size_t k = 0; k < which.size(); ++k) row(which[k], from, to, out.col(static_cast<Index>(k)).data());
  }
  virtual bool reentrant() const { return false; }  // `block` may run on several threads at once
  virtual void diagonal(VectorRef out) const = 0;
  virtual void reorder(const std::vector<Index>& order) = 0;
  virtual void swap(Index a, Index b) = 0;
  virtual void cross(ConstMatrixRef z, MatrixRef out) const = 0;
  virtual void cross(const SparseMatrix& z, MatrixRef out) const = 0;
};

namespace {

// The first places of v in a new order.
template <class Vector>
void permute(Vector& v, const std::vector<Index>& order) {
  const Vector old = v;
  for (std::size_t k = 0; k < order.size(); ++k) v[k] = old[order[k]];
}

void inner_diagonal(const Part& part, const VectorXd& norms, VectorRef out) {
  VectorXd one(1);
  for (Index i = 0; i < out.size(); ++i) {
    one[0] = norms[i];  // x'x
    part.from_inner(norms.segment(i, 1), norms[i], one);
    out[i] = one[0];
  }
}

MatrixXd permuted_rows(ConstMatrixRef x, const std::vector<Index>& order) {
  MatrixXd out(static_cast<Index>(order.size()), x.cols());
  for (Index c = 0; c < x.cols(); ++c)
    for (Index k = 0; k < out.rows(); ++k) out(k, c) = x(order[k], c);
  return out;
}

VectorXd weights_of(const InnerView& view, Index columns) {
  return view.weights.size() == 1 ? VectorXd::Constant(columns, view.weights[0]) : view.weights;
}

// Parts that see inner products, over dense data: x_ has one column for each feature, so that a row of the kernel matrix is a
// few long vector operations. With few columns and a part that sees differences only, -|x - z|^2 / 2 with lengths of zero is
// as good as x'z, and has no cancellation: equal rows are at distance zero and ties are ties.
class DenseInner : public Term {
 public:
  DenseInner(std::unique_ptr<Part> part, InnerView view, ConstMatrixRef x) : part_(std::move(part)), view_(std::move(view)) {
    const Index columns = view_.columns.empty() ? x.cols() : static_cast<Index>(view_.columns.size());
    weights_ = weights_of(view_, columns);
    centre_ = VectorXd::Zero(columns);
    if (view_.differences && x.rows() > 0)
      for (Index k = 0; k < columns; ++k) centre_[k] = x.col(column(k)).mean();
    x_ = prepared(x);
    by_difference_ = view_.differences && columns <= 8;
    norms_ = squared_lengths(x_);
  }
  void row(Index i, Index from, Index to, double* out) override {
    Eigen::Map<VectorXd> k(out, to - from);
    point_ = x_.row(i).transpose();
    if (by_difference_) {
      half_distances(from, to, point_, k);
    } else {
      k.noalias() = x_.middleRows(from, to - from) * point_;
    }
    part_->from_inner(norms_.segment(from, to - from), norms_[i], k);
  }
  void block(const std::vector<Index>& which, Index from, Index to, MatrixRef out) override {
    const Index count = static_cast<Index>(which.size());
    MatrixXd points(x_.cols(), count);
    for (Index k = 0; k < count; ++k) points.col(k) = x_.row(which[k]).transpose();
    if (by_difference_) {
      for (Index k = 0; k < count; ++k) half_distances(from, to, points.col(k), out.col(k));
    } else {
      out.noalias() = x_.middleRows(from, to - from) * points;
    }
    for (Index k = 0; k < count; ++k) part_->from_inner(norms_.segment(from, to - from), norms_[which[k]], out.col(k));
  }
  bool reentrant() const override { return true; }
  void diagonal(VectorRef out) const override { inner_diagonal(*part_, norms_, out); }
  void reorder(const std::vector<Index>& order) override {
    const MatrixXd first = permuted_rows(x_, order);
    x_.topRows(first.rows()) = first;
    permute(norms_, order);
  }
  void swap(Index a, Index b) override {
    x_.row(a).swap(x_.row(b));
    std::swap(norms_[a], norms_[b]);
  }
  void cross(ConstMatrixRef z, MatrixRef out) const override {
    const MatrixXd points = prepared(z);
    const VectorXd norms = squared_lengths(points);
    if (by_difference_) {
      for (Index j = 0; j < out.cols(); ++j) half_distances(0, x_.rows(), points.row(j).transpose(), out.col(j));
    } else {
      out.noalias() = x_ * points.transpose();
    }
    for (Index j = 0; j < out.cols(); ++j) part_->from_inner(norms_, norms[j], out.col(j));
  }
  void cross(const SparseMatrix& z, MatrixRef out) const override { cross(MatrixXd(z), out); }

 private:
  VectorXd squared_lengths(const MatrixXd& x) const {
    return by_difference_ ? VectorXd::Zero(x.rows()) : VectorXd(x.rowwise().squaredNorm());
  }
  void half_distances(Index from, Index to, const VectorXd& z, VectorRef k) const {
    k = -0.5 * (x_.col(0).segment(from, to - from).array() - z[0]).square();
    for (Index c = 1; c < x_.cols(); ++c) k.array() -= 0.5 * (x_.col(c).segment(from, to - from).array() - z[c]).square();
  }
  Index column(Index k) const { return view_.columns.empty() ? k : view_.columns[k]; }
  MatrixXd prepared(ConstMatrixRef x) const {
    MatrixXd out(x.rows(), weights_.size());
    for (Index k = 0; k < out.cols(); ++k) out.col(k) = (x.col(column(k)).array() - centre_[k]) * weights_[k];
    return out;
  }

  std::unique_ptr<Part> part_;
  InnerView view_;
  VectorXd weights_, centre_;
  MatrixXd x_;
  bool by_difference_;
  VectorXd norms_, point_;
};

// The same over sparse data. `place_` says where a row of the data stands, `at_` which row stands at a place.
class SparseInner : public Term {
 public:
  SparseInner(std::unique_ptr<Part> part, const InnerView& view, const SparseMatrix& x) : part_(std::move(part)) {
    weights_ = VectorXd::Zero(x.cols());
    const Index columns = view.columns.empty() ? x.cols() : static_cast<Index>(view.columns.size());
    const VectorXd weights = weights_of(view, columns);
    for (Index k = 0; k < columns; ++k) weights_[view.columns.empty() ? k : view.columns[k]] = weights[k];
    by_column_ = x;
    by_column_ = by_column_ * weights_.asDiagonal();
    by_column_.prune(0.0, 0.0);
    by_row_ = by_column_;
    norms_.resize(x.rows());
    for (Index i = 0; i < x.rows(); ++i) norms_[i] = by_row_.row(i).squaredNorm();
    at_.resize(static_cast<std::size_t>(x.rows()));
    std::iota(at_.begin(), at_.end(), Index(0));
    sum_ = VectorXd::Zero(x.rows());
    point_ = VectorXd::Zero(x.cols());
    mean_length_ = static_cast<double>(by_row_.nonZeros()) / std::max<Index>(1, x.rows());
  }
  void row(Index i, Index from, Index to, double* out) override {
    Eigen::Map<VectorXd> k(out, to - from);
    const Index me = at_[i];
    double by_columns = 2.0 * static_cast<double>(sum_.size());  // work: zeroing and gathering besides the lists
    for (RowMajor::InnerIterator it(by_row_, me); it; ++it)
      by_columns += by_column_.outerIndexPtr()[it.col() + 1] - by_column_.outerIndexPtr()[it.col()];
    if (by_columns < mean_length_ * static_cast<double>(to - from)) {
      sum_.setZero();
      for (RowMajor::InnerIterator it(by_row_, me); it; ++it)
        for (SparseMatrix::InnerIterator other(by_column_, it.col()); other; ++other)
          sum_[other.row()] += it.value() * other.value();
      for (Index t = from; t < to; ++t) k[t - from] = sum_[at_[t]];
    } else {
      for (RowMajor::InnerIterator it(by_row_, me); it; ++it) point_[it.col()] = it.value();
      for (Index t = from; t < to; ++t) {
        double inner = 0;
        for (RowMajor::InnerIterator it(by_row_, at_[t]); it; ++it) inner += it.value() * point_[it.col()];
        k[t - from] = inner;
      }
      for (RowMajor::InnerIterator it(by_row_, me); it; ++it) point_[it.col()] = 0;
    }
    part_->from_inner(norms_.segment(from, to - from), norms_[i], k);
  }
  void diagonal(VectorRef out) const override { inner_diagonal(*part_, norms_, out); }
  void reorder(const std::vector<Index>& order) override {
    permute(at_, order);
    permute(norms_, order);
  }
  void swap(Index a, Index b) override {
    std::swap(at_[a], at_[b]);
    std::swap(norms_[a], norms_[b]);
  }
  void cross(ConstMatrixRef z, MatrixRef out) const override {
    const SparseMatrix points = z.sparseView(0.0, 0.0);
    cross(points, out);
  }
  void cross(const SparseMatrix& z, MatrixRef out) const override {
    const RowMajor points = z * weights_.asDiagonal();
    VectorXd sum(norms_.size());
    for (Index j = 0; j < z.rows(); ++j) {
      sum.setZero();
      double norm = 0;
      for (RowMajor::InnerIterator it(points, j); it; ++it) {
        norm += it.value() * it.value();
        for (SparseMatrix::InnerIterator other(by_column_, it.col()); other; ++other)
          sum[other.row()] += it.value() * other.value();
      }
      for (Index t = 0; t < out.rows(); ++t) out(t, j) = sum[at_[t]];
      part_->from_inner(norms_, norm, out.col(j));
    }
  }

 private:
  using RowMajor = Eigen::SparseMatrix<double, Eigen::RowMajor>;

  std::unique_ptr<Part> part_;
  VectorXd weights_;
  SparseMatrix by_column_;
  RowMajor by_row_;
  VectorXd norms_;  // by place
  std::vector<Index> at_;
  VectorXd sum_, point_;  // working space, one entry for each row, each column
  double mean_length_;
};

// Any other part, asked for one row at a time.
class General : public Term {
 public:
  General(std::unique_ptr<Part> part, ConstMatrixRef x) : part_(std::move(part)), x_(x) {}
  void row(Index i, Index from, Index to, double* out) override {
    Eigen::Map<MatrixXd> k(out, to - from, 1);
    part_->value(x_.middleRows(from, to - from), x_.row(i), {}, k);
  }
  void diagonal(VectorRef out) const override { part_->diagonal(x_, true, out); }
  void reorder(const std::vector<Index>& order) override {
    const MatrixXd first = permuted_rows(x_, order);
    x_.topRows(first.rows()) = first;
  }
  void swap(Index a, Index b) override { x_.row(a).swap(x_.row(b)); }
  void cross(ConstMatrixRef z, MatrixRef out) const override { part_->value(x_, z, {}, out); }
  void cross(const SparseMatrix& z, MatrixRef out) const override { cross(MatrixXd(z), out); }

 private:
  std::unique_ptr<Part> part_;
  MatrixXd x_;
};

// bias: v everywhere; white: v on the diagonal, which KernelRows puts in, and zero elsewhere.
class Flat : public Term {
 public:
  Flat(double value, bool white) : value_(value), white_(white) {}
  void row(Index, Index from, Index to, double* out) override { std::fill(out, out + (to - from), white_ ? 0 : value_); }
  bool reentrant() const override { return true; }
  void diagonal(VectorRef out) const override { out.setConstant(value_); }
  void reorder(const std::vector<Index>&) override {}
  void swap(Index, Index) override {}
  void cross(ConstMatrixRef, MatrixRef out) const override { out.setConstant(white_ ? 0 : value_); }
  void cross(const SparseMatrix&, MatrixRef out) const override { out.setConstant(white_ ? 0 : value_); }

 private:
  double value_;
  bool white_;
};

class Gram : public Term {
 public:
  explicit Gram(const Eigen::Map<const MatrixXd>& k) : k_(k.data(), k.rows(), k.cols()), at_(static_cast<std::size_t>(k.rows())) {
    std::iota(at_.begin(), at_.end(), Index(0));
  }
  void row(Index i, Index from, Index to, double* out) override {
    const double* column = k_.data() + at_[i] * k_.rows();
    for (Index t = from; t < to; ++t) out[t - from] = column[at_[t]];
  }
  bool reentrant() const override { return true; }
  void diagonal(VectorRef out) const override {
    for (Index i = 0; i < out.size(); ++i) out[i] = k_(at_[i], at_[i]);
  }
  void reorder(const std::vector<Index>& order) override { permute(at_, order); }
  void swap(Index a, Index b) override { std::swap(at_[a], at_[b]); }
  void cross(ConstMatrixRef, MatrixRef) const override { refuse(); }
  void cross(const SparseMatrix&, MatrixRef) const override { refuse(); }

 private:
  [[noreturn]] static void refuse() {
    throw InputError("a kernel matrix says nothing about new points: give their kernel values.");
  }

  Eigen::Map<const MatrixXd> k_;
  std::vector<Index> at_;
};

class Combined : public Term {
 public:
  Combined(std::vector<std::unique_ptr<Term>> terms, bool product) : terms_(std::move(terms)), product_(product) {}
  void row(Index i, Index from, Index to, double* out) override {
    Eigen::Map<VectorXd> k(out, to - from);
    terms_[0]->row(i, from, to, out);
    more_.resize(to - from);
    for (std::size_t c = 1; c < terms_.size(); ++c) {
      terms_[c]->row(i, from, to, more_.data());
      fold(k, more_);
    }
  }
  void block(const std::vector<Index>& which, Index from, Index to, MatrixRef out) override {
    terms_[0]->block(which, from, to, out);
    MatrixXd more(out.rows(), out.cols());
    for (std::size_t c = 1; c < terms_.size(); ++c) {
      terms_[c]->block(which, from, to, more);
      fold(out, more);
    }
  }
  bool reentrant() const override {
    return std::all_of(terms_.begin(), terms_.end(), [](const auto& term) { return term->reentrant(); });
  }
  void diagonal(VectorRef out) const override {
    each(out, [](const Term& term, VectorRef k) { term.diagonal(k); });
  }
  void reorder(const std::vector<Index>& order) override {
    for (const auto& term : terms_) term->reorder(order);
  }
  void swap(Index a, Index b) override {
    for (const auto& term : terms_) term->swap(a, b);
  }
  void cross(ConstMatrixRef z, MatrixRef out) const override {
    each(out, [&](const Term& term, MatrixRef k) { term.cross(z, k); });
  }
  void cross(const SparseMatrix& z, MatrixRef out) const override {
    each(out, [&](const Term& term, MatrixRef k) { term.cross(z, k); });
  }

 private:
  template <class A, class B>
  void fold(A& a, const B& b) const {
    if (product_) {
      a.array() *= b.array();
    } else {
      a += b;
    }
  }
  template <class Target, class F>
  void each(Target& out, F&& f) const {
    f(*terms_[0], out);
    typename Target::PlainObject more(out.rows(), out.cols());
    for (std::size_t c = 1; c < terms_.size(); ++c) {
      f(*terms_[c], more);
      fold(out, more);
    }
  }

  std::vector<std::unique_ptr<Term>> terms_;
  bool product_;
  VectorXd more_;
};

template <class Data>
std::unique_ptr<Term> make_term(const KernelSpec& spec, const Data& x) {
  constexpr bool dense = std::is_same<Data, ConstMatrixRef>::value;
  std::unique_ptr<Part> part = kernel_detail::make_part(spec, x.cols());  // checks the spec, too
  if (!spec.children.empty()) {
    std::vector<std::unique_ptr<Term>> terms;
    for (const KernelSpec& child : spec.children) terms.push_back(make_term(child, x));
    return std::make_unique<Combined>(std::move(terms), spec.type == "product");
  }
  if (spec.type == "bias" || spec.type == "white") return std::make_unique<Flat>(spec.variance, spec.type == "white");
  InnerView view;
  const bool inner = part->inner_view(&view);
  if constexpr (dense) {
    if (inner) return std::make_unique<DenseInner>(std::move(part), std::move(view), x);
    return std::make_unique<General>(std::move(part), x);
  } else {
    if (!inner)
      throw InputError(
          message("a ", spec.type, " kernel needs whole points, but the data are sparse: make them a dense matrix."));
    return std::make_unique<SparseInner>(std::move(part), view, x);
  }
}

}  // namespace
}  // namespace rows_detail

KernelRows::KernelRows(const KernelSpec& spec, ConstMatrixRef x)
    : root_(rows_detail::make_term<ConstMatrixRef>(spec, x)), diagonal_(x.rows()) {
  finish();
}
KernelRows::KernelRows(const KernelSpec& spec, const SparseMatrix& x)
    : root_(rows_detail::make_term<SparseMatrix>(spec, x)), diagonal_(x.rows()) {
  finish();
}
KernelRows::KernelRows(const Eigen::Map<const MatrixXd>& gram)
    : root_(std::make_unique<rows_detail::Gram>(gram)), diagonal_(gram.rows()) {
  finish();
}
KernelRows::KernelRows(KernelRows&&) noexcept = default;
KernelRows& KernelRows::operator=(KernelRows&&) noexcept = default;
KernelRows::~KernelRows() = default;

void KernelRows::finish() {
  root_->diagonal(diagonal_);
  if (!diagonal_.allFinite())
    throw InputError("the kernel of a row with itself is not finite: the data are too large for it. Scale the columns.");
}

void KernelRows::row(Index i, Index from, Index to, double* out) {
  root_->row(i, from, to, out);
  if (from <= i && i < to) out[i - from] = diagonal_[i];
  computed_ += static_cast<double>(to - from);
}

void KernelRows::block(const std::vector<Index>& which, Index from, Index to, MatrixXd& out) {
  out.resize(to - from, static_cast<Index>(which.size()));
  root_->block(which, from, to, out);
  complete(which, from, to, out);
}

void KernelRows::block(const std::vector<Index>& which, Index from, Index to, MatrixXd& out, int threads, Monitor& monitor) {
  out.resize(to - from, static_cast<Index>(which.size()));
  constexpr Index width = 8;
  const Index parts = (out.cols() + width - 1) / width;
  if (!root_->reentrant() || out.size() < 100000) threads = 1;  // below, threads cost more than they save
  parallel_for(parts, threads, monitor, [&](Index part) {
    const Index first = part * width, last = std::min(out.cols(), first + width);
    root_->block(std::vector<Index>(which.begin() + first, which.begin() + last), from, to, out.middleCols(first, last - first));
  });
  complete(which, from, to, out);
}

void KernelRows::complete(const std::vector<Index>& which, Index from, Index to, MatrixXd& out) {
  for (std::size_t k = 0; k < which.size(); ++k)
    if (from <= which[k] && which[k] < to) out(which[k] - from, static_cast<Index>(k)) = diagonal_[which[k]];
  computed_ += static_cast<double>(out.size());
}

void KernelRows::reorder(const std::vector<Index>& order) {
  root_->reorder(order);
  rows_detail::permute(diagonal_, order);
}

void KernelRows::swap(Index a, Index b) {
  if (a == b) return;
  root_->swap(a, b);
  std::swap(diagonal_[a], diagonal_[b]);
}

MatrixXd KernelRows::cross(ConstMatrixRef z) const {
  MatrixXd out(size(), z.rows());
  root_->cross(z, out);
  return out;
}

MatrixXd KernelRows::cross(const SparseMatrix& z) const {
  MatrixXd out(size(), z.rows());
  root_->cross(z, out);
  return out;
}

}  // namespace granary
