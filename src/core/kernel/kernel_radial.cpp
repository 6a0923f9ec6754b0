// Parts that depend on distances between columns: se, matern, rq (of r^2 alone), powexp, periodic and hamming (a sum over columns).
#include <boost/math/special_functions/bessel.hpp>
#include <cmath>

#include "core/base/errors.h"
#include "core/kernel/kernel_parts.h"
#include "core/math/special.h"
#include "core/linalg/wide_loops.h"

namespace granary::kernel_detail {

namespace {

using Quiet = boost::math::policies::policy<boost::math::policies::overflow_error<boost::math::policies::ignore_error>,
                                            boost::math::policies::underflow_error<boost::math::policies::ignore_error>,
                                            boost::math::policies::promote_double<false>>;

double bessel_k(double order, double q) { return boost::math::cyl_bessel_k(std::abs(order), q, Quiet()); }

// What the two kinds share: a variance and one scale for every column or for all.
class Scaled : public Part {
 public:
  Scaled(const KernelSpec& spec, Index dimension)
      : type_(spec.type),
        columns_(spec.columns, dimension, spec.type),
        variance_(spec.variance),
        scales_(check_scales(spec, columns_.size(), "lengthscale")),
        learn_variance_(spec.learn_variance),
        learn_scales_(spec.learn_scales) {
    require_positive(variance_, type_, "variance");
  }
  Index count() const override { return learn_variance_ + (learn_scales_ ? scales_.size() : 0); }
  void get(double* p) const override {
    if (learn_variance_) *p++ = std::log(variance_);
    if (learn_scales_)
      for (Index k = 0; k < scales_.size(); ++k) *p++ = std::log(scales_[k]);
  }
  void set(const double* p) override {
    if (learn_variance_) variance_ = std::exp(*p++);
    if (learn_scales_)
      for (Index k = 0; k < scales_.size(); ++k) scales_[k] = std::exp(*p++);
  }
  void names(std::vector<std::string>& out) const override {
    if (learn_variance_) out.push_back(type_ + ".variance");
    if (!learn_scales_) return;
    for (Index k = 0; k < scales_.size(); ++k)
      out.push_back(scales_.size() == 1 ? type_ + ".lengthscale" : message(type_, ".lengthscale", k + 1));
  }
  void diagonal(ConstMatrixRef, bool, VectorRef k) const override { k.setConstant(variance_); }
  void backward_diagonal(ConstMatrixRef, bool, ConstVectorRef g, double* p, MatrixRef*) const override {
    if (learn_variance_) *p += variance_ * g.sum();
  }

 protected:
  double scale(Index k) const { return scales_[scales_.size() == 1 ? 0 : k]; }

  std::string type_;
  Columns columns_;
  double variance_;
  VectorXd scales_;
  bool learn_variance_, learn_scales_;
};

class Radial : public Scaled {
 public:
  Radial(const KernelSpec& spec, Index dimension) : Scaled(spec, dimension), shape_(spec.shape) {
    if (type_ == "rq") {
      form_ = Form::rq;
      learn_shape_ = spec.learn_shape;
      require_positive(shape_, type_, "shape");
    } else if (type_ == "matern") {
      require_positive(shape_, type_, "smoothness nu");
      if (shape_ > 50)
        throw InputError(message("a matern kernel with nu = ", shape_, " is all but squared exponential: use se() instead."));
      form_ = shape_ == 0.5 ? Form::half : shape_ == 1.5 ? Form::three : shape_ == 2.5 ? Form::five : Form::matern;
    }
  }
  std::unique_ptr<Part> clone() const override { return std::make_unique<Radial>(*this); }
  Index count() const override { return Scaled::count() + learn_shape_; }
  void get(double* p) const override {
    Scaled::get(p);
    if (learn_shape_) p[Scaled::count()] = std::log(shape_);
  }
  void set(const double* p) override {
    Scaled::set(p);
    if (learn_shape_) shape_ = std::exp(p[Scaled::count()]);
  }
  void names(std::vector<std::string>& out) const override {
    Scaled::names(out);
    if (learn_shape_) out.push_back(type_ + ".shape");
  }

  bool inner_view(InnerView* view) const override {
    view->columns = columns_.chosen();
    view->weights = scales_.cwiseInverse();
    view->differences = true;
    return true;
  }
  void from_inner(ConstVectorRef xx, double zz, VectorRef k) const override {
    if (form_ == Form::se) {
      gaussian_profile(xx.data(), zz, variance_, k.data(), k.size());
    } else {
      k = (xx.array() + zz - 2 * k.array()).max(0.0);
      profile(k);
    }
  }
  void value(ConstMatrixRef x, ConstMatrixRef z, Same same, MatrixRef k) const override {
    const Points points = scaled(x, z);
    squared_distances(points, same, k);
    for (Index j = 0; j < k.cols(); ++j) profile(k.col(j));
  }

  void backward(ConstMatrixRef x, ConstMatrixRef z, Same same, ConstMatrixRef g, double* p, MatrixRef* dx,
                MatrixRef* dz) const override {
    const Points points = scaled(x, z);
    MatrixXd s(x.rows(), z.rows()), h(x.rows(), z.rows());
    squared_distances(points, same, s);
    double* shape_slot = learn_shape_ ? p + Scaled::count() : nullptr;
    double total = 0, by_shape = 0;
    for (Index j = 0; j < s.cols(); ++j) total += slopes(s.col(j), g.col(j), h.col(j), shape_slot ? &by_shape : nullptr);
    if (learn_variance_) *p++ += total;
    if (shape_slot) *shape_slot += by_shape;
    // h = g phi'(s): dk = phi'(s) ds and ds = 2 (x_k - z_k) (dx_k - dz_k) - 2 (x_k - z_k)^2 dlog l_k, in units of l_k.
    if (learn_scales_ && scales_.size() == 1) *p += -2 * h.cwiseProduct(s).sum();
    const bool by_column = learn_scales_ && scales_.size() > 1;
    if (!by_column && !dx && !dz) return;
    const VectorXd rows = h.rowwise().sum(), cols = h.colwise().sum().transpose();
    const MatrixXd hz = h * points.z;
    if (by_column)
      for (Index k = 0; k < scales_.size(); ++k)
        p[k] += -2 * (rows.dot(points.x.col(k).cwiseAbs2()) + cols.dot(points.z.col(k).cwiseAbs2()) -
                      2 * points.x.col(k).dot(hz.col(k)));
    if (dx) {
      MatrixXd change = rows.asDiagonal() * points.x - hz;
      for (Index k = 0; k < change.cols(); ++k) change.col(k) *= 2 / scale(k);
      columns_.add_back(change, *dx);
    }
    if (dz) {
      MatrixXd change = cols.asDiagonal() * points.z;
      change.noalias() -= h.transpose() * points.x;
      for (Index k = 0; k < change.cols(); ++k) change.col(k) *= 2 / scale(k);
      columns_.add_back(change, *dz);
    }
  }

 private:
  enum class Form { se, half, three, five, matern, rq };
  struct Points {
    MatrixXd x, z;
  };

  Points scaled(ConstMatrixRef x, ConstMatrixRef z) const {  // about the mean of x, in units of the scales
    Points out{columns_.take(x), columns_.take(z)};
    for (Index k = 0; k < out.x.cols(); ++k) {
      const double centre = out.x.rows() > 0 ? out.x.col(k).mean() : 0;
      out.x.col(k) = (out.x.col(k).array() - centre) / scale(k);
      out.z.col(k) = (out.z.col(k).array() - centre) / scale(k);
    }
    return out;
  }

  static void squared_distances(const Points& points, Same same, MatrixRef s) {
    const Index d = points.x.cols();
    if (d <= 8) {
      for (Index j = 0; j < s.cols(); ++j) {
        s.col(j) = (points.x.col(0).array() - points.z(j, 0)).square();
        for (Index k = 1; k < d; ++k) s.col(j).array() += (points.x.col(k).array() - points.z(j, k)).square();
      }
    } else {
      const VectorXd xx = points.x.rowwise().squaredNorm(), zz = points.z.rowwise().squaredNorm();
      s.noalias() = points.x * points.z.transpose();
      for (Index j = 0; j < s.cols(); ++j) s.col(j) = (xx.array() + zz[j] - 2 * s.col(j).array()).max(0.0);
    }
    if (same.any())
      for (Index j = 0; j < s.cols() && j + same.offset < s.rows(); ++j) s(j + same.offset, j) = 0;
  }

  template <class Column>
  void profile(Column&& s) const {  // r^2 becomes k
    const double v = variance_;
    switch (form_) {
      case Form::se:
        gaussian_of_squares(v, s.data(), s.size());
        break;
      case Form::half:
        s = v * (-s.array().sqrt()).exp();
        break;
      case Form::three:
        s = (3 * s.array()).sqrt();
        matern_three_profile(v, s.data(), s.size());
        break;
      case Form::five:
        s = (5 * s.array()).sqrt();
        matern_five_profile(v, s.data(), s.size());
        break;
      case Form::matern:
        for (Index i = 0; i < s.size(); ++i) s[i] = v * matern(s[i]);
        break;
      case Form::rq:
        s = v * (-shape_ * (1 + s.array() / (2 * shape_)).log()).exp();
        break;
    }
  }

  // h = g phi'(s); returns sum g phi(s), and adds sum g dphi/dlog(shape) where asked.
  template <class ColumnS, class ColumnG, class ColumnH>
  double slopes(const ColumnS& s, const ColumnG& g, ColumnH&& h, double* by_shape) const {
    const double v = variance_;
    switch (form_) {
      case Form::se:
        h = s;
        gaussian_of_squares(v, h.data(), h.size());
        h.array() *= g.array();
        break;
      case Form::half: {
        const Eigen::ArrayXd q = s.array().sqrt(), k = v * (-q).exp();
        h = (q > 0).select(-0.5 * g.array() * k / q, 0.0);  // the kink at zero distance counts for nothing
        return (g.array() * k).sum();
      }
      case Form::three:
      case Form::five: {
        VectorXd k = (2 * shape_ * s.array()).sqrt();
        (form_ == Form::three ? matern_three_slopes : matern_five_slopes)(v, g.data(), k.data(), h.data(), k.size());
        return g.dot(k);
      }
      case Form::matern: {
        double total = 0;
        for (Index i = 0; i < s.size(); ++i) {
          total += g[i] * v * matern(s[i]);
          h[i] = g[i] * v * matern_slope(s[i]);
        }
        return total;
      }
      case Form::rq: {
        const Eigen::ArrayXd t = s.array() / (2 * shape_), k = v * (-shape_ * (1 + t).log()).exp();
        h = -0.5 * g.array() * k / (1 + t);
        if (by_shape) *by_shape += shape_ * (g.array() * k * (t / (1 + t) - (1 + t).log())).sum();
        return (g.array() * k).sum();
      }
    }
    const double total = h.sum();  // se: phi' = -phi / 2
    h *= -0.5;
    return total;
  }

  double matern_constant() const { return std::exp((1 - shape_) * std::log(2.0) - log_gamma(shape_)); }
  double matern(double s) const {
    const double q = std::sqrt(2 * shape_ * s);
    if (q > 700) return 0;
    if (shape_ > 1 && q < 1e-4) return 1 - q * q / (4 * (shape_ - 1));
    if (q == 0) return 1;
    return matern_constant() * std::pow(q, shape_) * bessel_k(shape_, q);
  }
  double matern_slope(double s) const {  // d/ds: -c nu q^(nu - 1) K_(nu - 1)(q)
    const double q = std::sqrt(2 * shape_ * s);
    if (q > 700) return 0;
    if (q < 1e-4 && shape_ > 1) return -shape_ / (2 * (shape_ - 1));
    if (q == 0) return 0;
    return -matern_constant() * shape_ * std::pow(q, shape_ - 1) * bessel_k(shape_ - 1, q);
  }

  Form form_ = Form::se;
  double shape_;
  bool learn_shape_ = false;
};

class Separable : public Scaled {
 public:
  Separable(const KernelSpec& spec, Index dimension) : Scaled(spec, dimension), shape_(spec.shape) {
    form_ = spec.type == "hamming" ? Form::hamming : spec.type == "periodic" ? Form::periodic : Form::power;
    if (form_ == Form::power && !(shape_ > 0 && shape_ <= 2))
      throw InputError(message("the power of a powexp kernel must be in (0, 2], not ", shape_, "."));
    if (form_ == Form::periodic) {
      require_positive(shape_, type_, "period");
      learn_period_ = spec.learn_shape;
    }
  }
  std::unique_ptr<Part> clone() const override { return std::make_unique<Separable>(*this); }
  bool stationary() const override { return form_ != Form::hamming; }
  bool differentiable() const override { return form_ != Form::hamming; }
  Index count() const override { return Scaled::count() + learn_period_; }
  void get(double* p) const override {
    Scaled::get(p);
    if (learn_period_) p[Scaled::count()] = std::log(shape_);
  }
  void set(const double* p) override {
    Scaled::set(p);
    if (learn_period_) shape_ = std::exp(p[Scaled::count()]);
  }
  void names(std::vector<std::string>& out) const override {
    Scaled::names(out);
    if (learn_period_) out.push_back(type_ + ".period");
  }

  void value(ConstMatrixRef x, ConstMatrixRef z, Same, MatrixRef k) const override {
    const MatrixXd a = columns_.take(x), b = columns_.take(z);
    k.setZero();
    for (Index c = 0; c < a.cols(); ++c)
      for (Index j = 0; j < b.rows(); ++j) k.col(j) -= exponent(a.col(c).array() - b(j, c), c).matrix();
    k = variance_ * k.array().exp();
  }

  void backward(ConstMatrixRef x, ConstMatrixRef z, Same same, ConstMatrixRef g, double* p, MatrixRef* dx,
                MatrixRef* dz) const override {
    if (form_ == Form::hamming && (dx || dz))
      throw InputError("this needs the derivative of the kernel in its inputs, which a hamming kernel does not have.");
    MatrixXd h(x.rows(), z.rows());
    value(x, z, same, h);
    h.array() *= g.array();
    double* period_slot = learn_period_ ? p + Scaled::count() : nullptr;
    if (learn_variance_) *p++ += h.sum();
    const MatrixXd a = columns_.take(x), b = columns_.take(z);
    const double rate = form_ == Form::hamming ? 1 : form_ == Form::periodic ? 2 : shape_;  // the exponent is proportional to l^-rate
    MatrixXd change_x = MatrixXd::Zero(a.rows(), a.cols()), change_z = MatrixXd::Zero(b.rows(), b.cols());
    for (Index c = 0; c < a.cols(); ++c) {
      for (Index j = 0; j < b.rows(); ++j) {
        const Eigen::ArrayXd difference = a.col(c).array() - b(j, c);
        if (learn_scales_) p[scales_.size() == 1 ? 0 : c] += rate * (h.col(j).array() * exponent(difference, c)).sum();
        if (!dx && !dz && !period_slot) continue;
        const Eigen::ArrayXd slope = -h.col(j).array() * exponent_slope(difference, c);
        if (period_slot) *period_slot -= (slope * difference).sum();  // the exponent depends on difference / period
        change_x.col(c).array() += slope;
        change_z(j, c) -= slope.sum();
      }
    }
    if (dx) columns_.add_back(change_x, *dx);
    if (dz) columns_.add_back(change_z, *dz);
  }

 private:
  enum class Form { power, hamming, periodic };

  // What column c adds to -log(k / v) at these differences, and its derivative in them.
  Eigen::ArrayXd exponent(const Eigen::ArrayXd& difference, Index c) const {
    const double l = scale(c);
    if (form_ == Form::hamming) return (difference != 0).select(Eigen::ArrayXd::Constant(difference.size(), 1 / l), 0.0);
    if (form_ == Form::periodic) return 2 / (l * l) * (pi / shape_ * difference).sin().square();
    return (difference.abs() / l).pow(shape_);
  }
  Eigen::ArrayXd exponent_slope(const Eigen::ArrayXd& difference, Index c) const {
    const double l = scale(c);
    if (form_ == Form::periodic) return 2 * pi / (shape_ * l * l) * (2 * pi / shape_ * difference).sin();
    return (difference != 0).select(shape_ * exponent(difference, c) / difference, 0.0);
  }

  static constexpr double pi = 3.14159265358979323846;
  Form form_;
  double shape_;  // the power, or the period
  bool learn_period_ = false;
};

}  // namespace

std::unique_ptr<Part> make_radial(const KernelSpec& spec, Index dimension) { return std::make_unique<Radial>(spec, dimension); }
std::unique_ptr<Part> make_separable(const KernelSpec& spec, Index dimension) {
  return std::make_unique<Separable>(spec, dimension);
}

}  // namespace granary::kernel_detail
