#' Compare two Gaussian graphs on new data
#'
#' The likelihood-ratio comparison of the thesis: is the larger model worth its parameters?
#'
#' @details
#' With \eqn{L_1}, \eqn{L_0} the log-likelihoods of the rows `newdata` under the model with more and with fewer nonzero entries \eqn{k_1 > k_0} in
#' its precision
#' matrix, the smaller is rejected when \eqn{2 (L_1 - L_0)} is at least the `level` quantile of the chi-squared distribution with \eqn{k_1 - k_0}
#' degrees
#' of freedom. **This is a heuristic**, not an exact test: the models are penalised, need not be nested, and are compared on data they were not
#' fitted to;
#' and \eqn{k} counts both triangles, as the thesis does.
#'
#' @param object A Gaussian graph fit, or a selection by [ggm_select()].
#' @param ... The other one, a fit of the same variables.
#' @param newdata Rows to compare them on, preferably ones that neither was fitted to.
#' @param level The level.
#' @return A list of class `granary_ggm_compare`: `table` (parameters and log-likelihood of both), `statistic`, `df`, `p.value`,
#'   `rejected` (whether the smaller model is), `better` (the one with the larger likelihood).
#' @references
#' Honorio (2012). *Tractable learning of graphical model structures from data.* PhD thesis, Stony Brook University, section 2.5.
#' @seealso [ggm_lasso()], [ggm_select()], [ggm_hub()], [ggm_multi()], [ggm_local()], [ggm_nodes()]
#' @section Several tasks: Two fits to several tasks, each chosen by cross-validation ([ggm_select()] with `"cv"`), are compared task by
#' task on their
#'   held-out log-likelihoods, matched by the names of the tasks: a z test of the hypothesis that the first is no better than the other:
#'   a data frame with one row per task. `newdata` and `level` are not used then.
#' @section Which method when: two models, new rows, and the question which to keep. [ggm_select()] chooses among the penalties of one estimator.
#' @importFrom stats anova
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_ggm("regions", n = 300)
#' train <- sim$data[1:150, ]
#' local <- ggm_local(train, neighbors = neighborhood("chain", 9), lambda = 0.05, tau = 0.05)
#' anova(local, ggm_baseline(train, type = "independent"), newdata = sim$data[151:300, ])
anova.granary_ggm <- function(object, ..., newdata = NULL, level = 0.95) {
  others <- list(...)
  if (length(others) != 1L || !names_absent(others)) abort_input("Give one other fit of the same variables to compare with.", "...")
  other <- others[[1L]]
  plain <- function(x) if (inherits(x, "granary_ggm_select") && is.null(x$scores)) x$fit else x
  ggm_compare(plain(object), plain(other), newdata, level)
}

names_absent <- function(x) is.null(names(x)) || all(!nzchar(names(x)))

#' @rdname anova.granary_ggm
#' @export
anova.granary_ggm_select <- function(object, ..., newdata = NULL, level = 0.95) anova.granary_ggm(object, ..., newdata = newdata, level = level)

ggm_compare <- function(fit, other, newdata = NULL, level = 0.95) {
  several <- function(x) inherits(x, c("granary_ggm_multi", "granary_ggm_select")) || (is.list(x) && !inherits(x, "granary_fit"))
  if (several(fit) && several(other)) return(ggm_multi_compare(fit, other))
  check_ggm(fit)
  check_ggm(other, "other")
  level <- check_number(level, lower = 0, upper = 1, strict_lower = TRUE, strict_upper = TRUE)
  if (is_path(fit) || is_path(other)) abort_input("Both fits must have a single penalty: choose one with ggm_select() or ggm_at().", "fit")
  if (!setequal(colnames(fit$S), colnames(other$S))) abort_input("`fit` and `other` must be of the same variables.", "other")
  if (is.null(newdata)) fail_missing("newdata")
  newdata <- ggm_newdata(fit, check_matrix(newdata, "newdata"))
  parameters <- c(fit = 2 * fit$df, other = 2 * other$df) + ncol(fit$S)
  loglik <- c(fit = sum(predict(fit, newdata, type = "loglik")),
              other = sum(predict(other, newdata[, colnames(other$S), drop = FALSE], type = "loglik")))
  large <- if (parameters[["fit"]] >= parameters[["other"]]) "fit" else "other"
  small <- setdiff(names(loglik), large)
  statistic <- 2 * (loglik[[large]] - loglik[[small]])
  df <- parameters[[large]] - parameters[[small]]
  p.value <- if (df > 0) stats::pchisq(statistic, df, lower.tail = FALSE) else NA_real_
  seal(structure(list(
    table = data.frame(model = names(loglik), parameters = unname(parameters), loglik = unname(loglik)), statistic = statistic, df = df,
    p.value = p.value, rejected = if (df > 0) p.value <= 1 - level else NA, smaller = small, better = names(which.max(loglik)), level = level,
    rows = nrow(newdata)
  ), class = "granary_ggm_compare"))
}

#' @export
print.granary_ggm_compare <- function(x, ...) {
  cli::cat_line("Two Gaussian graphs on ", x$rows, if (x$rows == 1L) " row" else " rows")
  print(format(x$table, digits = 6L), row.names = FALSE)
  if (is.na(x$rejected)) {
    cli::cat_line("Both have as many parameters; `", x$better, "` has the larger likelihood")
  } else {
    cli::cat_line("2 (L1 - L0) = ", format(x$statistic, digits = 4L), " on ", x$df, " degrees of freedom: the smaller model (`", x$smaller, "`) is ",
                  if (x$rejected) "" else "not ", "rejected at level ", x$level)
  }
  cli::cat_line("(a heuristic: see ?anova.granary_ggm)")
  invisible(x)
}

# Several tasks, by their held-out log-likelihoods.
ggm_multi_compare <- function(first, second) {
  scores <- function(from, arg) {
    if (inherits(from, c("granary_ggm_multi", "granary_ggm_select"))) {
      if (is.null(from$scores)) abort_input(sprintf("`%s` must be chosen by cross-validation: see ggm_select().", arg), arg)
      return(from$scores)
    }
    if (is_plain_numeric(from)) from <- list(all = from)
    own <- !is.null(names(from))
    if (!is.list(from) || length(from) == 0L || is.data.frame(from)) {
      abort_input(sprintf("`%s` must be a cross-validated fit or a list of numeric vectors, but it is %s.", arg, describe(from)), arg)
    }
    names(from) <- task_names(names(from), length(from))
    structure(Map(function(v, name) check_vector(v, paste0(arg, "$", name), min_length = 2L), from, names(from)), own = own)
  }
  first <- scores(first, "first")
  second <- scores(second, "second")
  named <- !isFALSE(attr(first, "own")) && !isFALSE(attr(second, "own"))
  if (length(first) != length(second)) {
    abort_input(sprintf("`first` and `second` must have the same tasks, but they have %d and %d.", length(first), length(second)), "second")
  }
  if (named) {
    absent <- setdiff(names(first), names(second))
    if (length(absent) > 0L) abort_input(sprintf("`second` has no task \"%s\": tasks are matched by name.", absent[1L]), "second")
    second <- second[names(first)]
  }
  means <- c(vapply(first, mean, 0), vapply(second, mean, 0))
  spread <- sqrt(vapply(first, function(v) stats::var(v) / length(v), 0) + vapply(second, function(v) stats::var(v) / length(v), 0))
  count <- length(first)
  difference <- means[seq_len(count)] - means[count + seq_len(count)]
  z <- ifelse(spread > 0, difference / spread, sign(difference) * Inf)
  z[difference == 0] <- 0
  data.frame(task = names(first), first = means[seq_len(count)], second = means[count + seq_len(count)], z = unname(z),
             p.value = unname(stats::pnorm(z, lower.tail = FALSE)), row.names = NULL)
}
