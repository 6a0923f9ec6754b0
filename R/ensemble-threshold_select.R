#' How many thresholds?
#'
#' The number of cut points of [threshold_classifier()], by cross-validation, by a penalty or on rows held out.
#'
#' @details
#' `"penalty"` minimises \eqn{L_n + C \sqrt{K \log n / n}}{L_n + C sqrt(K log n / n)} with \eqn{C} = `lambda`, in the
#' manner of structural risk minimisation; `"cv"` the mean error of `folds` test sets, `"holdout"` that of a third of
#' the rows. Where the number found is consistent the limit laws of the cuts hold as if it had been known.
#'
#' @section Which method when:
#' `"cv"` in general; `"penalty"` for many rows, where cross-validation takes long or picks spurious pairs of cuts.
#'
#' @inheritParams threshold_classifier
#' @param k_max Largest number of cuts.
#' @param method How numbers of cuts are compared.
#' @param folds Number of folds, or the fold of every row.
#' @param lambda Factor \eqn{C} of the penalty.
#' @param rule `"min"` for the smallest estimate, `"1se"` for the fewest cuts within one standard error of it
#'   (cross-validation).
#' @return An object of class `granary_selection`: `fit` with the chosen number of cuts, `table`.
#' @seealso [threshold_classifier()]
#' @export
#' @examples
#' set.seed(1)
#' d <- sim_thresholds(600, "cosine")
#' choice <- threshold_select(d$x, d$y, k_max = 6)
#' choice
#' plot(choice)
threshold_select <- function(x, y, k_max = 10, method = c("cv", "penalty", "holdout"), folds = 10,
                             first = c("negative", "positive", "free"), weights = NULL,
                             cost = c(1, 1), lambda = 0.25, rule = c("min", "1se")) {
  data <- threshold_data(x, y, weights)
  k_max <- check_count(k_max, lower = 1, upper = 1000)
  method <- check_choice(method, c("cv", "penalty", "holdout"))
  first <- check_choice(first, c("negative", "positive", "free"))
  rule <- check_choice(rule, c("min", "1se"))
  lambda <- check_number(lambda, lower = 0)
  n <- length(data$x)
  ks <- 0:k_max
  fit_on <- function(rows, k) {
    core_thresholds(data$x[rows], data$y[rows], data$weights[rows], threshold_options(k, first, cost))
  }
  loss_on <- function(fit, rows) {
    label <- core_threshold_labels(data$x[rows], fit$thresholds, fit$first) > 0
    price <- ifelse(data$y[rows] > 0, cost[2L], cost[1L])
    sum((data$weights * 1)[rows] * price * (label != (data$y[rows] > 0))) / sum(data$weights[rows])
  }
  threshold_options(1L, first, cost)
  if (method == "penalty") {
    path <- fit_on(seq_len(n), k_max)$path
    risk <- path[pmin(ks + 1L, length(path))]
    table <- data.frame(k = ks, estimate = risk + lambda * sqrt(ks * log(n) / n), risk = risk)
    folds <- NULL
  } else {
    fold <- if (method == "cv") check_folds(folds, n) else make_folds(n, 3L)
    parts <- if (method == "cv") sort(unique(fold)) else 1L
    losses <- resample_lapply(parts, function(part) {
      vapply(ks, function(k) loss_on(fit_on(which(fold != part), k), which(fold == part)), 0)
    }, "thresholds")
    losses <- do.call(rbind, losses)
    table <- data.frame(k = ks, estimate = colMeans(losses))
    if (method == "cv") table$std.error <- apply(losses, 2L, stats::sd) / sqrt(length(parts))
    folds <- fold
  }
  best <- table$k[which.min(table$estimate)]
  if (rule == "1se" && !is.null(table$std.error)) {
    least <- which.min(table$estimate)
    best <- min(table$k[table$estimate <= table$estimate[least] + table$std.error[least]])
  }
  if (rule == "1se" && is.null(table$std.error)) {
    abort_input("`rule` = \"1se\" needs the standard errors of method = \"cv\".", "rule")
  }
  labelled <- factor(data$levels[data$y + 1], data$levels)
  fit <- suppressWarnings(threshold_classifier(data$x, labelled, k = best, first = first, weights = data$weights,
                                               cost = cost))
  new_selection("threshold", fit, table, rule, c(cv = "cross-validated risk", penalty = "risk and penalty",
                                                 holdout = "risk on rows held out")[[method]], simplicity = -table$k,
                selected = match(best, table$k), folds = folds, n = n)
}
