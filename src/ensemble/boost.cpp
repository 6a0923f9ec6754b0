#include "ensemble/boost.h"

#include <cmath>
#include <map>

#include "core/base/errors.h"
#include "core/base/parallel.h"

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
  if (options.learner == LearnerKind::tree) merge_trees(out);
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

// A tree by itself.
Trees one_tree(const Trees& all, int tree) {
  Trees out;
  out.inputs = all.inputs;
  out.outputs = all.outputs;
  out.levels = all.levels;
  out.start = {0};
  const int from = all.start[tree];
  std::vector<int> leaves;
  for (int i = from; i < all.end(tree); ++i) {
    out.feature.push_back(all.feature[i]);
    out.threshold.push_back(all.threshold[i]);
    out.missing_left.push_back(all.missing_left[i]);
    out.gain.push_back(all.gain[i]);
    out.rows.push_back(all.rows[i]);
    if (all.feature[i] < 0) {
      out.left.push_back(static_cast<int>(leaves.size()));
      leaves.push_back(all.left[i]);
    } else {
      out.left.push_back(all.left[i] - from);
    }
    if (all.set[i] < 0) {
      out.set.push_back(-1);
    } else {
      out.set.push_back(static_cast<int>(out.words.size()));
      const int words = (all.levels[all.feature[i]] + 31) / 32;
      out.words.insert(out.words.end(), all.words.begin() + all.set[i], all.words.begin() + all.set[i] + words);
    }
  }
  out.value.resize(all.outputs, static_cast<Index>(leaves.size()));
  for (std::size_t l = 0; l < leaves.size(); ++l) out.value.col(static_cast<Index>(l)) = all.value.col(leaves[l]);
  return out;
}

void check_picks(const BoostRounds& rounds, const Trees& trees, int last) {
  if (last < 0 || last > rounds.alpha.size()) throw InputError(message("there are ", rounds.alpha.size(), " rounds, not ", last, "."));
  if (static_cast<Index>(rounds.picks.size()) != rounds.alpha.size()) throw InputError("every round needs its tree.");
  for (const int pick : rounds.picks)
    if (pick < 0 || pick >= trees.size()) throw InputError("a round names a tree that is not there.");
}

void check_rounds(ConstVectorRef alpha, Index answers, int last) {
  if (last < 0 || last > alpha.size() || alpha.size() > answers) throw InputError(message("there are ", alpha.size(), " rounds, not ", last, "."));
}

}  // namespace

MatrixXd boost_score(const Design& x, const Trees& trees, const BoostRounds& rounds, int last, int threads, Monitor& monitor) {
  check_picks(rounds, trees, last);
  VectorXd weight = VectorXd::Zero(trees.size());
  for (int t = 0; t < last; ++t) weight[rounds.picks[static_cast<std::size_t>(t)]] += rounds.alpha[t];
  MatrixXd votes = MatrixXd::Zero(trees.outputs, x.rows());
  TreeWalker(trees).walk(x, 0, trees.size(), threads, monitor, [&](int tree, Index row, int leaf) { votes.col(row) += weight[tree] * trees.value.col(leaf); });
  return votes.transpose() / sum_to(rounds.alpha, last);
}

Eigen::MatrixXi boost_staged(const Design& x, const Trees& trees, const BoostRounds& rounds, int last, int threads, Monitor& monitor) {
  check_picks(rounds, trees, last);
  Eigen::MatrixXi leaves(trees.size(), x.rows()), out(x.rows(), last);
  TreeWalker(trees).walk(x, 0, trees.size(), threads, monitor, [&](int tree, Index row, int leaf) { leaves(tree, row) = leaf; });
  parallel_for(x.rows(), threads, monitor, [&](Index row) {
    VectorXd votes = VectorXd::Zero(trees.outputs);
    for (int t = 0; t < last; ++t) {
      votes += rounds.alpha[t] * trees.value.col(leaves(rounds.picks[static_cast<std::size_t>(t)], row));
      out(row, t) = static_cast<int>(first_largest(votes.data(), votes.size()));
    }
  });
  return out;
}

void merge_trees(BoostResult& out) {
  const Trees& all = out.trees;
  if (all.size() == 0 || static_cast<std::size_t>(all.size()) != out.alpha.size()) return;
  std::map<std::vector<double>, int> known;  // what a tree does, number by number
  std::vector<Trees> kept;
  std::vector<int> picks;
  for (int tree = 0; tree < all.size(); ++tree) {
    std::vector<double> key;
    for (int i = all.start[tree]; i < all.end(tree); ++i) {
      key.insert(key.end(), {static_cast<double>(all.feature[i]), all.threshold[i], static_cast<double>(all.missing_left[i])});
      if (all.feature[i] < 0) {
        for (int l = 0; l < all.outputs; ++l) key.push_back(all.value(l, all.left[i]));
        continue;
      }
      key.push_back(all.left[i] - all.start[tree]);
      if (all.set[i] >= 0)
        for (int word = 0; word < (all.levels[all.feature[i]] + 31) / 32; ++word) key.push_back(all.words[all.set[i] + word]);
    }
    const auto [at, fresh] = known.emplace(std::move(key), static_cast<int>(kept.size()));
    if (fresh) kept.push_back(one_tree(all, tree));
    picks.push_back(at->second);
  }
  if (static_cast<int>(kept.size()) < all.size()) out.trees = join(kept);
  out.picks = std::move(picks);
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
