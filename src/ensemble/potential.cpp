#include "ensemble/potential.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"

namespace granary::ensemble {
namespace {

// Probabilities 0, 1, ..., upto of a Poisson law.
VectorXd poisson(double mean, int upto) {
  VectorXd p = VectorXd::Zero(upto + 1);
  if (mean <= 0) {
    p[0] = 1;
    return p;
  }
  if (mean < 600) {
    p[0] = std::exp(-mean);
    for (int j = 1; j <= upto; ++j) p[j] = p[j - 1] * mean / j;
    return p;
  }
  const double log_mean = std::log(mean);
  for (int j = 0; j <= upto; ++j) p[j] = std::exp(j * log_mean - mean - std::lgamma(j + 1.0));
  return p;
}

}  // namespace

ZeroOnePotential::ZeroOnePotential(const VectorXd& baseline, int n_draws) : b_(baseline), n_draws_(n_draws) {
  if (b_.size() < 2 || (b_.array() < 0).any() || std::abs(b_.sum() - 1) > 1e-9) throw InputError("a baseline is a distribution over at least two labels.");
  if (b_[0] < b_.tail(b_.size() - 1).maxCoeff() - 1e-12)
    throw InputError("the baseline must favour the right label: for others the potential is no longer the chance of a random vote (Theorem 5).");
  for (Index l = 2; l < b_.size(); ++l) equal_ = equal_ && b_[l] == b_[1];
}

double ZeroOnePotential::operator()(const std::vector<int>& votes, int t) {
  if (static_cast<Index>(votes.size()) != b_.size()) throw InputError("votes need one count per label.");
  std::vector<int> lead;
  for (std::size_t l = 1; l < votes.size(); ++l) {
    const int by = votes[0] - votes[l];
    if (by <= -t) return 1;  // cannot be passed any more
    lead.push_back(std::min(by, t + 1));
  }
  if (*std::min_element(lead.begin(), lead.end()) > t) return 0;
  if (equal_) std::sort(lead.begin(), lead.end());
  if (t != last_) known_.clear();
  last_ = t;
  const auto at = known_.find(lead);
  if (at != known_.end()) return at->second;
  const double value = n_draws_ > 0 ? by_draws(lead, t) : std::min(1.0, std::max(0.0, 1 - right(lead, t)));
  known_[lead] = value;
  return value;
}

// The share of random votes after which the right label is not ahead of all.
double ZeroOnePotential::by_draws(const std::vector<int>& lead, int t) {
  if (drawn_ != t) {
    Rng rng = Rng(seed_).stream(static_cast<std::uint64_t>(t));
    random_ = random_votes(t, b_, n_draws_, rng).transpose();
    drawn_ = t;
  }
  int lost = 0;
  for (Index draw = 0; draw < random_.cols(); ++draw) {
    bool ahead = true;
    for (std::size_t l = 0; l < lead.size() && ahead; ++l) ahead = lead[l] + random_(0, draw) > random_(static_cast<Index>(l) + 1, draw);
    lost += !ahead;
  }
  return lost / static_cast<double>(n_draws_);
}

// The chance that the right label ends ahead of all.
double ZeroOnePotential::right(const std::vector<int>& lead, int t) const {
  const int others = static_cast<int>(lead.size());
  std::vector<VectorXd> law(others);
  for (int l = 0; l < others; ++l) law[l] = equal_ && l > 0 ? law[0] : poisson(t * b_[l + 1], t);
  const VectorXd own = poisson(t * b_[0], t);
  double sum = 0;
  for (int n0 = 0; n0 <= t; ++n0) {
    const int left = t - n0;
    double free = 0;
    std::vector<int> bound;
    bool lost = false;
    for (int l = 0; l < others; ++l) {
      const int most = lead[l] + n0 - 1;
      lost = lost || most < 0;
      if (most >= left) free += t * b_[l + 1];
      else bound.push_back(l);
    }
    if (lost) continue;
    VectorXd so_far = poisson(free, left);
    for (std::size_t at = 0; at + 1 < bound.size(); ++at) {
      const VectorXd& p = law[bound[at]];
      const int most = lead[bound[at]] + n0 - 1;
      VectorXd next = VectorXd::Zero(left + 1);
      for (int j = 0; j <= most; ++j) next.tail(left + 1 - j) += p[j] * so_far.head(left + 1 - j);
      so_far = next;
    }
    double chance = 0;
    if (bound.empty()) {
      chance = so_far[left];
    } else {
      const VectorXd& p = law[bound.back()];
      const int most = lead[bound.back()] + n0 - 1;
      for (int j = 0; j <= most; ++j) chance += p[j] * so_far[left - j];
    }
    sum += own[n0] * chance;
  }
  return sum / poisson(t, t)[t];
}

double exponential_potential(const std::vector<int>& votes, int t, const VectorXd& baseline, const VectorXd& eta) {
  if (static_cast<Index>(votes.size()) != baseline.size()) throw InputError("votes need one count per label.");
  if (eta.size() != 1 && eta.size() != baseline.size() - 1) throw InputError("`eta` needs one number, or one per wrong label.");
  double sum = 0;
  for (Index l = 1; l < baseline.size(); ++l) {
    const double e = eta[eta.size() == 1 ? 0 : l - 1];
    const double a = 1 - (baseline[0] + baseline[l]) + std::exp(e) * baseline[l] + std::exp(-e) * baseline[0];
    sum += std::pow(a, t) * std::exp(e * (votes[l] - votes[0]));
  }
  return sum;
}

VoteOutcomes vote_outcomes(int t, const VectorXd& baseline) {
  const Index k = baseline.size();
  const double log_count = std::lgamma(t + k) - std::lgamma(t + 1.0) - std::lgamma(static_cast<double>(k));
  if (log_count > std::log(2e6)) throw InputError(message("there are about ", std::exp(log_count), " ways for the votes to fall: give `n_draws` for random ones."));
  const auto count = static_cast<Index>(std::llround(std::exp(log_count)));
  VoteOutcomes out;
  out.votes.resize(count, k);
  out.log_prob.resize(count);
  VectorXi now = VectorXi::Zero(k);
  now[k - 1] = t;
  for (Index row = 0; row < count; ++row) {
    double log_prob = std::lgamma(t + 1.0);
    for (Index l = 0; l < k; ++l) {
      out.votes(row, l) = now[l];
      if (now[l] > 0) log_prob += now[l] * std::log(baseline[l]) - std::lgamma(now[l] + 1.0);
    }
    out.log_prob[row] = log_prob;
    // the next composition: one vote moves up to the label before the last that has votes, the rest to the end
    Index at = k - 1;
    while (at > 0 && now[at] == 0) --at;
    if (at == 0) break;
    const int rest = now[at] - 1;
    now[at] = 0;
    ++now[at - 1];
    now[k - 1] = rest;
  }
  return out;
}

Eigen::MatrixXi random_votes(int t, const VectorXd& baseline, int n_draws, Rng& rng) {
  Eigen::MatrixXi out(n_draws, baseline.size());
  for (Index draw = 0; draw < n_draws; ++draw) {
    std::int64_t left = t;
    double rest = baseline.sum();
    for (Index l = 0; l < baseline.size(); ++l) {
      const std::int64_t here = l + 1 == baseline.size() || rest <= 0 ? left : rng.binomial(left, std::min(1.0, baseline[l] / rest));
      out(draw, l) = static_cast<int>(here);
      left -= here;
      rest -= baseline[l];
    }
  }
  return out;
}

VectorXd edge_baseline(Index k, double gamma) {
  VectorXd b = VectorXd::Constant(k, (1 - gamma) / static_cast<double>(k));
  b[0] += gamma;
  return b;
}

double contraction(double gamma, double eta, Index k) {
  return 1 + (1 - gamma) / static_cast<double>(k) * (std::exp(eta) + std::exp(-eta) - 2) - (1 - std::exp(-eta)) * gamma;
}

double best_step(double gamma, Index k) {
  const double b = (1 - gamma) / static_cast<double>(k);
  return 0.5 * std::log1p(gamma / b);
}

}  // namespace granary::ensemble
