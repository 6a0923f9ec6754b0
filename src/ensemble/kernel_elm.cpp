#include "ensemble/kernel_elm.h"

#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "core/linalg/dense.h"

namespace granary::ensemble {

namespace {

MatrixXd gaussian(ConstMatrixRef x, ConstMatrixRef z, double gamma) {
  MatrixXd k = -2 * x * z.transpose();
  k.colwise() += x.rowwise().squaredNorm();
  k.rowwise() += z.rowwise().squaredNorm().transpose();
  return (-gamma * k.array().max(0.0)).exp();
}

void check_data(ConstMatrixRef x, const VectorXi& label, int classes) {
  if (label.size() != x.rows())
    throw InputError(message("there must be one label per row, ", x.rows(), ", not ", label.size(), "."));
  if (x.rows() < 1) throw InputError("there must be at least one row.");
  if (label.minCoeff() < 0 || label.maxCoeff() >= classes) throw InputError("a label is outside of the classes.");
}

// Ridge regression of targets on a basis with B'B = diag(d) or its square root: all that leave-one-out needs.
struct Basis {
  MatrixXd u;        // orthonormal columns
  VectorXd d;        // squared lengths
  MatrixXd targets;  // u'T
};

// t_i less its leave-one-out residual (t_i - f_i)/(1 - h_i), both parts from what the penalty leaves over: I - H = (I - UU') + U
// s U', s = ridge/(d + ridge).
MatrixXd loo_values(const Basis& b, const MatrixXd& t, double ridge) {
  const VectorXd left = ridge / (b.d.array() + ridge);
  MatrixXd out = b.u * (left.asDiagonal() * b.targets);
  VectorXd rest = b.u.array().square().matrix() * left;
  if (b.u.cols() < b.u.rows()) {
    out += t - b.u * b.targets;
    rest += (1 - b.u.rowwise().squaredNorm().array()).max(0.0).matrix();
  }
  for (Index i = 0; i < t.rows(); ++i) out.row(i) = t.row(i) - out.row(i) / std::max(rest[i], 1e-300);
  return out;
}

Basis basis_of(const MatrixXd& features, const MatrixXd& t) {  // features F, K = F F'
  const SymmetricEigen eigen(features.transpose() * features);
  const double top = eigen.eigenvalues().maxCoeff();
  Index first = 0;
  while (first < eigen.eigenvalues().size() - 1 && eigen.eigenvalues()[first] < 1e-13 * top) ++first;
  const Index rank = eigen.eigenvalues().size() - first;
  Basis b;
  b.d = eigen.eigenvalues().tail(rank);
  b.u = features * eigen.eigenvectors().rightCols(rank) * b.d.array().rsqrt().matrix().asDiagonal();
  b.targets = b.u.transpose() * t;
  return b;
}

Basis basis_of_kernel(const MatrixXd& k, const MatrixXd& t) {
  const SymmetricEigen eigen(k);
  Basis b;
  b.d = eigen.eigenvalues().cwiseMax(0);
  b.u = eigen.eigenvectors();
  b.targets = b.u.transpose() * t;
  return b;
}

}  // namespace

MatrixXd class_targets(const VectorXi& label, int classes) {
  MatrixXd t = MatrixXd::Constant(label.size(), classes, -1);
  for (Index i = 0; i < label.size(); ++i) t(i, label[i]) = 1;
  return t;
}

double wrong_share(const MatrixXd& values, const VectorXi& label) {
  Index wrong = 0;
  for (Index i = 0; i < label.size(); ++i) {
    Index best = 0;
    if (values.row(i).array().isNaN().any()) {
      ++wrong;  // cannot be known
      continue;
    }
    values.row(i).maxCoeff(&best);
    wrong += best != label[i];
  }
  return static_cast<double>(wrong) / static_cast<double>(label.size());
}

KernelElm kernel_elm(ConstMatrixRef x, const VectorXi& label, const KernelElmOptions& o, Rng& rng, Monitor& monitor) {
  check_data(x, label, o.classes);
  require(o.cost.size() > 0 && o.cost.minCoeff() > 0, "`cost` must be above 0.");
  require(o.gamma.size() > 0 && o.gamma.minCoeff() > 0, "`gamma` must be above 0.");
  const Index n = x.rows();
  const bool nystrom = n > o.dense;
  KernelElm out;
  if (nystrom) {
    const int m = std::min<int>(o.landmarks, static_cast<int>(n));
    out.centers.resize(m, x.cols());
    Index at = 0;
    for (const int i : rng.sample_without_replacement(static_cast<int>(n), m)) out.centers.row(at++) = x.row(i);
  } else {
    out.centers = x;
  }
  const MatrixXd t = class_targets(label, o.classes);
  // With landmarks the features are K_nm L^-T, K_mm = L L'.
  const auto features = [&](double gamma, MatrixXd& factor) {
    MatrixXd kmm = gaussian(out.centers, out.centers, gamma);
    kmm.diagonal().array() += 1e-8;
    const Llt llt(kmm);
    if (llt.info() != Eigen::Success) throw NumericalError("the kernel matrix of the landmarks is not positive definite.");
    factor = llt.matrixL();
    MatrixXd f = gaussian(x, out.centers, gamma).transpose();
    factor.triangularView<Eigen::Lower>().solveInPlace(f);
    return MatrixXd(f.transpose());
  };
  out.table.error.resize(o.cost.size(), o.gamma.size());
  out.table.square.resize(o.cost.size(), o.gamma.size());
  parallel_for(o.gamma.size(), o.threads, monitor, [&](Index g) {
    monitor.check();
    MatrixXd factor;
    const Basis b = nystrom ? basis_of(features(o.gamma[g], factor), t) : basis_of_kernel(gaussian(x, x, o.gamma[g]), t);
    for (Index c = 0; c < o.cost.size(); ++c) {
      monitor.check();
      const MatrixXd loo = loo_values(b, t, 1 / o.cost[c]);
      out.table.error(c, g) = wrong_share(loo, label);
      out.table.square(c, g) = (t - loo).squaredNorm() / static_cast<double>(t.size());
    }
  });
  Index best_c = 0, best_g = 0;
  for (Index g = 0; g < o.gamma.size(); ++g)
    for (Index c = 0; c < o.cost.size(); ++c) {
      const double e = out.table.error(c, g), lead = out.table.error(best_c, best_g);
      if (e < lead || (e == lead && out.table.square(c, g) < out.table.square(best_c, best_g))) {
        best_c = c;
        best_g = g;
      }
    }
  out.cost = o.cost[best_c];
  out.gamma = o.gamma[best_g];
  if (nystrom) {
    MatrixXd factor;
    const MatrixXd f = features(out.gamma, factor);
    MatrixXd gram = f.transpose() * f;
    out.loo = loo_values(basis_of(f, t), t, 1 / out.cost);
    gram.diagonal().array() += 1 / out.cost;
    MatrixXd beta = Llt(gram).solve(MatrixXd(f.transpose() * t));
    factor.transpose().triangularView<Eigen::Upper>().solveInPlace(beta);
    out.beta = beta;
  } else {
    MatrixXd k = gaussian(x, x, out.gamma);
    out.loo = loo_values(basis_of_kernel(k, t), t, 1 / out.cost);
    k.diagonal().array() += 1 / out.cost;
    const Llt llt(k);
    if (llt.info() != Eigen::Success)
      throw NumericalError("I/C + K is not positive definite in double precision: use smaller `cost`.");
    out.beta = llt.solve(t);
  }
  return out;
}

MatrixXd kernel_elm_values(ConstMatrixRef x, ConstMatrixRef centers, ConstMatrixRef beta, double gamma) {
  if (x.cols() != centers.cols())
    throw InputError(message("new rows must have ", centers.cols(), " columns, not ", x.cols(), "."));
  if (beta.rows() != centers.rows()) throw InputError("the coefficients and the centers do not fit.");
  return gaussian(x, centers, gamma) * beta;
}

// ---- random units
// ---------------------------------------------------------------------------------------------------------------

namespace {

double activate(double u, Activation kind) {
  switch (kind) {
    case Activation::sine: return std::sin(u);
    case Activation::sign: return u > 0 ? 1 : u < 0 ? -1 : 0;
    case Activation::sigmoid: return 1 / (1 + std::exp(-u));
    case Activation::hardlimit: return u >= 0 ? 1 : 0;
    case Activation::triangular: return std::max(0.0, 1 - std::abs(u));
    case Activation::radial: return std::exp(-u * u);
  }
  return u;
}

MatrixXd units(ConstMatrixRef x, const Elm& e, Index count) {
  MatrixXd scaled = x;
  for (Index j = 0; j < x.cols(); ++j) {
    const double width = e.high[j] - e.low[j];
    scaled.col(j) = width > 0 ? MatrixXd(2 * (x.col(j).array() - e.low[j]) / width - 1) : MatrixXd(MatrixXd::Zero(x.rows(), 1));
  }
  MatrixXd h = scaled * e.weight.leftCols(count);
  h.rowwise() += e.bias.head(count).transpose();
  for (Index i = 0; i < h.size(); ++i) h.data()[i] = activate(h.data()[i], e.activation);
  return h;
}

}  // namespace

void check(const Elm& t) {
  require(t.low.size() == t.high.size() && t.low.size() == t.weight.rows(), "the columns of a machine do not fit.");
  require(t.bias.size() == t.weight.cols() && t.beta.rows() <= t.weight.cols(), "the units of a machine do not fit.");
}

Elm elm(ConstMatrixRef x, const VectorXi& label, const ElmOptions& o, Rng& rng, Monitor& monitor) {
  check_data(x, label, o.classes);
  require(o.hidden.size() > 0 && o.hidden.minCoeff() >= 1, "`hidden` must be at least 1.");
  const Index most = o.hidden.maxCoeff(), p = x.cols();
  Elm out;
  out.activation = o.activation;
  out.low = x.colwise().minCoeff().transpose();
  out.high = x.colwise().maxCoeff().transpose();
  out.weight.resize(p, most);
  out.bias.resize(most);
  const bool centred = o.activation == Activation::sine || o.activation == Activation::radial;
  for (Index h = 0; h < most; ++h) {
    for (Index j = 0; j < p; ++j) out.weight(j, h) = rng.uniform(-1, 1);
    out.bias[h] = rng.uniform(centred ? -1 : 0, 1);
  }
  const MatrixXd t = class_targets(label, o.classes), all = units(x, out, most);
  out.table.error.resize(o.hidden.size(), 1);
  out.table.square.resize(o.hidden.size(), 1);
  Index best = 0;
  for (Index s = 0; s < o.hidden.size(); ++s) {
    monitor.check();
    const MatrixXd q = PivotedQr(all.leftCols(o.hidden[s])).thin_q(), fitted = q * (q.transpose() * t);
    MatrixXd loo(t.rows(), t.cols());
    double square = 0;
    for (Index i = 0; i < t.rows(); ++i) {
      const double rest = 1 - q.row(i).squaredNorm();
      if (rest > 1e-8) {
        loo.row(i) = t.row(i) - (t.row(i) - fitted.row(i)) / rest;
        square += (t.row(i) - loo.row(i)).squaredNorm();
      } else {  // as many units as rows: what the others say of this one is lost in rounding
        loo.row(i).setConstant(std::numeric_limits<double>::quiet_NaN());
        square += 4 * static_cast<double>(t.cols());
      }
    }
    out.table.error(s, 0) = wrong_share(loo, label);
    out.table.square(s, 0) = square / static_cast<double>(t.size());
    const bool better = s == 0 || out.table.error(s, 0) < out.table.error(best, 0) ||
                        (out.table.error(s, 0) == out.table.error(best, 0) && out.table.square(s, 0) < out.table.square(best, 0));
    if (better) {
      best = s;
      out.loo = loo;
    }
  }
  out.hidden = o.hidden[best];
  out.beta = PivotedQr(all.leftCols(out.hidden)).solve(t);
  return out;
}

MatrixXd elm_values(ConstMatrixRef x, const Elm& fit) {
  if (x.cols() != fit.low.size())
    throw InputError(message("new rows must have ", fit.low.size(), " columns, not ", x.cols(), "."));
  return units(x, fit, fit.beta.rows()) * fit.beta;
}

}  // namespace granary::ensemble
