#include "process/sparse_learn.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/linalg/greedy_variance.h"

namespace granary::process {

SparseRows::SparseRows(const SparseData& data, const std::vector<Index>* subset) {
  std::vector<Index> order;
  if (subset != nullptr) order = *subset;
  if (subset == nullptr && !data.blocks.empty()) {
    order.resize(static_cast<std::size_t>(data.x.rows()));
    std::iota(order.begin(), order.end(), Index{0});
  }
  if (!data.blocks.empty()) {
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return data.blocks[a] < data.blocks[b]; });
    for (std::size_t i = 0; i < order.size(); ++i)
      if (i == 0 || data.blocks[order[i]] != data.blocks[order[i - 1]]) problem_.blocks.push_back(static_cast<Index>(i));
    problem_.blocks.push_back(static_cast<Index>(order.size()));
  }
  if (order.empty() && subset == nullptr) {
    x_ = data.x;
    targets_ = data.targets;
  } else {
    x_.resize(static_cast<Index>(order.size()), data.x.cols());
    targets_.resize(x_.rows(), data.targets.cols());
    for (Index i = 0; i < x_.rows(); ++i) {
      x_.row(i) = data.x.row(order[i]);
      targets_.row(i) = data.targets.row(order[i]);
    }
  }
  problem_.x = &x_;
  problem_.targets = &targets_;
  problem_.method = data.method;
  problem_.threads = data.threads;
}

MatrixXd inducing_box(ConstMatrixRef x) {
  MatrixXd box(2, x.cols());
  for (Index j = 0; j < x.cols(); ++j) {
    const double low = x.col(j).minCoeff(), high = x.col(j).maxCoeff(), margin = 0.1 * (high - low);
    box(0, j) = low - margin;
    box(1, j) = high + margin;
  }
  return box;
}

std::vector<Index> independent_inputs(const Kernel& kernel, ConstMatrixRef inducing, Monitor& monitor) {
  const double prior = kernel.diagonal(inducing, false).mean();
  GreedyVarianceOptions options;
  options.max_picks = inducing.rows();
  options.noise = 1e-14 * prior;
  options.tol = 0;
  options.repeated = true;
  const GreedyVariance greedy = greedy_variance(kernel, inducing, options, monitor);
  std::vector<Index> kept;
  for (std::size_t k = 0; k < greedy.picks.size(); ++k)
    if (greedy.variances[static_cast<Index>(k)] > 1e-9 * prior) kept.push_back(greedy.picks[k]);
  std::sort(kept.begin(), kept.end());
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
  return kept;
}

namespace {

constexpr Index many_rows = 20000;

bool is_greedy(InducingRule rule) { return rule != InducingRule::random && rule != InducingRule::kmeans; }

// About `size` rows, whole blocks where there are any.
std::vector<Index> sampled_rows(const SparseData& data, Index size, Rng& rng) {
  const int n = static_cast<int>(data.x.rows());
  std::vector<Index> out;
  if (data.blocks.empty()) {
    for (const int i : rng.sample_without_replacement(n, static_cast<int>(std::min<Index>(n, size)))) out.push_back(i);
    std::sort(out.begin(), out.end());
    return out;
  }
  std::vector<int> names = data.blocks;
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  rng.shuffle(names);
  std::vector<int> wanted;
  Index count = 0;
  for (const int name : names) {
    if (count >= size) break;
    wanted.push_back(name);
    count += std::count(data.blocks.begin(), data.blocks.end(), name);
  }
  std::sort(wanted.begin(), wanted.end());
  for (Index i = 0; i < n; ++i)
    if (std::binary_search(wanted.begin(), wanted.end(), data.blocks[i])) out.push_back(i);
  return out;
}

// The steps share the data, the starting values, and where the random numbers come from.
class Learner {
 public:
  Learner(const SparseData& data, const SparseLearnOptions& options, const Rng& rng, Monitor& monitor)
      : data_(data), options_(options), rng_(rng), monitor_(monitor), kernel_(data.kernel, data.x.cols()), starts_(options.starts) {}

  SparseLearnResult run() {
    return data_.method == SparseMethod::exact ? exact() : sparse();
  }

 private:
  // The first draw is from the stream itself, later ones from children of it.
  Selection choose(const VectorXd& parameters) {
    Rng own = selections_ == 0 ? rng_ : rng_.stream(selections_);
    ++selections_;
    Kernel at = kernel_;
    at.set_parameters(parameters.head(kernel_.n_parameters()));
    SelectOptions how;
    how.rule = options_.select;
    how.m = options_.m;
    how.threads = data_.threads;
    return select_inducing(data_.x, options_.residual, at, std::exp(parameters[parameters.size() - 1]), how, own, monitor_);
  }

  SparseFitResult fit(const SparseProblem& problem, const MatrixXd& inducing, bool move, bool learn, double tol) const {
    SparseFitOptions how;
    how.learn_kernel = learn;
    how.learn_noise = learn && options_.learn_noise;
    how.learn_inducing = move;
    how.starts = starts_;
    how.lower = options_.lower;
    how.upper = options_.upper;
    how.prior = options_.prior.value_or(LogPrior());
    how.box = inducing_box(data_.x);
    how.n_starts = options_.n_starts;
    how.max_iter = options_.max_iter;
    how.tol = tol;
    return sparse_fit(problem, kernel_, inducing, how, monitor_);
  }

  SparseLearnResult packed(SparseFitResult&& fit, std::vector<Index> rows, int dropped) const {
    SparseLearnResult out{fit.parameters, std::move(fit.state), std::move(fit.trace), std::move(rows), dropped, {}, fit.convergence};
    const Index last = out.parameters.size() - 1;
    for (Index k = 0; k <= last; ++k) {
      const bool free = k < last ? options_.learn : options_.learn && options_.learn_noise;
      if (free && (out.parameters[k] < options_.lower[k] + 1e-6 || out.parameters[k] > options_.upper[k] - 1e-6)) out.on_bound.push_back(k);
    }
    return out;
  }

  SparseLearnResult exact() {
    const MatrixXd none(0, data_.x.cols());
    const auto on_rows = [&](const std::vector<Index>* rows) {
      return fit(SparseRows(data_, rows).problem(), none, false, options_.learn, options_.tol);
    };
    if (!options_.subset) return packed(on_rows(nullptr), {}, 0);
    Selection chosen = choose(starts_.col(0));
    SparseFitResult found = on_rows(&chosen.rows);
    if (options_.learn && is_greedy(options_.select)) {
      chosen = choose(found.parameters);
      starts_ = found.parameters;
      found = on_rows(&chosen.rows);
    }
    return packed(std::move(found), chosen.rows, 0);
  }

  SparseLearnResult sparse() {
    const SparseRows all(data_);
    const bool given = options_.inducing.rows() > 0, large = data_.x.rows() > many_rows;
    Selection chosen;
    if (given) chosen.inducing = options_.inducing;
    else chosen = choose(starts_.col(0));
    if (options_.learn && large) {
      Rng own = rng_.stream(1001);
      const std::vector<Index> some = sampled_rows(data_, std::max<Index>(5000, 10 * chosen.inducing.rows()), own);
      const SparseRows sample(data_, &some);
      starts_ = fit(sample.problem(), chosen.inducing, false, true, std::max(options_.tol, 1e-4)).parameters;
    }
    if (options_.learn && !given && is_greedy(options_.select)) {
      if (!large) starts_ = fit(all.problem(), chosen.inducing, false, true, options_.tol).parameters;
      chosen = choose(starts_.col(0));
    }
    SparseFitResult found = fit(all.problem(), chosen.inducing, options_.learn_inducing, options_.learn, options_.tol);
    int dropped = 0;
    if ((options_.learn_inducing || found.state.jitter > 1e-7) && !options_.test) dropped = leave_out(all.problem(), found, chosen);
    return packed(std::move(found), chosen.rows, dropped);
  }

  // Redundant inducing inputs go where the evidence does not fall by more than rounding: an optimum is never given away for a tidier
  // set of inputs.
  int leave_out(const SparseProblem& problem, SparseFitResult& found, Selection& chosen) {
    Kernel at = kernel_;
    at.set_parameters(found.parameters.head(kernel_.n_parameters()));
    const std::vector<Index> kept = independent_inputs(at, found.inducing, monitor_);
    if (static_cast<Index>(kept.size()) == found.inducing.rows()) return 0;
    MatrixXd fewer(static_cast<Index>(kept.size()), found.inducing.cols());
    for (Index i = 0; i < fewer.rows(); ++i) fewer.row(i) = found.inducing.row(kept[i]);
    starts_ = found.parameters;
    SparseFitResult smaller = fit(problem, fewer, false, false, options_.tol);
    const double was = found.state.log_evidence, is = smaller.state.log_evidence;
    if (!(is >= was - 1e-4 * (1 + std::abs(was)))) return 0;
    const int dropped = static_cast<int>(found.inducing.rows() - fewer.rows());
    if (!chosen.rows.empty()) {
      std::vector<Index> rows;
      for (const Index k : kept) rows.push_back(chosen.rows[k]);
      chosen.rows = std::move(rows);
    }
    smaller.trace = found.trace;
    smaller.convergence = found.convergence;
    found = std::move(smaller);
    return dropped;
  }

  const SparseData& data_;
  const SparseLearnOptions& options_;
  const Rng& rng_;
  Monitor& monitor_;
  Kernel kernel_;
  MatrixXd starts_;
  std::uint64_t selections_ = 0;
};

}  // namespace

SparseLearnResult sparse_learn(const SparseData& data, const SparseLearnOptions& options, const Rng& rng, Monitor& monitor) {
  require(options.starts.rows() == options.lower.size() && options.starts.cols() > 0, "the starting values do not fit their bounds.");
  return Learner(data, options, rng, monitor).run();
}

ParameterSample sparse_parameter_sample(const SparseData& data, const SparseSampleData& at, const ParameterSampleOptions& options,
                                        const Rng& rng, Monitor& monitor) {
  const SparseRows rows(data);
  const Kernel start(data.kernel, data.x.cols());
  const Index p = at.parameters.size() - 1;
  const LogEvidence log_evidence = [&](const VectorXd& theta, VectorXd* gradient) {
    Kernel own = start;
    own.set_parameters(theta.head(p));
    const double noise = std::exp(at.learn_noise ? theta[p] : at.parameters[p]);
    try {
      SparseGradient slope;
      const SparseState state = sparse_state(rows.problem(), own, noise, at.inducing, SparseJitter(), monitor,
                                             gradient == nullptr ? nullptr : &slope, false);
      if (gradient != nullptr) {
        gradient->head(p) = slope.parameters;
        if (at.learn_noise) (*gradient)[p] = slope.log_noise;
      }
      return state.log_evidence;
    } catch (const NumericalError&) {
      return -std::numeric_limits<double>::infinity();
    }
  };
  return sample_parameters(log_evidence, at.parameters.head(p + at.learn_noise), options, rng, monitor);
}

SparsePrediction sparse_prediction(const SparseKept& fit, const SparseData* rows, const SparsePoints& at,
                                   const SparsePredictOptions& options, Monitor& monitor) {
  const Kernel kernel = fit.process();
  if (rows == nullptr) return sparse_predict(fit.state, kernel, at.x, at.trend, options, monitor);
  const SparseRows own(*rows);
  if (options.augment) return augmented_predict(fit.state, own.problem(), kernel, at.x, at.trend, options.threads, monitor);
  return nystrom_predict(fit.state, own.problem(), kernel, at.x, at.trend, options, monitor);
}

SparseState sparse_grow(const SparseKept& fit, const SparseData& rows, Monitor& monitor) {
  const SparseRows more(rows);
  SparseState grown = fit.state;
  sparse_add_rows(grown, more.problem(), fit.process(), monitor);
  return grown;
}

}  // namespace granary::process
