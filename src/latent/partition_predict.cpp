#include "latent/partition_predict.h"

#include <cmath>
#include <numeric>

#include "core/base/parallel.h"
#include "core/math/logspace.h"

namespace granary::latent {

namespace {

int load(BlockFamily& family, const VectorXi& cluster) {
  const int t = cluster.maxCoeff() + 1;
  family.slots(t + 1);
  for (int b = 0; b <= t; ++b) family.clear(b);
  for (Index i = 0; i < cluster.size(); ++i) family.add(i, cluster[i]);
  return t;
}

VectorXd next_weights(const PartitionLaw& law, const VectorXi& cluster, int t) {
  VectorXd w = VectorXd::Constant(t + 1, law.join(0));
  for (Index i = 0; i < cluster.size(); ++i) w[cluster[i]] += 1;
  w[t] = law.open(t);
  return w / w.sum();
}

}  // namespace

VectorXd predictive_density(const BlockFamily& family, const PartitionPrior& prior, const Eigen::MatrixXi& partitions, ConstVectorRef theta, int threads, Monitor& monitor) {
  const Index n = partitions.cols(), more = family.rows() - n, draws = partitions.rows();
  // Draws in a fixed number of parts, each with a family of its own; the parts are summed in order, whatever the threads.
  const Index parts = std::min<Index>(draws, 16);
  MatrixXd sum = MatrixXd::Zero(more, parts);
  parallel_for(parts, threads, monitor, [&](Index part) {
    const std::unique_ptr<BlockFamily> work = family.clone();
    PartitionLaw law(prior, n + 1);
    std::vector<int> slots;
    std::vector<double> value;
    for (Index d = part; d < draws; d += parts) {
      if (prior.learns_theta()) law.set_theta(theta[d]);
      const VectorXi label = partitions.row(d).transpose();
      const int t = load(*work, label);
      const VectorXd w = next_weights(law, label, t);
      slots.resize(static_cast<std::size_t>(t) + 1);
      value.resize(slots.size());
      std::iota(slots.begin(), slots.end(), 0);
      for (Index r = 0; r < more; ++r) {
        monitor.check();
        work->log_predictives(n + r, slots.data(), t + 1, value.data());
        for (int b = 0; b <= t; ++b) sum(r, part) += w[b] * std::exp(value[static_cast<std::size_t>(b)]);
      }
    }
  });
  return sum.rowwise().sum() / static_cast<double>(draws);
}

MatrixXd predictive_membership(const BlockFamily& family, const PartitionPrior& prior, const VectorXi& cluster) {
  const Index n = cluster.size(), more = family.rows() - n;
  const std::unique_ptr<BlockFamily> work = family.clone();
  const int t = load(*work, cluster);
  const VectorXd w = next_weights(PartitionLaw(prior, n + 1), cluster, t);
  std::vector<int> slots(static_cast<std::size_t>(t) + 1);
  std::iota(slots.begin(), slots.end(), 0);
  MatrixXd out(more, t + 1);
  VectorXd value(t + 1);
  for (Index r = 0; r < more; ++r) {
    work->log_predictives(n + r, slots.data(), t + 1, value.data());
    for (int b = 0; b <= t; ++b) value[b] += std::log(w[b]);
    out.row(r) = softmax(value).transpose();
  }
  return out;
}

MixtureDraw draw_mixture(const FamilySpec& spec, const PartitionPrior& prior, Index n, Index columns, Rng& rng, Monitor& monitor) {
  FamilySpec mine = spec;
  // Any rows in the domain of the family, to be overwritten.
  const double filler = spec.type == FamilyType::weibull || spec.type == FamilyType::lognormal || spec.type == FamilyType::exponential ? 1 : 0;
  const std::unique_ptr<BlockFamily> family = make_family(MatrixXd::Constant(n, columns, filler), mine);
  MixtureDraw out;
  out.cluster = draw_partition(prior, n, rng);
  out.x.resize(n, columns);
  family->slots(out.cluster.maxCoeff() + 1);
  for (Index i = 0; i < n; ++i) {
    monitor.check();
    family->draw_row(i, out.cluster[i], rng);
    family->add(i, out.cluster[i]);
    out.x.row(i) = family->row(i).transpose();
  }
  return out;
}

MixtureDraw draw_more(BlockFamily& family, const VectorXi& given, const PartitionPrior& prior, Rng& rng, Monitor& monitor) {
  const Index n = given.size(), more = family.rows() - n;
  int t = load(family, given);
  std::vector<double> size(static_cast<std::size_t>(t), 0);
  for (Index i = 0; i < n; ++i) size[static_cast<std::size_t>(given[i])] += 1;
  MixtureDraw out;
  out.cluster.resize(more);
  for (Index r = 0; r < more; ++r) {
    monitor.check();
    const PartitionLaw law(prior, n + r + 1);
    VectorXd w(t + 1);
    for (int b = 0; b < t; ++b) w[b] = law.join(size[static_cast<std::size_t>(b)]);
    w[t] = law.open(t);
    const int b = rng.categorical(w);
    if (b == t) {
      ++t;
      size.push_back(0);
      family.slots(t + 1);
      family.clear(t);
    }
    size[static_cast<std::size_t>(b)] += 1;
    family.draw_row(n + r, b, rng);
    family.add(n + r, b);
    const VectorXd row = family.row(n + r);
    if (r == 0) out.x.resize(more, row.size());
    out.x.row(r) = row.transpose();
    out.cluster[r] = b;
  }
  return out;
}

MatrixXd block_centres(const BlockFamily& family, const VectorXi& cluster) {
  const std::unique_ptr<BlockFamily> work = family.clone();
  const int t = load(*work, cluster);
  MatrixXd out(t, work->centre(0).size());
  for (int b = 0; b < t; ++b) out.row(b) = work->centre(b).transpose();
  return out;
}

}  // namespace granary::latent
