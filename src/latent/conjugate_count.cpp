// Families of counts, waiting times and levels of conjugate_family.h.
#include <cmath>
#include <limits>

#include "core/math/special.h"
#include "latent/conjugate_family.h"

namespace granary::latent {

namespace {

template <class T>
T& at(std::vector<T>& v, int i) {
  return v[static_cast<std::size_t>(i)];
}
template <class T>
const T& at(const std::vector<T>& v, int i) {
  return v[static_cast<std::size_t>(i)];
}

// log Gamma(offset + k) for whole k, most of them from a table.
class LogGammas {
 public:
  LogGammas() = default;
  LogGammas(double offset, double largest) : offset_(offset) {
    const double size = std::min(largest + 2, 1e6);
    for (double k = 0; k < size; k += 1) table_.push_back(log_gamma(offset + k));
  }
  double operator()(double k) const { return k < static_cast<double>(table_.size()) ? table_[static_cast<std::size_t>(k)] : log_gamma(offset_ + k); }

 private:
  double offset_ = 1;
  std::vector<double> table_;
};

// Families of one column whose blocks are known by their size n, the sum S and the sum of a size per row; the marginal is exp(value(n, S, N) + base).
class SumFamily : public BlockFamily {
 public:
  explicit SumFamily(ConstMatrixRef x) : x_(x.col(0)), base_(VectorXd::Zero(x.rows())) {}
  Index rows() const override { return x_.size(); }
  void slots(int count) override {
    grow_slots(block_, count, [&](int s) { clear(s); });
  }
  void clear(int s) override {
    at(block_, s) = Block();
    at(block_, s).value = value(0, 0, 0);
  }
  void add(Index i, int s) override { change(i, s, 1); }
  bool remove(Index i, int s) override {
    change(i, s, -1);
    if (at(block_, s).n == 0) clear(s);
    return true;
  }
  double log_marginal(int s) const override { return at(block_, s).base + at(block_, s).value; }
  void log_predictives(Index i, const int* slots, int count, double* out) const override {
    const double x = x_[i], size = trials(i);
    for (int j = 0; j < count; ++j) {
      const Block& b = at(block_, slots[j]);
      out[j] = base_[i] + value(b.n + 1, b.sum + x, b.total + size) - b.value;
    }
  }
  VectorXd row(Index i) const override { return VectorXd::Constant(1, x_[i]); }

 protected:
  struct Block {
    double n = 0, sum = 0, total = 0, base = 0, value = 0;
  };
  virtual double value(double n, double sum, double total) const = 0;  // 0 for an empty block
  virtual double trials(Index) const { return 0; }
  double whole_sum(const char* family) const {
    for (Index i = 0; i < x_.size(); ++i)
      if (!(x_[i] >= 0) || x_[i] != std::floor(x_[i])) throw InputError(message("the family \"", family, "\" needs counts 0, 1, 2, ..., but row ", i + 1, " is ", x_[i], "."));
    return x_.sum();
  }
  void change(Index i, int s, double sign) {
    Block& b = at(block_, s);
    b.n += sign;
    b.sum += sign * x_[i];
    b.total += sign * trials(i);
    b.base += sign * base_[i];
    b.value = value(b.n, b.sum, b.total);
  }
  VectorXd x_, base_;
  std::vector<Block> block_;
};

class Poisson : public SumFamily {
 public:
  Poisson(ConstMatrixRef x, const FamilySpec& spec) : SumFamily(x), a_(spec.a), b_(spec.b) {
    require_positive(a_, "a");
    require_positive(b_, "b");
    const double sum = whole_sum("poisson");
    for (Index i = 0; i < x_.size(); ++i) base_[i] = -log_factorial(x_[i]);
    gammas_ = LogGammas(a_, sum);
    constant_ = -log_gamma(a_) + a_ * std::log(b_);
    for (double n = 0; n <= static_cast<double>(x_.size()) + 1; n += 1) log_rate_.push_back(std::log(b_ + n));
  }
  std::unique_ptr<BlockFamily> clone() const override { return std::make_unique<Poisson>(*this); }
  double log_supremum(Index i) const override { return x_[i] > 0 ? x_[i] * std::log(x_[i]) - x_[i] + base_[i] : 0; }
  void draw_row(Index i, int s, Rng& rng) override {
    const Block& b = at(block_, s);
    x_[i] = static_cast<double>(rng.poisson(rng.gamma(a_ + b.sum, 1 / (b_ + b.n))));
    base_[i] = -log_factorial(x_[i]);
  }
  VectorXd centre(int s) const override { return VectorXd::Constant(1, (a_ + at(block_, s).sum) / (b_ + at(block_, s).n)); }

 protected:
  double value(double n, double sum, double) const override { return n > 0 ? constant_ + gammas_(sum) - (a_ + sum) * log_rate_[static_cast<std::size_t>(n)] : 0; }

 private:
  double a_, b_, constant_;
  LogGammas gammas_;
  std::vector<double> log_rate_;
};

class Exponential : public SumFamily {
 public:
  Exponential(ConstMatrixRef x, const FamilySpec& spec)
      : SumFamily(x), a_(spec.a), b_(spec.b), weibull_(spec.type == FamilyType::weibull), power_(weibull_ ? spec.power : 1) {
    require_positive(a_, "a");
    require_positive(b_, "b");
    require_positive(power_, "power");
    for (Index i = 0; i < x_.size(); ++i) {
      if (!(x_[i] >= 0) || (weibull_ && x_[i] == 0))
        throw InputError(message("the family \"", weibull_ ? "weibull" : "exponential", "\" needs positive rows, but row ", i + 1, " is ", x_[i], "."));
      if (weibull_) transform(i, x_[i]);
    }
    for (double n = 0; n <= static_cast<double>(x_.size()) + 1; n += 1) gammas_.push_back(log_gamma(a_ + n) - log_gamma(a_) + a_ * std::log(b_));
  }
  std::unique_ptr<BlockFamily> clone() const override { return std::make_unique<Exponential>(*this); }
  double log_supremum(Index i) const override { return x_[i] > 0 ? -1 - std::log(x_[i]) + base_[i] : std::numeric_limits<double>::infinity(); }
  void draw_row(Index i, int s, Rng& rng) override {
    const Block& b = at(block_, s);
    const double y = rng.exponential() / rng.gamma(a_ + b.n, 1 / (b_ + b.sum));
    if (weibull_) transform(i, std::pow(y, 1 / power_));
    else x_[i] = y;
  }
  VectorXd row(Index i) const override { return VectorXd::Constant(1, weibull_ ? std::pow(x_[i], 1 / power_) : x_[i]); }
  VectorXd centre(int s) const override {  // of the mean: finite once a + n > 1
    const double a = std::max(a_ + at(block_, s).n - 1, 0.5), mean = (b_ + at(block_, s).sum) / a;
    return VectorXd::Constant(1, weibull_ ? std::pow(mean, 1 / power_) * std::exp(log_gamma(1 + 1 / power_)) : mean);
  }

 protected:
  double value(double n, double sum, double) const override { return n > 0 ? gammas_[static_cast<std::size_t>(n)] - (a_ + n) * std::log(b_ + sum) : 0; }

 private:
  void transform(Index i, double x) {
    x_[i] = std::pow(x, power_);
    base_[i] = std::log(power_) + (power_ - 1) * std::log(x);
  }
  double a_, b_;
  bool weibull_;
  double power_;
  std::vector<double> gammas_;
};

// Failures before `successes` successes: lbeta(a + n r, b + S) - lbeta(a, b).
class NegativeBinomial : public SumFamily {
 public:
  NegativeBinomial(ConstMatrixRef x, const FamilySpec& spec)
      : SumFamily(x), a_(spec.a), b_(spec.b), r_(spec.type == FamilyType::geometric ? 1 : spec.successes) {
    require_positive(a_, "a");
    require_positive(b_, "b");
    require_positive(r_, "successes");
    const double sum = whole_sum(spec.type == FamilyType::geometric ? "geometric" : "negative_binomial");
    for (Index i = 0; i < x_.size(); ++i) base_[i] = log_choose(x_[i] + r_ - 1, x_[i]);
    const double n = static_cast<double>(x_.size());
    for (double k = 0; k <= n + 1; k += 1) successes_.push_back(log_gamma(a_ + k * r_));
    failures_ = LogGammas(b_, sum);
    whole_ = r_ == std::floor(r_);
    if (whole_) both_ = LogGammas(a_ + b_, sum + n * r_);
    constant_ = -log_beta(a_, b_);
  }
  std::unique_ptr<BlockFamily> clone() const override { return std::make_unique<NegativeBinomial>(*this); }
  double log_supremum(Index i) const override {
    const double x = x_[i];
    return base_[i] + r_ * std::log(r_ / (r_ + x)) + (x > 0 ? x * std::log(x / (r_ + x)) : 0);
  }
  void draw_row(Index i, int s, Rng& rng) override {
    const Block& b = at(block_, s);
    const double p = rng.beta(a_ + b.n * r_, b_ + b.sum);
    x_[i] = std::min(static_cast<double>(rng.poisson(std::min(rng.gamma(r_) * (1 - p) / std::max(p, 1e-300), 1e15))), 1e15);
    base_[i] = log_choose(x_[i] + r_ - 1, x_[i]);
  }
  VectorXd centre(int s) const override {
    const double a = std::max(a_ + at(block_, s).n * r_ - 1, 0.5);
    return VectorXd::Constant(1, r_ * (b_ + at(block_, s).sum) / a);
  }

 protected:
  double value(double n, double sum, double) const override {
    if (n == 0) return 0;
    return constant_ + successes_[static_cast<std::size_t>(n)] + failures_(sum) - (whole_ ? both_(n * r_ + sum) : log_gamma(a_ + b_ + n * r_ + sum));
  }

 private:
  double a_, b_, r_, constant_;
  bool whole_;
  std::vector<double> successes_;
  LogGammas failures_, both_;
};

class Binomial : public SumFamily {
 public:
  Binomial(ConstMatrixRef x, const FamilySpec& spec) : SumFamily(x), a_(spec.a), b_(spec.b), size_(x.rows()) {
    require_positive(a_, "a");
    require_positive(b_, "b");
    if (spec.size.size() != 1 && spec.size.size() != x.rows()) throw InputError(message("`size` of the family must be one number or one per row, ", x.rows(), "."));
    for (Index i = 0; i < x.rows(); ++i) size_[i] = spec.size[spec.size.size() == 1 ? 0 : i];
    const double sum = whole_sum("binomial");
    for (Index i = 0; i < x_.size(); ++i) {
      if (size_[i] != std::floor(size_[i]) || size_[i] < x_[i]) {
        throw InputError(message("`size` of the family must be a whole number, at least the count of each row, but row ", i + 1, " has ", x_[i], " of ", size_[i], "."));
      }
      base_[i] = log_choose(size_[i], x_[i]);
    }
    const double total = size_.sum();
    yes_ = LogGammas(a_, sum);
    no_ = LogGammas(b_, total - sum);
    both_ = LogGammas(a_ + b_, total);
    constant_ = -log_beta(a_, b_);
  }
  std::unique_ptr<BlockFamily> clone() const override { return std::make_unique<Binomial>(*this); }
  double log_supremum(Index i) const override {
    const double x = x_[i], n = size_[i];
    return base_[i] + (x > 0 ? x * std::log(x / n) : 0) + (x < n ? (n - x) * std::log1p(-x / n) : 0);
  }
  void draw_row(Index i, int s, Rng& rng) override {
    const Block& b = at(block_, s);
    x_[i] = static_cast<double>(rng.binomial(static_cast<std::int64_t>(size_[i]), rng.beta(a_ + b.sum, b_ + b.total - b.sum)));
    base_[i] = log_choose(size_[i], x_[i]);
  }
  VectorXd centre(int s) const override { return VectorXd::Constant(1, (a_ + at(block_, s).sum) / (a_ + b_ + at(block_, s).total)); }

 protected:
  double value(double n, double sum, double total) const override { return n > 0 ? constant_ + yes_(sum) + no_(total - sum) - both_(total) : 0; }
  double trials(Index i) const override { return size_[i]; }

 private:
  double a_, b_, constant_;
  VectorXd size_;
  LogGammas yes_, no_, both_;
};

// Columns of levels: a product of Dirichlet-multinomials. Counts of a slot stand together, the levels of the first column first.
class Categorical : public BlockFamily {
 public:
  Categorical(ConstMatrixRef x, const FamilySpec& spec) : columns_(static_cast<int>(x.cols())), weight_(spec.weight) {
    if (spec.levels.size() != x.cols()) throw InputError("the levels of every column of a categorical family must be given.");
    for (int j = 0; j < columns_; ++j) {
      offset_.push_back(width_);
      width_ += spec.levels[j];
    }
    offset_.push_back(width_);
    if (weight_.size() == 1) weight_ = VectorXd::Constant(width_, weight_[0]);
    if (weight_.size() != width_) throw InputError(message("`weight` of the family must be one number or one per level, ", width_, ", but there are ", weight_.size(), "."));
    for (Index v = 0; v < weight_.size(); ++v) require_positive(weight_[v], "weight");
    code_.resize(columns_, x.rows());
    for (Index i = 0; i < x.rows(); ++i) {
      for (int j = 0; j < columns_; ++j) {
        if (x(i, j) != std::floor(x(i, j)) || x(i, j) < 0 || x(i, j) >= spec.levels[j]) throw InputError(message("row ", i + 1, " has no level of column ", j + 1, "."));
        code_(j, i) = at(offset_, j) + static_cast<int>(x(i, j));
      }
    }
    for (int j = 0; j < columns_; ++j) total_.push_back(weight_.segment(at(offset_, j), at(offset_, j + 1) - at(offset_, j)).sum());
    for (double n = 0; n <= static_cast<double>(x.rows()) + 1; n += 1) {
      double sum = 0;
      for (const double total : total_) sum += std::log(total + n);
      log_totals_.push_back(sum);
    }
  }
  std::unique_ptr<BlockFamily> clone() const override { return std::make_unique<Categorical>(*this); }
  Index rows() const override { return code_.cols(); }
  void slots(int count) override {
    const std::size_t cells = static_cast<std::size_t>(count) * static_cast<std::size_t>(width_);
    if (cells > count_.size()) count_.resize(cells);
    grow_slots(size_, count, [&](int s) { clear(s); });
  }
  void clear(int s) override {
    at(size_, s) = 0;
    for (int v = 0; v < width_; ++v) counts(s)[v] = weight_[v];
  }
  void add(Index i, int s) override {
    at(size_, s) += 1;
    for (int j = 0; j < columns_; ++j) counts(s)[code_(j, i)] += 1;
  }
  bool remove(Index i, int s) override {
    at(size_, s) -= 1;
    for (int j = 0; j < columns_; ++j) counts(s)[code_(j, i)] -= 1;
    if (at(size_, s) == 0) clear(s);
    return true;
  }
  double log_marginal(int s) const override {
    const double* c = counts(s);
    double value = 0;
    for (int v = 0; v < width_; ++v)
      if (c[v] != weight_[v]) value += log_gamma(c[v]) - log_gamma(weight_[v]);
    for (const double total : total_) value -= log_gamma(total + at(size_, s)) - log_gamma(total);
    return value;
  }
  void log_predictives(Index i, const int* slots, int count, double* out) const override {
    const int* code = code_.data() + static_cast<std::ptrdiff_t>(i) * columns_;
    for (int k = 0; k < count; ++k) {
      const double* c = counts(slots[k]);
      double product = 1, sum = 0;
      for (int j = 0; j < columns_; ++j) {
        product *= c[code[j]];
        if (product > 1e200 || product < 1e-200) {
          sum += std::log(product);
          product = 1;
        }
      }
      out[k] = sum + std::log(product) - log_totals_[static_cast<std::size_t>(at(size_, slots[k]))];
    }
  }
  double log_supremum(Index) const override { return 0; }
  void draw_row(Index i, int s, Rng& rng) override {
    for (int j = 0; j < columns_; ++j) {
      const Eigen::Map<const VectorXd> c(counts(s) + at(offset_, j), at(offset_, j + 1) - at(offset_, j));
      code_(j, i) = at(offset_, j) + rng.categorical(c);
    }
  }
  VectorXd row(Index i) const override {
    VectorXd out(columns_);
    for (int j = 0; j < columns_; ++j) out[j] = code_(j, i) - at(offset_, j);
    return out;
  }
  VectorXd centre(int s) const override {
    VectorXd out(width_);
    for (int j = 0; j < columns_; ++j)
      for (int v = at(offset_, j); v < at(offset_, j + 1); ++v) out[v] = counts(s)[v] / (at(total_, j) + at(size_, s));
    return out;
  }

 private:
  double* counts(int s) { return count_.data() + static_cast<std::size_t>(s) * static_cast<std::size_t>(width_); }
  const double* counts(int s) const { return count_.data() + static_cast<std::size_t>(s) * static_cast<std::size_t>(width_); }
  int columns_, width_ = 0;
  VectorXd weight_;
  std::vector<int> offset_;
  Eigen::MatrixXi code_;  // columns x rows
  std::vector<double> total_, log_totals_, size_, count_;
};

}  // namespace

std::unique_ptr<BlockFamily> make_count_family(ConstMatrixRef x, const FamilySpec& spec) {
  if (!x.allFinite()) throw InputError("the rows must be finite.");
  if (spec.type == FamilyType::categorical) return std::make_unique<Categorical>(x, spec);
  require_one_column(x, name_of(spec.type).c_str());
  switch (spec.type) {
    case FamilyType::poisson: return std::make_unique<Poisson>(x, spec);
    case FamilyType::exponential:
    case FamilyType::weibull: return std::make_unique<Exponential>(x, spec);
    case FamilyType::binomial: return std::make_unique<Binomial>(x, spec);
    default: return std::make_unique<NegativeBinomial>(x, spec);
  }
}

}  // namespace granary::latent
