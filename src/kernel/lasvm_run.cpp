#include "kernel/lasvm_run.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "core/base/errors.h"

namespace granary::kernel {

namespace {

constexpr Index autoactive_most = 100, autoactive_near = 5;

template <class Real>
class Run {
 public:
  Run(KernelRows& rows, LasvmData& data, const LasvmState& start, const LasvmPlan& plan, const LasvmOptions& options, Rng& rng,
      Monitor& monitor)
      : data_(data),
        plan_(plan),
        options_(options),
        rng_(rng),
        monitor_(monitor),
        learner_(rows, data, start, options, monitor),
        held_(start.alpha.rows()),
        used_(data.label.size(), 0) {}

  LasvmResult run() {
    const Stopwatch watch;
    const double total = static_cast<double>(plan_.order.size()) * plan_.epochs;
    for (int epoch = 0; epoch < plan_.epochs && !full(); ++epoch) {
      pool_ = plan_.order;
      if (epoch > 0 && plan_.shuffle) rng_.shuffle(pool_);
      if (epoch == 0) take_seeds();
      std::reverse(pool_.begin(), pool_.end());  // the next one is the last
      while (!pool_.empty() && !full()) {
        const Index row = next();
        if (row < 0) break;
        visit(row);
        monitor_.progress(std::min(0.99, static_cast<double>(out_.visited.size()) / total));
      }
    }
    const bool finished = !plan_.finish || learner_.finish();
    if (std::is_same_v<Real, float>) learner_.certify();
    out_.label = data_.label;
    out_.state = learner_.state();
    certify(finished);
    out_.convergence.seconds = watch.seconds();
    return std::move(out_);
  }

 private:
  // The machine is optimal over S where it was finished; a row that was let go can still violate the optimality of the whole. So
  // all rows are looked at whose label the machine has had and that are at hand.
  void certify(bool finished) {
    Convergence& convergence = out_.convergence;
    convergence.iterations = static_cast<int>(std::min<double>(out_.state.steps, std::numeric_limits<int>::max()));
    convergence.residual = learner_.delta();
    convergence.reason = Stop::iterations;
    out_.solved = finished && learner_.delta() <= options_.tol;
    if (!finished) {
      convergence.message = message("finishing took more than ", options_.max_iter, " steps, delta is ", learner_.delta());
    } else if (!out_.solved) {
      convergence.message = message("not finished: delta is ", learner_.delta());
    }
    if (!plan_.finish && !out_.solved) return;
    std::vector<Index> known;
    for (Index row = 0; row < static_cast<Index>(used_.size()); ++row)
      if (used_[static_cast<std::size_t>(row)] || row < held_) known.push_back(row);
    out_.reach = learner_.reach(known);
    convergence.gap = out_.reach.gap;
    convergence.residual = std::max(out_.reach.violation, learner_.delta());
    convergence.converged = out_.solved && convergence.residual <= options_.tol;
    if (convergence.converged) convergence.reason = Stop::solved;
  }

  bool full() const { return static_cast<double>(out_.labels_used.size()) >= plan_.max_labels; }

  // The first rows of each class, as many as are wanted. Where labels cost something (they are asked for, the machine chooses
  // them, or their number is limited), one that was looked at is used, and counted: its row comes next.
  void take_seeds() {
    std::vector<Index> later, asked;
    bool enough = learner_.seeded_enough();
    const std::size_t few = static_cast<std::size_t>(options_.seeds * data_.classes());
    for (const Index row : pool_) {
      if (enough || full()) {
        later.push_back(row);
        continue;
      }
      const bool costly = data_.label[row] < 0 || plan_.select == LasvmSelection::active ||
                          plan_.select == LasvmSelection::autoactive || std::isfinite(plan_.max_labels);
      if (data_.label[row] < 0) data_.label[row] = data_.ask(row);
      if (costly) {
        use_label(row);
        if (out_.labels_used.size() >= few && learner_.classes_seeded() >= 2) enough = true;  // a rare class is not waited for
      }
      if (learner_.wants_seed(data_.label[row])) {
        const VectorXd scores = learner_.evaluate(row);
        const int mistake = learner_.learnt() ? wrong(scores, row) : -1;
        learner_.seed(row);
        use_label(row);
        record(row, mistake, true);
        enough = enough || learner_.seeded_enough();
      } else {
        (costly ? asked : later).push_back(row);
      }
      monitor_.check();
    }
    asked.insert(asked.end(), later.begin(), later.end());
    pool_ = std::move(asked);
  }

  int wrong(const VectorXd& scores, Index row) const { return lasvm_class(scores + learner_.bias()) != data_.label[row]; }

  void use_label(Index row) {
    if (used_[static_cast<std::size_t>(row)]) return;
    used_[static_cast<std::size_t>(row)] = 1;
    out_.labels_used.push_back(row);
  }

  void record(Index row, int wrong, bool changed) {
    out_.visited.push_back(row);
    out_.wrong.push_back(wrong);
    out_.changed.push_back(changed);
    out_.support.push_back(static_cast<int>(learner_.support()));
    out_.delta.push_back(learner_.delta());
    out_.objective.push_back(learner_.objective());
    out_.labels.push_back(static_cast<double>(out_.labels_used.size()));
    if (next_snapshot_ < plan_.snapshots.size() && static_cast<double>(out_.visited.size()) >= plan_.snapshots[next_snapshot_]) {
      take_snapshot();
      ++next_snapshot_;
    }
  }

  void visit(Index row) {
    const bool learnt = learner_.learnt();
    const VectorXd scores = learner_.evaluate(row);
    if (data_.label[row] < 0) data_.label[row] = data_.ask(row);
    use_label(row);
    const int mistake = learnt ? wrong(scores, row) : -1;
    const bool changed = learner_.process(row);
    learner_.reprocess();
    record(row, mistake, changed);
  }

  void take_snapshot() {
    const auto before = learner_.snapshot();
    if (plan_.finish_snapshots) learner_.finish();
    LasvmSnapshot now;
    now.visits = static_cast<double>(out_.visited.size());
    now.labels = static_cast<double>(out_.labels_used.size());
    now.rows = learner_.support_rows();
    now.alpha = learner_.support_alpha();
    now.b = learner_.bias();
    out_.snapshots.push_back(std::move(now));
    learner_.restore(before);
  }

  Index take(std::size_t at) {
    const Index row = pool_[at];
    pool_[at] = pool_.back();
    pool_.pop_back();
    return row;
  }

  // The row to visit next, out of the pool; -1 to stop.
  Index next() {
    switch (plan_.select) {
      case LasvmSelection::random:
        return take(pool_.size() - 1);
      case LasvmSelection::autoactive:
        return next_autoactive();
      default:
        return next_of_candidates();
    }
  }

  // Random rows of the pool are brought to its end, `count` of them behind the `done` ones that are there.
  std::vector<Index> draw(std::size_t done, std::size_t count) {
    std::vector<Index> out;
    for (std::size_t k = done; k < done + count; ++k) {
      const std::size_t last = pool_.size() - 1 - k;
      std::swap(pool_[rng_.below(last + 1)], pool_[last]);
      out.push_back(pool_[last]);
    }
    return out;
  }

  Index next_of_candidates() {
    const bool all = plan_.candidates >= static_cast<double>(pool_.size());
    const std::vector<Index> drawn = draw(0, all ? pool_.size() : static_cast<std::size_t>(plan_.candidates));
    std::size_t best = 0;
    double least = std::numeric_limits<double>::infinity();
    constexpr std::size_t width = 64;
    for (std::size_t from = 0; from < drawn.size(); from += width) {
      const std::size_t to = std::min(drawn.size(), from + width);
      const MatrixXd scores =
          learner_.evaluate(std::vector<Index>(drawn.begin() + static_cast<Index>(from), drawn.begin() + static_cast<Index>(to)));
      for (std::size_t k = from; k < to; ++k) {
        const double value = criterion(scores.col(static_cast<Index>(k - from)) + learner_.bias(), drawn[k]);
        if (value < least) {
          least = value;
          best = k;
        }
      }
      monitor_.check();
    }
    if (stops(least)) return -1;
    return take(pool_.size() - 1 - best);
  }

  double criterion(const VectorXd& scores, Index row) const {
    return plan_.select == LasvmSelection::gradient ? lasvm_margin(scores, data_.label[row]) : lasvm_lead(scores);
  }

  bool stops(double least) {
    if (plan_.early_stop && plan_.select != LasvmSelection::gradient && learner_.learnt() && least >= 1 + learner_.delta() / 2)
      out_.stopped_early = true;
    return out_.stopped_early;
  }

  Index next_autoactive() {
    constexpr std::size_t width = 10;
    const std::size_t most = std::min<std::size_t>(pool_.size(), autoactive_most);
    const double near = 1 + learner_.delta() / 2;
    Index close = 0;
    std::size_t best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t done = 0; done < most && close < autoactive_near; done += width) {
      const std::vector<Index> drawn = draw(done, std::min(width, most - done));
      const MatrixXd scores = learner_.evaluate(drawn);
      for (std::size_t k = 0; k < drawn.size() && close < autoactive_near; ++k) {
        const double lead = lasvm_lead(scores.col(static_cast<Index>(k)) + learner_.bias());
        close += lead < near;
        if (lead < least) {
          least = lead;
          best = done + k;
        }
      }
    }
    if (stops(least)) return -1;
    return take(pool_.size() - 1 - best);
  }

  LasvmData& data_;
  const LasvmPlan& plan_;
  const LasvmOptions& options_;
  Rng& rng_;
  Monitor& monitor_;
  Lasvm<Real> learner_;
  Index held_;  // the first rows are those of S at the start
  std::vector<Index> pool_;
  std::vector<char> used_;
  std::size_t next_snapshot_ = 0;
  LasvmResult out_;
};

}  // namespace

LasvmResult run_lasvm(KernelRows& rows, LasvmData& data, const LasvmState& start, const LasvmPlan& plan,
                      const LasvmOptions& options, Rng& rng, Monitor& monitor) {
  if (data.classes() < 2) throw InputError("there must be two classes or more.");
  const Index held = start.alpha.rows();
  if (static_cast<Index>(data.label.size()) != rows.size() || held > rows.size() || start.alpha.cols() != data.machines())
    throw InputError("labels, rows and the state of the machine do not fit together.");
  for (std::size_t i = 0; i < data.label.size(); ++i)
    if (data.label[i] >= data.classes() || data.label[i] < (static_cast<Index>(i) < held ? 0 : -1))
      throw InputError(message("row ", i + 1, " has a label that is no class."));
  for (const Index row : plan.order)
    if (row < 0 || row >= rows.size()) throw InputError("the order visits a row that is not there.");
  // Rows are kept in single precision where the whole matrix in double precision would not fit.
  const double n = static_cast<double>(rows.size());
  if (8 * n * n <= options.cache_mb * 1048576) return Run<double>(rows, data, start, plan, options, rng, monitor).run();
  return Run<float>(rows, data, start, plan, options, rng, monitor).run();
}

int lasvm_class(const VectorXd& scores) {
  if (scores.size() == 1) return scores[0] > 0;
  Index best = 0;
  scores.maxCoeff(&best);
  return static_cast<int>(best);
}

double lasvm_lead(const VectorXd& scores) {
  if (scores.size() == 1) return std::abs(scores[0]);
  const int best = lasvm_class(scores);
  return lasvm_margin(scores, best);
}

double lasvm_margin(const VectorXd& scores, int label) {
  if (scores.size() == 1) return label == 1 ? scores[0] : -scores[0];
  double other = -std::numeric_limits<double>::infinity();
  for (Index c = 0; c < scores.size(); ++c)
    if (c != label) other = std::max(other, scores[c]);
  return 0.5 * (scores[label] - other);
}

}  // namespace granary::kernel
