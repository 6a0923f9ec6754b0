# What a mixture or hidden Markov model can do beyond a clustering.

#' @export
print_more.granary_em_fit <- function(x) {
  cli::cat_line("Divergence D = ", format(x$divergence, digits = 8L), ", gap to the likelihood ", format(max(0, x$gap), digits = 3L), ", score ",
                format(x$score, digits = 2L), " per row")
  if (x$settings$forward != "exact") {
    cli::cat_line("Memberships are ", switch(x$settings$forward, hard = "hard", box = "held in a box", tempered = "tempered"),
                  ": this is not a maximum likelihood estimate.")
  }
  if (x$prior > 0) cli::cat_line("Posterior mode: prior worth ", format(x$prior), " rows per state.")
}

#' @rdname em_fit
#' @param object A fit.
#' @param newdata New rows or sequences, as `x`; `NULL` for those of the fit.
#' @param type `"class"` for states (of sequences: the best path), `"prob"` for memberships, `"density"` for log-densities of
#'   rows (of sequences: their log-likelihoods).
#' @param ... Not used.
#' @export
predict.granary_em_fit <- function(object, newdata = NULL, type = c("class", "prob", "density"), id = NULL, threads = NULL, ...) {
  refuse_dots(...)
  type <- check_choice(type, c("class", "prob", "density"))
  if (is.null(newdata)) return(switch(type, class = object$cluster, prob = object$membership, density = em_row_names(object$row_loglik, object)))
  sequences <- !is.null(object$ids)
  if (sequences && is.null(id) && (is.data.frame(newdata) || !is.list(newdata))) id <- rep(1L, NROW(newdata))
  if (!sequences && !is.null(id)) abort_input("`id` is for models of sequences.", "id")
  columns <- if (object$family == "categorical") names(object$items) else colnames(object$centers)
  data <- em_data(newdata, id, object$family, NULL, arg = "newdata", levels = object$items, columns = columns)
  if (!sequences && !is.null(data$ids)) abort_input("`newdata` must be rows, not a list of sequences: the model is one of rows that stand alone.", "newdata")
  options <- list(family = object$family, covariance = if (is.null(object$covariance_type)) "full" else object$covariance_type, k = length(object$share),
                  parameters = em_parameters(object, sequences), threads = thread_count(threads))
  found <- core_em_rows(data$core, options, progress_bar("placing rows"))
  names <- rownames(data$rows)
  switch(type, class = stats::setNames(found$cluster, names),
         prob = structure(found$membership, dimnames = list(names, seq_along(object$share))),
         density = stats::setNames(found$row_loglik, if (sequences) data$ids else names))
}

em_row_names <- function(values, object) stats::setNames(values, if (is.null(object$ids)) names(object$cluster) else object$ids)

#' @rdname em_fit
#' @export
logLik.granary_em_fit <- function(object, ...) {
  refuse_dots(...)
  structure(object$loglik, df = object$df, nobs = if (is.null(object$ids)) object$n else length(object$cluster), class = "logLik")
}

#' @rdname em_fit
#' @param nsim Number of data sets.
#' @param seed `NULL`, or a seed that is used for these draws only.
#' @export
simulate.granary_em_fit <- function(object, nsim = 1, seed = NULL, ...) {
  refuse_dots(...)
  nsim <- check_count(nsim)
  if (!is.null(seed)) return(with_seed(seed, simulate(object, nsim = nsim)))
  sequences <- !is.null(object$ids)
  plan <- list(family = object$family, parameters = em_parameters(object, sequences), levels = as.integer(lengths(object$items)),
               lengths = if (sequences) object$lengths else length(object$cluster), sequences = sequences, size = if (is.null(object$size)) 1 else object$size)
  lapply(seq_len(nsim), function(i) {
    drawn <- core_em_draws(plan, core_seed(), NULL)
    x <- em_values(drawn$x, object$items, if (is.null(object$items)) colnames(object$centers))
    if (sequences) structure(list(x = x, id = rep(object$ids, object$lengths), cluster = drawn$cluster), class = "list") else structure(x, cluster = drawn$cluster)
  })
}

em_values <- function(x, items, columns) {
  if (is.null(items)) {
    colnames(x) <- columns
    return(x)
  }
  data.frame(stats::setNames(lapply(seq_along(items), function(j) factor(items[[j]][x[, j]], items[[j]])), names(items)), check.names = FALSE)
}

#' @rdname em_fit
#' @param columns For `plot()` with rows: names or numbers of two columns to draw; `NULL` for the plane of largest variance.
#' @export
plot.granary_em_fit <- function(x, newdata = NULL, columns = NULL, ...) {
  if (!is.null(newdata)) return(em_map(x, newdata, columns, ...))
  trace <- x$trace
  at <- seq_len(nrow(trace))
  final <- -min(trace$backward)
  values <- cbind(-trace$backward, trace$loglik)
  old <- graphics::par(mar = c(4.1, 5.1, 3.1, 1.1))
  on.exit(graphics::par(old))
  palette <- unname(grDevices::palette.colors(3L, "Okabe-Ito")[2:3])
  span <- range(values[is.finite(values)])
  draw(graphics::plot, at, -trace$backward, type = "s", col = palette[2L], lwd = 2, ylim = span, xlab = "step", ylab = "nats",
       main = "", bty = "l", user = list(...))
  graphics::points(at, trace$loglik, pch = 21, bg = palette[1L], col = "white", cex = 1.1)
  graphics::mtext(c("-D, what is raised", "log-likelihood before the step"), 3L, line = c(1.3, 0.3), adj = 0, col = palette[2:1], cex = 0.9)
  graphics::abline(h = final, lty = 3L, col = "grey60")
  invisible(x)
}

# Rows by state; with two columns drawn of a Gaussian model, the ellipses that hold half and 95% of a component.
em_map <- function(x, newdata, columns, ...) {
  two <- x$family == "gaussian" && ncol(x$centers) == 2L && is.null(x$ids)
  if (!two) return(plot.granary_clustering(x, newdata, columns, ...))
  rows <- cluster_rows(x, newdata)
  label <- stats::predict(x, newdata)
  colors <- cluster_colors(length(x$sizes))
  old <- graphics::par(mar = c(4.1, 4.1, 2.1, 7.1))
  on.exit(graphics::par(old))
  draw(graphics::plot, rows[, 1L], rows[, 2L], col = grDevices::adjustcolor(colors[label], 0.5), pch = 16, cex = 0.7, xlab = colnames(x$centers)[1L],
       ylab = colnames(x$centers)[2L], main = "", bty = "l", user = list(...))
  for (h in seq_along(x$sizes)) {
    for (level in c(0.5, 0.95)) graphics::lines(gaussian_outline(x$centers[h, ], x$covariance[[h]], level), col = colors[h], lwd = if (level < 0.9) 2 else 1)
  }
  graphics::points(x$centers, pch = 21, bg = colors, col = "black", cex = 1.5, lwd = 1.4)
  cluster_legend(x$sizes, colors)
  invisible(x)
}

# The boundary that holds the share `level` of a Gaussian in two columns.
gaussian_outline <- function(center, covariance, level) {
  angle <- seq(0, 2 * pi, length.out = 100L)
  sd <- sqrt(diag(covariance))
  slant <- covariance[1L, 2L] / prod(sd)
  radius <- sqrt(stats::qchisq(level, 2))
  cbind(center[1L] + radius * sd[1L] * cos(angle), center[2L] + radius * sd[2L] * (slant * cos(angle) + sqrt(1 - slant^2) * sin(angle)))
}

#' @rdname em_fit
#' @usage \method{autoplot}{granary_em_fit}(object, newdata = NULL, columns = NULL, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_em_fit <- function(object, newdata = NULL, columns = NULL, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  check_installed("ggplot2", "to draw with autoplot()")
  if (!is.null(newdata)) return(autoplot.granary_clustering(object, newdata, columns))
  trace <- object$trace
  course <- rbind(data.frame(step = seq_len(nrow(trace)), value = -trace$backward, what = "-D"),
                  data.frame(step = seq_len(nrow(trace)), value = trace$loglik, what = "log-likelihood"))
  course <- course[is.finite(course$value), ]
  ggplot2::ggplot(course, ggplot2::aes(.data$step, .data$value, colour = .data$what)) + ggplot2::geom_line() + ggplot2::geom_point(size = 1) +
    ggplot2::scale_colour_manual(values = unname(grDevices::palette.colors(3L, "Okabe-Ito")[3:2])) + ggplot2::labs(y = "nats", colour = NULL) +
    ggplot2::theme_minimal()
}

#' How many components, which covariances?
#'
#' Fits [em_fit()] for several numbers of components, and for Gaussian rows several kinds of covariance, and chooses by an information criterion.
#'
#' @details
#' `"bic"` is \eqn{-2 \ell + p \log n}{-2 l + p log n} with \eqn{p} parameters, `"aic"` \eqn{-2 \ell + 2 p}{-2 l + 2 p}; `"icl"` adds twice the entropy of
#' the memberships to `"bic"`, so that components that overlap count against a model. The smallest value wins. For sequences \eqn{n} is the number of rows.
#'
#' @section Which method when:
#' `"bic"` for the law of the data, `"icl"` for groups that can be told apart. [dp_mixture()] instead of a criterion gives probabilities of the numbers of
#' clusters, under a prior.
#'
#' @inheritParams em_fit
#' @param k Numbers of components to try.
#' @param covariance Kinds of covariance to try.
#' @param criterion What to minimise.
#' @param ... Further arguments of [em_fit()].
#' @return A [granary_selection]: `fit`, the chosen model, and `table` with `k`, `covariance`, `estimate`, `loglik`, `df`.
#' @seealso [em_fit()], [vmf_select()].
#' @export
#' @examples
#' set.seed(1)
#' choice <- em_select(faithful, k = 1:4, covariance = c("full", "tied"), n_starts = 2)
#' choice
#' plot(choice)
em_select <- function(x, k = 1:6, covariance = "full", criterion = c("bic", "aic", "icl"), ...) {
  call <- match.call()
  if (missing(x)) fail_missing("x")
  criterion <- check_choice(criterion, c("bic", "aic", "icl"))
  k <- check_vector(k, lower = 1)
  if (any(k != round(k)) || anyDuplicated(k) > 0L) fail_input("k", "different whole numbers", describe(k))
  kinds <- c("full", "diagonal", "spherical", "tied")
  if (!is.character(covariance) || length(covariance) < 1L || !all(covariance %in% kinds)) {
    fail_input("covariance", "some of \"full\", \"diagonal\", \"spherical\", \"tied\"", describe(covariance))
  }
  extra <- list(...)
  odd <- setdiff(names(extra), setdiff(names(formals(em_fit)), c("x", "k", "covariance")))
  if (length(extra) > 0L && (is.null(names(extra)) || any(!nzchar(names(extra))) || length(odd) > 0L)) {
    abort_input(sprintf("Further arguments must be those of em_fit(), by name%s.", if (length(odd) > 0L && nzchar(odd[1L])) sprintf("; there is no `%s`", odd[1L]) else ""),
                "...")
  }
  grid <- expand.grid(k = as.integer(k), covariance = unique(covariance), stringsAsFactors = FALSE)
  fits <- resample_lapply(seq_len(nrow(grid)), function(i) {
    suppressWarnings(do.call(em_fit, c(list(x, grid$k[i], covariance = grid$covariance[i]), extra), quote = TRUE), classes = "granary_warning")
  }, "numbers of components")
  stopped <- sum(!vapply(fits, function(fit) fit$convergence$converged %in% TRUE, NA))
  if (stopped > 0L) {
    warn_convergence(sprintf("The solver stopped early for %d of %d models, so the choice may be off. Use a larger `max_iter`.", stopped, length(fits)))
  }
  table <- do.call(rbind, lapply(seq_along(fits), function(i) {
    l <- stats::logLik(fits[[i]])
    n <- attr(l, "nobs")
    q <- fits[[i]]$membership
    entropy <- -sum(q[q > 0] * log(q[q > 0]))
    bic <- -2 * as.numeric(l) + attr(l, "df") * log(n)
    data.frame(k = grid$k[i], covariance = grid$covariance[i], estimate = switch(criterion, bic = bic, aic = -2 * as.numeric(l) + 2 * attr(l, "df"),
                                                                                 icl = bic + 2 * entropy), loglik = as.numeric(l), df = attr(l, "df"))
  }))
  if (fits[[1L]]$family != "gaussian") table$covariance <- NULL
  best <- which.min(table$estimate)
  new_selection("em", fits[[best]], table, rule = "min", measure = toupper(criterion), selected = best, call = call)
}
