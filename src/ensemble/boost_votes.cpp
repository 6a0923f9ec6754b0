#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "ensemble/boost.h"
#include "ensemble/potential.h"

namespace granary::ensemble {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

class VoteBooster {
 public:
  VoteBooster(ConstVectorRef y, ConstVectorRef weights, const BoostOptions& options)
      : options_(options), n_(y.size()), k_(options.classes), y_(y.cast<int>()), case_(weights), votes_(MatrixXd::Zero(k_, n_)), costs_(k_, n_),
        log_d_(VectorXd::Zero(n_)), potential_(edge_baseline(k_, at_round(options.edge, 0)), options.n_draws),
        sets_(options.method == BoostMethod::m2 || (options.method == BoostMethod::mh && options.sets)) {
    for (const auto* given : {&options.edge, &options.eta})
      if (given->size() > 1 && (options.method != BoostMethod::fixed_edge || static_cast<int>(given->size()) != options.n_rounds))
        throw InputError("edges and steps by round are for method = \"fixed_edge\", one for each round.");
    if (case_.size() == 0) case_ = VectorXd::Ones(n_);
    case_ /= case_.sum();
  }

  BoostResult run(WeakLearner& learner, Rng& rng, Monitor& monitor) {
    BoostResult out;
    Stopwatch watch;
    double log_bound = std::log(first_loss(rng));
    prepare(0);
    for (int t = 0; t < options_.n_rounds; ++t) {
      monitor.progress(static_cast<double>(t) / options_.n_rounds);
      if (!make_costs(t)) {
        out.end = BoostEnd::settled;
        break;
      }
      if (sets_) said_ = learner.learn_sets(costs_, rng, monitor);
      else take(learner.learn(costs_, rng, monitor));
      const double gamma = edge();
      const bool perfect = all_right();
      if (perfect && adaptive()) {  // one answer that is always right is returned alone
        out.end = BoostEnd::perfect;
        alone_ = true;
        votes_.setZero();
        out.alpha.assign(1, 1.0);
        out.edge.assign(1, 1.0);
        vote(1);
        out.loss.assign(1, -std::numeric_limits<double>::infinity());
        out.bound.assign(1, -std::numeric_limits<double>::infinity());
        out.error.assign(1, 0.0);
        last_only_ = true;
        break;
      }
      if (!(gamma > 1e-12)) {
        learner.forget_last();
        out.end = BoostEnd::no_edge;
        break;
      }
      const double alpha = step(gamma);
      if (game() && gamma < at_round(options_.edge, t) - 1e-12) ++out.below;
      vote(alpha);
      log_bound += log_factor(gamma, alpha, t);
      prepare(t + 1);
      out.alpha.push_back(alpha);
      out.edge.push_back(gamma);
      out.loss.push_back(log_loss(t + 1));
      out.bound.push_back(options_.method == BoostMethod::samme ? none : log_bound);
      out.error.push_back(error());
    }
    finish(out);
    out.convergence.iterations = static_cast<int>(out.alpha.size());
    out.convergence.seconds = watch.seconds();
    return out;
  }
  bool last_only() const { return last_only_; }
  const std::vector<double>& scales() const { return scales_; }

 private:
  static double at_round(const std::vector<double>& given, int t) {
    return given.empty() ? 0 : given.size() == 1 ? given[0] : given[std::min(given.size() - 1, static_cast<std::size_t>(t))];
  }
  // The step of round t, which its costs contain.
  void prepare(int t) {
    if (options_.method != BoostMethod::fixed_edge) return;
    eta_ = options_.eta.empty() ? best_step(at_round(options_.edge, t), k_) : at_round(options_.eta, t);
  }
  bool game() const { return options_.method == BoostMethod::fixed_edge || options_.method == BoostMethod::minimax01; }
  bool adaptive() const { return !game(); }

  // The loss before the first round; for minimax01 the promise.
  double first_loss(Rng& rng) {
    potential_.draw(rng);
    switch (options_.method) {
      case BoostMethod::adaptive:
      case BoostMethod::m2:
      case BoostMethod::fixed_edge: return static_cast<double>(k_ - 1);
      case BoostMethod::mh: return static_cast<double>(k_) / 2;
      case BoostMethod::minimax01: return potential_(std::vector<int>(k_, 0), options_.n_rounds);
      default: return 1;
    }
  }

  // False when no vote can change the loss any more.
  bool make_costs(int t) {
    if (fresh_) {  // made when the loss was
      scales_.push_back(total_);
      return true;
    }
    switch (options_.method) {
      case BoostMethod::adaptive:
      case BoostMethod::m2:
      case BoostMethod::fixed_edge: pair_weights(); break;
      case BoostMethod::mh: label_weights(); break;
      case BoostMethod::minimax01: return potential_costs(options_.n_rounds - t - 1);
      default: row_weights();
    }
    scales_.push_back(total_);
    return true;
  }

  // w(i, l) over their largest; the costs of `adaptive`, or of the rise of the loss.
  void pair_weights() {
    double most = -std::numeric_limits<double>::infinity();
    for (Index i = 0; i < n_; ++i) {
      if (case_[i] == 0) continue;
      double high = -std::numeric_limits<double>::infinity();
      for (Index l = 0; l < k_; ++l)
        if (l != y_[i]) high = std::max(high, votes_(l, i));
      most = std::max(most, high - votes_(y_[i], i));
    }
    shift_ = most;
    const double wrong = eta_ > 0 ? std::expm1(eta_) : 1, right = eta_ > 0 ? std::expm1(-eta_) : -1;
    total_ = 0;
    for (Index i = 0; i < n_; ++i) {
      double row = 0;
      const double own = votes_(y_[i], i) + shift_;
      for (Index l = 0; l < k_; ++l) {
        if (l == y_[i]) continue;
        const double w = case_[i] * std::exp(votes_(l, i) - own);
        row += w;
        costs_(l, i) = wrong * w;
      }
      costs_(y_[i], i) = right * row;
      total_ += row;
    }
  }

  // AdaBoost.MH: D(i, l) = exp(-Y F), F = 2 votes - sum alpha; a label costs -2 D Y.
  void label_weights() {
    double most = -std::numeric_limits<double>::infinity();
    for (Index i = 0; i < n_; ++i)
      for (Index l = 0; l < k_; ++l)
        if (case_[i] > 0) most = std::max(most, (l == y_[i] ? -1 : 1) * (2 * votes_(l, i) - sum_alpha_));
    shift_ = most;
    total_ = 0;
    for (Index i = 0; i < n_; ++i)
      for (Index l = 0; l < k_; ++l) {
        const double sign = l == y_[i] ? 1 : -1, d = case_[i] * std::exp(-sign * (2 * votes_(l, i) - sum_alpha_) - shift_);
        costs_(l, i) = -2 * sign * d;
        total_ += d;
      }
  }

  void row_weights() {
    shift_ = -std::numeric_limits<double>::infinity();
    for (Index i = 0; i < n_; ++i)
      if (case_[i] > 0) shift_ = std::max(shift_, log_d_[i]);
    total_ = 0;
    for (Index i = 0; i < n_; ++i) {
      const double d = case_[i] * std::exp(log_d_[i] - shift_);
      costs_.col(i).setConstant(d);
      costs_(y_[i], i) = 0;
      total_ += d;
    }
  }

  bool potential_costs(int left) {
    bool open = false;
    std::vector<int> state(k_);
    total_ = 0;
    for (Index i = 0; i < n_; ++i) {
      double low = 2, high = -1;
      for (Index l = 0; l < k_; ++l) {
        state[0] = static_cast<int>(votes_(y_[i], i)) + (l == y_[i] ? 1 : 0);
        for (Index j = 0, at = 1; j < k_; ++j)
          if (j != y_[i]) state[at++] = static_cast<int>(votes_(j, i)) + (j == l ? 1 : 0);
        costs_(l, i) = case_[i] * potential_(state, left);
        low = std::min(low, costs_(l, i));
        high = std::max(high, costs_(l, i));
      }
      costs_.col(i).array() -= low;
      open = open || high - low > 1e-14 * case_[i];
      total_ += high - low;
    }
    scales_.push_back(total_);
    return open;
  }

  void take(const VectorXd& answer) {
    if (answer.size() != n_) throw InputError(message("the learner must answer for every row, ", n_, ", but it answered for ", answer.size(), "."));
    answer_.resize(n_);
    for (Index i = 0; i < n_; ++i) {
      if (!(answer[i] >= 0 && answer[i] < static_cast<double>(k_) && answer[i] == std::floor(answer[i])))
        throw InputError(message("the learner must answer with classes, but it said ", answer[i], " for row ", i + 1, "."));
      answer_[i] = static_cast<int>(answer[i]);
    }
  }

  bool all_right() const {
    for (Index i = 0; i < n_; ++i) {
      if (case_[i] == 0) continue;
      if (sets_ ? said_(y_[i], i) != 1 || said_.col(i).sum() != 1 : answer_[i] != y_[i]) return false;
    }
    return true;
  }
  double cost_of_answer(Index i) const { return sets_ ? costs_.col(i).dot(said_.col(i)) : costs_(answer_[i], i); }

  // The edge that the method's own condition asks for; and the weights of right, wrong and unmoved losses.
  double edge() {
    switch (options_.method) {
      case BoostMethod::m1:
      case BoostMethod::samme: {
        double wrong = 0;
        for (Index i = 0; i < n_; ++i) wrong += costs_(answer_[i], i);
        const double share = wrong / total_;
        return options_.method == BoostMethod::m1 ? 1 - 2 * share : 1 - share * static_cast<double>(k_) / static_cast<double>(k_ - 1);
      }
      case BoostMethod::mh: {
        double sum = 0;  // sum D Y H = sum over rows of -cost of the answer - sum_l D Y
        for (Index i = 0; i < n_; ++i) sum += costs_.col(i).sum() / 2 - cost_of_answer(i);
        return sum / total_;
      }
      default: {
        double got = 0, right = 0, mean = 0;
        plus_ = minus_ = 0;
        for (Index i = 0; i < n_; ++i) {
          got += cost_of_answer(i);
          right += costs_(y_[i], i);
          mean += costs_.col(i).sum();
          if (sets_) split_pairs(i);
          else if (answer_[i] == y_[i]) plus_ -= costs_(y_[i], i);
          else minus_ += costs_(answer_[i], i);
        }
        mean /= static_cast<double>(k_);
        return mean > right ? (mean - got) / (mean - right) : 0;
      }
    }
  }

  // Weights of the pairs of the right label and another that a set puts in the right order, and in the wrong one.
  void split_pairs(Index i) {
    for (Index l = 0; l < k_; ++l) {
      if (l == y_[i]) continue;
      if (said_(y_[i], i) > said_(l, i)) plus_ += costs_(l, i);
      if (said_(y_[i], i) < said_(l, i)) minus_ += costs_(l, i);
    }
  }

  bool by_pairs() const { return options_.method == BoostMethod::adaptive || options_.method == BoostMethod::m2; }

  double step(double gamma) {
    switch (options_.method) {
      case BoostMethod::minimax01: return 1;
      case BoostMethod::fixed_edge: return eta_;
      case BoostMethod::samme: {
        const double wrong = (1 - gamma) * static_cast<double>(k_ - 1) / static_cast<double>(k_);
        return options_.shrinkage * (std::log((1 - wrong) / wrong) + std::log(static_cast<double>(k_ - 1)));
      }
      default: break;
    }
    const double cap = std::atanh(1 - 1 / static_cast<double>(n_ * k_));
    if (by_pairs() && options_.step == BoostStep::exact)
      return options_.shrinkage * std::min(cap, minus_ > 0 ? 0.5 * std::log(plus_ / minus_) : cap);
    return options_.shrinkage * std::min(cap, std::atanh(std::min(gamma, 1 - 1e-16)));
  }

  // What the bound is multiplied by.
  double log_factor(double gamma, double alpha, int t) const {
    if (options_.method == BoostMethod::minimax01 || options_.method == BoostMethod::samme) return 0;
    if (options_.method == BoostMethod::fixed_edge) return std::log(contraction(at_round(options_.edge, t), alpha, k_));
    const double whole = std::sqrt((1 - gamma) * (1 + gamma));
    if (by_pairs() && options_.step == BoostStep::exact)
      return std::log(1 - options_.shrinkage * (1 - std::max(whole, 1e-300)));  // the loss is convex along the step
    return std::log((1 + gamma) / 2 * std::exp(-alpha) + (1 - gamma) / 2 * std::exp(alpha));
  }

  void vote(double alpha) {
    sum_alpha_ += alpha;
    const double right = options_.method == BoostMethod::samme ? 0 : -alpha;
    if (sets_) {
      votes_ += alpha * said_;
      return;
    }
    for (Index i = 0; i < n_; ++i) {
      votes_(answer_[i], i) += alpha;
      log_d_[i] += answer_[i] == y_[i] ? right : alpha;
    }
  }

  double log_loss(int done) {
    fresh_ = options_.method != BoostMethod::minimax01;
    switch (options_.method) {
      case BoostMethod::adaptive:
      case BoostMethod::m2:
      case BoostMethod::fixed_edge: pair_weights(); break;
      case BoostMethod::mh:
        label_weights();
        return std::log(total_ / 2) + shift_;
      case BoostMethod::minimax01: {
        double sum = 0;
        std::vector<int> state(k_);
        for (Index i = 0; i < n_; ++i) {
          state[0] = static_cast<int>(votes_(y_[i], i));
          for (Index j = 0, at = 1; j < k_; ++j)
            if (j != y_[i]) state[at++] = static_cast<int>(votes_(j, i));
          sum += case_[i] * potential_(state, options_.n_rounds - done);
        }
        return std::log(sum);
      }
      case BoostMethod::samme:
        row_weights();
        return std::log(total_) + shift_ - sum_alpha_ * static_cast<double>(k_ - 1) / static_cast<double>(k_);
      default: row_weights();
    }
    return std::log(total_) + shift_;
  }

  double error() const {
    double sum = 0;
    for (Index i = 0; i < n_; ++i) {
      if (first_largest(votes_.col(i).data(), k_) != y_[i]) sum += case_[i];
    }
    return sum;
  }

  void finish(BoostResult& out) const {
    const double all = alone_ ? 1 : sum_alpha_;
    out.score = votes_.transpose() / (all > 0 ? all : 1);
    out.margins.resize(n_);
    for (Index i = 0; i < n_; ++i) {
      double other = -std::numeric_limits<double>::infinity();
      for (Index l = 0; l < k_; ++l)
        if (l != y_[i]) other = std::max(other, out.score(i, l));
      out.margins[i] = out.score(i, y_[i]) - other;
    }
    VectorXd last = costs_.colwise().maxCoeff() - costs_.colwise().minCoeff();
    const double sum = last.sum();
    out.weights = sum > 0 ? VectorXd(last / sum) : case_;
  }

  BoostOptions options_;
  Index n_, k_;
  VectorXi y_;
  VectorXd case_;
  MatrixXd votes_, costs_;  // classes x rows
  VectorXd log_d_;
  ZeroOnePotential potential_;
  bool sets_;
  MatrixXd said_;  // answers that are sets
  VectorXi answer_;
  double eta_ = 0, shift_ = 0, total_ = 0, plus_ = 0, minus_ = 0, sum_alpha_ = 0;
  bool alone_ = false, last_only_ = false, fresh_ = false;
  std::vector<double> scales_;
};

}  // namespace

BoostResult boost_votes(const Design& x, ConstVectorRef y, ConstVectorRef weights, const BoostOptions& options, const CustomAnswer& answer, Rng& rng, Monitor& monitor) {
  VoteBooster booster(y, weights, options);
  if (options.learner == LearnerKind::tree) {
    TreeLearner learner(x, options.levels, options.max_leaves, options.min_leaf, options.threads);
    BoostResult out = booster.run(learner, rng, monitor);
    std::vector<Trees> parts = learner.trees();
    if (booster.last_only()) parts.erase(parts.begin(), parts.end() - 1);
    out.trees = join(parts);
    out.importance = vote_importance(out.trees, out.alpha, booster.last_only() ? std::vector<double>(1, booster.scales().back()) : booster.scales());
    return out;
  }
  if (options.learner == LearnerKind::pool) {
    if (x.is_sparse()) throw InputError("the answers of a pool must be a matrix, not a sparse one.");
    PoolLearner learner(x.dense());
    BoostResult out = booster.run(learner, rng, monitor);
    out.picks = learner.picks();
    if (booster.last_only()) out.picks.erase(out.picks.begin(), out.picks.end() - 1);
    return out;
  }
  CustomLearner learner(answer);
  BoostResult out = booster.run(learner, rng, monitor);
  const int tried = static_cast<int>(booster.scales().size());
  if (booster.last_only()) out.picks = {tried - 1};
  else for (std::size_t t = 0; t < out.alpha.size(); ++t) out.picks.push_back(static_cast<int>(t));
  return out;
}

}  // namespace granary::ensemble
