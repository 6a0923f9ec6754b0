// Exports of boosting.
#include "ensemble/boost.h"
#include "r_door.h"

namespace granary::door {

// A learner of the user's: fun(costs) gives an answer for every row. NULL for none.
inline void convert(const Source& s, ensemble::CustomAnswer& t) {
  if (is_null(s.value)) return;
  const Callback<VectorXd, MatrixXd> call(s.value);
  t = [call](const MatrixXd& costs) { return call(costs.transpose()); };
}

}  // namespace granary::door

using namespace granary;
using namespace granary::ensemble;

// `data`: y, weights. `learner`: a function, or NULL.
// [[Rcpp::export(rng = false)]]
SEXP core_boost(SEXP x, SEXP data, SEXP options, SEXP learner, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Rng draws = rng(seed);
    CustomAnswer answer;
    door::convert(door::Source{learner, "learner", false}, answer);
    return write(boost(design(x), vector(door::element(data, "y"), "y"), vector(door::element(data, "weights"), "weights"), read<BoostOptions>(options), answer, draws, monitor));
  });
}

// `rounds`: alpha, picks.
// [[Rcpp::export(rng = false)]]
SEXP core_boost_score(SEXP x, SEXP trees, SEXP rounds, SEXP last, SEXP threads, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(boost_score(design(x), held<Trees>(trees), read_state<BoostRounds>(rounds), count(last, "last"), count(threads, "threads"), monitor));
  });
}

// Classes from 1.
// [[Rcpp::export(rng = false)]]
SEXP core_boost_staged(SEXP x, SEXP trees, SEXP rounds, SEXP last, SEXP threads, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    Eigen::MatrixXi found =
        boost_staged(design(x), held<Trees>(trees), read_state<BoostRounds>(rounds), count(last, "last"), count(threads, "threads"), monitor);
    return write(positions(found));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_answer_score(SEXP answers, SEXP alpha, SEXP classes, SEXP real, SEXP last) {
  return crossing([&] { return write(answer_score(matrix(answers), vector(alpha, "alpha"), count(classes, "classes"), flag(real, "real"), count(last, "last"))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_answer_staged(SEXP answers, SEXP alpha, SEXP classes, SEXP real, SEXP last) {
  return crossing([&] {
    Eigen::MatrixXi found = answer_staged(matrix(answers), vector(alpha, "alpha"), count(classes, "classes"), flag(real, "real"), count(last, "last"));
    return write(positions(found));
  });
}
