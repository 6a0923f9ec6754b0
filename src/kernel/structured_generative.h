// Generative models over the features of the structured outputs, by counting: weights w for which <w, Psi(x, y)> is their score.
//
//   sequences    a hidden Markov model: log P(feature | label), log P(label | label before), log P(first label)
//   parse trees  a probabilistic context-free grammar: log of a rule's share among those of its left-hand side
//   alignments   log odds of pairs of symbols against chance, and a given score of gaps
//
// Counts have `laplace` added. Logarithms of zero are -1e6: <w, Psi> multiplies them by counts that may be zero. The baselines of
// Tsochantaridis, Joachims, Hofmann, Altun (JMLR 6, 2005), section 6.
#pragma once

#include "kernel/structured_problem.h"

namespace granary::kernel {

struct GenerativeOptions {
  double laplace = 1;
  double gap = -0.2;       // score of a gap, for alignments
  bool intercept = false;  // the first feature of a sequence is constant, and no part of the law
};
template <class V>
void fields(V& v, GenerativeOptions& t) {
  v("laplace", t.laplace);
  v("gap", t.gap);
  v("intercept", t.intercept);
}

// Weights of emissions, transitions and first labels: those of the same chain with order 1, first labels, and neither scaled nor
// input-dependent transitions. InputError where a feature is negative.
VectorXd hidden_markov(const ChainData& data, const GenerativeOptions& options);
VectorXd rule_shares(const CfgData& data, const GenerativeOptions& options);
VectorXd log_odds(const AlignData& data, const GenerativeOptions& options);

}  // namespace granary::kernel
