// The members of a regression ensemble: small functions of x with weights, their values and their gradients.
//
//   mlp        b + sum_h v_h / (1 + exp(-(a_h + u_h'x)))                     one hidden layer of sigmoids
//   rbf        b + sum_h v_h exp(-||x - c_h||^2 / (2 s_h^2))                 centres and log widths are trained with the weights
//   features   b + sum_h v_h phi_h(x)                                        phi drawn once: fourier sqrt(2/H) cos(w_h'x + a_h),
//                                                                            rbf, or columns of x
//
// x stands with one row of data per column. The weights of a member are one vector: mlp U (H x p), a, v, b; rbf c (p x H), log s,
// v, b; features v, b.
#pragma once

#include "core/base/fields.h"
#include "core/base/types.h"
#include "core/random/rng.h"

namespace granary::ensemble {

enum class MemberKind { mlp, rbf, features };
inline Names<MemberKind> names(MemberKind) {
  return {{MemberKind::mlp, "mlp"}, {MemberKind::rbf, "rbf"}, {MemberKind::features, "features"}};
}

enum class MemberBasis { fourier, rbf, columns };
inline Names<MemberBasis> names(MemberBasis) {
  return {{MemberBasis::fourier, "fourier"}, {MemberBasis::rbf, "rbf"}, {MemberBasis::columns, "columns"}};
}

struct MemberShape {
  MemberKind kind = MemberKind::mlp;
  MemberBasis basis = MemberBasis::fourier;
  Index inputs = 0, units = 0;

  Index weights() const;     // numbers trained
  Index fixed() const;       // numbers drawn once
  VectorXd decayed() const;  // 1 for weights that a ridge holds, 0 for constants, centres and widths
};

// Draws what is fixed, and where training starts: weights U(-0.5, 0.5), centres at rows of the data, widths about `width` times
// the median distance of two rows.
void start_member(const MemberShape& shape, const MatrixXd& x, double width, Rng& rng, VectorRef weights, VectorRef fixed);

// What a forward pass keeps for the backward one.
struct MemberPass {
  MatrixXd hidden;    // units x rows
  MatrixXd distance;  // rbf: squared distances
  VectorXd values;
};

// Members with fixed features compute `hidden` once: it is kept where it has the size of x already.
void member_values(const MemberShape& shape, const MatrixXd& x, ConstVectorRef weights, ConstVectorRef fixed, MemberPass& pass);
// d/dweights of sum_n g_n f(x_n).
void member_gradient(const MemberShape& shape, const MatrixXd& x, ConstVectorRef weights, const MemberPass& pass,
                     const VectorXd& g, VectorRef gradient);

// Values of the fixed features, units x rows.
MatrixXd member_features(const MemberShape& shape, const MatrixXd& x, ConstVectorRef fixed);

// One row at a time, for stochastic gradients: value, then w <- w - rate * g * df/dw.
class RowMember {
 public:
  explicit RowMember(const MemberShape& shape)
      : shape_(shape), hidden_(shape.units), back_(shape.units), distance_(shape.units) {}
  double value(const double* x, const double* features, const double* weights);
  void step(const double* x, double amount, double* weights);

 private:
  MemberShape shape_;
  VectorXd hidden_, back_, distance_;
};

}  // namespace granary::ensemble
