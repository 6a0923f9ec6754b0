// The reference lists all labellings, and all ways to name the components.
#include <algorithm>
#include <cmath>

#include "core/math/special.h"
#include "harness.h"
#include "latent/label_posterior.h"
#include "latent/partition_gibbs.h"

using namespace granary;
using namespace granary::latent;

namespace {

constexpr int rows = 6, more = 2, k = 3;

FamilySpec normal() {
  FamilySpec s;
  s.m0 = VectorXd::Constant(1, 0.2);
  s.k0 = 0.3;
  s.a0 = 2;
  s.b0 = 0.6;
  return s;
}
MatrixXd all_rows() {
  MatrixXd x(rows + more, 1);
  x << -1.2, -.8, .3, .9, 1.9, 2.3, -1, .6;
  return x;
}
MatrixXd reference() {
  MatrixXd r(rows, k);
  r << .7013, .1971, .1016, .6237, .2459, .1304, .3071, .4492, .2437, .1519, .4983, .3498, .1127, .2069, .6804, .0411, .1582, .8007;
  return r;
}

// log p(x, Y): rows without a label (-1) are not there.
double log_joint(BlockFamily& family, const VectorXi& label, double gamma) {
  double value = 0;
  Index n = 0;
  for (int h = 0; h < k; ++h) {
    family.clear(h);
    double size = 0;
    for (Index i = 0; i < label.size(); ++i) {
      if (label[i] != h) continue;
      family.add(i, h);
      size += 1;
    }
    value += log_gamma(gamma + size) - log_gamma(gamma) + family.log_marginal(h);
    n += static_cast<Index>(size);
  }
  return value + log_gamma(k * gamma) - log_gamma(k * gamma + static_cast<double>(n));
}

// The names with the largest memberships, of all k!.
VectorXi best_names(const VectorXi& label, const MatrixXd& r) {
  int name[k] = {0, 1, 2};
  double top = -1;
  VectorXi out(rows);
  do {
    double gain = 0;
    for (Index i = 0; i < rows; ++i) gain += r(i, name[label[i]]);
    if (gain <= top) continue;
    top = gain;
    for (Index i = 0; i < rows; ++i) out[i] = name[label[i]];
  } while (std::next_permutation(name, name + k));
  return out;
}

struct Listed {
  MatrixXd membership = MatrixXd::Zero(rows, k), predicted = MatrixXd::Zero(more, k);
};

// Over all k^n labellings; `of` adds what one labelling has, with its probability.
template <class F>
void each_labelling(double gamma, F&& of) {
  const auto family = make_family(all_rows(), normal());
  family->slots(k);
  std::vector<VectorXi> labellings;
  std::vector<double> weight;
  int count = 1;
  for (int i = 0; i < rows; ++i) count *= k;
  for (int code = 0; code < count; ++code) {
    VectorXi label = VectorXi::Constant(rows + more, -1);
    for (int i = 0, rest = code; i < rows; ++i, rest /= k) label[i] = rest % k;
    labellings.push_back(label);
    weight.push_back(log_joint(*family, label, gamma));
  }
  const double top = *std::max_element(weight.begin(), weight.end());
  double total = 0;
  for (double& w : weight) total += w = std::exp(w - top);
  for (std::size_t l = 0; l < weight.size(); ++l) of(labellings[l], weight[l] / total, *family);
}

Listed list_labels(double gamma) {
  Listed out;
  each_labelling(gamma, [&](const VectorXi& label, double weight, BlockFamily& family) {
    VectorXi named = VectorXi::Constant(rows + more, -1);
    named.head(rows) = best_names(label.head(rows), reference());
    for (Index i = 0; i < rows; ++i) out.membership(i, named[i]) += weight;
    for (Index r = 0; r < more; ++r) {
      double p[k], top = -1e300, total = 0;
      for (int h = 0; h < k; ++h) {
        named[rows + r] = h;
        top = std::max(top, p[h] = log_joint(family, named, gamma));
      }
      named[rows + r] = -1;
      for (double& value : p) total += value = std::exp(value - top);
      for (int h = 0; h < k; ++h) out.predicted(r, h) += weight * p[h] / total;
    }
  });
  return out;
}

}  // namespace

TEST("labels after Bayes, partition by partition, are those of listing all labellings and all names") {
  Monitor monitor;
  for (const double gamma : {0.3, 1.0, 4.0}) {
    const Listed truth = list_labels(gamma);
    const auto family = make_family(all_rows(), normal());
    Listed found;
    each_labelling(gamma, [&](const VectorXi& label, double weight, BlockFamily&) {
      VectorXi block = label.head(rows);
      relabel(block);
      const LabelPosterior one = label_posterior(*family, gamma, block.transpose(), reference(), monitor);
      found.membership += weight * one.membership;
      found.predicted += weight * one.predicted;
      CHECK(one.labels.row(0).transpose() == best_names(label.head(rows), reference()));
    });
    CHECK_NEAR((found.membership - truth.membership).cwiseAbs().maxCoeff(), 0, 1e-12);
    CHECK_NEAR((found.predicted - truth.predicted).cwiseAbs().maxCoeff(), 0, 1e-12);
  }
}

TEST("draws of the partition with sigma = -gamma and theta = k gamma give the listed labels") {
  Monitor monitor;
  const double gamma = 0.7;
  PartitionPrior prior;
  prior.type = PriorType::py;
  prior.sigma = -gamma;
  prior.theta = k * gamma;
  ChainOptions o;
  o.n_draws = 20000;
  o.burn_in = 200;
  Rng rng(3);
  const MatrixXd x = all_rows();
  const ChainResult chain = collapsed_gibbs(*make_family(x.topRows(rows), normal()), prior, o, rng, monitor);
  const LabelPosterior found = label_posterior(*make_family(x, normal()), gamma, chain.partitions, reference(), monitor);
  const Listed truth = list_labels(gamma);
  CHECK_NEAR((found.membership - truth.membership).cwiseAbs().maxCoeff(), 0, 0.015);
  CHECK_NEAR((found.predicted - truth.predicted).cwiseAbs().maxCoeff(), 0, 0.01);
}

TEST("labels after Bayes refuse what does not fit") {
  Monitor monitor;
  const auto family = make_family(all_rows(), normal());
  Eigen::MatrixXi draw(1, rows);
  draw << 0, 1, 2, 3, 0, 0;
  CHECK_THROWS(label_posterior(*family, 1, draw, reference(), monitor), InputError);  // four blocks, three components
  draw << 0, 0, 1, 1, 2, 2;
  CHECK_THROWS(label_posterior(*family, 0, draw, reference(), monitor), InputError);
  CHECK_THROWS(label_posterior(*family, 1, draw, reference().topRows(2), monitor), InputError);
  CHECK_THROWS(label_posterior(*family, 1, Eigen::MatrixXi(0, rows), reference(), monitor), InputError);
  CHECK(label_posterior(*family, 1, draw, reference(), monitor).membership.rowwise().sum() == VectorXd::Ones(rows));
}
