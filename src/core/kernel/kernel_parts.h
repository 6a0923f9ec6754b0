// The parts of a kernel. Internal to kernel*.cpp.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/kernel/kernel.h"

namespace granary::kernel_detail {

// Where the two sets coincide: row `i` of z is row `i + offset` of x; none when offset is negative.
struct Same {
  Index offset = -1;
  bool any() const { return offset >= 0; }
};

// How some parts see their points: through x'z, x'x and z'z of these columns times these weights. Where only differences of
// points matter the columns may be centred first, which keeps digits.
struct InnerView {
  std::vector<Index> columns;  // empty: all
  VectorXd weights;            // one, or one per column
  bool differences = false;
};

class Part {
 public:
  virtual ~Part() = default;
  virtual std::unique_ptr<Part> clone() const = 0;

  virtual Index count() const = 0;  // of free parameters
  virtual void get(double* log_parameters) const = 0;
  virtual void set(const double* log_parameters) = 0;
  virtual void names(std::vector<std::string>& out) const = 0;  // without numbers
  virtual bool stationary() const { return true; }
  virtual bool differentiable() const { return true; }
  virtual bool reentrant() const { return true; }  // values on several threads at once
  virtual double operations() const { return 20; }  // of one value, about

  virtual void value(ConstMatrixRef x, ConstMatrixRef z, Same same, MatrixRef k) const = 0;
  virtual void diagonal(ConstMatrixRef x, bool with_white, VectorRef k) const = 0;
  // Adds sum_ij g_ij dk_ij; dx and dz are null where not wanted.
  virtual void backward(ConstMatrixRef x, ConstMatrixRef z, Same same, ConstMatrixRef g, double* parameters, MatrixRef* dx,
                        MatrixRef* dz) const = 0;
  virtual void backward_diagonal(ConstMatrixRef x, bool with_white, ConstVectorRef g, double* parameters,
                                 MatrixRef* dx) const = 0;

  virtual bool inner_view(InnerView*) const { return false; }
  // For parts with such a view: k holds x'z for several x and one z, and becomes the kernel; xx and zz are squared lengths.
  virtual void from_inner(ConstVectorRef /* xx */, double /* zz */, VectorRef /* k */) const {}
};

// The columns a part looks at, copied only when they are not all.
class Columns {
 public:
  Columns(const std::vector<Index>& chosen, Index dimension, const std::string& type);
  Index size() const { return size_; }
  const std::vector<Index>& chosen() const { return chosen_; }
  MatrixXd take(ConstMatrixRef x) const;
  void add_back(const MatrixXd& gradient, MatrixRef& dx) const;

 private:
  std::vector<Index> chosen_;  // empty: all
  Index size_;
};

std::unique_ptr<Part> make_part(const KernelSpec& spec, Index dimension);
std::unique_ptr<Part> make_radial(const KernelSpec& spec, Index dimension);     // se, matern, rq
std::unique_ptr<Part> make_separable(const KernelSpec& spec, Index dimension);  // powexp, periodic, hamming
std::unique_ptr<Part> make_boolean(const KernelSpec& spec, Index dimension);    // conjunctions of 0/1 attributes
std::unique_ptr<Part> make_inner(const KernelSpec& spec, Index dimension);      // linear, polynomial, sigmoid, mlp

std::unique_ptr<Part> make_object(const KernelSpec& spec, Index dimension);     // a set of objects (object_kernel.cpp)

// Checks and unfolds the scales of a part: one for each of `columns`, or one for all of them.
VectorXd check_scales(const KernelSpec& spec, Index columns, const char* what);
void require_positive(double value, const std::string& type, const char* what);

}  // namespace granary::kernel_detail
