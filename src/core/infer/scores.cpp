#include "core/infer/scores.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "core/base/errors.h"

namespace granary {

namespace {

const double none = std::numeric_limits<double>::quiet_NaN();

void check_weights(ConstVectorRef weight, Index n) {
  if (weight.size() != n) throw InputError(message("there must be one weight per row, ", n, ", not ", weight.size(), "."));
  if (n == 0 || !(weight.minCoeff() >= 0) || !(weight.sum() > 0)) throw InputError("weights must not be negative, nor all zero.");
}

double ratio(double a, double b) { return b > 0 ? a / b : none; }

double mean_of_known(const VectorXd& v) {
  double sum = 0;
  Index count = 0;
  for (Index i = 0; i < v.size(); ++i) {
    if (std::isnan(v[i])) continue;
    sum += v[i];
    ++count;
  }
  return count > 0 ? sum / static_cast<double>(count) : none;
}

}  // namespace

MatrixXd confusion_matrix(const VectorXi& truth, const VectorXi& predicted, ConstVectorRef weight, Index classes) {
  const Index n = truth.size();
  if (predicted.size() != n)
    throw InputError(message("there must be one prediction per row, ", n, ", not ", predicted.size(), "."));
  check_weights(weight, n);
  MatrixXd out = MatrixXd::Zero(classes, classes);
  for (Index i = 0; i < n; ++i) {
    if (truth[i] < 0 || truth[i] >= classes || predicted[i] < 0 || predicted[i] >= classes)
      throw InputError(message("row ", i + 1, " has a class that is not among the ", classes, "."));
    out(truth[i], predicted[i]) += weight[i];
  }
  return out;
}

ClassScores class_scores(ConstMatrixRef confusion, double beta) {
  if (confusion.rows() != confusion.cols()) throw InputError("a table of classes must be square.");
  const Index k = confusion.rows();
  const double total = confusion.sum(), right = confusion.diagonal().sum();
  if (!(total > 0)) throw InputError("there must be at least one row with a weight.");
  const VectorXd truth = confusion.rowwise().sum(), predicted = confusion.colwise().sum().transpose();
  ClassScores s;
  s.accuracy = right / total;
  s.error = (total - right) / total;
  const double chance = truth.dot(predicted) / (total * total);
  s.kappa = chance < 1 ? (s.accuracy - chance) / (1 - chance) : none;
  const double spread = (total * total - truth.squaredNorm()) * (total * total - predicted.squaredNorm());
  s.mcc = spread > 0 ? (right * total - truth.dot(predicted)) / std::sqrt(spread) : none;
  s.precision.resize(k);
  s.recall.resize(k);
  s.f.resize(k);
  const double b2 = beta * beta;
  for (Index a = 0; a < k; ++a) {
    const double hit = confusion(a, a);
    s.precision[a] = ratio(hit, predicted[a]);
    s.recall[a] = ratio(hit, truth[a]);
    s.f[a] = ratio((1 + b2) * hit, b2 * truth[a] + predicted[a]);
  }
  s.balanced = mean_of_known(s.recall);
  s.macro_f = mean_of_known(s.f);
  s.micro_f = ratio((1 + b2) * right, (1 + b2) * total);
  return s;
}

double area_under_roc(ConstVectorRef score, ConstVectorRef positive, ConstVectorRef weight) {
  const Index n = score.size();
  check_weights(weight, n);
  if (positive.size() != n) throw InputError(message("there must be one label per row, ", n, ", not ", positive.size(), "."));
  std::vector<Index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), Index(0));
  std::sort(order.begin(), order.end(), [&](Index i, Index j) { return score[i] < score[j]; });
  double below = 0, pairs = 0, hits = 0;
  for (std::size_t i = 0; i < order.size();) {
    double up = 0, down = 0;
    const double at = score[order[i]];
    for (; i < order.size() && score[order[i]] == at; ++i) (positive[order[i]] > 0 ? up : down) += weight[order[i]];
    pairs += up * (below + down / 2);
    below += down;
    hits += up;
  }
  return hits > 0 && below > 0 ? pairs / (hits * below) : none;
}

ProbabilityScores probability_scores(ConstMatrixRef prob, const VectorXi& truth, ConstVectorRef weight) {
  const Index n = prob.rows(), k = prob.cols();
  if (truth.size() != n) throw InputError(message("there must be one class per row, ", n, ", not ", truth.size(), "."));
  check_weights(weight, n);
  const double total = weight.sum();
  ProbabilityScores s;
  for (Index i = 0; i < n; ++i) {
    if (truth[i] < 0 || truth[i] >= k) throw InputError(message("row ", i + 1, " has a class that is not among the ", k, "."));
    const auto p = prob.row(i);
    if (!(p.minCoeff() >= 0 && p.maxCoeff() <= 1 + 1e-9))
      throw InputError(message("probabilities must lie in [0, 1], but row ", i + 1, " has one of ",
                               p.minCoeff() < 0 ? p.minCoeff() : p.maxCoeff(), "."));
    if (!(std::abs(p.sum() - 1) <= 1e-6))
      throw InputError(message("the probabilities of a row must sum to 1, but those of row ", i + 1, " sum to ", p.sum(), "."));
    const double own = p[truth[i]], w = weight[i] / total;
    if (w == 0) continue;
    s.log_loss -= w * std::log(std::max(own, std::numeric_limits<double>::min()));
    s.brier += w * (p.squaredNorm() - 2 * own + 1);
  }
  VectorXd positive(n), own_weight(n);
  const auto pair_area = [&](int a, int b) {  // by the probability of a, among rows of a and b
    for (Index i = 0; i < n; ++i) {
      positive[i] = truth[i] == a ? 1 : -1;
      own_weight[i] = truth[i] == a || truth[i] == b ? weight[i] : 0;
    }
    return own_weight.sum() > 0 ? area_under_roc(prob.col(a), positive, own_weight) : none;
  };
  if (k == 2) {
    s.auc = pair_area(1, 0);
    return s;
  }
  VectorXd areas(k * (k - 1));
  Index at = 0;
  for (int a = 0; a < k; ++a)
    for (int b = 0; b < k; ++b)
      if (a != b) areas[at++] = pair_area(a, b);
  s.auc = mean_of_known(areas);
  return s;
}

}  // namespace granary
