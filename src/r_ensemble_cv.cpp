// Exports of cross-validation.
#include "core/infer/scores.h"
#include "ensemble/cv_linear.h"
#include "ensemble/cv_moments.h"
#include "r_door.h"

using namespace granary;
using namespace granary::ensemble;

// [[Rcpp::export(rng = false)]]
SEXP core_cv_linear(SEXP x, SEXP y, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(cv_linear(matrix(x), vector(y, "y"), read<CvLinearOptions>(options), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_cv_linear_moment(SEXP x, SEXP moments, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(cv_linear_moment(matrix(x), read<LossMoments>(moments), read<CvLinearOptions>(options), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_cv_linear_difference(SEXP x, SEXP z, SEXP y, SEXP a, SEXP b, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(cv_linear_difference(matrix(x), matrix(z, "z"), vector(y, "y"), read<CvLinearOptions>(a),
        read<CvLinearOptions>(b), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_cv_linear_matrix(SEXP x, SEXP options) {
  return crossing(R_NilValue, [&](Monitor& monitor) { return write(cv_linear_matrix(matrix(x), read<CvLinearOptions>(options),
      monitor)); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_loss_moments(SEXP mean, SEXP x, SEXP group, SEXP options) {
  return crossing([&] { return write(loss_moments(vector(mean, "mean"), vector(x), vector(group, "group"),
      read<LossOptions>(options))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_loss_moments_from(SEXP below, SEXP at, SEXP above, SEXP h) {
  return crossing([&] { return write(loss_moments_from(vector(below, "below"), vector(at, "at"), vector(above, "above"),
      number(h, "h"))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_mean_moment(SEXP moments, SEXP plan) {
  return crossing([&] { return write(mean_moment(read<LossMoments>(moments), read<CvPlan>(plan))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_cv_plan(SEXP plans) {
  return crossing([&] { return write_columns(plan_table(read<std::vector<CvPlan>>(plans, "plans"))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_overlap_law(SEXP n, SEXP n1) {
  return crossing([&] { return write(overlap_law(count(n, "n"), count(n1, "n1"))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_nadeau_bengio(SEXP means, SEXP n1, SEXP n2, SEXP rho) {
  return crossing([&] { return write(nadeau_bengio(vector(means, "means"), number(n1, "n1"), number(n2, "n2"),
      number(rho, "rho"))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_conservative(SEXP first, SEXP second) {
  return crossing([&] { return write(conservative_variance(vector(first, "first"), vector(second, "second"))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_corrected_t(SEXP difference, SEXP options) {
  return crossing([&] { return write(corrected_t(vector(difference, "difference"), read<CvCompareOptions>(options))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_t_test(SEXP estimate, SEXP variance, SEXP df, SEXP rope, SEXP level) {
  return crossing([&] {
    return write(t_test(number(estimate, "estimate"), number(variance, "variance"), number(df, "df"), number(rope, "rope"),
        number(level, "level")));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_five_by_two(SEXP difference, SEXP level) {
  return crossing([&] { return write(five_by_two(matrix(difference, "difference"), number(level, "level"))); });
}

// Labels count from 1 in R.
// [[Rcpp::export(rng = false)]]
SEXP core_class_scores(SEXP truth, SEXP predicted, SEXP weights, SEXP classes, SEXP beta) {
  return crossing([&] {
    const MatrixXd table =
        confusion_matrix(labels(truth, "truth"), labels(predicted, "predicted"), vector(weights, "weights"),
            count(classes, "classes"));
    ListWriter out;
    ClassScores scores = class_scores(table, number(beta, "beta"));
    fields(out, scores);
    out.add("confusion", table);
    return out.list();
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_probability_scores(SEXP prob, SEXP truth, SEXP weights) {
  return crossing([&] { return write(probability_scores(matrix(prob, "prob"), labels(truth, "truth"),
      vector(weights, "weights"))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_area_under_roc(SEXP score, SEXP positive, SEXP weights) {
  return crossing([&] { return write(area_under_roc(vector(score, "score"), vector(positive, "positive"),
      vector(weights, "weights"))); });
}
