// Parts that depend on inner products: linear, polynomial, sigmoid, mlp.
#include <cmath>

#include "core/base/errors.h"
#include "core/kernel/kernel_parts.h"

namespace granary::kernel_detail {

namespace {

class Linear : public Part {
 public:
  Linear(const KernelSpec& spec, Index dimension)
      : columns_(spec.columns, dimension, spec.type),
        variances_(check_scales(spec, columns_.size(), "variance")),
        learn_(spec.learn_scales) {}
  std::unique_ptr<Part> clone() const override { return std::make_unique<Linear>(*this); }
  Index count() const override { return learn_ ? variances_.size() : 0; }
  void get(double* p) const override {
    for (Index k = 0; k < count(); ++k) p[k] = std::log(variances_[k]);
  }
  void set(const double* p) override {
    for (Index k = 0; k < count(); ++k) variances_[k] = std::exp(p[k]);
  }
  void names(std::vector<std::string>& out) const override {
    for (Index k = 0; k < count(); ++k)
      out.push_back(variances_.size() == 1 ? "linear.variance" : message("linear.variance", k + 1));
  }
  bool stationary() const override { return false; }
  bool inner_view(InnerView* view) const override {
    view->columns = columns_.chosen();
    view->weights = variances_.cwiseSqrt();
    return true;
  }
  void value(ConstMatrixRef x, ConstMatrixRef z, Same, MatrixRef k) const override {
    k.noalias() = columns_.take(x) * weighted(columns_.take(z)).transpose();
  }
  void diagonal(ConstMatrixRef x, bool, VectorRef k) const override {
    const MatrixXd a = columns_.take(x);
    k = weighted(a).cwiseProduct(a).rowwise().sum();
  }
  void backward(ConstMatrixRef x, ConstMatrixRef z, Same, ConstMatrixRef g, double* p, MatrixRef* dx,
                MatrixRef* dz) const override {
    const MatrixXd a = columns_.take(x), b = columns_.take(z), gb = g * b;
    for (Index k = 0; learn_ && k < a.cols(); ++k) p[slot(k)] += variance(k) * a.col(k).dot(gb.col(k));
    if (dx) columns_.add_back(weighted(gb), *dx);
    if (dz) columns_.add_back(weighted(g.transpose() * a), *dz);
  }
  void backward_diagonal(ConstMatrixRef x, bool, ConstVectorRef g, double* p, MatrixRef* dx) const override {
    const MatrixXd a = columns_.take(x), ga = g.asDiagonal() * a;
    for (Index k = 0; learn_ && k < a.cols(); ++k) p[slot(k)] += variance(k) * a.col(k).dot(ga.col(k));
    if (dx) columns_.add_back(2 * weighted(ga), *dx);
  }

 private:
  Index slot(Index k) const { return variances_.size() == 1 ? 0 : k; }
  double variance(Index k) const { return variances_[slot(k)]; }
  MatrixXd weighted(MatrixXd a) const {
    for (Index k = 0; k < a.cols(); ++k) a.col(k) *= variance(k);
    return a;
  }

  Columns columns_;
  VectorXd variances_;
  bool learn_;
};

// v phi(g x'z + c) with phi a power or the hyperbolic tangent.
class Inner : public Part {
 public:
  Inner(const KernelSpec& spec, Index dimension)
      : type_(spec.type),
        columns_(spec.columns, dimension, spec.type),
        power_(spec.type == "polynomial"),
        variance_(spec.variance),
        slope_(check_scales(spec, 1, "slope")[0]),
        degree_(spec.shape),
        offset_(spec.offset),
        learn_variance_(spec.learn_variance),
        learn_slope_(spec.learn_scales) {
    require_positive(variance_, type_, "variance");
    if (power_ && !(degree_ >= 1 && degree_ == std::floor(degree_)))
      throw InputError(message("the degree of a polynomial kernel must be a whole number, 1 or more, not ", degree_, "."));
    if (!std::isfinite(offset_)) throw InputError(message("the offset of a ", type_, " kernel must be finite."));
  }
  std::unique_ptr<Part> clone() const override { return std::make_unique<Inner>(*this); }
  Index count() const override { return learn_variance_ + learn_slope_; }
  void get(double* p) const override {
    if (learn_variance_) *p++ = std::log(variance_);
    if (learn_slope_) *p = std::log(slope_);
  }
  void set(const double* p) override {
    if (learn_variance_) variance_ = std::exp(*p++);
    if (learn_slope_) slope_ = std::exp(*p);
  }
  void names(std::vector<std::string>& out) const override {
    if (learn_variance_) out.push_back(type_ + ".variance");
    if (learn_slope_) out.push_back(type_ + ".slope");
  }
  bool stationary() const override { return false; }
  bool inner_view(InnerView* view) const override {
    view->columns = columns_.chosen();
    view->weights = VectorXd::Ones(1);
    return true;
  }
  void from_inner(ConstVectorRef, double, VectorRef k) const override {
    k = variance_ * phi(slope_ * k.array() + offset_);
  }
  void value(ConstMatrixRef x, ConstMatrixRef z, Same, MatrixRef k) const override {
    k.noalias() = columns_.take(x) * columns_.take(z).transpose();
    k = variance_ * phi(slope_ * k.array() + offset_);
  }
  void diagonal(ConstMatrixRef x, bool, VectorRef k) const override {
    const VectorXd norms = columns_.take(x).rowwise().squaredNorm();
    k = variance_ * phi(slope_ * norms.array() + offset_);
  }
  void backward(ConstMatrixRef x, ConstMatrixRef z, Same, ConstMatrixRef g, double* p, MatrixRef* dx,
                MatrixRef* dz) const override {
    const MatrixXd a = columns_.take(x), b = columns_.take(z), inner = a * b.transpose();
    const Eigen::ArrayXXd u = slope_ * inner.array() + offset_;
    const MatrixXd h = (g.array() * variance_ * phi_slope(u)).matrix();
    if (learn_variance_) *p++ += variance_ * (g.array() * phi(u)).sum();
    if (learn_slope_) *p += slope_ * h.cwiseProduct(inner).sum();
    if (dx) columns_.add_back(slope_ * (h * b), *dx);
    if (dz) columns_.add_back(slope_ * (h.transpose() * a), *dz);
  }
  void backward_diagonal(ConstMatrixRef x, bool, ConstVectorRef g, double* p, MatrixRef* dx) const override {
    const MatrixXd a = columns_.take(x);
    const VectorXd norms = a.rowwise().squaredNorm();
    const Eigen::ArrayXd u = slope_ * norms.array() + offset_;
    const VectorXd h = (g.array() * variance_ * phi_slope(u)).matrix();
    if (learn_variance_) *p++ += variance_ * (g.array() * phi(u)).sum();
    if (learn_slope_) *p += slope_ * h.dot(norms);
    if (dx) columns_.add_back(2 * slope_ * (h.asDiagonal() * a), *dx);
  }

 private:
  template <class A>
  typename A::PlainObject phi(const Eigen::ArrayBase<A>& u) const {
    if (power_) return u.unaryExpr([m = static_cast<int>(degree_)](double t) { return std::pow(t, m); });
    return u.unaryExpr([](double t) { return std::tanh(t); });
  }
  template <class A>
  typename A::PlainObject phi_slope(const Eigen::ArrayBase<A>& u) const {
    if (power_) return u.unaryExpr([m = static_cast<int>(degree_)](double t) { return m * std::pow(t, m - 1); });
    return u.unaryExpr([](double t) {
      const double v = std::tanh(t);
      return 1 - v * v;
    });
  }

  std::string type_;
  Columns columns_;
  bool power_;
  double variance_, slope_, degree_, offset_;
  bool learn_variance_, learn_slope_;
};

// The covariance of a network with infinitely many erf units, weights of variance w and biases of variance b.
class Mlp : public Part {
 public:
  Mlp(const KernelSpec& spec, Index dimension)
      : columns_(spec.columns, dimension, spec.type),
        variance_(spec.variance),
        learn_variance_(spec.learn_variance),
        learn_scales_(spec.learn_scales) {
    require_positive(variance_, spec.type, "variance");
    if (spec.scales.size() != 2) throw InputError("an mlp kernel needs two scales: of the weights and of the bias.");
    weight_ = spec.scales[0];
    bias_ = spec.scales[1];
    require_positive(weight_, spec.type, "weight variance");
    require_positive(bias_, spec.type, "bias variance");
  }
  std::unique_ptr<Part> clone() const override { return std::make_unique<Mlp>(*this); }
  Index count() const override { return learn_variance_ + 2 * learn_scales_; }
  void get(double* p) const override {
    if (learn_variance_) *p++ = std::log(variance_);
    if (!learn_scales_) return;
    p[0] = std::log(weight_);
    p[1] = std::log(bias_);
  }
  void set(const double* p) override {
    if (learn_variance_) variance_ = std::exp(*p++);
    if (!learn_scales_) return;
    weight_ = std::exp(p[0]);
    bias_ = std::exp(p[1]);
  }
  void names(std::vector<std::string>& out) const override {
    if (learn_variance_) out.push_back("mlp.variance");
    if (!learn_scales_) return;
    out.push_back("mlp.weight");
    out.push_back("mlp.bias");
  }
  bool stationary() const override { return false; }
  bool inner_view(InnerView* view) const override {
    view->columns = columns_.chosen();
    view->weights = VectorXd::Ones(1);
    return true;
  }
  void from_inner(ConstVectorRef xx, double zz, VectorRef k) const override {
    const double q = weight_ * zz + bias_ + 1;
    k = variance_ * ((weight_ * k.array() + bias_) / ((weight_ * xx.array() + bias_ + 1) * q).sqrt()).asin();
  }
  void value(ConstMatrixRef x, ConstMatrixRef z, Same, MatrixRef k) const override {
    const Angles t(*this, columns_.take(x), columns_.take(z));
    k = variance_ * t.t.asin();
  }
  void diagonal(ConstMatrixRef x, bool, VectorRef k) const override {
    const Eigen::ArrayXd a = weight_ * columns_.take(x).rowwise().squaredNorm().array() + bias_;
    k = variance_ * (a / (a + 1)).asin();
  }
  void backward(ConstMatrixRef x, ConstMatrixRef z, Same, ConstMatrixRef g, double* p, MatrixRef* dx,
                MatrixRef* dz) const override {
    const MatrixXd a = columns_.take(x), b = columns_.take(z);
    const Angles at(*this, a, b);
    const Eigen::ArrayXXd h = g.array() * variance_ / (1 - at.t.square()).sqrt();
    if (learn_variance_) *p++ += variance_ * (g.array() * at.t.asin()).sum();
    // t = (w x'z + b) / sqrt(p q); each argument of the root takes back t / 2 of its relative change.
    const MatrixXd over = (h.colwise() * at.p.rsqrt()).rowwise() * at.q.rsqrt().transpose();  // h / sqrt(p q)
    const VectorXd rows = (h * at.t).rowwise().sum() / at.p, cols = (h * at.t).colwise().sum().transpose() / at.q;
    if (learn_scales_) {
      const VectorXd xx = a.rowwise().squaredNorm(), zz = b.rowwise().squaredNorm();
      p[0] += weight_ * (over.cwiseProduct(at.inner).sum() - 0.5 * (rows.dot(xx) + cols.dot(zz)));
      p[1] += bias_ * (over.sum() - 0.5 * (rows.sum() + cols.sum()));
    }
    if (dx) columns_.add_back(weight_ * (over * b - rows.asDiagonal() * a), *dx);
    if (dz) columns_.add_back(weight_ * (over.transpose() * a - cols.asDiagonal() * b), *dz);
  }
  void backward_diagonal(ConstMatrixRef x, bool, ConstVectorRef g, double* p, MatrixRef* dx) const override {
    const MatrixXd a = columns_.take(x);
    const Eigen::ArrayXd norms = a.rowwise().squaredNorm().array(), u = weight_ * norms + bias_, t = u / (u + 1);
    const Eigen::ArrayXd slope = g.array() * variance_ / (1 - t.square()).sqrt() / (u + 1).square();  // dk/du
    if (learn_variance_) *p++ += variance_ * (g.array() * t.asin()).sum();
    if (learn_scales_) {
      p[0] += weight_ * (slope * norms).sum();
      p[1] += bias_ * slope.sum();
    }
    if (dx) columns_.add_back(2 * weight_ * (slope.matrix().asDiagonal() * a), *dx);
  }

 private:
  struct Angles {
    Angles(const Mlp& part, const MatrixXd& a, const MatrixXd& b)
        : inner(a * b.transpose()),
          p(part.weight_ * a.rowwise().squaredNorm().array() + part.bias_ + 1),
          q(part.weight_ * b.rowwise().squaredNorm().array() + part.bias_ + 1),
          t((part.weight_ * inner.array() + part.bias_).colwise() * p.rsqrt()) {
      t.rowwise() *= q.rsqrt().transpose();
    }
    MatrixXd inner;
    Eigen::ArrayXd p, q;
    Eigen::ArrayXXd t;
  };

  Columns columns_;
  double variance_, weight_ = 0, bias_ = 0;
  bool learn_variance_, learn_scales_;
};

}  // namespace

std::unique_ptr<Part> make_inner(const KernelSpec& spec, Index dimension) {
  if (spec.type == "linear") return std::make_unique<Linear>(spec, dimension);
  if (spec.type == "mlp") return std::make_unique<Mlp>(spec, dimension);
  return std::make_unique<Inner>(spec, dimension);
}

}  // namespace granary::kernel_detail
