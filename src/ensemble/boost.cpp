#include "ensemble/boost.h"

#include <cmath>

#include "core/base/errors.h"

namespace granary::ensemble {

BoostResult boost(const Design& x, ConstVectorRef y, ConstVectorRef weights, const BoostOptions& options, const CustomAnswer& answer, Rng& rng, Monitor& monitor) {
  if (y.size() != x.rows()) throw InputError("`y` needs one value per row.");
  if (y.size() == 0 || options.classes < 2) throw InputError("boosting needs rows and at least two classes.");
  if (weights.size() > 0 && (weights.size() != y.size() || (weights.array() < 0).any() || weights.sum() <= 0))
    throw InputError("`weights` needs one value per row, none negative, not all 0.");
  for (Index i = 0; i < y.size(); ++i)
    if (!(y[i] >= 0 && y[i] < options.classes && y[i] == std::floor(y[i]))) throw InputError(message("`y` holds ", y[i], ", which is none of the classes."));
  if (by_margin(options.method) && options.classes != 2) throw InputError(message("method = \"", name_of(options.method), "\" is for two classes."));
  if (options.learner == LearnerKind::pool && x.cols() == 0) throw InputError("the pool is empty.");
  BoostResult out = by_margin(options.method) ? boost_margin(x, y, weights, options, answer, rng, monitor)
                                              : boost_votes(x, y, weights, options, answer, rng, monitor);
  if (options.learner == LearnerKind::tree && out.trees.size() == 0) {  // nothing was learnt: no trees, but of this shape
    out.trees.inputs = static_cast<int>(x.cols());
    out.trees.outputs = options.classes;
    out.trees.levels.assign(x.cols(), 0);
    out.trees.value.resize(options.classes, 0);
  }
  return out;
}

VectorXd vote_importance(const Trees& trees, const std::vector<double>& alpha, const std::vector<double>& scales) {
  VectorXd out = VectorXd::Zero(trees.inputs);
  for (int tree = 0; tree < trees.size(); ++tree)
    for (int i = trees.start[tree]; i < trees.end(tree); ++i)
      if (trees.feature[i] >= 0 && scales[tree] > 0) out[trees.feature[i]] += alpha[tree] * trees.gain[i] / scales[tree];
  const double sum = out.sum();
  return sum > 0 ? VectorXd(out / sum) : out;
}

namespace {

double sum_to(ConstVectorRef alpha, int last) {
  const double sum = alpha.head(last).sum();
  return sum > 0 ? sum : 1;
}

void vote(MatrixXd& votes, Index row, double answer, double alpha, bool real) {
  if (real) {
    votes(1, row) += alpha * (1 + answer) / 2;
    votes(0, row) += alpha * (1 - answer) / 2;
  } else {
    votes(static_cast<Index>(answer), row) += alpha;
  }
}

void check_rounds(ConstVectorRef alpha, Index answers, int last) {
  if (last < 0 || last > alpha.size() || alpha.size() > answers) throw InputError(message("there are ", alpha.size(), " rounds, not ", last, "."));
}

}  // namespace

MatrixXd boost_score(const Design& x, const Trees& trees, ConstVectorRef alpha, int last, int threads, Monitor& monitor) {
  check_rounds(alpha, trees.size(), last);
  MatrixXd votes = MatrixXd::Zero(trees.outputs, x.rows());
  TreeWalker(trees).walk(x, 0, last, threads, monitor, [&](int tree, Index row, int leaf) { votes.col(row) += alpha[tree] * trees.value.col(leaf); });
  return votes.transpose() / sum_to(alpha, last);
}

Eigen::MatrixXi boost_staged(const Design& x, const Trees& trees, ConstVectorRef alpha, int last, int threads, Monitor& monitor) {
  check_rounds(alpha, trees.size(), last);
  MatrixXd votes = MatrixXd::Zero(trees.outputs, x.rows());
  Eigen::MatrixXi out(x.rows(), last);
  TreeWalker(trees).walk(x, 0, last, threads, monitor, [&](int tree, Index row, int leaf) {
    votes.col(row) += alpha[tree] * trees.value.col(leaf);
    out(row, tree) = static_cast<int>(first_largest(votes.col(row).data(), votes.rows()));
  });
  return out;
}

MatrixXd answer_score(ConstMatrixRef answers, ConstVectorRef alpha, int classes, bool real, int last) {
  check_rounds(alpha, answers.cols(), last);
  MatrixXd votes = MatrixXd::Zero(classes, answers.rows());
  for (int t = 0; t < last; ++t)
    for (Index i = 0; i < answers.rows(); ++i) vote(votes, i, answers(i, t), alpha[t], real);
  return votes.transpose() / sum_to(alpha, last);
}

Eigen::MatrixXi answer_staged(ConstMatrixRef answers, ConstVectorRef alpha, int classes, bool real, int last) {
  check_rounds(alpha, answers.cols(), last);
  MatrixXd votes = MatrixXd::Zero(classes, answers.rows());
  Eigen::MatrixXi out(answers.rows(), last);
  for (int t = 0; t < last; ++t)
    for (Index i = 0; i < answers.rows(); ++i) {
      vote(votes, i, answers(i, t), alpha[t], real);
      out(i, t) = static_cast<int>(first_largest(votes.col(i).data(), classes));
    }
  return out;
}

}  // namespace granary::ensemble
