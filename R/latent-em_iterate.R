#' Alternating minimisation with steps of your own
#'
#' Runs any pair of forward and backward steps given as functions, and watches what the theory asks of them: that the divergence never rises, how far it is
#' from the likelihood, and whether the limit can be a stationary point of it.
#'
#' @details
#' A generalised alternating minimisation procedure needs
#' \eqn{D(Q', \theta) \le D(Q, \theta)}{D(Q', theta) <= D(Q, theta)} of the forward step and
#' \eqn{D(Q', \theta') \le D(Q', \theta)}{D(Q', theta') <= D(Q', theta)} of the backward step. The likelihood then satisfies
#' \eqn{\log p(y; \theta') \ge \log p(y; \theta) + \Delta}{log p(y; theta') >= log p(y; theta) + Delta} with
#' \eqn{\Delta}{Delta} the change of the gap \eqn{D + \log p}{D + log p}, which may be negative: a constrained forward step can lower the likelihood, as the
#' example shows.
#'
#' @section Which method when:
#' [em_fit()] for the models it knows; `em_iterate()` for a model of your own, to try an idea, or to teach. Steps are R functions, so it is as fast as they
#' are.
#'
#' @param start Parameters to start from: anything the functions understand.
#' @param forward Function of (`q`, `theta`) that gives the new `q`; in the first call `q` is `NULL`.
#' @param backward Function of (`q`, `theta`) that gives the new `theta`.
#' @param divergence Function of (`q`, `theta`) that gives \eqn{D}.
#' @param loglik Function of `theta` that gives the log-likelihood, or `NULL`.
#' @param tol Stop when \eqn{D} falls by less than this share of itself.
#' @param max_iter Largest number of iterations.
#' @return An object of class `granary_em_iterate` with `theta`, `q`, `divergence`, `loglik`, `gap`, `trace` (`forward`, `backward`, `loglik`, `gap`,
#'   `delta` per iteration), `rises`, `falls`.
#' @references Gunawardana and Byrne (2005). Convergence theorems for generalized alternating minimization procedures. *Journal of Machine Learning
#'   Research* 6, 2049--2073.
#' @seealso [em_fit()], [boltzmann_fit()].
#' @export
#' @examples
#' # Two tosses of a coin of which only "equal or not" is seen (Example 2 of the paper); here they were equal.
#' # q is the probability that both were heads.
#' entropy <- function(q) ifelse(q %in% c(0, 1), 0, -q * log(q) - (1 - q) * log(1 - q))
#' coin <- list(
#'   posterior = function(theta) theta^2 / (theta^2 + (1 - theta)^2),
#'   divergence = function(q, theta) -entropy(q) - 2 * (q * log(theta) + (1 - q) * log(1 - theta)),
#'   loglik = function(theta) log(theta^2 + (1 - theta)^2)
#' )
#' em <- em_iterate(0.3, function(q, theta) coin$posterior(theta), function(q, theta) q, coin$divergence, coin$loglik, max_iter = 3)
#' em$trace
#' # With q held in [0.4, 0.6] the procedure ends at once, and below the likelihood it started from.
#' held <- em_iterate(0.3, function(q, theta) min(max(coin$posterior(theta), 0.4), 0.6), function(q, theta) q, coin$divergence, coin$loglik)
#' held
#' plot(held)
em_iterate <- function(start, forward, backward, divergence, loglik = NULL, tol = 1e-8, max_iter = 1000) {
  call <- match.call()
  for (name in c("start", "forward", "backward", "divergence")) if (eval(call("missing", as.name(name)))) fail_missing(name)
  check_function(forward, "forward")
  check_function(backward, "backward")
  check_function(divergence, "divergence")
  if (!is.null(loglik)) check_function(loglik, "loglik")
  tol <- check_number(tol, lower = 0)
  max_iter <- check_count(max_iter)
  number <- function(value, name) {
    if (!is.numeric(value) || length(value) != 1L || is.na(value)) fail_input(name, "a function that gives one number", paste("one that gave", describe(value)))
    as.double(value)
  }
  forward <- own_step(forward, "forward")
  backward <- own_step(backward, "backward")
  divergence <- own_step(divergence, "divergence")
  if (!is.null(loglik)) loglik <- own_step(loglik, "loglik")
  theta <- start
  q <- NULL
  rows <- list()
  last <- Inf
  rises <- 0L
  converged <- FALSE
  message <- ""
  for (pass in seq_len(max_iter)) {
    likelihood <- if (is.null(loglik)) NA_real_ else number(loglik(theta), "loglik")
    q <- forward(q, theta)
    d <- number(divergence(q, theta), "divergence")
    rose <- d > last + 1e-10 * (1 + abs(last))
    theta <- backward(q, theta)
    after <- number(divergence(q, theta), "divergence")
    rises <- rises + rose + (after > d + 1e-10 * (1 + abs(d)))
    rows[[pass]] <- data.frame(forward = d, backward = after, loglik = likelihood, gap = d + likelihood)
    if (!is.finite(after) || is.finite(last) && abs(last - after) <= tol * (abs(after) + tol)) {
      converged <- rises == 0L
      break
    }
    last <- after
  }
  if (!is.finite(after)) message <- "the divergence is no longer finite: the limit lies on the boundary"
  if (rises > 0L) message <- sprintf("the divergence rose in %d steps, so these are not steps of an alternating minimisation", rises)
  trace <- do.call(rbind, rows)
  trace$delta <- c(diff(trace$gap), NA_real_)
  final <- if (is.null(loglik)) NA_real_ else number(loglik(theta), "loglik")
  course <- c(trace$loglik, final)
  fit <- new_fit("em_iterate", theta = theta, q = q, divergence = after, loglik = final, gap = after + final, trace = trace, rises = rises,
                 falls = sum(diff(course) < -1e-10 * (1 + abs(course[-1L])), na.rm = TRUE), n = NA_integer_, call = call,
                 convergence = list(converged = converged, iterations = nrow(trace), gap = NA_real_, residual = abs(last - after), seconds = NA_real_,
                                    message = message, reason = if (converged) "solved" else if (rises > 0L) "stalled" else "iterations"))
  if (rises > 0L) warn_convergence(paste0("In ", counted(rises, "step", "steps"), " the divergence rose: the forward or the backward step does not lower it."))
  fit
}

# A function of the user's whose error says which it was.
own_step <- function(f, name) {
  force(f)
  function(...) {
    tryCatch(f(...), error = function(e) {
      if (inherits(e, "granary_error")) stop(e)
      abort_input(sprintf("`%s` stopped: %s", name, conditionMessage(e)), name)
    })
  }
}

#' @export
print.granary_em_iterate <- function(x, ...) {
  cli::cat_line("Alternating minimisation with steps of your own")
  print_call(x$call)
  if (is.numeric(x$theta) && length(x$theta) <= 10L) cli::cat_line("theta: ", paste(format(x$theta, digits = 6L, trim = TRUE), collapse = ", "))
  cli::cat_line("D = ", format(x$divergence, digits = 7L), if (!is.na(x$loglik)) paste0(", log-likelihood ", format(x$loglik, digits = 7L), ", gap ", format(x$gap, digits = 3L)))
  if (x$falls > 0L) cli::cat_line("The likelihood fell in ", counted(x$falls, "iteration", "iterations"), ": the limit need not be a maximum of it.")
  cli::cat_line("Steps: ", format_convergence(x$convergence))
  invisible(x)
}

#' @export
nobs.granary_em_iterate <- function(object, ...) not_for(object, "nobs()", "the steps are your own, and so are the data")

#' @rdname em_iterate
#' @param x A result.
#' @param ... Passed on to [graphics::plot()].
#' @export
plot.granary_em_iterate <- function(x, ...) {
  trace <- x$trace
  at <- seq_len(nrow(trace))
  palette <- unname(grDevices::palette.colors(3L, "Okabe-Ito")[2:3])
  likelihood <- c(trace$loglik, x$loglik)
  values <- c(-trace$forward, -trace$backward, likelihood)
  old <- graphics::par(mar = c(4.1, 5.1, 3.1, 1.1))
  on.exit(graphics::par(old))
  draw(graphics::plot, as.vector(rbind(at - 0.5, at)), -as.vector(rbind(trace$forward, trace$backward)), type = "b", pch = 16, cex = 0.7,
       col = palette[2L], xlim = c(0, max(at)), ylim = range(values[is.finite(values)]), xlab = "iteration", ylab = "nats", main = "", bty = "l",
       user = list(...))
  graphics::points(c(0, at), likelihood, pch = 21, bg = palette[1L], col = "white", cex = 1.1)
  graphics::mtext(c("-D after each half step", "log-likelihood"), 3L, line = c(1.3, 0.3), adj = 0, col = palette[2:1], cex = 0.9)
  invisible(x)
}
