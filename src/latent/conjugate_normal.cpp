// Normal families of conjugate_family.h.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/linalg/spd.h"
#include "core/linalg/wide_loops.h"
#include "core/math/special.h"
#include "latent/conjugate_family.h"

namespace granary::latent {

namespace {

constexpr double log_two_pi = 1.8378770664093453, log_pi = 1.1447298858494002, infinity = std::numeric_limits<double>::infinity();

template <class T>
T& at(std::vector<T>& v, int i) {
  return v[static_cast<std::size_t>(i)];
}
template <class T>
const T& at(const std::vector<T>& v, int i) {
  return v[static_cast<std::size_t>(i)];
}

// x ~ N(mu, s2), mu ~ N(m0, t2): everything but the mean of a block depends on its size only.
class NormalKnown : public BlockFamily {
 public:
  NormalKnown(ConstMatrixRef x, const FamilySpec& spec) : x_(x.col(0)), m0_(spec.m0[0]), s2_(spec.s2), t2_(spec.t2) {
    require_positive(s2_, "s2");
    require_positive(t2_, "t2");
    x_.array() -= m0_;
    const double n = static_cast<double>(x_.size());
    for (double k = 0; k <= n + 1; k += 1) {
      const double v = 1 / (1 / t2_ + k / s2_);
      gain_.push_back(v / s2_);
      half_.push_back(0.5 / (s2_ + v));
      constant_.push_back(-0.5 * (log_two_pi + std::log(s2_ + v)));
    }
  }
  std::unique_ptr<BlockFamily> clone() const override { return std::make_unique<NormalKnown>(*this); }
  Index rows() const override { return x_.size(); }
  void slots(int count) override {
    grow_slots(block_, count, [&](int s) { clear(s); });
  }
  void clear(int s) override {
    at(block_, s) = Block();
    at(block_, s).half = half_[0];
    at(block_, s).constant = constant_[0];
  }
  void add(Index i, int s) override { change(i, s, 1); }
  bool remove(Index i, int s) override {
    change(i, s, -1);
    return true;
  }
  double log_marginal(int s) const override {
    const Block& b = at(block_, s);
    const double n = b.n;
    return -0.5 * n * (log_two_pi + std::log(s2_)) - 0.5 * std::log1p(n * t2_ / s2_) - (b.squares - t2_ / (s2_ + n * t2_) * b.sum * b.sum) / (2 * s2_);
  }
  void log_predictives(Index i, const int* slots, int count, double* out) const override {
    const double x = x_[i];
    for (int j = 0; j < count; ++j) {
      const Block& b = at(block_, slots[j]);
      const double d = x - b.mean;
      out[j] = b.constant - b.half * d * d;
    }
  }
  double log_supremum(Index) const override { return -0.5 * (log_two_pi + std::log(s2_)); }
  void draw_row(Index i, int s, Rng& rng) override {
    const Block& b = at(block_, s);
    x_[i] = rng.normal(gain_[static_cast<std::size_t>(b.n)] * b.sum, std::sqrt(0.5 / half_[static_cast<std::size_t>(b.n)]));
  }
  VectorXd row(Index i) const override { return VectorXd::Constant(1, x_[i] + m0_); }
  VectorXd centre(int s) const override { return VectorXd::Constant(1, at(block_, s).mean + m0_); }

 private:
  struct Block {
    double n = 0, sum = 0, squares = 0, mean = 0, half = 0, constant = 0;
  };
  void change(Index i, int s, double sign) {
    Block& b = at(block_, s);
    b.n += sign;
    b.sum += sign * x_[i];
    b.squares += sign * x_[i] * x_[i];
    const auto k = static_cast<std::size_t>(b.n);
    b.mean = gain_[k] * b.sum;
    b.half = half_[k];
    b.constant = constant_[k];
  }
  VectorXd x_;
  double m0_, s2_, t2_;
  std::vector<double> gain_, half_, constant_;
  std::vector<Block> block_;
};

// Normal-inverse-gamma; Student predictive with 2 a degrees of freedom.
class NormalGamma : public BlockFamily {
 public:
  NormalGamma(ConstMatrixRef x, const FamilySpec& spec)
      : x_(x.col(0)), log_scale_(spec.type == FamilyType::lognormal), m0_(spec.m0[0]), k0_(spec.k0), a0_(spec.a0), b0_(spec.b0) {
    require_positive(k0_, "k0");
    require_positive(a0_, "a0");
    require_positive(b0_, "b0");
    base_ = VectorXd::Zero(x_.size());
    if (log_scale_) {
      if (!(x_.minCoeff() > 0)) throw InputError("the family \"lognormal\" needs positive rows.");
      x_ = x_.array().log();
      base_ = -x_;
    }
    x_.array() -= m0_;
    const double n = static_cast<double>(x_.size());
    for (double j = 0; j <= n + 1; j += 1) {
      const double a = a0_ + 0.5 * j, k = k0_ + j;
      constant_.push_back(log_gamma(a + 0.5) - log_gamma(a) - 0.5 * (log_two_pi + std::log((k + 1) / k)));
    }
  }
  std::unique_ptr<BlockFamily> clone() const override { return std::make_unique<NormalGamma>(*this); }
  Index rows() const override { return x_.size(); }
  void slots(int count) override {
    grow_slots(block_, count, [&](int s) { clear(s); });
  }
  void clear(int s) override {
    Block& b = at(block_, s);
    if (s == kept_slot_) kept_slot_ = -1;
    b = Block();
    b.rate = b0_;
    refresh(b);
  }
  void add(Index i, int s) override {
    Block& b = at(block_, s);
    if (s == kept_slot_) {
      kept_slot_ = -1;
      if (i == kept_row_) {
        b = kept_;
        return;
      }
    }
    const double k = k0_ + b.n, d = x_[i] - b.mean;
    b.rate += 0.5 * k / (k + 1) * d * d;
    b.mean += d / (k + 1);
    b.n += 1;
    b.base += base_[i];
    refresh(b);
  }
  bool remove(Index i, int s) override {
    Block& b = at(block_, s);
    kept_ = b;
    kept_row_ = i;
    kept_slot_ = s;
    b.n -= 1;
    b.base -= base_[i];
    const double k = k0_ + b.n;
    b.mean -= (x_[i] - b.mean) / k;
    const double d = x_[i] - b.mean, taken = 0.5 * k / (k + 1) * d * d;
    const bool lost = taken > 1e8 * std::abs(b.rate - taken);
    b.rate -= taken;
    if (b.n == 0) {
      clear(s);
      return true;
    }
    if (lost || b.rate < b0_ * (1 - 1e-9)) return false;
    b.rate = std::max(b.rate, b0_);
    refresh(b);
    return true;
  }
  double log_marginal(int s) const override {
    const Block& b = at(block_, s);
    const double a = a0_ + 0.5 * b.n;
    return b.base + log_gamma(a) - log_gamma(a0_) + a0_ * std::log(b0_) - a * std::log(b.rate) + 0.5 * std::log(k0_ / (k0_ + b.n)) - 0.5 * b.n * log_two_pi;
  }
  void log_predictives(Index i, const int* slots, int count, double* out) const override {
    const double x = x_[i], base = base_[i];
    constants_.resize(static_cast<std::size_t>(count));
    powers_.resize(static_cast<std::size_t>(count));
    for (int j = 0; j < count; ++j) {
      const Block& b = at(block_, slots[j]);
      const double d = x - b.mean;
      out[j] = b.factor * d * d;
      at(constants_, j) = base + b.constant;
      at(powers_, j) = b.power;
    }
    student_logs(constants_.data(), powers_.data(), out, count);
  }
  double log_supremum(Index) const override { return infinity; }
  void draw_row(Index i, int s, Rng& rng) override {
    const Block& b = at(block_, s);
    kept_slot_ = -1;
    const double a = a0_ + 0.5 * b.n, k = k0_ + b.n;
    const double variance = b.rate / rng.gamma(a);
    x_[i] = b.mean + rng.normal() * std::sqrt(variance * (1 + 1 / k));
    if (log_scale_) base_[i] = -(x_[i] + m0_);
  }
  VectorXd row(Index i) const override { return VectorXd::Constant(1, log_scale_ ? std::exp(x_[i] + m0_) : x_[i] + m0_); }
  VectorXd centre(int s) const override {
    const double m = at(block_, s).mean + m0_;
    return VectorXd::Constant(1, log_scale_ ? std::exp(m) : m);
  }

 private:
  struct Block {
    double n = 0, mean = 0, rate = 0, base = 0, constant = 0, power = 0, factor = 0;
  };
  void refresh(Block& b) const {
    const double k = k0_ + b.n;
    b.constant = constant_[static_cast<std::size_t>(b.n)] - 0.5 * std::log(b.rate);
    b.power = a0_ + 0.5 * b.n + 0.5;
    b.factor = 0.5 * k / ((k + 1) * b.rate);
  }
  VectorXd x_, base_;
  bool log_scale_;
  double m0_, k0_, a0_, b0_;
  std::vector<double> constant_;
  mutable std::vector<double> constants_, powers_;
  std::vector<Block> block_;
  Block kept_;  // what the block of the row that left last was: most rows come back
  Index kept_row_ = 0;
  int kept_slot_ = -1;
};

// Normal-inverse-Wishart. Of each block: n, the posterior mean, the lower factor L of Psi by columns, log det Psi.
class NormalWishart : public BlockFamily {
 public:
  NormalWishart(ConstMatrixRef x, const FamilySpec& spec) : p_(static_cast<int>(x.cols())), x_(x.transpose()), m0_(spec.m0), k0_(spec.k0), nu0_(spec.nu0) {
    require_positive(k0_, "k0");
    if (!(nu0_ > p_ - 1)) throw InputError(message("`nu0` of the family must be greater than the number of columns minus one, ", p_ - 1, ", not ", nu0_, "."));
    if (m0_.size() != p_) throw InputError(message("`m0` of the family must have one element per column, ", p_, ", but it has ", m0_.size(), "."));
    if (spec.psi0.rows() != p_ || spec.psi0.cols() != p_) throw InputError(message("`psi0` of the family must be a ", p_, " x ", p_, " matrix."));
    if (!is_symmetric(spec.psi0)) throw InputError("`psi0` of the family must be symmetric.");
    try {
      lower0_ = Cholesky(spec.psi0).lower();
    } catch (const NumericalError&) {
      throw InputError("`psi0` of the family must be positive definite.");
    }
    x_.colwise() -= m0_;
    log_det0_ = 2 * lower0_.diagonal().array().log().sum();
    const double n = static_cast<double>(x_.cols());
    for (double j = 0; j <= n + 1; j += 1) {
      const double nu = nu0_ + j, k = k0_ + j;
      constant_.push_back(log_gamma(0.5 * (nu + 1)) - log_gamma(0.5 * (nu + 1 - p_)) - 0.5 * p_ * (log_pi + std::log((k + 1) / k)));
    }
  }
  std::unique_ptr<BlockFamily> clone() const override { return std::make_unique<NormalWishart>(*this); }
  Index rows() const override { return x_.cols(); }
  void slots(int count) override {
    grow_slots(block_, count, [&](int s) { clear(s); });
  }
  void clear(int s) override {
    Block& b = at(block_, s);
    if (s == kept_slot_) kept_slot_ = -1;
    b.n = 0;
    b.mean = VectorXd::Zero(p_);
    b.lower = lower0_;
    b.log_det = log_det0_;
    refresh(b);
  }
  void add(Index i, int s) override {
    Block& b = at(block_, s);
    if (s == kept_slot_) {
      kept_slot_ = -1;
      if (i == kept_row_) {
        std::swap(b, kept_);
        return;
      }
    }
    const double k = k0_ + b.n;
    VectorXd d = x_.col(i) - b.mean;
    b.mean += d / (k + 1);
    d *= std::sqrt(k / (k + 1));
    rank_one(b, d, 1);
    b.n += 1;
    refresh(b);
  }
  bool remove(Index i, int s) override {
    Block& b = at(block_, s);
    kept_ = b;
    kept_row_ = i;
    kept_slot_ = s;
    b.n -= 1;
    if (b.n == 0) {
      clear(s);
      return true;
    }
    const double k = k0_ + b.n;
    b.mean -= (x_.col(i) - b.mean) / k;
    VectorXd d = (x_.col(i) - b.mean) * std::sqrt(k / (k + 1));
    if (!rank_one(b, d, -1)) return false;
    refresh(b);
    return true;
  }
  double log_marginal(int s) const override {
    const Block& b = at(block_, s);
    const double nu = nu0_ + b.n;
    double value = -0.5 * b.n * p_ * log_pi + 0.5 * nu0_ * log_det0_ - 0.5 * nu * b.log_det + 0.5 * p_ * std::log(k0_ / (k0_ + b.n));
    for (int j = 0; j < p_; ++j) value += log_gamma(0.5 * (nu - j)) - log_gamma(0.5 * (nu0_ - j));
    return value;
  }
  void log_predictives(Index i, const int* slots, int count, double* out) const override {
    const double* x = x_.data() + static_cast<std::ptrdiff_t>(i) * p_;
    double* z = scratch();
    constants_.resize(static_cast<std::size_t>(count));
    powers_.resize(static_cast<std::size_t>(count));
    for (int j = 0; j < count; ++j) {
      const Block& b = at(block_, slots[j]);
      const double* mean = b.mean.data();
      const double* l = b.lower.data();
      for (int r = 0; r < p_; ++r) z[r] = x[r] - mean[r];
      double square = 0;
      for (int c = 0; c < p_; ++c, l += p_) {  // forward substitution by columns
        const double v = z[c] *= at(b.inverse, c);
        square += v * v;
        for (int r = c + 1; r < p_; ++r) z[r] -= l[r] * v;
      }
      out[j] = b.factor * square;
      at(constants_, j) = b.constant;
      at(powers_, j) = b.power;
    }
    student_logs(constants_.data(), powers_.data(), out, count);
  }
  double log_supremum(Index) const override { return infinity; }
  void draw_row(Index i, int s, Rng& rng) override {
    const Block& b = at(block_, s);
    kept_slot_ = -1;
    const double k = k0_ + b.n, df = nu0_ + b.n - p_ + 1;
    const double scale = std::sqrt((k + 1) / k / rng.chi_square(df));
    x_.col(i) = b.mean + scale * (b.lower * rng.normals(p_));
  }
  VectorXd row(Index i) const override { return x_.col(i) + m0_; }
  VectorXd centre(int s) const override { return at(block_, s).mean + m0_; }

 private:
  struct Block {
    double n = 0;
    VectorXd mean;
    MatrixXd lower;
    std::vector<double> inverse;  // of the diagonal
    double log_det = 0, constant = 0, power = 0, factor = 0;
  };
  double* scratch() const {
    scratch_.resize(static_cast<std::size_t>(p_));
    return scratch_.data();
  }
  // L L' + sign v v' by Givens or hyperbolic rotations; false where that is not positive definite.
  bool rank_one(Block& b, VectorXd& v, double sign) const {
    for (int c = 0; c < p_; ++c) {
      double* l = b.lower.data() + static_cast<std::ptrdiff_t>(c) * p_;
      const double old = l[c], square = old * old + sign * v[c] * v[c];
      if (!(square > 1e-12 * old * old)) return false;
      const double now = std::sqrt(square), cosine = now / old, sine = v[c] / old;
      l[c] = now;
      for (int r = c + 1; r < p_; ++r) {
        l[r] = (l[r] + sign * sine * v[r]) / cosine;
        v[r] = cosine * v[r] - sine * l[r];
      }
    }
    double product = 1, sum = 0;
    for (int c = 0; c < p_; ++c) {
      product *= b.lower(c, c);
      if (product < 1e-100 || product > 1e100) {
        sum += std::log(product);
        product = 1;
      }
    }
    b.log_det = 2 * (sum + std::log(product));
    return true;
  }
  void refresh(Block& b) const {
    const double k = k0_ + b.n;
    b.inverse.resize(static_cast<std::size_t>(p_));
    for (int c = 0; c < p_; ++c) at(b.inverse, c) = 1 / b.lower(c, c);
    b.constant = constant_[static_cast<std::size_t>(b.n)] - 0.5 * b.log_det;
    b.power = 0.5 * (nu0_ + b.n + 1);
    b.factor = k / (k + 1);
  }
  int p_;
  MatrixXd x_;  // p x n
  VectorXd m0_;
  double k0_, nu0_, log_det0_ = 0;
  MatrixXd lower0_;
  std::vector<double> constant_;
  std::vector<Block> block_;
  Block kept_;  // as above
  Index kept_row_ = 0;
  int kept_slot_ = -1;
  mutable std::vector<double> scratch_, constants_, powers_;
};

}  // namespace

std::unique_ptr<BlockFamily> make_normal_family(ConstMatrixRef x, const FamilySpec& spec) {
  if (!x.allFinite()) throw InputError("the rows must be finite.");
  if (spec.type == FamilyType::mvnormal) return std::make_unique<NormalWishart>(x, spec);
  require_one_column(x, name_of(spec.type).c_str());
  if (spec.m0.size() != 1 || !std::isfinite(spec.m0[0])) throw InputError("`m0` of the family must be one number.");
  if (spec.type == FamilyType::normal_known) return std::make_unique<NormalKnown>(x, spec);
  return std::make_unique<NormalGamma>(x, spec);
}

}  // namespace granary::latent
