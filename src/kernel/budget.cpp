#include "kernel/budget.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/random/rng.h"
#include "kernel/mira.h"
#include "core/linalg/dense.h"

namespace granary::kernel {

BudgetPerceptron::BudgetPerceptron(const KernelSpec& kernel, Index dimension, bool sparse, const BudgetOptions& options)
    : options_(options),
      outputs_(options.classes == 2 && !options.prototypes ? 1 : options.classes),
      cache_(kernel, dimension, sparse, options.normalise),
      retired_cache_(kernel, dimension, sparse, options.normalise) {
  if (options.classes < 2) throw InputError("There must be two classes at least.");
  if (options.budget < 1) throw InputError("`budget` must be at least 1.");
  if (!(options.beta >= 0)) throw InputError("`beta` must be at least 0.");
  coefficients_.resize(outputs_, 0);
  retired_.coefficients.resize(outputs_, 0);
}

double BudgetPerceptron::margin(ConstVectorRef score, int label) const {
  if (outputs_ == 1) return label == 1 ? score[0] : -score[0];
  double best = -std::numeric_limits<double>::infinity();
  for (Index r = 0; r < outputs_; ++r) {
    if (r != label) best = std::max(best, score[r]);
  }
  return score[label] - best;
}

double BudgetPerceptron::margin_without(Index i) const {
  const int label = static_cast<int>(label_[i]);
  if (outputs_ == 1) {
    const double s = scores_(0, i) - coefficients_(0, i) * self_[i];
    return label == 1 ? s : -s;
  }
  return margin(scores_.col(i) - coefficients_.col(i) * self_[i], label);
}

// tau for an example with these scores; zero where there is nothing to add.
VectorXd BudgetPerceptron::step(const VectorXd& score, int label, double self) const {
  VectorXd tau = VectorXd::Zero(outputs_);
  const double sign = label == 1 ? 1 : -1;
  if (options_.step == Step::mira) {
    if (!(self > 0)) return tau;  // a zero vector: nothing moves its score
    if (outputs_ > 1) return margin(score, label) > options_.beta ? tau : mira_step(score, label, options_.beta, self);
    tau[0] = sign * std::min(1.0, std::max(0.0, (options_.beta - sign * score[0]) / self));
  } else if (outputs_ == 1) {
    tau[0] = sign;
  } else {
    Index best = label == 0 ? 1 : 0;
    for (Index r = 0; r < outputs_; ++r) {
      if (r != label && score[r] > score[best]) best = r;
    }
    tau[label] = 1;
    tau[best] = -1;
  }
  return tau;
}

Trial BudgetPerceptron::learn_point(int label, double id) {
  ++trials_;
  const double self = cache_.self();
  max_self_ = std::max(max_self_, self);
  const VectorXd& k = cache_.row();
  score_.resize(outputs_);
  if (size_ == 0) {
    score_.setZero();
  } else {
    score_.noalias() = coefficients_.leftCols(size_) * k.head(size_);
  }
  const double reached = margin(score_, label);
  if (!std::isfinite(reached) || !std::isfinite(self)) {
    throw NumericalError(
        "A kernel value is not finite.\nScale the columns, lower the degree of the kernel, or use `normalize = TRUE`.");
  }
  Trial trial{reached <= 0, false};
  if (reached > options_.beta) return trial;
  VectorXd tau = step(score_, label, self);
  if (tau.isZero(0)) return trial;
  ++margin_errors_;
  trial.changed = true;

  row_ = k.head(size_);
  if (options_.removal == Removal::projection && projected(tau, row_, self)) return trial;
  if (options_.removal != Removal::none && size_ >= options_.budget) {
    const Index slot = victim();
    row_[slot] = row_[size_ - 1];  // as remove() does with the examples
    row_.conservativeResize(size_ - 1);
    if (options_.removal == Removal::projection) project_out(slot);
    remove(slot);
    if (options_.step == Step::mira) {  // the step starts from what is left
      score_.setZero();
      if (size_ > 0) score_.noalias() = coefficients_.leftCols(size_) * row_;
      tau = step(score_, label, self);
      if (tau.isZero(0)) return trial;
    }
  }
  insert(tau, row_, self, label, id);
  if (options_.removal == Removal::distill) distill();
  largest_ = std::max(largest_, static_cast<double>(size_));
  return trial;
}

void BudgetPerceptron::reserve() {
  if (size_ < id_.size()) return;
  const Index capacity = std::max<Index>(16, 2 * size_);
  coefficients_.conservativeResize(outputs_, capacity);
  for (VectorXd* v : {&self_, &label_, &id_, &born_}) v->conservativeResize(capacity);
  if (keeps_scores()) scores_.conservativeResize(outputs_, capacity);
  if (keeps_gram()) gram_.conservativeResize(capacity, capacity);
  if (options_.removal == Removal::projection) inverse_.conservativeResize(capacity, capacity);
}

void BudgetPerceptron::insert(const VectorXd& tau, const VectorXd& k, double self, int label, double id) {
  reserve();
  const Index n = size_;
  if (keeps_scores()) {
    VectorXd own = tau * self;
    if (n > 0) {
      own.noalias() += coefficients_.leftCols(n) * k;
      scores_.leftCols(n).noalias() += tau * k.transpose();
    }
    scores_.col(n) = own;
  }
  if (keeps_gram()) {
    gram_.col(n).head(n) = k;
    gram_.row(n).head(n) = k.transpose();
    gram_(n, n) = self;
  }
  if (options_.removal == Removal::projection) append_inverse(k, self);
  coefficients_.col(n) = tau;
  self_[n] = self;
  label_[n] = label;
  id_[n] = id;
  born_[n] = trials_;
  cache_.push();
  ++size_;
  note_change();
}

void BudgetPerceptron::remove(Index slot) {
  const Index last = size_ - 1;
  if (options_.average) retire(slot);
  if (keeps_scores()) scores_.leftCols(size_).noalias() -= coefficients_.col(slot) * gram_.col(slot).head(size_).transpose();
  if (slot != last) {
    coefficients_.col(slot) = coefficients_.col(last);
    if (keeps_scores()) scores_.col(slot) = scores_.col(last);
    if (keeps_gram()) {
      gram_.col(slot).head(size_) = gram_.col(last).head(size_);
      gram_.row(slot).head(size_) = gram_.row(last).head(size_);
      gram_(slot, slot) = self_[last];
    }
    for (VectorXd* v : {&self_, &label_, &id_, &born_}) (*v)[slot] = (*v)[last];
  }
  cache_.erase(slot);
  --size_;
  ++removed_;
  note_change();
}

// Maintained numbers drift by rounding; at times that depend on the state only they are made anew.
void BudgetPerceptron::refresh() {
  if (keeps_scores()) scores_.leftCols(size_).noalias() = coefficients_.leftCols(size_) * gram_.topLeftCorner(size_, size_);
  if (options_.removal == Removal::projection && size_ > 0) {
    const Llt factor(gram_.topLeftCorner(size_, size_));
    if (factor.info() == Eigen::Success) {
      inverse_.topLeftCorner(size_, size_) = factor.solve(MatrixXd::Identity(size_, size_));
    }
  }
}

void BudgetPerceptron::note_change() {
  const double every = options_.removal == Removal::projection ? 256 : 8192;
  if (std::fmod(margin_errors_ + removed_, every) == 0) refresh();
  if (!options_.average) return;
  changes_.push_back(trials_);
  while (static_cast<Index>(changes_.size()) > std::max<Index>(1, size_)) changes_.pop_front();
}

// Figure 2. The newest example stays: its margin without itself is at most beta, and at beta it would go at once.
void BudgetPerceptron::distill() {
  std::vector<Index> found;
  for (;;) {
    found.clear();
    Index chosen = -1;
    double best = 0;
    for (Index i = 0; i < size_; ++i) {
      if (born_[i] == trials_) continue;
      const double value = margin_without(i);
      if (!(value >= options_.beta)) continue;
      found.push_back(i);
      const bool better = options_.order == DistillOrder::largest
                              ? value > best || (value == best && chosen >= 0 && born_[i] < born_[chosen])
                              : chosen >= 0 && born_[i] < born_[chosen];
      if (chosen < 0 || better) {
        chosen = i;
        best = value;
      }
    }
    if (chosen < 0) return;
    if (options_.order == DistillOrder::random) {
      chosen = found[Rng::at(options_.seed, static_cast<std::uint64_t>(removed_), 1).below(found.size())];
    }
    remove(chosen);
  }
}

// Whom to remove from a full cache; ties go to the oldest.
Index BudgetPerceptron::victim() const {
  if (options_.removal == Removal::random) {
    return static_cast<Index>(
        Rng::at(options_.seed, static_cast<std::uint64_t>(removed_), 0).below(static_cast<std::uint64_t>(size_)));
  }
  if (options_.removal == Removal::tightest) return tightest();
  Index worst = 0;
  double largest = -std::numeric_limits<double>::infinity();
  for (Index i = 0; i < size_; ++i) {
    double value = 0;
    switch (options_.removal) {
      case Removal::oldest:
        break;
      case Removal::smallest:
        value = -coefficients_.col(i).squaredNorm() * self_[i];
        break;
      case Removal::projection:  // what is lost: |tau|^2 times the squared distance of x_i from the span of the others
        value = -coefficients_.col(i).squaredNorm() / inverse_(i, i);
        break;
      default:
        value = margin_without(i);
    }
    if (value > largest || (value == largest && born_[i] < born_[worst])) {
      largest = value;
      worst = i;
    }
  }
  return worst;
}

// The example whose removal leaves the fewest margin errors in the cache, itself included (Weston, Bordes, Bottou 2005); among
// equals the one with the largest margin without itself.
Index BudgetPerceptron::tightest() const {
  Index chosen = 0;
  Index fewest = size_ + 1;
  double widest = 0;
  VectorXd without(outputs_);
  for (Index i = 0; i < size_; ++i) {
    Index errors = 0;
    for (Index j = 0; j < size_ && errors <= fewest; ++j) {
      without = scores_.col(j) - coefficients_.col(i) * gram_(j, i);
      const double least = options_.step == Step::mira ? options_.beta - 1e-9 * self_[j] : options_.beta;
      if (margin(without, static_cast<int>(label_[j])) <= least) ++errors;
    }
    const double value = margin_without(i);
    const bool same = errors == fewest;
    if (errors < fewest || (same && (value > widest || (value == widest && born_[i] < born_[chosen])))) {
      chosen = i;
      fewest = errors;
      widest = value;
    }
  }
  return chosen;
}

// Projection. With P = K^-1 over the cache, the projection of phi(x_i) on the span of the others has coefficients -P_ji / P_ii,
// and its squared distance from it is 1 / P_ii. Scores of cached examples do not change by it.
void BudgetPerceptron::project_out(Index slot) {
  const Index n = size_, last = n - 1;
  auto p = inverse_.topLeftCorner(n, n);
  const VectorXd column = p.col(slot);
  const double pivot = column[slot];
  const VectorXd tau = coefficients_.col(slot);
  for (Index j = 0; j < n; ++j) {
    if (j != slot) coefficients_.col(j) -= tau * (column[j] / pivot);
  }
  p.noalias() -= column * column.transpose() / pivot;
  if (slot != last) {
    p.col(slot) = p.col(last).eval();
    p.row(slot) = p.row(last).eval();
    p(slot, slot) = p(last, last);
  }
}

void BudgetPerceptron::append_inverse(const VectorXd& k, double self) {
  const Index n = size_;
  const VectorXd a = inverse_.topLeftCorner(n, n) * k;
  const double rest = self - k.dot(a);
  inverse_.topLeftCorner(n, n).noalias() += a * a.transpose() / rest;
  inverse_.col(n).head(n) = -a / rest;
  inverse_.row(n).head(n) = -a.transpose() / rest;
  inverse_(n, n) = 1 / rest;
}

// A new example in the span of the cache (to eight digits) is projected at once, as in the projectron (Orabona, Keshet, Caputo
// 2008).
bool BudgetPerceptron::projected(const VectorXd& tau, const VectorXd& k, double self) {
  const Index n = size_;
  if (n == 0) return !(self > 0);
  const VectorXd a = inverse_.topLeftCorner(n, n) * k;
  if (self - k.dot(a) > 1e-8 * self) return false;
  coefficients_.leftCols(n).noalias() += tau * a.transpose();
  note_change();
  return true;
}

// Averages ---------------------------------------------------------------------------------------------------------------------

// Averages are over the states after trials window_start() + 1, ..., trials_.
double BudgetPerceptron::window_start() const { return removed_ == 0 || changes_.empty() ? 0 : changes_.front() - 1; }

void BudgetPerceptron::retire(Index slot) {
  Index n = retired_.id.size() + 1;
  retired_.coefficients.conservativeResize(outputs_, n);
  retired_.coefficients.col(n - 1) = coefficients_.col(slot);
  const std::array<VectorXd*, 4> parts = {&retired_.label, &retired_.id, &retired_.born, &retired_.died};
  const std::array<double, 4> values = {label_[slot], id_[slot], born_[slot], trials_};
  for (std::size_t v = 0; v < parts.size(); ++v) {
    parts[v]->conservativeResize(n);
    (*parts[v])[n - 1] = values[v];
  }
  retired_cache_.set_centre(cache_.centre());
  retired_cache_.push_from(cache_, slot);
  const double start = window_start();  // those that left before it will not be asked for again
  for (Index i = n - 1; i >= 0; --i) {
    if (retired_.died[i] - 1 > start) continue;
    --n;
    retired_.coefficients.col(i) = retired_.coefficients.col(n).eval();
    for (VectorXd* part : parts) (*part)[i] = (*part)[n];
    retired_cache_.erase(i);
  }
  retired_.coefficients.conservativeResize(outputs_, n);
  for (VectorXd* part : parts) part->conservativeResize(n);
}

MatrixXd BudgetPerceptron::weights(bool average) const {
  MatrixXd w = coefficients_.leftCols(size_);
  if (!average || trials_ == 0) return w;
  const double start = window_start();
  for (Index i = 0; i < size_; ++i) w.col(i) *= (trials_ - std::max(born_[i], start + 1) + 1) / (trials_ - start);
  return w;
}

MatrixXd BudgetPerceptron::retired_weights() const {
  MatrixXd w = retired_.coefficients;
  const double start = window_start();
  for (Index i = 0; i < w.cols(); ++i) {
    const double lived = retired_.died[i] - 1 - std::max(retired_.born[i], start + 1) + 1;
    w.col(i) *= std::max(0.0, lived) / (trials_ - start);
  }
  return w;
}

// Without removals the examples stand in the order of insertion, and the hypotheses of the past are partial sums.
VectorXd BudgetPerceptron::count_votes() {
  VectorXd votes = VectorXd::Zero(outputs_), score = VectorXd::Zero(outputs_);
  const VectorXd& k = cache_.row();
  for (Index i = 0; i < size_; ++i) {
    score += coefficients_.col(i) * k[i];
    const double lived = (i + 1 < size_ ? born_[i + 1] : trials_ + 1) - born_[i];
    if (outputs_ == 1) {
      votes[0] += lived * (score[0] > 0 ? 1 : score[0] < 0 ? -1 : 0);
    } else {
      Index best = 0;
      score.maxCoeff(&best);
      votes[best] += lived;
    }
  }
  return votes / std::max(1.0, trials_);
}

// State ------------------------------------------------------------------------------------------------------------------------

BudgetState BudgetPerceptron::state() const {
  BudgetState s;
  const Index n = size_;
  s.current = {coefficients_.leftCols(n), label_.head(n), id_.head(n), born_.head(n), VectorXd()};
  s.retired = retired_;
  if (keeps_scores()) s.scores = scores_.leftCols(n);
  if (keeps_gram()) s.gram = gram_.topLeftCorner(n, n);
  if (options_.removal == Removal::projection) s.inverse = inverse_.topLeftCorner(n, n);
  s.changes = VectorXd(static_cast<Index>(changes_.size()));
  for (std::size_t i = 0; i < changes_.size(); ++i) s.changes[i] = changes_[i];
  s.trials = trials_;
  s.margin_errors = margin_errors_;
  s.removed = removed_;
  s.largest = largest_;
  s.max_self = max_self_;
  return s;
}

void BudgetPerceptron::restore_rest(const BudgetState& s) {
  const Index n = s.current.id.size();
  const auto fits = [&](const MatrixXd& m) { return m.cols() == n; };
  if (cache_.size() != n || (n > 0 && s.current.coefficients.rows() != outputs_) || !fits(s.current.coefficients) ||
      (keeps_scores() && !fits(s.scores)) || (keeps_gram() && !fits(s.gram)) ||
      (options_.removal == Removal::projection && !fits(s.inverse))) {
    throw InputError("The state of the fit does not belong to its settings.");
  }
  for (Index i = 0; i < n; ++i)
    if (!(s.current.label[i] >= 0 && s.current.label[i] < static_cast<double>(options_.classes)))
      throw InputError("The state of the fit has a label that is no class.");
  coefficients_ = s.current.coefficients;
  label_ = s.current.label;
  id_ = s.current.id;
  born_ = s.current.born;
  self_.resize(n);
  for (Index i = 0; i < n; ++i) self_[i] = cache_.self_of(i);
  scores_ = s.scores;
  gram_ = s.gram;
  inverse_ = s.inverse;
  if (s.retired.id.size() > 0) retired_ = s.retired;
  changes_.assign(s.changes.data(), s.changes.data() + s.changes.size());
  size_ = n;
  trials_ = s.trials;
  margin_errors_ = s.margin_errors;
  removed_ = s.removed;
  largest_ = s.largest;
  max_self_ = s.max_self;
}

}  // namespace granary::kernel
