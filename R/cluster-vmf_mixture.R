#' Mixtures of von Mises-Fisher laws
#'
#' Clusters of directions: documents by their words, embeddings compared by the cosine, profiles compared by
#' correlation, wind or fibre directions. Each cluster has a direction, a concentration of its own, and says how surely
#' a row belongs to it. Sparse matrices with thousands of columns are the normal case.
#'
#' @details
#' Rows \eqn{x} of length 1 in \eqn{d} columns have the density
#' \deqn{f(x) = \sum_h \alpha_h c_d(\kappa_h) \exp(\kappa_h \mu_h'x)}{f(x) = sum_h alpha_h c_d(kappa_h) exp(kappa_h mu_h'x)}
#' with
#' \eqn{c_d(\kappa) = \kappa^{d/2-1} / ((2\pi)^{d/2} I_{d/2-1}(\kappa))}{c_d(kappa) = kappa^(d/2-1) / ((2 pi)^(d/2) I_{d/2-1}(kappa))}.
#' Given memberships \eqn{p_{ih}} and their sums
#' \eqn{r_h = \sum_i p_{ih} x_i}{r_h = sum_i p_ih x_i}, the direction is
#' \eqn{\mu_h = r_h / |r_h|}{mu_h = r_h / |r_h|}, and
#' \eqn{\kappa_h}{kappa_h} solves \eqn{A_d(\kappa_h) = |r_h| / \sum_i p_{ih}}{A_d(kappa_h) = |r_h| / sum_i p_ih},
#' \eqn{A_d = I_{d/2} / I_{d/2-1}}.
#'
#' `type = "soft"` maximises the likelihood by expectation-maximisation; `"hard"` the classification likelihood, in
#' which every row counts for its best component only (less memory, fewer iterations); `"hybrid"` is soft until the mean
#' entropy of the memberships is below `entropy` bits, then hard; `"stochastic"` draws the memberships in every
#' iteration, which can leave poor optima, and returns the best parameters met. For all of them the expected complete,
#' the classification and the full log-likelihood, which stand in this order, are in `bounds`.
#'
#' `start = "perturb"` starts every component at the mean direction of all rows, slightly shaken, with a concentration
#' of 10: the components stay together for some iterations and part where the data part (an annealing; see the entropy
#' in `plot()`). `"plusplus"` takes rows far apart in cosine, `"sample"` rows at random; both are quicker, and better
#' when clusters are many.
#'
#' A component that shrinks to one direction has an infinite likelihood. Its concentration stops at `kappa_max`; it is
#' marked as `degenerate`, and a start without such components is preferred to any with them. With fewer rows than
#' columns per cluster free concentrations overfit: use `kappa = "common"`.
#'
#' Each start ends when a step changes the likelihood, measured from that of the uniform law, by less than `tol` of itself.
#' The best one goes on from there, with extrapolated steps (Varadhan and Roland 2008), until its equations hold:
#' "converged" means that `convergence$residual`, the largest of \eqn{|\mu_h - r_h / |r_h||}{|mu_h - r_h/|r_h||},
#' \eqn{|A_d(\kappa_h) - |r_h| / \sum_i p_{ih}|}{|A_d(kappa_h) - |r_h| / sum_i p_ih|} and the change of a share at the
#' returned memberships, is at most 100 `tol`: 1e-6 by default. With an approximate `method` the concentrations solve
#' their equations approximately, and only the other two count.
#'
#' @section Which method when:
#' `vmf_mixture()` for rows whose length does not matter and whose clusters differ in tightness or size;
#' [spherical_kmeans()] when a partition by cosine is all that is wanted and speed counts; [bregman_cluster()] with
#' `"multinomial"` for counts whose totals matter; [vmf_select()] for the number of components. For correlations centre
#' the rows first: the cosine of centred rows is their correlation.
#'
#' @param x Rows: a matrix, data frame or sparse matrix of numbers with at least two columns. They are scaled to length
#'   1.
#' @param k Number of components.
#' @param type How rows are assigned.
#' @param kappa Concentrations: `"free"`, `"common"` to all components, or a number that is kept.
#' @param method How a concentration follows from the mean resultant length: the exact solution, or one of the
#'   approximations (4.4), (4.1), (4.2) of the paper; see [vmf_bounds()].
#' @param equal_share Whether all components have the same share.
#' @param weights Case weights, one per row, or `NULL`.
#' @param start `"perturb"`, `"plusplus"`, `"sample"`, a matrix of directions, labels of the rows, or a mixture fitted
#'   before.
#' @param n_starts Number of starts, of which the best is kept.
#' @param normalize Whether rows are scaled to length 1; `FALSE` makes rows of other lengths an error.
#' @param empty Rows of zeros have no direction: `"error"`, or `"omit"` to give them no cluster.
#' @param entropy For `"hybrid"`: bits at which memberships become hard.
#' @param kappa_max Largest concentration.
#' @param tol A start ends when the likelihood changes by less than this share of itself; the equations of the answer hold
#'   to 100 times this.
#' @param max_iter Largest number of iterations from each start, and of those that follow from the best one.
#' @param threads Number of threads; see `options(granary.threads)`.
#' @return An object of class `granary_vmf_mixture`, a [granary_clustering], with `cluster`, `centers` (the directions,
#'   largest share first unless the start was given),
#'   `sizes`, `share`, `concentration`, `resultant` (mean cosine), `std.error` of the
#'   concentrations (as if the memberships were known), `membership` (soft and stochastic), `loglik` and `df`,
#'   `objective` (what was maximised), `bounds`, `trace`, `entropy` (bits, per iteration), `values` (of all starts),
#'   `degenerate`.
#' @references Banerjee, Dhillon, Ghosh and Sra (2005). Clustering on the unit hypersphere using von Mises-Fisher
#'   distributions. *Journal of Machine Learning Research* 6, 1345--1382.
#'
#' Varadhan and Roland (2008). Simple and globally convergent methods for accelerating the convergence of any EM
#' algorithm. *Scandinavian Journal of Statistics* 35, 335--353.
#' @seealso [spherical_kmeans()], [vmf_select()], [vmf_fit()], [vmf_bounds()], [cluster_cohesion()],
#'   [bregman_cluster()].
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_vmf(400, k = 3, d = 50, kappa = c(30, 60, 90))
#' fit <- vmf_mixture(sim$x, k = 3)
#' fit
#' summary(fit)
#' assess(fit, truth = sim$cluster, newdata = sim$x)
#' plot(fit)
vmf_mixture <- function(x, k, type = c("soft", "hard", "hybrid", "stochastic"), kappa = c("free", "common"),
                        method = c("exact", "banerjee", "large", "small"),
                        equal_share = FALSE, weights = NULL, start = "perturb", n_starts = 10, normalize = TRUE,
                        empty = c("error", "omit"), entropy = 0.05,
                        kappa_max = 1e8, tol = 1e-8, max_iter = 500, threads = NULL) {
  call <- match.call()
  if (missing(x)) fail_missing("x")
  if (missing(k)) fail_missing("k")
  type <- check_choice(type, c("soft", "hard", "hybrid", "stochastic"))
  method <- check_choice(method, c("exact", "banerjee", "large", "small"))
  kappa_max <- check_number(kappa_max, lower = 0, strict_lower = TRUE, upper = 1e12)
  kappa <- check_kappa(kappa, kappa_max)
  rows <- check_directions(x, normalize, empty, weights, inform = missing(normalize))
  k <- check_clusters(k, nrow(rows$x))
  options <- list(k = k, type = type, kappa = kappa$kind, fixed_kappa = kappa$value, method = method,
                  equal_share = check_flag(equal_share), n_starts = check_count(n_starts),
                  entropy = check_number(entropy, lower = 0), kappa_max = kappa_max, tol = check_number(tol, lower = 0),
                  max_iter = check_count(max_iter), threads = thread_count(threads))
  begin <- direction_start(start, c("perturb", "plusplus", "sample"), rows, k)
  found <- core_vmf_mixture(plain_rows(rows$x), rows$weights, c(options, begin), core_seed(), progress_bar("mixture"))
  new_vmf_mixture(found, rows, options, sorted = !is.null(begin$start), call)
}

check_kappa <- function(kappa, kappa_max) {
  if (is_plain_numeric(kappa) && length(kappa) == 1L) {
    return(list(kind = "fixed", value = check_number(kappa, lower = 0, upper = kappa_max)))
  }
  if (!is.character(kappa)) fail_input("kappa", "\"free\", \"common\" or one number", describe(kappa))
  list(kind = check_choice(kappa, c("free", "common")), value = 0)
}

# Rows that have a direction, in the form the core wants; `keep` says which of the rows that came they are.
check_directions <- function(x, normalize = TRUE, empty = "error", weights = NULL, inform = FALSE, arg = "x") {
  can_omit <- !missing(empty)
  x <- check_rows(x, arg)
  if (ncol(x) < 2L) {
    abort_input(sprintf("`%s` must have at least two columns: in one there are only two directions.", arg), arg)
  }
  normalize <- check_flag(normalize)
  empty <- check_choice(empty, c("error", "omit"))
  weights <- check_case_weights(weights, nrow(x))
  length <- core_row_lengths(plain_rows(x))
  keep <- length > 0
  if (!all(keep) && empty == "error") {
    gone <- which(!keep)
    shown <- if (is.null(rownames(x))) {
      utils::head(gone, 5L)
    } else {
      paste0(utils::head(gone, 5L), " (\"", rownames(x)[utils::head(gone, 5L)], "\")")
    }
    abort_input(
      sprintf("Rows of zeros have no direction, but `%s` has %s: %s%s. Leave such rows out%s.", arg,
              counted(length(gone), "such row", "such rows"), paste(shown, collapse = ", "),
              if (length(gone) > 5L) ", ..." else "", if (can_omit) " with empty = \"omit\"" else ""), arg)
  }
  odd <- which(keep & abs(length - 1) > 1e-6)
  if (length(odd) > 0L && !normalize) {
    abort_input(
      sprintf("Rows of `%s` must have length 1, but row %d has length %s. Scale them, or use normalize = TRUE.", arg,
              odd[1L], format(length[odd[1L]], digits = 6L)), arg)
  }
  if (length(odd) > 0L && inform) {
    cli::cli_inform(
      "{length(odd)} row{?s} {?was/were} scaled to length 1; give {.code normalize = TRUE} to do so without this message.")
  }
  if (!any(keep)) abort_input(sprintf("`%s` has no row that is not zero.", arg), arg)
  all <- nrow(x)
  names <- rownames(x)
  if (!all(keep)) {
    x <- x[keep, , drop = FALSE]
    if (length(weights) > 0L) weights <- weights[keep]
    if (length(weights) > 0L && sum(weights) == 0) abort_input("`weights` must not all be zero.", "weights")
  }
  list(x = x, weights = weights, keep = keep, n = all, names = names, scaled = length(odd) > 0L)
}

# Words, directions, labels, or a mixture.
direction_start <- function(start, words, rows, k) {
  if (inherits(start, "granary_vmf_mixture")) {
    if (nrow(start$centers) != k || ncol(start$centers) != ncol(rows$x)) {
      abort_input(sprintf("`start` must be a mixture of %d components in %d columns, but it has %d in %d.", k,
                          ncol(rows$x), nrow(start$centers), ncol(start$centers)), "start")
    }
    if (!is.null(colnames(rows$x))) start$centers <- match_columns(start$centers, colnames(rows$x), "start")
    return(list(parameters = vmf_parameters(start)))
  }
  if (is.character(start) && length(start) == 1L && length(rows$keep) != 1L) {
    return(list(start = check_choice(start, words)))
  }
  if (is.matrix(start) || is.data.frame(start) || isS4(start)) {
    centers <- check_matrix(start, "start")
    if (nrow(centers) != k || ncol(centers) != ncol(rows$x)) {
      abort_input(sprintf("`start` must be a matrix of %d directions with %d columns, but it is %d x %d.", k,
                          ncol(rows$x), nrow(centers), ncol(centers)), "start")
    }
    if (!is.null(colnames(rows$x)) && !is.null(colnames(centers))) {
      centers <- match_columns(centers, colnames(rows$x), "start")
    }
    length <- core_row_lengths(plain_rows(centers))
    if (any(length == 0)) {
      abort_input(sprintf("Every row of `start` must have a direction, but row %d is zero.", which(length == 0)[1L]),
                  "start")
    }
    return(list(centers = plain_rows(centers / length)))
  }
  if (is.character(start) && length(start) == 1L) return(list(start = check_choice(start, words)))
  labels <- check_labels(start, "start")
  if (length(labels) != rows$n) {
    fail_input("start", sprintf("a word, a matrix of directions, a mixture, or one label for each of the %d rows",
                                rows$n), describe(start))
  }
  labels <- droplevels(labels[rows$keep])
  if (nlevels(labels) != k) {
    abort_input(sprintf("`start` must have %d different labels, but it has %d.", k, nlevels(labels)), "start")
  }
  list(labels = as.integer(labels))
}

vmf_parameters <- function(fit) {
  list(share = unname(fit$share), directions = unname(fit$centers), concentration = unname(fit$concentration))
}

# What belongs to kept rows, at their places among all rows.
at_rows <- function(values, rows) {
  if (is.matrix(values)) {
    out <- matrix(NA_real_, rows$n, ncol(values), dimnames = list(rows$names, colnames(values)))
    out[rows$keep, ] <- values
    return(out)
  }
  out <- rep(values[NA_integer_], rows$n)
  out[rows$keep] <- values
  stats::setNames(out, rows$names)
}

new_vmf_mixture <- function(found, rows, options, sorted, call) {
  k <- options$k
  d <- ncol(rows$x)
  at <- if (sorted) order(-found$parameters$share, seq_len(k)) else seq_len(k)
  p <- found$parameters
  centers <- p$directions[at, , drop = FALSE]
  dimnames(centers) <- list(seq_len(k), variable_names(colnames(rows$x), d))
  total <- if (length(rows$weights) > 0L) sum(rows$weights) else nrow(rows$x)
  soft <- options$type %in% c("soft", "stochastic")
  cluster <- match(found$cluster, at)
  membership <- if (soft) structure(found$membership[, at, drop = FALSE], dimnames = list(rownames(rows$x), seq_len(k)))
  w <- if (length(rows$weights) > 0L) rows$weights else rep(1, nrow(rows$x))
  sizes <- if (soft) colSums(membership * w) else vapply(seq_len(k), function(h) sum(w[cluster == h]), 0)
  kappas <- if (options$kappa == "free") k else if (options$kappa == "common") 1 else 0
  slope <- core_vmf_table("slope", p$concentration[at], d, "exact")
  per <- list(share = p$share[at], kappa = p$concentration[at],
              std.error = if (options$kappa == "free") 1 / sqrt(sizes * slope) else rep(NA_real_, k),
              resultant = found$resultant[at])
  fit <- new_clustering(
    "vmf_mixture", cluster = at_rows(cluster, rows), centers = centers, sizes = unname(sizes),
    objective = found$objective,
    membership = if (soft) at_rows(membership, rows), share = per$share, concentration = per$kappa,
    resultant = per$resultant, std.error = per$std.error,
    loglik = found$loglik, df = k * (d - 1) + kappas + (if (options$equal_share) 0 else k - 1),
    bounds = c(complete = found$complete, classification = found$classification, loglik = found$loglik),
    trace = found$trace, entropy = if (length(found$entropy) > 0L) found$entropy, values = found$values,
    degenerate = found$degenerate[at],
    stationarity = c(direction = found$direction_residual, resultant = found$resultant_residual),
    scores = list(theta = found$theta[at, , drop = FALSE], bias = found$bias[at]), type = options$type,
    kappa = options$kappa, method = options$method,
    total_weight = total, omitted = rows$n - nrow(rows$x), scaled = rows$scaled, per_cluster = per,
    title = paste0("Mixture of von Mises-Fisher laws: ", options$type, " assignment, ",
                   switch(options$kappa, free = "free concentrations", common = "one concentration",
                                                                                             "fixed concentration"), ", ", d, " columns"),
    measure = if (soft) "Log-likelihood" else "Classification log-likelihood", call = call,
    convergence = found$convergence
  )
  fit$n <- nrow(rows$x)
  fit <- seal(fit)
  lone <- which(fit$degenerate)
  if (length(lone) > 0L) {
    warn_input(
      sprintf("%s collapsed to a single direction: %s at `kappa_max`, and the likelihood means little. Use kappa = \"common\", fewer components, or more starts.",
              if (length(lone) == 1L) paste("Component", lone, "has") else paste("Components",
                                                                                 paste(lone, collapse = ", "), "have"),
              if (length(lone) == 1L) "its concentration is" else "their concentrations are"), "k")
  }
  bare <- sum(fit$sizes < 1e-8 * total)
  if (bare > 0L) {
    warn_input(sprintf("%s without rows: fewer components are enough, or more starts may use %s.",
                       counted(bare, "component is left", "components are left"), if (bare == 1L) "it" else "them"),
               "k")
  }
  if (options$type == "stochastic") return(fit)
  check_convergence(fit)
}

#' @export
print_more.granary_vmf_mixture <- function(x) {
  kappa <- format(x$concentration, digits = 4L, trim = TRUE)
  if (length(kappa) > 12L) kappa <- c(kappa[1:12], "...")
  cli::cat_line("Concentrations: ", paste(kappa, collapse = ", "))
  if (!is.null(x$entropy)) {
    cli::cat_line(sprintf("Mean entropy of the memberships: %.3g bits of at most %.3g", x$entropy[length(x$entropy)],
                          log2(max(length(x$sizes), 1L))))
  }
  if (x$type %in% c("hard", "hybrid")) cli::cat_line("Log-likelihood of the mixture: ", format(x$loglik, digits = 8L))
  if (x$omitted > 0L) cli::cat_line(counted(x$omitted, "row of zeros has", "rows of zeros have"), " no cluster")
}

#' @rdname vmf_mixture
#' @param object,x A mixture; for `vmf_mixture()`, `x` are the rows.
#' @param ... For `plot()`, passed on to [graphics::plot()]; otherwise not used.
#' @export
summary.granary_vmf_mixture <- function(object, ...) {
  refuse_dots(...)
  table <- data.frame(cluster = seq_along(object$sizes), size = object$sizes, share = object$share,
                      kappa = object$concentration, std.error = object$std.error, cosine = object$resultant)
  leading <- vapply(seq_len(nrow(object$centers)), function(h) top_columns(object$centers[h, ]), "")
  seal(structure(list(title = object$title, call = object$call, table = table, leading = leading,
                      bounds = object$bounds, df = object$df, n = stats::nobs(object),
                      small = object$kappa == "free" && any(object$sizes < ncol(object$centers)),
                      d = ncol(object$centers), stationarity = object$stationarity, convergence = object$convergence),
                 class = "summary_granary_vmf_mixture"))
}

top_columns <- function(direction, count = 6L) {
  at <- utils::head(order(-abs(direction)), count)
  paste0(ifelse(direction[at] < 0, "-", ""), names(direction)[at], collapse = " ")
}

#' @export
print.summary_granary_vmf_mixture <- function(x, ...) {
  cli::cat_line(x$title)
  print_call(x$call)
  print(x$table, digits = 4L, row.names = FALSE)
  cli::cat_line("Columns with the largest entries of each direction:")
  cli::cat_line(sprintf("  %d: %s", seq_along(x$leading), x$leading))
  cli::cat_line(sprintf("Log-likelihood %s (%g parameters), classification %s, expected complete %s",
                        format(x$bounds[["loglik"]], digits = 8L), x$df,
                        format(x$bounds[["classification"]], digits = 8L), format(x$bounds[["complete"]], digits = 8L)))
  if (x$small) {
    cli::cat_line("Some components have fewer rows than the ", x$d,
                  " columns: their concentrations are overestimated; kappa = \"common\" is safer.")
  }
  cli::cat_line(sprintf("Equations of the answer hold to %.2g (directions) and %.2g (mean cosines)",
                        x$stationarity[["direction"]], x$stationarity[["resultant"]]))
  cli::cat_line("Solver: ", format_convergence(x$convergence))
  invisible(x)
}

#' @rdname vmf_mixture
#' @param newdata New rows with the columns of the data, scaled to length 1 as those were.
#' @export
predict.granary_vmf_mixture <- function(object, newdata = NULL, type = c("class", "prob", "density"), threads = NULL,
                                        ...) {
  refuse_dots(...)
  type <- check_choice(type, c("class", "prob", "density"))
  if (is.null(newdata) && type == "class") return(object$cluster)
  if (is.null(newdata) && type == "prob" && !is.null(object$membership)) return(object$membership)
  if (is.null(newdata)) {
    abort_input(sprintf("Give `newdata`, the rows: the fit does not keep them, and type = \"%s\" needs them.", type),
                "newdata")
  }
  rows <- check_directions(cluster_rows(object, newdata), arg = "newdata")
  found <- core_vmf_rows(plain_rows(rows$x), vmf_parameters(object), thread_count(threads),
                         progress_bar("placing rows"))
  if (type == "class") return(stats::setNames(found$cluster, rownames(rows$x)))
  if (type == "density") return(stats::setNames(found$log_density, rownames(rows$x)))
  structure(found$membership, dimnames = list(rownames(rows$x), seq_len(nrow(object$centers))))
}

#' @rdname vmf_mixture
#' @param truth Labels of the rows.
#' @export
assess.granary_vmf_mixture <- function(object, truth = NULL, newdata = NULL, weights = NULL, ...) {
  refuse_dots(...)
  out <- assess_directions(object, truth, newdata, weights)
  if (!is.null(newdata)) out$log.density <- mean(stats::predict(object, newdata, type = "density"))
  out
}

# Agreement with labels, and cohesion of the rows.
assess_directions <- function(object, truth, newdata, weights) {
  if (is.null(truth) && is.null(newdata)) {
    abort_input("Give `truth`, labels of the rows, or `newdata`, the rows, or both.", "truth")
  }
  cluster <- if (is.null(newdata)) object$cluster else stats::predict(object, newdata)
  known <- !is.na(cluster)
  out <- data.frame(k = length(object$sizes), n = sum(known))
  if (!is.null(truth)) {
    truth <- check_labels(truth, "truth")
    if (length(truth) != length(cluster)) {
      abort_input(sprintf("`truth` must have one label per row, %d, but it has %d.", length(cluster), length(truth)),
                  "truth")
    }
    weights <- if (!is.null(weights)) check_case_weights(weights, length(cluster))[known]
    with <- cluster_agreement(cluster[known], truth[known], weights)
    out <- cbind(out, mi = with$mi, nmi = with$nmi, ari = with$ari, accuracy = with$accuracy, purity = with$purity)
  }
  if (!is.null(newdata)) {
    within <- cluster_cohesion(cluster_rows(object, newdata), cluster)
    out <- cbind(out, h_mean = within$h_mean, h_min = within$h_min, s_mean = within$s_mean, s_max = within$s_max)
  }
  out
}

#' @rdname vmf_mixture
#' @param nsim Number of data sets.
#' @param seed `NULL`, or a seed that is used for these draws only.
#' @export
simulate.granary_vmf_mixture <- function(object, nsim = 1, seed = NULL, ...) {
  refuse_dots(...)
  nsim <- check_count(nsim)
  if (!is.null(seed)) return(with_seed(seed, simulate(object, nsim = nsim)))
  lapply(seq_len(nsim), function(i) {
    drawn <- core_vmf_draws(stats::nobs(object), vmf_parameters(object), core_seed(), NULL)
    structure(drawn$x, dimnames = list(NULL, colnames(object$centers)), cluster = drawn$cluster)
  })
}

#' @rdname vmf_mixture
#' @param columns For `plot()` with rows: names or numbers of two columns to draw; `NULL` for a circle (two columns), a
#'   map (three), or the plane of largest variance.
#' @export
plot.granary_vmf_mixture <- function(x, newdata = NULL, columns = NULL, ...) {
  if (is.null(newdata)) return(plot_vmf_trace(x, ...))
  if (!is.null(columns) || ncol(x$centers) > 3L) return(plot.granary_clustering(x, newdata, columns, ...))
  picture <- direction_picture(x, newdata)
  old <- graphics::par(mar = c(4.1, 4.1, 2.1, 7.1))
  on.exit(graphics::par(old))
  colors <- cluster_colors(length(x$sizes))
  draw(graphics::plot, picture$rows[, 1L], picture$rows[, 2L],
       col = grDevices::adjustcolor(colors[picture$cluster], 0.6), pch = 16, cex = 0.7, asp = if (picture$circle) 1,
       xlim = if (picture$circle) c(-1.1, 1.1), ylim = if (picture$circle) c(-1.1, 1.1), xlab = picture$axes[1L],
       ylab = picture$axes[2L], main = "", bty = "l", user = list(...))
  if (picture$circle) graphics::segments(0, 0, picture$centers[, 1L], picture$centers[, 2L], col = colors, lwd = 2)
  graphics::points(picture$centers, pch = 21, bg = colors, col = "black", cex = 1.6, lwd = 1.5)
  cluster_legend(x$sizes, colors)
  invisible(x)
}

# Two columns: the circle itself; three: longitude and latitude in degrees.
direction_picture <- function(object, newdata) {
  rows <- check_directions(cluster_rows(object, newdata), arg = "newdata")
  unit <- function(m) m / sqrt(rowSums(m^2))
  points <- unname(unit(as.matrix(rows$x)))
  centers <- unname(object$centers)
  label <- stats::predict(object, newdata)
  names <- colnames(object$centers)
  if (ncol(points) == 2L) return(list(rows = points, centers = centers, cluster = label, axes = names, circle = TRUE))
  middle <- atan2(sum(points[, 2L]), sum(points[, 1L]))  # the map is cut on the far side
  turn <- function(m) {
    cbind((atan2(m[, 2L], m[, 1L]) - middle + pi) %% (2 * pi) - pi + middle, asin(pmax(pmin(m[, 3L], 1), -1))) * 180 /
      pi
  }
  list(rows = turn(points), centers = turn(centers), cluster = label, circle = FALSE,
       axes = c(sprintf("longitude, degrees (from %s to %s)", names[1L], names[2L]),
                sprintf("latitude, degrees (towards %s)", names[3L])))
}

# The course of the fit: what was maximised, and how sure the memberships were.
plot_vmf_trace <- function(x, ...) {
  at <- seq_along(x$trace) - 1
  old <- graphics::par(mar = c(4.1, 4.6, 2.1, if (is.null(x$entropy)) 1.1 else 4.6))
  on.exit(graphics::par(old))
  palette <- unname(grDevices::palette.colors(3L, "Okabe-Ito")[2:3])
  draw(graphics::plot, at, x$trace, type = "b", pch = 16, cex = 0.7, col = palette[2L], xlab = "iteration",
       ylab = tolower(x$measure), main = "", bty = if (is.null(x$entropy)) "l" else "u", user = list(...))
  if (!is.null(x$entropy)) {
    graphics::par(new = TRUE)
    graphics::plot(seq_along(x$entropy) - 1, x$entropy, type = "b", pch = 17, cex = 0.7, col = palette[1L],
                   axes = FALSE, xlab = "", ylab = "", xlim = range(at),
                   ylim = c(0, max(x$entropy, log2(length(x$sizes)), 1e-8)))
    graphics::axis(4L, col.axis = palette[1L])
    graphics::mtext("mean entropy (bits)", 4L, line = 2.6, col = palette[1L])
    graphics::mtext(x$measure, 3L, adj = 0, col = palette[2L], cex = 0.9, line = 0.4)
  }
  invisible(x)
}

#' @rdname vmf_mixture
#' @usage \method{autoplot}{granary_vmf_mixture}(object, newdata = NULL, columns = NULL, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_vmf_mixture <- function(object, newdata = NULL, columns = NULL, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  check_installed("ggplot2", "to draw with autoplot()")
  if (!is.null(newdata)) {
    if (!is.null(columns) || ncol(object$centers) > 3L) return(autoplot.granary_clustering(object, newdata, columns))
    picture <- direction_picture(object, newdata)
    rows <- data.frame(a = picture$rows[, 1L], b = picture$rows[, 2L],
                       cluster = factor(picture$cluster, seq_along(object$sizes)))
    return(ggplot2::ggplot(rows, ggplot2::aes(.data$a, .data$b, colour = .data$cluster)) +
           ggplot2::geom_point(alpha = 0.6, size = 1) +
           ggplot2::scale_colour_manual(values = unname(cluster_colors(length(object$sizes))), drop = FALSE) +
           ggplot2::labs(x = picture$axes[1L], y = picture$axes[2L]) + ggplot2::theme_minimal())
  }
  course <- rbind(data.frame(iteration = seq_along(object$trace) - 1, value = object$trace,
                             what = tolower(object$measure)),
                  if (!is.null(object$entropy)) data.frame(iteration = seq_along(object$entropy) - 1,
                                                           value = object$entropy, what = "mean entropy (bits)"))
  ggplot2::ggplot(course, ggplot2::aes(.data$iteration, .data$value)) + ggplot2::geom_line(colour = "grey60") +
    ggplot2::geom_point(size = 1) +
    ggplot2::facet_wrap(~what, ncol = 1L, scales = "free_y") + ggplot2::labs(y = NULL) + ggplot2::theme_minimal()
}
