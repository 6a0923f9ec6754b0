#include "ensemble/multilabel.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/parallel.h"

namespace granary::ensemble {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::vector<std::vector<int>> ones_of(ConstMatrixRef y) {
  std::vector<std::vector<int>> out(static_cast<std::size_t>(y.rows()));
  for (Index i = 0; i < y.cols(); ++i)
    for (Index r = 0; r < y.rows(); ++r)
      if (y(r, i) == 1) out[static_cast<std::size_t>(r)].push_back(static_cast<int>(i));
  return out;
}

double probability(const LabelModel& model, ConstVectorRef x) {
  if (model.constant >= 0) return model.constant;
  return std::exp(log_softmax(x.transpose(), model.fit)(0, 1));
}

void note(Convergence& all, const LabelModel& model) {
  if (model.constant >= 0) return;
  const Convergence& one = model.fit.convergence;
  all.converged = all.converged && one.converged;
  all.iterations += one.iterations;
  all.residual = std::max(all.residual, one.residual);
}

void fit_sizes(ConstMatrixRef x, ConstMatrixRef y, const MultilabelOptions& options, MultilabelFit& out, Monitor& monitor) {
  const Index n = y.rows(), m = y.cols();
  const VectorXd size = y.rowwise().sum();
  // Sizes are told apart while there are few; above, neighbours are pooled, the rarest first.
  std::vector<int> count(static_cast<std::size_t>(m) + 1, 0);
  for (Index i = 0; i < n; ++i) ++count[static_cast<std::size_t>(size[i])];
  struct Pool {
    double rows, sum;
    int low, high;
  };
  std::vector<Pool> pools;
  for (int s = 1; s <= static_cast<int>(m); ++s)
    if (count[static_cast<std::size_t>(s)] > 0)
      pools.push_back({1.0 * count[static_cast<std::size_t>(s)], 1.0 * s * count[static_cast<std::size_t>(s)], s, s});
  while (static_cast<int>(pools.size()) > options.max_sizes) {
    std::size_t at = 0;
    for (std::size_t i = 1; i + 1 < pools.size(); ++i)
      if (pools[i].rows + pools[i + 1].rows < pools[at].rows + pools[at + 1].rows) at = i;
    pools[at] = {pools[at].rows + pools[at + 1].rows, pools[at].sum + pools[at + 1].sum, pools[at].low, pools[at + 1].high};
    pools.erase(pools.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    ++out.pooled;
  }
  std::vector<int> pool_of(static_cast<std::size_t>(m) + 1, -1);
  for (std::size_t i = 0; i < pools.size(); ++i)
    for (int s = pools[i].low; s <= pools[i].high; ++s) pool_of[static_cast<std::size_t>(s)] = static_cast<int>(i);
  out.marginal.resize(static_cast<std::size_t>(m));
  parallel_for(m + 1, options.threads, monitor, [&](Index i) {
    if (i == m) {
      const VectorXi empty = (size.array() == 0).cast<int>();
      out.none = fit_label(x, empty, 2, options, monitor);
      return;
    }
    LabelModel& model = out.marginal[static_cast<std::size_t>(i)];
    // Class 0: the label is off; then one for every size with which it occurs.
    std::vector<int> name(pools.size(), -1), sizes;
    VectorXi t(n);
    for (Index r = 0; r < n; ++r)
      if (y(r, i) == 1) name[static_cast<std::size_t>(pool_of[static_cast<std::size_t>(size[r])])] = 0;
    for (std::size_t q = 0; q < pools.size(); ++q)
      if (name[q] == 0) {
        sizes.push_back(static_cast<int>(std::lround(pools[q].sum / pools[q].rows)));
        name[q] = static_cast<int>(sizes.size());
      }
    bool off = false;
    for (Index r = 0; r < n; ++r) {
      t[r] = y(r, i) == 1 ? name[static_cast<std::size_t>(pool_of[static_cast<std::size_t>(size[r])])] : 0;
      off = off || t[r] == 0;
    }
    if (!off) t.array() -= 1;  // always on: the sizes alone
    model = fit_label(x, t, static_cast<int>(sizes.size()) + (off ? 1 : 0), options, monitor);
    model.size = sizes;
    if (!off) model.size.insert(model.size.begin(), -1);  // the first class is a size too
  });
}

// P(y_i = 1, s_y = s | x) for every label, and P(y = 0 | x).
SizeTable sizes_at(const MultilabelFit& fit, ConstVectorRef x) {
  const Index m = fit.labels;
  SizeTable out;
  out.size = VectorXd::LinSpaced(m, 1, static_cast<double>(m));
  out.p = MatrixXd::Zero(m, m);
  out.none = probability(fit.none, x);
  for (Index i = 0; i < m; ++i) {
    const LabelModel& model = fit.marginal[static_cast<std::size_t>(i)];
    const bool always = !model.size.empty() && model.size[0] == -1;
    std::vector<int> size(model.size.begin() + (always ? 1 : 0), model.size.end());
    if (!always) size.insert(size.begin(), 0);
    if (model.constant >= 0) {  // one class only
      if (size[0] > 0) out.p(i, size[0] - 1) += 1;
      continue;
    }
    const MatrixXd log_p = log_softmax(x.transpose(), model.fit);
    for (std::size_t c = 0; c < size.size(); ++c)
      if (size[c] > 0) out.p(i, size[c] - 1) += std::exp(log_p(0, static_cast<Index>(c)));
  }
  return out;
}

void fit_knn(ConstMatrixRef x, MultilabelFit& out) {
  out.mean = x.colwise().mean().transpose();
  out.x = x.rowwise() - out.mean.transpose();
  out.scale.resize(x.cols());
  for (Index j = 0; j < x.cols(); ++j) {
    const double sd = std::sqrt(out.x.col(j).squaredNorm() / static_cast<double>(x.rows()));
    out.scale[j] = sd > 1e-12 * (std::abs(out.mean[j]) + sd) ? 1 / sd : 0;
    out.x.col(j) *= out.scale[j];
  }
}

// Nearest rows; of equally near ones the first.
std::vector<int> nearest(const MultilabelFit& fit, ConstVectorRef x, int l) {
  const VectorXd z = (x - fit.mean).cwiseProduct(fit.scale);
  std::vector<std::pair<double, int>> all(static_cast<std::size_t>(fit.x.rows()));
  const VectorXd cross = fit.x * z;
  for (Index i = 0; i < fit.x.rows(); ++i)
    all[static_cast<std::size_t>(i)] = {fit.x.row(i).squaredNorm() - 2 * cross[i], static_cast<int>(i)};
  l = std::min(l, static_cast<int>(all.size()));
  std::partial_sort(all.begin(), all.begin() + l, all.end());
  std::vector<int> out(static_cast<std::size_t>(l));
  for (int i = 0; i < l; ++i) out[static_cast<std::size_t>(i)] = all[static_cast<std::size_t>(i)].second;
  return out;
}

LabelSample rows_of(const MatrixXd& y, const std::vector<int>& rows) {
  MatrixXd picked(static_cast<Index>(rows.size()), y.cols());
  for (Index r = 0; r < picked.rows(); ++r) picked.row(r) = y.row(rows[static_cast<std::size_t>(r)]);
  return LabelSample(picked, VectorXd());
}

}  // namespace

LabelModel fit_label(ConstMatrixRef x, const VectorXi& y, int classes, const MultilabelOptions& options, Monitor& monitor) {
  LabelModel out;
  if (y.minCoeff() == y.maxCoeff()) {  // nothing to learn: the frequency
    out.constant = classes == 1 ? 1 : y[0];
    return out;
  }
  RidgeSoftmaxOptions how;
  how.classes = classes;
  how.tol = options.tol;
  how.max_iter = options.max_iter;
  out.fit = ridge_softmax_cv(x, y, options.lambda, options.fold, options.folds, how, monitor);
  return out;
}

void check(const MultilabelFit& fit) {
  require(fit.labels >= 1 && fit.columns >= 1, "it has no labels or no columns");
  const auto chains_fit = [&](const LabelChain& chain) {
    if (chain.order.size() != fit.labels || static_cast<int>(chain.step.size()) != fit.labels) return false;
    for (Index i = 0; i < chain.order.size(); ++i) {
      const LabelModel& step = chain.step[static_cast<std::size_t>(i)];
      if (chain.order[i] < 0 || chain.order[i] >= fit.labels) return false;
      if (step.constant < 0 && (step.fit.coefficients.rows() != fit.columns + i || step.fit.coefficients.cols() != 1 ||
                                step.fit.intercept.size() != 1))
        return false;
    }
    return true;
  };
  for (const LabelChain& chain : fit.chains) require(chains_fit(chain), "a chain does not belong to the labels");
  const auto model_fits = [&](const LabelModel& model) {
    return model.constant >= 0 ||
           (model.fit.coefficients.rows() == fit.columns && model.fit.coefficients.cols() == model.fit.intercept.size() &&
            model.fit.intercept.size() >= 1);
  };
  for (const LabelModel& model : fit.marginal) {
    require(model_fits(model), "a model does not belong to the columns");
    for (const int s : model.size) require(s >= -1 && s <= fit.labels, "a number of labels is too large");
    if (fit.model == MultilabelModel::efp && model.constant < 0) {
      const bool always = !model.size.empty() && model.size[0] == -1;
      const std::size_t classes = model.size.size() + (always ? 0 : 1) - (always ? 1 : 0);
      const std::size_t etas = static_cast<std::size_t>(model.fit.intercept.size());
      require((etas == 1 ? 2 : etas) == classes, "a model does not belong to its numbers of labels");
    }
  }
  switch (fit.model) {
    case MultilabelModel::pcc:
      require(!fit.chains.empty(), "it has no chain");
      break;
    case MultilabelModel::efp:
      require(model_fits(fit.none), "the model of no label does not belong to the columns");
      [[fallthrough]];
    case MultilabelModel::lfp:
    case MultilabelModel::br:
      require(static_cast<int>(fit.marginal.size()) == fit.labels, "there is not one model per label");
      break;
    case MultilabelModel::knn:
      require(fit.x.rows() == fit.y.rows() && fit.x.rows() > 0 && fit.x.cols() == fit.columns && fit.y.cols() == fit.labels &&
                  fit.mean.size() == fit.columns && fit.scale.size() == fit.columns,
              "its rows do not belong together");
      break;
    case MultilabelModel::ftree:
      require(!fit.trees.empty() && fit.y.cols() == fit.labels, "it has no trees");
      for (const LabelTree& tree : fit.trees) {
        const std::size_t nodes = tree.column.size();
        require(nodes > 0 && tree.left.size() == nodes && tree.right.size() == nodes && tree.threshold.size() == nodes,
                "a tree is cut short");
        for (std::size_t i = 0; i < nodes; ++i) {
          const bool leaf = tree.column[i] < 0;
          const int limit = static_cast<int>(leaf ? tree.rows.size() : nodes) - (leaf ? 0 : 1);
          require(tree.column[i] < fit.columns && tree.left[i] >= (leaf ? 0 : static_cast<int>(i) + 1) &&
                      tree.right[i] <= limit && tree.left[i] < tree.right[i],
                  "a tree is damaged");
        }
        for (const int r : tree.rows) require(r >= 0 && r < fit.y.rows(), "a tree names a row that is not there");
      }
      break;
  }
}

MultilabelFit multilabel_fit(ConstMatrixRef x, ConstMatrixRef y, const MultilabelOptions& options, Rng& rng, Monitor& monitor) {
  const Stopwatch watch;
  const Index n = x.rows(), m = y.cols();
  MultilabelFit out;
  out.model = options.model;
  out.columns = static_cast<int>(x.cols());
  out.labels = static_cast<int>(m);
  out.convergence.converged = true;
  out.convergence.residual = 0;
  switch (options.model) {
    case MultilabelModel::pcc:
      out.chains = chain_fit(x, y, options, rng, monitor);
      for (const LabelChain& chain : out.chains)
        for (const LabelModel& step : chain.step) note(out.convergence, step);
      break;
    case MultilabelModel::lfp:
    case MultilabelModel::br:
      out.marginal.resize(static_cast<std::size_t>(m));
      parallel_for(m, options.threads, monitor, [&](Index i) {
        out.marginal[static_cast<std::size_t>(i)] = fit_label(x, y.col(i).cast<int>(), 2, options, monitor);
      });
      for (const LabelModel& model : out.marginal) note(out.convergence, model);
      break;
    case MultilabelModel::efp:
      fit_sizes(x, y, options, out, monitor);
      for (const LabelModel& model : out.marginal) note(out.convergence, model);
      note(out.convergence, out.none);
      break;
    case MultilabelModel::knn:
      fit_knn(x, out);
      out.neighbors = options.neighbors;
      out.y = y;
      break;
    case MultilabelModel::ftree: {
      out.y = y;
      const auto ones = ones_of(y);
      out.trees.resize(static_cast<std::size_t>(options.n_trees));
      MatrixXd importance = MatrixXd::Zero(x.cols(), options.n_trees);
      parallel_for(options.n_trees, options.threads, monitor, [&](Index b) {
        Rng own = rng.stream(static_cast<std::uint64_t>(b));
        std::vector<int> rows(static_cast<std::size_t>(n));
        std::iota(rows.begin(), rows.end(), 0);
        if (options.n_trees > 1)
          for (int& r : rows) r = static_cast<int>(own.below(static_cast<std::uint64_t>(n)));
        VectorXd gains = VectorXd::Zero(x.cols());
        out.trees[static_cast<std::size_t>(b)] =
            grow_label_tree(x, ones, static_cast<int>(m), std::move(rows), options, own, gains, monitor);
        importance.col(b) = gains;
      });
      out.importance = importance.rowwise().mean();
      break;
    }
  }
  out.convergence.seconds = watch.seconds();
  return out;
}

namespace {

// One row's law of labels, as far as the model has one, and the decision.
struct RowAnswer {
  FDecision decision;
  VectorXd marginal;
  MatrixXd draws;
  bool unfinished = false;
};

MatrixXd draw_marginals(const VectorXd& p, int draws, Rng& rng) {
  MatrixXd y(draws, p.size());
  for (Index d = 0; d < draws; ++d)
    for (Index i = 0; i < p.size(); ++i) y(d, i) = rng.uniform() < p[i] ? 1 : 0;
  return y;
}

MatrixXd draw_sample(const LabelSample& sample, int draws, Rng& rng) {
  MatrixXd y = MatrixXd::Zero(draws, sample.labels);
  for (Index d = 0; d < draws; ++d)
    for (const int i : sample.ones[rng.below(sample.ones.size())]) y(d, i) = 1;
  return y;
}

RowAnswer chain_row(const MultilabelFit& fit, ConstVectorRef x, const MultilabelAsk& ask, Rng& rng, Monitor& monitor) {
  RowAnswer out;
  std::vector<VectorXd> scores;
  for (const LabelChain& chain : fit.chains) scores.push_back(chain_scores(chain, x));
  const bool mode = ask.decision.target == FTarget::subset && ask.search != ModeSearch::sample && fit.chains.size() == 1;
  MatrixXd y(ask.n_draws, fit.labels);
  for (Index d = 0; d < y.rows(); ++d) {
    const std::size_t c = static_cast<std::size_t>(d) % fit.chains.size();
    chain_draw(fit.chains[c], scores[c], rng, y.data() + d, y.rows());
  }
  const LabelSample sample(y, VectorXd());
  out.marginal = sample.marginals();
  if (mode) {
    const ChainMode found = chain_mode(fit.chains[0], scores[0], ask.search, ask.beam, ask.max_nodes);
    out.decision.labels = found.labels;
    out.decision.expected = found.probability;
    out.decision.error = nan;
    out.unfinished = !found.finished;
  } else {
    out.decision = decide_sample(sample, ask.decision, monitor);
  }
  if (ask.draws) out.draws = std::move(y);
  return out;
}

RowAnswer row_answer(const MultilabelFit& fit, ConstVectorRef x, int neighbors, const MultilabelAsk& ask, Rng& rng,
                     Monitor& monitor) {
  if (fit.model == MultilabelModel::pcc) return chain_row(fit, x, ask, rng, monitor);
  RowAnswer out;
  if (fit.model == MultilabelModel::efp) {
    SizeTable sizes = sizes_at(fit, x);
    if (ask.calibrate) {
      const double some = (sizes.p.colwise().sum().transpose().array() / sizes.size.array()).sum();
      if (some > 0) sizes.p *= (1 - sizes.none) / some;
    }
    out.marginal = sizes.p.rowwise().sum().cwiseMin(1);
    if (ask.decision.target == FTarget::f) {
      out.decision = decide_sizes(sizes.p, sizes.size, sizes.none, ask.decision.beta);
    } else {
      out.decision = decide_marginals(out.marginal, ask.decision, monitor);
    }
    return out;
  }
  if (fit.model == MultilabelModel::br || fit.model == MultilabelModel::lfp) {
    out.marginal.resize(fit.labels);
    for (Index i = 0; i < fit.labels; ++i) out.marginal[i] = probability(fit.marginal[static_cast<std::size_t>(i)], x);
    FOptions decision = ask.decision;
    if (fit.model == MultilabelModel::br) decision.target = FTarget::hamming;
    out.decision = decide_marginals(out.marginal, decision, monitor);
    if (ask.draws) out.draws = draw_marginals(out.marginal, ask.n_draws, rng);
    return out;
  }
  std::vector<int> rows;
  if (fit.model == MultilabelModel::knn) {
    rows = nearest(fit, x, neighbors);
  } else {
    for (const LabelTree& tree : fit.trees) {
      const auto [from, to] = label_leaf(tree, x);
      rows.insert(rows.end(), tree.rows.begin() + from, tree.rows.begin() + to);
    }
  }
  const LabelSample sample = rows_of(fit.y, rows);
  out.marginal = sample.marginals();
  out.decision = decide_sample(sample, ask.decision, monitor);
  if (ask.draws) out.draws = draw_sample(sample, ask.n_draws, rng);
  return out;
}

}  // namespace

MultilabelAnswer multilabel_predict(ConstMatrixRef x, const MultilabelFit& fit, const MultilabelAsk& ask, Rng& rng,
                                    Monitor& monitor) {
  if (x.cols() != fit.columns) throw InputError("newdata must have the columns of the fit.");
  if (ask.draws && fit.model == MultilabelModel::efp)
    throw InputError("model \"efp\" has no law of label vectors to draw from: it knows P(y_i = 1, s) only.");
  const Index n = x.rows(), m = fit.labels;
  MultilabelAnswer out;
  out.labels.resize(n, m);
  out.marginal.resize(n, m);
  out.expected.resize(n);
  out.error.resize(n);
  if (ask.draws) out.draws.resize(n * ask.n_draws, m);
  std::vector<char> odd(static_cast<std::size_t>(n), 0), unfinished(static_cast<std::size_t>(n), 0);
  const Rng root = rng;
  parallel_for(n, ask.threads, monitor, [&](Index i) {
    Rng own = root.stream(static_cast<std::uint64_t>(i));
    const RowAnswer row = row_answer(fit, x.row(i).transpose(), fit.neighbors, ask, own, monitor);
    out.labels.row(i) = row.decision.labels.transpose();
    out.marginal.row(i) = row.marginal.transpose();
    out.expected[i] = row.decision.expected;
    out.error[i] = row.decision.error;
    odd[static_cast<std::size_t>(i)] = row.decision.consistent ? 0 : 1;
    unfinished[static_cast<std::size_t>(i)] = row.unfinished ? 1 : 0;
    if (ask.draws) out.draws.middleRows(i * ask.n_draws, ask.n_draws) = row.draws.cast<int>();
  });
  out.inconsistent = static_cast<int>(std::count(odd.begin(), odd.end(), 1));
  out.unfinished = static_cast<int>(std::count(unfinished.begin(), unfinished.end(), 1));
  return out;
}

}  // namespace granary::ensemble
