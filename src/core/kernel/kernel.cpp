#include "core/kernel/kernel.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/errors.h"
#include "core/kernel/kernel_parts.h"

namespace granary {

namespace kernel_detail {

void require_positive(double value, const std::string& type, const char* what) {
  if (!(value > 0) || !std::isfinite(value))
    throw InputError(message("the ", what, " of a ", type, " kernel must be positive and finite, not ", value, "."));
}

VectorXd check_scales(const KernelSpec& spec, Index columns, const char* what) {
  const Index length = spec.scales.size();
  if (length != 1 && length != columns)
    throw InputError(
        message("a ", spec.type, " kernel over ", columns, " columns needs one ", what, " or ", columns, ", not ", length, "."));
  for (Index k = 0; k < length; ++k) require_positive(spec.scales[k], spec.type, what);
  return spec.scales;
}

Columns::Columns(const std::vector<Index>& chosen, Index dimension, const std::string& type)
    : chosen_(chosen), size_(chosen.empty() ? dimension : static_cast<Index>(chosen.size())) {
  for (Index k : chosen)
    if (k < 0 || k >= dimension)
      throw InputError(message("a ", type, " kernel looks at column ", k + 1, ", but the inputs have ", dimension, "."));
}

MatrixXd Columns::take(ConstMatrixRef x) const {
  if (chosen_.empty()) return x;
  MatrixXd out(x.rows(), size_);
  for (Index k = 0; k < size_; ++k) out.col(k) = x.col(chosen_[k]);
  return out;
}

void Columns::add_back(const MatrixXd& gradient, MatrixRef& dx) const {
  if (chosen_.empty()) {
    dx += gradient;
    return;
  }
  for (Index k = 0; k < size_; ++k) dx.col(chosen_[k]) += gradient.col(k);
}

namespace {

// A constant, everywhere (bias) or where the two points are one (white).
class Constant : public Part {
 public:
  Constant(const KernelSpec& spec, bool white)
      : type_(spec.type), white_(white), learn_(spec.learn_variance), variance_(spec.variance) {
    require_positive(variance_, type_, "variance");
  }
  std::unique_ptr<Part> clone() const override { return std::make_unique<Constant>(*this); }
  Index count() const override { return learn_; }
  void get(double* p) const override {
    if (learn_) *p = std::log(variance_);
  }
  void set(const double* p) override {
    if (learn_) variance_ = std::exp(*p);
  }
  void names(std::vector<std::string>& out) const override {
    if (learn_) out.push_back(type_ + ".variance");
  }
  void value(ConstMatrixRef x, ConstMatrixRef z, Same same, MatrixRef k) const override {
    if (!white_) {
      k.setConstant(variance_);
      return;
    }
    k.setZero();
    if (same.any())
      for (Index j = 0; j < z.rows() && j + same.offset < x.rows(); ++j) k(j + same.offset, j) = variance_;
  }
  void diagonal(ConstMatrixRef, bool with_white, VectorRef k) const override {
    k.setConstant(white_ && !with_white ? 0 : variance_);
  }
  void backward(ConstMatrixRef x, ConstMatrixRef z, Same same, ConstMatrixRef g, double* p, MatrixRef*,
                MatrixRef*) const override {
    if (!learn_) return;
    if (!white_) {
      *p += variance_ * g.sum();
    } else if (same.any()) {
      for (Index j = 0; j < z.rows() && j + same.offset < x.rows(); ++j) *p += variance_ * g(j + same.offset, j);
    }
  }
  void backward_diagonal(ConstMatrixRef, bool with_white, ConstVectorRef g, double* p, MatrixRef*) const override {
    if (learn_ && (!white_ || with_white)) *p += variance_ * g.sum();
  }

 private:
  std::string type_;
  bool white_, learn_;
  double variance_;
};

// A function of the user's. Its derivatives in the parameters are central differences; in the inputs there are none.
class User : public Part {
 public:
  explicit User(const KernelSpec& spec) : function_(spec.function), parameters_(spec.user_parameters) {
    if (!function_) throw InputError("a user kernel needs a function.");
    for (Index k = 0; k < parameters_.size(); ++k) require_positive(parameters_[k], "user", "parameter");
  }
  std::unique_ptr<Part> clone() const override { return std::make_unique<User>(*this); }
  Index count() const override { return parameters_.size(); }
  void get(double* p) const override {
    for (Index k = 0; k < parameters_.size(); ++k) p[k] = std::log(parameters_[k]);
  }
  void set(const double* p) override {
    for (Index k = 0; k < parameters_.size(); ++k) parameters_[k] = std::exp(p[k]);
  }
  void names(std::vector<std::string>& out) const override {
    for (Index k = 0; k < parameters_.size(); ++k) out.push_back(message("user.parameter", k + 1));
  }
  bool stationary() const override { return false; }
  bool differentiable() const override { return false; }
  bool reentrant() const override { return false; }
  void value(ConstMatrixRef x, ConstMatrixRef z, Same, MatrixRef k) const override { k = call(x, z, parameters_); }
  void diagonal(ConstMatrixRef x, bool, VectorRef k) const override { k = diagonal_at(x, parameters_); }
  void backward(ConstMatrixRef x, ConstMatrixRef z, Same, ConstMatrixRef g, double* p, MatrixRef* dx,
                MatrixRef* dz) const override {
    if (dx || dz) refuse();
    differences(p, [&](const VectorXd& at) { return call(x, z, at).cwiseProduct(g).sum(); });
  }
  void backward_diagonal(ConstMatrixRef x, bool, ConstVectorRef g, double* p, MatrixRef* dx) const override {
    if (dx) refuse();
    differences(p, [&](const VectorXd& at) { return diagonal_at(x, at).dot(g); });
  }

 private:
  static void refuse() {
    throw InputError("this needs the derivative of the kernel in its inputs, which a user kernel does not have.");
  }
  MatrixXd call(ConstMatrixRef x, ConstMatrixRef z, const VectorXd& at) const {
    MatrixXd k = function_(x, z, at);
    if (k.rows() != x.rows() || k.cols() != z.rows())
      throw InputError(message("the user kernel must return a ", x.rows(), " x ", z.rows(),
                               " matrix for these points, but it is ", k.rows(), " x ", k.cols(), "."));
    if (!k.allFinite()) throw InputError("the user kernel returned a value that is missing or not finite.");
    return k;
  }
  VectorXd diagonal_at(ConstMatrixRef x, const VectorXd& at) const {
    VectorXd out(x.rows());
    for (Index i = 0; i < x.rows(); ++i) out[i] = call(x.row(i), x.row(i), at)(0, 0);
    return out;
  }
  template <class F>
  void differences(double* p, F&& total) const {
    constexpr double step = 1e-5;
    for (Index k = 0; k < parameters_.size(); ++k) {
      VectorXd up = parameters_, down = parameters_;
      up[k] *= std::exp(step);
      down[k] *= std::exp(-step);
      p[k] += (total(up) - total(down)) / (2 * step);
    }
  }

  KernelSpec::Function function_;
  VectorXd parameters_;
};

class Composite : public Part {
 public:
  Composite(const KernelSpec& spec, Index dimension) {
    if (spec.children.empty()) throw InputError(message("a ", spec.type, " of kernels needs at least one kernel."));
    for (const KernelSpec& child : spec.children) children_.push_back(make_part(child, dimension));
  }
  Composite(const Composite& other) : Part(other) {
    for (const auto& child : other.children_) children_.push_back(child->clone());
  }
  Index count() const override {
    Index sum = 0;
    for (const auto& child : children_) sum += child->count();
    return sum;
  }
  void get(double* p) const override {
    for (const auto& child : children_) {
      child->get(p);
      p += child->count();
    }
  }
  void set(const double* p) override {
    for (const auto& child : children_) {
      child->set(p);
      p += child->count();
    }
  }
  void names(std::vector<std::string>& out) const override {
    for (const auto& child : children_) child->names(out);
  }
  bool stationary() const override {
    return std::all_of(children_.begin(), children_.end(), [](const auto& child) { return child->stationary(); });
  }
  bool differentiable() const override {
    return std::all_of(children_.begin(), children_.end(), [](const auto& child) { return child->differentiable(); });
  }
  bool reentrant() const override {
    return std::all_of(children_.begin(), children_.end(), [](const auto& child) { return child->reentrant(); });
  }
  double operations() const override {
    double sum = 0;
    for (const auto& child : children_) sum += child->operations();
    return sum;
  }

 protected:
  std::vector<std::unique_ptr<Part>> children_;
};

class Sum : public Composite {
 public:
  using Composite::Composite;
  std::unique_ptr<Part> clone() const override { return std::make_unique<Sum>(*this); }
  void value(ConstMatrixRef x, ConstMatrixRef z, Same same, MatrixRef k) const override {
    children_[0]->value(x, z, same, k);
    MatrixXd term(k.rows(), k.cols());
    for (std::size_t c = 1; c < children_.size(); ++c) {
      children_[c]->value(x, z, same, term);
      k += term;
    }
  }
  void diagonal(ConstMatrixRef x, bool with_white, VectorRef k) const override {
    children_[0]->diagonal(x, with_white, k);
    VectorXd term(k.size());
    for (std::size_t c = 1; c < children_.size(); ++c) {
      children_[c]->diagonal(x, with_white, term);
      k += term;
    }
  }
  void backward(ConstMatrixRef x, ConstMatrixRef z, Same same, ConstMatrixRef g, double* p, MatrixRef* dx,
                MatrixRef* dz) const override {
    for (const auto& child : children_) {
      child->backward(x, z, same, g, p, dx, dz);
      p += child->count();
    }
  }
  void backward_diagonal(ConstMatrixRef x, bool with_white, ConstVectorRef g, double* p, MatrixRef* dx) const override {
    for (const auto& child : children_) {
      child->backward_diagonal(x, with_white, g, p, dx);
      p += child->count();
    }
  }
};

class Product : public Composite {
 public:
  using Composite::Composite;
  std::unique_ptr<Part> clone() const override { return std::make_unique<Product>(*this); }
  void value(ConstMatrixRef x, ConstMatrixRef z, Same same, MatrixRef k) const override {
    children_[0]->value(x, z, same, k);
    MatrixXd factor(k.rows(), k.cols());
    for (std::size_t c = 1; c < children_.size(); ++c) {
      children_[c]->value(x, z, same, factor);
      k.array() *= factor.array();
    }
  }
  void diagonal(ConstMatrixRef x, bool with_white, VectorRef k) const override {
    children_[0]->diagonal(x, with_white, k);
    VectorXd factor(k.size());
    for (std::size_t c = 1; c < children_.size(); ++c) {
      children_[c]->diagonal(x, with_white, factor);
      k.array() *= factor.array();
    }
  }
  void backward(ConstMatrixRef x, ConstMatrixRef z, Same same, ConstMatrixRef g, double* p, MatrixRef* dx,
                MatrixRef* dz) const override {
    // after[c] = g times the factors behind c; with the running product of those before it, every factor is computed once.
    const std::size_t count = children_.size();
    std::vector<MatrixXd> values(count), after(count);
    for (std::size_t c = 0; c < count; ++c) {
      values[c].resize(g.rows(), g.cols());
      children_[c]->value(x, z, same, values[c]);
    }
    after[count - 1] = g;
    for (std::size_t c = count - 1; c > 0; --c) after[c - 1] = after[c].cwiseProduct(values[c]);
    MatrixXd before;
    for (std::size_t c = 0; c < count; ++c) {
      if (c == 1) before = values[0];
      if (c > 1) before.array() *= values[c - 1].array();
      if (c > 0) after[c].array() *= before.array();
      children_[c]->backward(x, z, same, after[c], p, dx, dz);
      p += children_[c]->count();
    }
  }
  void backward_diagonal(ConstMatrixRef x, bool with_white, ConstVectorRef g, double* p, MatrixRef* dx) const override {
    VectorXd factor(g.size());
    for (std::size_t c = 0; c < children_.size(); ++c) {
      VectorXd rest = g;
      for (std::size_t other = 0; other < children_.size(); ++other) {
        if (other == c) continue;
        children_[other]->diagonal(x, with_white, factor);
        rest.array() *= factor.array();
      }
      children_[c]->backward_diagonal(x, with_white, rest, p, dx);
      p += children_[c]->count();
    }
  }
};

}  // namespace

std::unique_ptr<Part> make_part(const KernelSpec& spec, Index dimension) {
  const std::string& type = spec.type;
  if (spec.objects) return make_object(spec, dimension);
  if (type == "sum") return std::make_unique<Sum>(spec, dimension);
  if (type == "product") return std::make_unique<Product>(spec, dimension);
  if (type == "se" || type == "matern" || type == "rq") return make_radial(spec, dimension);
  if (type == "powexp" || type == "periodic" || type == "hamming") return make_separable(spec, dimension);
  if (type == "linear" || type == "polynomial" || type == "sigmoid" || type == "mlp") return make_inner(spec, dimension);
  if (type == "boolean") return make_boolean(spec, dimension);
  if (type == "bias") return std::make_unique<Constant>(spec, false);
  if (type == "white") return std::make_unique<Constant>(spec, true);
  if (type == "user") return std::make_unique<User>(spec);
  throw InputError(message("there is no kernel called \"", type, "\"."));
}

}  // namespace kernel_detail

using kernel_detail::Same;

namespace {
constexpr Index panel = 64;  // columns worked on at a time: temporaries stay in cache
}

Kernel::Kernel(const KernelSpec& spec, Index dimension) : dimension_(dimension) {
  if (dimension < 1) throw InputError("the inputs of a kernel must have at least one column.");
  root_ = kernel_detail::make_part(spec, dimension);
}
Kernel::Kernel(const Kernel& other) : dimension_(other.dimension_), root_(other.root_->clone()) {}
Kernel& Kernel::operator=(const Kernel& other) {
  dimension_ = other.dimension_;
  root_ = other.root_->clone();
  return *this;
}
Kernel::Kernel(Kernel&&) noexcept = default;
Kernel& Kernel::operator=(Kernel&&) noexcept = default;
Kernel::~Kernel() = default;

Index Kernel::n_parameters() const { return root_->count(); }

VectorXd Kernel::parameters() const {
  VectorXd out(n_parameters());
  root_->get(out.data());
  return out;
}

void Kernel::set_parameters(ConstVectorRef log_parameters) {
  if (log_parameters.size() != n_parameters())
    throw InputError(message("the kernel has ", n_parameters(), " free parameters, not ", log_parameters.size(), "."));
  root_->set(log_parameters.data());
}

std::vector<std::string> Kernel::parameter_names() const {
  std::vector<std::string> names;
  root_->names(names);
  std::map<std::string, int> seen, total;
  for (const std::string& name : names) ++total[name];
  for (std::string& name : names) {
    if (total[name] == 1) continue;
    const int which = ++seen[name];
    name += message(".", which);
  }
  return names;
}

bool Kernel::stationary() const { return root_->stationary(); }
bool Kernel::differentiable_in_inputs() const { return root_->differentiable(); }
bool Kernel::reentrant() const { return root_->reentrant(); }

void Kernel::require_columns(Index cols) const {
  if (cols != dimension_) throw InputError(message("the kernel is for inputs with ", dimension_, " columns, not ", cols, "."));
}

MatrixXd Kernel::matrix(ConstMatrixRef x) const {
  require_columns(x.cols());
  const Index n = x.rows();
  MatrixXd k(n, n);
  for (Index j = 0; j < n; j += panel) {
    const Index width = std::min(panel, n - j);
    root_->value(x.bottomRows(n - j), x.middleRows(j, width), Same{0}, k.block(j, j, n - j, width));
    k.block(j, j, width, width).triangularView<Eigen::StrictlyUpper>() = k.block(j, j, width, width).transpose();
    if (j + width < n) k.block(j, j + width, width, n - j - width) = k.block(j + width, j, n - j - width, width).transpose();
  }
  return k;
}

void Kernel::cross(ConstMatrixRef x, ConstMatrixRef z, MatrixRef k) const {
  require_columns(x.cols());
  require_columns(z.cols());
  for (Index j = 0; j < z.rows(); j += panel) {
    const Index width = std::min(panel, z.rows() - j);
    root_->value(x, z.middleRows(j, width), Same{}, k.middleCols(j, width));
  }
}

MatrixXd Kernel::cross(ConstMatrixRef x, ConstMatrixRef z) const {
  MatrixXd k(x.rows(), z.rows());
  cross(x, z, k);
  return k;
}

VectorXd Kernel::diagonal(ConstMatrixRef x, bool with_white) const {
  require_columns(x.cols());
  VectorXd k(x.rows());
  root_->diagonal(x, with_white, k);
  return k;
}

void Kernel::add_gradient(ConstMatrixRef x, ConstMatrixRef g, VectorRef parameters, MatrixXd* dx) const {
  require_columns(x.cols());
  const Index n = x.rows();
  MatrixXd weight;
  for (Index j = 0; j < n; j += panel) {  // entries below the diagonal stand for two
    const Index width = std::min(panel, n - j), rest = n - j - width;
    weight = g.block(j, j, n - j, width);
    weight.topRows(width).triangularView<Eigen::StrictlyUpper>().setZero();
    weight.topRows(width).triangularView<Eigen::StrictlyLower>() *= 2;
    weight.bottomRows(rest) *= 2;
    if (!dx) {
      root_->backward(x.bottomRows(n - j), x.middleRows(j, width), Same{0}, weight, parameters.data(), nullptr, nullptr);
      continue;
    }
    MatrixRef rows = dx->bottomRows(n - j), columns = dx->middleRows(j, width);
    root_->backward(x.bottomRows(n - j), x.middleRows(j, width), Same{0}, weight, parameters.data(), &rows, &columns);
  }
}

void Kernel::add_cross_gradient(ConstMatrixRef x, ConstMatrixRef z, ConstMatrixRef g, VectorRef parameters, MatrixXd* dx,
                                MatrixXd* dz) const {
  require_columns(x.cols());
  require_columns(z.cols());
  for (Index j = 0; j < z.rows(); j += panel) {
    const Index width = std::min(panel, z.rows() - j);
    MatrixXd none(0, 0);
    MatrixRef rows = dx ? MatrixRef(*dx) : MatrixRef(none);
    MatrixRef columns = dz ? MatrixRef(dz->middleRows(j, width)) : MatrixRef(none);
    root_->backward(x, z.middleRows(j, width), Same{}, g.middleCols(j, width), parameters.data(), dx ? &rows : nullptr,
                    dz ? &columns : nullptr);
  }
}

void Kernel::add_diagonal_gradient(ConstMatrixRef x, ConstVectorRef g, VectorRef parameters, MatrixXd* dx,
                                   bool with_white) const {
  require_columns(x.cols());
  if (!dx) {
    root_->backward_diagonal(x, with_white, g, parameters.data(), nullptr);
    return;
  }
  MatrixRef rows = *dx;
  root_->backward_diagonal(x, with_white, g, parameters.data(), &rows);
}

}  // namespace granary
