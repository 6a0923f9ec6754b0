#include "process/kriging_blind.h"

#include <cmath>

#include "core/base/errors.h"
#include "core/linalg/spd_inverse.h"
#include "core/linalg/dense.h"

namespace granary::process {

namespace {

MatrixXd powers(ConstVectorRef z, Index degree) {
  MatrixXd result = MatrixXd::Ones(z.size(), degree + 1);
  for (Index k = 1; k <= degree; ++k) result.col(k) = result.col(k - 1).cwiseProduct(z);
  return result;
}

VectorXd levels(Index degree) { return VectorXd::LinSpaced(degree + 1, -1, 1); }

}  // namespace

BlindEffects blind_effects(Index inputs, Index degree) {
  if (inputs < 1 || degree < 1) throw InputError("blind kriging needs at least one input and effects of degree one.");
  BlindEffects effects;
  // V = Q G: the columns of V G^-1 are orthonormal polynomials on the levels.
  const MatrixXd v = powers(levels(degree), degree);
  const Qr qr(v);
  const MatrixXd g = qr.matrixQR().triangularView<Eigen::Upper>();
  const MatrixXd inverse = g.triangularView<Eigen::Upper>().solve(MatrixXd::Identity(degree + 1, degree + 1));
  effects.polynomials = std::sqrt(static_cast<double>(degree + 1)) * inverse.rightCols(degree);
  for (Index k = 0; k < degree; ++k) {
    if (effects.polynomials(k + 1, k) < 0) effects.polynomials.col(k) *= -1;
    // Odd effects have no even powers and the other way round; the factorisation leaves rounding there.
    for (Index q = 0; q <= degree; ++q) {
      if ((q + k) % 2 == 0) effects.polynomials(q, k) = 0;
    }
  }
  for (Index j = 0; j < inputs; ++j) {
    for (Index k = 0; k < degree; ++k) {
      effects.term.emplace_back(j, k);
      effects.with.emplace_back(-1, 0);
    }
  }
  for (Index a = 0; a < inputs; ++a) {
    for (Index b = a + 1; b < inputs; ++b) {
      for (Index k = 0; k < degree; ++k) {
        for (Index l = 0; l < degree; ++l) {
          effects.term.emplace_back(a, k);
          effects.with.emplace_back(b, l);
        }
      }
    }
  }
  return effects;
}

MatrixXd effect_columns(const BlindEffects& effects, ConstMatrixRef z) {
  const Index degree = effects.polynomials.cols();
  std::vector<MatrixXd> single;
  for (Index j = 0; j < z.cols(); ++j) single.push_back(powers(z.col(j), degree) * effects.polynomials);
  MatrixXd result(z.rows(), static_cast<Index>(effects.term.size()));
  for (std::size_t c = 0; c < effects.term.size(); ++c) {
    result.col(c) = single[effects.term[c].first].col(effects.term[c].second);
    if (effects.with[c].first >= 0) result.col(c).array() *= single[effects.with[c].first].col(effects.with[c].second).array();
  }
  return result;
}

VectorXd effect_variances(const BlindEffects& effects, const std::vector<std::function<double(double)>>& correlation) {
  const Index degree = effects.polynomials.cols(), inputs = static_cast<Index>(correlation.size());
  const VectorXd at = levels(degree);
  const MatrixXd u = powers(at, degree) * effects.polynomials;
  MatrixXd single(degree, inputs);
  for (Index j = 0; j < inputs; ++j) {
    MatrixXd psi(degree + 1, degree + 1);
    for (Index a = 0; a <= degree; ++a) {
      for (Index b = 0; b <= degree; ++b) psi(a, b) = correlation[j](std::abs(at[a] - at[b]));
    }
    for (Index k = 0; k < degree; ++k) single(k, j) = u.col(k).dot(psi * u.col(k)) / psi.sum();
  }
  VectorXd result(static_cast<Index>(effects.term.size()));
  for (std::size_t c = 0; c < effects.term.size(); ++c) {
    result[c] = single(effects.term[c].second, effects.term[c].first);
    if (effects.with[c].first >= 0) result[c] *= single(effects.with[c].second, effects.with[c].first);
  }
  return result;
}

BlindPath blind_forward(const GaussianProcess& gp, ConstMatrixRef candidates, ConstVectorRef variances, Index max_terms,
                        Monitor& monitor) {
  const SystemFactor& chol = gp.cholesky();
  const Index n = gp.size(), count = candidates.cols();
  if (candidates.rows() != n || variances.size() != count) throw InputError("the candidates do not fit the observations.");
  const VectorXd yt = chol.solve_lower(gp.responses());
  VectorXd alpha = gp.alpha();
  MatrixXd inverse = chol.lower();
  inverse_from_cholesky(inverse);
  VectorXd h = inverse.diagonal();
  MatrixXd basis(n, gp.beta().size() + max_terms);  // orthonormal, of L^-1 V
  Index size = gp.beta().size();
  if (size > 0) {
    const MatrixXd q = gp.trend_precision().solve_lower(gp.trend_root().transpose()).transpose();
    basis.leftCols(size) = q;
    h -= chol.solve_upper(q).rowwise().squaredNorm();
  }
  std::vector<double> cvpe{std::sqrt(alpha.cwiseQuotient(h).squaredNorm() / n)};
  std::vector<bool> used(count, false);
  BlindPath path;
  while (static_cast<Index>(path.chosen.size()) < max_terms && size < n - 1) {
    monitor.check();
    const VectorXd b = variances.cwiseProduct(candidates.transpose() * alpha);
    Index best = -1;
    for (Index c = 0; c < count; ++c) {
      if (!used[c] && (best < 0 || std::abs(b[c]) > std::abs(b[best]))) best = c;
    }
    if (best < 0) break;
    used[best] = true;
    VectorXd w = chol.solve_lower(candidates.col(best));
    const double length = w.norm();
    for (int pass = 0; pass < 2 && size > 0; ++pass) {  // twice is enough
      const VectorXd along = basis.leftCols(size).transpose() * w;
      w.noalias() -= basis.leftCols(size) * along;
    }
    if (!(w.norm() > 1e-9 * length)) continue;
    w.normalize();
    const VectorXd back = chol.solve_upper(w);
    const VectorXd lower_h = h - back.cwiseAbs2();
    if (!(lower_h.array() > 1e-12 * inverse.diagonal().array()).all()) continue;  // a row would be fitted by the trend alone
    h = lower_h;
    alpha -= w.dot(yt) * back;
    basis.col(size++) = w;
    path.chosen.push_back(best);
    cvpe.push_back(std::sqrt(alpha.cwiseQuotient(h).squaredNorm() / n));
  }
  path.cvpe = Eigen::Map<const VectorXd>(cvpe.data(), static_cast<Index>(cvpe.size()));
  return path;
}

}  // namespace granary::process
