// One language for kernels: covariance functions k(x, z) as sums and products of parts, with gradients in parameters and inputs.
//
// Points are rows. With r^2 = sum_k (x_k - z_k)^2 / l_k^2 over the columns a part looks at:
//
//   se           v exp(-r^2 / 2)                                 rq      v (1 + r^2 / (2 a))^-a
//   matern       v 2^(1-n)/Gamma(n) q^n K_n(q), q = sqrt(2 n) r  powexp  v exp(-sum_k |x_k - z_k|^a / l_k^a), 0 < a <= 2
//   hamming      v exp(-sum_k [x_k != z_k] / l_k)                linear  sum_k v_k x_k z_k
//   periodic     v exp(-2 sum_k sin^2(pi (x_k - z_k) / a) / l_k^2), a the period
//   polynomial   v (g x'z + c)^m                                 sigmoid v tanh(g x'z + c), not positive definite in general
//   mlp          v asin((w x'z + b) / sqrt((w x'x + b + 1)(w z'z + b + 1)))
//   bias         v                                               white   v if x and z are the same row of the same set, else 0
//   boolean      of 0/1 attributes: how many conjunctions both points satisfy, see kernel_boolean.h
//   user         any function of two sets of points
//   and kernels over objects that stand in a container of their own, see object_kernel.h
//
// (Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, chapter 4; Williams 1998 for mlp.) Free parameters are
// positive and handled as logarithms; the power of powexp, nu of matern, degree and offset c of polynomial and sigmoid are
// constants.
//
// Gradients run backwards: given G = dL/dK the methods add dL/d(log parameters) and dL/dx, never forming a derivative of K by
// itself. The cost of a gradient is that of a few matrices K. Everything works on panels of columns.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/monitor.h"
#include "core/base/types.h"
#include "core/kernel/kernel_boolean.h"

namespace granary {

class ObjectSet;  // core/kernel/object_kernel.h

// What a kernel is made of, as data: the form in which it crosses from R and can be stored.
struct KernelSpec {
  // K for rows of x against rows of z under the parameters (on their natural scale).
  using Function = std::function<MatrixXd(const MatrixXd& x, const MatrixXd& z, const VectorXd& parameters)>;

  std::string type;            // one of the names above, "sum" or "product"
  double variance = 1;         // v
  VectorXd scales;             // l_k, v_k of linear; length one: the same for all columns. mlp: w, b. polynomial, sigmoid: g
  double shape = 0;            // a of rq, powexp and periodic, nu of matern, degree of polynomial
  double offset = 0;           // c of polynomial and sigmoid
  std::vector<Index> columns;  // that the part looks at; empty: all
  bool learn_variance = true, learn_scales = true, learn_shape = true;
  VectorXd user_parameters;  // positive
  Function function;
  BooleanSpec boolean;  // of type "boolean"
  std::shared_ptr<const ObjectSet> objects;  // of a kernel over objects, whatever its type
  std::vector<KernelSpec> children;
};

namespace kernel_detail {
class Part;
}

class Kernel {
 public:
  Kernel(const KernelSpec& spec, Index dimension);  // InputError where the spec and the number of columns do not fit
  Kernel(const Kernel& other);
  Kernel& operator=(const Kernel& other);
  Kernel(Kernel&&) noexcept;
  Kernel& operator=(Kernel&&) noexcept;
  ~Kernel();

  Index dimension() const { return dimension_; }
  Index n_parameters() const;
  VectorXd parameters() const;  // logarithms of the free ones: for each part variance, scales, shape
  void set_parameters(ConstVectorRef log_parameters);
  std::vector<std::string> parameter_names() const;  // such as "se.lengthscale2"; numbered parts where a type occurs twice
  bool stationary() const;                           // k(x, z) depends on x - z
  bool differentiable_in_inputs() const;             // false with a user function or hamming
  bool reentrant() const;                            // on several threads at once: false with a user function

  MatrixXd matrix(ConstMatrixRef x) const;                   // of one set with itself: white on the diagonal
  MatrixXd cross(ConstMatrixRef x, ConstMatrixRef z) const;  // of two sets: white is zero
  void cross(ConstMatrixRef x, ConstMatrixRef z, MatrixRef k) const;
  VectorXd diagonal(ConstMatrixRef x, bool with_white = true) const;
  // The same in blocks on several threads, where the kernel allows it. The values do not depend on their number.
  MatrixXd matrix(ConstMatrixRef x, int threads, Monitor& monitor) const;
  MatrixXd cross(ConstMatrixRef x, ConstMatrixRef z, int threads, Monitor& monitor) const;

  // For L(K), K = matrix(x) and G = dL/dK symmetric: adds to `parameters` and, where given, to `dx` (as large as x).
  void add_gradient(ConstMatrixRef x, ConstMatrixRef g, VectorRef parameters, MatrixXd* dx = nullptr) const;
  // The same for cross(x, z), G of its size. Either of dx and dz may be null.
  void add_cross_gradient(ConstMatrixRef x, ConstMatrixRef z, ConstMatrixRef g, VectorRef parameters, MatrixXd* dx = nullptr,
                          MatrixXd* dz = nullptr) const;
  // The same for diagonal(x), g a vector.
  void add_diagonal_gradient(ConstMatrixRef x, ConstVectorRef g, VectorRef parameters, MatrixXd* dx = nullptr,
                             bool with_white = true) const;

 private:
  void require_columns(Index cols) const;

  Index dimension_;
  std::unique_ptr<kernel_detail::Part> root_;
};

}  // namespace granary
