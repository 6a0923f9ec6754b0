// The next points of a Bayesian optimisation.
//
//   x_next = argmax C(x | surrogates), or, with probability epsilon, when `force_random`, a point at random.
//
// Several points at a time: after each the surrogates are told that it came out as predicted, so that the next one looks
// elsewhere (the kriging believer of Ginsbourger, Le Riche and Carraro 2010); criteria that draw the process draw anew instead.
//
// GP-Hedge (Hoffman, Brochu and de Freitas, UAI 2011): each criterion j of a hedge nominates x_j, and the one evaluated is drawn
// with probability proportional to exp(eta gain_j), computed after subtracting the largest. Once its result is known every gain
// grows by the reward -m(x_j) under the new surrogate (the caller sees to it, in units of the sd of y). Bounded gains are shifted
// and scaled to [0, 1] before they are weighed: the best criterion is then exp(eta) times as likely as the worst, however long
// the run. Unbounded ones soon leave all evaluations to the greediest criterion, as rewards say nothing of what was learnt.
//
// Where the criterion is the same everywhere the uncertainty takes its place, and where the responses are constant or that is
// flat too, the point farthest from all others. Points of a list or of a small discrete space are not tried twice unless
// responses are noisy or none is left.
#pragma once

#include <string>

#include "process/bo_criterion.h"
#include "process/bo_space.h"

namespace granary::process {

struct BoSuggestOptions {
  int n = 1;
  double epsilon = 0;
  bool force_random = false;
  bool noisy = false;  // the incumbent is the best prediction at the data, not the best observation
  int cover = 1000;    // points at which a draw of the process is looked at
  VectorXd gains;      // of the criteria of a hedge
  BoSearchOptions search;
};
template <class V>
void fields(V& v, BoSuggestOptions& t) {
  v("n", t.n);
  v("epsilon", t.epsilon);
  v("force_random", t.force_random);
  v("noisy", t.noisy);
  v("cover", t.cover);
  v("gains", t.gains);
  v("search", t.search);
}

struct BoSuggestion {
  MatrixXd x;                      // one per row; fewer than asked for when no feasible point was found
  VectorXd value;                  // of the criterion
  std::vector<std::string> used;   // the criterion, or "random", "distance"
  std::vector<MatrixXd> nominees;  // for a hedge: of each criterion, one row each
};
template <class V>
void fields(V& v, BoSuggestion& t) {
  v("x", t.x);
  v("value", t.value);
  v("used", t.used);
  v("nominees", t.nominees);
}

// The surrogates are copied where a batch has to append to them.
BoSuggestion bo_suggest(const BoCriterion& criterion, std::vector<BoSurrogate> surrogates, const BoSpace& space,
                        const BoSuggestOptions& options, Rng& rng, Monitor& monitor);

VectorXd bo_hedge_probabilities(ConstVectorRef gains, double eta, bool bounded);

}  // namespace granary::process
