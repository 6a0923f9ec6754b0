#include "regress/mta.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/errors.h"

namespace granary::regress {

TaskMoments task_moments(ConstVectorRef y, ConstCodesRef task, Index tasks) {
  TaskMoments out{VectorXd::Zero(tasks), VectorXd::Zero(tasks), VectorXd::Zero(tasks)};
  for (Index i = 0; i < y.size(); ++i) {
    const int t = task[i];
    const double gap = y[i] - out.mean[t];
    out.mean[t] += gap / (out.n[t] += 1);
    out.ss[t] += gap * (y[i] - out.mean[t]);
  }
  return out;
}

namespace {

// w_t, and weights proportional to it that stay finite when all w_t vanish (tau2 = 0).
struct CommonWeights {
  VectorXd w, share;
};
CommonWeights weights_of(ConstVectorRef s, double tau2) {
  CommonWeights out{VectorXd(s.size()), VectorXd(s.size())};
  const bool exact = (s.array() == 0).any();
  for (Index t = 0; t < s.size(); ++t) {
    out.w[t] = s[t] == 0 ? 1 : 1 / (1 + s[t] / tau2);
    out.share[t] = tau2 > 0 ? out.w[t] : exact ? out.w[t] : 1 / s[t];
  }
  out.share /= out.share.maxCoeff();
  out.share /= out.share.sum();
  return out;
}

}  // namespace

MeansResult shrink_to_common(ConstVectorRef mean, ConstVectorRef s, double tau2) {
  CommonWeights c = weights_of(s, tau2);
  MeansResult out;
  const double origin = mean[0];  // differences first: a large common offset costs no digits
  double sum = 0, noise = 0;
  for (Index t = 0; t < mean.size(); ++t) {
    sum += c.share[t] * (mean[t] - origin);
    noise += c.share[t] * c.share[t] * s[t];
  }
  out.target = origin + sum;
  const auto away = 1 - c.w.array();
  out.estimate = out.target + c.w.array() * (mean.array() - out.target);
  out.variance = c.w.array().square() * s.array() + 2 * c.w.array() * away * c.share.array() * s.array() + away.square() * noise;
  out.posterior = s.array() * (c.w.array() + away * c.share.array());
  out.weight = std::move(c.w);
  return out;
}

MatrixXd common_weights(ConstVectorRef s, double tau2) {
  const CommonWeights c = weights_of(s, tau2);
  MatrixXd w = (1 - c.w.array()).matrix() * c.share.transpose();
  w.diagonal() += c.w;
  return w;
}

VectorXd common_risk(ConstVectorRef mu, ConstVectorRef s, double tau2) {
  const MeansResult shrunk = shrink_to_common(mu, s, tau2);  // W mu, and the variances
  return shrunk.variance.array() + (mu - shrunk.estimate).array().square();
}

VectorXd linear_risk(ConstVectorRef mu, ConstVectorRef s, ConstMatrixRef w) {
  const VectorXd bias = mu - w * mu;
  return w.array().square().matrix() * s + bias.array().square().matrix();
}

MatrixXd laplacian_solve(ConstMatrixRef a, ConstVectorRef g, ConstMatrixRef b, Monitor& monitor) {
  const Index size = a.rows(), width = 48;
  // I + diag(g) L = diag(excess + row sums of p) - p with p >= 0: eliminating a row adds non-negative terms to p and to `excess`.
  MatrixXd p = g.asDiagonal() * a, x = b;
  VectorXd excess = VectorXd::Ones(size), pivot(size);
  for (Index from = 0; from < size; from += width) {
    monitor.progress(static_cast<double>(from) / static_cast<double>(size));
    const Index to = std::min(from + width, size), rest = size - to;
    for (Index k = from; k < to; ++k) {
      const Index done = k - from, right = size - k - 1;
      if (done > 0) {
        const auto factors = p.row(k).segment(from, done);
        p.row(k).tail(right) += factors * p.block(from, k + 1, done, right);
        excess[k] += factors.dot(excess.segment(from, done));
        x.row(k) += factors * x.middleRows(from, done);
        p.col(k).tail(right) += p.block(k + 1, from, right, done) * p.col(k).segment(from, done);
      }
      pivot[k] = excess[k] + p.row(k).tail(right).sum();
      p.col(k).tail(right) /= pivot[k];
    }
    const auto factors = p.block(to, from, rest, to - from);
    if (rest > 0) {
      p.bottomRightCorner(rest, rest).noalias() += factors * p.block(from, to, to - from, rest);
      excess.tail(rest) += factors * excess.segment(from, to - from);
      x.bottomRows(rest).noalias() += factors * x.middleRows(from, to - from);
    }
  }
  for (Index k = size - 1; k >= 0; --k) {
    const Index right = size - k - 1;
    if (right > 0) x.row(k) += p.row(k).tail(right) * x.bottomRows(right);
    x.row(k) /= pivot[k];
    if (k % 64 == 0) monitor.check();
  }
  return x;
}

PairwiseSystem pairwise_system(ConstVectorRef centres, ConstVectorRef s) {
  const Index tasks = centres.size();
  std::vector<int> order(tasks);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int i, int j) { return centres[i] < centres[j]; });
  const auto similarity = [](double gap) { return 2 / (gap * gap); };
  PairwiseSystem out;
  out.cluster.assign(tasks, 0);
  std::vector<double> centre;
  for (Index k = 0; k < tasks; ++k) {
    const double c = centres[order[k]];
    // Below 1e200, so that sums over pairs and products with s cannot overflow; beyond, the centres count as equal.
    if (k == 0 || similarity(c - centre.back()) < 1e200) centre.push_back(c);
    out.cluster[order[k]] = static_cast<int>(centre.size()) - 1;
  }
  const Index clusters = static_cast<Index>(centre.size());
  VectorXd count = VectorXd::Zero(clusters), precision = VectorXd::Zero(clusters), exact = VectorXd::Zero(clusters);
  for (Index t = 0; t < tasks; ++t) {
    const int c = out.cluster[t];
    count[c] += 1;
    if (s[t] > 0) precision[c] += 1 / s[t];
    if (s[t] == 0) exact[c] += 1;
  }
  out.s.resize(clusters);
  for (Index c = 0; c < clusters; ++c) out.s[c] = exact[c] > 0 ? 0 : 1 / precision[c];
  out.share = MatrixXd::Zero(tasks, clusters);
  for (Index t = 0; t < tasks; ++t) {
    const int c = out.cluster[t];
    out.share(t, c) = exact[c] > 0 ? (s[t] == 0 ? 1 / exact[c] : 0) : out.s[c] / s[t];
  }
  out.a = MatrixXd::Zero(clusters, clusters);
  for (Index c = 0; c < clusters; ++c) {
    for (Index d = 0; d < clusters; ++d) {
      if (c != d) out.a(d, c) = count[c] * count[d] * similarity(centre[c] - centre[d]);
    }
  }
  return out;
}

MatrixXd pairwise_weights(ConstVectorRef centres, ConstVectorRef s, double gamma, Monitor& monitor) {
  const Index tasks = centres.size();
  const PairwiseSystem system = pairwise_system(centres, s);
  const VectorXd g = system.s * (gamma / static_cast<double>(tasks));
  const MatrixXd reduced = laplacian_solve(system.a, g, system.share.transpose(), monitor);  // clusters x tasks
  MatrixXd w(tasks, tasks);
  for (Index t = 0; t < tasks; ++t) w.row(t) = reduced.row(system.cluster[t]);
  return w;
}

}  // namespace granary::regress
