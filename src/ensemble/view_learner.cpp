#include "ensemble/view_learner.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "core/math/logspace.h"
#include "core/tree/grow.h"
#include "core/tree/scores.h"

namespace granary::ensemble {
namespace {

MatrixXd columns_of(ConstMatrixRef x, const std::vector<int>& features) {
  MatrixXd out(x.rows(), static_cast<Index>(features.size()));
  for (Index j = 0; j < out.cols(); ++j) out.col(j) = x.col(features[static_cast<std::size_t>(j)]);
  return out;
}

VectorXd part_of(const VectorXd& spread, const std::vector<int>& features) {
  VectorXd out(static_cast<Index>(features.size()));
  for (Index j = 0; j < out.size(); ++j) out[j] = spread[features[static_cast<std::size_t>(j)]];
  return out;
}

VectorXd class_weights(const VectorXi& y, const VectorXd& weights, int classes) {
  VectorXd sum = VectorXd::Zero(classes);
  for (Index i = 0; i < y.size(); ++i) sum[y[i]] += weights[i];
  return sum;
}

ClassGaussians fit_gaussians(const MatrixXd& x, const VectorXi& y, const VectorXd& weights, int classes, const VectorXd& spread,
                             const ViewLearnerOptions& options) {
  const Index p = x.cols();
  ClassGaussians out;
  VectorXd total = VectorXd::Zero(classes);
  out.means = MatrixXd::Zero(p, classes);
  const VectorXd centre = [&] {
    VectorXd sum = VectorXd::Zero(p);
    double n = 0;
    for (Index i = 0; i < x.rows(); ++i)
      if (x.row(i).allFinite()) {
        sum += x.row(i).transpose();
        ++n;
      }
    return VectorXd(sum / std::max(n, 1.0));
  }();
  for (Index i = 0; i < x.rows(); ++i) {
    if (!x.row(i).allFinite()) continue;
    total[y[i]] += weights[i];
    out.means.col(y[i]) += weights[i] * (x.row(i).transpose() - centre);
  }
  for (int c = 0; c < classes; ++c) {
    if (!(total[c] > 0)) throw InputError(message("class ", c + 1,
                                                  " has no case of positive weight whose values are all there."));
    out.means.col(c) /= total[c];
  }
  if (options.learner == ViewLearner::lda) {
    out.kind = CovarianceKind::tied;
    MatrixXd pooled = MatrixXd::Zero(p, p);
    MatrixXd d(x.rows(), p);
    for (Index i = 0; i < x.rows(); ++i) {
      if (x.row(i).allFinite()) {
        d.row(i) = std::sqrt(weights[i]) * (x.row(i) - centre.transpose() - out.means.col(y[i]).transpose());
      } else {
        d.row(i).setZero();
      }
    }
    pooled.noalias() = d.transpose() * d;
    pooled /= total.sum();
    clip_covariance(pooled, spread, options.floor);
    out.covariance = Eigen::Map<const VectorXd>(pooled.data(), pooled.size());
  } else {
    out.kind = CovarianceKind::diagonal;
    MatrixXd v = MatrixXd::Zero(p, classes);
    for (Index i = 0; i < x.rows(); ++i)
      if (x.row(i).allFinite()) v.col(y[i]).array() += weights[i]
          * (x.row(i).transpose() - centre - out.means.col(y[i])).array().square();
    for (int c = 0; c < classes; ++c) v.col(c) = (v.col(c) / total[c]).cwiseMax(options.floor * spread);
    out.covariance = Eigen::Map<const VectorXd>(v.data(), v.size());
  }
  out.means.colwise() += centre;
  return out;
}

Trees fit_tree(const MatrixXd& x, const VectorXi& y, const VectorXd& weights, int classes, const ViewLearnerOptions& options,
               Rng& rng, Monitor& monitor) {
  const TreeColumns columns(Design(MatrixView(x.data(), x.rows(), x.cols())), VectorXi(), 1);
  const TreeOrders orders(columns);
  GrowOptions how;
  how.max_leaves = options.max_leaves;
  how.min_leaf = options.min_leaf;
  std::vector<std::uint32_t> rows(static_cast<std::size_t>(x.rows()));
  std::iota(rows.begin(), rows.end(), 0u);
  GiniScore score(weights, y, classes);
  TreeGrower<GiniScore> grower(columns, &orders, how);
  return grower.grow(rows, nullptr, score, rng, monitor);
}

}  // namespace

void check(const ViewMember& m) {
  require(m.chains.size() + m.gaussians.size() + m.trees.size() >= 1, "a member has no model.");
  require(m.chains.empty() || static_cast<Index>(m.chains.size()) == m.log_prior.size(), "a member has a class without a model.");
  for (const GaussianHmm& chain : m.chains) require(chain.columns() == static_cast<Index>(m.features.size()),
                                                    "a member looks at other columns than its models.");
  for (const ClassGaussians& g : m.gaussians) {
    require(g.means.rows() == static_cast<Index>(m.features.size()) && g.means.cols() == m.log_prior.size(),
            "a member looks at other columns than its models.");
    require(g.covariance.size() == covariance_size(g.kind, g.means.rows(), g.means.cols()),
            "a covariance has another size than the means.");
  }
  for (const Trees& tree : m.trees) require(tree.inputs == static_cast<int>(m.features.size()) &&
                                            tree.outputs == m.log_prior.size(), "a tree does not fit its member.");
}

VectorXd view_spread(const CaseView& view) {
  const MatrixView& x = view.x.dense();
  VectorXd out = VectorXd::Zero(x.cols());
  for (Index j = 0; j < x.cols(); ++j) {
    double n = 0, sum = 0, squares = 0;
    for (Index i = 0; i < x.rows(); ++i)
      if (std::isfinite(x(i, j))) {
        sum += x(i, j);
        ++n;
      }
    if (n == 0) continue;
    const double mean = sum / n;
    for (Index i = 0; i < x.rows(); ++i)
      if (std::isfinite(x(i, j))) squares += (x(i, j) - mean) * (x(i, j) - mean);
    out[j] = squares / n;
  }
  const double largest = out.size() > 0 ? out.maxCoeff() : 0;
  for (Index j = 0; j < out.size(); ++j)
    if (!(out[j] > 1e-12 * largest)) out[j] = largest > 0 ? 1e-12 * largest : 1;  // a constant column: the same in all classes
  return out;
}

GaussianHmmFit fit_class_chain(const CaseView& view, const VectorXi& y, const VectorXd& weights,
                               const std::vector<int>& features, int label, const VectorXd& spread,
                               const ViewLearnerOptions& options, Rng& rng, Monitor& monitor) {
  const MatrixView& x = view.x.dense();
  std::vector<Index> cases, begin(1, 0);
  Index longest = 0;
  for (Index i = 0; i < y.size(); ++i) {
    if (y[i] != label || !(weights[i] > 0)) continue;
    const Index length = view.begin[static_cast<std::size_t>(i) + 1] - view.begin[static_cast<std::size_t>(i)];
    cases.push_back(i);
    begin.push_back(begin.back() + length);
    longest = std::max(longest, length);
  }
  if (cases.empty()) throw InputError(message("class ", label + 1, " has no case of positive weight."));
  MatrixXd rows(begin.back(), static_cast<Index>(features.size()));
  VectorXd w(static_cast<Index>(cases.size()));
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Index from = view.begin[static_cast<std::size_t>(cases[i])], length = begin[i + 1] - begin[i];
    for (Index j = 0; j < rows.cols(); ++j) rows.col(j).segment(begin[i], length) = x.col(
        features[static_cast<std::size_t>(j)]).segment(from, length);
    w[static_cast<Index>(i)] = weights[cases[i]];
  }
  w /= w.mean();
  Index whole = 0;
  for (Index r = 0; r < rows.rows(); ++r) whole += rows.row(r).allFinite() ? 1 : 0;
  if (whole == 0) throw InputError(message("class ", label + 1, " has no row whose values are all there."));
  GaussianHmmOptions o;
  o.k = static_cast<int>(std::min<Index>({static_cast<Index>(options.k), whole,
    options.topology == HmmTopology::ergodic ? whole : longest}));
  o.covariance = options.covariance;
  o.topology = options.topology;
  o.floor = options.floor;
  o.spread = part_of(spread, features);
  o.start = options.start;
  o.n_starts = 1;
  o.sort = false;
  o.em.forward = options.forward;
  o.em.max_iter = options.max_iter;
  o.em.tol = options.tol;
  return gaussian_hmm_fit(rows, begin, w, o, rng, monitor);
}

ViewMember fit_view(const CaseView& view, const VectorXi& y, const VectorXd& weights, const std::vector<int>& features,
                    int classes, const VectorXd& spread,
                    const ViewLearnerOptions& options, Rng& rng, Monitor& monitor) {
  ViewMember out;
  out.features = features;
  out.log_prior = VectorXd::Zero(classes);
  if (options.class_prior) {
    const VectorXd sum = class_weights(y, weights, classes);
    out.log_prior = (sum / sum.sum()).array().log().matrix();
  }
  if (options.learner == ViewLearner::hmm) {
    for (int c = 0; c < classes; ++c) {
      Rng own = rng.stream(static_cast<std::uint64_t>(c));
      out.chains.push_back(fit_class_chain(view, y, weights, features, c, spread, options, own, monitor).model);
    }
    return out;
  }
  require(view.x.rows() == view.cases(), "this learner takes one row per case.");
  const MatrixXd x = columns_of(view.x.dense(), features);
  if (options.learner == ViewLearner::tree) {
    out.trees.push_back(fit_tree(x, y, weights, classes, options, rng, monitor));
  } else {
    out.gaussians.push_back(fit_gaussians(x, y, weights, classes, part_of(spread, features), options));
  }
  return out;
}

MatrixXd view_scores(const ViewMember& member, const CaseView& view, int threads, Monitor& monitor) {
  for (const int j : member.features) require(j >= 0 && j < view.x.cols(), "a view has too few columns for the fit.");
  const MatrixXd x = columns_of(view.x.dense(), member.features);
  const Index classes = member.log_prior.size();
  MatrixXd out(view.cases(), classes);
  if (!member.chains.empty()) {
    for (Index c = 0; c < classes; ++c) out.col(c) = gaussian_hmm_loglik(
        member.chains[static_cast<std::size_t>(c)], x, view.begin, threads, monitor);
  } else if (!member.gaussians.empty()) {
    const ClassGaussians& g = member.gaussians[0];
    const GaussianDensity density(g.kind, g.means, g.covariance.data());
    density.log_density(x, out);
    for (Index i = 0; i < out.rows(); ++i)
      if (std::isnan(out(i, 0))) out.row(i).setZero();
  } else {
    const Trees& tree = member.trees[0];
    for (Index i = 0; i < out.rows(); ++i) {
      const int leaf = tree.leaf_of(0, [&](int j) { return x(i, j); });
      out.row(i) = tree.value.col(leaf).transpose().array().max(1e-12).log();
    }
    return out;  // shares have the weights of the classes in them
  }
  for (Index i = 0; i < out.rows(); ++i)
    if (!(out.row(i).maxCoeff() > -std::numeric_limits<double>::infinity())) out.row(i).setZero();
  out.rowwise() += member.log_prior.transpose();
  return out;
}

VectorXi best_class(ConstMatrixRef scores) {
  VectorXi out(scores.rows());
  for (Index i = 0; i < scores.rows(); ++i) {
    Index best = 0;
    for (Index c = 1; c < scores.cols(); ++c)
      if (scores(i, c) > scores(i, best)) best = c;
    out[i] = static_cast<int>(best);
  }
  return out;
}

MatrixXd class_posterior(ConstMatrixRef scores) {
  MatrixXd out(scores.rows(), scores.cols());
  for (Index i = 0; i < scores.rows(); ++i) out.row(i) = softmax(scores.row(i).transpose()).transpose();
  return out;
}

}  // namespace granary::ensemble
