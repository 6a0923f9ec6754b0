#include "latent/partition_gibbs.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/parallel.h"
#include "core/base/part_monitor.h"
#include "core/base/quiet_monitor.h"
#include "core/infer/mcmc.h"
#include "core/linalg/wide_loops.h"
#include "latent/concentration.h"

namespace granary::latent {

namespace {

std::size_t z(Index i) { return static_cast<std::size_t>(i); }

}  // namespace

VectorXi start_labels(ChainStart start, const PartitionPrior& prior, Index n, Rng& rng) {
  const int most = prior.components();
  if (start == ChainStart::one) return VectorXi::Zero(n);
  if (start == ChainStart::prior) return draw_partition(prior, n, rng);
  VectorXi label(n);
  for (Index i = 0; i < n; ++i) label[i] = static_cast<int>(most > 0 ? i % most : i);
  return label;
}

double renew_theta(const PartitionPrior& prior, double theta, Index n, Index t, Rng& rng) {
  return draw_concentration(theta, VectorXd::Constant(1, static_cast<double>(n)), VectorXd::Constant(1, static_cast<double>(t)), prior.shape, prior.scale_rate, rng);
}

CollapsedChain::CollapsedChain(const BlockFamily& family, const PartitionPrior& prior, const VectorXi& start, const ChainOptions& options)
    : family_(family.clone()), law_(prior, start.size()), options_(options), label_(start) {
  const Index n = label_.size();
  const int blocks = relabel(label_);
  family_->slots(blocks + 3);
  size_.assign(z(blocks) + 3, 0);
  place_.assign(z(blocks) + 3, -1);
  for (int s = blocks + 2; s >= blocks; --s) free_.push_back(s);
  for (int s = 0; s < blocks; ++s) {
    place_[z(s)] = s;
    active_.push_back(s);
  }
  for (Index i = 0; i < n; ++i) ++size_[z(label_[i])];
  alone_.resize(n);
  const int empty = free_.back();
  family_->clear(empty);
  for (Index i = 0; i < n; ++i) alone_[i] = family_->log_predictive(i, empty);
  rebuild();
}

void CollapsedChain::rebuild() {
  for (const int s : active_) family_->clear(s);
  for (Index i = 0; i < label_.size(); ++i)
    if (label_[i] >= 0) family_->add(i, label_[i]);
}

int CollapsedChain::take_slot() {
  if (free_.empty()) {
    const int old = static_cast<int>(size_.size()), more = old + std::max(4, old / 2);
    family_->slots(more);
    size_.resize(z(more), 0);
    place_.resize(z(more), -1);
    for (int s = more - 1; s >= old; --s) free_.push_back(s);
  }
  const int slot = free_.back();
  free_.pop_back();
  place_[z(slot)] = static_cast<int>(active_.size());
  active_.push_back(slot);
  size_[z(slot)] = 0;
  return slot;
}

void CollapsedChain::give_back(int slot) {
  const int at = place_[z(slot)], last = active_.back();
  active_[z(at)] = last;
  place_[z(last)] = at;
  active_.pop_back();
  place_[z(slot)] = -1;
  size_[z(slot)] = 0;
  family_->clear(slot);
  free_.push_back(slot);
}

double CollapsedChain::open(Index t) {
  if (open_.size() <= z(t)) open_.resize(z(t) + 8, std::numeric_limits<double>::quiet_NaN());
  double& value = open_[z(t)];
  if (std::isnan(value)) value = law_.open(t);
  return value;
}

void CollapsedChain::gibbs_scan(Rng& rng, Monitor& monitor) {
  const double shift = law_.join(0);
  for (Index i = 0; i < label_.size(); ++i) {
    if ((i & 255) == 0) monitor.check();
    const int old = label_[i];
    label_[i] = -1;
    if (--size_[z(old)] == 0) {
      give_back(old);
    } else if (!family_->remove(i, old)) {
      family_->clear(old);
      for (Index r = 0; r < label_.size(); ++r)
        if (label_[r] == old) family_->add(r, old);
    }
    const int t = static_cast<int>(active_.size());
    log_weight_.resize(z(t) + 1);
    share_.resize(z(t) + 1);
    double* w = log_weight_.data();
    family_->log_predictives(i, active_.data(), t, w);
    w[t] = alone_[i];
    double top = alone_[i];
    for (int j = 0; j < t; ++j) top = std::max(top, w[j]);
    for (int j = 0; j < t; ++j) share_[z(j)] = size_[z(active_[z(j)])] + shift;
    share_[z(t)] = t > 0 ? open(t) : 1;
    double u = rng.uniform() * weighted_exp_below(top, share_.data(), w, t + 1);
    int j = 0;
    while (j < t && (u -= w[j]) >= 0) ++j;
    if (j == t && !(w[t] > 0)) j = static_cast<int>(std::max_element(w, w + t) - w);  // rounding, where no block may be opened
    const int slot = j < t ? active_[z(j)] : take_slot();
    label_[i] = slot;
    ++size_[z(slot)];
    family_->add(i, slot);
  }
}

void CollapsedChain::sweep(Rng& rng, Monitor& monitor) {
  gibbs_scan(rng, monitor);
  // A start is left by leaps, so more of them are tried while warming up.
  for (due_ += options_.split_merge * (sweeps_ < options_.burn_in ? 10 : 1); due_ >= 1 && label_.size() > 1; due_ -= 1) {
    proposed_ += 1;
    taken_ += split_merge(rng);
  }
  if (++sweeps_ % 16 == 0) rebuild();
  if (law_.prior().learns_theta()) {
    law_.set_theta(renew_theta(law_.prior(), law_.prior().theta, label_.size(), count(), rng));
    open_.clear();
  }
}

// Each row of `rows` between the two slots, in turn; with `keep` the log probability of what was drawn, or with `follow` of what `side` says.
double CollapsedChain::restricted_scan(const std::vector<Index>& rows, std::vector<char>& side, const int slots[2], int sizes[2], bool follow, bool keep, Rng& rng) {
  const double shift = law_.join(0);
  double log_q = 0, q = 1, p[2];
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const Index i = rows[r];
    const int old = label_[i];  // 0 or 1 here: which of the two slots the row is in
    --sizes[old];
    if (!family_->remove(i, slots[old])) {
      family_->clear(slots[old]);
      for (const Index other : rows)
        if (other != i && label_[other] == old) family_->add(other, slots[old]);
      family_->add(rows_anchor_[old], slots[old]);
    }
    family_->log_predictives(i, slots, 2, p);
    const double first = sizes[0] + shift, second = (sizes[1] + shift) * std::exp(std::min(p[1] - p[0], 700.0)), total = first + second;
    const int now = follow ? side[r] : rng.uniform() * total < second;
    if (keep && std::abs(p[1] - p[0]) > 200) {
      const double odds = p[1] - p[0] + std::log((sizes[1] + shift) / first);
      log_q -= std::log1p(std::exp(now == 1 ? -odds : odds));
    } else if (keep) {
      q *= (now == 1 ? second : first) / total;
      if (q < 1e-200) {  // the logarithm of the product, with few logarithms
        log_q += std::log(q);
        q = 1;
      }
    }
    label_[i] = now;
    ++sizes[now];
    family_->add(i, slots[now]);
  }
  return log_q + std::log(q);
}

bool CollapsedChain::split_merge(Rng& rng) {
  const auto n = static_cast<std::uint64_t>(label_.size());
  const Index first = static_cast<Index>(rng.below(n));
  Index second = static_cast<Index>(rng.below(n - 1));
  if (second >= first) ++second;
  const int home[2] = {label_[first], label_[second]};
  const bool splitting = home[0] == home[1];
  const Index t = count();
  if (splitting && !(open(t) > 0)) return false;  // no block may be opened
  std::vector<Index> rows;
  std::vector<char> side;
  for (Index i = 0; i < label_.size(); ++i) {
    if ((label_[i] != home[0] && label_[i] != home[1]) || i == first || i == second) continue;
    rows.push_back(i);
    side.push_back(label_[i] == home[1] && !splitting);
  }
  const double marginals = family_->log_marginal(home[0]) + (splitting ? 0 : family_->log_marginal(home[1]));
  const int slots[2] = {take_slot(), take_slot()};
  int sizes[2] = {1, 1};
  rows_anchor_[0] = first;
  rows_anchor_[1] = second;
  family_->add(first, slots[0]);
  family_->add(second, slots[1]);
  for (const Index i : rows) {
    label_[i] = static_cast<int>(rng.below(2));
    ++sizes[label_[i]];
    family_->add(i, slots[label_[i]]);
  }
  for (int scan = 0; scan < options_.launch; ++scan) restricted_scan(rows, side, slots, sizes, false, false, rng);
  const double log_q = restricted_scan(rows, side, slots, sizes, !splitting, true, rng);
  const double whole = static_cast<double>(rows.size()) + 2;
  const double sizes_term = law_.log_size(sizes[0]) + law_.log_size(sizes[1]) - law_.log_size(whole);
  const double parts = family_->log_marginal(slots[0]) + family_->log_marginal(slots[1]);
  double log_ratio;
  if (splitting) {
    log_ratio = law_.log_v(t + 1) - law_.log_v(t) + sizes_term + parts - marginals - log_q;
  } else {
    // the merged block, in the first of the old slots
    for (const Index i : rows)
      if (label_[i] == 1) family_->add(i, home[0]);  // those of the second block; labels still say which
    family_->add(second, home[0]);
    log_ratio = law_.log_v(t - 1) - law_.log_v(t) - sizes_term + family_->log_marginal(home[0]) - parts + log_q;
  }
  const bool accept = std::log(rng.uniform_open()) < log_ratio;
  if (splitting) {
    if (accept) {
      for (const Index i : rows) label_[i] = slots[label_[i]];
      label_[first] = slots[0];
      label_[second] = slots[1];
      size_[z(slots[0])] = sizes[0];
      size_[z(slots[1])] = sizes[1];
      give_back(home[0]);
    } else {
      for (const Index i : rows) label_[i] = home[0];
      give_back(slots[1]);
      give_back(slots[0]);
    }
    return accept;
  }
  if (accept) {
    for (const Index i : rows) label_[i] = home[0];
    label_[first] = label_[second] = home[0];
    size_[z(home[0])] += size_[z(home[1])];
    give_back(slots[1]);
    give_back(slots[0]);
    give_back(home[1]);
  } else {
    // what was forced in the last scan is the old state: its statistics stand in the new slots, freshly added
    for (const Index i : rows) label_[i] = slots[label_[i]];
    label_[first] = slots[0];
    label_[second] = slots[1];
    size_[z(slots[0])] = sizes[0];
    size_[z(slots[1])] = sizes[1];
    give_back(home[0]);
    give_back(home[1]);
  }
  return accept;
}

VectorXi CollapsedChain::labels() const {
  VectorXi out = label_;
  relabel(out);
  return out;
}

double CollapsedChain::loglik() const {
  double value = 0;
  for (const int s : active_) value += family_->log_marginal(s);
  return value;
}

double CollapsedChain::log_prior() const {
  double value = law_.log_v(count());
  for (const int s : active_) value += law_.log_size(size_[z(s)]);
  return value;
}

ChainResult run_chains(const MakeChain& make, Index n, const PartitionPrior& prior, const ChainOptions& options, Rng& rng, Monitor& monitor) {
  if (options.n_draws < 1 || options.thin < 1 || options.burn_in < 0 || options.chains < 1) throw InputError("`n_draws`, `thin` and `chains` must be at least 1.");
  const Index draws = options.n_draws, all = draws * options.chains;
  if (static_cast<double>(all) * static_cast<double>(n) > 2e9) {
    throw InputError(message(all, " draws of ", n, " labels would take ", static_cast<double>(all) * static_cast<double>(n) * 4 / 1e9, " GB: raise `thin` and lower `n_draws`."));
  }
  const Stopwatch watch;
  ChainResult out;
  out.partitions.resize(all, n);
  out.count.resize(all);
  out.loglik.resize(all);
  out.theta.resize(all);
  out.log_posterior.resize(all);
  out.effective_count.resize(options.chains);
  out.effective_loglik.resize(options.chains);
  out.accepted.resize(options.chains);
  std::vector<VectorXi> best(z(options.chains));
  std::vector<double> best_value(z(options.chains), -std::numeric_limits<double>::infinity());
  std::vector<std::vector<double>> parameters(z(options.chains));
  std::atomic<long> done{0};
  const long sweeps = static_cast<long>(options.burn_in) + static_cast<long>(options.n_draws) * options.thin;
  parallel_for(options.chains, options.threads, monitor, [&](Index c) {
    Rng mine = rng.stream(static_cast<std::uint64_t>(c));
    const std::unique_ptr<PartitionChain> chain = make(mine);
    Index at = c * draws;
    for (long s = 1; s <= sweeps; ++s) {
      chain->sweep(mine, monitor);
      if ((++done & 15) == 0) monitor.progress(static_cast<double>(done) / static_cast<double>(sweeps * options.chains));
      if (s <= options.burn_in) continue;
      const bool kept = (s - options.burn_in) % options.thin == 0;
      const double loglik = chain->loglik(), value = loglik + chain->log_prior();
      if (value > best_value[z(c)]) {
        best_value[z(c)] = value;
        best[z(c)] = chain->labels();
      }
      if (!kept) continue;
      out.partitions.row(at) = chain->labels().transpose();
      out.count[at] = chain->count();
      out.loglik[at] = loglik;
      out.log_posterior[at] = value;
      out.theta[at] = chain->theta();
      chain->keep(parameters[z(c)]);
      ++at;
    }
    out.effective_count[c] = effective_sample_size(out.count.segment(c * draws, draws).cast<double>());
    out.effective_loglik[c] = effective_sample_size(out.loglik.segment(c * draws, draws));
    out.accepted[c] = chain->accepted();
  });
  const auto top = static_cast<std::size_t>(std::max_element(best_value.begin(), best_value.end()) - best_value.begin());
  out.best = best[top];
  out.best_value = best_value[top];
  Index total = 0;
  for (const auto& p : parameters) total += static_cast<Index>(p.size());
  out.parameters.resize(total);
  Index at = 0;
  for (const auto& p : parameters)
    for (const double value : p) out.parameters[at++] = value;
  if (prior.type == PriorType::mfm) {
    VectorXd share = VectorXd::Zero(out.count.maxCoeff());
    for (Index d = 0; d < all; ++d) share[out.count[d] - 1] += 1.0 / static_cast<double>(all);
    for (Index t = 1; t <= share.size(); ++t) {
      if (share[t - 1] == 0) continue;
      const VectorXd k = components_given_count(prior, n, t);
      if (out.components.size() < k.size()) {
        const Index old = out.components.size();
        out.components.conservativeResize(k.size());
        out.components.tail(k.size() - old).setZero();
      }
      out.components.head(k.size()) += share[t - 1] * k;
    }
  }
  out.seconds = watch.seconds();
  return out;
}

ChainResult collapsed_gibbs(const BlockFamily& family, const PartitionPrior& prior, const ChainOptions& options, Rng& rng, Monitor& monitor) {
  const Index n = family.rows();
  const auto make = [&](Rng& mine) -> std::unique_ptr<PartitionChain> {
    return std::make_unique<CollapsedChain>(family, prior, start_labels(options.start, prior, n, mine), options);
  };
  return run_chains(make, n, prior, options, rng, monitor);
}

}  // namespace granary::latent
