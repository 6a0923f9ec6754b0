#include "ensemble/mixed_gain.h"

#include <cmath>

namespace granary::ensemble {

MixedGain::MixedGain(const MixedOptions& options, const VectorXi& labels, Index largest) : options_(options), first_(1, 0), table_(largest + 1, 0.0) {
  for (Index t = 0; t < labels.size(); ++t) first_.push_back(first_.back() + labels[t]);
  for (Index k = 2; k <= largest; ++k) table_[k] = static_cast<double>(k) * std::log(static_cast<double>(k));
  const auto tasks = static_cast<std::size_t>(labels.size());
  cases_.assign(tasks, 0);
  for (auto* v : {&whole_, &share_, &gains_}) v->assign(tasks, 0.0);
  right_.assign(first_.back(), 0);
}

double MixedGain::mass(const std::vector<int>& count, int from, int to, int& n) const {
  n = 0;
  int met = 0;
  double inner = 0;
  const bool gini = options_.score == MixedScore::gini;
  for (int l = from; l < to; ++l) {
    const int k = count[l];
    n += k;
    met += k > 0;
    inner += gini ? static_cast<double>(k) * k : table_[k];
  }
  if (n == 0) return 0;
  if (gini) return n - inner / n;
  return table_[n] - inner + (options_.corrected ? 0.5 * (met - 1) : 0.0);
}

void MixedGain::start(const std::vector<int>& total) {
  total_ = total;
  double sum = 0;
  for (int t = 0; t < tasks(); ++t) {
    const double m = mass(total, first_[t], first_[t + 1], cases_[t]);
    whole_[t] = cases_[t] > 0 ? m / cases_[t] : 0;
    share_[t] = t == 0 || cases_[t] == 0 ? 0 : options_.task_weights.size() > 0 ? options_.task_weights[t - 1] : cases_[t];
    sum += share_[t];
  }
  for (double& s : share_) s = sum > 0 ? s / sum : 0;
  all_whole_ = mass(total, first_[1], labels(), all_cases_);
}

double MixedGain::value(const std::vector<int>& left) {
  for (std::size_t l = 0; l < right_.size(); ++l) right_[l] = total_[l] - left[l];
  const auto gain = [&](int from, int to, double whole, int cases) {
    if (cases == 0) return 0.0;
    int a, b;
    const double parts = mass(left, from, to, a) + mass(right_, from, to, b);
    return a == 0 || b == 0 ? 0.0 : (whole - parts) / cases;
  };
  source_gain_ = 0;
  for (int t = 0; t < tasks(); ++t) {
    gains_[t] = gain(first_[t], first_[t + 1], whole_[t] * cases_[t], cases_[t]);
    source_gain_ += share_[t] * gains_[t];
  }
  if (options_.source == MixedSource::concat) source_gain_ = gain(first_[1], labels(), all_whole_, all_cases_);
  return (1 - options_.gamma) * gains_[0] + options_.gamma * source_gain_;
}

GainParts gain_parts(const VectorXi& label, const VectorXi& side, const VectorXi& labels, const MixedOptions& options) {
  MixedOptions other = options;
  MixedGain gain(options, labels, label.size());
  other.source = options.source == MixedSource::sum ? MixedSource::concat : MixedSource::sum;
  MixedGain second(other, labels, label.size());
  std::vector<int> total(gain.labels(), 0), left(gain.labels(), 0);
  for (Index i = 0; i < label.size(); ++i) {
    ++total[label[i]];
    if (side[i] == 0) ++left[label[i]];
  }
  gain.start(total);
  second.start(total);
  GainParts out;
  out.score = gain.value(left);
  second.value(left);
  out.target = gain.gain(0);
  out.sum = options.source == MixedSource::sum ? gain.source() : second.source();
  out.concat = options.source == MixedSource::sum ? second.source() : gain.source();
  out.tasks = VectorXd(gain.tasks());
  std::vector<double> on_left(gain.tasks(), 0.0);
  double n = 0, n_left = 0;
  for (int t = 0; t < gain.tasks(); ++t) {
    out.tasks[t] = gain.gain(t);
    for (int l = gain.first(t); l < gain.first(t + 1); ++l) on_left[t] += left[l];
    if (t == 0) continue;
    n += gain.cases(t);
    n_left += on_left[t];
  }
  const auto term = [&](double both, double task, double sides) { return both > 0 ? both / n * std::log(both * n / (task * sides)) : 0.0; };
  for (int t = 1; t < gain.tasks(); ++t)
    out.information += term(on_left[t], gain.cases(t), n_left) + term(gain.cases(t) - on_left[t], gain.cases(t), n - n_left);
  return out;
}

}  // namespace granary::ensemble
