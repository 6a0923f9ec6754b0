#include "core/optim/lasso.h"

#include <algorithm>
#include <utility>

#include "core/optim/lasso_path.h"

namespace granary {
namespace {

using namespace lasso_detail;

// loss = 1/2 |r|^2 with r_i = sqrt(w_i) (y_i - offset_i - b0 - x_i'b); the intercept is profiled out by centring, so that
// sum_i sqrt(w_i) r_i = 0 throughout. For a sparse design r is `stored` + `shift` * sqrt(w).
template <class Columns>
class LeastSquares {
 public:
  VectorXd b, g;
  double y_variance = 0;
  int sweeps = 0;

  LeastSquares(const Columns& columns, const VectorXd& y, const VectorXd& root_weights, const LassoOptions& options,
               Index path_length)
      : columns_(columns), root_(root_weights), curvature_(columns.standardization.variance) {
    const Index p = columns.cols();
    const auto& s = columns.standardization;
    b = g = VectorXd::Zero(p);
    mean_ = VectorXd::Zero(p);
    if (!Columns::centred && options.intercept) mean_ = s.center.cwiseQuotient(s.scale);
    y_mean_ = options.intercept ? root_.cwiseAbs2().dot(y) : 0;
    stored_ = root_.cwiseProduct((y.array() - y_mean_).matrix());
    y_variance = stored_.squaredNorm();
    if (y_variance <= 1e-28 * y_mean_ * y_mean_) {  // constant up to rounding
      y_variance = 0;
      stored_.setZero();
    }
    // All inner products at once is one blocked matrix product, worth some tens of products with the residual.
    const bool small = p <= std::min<Index>(2000, 15 * path_length + 20);
    whole_ = options.update == LassoUpdate::covariance ? p <= 2000 && p <= columns.rows() : false;
    if (options.update == LassoUpdate::automatic) whole_ = small && p <= columns.rows();
    covariance_ = options.update != LassoUpdate::naive;
    if (options.update == LassoUpdate::automatic) limit_ = std::min(4000.0, 2 * columns.work_per_column());
    if (whole_) {
      gram_ = columns.gram();
      start_.resize(p);
      columns_.all_dots(stored_, start_);
      g = start_;
    }
    if (covariance_) slot_.assign(p, -1);
    length_ = (1 + 1e-9) * curvature_.cwiseSqrt();
    seen_ = VectorXd::Constant(p, unknown);
    last_ = stored_;
  }

  bool solve(const std::vector<int>& set, const Penalty& penalty, double threshold, int max_sweeps, Monitor& monitor) {
    if (covariance_ && !whole_ && compact_.members.size() > limit_) covariance_ = false;
    return covariance_ ? solve_covariance(set, penalty, threshold, max_sweeps, monitor)
                       : solve_naive(set, penalty, threshold, max_sweeps, monitor);
  }

  void refresh() {
    settle();
    if (!whole_) columns_.all_dots(stored_, g);
    seen_.setConstant(gone_);
  }
  const std::vector<int>& refresh(const Penalty& penalty) {
    settle();
    return beyond(penalty.l1);
  }
  const std::vector<int>& reach(double level, const VectorXd& factor) {
    limit_of_ = level * factor;
    return beyond(limit_of_);
  }

  // The solution is piecewise linear in lambda, so the line through the last two leads towards the next; the objective is a
  // parabola along it, and its minimum is the start.
  void extrapolate(const std::vector<int>& set, const VectorXd& earlier, double, double ratio, const Penalty& penalty) {
    if (covariance_) return;  // the compact problem has better means
    VectorXd fitted = VectorXd::Zero(stored_.size());
    double fitted_shift = 0, descent = 0, curvature = 0;
    for (const int j : set) {
      const double step = penalty.along(j, b[j], earlier[j], ratio) - b[j];
      if (step == 0) continue;
      descent += step * (g[j] - penalty.l2[j] * b[j] - (b[j] > 0 ? penalty.l1[j] : -penalty.l1[j]));
      curvature += penalty.l2[j] * step * step;
      columns_.axpy(j, step, fitted);
      fitted_shift += step * mean_[j];
    }
    curvature += fitted.squaredNorm() - fitted_shift * fitted_shift;
    if (!(descent > 0 && curvature > 0)) return;
    const double length = std::min(1.0, descent / curvature);
    for (const int j : set) b[j] += length * (penalty.along(j, b[j], earlier[j], ratio) - b[j]);
    stored_ -= length * fitted;
    shift_ += length * fitted_shift;
  }

  double raw_intercept() const { return 0; }
  double loss() const { return 0.5 * residual_square(); }
  double dev_ratio() const { return y_variance > 0 ? 1 - residual_square() / y_variance : 0; }
  double intercept() const { return y_mean_; }

  // The residual, scaled until no |x_j'r - l2_j b_j| exceeds l1_j, is feasible in the dual of the problem with rows sqrt(l2_j)
  // added.
  double gap(const Penalty& penalty) const {
    if (penalty.bounded) return Convergence::unknown;
    double scale = 1, ridge = 0, fitted = 0;  // every other column allows a scale above 1
    for (const int j : beyond_) {
      if (penalty.l1[j] == infinity || curvature_[j] == 0) continue;
      const double slope = std::abs(g[j] - penalty.l2[j] * b[j]);
      if (slope > 0) scale = std::min(scale, penalty.l1[j] / slope);
      ridge += penalty.l2[j] * b[j] * b[j];
      fitted += b[j] * g[j];
    }
    if (scale == 0) return Convergence::unknown;
    const double square = residual_square(), with_y = square + fitted;  // r'y = r'r + r'Xb
    const double best = std::min(scale, with_y / (square + ridge));
    const double dual = square + ridge > 0 ? best * with_y - 0.5 * best * best * (square + ridge) : 0;
    return std::max(0.0, 0.5 * square + penalty.value(b) - dual);
  }

 private:
  // The residual as it is now, and how far it has gone.
  void settle() {
    if (whole_) {
      g = start_;
      for (const int j : compact_.members)
        if (b[j] != 0) g.noalias() -= b[j] * gram_.col(j);
      seen_.setConstant(gone_);
      return;
    }
    if (shift_ != 0) {
      stored_ += shift_ * root_;
      shift_ = 0;
    }
    gone_ += (stored_ - last_).norm();
    last_ = stored_;
  }

  // The columns that are not zero or where |x_j'r| may reach a limit, and g there. Where g_j is of an earlier residual, |x_j'r|
  // is at most |g_j| plus the length of x_j times the way the residual has gone since.
  const std::vector<int>& beyond(const VectorXd& limit) {
    beyond_.clear();
    stale_.clear();
    for (Index j = 0; j < b.size(); ++j) {
      const double way = gone_ - seen_[j];
      if (b[j] == 0 && !(std::abs(g[j]) + length_[j] * way >= limit[j])) continue;
      beyond_.push_back(static_cast<int>(j));
      if (way != 0) stale_.push_back(static_cast<int>(j));
    }
    columns_.some_dots(stale_, stored_, g);
    for (const int j : stale_) seen_[j] = gone_;
    return beyond_;
  }

  double residual_square() const {
    if (!whole_) return stored_.squaredNorm();
    return std::max(0.0, y_variance - b.dot(start_ + g));  // y'y - 2 b'X'y + b'X'Xb
  }

  double step_naive(Index j, const Penalty& penalty) {  // the decrease it is worth
    const double now = b[j], a = curvature_[j];
    const double next = penalty.minimiser(j, columns_.dot(j, stored_) + shift_ * mean_[j] + a * now, a);
    if (next == now) return 0;
    const double step = next - now;
    b[j] = next;
    columns_.axpy(j, -step, stored_);
    shift_ += step * mean_[j];
    return a * step * step;
  }

  bool solve_naive(const std::vector<int>& set, const Penalty& penalty, double threshold, int max_sweeps, Monitor& monitor) {
    for (const int j : set) seen_[j] = unknown;
    std::vector<int> active;
    for (int sweep = 0; sweep < max_sweeps;) {
      monitor.check();
      ++sweeps;
      ++sweep;
      double largest = 0;
      for (const int j : set) largest = std::max(largest, step_naive(j, penalty));
      if (largest <= threshold) return true;
      active.clear();
      for (const int j : set)
        if (b[j] != 0) active.push_back(j);
      while (sweep < max_sweeps && largest > threshold) {
        monitor.check();
        ++sweeps;
        ++sweep;
        largest = 0;
        for (const int j : active) largest = std::max(largest, step_naive(j, penalty));
      }
    }
    return false;
  }

  // Column j joins those whose inner products are kept, in `compact_`.
  void admit(int j) {
    if (slot_[j] >= 0) return;
    const Index k = static_cast<Index>(compact_.members.size());
    compact_.reserve(k + 1);
    slot_[j] = static_cast<int>(k);
    compact_.members.push_back(j);
    double* column = compact_.products.col(k).data();
    if (whole_) {
      for (Index m = 0; m <= k; ++m) column[m] = gram_(compact_.members[m], j);
    } else {
      columns_.gram_row(j, compact_.members, work_, column);
    }
    for (Index m = 0; m < k; ++m) compact_.products(k, m) = column[m];
  }

  // At most as many as there are already: far below the last lambda nearly all columns violate the conditions, a few of them are
  // in the solution, and their products would take more room than the design.
  bool admit_violators(const std::vector<int>& set, const Penalty& penalty) {
    std::vector<std::pair<double, int>> fresh;
    for (const int j : set) {
      const double violation = slot_[j] < 0 ? penalty.violation(j, b[j], g[j]) : 0;
      if (violation > 0) fresh.emplace_back(-violation * violation / curvature_[j], j);
    }
    const std::size_t room = std::max<std::size_t>(256, compact_.members.size());
    if (!whole_ && fresh.size() > room) {
      std::nth_element(fresh.begin(), fresh.begin() + room, fresh.end());
      fresh.resize(room);
    }
    for (const auto& column : fresh) admit(column.second);
    return !fresh.empty();
  }

  bool solve_covariance(const std::vector<int>& set, const Penalty& penalty, double threshold, int max_sweeps, Monitor& monitor) {
    admit_violators(set, penalty);
    int sweep = 0;
    for (;;) {
      const Index k = static_cast<Index>(compact_.members.size());
      for (Index m = 0; m < k; ++m) {
        compact_.coefficient[m] = b[compact_.members[m]];
        compact_.slope[m] = g[compact_.members[m]];
      }
      const int before = sweeps;
      const bool solved = compact_.solve(penalty, threshold, max_sweeps - sweep, sweeps, monitor);
      sweep += sweeps - before;
      for (Index m = 0; m < k; ++m) {
        const int j = compact_.members[m];
        const double step = compact_.coefficient[m] - b[j];
        g[j] = compact_.slope[m];
        seen_[j] = unknown;
        if (step == 0) continue;
        b[j] = compact_.coefficient[m];
        if (whole_) continue;
        columns_.axpy(j, -step, stored_);
        shift_ += step * mean_[j];
      }
      if (!solved) return false;
      if (whole_) return true;  // the caller's check of all columns costs next to nothing
      for (const int j : set) {
        if (slot_[j] >= 0) continue;
        g[j] = columns_.dot(j, stored_) + shift_ * mean_[j];
        seen_[j] = unknown;
      }
      if (!admit_violators(set, penalty)) return true;
    }
  }

  const Columns& columns_;
  const VectorXd& root_;  // sqrt(w)
  const VectorXd& curvature_;
  VectorXd stored_, mean_, start_;  // start_ = X'y
  // Where r had gone, as the length of its way, when g_j was computed; unknown: somewhere between two places.
  static constexpr double unknown = -std::numeric_limits<double>::max();
  VectorXd seen_, last_, length_;
  VectorXd limit_of_;
  double gone_ = 0;
  std::vector<int> beyond_, stale_;
  double shift_ = 0, y_mean_ = 0, limit_ = infinity;
  bool covariance_ = false, whole_ = false;
  MatrixXd gram_;          // all inner products, when `whole_`
  std::vector<int> slot_;  // place in `compact_`, or -1
  Compact compact_;
  VectorXd work_;
};

template <class Columns, class Design>
LassoPath fit(const Design& x, const ConstVectorRef& y, const LassoOptions& options, Monitor& monitor) {
  Setup setup = check_input(x.rows(), x.cols(), y, options);
  const VectorXd root = setup.weights.cwiseSqrt();
  const Columns columns(x, setup.weights, root, options.intercept, options.standardize);
  if (!columns.standardization.variance.allFinite()) throw InputError("the design must be finite.");
  for (Index j = 0; j < x.cols(); ++j)
    if (columns.standardization.variance[j] == 0) setup.factor[j] = infinity;
  const Index length = options.lambda.size() ? options.lambda.size() : options.n_lambda;
  LeastSquares<Columns> model(columns, y - setup.offset, root, options, length);
  const double total = options.weights.size() ? options.weights.sum() : static_cast<double>(x.rows());
  return run_path(model, setup, columns.standardization, total * model.y_variance, false, x.rows(), options, monitor);
}

}  // namespace

LassoPath lasso(ConstMatrixRef x, ConstVectorRef y, const LassoOptions& options, Monitor& monitor) {
  return fit<DenseColumns>(x, y, options, monitor);
}

LassoPath lasso(const ConstSparseRef& x, ConstVectorRef y, const LassoOptions& options, Monitor& monitor) {
  return fit<SparseColumns>(x, y, options, monitor);
}

}  // namespace granary
