// Exports of alternating structure optimisation and of the learners it is compared with.
#include "r_door.h"
#include "regress/co_training.h"

using namespace granary;
using namespace granary::regress;

GRANARY_DEFAULTS(aso, AsoOptions);
GRANARY_DEFAULTS(aso_baseline, CoTrainingOptions);

// [[Rcpp::export(rng = false)]]
SEXP core_aso(SEXP data, SEXP groups, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const AsoData from = read<AsoData>(data, "x");
    return write(aso(from.designs, from.tasks, read<Structure>(groups).groups, read<AsoOptions>(options), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_aso_target(SEXP data, SEXP structure, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const AsoData from = read<AsoData>(data, "x");
    const AsoOptions settings = read<AsoOptions>(options);
    return write(aso_target(from.designs, from.tasks, read<Structure>(structure), settings.task, settings.threads, monitor));
  });
}

// Value and slope of a loss, for scores, plots and tests.
// [[Rcpp::export(rng = false)]]
SEXP core_loss(SEXP loss, SEXP prediction, SEXP y) {
  return crossing([&] {
    const TaskLoss kind = read<TaskLoss>(loss, "loss");
    const VectorXd at = vector(prediction, "prediction"), truth = vector(y, "y");
    const VectorXd value = at.binaryExpr(truth, [&](double p, double t) { return loss_value(kind, p, t); });
    const VectorXd slope = at.binaryExpr(truth, [&](double p, double t) { return loss_slope(kind, p, t); });
    return write_list("value", value, "slope", slope);
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_spectral_structure(SEXP x, SEXP h) {
  return crossing(R_NilValue, [&](Monitor& monitor) { return write(spectral_structure(design(x), count(h), monitor)); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_co_training(SEXP data, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(co_training(read<CoTrainingData>(data, "x"), read<CoTrainingOptions>(options), rng(seed), monitor));
  });
}
