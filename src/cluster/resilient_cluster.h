// The front of clustering by Algorithm 13.3 (cluster/center_tree.h), and how much a clustering can bear.
//
// An instance is alpha-resilient if its optimal clustering is the only optimum for every metric d' with d <= d' <= alpha d. What can be computed:
//
//   rho          min over p in C_i, j != i of d(p, c_j) / d(p, c_i): resilience to alpha implies rho > alpha (Lemma 13.9), so rho bounds it from above
//   separation   min over p in C_i, q outside of d(p, q) / d(p, c_i);   centres   min over i != j of d(c_i, c_j) / max(r_i, r_j): both are above sqrt 2 when
//                rho > 1 + sqrt 2 (Lemma 13.11), and then C_i is the ball B(c_i, r_i)
//   drawn        the share of random alpha-perturbations after which the same clustering is found again
//   adversary    the metric of the proof, d'(u, v) = min(d(u, v), d(u, p) + r + d(c_j, v), d(v, p) + r + d(c_j, u)), r = d(p, c_i), for the most fragile p:
//                it lets p choose c_j as well as c_i, and is a perturbation by rho
#pragma once

#include <functional>

#include "cluster/center_tree.h"
#include "core/base/convergence.h"
#include "core/random/rng.h"

namespace granary::cluster {

enum class CenterTree { closure, single, both };
inline Names<CenterTree> names(CenterTree) {
  return {{CenterTree::closure, "closure"}, {CenterTree::single, "single"}, {CenterTree::both, "both"}};
}

struct ResilientOptions {
  int k = 1;
  int k_max = 0;  // costs for 1 .. k_max; 0: k
  CenterObjective objective = CenterObjective::median;
  CenterTree tree = CenterTree::closure;  // both: the better of the two for k
  bool polish = true;  // lower the cost from the clustering of the tree by swaps of centres
  int threads = 1;
};
template <class V>
void fields(V& v, ResilientOptions& t) {
  v("k", t.k);
  v("k_max", t.k_max);
  v("objective", t.objective);
  v("tree", t.tree);
  v("polish", t.polish);
  v("threads", t.threads);
}

struct ClusterMargins {
  double rho = 0, separation = 0, centers = 0;  // infinite where nothing limits them
  bool balls = false;                           // every cluster is the ball of its radius around its centre
  VectorXd proximity, distance_ratio;           // of every point: its share in rho and in the separation
  VectorXi rival;                               // the other centre that is nearest to it; -1 if there is none
};
template <class V>
void fields(V& v, ClusterMargins& t) {
  v("rho", any_number(t.rho));
  v("separation", any_number(t.separation));
  v("centers", any_number(t.centers));
  v("balls", t.balls);
  v("proximity", any_number(t.proximity));
  v("distance_ratio", any_number(t.distance_ratio));
  v("rival", positions(t.rival));
}
ClusterMargins cluster_margins(ConstMatrixRef d, const VectorXi& label, const VectorXi& medoid);

struct ResilientResult {
  VectorXi cluster, medoids;
  double objective = 0;
  VectorXd costs;            // for 1 .. k_max clusters
  double tree_objective = 0;  // of the best clustering inside the tree
  bool polished = false;      // the clustering returned is a cheaper one
  CenterTree tree = CenterTree::closure;  // the tree it was found in
  HclustParts hclust;
  ClusterMargins margins;
  Convergence convergence;  // always: the best clustering inside the tree is found, and no swap lowers the cost
};
template <class V>
void fields(V& v, ResilientResult& t) {
  v("cluster", positions(t.cluster));
  v("medoids", positions(t.medoids));
  v("objective", t.objective);
  v("costs", t.costs);
  v("tree_objective", t.tree_objective);
  v("polished", t.polished);
  v("tree", t.tree);
  v("hclust", t.hclust);
  v("margins", t.margins);
  v("convergence", t.convergence);
}
ResilientResult resilient_cluster(ConstMatrixRef d, const ResilientOptions& options, Monitor& monitor);

// The largest relative violation of the triangle inequality, max (d(u, v) - d(u, w) - d(w, v)) / d(u, v); 0 for a metric. O(n^3).
double triangle_violation(ConstMatrixRef d, int threads, Monitor& monitor);

enum class PerturbationLaw { uniform, extreme };  // factors uniform on [1, alpha], or 1 and alpha with equal probability
inline Names<PerturbationLaw> names(PerturbationLaw) { return {{PerturbationLaw::uniform, "uniform"}, {PerturbationLaw::extreme, "extreme"}}; }

// d <= d' <= alpha d; with `metric` shortest paths are taken, which keeps both bounds if d is a metric.
MatrixXd perturb_metric(ConstMatrixRef d, double alpha, PerturbationLaw law, bool metric, Rng& rng, Monitor& monitor);
// The metric of the proof for point p and the centre c_j of another cluster; for k-center d / alpha, r or d by the size of d (Theorem 13.8).
MatrixXd adversarial_metric(ConstMatrixRef d, Index p, Index own, Index other);
MatrixXd adversarial_radius(ConstMatrixRef d, double alpha, double r);

struct ResilienceOptions {
  CenterObjective objective = CenterObjective::median;
  CenterTree tree = CenterTree::both;
  std::vector<double> alpha;
  int n_rep = 200;
  PerturbationLaw law = PerturbationLaw::uniform;
  bool metric = true;
  int threads = 1;
};
template <class V>
void fields(V& v, ResilienceOptions& t) {
  v("objective", t.objective);
  v("tree", t.tree);
  v("alpha", t.alpha);
  v("n_rep", t.n_rep);
  v("law", t.law);
  v("metric", t.metric);
  v("threads", t.threads);
}

struct ResiliencePoint {
  double alpha = 0, unchanged = 0, ari = 0, ari_low = 0;  // share of draws, mean and 5% quantile of the adjusted Rand index
};
template <class V>
void fields(V& v, ResiliencePoint& t) {
  v("alpha", t.alpha);
  v("unchanged", t.unchanged);
  v("ari", t.ari);
  v("ari_low", t.ari_low);
}

struct Adversary {
  Index point = -1, rival = -1;  // -1: there is none
  double alpha = 0;              // how much it changes distances
  double before = 0, after = 0;  // cost of the clustering under the changed metric, and of the best found for it
  VectorXi cluster;              // that one
};
template <class V>
void fields(V& v, Adversary& t) {
  v("point", positions(t.point));
  v("rival", positions(t.rival));
  v("alpha", any_number(t.alpha));
  v("before", t.before);
  v("after", t.after);
  v("cluster", positions(t.cluster));
}

struct Resilience {
  VectorXi medoids;
  ClusterMargins margins;
  std::vector<ResiliencePoint> curve;
  MatrixXd together;  // share of the draws of the largest alpha in which two points are in one cluster
  Adversary adversary;
};
template <class V>
void fields(V& v, Resilience& t) {
  v("medoids", positions(t.medoids));
  v("margins", t.margins);
  v("curve", columns(t.curve));
  v("together", t.together);
  v("adversary", t.adversary);
}
// How the points are clustered anew; empty: by resilient_cluster().
using Recluster = std::function<VectorXi(const MatrixXd& d)>;
Resilience cluster_resilience(ConstMatrixRef d, const VectorXi& label, const ResilienceOptions& options, const Recluster& recluster, Rng& rng, Monitor& monitor);

}  // namespace granary::cluster
