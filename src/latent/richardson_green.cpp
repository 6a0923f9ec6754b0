#include "latent/richardson_green.h"

#include <cmath>

#include "core/math/special.h"

namespace granary::latent {

namespace {

std::size_t z(Index i) { return static_cast<std::size_t>(i); }

struct Hyper {
  double xi, range;
  explicit Hyper(ConstVectorRef x) : xi(0.5 * (x.minCoeff() + x.maxCoeff())), range(x.maxCoeff() - x.minCoeff()) {
    if (!(range > 0)) throw InputError("all rows are equal, so that their range, the scale of the prior, is zero: use the family \"normal\" with `hyper` of your own.");
  }
};

struct Component {
  double mu = 0, tau = 1, half_log = 0;
};

double log_density(double x, const Component& c) {
  const double d = x - c.mu;
  return c.half_log - 0.5 * c.tau * d * d - 0.9189385332046727;
}

Component prior_draw(const Hyper& h, double beta, Rng& rng) {
  Component c;
  c.mu = rng.normal(h.xi, h.range);
  c.tau = rng.gamma(2, 1 / beta);
  c.half_log = 0.5 * std::log(c.tau);
  return c;
}

class AuxiliaryChain : public PartitionChain {
 public:
  AuxiliaryChain(ConstVectorRef x, const PartitionPrior& prior, const ChainOptions& options, Rng& rng)
      : x_(x), hyper_(x), law_(prior, x.size()), options_(options), label_(start_labels(options.start, prior, x.size(), rng)) {
    const int t = relabel(label_);
    beta_ = hyper_.range * hyper_.range * 0.02;
    for (int b = 0; b < t; ++b) blocks_.push_back(prior_draw(hyper_, beta_, rng));
    size_.assign(z(t), 0);
    for (Index i = 0; i < x_.size(); ++i) ++size_[z(label_[i])];
    renew(rng);
  }

  void sweep(Rng& rng, Monitor& monitor) override {
    const double shift = law_.join(0);
    const int m = options_.auxiliary;
    for (Index i = 0; i < x_.size(); ++i) {
      if ((i & 255) == 0) monitor.check();
      const int old = label_[i];
      std::vector<Component>& fresh = auxiliary_;
      fresh.clear();
      if (--size_[z(old)] == 0) {
        fresh.push_back(blocks_[z(old)]);
        drop(old);
      }
      while (static_cast<int>(fresh.size()) < m) fresh.push_back(prior_draw(hyper_, beta_, rng));
      const Index t = static_cast<Index>(blocks_.size());
      weight_.resize(t + m);
      for (Index b = 0; b < t; ++b) weight_[b] = log_density(x_[i], blocks_[z(b)]);
      for (int a = 0; a < m; ++a) weight_[t + a] = log_density(x_[i], fresh[z(a)]);
      const double top = weight_.maxCoeff(), open = t > 0 ? law_.open(t) : 1;
      double total = 0;
      for (Index b = 0; b < t; ++b) total += weight_[b] = (size_[z(b)] + shift) * std::exp(weight_[b] - top);
      for (int a = 0; a < m; ++a) total += weight_[t + a] = open / m * std::exp(weight_[t + a] - top);
      double u = rng.uniform() * total;
      Index j = 0;
      while (j < t + m - 1 && (u -= weight_[j]) >= 0) ++j;
      if (!(weight_[j] > 0)) weight_.maxCoeff(&j);
      if (j >= t) {
        blocks_.push_back(fresh[z(j - t)]);
        size_.push_back(0);
        j = t;
      }
      label_[i] = static_cast<int>(j);
      ++size_[z(j)];
    }
    renew(rng);
    if (law_.prior().learns_theta()) law_.set_theta(renew_theta(law_.prior(), theta(), x_.size(), count(), rng));
  }

  VectorXi labels() const override {
    VectorXi out = label_;
    relabel(out);
    return out;
  }
  int count() const override { return static_cast<int>(blocks_.size()); }
  double loglik() const override {
    double value = 0;
    for (Index i = 0; i < x_.size(); ++i) value += log_density(x_[i], blocks_[z(label_[i])]);
    return value;
  }
  double log_prior() const override {
    double value = law_.log_partition(size_);
    for (const Component& c : blocks_) {
      const double d = (c.mu - hyper_.xi) / hyper_.range;
      value += -0.5 * d * d - std::log(hyper_.range) - 0.9189385332046727 + 2 * std::log(beta_) + std::log(c.tau) - beta_ * c.tau;
    }
    return value;
  }
  double theta() const override { return law_.prior().theta; }
  void keep(std::vector<double>& parameters) const override {
    std::vector<char> seen(blocks_.size(), 0);
    for (Index i = 0; i < label_.size(); ++i) {
      if (seen[z(label_[i])]) continue;
      seen[z(label_[i])] = 1;
      parameters.push_back(blocks_[z(label_[i])].mu);
      parameters.push_back(blocks_[z(label_[i])].tau);
    }
    parameters.push_back(beta_);
  }

 private:
  void drop(int block) {
    const int last = static_cast<int>(blocks_.size()) - 1;
    if (block != last) {
      blocks_[z(block)] = blocks_[z(last)];
      size_[z(block)] = size_[z(last)];
      for (Index i = 0; i < label_.size(); ++i)
        if (label_[i] == last) label_[i] = block;
    }
    blocks_.pop_back();
    size_.pop_back();
  }
  void renew(Rng& rng) {
    const std::size_t t = blocks_.size();
    std::vector<double> sum(t, 0), square(t, 0);
    for (Index i = 0; i < x_.size(); ++i) sum[z(label_[i])] += x_[i] - hyper_.xi;
    double precisions = 0;
    for (std::size_t b = 0; b < t; ++b) {
      Component& c = blocks_[b];
      const double v = 1 / (hyper_.range * hyper_.range), precision = v + size_[b] * c.tau;
      c.mu = hyper_.xi + rng.normal(c.tau * sum[b] / precision, 1 / std::sqrt(precision));
    }
    for (Index i = 0; i < x_.size(); ++i) {
      const double d = x_[i] - blocks_[z(label_[i])].mu;
      square[z(label_[i])] += d * d;
    }
    for (std::size_t b = 0; b < t; ++b) {
      Component& c = blocks_[b];
      c.tau = rng.gamma(2 + 0.5 * size_[b], 1 / (beta_ + 0.5 * square[b]));
      c.half_log = 0.5 * std::log(c.tau);
      precisions += c.tau;
    }
    beta_ = rng.gamma(0.2 + 2 * static_cast<double>(t), 1 / (10 / (hyper_.range * hyper_.range) + precisions));
  }

  VectorXd x_;
  Hyper hyper_;
  PartitionLaw law_;
  ChainOptions options_;
  VectorXi label_;
  std::vector<int> size_;
  std::vector<Component> blocks_, auxiliary_;
  double beta_;
  VectorXd weight_;
};

}  // namespace

ChainResult richardson_green(ConstVectorRef x, const PartitionPrior& prior, const ChainOptions& options, Rng& rng, Monitor& monitor) {
  if (!x.allFinite()) throw InputError("the rows must be finite.");
  if (options.auxiliary < 1) throw InputError("`auxiliary` must be at least 1.");
  const auto make = [&](Rng& mine) -> std::unique_ptr<PartitionChain> { return std::make_unique<AuxiliaryChain>(x, prior, options, mine); };
  return run_chains(make, x.size(), prior, options, rng, monitor);
}

VectorXd richardson_green_density(ConstVectorRef at, ConstVectorRef x, const PartitionPrior& prior, const Eigen::MatrixXi& partitions, ConstVectorRef theta,
                                  ConstVectorRef parameters, Rng& rng, Monitor& monitor) {
  const Hyper hyper(x);
  PartitionLaw law(prior, x.size() + 1);  // one row more: the weights of the next row
  VectorXd out = VectorXd::Zero(at.size());
  Index next = 0;
  for (Index d = 0; d < partitions.rows(); ++d) {
    monitor.check();
    if (prior.learns_theta()) law.set_theta(theta[d]);
    const int t = partitions.row(d).maxCoeff() + 1;
    if (next + 2 * t + 1 > parameters.size()) throw InputError("the parameters of the draws are too few for their blocks.");
    std::vector<Component> blocks(z(t) + 1);
    VectorXd weight = VectorXd::Zero(t + 1);
    for (Index i = 0; i < x.size(); ++i) weight[partitions(d, i)] += 1;
    for (int b = 0; b < t; ++b) {
      blocks[z(b)].mu = parameters[next++];
      blocks[z(b)].tau = parameters[next++];
      blocks[z(b)].half_log = 0.5 * std::log(blocks[z(b)].tau);
      weight[b] += law.join(0);
    }
    blocks[z(t)] = prior_draw(hyper, parameters[next++], rng);
    weight[t] = law.open(t);
    weight /= weight.sum() * static_cast<double>(partitions.rows());
    for (Index r = 0; r < at.size(); ++r)
      for (int b = 0; b <= t; ++b) out[r] += weight[b] * std::exp(log_density(at[r], blocks[z(b)]));
  }
  return out;
}

}  // namespace granary::latent
