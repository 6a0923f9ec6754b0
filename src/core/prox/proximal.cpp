#include "core/prox/proximal.h"
#include "core/linalg/dense.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

namespace granary {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double epsilon = std::numeric_limits<double>::epsilon();

void require_not_negative(double value, const char* name) {
  if (!(value >= 0)) throw InputError(message(name, " must be a number not below zero, got ", value, "."));
}

void require_finite(ConstVectorRef v, const char* name) {
  if (!v.allFinite()) throw InputError(message(name, " holds a value that is missing or not finite."));
}

void require_length(ConstVectorRef v, Index n, const char* name) {
  if (v.size() != n) throw InputError(message(name, " has ", v.size(), " entries, expected ", n, "."));
}

// theta with sum_i max(v_i - theta, 0) = total. Measured from the largest entry, so a large common offset costs no digits.
double simplex_threshold(ConstVectorRef v, double total) {
  const double top = v.maxCoeff();
  VectorXd below = v.array() - top;
  std::sort(below.data(), below.data() + below.size(), std::greater<double>());
  double sum = 0, theta = 0;
  for (Index i = 0; i < below.size(); ++i) {
    sum += below[i];
    const double candidate = (sum - total) / static_cast<double>(i + 1);
    if (below[i] <= candidate) break;
    theta = candidate;
  }
  return theta + top;
}

}  // namespace

VectorXd prox_group_l2(ConstVectorRef v, double lambda) {
  require_not_negative(lambda, "lambda");
  const double norm = v.stableNorm();
  if (norm <= lambda) return VectorXd::Zero(v.size());
  return (1 - lambda / norm) * v;
}

VectorXd prox_group_linf(ConstVectorRef v, double lambda) {
  // Moreau: the l1 ball of radius lambda is the dual ball. Clipping at its threshold says the same without cancellation.
  require_not_negative(lambda, "lambda");
  if (v.lpNorm<1>() <= lambda) return VectorXd::Zero(v.size());
  if (lambda == 0) return v;
  // Where ||v||_1 exceeds lambda by an ulp, rounding can take the threshold below zero.
  return project_linf_ball(v, std::max(0.0, simplex_threshold(v.cwiseAbs(), lambda)));
}

VectorXd prox_sparse_group(ConstVectorRef v, double l1, double l2) {
  require_not_negative(l1, "l1");
  return prox_group_l2(soft_threshold(v, l1), l2);
}

NuclearProx prox_nuclear(ConstMatrixRef v, double lambda) {
  require_not_negative(lambda, "lambda");
  if (!v.allFinite()) throw InputError("the matrix holds a value that is missing or not finite.");
  NuclearProx result;
  if (v.size() == 0) {
    result.x = v;
    return result;
  }
  const Svd svd(v, SvdParts::thin);
  const Index rank = (svd.singularValues().array() > lambda).count();
  result.values = svd.singularValues().head(rank).array() - lambda;
  result.x = svd.matrixU().leftCols(rank) * result.values.asDiagonal() * svd.matrixV().leftCols(rank).transpose();
  return result;
}

// Johnson's dynamic program. With delta_1(b) = w_1 (b - y_1) and
//   delta_{k+1}(b) = clip(delta_k(b), -lambda_k, lambda_k) + w_{k+1} (b - y_{k+1}),
// the derivative of the best cost of the first k+1 terms given x_{k+1} = b, the solution is x_n = root of delta_n and
// x_k = clip(x_{k+1}, low_k, high_k), where delta_k(low_k) = -lambda_k and delta_k(high_k) = lambda_k. delta is piecewise linear
// and increasing: its knots live in the middle of an array, and each step drops some at both ends and adds one at either.
VectorXd prox_total_variation(ConstVectorRef y, ConstVectorRef lambda, ConstVectorRef weights) {
  const Index n = y.size();
  require_length(lambda, std::max<Index>(0, n - 1), "lambda");
  require_finite(y, "y");
  if (!lambda.allFinite() || (lambda.array() < 0).any()) throw InputError("lambda must be finite and not negative.");
  if (weights.size() != 0) {
    require_length(weights, n, "weights");
    if (!weights.allFinite() || !(weights.array() > 0).all()) throw InputError("weights must be positive and finite.");
  }
  if (n <= 1) return y;
  const auto weight = [&](Index i) { return weights.size() == 0 ? 1.0 : weights[i]; };

  struct Knot {
    double at, slope, intercept;  // to the right of `at`, the line gains slope b + intercept
  };
  const double centre = y.mean();  // so that intercepts stay as small as the data's spread
  std::vector<Knot> knots(2 * n);
  Index left = n, right = n - 1;  // the knots in use are left..right
  VectorXd low(n - 1), high(n - 1), x(n);
  double first_slope = weight(0), first_intercept = -weight(0) * (y[0] - centre);
  double last_slope = first_slope, last_intercept = first_intercept;

  const auto crossing_from_left = [&](double level) {
    double slope = first_slope, intercept = first_intercept;
    while (left <= right && slope * knots[left].at + intercept <= level) {
      slope += knots[left].slope;
      intercept += knots[left].intercept;
      ++left;
    }
    return Knot{(level - intercept) / slope, slope, intercept - level};
  };
  const auto crossing_from_right = [&](double level) {
    double slope = last_slope, intercept = last_intercept;
    while (left <= right && slope * knots[right].at + intercept >= level) {
      slope -= knots[right].slope;
      intercept -= knots[right].intercept;
      --right;
    }
    return Knot{(level - intercept) / slope, -slope, level - intercept};
  };

  for (Index k = 0; k + 1 < n; ++k) {
    const Knot lower = crossing_from_left(-lambda[k]);
    const Knot upper = crossing_from_right(lambda[k]);
    knots[--left] = lower;
    knots[++right] = upper;
    low[k] = lower.at;
    high[k] = upper.at;
    const double w = weight(k + 1), offset = -w * (y[k + 1] - centre);
    first_slope = last_slope = w;
    first_intercept = offset - lambda[k];
    last_intercept = offset + lambda[k];
  }
  x[n - 1] = crossing_from_left(0).at;
  for (Index k = n - 2; k >= 0; --k) x[k] = std::min(std::max(x[k + 1], low[k]), high[k]);
  return x.array() + centre;
}

VectorXd prox_total_variation(ConstVectorRef y, double lambda) {
  require_not_negative(lambda, "lambda");
  return prox_total_variation(y, VectorXd::Constant(std::max<Index>(0, y.size() - 1), lambda));
}

VectorXd prox_fused_lasso(ConstVectorRef y, double l1, double tv) {
  require_not_negative(l1, "l1");
  return soft_threshold(prox_total_variation(y, tv), l1);
}

// Stationarity: rho X - X^-1 = rho Z - S, so X shares the eigenvectors of the right side, and each eigenvalue e of it gives the
// positive root of rho x^2 - e x - 1 = 0.
LogDetProx prox_log_det(ConstMatrixRef s, ConstMatrixRef z, double rho) {
  if (s.rows() != s.cols() || z.rows() != s.rows() || z.cols() != s.cols()) {
    throw InputError(
        message("S is ", s.rows(), " x ", s.cols(), " and Z is ", z.rows(), " x ", z.cols(), "; both must be square and alike."));
  }
  if (!(rho > 0) || !std::isfinite(rho)) throw InputError(message("rho must be positive, got ", rho, "."));
  if (s.size() == 0) return {MatrixXd(s), 0};
  const SymmetricEigen eigen(rho * z - s);
  if (eigen.info() != Eigen::Success) {
    throw NumericalError(
        "the eigenvalues in the log-determinant step could not be computed; look for missing values or rescale the data.");
  }
  const VectorXd roots = eigen.eigenvalues().unaryExpr([rho](double e) {
    const double size = std::hypot(e, 2 * std::sqrt(rho));
    return e > 0 ? (e + size) / (2 * rho) : 2 / (size - e);  // the form that does not cancel
  });
  const MatrixXd& q = eigen.eigenvectors();
  const MatrixXd half = q * roots.cwiseSqrt().asDiagonal();
  MatrixXd x = MatrixXd::Zero(s.rows(), s.cols());
  x.selfadjointView<Eigen::Lower>().rankUpdate(half);
  return {x.selfadjointView<Eigen::Lower>(), roots.array().log().sum()};
}

VectorXd project_simplex(ConstVectorRef v, double total) {
  if (!(total > 0) || !std::isfinite(total))
    throw InputError(message("the total of a simplex must be positive, got ", total, "."));
  if (v.size() == 0) throw InputError("an empty vector cannot have a positive sum.");
  require_finite(v, "the vector");
  return (v.array() - simplex_threshold(v, total)).cwiseMax(0);
}

MatrixXd project_nuclear_ball(ConstMatrixRef v, double radius) {
  require_not_negative(radius, "the radius");
  if (!v.allFinite()) throw InputError("the matrix holds a value that is missing or not finite.");
  if (v.size() == 0) return v;
  const Svd svd(v, SvdParts::thin);
  return svd.matrixU() * project_l1_ball(svd.singularValues(), radius).asDiagonal() * svd.matrixV().transpose();
}

VectorXd project_l1_ball(ConstVectorRef v, double radius) {
  require_not_negative(radius, "radius");
  require_finite(v, "the vector");
  if (v.lpNorm<1>() <= radius) return v;
  if (radius == 0) return VectorXd::Zero(v.size());
  return soft_threshold(v, simplex_threshold(v.cwiseAbs(), radius));
}

VectorXd project_l2_ball(ConstVectorRef v, double radius) {
  require_not_negative(radius, "radius");
  const double norm = v.stableNorm();
  if (norm <= radius) return v;
  return (radius / norm) * v;
}

VectorXd project_linf_ball(ConstVectorRef v, double radius) {
  require_not_negative(radius, "radius");
  return v.cwiseMax(-radius).cwiseMin(radius);
}

VectorXd project_box(ConstVectorRef v, ConstVectorRef lower, ConstVectorRef upper) {
  require_length(lower, v.size(), "lower");
  require_length(upper, v.size(), "upper");
  if (!(lower.array() <= upper.array()).all()) throw InputError("every lower bound must be at most its upper bound.");
  return v.cwiseMax(lower).cwiseMin(upper);
}

// x_i(mu) = clip(a_i + mu b_i / d_i, l_i, u_i) makes b'x(mu) piecewise linear and nondecreasing in mu: find the linear piece that
// holds r by bisection over the sorted breakpoints, then solve on it.
KnapsackResult quadratic_knapsack(ConstVectorRef d, ConstVectorRef a, ConstVectorRef b, double r, ConstVectorRef lower,
                                  ConstVectorRef upper) {
  const Index n = a.size();
  require_length(d, n, "d");
  require_length(b, n, "b");
  require_length(lower, n, "lower");
  require_length(upper, n, "upper");
  require_finite(a, "a");
  require_finite(b, "b");
  if (!std::isfinite(r)) throw InputError("r must be finite.");
  if (!d.allFinite() || !(d.array() > 0).all()) throw InputError("d must be positive and finite.");
  if (!(lower.array() <= upper.array()).all()) throw InputError("every lower bound must be at most its upper bound.");

  VectorXd leaves(n), reaches(n);  // the mu at which x_i starts and stops moving
  std::vector<double> breakpoints;
  double least = 0, most = 0, size = std::abs(r);
  for (Index i = 0; i < n; ++i) {
    if (b[i] == 0) {
      leaves[i] = reaches[i] = 0;
      continue;
    }
    const double from = b[i] > 0 ? lower[i] : upper[i], to = b[i] > 0 ? upper[i] : lower[i];
    least += b[i] * from;
    most += b[i] * to;
    leaves[i] = (from - a[i]) * d[i] / b[i];
    reaches[i] = (to - a[i]) * d[i] / b[i];
    for (double bound : {from, to}) {
      if (std::isfinite(bound)) size = std::max(size, std::abs(b[i] * bound));
    }
    for (double mu : {leaves[i], reaches[i]}) {
      if (std::isfinite(mu)) breakpoints.push_back(mu);
    }
  }
  const double slack = 4 * epsilon * static_cast<double>(n + 1) * size;
  if (r < least - slack || r > most + slack) {
    throw InputError(message("the constraints cannot be met: b'x lies between ", least, " and ", most,
                             " within the bounds, but must be ", r, "."));
  }
  std::sort(breakpoints.begin(), breakpoints.end());

  const auto value = [&](double mu) {
    double sum = 0;
    for (Index i = 0; i < n; ++i) {
      if (b[i] != 0) sum += b[i] * std::min(std::max(a[i] + mu * b[i] / d[i], lower[i]), upper[i]);
    }
    return sum;
  };
  const auto above = std::partition_point(breakpoints.begin(), breakpoints.end(), [&](double mu) { return value(mu) < r; });
  const double right = above == breakpoints.end() ? infinity : *above;
  const double left = above == breakpoints.begin() ? -infinity : *(above - 1);

  double fixed = 0, moving = 0, slope = 0;  // on (left, right): b'x = fixed + moving + mu slope
  for (Index i = 0; i < n; ++i) {
    if (b[i] == 0) continue;
    if (reaches[i] <= left) {
      fixed += b[i] * (b[i] > 0 ? upper[i] : lower[i]);
    } else if (leaves[i] >= right) {
      fixed += b[i] * (b[i] > 0 ? lower[i] : upper[i]);
    } else {
      moving += b[i] * a[i];
      slope += b[i] * b[i] / d[i];
    }
  }
  double mu = slope > 0 ? (r - fixed - moving) / slope : std::isfinite(right) ? right : std::isfinite(left) ? left : 0.0;
  mu = std::min(std::max(mu, left), right);

  KnapsackResult result{VectorXd(n), mu};
  for (Index i = 0; i < n; ++i) {
    // Bounds are returned as given, not as a + mu b/d rounds.
    if (b[i] != 0 && leaves[i] >= mu) {
      result.x[i] = b[i] > 0 ? lower[i] : upper[i];
    } else if (b[i] != 0 && reaches[i] <= mu) {
      result.x[i] = b[i] > 0 ? upper[i] : lower[i];
    } else {
      result.x[i] = std::min(std::max(a[i] + mu * b[i] / d[i], lower[i]), upper[i]);
    }
  }
  return result;
}

VectorXd project_weighted_simplex(ConstVectorRef v, ConstVectorRef weights, double total) {
  const Index n = v.size();
  return quadratic_knapsack(VectorXd::Ones(n), v, weights, total, VectorXd::Zero(n), VectorXd::Constant(n, infinity)).x;
}

// With e_i = d_i - min d and lambda = t - min d, x_i(t) = -g_i / (e_i + t): a Newton step on 1/||x(t)|| = 1/radius, which is
// nearly linear in t, kept inside a bracket.
TrustRegionResult separable_trust_region(ConstVectorRef d, ConstVectorRef g, double radius) {
  const Index n = d.size();
  require_length(g, n, "g");
  require_finite(d, "d");
  require_finite(g, "g");
  require_not_negative(radius, "radius");
  if (n == 0 || radius == 0) return {VectorXd::Zero(n), 0};
  Index smallest;
  const double d_min = d.minCoeff(&smallest);
  if (d_min > 0) {
    VectorXd inside = -g.cwiseQuotient(d);
    if (inside.stableNorm() <= radius) return {inside, 0};
  }
  const VectorXd e = d.array() - d_min;
  const double floor = std::max(0.0, d_min);  // lambda >= 0
  const auto at = [&](double t) {
    VectorXd x(n);
    for (Index i = 0; i < n; ++i) x[i] = g[i] == 0 ? 0.0 : -g[i] / (e[i] + t);
    return x;
  };

  // ||x(t)|| decreases, is at least |g_i| / (e_i + t) for each i and at most ||g|| / t.
  double low = floor, high = std::max(floor, g.stableNorm() / radius);
  for (Index i = 0; i < n; ++i) low = std::max(low, std::abs(g[i]) / radius - e[i]);
  VectorXd x = at(low);
  if (x.stableNorm() <= radius) {
    if (low > 0) return {x, low - d_min};  // one coordinate carries the whole norm, up to rounding
    if (d_min == 0) return {x, 0};
    // The hard case: g has nothing along the most negative curvature, so walk along it to the sphere.
    const double rest = x.stableNorm() / radius;
    x[smallest] += radius * std::sqrt(std::max(0.0, 1 - rest * rest));
    return {x, -d_min};
  }
  double t = low;
  for (int round = 0; round < 200 && high - low > 2 * epsilon * high; ++round) {
    const double norm = x.stableNorm();
    (norm > radius ? low : high) = t;
    if (std::abs(norm - radius) <= 4 * epsilon * radius) break;
    double curvature = 0;  // -||x|| d||x||/dt
    for (Index i = 0; i < n; ++i) {
      if (g[i] != 0) curvature += x[i] * x[i] / (e[i] + t);
    }
    const double newton = t + norm * norm / curvature * ((norm - radius) / radius);
    t = newton > low && newton < high ? newton : 0.5 * (low + high);
    x = at(t);
  }
  return {x, std::max(0.0, t - d_min)};
}

}  // namespace granary
