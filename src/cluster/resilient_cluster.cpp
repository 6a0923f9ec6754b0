#include "cluster/resilient_cluster.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "core/cluster/agreement.h"
#include "core/linalg/wide_targets.h"

namespace granary::cluster {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// A point at its centre is held by nothing else, unless that is there as well.
double ratio(double a, double b) { return b > 0 ? a / b : a > 0 ? infinity : 1; }

// Sums of squares of all distances, made larger by a factor, must be numbers.
void check_size(ConstMatrixRef d, double factor) {
  const double most = d.size() > 0 ? d.maxCoeff() * factor : 0;
  if (!std::isfinite(most * most * static_cast<double>(d.rows()))) throw InputError(message("distances as large as ", most, " cannot be squared and added up: rescale them."));
}

}  // namespace

ClusterMargins cluster_margins(ConstMatrixRef d, const VectorXi& label, const VectorXi& medoid) {
  const Index n = d.rows(), k = medoid.size();
  ClusterMargins out;
  out.rho = out.separation = out.centers = infinity;
  out.balls = true;
  out.proximity = VectorXd::Constant(n, infinity);
  out.distance_ratio = VectorXd::Constant(n, infinity);
  out.rival = VectorXi::Constant(n, -1);
  VectorXd radius = VectorXd::Zero(k);
  for (Index p = 0; p < n; ++p) {
    const double own = d(p, medoid[label[p]]);
    radius[label[p]] = std::max(radius[label[p]], own);
    double nearest = infinity;
    for (Index j = 0; j < k; ++j)
      if (j != label[p] && (out.rival[p] < 0 || d(p, medoid[j]) < nearest)) {
        nearest = d(p, medoid[j]);
        out.rival[p] = static_cast<int>(j);
      }
    double outside = infinity;
    for (Index q = 0; q < n; ++q)
      if (label[q] != label[p]) outside = std::min(outside, d(q, p));
    if (k > 1) {
      out.proximity[p] = ratio(nearest, own);
      out.distance_ratio[p] = ratio(outside, own);
    }
    out.rho = std::min(out.rho, out.proximity[p]);
    out.separation = std::min(out.separation, out.distance_ratio[p]);
  }
  for (Index i = 0; i < k; ++i) {
    for (Index j = 0; j < i; ++j) out.centers = std::min(out.centers, ratio(d(medoid[i], medoid[j]), std::max(radius[i], radius[j])));
    for (Index q = 0; q < n; ++q)
      if (label[q] != i && d(q, medoid[i]) <= radius[i]) out.balls = false;
  }
  return out;
}

ResilientResult resilient_cluster(ConstMatrixRef d, const ResilientOptions& options, Monitor& monitor) {
  const Stopwatch watch;
  const Index n = d.rows(), k = options.k, k_max = std::max<Index>(k, options.k_max);
  check_size(d, 1);
  if (k < 1 || k > n) throw InputError(message("`k` must be between 1 and the number of points, ", n, "."));
  ResilientResult out;
  double least = infinity;
  const auto look_in = [&](CenterTree kind) {
    const MergeTree tree = kind == CenterTree::closure ? closure_tree(d, options.threads, monitor) : single_tree(d, monitor);
    const TreePrunings prunings(d, tree, options.objective, k_max, monitor);
    if (out.costs.size() == 0) out.costs = VectorXd::Constant(prunings.k_max(), infinity);
    for (Index j = 1; j <= prunings.k_max(); ++j) out.costs[j - 1] = std::min(out.costs[j - 1], prunings.cost(j));
    if (!(prunings.cost(k) < least)) return;
    least = prunings.cost(k);
    prunings.cut(k, out.cluster, out.medoids);
    out.tree = kind;
    out.hclust = hclust_parts(tree);
  };
  if (options.tree != CenterTree::single) look_in(CenterTree::closure);
  if (options.tree != CenterTree::closure) look_in(CenterTree::single);
  out.tree_objective = center_cost(d, out.cluster, out.medoids, options.objective);
  if (options.polish) out.polished = polish_medoids(d, options.objective, out.cluster, out.medoids, monitor);
  out.objective = center_cost(d, out.cluster, out.medoids, options.objective);
  out.margins = cluster_margins(d, out.cluster, out.medoids);
  Convergence& c = out.convergence;
  c.iterations = static_cast<int>(n - 1);
  c.converged = true;  // the best clustering inside the tree is found, always
  c.reason = Stop::solved;
  c.seconds = watch.seconds();
  return out;
}

namespace {

// min_w a_w + b_w, in sixteen lanes so that no minimum waits for the last one.
GRANARY_WIDE double shortest_detour(const double* a, const double* b, Index n) {
  constexpr int lanes = 16;
  double way[lanes];
  for (int l = 0; l < lanes; ++l) way[l] = infinity;
  Index w = 0;
  for (; w + lanes <= n; w += lanes) {
#pragma omp simd
    for (int l = 0; l < lanes; ++l) {
      const double here = a[w + l] + b[w + l];
      way[l] = here < way[l] ? here : way[l];
    }
  }
  double least = infinity;
  for (; w < n; ++w) least = std::min(least, a[w] + b[w]);
  for (int l = 0; l < lanes; ++l) least = std::min(least, way[l]);
  return least;
}

}  // namespace

double triangle_violation(ConstMatrixRef d, int threads, Monitor& monitor) {
  const Index n = d.rows();
  VectorXd worst = VectorXd::Zero(n);
  parallel_for(n, threads, monitor, [&](Index v) {
    double most = 0;
    for (Index u = 0; u < v; ++u) {
      const double way = shortest_detour(d.data() + u * d.outerStride(), d.data() + v * d.outerStride(), n);
      if (d(u, v) > way) most = std::max(most, (d(u, v) - way) / d(u, v));
    }
    worst[v] = most;
  });
  return n > 0 ? worst.maxCoeff() : 0;
}

namespace {

void shortest_paths(MatrixXd& d, Monitor& monitor) {  // Floyd and Warshall
  const Index n = d.rows();
  for (Index w = 0; w < n; ++w) {
    monitor.check();
    const VectorXd via = d.col(w);
    for (Index v = 0; v < n; ++v) {
      const double to = via[v];
      double* column = &d(0, v);
#pragma omp simd
      for (Index u = 0; u < n; ++u) {
        const double way = via[u] + to;
        column[u] = way < column[u] ? way : column[u];
      }
    }
  }
}

}  // namespace

MatrixXd perturb_metric(ConstMatrixRef d, double alpha, PerturbationLaw law, bool metric, Rng& rng, Monitor& monitor) {
  if (!(alpha >= 1)) throw InputError("the factor must be at least 1.");
  check_size(d, alpha);
  const Index n = d.rows();
  MatrixXd out = MatrixXd::Zero(n, n);
  for (Index v = 0; v < n; ++v)
    for (Index u = 0; u < v; ++u) {
      const double draw = rng.uniform();
      const double factor = law == PerturbationLaw::uniform ? 1 + (alpha - 1) * draw : draw < 0.5 ? 1 : alpha;
      out(u, v) = out(v, u) = d(u, v) * factor;
    }
  if (metric) {
    shortest_paths(out, monitor);
    out = out.cwiseMax(d);  // a sum of distances may be below the direct one by rounding
  }
  return out;
}

MatrixXd adversarial_metric(ConstMatrixRef d, Index p, Index own, Index other) {
  const Index n = d.rows();
  const double r = d(p, own);
  MatrixXd out(n, n);
  for (Index v = 0; v < n; ++v)
    for (Index u = 0; u < n; ++u) out(u, v) = std::min({d(u, v), d(u, p) + r + d(other, v), d(v, p) + r + d(other, u)});
  out.diagonal().setZero();
  return out;
}

MatrixXd adversarial_radius(ConstMatrixRef d, double alpha, double r) {
  return d.unaryExpr([&](double x) { return x >= alpha * r ? x / alpha : x >= r ? r : x; });
}

Resilience cluster_resilience(ConstMatrixRef d, const VectorXi& label, const ResilienceOptions& options, const Recluster& recluster, Rng& rng, Monitor& monitor) {
  const Index n = d.rows();
  const int k = label.maxCoeff() + 1;
  Resilience out;
  out.medoids = best_medoids(d, label, k, options.objective);
  out.margins = cluster_margins(d, label, out.medoids);
  ResilientOptions how;
  how.k = k;
  how.objective = options.objective;
  how.tree = options.tree;
  const auto again = [&](const MatrixXd& changed) {
    VectorXi found = recluster ? recluster(changed) : resilient_cluster(changed, how, monitor).cluster;
    if (found.size() != n || found.minCoeff() < 0) throw InputError("`recluster` must give one label for every point.");
    return found;
  };

  // The metric of the proof at the most fragile point.
  Index p = -1;
  if (k > 1) out.margins.proximity.minCoeff(&p);
  if (p >= 0 && std::isfinite(out.margins.proximity[p])) {
    Adversary& a = out.adversary;
    a.point = p;
    a.rival = out.medoids[out.margins.rival[p]];
    a.alpha = out.margins.proximity[p];
    const MatrixXd changed = options.objective == CenterObjective::center
                                 ? adversarial_radius(d, std::max(1.0, a.alpha), center_cost(d, label, out.medoids, options.objective))
                                 : adversarial_metric(d, p, out.medoids[label[p]], a.rival);
    a.cluster = again(changed);
    const auto cost = [&](const VectorXi& z) { return center_cost(changed, z, best_medoids(changed, z, z.maxCoeff() + 1, options.objective), options.objective); };
    a.before = cost(label);
    a.after = cost(a.cluster);
  }

  // Draws: one stream each, so that their number of threads does not matter. An own function is called in turn.
  const Index draws = options.n_rep, alphas = static_cast<Index>(options.alpha.size());
  MatrixXd ari(draws, alphas);
  std::vector<VectorXi> last(static_cast<std::size_t>(draws));
  const std::uint64_t key = rng();
  parallel_for(draws * alphas, recluster ? 1 : options.threads, monitor, [&](Index task) {
    const Index b = task % draws, a = task / draws;
    monitor.progress(static_cast<double>(task) / static_cast<double>(draws * alphas));
    Rng mine = Rng::at(key, static_cast<std::uint64_t>(task));
    const MatrixXd changed = perturb_metric(d, options.alpha[static_cast<std::size_t>(a)], options.law, options.metric, mine, monitor);
    VectorXi found = again(changed);
    ari(b, a) = agreement(found, label, VectorXd(), monitor).ari;
    if (a + 1 == alphas) last[static_cast<std::size_t>(b)] = std::move(found);
  });
  for (Index a = 0; a < alphas; ++a) {
    std::vector<double> sorted(ari.col(a).data(), ari.col(a).data() + draws);
    std::sort(sorted.begin(), sorted.end());
    ResiliencePoint point;
    point.alpha = options.alpha[static_cast<std::size_t>(a)];
    point.unchanged = static_cast<double>((ari.col(a).array() > 1 - 1e-12).count()) / static_cast<double>(draws);
    point.ari = ari.col(a).mean();
    point.ari_low = sorted[static_cast<std::size_t>(0.05 * static_cast<double>(draws - 1))];
    out.curve.push_back(point);
  }
  out.together = MatrixXd::Zero(n, n);
  for (const VectorXi& z : last)
    for (Index v = 0; v < n && z.size() == n; ++v)
      for (Index u = 0; u < n; ++u) out.together(u, v) += (z[u] == z[v]) / static_cast<double>(draws);
  return out;
}

}  // namespace granary::cluster
