// Generalised alternating minimisation: Gunawardana and Byrne (JMLR 2005); numbers below are theirs.
//
//   D(Q || P_theta) = E_Q log q(x) - E_Q log p(x; theta) = KL(Q || P(. | y; theta)) - log p(y; theta)
//
// over distributions Q of the complete data x that agree with the data y, and parameters theta. The forward step lowers D over Q, the backward step
// over theta (section 3); -D never exceeds the log-likelihood, and the gap is the Kullback-Leibler divergence in between.
//
// Every model here is an exponential family: E_Q log p(x; theta) is linear in expected statistics S that add up over units (rows or sequences). So D
// follows from S and the entropy of Q without touching the data, and is known exactly after every step, however small:
//
//   D = -H(Q) - complete(S, theta)
//
//   em            both steps in full (EM)
//   incremental   Q block by block, theta after each block (section 4.3); the blocks' statistics are kept
//   gem           theta goes a part of the way to the maximum, halved until D falls (generalised EM)
//   squarem       extrapolation of S over two steps (Varadhan and Roland, Scand. J. Statist. 2008), taken only where the likelihood does not fall
//
// Q may be held in a smaller family: hard (one state each), boxed (lower <= q_k <= upper), or tempered (temperature times the entropy in D). Limits are
// then minima of D over that family and not of the likelihood (section 4.4).
#pragma once

#include <vector>

#include "core/base/convergence.h"
#include "core/base/monitor.h"
#include "core/base/types.h"
#include "core/random/rng.h"

namespace granary {

enum class EmMethod { em, incremental, gem, squarem };
inline Names<EmMethod> names(EmMethod) {
  return {{EmMethod::em, "em"}, {EmMethod::incremental, "incremental"}, {EmMethod::gem, "gem"}, {EmMethod::squarem, "squarem"}};
}
enum class EmForward { exact, hard, box, tempered };
inline Names<EmForward> names(EmForward) {
  return {{EmForward::exact, "exact"}, {EmForward::hard, "hard"}, {EmForward::box, "box"}, {EmForward::tempered, "tempered"}};
}
enum class EmOrder { fixed, random };
inline Names<EmOrder> names(EmOrder) { return {{EmOrder::fixed, "fixed"}, {EmOrder::random, "random"}}; }

struct ForwardRule {
  EmForward kind = EmForward::exact;
  double temperature = 1;       // tempered
  double lower = 0, upper = 1;  // box
};

struct EmPart {
  double loglik = 0;   // of the units at the parameters of the E-step
  double entropy = 0;  // of their Q
};

class EmModel {
 public:
  virtual ~EmModel() = default;
  virtual Index units() const = 0;
  virtual Index statistics() const = 0;
  virtual Index parameters() const = 0;
  virtual double total() const = 0;  // weight of all units

  virtual void set(const VectorXd& theta) = 0;  // the parameters of what follows
  // Forward step of units from .. to - 1: s = their expected statistics.
  virtual EmPart expect(Index from, Index to, const ForwardRule& rule, VectorXd& s, Monitor& monitor) = 0;
  // The same for all units, of which only those whose Q last moved by more than `eps` are looked at unless `all`; the likelihood is then not known.
  virtual EmPart expect_moved(double eps, bool all, const ForwardRule& rule, VectorXd& s, Monitor& monitor);
  // Backward step: theta from s; `theta` holds the last on entry (what a state without weight keeps).
  virtual void maximise(const VectorXd& s, VectorXd& theta) = 0;
  // At the parameters set: E_Q log p(x; theta), priors included, and the largest derivative of it per unit of weight, in units of the model's own
  // standard deviations: free of scales.
  virtual double complete(const VectorXd& s) const = 0;
  virtual double score(const VectorXd& s) const = 0;
  virtual double log_prior() const { return 0; }  // its part in complete(), up to a constant
  virtual int repairs() const { return 0; }       // M-steps that needed a floor, so that D need not fall
};

struct EmOptions {
  EmMethod method = EmMethod::em;
  EmForward forward = EmForward::exact;
  double temperature = 1;
  double lower = 0, upper = 1;
  int blocks = 20;  // incremental
  EmOrder order = EmOrder::fixed;
  double step = 0.5;     // gem: share of the way to the maximum that is tried first
  double partial = 0;    // > 0: only units whose Q moved by more are looked at again,
  int refresh = 5;       // all of them every so many passes
  double tol = 1e-8;     // relative fall of D over a pass; the score must be below its square root
  int max_iter = 1000;   // passes over the data
};
template <class V>
void fields(V& v, EmOptions& t) {
  v("method", t.method);
  v("forward", t.forward);
  v("temperature", t.temperature);
  v("lower", t.lower);
  v("upper", t.upper);
  v("blocks", t.blocks);
  v("order", t.order);
  v("step", t.step);
  v("partial", t.partial);
  v("refresh", t.refresh);
  v("tol", t.tol);
  v("max_iter", t.max_iter);
}

// One line per forward-backward pair: D after the forward step at the old parameters, D after the backward step, and where it is known the likelihood
// at the old ones.
struct EmStep {
  int pass = 0;
  double forward = 0, backward = 0;
  double loglik = Convergence::unknown;
};
template <class V>
void fields(V& v, EmStep& t) {
  v("pass", t.pass);
  v("forward", t.forward);
  v("backward", t.backward);
  v("loglik", any_number(t.loglik));
}

struct EmResult {
  VectorXd theta;
  double loglik = 0;      // log p(y; theta), without the prior
  double divergence = 0;  // D at Q, theta as returned
  double gap = 0;         // D + loglik (+ log prior): the divergence of Q from the posterior
  double score = 0;       // of the log-likelihood (of D where Q is held in a smaller family), scaled as EmModel::score
  double change = 0;      // |EM(theta) - theta|, relative to 1 + |theta|, largest entry
  int rises = 0;          // steps in which D rose by more than rounding: a defect, or a floor
  int lifted = 0;         // floors that one more step from the answer would need: the answer lies on them
  int falls = 0;          // passes in which the likelihood fell, where it is known
  std::vector<EmStep> trace;
  Convergence convergence;  // residual: score
};
template <class V>
void fields(V& v, EmResult& t) {
  v("theta", t.theta);
  v("loglik", t.loglik);
  v("divergence", t.divergence);
  v("gap", t.gap);
  v("score", t.score);
  v("change", t.change);
  v("rises", t.rises);
  v("lifted", t.lifted);
  v("falls", t.falls);
  v("trace", columns(t.trace));
  v("convergence", t.convergence);
}

EmResult em_run(EmModel& model, VectorXd theta, const EmOptions& options, Rng& rng, Monitor& monitor);

// Forward step of one unit whose states have the log joint probabilities x: q in place of x, the likelihood and the entropy.
EmPart forward_states(const ForwardRule& rule, VectorRef x);

}  // namespace granary
