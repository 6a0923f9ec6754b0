# Engines of parsnip, made from the table in R/shared-learners.R: set_engine("granary") for svm_rbf(), svm_poly(), svm_linear(), linear_reg(), logistic_reg()
# and the model type of our own, gp_model().

#' Gaussian process models for parsnip
#'
#' A model type for the packages of tidymodels: regression and two classes by Gaussian processes. The other methods of granary are engines of the model types that
#' parsnip has.
#'
#' @details
#' Engines are registered when granary and parsnip are both loaded, in either order.
#'
#' | model type | mode | engine | method | tuning parameters |
#' | --- | --- | --- | --- | --- |
#' | `boost_tree()` | classification | `"granary"` | [boost()] | `trees`, `min_n`, `learn_rate` |
#' | `svm_rbf()` | both | `"granary"` | [svm()] | `cost`, `rbf_sigma`, `margin` |
#' | `svm_poly()` | both | `"granary"` | [svm()], with `coef0 = 1` | `cost`, `degree`, `scale_factor`, `margin` |
#' | `svm_linear()` | both | `"granary"` | [svm()] | `cost`, `margin` |
#' | `svm_rbf()`, `svm_linear()` | classification | `"granary_lasvm"` | [lasvm()] | `cost`, `rbf_sigma` |
#' | `linear_reg()`, `logistic_reg()` | | `"granary"` | [lasso()] | `penalty`, `mixture` |
#' | `linear_reg()` | regression | `"granary_scaled_lasso"` | [scaled_lasso()] | `penalty` |
#' | `gp_model()` | regression | `"granary"` | [kriging()], with `nugget = "estimate"` | `kernel` |
#' | `gp_model()` | regression | `"granary_sparse_gp"` | [sparse_gp()] | `kernel`, `inducing` |
#' | `gp_model()` | regression | `"granary_rvm"` | [rvm()] | `kernel` |
#' | `gp_model()` | classification | `"granary"` | [gp_classify()] | `kernel` |
#' | `rand_forest()` | both | `"granary"` | [forest()] | `mtry`, `trees`, `min_n` |
#'
#' Other arguments of the method go into `set_engine()`. Case weights are honoured by the machines, the lasso and the forest. Without a penalty [lasso()] fits its path, and the penalty
#' with the smallest BIC predicts. Support vector machines are calibrated by Platt's sigmoid, which costs five more fits: `set_engine("granary", probability = "none")`
#' saves them where only classes are wanted.
#'
#' With mlr3 the same methods are learners: `lrn("classif.granary_svm")`, `lrn("regr.granary_lasso")`, `lrn("regr.granary_kriging")` and so on;
#' `as.data.table(mlr_learners)` lists them. Every argument of a method is a parameter of its learner.
#'
#' @section Which method when:
#' `gp_model()` and the engines where folds, recipes and tuning are those of tidymodels; the methods themselves, with their `_select()`, are quicker to call and
#' give more: certificates, paths, plots. With `"granary"` for up to some thousand rows, `"granary_sparse_gp"` beyond.
#'
#' @param mode `"regression"` or `"classification"`.
#' @param engine The method, see Details.
#' @param kernel A kernel such as [k_matern()], or its name.
#' @param inducing Number of inducing inputs, for the engine `"granary_sparse_gp"`.
#' @param ... Nothing: an argument that is not known is an error.
#' @return A model specification of parsnip.
#' @seealso [kriging()], [gp_classify()], [sparse_gp()], [svm()], [lasso()]
#' @export
#' @examples
#' if (requireNamespace("parsnip", quietly = TRUE)) {
#'   model <- gp_model("regression", kernel = "matern52")
#'   fit <- parsnip::fit(model, mpg ~ wt + hp, mtcars)
#'   predict(fit, mtcars[1:3, ], type = "pred_int")
#' }
gp_model <- function(mode = "unknown", engine = "granary", kernel = NULL, inducing = NULL, ...) {
  refuse_dots(...)
  check_installed(c("parsnip", "rlang"), "for gp_model()")
  mode <- check_choice(mode, c("unknown", "regression", "classification"))
  engine <- check_choice(engine, c("granary", "granary_sparse_gp", "granary_rvm"))
  arguments <- list(kernel = rlang::enquo(kernel), inducing = rlang::enquo(inducing))
  parsnip::new_model_spec("gp_model", args = arguments, eng_args = NULL, mode = mode, user_specified_mode = !missing(mode), method = NULL, engine = engine,
                          user_specified_engine = !missing(engine))
}

#' @export
update.gp_model <- function(object, parameters = NULL, kernel = NULL, inducing = NULL, fresh = FALSE, ...) {
  parsnip::update_spec(object = object, parameters = parameters, args_enquo_list = list(kernel = rlang::enquo(kernel), inducing = rlang::enquo(inducing)),
                       fresh = fresh, cls = "gp_model", ...)
}

# dials has no parameter for a kernel: this makes one. `inducing` is what dials calls knots.
#' @importFrom generics tunable
#' @export
tunable.gp_model <- function(x, ...) {
  found <- NextMethod()
  kernels <- function() dials::new_qual_param(type = "character", values = process_kernel_choice()$values, label = c(kernel = "Kernel"))
  found$call_info[found$name == "kernel"] <- list(list(pkg = NULL, fun = kernels))
  found
}

# The parameters of dials for those of the model types; for `kernel` see tunable.gp_model().
parsnip_dials <- c(cost = "cost", rbf_sigma = "rbf_sigma", margin = "svm_margin", degree = "degree", scale_factor = "scale_factor", penalty = "penalty",
                   mixture = "mixture", inducing = "num_knots", kernel = "weight_func", trees = "trees", mtry = "mtry",
                   min_n = "min_n", learn_rate = "learn_rate", hidden_units = "hidden_units", epochs = "epochs")

parsnip_tuner <- function(word, domain) {
  range <- domain$range
  if (identical(domain$kind, "count")) range <- as.integer(range)
  c(list(pkg = "dials", fun = parsnip_dials[[word]]), if (is.null(range)) list(values = domain$values) else list(range = range))
}

parsnip_types <- c(response = "numeric", class = "class", prob = "prob", conf_int = "conf_int", pred_int = "pred_int")

# From what predict() of a method gives to what parsnip takes.
parsnip_post <- list(
  response = function(result, object) as.vector(unname(result)),
  class = function(result, object) as.vector(as.character(result)),
  prob = function(result, object) tibble::as_tibble(as.data.frame(learner_probabilities(result, object$lvl), optional = TRUE)),
  conf_int = function(result, object) tibble::tibble(.pred_lower = unname(result$lwr), .pred_upper = unname(result$upr)),
  pred_int = function(result, object) tibble::tibble(.pred_lower = unname(result$lwr), .pred_upper = unname(result$upr))
)

register_engine <- function(row, model, engine, mode, spec) {
  parsnip::set_model_engine(model, mode = mode, eng = engine)
  parsnip::set_dependency(model, eng = engine, pkg = "granary", mode = mode)
  for (word in names(spec$arguments)) {
    original <- spec$arguments[[word]]
    parsnip::set_model_arg(model, eng = engine, parsnip = word, original = original, func = parsnip_tuner(word, row$parameters[[original]]), has_submodel = FALSE)
  }
  discrete <- row$features == "discrete"
  given <- learner_arguments(row, mode, prob = mode == "classification" && length(row$probabilities) > 0L, given = spec$fixed)
  parsnip::set_fit(model, mode = mode, eng = engine, value = list(
    interface = if (discrete) "data.frame" else "matrix", protect = c("x", "y", if (row$weights) "weights"), func = c(pkg = "granary", fun = row$fun), defaults = given
  ))
  parsnip::set_encoding(model, mode = mode, eng = engine, options = list(
    predictor_indicators = if (discrete) "none" else "traditional", compute_intercept = !discrete, remove_intercept = !discrete, allow_sparse_x = row$weights
  ))
  asked <- c(learner_types(row, mode), if (mode == "regression") c("conf_int", "pred_int"))
  for (what in intersect(asked, names(row$predict)[names(row$predict) %in% names(parsnip_types)])) {
    newdata <- if (discrete) quote(new_data) else quote(as.matrix(new_data))
    parsnip::set_pred(model, mode = mode, eng = engine, type = parsnip_types[[what]], value = list(
      pre = NULL, post = parsnip_post[[what]], func = c(fun = "predict"), args = c(list(object = quote(object$fit), newdata = newdata), row$predict[[what]])
    ))
  }
  raw <- row$predict[[if (mode == "regression") "response" else "class"]]
  parsnip::set_pred(model, mode = mode, eng = engine, type = "raw", value = list(
    pre = NULL, post = NULL, func = c(fun = "predict"), args = c(list(object = quote(object$fit), newdata = quote(as.matrix(new_data))), raw)
  ))
}

register_parsnip <- function() {
  known <- parsnip::get_from_env("models")
  if (!"gp_model" %in% known) {
    parsnip::set_new_model("gp_model")
    for (mode in c("regression", "classification")) parsnip::set_model_mode("gp_model", mode)
  }
  for (row in learners()) {
    for (model in names(row$parsnip)) {
      spec <- row$parsnip[[model]]
      engine <- if (is.null(spec$engine)) "granary" else spec$engine
      for (mode in intersect(names(row$modes), parsnip::get_from_env(paste0(model, "_modes")))) {
        there <- parsnip::get_from_env(model)
        if (!any(there$engine == engine & there$mode == mode)) register_engine(row, model, engine, mode, spec)
      }
    }
  }
}
