#include "core/optim/lasso.h"
#include "core/optim/lasso_path.h"

namespace granary {
namespace {

using namespace lasso_detail;

// How far a Newton step is followed, relative to the violation it sets out to mend, both squared: closely where sweeps run on kept
// products; otherwise only as far as the violation itself, as sweeps under fresh second derivatives are worth as much and more.
constexpr double inexactness = 2e-2, naive_inexactness = 1;

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
    for (Index j = 0; j < p; ++j) all_.push_back(static_cast<int>(j));
    mean_ = curvature_ = VectorXd::Zero(p);
    // Sparse columns are cheap to sweep over, and their weighted products as dear as dense ones: keeping these does not pay.
    limit_ = Columns::centred ? std::min(4000.0, 2 * columns.work_per_column()) : 0;
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

  // Proximal Newton steps. The second derivatives are those at the current eta, or, where the inner products of the active
  // columns are kept, those at an earlier one, rescaled to the curvature last seen along a step.
  bool solve(const std::vector<int>& set, const Penalty& penalty, double threshold, int max_sweeps, Monitor& monitor) {
    const VectorXd& variance = columns_.standardization.variance;
    const int first_sweep = sweeps;
    double objective = loss_ + penalty.value(b);
    in_sight_.assign(b.size(), 0);
    for (const int j : set) in_sight_[j] = 1;
    for (int step = 0; sweeps - first_sweep < max_sweeps; ++step) {
      monitor.check();
      stored_ = weights_.cwiseProduct(y_ - probability_);
      const double u_sum = with_intercept_ ? stored_.sum() : 0;
      double worst = u_sum * u_sum;
      candidates_.clear();
      for (const int j : set) {
        g[j] = columns_.dot(j, stored_) - (Columns::centred ? 0 : u_sum * shift(j));
        const double violation = penalty.violation(j, b[j], g[j]);
        if (violation > 0) worst = std::max(worst, violation * violation / variance[j]);
        if (b[j] != 0 || violation > 0) candidates_.push_back(j);
      }
      if (worst <= threshold) return true;
      before_ = b;
      double d0 = 0;
      const int allowed = max_sweeps - (sweeps - first_sweep);
      if (keep_products(step)) {
        d0 = descend_kept(penalty, u_sum, worst, allowed, monitor);
      } else {
        set_quadratic();
        d0 = descend(penalty, u_sum, worst, threshold, allowed, monitor);
      }

      // The step in eta, then the objective; half the step while it does not decrease.
      change_.setConstant(eta_.size(), d0);
      for (const int j : touched_)
        if (b[j] != before_[j]) columns_.axpy(j, b[j] - before_[j], change_);
      double length = 1;
      for (;; length *= 0.5) {
        next_ = eta_ + length * change_;
        const double loss = evaluate(next_);
        if (length < 1)
          for (const int j : touched_) b[j] = before_[j] + 0.5 * (b[j] - before_[j]);
        const double value = loss + penalty.value(b);
        if (value <= objective + 1e-14 * std::abs(objective) || length < 1e-10) {
          objective = value;
          loss_ = loss;
          break;
        }
      }
      eta_.swap(next_);
      intercept_ += length * d0;
      if (length < 1e-10) return true;
      measure_curvature(length);
    }
    return false;
  }

  // Starts the next lambda where the line through the last two solutions meets it; undone if that is no better.
  void extrapolate(const std::vector<int>& set, const VectorXd& earlier, double earlier_intercept, double ratio,
                   const Penalty& penalty) {
    const double objective = loss_ + penalty.value(b);
    before_ = b;
    const double d0 = with_intercept_ ? ratio * (intercept_ - earlier_intercept) : 0;
    change_.setConstant(eta_.size(), d0);
    for (const int j : set) {
      b[j] = penalty.along(j, b[j], earlier[j], ratio);
      if (b[j] != before_[j]) columns_.axpy(j, b[j] - before_[j], change_);
    }
    next_ = eta_ + change_;
    const double loss = evaluate(next_);
    if (loss + penalty.value(b) < objective) {
      eta_.swap(next_);
      intercept_ += d0;
      loss_ = loss;
    } else {
      b = before_;
      evaluate(eta_);
    }
  }

  double raw_intercept() const { return intercept_; }

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
  const std::vector<int>& refresh(const Penalty&) {
    refresh();
    return all_;
  }
  const std::vector<int>& reach(double, const VectorXd&) { return all_; }
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

  double shift(Index j) const { return columns_.standardization.center[j] / columns_.standardization.scale[j]; }

  void set_quadratic() {
    // The floor keeps a separated observation from making the quadratic flat; step halving covers the difference.
    v_ = weights_.array() * (probability_.array() * (1 - probability_.array())).max(1e-9);
    v_sum_ = v_.sum();
    stored_ = weights_.cwiseProduct(y_ - probability_);
    shift_ = 0;
  }

  double coordinate_step(Index j, const Penalty& penalty) {
    const double now = b[j], a = curvature_[j];
    if (a == 0) return 0;
    const double slope = columns_.dot(j, stored_) + shift_ * v_sum_ * mean_[j];
    const double next = penalty.minimiser(j, slope + a * now, a);
    if (next == now) return 0;
    const double step = next - now;
    b[j] = next;
    columns_.axpy_weighted(j, -step, v_, stored_);
    shift_ += step * mean_[j];
    return a * step * step;
  }

  // On the quadratic at eta, over the candidates, with the residual kept. Returns the step of the intercept.
  double descend(const Penalty& penalty, double u_sum, double worst, double threshold, int max_sweeps, Monitor& monitor) {
    for (const int j : candidates_) {
      double first, second;
      columns_.moments(j, v_, first, second);
      mean_[j] = with_intercept_ ? first / v_sum_ : 0;
      curvature_[j] = std::max(second - mean_[j] * first, 1e-12 * second);
    }
    touched_ = candidates_;
    const double d0 = u_sum / v_sum_;
    shift_ = -d0;
    const double enough = std::max(0.1 * threshold, naive_inexactness * worst);
    std::vector<int> active;
    bool small = false;
    for (int sweep = 0; sweep < max_sweeps && !small;) {
      monitor.check();
      ++sweeps;
      ++sweep;
      double largest = 0;
      for (const int j : candidates_) largest = std::max(largest, coordinate_step(j, penalty));
      small = largest <= enough;
      active.clear();
      for (const int j : candidates_)
        if (b[j] != 0) active.push_back(j);
      while (sweep < max_sweeps && largest > enough) {
        monitor.check();
        ++sweeps;
        ++sweep;
        largest = 0;
        for (const int j : active) largest = std::max(largest, coordinate_step(j, penalty));
      }
    }
    return intercept_step(d0);
  }

  double intercept_step(double d0) const {
    if (!with_intercept_) return 0;
    for (const int j : touched_) d0 -= (b[j] - before_[j]) * mean_[j];
    return d0;
  }

  // Whether to work with kept inner products, and these brought up to date. They are computed afresh when the steps beyond the
  // second at each lambda, which good second derivatives would have saved, have cost as much.
  bool keep_products(int step) {
    const double k = static_cast<double>(candidates_.size());
    if (k > limit_) {
      products_ = Compact();
      limit_ = 0;
    }
    if (limit_ == 0) return false;
    if (slot_.empty()) slot_.assign(b.size(), -1);
    if (step >= 2) wasted_ += 2 * columns_.work_per_column() * k + 20 * k * k;
    const bool crowded = static_cast<double>(products_.members.size()) > limit_;
    if (products_.members.empty() || crowded || wasted_ > 0.5 * columns_.work_per_column() * k * k) {
      wasted_ = 0;
      for (const int j : products_.members) slot_[j] = -1;
      set_quadratic();
      for (const int j : candidates_) {
        double second;
        columns_.moments(j, v_, mean_[j], second);
        mean_[j] = with_intercept_ ? mean_[j] / v_sum_ : 0;
        slot_[j] = 0;
      }
      products_.members = candidates_;
      products_.products = columns_.weighted_gram(candidates_, v_, mean_);
      return true;
    }
    std::vector<int> fresh;
    for (const int j : candidates_) {
      if (slot_[j] >= 0) continue;
      slot_[j] = 0;
      fresh.push_back(j);
      double second;
      columns_.moments(j, v_, mean_[j], second);
      mean_[j] = with_intercept_ ? mean_[j] / v_sum_ : 0;
    }
    const Index before = static_cast<Index>(products_.members.size()), added = static_cast<Index>(fresh.size());
    if (added == 0) return true;
    products_.reserve(before + added);
    products_.members.insert(products_.members.end(), fresh.begin(), fresh.end());
    MatrixXd block;
    columns_.weighted_rows(fresh, products_.members, v_, mean_, v_sum_, block);
    products_.products.block(0, before, before + added, added) = block;
    products_.products.block(before, 0, added, before) = block.topRows(before).transpose();
    return true;
  }

  double descend_kept(const Penalty& penalty, double u_sum, double worst, int max_sweeps, Monitor& monitor) {
    const Index k = static_cast<Index>(products_.members.size());
    products_.coefficient.resize(std::max(k, products_.products.rows()));
    products_.slope.resize(std::max(k, products_.products.rows()));
    stored_ = weights_.cwiseProduct(y_ - probability_);
    touched_ = products_.members;
    for (Index m = 0; m < k; ++m) {
      const int j = products_.members[m];
      products_.coefficient[m] = b[j];
      const double raw = in_sight_[j] ? g[j] + (Columns::centred ? 0 : u_sum * shift(j)) : columns_.dot(j, stored_);
      products_.slope[m] = raw - u_sum * mean_[j];
    }
    products_.solve(penalty, inexactness * worst, max_sweeps, sweeps, monitor);
    for (Index m = 0; m < k; ++m) b[products_.members[m]] = products_.coefficient[m];
    return intercept_step(u_sum / v_sum_);
  }

  // Rescales the kept second derivatives to what the last step saw: sum_i v_i change_i^2 under the new and the kept v.
  void measure_curvature(double length) {
    if (limit_ == 0 || products_.members.empty()) return;
    double kept = 0, now = 0;
    for (Index i = 0; i < change_.size(); ++i) {
      const double square = change_[i] * change_[i];
      kept += v_[i] * square;
      now += weights_[i] * probability_[i] * (1 - probability_[i]) * square;
    }
    if (!(kept > 0) || length < 1e-10) return;
    const double factor = std::max(0.5, std::min(2.0, now / kept));
    if (std::abs(factor - 1) < 0.01) return;
    const Index k = static_cast<Index>(products_.members.size());
    products_.products.topLeftCorner(k, k) *= factor;
    v_ *= factor;
    v_sum_ *= factor;
  }

  const Columns& columns_;
  const VectorXd y_;
  const VectorXd& weights_;
  bool with_intercept_;
  VectorXd eta_, next_, change_, probability_, v_, stored_, mean_, curvature_, before_;
  double shift_ = 0, v_sum_ = 0, intercept_ = 0, loss_ = 0, null_loss_ = 0, saturated_ = 0, wasted_ = 0, limit_ = 0;
  std::vector<int> candidates_, touched_, slot_;
  std::vector<char> in_sight_;  // in the set being solved for, so that g is up to date
  Compact products_;            // under the weights v_
  std::vector<int> all_;
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

LassoPath lasso_path(const Design& x, ConstVectorRef y, const LassoOptions& options, Monitor& monitor) {
  const bool logistic = options.family == LassoFamily::binomial;
  const auto fitted = [&](const auto& design) { return logistic ? lasso_logistic(design, y, options, monitor) : lasso(design, y, options, monitor); };
  return x.is_sparse() ? fitted(ConstSparseRef(x.sparse())) : fitted(ConstMatrixRef(x.dense()));
}

}  // namespace granary
