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

ZeroOnePotential::ZeroOnePotential(const VectorXd& baseline) : b_(baseline) {
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
  const double value = std::min(1.0, std::max(0.0, 1 - right(lead, t)));
  known_[lead] = value;
  return value;
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

double exponential_potential(const std::vector<int>& votes, int t, const VectorXd& baseline, double eta) {
  double sum = 0;
  for (Index l = 1; l < baseline.size(); ++l) {
    const double a = 1 - (baseline[0] + baseline[l]) + std::exp(eta) * baseline[l] + std::exp(-eta) * baseline[0];
    sum += std::pow(a, t) * std::exp(eta * (votes[l] - votes[0]));
  }
  return sum;
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
