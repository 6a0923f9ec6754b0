// The space that w lives in: w = sum_r b_r d_r for sparse d_r, seen through the scores it gives.
//
// With an inner product <a, d> = a'M d on coordinates, v = M w holds all a search needs: <w, d> = v'd.
//   LinearSpace   M = I, v = w.
//   KernelSpace   coordinates are (token j, class c), the class running fastest, then `rest` further features of their own:
//                 M = blockdiag(K (x) L, I): the joint kernel J((x,y),(x',y')) = L(y,y') K(x,x') (section 4.2), and for label
//                 sequences equation (14). Adding one d costs O(N) per nonzero.
#pragma once

#include "kernel/structured_output.h"

namespace granary::kernel {

class Space {
 public:
  virtual ~Space() = default;
  virtual void add(double step, const SparseVector& d) = 0;  // w += step d
  virtual double inner(const SparseVector& a, const SparseVector& b) const = 0;
  virtual double norm2() const = 0;             // <w, w>
  virtual const VectorXd& weights() const = 0;  // w in coordinates
  const VectorXd& view() const { return view_; }

 protected:
  VectorXd view_;  // v
};

class LinearSpace : public Space {
 public:
  explicit LinearSpace(Index features) { view_ = VectorXd::Zero(features); }
  void add(double step, const SparseVector& d) override;
  double inner(const SparseVector& a, const SparseVector& b) const override { return dot(a, b); }
  double norm2() const override { return view_.squaredNorm(); }
  const VectorXd& weights() const override { return view_; }
};

class KernelSpace : public Space {
 public:
  KernelSpace(ConstMatrixRef gram, ConstMatrixRef class_kernel, Index rest = 0);
  void add(double step, const SparseVector& d) override;
  double inner(const SparseVector& a, const SparseVector& b) const override;
  double norm2() const override { return w_.dot(view_); }
  const VectorXd& weights() const override { return w_; }

 private:
  ConstMatrixRef gram_, class_kernel_;
  Index tokens_, classes_;
  VectorXd w_;
};

}  // namespace granary::kernel
