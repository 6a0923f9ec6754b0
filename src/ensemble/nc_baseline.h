// What a trained-together ensemble has to beat: bagging, and AdaBoost.R2 for regression, of the same members or of trees.
//
//   bagging    members on rows drawn with replacement, their mean
//   boosting   AdaBoost.R2 (Drucker 1997): rows drawn by weight p, L_n = |t - f| / max |t - f| (or its square, or 1 - exp(-L)),
//              Lbar = sum p L, until Lbar >= 1/2;
//              beta = Lbar / (1 - Lbar), p_n <- p_n beta^(1 - L_n) / Z; the median of the members weighted by log(1 / beta)
#pragma once

#include "core/tree/trees.h"
#include "ensemble/nc_ensemble.h"

namespace granary::ensemble {

enum class BaselineMethod { bagging, boosting };
inline Names<BaselineMethod> names(BaselineMethod) {
  return {{BaselineMethod::bagging, "bagging"}, {BaselineMethod::boosting, "boosting"}};
}

enum class BoostLoss { linear, square, exponential };
inline Names<BoostLoss> names(BoostLoss) {
  return {{BoostLoss::linear, "linear"}, {BoostLoss::square, "square"}, {BoostLoss::exponential, "exponential"}};
}

enum class BaselineEnd { rounds, weak, perfect };
inline Names<BaselineEnd> names(BaselineEnd) {
  return {{BaselineEnd::rounds, "rounds"}, {BaselineEnd::weak, "weak"}, {BaselineEnd::perfect, "perfect"}};
}

struct BaselineOptions {
  BaselineMethod method = BaselineMethod::bagging;
  BoostLoss loss = BoostLoss::linear;
  bool trees = false;
  int max_leaves = 8;  // of a tree
  NcOptions member;
};
template <class V>
void fields(V& v, BaselineOptions& t) {
  v("method", t.method);
  v("loss", t.loss);
  v("trees", t.trees);
  v("max_leaves", t.max_leaves);
  v("member", t.member);
}

struct BaselineResult {
  NcModel model;
  Trees trees;
  VectorXd vote;               // of the members
  std::vector<double> losses;  // boosting: mean loss of each member
  BaselineEnd end = BaselineEnd::rounds;
  MatrixXd members;  // predictions, rows x members
  std::vector<Index> held;
  bool too_few = false;
  Convergence convergence;
};
template <class V>
void fields(V& v, BaselineResult& t) {
  v("model", t.model);
  v("trees", t.trees);
  v("vote", t.vote);
  v("losses", t.losses);
  v("end", t.end);
  v("members", t.members);
  v("held", positions(t.held));
  v("too_few", t.too_few);
  v("convergence", t.convergence);
}

BaselineResult nc_baseline(ConstMatrixRef x, ConstVectorRef y, ConstVectorRef weights, const BaselineOptions& options, Rng& rng,
                           Monitor& monitor);

MatrixXd tree_members(ConstMatrixRef x, const Trees& trees, int threads, Monitor& monitor);  // rows x trees

// By row, the smallest value at which half of the weight is reached.
VectorXd weighted_medians(ConstMatrixRef members, ConstVectorRef vote);

}  // namespace granary::ensemble
