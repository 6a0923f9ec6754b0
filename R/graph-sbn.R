#' Sigmoid belief network
#'
#' A density for binary vectors in which every variable is a logistic regression on those before it (the logistic autoregressive network):
#' \eqn{n(n-1)/2} weights
#' instead of \eqn{2^n} probabilities, exact likelihood, exact simulation. With classes, one network per class and a classifier.
#'
#' @details
#' \deqn{P(x) = \prod_i P(x_i | x_1, \dots, x_{i-1}), \quad P(x_i = 1 | \cdot) = \sigma\big(b_i + \sum_{j<i} w_{ij} x_j\big).}{P(x) = prod_i P(x_i
#' | x_1 .. x_(i-1)), P(x_i = 1 | .) = expit(b_i + sum_(j<i) w_ij x_j).}
#' The likelihood falls into one logistic regression per variable, each penalised by \eqn{\lambda \|w_i\|^2/2}{lambda ||w_i||^2 / 2} or
#' \eqn{\lambda\|w_i\|_1}{lambda ||w_i||_1} beside the
#' mean log-loss. The paper has no bias (`bias = FALSE`). The order matters for what the model can express: `order = "score"` puts last the
#' variable that the others explain best, repeats
#' this among the rest, and then swaps neighbours as long as the penalised likelihood rises.
#'
#' @section Which method when:
#' For binary data with dense dependence, where tables of [bn_classifier()] would be too large. For a sparse, undirected graph see [ising_fit()].
#'
#' @param x Two-valued data: zeros and ones, logical, or a data frame whose columns may also be factors or text with two values (the second, in order of the
#'   levels, is the one).
#' @param formula,data,subset,na.action `class ~ a + b`, or `~ a + b` without classes, whose terms are columns of `data`, and what goes with it as in
#'   [stats::lm()].
#' @param y `NULL`, or two or more classes, one per row.
#' @param order `"given"` (the columns as they come), `"score"`, or the columns in order, by name or number.
#' @param bias Whether to fit intercepts.
#' @param penalty `"l2"` or `"l1"`.
#' @param lambda Weight of the penalty; by default 1 / n.
#' @param tol,max_iter Stopping rule: largest entry of the gradient, relative to that of the zero weights.
#' @param threads Threads; default `getOption("granary.threads")`.
#' @param object A fit.
#' @param newdata Data with the same variables; by default the ones fitted.
#' @param type With classes: `"class"`, `"prob"` (one column per class) or `"log_density"`. Without: the log-density.
#' @param nsim,seed Number of rows to simulate; `seed` as in [stats::simulate()].
#' @param class With classes, the one to simulate.
#' @param ... For the formula method, arguments of the default method.
#' @return An object of class `granary_sbn`: `weights` (row: to, column: from), `bias`, `order`, `loglik`; with classes, lists of them in
#'   `networks`.
#' @references
#' Neal (1992). Connectionist learning of belief networks. *Artificial Intelligence* 56, 71--113.
#'
#' Nakamura, Schmitt, Schmitt and Simon (2005). Inner product spaces for Bayesian networks. *Journal of Machine Learning Research* 6, 1383--1403.
#' @seealso [bn_kernel()], [bn_classifier()], [bn_bounds()], [sasb()], [svm()]
#' @export
#' @examples
#' x <- sapply(mtcars[c("mpg", "wt", "hp", "qsec")], function(v) as.numeric(v > median(v)))
#' fit <- sbn_fit(x, order = "score")
#' fit
#' logLik(fit)
#' simulate(fit, nsim = 3)
#' classes <- sbn_fit(x, mtcars$am)
#' table(predict(classes), mtcars$am)
sbn_fit <- function(x, ...) {
  UseMethod("sbn_fit", formula_or_first(x, ...))
}

#' @rdname sbn_fit
#' @export
sbn_fit.formula <- function(formula, data = NULL, subset, na.action, ...) {  # nolint: object_name_linter.
  discrete_formula_fit(sbn_fit.default, "sbn_fit", ..., response = length(formula) == 3L)
}

#' @rdname sbn_fit
#' @export
sbn_fit.default <- function(x, y = NULL, order = "given", bias = TRUE, penalty = c("l2", "l1"), lambda = NULL, tol = 1e-7, max_iter = 2000,
                            threads = NULL, ...) {
  refuse_dots(...)
  call <- generic_call(match.call(), "sbn_fit")
  if (missing(x)) fail_missing("x")
  if (inherits(x, "granary_counts") && !is.null(y)) {
    whole <- counted_response(x, y)
    x <- whole$x
    y <- whole$y
  }
  data <- two_valued(counted_rows(x), "x")
  x <- data$x
  bias <- check_flag(bias)
  penalty <- check_choice(penalty, c("l2", "l1"))
  lambda <- check_number(lambda, lower = 0, allow_null = TRUE)
  tol <- check_number(tol, lower = 0, strict_lower = TRUE, upper = 1)
  max_iter <- check_count(max_iter)
  threads <- thread_count(threads)
  choose <- identical(order, "score")
  order <- if (choose || identical(order, "given")) seq_len(ncol(x)) else sbn_order(order, colnames(x))
  one <- function(rows) {
    settings <- list(loss = "logistic", lambda = if (is.null(lambda)) 1 / nrow(rows) else lambda, l1 = penalty == "l1", intercept = bias, tol = tol,
                     max_iter = max_iter)
    net <- core_sbn_fit(rows, order, if (choose) "score" else "given", settings, threads, progress_bar("sigmoid belief network"))
    names(net)[names(net) == "log_likelihood"] <- "loglik"
    names(net$bias) <- colnames(x)
    dimnames(net$weights) <- rep(list(colnames(x)), 2L)
    net
  }
  shared <- list(bias_fitted = bias, penalty = penalty, lambda = lambda, variables = colnames(x), states = data$states, x = x)
  if (is.null(y)) {
    net <- one(x)
    fit <- do.call(new_fit, c(list("sbn"), net[c("weights", "bias", "order", "loglik")], shared,
                              list(call = call, convergence = net$convergence)), quote = TRUE)
  } else {
    groups <- sbn_classes(y, nrow(x))
    nets <- lapply(levels(groups), function(level) one(x[groups == level, , drop = FALSE]))
    names(nets) <- levels(groups)
    fit <- do.call(new_fit, c(list("sbn"), list(networks = lapply(nets, `[`, c("weights", "bias", "order", "loglik")), y = groups, levels = levels(groups),
                                                prior = table(groups) / length(groups), loglik = sum(vapply(nets, `[[`, 0, "loglik"))),
                              shared, list(call = call, convergence = lapply(nets, `[[`, "convergence"))), quote = TRUE)
  }
  check_convergence(fit, "Raise `max_iter` or `lambda`: weights of variables that determine each other are infinite without a penalty.")
  fit
}

# list(x, states): zeros and ones with names, and for columns that were factors or text what they stand for. `like`: the states of a fit, by name.
two_valued <- function(x, arg, like = list()) {
  states <- list()
  if (is.data.frame(x)) {
    for (name in names(x)[!vapply(x, is.numeric, NA)]) {
      column <- x[[name]]
      if (is.logical(column) && is.null(like[[name]])) next
      if (!is.factor(column) && !is.character(column) && !is.logical(column)) {
        abort_input(sprintf("Column \"%s\" of `%s` must hold two values, but it is %s.", name, arg, describe(column)), arg)
      }
      if (anyNA(column)) abort_input(sprintf("Column \"%s\" of `%s` must have no missing values, but row %d is NA.", name, arg, which(is.na(column))[1L]), arg)
      known <- like[[name]]
      if (is.null(known)) known <- if (is.factor(column)) levels(column) else sort(unique(column), method = "radix")
      if (length(known) != 2L) {
        abort_input(sprintf("Column \"%s\" of `%s` must have two levels, but it has %d.", name, arg, length(known)), arg)
      }
      code <- match(as.character(column), known) - 1
      if (anyNA(code)) {
        abort_input(sprintf("Column \"%s\" of `%s` has the value \"%s\", which the model does not know (it knows %s).", name, arg,
                            as.character(column)[is.na(code)][1L], paste(known, collapse = ", ")), arg)
      }
      x[[name]] <- code
      states[[name]] <- as.character(known)
    }
  }
  x <- check_matrix(x, arg)
  check_names_unique(colnames(x), arg)
  other <- which(x != 0 & x != 1)
  if (length(other) > 0L) {
    abort_input(sprintf("`%s` must hold zeros and ones, or factors with two levels, but %s is %g.", arg, describe_position(x, other[1L]), x[other[1L]]), arg)
  }
  colnames(x) <- variable_names(colnames(x), ncol(x))
  list(x = x, states = states)
}

sbn_order <- function(order, variables) {
  usable <- is.null(dim(order)) && !is.object(order) && (is.character(order) || is.numeric(order)) && !anyNA(order)
  at <- if (!usable) NULL else if (is.character(order)) match(order, variables) else order
  if (!usable || length(at) != length(variables) || anyNA(at) || !setequal(at, seq_along(variables))) {
    fail_input("order", "\"given\", \"score\" or every column once, by name or number", describe(order))
  }
  as.integer(at)
}

sbn_classes <- function(y, n) {
  usable <- is.factor(y) || (is.atomic(y) && !is.object(y) && is.null(dim(y)) && (is.logical(y) || is.numeric(y) || is.character(y)))
  if (!usable) fail_input("y", "a factor, logical, text or numeric vector of classes (or NULL)", describe(y))
  if (length(y) != n) abort_input(sprintf("`y` must have one class per row of `x` (%d), but it has %d.", n, length(y)), "y")
  if (anyNA(y)) abort_input(sprintf("`y` must have no missing values, but element %d is NA.", which(is.na(y))[1L]), "y")
  y <- factor(y)
  if (nlevels(y) < 2L) abort_input(sprintf("`y` must have at least two classes, but it has only \"%s\".", levels(y)), "y")
  y
}

#' @rdname sbn_fit
#' @export
predict.granary_sbn <- function(object, newdata = NULL, type = c("class", "prob", "log_density"), ...) {
  refuse_dots(...)
  type <- check_choice(type, c("class", "prob", "log_density"))
  x <- if (is.null(newdata)) object$x else {
    known <- intersect(object$variables, names(newdata))
    checked <- two_valued(if (is.data.frame(newdata) && length(known) == length(object$variables)) newdata[known] else newdata, "newdata", object$states)$x
    if (!all(object$variables %in% colnames(checked)) && ncol(checked) == length(object$variables) && is.null(colnames(newdata))) {
      colnames(checked) <- object$variables
    }
    missing <- setdiff(object$variables, colnames(checked))
    if (length(missing) > 0L) abort_input(sprintf("`newdata` lacks the variable %s.", missing[1L]), "newdata")
    checked[, object$variables, drop = FALSE]
  }
  if (is.null(object$networks)) return(core_sbn_log_density(unnamed_network(object), x))
  density <- vapply(object$networks, function(net) core_sbn_log_density(unnamed_network(net), x), numeric(nrow(x)))
  density <- matrix(density, nrow(x), dimnames = list(NULL, names(object$networks)))
  if (type == "log_density") return(density)
  joint <- sweep(density, 2L, log(as.double(object$prior)), "+")
  prob <- exp(joint - apply(joint, 1L, max))
  prob <- prob / rowSums(prob)
  if (type == "prob") prob else factor(colnames(prob)[max.col(prob, ties.method = "last")], colnames(prob))
}

unnamed_network <- function(net) list(order = net$order, bias = unname(net$bias), weights = unname(net$weights))

#' @rdname sbn_fit
#' @export
simulate.granary_sbn <- function(object, nsim = 1, seed = NULL, class = NULL, ...) {
  refuse_dots(...)
  nsim <- check_count(nsim)
  if (!is.null(seed)) return(with_seed(seed, simulate(object, nsim = nsim, class = class)))
  net <- object
  if (!is.null(object$networks)) {
    class <- check_choice(class, names(object$networks))
    net <- object$networks[[class]]
  }
  out <- core_sbn_sample(unnamed_network(net), nsim, core_seed())
  colnames(out) <- object$variables
  if (length(object$states) == 0L) return(out)
  out <- as.data.frame(out)
  for (name in names(object$states)) out[[name]] <- factor(object$states[[name]][out[[name]] + 1], object$states[[name]])
  out
}

#' @rdname sbn_fit
#' @export
logLik.granary_sbn <- function(object, ...) {
  refuse_dots(...)
  nets <- if (is.null(object$networks)) list(object) else object$networks
  df <- sum(vapply(nets, function(net) sum(net$weights != 0) + object$bias_fitted * length(net$bias), 0))
  structure(object$loglik, df = df, nobs = nrow(object$x), class = "logLik")
}

#' @rdname sbn_fit
#' @export
coef.granary_sbn <- function(object, ...) {
  refuse_dots(...)
  if (is.null(object$networks)) object$weights else lapply(object$networks, `[[`, "weights")
}

#' @export
print.granary_sbn <- function(x, ...) {
  cli::cat_line("Sigmoid belief network: ", length(x$variables), " variables, n = ", nrow(x$x),
                if (!is.null(x$networks)) paste0(", classes ", paste(names(x$networks), collapse = ", ")))
  print_call(x$call)
  if (is.null(x$networks)) cli::cat_line("Order: ", paste(utils::head(x$variables[x$order], 12L), collapse = ", "),
                                         if (length(x$order) > 12L) ", ...")
  cli::cat_line("Log-likelihood ", format(x$loglik, digits = 6L), " (", format(x$loglik / nrow(x$x), digits = 4L), " per row)")
  cli::cat_line("Solver: ", format_convergence(x$convergence))
  invisible(x)
}

#' @rdname sbn_fit
#' @export
plot.granary_sbn <- function(x, ...) {
  nets <- if (is.null(x$networks)) list(x) else x$networks
  p <- length(x$variables)
  old <- do.call(graphics::par, c(list(mar = c(5, 5, 3, 4)), if (length(nets) > 1L) list(mfrow = c(1L, length(nets)))))
  on.exit(graphics::par(old))
  colours <- signed_colours(51L)
  for (k in seq_along(nets)) {
    w <- nets[[k]]$weights[nets[[k]]$order, nets[[k]]$order, drop = FALSE]
    top <- max(abs(w), 1e-12)
    draw(graphics::image, seq_len(p), seq_len(p), t(w[rev(seq_len(p)), , drop = FALSE]), zlim = c(-top, top),
         col = colours,
         axes = FALSE, xlab = "from", ylab = "to", main = if (is.null(names(nets))) "Weights" else names(nets)[k], user = list(...))
    graphics::axis(1L, seq_len(p), colnames(w), las = 2, tick = FALSE)
    graphics::axis(2L, seq_len(p), rev(rownames(w)), las = 1, tick = FALSE)
    draw_key(c(-top, top), colours)
  }
  invisible(x)
}
