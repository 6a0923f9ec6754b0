#include "kernel/dependence.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/errors.h"
#include "core/linalg/spectral.h"
#include "core/linalg/dense.h"

namespace granary::kernel {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr Index full_spectrum = 400;  // beyond this only the leading part is computed
constexpr Index leading_part = 50;

// -1/2 log det of a symmetric matrix, infinite unless it is positive definite.
double half_log_det_loss(const MatrixXd& a) {
  const Llt factor(a);
  if (factor.info() != Eigen::Success) return infinity;
  const double log_det = 2 * factor.matrixLLT().diagonal().array().log().sum();
  return std::isfinite(log_det) ? -0.5 * log_det : infinity;
}

double value_of_pair(const MatrixXd& c, double m, const DependenceOptions& options) {
  if (options.measure == Measure::hsic) return c.squaredNorm() / (m * m);
  MatrixXd gram;
  if (c.rows() <= c.cols()) {
    gram.noalias() = c * c.transpose();
  } else {
    gram.noalias() = c.transpose() * c;
  }
  switch (options.measure) {
    case Measure::coco:
      return std::sqrt(std::max(0.0, largest_eigenvalue(gram))) / m;
    case Measure::kcc:
      return std::sqrt(std::max(0.0, largest_eigenvalue(gram)));
    default: {
      const double nu = options.measure == Measure::kmi ? options.nu : 1;
      return std::max(0.0, half_log_det_loss(MatrixXd::Identity(gram.rows(), gram.cols()) - gram / (nu * nu)));
    }
  }
}

double value_of_blocks(const MatrixXd& b, double m, const DependenceOptions& options) {
  if (options.measure == Measure::hsic) return b.squaredNorm() / (2 * m * m);
  if (options.measure == Measure::kmi || options.measure == Measure::kgv) {
    const double nu = options.measure == Measure::kmi ? options.nu : 1;
    return std::max(0.0, half_log_det_loss(MatrixXd::Identity(b.rows(), b.cols()) + b / nu));
  }
  if (b.rows() == 0) return 0;
  const SymmetricEigen solver(b, EigenParts::values);
  const double low = solver.eigenvalues()[0], high = solver.eigenvalues()[b.rows() - 1];
  if (options.measure == Measure::coco) return std::max(-low, high) / m;
  return low > -1 ? std::max(0.0, -0.5 * std::log1p(low)) : infinity;
}

// Singular triplets of the cross block, or eigenpairs of B by magnitude: `spectrum`, and the leading vector cut into variables.
void decompose_pair(const MatrixXd& c, Dependence& result, std::vector<VectorXd>& leading, Monitor& monitor) {
  if (std::min(c.rows(), c.cols()) == 0) {
    result.spectrum.resize(0);
    leading = {VectorXd::Zero(c.rows()), VectorXd::Zero(c.cols())};
    return;
  }
  MatrixXd u, v;
  if (std::min(c.rows(), c.cols()) <= full_spectrum) {
    const Svd svd(c, SvdParts::thin);
    result.spectrum = svd.singularValues();
    u = svd.matrixU().leftCols(1);
    v = svd.matrixV().leftCols(1);
  } else {
    const TruncatedSvd svd = truncated_svd(c, leading_part, EigenOptions(), monitor);
    result.spectrum = svd.values;
    u = svd.u.leftCols(1);
    v = svd.v.leftCols(1);
  }
  fix_signs(u, v);
  leading = {u.col(0), v.col(0)};
}

void decompose_blocks(const MatrixXd& b, const Features& scaled, Dependence& result, std::vector<VectorXd>& leading,
                      Monitor& monitor) {
  leading.clear();
  if (b.rows() == 0) {
    for (const MatrixXd& z : scaled) leading.push_back(VectorXd::Zero(z.cols()));
    return;
  }
  MatrixXd vectors;
  if (b.rows() <= 2 * full_spectrum) {
    const SymmetricEigen solver(b);
    std::vector<Index> order(b.rows());
    std::iota(order.begin(), order.end(), Index(0));
    const VectorXd& values = solver.eigenvalues();
    std::stable_sort(order.begin(), order.end(), [&](Index i, Index j) { return std::abs(values[i]) > std::abs(values[j]); });
    result.spectrum.resize(b.rows());
    for (Index k = 0; k < b.rows(); ++k) result.spectrum[k] = values[order[k]];
    vectors = solver.eigenvectors().col(order[0]);
  } else {
    const EigenPairs pairs = top_eigenpairs(b, leading_part, Which::largest_magnitude, EigenOptions(), monitor);
    result.spectrum = pairs.values;
    vectors = pairs.vectors.leftCols(1);
  }
  fix_signs(vectors);
  Index at = 0;
  for (const MatrixXd& z : scaled) {
    VectorXd part = vectors.col(0).segment(at, z.cols());
    const double norm = part.norm();
    leading.push_back(norm > 0 ? VectorXd(part / norm) : part);
    at += z.cols();
  }
}

}  // namespace

double largest_eigenvalue(const MatrixXd& symmetric) {
  if (symmetric.rows() == 0) return 0;
  if (symmetric.rows() > full_spectrum) {  // a few products instead of all eigenvalues, unless those at the top lie too close together
    EigenOptions options;
    options.tol = 1e-9;
    options.max_iter = 20;
    Monitor monitor;
    try {
      return top_eigenpairs(symmetric, 1, Which::largest, options, monitor).values[0];
    } catch (const NumericalError&) {
    }
  }
  return SymmetricEigen(symmetric, EigenParts::values).eigenvalues()[symmetric.rows() - 1];
}

MatrixXd variance_scaling(const MatrixXd& gram, double m, const DependenceOptions& options) {
  const Index d = gram.rows();
  if (options.variances == Variances::none || d == 0) return MatrixXd::Identity(d, d);
  const SymmetricEigen solver(gram);
  const VectorXd lambda = solver.eigenvalues().cwiseMax(0);
  VectorXd scale;
  Index first = 0;
  if (options.variances == Variances::squared) {
    const double ridge = m * options.kappa / 2;
    while (first < d && lambda[first] < 1e-3 * ridge) ++first;
    scale = lambda.array().sqrt() / (lambda.array() + ridge);
  } else if (options.variances == Variances::ridge) {
    scale = (lambda.array() + m * options.kappa).rsqrt();
  } else {
    scale = (options.theta * lambda.array() + options.nu * (1 - options.theta)).rsqrt();
  }
  return solver.eigenvectors().rightCols(d - first) * scale.tail(d - first).asDiagonal();
}

Features scaled_features(const Features& z, const DependenceOptions& options) {
  if (options.variances == Variances::none) return z;
  Features scaled;
  for (const MatrixXd& values : z) {
    const MatrixXd gram = values.transpose() * values;
    scaled.push_back(values * variance_scaling(gram, static_cast<double>(values.rows()), options));
  }
  return scaled;
}

MatrixXd dependence_blocks(const Features& scaled) {
  Index total = 0;
  for (const MatrixXd& z : scaled) total += z.cols();
  MatrixXd b = MatrixXd::Zero(total, total);
  Index row = 0;
  for (std::size_t i = 0; i < scaled.size(); ++i) {
    Index col = row + scaled[i].cols();
    for (std::size_t j = i + 1; j < scaled.size(); ++j) {
      b.block(row, col, scaled[i].cols(), scaled[j].cols()).noalias() = scaled[i].transpose() * scaled[j];
      col += scaled[j].cols();
    }
    row += scaled[i].cols();
  }
  b.triangularView<Eigen::StrictlyLower>() = b.transpose();
  return b;
}

double dependence_value(const MatrixXd& blocks, bool two_variables, double m, const DependenceOptions& options) {
  return two_variables ? value_of_pair(blocks, m, options) : value_of_blocks(blocks, m, options);
}

Dependence dependence(const Features& z, const DependenceOptions& options, Monitor& monitor) {
  if (z.size() < 2) throw InputError("dependence needs at least two variables.");
  for (const MatrixXd& values : z) {
    if (values.rows() != z[0].rows()) throw InputError("the variables must have the same number of observations.");
  }
  const double m = static_cast<double>(z[0].rows());
  Dependence result;
  result.norms.resize(static_cast<Index>(z.size()));
  std::vector<MatrixXd> scalings;
  Features scaled;
  for (std::size_t i = 0; i < z.size(); ++i) {
    monitor.check();
    const MatrixXd gram = z[i].transpose() * z[i];
    result.norms[static_cast<Index>(i)] = largest_eigenvalue(gram);
    scalings.push_back(variance_scaling(gram, m, options));
    scaled.push_back(options.variances == Variances::none ? z[i] : MatrixXd(z[i] * scalings.back()));
  }
  std::vector<VectorXd> leading;
  if (z.size() == 2) {
    const MatrixXd c = scaled[0].transpose() * scaled[1];
    result.value = value_of_pair(c, m, options);
    decompose_pair(c, result, leading, monitor);
  } else {
    const MatrixXd b = dependence_blocks(scaled);
    result.value = value_of_blocks(b, m, options);
    decompose_blocks(b, scaled, result, leading, monitor);
  }
  for (std::size_t i = 0; i < z.size(); ++i) result.weights.push_back(scalings[i] * leading[i]);
  return result;
}

}  // namespace granary::kernel
