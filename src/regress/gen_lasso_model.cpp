#include "regress/gen_lasso_model.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace granary::regress {

MatrixXd GenDesign::dense() const {
  MatrixXd x(rows(), cols());
  VectorXd unit = VectorXd::Zero(cols()), column;
  for (Index j = 0; j < cols(); ++j) {
    unit[j] = 1;
    apply(unit, column);
    x.col(j) = column;
    unit[j] = 0;
  }
  return x;
}

namespace {

class DenseDesign : public GenDesign {
 public:
  explicit DenseDesign(ConstMatrixRef x) : x_(x) {}
  Index rows() const override { return x_.rows(); }
  Index cols() const override { return x_.cols(); }
  void apply(ConstVectorRef b, VectorXd& out) const override { out.noalias() = x_ * b; }
  void transpose(ConstVectorRef r, VectorXd& out) const override { out.noalias() = x_.transpose() * r; }
  VectorXd squares() const override { return x_.colwise().squaredNorm().transpose(); }
  bool explicit_matrix() const override { return true; }
  MatrixXd dense() const override { return x_; }

 private:
  ConstMatrixRef x_;
};

class SparseDesign : public GenDesign {
 public:
  explicit SparseDesign(const SparseMatrix& x) : x_(x) {}
  Index rows() const override { return x_.rows(); }
  Index cols() const override { return x_.cols(); }
  void apply(ConstVectorRef b, VectorXd& out) const override { out.noalias() = x_ * b; }
  void transpose(ConstVectorRef r, VectorXd& out) const override { out.noalias() = x_.transpose() * r; }
  VectorXd squares() const override {
    VectorXd sum = VectorXd::Zero(cols());
    for (Index j = 0; j < cols(); ++j) {
      for (SparseMatrix::InnerIterator it(x_, j); it; ++it) sum[j] += it.value() * it.value();
    }
    return sum;
  }
  bool explicit_matrix() const override { return true; }
  MatrixXd dense() const override { return MatrixXd(x_); }

 private:
  SparseMatrix x_;
};

class IdentityDesign : public GenDesign {
 public:
  explicit IdentityDesign(Index p) : p_(p) {}
  Index rows() const override { return p_; }
  Index cols() const override { return p_; }
  void apply(ConstVectorRef b, VectorXd& out) const override { out = b; }
  void transpose(ConstVectorRef r, VectorXd& out) const override { out = r; }
  VectorXd squares() const override { return VectorXd::Ones(p_); }
  bool identity() const override { return true; }

 private:
  Index p_;
};

class BlurDesign : public GenDesign {
 public:
  BlurDesign(int rows, int cols, int size) : rows_(rows), cols_(cols), reach_(size / 2) {
    count_ = VectorXd::Ones(static_cast<Index>(rows) * cols);
    box(count_);
  }
  Index rows() const override { return count_.size(); }
  Index cols() const override { return count_.size(); }
  void apply(ConstVectorRef b, VectorXd& out) const override {
    out = b;
    box(out);
    out.array() /= count_.array();
  }
  void transpose(ConstVectorRef r, VectorXd& out) const override {
    out = r.cwiseQuotient(count_);
    box(out);
  }
  VectorXd squares() const override {
    VectorXd sum = count_.array().square().inverse();
    box(sum);
    return sum;
  }

 private:
  void line(double* at, Index stride, int n, std::vector<double>& sum) const {
    sum.resize(n + 1);
    sum[0] = 0;
    for (int i = 0; i < n; ++i) sum[i + 1] = sum[i] + at[i * stride];
    for (int i = 0; i < n; ++i) at[i * stride] = sum[std::min(n, i + reach_ + 1)] - sum[std::max(0, i - reach_)];
  }
  void box(VectorXd& image) const {
    std::vector<double> sum;
    for (int j = 0; j < cols_; ++j) line(image.data() + static_cast<Index>(j) * rows_, 1, rows_, sum);
    for (int i = 0; i < rows_; ++i) line(image.data() + i, rows_, cols_, sum);
  }
  int rows_, cols_, reach_;
  VectorXd count_;
};

class CentredDesign : public GenDesign {
 public:
  CentredDesign(std::unique_ptr<GenDesign> x, bool ones, VectorXd& means) : x_(std::move(x)), ones_(ones) {
    x_->transpose(VectorXd::Constant(x_->rows(), 1.0 / static_cast<double>(x_->rows())), means_);
    means = means_;
  }
  Index rows() const override { return x_->rows(); }
  Index cols() const override { return x_->cols() + (ones_ ? 1 : 0); }
  void apply(ConstVectorRef b, VectorXd& out) const override {
    x_->apply(b.head(x_->cols()), out);
    out.array() += (ones_ ? b[b.size() - 1] : 0.0) - means_.dot(b.head(x_->cols()));
  }
  void transpose(ConstVectorRef r, VectorXd& out) const override {
    VectorXd inner;
    x_->transpose(r, inner);
    out.resize(cols());
    out.head(inner.size()) = inner - r.sum() * means_;
    if (ones_) out[inner.size()] = r.sum();
  }
  VectorXd squares() const override {
    VectorXd out(cols());
    const double n = static_cast<double>(rows());
    const VectorXd all = x_->squares();
    out.head(all.size()) = (all.array() - n * means_.array().square()).cwiseMax(0);
    for (Index j = 0; j < all.size(); ++j) {
      if (out[j] < 1e-12 * all[j]) out[j] = 0;
    }
    if (ones_) out[all.size()] = n;
    return out;
  }
  bool explicit_matrix() const override { return x_->explicit_matrix(); }
  MatrixXd dense() const override {
    MatrixXd out = MatrixXd::Ones(rows(), cols());
    out.leftCols(x_->cols()) = x_->dense().rowwise() - means_.transpose();
    return out;
  }

 private:
  std::unique_ptr<GenDesign> x_;
  bool ones_;
  VectorXd means_;
};

}  // namespace

std::unique_ptr<GenDesign> dense_design(ConstMatrixRef x) { return std::make_unique<DenseDesign>(x); }
std::unique_ptr<GenDesign> sparse_design(const SparseMatrix& x) { return std::make_unique<SparseDesign>(x); }
std::unique_ptr<GenDesign> identity_design(Index p) { return std::make_unique<IdentityDesign>(p); }
std::unique_ptr<GenDesign> blur_design(int rows, int cols, int size) { return std::make_unique<BlurDesign>(rows, cols, size); }
std::unique_ptr<GenDesign> centred_design(std::unique_ptr<GenDesign> x, bool ones, VectorXd& means) {
  return std::make_unique<CentredDesign>(std::move(x), ones, means);
}

double GenLoss::value(ConstVectorRef eta) const {
  double sum = 0;
  for (Index i = 0; i < eta.size(); ++i) {
    const double e = eta[i], r = y[i] - e;
    switch (family) {
      case LossFamily::gaussian:
        sum += 0.5 * r * r;
        break;
      case LossFamily::binomial:
        sum += std::max(e, 0.0) + std::log1p(std::exp(-std::abs(e))) - y[i] * e;
        break;
      case LossFamily::poisson:
        sum += std::exp(e) - y[i] * e;
        break;
      case LossFamily::huber:
        sum += std::abs(r) <= delta ? 0.5 * r * r : delta * (std::abs(r) - 0.5 * delta);
        break;
    }
  }
  return sum;
}

VectorXd GenLoss::gradient(ConstVectorRef eta) const {
  switch (family) {
    case LossFamily::gaussian:
      return eta - y;
    case LossFamily::binomial:
      return (1 / (1 + (-eta.array()).exp())).matrix() - y;
    case LossFamily::poisson:
      return eta.array().exp().matrix() - y;
    default:
      return (eta - y).cwiseMax(-delta).cwiseMin(delta);
  }
}

VectorXd GenLoss::curvature(ConstVectorRef eta) const {
  switch (family) {
    case LossFamily::gaussian:
      return VectorXd::Ones(eta.size());
    case LossFamily::binomial: {
      const VectorXd mean = 1 / (1 + (-eta.array()).exp());
      return mean.array() * (1 - mean.array());
    }
    case LossFamily::poisson:
      return eta.array().exp();
    default:
      return ((eta - y).array().abs() <= delta).cast<double>();
  }
}

double GenLoss::curvature_bound() const {
  if (family == LossFamily::binomial) return 0.25;
  if (family == LossFamily::poisson) return std::max(y.mean(), 1e-8);
  return 1;
}

double GenLoss::dual(ConstVectorRef theta) const {
  const auto entropy = [](double q) { return q > 0 ? q * std::log(q) : 0.0; };
  constexpr double outside = -std::numeric_limits<double>::infinity();
  double sum = 0;
  for (Index i = 0; i < theta.size(); ++i) {
    const double t = theta[i], q = y[i] - t;
    switch (family) {
      case LossFamily::huber:
        if (std::abs(t) > delta * (1 + 1e-12)) return outside;
        sum += y[i] * t - 0.5 * t * t;
        break;
      case LossFamily::gaussian:
        sum += y[i] * t - 0.5 * t * t;
        break;
      case LossFamily::binomial:
        if (q < 0 || q > 1) return outside;
        sum -= entropy(q) + entropy(1 - q);
        break;
      case LossFamily::poisson:
        if (q < 0) return outside;
        sum -= entropy(q) - q;
        break;
    }
  }
  return sum;
}

}  // namespace granary::regress
