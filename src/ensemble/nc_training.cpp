#include "ensemble/nc_training.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "core/optim/lbfgs.h"

namespace granary::ensemble {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity(), explosion = 1e6;
constexpr Index fewest_held = 10;
constexpr Index longest_memory = 60;  // of lbfgs: small networks are curved, and a step costs far less than their values
constexpr int stages = 10;  // of lambda while it rises under lbfgs

struct StopEarly {};
struct Exploded {};

double mean_square(const VectorXd& off, const VectorXd& w) {
  return w.sum() > 0 ? (w.array() * off.array().square()).sum() / w.sum() : 0;
}

}  // namespace

Coupling coupling_of(NcPenalty penalty, double lambda, Index members) {
  if (penalty == NcPenalty::sequential) return {1, 0};
  if (penalty == NcPenalty::mean) return {1 - lambda, lambda};
  return {1 - lambda, lambda * static_cast<double>(members)};
}

NcTrainer::NcTrainer(ConstMatrixRef x, ConstVectorRef y, ConstVectorRef weights, const NcOptions& options, Index members,
                     const Rng& rng)
    : options_(options), order_(rng.stream(0)) {
  const Index n = x.rows(), p = x.cols();
  if (n == 0 || p == 0) throw InputError("training needs rows and columns.");
  if (y.size() != n) throw InputError(message("`y` needs one value per row, ", n, ", not ", y.size(), "."));
  if (weights.size() > 0 && (weights.size() != n || (weights.array() < 0).any() || !(weights.sum() > 0)))
    throw InputError("`weights` needs one number per row, none negative, not all 0.");
  if (options.size < 1 || members < 1) throw InputError("an ensemble needs members, and members need units.");
  if (options.learner == MemberKind::features && options.basis == MemberBasis::columns && options.size > p)
    throw InputError(
        message("`size` must be at most the number of columns, ", p, ", for members that take columns, not ", options.size, "."));
  shape_ = {options.learner, options.basis, p, options.size};
  x_low_ = VectorXd::Zero(p);
  x_scale_ = VectorXd::Ones(p);
  if (options.standardize) {
    x_low_ = x.colwise().minCoeff().transpose();
    const VectorXd range = x.colwise().maxCoeff().transpose() - x_low_;
    // a constant column stays at 0
    for (Index j = 0; j < p; ++j) x_scale_[j] = range[j] > 0 && std::isfinite(1 / range[j]) ? 1 / range[j] : 0;
    const double low = y.minCoeff(), high = y.maxCoeff();
    if (high > low && std::isfinite(2 / (high - low))) {
      y_scale_ = 2 / (high - low);
      y_low_ = low + 1 / y_scale_;  // -1 for the smallest, 1 for the largest
    } else {
      y_low_ = low;
    }
  }
  const bool exact = options.optimizer == NcOptimizer::exact || options.optimizer == NcOptimizer::sweeps;
  auto want = exact ? Index{0} : static_cast<Index>(std::floor(options.validation * static_cast<double>(n)));
  if (!exact && options.validation > 0 && (want < fewest_held || n - want < 2)) {
    too_few_ = true;
    want = 0;
  }
  std::vector<char> out(static_cast<std::size_t>(n), 0);
  if (want > 0)
    for (int i : order_.sample_without_replacement(static_cast<int>(n), static_cast<int>(want)))
      out[static_cast<std::size_t>(i)] = 1;
  for (Index i = 0; i < n; ++i) (out[static_cast<std::size_t>(i)] ? held_ : kept_).push_back(i);
  x_ = scaled(x, kept_);
  x_valid_ = scaled(x, held_);
  const auto pick = [&](const std::vector<Index>& rows, VectorXd& t, VectorXd& w) {
    t.resize(static_cast<Index>(rows.size()));
    w = VectorXd::Ones(t.size());
    for (Index i = 0; i < t.size(); ++i) {
      t[i] = (y[rows[static_cast<std::size_t>(i)]] - y_low_) * y_scale_;
      if (weights.size() > 0) w[i] = weights[rows[static_cast<std::size_t>(i)]];
    }
  };
  pick(kept_, t_, w_);
  pick(held_, t_valid_, w_valid_);
  if (!(w_.sum() > 0)) throw InputError("all rows with weight were held out: take `validation` = 0, or weigh more rows.");
  w_ *= static_cast<double>(w_.size()) / w_.sum();
  weights_.resize(shape_.weights(), members);
  fixed_.resize(shape_.fixed(), members);
  for (Index i = 0; i < members; ++i) {
    Rng own = rng.stream(static_cast<std::uint64_t>(i) + 1);
    start_member(shape_, x_, options.width, own, weights_.col(i), fixed_.col(i));
  }
}

MatrixXd NcTrainer::scaled(ConstMatrixRef x, const std::vector<Index>& rows) const {
  MatrixXd out(x.cols(), static_cast<Index>(rows.size()));
  for (Index i = 0; i < out.cols(); ++i)
    out.col(i) = (x.row(rows[static_cast<std::size_t>(i)]).transpose() - x_low_).cwiseProduct(x_scale_);
  return out;
}

NcTrainer::Group NcTrainer::all() const {
  Group g;
  g.count = members();
  g.target = t_;
  g.target_valid = t_valid_;
  g.row_weights = w_;
  g.threads = options_.threads;
  return g;
}

NcTrainer::Group NcTrainer::alone(Index member) const {
  Group g = all();
  g.from = member;
  g.count = 1;
  g.number = static_cast<int>(member) + 1;
  g.threads = 1;
  return g;
}

VectorXd NcTrainer::values(Index member, bool valid) const {
  MemberPass pass;
  member_values(shape_, valid ? x_valid_ : x_, weights_.col(member), fixed_.col(member), pass);
  return pass.values;
}

MatrixXd NcTrainer::features(Index member) const { return member_features(shape_, x_, fixed_.col(member)); }

void NcTrainer::set_linear(Index member, const VectorXd& weights, double constant) {
  weights_.col(member).head(weights.size()) = weights;
  weights_(weights.size(), member) = constant;
}

NcModel NcTrainer::model() const {
  NcModel out;
  out.learner = shape_.kind;
  out.basis = shape_.basis;
  out.inputs = static_cast<int>(shape_.inputs);
  out.size = static_cast<int>(shape_.units);
  out.weights = weights_;
  out.fixed = fixed_;
  out.x_low = x_low_;
  out.x_scale = x_scale_;
  out.y_low = y_low_;
  out.y_scale = y_scale_;
  return out;
}

// One run of an optimiser over the weights of a group, with what is kept on the way.
class GroupTraining {
 public:
  GroupTraining(NcTrainer& trainer, const NcTrainer::Group& group, NcPenalty penalty, double lambda, Monitor& monitor)
      : t_(trainer),
        g_(group),
        penalty_(penalty),
        lambda_(lambda),
        monitor_(monitor),
        per_(trainer.shape_.weights()),
        passes_(group.count),
        valid_(group.count) {
    now_.resize(per_ * g_.count);
    for (Index i = 0; i < g_.count; ++i) now_.segment(i * per_, per_) = t_.weights_.col(g_.from + i);
    decayed_ = t_.shape_.decayed() * t_.options_.decay;
    couple(lambda_);
    largest_ = std::max(1.0, now_.cwiseAbs().maxCoeff());
    wide_ = static_cast<double>(t_.rows()) * static_cast<double>(per_) * static_cast<double>(g_.count) > 2e5 ? g_.threads : 1;
  }

  NcTrainer::Ending run() {
    Stopwatch watch;
    VectorXd gradient;
    couple(annealed() ? 0 : lambda_);
    objective(now_, gradient);
    const double start = gradient.cwiseAbs().maxCoeff();
    first_train_ = std::max(train_, 1e-300);
    look(0, now_);
    try {
      if (t_.options_.optimizer == NcOptimizer::sgd)
        descend();
      else
        by_lbfgs();
    } catch (const StopEarly&) {
      out_.early = true;
    } catch (const Exploded&) {
      out_.diverged = true;
    }
    couple(lambda_);
    now_ = best_;
    for (Index i = 0; i < g_.count; ++i) t_.weights_.col(g_.from + i) = now_.segment(i * per_, per_);
    objective(now_, gradient);
    Convergence& c = out_.convergence;
    c.iterations = epochs_;
    c.residual = start > 0 ? gradient.cwiseAbs().maxCoeff() / start : 0;
    c.converged = !out_.diverged && (out_.early || c.residual <= t_.options_.tol || finished_);
    if (out_.diverged) {
      c.reason = Stop::unbounded;
      c.message = "the weights exploded: the strength is too large for this ensemble, or the rate of sgd";
    } else if (out_.early) {
      c.message = "stopped by the error of the held-out rows";
    } else if (!c.converged) {
      c.reason = t_.options_.optimizer == NcOptimizer::sgd ? Stop::approximate : stalled_ ? Stop::stalled : Stop::iterations;
    }
    c.seconds = watch.seconds();
    return std::move(out_);
  }

 private:
  bool annealed() const { return t_.options_.anneal > 0 && lambda_ != 0 && penalty_ != NcPenalty::sequential; }
  void couple(double lambda) { c_ = coupling_of(penalty_, lambda, g_.count); }

  void forward(const VectorXd& w, bool valid) {
    auto& passes = valid ? valid_ : passes_;
    const MatrixXd& x = valid ? t_.x_valid_ : t_.x_;
    parallel_for(g_.count, valid ? 1 : wide_, monitor_, [&](Index i) {
      member_values(t_.shape_, x, w.segment(i * per_, per_), t_.fixed_.col(g_.from + i), passes[static_cast<std::size_t>(i)]);
    });
  }
  VectorXd mean_of(const std::vector<MemberPass>& passes) const {
    VectorXd out = passes.front().values;
    for (std::size_t i = 1; i < passes.size(); ++i) out += passes[i].values;
    return out / static_cast<double>(passes.size());
  }

  double objective(const VectorXd& w, VectorXd& gradient) {
    monitor_.check();
    forward(w, false);
    const VectorXd mean = mean_of(passes_) - g_.target;
    const double n = static_cast<double>(t_.rows()), m = static_cast<double>(g_.count);
    train_ = mean_square(mean, g_.row_weights);
    VectorXd parts(g_.count);
    gradient.resize(w.size());
    parallel_for(g_.count, wide_, monitor_, [&](Index i) {
      const VectorXd off = passes_[static_cast<std::size_t>(i)].values - g_.target;
      const auto own = w.segment(i * per_, per_);
      parts[i] = 0.5 * c_.own * (g_.row_weights.array() * off.array().square()).sum() / n +
                 0.5 * (decayed_.array() * own.array().square()).sum();
      const VectorXd g = g_.row_weights.array() * (c_.own * off + c_.joint * mean).array() / n;
      member_gradient(t_.shape_, t_.x_, own, passes_[static_cast<std::size_t>(i)], g, gradient.segment(i * per_, per_));
      gradient.segment(i * per_, per_) += decayed_.cwiseProduct(own);
    });
    return parts.sum() + 0.5 * c_.joint * m * train_;
  }

  // Of the last forward pass.
  double value_of(const Coupling& c, const VectorXd& w) const {
    double sum = 0.5 * c.joint * static_cast<double>(g_.count) * train_;
    for (Index i = 0; i < g_.count; ++i) {
      sum += 0.5 * c.own * mean_square(passes_[static_cast<std::size_t>(i)].values - g_.target, g_.row_weights);
      sum += 0.5 * (decayed_.array() * w.segment(i * per_, per_).array().square()).sum();
    }
    return sum;
  }

  // Keeps the best weights by the held-out rows, or else by the objective, and looks whether to stop.
  void look(int epoch, const VectorXd& w) {
    NcTrace at;
    at.member = g_.number;
    at.epoch = epoch;
    at.train = train_;
    const Coupling whole = coupling_of(penalty_, lambda_, g_.count);
    double criterion = whole.own < 0 ? train_ : value_of(whole, w);  // beyond lambda = 1 the objective has no lower end
    if (g_.target_valid.size() > 0) {
      forward(w, true);
      criterion = at.valid = mean_square(mean_of(valid_) - g_.target_valid, t_.w_valid_);
    }
    const double unit = t_.y_scale_ * t_.y_scale_;
    const double valid = at.valid;
    at.train /= unit;
    at.valid /= unit;
    out_.trace.push_back(at);
    if (criterion < least_ || best_.size() == 0) {
      least_ = criterion;
      best_ = w;
    }
    if (!std::isfinite(train_) || w.cwiseAbs().maxCoeff() > explosion * largest_ || train_ > explosion * first_train_)
      throw Exploded();
    if (g_.target_valid.size() == 0) return;
    seen_.push_back(valid);
    const auto back = static_cast<std::size_t>(std::max(1, t_.options_.window / t_.options_.every));
    if (seen_.size() > back && valid > seen_[seen_.size() - 1 - back]) throw StopEarly();
  }

  void by_lbfgs() {
    const NcOptions& o = t_.options_;
    LbfgsOptions how;
    how.tol = o.tol;
    how.memory = static_cast<int>(std::min<Index>(longest_memory, std::max<Index>(now_.size() / 2, 10)));
    int evaluations = 0;
    const auto evaluate = [&](const VectorXd& w, VectorXd& gradient) {
      const double value = objective(w, gradient);
      ++evaluations;
      if (!std::isfinite(value)) return value;
      if (value < -explosion * first_train_ || w.cwiseAbs().maxCoeff() > explosion * largest_) {
        epochs_ = evaluations;
        throw Exploded();
      }
      if (evaluations % o.every == 0) {
        epochs_ = evaluations;
        look(evaluations, w);
      }
      return value;
    };
    int left = o.max_iter;
    if (annealed()) {
      const int each = std::max(1, static_cast<int>(o.anneal * o.max_iter / stages));
      how.max_iter = each;
      for (int s = 0; s < stages && left > each; ++s, left -= each) {
        couple(lambda_ * s / stages);
        now_ = lbfgs(evaluate, now_, how, monitor_).x;
      }
      couple(lambda_);
    }
    how.max_iter = left;
    const LbfgsResult found = lbfgs(evaluate, now_, how, monitor_);
    now_ = found.x;
    finished_ = found.convergence.converged;
    stalled_ = found.convergence.why() == Stop::stalled;
    epochs_ = evaluations;
    VectorXd gradient;
    objective(now_, gradient);
    look(evaluations, now_);
  }

  void descend() {
    const NcOptions& o = t_.options_;
    const Index n = t_.rows(), count = g_.count, p = t_.shape_.inputs;
    std::vector<RowMember> members(static_cast<std::size_t>(count), RowMember(t_.shape_));
    if (t_.shape_.kind == MemberKind::features) forward(now_, false);  // the features of all rows
    std::vector<Index> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), Index{0});
    Rng shuffled = t_.order_.stream(static_cast<std::uint64_t>(g_.number) + 1);
    VectorXd f(count);
    for (int epoch = 1; epoch <= o.max_iter; ++epoch) {
      if (annealed()) couple(lambda_ * std::min(1.0, epoch / (o.anneal * o.max_iter)));
      if (o.shuffle) shuffled.shuffle(order);
      for (Index at = 0; at < n; ++at) {
        if (at % 256 == 0) monitor_.check();
        const Index row = order[static_cast<std::size_t>(at)];
        const double* x = t_.x_.data() + row * p;
        for (Index i = 0; i < count; ++i) {
          const MatrixXd& hidden = passes_[static_cast<std::size_t>(i)].hidden;
          const double* features = t_.shape_.kind == MemberKind::features ? hidden.data() + row * hidden.rows() : nullptr;
          f[i] = members[static_cast<std::size_t>(i)].value(x, features, now_.data() + i * per_);
        }
        const double t = g_.target[row], mean = f.mean() - t, step = o.rate * g_.row_weights[row];
        for (Index i = 0; i < count; ++i) {
          auto own = now_.segment(i * per_, per_);
          if (o.decay > 0) own -= o.rate * decayed_.cwiseProduct(own);
          members[static_cast<std::size_t>(i)].step(x, step * (c_.own * (f[i] - t) + c_.joint * mean), own.data());
        }
      }
      epochs_ = epoch;
      if (epoch % o.every == 0 || epoch == o.max_iter) {
        if (!now_.allFinite()) throw Exploded();
        forward(now_, false);
        train_ = mean_square(mean_of(passes_) - g_.target, g_.row_weights);
        look(epoch, now_);
      }
    }
  }

  NcTrainer& t_;
  const NcTrainer::Group& g_;
  NcPenalty penalty_;
  double lambda_;
  Monitor& monitor_;
  Index per_;
  std::vector<MemberPass> passes_, valid_;
  VectorXd now_, best_, decayed_;
  Coupling c_;
  double largest_ = 1, first_train_ = 1, train_ = 0, least_ = infinite;
  std::vector<double> seen_;
  bool finished_ = false, stalled_ = false;
  int epochs_ = 0, wide_ = 1;
  NcTrainer::Ending out_;
};

NcTrainer::Ending NcTrainer::train(const Group& group, NcPenalty penalty, double lambda, Monitor& monitor) {
  return GroupTraining(*this, group, penalty, lambda, monitor).run();
}

}  // namespace granary::ensemble
