#' The length of conjunctions
#'
#' Fits [boolean_svm()] for each `k` and chooses one: by cross-validation, or by what a fit says about itself.
#'
#' @details
#' `rule = "cv"` takes the smallest error on left-out folds. `"radius"` takes the smallest
#' \eqn{(R/\mathrm{margin})^2/n}{(R / margin)^2 / n} with \eqn{R} the largest length of a row in the feature space,
#' `"sv"` the smallest share of support rows, which bounds the leave-one-out error. No such rule saves the method on
#' all data: Khardon and Servedio (2005) show laws where every `k` above 1 learns by heart. Candidates that do not
#' separate the classes count as errors of one half in every rule but `"cv"`.
#'
#' @section Which method when:
#' `"cv"` unless rows are very few. The table shows the memorisation index of every `k` beside the error: where it
#' jumps, stop.
#'
#' @param x,y,type,exact,empty,damping,tol,max_iter As for [boolean_svm()].
#' @param k Lengths to compare.
#' @param rule How to choose.
#' @param folds For `"cv"`: number of folds, or the fold of each row.
#' @param ... Not used.
#' @return An object of class `granary_selection`: `fit`, `table` with a row per `k` (error or bound as `estimate`,
#'   `std.error`, margin, memorisation index, support rows), `selected`.
#' @references
#' Khardon and Servedio (2005). Maximum margin algorithms with Boolean kernels. *Journal of Machine Learning
#' Research* 6, 1405--1429.
#' @seealso [boolean_svm()], [boolean_bounds()]
#' @export
#' @examples
#' set.seed(1)
#' x <- matrix(rbinom(60 * 8, 1, 0.5), 60, dimnames = list(NULL, letters[1:8]))
#' y <- ifelse(x[, "a"] & x[, "b"], "yes", "no")
#' choice <- boolean_select(x, y, k = 1:4, folds = 5)
#' choice
#' choice$table
boolean_select <- function(x, y, k = 1:5, rule = c("cv", "radius", "sv"), type = c("monotone", "signed", "parity"),
                           exact = FALSE, empty = FALSE, damping = 1,
                           folds = 10, tol = 1e-6, max_iter = 1e6, ...) {
  refuse_dots(...)
  call <- match.call()
  if (missing(x)) fail_missing("x")
  if (missing(y)) fail_missing("y")
  rule <- check_choice(rule, c("cv", "radius", "sv"))
  k <- check_vector(k, "k", lower = 1)
  if (any(k != round(k)) || anyDuplicated(k)) fail_input("k", "whole numbers, each once", describe(k))
  settings <- list(tol = check_number(tol, lower = 0, strict_lower = TRUE, upper = 0.5),
                   max_iter = check_number(max_iter, lower = 1, upper = 1e9))
  data <- boolean_data(x, y)
  specs <- lapply(k, boolean_spec, type = type, exact = exact, empty = empty, damping = damping)
  if (rule == "cv") folds <- check_folds(folds, nrow(data$x))
  fits <- lapply(specs, function(spec) boolean_fit(data, spec, settings, generic_call(call, "boolean_select")))
  apart <- vapply(fits, function(fit) isTRUE(fit$convergence$converged), NA)
  number <- function(field) vapply(fits, function(fit) fit[[field]][[1L]], 0)
  share <- vapply(fits, function(fit) mean(fit$coefficients != 0), 0)
  scored <- switch(
    rule, radius = list(estimate = ifelse(apart, (number("radius") / number("margin"))^2 / nrow(data$x), 0.5)),
    sv = list(estimate = ifelse(apart, share, 0.5)), cv = boolean_cross_validate(data, specs, settings, folds)
  )
  table <- data.frame(k = k, scored, margin = ifelse(apart, number("margin"), NA),
                      memorisation = number("memorisation"), support = share, separable = apart)
  best <- order(table$estimate, table$k)[1L]
  boolean_notes(fits[[best]])
  measure <- c(cv = "error on left-out folds", radius = "(radius / margin)^2 / n", sv = "share of support rows")[[rule]]
  new_selection("boolean", fits[[best]], table, rule, measure, axis = "k", selected = best,
                folds = if (rule == "cv") folds,
                call = generic_call(call, "boolean_select"))
}

# Folds that lack a class are scored by the other class.
boolean_cross_validate <- function(data, specs, settings, folds) {
  errors <- resample_lapply(sort(unique(folds)), function(fold) {
    out <- folds == fold
    y <- data$y[!out]
    vapply(specs, function(spec) {
      if (length(unique(y)) < 2L) return(mean(data$y[out] != y[1L]))
      raw <- core_boolean_margin(data$x[!out, , drop = FALSE], 2 * y - 3, c(list(kernel = spec), settings), NULL)
      scores <- core_boolean_scores(data$x[!out, , drop = FALSE], raw$coefficients, spec, data$x[out, , drop = FALSE],
                                    NULL)
      mean((scores$score - raw$theta > 0) != (data$y[out] == 2))
    }, 0)
  }, "folds")
  errors <- matrix(unlist(errors), length(specs))
  size <- as.vector(table(folds))
  list(estimate = drop(errors %*% size) / sum(size), std.error = apply(errors, 1L, stats::sd) / sqrt(ncol(errors)))
}
