# Scores and calibration of class probabilities, data to try them on, and the support vector machine to compare with.

label_entropy <- function(y) {
  p <- mean(y > 0)
  terms <- c(p, 1 - p)
  -sum(ifelse(terms > 0, terms * log2(terms), 0))
}

#' Error, information and calibration of a classifier
#'
#' `assess()` gives the error rate and the information that predicted probabilities carry about labels; `plot(type = "calibration")` compares predicted
#' probabilities with observed shares.
#'
#' @details
#' The information is \eqn{\frac{1}{n}\sum_i \log_2 p(y_i) + H}{mean of log2 p(y_i) + H} in bits, \eqn{H} the entropy of the labels the model
#' was trained
#' on: zero for a model that knows only the shares of the classes, \eqn{H} for perfect predictions, negative for one that is confidently wrong.
#'
#' @param object A fit of [gp_classify()], [gp_classify_baseline()] or [gp_classify_sample()]; for `autoplot()` a calibration table.
#' @param newdata,newy New rows and their labels; both `NULL` for leave-one-out of a fit of [gp_classify()].
#' @param bins Number of bins of equal width of the calibration table, the attribute `calibration` of the scores.
#' @param x A calibration table.
#' @param ... Passed on to [graphics::plot()].
#' @return `assess()` a data frame with `n`, `error`, `information`, `entropy` and `norm`, the length of the latent mean (`NA` where there is none); its
#'   attribute `calibration` is a data frame of class `granary_calibration` with `predicted`, `observed`, `se` and `n` per bin.
#' @references
#' Kuss and Rasmussen (2005). Assessing approximate inference for binary Gaussian process classification. *Journal of Machine Learning
#' Research* 6, 1679--1704, equation 34.
#' @seealso [kriging()], [sparse_gp()], [gp_classify()], [rvm()], [bayes_opt()], [gp_parameter_sample()]
#' @name assess_gp_classify
#' @examples
#' set.seed(1)
#' train <- sim_gp_classes(20)
#' test <- sim_gp_classes(100)
#' fit <- gp_classify(y ~ x, train)
#' score <- assess(fit, test, test$y, bins = 5)
#' score
#' plot(attr(score, "calibration"))
NULL

#' @rdname assess_gp_classify
#' @export
assess.granary_gp_classify <- function(object, newdata = NULL, newy = NULL, bins = 10, ...) {
  refuse_dots(...)
  score_classifier(object, newdata, newy, bins)
}

#' @rdname assess_gp_classify
#' @export
assess.granary_gp_classify_baseline <- assess.granary_gp_classify

#' @rdname assess_gp_classify
#' @export
assess.granary_gp_sample <- assess.granary_gp_classify

score_classifier <- function(object, newdata, newy, bins) {
  bins <- check_count(bins, "bins", upper = 1000)
  scored <- scored_labels(object, newdata, newy)
  entropy <- label_entropy(scored$training)
  out <- data.frame(n = length(scored$y), error = mean((scored$prob > 0.5) != (scored$y > 0)), information = mean(scored$log_prob) / log(2) + entropy,
                    entropy = entropy, norm = if (is.null(object$latent_mean)) NA_real_ else sqrt(sum(object$latent_mean^2)))
  attr(out, "calibration") <- new_calibration(scored$prob, scored$y > 0, bins, if (is.null(newdata)) "leave-one-out" else "new data")
  out
}

scored_labels <- function(object, newdata, newy) {
  if (missing(object)) fail_missing("object")
  known <- c("granary_gp_classify", "granary_gp_classify_baseline", "granary_gp_sample")
  if (!inherits(object, known)) fail_input("object", "a fit of gp_classify(), gp_classify_baseline() or gp_classify_sample()", describe(object))
  if (is.null(newdata) != is.null(newy)) abort_input("`newdata` and `newy` must be given together.", "newy")
  if (is.null(newdata)) {
    if (!inherits(object, "granary_gp_classify")) abort_input("`newdata` must be given: only fits of gp_classify() have leave-one-out.", "newdata")
    return(list(prob = loo_second(object), log_prob = object$loo, y = object$y, training = object$y))
  }
  prob <- predict(object, newdata, type = "prob")[, 2L]
  y <- check_classes(newy, length(prob), "newy", levels = object$levels)$y
  log_prob <- if (inherits(object, "granary_gp_classify")) {
    found <- classifier_predict(object, classifier_inputs(object, newdata))
    ifelse(y > 0, found$log_positive, found$log_negative)
  } else {
    log(pmax(ifelse(y > 0, prob, 1 - prob), .Machine$double.xmin))
  }
  list(prob = prob, log_prob = log_prob, y = y, training = if (is.null(object$y)) object$fit$y else object$y)
}

new_calibration <- function(prob, hit, bins, source) {
  bin <- pmin(bins, 1L + floor(prob * bins))
  table <- do.call(rbind, lapply(sort(unique(bin)), function(b) {
    rows <- bin == b
    p <- mean(prob[rows])
    data.frame(predicted = p, observed = mean(hit[rows]), se = sqrt(p * (1 - p) / sum(rows)), n = sum(rows))
  }))
  structure(table, class = c("granary_calibration", "data.frame"), source = source)
}

#' @rdname assess_gp_classify
#' @export
plot.granary_calibration <- function(x, ...) {
  draw(graphics::plot, x$predicted, x$observed, xlim = c(0, 1), ylim = c(0, 1), pch = 19, col = "#2166ac",
       cex = 0.6 + 1.4 * sqrt(x$n / max(x$n)), xlab = "predicted probability", ylab = "observed share", main = attr(x, "source"), user = list(...))
  graphics::abline(0, 1, lty = 3)
  graphics::segments(x$predicted, pmax(0, x$observed - 2 * x$se), x$predicted, pmin(1, x$observed + 2 * x$se), col = "#2166ac")
  invisible()
}

#' Support vector machine with probabilities, to compare with
#'
#' The baseline of the paper: a support vector machine with a radial kernel, cost and width by cross-validation, probabilities by Platt's
#' sigmoid: [svm()] with the settings of the paper's comparison.
#'
#' @section Which method when:
#' `gp_classify_baseline()` to repeat the paper's comparison; [svm_select()] and [svm()] for a machine of your own; [gp_classify()] where probabilities
#' matter.
#'
#' @param x A numeric matrix or data frame.
#' @param y Labels of two classes.
#' @param cost,gamma Grids of the cost, at most 1e5, and of the kernel's \eqn{\gamma}{gamma}, on standardised columns; `gamma = NULL` for powers
#'   of two around one over the number of columns.
#' @param folds Folds of the cross-validation.
#' @param object A fit.
#' @param newdata Rows to predict for.
#' @param type `"prob"` or `"class"`.
#' @param ... Not used.
#' @return An object of class `granary_gp_classify_baseline` with `cost`, `gamma`, `error` (cross-validated) and the machine; `predict()`
#'   probabilities of
#'   the second class or classes.
#' @references
#' Platt (2000). Probabilities for SV machines. In *Advances in Large Margin Classifiers*, MIT Press, 61--73.
#' @seealso [gp_classify()], [gp_classify_evidence()], [gp_classify_sample()], [kriging()], [sparse_gp()], [rvm()]
#' @export
#' @examples
#' set.seed(1)
#' data <- sim_gp_classes(20)
#' fit <- gp_classify_baseline(data["x"], data$y, cost = c(1, 10), gamma = 1)
#' predict(fit, data.frame(x = c(-6, 0)))
gp_classify_baseline <- function(x, y, cost = 2^seq(-2, 8, by = 2), gamma = NULL, folds = 10, ...) {
  refuse_dots(...)
  call <- match.call()
  x <- check_inputs(x, min_rows = 4L)
  labels <- check_classes(y, nrow(x))
  if (length(unique(labels$y)) < 2L) abort_input("`y` must contain both classes.", "y")
  if (is.null(colnames(x))) colnames(x) <- paste0("x", seq_len(ncol(x)))
  cost <- check_vector(cost, lower = 0, upper = 1e5, strict_lower = TRUE)
  gamma <- if (is.null(gamma)) 2^seq(-4, 2) / ncol(x) else check_vector(gamma, lower = 0, upper = 1e6, strict_lower = TRUE)
  folds <- if (missing(folds)) min(folds, nrow(x)) else check_count(folds, lower = 2, upper = nrow(x))
  scaling <- column_scaling(x)
  scaled <- scale_inputs(x, scaling)
  classes <- factor(labels$levels[(labels$y + 3) / 2], labels$levels)
  fold <- make_folds(nrow(x), folds)
  grid <- expand.grid(cost = unname(cost), gamma = unname(gamma))
  errors <- resample_lapply(seq_len(nrow(grid)), function(k) {
    wrong <- vapply(seq_len(folds), function(part) {
      out <- fold == part
      if (length(unique(classes[!out])) < 2L) return(sum(out) / 2)
      machine <- svm.default(scaled[!out, , drop = FALSE], classes[!out], "classification", cost = grid$cost[k], gamma = grid$gamma[k],
                             standardize = FALSE)
      sum(stats::predict(machine, scaled[out, , drop = FALSE]) != classes[out])
    }, 0)
    sum(wrong) / nrow(x)
  }, "cross-validation")
  grid$error <- unlist(errors)
  best <- which.min(grid$error)
  machine <- svm.default(scaled, classes, "classification", cost = grid$cost[best], gamma = grid$gamma[best], standardize = FALSE,
                         probability = "platt")
  new_fit("gp_classify_baseline", levels = labels$levels, cost = grid$cost[best], gamma = grid$gamma[best], error = grid$error[best], grid = grid,
          machine = machine, scaling = scaling, names = colnames(x), y = labels$y, call = call,
          convergence = list(converged = TRUE, iterations = nrow(grid)))
}

#' @rdname gp_classify_baseline
#' @export
predict.granary_gp_classify_baseline <- function(object, newdata, type = c("prob", "class"), ...) {
  refuse_dots(...)
  type <- check_choice(type, c("prob", "class"))
  if (missing(newdata)) fail_missing("newdata")
  if (is_plain_numeric(newdata) && is.null(dim(newdata))) newdata <- matrix(newdata, ncol = 1L)
  if (is.data.frame(newdata) && all(object$names %in% names(newdata))) newdata <- newdata[object$names]
  at <- scale_inputs(new_design(newdata, object$names, allow_sparse = FALSE), object$scaling)
  found <- stats::predict(object$machine, at, type = "prob")[, object$levels[2L]]
  if (type == "prob") prob_matrix(unname(found), object$levels) else factor(object$levels[1L + (found > 0.5)], object$levels)
}

#' @rdname gp_classify_baseline
#' @export
print.granary_gp_classify_baseline <- function(x, ...) {
  cli::cat_line("support vector machine with radial kernel and Platt's probabilities")
  print_call(x$call)
  cli::cat_line("cost ", format(x$cost), ", gamma ", format(x$gamma, digits = 4L), ", cross-validated error ",
                format(100 * x$error, digits = 3L), "%")
  invisible(x)
}
