#' Piecewise constant or smooth signals
#'
#' Denoises values on a chain, a grid or any graph, keeping zeros: with absolute differences the result has constant pieces with sharp ends, with
#' squared
#' ones it is smooth. The one-dimensional companion of [ggm_local()].
#'
#' @details
#' With pairs of neighbours \eqn{(a, b)}, the result minimises
#' \deqn{\frac12 \|x - y\|^2 + \lambda \|x\|_1 + \tau \sum_{(a,b)} |x_a - x_b|}{1/2 ||x - y||^2 + lambda ||x||_1 + tau sum |x_a - x_b|}
#' (`penalty = "l1"`), or the same with \eqn{(x_a - x_b)^2}{(x_a - x_b)^2} (`"l2"`). The first is solved exactly: on chains by dynamic programming in
#' linear time, on other graphs by bisection with maximum flows, whose flow gives the duality gap in `convergence`. The second is a sparse linear
#' system
#' with an active set for the zeros; `convergence$residual` is the largest violation of optimality, relative to the largest value.
#'
#' @section Which method when: `"l1"` for signals with jumps (regions, changes of state), and whenever equal values are to be told from
#' unequal ones;
#' `"l2"` for
#' signals that vary slowly.
#'
#' @param y The values.
#' @param lambda,tau Penalties on the values and on their differences.
#' @param penalty The kind of difference.
#' @param neighbors A neighbourhood ([neighborhood()], [neighborhood()], ...); by default the open chain in the order of `y`.
#' @return An object of class `granary_fused_signal`: `fitted`, `blocks` (labels of neighbouring equal values), `y`, `lambda`, `tau`, `penalty`,
#'   `objective`,
#'   `neighbors`, `call`, `convergence`.
#' @references
#' Honorio (2012). *Tractable learning of graphical model structures from data.* PhD thesis, Stony Brook University, appendix A.
#'
#' Chambolle and Darbon (2009). On total variation minimization and surface evolution using parametric maximum flows. *International Journal of
#' Computer
#' Vision* 84, 288--307.
#' @seealso [ggm_local()]
#' @export
#' @examples
#' set.seed(1)
#' y <- c(rep(0, 20), rep(2, 15), rep(-1, 15)) + rnorm(50, sd = 0.4)
#' fit <- fused_signal(y, lambda = 0.1, tau = 1)
#' fit
#' plot(fit)
#' image <- outer(1:12, 1:12, function(i, j) 1 * (i > 6)) + rnorm(144, sd = 0.3)
#' fused_signal(image, tau = 0.5, neighbors = neighborhood("grid", dim(image)))
fused_signal <- function(y, lambda = 0, tau = 1, penalty = c("l1", "l2"), neighbors = NULL, ...) {
  refuse_dots(...)
  call <- match.call()
  penalty <- check_choice(penalty, c("l1", "l2"))
  lambda <- check_number(lambda, lower = 0, upper = 1e150)
  tau <- check_number(tau, lower = 0, upper = 1e150)
  if (missing(y)) fail_missing("y")
  shape <- if (is.array(y) && is.numeric(y)) dim(y)
  names <- if (is.null(shape)) names(y)
  values <- check_vector(if (is.null(shape)) y else as.vector(y), "y", lower = -1e150, upper = 1e150)
  neighbors <- if (is.null(neighbors)) nb_chain(length(values)) else as_neighbors(neighbors, length(values), variables = names)
  fit <- core_fused_signal(as.double(values), neighbors$edges, list(rho = lambda, tau = tau, penalty = penalty), progress_bar("fused signal"))
  fitted <- fit$x
  if (is.null(shape)) names(fitted) <- names else dim(fitted) <- shape
  out <- new_fit("fused_signal", fitted = fitted, blocks = fit$block, y = y, lambda = lambda, tau = tau, penalty = penalty, objective = fit$objective,
                 neighbors = neighbors, call = call, convergence = fit$convergence)
  check_convergence(out)
  out
}

#' @export
print.granary_fused_signal <- function(x, ...) {
  cli::cat_line(if (x$penalty == "l1") "Piecewise constant" else "Smooth", " signal on ", length(x$fitted), if (length(x$fitted) == 1L) " value (" else
    " values (", x$neighbors$type, ")")
  print_call(x$call)
  cli::cat_line("lambda ", format(x$lambda, digits = 4L), ", tau ", format(x$tau, digits = 4L), ": ", sum(x$fitted == 0), " zeros",
                if (x$penalty == "l1") paste0(", ", max(x$blocks), " constant pieces"))
  cli::cat_line("Solver: ", format_convergence(x$convergence))
  invisible(x)
}

#' @importFrom stats fitted residuals
#' @export
fitted.granary_fused_signal <- function(object, ...) object$fitted

#' @export
residuals.granary_fused_signal <- function(object, ...) object$y - object$fitted

#' @export
plot.granary_fused_signal <- function(x, ...) {
  if (is.matrix(x$fitted) && min(dim(x$fitted)) > 1L) {
    old <- graphics::par(mar = c(1.1, 1.1, 2.1, 3.1))
    on.exit(graphics::par(old))
    colours <- signed_colours(64L)
    draw(graphics::image, t(x$fitted[rev(seq_len(nrow(x$fitted))), , drop = FALSE]), axes = FALSE, asp = nrow(x$fitted) / ncol(x$fitted),
         col = colours, main = "fitted", user = list(...))
    draw_key(range(x$fitted, finite = TRUE), colours)
    return(invisible())
  }
  draw(graphics::plot, as.vector(x$y), pch = 19, cex = 0.6, col = "grey60", las = 1, xlab = "position", ylab = "value", user = list(...))
  if (x$penalty == "l1") {
    graphics::points(as.vector(x$fitted), type = "s", col = sign_colours[["positive"]], lwd = 2)
  } else {
    graphics::lines(as.vector(x$fitted), col = sign_colours[["positive"]], lwd = 2)
  }
  invisible()
}
