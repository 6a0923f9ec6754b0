#' Locally constant Gaussian graph
#'
#' Estimates a sparse precision matrix for variables that sit on a line, a contour, an image, a volume or any other neighbourhood: neighbours are
#' encouraged to have equal interactions with every third variable, so that the graph links regions with regions. Every fit carries its
#' duality gap.
#'
#' @details
#' The estimate minimises over positive definite \eqn{X}
#' \deqn{-\log\det X + \mathrm{tr}(S X) + \rho \sum_{i,j} |X_{ij}| + \tau \sum_{(a,b)} \sum_{k \ne a,b} |X_{ak} - X_{bk}|,}{-log det X
#'   + tr(S X) + rho sum_ij |X_ij| + tau sum_(a,b) sum_(k != a,b) |X[a, k] - X[b, k]|,}
#' the second sum over all pairs of neighbours. \eqn{\rho}{rho} charges the diagonal too; the differences never touch it. With
#' \eqn{\tau = 0}{tau = 0}, without neighbours, or with two variables it is the graphical lasso. In general the differences are \eqn{D X} for an
#' operator
#' \eqn{D}, without the entries where \eqn{D_{mk} \ne 0}{D[m, k] != 0}; `operator = "laplacian"` compares every variable with the sum of its
#' neighbours,
#' and a matrix with one column per variable may be given instead.
#'
#' The dual problem is
#' \deqn{\max \log\det(S + (Y + Y')/2) + p, \quad Y = A + D'B,\ |A_{ij}| \le \rho,\ |B_{mk}| \le \tau,}{max
#'   log det(S + (Y + Y') / 2) + p, Y = A + D'B, |A_ij| <= rho, |B_mk| <= tau,}
#' \eqn{B_{mk} = 0}{B_mk = 0} where \eqn{D_{mk} \ne 0}{D[m, k] != 0}. `gap` is the difference of the two at a feasible \eqn{Y}, hence a bound on the
#' distance to
#' the minimum; `kkt` is the largest entry of \eqn{X^{-1} - S - (Y + Y')/2}{X^-1 - S - (Y + Y') / 2}.
#'
#' **Solvers**, all but `"bcd"` exact; they stop when the gap is at most `tol` per variable. On symmetric matrices the penalty is total
#' variation on
#' a graph
#' whose nodes are the pairs of variables, solved exactly by maximum flows: `"fista"` takes accelerated proximal gradient steps with it,
#' each for an
#' inverse. `"admm"` gives \eqn{X} a copy that need not be symmetric, so that every column is a problem of its own (run on `threads`), each step for
#' an
#' eigendecomposition; it needs few steps where \eqn{X} is badly conditioned. `"auto"` is `"fista"`, followed by `"admm"` if 120 steps were not
#' enough.
#' `"bcd"` is the thesis' Algorithm 2.1, 10 sweeps by default: exact up to about \eqn{\tau/\rho = 0.1}{tau / rho = 0.1}, but **above the optimum**
#' for larger
#' ratios, contrary to what the thesis says; it carries the same certificate and warns. `"bcd+admm"` runs five sweeps of it, then `"admm"`.
#'
#' **Isolated variables.** Variable \eqn{n} has no edge if \eqn{|S_{nk}| \le \rho - \tau d_n / 2}{|S_nk| <= rho - tau d_n / 2} for all \eqn{k}, with
#' \eqn{d_n} its number
#' of neighbours (`isolated`). The thesis goes on to delete such variables; that would change the answer, as their neighbours are still compared
#' with their
#' zeros. At \eqn{\rho \ge \max |S_{ij}|}{rho >= max |S_ij|} the graph is empty.
#'
#' @section Which method when: `ggm_local()` when neighbouring variables can be expected to interact alike (pixels, contour points,
#' wavelengths, sensors);
#' [ggm_lasso()] when the order of the variables means nothing; [ggm_nodes()] when most variables take no part; [ggm_mix()] for several of
#' these at
#' once.
#' The time grows about as \eqn{p^{2.5}}{p^2.5} on images: 0.03 s for 100 pixels, 1.3 s for 400, 9 s for 1024 (one thread, gap 1e-6 per variable).
#'
#' @inheritParams ggm_lasso
#' @param neighbors The neighbourhood: from [neighborhood()], or an adjacency matrix or
#'   igraph graph.
#'   May be left out if `operator` is a matrix.
#' @param lambda Penalty on every entry: one or several numbers. By default `n_lambda` values evenly spaced on the log scale, from the
#'   largest covariance
#'   (empty graph) down to `lambda_min_ratio` times that.
#' @param tau Penalty on the differences: one or several numbers, each combined with every `lambda`, or a function of `lambda`. The
#'   default is 0.1 `lambda`,
#'   about the ratio
#'   used in the thesis.
#' @param operator `"difference"`, `"laplacian"` or a (sparse) matrix with one column per variable.
#' @param n_lambda,lambda_min_ratio Length of the default path and the ratio of its ends.
#' @param method The solver; see Details.
#' @param max_iter Largest number of iterations, or of sweeps for `"bcd"`. `NULL` for 2000 and 10.
#' @param ... Nothing: an argument that is not known is an error.
#' @return An object of class `granary_ggm_local`, inheriting from [`granary_ggm`][granary_ggm] and `granary_fit`: a list with the elements of a
#' [ggm_lasso()] fit (`lambda` is `lambda`), and
#' \item{rho, tau}{the penalties, by decreasing `lambda`, then `tau`}
#' \item{blocks}{a data frame of all edges with the `block` they belong to: neighbouring pairs of variables with equal precision, largest
#'   block first; on a path
#'   a list}
#' \item{isolated}{the variables isolated by the rule above, from `S` alone}
#' \item{bounds}{bounds on the eigenvalues of the solution (Theorem 2.1, with the sharper constant), one row per fit}
#' \item{neighbors, operator}{as used}
#' @references
#' Honorio (2012). *Tractable learning of graphical model structures from data.* PhD thesis, Stony Brook University, chapter 2.
#'
#' Honorio, Ortiz, Samaras, Paragios and Goldstein (2009). Sparse and locally constant Gaussian graphical models. *NIPS* 22, 745--753.
#' @seealso [ggm_mix()], [ggm_baseline()], [ggm_lasso()], [ggm_hub()]
#' @seealso [ggm_select()], [fused_signal()]; `errata("thesis-2-local-constancy")`; `reproduce("thesis-2-local-constancy")`
#' @export
#' @examples
#' # a trajectory: an open chain of nine points
#' set.seed(1)
#' sim <- sim_ggm("regions", n = 400)
#' fit <- ggm_local(sim$data, neighbors = neighborhood("chain", 9), lambda = 0.05, tau = 0.03)
#' fit
#' subset(fit$blocks, block == 1)
#' plot(fit)
#' assess(fit, sim)
#'
#' # an image of 4 x 4 pixels
#' pixels <- matrix(rnorm(50 * 16), 50)
#' pixels[, 11:12] <- pixels[, 11:12] + pixels[, 1]
#' path <- ggm_local(pixels, neighbors = neighborhood("grid", c(4, 4)), n_lambda = 5)
#' ggm_select(path, "ebic")
ggm_local <- function(x = NULL, S = NULL, n = NULL, neighbors = NULL, lambda = NULL, tau = function(rho) 0.1 * rho,
                      operator = c("difference", "laplacian"), n_lambda = 10, lambda_min_ratio = 0.05,
                      method = c("auto", "admm", "fista", "bcd", "bcd+admm"), tol = 1e-8, max_iter = NULL, start = NULL, covariance = FALSE,
                      threads = NULL, ...) {
  refuse_dots(...)
  rho <- lambda
  call <- match.call()
  data <- ggm_input(x, S, n)
  method <- check_choice(method, c("auto", "admm", "fista", "bcd", "bcd+admm"))
  covariance <- check_flag(covariance)
  tol <- check_number(tol, lower = 0, strict_lower = TRUE, upper = 1)
  max_iter <- check_count(max_iter, allow_null = TRUE)
  if (is.null(max_iter)) max_iter <- if (method == "bcd") 10L else 2000L
  op <- local_operator(operator, neighbors, ncol(data$S), colnames(data$S))
  if (op$type != "difference" && method %in% c("bcd", "bcd+admm")) {
    abort_input("The block descent is for operator = \"difference\": use method = \"auto\".", "method")
  }
  ratio <- check_number(lambda_min_ratio, "lambda_min_ratio", lower = 0, upper = 1, strict_lower = TRUE)
  penalty <- local_penalties(rho, tau, data$S, check_count(n_lambda), ratio)
  warn_local(data$S, penalty, is.null(data$x))
  start <- ggm_start(start, colnames(data$S))
  threads <- thread_count(threads)
  settings <- list(method = method, tol = tol, max_iter = max_iter)
  fit <- fit_local_path(data, op, penalty, settings, covariance, if (!is.null(start)) as.matrix(start), threads, call)
  advice <- if (method == "bcd") "The thesis' block descent need not reach the optimum: method = \"auto\" does."
  if (is.null(advice)) check_convergence(fit) else check_convergence(fit, advice)
  fit
}

# What the core needs to know of D, and the neighbourhood for plots and blocks.
local_operator <- function(operator, neighbors, p, variables = NULL) {
  if (is.matrix(operator) || inherits(operator, "Matrix")) {
    rows <- check_matrix(operator, "operator", allow_sparse = TRUE)
    if (ncol(rows) != p) abort_input(sprintf("`operator` must have one column per variable (%d), but it has %d.", p, ncol(rows)), "operator")
    rows <- order_operator(as_sparse(rows), variables)
    neighbors <- if (is.null(neighbors)) new_neighbors(matrix(0L, 0L, 2L), p, NULL, "none given") else
      as_neighbors(neighbors, p, variables = variables)
    return(list(type = "rows", rows = rows, edges = neighbors$edges, p = p, neighbors = neighbors))
  }
  type <- check_choice(operator, c("difference", "laplacian"), "operator")
  if (is.null(neighbors)) fail_missing("neighbors")
  neighbors <- as_neighbors(neighbors, p, variables = variables)
  list(type = type, edges = neighbors$edges, p = p, neighbors = neighbors)
}

order_operator <- function(rows, variables) {
  if (is.null(variables) || is.null(colnames(rows))) return(rows)
  at <- match_named(stats::setNames(seq_len(ncol(rows)), colnames(rows)), variables, "operator")
  rows[, at, drop = FALSE]
}

# rho and tau of every fit, by decreasing rho, then tau.
local_penalties <- function(rho, tau, S, n_lambda, ratio) {
  if (is.null(rho)) {
    top <- max_covariance(S)
    if (top == 0) top <- max(diag(S), 1e-300)
    rho <- if (n_lambda == 1L) top else exp(seq(log(top), log(top * ratio), length.out = n_lambda))
  }
  rho <- sort(check_vector(rho, "lambda", lower = 0, upper = 1e150), decreasing = TRUE)
  if (is.function(tau)) {
    value <- tryCatch(tau(rho), error = function(e) abort_input(paste0("`tau` is a function of rho, but fails: ", conditionMessage(e)), "tau"))
    return(list(rho = as.double(rho), tau = as.double(check_vector(value, "tau(rho)", length = length(rho), lower = 0, upper = 1e150))))
  }
  tau <- sort(check_vector(tau, "tau", lower = 0, upper = 1e150), decreasing = TRUE)
  list(rho = rep(as.double(rho), each = length(tau)), tau = rep(as.double(tau), times = length(rho)))
}

max_covariance <- function(S) {
  off <- abs(S)
  diag(off) <- 0
  max(off)
}

warn_local <- function(S, penalty, from_covariance) {
  if (any(penalty$rho == 0) && any(diag(S) <= 0)) {
    abort_input(sprintf("Variable %s has variance 0, so `lambda` must be greater than 0: else the likelihood has no maximum.",
                        colnames(S)[which.min(diag(S))]), "lambda")
  }
  if (from_covariance && any(diag(S) == 0)) {
    warn_input(sprintf("Variables of variance 0 in `S`: %s. Their precision is 1 / rho.", paste(colnames(S)[diag(S) == 0], collapse = ", ")), "S")
  }
  if (length(penalty$rho) == 1L && ncol(S) > 1L && penalty$rho >= max_covariance(S) && max_covariance(S) > 0) {
    warn_input(sprintf("`lambda` is at least the largest covariance (%.3g), so the graph must be empty.", max_covariance(S)), "lambda")
  }
  if (ncol(S) > 1500L) {
    warn_input(sprintf("%d variables: each step costs the cube of that, and may take minutes. Fewer variables, or a coarser grid, may do.", ncol(S)), "x")
  }
}

# Where ggm_local() and the refits of ggm_select() meet: everything is checked by now.
fit_local_path <- function(data, op, penalty, settings, covariance, start, threads, call) {
  options <- c(settings[c("method", "tol", "max_iter")], list(covariance = covariance, threads = threads))
  results <- core_local_path(data$S, operator_parts(op), penalty[c("rho", "tau")], options, start, progress_bar("local constancy"))
  names <- colnames(data$S)
  each <- function(value) {
    all <- lapply(results, value)
    if (length(all) == 1L) all[[1L]] else all
  }
  bounds <- data.frame(rho = penalty$rho, tau = penalty$tau, lower = vapply(results, `[[`, 0, "lower"), upper = vapply(results, `[[`, 0, "upper"))
  results <- lapply(results, function(r) {
    r$trace <- list(objective = r$trace)
    r
  })
  fit <- new_ggm(
    "ggm_local", results, data, lambda = penalty$rho, rho = penalty$rho, tau = penalty$tau,
    blocks = each(function(r) local_block_table(r, names)), isolated = each(function(r) names[r$isolated]),
    neighbors = op$neighbors, operator = if (op$type == "rows") op$rows else op$type, op = op, settings = settings, call = call
  )
  fit$bounds <- bounds
  fit$along <- c("rho", "tau", "blocks", "isolated")
  fit
}

# What crosses of an operator.
operator_parts <- function(op) op[intersect(c("type", "p", if (op$type == "rows") "rows" else "edges"), names(op))]

local_block_table <- function(result, names) {
  at <- which(result$block > 0, arr.ind = TRUE)
  table <- data.frame(from = names[at[, 1L]], to = names[at[, 2L]], precision = as.matrix(result$precision)[at], block = result$block[at])
  table <- table[order(table$block, at[, 1L], at[, 2L]), ]
  rownames(table) <- NULL
  table
}

#' @exportS3Method
refit_path.granary_ggm_local <- function(fit, x) {
  data <- suppressWarnings(ggm_input(x, NULL, NULL), classes = "granary_warning_input")
  fit_local_path(data, fit$op, list(rho = fit$rho, tau = fit$tau), fit$settings, FALSE, NULL, 1L, NULL)
}

#' @export
print.granary_ggm_local <- function(x, ...) {
  p <- ncol(x$S)
  cli::cat_line("Locally constant Gaussian graph (", x$neighbors$type, "): ", p, if (p == 1L) " variable" else " variables",
                if (!is.null(x$n)) paste0(", n = ", x$n))
  print_call(x$call)
  if (is_path(x)) {
    table <- data.frame(rho = x$rho, tau = x$tau, edges = x$df, blocks = vapply(x$blocks, count_blocks, 0), objective = x$objective, gap = x$gap)
    shown <- if (nrow(table) > 12L) unique(round(seq(1, nrow(table), length.out = 10L))) else seq_len(nrow(table))
    print(format(table[shown, ], digits = 4L), quote = FALSE)
    if (length(shown) < nrow(table)) cli::cat_line("(", length(shown), " of ", nrow(table), " fits shown)")
  } else {
    cli::cat_line("rho ", format(x$rho, digits = 4L), ", tau ", format(x$tau, digits = 4L), ": ", x$df, if (x$df == 1) " edge" else " edges",
                  " in ", count_blocks(x$blocks), " blocks of equal interaction; ", length(x$isolated), " variables isolated by the rule for S")
    if (x$df == 0 && p > 1L && x$rho >= max_covariance(x$S)) cli::cat_line("rho is at least the largest covariance: the graph must be empty.")
    if (x$df > 0) {
      cli::cat_line("Largest blocks:")
      print(format(block_summary(x$blocks), digits = 3L), row.names = FALSE)
    }
    cli::cat_line("Certificate: the objective ", format(x$objective, digits = 8L), " is within ", format(max(x$gap, 0), digits = 2L), " of its minimum")
  }
  cli::cat_line("Solver: ", format_convergence(x$convergence))
  if (is_path(x)) cli::cat_line("Next: ggm_select() chooses the penalties; plot() shows the path.")
  invisible(x)
}

count_blocks <- function(blocks) as.double(max(0L, blocks$block))

block_summary <- function(blocks, most = 6L) {
  first <- blocks[match(seq_len(min(most, max(blocks$block))), blocks$block), ]
  members <- vapply(first$block, function(b) {
    part <- blocks[blocks$block == b, ]
    short <- function(names) paste0(paste(utils::head(unique(names), 3L), collapse = " "), if (length(unique(names)) > 3L) " ...")
    paste(short(part$from), "-", short(part$to))
  }, "")
  data.frame(block = first$block, edges = tabulate(blocks$block, max(blocks$block))[first$block], precision = first$precision, between = members)
}

#' @export
summary.granary_ggm_local <- function(object, which = NULL, ...) {
  out <- NextMethod()
  out$bounds <- object$bounds[path_position(object, which), ]
  class(out) <- c("summary_granary_ggm_local", class(out))
  out
}

#' @export
print.summary_granary_ggm_local <- function(x, ...) {
  NextMethod()
  cli::cat_line("Theory puts them between ", format(x$bounds$lower, digits = 3L), " and ", format(x$bounds$upper, digits = 3L), " (Theorem 2.1)")
  fit <- x$fit
  balance <- fit$objective + fit$log_det
  cli::cat_line("<S, X> plus the penalties is ", format(balance, digits = 8L), "; at the optimum it is ", ncol(fit$S))
  invisible(x)
}

#' Plot a locally constant Gaussian graph
#'
#' The pictures of [plot.granary_ggm()], with the variables at their places: the network on the coordinates of the neighbourhood, whose pairs
#' are joined by dashed lines, positive partial correlations in blue and negative ones in red; the heat map in the order of the variables.
#'
#' @param x A [ggm_local()] fit.
#' @param type `"network"`, `"path"` or `"heatmap"`.
#' @param which Position on the path.
#' @param layout Positions of the variables; by default those of the neighbourhood, where it has any.
#' @param ... Passed on.
#' @return The layout (network) or `NULL`, invisibly.
#' @seealso [ggm_lasso()], [ggm_select()], [ggm_hub()], [ggm_multi()], [ggm_local()], [ggm_nodes()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_ggm("regions", n = 100)
#' fit <- ggm_local(sim$data, neighbors = neighborhood("chain", 9, closed = TRUE), lambda = 0.1, tau = 0.05)
#' plot(fit)
#' plot(fit, "heatmap")
plot.granary_ggm_local <- function(x, type = NULL, which = NULL, layout = NULL, ...) {
  type <- plot_type(x, type)
  if (type == "network" && is.null(layout)) layout <- local_layout(x$neighbors)
  shown <- plot.granary_ggm(x, type = type, which = which, layout = layout, ...)
  if (type == "network" && !is.null(layout)) {
    edges <- x$neighbors$edges
    graphics::segments(shown[edges[, 1L], 1L], shown[edges[, 1L], 2L], shown[edges[, 2L], 1L], shown[edges[, 2L], 2L], lty = 2, col = "grey75")
  }
  invisible(shown)
}

# A chain drawn as a line would hide its links behind each other: bent to an arc they show.
local_layout <- function(neighbors) {
  if (neighbors$type != "open chain") return(neighbors$coords)
  n <- neighbors$n
  angle <- pi * (1 - (seq_len(n) - 0.5) / n)
  cbind(cos(angle), sin(angle))
}
