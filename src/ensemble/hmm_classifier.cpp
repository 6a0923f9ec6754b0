#include "ensemble/hmm_classifier.h"

#include <atomic>
#include <numeric>

#include "core/base/parallel.h"
#include "core/base/quiet_monitor.h"

namespace granary::ensemble {

HmmClassifierResult hmm_classifier(const CaseView& view, const VectorXi& y, ConstVectorRef weights,
                                   const HmmClassifierOptions& o, Rng& rng, Monitor& monitor) {
  require(view.cases() == y.size(), message("there must be one label for each of the ", view.cases(), " sequences."));
  require(o.prior.size() == 0 || o.prior.size() == o.classes, "there must be one prior probability for each class.");
  const VectorXd w = weights.size() > 0 ? VectorXd(weights) : VectorXd::Ones(y.size());
  const VectorXd spread = view_spread(view);
  const std::size_t k = static_cast<std::size_t>(o.classes);
  std::vector<int> columns(static_cast<std::size_t>(view.x.cols()));
  std::iota(columns.begin(), columns.end(), 0);
  std::vector<GaussianHmmFit> fits(k);
  std::atomic<int> done{0};
  parallel_for(o.classes, o.threads, monitor, [&](Index c) {
    QuietMonitor quiet(monitor);
    Rng own = rng.stream(static_cast<std::uint64_t>(c));
    fits[static_cast<std::size_t>(c)] = fit_class_chain(view, y, w, columns, static_cast<int>(c), spread, o.learner, own, quiet);
    monitor.progress(static_cast<double>(++done) / o.classes);
  });
  HmmClassifierResult out;
  out.member.features = columns;
  out.member.log_prior = o.prior.size() > 0 ? VectorXd((o.prior / o.prior.sum()).array().log()) : VectorXd::Zero(o.classes);
  for (GaussianHmmFit& fit : fits) {
    out.loglik.push_back(fit.loglik);
    out.df.push_back(fit.df);
    out.score.push_back(fit.score);
    out.states.push_back(static_cast<double>(fit.model.states()));
    out.convergence.push_back(fit.convergence);
    out.member.chains.push_back(std::move(fit.model));
  }
  return out;
}

HmmClassScores hmm_class_scores(const ViewMember& member, const CaseView& view, int threads, Monitor& monitor) {
  require(view.x.cols() == static_cast<Index>(member.features.size()),
          message("the sequences must have the ", member.features.size(), " columns of the fit."));
  HmmClassScores out;
  out.scores = view_scores(member, view, threads, monitor);
  out.posterior = class_posterior(out.scores);
  out.best = best_class(out.scores);
  return out;
}

}  // namespace granary::ensemble
