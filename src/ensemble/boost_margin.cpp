#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "ensemble/boost.h"
#include "ensemble/boost_theory.h"

namespace granary::ensemble {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity(), most_target = 1 - 1e-12;
constexpr int recalls = 10;  // of a learner whose answer is no better than the target, on resampled weights

// Answers u_i = y_i h(x_i) to a distribution d.
class MarginAnswers {
 public:
  MarginAnswers(const Design& x, const VectorXd& sign, const VectorXd& first, const BoostOptions& options, const CustomAnswer& custom, Monitor& monitor)
      : sign_(sign), options_(options), costs_(2, sign.size()) {
    if (options.learner == LearnerKind::tree) {
      trees_ = std::make_unique<TreeLearner>(x, options.levels, options.max_leaves, options.min_leaf, options.threads);
    } else if (options.learner == LearnerKind::custom) {
      custom_ = std::make_unique<CustomLearner>(custom);
    } else {
      if (x.is_sparse()) throw InputError("the answers of a pool must be a matrix, not a sparse one.");
      pool_ = x.dense();
      if (!(pool_.cwiseAbs().maxCoeff() <= 1 + 1e-12)) throw InputError("the answers of a pool must lie in [-1, 1].");
      pool_.array().colwise() *= sign_.array();
      if (options.selection != BoostSelection::best) best_margin_ = game_value(first, monitor);
    }
  }

  bool exact() const {
    return options_.learner == LearnerKind::pool ? options_.selection == BoostSelection::best
                                                 : options_.learner == LearnerKind::tree && options_.max_leaves == 2 && options_.min_leaf == 1;
  }
  bool binary() const { return options_.learner == LearnerKind::tree; }
  TreeLearner* trees() { return trees_.get(); }
  std::vector<int> picks;

  VectorXd next(const VectorXd& d, Rng& rng, Monitor& monitor) {
    if (pool_.size() > 0) {
      const VectorXd edges = pool_.transpose() * d;
      picks.push_back(static_cast<int>(choose(edges, rng)));
      return pool_.col(picks.back());
    }
    for (Index i = 0; i < d.size(); ++i) {
      costs_(sign_[i] > 0 ? 1 : 0, i) = 0;
      costs_(sign_[i] > 0 ? 0 : 1, i) = d[i];
    }
    if (trees_) {
      picks.push_back(static_cast<int>(picks.size()));
      return ((2 * trees_->learn(costs_, rng, monitor).array() - 1) * sign_.array()).matrix();
    }
    const VectorXd h = custom_->learn(costs_, rng, monitor);
    if (h.size() != d.size()) throw InputError(message("the learner must answer for every row, ", d.size(), ", but it answered for ", h.size(), "."));
    if (!(h.cwiseAbs().maxCoeff() <= 1 + 1e-12)) throw InputError("the learner must answer with classes or with numbers in [-1, 1].");
    picks.push_back(tried_++);
    return (h.array() * sign_.array()).matrix();
  }
  void forget_last() {
    if (trees_) trees_->forget_last();
    picks.pop_back();
  }
  void restart() {
    if (trees_) trees_->clear();
    picks.clear();
  }

 private:
  // The margin the whole pool can reach on the rows that count.
  double game_value(const VectorXd& first, Monitor& monitor) const {
    std::vector<Index> rows;
    for (Index i = 0; i < first.size(); ++i)
      if (first[i] > 0) rows.push_back(i);
    MatrixXd payoff(pool_.cols(), static_cast<Index>(rows.size()));
    for (std::size_t i = 0; i < rows.size(); ++i) payoff.col(static_cast<Index>(i)) = pool_.row(rows[i]).transpose();
    return solve_matrix_game(payoff, {}, monitor).value;
  }
  Index choose(const VectorXd& edges, Rng& rng) const {
    Index best = first_largest(edges.data(), edges.size());
    if (options_.selection == BoostSelection::best) return best;
    std::vector<Index> good;
    for (Index j = 0; j < edges.size(); ++j)
      if (edges[j] >= best_margin_ - 1e-12) {
        good.push_back(j);
        if (edges[j] < edges[best]) best = j;
      }
    if (good.empty() || options_.selection == BoostSelection::worst) return best;
    return good[rng.below(static_cast<Index>(good.size()))];
  }

  const VectorXd& sign_;
  const BoostOptions& options_;
  MatrixXd costs_, pool_;  // pool_: y_i h_j(x_i)
  double best_margin_ = 0;
  int tried_ = 0;
  std::unique_ptr<TreeLearner> trees_;
  std::unique_ptr<CustomLearner> custom_;
};

class MarginBooster {
 public:
  MarginBooster(const VectorXd& sign, const VectorXd& first, const BoostOptions& options, MarginAnswers& answers, Rng& rng, Monitor& monitor)
      : sign_(sign), first_(first), options_(options), answers_(answers), rng_(rng), monitor_(monitor), n_(sign.size()) {
    for (Index i = 0; i < n_; ++i) counted_ += first[i] > 0;
    out_.nu = options.nu > 0 ? options.nu : std::sqrt(2 * std::log(static_cast<double>(std::max<Index>(2, counted_))) / options.n_rounds);
    out_.exact = answers.exact();
  }

  BoostResult run() {
    Stopwatch watch;
    const int rounds = options_.n_rounds;
    switch (options_.method) {
      case BoostMethod::marginal: bisect(); break;
      case BoostMethod::two_pass: {
        once(BoostMethod::star, 0, rounds / 2, infinite);
        if (out_.end == BoostEnd::perfect || rounds < 2) break;
        const double smallest = least_edge_;
        once(BoostMethod::rho, least_edge_ - out_.nu, rounds - rounds / 2, infinite);
        least_edge_ = std::min(least_edge_, smallest);
        break;
      }
      case BoostMethod::lpboost: totally_corrective(); break;
      default: once(options_.method, options_.rho, rounds, infinite);
    }
    finish();
    out_.convergence.seconds = watch.seconds();
    return std::move(out_);
  }

 private:
  void restart() {
    f_ = VectorXd::Zero(n_);
    sum_ = 0;
    margin_ = -1;
    least_edge_ = 1;
    log_bound_ = 0;
    answers_.restart();
    for (auto* v : {&out_.alpha, &out_.edge, &out_.loss, &out_.bound, &out_.error, &out_.target, &out_.margin, &out_.upper}) v->clear();
  }

  // d_i in proportion to d_i(1) exp(-F_i).
  VectorXd distribution(double* log_sum = nullptr) const {
    VectorXd d(n_);
    double most = -infinite;
    for (Index i = 0; i < n_; ++i)
      if (first_[i] > 0) most = std::max(most, -f_[i]);
    for (Index i = 0; i < n_; ++i) d[i] = first_[i] > 0 ? first_[i] * std::exp(-f_[i] - most) : 0;
    const double sum = d.sum();
    if (log_sum) *log_sum = std::log(sum) + most;
    return d / sum;
  }

  double smallest_margin(const VectorXd& f) const {
    double low = infinite;
    for (Index i = 0; i < n_; ++i)
      if (first_[i] > 0) low = std::min(low, f[i]);
    return low;
  }

  double aim(BoostMethod method, double rho, double last, double log_sum) const {
    switch (method) {
      case BoostMethod::star: return least_edge_ - out_.nu;
      case BoostMethod::rho: return rho;
      case BoostMethod::arc_gv: return std::max(last, sum_ > 0 ? margin_ : 0.0);
      case BoostMethod::coordinate_ascent: return sum_ > 0 ? std::max(0.0, -(log_sum + std::log(static_cast<double>(counted_))) / sum_) : 0;
      default: return 0;
    }
  }

  // AdaBoost towards targets for some rounds, or until the margin reaches `enough`.
  void once(BoostMethod method, double rho, int rounds, double enough) {
    restart();
    double last = 0;
    out_.end = BoostEnd::rounds;
    for (int t = 0; t < rounds; ++t) {
      monitor_.progress(static_cast<double>(t) / rounds);
      double log_sum = 0;
      const VectorXd d = distribution(&log_sum);
      VectorXd u = answers_.next(d, rng_, monitor_);
      double gamma = d.dot(u);
      if (t > 0 && !answers_.exact() && options_.selection == BoostSelection::best) again(d, u, gamma, method, rho, last, log_sum);
      if (perfect(u)) {
        alone(u);
        break;
      }
      if (gamma < least_edge_) {
        least_edge_ = gamma;
        out_.best_weights = d;
      }
      double wanted = aim(method, rho, last, log_sum);
      // What the learner says of the best margin may be too low where it is not exact: never aim below what is reached (Section 5.1).
      if (method == BoostMethod::star && !answers_.exact() && sum_ > 0 && wanted <= margin_ && gamma > margin_ + out_.nu) wanted = margin_ + out_.nu;
      const double target = std::min(most_target, std::max(-most_target, wanted));
      last = target;
      double alpha = options_.line_search ? search(d, u, target) : std::atanh(std::min(gamma, most_target)) - std::atanh(target);
      if (method == BoostMethod::arc_gv) alpha = std::min(alpha, 1.0);
      if (!(alpha > 1e-14)) {
        answers_.forget_last();
        out_.end = BoostEnd::no_edge;
        break;
      }
      add(u, alpha * options_.shrinkage, gamma, target);
      if (margin_ >= enough) break;
      if (options_.tol > 0 && out_.exact && least_edge_ - margin_ <= options_.tol) {
        out_.end = BoostEnd::gap;
        break;
      }
    }
    out_.run_rho.push_back(method == BoostMethod::rho || method == BoostMethod::adaboost ? rho : last);
    out_.run_lower.push_back(margin_);
    out_.run_upper.push_back(least_edge_);
    out_.run_rounds.push_back(static_cast<int>(out_.alpha.size()));
  }

  // A learner that is not exact is asked again, on weights drawn anew, while its edge lies below what is already reached (Section 5.1).
  void again(const VectorXd& d, VectorXd& u, double& gamma, BoostMethod method, double rho, double last, double log_sum) {
    for (int r = 0; r < recalls; ++r) {
      const double target = method == BoostMethod::star ? std::min(least_edge_, gamma) - out_.nu : aim(method, rho, last, log_sum);
      if (gamma > std::max(margin_, target)) return;
      VectorXd drawn = VectorXd::Zero(n_), cumulative(n_);
      double sum = 0;
      for (Index i = 0; i < n_; ++i) cumulative[i] = sum += d[i];
      for (Index i = 0; i < n_; ++i) {
        const double* at = std::upper_bound(cumulative.data(), cumulative.data() + n_, rng_.uniform() * sum);
        drawn[std::min<Index>(n_ - 1, at - cumulative.data())] += 1.0 / static_cast<double>(n_);
      }
      const VectorXd other = answers_.next(drawn, rng_, monitor_);
      const double edge = d.dot(other);
      if (edge > gamma) {
        drop_before_last();
        u = other;
        gamma = edge;
      } else {
        answers_.forget_last();
      }
    }
  }
  void drop_before_last() {
    if (answers_.trees()) answers_.trees()->forget_before_last();
    auto& picks = answers_.picks;
    if (answers_.trees()) picks.pop_back();
    else picks.erase(picks.end() - 2);
  }

  bool perfect(const VectorXd& u) const {
    for (Index i = 0; i < n_; ++i)
      if (first_[i] > 0 && u[i] < 1 - 1e-12) return false;
    return true;
  }

  void alone(const VectorXd& u) {
    if (answers_.trees()) answers_.trees()->keep_last();
    answers_.picks = {answers_.trees() ? 0 : answers_.picks.back()};
    for (auto* v : {&out_.alpha, &out_.edge, &out_.loss, &out_.bound, &out_.error, &out_.target, &out_.margin, &out_.upper}) v->clear();
    f_ = VectorXd::Zero(n_);
    sum_ = 0;
    log_bound_ = -infinite;
    least_edge_ = 1;
    add(u, 1, 1, 0);
    out_.end = BoostEnd::perfect;
  }

  // The step that minimises log sum d exp(-a u) + rho a: its slope, rho - E[u] under the tilted weights, rises in a.
  double search(const VectorXd& d, const VectorXd& u, double target) const {
    const auto slope = [&](double a, double* curve) {
      double low = infinite;
      for (Index i = 0; i < n_; ++i)
        if (d[i] > 0) low = std::min(low, u[i]);
      double s0 = 0, s1 = 0, s2 = 0;
      for (Index i = 0; i < n_; ++i) {
        const double w = d[i] > 0 ? d[i] * std::exp(-a * (u[i] - low)) : 0;
        s0 += w;
        s1 += w * u[i];
        s2 += w * u[i] * u[i];
      }
      if (curve) *curve = s2 / s0 - s1 * s1 / (s0 * s0);
      return target - s1 / s0;
    };
    if (slope(0, nullptr) >= 0) return 0;
    double low = 0, high = 1;
    while (high < 50 && slope(high, nullptr) < 0) high *= 2;
    if (high >= 50) return 50;  // every row is above the target: the weights run away
    double a = high / 2;
    for (int i = 0; i < 200 && high - low > 1e-15 * high; ++i) {
      double curve = 0;
      const double s = slope(a, &curve);
      (s < 0 ? low : high) = a;
      const double newton = curve > 0 ? a - s / curve : infinite;
      const double next = newton > low && newton < high ? newton : (low + high) / 2;
      if (std::abs(next - a) <= 1e-16 * a) break;
      a = next;
    }
    return a;
  }

  void add(const VectorXd& u, double alpha, double gamma, double target) {
    f_ += alpha * u;
    sum_ += alpha;
    margin_ = smallest_margin(f_) / sum_;
    // Z <= (1 + gamma)/2 e^-alpha + (1 - gamma)/2 e^alpha, equal for answers of -1 and 1
    if (gamma < 1) log_bound_ += std::log((1 + gamma) / 2 * std::exp(-alpha) + (1 - gamma) / 2 * std::exp(alpha));
    trace(alpha, gamma, target);
  }

  void trace(double alpha, double gamma, double target) {
    double log_sum = 0;
    distribution(&log_sum);
    double wrong = 0, all = 0;
    for (Index i = 0; i < n_; ++i) {
      all += first_[i];
      if (sign_[i] > 0 ? f_[i] <= 0 : f_[i] < 0) wrong += first_[i];  // a tie is the first class, which is -1
    }
    out_.alpha.push_back(alpha);
    out_.edge.push_back(gamma);
    out_.loss.push_back(log_sum);
    out_.bound.push_back(log_bound_);
    out_.error.push_back(wrong / all);
    out_.target.push_back(target);
    out_.margin.push_back(margin_);
    out_.upper.push_back(least_edge_);
  }

  // Raetsch and Warmuth (2002): the target is halved between what was reached and the smallest edge.
  void bisect() {
    double low = -1, high = 1, rho = 0;
    for (int run = 0; run < 60; ++run) {
      const int runs = static_cast<int>(out_.run_rho.size());
      once(BoostMethod::rho, rho, options_.n_rounds, rho);
      if (out_.end == BoostEnd::perfect) return;
      high = std::min(high, least_edge_);
      if (margin_ >= rho) low = std::max(low, margin_);
      else if (out_.exact) high = std::min(high, rho + out_.nu);  // not within the rounds that would do were it nu below the best
      else high = rho;
      out_.run_lower[runs] = low;
      out_.run_upper[runs] = high;
      if (high - low <= 3 * out_.nu) break;
      rho = (low + high) / 2;
    }
    const double smallest = least_edge_;
    once(BoostMethod::rho, std::max(low - out_.nu, -most_target), options_.n_rounds, infinite);
    least_edge_ = std::min(least_edge_, smallest);
  }

  // Column generation: the best margin over the answers so far, and an answer to its weights.
  void totally_corrective() {
    restart();
    const double tol = options_.tol > 0 ? options_.tol : 1e-9;
    std::vector<Index> rows;
    for (Index i = 0; i < n_; ++i)
      if (first_[i] > 0) rows.push_back(i);
    const auto m = static_cast<Index>(rows.size());
    MatrixXd payoff(0, m);
    VectorXd d = first_ / first_.sum();
    std::vector<VectorXd> all;
    double value = -1, upper = 1;
    GameSolution game;
    out_.end = BoostEnd::rounds;
    for (int t = 0; t < options_.n_rounds; ++t) {
      monitor_.progress(static_cast<double>(t) / options_.n_rounds);
      const VectorXd u = answers_.next(d, rng_, monitor_);
      const double gamma = d.dot(u);
      if (perfect(u)) {
        alone(u);
        out_.convergence.iterations = 1;
        return;
      }
      upper = std::min(upper, gamma);
      if (t > 0 && gamma <= value + tol) {
        answers_.forget_last();
        out_.end = BoostEnd::gap;
        break;
      }
      all.push_back(u);
      payoff.conservativeResize(payoff.rows() + 1, m);
      for (Index i = 0; i < m; ++i) payoff(payoff.rows() - 1, i) = u[rows[i]];
      game = solve_matrix_game(payoff, {}, monitor_);
      value = game.value;
      d.setZero();
      for (Index i = 0; i < m; ++i) d[rows[i]] = std::max(0.0, game.column[i]);
      d /= d.sum();
      f_.setZero();
      for (std::size_t j = 0; j < all.size(); ++j) f_ += game.row[static_cast<Index>(j)] * all[j];
      sum_ = game.row.sum();
      margin_ = smallest_margin(f_) / sum_;
      least_edge_ = upper;
      log_bound_ = Convergence::unknown;
      trace(0, gamma, value);
    }
    least_edge_ = upper;
    for (std::size_t j = 0; j < all.size(); ++j) out_.alpha[j] = std::max(0.0, game.row[static_cast<Index>(j)]);
    last_d_ = d;
  }

  void finish() {
    const double all = sum_ > 0 ? sum_ : 1;
    out_.margins = f_ / all;
    const VectorXd vote = (out_.margins.array() * sign_.array()).matrix();
    out_.score.resize(n_, 2);
    out_.score.col(1) = (1 + vote.array()) / 2;
    out_.score.col(0) = (1 - vote.array()) / 2;
    out_.weights = last_d_.size() > 0 ? last_d_ : distribution();
    out_.picks = answers_.picks;
    out_.lower = out_.alpha.empty() ? -1 : smallest_margin(out_.margins);
    out_.upper_bound = least_edge_;
    Convergence& c = out_.convergence;
    c.iterations = static_cast<int>(out_.alpha.size());
    c.gap = std::max(0.0, out_.upper_bound - out_.lower);
    const double want = options_.method == BoostMethod::lpboost ? (options_.tol > 0 ? options_.tol : 1e-9) + 1e-12 : options_.tol > 0 ? options_.tol : out_.nu;
    c.converged = out_.end == BoostEnd::perfect || (out_.exact && c.gap <= want * (1 + 1e-9));
    if (c.converged) return;
    c.reason = !out_.exact ? Stop::approximate : out_.end == BoostEnd::no_edge ? Stop::stalled : Stop::iterations;
  }

  const VectorXd& sign_;
  const VectorXd& first_;
  BoostOptions options_;
  MarginAnswers& answers_;
  Rng& rng_;
  Monitor& monitor_;
  Index n_, counted_ = 0;
  VectorXd f_, last_d_;
  double sum_ = 0, margin_ = -1, least_edge_ = 1, log_bound_ = 0;
  BoostResult out_;
};

}  // namespace

BoostResult boost_margin(const Design& x, ConstVectorRef y, ConstVectorRef weights, const BoostOptions& options, const CustomAnswer& answer, Rng& rng, Monitor& monitor) {
  const VectorXd sign = (2 * y.array() - 1).matrix();
  VectorXd first = weights.size() > 0 ? VectorXd(weights) : VectorXd::Ones(y.size());
  first /= first.sum();
  MarginAnswers answers(x, sign, first, options, answer, monitor);
  BoostResult out = MarginBooster(sign, first, options, answers, rng, monitor).run();
  if (answers.trees()) {
    out.trees = join(answers.trees()->trees());
    out.importance = vote_importance(out.trees, out.alpha, std::vector<double>(out.alpha.size(), 1.0));
    out.picks.clear();
  }
  return out;
}

}  // namespace granary::ensemble
