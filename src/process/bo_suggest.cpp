#include "process/bo_suggest.h"

#include <algorithm>
#include <cmath>

namespace granary::process {

namespace {

using Type = BoCriterion::Type;

struct Choice {
  VectorXd x;
  double value = 0;
  std::string used;
};

// The points with the lowest responses: the criterion is worth refining around them.
MatrixXd best_points(const BoSurrogate& surrogate, Index count) {
  const VectorXd& y = surrogate.y();
  std::vector<Index> order(y.size());
  for (Index i = 0; i < y.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return y[a] < y[b]; });
  count = std::min(count, y.size());
  MatrixXd x(count, surrogate.x().cols());
  for (Index i = 0; i < count; ++i) x.row(i) = surrogate.x().row(order[i]);
  return x;
}

bool differentiable(const std::vector<BoSurrogate>& surrogates) {
  for (const BoSurrogate& surrogate : surrogates)
    if (!surrogate.differentiable()) return false;
  return true;
}

class Chooser {
 public:
  Chooser(const std::vector<BoSurrogate>& surrogates, const BoSpace& space, const BoSuggestOptions& options, Rng& rng,
          Monitor& monitor)
      : surrogates_(surrogates), space_(space), options_(options), rng_(rng), monitor_(monitor) {
    contexts_ = bo_contexts(surrogates, options.noisy);
    known_ = best_points(surrogates.front(), 3);
  }

  Choice choose(const BoCriterion& criterion) {
    Choice choice;
    choice.used = name_of(criterion.type);
    BoMaximum found = maximise(criterion);
    if (found.x.size() > 0 && found.flat) {
      BoCriterion spread;
      spread.type = Type::uncertainty;
      choice.used = "uncertainty";
      if (criterion.type != Type::uncertainty) found = maximise(spread);
      if (found.flat) return farthest();
    }
    choice.x = found.x;
    choice.value = found.value;
    return choice;
  }
  Choice farthest() {
    Choice choice;
    choice.used = "distance";
    choice.x = bo_farthest(space_, surrogates_.front().x(), rng_, monitor_);
    return choice;
  }
  Choice random() {
    Choice choice;
    choice.used = "random";
    const MatrixXd x = bo_random_points(space_, 1, rng_, monitor_);
    if (x.rows() > 0) choice.x = x.row(0).transpose();
    return choice;
  }

 private:
  BoMaximum maximise(const BoCriterion& criterion) {
    const BoAcquisition acquisition(criterion, surrogates_, contexts_);
    if (criterion.draws()) {
      BoMaximum best;
      const MatrixXd cover = bo_cover(space_, known_, options_.cover, rng_, monitor_);
      if (cover.rows() == 0) return best;
      const VectorXd values = acquisition.sampled_values(cover, rng_);
      Index top;
      best.value = values.maxCoeff(&top);
      best.x = cover.row(top).transpose();
      best.flat = cover.rows() > 1 && !(best.value > values.minCoeff());
      return best;
    }
    const BatchObjective values = [&](const MatrixXd& x) { return acquisition.values(x); };
    BoGradient gradient;
    if (differentiable(surrogates_)) gradient = [&](const VectorXd& x, VectorXd& g) { return acquisition.value_gradient(x, g); };
    return bo_maximise(values, gradient, space_, known_, options_.search, rng_, monitor_);
  }

  const std::vector<BoSurrogate>& surrogates_;
  const BoSpace& space_;
  const BoSuggestOptions& options_;
  Rng& rng_;
  Monitor& monitor_;
  std::vector<BoContext> contexts_;
  MatrixXd known_;
};

bool constant(const VectorXd& y) { return y.size() > 1 && y.maxCoeff() - y.minCoeff() <= 1e-12 * y.cwiseAbs().maxCoeff(); }

// Without noise a second evaluation of a point teaches nothing: a discrete space becomes the list of its points that were not
// tried, while there are any.
BoSpace untried(const BoSpace& space, const MatrixXd& known) {
  const MatrixXd all = space.candidates.rows() > 0 ? space.candidates : space.all();
  std::vector<Index> fresh;
  for (Index i = 0; i < all.rows(); ++i) {
    bool tried = false;
    for (Index j = 0; j < known.rows() && !tried; ++j) tried = (all.row(i) - known.row(j)).cwiseAbs().maxCoeff() < 1e-9;
    if (!tried) fresh.push_back(i);
  }
  BoSpace rest = space;
  if (fresh.empty()) return rest;
  rest.candidates.resize(static_cast<Index>(fresh.size()), all.cols());
  for (std::size_t i = 0; i < fresh.size(); ++i) rest.candidates.row(i) = all.row(fresh[i]);
  return rest;
}

}  // namespace

VectorXd bo_hedge_probabilities(ConstVectorRef gains, double eta, bool bounded) {
  const double range = gains.maxCoeff() - gains.minCoeff();
  const double rate = bounded ? (range > 0 ? eta / range : 0) : eta;
  const Eigen::ArrayXd weights = (rate * (gains.array() - gains.maxCoeff())).exp();
  return weights / weights.sum();
}

BoSuggestion bo_suggest(const BoCriterion& criterion, std::vector<BoSurrogate> surrogates, const BoSpace& space,
                        const BoSuggestOptions& options, Rng& rng, Monitor& monitor) {
  BoSuggestion result;
  const Index d = space.dimension();
  result.x.resize(options.n, d);
  result.value.resize(options.n);
  Index count = 0;
  for (; count < options.n; ++count) {
    monitor.check();
    const bool listed = !options.noisy && (space.candidates.rows() > 0 || space.enumerable());
    const BoSpace here = listed ? untried(space, surrogates.front().x()) : space;
    Chooser chooser(surrogates, here, options, rng, monitor);
    const bool random = (options.force_random && count == 0) || (options.epsilon > 0 && rng.uniform() < options.epsilon);
    Choice choice;
    MatrixXd nominees(0, d);
    if (random) {
      choice = chooser.random();
    } else if (constant(surrogates.front().y()) && !criterion.draws()) {
      choice = chooser.farthest();
    } else if (criterion.type == Type::hedge) {
      const Index arms = static_cast<Index>(criterion.children.size());
      std::vector<Choice> choices;
      nominees.resize(arms, d);
      for (const BoCriterion& child : criterion.children) {
        choices.push_back(chooser.choose(child));
        if (choices.back().x.size() == 0) break;
        nominees.row(static_cast<Index>(choices.size()) - 1) = choices.back().x.transpose();
      }
      if (static_cast<Index>(choices.size()) < arms || choices.back().x.size() == 0) break;
      choice = choices[rng.categorical(bo_hedge_probabilities(options.gains, criterion.eta, criterion.bounded))];
    } else {
      choice = chooser.choose(criterion);
    }
    if (choice.x.size() == 0) break;
    result.x.row(count) = choice.x.transpose();
    result.value[count] = choice.value;
    result.used.push_back(choice.used);
    result.nominees.push_back(std::move(nominees));
    if (count + 1 == options.n) continue;
    double believed = 0;
    for (const BoSurrogate& surrogate : surrogates) believed += surrogate.predict(choice.x.transpose()).location[0];
    believed /= static_cast<double>(surrogates.size());
    for (BoSurrogate& surrogate : surrogates) surrogate.append(choice.x, believed);
  }
  result.x.conservativeResize(count, Eigen::NoChange);
  result.value.conservativeResize(count);
  return result;
}

}  // namespace granary::process
