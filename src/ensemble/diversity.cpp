#include "ensemble/diversity.h"

#include <cmath>
#include <limits>

#include "core/base/errors.h"

namespace granary::ensemble {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

void check_members(ConstMatrixRef members, Index rows) {
  if (members.cols() == 0 || members.rows() == 0) throw InputError("an ensemble needs rows and members.");
  if (rows != members.rows())
    throw InputError(message("the response needs one value per row, ", members.rows(), ", not ", rows, "."));
}

}  // namespace

AmbiguityResult ambiguity(ConstMatrixRef members, ConstVectorRef y, ConstVectorRef weights, Monitor& monitor) {
  check_members(members, y.size());
  const Index n = members.rows(), m = members.cols();
  VectorXd c = VectorXd::Constant(m, 1.0 / static_cast<double>(m));
  if (weights.size() > 0) {
    if (weights.size() != m || (weights.array() < 0).any() || !(weights.sum() > 0))
      throw InputError("`weights` needs one number per member, none negative, not all 0.");
    c = weights / weights.sum();
  }
  AmbiguityResult out;
  out.prediction = members * c;
  out.error = (out.prediction - y).array().square();
  out.member_error = out.ambiguity = VectorXd::Zero(n);
  out.by_member_error.resize(m);
  out.by_member_ambiguity.resize(m);
  MatrixXd errors(n, m);
  for (Index i = 0; i < m; ++i) {
    monitor.check();
    const VectorXd off = (members.col(i) - y).array().square(), spread = (members.col(i) - out.prediction).array().square();
    out.member_error += c[i] * off;
    out.ambiguity += c[i] * spread;
    out.by_member_error[i] = off.mean();
    out.by_member_ambiguity[i] = spread.mean();
    errors.col(i) = members.col(i) - y;
    errors.col(i).array() -= errors.col(i).mean();
  }
  const MatrixXd products = errors.transpose() * errors;
  const VectorXd size = products.diagonal().cwiseSqrt();
  out.correlation.resize(m, m);
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j <= i; ++j) {
      const bool varies =
          size[i] > 1e-12 * members.col(i).norm() && size[j] > 1e-12 * members.col(j).norm() && size[i] > 0 && size[j] > 0;
      out.correlation(i, j) = out.correlation(j, i) = !varies ? nan
                                                      : i == j
                                                          ? 1
                                                          : std::min(1.0, std::max(-1.0, products(i, j) / size[i] / size[j]));
    }
  return out;
}

VarianceResult variances(ConstMatrixRef members, Index repetitions, ConstVectorRef truth, Monitor& monitor) {
  const Index points = members.cols();
  if (repetitions < 1 || members.rows() % repetitions != 0 || members.rows() == 0)
    throw InputError("predictions need the same repetitions of every member.");
  if (truth.size() != points)
    throw InputError(message("the truth needs one value per point, ", points, ", not ", truth.size(), "."));
  const Index m = members.rows() / repetitions;
  const double count = static_cast<double>(m);
  VarianceResult out;
  for (VectorXd* v : {&out.bias, &out.variance, &out.covariance, &out.error, &out.member_error, &out.ambiguity, &out.omega})
    v->resize(points);
  for (Index at = 0; at < points; ++at) {
    monitor.check();
    const VectorXd column = members.col(at);
    const MatrixView f(column.data(), repetitions, m);
    const VectorXd mean = f.colwise().mean().transpose();
    const double middle = mean.mean(), t = truth[at];
    const VectorXd ensemble = f.rowwise().mean();
    double var = 0, member = 0, spread = 0;
    for (Index i = 0; i < m; ++i) {
      var += (f.col(i).array() - mean[i]).square().mean();
      member += (f.col(i).array() - t).square().mean();
      spread += (f.col(i) - ensemble).squaredNorm() / static_cast<double>(repetitions);
    }
    // sum_{i != j} of the covariances = variance of the sum less that of its terms
    const double of_sum = count * count * (ensemble.array() - middle).square().mean();
    out.bias[at] = middle - t;
    out.variance[at] = var / count;
    out.covariance[at] = m > 1 ? (of_sum - var) / (count * (count - 1)) : nan;
    out.error[at] = (ensemble.array() - t).square().mean();
    out.member_error[at] = member / count;
    out.ambiguity[at] = spread / count;
    out.omega[at] = var / count + (mean.array() - middle).square().mean();
  }
  return out;
}

GradientParts gradient_parts(ConstMatrixRef members, ConstVectorRef y, double lambda) {
  check_members(members, y.size());
  const double m = static_cast<double>(members.cols());
  const VectorXd mean = members.rowwise().mean();
  GradientParts out;
  out.a = members.colwise() - y;
  out.b = members.colwise() - mean;
  out.c = out.b / m;
  out.d.resize(members.rows(), members.cols());  // (1/M) sum_{j != i} (f_j - fbar), added up as written
  const VectorXd all = out.b.rowwise().sum();
  for (Index i = 0; i < members.cols(); ++i) out.d.col(i) = (all - out.b.col(i)) / m;
  out.single = out.a;
  out.nc = out.a - lambda * out.b;
  out.whole = (out.a - out.b) / m;
  return out;
}

double nc_objective(ConstMatrixRef members, ConstVectorRef y, double kappa) {
  check_members(members, y.size());
  const VectorXd mean = members.rowwise().mean();
  const double cells = static_cast<double>(members.size());
  const double member = (members.colwise() - y).squaredNorm() / cells, spread = (members.colwise() - mean).squaredNorm() / cells;
  return 0.5 * (member - kappa * spread);
}

}  // namespace granary::ensemble
