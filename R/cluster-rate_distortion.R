#' Rate-distortion curves
#'
#' How few bits describe the rows how well: soft clusterings along a range of temperatures, from one centre for all rows to as many as are allowed. Where the curve
#' bends says how many clusters the data support at which precision.
#'
#' @details
#' For each `beta` the sum \eqn{I(Z; \hat Z) + \beta E d(Z, \hat Z)}{I(Z; Zhat) + beta E d(Z, Zhat)} is minimised over soft assignments, shares and at most `k` centres; this is the soft clustering of
#' [bregman_cluster()] at that `beta`. `beta` rises, and each point starts from the last one with its centres slightly shaken, so centres split as they become worth their bits
#' (deterministic annealing). Below `critical` \eqn{= 1 / \lambda_{max}(\nabla^2\phi(\bar x) Cov(Z))}{= 1 / lambda_max(Hess phi(xbar) Cov(Z))} one centre is best; this number follows from linearising
#' the update at the mean and is not in the paper. With centres that stay (`support`) the problem is convex, and the points are exact (Blahut and Arimoto).
#'
#' @inheritParams bregman_cluster
#' @param k Largest number of centres.
#' @param beta Inverse temperatures, in increasing order; `NULL` for twenty from 0.8 to 50 times the critical one.
#' @param support Centres that stay where they are, or `NULL`.
#' @return An object of class `granary_rate_distortion` with `table` (a data frame: `beta`, `rate` in nats, `distortion`, `k`, the number of distinct centres, `converged`), `critical`, and the
#'   last clustering's `centers`, `share` and `membership`.
#' @section Which method when: To see how many clusters pay, and as a start for the number `k`; [bregman_cluster()] for one clustering, [information_bottleneck()] for tables.
#' @inherit bregman_family references
#' @seealso [bregman_cluster()].
#' @export
#' @examples
#' set.seed(1)
#' curve <- rate_distortion(faithful, k = 4, divergence = bregman_family("gaussian", 50))
#' curve
#' plot(curve)
rate_distortion <- function(x, k, divergence = "gaussian", beta = NULL, support = NULL, weights = NULL, smooth = 1e-10, tol = 1e-10, max_iter = 20000, threads = NULL) {
  call <- match.call()
  if (missing(x)) fail_missing("x")
  x <- check_rows(x)
  if (missing(k) && is.null(support)) fail_missing("k")
  k <- if (is.null(support)) check_clusters(k, nrow(x)) else nrow(check_matrix(support, "support"))
  family <- check_divergence(divergence, ncol(x), colnames(x))
  weights <- check_case_weights(weights, nrow(x))
  fixed <- if (is.null(support)) matrix(0, 0L, 0L) else cluster_start(support, character(), x, k)$centers
  options <- list(k = min(k, nrow(x)), type = "soft", smooth = check_number(smooth, lower = 0, upper = 1), tol = check_number(tol, lower = 0), max_iter = check_count(max_iter),
                  threads = thread_count(threads))
  data <- list(x = plain_rows(x), weights = weights, support = fixed)
  ask <- function(at, progress = NULL) core_bregman_rate(data, family$core, at, options, core_seed(), progress)
  if (is.null(beta)) {
    critical <- ask(numeric())$critical
    if (!is.finite(critical)) abort_input("`x` must vary: all rows are equal, so there is nothing to describe.", "x")
    beta <- critical * exp(seq(log(0.8), log(50), length.out = 20L))
  }
  beta <- check_vector(beta, "beta", lower = 0, strict_lower = TRUE)
  if (is.unsorted(beta, strictly = TRUE)) abort_input("`beta` must increase: each point starts from the one before.", "beta")
  found <- ask(beta, progress_bar("rate-distortion"))
  table <- as.data.frame(found$points)
  last <- found$last
  dimnames(last$centers) <- list(seq_len(nrow(last$centers)), variable_names(colnames(x), ncol(x)))
  dimnames(last$membership) <- list(rownames(x), seq_len(nrow(last$centers)))
  check_convergence(new_fit("rate_distortion", table = table, critical = found$critical, centers = last$centers, share = last$share, membership = last$membership, total = last$total,
                            fixed = !is.null(support), divergence = family, n = nrow(x), call = call,
                            convergence = list(converged = all(table$converged), iterations = last$convergence$iterations, residual = last$convergence$residual,
                                               seconds = last$convergence$seconds)),
                    "Raise `max_iter` or loosen `tol`: near a split convergence is slow.")
}

#' @export
print.granary_rate_distortion <- function(x, ...) {
  cli::cat_line("Rate-distortion curve: ", x$divergence$label, ", ", counted(nrow(x$table), "point", "points"))
  print_call(x$call)
  cli::cat_line("One centre is best below beta = ", format(x$critical, digits = 4L), "; its distortion is ", format(x$total, digits = 5L))
  shown <- x$table
  if (nrow(shown) > 12L) shown <- shown[unique(round(seq(1, nrow(shown), length.out = 12L))), ]
  print(shown, digits = 4L, row.names = FALSE)
  cli::cat_line("Solver: ", format_convergence(x$convergence))
  invisible(x)
}

#' @export
tidy.granary_rate_distortion <- function(x, ...) x$table

#' @rdname rate_distortion
#' @param ... Passed on to [graphics::plot()].
#' @export
plot.granary_rate_distortion <- function(x, ...) {
  table <- x$table
  colors <- grDevices::hcl.colors(max(table$k), "Dark 3")
  draw(graphics::plot, table$distortion, table$rate, type = "l", xlab = "distortion (expected divergence)", ylab = "rate (nats)", main = "", bty = "l", col = "grey60", user = list(...))
  graphics::points(table$distortion, table$rate, pch = 21, bg = colors[table$k], cex = 1.2)
  graphics::legend("topright", paste(sort(unique(table$k)), ifelse(sort(unique(table$k)) == 1L, "centre", "centres")), pch = 21, pt.bg = colors[sort(unique(table$k))], bty = "n")
  invisible(x)
}

#' @rdname rate_distortion
#' @usage \method{autoplot}{granary_rate_distortion}(object, ...)
#' @param object A curve.
#' @exportS3Method ggplot2::autoplot
autoplot.granary_rate_distortion <- function(object, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "to draw with autoplot()")
  gg_canvas(object$table, ggplot2::aes(.data$distortion, .data$rate)) + ggplot2::geom_line(colour = "grey60") +
    ggplot2::geom_point(ggplot2::aes(colour = factor(.data$k)), size = 2) +
    ggplot2::labs(x = "distortion (expected divergence)", y = "rate (nats)", colour = "centres") + ggplot2::theme_minimal()
}

#' Information bottleneck
#'
#' Groups the rows of a table so that the groups keep what the rows tell about the columns: words by the documents they occur in, customers by what they buy.
#'
#' @details
#' With the rows \eqn{p(Y | x)} of the joint table and weights \eqn{p(x)}, soft clusters by relative entropy minimise
#' \eqn{I(X; \hat X) - \beta I(\hat X; Y)}{I(X; Xhat) - beta I(Xhat; Y)}; hard ones (`type = "hard"`) lose the least mutual information \eqn{I(X; Y) - I(\hat X; Y)}{I(X; Y) - I(Xhat; Y)} for `k` groups.
#'
#' @param x A table of counts or probabilities, not negative; rows are grouped.
#' @param k Number of groups.
#' @param beta Trade-off: larger keeps more information on the columns.
#' @param type `"soft"` or `"hard"` groups.
#' @param n_starts,smooth,tol,max_iter,threads As in [bregman_cluster()].
#' @return An object of class `granary_bottleneck`, a [granary_clustering]: `cluster` and `membership` (\eqn{p(\hat x | x)}{p(xhat | x)}) of the rows,
#'   `centers` (\eqn{p(y | \hat x)}{p(y | xhat)}), `information` with the mutual informations `xy`, `x_group` and `group_y` in nats, and `kept`, the share of `xy` that is kept.
#' @section Which method when: For tables whose columns say what matters; [bregman_cluster()] with `"multinomial"` when rows are compositions in their own right.
#' @references
#' Tishby, Pereira and Bialek (1999). The information bottleneck method. *Allerton Conference*.
#'
#' Banerjee, Merugu, Dhillon and Ghosh (2005). Clustering with Bregman divergences. *Journal of Machine Learning Research* 6, 1705--1749.
#' @seealso [bregman_cluster()], [rate_distortion()].
#' @export
#' @examples
#' set.seed(1)
#' table <- apply(HairEyeColor, 1:2, sum)
#' groups <- information_bottleneck(table, k = 2, type = "hard")
#' groups
#' groups$cluster
information_bottleneck <- function(x, k, beta = 10, type = c("soft", "hard"), n_starts = 10, smooth = NULL, tol = 1e-12, max_iter = 2000, threads = NULL) {
  call <- match.call()
  if (missing(x)) fail_missing("x")
  if (inherits(x, "table")) x <- array(as.double(x), dim(x), dimnames(x))
  x <- check_matrix(x)
  if (missing(k)) fail_missing("k")
  k <- check_clusters(k, nrow(x))
  type <- check_choice(type, c("soft", "hard"))
  beta <- check_number(beta, lower = 0, strict_lower = TRUE)
  if (any(x < 0)) abort_input(sprintf("`x` must not be negative, but it has %s at %s.", format(x[x < 0][1L], digits = 6L), describe_position(x, which(x < 0)[1L])), "x")
  mass <- rowSums(x)
  if (any(mass == 0)) abort_input(sprintf("Every row of `x` must have a positive entry, but row %d has none: leave it out.", which(mass == 0)[1L]), "x")
  joint <- x / sum(x)
  weights <- rowSums(joint)
  given <- joint / weights
  family <- bregman_family("multinomial")
  soft <- type == "soft"
  options <- list(k = k, type = type, beta = if (soft) beta else 1, n_starts = check_count(n_starts), max_iter = check_count(max_iter), tol = check_number(tol, lower = 0),
                  smooth = if (is.null(smooth)) { if (soft) 1e-10 else 0 } else check_number(smooth, lower = 0, upper = 1), threads = thread_count(threads))
  found <- core_bregman_cluster(plain_rows(given), unname(weights), family$core, options, core_seed(), progress_bar("information bottleneck"))
  base <- list(has_likelihood = FALSE)
  fit <- new_bregman(found, given, k, family, type, options$beta, "right", unname(weights), base, options$smooth, call)
  kept <- max(found$total - found$within, 0)  # I(Xhat; Y) is what is between: total minus distortion at the means
  fit$information <- c(xy = found$total, x_group = if (soft) found$rate else group_entropy(found$share), group_y = kept)
  fit$kept <- if (found$total > 0) kept / found$total else NA_real_
  fit$title <- paste0("Information bottleneck: ", if (soft) sprintf("soft groups, beta = %s", format(beta)) else "hard groups")
  fit$measure <- if (soft) "Objective" else "Information lost (nats)"
  class(fit) <- c("granary_bottleneck", class(fit))
  seal(fit)
}

group_entropy <- function(share) -sum(ifelse(share > 0, share * log(share), 0))

#' @export
print_more.granary_bottleneck <- function(x) {
  cli::cat_line(sprintf("Mutual information (nats): rows and columns %.4f, rows and groups %.4f, groups and columns %.4f (%.1f%% kept)", x$information[["xy"]],
                        x$information[["x_group"]], x$information[["group_y"]], 100 * x$kept))
}
