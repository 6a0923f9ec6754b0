// Exports of entropy estimation and Pitman-Yor laws.
#include "core/random/pitman_yor_draws.h"
#include "latent/entropy.h"
#include "latent/mutual_information.h"
#include "r_door.h"
#include "r_door_function.h"

using namespace granary;
using namespace granary::latent;

GRANARY_DEFAULTS(entropy_estimate, EntropyOptions);

namespace {

EntropyOptions with_density(SEXP options, SEXP density) {
  EntropyOptions out = read<EntropyOptions>(options);
  door::convert(door::Source{density, "prior", false}, out.density);
  return out;
}

}  // namespace

// [[Rcpp::export(rng = false)]]
SEXP core_entropy_estimate(SEXP counts, SEXP options, SEXP density, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng draws = rng(seed);
    return write(entropy_estimate(vector(counts, "counts"), with_density(options, density), draws, monitor));
  });
}

// The place of the first count that is none, counted from 1 (0: all are counts), their total, and how many are above 0.
// [[Rcpp::export(rng = false)]]
SEXP core_count_summary(SEXP counts) {
  return crossing([&] {
    const CountSummary found = count_summary(vector(counts, "counts"));
    return write(std::vector<double>{found.odd + 1.0, found.total, found.distinct});
  });
}

// Quantiles or densities of the posterior of an entropy.
// [[Rcpp::export(rng = false)]]
SEXP core_entropy_curve(SEXP mixture, SEXP at, SEXP what) {
  return crossing([&] {
    return write(mixture_curve(read_state<EntropyMixture>(mixture), vector(at, "at"), read<MixtureCurve>(what, "what")));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_mutual_information(SEXP counts, SEXP options, SEXP density, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(mutual_information(matrix(counts, "counts"), with_density(options, density), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_rarefied(SEXP counts, SEXP size, SEXP seed) {
  return crossing([&] {
    Rng draws = rng(seed);
    return write(rarefied(vector(counts, "counts"), number(size, "size"), draws));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_pitman_yor_fit(SEXP counts, SEXP dirichlet, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(py_fit(frequency_table(vector(counts, "counts")), flag(dirichlet, "dirichlet"), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_pitman_yor_law(SEXP counts, SEXP discount, SEXP strength) {
  return crossing([&] {
    return write(py_law(frequency_table(vector(counts, "counts")), number(discount, "discount"), number(strength, "strength")));
  });
}

// Expected number of new symbols in `more` draws after n that held `distinct`: law = (discount, strength, n, distinct).
// [[Rcpp::export(rng = false)]]
SEXP core_pitman_yor_new(SEXP more, SEXP law) {
  return crossing([&] {
    const VectorView l = vector(law, "law");
    return write(VectorXd(vector(more, "more").unaryExpr([&](double m) { return py_new(m, l[2], l[3], l[0], l[1]); })));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_pitman_yor_labels(SEXP n, SEXP discount, SEXP strength, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng draws = rng(seed);
    const VectorXi label = pitman_yor_labels(count(n, "n"), number(discount, "discount"), number(strength, "strength"), draws, monitor);
    return write(VectorXi(label.array() + 1));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_pitman_yor_weights(SEXP law, SEXP left, SEXP most, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng draws = rng(seed);
    const VectorView l = vector(law, "law");
    return write(pitman_yor_weights(l[0], l[1], number(left, "left"), count(most, "most"), draws, monitor).weights);
  });
}
