#include "kernel/structured_svm.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/base/parallel.h"

namespace granary::kernel {
namespace {

constexpr double inner_share = 0.25;  // inner tolerance as a share of eps, and of the violation of the cuts just added
constexpr Index batch = 16;          // dear searches made at once, whatever the number of threads
constexpr int sweep_passes = 100;    // over the working set at the end of a sweep
constexpr int final_passes = 1000;

class CuttingPlanes {
 public:
  CuttingPlanes(const Output& output, Space& space, const StructuredSvmOptions& options, Monitor& monitor)
      : output_(output),
        space_(space),
        options_(options),
        monitor_(monitor),
        search_(options.search()),
        n_(output.size()),
        set_(output, space, options.penalty, options.cost),
        inner_tol_(inner_share * options.eps),
        quiet_(static_cast<std::size_t>(n_), false) {
    result_.slacks = VectorXd::Zero(n_);
    result_.heuristic = !output.exact();
  }

  StructuredSvmResult run() {
    Stopwatch watch;
    Convergence& c = result_.convergence;
    bool complete = true;
    for (c.iterations = 0; c.iterations < options_.max_sweeps && !c.converged;) {
      ++c.iterations;
      const SweepRecord record = sweep(complete);
      if (record.added > 0) {
        if (options_.variant != Variant::full) optimise_all(std::max(inner_tol_, inner_share * record.violation));  // exactness does not pay yet
        set_.prune(options_.prune);
        complete = options_.variant == Variant::full || record.added <= n_ / 100;
      } else if (!record.complete) {
        complete = true;
      } else {
        c.converged = certified(record);
        if (!c.converged && set_.optimise_all(inner_tol_, final_passes, monitor_)) inner_tol_ /= 10;
      }
      result_.trace.back().cuts = set_.size();
    }
    if (!c.converged) final_slacks();
    finish();
    c.gap = result_.primal - result_.dual;
    c.residual = result_.trace.back().violation;
    c.seconds = watch.seconds();
    if (result_.heuristic) c.message = "the search for violated outputs is not exact, so the gap is no certificate";
    return std::move(result_);
  }

 private:
  Cut make_cut(Index i, Label label) const {
    Cut cut;
    cut.loss = output_.loss(i, label);
    if (!std::isfinite(cut.loss) || cut.loss < 0)
      throw InputError(message("a loss must be finite and not negative, not ", cut.loss, "."));
    cut.height = search_.level(cut.loss);
    cut.direction = output_.difference(i, label);
    if (search_.rescale == Rescale::slack) {
      cut.factor = cut.height;
      for (double& value : cut.direction.value) value *= cut.factor;
    }
    cut.label = std::move(label);
    return cut;
  }

  void find(const std::vector<Index>& examples, std::vector<Label>& found) {
    found.resize(examples.size());
    const int threads = output_.threadable() && examples.size() > 1 ? options_.threads : 1;
    parallel_for(static_cast<Index>(examples.size()), threads, monitor_, [&](Index k) {
      found[static_cast<std::size_t>(k)] = output_.most_violated(examples[static_cast<std::size_t>(k)], space_.view(), search_);
    });
  }

  // Steps 4 to 13 of Algorithm 1.
  SweepRecord sweep(bool complete) {
    SweepRecord record;
    record.complete = complete;
    std::vector<Index> visit, examples;
    for (Index i = 0; i < n_; ++i) {
      if (complete || !quiet_[static_cast<std::size_t>(i)]) visit.push_back(i);
    }
    const std::size_t at_once = output_.costly() ? static_cast<std::size_t>(batch) : 1;
    std::vector<Label> found;
    for (std::size_t from = 0; from < visit.size(); from += at_once) {
      monitor_.check();
      examples.assign(visit.begin() + static_cast<std::ptrdiff_t>(from),
                      visit.begin() + static_cast<std::ptrdiff_t>(std::min(visit.size(), from + at_once)));
      find(examples, found);
      for (std::size_t k = 0; k < examples.size(); ++k) consider(examples[k], std::move(found[k]), record);
    }
    record.dual = set_.dual();
    record.primal = primal(result_.slacks);
    record.cuts = set_.size();
    result_.trace.push_back(record);
    return record;
  }

  // An exact search cannot return less than a cut that is known; one made some examples ago may.
  void suspect(double found, double highest) {
    if (!output_.costly() && found < highest - 1e-6 * (1 + std::abs(highest))) result_.heuristic = true;
  }

  // Steps 7 to 12.
  void consider(Index i, Label label, SweepRecord& record) {
    const CutValues value = set_.values(i);
    const double highest = set_.highest(i, value), xi = std::max(0.0, highest);
    result_.slacks[i] = xi;
    quiet_[static_cast<std::size_t>(i)] = true;
    if (label.empty()) return;
    for (const Cut& known : set_.cuts(i)) {
      if (known.label != label) continue;  // else its violation is part of xi
      suspect(value(known), highest);
      return;
    }
    Cut cut = make_cut(i, std::move(label));
    const double h = value(cut);
    if (!std::isfinite(h)) throw NumericalError("the scores of an output are not finite. Rescale the features.");
    suspect(h, highest);
    const double violation = h - xi;
    record.violation = std::max(record.violation, violation);
    result_.slacks[i] = std::max(xi, h);
    if (!(violation > options_.eps)) return;
    quiet_[static_cast<std::size_t>(i)] = false;
    const double before = options_.variant == Variant::full ? set_.dual() : 0;
    admit(i, std::move(cut));
    if (options_.variant == Variant::full) {
      set_.optimise_all(inner_tol_, final_passes, monitor_);
      result_.history.push_back({i, violation, set_.dual() - before});
    } else {
      set_.optimise(i, inner_tol_ / 2);
    }
    ++record.added;
  }

  // At the end of a sweep. Where the scores of all outputs are at hand, violated ones need not wait for the next sweep.
  void optimise_all(double tol) {
    set_.optimise_all(tol, sweep_passes, monitor_, [&](Index i, const CutValues& value) { return enlarge(i, value); });
  }

  bool enlarge(Index i, const CutValues& value) {
    Label label = output_.most_violated_of(i, value.scores(), search_);
    if (label.empty()) return false;
    const double h = search_.violation(output_.loss(i, label), value.ahead(label));
    if (!(h > options_.eps) || !(h - std::max(0.0, set_.highest(i, value)) > options_.eps)) return false;
    admit(i, make_cut(i, std::move(label)));
    return true;
  }

  void admit(Index i, Cut cut) {
    const double factor = cut.factor > 0 ? cut.factor : 1;
    const double radius = std::sqrt(std::max(0.0, space_.inner(cut.direction, cut.direction))) / factor;
    result_.radius = std::max(result_.radius, radius);
    set_.add(i, std::move(cut));
    ++result_.cuts_added;
  }

  double primal(const VectorXd& slacks) const {
    const double norm2 = space_.norm2(), share = options_.cost / static_cast<double>(n_);
    if (options_.penalty == SlackPenalty::linear) return 0.5 * norm2 + share * slacks.sum();
    if (options_.penalty == SlackPenalty::squared) return 0.5 * norm2 + 0.5 * share * slacks.squaredNorm();
    // Without slacks w / (1 - largest violation) satisfies every constraint.
    const double worst = slacks.size() > 0 ? slacks.maxCoeff() : 0;
    return worst < 1 ? 0.5 * norm2 / ((1 - worst) * (1 - worst)) : std::numeric_limits<double>::infinity();
  }

  // What the gap may be once a complete sweep has added nothing.
  double gap_bound() const {
    const double eps = options_.eps, cost = options_.cost, n = static_cast<double>(n_);
    if (options_.penalty == SlackPenalty::linear) return cost * eps;
    if (options_.penalty == SlackPenalty::squared) return cost / n * eps * result_.slacks.sum() + 0.5 * cost * eps * eps;
    const double theta = set_.dual();
    return theta * (1 / ((1 - eps) * (1 - eps)) - 1) * (1 + inner_share) + 1e-12 * theta;
  }

  bool certified(const SweepRecord& record) const {
    return record.primal - record.dual <= gap_bound() * (1 + 1e-9) + 1e-13 * std::abs(record.dual);
  }

  void final_slacks() {
    for (Index i = 0; i < n_; ++i) {
      monitor_.check();
      const Label label = output_.most_violated(i, space_.view(), search_);
      const CutValues value = set_.values(i);
      result_.slacks[i] = std::max(0.0, set_.highest(i, value));
      if (!label.empty()) result_.slacks[i] = std::max(result_.slacks[i], value(make_cut(i, label)));
    }
  }

  void finish() {
    result_.weights = space_.weights();
    result_.dual = set_.dual();
    result_.primal = primal(result_.slacks);
    result_.gap_bound = gap_bound();
    result_.cuts = set_.size();
    result_.losses.resize(n_);
    for (Index i = 0; i < n_; ++i) {
      monitor_.check();
      const Label predicted = output_.predict(i, space_.view());
      result_.losses[i] = predicted.empty() ? output_.largest_loss(i) : output_.loss(i, predicted);
      result_.working_set.push_back(set_.release(i));
      for (const Cut& cut : result_.working_set.back()) result_.support += cut.b > 0 ? 1 : 0;
    }
  }

  const Output& output_;
  Space& space_;
  const StructuredSvmOptions& options_;
  Monitor& monitor_;
  const Search search_;
  const Index n_;
  CutSet set_;
  double inner_tol_;
  std::vector<bool> quiet_;
  StructuredSvmResult result_;
};

}  // namespace

StructuredSvmResult structured_svm(const Output& output, Space& space, const StructuredSvmOptions& options, Monitor& monitor) {
  if (output.size() < 1) throw InputError("there must be at least one example.");
  if (!(options.cost > 0) || !std::isfinite(options.cost)) throw InputError("the cost must be a positive number.");
  if (!(options.eps > 0)) throw InputError("eps must be positive.");
  if (options.penalty == SlackPenalty::none && options.eps >= 1) throw InputError("eps must be below 1 for a hard margin.");
  if (options.max_sweeps < 1) throw InputError("at least one sweep is needed.");
  return CuttingPlanes(output, space, options, monitor).run();
}

double cut_bound(const StructuredSvmOptions& options, double n, double radius, double largest_loss) {
  const double loss = options.rescale == Rescale::none ? 1 : largest_loss, c = options.cost;
  const double r2 = radius * radius, eps = options.eps;
  const bool slack = options.rescale == Rescale::slack;
  if (options.penalty == SlackPenalty::none) return std::numeric_limits<double>::infinity();
  if (options.penalty == SlackPenalty::linear) {
    return std::max(2 * n * loss / eps, 8 * c * loss * (slack ? loss * loss : 1) * r2 / (eps * eps));
  }
  return (c * loss * (slack ? loss : 1) * r2 + n * loss) / (eps * eps);
}

double gain_bound(const StructuredSvmOptions& options, double n, double radius, double largest_loss) {
  const double loss = options.rescale == Rescale::slack ? largest_loss : 1, c = options.cost;
  const double r2 = radius * radius, eps = options.eps;
  if (options.penalty == SlackPenalty::none) return eps * eps / (2 * r2);  // Corollary 11
  if (options.penalty == SlackPenalty::linear) return std::min(c * eps / (2 * n), eps * eps / (8 * loss * loss * r2));
  return eps * eps / (2 * (loss * r2 + n / c));
}

ActiveCuts StructuredSvmResult::active() const {
  ActiveCuts out;
  for (std::size_t i = 0; i < working_set.size(); ++i) {
    for (const Cut& cut : working_set[i]) {
      if (!(cut.b > 0)) continue;
      out.cuts.push_back({static_cast<Index>(i), cut.loss, cut.b * cut.factor});
      out.labels.push_back(cut.label);
    }
  }
  return out;
}

}  // namespace granary::kernel
