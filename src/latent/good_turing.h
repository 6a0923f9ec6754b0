// How much probability lies on what was seen k times: Drukh and Mansour (JMLR 2005); numbers of lemmas and theorems are theirs.
//
// m draws, n_k words seen k times, M_k = sum of p_w over words seen k times:
//   empirical     k n_k / m
//   good_turing   (k + 1) n_{k+1} / (m - k), with m in place of m - k if asked for
//   combined      good_turing for k <= m^(2/5), else empirical: off by O(m^(-2/5)) for every k at once (Theorem 28)
//   simple        Gale and Sampson (J. Quantitative Linguistics 1995): n_k smoothed by a line in logarithms where Turing's estimate is within 1.65 standard deviations of it
// Nothing makes them sum to one; `normalised` does.
#pragma once

#include "core/base/fields.h"
#include "core/math/frequency_table.h"

namespace granary::latent {

enum class HittingMethod { combined, good_turing, empirical, simple };
inline Names<HittingMethod> names(HittingMethod) {
  return {{HittingMethod::combined, "combined"},
          {HittingMethod::good_turing, "good_turing"},
          {HittingMethod::empirical, "empirical"},
          {HittingMethod::simple, "simple"}};
}

struct HittingOptions {
  HittingMethod method = HittingMethod::combined;
  bool full_denominator = false;  // m in place of m - k
  VectorXd k;                     // empty: 0 and every count there is
  double level = 0.95;
};
template <class V>
void fields(V& v, HittingOptions& t) {
  v("method", t.method);
  v("full_denominator", t.full_denominator);
  v("k", t.k);
  v("level", t.level);
}

struct HittingResult {
  VectorXd k, words;                      // words: n_k, NaN for k = 0
  VectorXd empirical, good_turing, mass;  // mass: by the method asked for; NaN where it is not defined (k = m)
  VectorXd normalised;                    // mass over its sum over all k
  double total = 0, distinct = 0, singletons = 0, doubletons = 0;
  double crossover = 0;                   // m^(2/5)
  double missing = 0, missing_sd = 0;     // G_0; Esty's standard deviation (Annals of Statistics 1983)
  double lower = 0, upper = 0;            // normal interval of M_0
  double sure_lower = 0, sure_upper = 0;  // with probability `level` at any sample size, for any law
  double slope = 0;                       // of the line of "simple"; below -1 it smooths as it should
  VectorXd count, times;
};
template <class V>
void fields(V& v, HittingResult& t) {
  v("k", t.k);
  v("words", any_number(t.words));
  v("empirical", any_number(t.empirical));
  v("good_turing", any_number(t.good_turing));
  v("mass", any_number(t.mass));
  v("normalised", any_number(t.normalised));
  v("total", t.total);
  v("distinct", t.distinct);
  v("singletons", t.singletons);
  v("doubletons", t.doubletons);
  v("crossover", t.crossover);
  v("missing", t.missing);
  v("missing_sd", any_number(t.missing_sd));
  v("lower", any_number(t.lower));
  v("upper", any_number(t.upper));
  v("sure_lower", t.sure_lower);
  v("sure_upper", t.sure_upper);
  v("slope", any_number(t.slope));
  v("count", t.count);
  v("times", t.times);
}

HittingResult good_turing(ConstVectorRef counts, const HittingOptions& options);

// One at a time; NaN for k = m where the denominator is m - k.
double empirical_mass(const FrequencyTable& t, double k);
double good_turing_mass(const FrequencyTable& t, double k, bool full_denominator = false);
double combined_mass(const FrequencyTable& t, double k, bool full_denominator = false);

// |M_0 - G_0| with probability 1 - delta: sqrt(2 log(4 / delta) / m) for G_0, each draw moves which by at most 2 / m, and sqrt(log(4 / delta) / m) for M_0, whose
// deviations McAllester and Ortiz (JMLR 2003) bound by exp(-m e^2) on either side (cited by the paper, not proved there); 0 <= E G_0 - E M_0 <= 1 / m.
struct MissingBounds {
  double below = 0, above = 0;
};
MissingBounds missing_mass_bounds(double m, double delta);

}  // namespace granary::latent
