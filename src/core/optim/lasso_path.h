// The path of the lasso: penalties, strong rules, optimality checks, records. Internal to lasso*.cpp.
//
// A Model holds the standardised coefficients b and g = minus the gradient of the loss, and solves the problem restricted
// to a set of columns:
//   VectorXd b, g;  double y_variance;  int sweeps;
//   bool solve(const std::vector<int>& set, const Penalty&, double threshold, int max_sweeps, Monitor&);
//   void refresh();                       g for all columns, from b
//   const std::vector<int>& refresh(const Penalty&);     the columns that may violate the conditions, ascending, and g for them
//   const std::vector<int>& reach(level, factor);        those where |g_j| may be level * factor or more, and g for them
//   void extrapolate(set, earlier b, earlier intercept, ratio, const Penalty&);    b + ratio (b - earlier), as a start
//   double loss(), dev_ratio(), gap(const Penalty&), intercept(), raw_intercept();
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "core/base/errors.h"
#include "core/optim/lasso.h"
#include "core/optim/lasso_columns.h"
#include "core/linalg/dense.h"

namespace granary::lasso_detail {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Penalty {  // lambda f_j (alpha |b_j| + (1 - alpha)/2 b_j^2) within [lower_j, upper_j], for standardised b
  VectorXd l1, l2, lower, upper;
  bool bounded = false;

  void set(double lambda, double alpha, const VectorXd& factor) {
    for (Index j = 0; j < factor.size(); ++j) {
      const bool out = factor[j] == infinity;
      l1[j] = out ? infinity : lambda * alpha * factor[j];
      l2[j] = out ? 0 : lambda * (1 - alpha) * factor[j];
    }
  }

  // The minimiser over one coordinate, z = a b + g.
  double minimiser(Index j, double z, double a) const {
    double b;
    if (z > l1[j]) {
      b = (z - l1[j]) / (a + l2[j]);
    } else if (z < -l1[j]) {
      b = (z + l1[j]) / (a + l2[j]);
    } else {
      return 0;
    }
    return bounded ? std::min(std::max(b, lower[j]), upper[j]) : b;
  }

  // b and where it was before, carried on along the line; zero where the line changes sign.
  double along(Index j, double b, double earlier, double ratio) const {
    if (b == 0 || earlier == 0) return b;
    const double next = b + ratio * (b - earlier);
    if (l1[j] > 0 && next * b <= 0) return 0;
    return std::min(std::max(next, lower[j]), upper[j]);
  }

  double violation(Index j, double b, double g) const {
    if (l1[j] == infinity) return 0;
    if (b == 0) {
      const double rise = upper[j] > 0 ? g - l1[j] : 0, fall = lower[j] < 0 ? -g - l1[j] : 0;
      return std::max({rise, fall, 0.0});
    }
    const double force = g - l2[j] * b - (b > 0 ? l1[j] : -l1[j]);
    if (b >= upper[j]) return std::max(-force, 0.0);
    if (b <= lower[j]) return std::max(force, 0.0);
    return std::abs(force);
  }

  double value(const VectorXd& b) const {
    double sum = 0;
    for (Index j = 0; j < b.size(); ++j)
      if (b[j] != 0) sum += l1[j] * std::abs(b[j]) + 0.5 * l2[j] * b[j] * b[j];
    return sum;
  }
};

// The problem over the columns whose inner products are known: minimise 1/2 c'Gc - z'c + penalty, slope = z - Gc, G the leading
// block of `products`. Sweeps, and where these are slow Newton steps within the orthant, as in l1_quadratic.
struct Compact {
  MatrixXd products;  // only the leading block of size members.size() is in use
  std::vector<int> members;
  VectorXd coefficient, slope;

  void reserve(Index k) {
    if (k <= products.rows()) return;
    const Index room = std::max<Index>(64, 2 * k);
    products.conservativeResize(room, room);
    coefficient.conservativeResize(room);
    slope.conservativeResize(room);
  }

  void add(double step, Index m) {  // to the slopes, that column's products
    const double one = 1;
    engine().gemv('N', static_cast<int>(members.size()), 1, step, products.col(m).data(), static_cast<int>(products.rows()), &one,
                  1, slope.data(), 1);
  }

  double sweep(const Penalty& penalty) {  // the largest decrease a coordinate brought
    const Index k = static_cast<Index>(members.size());
    double largest = 0;
    for (Index m = 0; m < k; ++m) {
      const double now = coefficient[m], a = products(m, m);
      if (a <= 0) continue;
      const double next = penalty.minimiser(members[m], slope[m] + a * now, a);
      if (next == now) continue;
      const double step = next - now;
      coefficient[m] = next;
      add(-step, m);
      largest = std::max(largest, a * step * step);
    }
    return largest;
  }

  double violation(const Penalty& penalty) const {  // in the units of `sweep`
    double largest = 0;
    for (std::size_t m = 0; m < members.size(); ++m) {
      const double v = penalty.violation(members[m], coefficient[m], slope[m]);
      if (v > 0 && products(m, m) > 0) largest = std::max(largest, v * v / products(m, m));
    }
    return largest;
  }

  // Newton steps, each up to the first coordinate that meets zero or a bound and stays there, until one is not cut short.
  bool newton(const Penalty& penalty) {
    const Index k = static_cast<Index>(members.size());
    std::vector<Index> live;
    for (Index m = 0; m < k; ++m) {
      const int j = members[m];
      const double c = coefficient[m];
      if ((c != 0 || penalty.l1[j] == 0) && c > penalty.lower[j] && c < penalty.upper[j]) live.push_back(m);
    }
    while (!live.empty()) {
      const Index size = static_cast<Index>(live.size());
      MatrixXd h(size, size);
      VectorXd force(size);
      for (Index s = 0; s < size; ++s) {
        const double* column = products.col(live[s]).data();
        for (Index r = s; r < size; ++r) h(r, s) = column[live[r]];
        const int j = members[live[s]];
        const double c = coefficient[live[s]];
        h(s, s) += penalty.l2[j];
        force[s] = slope[live[s]] - penalty.l2[j] * c - (c > 0 ? penalty.l1[j] : -penalty.l1[j]);
      }
      const LltInPlace factor(h);
      if (factor.info() != Eigen::Success) return false;
      const VectorXd step = factor.solve(force);
      if (!step.allFinite() || !(force.dot(step) > 0)) return false;
      double length = 1, wall = 0;
      Index stops = -1;
      for (Index s = 0; s < size; ++s) {
        const int j = members[live[s]];
        const double c = coefficient[live[s]];
        double low = penalty.lower[j], high = penalty.upper[j];
        if (penalty.l1[j] > 0) (c > 0 ? low : high) = 0;
        const double next = c + length * step[s];
        if (next > low && next < high) continue;
        wall = step[s] > 0 ? high : low;
        length = (wall - c) / step[s];
        stops = s;
      }
      for (Index s = 0; s < size; ++s) {
        const double next = s == stops ? wall : coefficient[live[s]] + length * step[s];
        add(coefficient[live[s]] - next, live[s]);
        coefficient[live[s]] = next;
      }
      if (stops < 0) break;
      live.erase(live.begin() + stops);
    }
    return true;
  }

  // Anderson's extrapolation of the last sweeps (Bertrand, Massias, AISTATS 2021). Slopes are affine in the coefficients, so
  // those of the combination are the combination of those kept, and it costs no product. Taken where it lowers the violation.
  void accelerate(const Penalty& penalty, const MatrixXd& coefficients, const MatrixXd& slopes) {
    const Index k = coefficients.rows(), depth = coefficients.cols() - 1;
    const MatrixXd u = coefficients.rightCols(depth) - coefficients.leftCols(depth);
    MatrixXd normal = u.transpose() * u;
    normal.diagonal().array() += 1e-10 * normal.trace();
    const Llt factor(normal);
    if (factor.info() != Eigen::Success) return;
    VectorXd w = factor.solve(VectorXd::Ones(depth));
    w /= w.sum();
    if (!w.allFinite()) return;
    const double now = violation(penalty);
    const VectorXd c = coefficient.head(k), s = slope.head(k);
    coefficient.head(k).noalias() = coefficients.rightCols(depth) * w;
    slope.head(k).noalias() = slopes.rightCols(depth) * w;
    for (Index m = 0; penalty.bounded && m < k; ++m) {
      const int j = members[m];
      if (coefficient[m] > penalty.upper[j] || coefficient[m] < penalty.lower[j]) w[0] = infinity;
    }
    if (w.allFinite() && violation(penalty) < now) return;
    coefficient.head(k) = c;
    slope.head(k) = s;
  }

  bool solve(const Penalty& penalty, double threshold, int max_sweeps, int& sweeps, Monitor& monitor) {
    constexpr Index depth = 5;
    const Index k = static_cast<Index>(members.size());
    MatrixXd coefficients(k, depth + 1), slopes(k, depth + 1);
    Index kept = 0;
    // A factorisation of the live coordinates costs some k/3 sweeps of these, but what it spares are sweeps over all members.
    const int patience = 4 + static_cast<int>(members.size() / 16);
    bool newton_works = true;
    for (int done = 1; done <= max_sweeps; ++done) {
      monitor.check();
      ++sweeps;
      if (sweep(penalty) <= threshold && violation(penalty) <= threshold) return true;
      coefficients.col(kept) = coefficient.head(k);
      slopes.col(kept) = slope.head(k);
      if (++kept > depth) {
        accelerate(penalty, coefficients, slopes);
        kept = 0;
      }
      if (newton_works && done % patience == 0) {
        newton_works = newton(penalty);
        kept = 0;
      }
    }
    return false;
  }
};

struct Setup {
  VectorXd weights;  // sum to one
  VectorXd offset;
  VectorXd factor;  // infinity for columns that are left out
};

inline void check_length(const char* what, Index length, Index expected) {
  if (length != 0 && length != expected)
    throw InputError(message("`", what, "` must have length ", expected, " or be empty, not length ", length, "."));
}

inline Setup check_input(Index n, Index p, const ConstVectorRef& y, const LassoOptions& options) {
  if (n < 1 || p < 1) throw InputError(message("the design must have rows and columns, not ", n, " x ", p, "."));
  if (y.size() != n) throw InputError(message("`y` must have one value for each of the ", n, " rows of x, not ", y.size(), "."));
  if (!y.allFinite()) throw InputError("`y` must be finite.");
  check_length("weights", options.weights.size(), n);
  check_length("offset", options.offset.size(), n);
  check_length("penalty_factor", options.penalty_factor.size(), p);
  check_length("lower", options.lower.size(), p);
  check_length("upper", options.upper.size(), p);
  if (!(options.alpha >= 0 && options.alpha <= 1))
    throw InputError(message("`alpha` must be in [0, 1], not ", options.alpha, "."));
  if (!(options.tol > 0)) throw InputError(message("`tol` must be positive, not ", options.tol, "."));
  if (options.lambda.size() == 0 && options.n_lambda < 1)
    throw InputError(message("`n_lambda` must be at least 1, not ", options.n_lambda, "."));
  if (!(options.lambda_min_ratio >= 0 && options.lambda_min_ratio < 1))
    throw InputError(message("`lambda_min_ratio` must be in [0, 1), not ", options.lambda_min_ratio, "."));
  for (Index k = 0; k < options.lambda.size(); ++k)
    if (!(options.lambda[k] >= 0 && options.lambda[k] < infinity))
      throw InputError(message("`lambda` must be zero or positive, but entry ", k + 1, " is ", options.lambda[k], "."));

  Setup setup;
  setup.weights = options.weights.size() ? options.weights : VectorXd::Ones(n);
  if (!setup.weights.allFinite() || setup.weights.minCoeff() < 0 || !(setup.weights.maxCoeff() > 0))
    throw InputError("`weights` must be zero or positive, finite, and not all zero.");
  setup.weights /= setup.weights.maxCoeff();
  setup.weights /= setup.weights.sum();
  setup.offset = options.offset.size() ? options.offset : VectorXd::Zero(n);
  if (!setup.offset.allFinite()) throw InputError("`offset` must be finite.");
  setup.factor = options.penalty_factor.size() ? options.penalty_factor : VectorXd::Ones(p);
  for (Index j = 0; j < p; ++j) {
    if (!(setup.factor[j] >= 0))
      throw InputError(message("`penalty_factor` must be zero or positive, but entry ", j + 1, " is ", setup.factor[j], "."));
    if ((options.lower.size() && !(options.lower[j] <= 0)) || (options.upper.size() && !(options.upper[j] >= 0)))
      throw InputError(message("coefficient bounds must enclose zero, but those of column ", j + 1, " do not."));
  }
  return setup;
}

inline Penalty make_penalty(const LassoOptions& options, const VectorXd& scale) {
  const Index p = scale.size();
  Penalty penalty;
  penalty.l1 = penalty.l2 = VectorXd::Zero(p);
  penalty.lower = VectorXd::Constant(p, -infinity);
  penalty.upper = VectorXd::Constant(p, infinity);
  if (options.lower.size()) penalty.lower = options.lower.cwiseProduct(scale);
  if (options.upper.size()) penalty.upper = options.upper.cwiseProduct(scale);
  penalty.bounded = penalty.lower.maxCoeff() > -infinity || penalty.upper.minCoeff() < infinity;
  return penalty;
}

// The smallest lambda at which all penalised coefficients are zero; for alpha near 0 as if alpha were 0.001, as glmnet.
inline double lambda_max(const Penalty& penalty, const VectorXd& factor, const VectorXd& g, double alpha) {
  double largest = 0;
  for (Index j = 0; j < g.size(); ++j) {
    if (factor[j] == 0 || factor[j] == infinity) continue;
    const bool may_move = g[j] > 0 ? penalty.upper[j] > 0 : penalty.lower[j] < 0;
    if (may_move) largest = std::max(largest, std::abs(g[j]) / factor[j]);
  }
  return (1 + 1e-12) * largest / std::max(alpha, 1e-3);  // so that rounding lets nobody in
}

inline std::vector<double> lambda_grid(const LassoOptions& options, double start, Index n, Index p) {
  std::vector<double> grid;
  if (options.lambda.size()) {
    grid.assign(options.lambda.data(), options.lambda.data() + options.lambda.size());
    std::sort(grid.begin(), grid.end(), std::greater<double>());
    return grid;
  }
  if (start == 0) return {0.0};  // nothing correlates with y, or nothing is penalised
  const double ratio = options.lambda_min_ratio > 0 ? options.lambda_min_ratio : n > p ? 1e-4 : 1e-2;
  for (int k = 0; k < options.n_lambda; ++k)
    grid.push_back(options.n_lambda == 1 ? start : start * std::pow(ratio, k / (options.n_lambda - 1.0)));
  return grid;
}

// Penalties on the way from `from` down to `to`, without the ends: where p > n and nearly every column violates the conditions at
// a small lambda, many of them would become active on the straight way and few leave again.
inline std::vector<double> bridge(double from, double to, Index n, Index p) {
  std::vector<double> steps;
  if (p <= n || !(to > 0 && to < 0.25 * from)) return steps;
  const int count = std::min(20, static_cast<int>(std::ceil(std::log2(from / to))));
  for (int k = 1; k < count; ++k) steps.push_back(from * std::pow(to / from, k / static_cast<double>(count)));
  return steps;
}

// Solves at one penalty, to `tol`. `set` holds the columns that may be active and grows by those found to violate.
template <class Model>
bool solve_step(Model& model, const Penalty& penalty, const VectorXd& variance, std::vector<int>& set, std::vector<char>& in_set,
                const LassoOptions& options, double& residual, Monitor& monitor) {
  const Index p = model.b.size();
  const int first_sweep = model.sweeps;
  const double unit = std::sqrt(model.y_variance);
  double threshold = options.tol * options.tol * model.y_variance;
  for (double before = infinity;;) {
    monitor.check();
    const int left = options.max_iter - (model.sweeps - first_sweep);
    const bool solved = left > 0 && model.solve(set, penalty, threshold, left, monitor);
    bool grew = false;
    residual = 0;
    for (const int j : model.refresh(penalty)) {
      if (model.b[j] != 0 && !in_set[j]) {  // a column whose products are kept may move without being called
        in_set[j] = 1;
        set.push_back(j);
      }
      const double violation = penalty.violation(j, model.b[j], model.g[j]);
      if (violation == 0) continue;
      residual = std::max(residual, violation / (std::sqrt(variance[j]) * unit));
      if (!in_set[j] && violation > options.tol * std::sqrt(variance[j]) * unit) {
        in_set[j] = 1;
        set.push_back(j);
        grew = true;
      }
    }
    if (residual <= options.tol) return true;
    if (!solved) return false;
    if (!grew) {
      // Small steps do not prove small violations when columns are nearly collinear: ask for smaller ones.
      if (threshold < 1e-30 * model.y_variance && residual >= before) return false;
      threshold *= 0.01;
      before = residual;
    }
  }
}

template <class Model>
LassoPath run_path(Model& model, const Setup& setup, const Standardization& columns, double null_deviance, bool logistic, Index n,
                   const LassoOptions& options, Monitor& monitor) {
  const Stopwatch watch;
  const Index p = model.b.size();
  Penalty penalty = make_penalty(options, columns.scale);
  LassoPath path;
  path.null_deviance = null_deviance;
  path.convergence.converged = true;
  path.convergence.residual = path.convergence.gap = 0;

  // Unpenalised columns first: the grid starts where the penalised ones leave zero.
  std::vector<int> set;
  std::vector<char> in_set(p, 0);
  VectorXd null_factor = setup.factor;
  for (Index j = 0; j < p; ++j) {
    if (setup.factor[j] == 0) {
      set.push_back(static_cast<int>(j));
      in_set[j] = 1;
    } else {
      null_factor[j] = infinity;
    }
  }
  model.refresh();
  if (!set.empty() && model.y_variance > 0) {
    double residual;
    penalty.set(0, 1, null_factor);
    solve_step(model, penalty, columns.variance, set, in_set, options, residual, monitor);
  }
  const double start = lambda_max(penalty, setup.factor, model.g, options.alpha);
  std::vector<double> grid;
  std::vector<char> asked;  // for this penalty, or only on the way to one
  for (const double lambda : lambda_grid(options, start, n, p)) {
    for (const double step : bridge(grid.empty() ? start : grid.back(), lambda, n, p)) {
      grid.push_back(step);
      asked.push_back(0);
    }
    grid.push_back(lambda);
    asked.push_back(1);
  }
  LassoOptions rough = options;
  rough.tol = std::max(1e-4, options.tol);
  const bool own_grid = options.lambda.size() > 0;

  std::vector<Eigen::Triplet<double>> entries;
  std::vector<double> lambda, intercept, dev_ratio, objective, residual, gap;
  std::vector<int> df;
  double previous = start, earlier_intercept = 0;
  VectorXd earlier;
  for (std::size_t k = 0; k < grid.size(); ++k) {
    monitor.progress(static_cast<double>(k) / static_cast<double>(grid.size()));
    penalty.set(grid[k], options.alpha, setup.factor);
    const double strong = options.alpha * (2 * grid[k] - previous);
    for (const int j : model.reach(strong, setup.factor)) {
      if (in_set[j] || setup.factor[j] == infinity) continue;
      if (std::abs(model.g[j]) >= strong * setup.factor[j]) {
        in_set[j] = 1;
        set.push_back(j);
      }
    }
    const VectorXd b_last = model.b;
    const double intercept_last = model.raw_intercept();
    if (k >= 2 && model.y_variance > 0 && grid[k - 1] < grid[k - 2])
      model.extrapolate(set, earlier, earlier_intercept, (grid[k] - grid[k - 1]) / (grid[k - 1] - grid[k - 2]), penalty);
    earlier = b_last;
    earlier_intercept = intercept_last;
    double reached = 0;
    bool ok = true;
    if (model.y_variance > 0)
      ok = solve_step(model, penalty, columns.variance, set, in_set, asked[k] ? options : rough, reached, monitor);
    // Columns that stayed at zero leave; the next strong rule may call them again.
    std::size_t kept = 0;
    int active = 0;
    double center = 0;
    for (const int j : set) {
      if (model.b[j] == 0) {
        in_set[j] = setup.factor[j] == 0;
        if (!in_set[j]) continue;
      } else {
        const double b = model.b[j] / columns.scale[j];
        if (asked[k]) entries.emplace_back(j, static_cast<int>(df.size()), b);
        center += b * columns.center[j];
        ++active;
      }
      set[kept++] = j;
    }
    set.resize(kept);
    previous = grid[k];
    if (!asked[k]) continue;
    lambda.push_back(grid[k]);
    intercept.push_back(options.intercept ? model.intercept() - center : 0);
    df.push_back(active);
    dev_ratio.push_back(model.dev_ratio());
    objective.push_back(model.loss() + penalty.value(model.b));
    residual.push_back(reached);
    gap.push_back(model.gap(penalty));
    path.convergence.converged = path.convergence.converged && ok;
    path.convergence.residual = std::max(path.convergence.residual, reached);
    path.convergence.gap = std::max(gap.back(), path.convergence.gap);  // NaN when any is unknown
    if (std::isnan(gap.back())) path.convergence.gap = gap.back();
    if (!ok && path.convergence.message.empty())
      path.convergence.message =
          message("lambda = ", grid[k], " stopped at residual ", reached, " above the tolerance ", options.tol);

    if (k + 1 == grid.size()) break;
    if (dev_ratio.back() > options.max_dev_ratio && (logistic || !own_grid)) {
      path.convergence.message =
          message("the path ends at lambda = ", grid[k], ", which explains ", dev_ratio.back(), " of the deviance");
      break;
    }
    const std::size_t last = df.size() - 1;
    if (!own_grid && last >= 5 && dev_ratio[last] - dev_ratio[last - 1] < options.min_dev_gain * dev_ratio[last]) {
      path.convergence.message =
          message("the path ends at lambda = ", grid[k], ", where the deviance explained has levelled off");
      break;
    }
  }

  const Index fitted = static_cast<Index>(df.size());
  const auto vector = [&](const std::vector<double>& from) { return VectorXd(Eigen::Map<const VectorXd>(from.data(), fitted)); };
  path.lambda = vector(lambda);
  path.intercept = vector(intercept);
  path.df = Eigen::Map<const VectorXi>(df.data(), fitted);
  path.dev_ratio = vector(dev_ratio);
  path.objective = vector(objective);
  path.residual = vector(residual);
  path.gap = vector(gap);
  path.coefficients.resize(p, fitted);
  path.coefficients.setFromTriplets(entries.begin(), entries.end());
  path.convergence.iterations = model.sweeps;
  path.convergence.seconds = watch.seconds();
  return path;
}

}  // namespace granary::lasso_detail
