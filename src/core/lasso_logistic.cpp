#include "lasso.h"
#include "lasso_path.h"

namespace granary {
namespace {

using namespace lasso_detail;

// Newton's method on the loss (iteratively reweighted least squares), each quadratic solved by coordinate descent.
//
// With probabilities pi and v_i = w_i pi_i (1 - pi_i) the quadratic at eta is 1/2 sum_i v_i (eta'_i - eta_i)^2 - u'(eta' - eta),
// u_i = w_i (y_i - pi_i). Coordinate descent keeps u - v (eta' - eta) = `stored` + `shift` * v. The intercept is profiled out
// under the current v, so that these sum to zero and column j acts as if centred at its v-weighted mean.
template <class Columns>
class Logistic {
 public:
  VectorXd b, g;
  double y_variance = 0;
  int sweeps = 0;

  Logistic(const Columns& columns, const VectorXd& y, const Setup& setup, const LassoOptions& options)
      : columns_(columns), y_(y), weights_(setup.weights), with_intercept_(options.intercept), eta_(setup.offset) {
    const Index p = columns.cols(), n = columns.rows();
    b = g = VectorXd::Zero(p);
    mean_ = curvature_ = VectorXd::Zero(p);
    v_.resize(n);
    stored_.resize(n);
    probability_.resize(n);
    saturated_ = 0;
    for (Index i = 0; i < n; ++i)
      for (const double share : {y_[i], 1 - y_[i]})
        if (share > 0) saturated_ -= weights_[i] * share * std::log(share);
    loss_ = evaluate(eta_);
    for (int k = 0; with_intercept_ && k < 200; ++k) {
      set_quadratic();
      const double step = std::max(-5.0, std::min(5.0, stored_.sum() / v_.sum()));
      const VectorXd next = eta_.array() + step;
      const double loss = evaluate(next);
      intercept_ += step;
      eta_ = next;
      loss_ = loss;
      if (std::abs(step) < 1e-14) break;
    }
    null_loss_ = loss_;
    y_variance = (weights_.array() * (y_ - probability_).array().square()).sum();
  }

  bool solve(const std::vector<int>& set, const Penalty& penalty, double threshold, int max_sweeps, Monitor& monitor) {
    double objective = loss_ + penalty.value(b);
    const int first_sweep = sweeps;
    while (sweeps - first_sweep < max_sweeps) {
      set_quadratic();
      const double v_sum = v_.sum();
      for (const int j : set) {
        double first, second;
        columns_.moments(j, v_, first, second);
        mean_[j] = with_intercept_ ? first / v_sum : 0;
        curvature_[j] = std::max(second - mean_[j] * first, 1e-12 * second);
      }
      const VectorXd b_before = b;
      double d0 = 0;
      if (with_intercept_) {
        d0 = stored_.sum() / v_sum;
        shift_ = -d0;
      }
      if (!descend(set, penalty, v_sum, threshold, max_sweeps - (sweeps - first_sweep), monitor)) return false;

      // The step in eta, then the objective; half the step while it does not decrease.
      change_ = VectorXd::Zero(eta_.size());
      double largest = 0;
      for (const int j : set) {
        const double step = b[j] - b_before[j];
        if (step == 0) continue;
        columns_.axpy(j, step, change_);
        d0 -= step * mean_[j];
        largest = std::max(largest, curvature_[j] * step * step);
      }
      if (with_intercept_) {
        change_.array() += d0;
        largest = std::max(largest, v_sum * d0 * d0);
      }
      double length = 1;
      VectorXd b_next = b;
      for (;; length *= 0.5) {
        next_ = eta_ + length * change_;
        const double loss = evaluate(next_);
        for (const int j : set) b_next[j] = b_before[j] + length * (b[j] - b_before[j]);
        const double value = loss + penalty.value(b_next);
        if (value <= objective + 1e-14 * std::abs(objective) || length < 1e-10) {
          objective = value;
          loss_ = loss;
          break;
        }
      }
      if (length < 1) b = b_next;
      eta_.swap(next_);
      intercept_ += length * d0;
      if (largest <= threshold || length < 1e-10) return true;
    }
    return false;
  }

  void refresh() {
    stored_ = weights_.cwiseProduct(y_ - probability_);
    columns_.all_dots(stored_, g);
    if (!Columns::centred && with_intercept_) {
      const double sum = stored_.sum();  // zero up to the tolerance; the profile gradient does not see it
      const auto& s = columns_.standardization;
      g -= sum * s.center.cwiseQuotient(s.scale);
    }
  }

  double loss() const { return loss_; }
  double null_loss() const { return null_loss_ - saturated_; }
  double dev_ratio() const { return null_loss_ > saturated_ ? 1 - (loss_ - saturated_) / (null_loss_ - saturated_) : 0; }
  double gap(const Penalty&) const { return Convergence::unknown; }

  double intercept() const {  // that of centred columns
    if (Columns::centred) return intercept_;
    const auto& s = columns_.standardization;
    return intercept_ + b.dot(s.center.cwiseQuotient(s.scale));
  }

 private:
  // The loss at eta; sets the probabilities.
  double evaluate(const VectorXd& eta) {
    double loss = 0;
    for (Index i = 0; i < eta.size(); ++i) {
      const double e = std::exp(-std::abs(eta[i])), small = e / (1 + e);
      probability_[i] = eta[i] > 0 ? 1 - small : small;
      loss += weights_[i] * (std::max(eta[i], 0.0) + std::log1p(e) - y_[i] * eta[i]);
    }
    return loss;
  }

  void set_quadratic() {
    // The floor keeps a separated observation from making the quadratic flat; step halving covers the difference.
    v_ = weights_.array() * (probability_.array() * (1 - probability_.array())).max(1e-9);
    stored_ = weights_.cwiseProduct(y_ - probability_);
    shift_ = 0;
  }

  double coordinate_step(Index j, const Penalty& penalty, double v_sum) {
    const double now = b[j], a = curvature_[j];
    if (a == 0) return 0;
    const double slope = columns_.dot(j, stored_) + shift_ * v_sum * mean_[j];
    const double next = penalty.minimiser(j, slope + a * now, a);
    if (next == now) return 0;
    const double step = next - now;
    b[j] = next;
    columns_.axpy_weighted(j, -step, v_, stored_);
    shift_ += step * mean_[j];
    return a * step * step;
  }

  bool descend(const std::vector<int>& set, const Penalty& penalty, double v_sum, double threshold, int max_sweeps,
               Monitor& monitor) {
    std::vector<int> active;
    double enough = -1;
    for (int sweep = 0; sweep < max_sweeps;) {
      monitor.check();
      ++sweeps;
      ++sweep;
      double largest = 0;
      for (const int j : set) largest = std::max(largest, coordinate_step(j, penalty, v_sum));
      if (enough < 0) enough = std::max(threshold, 1e-4 * largest);  // far from the solution the quadratic itself is wrong
      if (largest <= enough) return true;
      active.clear();
      for (const int j : set)
        if (b[j] != 0) active.push_back(j);
      // The inner products of k columns, a blocked product, cost some k/20 sweeps; they are worth having when fewer do not
      // suffice.
      const int patience = sweep + (active.size() <= 2000 ? 4 + static_cast<int>(active.size() / 40) : max_sweeps);
      while (sweep < max_sweeps && largest > enough) {
        if (sweep >= patience) {
          const int before = sweeps;
          descend_compact(active, penalty, v_sum, enough, max_sweeps - sweep, monitor);
          sweep += sweeps - before;
          break;
        }
        monitor.check();
        ++sweeps;
        ++sweep;
        largest = 0;
        for (const int j : active) largest = std::max(largest, coordinate_step(j, penalty, v_sum));
      }
    }
    return false;
  }

  void descend_compact(const std::vector<int>& active, const Penalty& penalty, double v_sum, double threshold, int max_sweeps,
                       Monitor& monitor) {
    const Index k = static_cast<Index>(active.size());
    Compact compact;
    compact.members = active;
    compact.products = columns_.weighted_gram(active, v_, mean_);
    compact.coefficient.resize(k);
    compact.slope.resize(k);
    for (Index m = 0; m < k; ++m) {
      const int j = active[m];
      compact.coefficient[m] = b[j];
      compact.slope[m] = columns_.dot(j, stored_) + shift_ * v_sum * mean_[j];
    }
    compact.solve(penalty, threshold, max_sweeps, sweeps, monitor);
    for (Index m = 0; m < k; ++m) {
      const int j = active[m];
      const double step = compact.coefficient[m] - b[j];
      if (step == 0) continue;
      b[j] = compact.coefficient[m];
      columns_.axpy_weighted(j, -step, v_, stored_);
      shift_ += step * mean_[j];
    }
  }

  const Columns& columns_;
  const VectorXd y_;
  const VectorXd& weights_;
  bool with_intercept_;
  VectorXd eta_, next_, change_, probability_, v_, stored_, mean_, curvature_;
  double shift_ = 0, intercept_ = 0, loss_ = 0, null_loss_ = 0, saturated_ = 0;
};

template <class Columns, class Design>
LassoPath fit(const Design& x, const ConstVectorRef& y, const LassoOptions& options, Monitor& monitor) {
  Setup setup = check_input(x.rows(), x.cols(), y, options);
  if (options.update == LassoUpdate::covariance)
    throw InputError("covariance updates are for least squares only; use naive updates for logistic regression.");
  if (y.minCoeff() < 0 || y.maxCoeff() > 1) throw InputError("`y` must be 0 or 1, or a proportion between them.");
  const double mean = setup.weights.dot(y);
  if (options.intercept && (mean <= 0 || mean >= 1))
    throw InputError("`y` is the same class for all observations of positive weight; logistic regression needs both.");
  const VectorXd ones = VectorXd::Ones(x.rows());
  const Columns columns(x, setup.weights, ones, options.intercept, options.standardize);
  if (!columns.standardization.variance.allFinite()) throw InputError("the design must be finite.");
  for (Index j = 0; j < x.cols(); ++j)
    if (columns.standardization.variance[j] == 0) setup.factor[j] = infinity;
  Logistic<Columns> model(columns, y, setup, options);
  const double total = options.weights.size() ? options.weights.sum() : static_cast<double>(x.rows());
  return run_path(model, setup, columns.standardization, 2 * total * model.null_loss(), true, x.rows(), options, monitor);
}

}  // namespace

LassoPath lasso_logistic(ConstMatrixRef x, ConstVectorRef y, const LassoOptions& options, Monitor& monitor) {
  return fit<DenseColumns>(x, y, options, monitor);
}

LassoPath lasso_logistic(const ConstSparseRef& x, ConstVectorRef y, const LassoOptions& options, Monitor& monitor) {
  return fit<SparseColumns>(x, y, options, monitor);
}

}  // namespace granary
