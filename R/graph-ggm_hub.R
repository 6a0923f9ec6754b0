#' Gaussian graphs with hubs
#'
#' Estimates a sparse precision matrix in which a few nodes, not known beforehand, may be joined to very many others: master regulators among
#' genes, key words in texts, influential assets. The graph and its hubs come out of one convex problem, with a duality gap that certifies
#' the answer.
#'
#' @details
#' The hub graphical lasso minimises \eqn{-\log\det\Theta + \mathrm{tr}(S\Theta) + P(\Theta)}{-log det T + tr(S T) + P(T)} over positive definite
#' \eqn{\Theta}{T}, where
#' \deqn{P(\Theta) = \min_{\Theta = V + V' + Z} \lambda_1 \|Z\|_1 + \lambda_2 \|V\|_1 + \lambda_3 \sum_j \|V_{\cdot j}\|_q}{P(T) =
#' min over T = V + V' + Z of lambda1 |Z|_1 + lambda2 |V|_1 + lambda3 sum_j |V_.j|_q}
#' looks at off-diagonal entries only; sums run over ordered pairs, as in [ggm_lasso()]. \eqn{Z} holds ordinary edges; a column of \eqn{V} that is not
#' zero makes its node a hub. \eqn{\Theta}{T} is unique, its split into \eqn{V} and \eqn{Z} need not be. Only the sum of the diagonals is
#' identified: `V` has a
#' zero diagonal.
#'
#' **What the three penalties allow.** With \eqn{1/s + 1/q = 1} and p variables (of a component):
#' \eqn{\lambda_1 < \lambda_2/2 + \lambda_3 / (2 (p-1)^{1/s})}{lambda1 < lambda2 / 2 + lambda3 / (2 (p - 1)^(1/s))} excludes hubs, and the answer is
#' `ggm_lasso(lambda = lambda1, penalize_diagonal = FALSE)`; \eqn{\lambda_1 > (\lambda_2 + \lambda_3)/2}{lambda1 > (lambda2 + lambda3) / 2} excludes
#' ordinary edges. With `q = 1` or `lambda3 = 0` the answer is that of `ggm_lasso()` with
#' \eqn{\min\{\lambda_1, (\lambda_2+\lambda_3)/2\}}{min(lambda1, (lambda2 + lambda3) / 2)}. [ggm_hub_bounds()] tells which case holds, and `ggm_hub()`
#' warns when no hub is possible. [ggm_hub_bounds()] gives the penalties beyond which the graph is empty.
#'
#' **Solver.** Variables are split into the connected components of
#' \eqn{|S_{ij}| > \min(\lambda_1, \lambda_2/2)}{|S_ij| > min(lambda1, lambda2 / 2)}, which is exact. A component in which hubs are impossible is
#' solved by QUIC, others by a proximal Newton method that works on whole columns of V and Z; with `q = Inf` or `method = "admm"` by the
#' alternating direction method of the paper, with over-relaxation and a balanced step. That takes an eigendecomposition in each of some 300
#' iterations: on the data of the paper's Set-up I about seven times as long for `q = Inf` as for `q = 2` at 100 and 200 variables (4 s at
#' 200), and
#' growing with the cube of the size of the largest component. It stops when the duality
#' gap is at most `tol` times the number of variables. The gap comes from
#' \eqn{L = \Theta^{-1} - S}{L = T^-1 - S} moved into the set \eqn{|L_{ij}| \le \lambda_1}{|L_ij| <= lambda1},
#' \eqn{\|\mathrm{soft}(2 L_{\cdot j}, \lambda_2)\|_s \le \lambda_3}{|soft(2 L_.j, lambda2)|_s <= lambda3}. `V` and `Z` have exact zeros.
#'
#' **BIC** is the paper's
#'
#' \eqn{-n\log\det\Theta + n\,\mathrm{tr}(S\Theta) + \log n\,\{|Z| + \nu + c(|V| - \nu)\}}{-n log det T + n tr(S T) +
#' log n (|Z| + nu + c (|V| - nu))} with
#' \eqn{\nu}{nu} the number of hubs, \eqn{|Z|} the number of pairs and \eqn{|V|} of entries that are not zero off the diagonal, and \eqn{c = 0.2}.
#'
#' @section Which method when: `ggm_hub()` when a few nodes may have edges to a large share of all others and the question is which;
#' [ggm_lasso()] when
#' degrees are alike; [ggm_scale_free()] when degrees follow a power law without true hubs. A nonzero column of `V` alone is weak evidence: with
#' a small
#' `lambda3` most columns are nonzero. Look at strength and degree in `hubs`.
#'
#' @param x,S,n Data, or a covariance matrix and its number of observations, as in [ggm_lasso()].
#' @param lambda1,lambda2,lambda3 The penalties of ordinary edges, of a hub's edges, and of hubs. `lambda2` may be a sequence: a path,
#'   sorted to be
#'   decreasing, from which [ggm_select()] chooses.
#' @param q The norm of a hub's column: 2, `Inf`, or 1 (no hubs; see Details).
#' @param method `"auto"`, or `"admm"` for the alternating direction method without any shortcut.
#' @param screen Whether to split into components first.
#' @param tol Duality gap per variable at which to stop (S in units of its mean variance).
#' @param max_iter Largest number of iterations (a Newton method needs some ten, the alternating direction method some hundred).
#' @param step Step of the alternating direction method at its start.
#' @param start A fit to start from.
#' @param min_degree Nodes of `V` with fewer edges are not listed in `hubs`.
#' @param threads Threads for independent components; default `getOption("granary.threads")`.
#' @return An object of class `granary_ggm_hub`, inheriting from [`granary_ggm`][granary_ggm]: `precision`, `lambda` (which is `lambda2`),
#'   `objective`, `gap`, `kkt` (largest violation of the dual constraints), `component` and so on as for [ggm_lasso()], and
#' \item{V, Z}{the parts, sparse; on a path lists of them, as are `hubs`, `bic` and `regime`: see [ggm_hub()] and [ggm_at()]}
#' \item{hubs}{data frame: node, strength (norm of its column of V), degree, and edges in V}
#' \item{bic}{see Details; `NA` when `n` is not known}
#' \item{regime}{`"mixed"`, `"no hubs possible"` or `"hubs only"`}
#' @references
#' Tan, London, Mohan, Lee, Fazel and Witten (2014). Learning graphical models with hubs. *Journal of Machine Learning Research* 15, 3297--3331.
#' @family hubs
#' @seealso [ggm_hub_select()] for a grid, [cov_hub()], [ising_hub()], [assess()], [sim_hub()]; `errata("jmlr15-hub-graphs")`
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_hub(p = 40, hubs = 2, n = 200)
#' fit <- ggm_hub(sim$data, lambda1 = 0.3, lambda2 = 0.2, lambda3 = 0.8)
#' fit
#' sim$hubs
#' plot(fit)
ggm_hub <- function(x = NULL, S = NULL, n = NULL, lambda1, lambda2, lambda3, q = 2, method = c("auto", "admm"), screen = TRUE, tol = 1e-7,
                    max_iter = 5000, step = 2.5, start = NULL, min_degree = 1, threads = NULL) {
  call <- match.call()
  data <- ggm_input(x, S, n)
  zero <- diag(data$S) <= 0
  if (any(zero)) {
    abort_input(sprintf("Variable %s has variance 0, and the diagonal is not penalised, so the likelihood has no maximum: drop it.",
                        colnames(data$S)[zero][1L]), if (is.null(x)) "S" else "x")
  }
  penalty <- hub_penalty(lambda1, lambda2, lambda3, q, ncol(data$S))
  settings <- hub_settings(method, screen, tol, max_iter, step)
  settings$min_degree <- check_count(min_degree, lower = 0)
  start <- hub_start(start, colnames(data$S))
  fit <- fit_ggm_hub(data, penalty, settings, start, thread_count(threads), call)
  warn_empty(fit, data$S, penalty)
  check_convergence(fit)
  fit
}

# Penalties beyond which nothing is left are worth a word; on a path only if that is so along all of it.
warn_empty <- function(fit, S, penalty) {
  if (ncol(S) < 2L || any(fit$df > 0) || !all(convergence_table(fit$convergence)$converged)) return(invisible())
  top <- core_hub_smallest_empty(S, hub_core_penalty(penalty, min(penalty$lambda2)))
  warn_input(sprintf("The graph is empty: with lambda2 = %.3g an edge takes lambda1 < %.3g or lambda3 < %.3g.", min(penalty$lambda2), top[[1L]],
                     top[[2L]]), "lambda1")
}

fit_ggm_hub <- function(data, penalty, settings, start, threads, call) {
  results <- core_hub_path(data$S, hub_core_options("precision", penalty, settings, threads), start, progress_bar("hub graphical lasso"))
  parts <- Map(function(r, lambda2) {
    hub_part(r, colnames(data$S), penalty, lambda2, settings$min_degree)
  }, results, penalty$lambda2)
  results <- lapply(results, function(r) {
    r$trace <- hub_trace(r$trace)
    if (length(results) > 1L) r$covariance <- matrix(0, 0L, 0L)
    r
  })
  own <- if (length(parts) == 1L) parts[[1L]] else hub_along(parts)
  shared <- list("ggm_hub", results, data, lambda = penalty$lambda2, penalty = penalty, settings = settings)
  fit <- do.call(new_ggm, c(shared, own, list(call = call)), quote = TRUE)  # quoted, or the call would be made again
  fit$bic <- if (is.null(data$n)) rep(NA_real_, length(results)) else stats::BIC(fit)
  if (!is.null(fit$along)) fit$along <- c(fit$along, "bic")
  fit
}

#' @rdname granary_ggm
#' @export
logLik.granary_ggm_hub <- function(object, ...) {  # nolint: object_name_linter.
  value <- NextMethod()
  size <- if (is_path(object)) mapply(hub_complexity, object$V, object$Z) else hub_complexity(object$V, object$Z)
  attr(value, "df") <- size + ncol(object$S)
  value
}

# What the core asks for: penalties with the norm as a word, the solver apart.
hub_norm_word <- function(q) if (q == 1) "l1" else if (q == 2) "l2" else "linf"

hub_core_penalty <- function(penalty, lambda2 = penalty$lambda2) {
  list(lambda1 = penalty$lambda1, lambda2 = lambda2, lambda3 = penalty$lambda3, q = hub_norm_word(penalty$q))
}

hub_core_options <- function(model, penalty, settings, threads) {
  solver <- c(settings[c("tol", "max_iter", "step", "screen", "reduce", "eps", "barzilai_borwein")], list(threads = threads))
  c(list(model = model), hub_core_penalty(penalty), list(solver = solver))
}

hub_regime_at <- function(penalty, lambda2, p) core_hub_regime(hub_core_penalty(penalty, lambda2), p)

# The parts of all fits of a path, kept where ggm_at() finds them.
hub_along <- function(parts) {
  names <- names(parts[[1L]])
  own <- lapply(stats::setNames(names, names), function(name) lapply(parts, `[[`, name))
  for (name in c("regime", "step")) own[[name]] <- unlist(own[[name]])
  c(own, list(along = names))
}

# V, Z, the table of hubs and regime of one result.
hub_part <- function(result, names, penalty, lambda2, min_degree) {
  V <- label_matrix(result$V, names)
  Z <- label_matrix(result$Z, names)
  list(V = V, Z = Z, hubs = hub_table(V, label_matrix(result$precision, names), penalty$q, min_degree),
       regime = hub_regime_at(penalty, lambda2, length(names)), step = result$step)
}

# No gap is known before the first feasible iterate.
hub_trace <- function(trace) as.data.frame(lapply(trace, function(column) replace(column, is.nan(column), NA)))

label_matrix <- function(m, names) {
  dimnames(m) <- list(names, names)
  m
}

hub_complexity <- function(V, Z, c = 0.2) {
  hubs <- sum(diff(V@p) > 0L)
  count_edges(Z) + hubs + c * (length(V@x) - hubs)
}

hub_table <- function(V, theta, q = 2, min_degree = 1L) {
  strength <- apply(as.matrix(V), 2L, function(v) if (q == 1) sum(abs(v)) else if (q == 2) sqrt(sum(v^2)) else max(abs(v)))
  degree <- ggm_degrees(theta)
  found <- which(strength > 0 & degree >= min_degree)
  found <- found[order(-strength[found])]
  data.frame(node = colnames(V)[found], strength = unname(strength[found]), degree = unname(degree[found]), in_V = unname(diff(V@p)[found]))
}

hub_penalty <- function(lambda1, lambda2, lambda3, q, p, warn = TRUE) {
  lambda1 <- check_number(lambda1, lower = 0)
  lambda2 <- sort(check_vector(lambda2, "lambda2", lower = 0), decreasing = TRUE)
  lambda3 <- check_number(lambda3, lower = 0)
  q <- check_hub_norm(q)
  penalty <- list(lambda1 = lambda1, lambda3 = lambda3, q = q)
  regime <- vapply(lambda2, function(l) hub_regime_at(penalty, l, p), "")
  if (warn && p > 1L && all(regime == "no hubs possible")) {
    warn_input(sprintf(paste("No hub is possible with these penalties: it takes lambda1 >= lambda2 / 2 + lambda3 / (2 (p - 1)^(1/s)) = %.3g,",
                             "and lambda1 is %.3g. The answer is that of an l1 penalty with lambda1."),
                       min(lambda2) / 2 + lambda3 / (2 * hub_root(p, q)), lambda1), "lambda1")
  }
  list(lambda1 = lambda1, lambda2 = as.double(lambda2), lambda3 = lambda3, q = q)
}

hub_root <- function(p, q) if (q == 1) 1 else if (q == 2) sqrt(max(p - 1, 1)) else max(p - 1, 1)

check_hub_norm <- function(q) {
  q <- check_number(q, "q", lower = 1, allow_infinite = TRUE)
  if (!q %in% c(1, 2, Inf)) abort_input(sprintf("`q` must be 1, 2 or Inf, not %g.", q), "q")
  q
}

hub_settings <- function(method, screen, tol, max_iter, step, eps = 1e-4, inner = "lbfgs") {
  list(reduce = check_choice(method, c("auto", "admm")) == "auto", screen = check_flag(screen),
       tol = check_number(tol, lower = 0, strict_lower = TRUE, upper = 1), max_iter = check_count(max_iter),
       step = check_number(step, lower = 0, strict_lower = TRUE), eps = eps, barzilai_borwein = inner == "barzilai_borwein", min_degree = 1L)
}

# What the core starts from, of an earlier fit: its estimate, parts, multipliers and step.
hub_start <- function(start, variables) {
  if (is.null(start)) return(NULL)
  p <- length(variables)
  known <- inherits(start, c("granary_ggm_hub", "granary_cov_hub", "granary_ising_hub"))
  if (!known) abort_input(sprintf("`start` must be a hub fit, but it is %s.", describe(start)), "start")
  part <- hub_parts(start)
  theta <- as.matrix(if (inherits(start, "granary_ggm")) precision_at(start) else coef(start))
  if (ncol(theta) != p) abort_input(sprintf("`start` must have %d variables, but it has %d.", p, ncol(theta)), "start")
  own <- function(m) unname(match_named(as.matrix(m), variables, "start"))
  list(theta = own(theta), V = own(part$V), Z = own(part$Z), step = part$step)
}

#' @exportS3Method
refit_path.granary_ggm_hub <- function(fit, x) {  # nolint: object_name_linter.
  data <- suppressWarnings(ggm_input(x, NULL, NULL), classes = "granary_warning_input")
  penalty <- fit$penalty
  penalty$lambda2 <- fit$lambda
  fit_ggm_hub(data, penalty, fit$settings, NULL, 1L, NULL)
}

#' @rdname ggm_hub
#' @param object A fit.
#' @param type `"estimate"`, or `"parts"`: a list with the hub part `V`, the rest `Z`, the table `hubs` of nodes with a column in `V`, and
#'   `regime`.
#' @param which Position on the path.
#' @param ... Not used.
#' @export
coef.granary_ggm_hub <- function(object, type = c("estimate", "parts"), which = NULL, min_degree = NULL, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  if (check_choice(type, c("estimate", "parts")) == "parts") hub_parts(object, which, min_degree) else precision_at(object, which)
}

hub_parts <- function(fit, which = NULL, min_degree = NULL) {
  if (!inherits(fit, c("granary_ggm_hub", "granary_cov_hub", "granary_ising_hub"))) {
    abort_input(sprintf("`fit` must be a hub fit, but it is %s.", describe(fit)), "fit")
  }
  min_degree <- check_count(min_degree, lower = 0, allow_null = TRUE)
  which <- if (inherits(fit, "granary_ggm")) path_position(fit, which) else check_count(which, upper = 1, allow_null = TRUE)
  if (inherits(fit, "granary_ggm")) fit <- ggm_at(fit, which)
  part <- unclass(fit)[c("V", "Z", "hubs", "bic", "regime", "step")]
  if (!is.null(min_degree)) {
    theta <- if (inherits(fit, "granary_ggm")) fit$precision else fit$theta
    part$hubs <- hub_table(part$V, theta, fit$penalty$q, min_degree)
  }
  part
}

ggm_hub_title <- "Gaussian graph with hubs"

#' @export
print.granary_ggm_hub <- function(x, ...) {
  p <- ncol(x$S)
  cli::cat_line(ggm_hub_title, ": ", p, " variables", if (!is.null(x$n)) paste0(", n = ", x$n))
  print_call(x$call)
  if (is_path(x)) {
    table <- data.frame(lambda2 = x$lambda, edges = x$df, hubs = vapply(x$hubs, nrow, 0L), bic = x$bic, gap = x$gap)
    print(format(table, digits = 4L), quote = FALSE)
    cli::cat_line("Solver: ", format_convergence(x$convergence))
    cli::cat_line("Next: ggm_select() chooses a penalty; coef(type = \"parts\") shows the hubs.")
    return(invisible(x))
  }
  part <- hub_parts(x)
  print_hubs(part, x$penalty, x$lambda, x$df)
  cli::cat_line("Solver: ", format_convergence(x$convergence))
  cli::cat_line("Certified within ", format(max(x$gap, 0), digits = 2L), " of the minimum ", format(x$objective, digits = 8L))
  invisible(x)
}

print_hubs <- function(part, penalty, lambda2, edges) {
  cli::cat_line("lambda1 ", format(penalty$lambda1, digits = 4L), ", lambda2 ", format(lambda2, digits = 4L), ", lambda3 ",
                format(penalty$lambda3, digits = 4L), ", q = ", penalty$q, " (", part$regime, ")")
  if (edges == 0) {
    cli::cat_line("The graph is empty: see ggm_hub_bounds(\"lambda_max\") for penalties that leave edges")
  } else if (nrow(part$hubs) == 0L) {
    cli::cat_line("No hubs")
  } else {
    cli::cat_line("Nodes with a column in V", if (nrow(part$hubs) > 10L) paste0(" (10 of ", nrow(part$hubs), ")"), ":")
    print(format(utils::head(part$hubs, 10L), digits = 3L), row.names = FALSE)
  }
  cli::cat_line(edges, " edges, ", count_edges(part$Z), " of them with a part in Z",
                if (!is.na(part$bic)) paste0("; BIC ", format(part$bic, digits = 6L)))
}

#' Plot a fit with hubs
#'
#' @param x A fit of [ggm_hub()].
#' @param type As for [plot.granary_ggm()], or `"parts"`: V and Z side by side.
#' @param which Position on a path.
#' @param layout,min_degree Positions of the variables, as for [plot.granary_ggm()]; nodes with fewer edges are not marked as hubs.
#' @param ... Passed on to [plot.granary_ggm()].
#' @return As for [plot.granary_ggm()].
#' @family hubs
#' @export
#' @examples
#' fit <- ggm_hub(scale(mtcars), lambda1 = 0.5, lambda2 = 0.3, lambda3 = 0.5)
#' plot(fit)
#' plot(fit, type = "parts")
#' if (requireNamespace("ggplot2", quietly = TRUE)) ggplot2::autoplot(fit)
plot.granary_ggm_hub <- function(x, type = NULL, which = NULL, min_degree = NULL, ...) {
  part <- hub_parts(x, which, min_degree)
  if (identical(type, "parts")) return(plot_parts(part, precision = TRUE))
  position <- plot.granary_ggm(x, type = type, which = which, ...)
  if (is.matrix(position)) mark_hubs(position, part, colnames(x$S))
  invisible(position)
}

#' @rdname plot.granary_ggm_hub
#' @param object As `x`.
#' @usage \method{autoplot}{granary_ggm_hub}(object, type = NULL, which = NULL, layout = NULL, min_degree = NULL, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_ggm_hub <- function(object, type = NULL, which = NULL, layout = NULL, min_degree = NULL, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  part <- hub_parts(object, which, min_degree)
  if (identical(type, "parts")) return(autoplot_parts(part, precision = TRUE))
  type <- plot_type(object, type)
  if (type != "network") return(autoplot.granary_ggm(object, type, which))
  one <- ggm_at(object, path_position(object, which))
  position <- network_layout(one, layout)
  autoplot_network(one, position) + autoplot_hubs(position, part, colnames(object$S))
}

# The hubs as a layer, large and coloured.
autoplot_hubs <- function(position, part, names) {
  at <- match(part$hubs$node, names)
  hubs <- data.frame(x = position[at, 1L], y = position[at, 2L], strength = part$hubs$strength)
  list(
    ggplot2::geom_point(ggplot2::aes(.data$x, .data$y, size = .data$strength), hubs, shape = 21, fill = hub_colour, inherit.aes = FALSE),
    ggplot2::scale_size(range = c(3, 8), name = "hub\nstrength")
  )
}

# A negative entry of a precision matrix is a positive partial correlation.
parts_colours <- function(precision) if (precision) sign_colours[c("positive", "negative")] else sign_colours[c("negative", "positive")]

autoplot_parts <- function(part, precision) {
  ends <- parts_colours(precision)
  names <- colnames(part$V)
  table <- do.call(rbind, lapply(c("V", "Z"), function(name) {
    m <- as.matrix(part[[name]])
    diag(m) <- 0
    data.frame(part = if (name == "V") "V: hubs are columns" else "Z: ordinary edges", row = factor(rep(names, ncol(m)), levels = rev(names)),
               column = factor(rep(names, each = nrow(m)), levels = names), value = as.vector(m))
  }))
  ggplot2::ggplot(table, ggplot2::aes(.data$column, .data$row, fill = .data$value)) + ggplot2::geom_tile() + ggplot2::facet_wrap(~part) +
    ggplot2::scale_fill_gradient2(low = ends[[1L]], mid = "white", high = ends[[2L]]) +
    ggplot2::labs(x = NULL, y = NULL, fill = NULL) +
    ggplot2::theme(axis.text.x = ggplot2::element_text(angle = 90, hjust = 1))
}

hub_colour <- "#f4a582"

mark_hubs <- function(position, part, names) {
  if (nrow(part$hubs) == 0L) return(invisible())
  at <- match(part$hubs$node, names)
  size <- 2 + 2 * part$hubs$strength / max(part$hubs$strength)
  graphics::points(position[at, , drop = FALSE], pch = 21, cex = size, bg = hub_colour, col = "grey20")
  halo_text(position[at, , drop = FALSE], part$hubs$node, 0.9)
}

plot_parts <- function(part, precision) {
  old <- graphics::par(mfrow = c(1, 2), mar = c(1, 1, 3, 1))
  on.exit(graphics::par(old))
  for (name in c("V", "Z")) {
    m <- as.matrix(part[[name]])
    diag(m) <- 0
    limit <- max(abs(m), 1e-9)
    ends <- parts_colours(precision)
    colours <- grDevices::colorRampPalette(c(ends[[1L]], "white", ends[[2L]]))(101L)
    p <- ncol(m)
    graphics::image(seq_len(p), seq_len(p), t(m)[, p:1L, drop = FALSE], zlim = c(-limit, limit), col = colours, axes = FALSE, xlab = "", ylab = "",
                    main = if (name == "V") "V: hubs are columns" else "Z: ordinary edges")
    graphics::box(col = "grey60")
  }
  invisible()
}

#' What penalties on hubs do, before fitting
#'
#' `"regime"`: whether the penalties leave room for hubs and for ordinary edges (Lemmas 3 and 4 of the paper): `"mixed"`, `"no hubs possible"` or
#' `"hubs only"`. `"lambda_max"`: the smallest `lambda1` and the smallest `lambda3` that leave no edge with a given `lambda2`.
#'
#' @section Which method when: before [ggm_hub()], to find penalties that are worth trying; [ggm_hub_select()] chooses among them.
#' @param what What is asked.
#' @param lambda1,lambda2,lambda3,q Penalties, as in [ggm_hub()].
#' @param p Number of variables (for `"regime"`).
#' @param S Covariance matrix (for `"lambda_max"`).
#' @return A word, or a vector with names `lambda1` and `lambda3`.
#' @family hubs
#' @references
#' Tan, London, Mohan, Lee, Fazel and Witten (2014). Learning graphical models with hubs. *Journal of Machine Learning Research* 15, 3297--3331.
#' @export
#' @examples
#' ggm_hub_bounds("regime", lambda1 = 0.4, lambda2 = 0.3, lambda3 = 1, p = 50)
#' ggm_hub_bounds("lambda_max", S = cor(mtcars), lambda2 = 0.3)
ggm_hub_bounds <- function(what = c("regime", "lambda_max"), lambda1 = NULL, lambda2 = 0, lambda3 = NULL, q = 2, p = NULL, S = NULL) {
  what <- check_choice(what, c("regime", "lambda_max"))
  if (what == "lambda_max") {
    if (is.null(S)) fail_missing("S")
    return(hub_lambda_max(S, lambda2, q))
  }
  hub_regime(lambda1, lambda2, lambda3, p, q)
}

hub_regime <- function(lambda1, lambda2, lambda3, p, q = 2) {
  penalty <- list(lambda1 = check_number(lambda1, lower = 0), lambda3 = check_number(lambda3, lower = 0), q = check_hub_norm(q))
  hub_regime_at(penalty, check_number(lambda2, lower = 0), check_count(p))
}

hub_lambda_max <- function(S, lambda2 = 0, q = 2) {
  unlist(core_hub_smallest_empty(check_symmetric(S, "S"), list(lambda2 = check_number(lambda2, lower = 0), q = hub_norm_word(check_hub_norm(q)))))
}

#' A grid of hub penalties
#'
#' Fits [ggm_hub()], [cov_hub()] or [ising_hub()] along `lambda2` for each `lambda3`, each started at its neighbour, and chooses by the
#' BIC of the
#' paper or by extended BIC.
#'
#' @param x,S,n,lambda1,q,threads As for [ggm_hub()]; a binary model takes `x` only.
#' @param lambda2 A sequence; by default ten values between `lambda1 / 4` and `2 lambda1`.
#' @param lambda3 A few values; by default those that leave 80, 50 and 30 percent of the penalty that allows no hub at the median `lambda2`.
#' @param criterion `"bic"` (see [ggm_hub()]) or `"ebic"` ([ggm_select()]); with the pseudo-likelihood for a binary model.
#' @param c The weight of a hub's further edges in the BIC.
#' @param model A precision matrix ([ggm_hub()]), a covariance matrix ([cov_hub()]) or an Ising model ([ising_hub()]).
#' @param ... Passed on to the function that fits.
#' @return The best fit, with an element `grid`: a data frame of all penalties with edges, hubs, criterion, gap and regime.
#' @family hubs
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_hub(p = 30, hubs = 2, n = 150)
#' best <- ggm_hub_select(sim$data, lambda1 = 0.3, lambda2 = c(0.4, 0.2), lambda3 = c(1, 0.6))
#' best$grid
ggm_hub_select <- function(x = NULL, S = NULL, n = NULL, lambda1, lambda2 = NULL, lambda3 = NULL, criterion = c("bic", "ebic"), c = 0.2, q = 2,
                     threads = NULL, model = c("gaussian", "covariance", "binary"), ...) {
  call <- match.call()
  weight <- check_number(c, "c", lower = 0, upper = 1)  # before any default that calls c()
  criterion <- check_choice(criterion, base::c("bic", "ebic"))
  model <- check_choice(model, base::c("gaussian", "covariance", "binary"))
  if (model == "binary") {
    if (!is.null(S) || !is.null(n)) abort_input("An Ising model is fitted to the rows: give `x`, not `S` and `n`.", "S")
    x <- check_binary(x)
    data <- list(S = stats::cov(x) * (nrow(x) - 1), n = nrow(x))
  } else {
    data <- ggm_input(x, S, n)
  }
  if (is.null(data$n)) abort_input("`n`, the number of observations behind `S`, is needed to compute the criterion.", "n")
  lambda1 <- check_number(lambda1, lower = 0)
  q <- check_hub_norm(q)
  if (is.null(lambda2)) lambda2 <- seq(2 * lambda1, lambda1 / 4, length.out = 10L)
  lambda2 <- sort(check_vector(lambda2, "lambda2", lower = 0), decreasing = TRUE)
  if (is.null(lambda3)) lambda3 <- base::c(0.8, 0.5, 0.3) * hub_lambda_max(data$S, stats::median(lambda2), q)[["lambda3"]]
  lambda3 <- sort(check_vector(lambda3, "lambda3", lower = 0), decreasing = TRUE)
  fits <- list()
  for (l3 in lambda3) fits <- base::c(fits, hub_row(model, x, S, n, lambda1, lambda2, l3, q, threads, first = fits, ...))
  grid <- do.call(rbind, lapply(fits, hub_grid_row, criterion, weight))
  fit <- fits[[which.min(grid$value)]]
  fit$grid <- grid
  fit$call <- shorten_call(call)
  warn_empty(fit, data$S, fit$penalty)
  fit
}

# The fits along lambda2 for one lambda3, as single fits. `first` are those of the lambda3 before, the first of which is a start.
hub_row <- function(model, x, S, n, lambda1, lambda2, lambda3, q, threads, first, ...) {
  quiet <- function(code) suppressWarnings(code, classes = "granary_warning_input")
  data <- if (is.null(x)) list(S = S, n = n) else list(x = x)
  fit_one <- function(method, lambda2, start, ...) {
    quiet(do.call(method, c(data, list(lambda1 = lambda1, lambda2 = lambda2, lambda3 = lambda3, q = q, start = start), list(...)), quote = TRUE))
  }
  if (model == "gaussian") {
    start <- if (length(first) > 0L) first[[length(first) + 1L - length(lambda2)]]
    path <- fit_one(ggm_hub, lambda2, start, threads = threads, ...)
    return(lapply(seq_along(lambda2), function(k) {
      one <- ggm_at(path, k)
      one$penalty$lambda2 <- one$lambda
      one
    }))
  }
  fits <- list()
  for (k in seq_along(lambda2)) {
    start <- if (k > 1L) fits[[k - 1L]] else if (length(first) > 0L) first[[length(first) + 1L - length(lambda2)]]
    fits[[k]] <- if (model == "covariance") {
      fit_one(cov_hub, lambda2[k], start, threads = threads, ...)
    } else {
      fit_one(ising_hub, lambda2[k], start, ...)
    }
  }
  fits
}

hub_grid_row <- function(fit, criterion, weight) {
  part <- hub_parts(fit)
  deviance <- -2 * as.double(stats::logLik(fit))
  value <- if (criterion == "bic") {
    deviance + log(fit$n) * (ncol(fit$S) + hub_complexity(part$V, part$Z, weight))
  } else if (inherits(fit, "granary_ggm")) {
    select_ebic(fit, 0.5)$table$value
  } else {
    deviance + fit$df * (log(fit$n) + 2 * log(ncol(fit$S)))
  }
  data.frame(lambda2 = fit$penalty$lambda2, lambda3 = fit$penalty$lambda3, edges = fit$df, hubs = nrow(part$hubs), value = value, gap = fit$gap,
             regime = part$regime)
}

hub_score <- function(truth, fit, hubs = NULL, r = 1, threshold = 1e-5) {
  if (inherits(truth, "granary_sim_hub")) {
    if (is.null(hubs)) hubs <- truth$hubs
    truth <- truth$theta
  }
  truth <- as.matrix(check_symmetric(truth, "truth", allow_sparse = TRUE))
  estimate <- if (inherits(fit, "granary_ggm")) {
    as.matrix(precision_at(fit))
  } else if (inherits(fit, "granary_hub")) {
    as.matrix(fit$theta)
  } else {
    as.matrix(check_symmetric(fit, "fit", allow_sparse = TRUE))
  }
  if (ncol(truth) != ncol(estimate)) {
    abort_input(sprintf("`truth` has %d variables and `fit` has %d: they must be the same.", ncol(truth), ncol(estimate)), "fit")
  }
  if (!is.null(colnames(truth))) estimate <- match_named(estimate, colnames(truth), "fit")
  r <- check_count(r, lower = 0)
  threshold <- check_number(threshold, lower = 0)
  if (is.character(hubs)) hubs <- match(hubs, colnames(truth))
  hubs <- check_vector(hubs, "hubs", min_length = 0L, lower = 1, upper = ncol(truth))
  found <- abs(estimate) > threshold
  diag(found) <- FALSE
  true <- truth != 0
  diag(true) <- FALSE
  upper <- upper.tri(truth)
  touches <- upper & (row(truth) %in% hubs | col(truth) %in% hubs)
  degree <- colSums(found)
  top <- utils::head(order(-degree), length(hubs))
  top <- top[degree[top] >= r]
  share <- function(part, whole) if (whole > 0) part / whole else NA_real_
  data.frame(edges = sum(found & upper), correct = sum(found & true & upper), hub_edges = share(sum(found & true & touches), sum(true & touches)),
             hubs = share(sum(top %in% hubs), length(hubs)), sse = sum((estimate - truth)[upper]^2))
}

#' Simulate a graph with hubs and data from it
#'
#' The three set-ups of the hub paper (Section 3.5.2). Seed with [set.seed()].
#'
#' @details `"hub"`: any two nodes are joined with chance `sparsity`, and a hub with any other node with chance `hub_density`. `"two_blocks"`:
#' two such
#' graphs side by side. `"scale_free"`: degrees follow \eqn{P(k) \propto k^{-2.5}}{P(k) ~ k^-2.5}; nodes joined to more than 5 percent of
#' the others count as hubs. An edge gets the mean of two draws from \eqn{\pm[0.25, 0.75]}{[-0.75, -0.25] and [0.25, 0.75]}; a precision or
#' covariance matrix
#' gets the diagonal that makes its smallest eigenvalue 0.1, an Ising model intercepts of zero.
#'
#' @param p,hubs,n Number of variables, of hubs, of observations (`NULL` for none).
#' @param sparsity,hub_density Chance of an edge between ordinary nodes, and of an edge at a hub.
#' @param type The model the matrix belongs to: a precision matrix, a covariance matrix or an Ising model.
#' @param setup The graph; see Details.
#' @param standardize Whether the columns of Gaussian data are scaled to standard deviation one, as in the paper.
#' @param burn_in,thin Gibbs sampler of the Ising model: scans before the first row, and from row to row (the paper takes 1e5 and 1e4).
#' @param exact Draw from the Ising model by enumerating its states (p at most 15).
#' @return A list of class `granary_sim_hub`: `theta` (sparse), also as `precision` for Gaussian graphs, `hubs` (positions), `data`, `type`.
#' @family hubs
#' @export
#' @examples
#' set.seed(1)
#' sim_hub(p = 50, hubs = 3, n = 100)
#' head(sim_hub(p = 6, hubs = 1, n = 10, type = "binary", exact = TRUE)$data)
sim_hub <- function(p = 100, hubs = 5, n = NULL, sparsity = 0.02, hub_density = 0.7, type = c("gaussian", "covariance", "binary"),
                          setup = c("hub", "two_blocks", "scale_free"), standardize = TRUE, burn_in = 1000, thin = 100, exact = FALSE) {
  p <- check_count(p, upper = 20000)
  hubs <- check_count(hubs, lower = 0, upper = p)
  n <- check_count(n, allow_null = TRUE)
  sparsity <- check_number(sparsity, lower = 0, upper = 1)
  hub_density <- check_number(hub_density, lower = 0, upper = 1)
  type <- check_choice(type, c("gaussian", "covariance", "binary"))
  setup <- check_choice(setup, c("hub", "two_blocks", "scale_free"))
  standardize <- check_flag(standardize)
  burn_in <- check_count(burn_in, lower = 0)
  thin <- check_count(thin)
  exact <- check_flag(exact)
  if (exact && type == "binary" && p > 15) abort_input(sprintf("`exact` enumerates 2^p states and is for p up to 15, not %d.", p), "exact")
  graph <- core_sim_hub(list(setup = setup, p = p, hubs = hubs, sparsity = sparsity, hub_density = hub_density, definite = type != "binary"),
                        core_seed())
  theta <- graph$weights
  dimnames(theta) <- rep(list(variable_names(NULL, p)), 2L)
  data <- NULL
  if (!is.null(n)) {
    data <- if (type == "gaussian") {
      core_ggm_sample(theta, n, core_seed())
    } else if (type == "covariance") {
      core_covariance_sample(as.matrix(theta), n, core_seed())
    } else {
      core_ising_sample(as.matrix(theta), list(n = n, burn_in = burn_in, thin = thin, exact = exact), core_seed(), progress_bar("Gibbs sampler"))
    }
    if (type != "binary" && standardize && n > 1L) data <- sweep(data, 2L, apply(data, 2L, stats::sd), "/")
    colnames(data) <- colnames(theta)
  }
  structure(list(theta = theta, precision = if (type == "gaussian") theta, hubs = graph$hubs, data = data, type = type, setup = setup),
            class = c("granary_sim_hub", if (type == "gaussian") "granary_sim_ggm"))
}

#' @export
print.granary_sim_hub <- function(x, ...) {
  cli::cat_line("Simulated graph with hubs (", x$type, ", ", x$setup, "): ", ncol(x$theta), " variables, ", count_edges(x$theta), " edges, ",
                length(x$hubs), " hubs", if (!is.null(x$data)) paste0(", n = ", nrow(x$data)))
  invisible(x)
}
