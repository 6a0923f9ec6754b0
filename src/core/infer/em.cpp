#include "core/infer/em.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/math/logspace.h"

namespace granary {
namespace {

// lower <= q <= upper, sum q = 1, nearest to p in KL(q || p): q = clip(c p), with c by bisection on the log scale (sum of clipped terms rises with c).
void clip_states(VectorRef q, double lower, double upper) {
  const Index k = q.size();
  if (k * lower > 1 || k * upper < 1) throw InputError(message("no probabilities of ", k, " states lie between `lower` and `upper`."));
  double low = -700, high = 700;
  const auto at = [&](double c) {
    double sum = 0;
    for (Index h = 0; h < k; ++h) sum += std::clamp(q[h] * std::exp(c), lower, upper);
    return sum;
  };
  for (int i = 0; i < 200 && high - low > 1e-15 * std::max(1.0, std::abs(high)); ++i) {
    const double mid = 0.5 * (low + high);
    (at(mid) < 1 ? low : high) = mid;
  }
  const double c = std::exp(0.5 * (low + high));
  for (Index h = 0; h < k; ++h) q[h] = std::clamp(q[h] * c, lower, upper);
  // What bisection left goes to the states that are free.
  double free = 0, sum = q.sum();
  for (Index h = 0; h < k; ++h)
    if (q[h] > lower && q[h] < upper) free += q[h];
  if (free > 0)
    for (Index h = 0; h < k; ++h)
      if (q[h] > lower && q[h] < upper) q[h] *= 1 + (1 - sum) / free;
}

double entropy_of(ConstVectorRef q) {
  double sum = 0;
  for (Index h = 0; h < q.size(); ++h)
    if (q[h] > 0) sum -= q[h] * std::log(q[h]);
  return sum;
}

class Run {
 public:
  Run(EmModel& model, VectorXd theta, const EmOptions& options, Rng& rng, Monitor& monitor)
      : model_(model), o_(options), rng_(rng), monitor_(monitor), rule_{o_.forward, o_.temperature, o_.lower, o_.upper} {
    if (o_.forward != EmForward::tempered) rule_.temperature = 1;
    if (!(rule_.temperature > 0)) throw InputError("`temperature` must be positive.");
    result_.theta = std::move(theta);
    model_.set(result_.theta);
  }

  EmResult run() {
    const Stopwatch clock;
    if (o_.method == EmMethod::incremental) {
      incremental();
    } else {
      batch();
    }
    finish();
    result_.convergence.seconds = clock.seconds();
    return std::move(result_);
  }

 private:
  double divergence(double entropy) const { return -rule_.temperature * entropy - model_.complete(s_); }

  // D may not rise by more than rounding.
  void watch(double before, double after) {
    if (after > before + 1e-10 * (1 + std::abs(before))) ++result_.rises;
  }

  bool settled(double before, double after) const { return before - after <= o_.tol * (std::abs(after) + o_.tol); }

  void backward(VectorXd& theta, double entropy, double d) {
    const VectorXd last = theta;
    model_.maximise(s_, theta);
    model_.set(theta);
    if (o_.method != EmMethod::gem) return;
    const VectorXd top = theta;
    for (double step = std::min(1.0, o_.step); step > 1e-8; step /= 2) {
      theta = last + step * (top - last);
      model_.set(theta);
      if (divergence(entropy) <= d) return;
    }
    theta = last;
    model_.set(theta);
  }

  EmPart forward(bool all) {
    if (o_.partial > 0) return model_.expect_moved(o_.partial, all, rule_, s_, monitor_);
    return model_.expect(0, model_.units(), rule_, s_, monitor_);
  }

  void batch() {
    double before = std::numeric_limits<double>::infinity(), whole = before, last_loglik = -before;
    VectorXd& theta = result_.theta;
    bool confirm = false;
    for (int pass = 1; pass <= o_.max_iter; ++pass) {
      monitor_.check();
      const bool all = o_.partial <= 0 || confirm || (pass - 1) % std::max(1, o_.refresh) == 0;
      const EmPart part = forward(all);
      const double d = divergence(part.entropy);
      watch(before, d);
      result_.trace.push_back({pass, d, d, all ? part.loglik : Convergence::unknown});
      passes_ = pass;
      if (all) {
        const double objective = part.loglik + model_.log_prior();
        if (objective < last_loglik - 1e-10 * (1 + std::abs(objective))) ++result_.falls;
        last_loglik = objective;
        if (settled(whole, d) && model_.score(s_) <= std::sqrt(o_.tol)) {
          settled_ = true;
          return;
        }
        if (stalled(whole, d)) return;
        whole = d;
      }
      confirm = !all && settled(before, d);
      if (pass == o_.max_iter) return;
      if (o_.method == EmMethod::squarem) {
        extrapolate(theta, objective_of(part));
      } else {
        backward(theta, part.entropy, d);
      }
      before = o_.method == EmMethod::squarem ? d : divergence(part.entropy);
      result_.trace.back().backward = before;
      watch(d, before);
    }
  }

  double objective_of(const EmPart& part) const { return part.loglik + model_.log_prior(); }

  // Two steps of S -> S and a leap along them; the leap is shortened until it has a likelihood of at least that of where it began.
  void extrapolate(VectorXd& theta, double loglik) {
    const VectorXd s0 = s_;
    VectorXd t1 = theta;
    model_.maximise(s0, t1);
    model_.set(t1);
    VectorXd s1, s2;
    model_.expect(0, model_.units(), rule_, s1, monitor_);
    VectorXd t2 = t1;
    model_.maximise(s1, t2);
    model_.set(t2);
    const EmPart second = model_.expect(0, model_.units(), rule_, s2, monitor_);
    const VectorXd r = s1 - s0, v = (s2 - s1) - r;
    const double speed = v.norm();
    double alpha = speed > 0 ? -std::max(1.0, r.norm() / speed) : -1;
    for (; alpha < -1.01; alpha = (alpha - 1) / 2) {
      const VectorXd leap = s0 - 2 * alpha * r + alpha * alpha * v;
      VectorXd t = t2;
      try {
        model_.maximise(leap, t);
        model_.set(t);
        VectorXd s;
        const EmPart part = model_.expect(0, model_.units(), rule_, s, monitor_);
        if (objective_of(part) >= std::max(loglik, objective_of(second)) && t.allFinite()) {
          theta = t;
          s_ = s;
          return;
        }
      } catch (const NumericalError&) {  // the leap left the domain
      }
    }
    theta = t2;
    model_.set(theta);
    s_ = s2;
  }

  void incremental() {
    const Index n = model_.units();
    const Index blocks = std::clamp<Index>(o_.blocks, 1, n);
    MatrixXd part(model_.statistics(), blocks);
    VectorXd entropy(blocks), s;
    std::vector<int> order(static_cast<std::size_t>(blocks));
    std::iota(order.begin(), order.end(), 0);
    const auto from = [&](Index b) { return b * n / blocks; };
    VectorXd& theta = result_.theta;
    const auto whole_forward = [&] {
      double loglik = 0;
      for (Index b = 0; b < blocks; ++b) {
        const EmPart e = model_.expect(from(b), from(b + 1), rule_, s, monitor_);
        part.col(b) = s;
        entropy[b] = e.entropy;
        loglik += e.loglik;
      }
      s_ = part.rowwise().sum();
      return loglik;
    };
    double loglik = whole_forward(), d = divergence(entropy.sum());
    result_.trace.push_back({0, d, d, loglik});
    model_.maximise(s_, theta);
    model_.set(theta);
    double after = divergence(entropy.sum());
    watch(d, after);
    result_.trace.back().backward = d = after;
    for (int pass = 1; pass <= o_.max_iter; ++pass) {
      const double start = d;
      passes_ = pass;
      if (o_.order == EmOrder::random) rng_.shuffle(order);
      for (const int b : order) {
        monitor_.check();
        const EmPart e = model_.expect(from(b), from(b + 1), rule_, s, monitor_);
        s_ += s - part.col(b);
        part.col(b) = s;
        entropy[b] = e.entropy;
        const double middle = divergence(entropy.sum());
        watch(d, middle);
        model_.maximise(s_, theta);
        model_.set(theta);
        d = divergence(entropy.sum());
        watch(middle, d);
        result_.trace.push_back({pass, middle, d, Convergence::unknown});
      }
      if (pass % 20 == 0) s_ = part.rowwise().sum();  // sums of differences drift
      if (stalled(start, d)) return;
      if (!settled(start, d)) continue;
      // A whole forward step shows the likelihood and the gap; the run goes on from it if they are not good enough.
      const VectorXd kept = s_;
      const double held = d;
      loglik = whole_forward();
      d = divergence(entropy.sum());
      watch(held, d);
      result_.trace.push_back({pass, d, d, loglik});
      if (std::abs(held - d) <= 1e-8 * (1 + std::abs(held)) && model_.score(s_) <= std::sqrt(o_.tol)) {
        settled_ = true;
        return;
      }
    }
  }

  // D has stood still for ten passes although the score has not vanished: a floor holds the answer, or rounding.
  bool stalled(double before, double after) {
    still_ = std::abs(before - after) <= 4e-16 * (1 + std::abs(after)) ? still_ + 1 : 0;
    return still_ >= 10;
  }

  // What is said of the answer is computed from it.
  void finish() {
    model_.set(result_.theta);
    const EmPart part = model_.expect(0, model_.units(), rule_, s_, monitor_);
    result_.loglik = part.loglik;
    result_.divergence = divergence(part.entropy);
    result_.gap = result_.divergence + part.loglik + model_.log_prior();
    if (rule_.kind == EmForward::tempered) result_.gap = result_.divergence + (rule_.temperature - 1) * part.entropy + part.loglik + model_.log_prior();
    result_.score = model_.score(s_);
    VectorXd next = result_.theta;
    const int before = model_.repairs();
    model_.maximise(s_, next);
    result_.lifted = model_.repairs() - before;
    result_.change = ((next - result_.theta).array().abs() / (1 + result_.theta.array().abs())).maxCoeff();
    model_.set(result_.theta);
    Convergence& c = result_.convergence;
    c.iterations = passes_;
    c.residual = result_.score;
    c.converged = settled_ && result_.score <= std::sqrt(o_.tol);
    if (c.converged) return;
    if (still_ >= 10) c.reason = Stop::stalled;
    c.message = message("after ", passes_, still_ >= 10 ? " passes no step lowers D any more, but the score is " : " passes the score is still ", result_.score, " per row");
  }

  EmModel& model_;
  const EmOptions& o_;
  Rng& rng_;
  Monitor& monitor_;
  ForwardRule rule_;
  EmResult result_;
  VectorXd s_;
  int passes_ = 0, still_ = 0;
  bool settled_ = false;
};

}  // namespace

EmPart EmModel::expect_moved(double, bool, const ForwardRule& rule, VectorXd& s, Monitor& monitor) { return expect(0, units(), rule, s, monitor); }

EmPart forward_states(const ForwardRule& rule, VectorRef x) {
  EmPart part;
  const Index k = x.size();
  Index top = 0;
  const double high = x.maxCoeff(&top);
  if (!std::isfinite(high)) throw NumericalError("a row has probability zero under every component.");
  if (rule.kind == EmForward::hard) {
    part.loglik = log_sum_exp(x);
    x.setZero();
    x[top] = 1;
    return part;
  }
  double sum = 0;
  x.array() -= high;
  VectorXd shifted;
  if (rule.kind == EmForward::tempered && rule.temperature != 1) shifted = x;
  for (Index h = 0; h < k; ++h) {
    const double e = std::exp(x[h]);
    part.entropy -= e * x[h];
    x[h] = e;
    sum += e;
  }
  part.loglik = high + std::log(sum);
  x /= sum;
  part.entropy = std::max(0.0, part.entropy / sum + std::log(sum));
  if (!(part.entropy == part.entropy)) part.entropy = entropy_of(x);  // a state of probability zero
  if (rule.kind == EmForward::tempered && rule.temperature != 1) {
    x = softmax(shifted / rule.temperature);
    part.entropy = entropy_of(x);
  } else if (rule.kind == EmForward::box) {
    clip_states(x, rule.lower, rule.upper);
    part.entropy = entropy_of(x);
  }
  return part;
}

EmResult em_run(EmModel& model, VectorXd theta, const EmOptions& options, Rng& rng, Monitor& monitor) {
  return Run(model, std::move(theta), options, rng, monitor).run();
}

}  // namespace granary
