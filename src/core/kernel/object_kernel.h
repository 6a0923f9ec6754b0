// Kernels over objects: texts, lists of tokens, bags of vectors, or whatever else can be held in a container.
//
// Methods work on matrices of numbers. A kernel over objects therefore keeps the objects itself, prepared once, and the matrix
// has a column with their places in the container: k(x_i, x_j) looks up the objects at places x(i, c) and x(j, c). So every
// method that takes a kernel takes objects too, new rows are objects appended to the container, and sums and products with
// kernels over other columns mean what they say.
//
// To add a kernel derive from ObjectKernel, and name it to the door (ObjectKernelReader in r_core_kernel.h).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary {

class ObjectKernel {
 public:
  virtual ~ObjectKernel() = default;

  virtual Index size() const = 0;  // objects held

  // out(i, j) = k(object rows[i], object columns[j]), not normalised. On several threads at once, so nothing may be changed;
  // where one value can take a tenth of a second it calls monitor.check() on the way.
  virtual void block(const std::vector<Index>& rows, const std::vector<Index>& columns, MatrixRef out,
                     Monitor& monitor) const = 0;

  // k(x, x) of these objects, not normalised.
  virtual void diagonal(const std::vector<Index>& which, VectorRef out, Monitor& monitor) const;

  virtual bool reentrant() const { return true; }  // false: `block` runs on one thread only

  // About how many floating-point operations one value takes: decides how many values make one task of a thread.
  virtual double operations() const { return 1e4; }
};

// Values that are known before a method asks for them: of all pairs of some rows and some columns.
struct KnownObjectValues {
  VectorXd diagonal;  // k(x, x) for all objects held, not normalised; empty: not known
  std::vector<Index> rows, columns;
  MatrixView values{nullptr, 0, 0};  // rows.size() x columns.size(), normalised where the set is
};

// The objects of one kernel with their lengths: what a KernelSpec holds. With `normalised`, k(x, z) / sqrt(k(x, x) k(z, z)), and
// zero where one of the objects has no length (an empty text).
class ObjectSet {
 public:
  ObjectSet(std::shared_ptr<const ObjectKernel> kernel, bool normalised, const KnownObjectValues& known);

  Index size() const { return kernel_ ? kernel_->size() : 0; }
  const ObjectKernel& kernel() const { return *kernel_; }
  void block(const std::vector<Index>& rows, const std::vector<Index>& columns, MatrixRef out, Monitor& monitor) const;
  void diagonal(const std::vector<Index>& which, VectorRef out, Monitor& monitor) const;

 private:
  bool known(const std::vector<Index>& rows, const std::vector<Index>& columns) const;

  std::shared_ptr<const ObjectKernel> kernel_;
  bool normalised_;
  VectorXd diagonal_, per_length_;         // k(x, x) where known; 1 / sqrt(k(x, x)), 0 for objects without length
  std::vector<Index> row_at_, column_at_;  // places in the table of known values, -1 where an object is not there
  MatrixView values_{nullptr, 0, 0};
};

// The same blocks on several threads, in tasks of about ten milliseconds.
MatrixXd object_block(const ObjectSet& objects, const std::vector<Index>& rows, const std::vector<Index>& columns, int threads,
                      Monitor& monitor);
// Of a set with itself: each pair once.
MatrixXd object_matrix(const ObjectSet& objects, const std::vector<Index>& which, int threads, Monitor& monitor);
VectorXd object_diagonal(const ObjectKernel& kernel, int threads, Monitor& monitor);  // not normalised

}  // namespace granary
