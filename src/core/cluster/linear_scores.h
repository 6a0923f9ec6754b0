// Clusters whose members are told by a linear score: row i fits cluster h by
//
//   s_ih = <x_i, theta_h> + b_h.
//
// Squared distances (theta = c, b = -|c|^2 / 2), every Bregman divergence (theta the natural parameter, b = -psi(theta)), directions on the
// sphere (theta = kappa mu, b = log c_d(kappa) + log alpha) are of this kind, so one product serves them all. What a model adds is how the
// scores follow from the weighted sums of the rows (ScoreModel).
//
//   hard_clusters   z_i = argmax_h s_ih, then new scores from the sums, until no label changes: Lloyd's iterations
//   soft_clusters   p_ih = softmax_h s_ih, then new scores from the sums: expectation-maximisation
//
// The hard loop skips rows that cannot change. With a the cluster of row i and m its margin over the second best cluster, the new margin is at
// least m - max_h (E_ah + rho_i G_ah), where for the change D of the scores E_ah = <r_a, D theta_h - D theta_a> + D b_h - D b_a,
// G_ah = |D theta_h - D theta_a|, r_a is a point of reference of the cluster (its mean; zero for sparse rows) and rho_i >= |x_i - r_a|. For squared distances
// this is what Hamerly (SDM 2010) does; it holds for every linear score. A last look without bounds confirms the labels.
#pragma once

#include <functional>
#include <limits>
#include <vector>

#include "core/base/convergence.h"
#include "core/base/monitor.h"
#include "core/cluster/data_rows.h"
#include "core/random/rng.h"

namespace granary {

struct LinearScores {
  MatrixXd theta;  // k x columns
  VectorXd bias;   // k
};

struct ClusterSums {
  MatrixXd first;   // k x columns: sum_i w_i p_ih x_i
  VectorXd weight;  // sum_i w_i p_ih
};

// New scores from the sums. `scores` holds the last ones; those of a cluster without weight are to stay.
using ScoreModel = std::function<void(const ClusterSums& sums, LinearScores& scores)>;

struct HardOptions {
  int max_iter = 100;
  double tol = 0;      // > 0: stop when the objective falls by less than this share of itself
  double noise = 0;    // rounding in the scores that their own size does not tell (differences of larger numbers)
  bool bounds = true;  // skip rows that cannot change
  int threads = 1;
};

struct HardResult {
  VectorXi cluster;
  ClusterSums sums;
  LinearScores scores;         // of these sums
  double objective = 0;        // sum_i w_i (base_i - s_iz)
  std::vector<double> trace;   // of the objective
  int refilled = 0;            // how often an empty cluster was given the row that fitted worst
  Convergence convergence;     // solved: every row is in its best cluster, and the scores are those of the sums
};

// weights, base: one per row, or empty for ones and zeros; base_i - s_ih is the loss of row i in cluster h, by which an empty cluster chooses its row.
HardResult hard_clusters(const DataRows& x, ConstVectorRef weights, ConstVectorRef base, LinearScores start, const ScoreModel& model,
                         const HardOptions& options, Monitor& monitor);

// The best cluster of each row, ties to the first, with its score and the lead over the second (infinite for k = 1).
struct BestScores {
  VectorXi cluster;
  VectorXd score, lead;
};
BestScores best_scores(const DataRows& x, const LinearScores& scores, int threads, Monitor& monitor);
ClusterSums cluster_sums(const DataRows& x, ConstVectorRef weights, const VectorXi& cluster, Index k);

enum class Membership { soft, drawn };  // drawn: one cluster per row, with the probabilities of the soft ones

struct SoftPass {
  ClusterSums sums;
  double value = 0;     // sum_i w_i log sum_h exp s_ih
  double entropy = 0;   // mean over the weights of -sum_h p_ih log p_ih, in nats
  double complete = 0;  // sum_i w_i sum_h p_ih s_ih
  double hard = 0;      // sum_i w_i max_h s_ih
};
// `membership`, where given, receives p (n x k). `draw`: for Membership::drawn, the seed of this pass.
SoftPass soft_pass(const DataRows& x, ConstVectorRef weights, const LinearScores& scores, Membership kind, std::uint64_t draw, MatrixXd* membership, int threads,
                   Monitor& monitor);

struct SoftOptions {
  int max_iter = 500;
  double tol = 1e-8;  // stop when the value changes by at most tol (|value + offset| + tol)
  double offset = 0;  // what the value lacks of the objective, by whose size changes are judged
  Membership kind = Membership::soft;
  double stop_entropy = -1;  // stop once the mean entropy (nats) is below; for hybrids
  // While the mean entropy is above, the clusters lie on each other, and small changes mean that they have not parted yet: `plateau_tol` in place of `tol`.
  double plateau_entropy = std::numeric_limits<double>::infinity();
  double plateau_tol = 0;
  bool keep_best = false;  // the value may fall (drawn memberships, approximate scores): the best scores seen are returned
  int threads = 1;
};

struct SoftResult {
  LinearScores scores;
  ClusterSums sums;  // the scores are those of these sums
  SoftPass last;     // at the scores
  std::vector<double> trace, entropy;
  Convergence convergence;  // residual: the last relative change of the value
};
SoftResult soft_clusters(const DataRows& x, ConstVectorRef weights, LinearScores start, const ScoreModel& model, const SoftOptions& options, Rng& rng,
                         Monitor& monitor);

}  // namespace granary
