#' Boltzmann machines with hidden nodes
#'
#' Networks of on-off nodes, some of which are never or only sometimes seen, by exact EM or by mean-field variational EM; the latter says how far its limit is
#' from the likelihood.
#'
#' @details
#' \deqn{p(s) = \exp(\sum_i b_i s_i + \sum_{i<j} J_{ij} s_i s_j) / z, \quad s_i \in \{0, 1\}.}{p(s) = exp(sum_i b_i s_i + sum_{i<j} J_ij s_i s_j) / z, s_i in {0, 1}.}
#' The forward step of `method = "exact"` lists the states of the hidden nodes of each row; that of `"mean_field"` takes the product law nearest to them, whose
#' means solve \eqn{\mu_i = 1 / (1 + \exp(-b_i - \sum_j J_{ij} \mu_j))}{mu_i = 1 / (1 + exp(-b_i - sum_j J_ij mu_j))}. The backward step is a convex problem
#' whose \eqn{z} is a sum over all states: at most 20 nodes.
#'
#' The mean-field limit minimises \eqn{D} but is no stationary point of the likelihood unless hidden nodes have no couplings in a row: `bias` is the slope
#' that is left, \eqn{E[s_i s_j | seen] - \mu_i \mu_j}{E[s_i s_j | seen] - mu_i mu_j} per row, and `gap` what the likelihood exceeds \eqn{-D} by.
#'
#' @section Which method when:
#' `"exact"` whenever it is quick enough; `"mean_field"` to see what the approximation does. [ising_fit()] when every node is seen, and for sparse graphs.
#'
#' @param x Rows of 0 and 1 (or `FALSE` and `TRUE`), `NA` where a node is hidden.
#' @param hidden Number of further nodes that are hidden in every row.
#' @param method Exact, or mean field.
#' @param lambda Ridge penalty on the couplings, per row: \eqn{\lambda/2 \sum J_{ij}^2}{lambda/2 sum J_ij^2}.
#' @param weights Case weights, one per row, or `NULL`.
#' @param start `NULL` for random ones, or a fit made before.
#' @param n_starts Number of starts of the fit, and of every mean-field step.
#' @param limit Parameters stay within plus and minus this: a pattern that never occurs drives them to infinity otherwise.
#' @param tol,max_iter Stop when \eqn{D} falls by less than `tol` of itself and its derivative per row is below \eqn{\sqrt{tol}}{sqrt(tol)}, or after `max_iter`
#'   iterations.
#' @return An object of class `granary_boltzmann_fit` with `J`, `b`, `mean` (of every node in every row), `loglik` (exact in both methods), `divergence`,
#'   `gap`, `score` (of the penalised likelihood, per row), `bias`, `trace`, `values` of all starts.
#' @references Gunawardana and Byrne (2005). Convergence theorems for generalized alternating minimization procedures. *Journal of Machine Learning
#'   Research* 6, 2049--2073.
#' @seealso [em_fit()], [em_iterate()], [ising_fit()].
#' @export
#' @examples
#' set.seed(1)
#' votes <- sim_boltzmann(300, J = 1.5 * (1 - diag(5)), b = rep(-3, 5))
#' votes[sample(length(votes), 300)] <- NA
#' exact <- boltzmann_fit(votes, lambda = 0.01)
#' exact
#' field <- boltzmann_fit(votes, method = "mean_field", lambda = 0.01)
#' c(exact = exact$loglik, mean_field = field$loglik, gap = field$gap)
#' plot(field)
boltzmann_fit <- function(x, hidden = 0, method = c("exact", "mean_field"), lambda = 0, weights = NULL, start = NULL, n_starts = 5, limit = 30,
                          tol = 1e-8, max_iter = 500) {
  call <- match.call()
  if (missing(x)) fail_missing("x")
  method <- check_choice(method, c("exact", "mean_field"))
  hidden <- check_count(hidden, lower = 0)
  rows <- boltzmann_nodes(x, "x", hidden)
  weights <- check_case_weights(weights, nrow(rows))
  options <- list(method = method, lambda = check_number(lambda, lower = 0), n_starts = check_count(n_starts),
                  limit = check_number(limit, lower = 0, strict_lower = TRUE), tol = check_number(tol, lower = 0, strict_lower = TRUE),
                  max_iter = check_count(max_iter))
  if (!is.null(start)) {
    if (!inherits(start, "granary_boltzmann_fit")) fail_input("start", "NULL or a fit of boltzmann_fit()", describe(start))
    check_fit(start)
    if (length(start$b) != ncol(rows)) abort_input(sprintf("`start` must have %d nodes, but it has %d.", ncol(rows), length(start$b)), "start")
    options <- c(options, list(J = unname(start$J), b = unname(start$b)))
  }
  found <- core_boltzmann_fit(unname(rows), weights, options, core_seed(), progress_bar("Boltzmann machine"))
  names <- colnames(rows)
  square <- function(m) structure(m, dimnames = list(names, names))
  trace <- as.data.frame(found$trace)
  trace$gap <- trace$forward + trace$loglik
  trace[] <- lapply(trace, na_for_nan)  # the likelihood is not known after every pass
  fit <- new_fit("boltzmann_fit", J = square(found$J), b = stats::setNames(found$b, names), mean = structure(found$mean, dimnames = list(rownames(rows), names)),
                 loglik = found$loglik, divergence = found$divergence, gap = found$gap, score = found$score, bias = square(found$bias), rises = found$rises,
                 values = found$values, trace = trace, method = method, lambda = options$lambda, hidden = hidden, n_starts = options$n_starts, n = nrow(rows),
                 call = call, convergence = found$convergence)
  check_convergence(fit, "Use `lambda`, more starts, or a larger `max_iter`.")
}

# 0, 1, and -1 where hidden, with the nodes that are hidden everywhere at the end.
boltzmann_nodes <- function(x, arg, hidden = 0L, columns = NULL) {
  if (is.data.frame(x)) x <- as.matrix(x)
  if (is.logical(x) && is.matrix(x)) storage.mode(x) <- "double"
  x <- check_matrix(x, arg, allow_na = TRUE)
  if (!is.null(columns) && !is.null(colnames(x))) x <- match_columns(x, columns, arg)
  if (!is.null(columns) && ncol(x) != length(columns)) abort_input(sprintf("`%s` must have %d columns, not %d.", arg, length(columns), ncol(x)), arg)
  bad <- !is.na(x) & x != 0 & x != 1
  if (any(bad)) abort_input(sprintf("`%s` must hold 0, 1 and NA only, but there is %s.", arg, format(x[bad][1L])), arg)
  x[is.na(x)] <- -1
  colnames(x) <- variable_names(colnames(x), ncol(x))
  if (hidden > 0L) x <- cbind(x, matrix(-1, nrow(x), hidden, dimnames = list(NULL, paste0("hidden", seq_len(hidden)))))
  if (ncol(x) > 20L) {
    abort_input(sprintf("`%s` and the hidden nodes must be at most 20 nodes, not %d: all their states are listed. For graphs of more nodes that are all seen use ising_fit().", arg,
                        ncol(x)), arg)
  }
  x
}

#' @export
print.granary_boltzmann_fit <- function(x, ...) {
  cli::cat_line("Boltzmann machine: ", counted(length(x$b), "node", "nodes"), if (x$hidden > 0L) sprintf(" (%d hidden)", x$hidden), ", n = ", x$n, ", ",
                switch(x$method, exact = "exact EM", mean_field = "mean-field EM"))
  print_call(x$call)
  cli::cat_line("Log-likelihood ", format(x$loglik, digits = 7L), ", -D = ", format(-x$divergence, digits = 7L), ", gap ", format(x$gap, digits = 3L))
  if (x$method == "mean_field") {
    cli::cat_line("This is not a maximum likelihood estimate: the slope left is up to ", format(max(abs(x$bias)), digits = 3L), " per row (see `bias`).")
  }
  cli::cat_line("Solver: ", format_convergence(x$convergence))
  invisible(x)
}

#' @rdname boltzmann_fit
#' @param object A fit.
#' @param newdata Rows with the nodes of the fit, `NA` where they are not seen; `NULL` for those of the fit.
#' @param type `"response"` for the probability that a node is on, `"density"` for log-probabilities of what is seen.
#' @param ... Not used.
#' @export
predict.granary_boltzmann_fit <- function(object, newdata = NULL, type = c("response", "density"), ...) {
  refuse_dots(...)
  type <- check_choice(type, c("response", "density"))
  if (is.null(newdata)) {
    if (type == "response") return(object$mean)
    abort_input("Give `newdata`, the rows whose log-probabilities are wanted.", "newdata")
  }
  seen <- utils::head(names(object$b), length(object$b) - object$hidden)
  rows <- boltzmann_nodes(newdata, "newdata", object$hidden, columns = seen)
  found <- core_boltzmann_rows(unname(rows), list(method = object$method, J = unname(object$J), b = unname(object$b), n_starts = object$n_starts), core_seed(), NULL)
  if (type == "density") return(stats::setNames(found$loglik, rownames(rows)))
  structure(found$mean, dimnames = list(rownames(rows), names(object$b)))
}

#' @rdname boltzmann_fit
#' @export
logLik.granary_boltzmann_fit <- function(object, ...) {
  refuse_dots(...)
  n <- length(object$b)
  structure(object$loglik, df = n * (n + 1) / 2, nobs = object$n, class = "logLik")
}

#' @rdname boltzmann_fit
#' @export
coef.granary_boltzmann_fit <- function(object, ...) {
  refuse_dots(...)
  pairs <- which(upper.tri(object$J), arr.ind = TRUE)
  c(object$b, stats::setNames(object$J[pairs], paste(rownames(object$J)[pairs[, 1L]], rownames(object$J)[pairs[, 2L]], sep = ":")))
}

#' @rdname boltzmann_fit
#' @export
simulate.granary_boltzmann_fit <- function(object, nsim = 1, seed = NULL, ...) {
  refuse_dots(...)
  nsim <- check_count(nsim)
  if (!is.null(seed)) return(with_seed(seed, simulate(object, nsim = nsim)))
  lapply(seq_len(nsim), function(i) sim_boltzmann(object$n, object$J, object$b))
}

#' @rdname boltzmann_fit
#' @export
tidy.granary_boltzmann_fit <- function(x, ...) {
  refuse_dots(...)
  estimate <- stats::coef(x)
  pairs <- which(upper.tri(x$J), arr.ind = TRUE)
  data.frame(term = names(estimate), estimate = unname(estimate), bias = c(diag(x$bias), x$bias[pairs]))
}

#' @rdname boltzmann_fit
#' @export
plot.granary_boltzmann_fit <- function(x, ...) {
  trace <- x$trace
  palette <- unname(grDevices::palette.colors(3L, "Okabe-Ito")[2:3])
  at <- seq_len(nrow(trace))
  values <- c(-trace$backward, x$gap - x$divergence)
  old <- graphics::par(mar = c(4.1, 5.1, 3.1, 1.1))
  on.exit(graphics::par(old))
  draw(graphics::plot, at, -trace$backward, type = "s", lwd = 2, col = palette[2L], ylim = range(values[is.finite(values)]), xlab = "iteration", ylab = "nats",
       main = "", bty = "l", user = list(...))
  graphics::abline(h = x$gap - x$divergence, col = palette[1L], lty = 2L)  # with the penalty, as D has it
  graphics::mtext(c("-D", sprintf("(penalised) log-likelihood at the end, %s above", format(x$gap, digits = 3L))), 3L, line = c(1.3, 0.3), adj = 0, col = palette[2:1], cex = 0.9)
  invisible(x)
}

#' Rows of a Boltzmann machine
#'
#' Exact draws of on-off nodes, from the table of all their states.
#'
#' @section Which method when:
#' `sim_boltzmann()` to try [boltzmann_fit()] on; [sim_ising()] for more than 20 nodes and states of -1 and 1.
#'
#' @param n Number of rows.
#' @param J Couplings: a symmetric matrix, at most 20 x 20; its diagonal is not used.
#' @param b Fields, one per node.
#' @return A matrix of 0 and 1.
#' @seealso [boltzmann_fit()].
#' @export
#' @examples
#' set.seed(1)
#' colMeans(sim_boltzmann(1000, J = matrix(0, 2, 2), b = c(0, 2)))
sim_boltzmann <- function(n, J, b) {
  n <- check_count(n, upper = 1e7)
  if (missing(J)) fail_missing("J")
  J <- check_symmetric(J)
  b <- check_vector(b, length = nrow(J))
  if (nrow(J) > 20L) abort_input(sprintf("`J` must have at most 20 nodes, not %d: all their states are listed.", nrow(J)), "J")
  diag(J) <- 0
  out <- core_boltzmann_draws(n, unname(as.matrix(J)), unname(b), core_seed())
  colnames(out) <- variable_names(colnames(J), ncol(J))
  out
}
