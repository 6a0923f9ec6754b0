#include "latent/supervised_baseline.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/cluster/pair_agreement.h"
#include "core/linalg/spd.h"
#include "core/math/logspace.h"

namespace granary::latent {

namespace {

std::size_t z(Index i) { return static_cast<std::size_t>(i); }

// Newton steps on the log-likelihood with a small ridge, which keeps separable pairs finite.
VectorXd pair_logistic(ConstMatrixRef x, const VectorXi& cluster, Index most_pairs, Rng& rng, Monitor& monitor) {
  const Index n = x.rows(), f = x.cols();
  std::vector<std::pair<Index, Index>> pairs;
  const double all = 0.5 * static_cast<double>(n) * static_cast<double>(n - 1);
  if (all <= static_cast<double>(most_pairs)) {
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < i; ++j) pairs.emplace_back(i, j);
  } else {
    while (static_cast<Index>(pairs.size()) < most_pairs) {
      const Index i = static_cast<Index>(rng.below(static_cast<std::uint64_t>(n))), j = static_cast<Index>(rng.below(static_cast<std::uint64_t>(n)));
      if (i != j) pairs.emplace_back(i, j);
    }
  }
  MatrixXd design(static_cast<Index>(pairs.size()), f + 1);
  VectorXd y(design.rows());
  for (Index r = 0; r < design.rows(); ++r) {
    const auto [i, j] = pairs[z(r)];
    design(r, 0) = 1;
    design.row(r).tail(f) = (x.row(i) - x.row(j)).cwiseAbs();
    y[r] = cluster[i] == cluster[j];
  }
  const double ridge = 1e-3;
  VectorXd beta = VectorXd::Zero(f + 1);
  const auto value = [&](const VectorXd& b) {
    const VectorXd eta = design * b;
    double v = -0.5 * ridge * b.squaredNorm();
    for (Index r = 0; r < eta.size(); ++r) v += y[r] * eta[r] - log1pexp(eta[r]);
    return v;
  };
  double now = value(beta);
  for (int iteration = 0; iteration < 100; ++iteration) {
    monitor.check();
    VectorXd p = design * beta;
    for (Index r = 0; r < p.size(); ++r) p[r] = expit(p[r]);
    const VectorXd gradient = design.transpose() * (y - p) - ridge * beta, w = p.cwiseProduct(VectorXd::Ones(p.size()) - p);
    MatrixXd hessian = design.transpose() * (w.asDiagonal() * design);
    hessian.diagonal().array() += ridge;
    const VectorXd step = Cholesky(hessian).solve(gradient);
    double scale = 1, next = now;
    for (int half = 0; half < 30; ++half, scale *= 0.5)
      if ((next = value(beta + scale * step)) >= now) break;
    if (!(next >= now)) break;
    beta += scale * step;
    if (next - now <= 1e-10 * (1 + std::abs(next))) break;
    now = next;
  }
  return beta;
}

MatrixXd log_odds(ConstMatrixRef x, const VectorXd& beta) {
  MatrixXd out(x.rows(), x.rows());
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j <= i; ++j) out(i, j) = out(j, i) = beta[0] + (x.row(i) - x.row(j)).cwiseAbs().dot(beta.tail(x.cols()).transpose());
  return out;
}

// Average link: the mergers in order, with the mean log-odds at which each happened.
struct Merger {
  Index into, from;
  double odds;
};
std::vector<Merger> average_link(MatrixXd s, Monitor& monitor) {
  const Index n = s.rows();
  constexpr double none = -std::numeric_limits<double>::infinity();
  std::vector<double> size(z(n), 1), top(z(n), none);
  std::vector<Index> near(z(n), -1);
  std::vector<char> alive(z(n), 1);
  const auto search = [&](Index i) {
    top[z(i)] = none;
    for (Index j = 0; j < n; ++j)
      if (j != i && alive[z(j)] && s(j, i) > top[z(i)]) {
        top[z(i)] = s(j, i);
        near[z(i)] = j;
      }
  };
  for (Index i = 0; i < n; ++i) search(i);
  std::vector<Merger> out;
  for (Index m = 1; m < n; ++m) {
    monitor.check();
    const Index a = static_cast<Index>(std::max_element(top.begin(), top.end()) - top.begin()), b = near[z(a)];
    out.push_back({a, b, top[z(a)]});
    alive[z(b)] = 0;
    top[z(b)] = none;
    for (Index j = 0; j < n; ++j) {
      if (!alive[z(j)] || j == a) continue;
      s(j, a) = s(a, j) = (size[z(a)] * s(j, a) + size[z(b)] * s(j, b)) / (size[z(a)] + size[z(b)]);
    }
    size[z(a)] += size[z(b)];
    search(a);
    for (Index j = 0; j < n; ++j) {
      if (!alive[z(j)] || j == a) continue;
      if (near[z(j)] == a || near[z(j)] == b) {
        search(j);
      } else if (s(a, j) > top[z(j)]) {
        top[z(j)] = s(a, j);
        near[z(j)] = a;
      }
    }
  }
  return out;
}

// Average link on log-odds is not monotone by rounding only, so that mergers up to the first below the threshold are all those above it.
VectorXi cut(const std::vector<Merger>& mergers, Index n, double threshold) {
  std::vector<Index> parent(z(n));
  std::iota(parent.begin(), parent.end(), Index(0));
  for (const Merger& m : mergers) {
    if (m.odds < threshold) break;
    parent[z(m.from)] = m.into;
  }
  VectorXi out(n);
  std::vector<int> name(z(n), -1);
  int next = 0;
  for (Index i = 0; i < n; ++i) {
    Index root = i;
    while (parent[z(root)] != root) root = parent[z(root)];
    if (name[z(root)] < 0) name[z(root)] = next++;
    out[i] = name[z(root)];
  }
  return out;
}

}  // namespace

PairwiseResult pairwise_cluster(ConstMatrixRef x, const VectorXi& cluster, ConstMatrixRef newx, int folds, Index most_pairs, Rng& rng, Monitor& monitor) {
  if (x.rows() < 3 || cluster.size() != x.rows()) throw InputError("the pairwise baseline needs at least three training rows with their clusters.");
  if (newx.rows() > 5000 || x.rows() > 20000) throw InputError("the pairwise baseline compares all rows with each other: at most 5000 rows can be clustered.");
  const int k = cluster.maxCoeff() + 1;
  if (k < 2 || k == x.rows()) throw InputError("the pairwise baseline needs training pairs that belong together and pairs that do not.");
  folds = std::clamp(folds, 2, k);
  const std::vector<int> order = rng.permutation(k);
  std::vector<int> fold(z(k));
  for (int c = 0; c < k; ++c) fold[z(order[z(c)])] = c % folds;
  // Whole clusters are kept back, as new rows belong to clusters that were never seen. At every threshold the pair counts of the folds are added up.
  std::vector<double> grid;
  for (double at = -6; at <= 6.001; at += 0.25) grid.push_back(at);
  VectorXd hit = VectorXd::Zero(static_cast<Index>(grid.size())), guessed = hit, truth = hit;
  for (int held = 0; held < folds; ++held) {
    std::vector<Index> in, out;
    for (Index i = 0; i < x.rows(); ++i) (fold[z(cluster[i])] == held ? out : in).push_back(i);
    if (in.size() < 3 || out.size() < 2) continue;
    MatrixXd a(static_cast<Index>(in.size()), x.cols()), b(static_cast<Index>(out.size()), x.cols());
    VectorXi ca(a.rows()), cb(b.rows());
    for (Index i = 0; i < a.rows(); ++i) {
      a.row(i) = x.row(in[z(i)]);
      ca[i] = cluster[in[z(i)]];
    }
    for (Index i = 0; i < b.rows(); ++i) {
      b.row(i) = x.row(out[z(i)]);
      cb[i] = cluster[out[z(i)]];
    }
    const std::vector<Merger> mergers = average_link(log_odds(b, pair_logistic(a, ca, most_pairs, rng, monitor)), monitor);
    for (Index g = 0; g < hit.size(); ++g) {
      const PairAgreement score = pair_agreement(cb, cut(mergers, b.rows(), grid[z(g)]));
      hit[g] += score.n11;
      guessed[g] += score.n11 + score.n01;
      truth[g] += score.n11 + score.n10;
    }
  }
  PairwiseResult out;
  out.training_f = -1;
  for (Index g = 0; g < hit.size(); ++g) {
    const double f = guessed[g] + truth[g] > 0 ? 2 * hit[g] / (guessed[g] + truth[g]) : 0;
    if (f > out.training_f + 1e-12) {
      out.training_f = f;
      out.threshold = grid[z(g)];
    }
  }
  out.coefficients = pair_logistic(x, cluster, most_pairs, rng, monitor);
  out.cluster = newx.rows() > 1 ? cut(average_link(log_odds(newx, out.coefficients), monitor), newx.rows(), out.threshold) : VectorXi(VectorXi::Zero(newx.rows()));
  return out;
}

}  // namespace granary::latent
