#include "core/kernel/kernel_boolean.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/kernel/kernel_parts.h"
#include "core/math/logspace.h"
#include "core/math/special.h"

namespace granary {

namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

double plain_conjunctions(double s, int a, int b, double g) {
  const double last = b == 0 ? s : std::min(s, static_cast<double>(b));
  double term = 1, sum = 0;
  for (double i = 0; i <= last; ++i) {
    if (i >= a) sum += term;
    term = term * (s - i) / (i + 1);
    if (g != 1) term *= g;
    if (!(sum < 1e300)) break;
  }
  return sum;
}

void check_spec(const BooleanSpec& s) {
  require(s.min_length >= 0, "the least length of conjunctions must be 0 or more.");
  require(s.max_length == 0 || s.max_length >= std::max(1, s.min_length),
          "the largest length of conjunctions must not be below the least.");
  require(s.damping > 0 && std::isfinite(s.damping), "the damping of a boolean kernel must be above 0.");
  require(!(s.log && s.normalize), "a boolean kernel is either normalised or a logarithm.");
  require(!(s.log && s.literals == Literals::parity), "a kernel of parities can be negative and has no logarithm.");
}

}  // namespace

double log_conjunctions(double s, int a, int b, double g) {
  if (b == 0 && a <= 1) {
    const double all = s * std::log1p(g);
    return a == 0 ? all : all > 0 ? all + log1mexp(-all) : minus_infinity;
  }
  const double last = b == 0 ? s : std::min(s, static_cast<double>(b));
  LogSumExp sum;
  for (double i = a; i <= last; ++i) sum.add(i * std::log(g) + log_choose(s, i));
  return sum.value();
}

BooleanTable::BooleanTable(const BooleanSpec& spec, Index attributes) : spec_(spec), n_(attributes) {
  check_spec(spec);
  const double n = static_cast<double>(n_), g = spec.damping;
  if (spec.literals != Literals::parity) {
    // Rows with many attributes and long conjunctions: each value is a sum of at most `last` terms.
    for (Index s = 0; s <= n_; ++s) {
      log_.push_back(log_conjunctions(static_cast<double>(s), spec.min_length, spec.max_length, g));
      plain_.push_back(plain_conjunctions(static_cast<double>(s), spec.min_length, spec.max_length, g));
    }
    return;
  }
  // r_i = P_i(d; n) / C(n, i) is at most 1:  (n - i) r_{i+1} = (n - 2 d) r_i - i r_{i-1}.
  const Index last = spec.max_length == 0 ? n_ : std::min<Index>(spec.max_length, n_);
  const double whole = log_conjunctions(n, spec.min_length, spec.max_length, g);
  for (Index d = 0; d <= n_; ++d) {
    double before = 0, r = 1, sum = 0;
    for (Index i = 0; i <= last; ++i) {
      const double k = static_cast<double>(i);
      if (i >= spec.min_length) sum += std::exp(k * std::log(g) + log_choose(n, k) - whole) * r;
      const double next = i < n_ ? ((n - 2 * static_cast<double>(d)) * r - k * before) / (n - k) : 0;
      before = r;
      r = next;
    }
    sign_.push_back(sum < 0 ? -1 : 1);
    log_.push_back(whole + std::log(std::abs(sum)));
  }
}

Index BooleanTable::at(double both, double x, double z) const {
  const double e = static_cast<double>(n_) - x - z + 2 * both;
  const double place = spec_.literals == Literals::monotone ? both
                       : spec_.literals == Literals::parity ? static_cast<double>(n_) - e
                                                            : e;
  if (both < 0 || both > std::min(x, z) || place < 0 || place > static_cast<double>(n_) || place != std::floor(place) ||
      x != std::floor(x))
    throw InputError(
        "a boolean kernel is for attributes that are 0 or 1. If the method standardises columns, give standardize = FALSE.");
  return static_cast<Index>(place);
}

double BooleanTable::log_value(double both, double x, double z) const { return log_[static_cast<std::size_t>(at(both, x, z))]; }

double BooleanTable::value(double both, double x, double z) const {
  const auto place = static_cast<std::size_t>(at(both, x, z));
  double value = log_[place];
  if (spec_.log) return value;
  if (value == minus_infinity) return 0;
  if (!spec_.normalize && !plain_.empty() && plain_[place] < 1e300) return plain_[place];
  if (spec_.normalize) {
    const double own = log_value(x, x, x), other = log_value(z, z, z);
    value -= 0.5 * (own + other);
  }
  if (value > 709)
    throw NumericalError(message("a boolean kernel value is exp(", value,
                                 "), beyond the range of numbers. Normalise the kernel, lower `k` or the damping."));
  return (sign_.empty() ? 1 : sign_[place]) * std::exp(value);
}

// ---- rows of bits -------------------------------------------------------------------------------------------------------------

void BitRows::set(Index i, Index column, double value) {
  if (value == 0) return;
  if (value != 1)
    throw InputError(message(
        "a boolean kernel is for attributes that are 0 or 1, but row ", i + 1, " has ", value, " in column ", column + 1,
        ". Cut numbers at a threshold, turn factors into indicators, and give standardize = FALSE to methods that standardise."));
  words_[static_cast<std::size_t>(i) * stride_ + static_cast<std::size_t>(column >> 6)] |= std::uint64_t{1} << (column & 63);
  ++count_[static_cast<std::size_t>(i)];
}

BitRows::BitRows(ConstMatrixRef x)
    : rows_(x.rows()),
      columns_(x.cols()),
      stride_(static_cast<std::size_t>((x.cols() + 63) / 64)),
      words_(stride_ * static_cast<std::size_t>(rows_), 0),
      count_(static_cast<std::size_t>(rows_), 0) {
  for (Index j = 0; j < columns_; ++j)
    for (Index i = 0; i < rows_; ++i) set(i, j, x(i, j));
}

BitRows::BitRows(const SparseMatrix& x)
    : rows_(x.rows()),
      columns_(x.cols()),
      stride_(static_cast<std::size_t>((x.cols() + 63) / 64)),
      words_(stride_ * static_cast<std::size_t>(rows_), 0),
      count_(static_cast<std::size_t>(rows_), 0) {
  for (Index j = 0; j < columns_; ++j)
    for (SparseMatrix::InnerIterator it(x, j); it; ++it) set(it.row(), j, it.value());
}

double BitRows::both(Index i, const BitRows& other, Index j) const {
  const std::uint64_t *a = row(i), *b = other.row(j);
  long total = 0;
  for (std::size_t w = 0; w < stride_; ++w) total += __builtin_popcountll(a[w] & b[w]);
  return static_cast<double>(total);
}

MatrixXd boolean_kernel(const BooleanTable& table, const BitRows& x, const BitRows& z) {
  MatrixXd k(x.rows(), z.rows());
  for (Index j = 0; j < k.cols(); ++j)
    for (Index i = 0; i < k.rows(); ++i) k(i, j) = table.value(x.both(i, z, j), x.count(i), z.count(j));
  return k;
}

// ---- as a part of the kernel language -----------------------------------------------------------------------------------------

namespace kernel_detail {

namespace {

class BooleanPart : public Part {
 public:
  BooleanPart(const KernelSpec& spec, Index dimension)
      : columns_(spec.columns, dimension, spec.type),
        variance_(spec.variance),
        learn_(spec.learn_variance),
        table_(spec.boolean, columns_.size()) {
    require_positive(variance_, spec.type, "variance");
  }
  std::unique_ptr<Part> clone() const override { return std::make_unique<BooleanPart>(*this); }
  Index count() const override { return learn_; }
  void get(double* p) const override {
    if (learn_) *p = std::log(variance_);
  }
  void set(const double* p) override {
    if (learn_) variance_ = std::exp(*p);
  }
  void names(std::vector<std::string>& out) const override {
    if (learn_) out.push_back("boolean.variance");
  }
  bool stationary() const override { return false; }
  bool differentiable() const override { return false; }
  bool inner_view(InnerView* view) const override {
    view->columns = columns_.chosen();
    view->weights = VectorXd::Ones(1);
    return true;
  }
  void from_inner(ConstVectorRef xx, double zz, VectorRef k) const override {
    for (Index i = 0; i < k.size(); ++i) k[i] = variance_ * table_.value(k[i], xx[i], zz);
  }
  void value(ConstMatrixRef x, ConstMatrixRef z, Same, MatrixRef k) const override {
    k = variance_ * boolean_kernel(table_, BitRows(columns_.take(x)), BitRows(columns_.take(z)));
  }
  void diagonal(ConstMatrixRef x, bool, VectorRef k) const override {
    const BitRows rows(columns_.take(x));
    for (Index i = 0; i < k.size(); ++i) k[i] = variance_ * table_.value(rows.count(i), rows.count(i), rows.count(i));
  }
  void backward(ConstMatrixRef x, ConstMatrixRef z, Same same, ConstMatrixRef g, double* p, MatrixRef*,
                MatrixRef*) const override {
    if (!learn_) return;
    MatrixXd k(x.rows(), z.rows());
    value(x, z, same, k);
    *p += k.cwiseProduct(g).sum();
  }
  void backward_diagonal(ConstMatrixRef x, bool, ConstVectorRef g, double* p, MatrixRef*) const override {
    if (!learn_) return;
    VectorXd k(x.rows());
    diagonal(x, false, k);
    *p += k.dot(g);
  }

 private:
  Columns columns_;
  double variance_;
  bool learn_;
  BooleanTable table_;
};

}  // namespace

std::unique_ptr<Part> make_boolean(const KernelSpec& spec, Index dimension) {
  return std::make_unique<BooleanPart>(spec, dimension);
}

}  // namespace kernel_detail

}  // namespace granary
