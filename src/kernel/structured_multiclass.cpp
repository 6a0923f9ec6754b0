#include "kernel/structured_multiclass.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/linalg/dense.h"

#include <utility>

namespace granary::kernel {

MulticlassOutput::MulticlassOutput(InputFeatures inputs, std::vector<int> classes, MatrixXd class_features, MatrixXd loss,
                                   VectorXd norms)
    : inputs_(std::move(inputs)), lambda_(std::move(class_features)), loss_(std::move(loss)), norms_(std::move(norms)) {
  for (int y : classes) truth_.push_back({y});
  plain_ = lambda_.rows() == lambda_.cols() && lambda_.isIdentity(0);
}

void MulticlassOutput::add_psi(Index i, const Label& y, double factor, SparseBuilder& psi) const {
  const VectorXd weights = factor * lambda_.row(y[0]).transpose();
  add_products(i, weights, psi);
}

// In one pass, so that the terms come in order.
SparseVector MulticlassOutput::difference(Index i, const Label& y) const {
  SparseBuilder psi;
  const VectorXd weights = (lambda_.row(truth(i)[0]) - lambda_.row(y[0])).transpose();
  add_products(i, weights, psi);
  return psi.finish();
}

void MulticlassOutput::add_products(Index i, const VectorXd& weights, SparseBuilder& psi) const {
  std::vector<Index> used;
  for (Index r = 0; r < weights.size(); ++r) {
    if (weights[r] != 0) used.push_back(r);
  }
  inputs_.for_each(i, [&](Index d, double value) {
    for (Index r : used) psi.add(r + d * weights.size(), weights[r] * value);
  });
}

VectorXd MulticlassOutput::scores(Index i, const VectorXd& v) const {
  VectorXd by_feature = inputs_.scores(i, v.data(), lambda_.cols());
  if (plain_) return by_feature;
  return lambda_ * by_feature;
}

Label MulticlassOutput::predict(Index i, const VectorXd& v) const {
  const VectorXd s = scores(i, v);
  int best = 0;
  for (int c = 1; c < s.size(); ++c) {
    if (s[c] > s[best]) best = c;
  }
  return {best};
}

Label MulticlassOutput::most_violated_of(Index i, const VectorXd& s, const Search& search) const {
  const int right = truth(i)[0];
  BestViolation best(search, s[right]);
  for (int c = 0; c < s.size(); ++c) {
    if (c != right) best.offer(s[c], loss_(right, c), c);
  }
  if (best.id() < 0) return {};
  return {best.id()};
}

// Proposition 24, 2 ||phi||^2 max_y ||Lambda(y)||^2, needs <Lambda(y), Lambda(y')> >= 0; all pairs of classes can be looked at,
// which holds always and is never larger.
double MulticlassOutput::radius_bound(Index i) const {
  double most = 0;
  for (Index a = 0; a < lambda_.rows(); ++a) {
    for (Index b = 0; b < a; ++b) most = std::max(most, (lambda_.row(a) - lambda_.row(b)).squaredNorm());
  }
  const double norm2 = norms_.size() > 0 ? norms_[i] : inputs_.squared_norm(i);
  return std::sqrt(norm2 * most);
}

MatrixXd class_features_of(ConstMatrixRef similarity) {
  const SymmetricEigen parts(similarity);
  const VectorXd& values = parts.eigenvalues();
  const Index k = values.size();
  if (values[0] < -1e-8 * values.cwiseAbs().maxCoeff())
    throw InputError(message("`class_kernel` must be positive semi-definite, but it has the eigenvalue ", values[0], "."));
  MatrixXd out(k, k);  // the largest first
  for (Index j = 0; j < k; ++j) out.col(j) = std::sqrt(std::max(values[k - 1 - j], 0.0)) * parts.eigenvectors().col(k - 1 - j);
  return out;
}

}  // namespace granary::kernel
