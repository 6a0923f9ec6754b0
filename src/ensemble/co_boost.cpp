#include "ensemble/co_boost.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "core/base/quiet_monitor.h"

namespace granary::ensemble {
namespace {

struct Candidate {
  ViewMember member;
  VectorXi answers;
  double error = 2;
};

class CoBooster {
 public:
  CoBooster(const std::vector<CaseView>& views, const VectorXi& y, ConstVectorRef weights, const CoBoostOptions& o, Rng& rng,
            Monitor& monitor)
      : views_(views), y_(y), o_(o), rng_(rng), monitor_(monitor), n_(y.size()), k_(o.classes) {
    const std::size_t v = views.size();
    require(v >= 1 && static_cast<Index>(v) <= most_views, message("there must be 1 to ", most_views, " views, not ", v, "."));
    require(o.candidates.size() == v && o.sizes.size() == v && o.learners.size() == v,
            "every view needs its own number of candidates, of columns, and its learner.");
    for (const CaseView& view : views) {
      require(view.cases() == n_, message("every view must have the ", n_, " cases of the labels, but one has ", view.cases(),
                                          "."));
      spread_.push_back(view_spread(view));
    }
    for (std::size_t i = 0; i < v; ++i) require(o.sizes[i] >= 1 && o.sizes[i] <= views[i].x.cols() && o.candidates[i] >= 1,
                                                "a candidate needs columns of its view.");
    case_ = weights.size() > 0 ? VectorXd(weights) : VectorXd::Ones(n_);
    smooth_ = o.smooth < 0 ? 0.5 / static_cast<double>(n_) : o.smooth;
  }

  CoBoostResult run() {
    const Stopwatch clock;
    CoBoostResult& out = result_;
    CoBoostModel& model = out.model;
    model.classes = static_cast<int>(k_);
    model.views = static_cast<int>(views_.size());
    model.cap = o_.cap;
    model.offset = start_odds();
    odds_ = model.offset.transpose().replicate(n_, 1);
    votes_ = MatrixXd::Zero(n_, k_);
    out.bound = out.wrong = MatrixXd::Constant(o_.n_rounds + 1, k_, 0);
    out.vote_error = out.odds_error = out.largest_weight = VectorXd::Zero(o_.n_rounds);
    out.sweeps = Eigen::MatrixXi::Zero(o_.n_rounds, k_);
    for (const CaseView& view : views_) out.picked.push_back(VectorXd::Zero(view.x.cols()));
    count_errors(0);
    for (Index c = 0; c < k_; ++c) out.bound(0, c) = bound_of(c);
    double worst = 0;
    int done = 0;
    for (; done < o_.n_rounds; ++done) {
      monitor_.progress(static_cast<double>(done) / o_.n_rounds);
      std::vector<Candidate> best = learn(done);
      std::vector<std::size_t> used;
      for (std::size_t v = 0; v < best.size(); ++v) {
        if (best[v].error < 1 - 1 / static_cast<double>(k_) - 1e-12) used.push_back(v);
        else ++out.dropped;
      }
      if (used.empty()) {
        out.end = CoEnd::no_edge;
        break;
      }
      worst = std::max(worst, update(done, best, used));
    }
    finish(done, worst, clock.seconds());
    return std::move(out);
  }

 private:
  VectorXd start_odds() const {
    VectorXd share = VectorXd::Zero(k_);
    for (Index i = 0; i < n_; ++i) share[y_[i]] += case_[i];
    share /= share.sum();
    for (Index c = 0; c < k_; ++c) require(share[c] > 0, message("class ", c + 1, " has no case of positive weight."));
    if (!o_.class_odds) return VectorXd::Zero(k_);
    return (share.array() / (1 - share.array())).log().matrix();
  }

  VectorXd weights() const {
    VectorXd w(n_);
    for (Index i = 0; i < n_; ++i) w[i] = -odds_(i, y_[i]);
    const double top = w.maxCoeff();
    for (Index i = 0; i < n_; ++i) w[i] = case_[i] * std::exp(w[i] - top);
    return w / w.sum();
  }

  double bound_of(Index c) const {
    double sum = 0;
    for (Index i = 0; i < n_; ++i) sum += case_[i] * std::exp(y_[i] == c ? -odds_(i, c) : odds_(i, c));
    return sum;
  }

  void count_errors(Index row) {
    for (Index c = 0; c < k_; ++c) {
      double sum = 0;
      for (Index i = 0; i < n_; ++i)
        if ((odds_(i, c) > 0) != (y_[i] == c)) sum += case_[i];
      result_.wrong(row, c) = sum;
    }
  }

  double error_of(const VectorXi& answers, const VectorXd& w) const {
    double sum = 0;
    for (Index i = 0; i < n_; ++i)
      if (answers[i] != y_[i]) sum += w[i];
    return sum / w.sum();
  }

  // Of every view the candidate with the smallest error; of equal ones the first.
  std::vector<Candidate> learn(int round) {
    const VectorXd w = weights();
    struct Task {
      std::size_t view;
      int number;
    };
    std::vector<Task> tasks;
    for (std::size_t v = 0; v < views_.size(); ++v) {
      const bool all = o_.sizes[v] == views_[v].x.cols();  // every candidate would be the same
      for (int m = 0; m < (all ? 1 : o_.candidates[v]); ++m) tasks.push_back({v, m});
    }
    std::vector<Candidate> found(tasks.size());
    const Rng of_round = rng_.stream(static_cast<std::uint64_t>(round));
    std::atomic<int> done{0};
    parallel_for(static_cast<Index>(tasks.size()), o_.threads, monitor_, [&](Index t) {
      const Task& task = tasks[static_cast<std::size_t>(t)];
      const CaseView& view = views_[task.view];
      Rng own = of_round.stream(static_cast<std::uint64_t>(task.view)).stream(static_cast<std::uint64_t>(task.number));
      QuietMonitor quiet(monitor_);
      std::vector<int> features = own.sample_without_replacement(static_cast<int>(view.x.cols()), o_.sizes[task.view]);
      std::sort(features.begin(), features.end());
      Candidate& mine = found[static_cast<std::size_t>(t)];
      mine.member = fit_view(view, y_, w, features, static_cast<int>(k_), spread_[task.view], o_.learners[task.view], own, quiet);
      mine.answers = best_class(view_scores(mine.member, view, 1, quiet));
      mine.error = error_of(mine.answers, w);
      monitor_.progress((round + static_cast<double>(++done) / static_cast<double>(tasks.size())) / o_.n_rounds);
    });
    std::vector<Candidate> best(views_.size());
    for (std::size_t t = 0; t < tasks.size(); ++t)
      if (found[t].error < best[tasks[t].view].error) best[tasks[t].view] = std::move(found[t]);
    return best;
  }

  double vote(double error) const {
    const double least = 0.5 / static_cast<double>(n_);
    const double e = std::clamp(error, least, 1 - least);
    const double alpha = std::log((1 - e) / e) + (o_.vote == CoVote::samme ? std::log(static_cast<double>(k_ - 1)) : 0);
    return std::max(0.0, alpha);
  }

  double update(int round, std::vector<Candidate>& best, const std::vector<std::size_t>& used) {
    CoBoostModel& model = result_.model;
    const Index before = static_cast<Index>(model.members.size()), more = static_cast<Index>(used.size());
    Eigen::MatrixXi answers(n_, more);
    for (Index u = 0; u < more; ++u) answers.col(u) = best[used[static_cast<std::size_t>(u)]].answers;
    for (MatrixXd* table : {&model.hit, &model.miss, &result_.if_class, &result_.if_other}) table->conservativeResize(
        before + more, k_);
    double worst = 0;
    for (Index c = 0; c < k_; ++c) {
      const BoundStep step = bound_step(answers, y_, odds_.col(c), case_, static_cast<int>(c), smooth_);
      worst = std::max(worst, step.residual);
      result_.sweeps(round, c) = step.sweeps + step.newton;
      for (Index u = 0; u < more; ++u) {
        model.hit(before + u, c) = step.hit[u];
        model.miss(before + u, c) = step.miss[u];
        probabilities_of(step.hit[u], step.miss[u], result_.if_other(before + u, c), result_.if_class(before + u, c));
        for (Index i = 0; i < n_; ++i) odds_(i, c) += answers(i, u) == c ? step.hit[u] : step.miss[u];
      }
      odds_.col(c) = odds_.col(c).cwiseMax(-o_.cap).cwiseMin(o_.cap);
      result_.bound(round + 1, c) = bound_of(c);
    }
    for (Index u = 0; u < more; ++u) {
      Candidate& one = best[used[static_cast<std::size_t>(u)]];
      const std::size_t v = used[static_cast<std::size_t>(u)];
      const double alpha = vote(one.error);
      if (alpha == 0) ++result_.silent;
      for (Index i = 0; i < n_; ++i) votes_(i, one.answers[i]) += alpha;
      for (const int j : one.member.features) result_.picked[v][j] += 1;
      model.members.push_back(std::move(one.member));
      model.round.push_back(round);
      model.view.push_back(static_cast<int>(v));
      model.alpha.push_back(alpha);
      result_.error.push_back(one.error);
    }
    count_errors(round + 1);
    const VectorXd even = case_ / case_.sum();
    result_.vote_error[round] = error_of(best_class(votes_), even);
    result_.odds_error[round] = error_of(best_class(odds_), even);
    result_.largest_weight[round] = weights().maxCoeff();
    return worst;
  }

  void finish(int done, double worst, double seconds) {
    CoBoostResult& out = result_;
    out.bound.conservativeResize(done + 1, k_);
    out.wrong.conservativeResize(done + 1, k_);
    out.sweeps.conservativeResize(done, k_);
    for (VectorXd* course : {&out.vote_error, &out.odds_error, &out.largest_weight}) course->conservativeResize(done);
    if (done == 0) {
      out.model.hit = out.model.miss = out.if_class = out.if_other = MatrixXd(0, k_);
    }
    const double all = std::accumulate(out.model.alpha.begin(), out.model.alpha.end(), 0.0);
    out.votes = all > 0 ? MatrixXd(votes_ / all) : MatrixXd(MatrixXd::Constant(n_, k_, 1.0 / static_cast<double>(k_)));
    out.log_odds = odds_;
    out.weights = weights();
    out.convergence.iterations = done;
    out.convergence.residual = worst;
    out.convergence.seconds = seconds;
    out.convergence.converged = worst <= 1e-8;
    if (!out.convergence.converged) out.convergence.message = message(
        "in one round the derivative of the bound is still ", worst, " of it");
    monitor_.progress(1);
  }

  const std::vector<CaseView>& views_;
  VectorXi y_;
  const CoBoostOptions& o_;
  Rng& rng_;
  Monitor& monitor_;
  Index n_, k_;
  VectorXd case_;
  double smooth_ = 0;
  std::vector<VectorXd> spread_;
  MatrixXd odds_, votes_;
  CoBoostResult result_;
};

}  // namespace

CoBoostResult co_boost(const std::vector<CaseView>& views, const VectorXi& y, ConstVectorRef weights,
                       const CoBoostOptions& options, Rng& rng, Monitor& monitor) {
  return CoBooster(views, y, weights, options, rng, monitor).run();
}

void check(const CoBoostModel& m) {
  const std::size_t size = m.members.size();
  require(m.round.size() == size && m.view.size() == size && m.alpha.size() == size && m.hit.rows() == static_cast<Index>(size) &&
              m.miss.rows() == static_cast<Index>(size) && m.hit.cols() == m.classes && m.miss.cols() == m.classes &&
                  m.offset.size() == m.classes,
          "the parts of the members do not go together.");
  for (std::size_t i = 0; i < size; ++i) {
    require(m.view[i] >= 0 && m.view[i] < m.views && m.round[i] >= 0 && (i == 0 || m.round[i] >= m.round[i - 1]),
            "a member is of no view, or out of turn.");
    require(m.members[i].log_prior.size() == m.classes, "a member knows other classes.");
  }
}

CoBoostScores co_boost_scores(const CoBoostModel& model, const std::vector<CaseView>& views, const CoBoostAsk& ask,
                              Monitor& monitor) {
  require(static_cast<int>(views.size()) == model.views, message("there must be ", model.views, " views, not ", views.size(),
                                                                 "."));
  const Index n = views[0].cases(), k = model.classes;
  for (std::size_t m = 0; m < model.members.size(); ++m)
    for (const int j : model.members[m].features) require(j >= 0 && j < views[static_cast<std::size_t>(model.view[m])].x.cols(),
                                                          "a view has too few columns.");
  std::size_t used = 0;
  while (used < model.members.size() && model.round[used] < ask.last) ++used;
  std::vector<VectorXi> answers(used);
  std::atomic<int> done{0};
  parallel_for(static_cast<Index>(used), ask.threads, monitor, [&](Index m) {
    QuietMonitor quiet(monitor);
    const std::size_t at = static_cast<std::size_t>(m);
    answers[at] = best_class(view_scores(model.members[at], views[static_cast<std::size_t>(model.view[at])], 1, quiet));
    monitor.progress(static_cast<double>(++done) / static_cast<double>(used));
  });
  CoBoostScores out;
  out.votes = MatrixXd::Zero(n, k);
  out.log_odds = model.offset.transpose().replicate(n, 1);
  const int rounds = used > 0 ? model.round[used - 1] + 1 : 0;
  out.staged.resize(ask.staged ? n : 0, ask.staged ? rounds : 0);
  double all = 0;
  for (std::size_t m = 0; m < used; ++m) {
    all += model.alpha[m];
    const Index at = static_cast<Index>(m);
    for (Index i = 0; i < n; ++i) {
      out.votes(i, answers[m][i]) += model.alpha[m];
      for (Index c = 0; c < k; ++c) out.log_odds(i, c) += answers[m][i] == c ? model.hit(at, c) : model.miss(at, c);
    }
    if (m + 1 < used && model.round[m + 1] == model.round[m]) continue;
    out.log_odds = out.log_odds.cwiseMax(-model.cap).cwiseMin(model.cap);
    if (!ask.staged) continue;
    const VectorXi now = best_class(ask.rule == CoRule::vote ? out.votes : out.log_odds);
    const int next = m + 1 < used ? model.round[m + 1] : rounds;
    for (int r = model.round[m]; r < next; ++r) out.staged.col(r) = now;
  }
  out.votes = all > 0 ? MatrixXd(out.votes / all) : MatrixXd(MatrixXd::Constant(n, k, 1.0 / static_cast<double>(k)));
  return out;
}

}  // namespace granary::ensemble
