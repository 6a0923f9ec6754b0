#' Labels of a mixture after Bayes
#'
#' The law of the labels of rows when the parameters of the mixture are integrated out rather than estimated: for the rows of the fit one by one and jointly, and for new rows.
#' [label_accuracy()] says how much closer to the truth it is expected to be than that of maximum likelihood.
#'
#' @details
#' With \eqn{k} components, Dirichlet(\eqn{\gamma}{gamma}) shares and a conjugate prior of their parameters,
#' \deqn{p(Y | X) \propto \prod_h \gamma^{(n_h)} m(x_{Y=h}),}{p(Y | X) ~ prod_h gamma^(n_h) m(x_{Y = h}),}
#' \eqn{\gamma^{(n)}}{gamma^(n)} the rising factorial and \eqn{m} the marginal likelihood of the rows of a component. Partitions are drawn by the sampler of [dp_mixture()] under
#' `prior_py(-gamma, k * gamma)`, which is this law without names. Names come from the fit: in every draw blocks are assigned to components so that the sum of the memberships of the
#' fit is largest. For a new row \eqn{p(y = h | x, X)} is the mean over the draws of what is proportional to
#' \eqn{(n_h + \gamma) m(x | x_{Y=h})}{(n_h + gamma) m(x | x_{Y = h})}.
#'
#' Gaussian components have an inverse Wishart prior, which has full covariances of their own; fits with other covariances lend only the names.
#'
#' @section Which method when:
#' When rows are few or components overlap, so that the parameters are uncertain and `predict(fit, type = "prob")` is too sure of itself; with many rows both agree.
#' [dp_mixture()] where the number of components is not known.
#'
#' @inheritParams label_accuracy
#' @inheritParams dp_mixture
#' @param object A mixture as in [label_accuracy()], with its number of components and their names.
#' @param x The rows; `NULL` for those that fits of mclust and flexmix bring.
#' @param newdata New rows, or `NULL`.
#' @param gamma Parameter of the Dirichlet law of the shares.
#' @return An object of class `granary_label_posterior`: `membership` (of the rows of `x`, after Bayes), `plugin` (memberships of the fit), `cluster` (the likeliest label of each row),
#'   `best` (the likeliest labels jointly, of the draws), `predicted` (memberships of `newdata`), `partitions` (labels in every draw), `rhat`, `effective_size`.
#' @inherit label_accuracy references
#' @seealso [label_accuracy()], [dp_mixture()], [em_fit()].
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_em(60, means = rbind(0, 2.5))
#' fit <- em_fit(sim$x, k = 2, covariance = "full")
#' labels <- label_posterior(fit, sim$x, n_draws = 500, burn_in = 200)
#' labels
#' plot(labels)
label_posterior <- function(object, x = NULL, newdata = NULL, hyper = NULL, gamma = 1, n_draws = 2000, burn_in = 1000, thin = 1, chains = 2, threads = NULL) {
  call <- match.call()
  if (missing(object)) fail_missing("object")
  gamma <- check_number(gamma, lower = 0, strict_lower = TRUE, upper = 1e6)
  model <- label_model(object)
  rows <- posterior_rows(object, model, x, "x")
  if (is.null(rows)) abort_input("Give `x`, the rows whose labels are wanted.", "x")
  more <- if (!is.null(newdata)) posterior_rows(object, model, newdata, "newdata")
  family <- switch(model$core$family, gaussian = if (model$columns > 1L) "mvnormal" else "normal", model$core$family)
  if (family %in% c("poisson", "exponential") && model$columns > 1L) {
    abort_input(sprintf("%s rows must have one column here, not %d.", if (family == "poisson") "Poisson" else "Exponential", model$columns), "object")
  }
  spec <- posterior_spec(family, rows, model, hyper)
  shift <- if (family == "categorical") 1 else 0  # levels count from 0 there
  prior <- list(type = "py", sigma = -gamma, theta = model$k * gamma)
  options <- list(n_draws = check_count(n_draws), burn_in = check_count(burn_in, lower = 0), thin = check_count(thin), chains = check_count(chains, upper = 1000),
                  threads = thread_count(threads))
  found <- core_dp_mixture(rows - shift, spec, prior, options, core_seed(), progress_bar("chains"))
  plugin <- core_label_memberships(model$core, rows)
  every <- rbind(found$partitions, found$best)
  named <- core_label_posterior(rbind(rows, more) - shift, spec, gamma, found$partitions, plugin, progress_bar("labels"))
  best <- core_label_posterior(rows - shift, spec, gamma, every[nrow(every), , drop = FALSE], plugin, NULL)$labels[1L, ]
  names <- as.character(seq_len(model$k))
  labelled <- function(m, of) structure(m, dimnames = list(rownames(of), names))
  still <- stats::var(found$loglik) %in% c(0, NA) && length(unique(found$count)) == 1L
  rhat <- if (still) 1 else split_rhat(cbind(found$count, found$loglik), options$n_draws, options$chains)
  effective <- if (still) options$n_draws * options$chains else sum(found$effective_loglik)
  fit <- new_fit("label_posterior", membership = labelled(named$membership, rows), plugin = labelled(plugin, rows),
                 cluster = stats::setNames(max.col(named$membership, ties.method = "first"), rownames(rows)), best = stats::setNames(best, rownames(rows)),
                 predicted = if (!is.null(more)) labelled(named$predicted, more), partitions = named$labels, rhat = rhat, effective_size = effective,
                 loglik_draws = found$loglik, count_draws = found$count, chains = options$chains, k = model$k, n = nrow(rows), family = family, gamma = gamma, call = call,
                 convergence = c(chain_convergence(rhat, effective, options$n_draws, options$thin, options$burn_in), list(seconds = found$seconds)))
  check_chains(fit)
}

posterior_rows <- function(object, model, given, arg) {
  rows <- tryCatch(accuracy_rows(object, model, given), granary_error_input = function(e) abort_input(gsub("`newdata`", paste0("`", arg, "`"), conditionMessage(e)), arg))
  if (!is.null(rows) && anyNA(rows)) abort_input(sprintf("`%s` must have no missing values.", arg), arg)
  if (!is.null(rows) && !is.null(model$items) && any(rows < 1)) abort_input(sprintf("`%s` must have no missing items.", arg), arg)
  rows
}

posterior_spec <- function(family, rows, model, hyper) {
  levels <- NULL
  if (family == "categorical") {
    levels <- if (is.null(model$items)) lapply(model$core$levels, function(l) as.character(seq_len(l))) else unname(model$items)
  }
  family_spec(list(x = unname(rows), family = family, names = paste0("V", seq_len(ncol(rows))), levels = levels), hyper)
}

#' @export
print.granary_label_posterior <- function(x, ...) {
  cli::cat_line("Labels after Bayes: ", counted(x$n, "row", "rows"), ", ", counted(x$k, "component", "components"), " of ", gsub("_", " ", x$family), " rows")
  print_call(x$call)
  changed <- sum(x$cluster != max.col(x$plugin, ties.method = "first"))
  cli::cat_line("Expected sizes: ", paste(format(colSums(x$membership), digits = 4L, trim = TRUE), collapse = ", "))
  cli::cat_line(sprintf("Mean uncertainty %s after Bayes, %s at the fit; %s another label", format(mean(1 - apply(x$membership, 1L, max)), digits = 3L),
                        format(mean(1 - apply(x$plugin, 1L, max)), digits = 3L), if (changed == 1L) "1 row has" else paste(changed, "rows have")))
  cli::cat_line(sprintf("Draws: %d in %s, R-hat %s", nrow(x$partitions), counted(x$chains, "chain", "chains"), format(x$rhat, digits = 4L)))
  cli::cat_line("Solver: ", format_convergence(x$convergence))
  invisible(x)
}

#' @export
tidy.granary_label_posterior <- function(x, ...) {
  refuse_dots(...)
  data.frame(row = rep(seq_len(x$n), x$k), component = rep(seq_len(x$k), each = x$n), estimate = as.vector(x$membership), plugin = as.vector(x$plugin))
}

#' @rdname label_posterior
#' @param ... For `plot()`, passed on to [graphics::plot()]; otherwise not used.
#' @export
plot.granary_label_posterior <- function(x, ...) {
  colors <- grDevices::adjustcolor(cluster_colors(x$k), 0.7)
  draw(graphics::plot, as.vector(x$plugin), as.vector(x$membership), pch = 16, cex = 0.8, col = rep(colors, each = x$n), xlim = c(0, 1), ylim = c(0, 1),
       xlab = "membership at the fit", ylab = "membership after Bayes", main = "", bty = "l", user = list(...))
  graphics::abline(0, 1, lty = 3)
  graphics::legend("topleft", paste("component", seq_len(x$k)), pch = 16, col = colors, bty = "n")
  invisible(x)
}

#' @rdname label_posterior
#' @usage \method{autoplot}{granary_label_posterior}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_label_posterior <- function(object, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  check_installed("ggplot2", "to draw with autoplot()")
  points <- tidy(object)
  points$component <- factor(points$component)
  gg_canvas(points, ggplot2::aes(.data$plugin, .data$estimate, colour = .data$component)) + ggplot2::geom_point() + gg_palette() +
    ggplot2::labs(x = "membership at the fit", y = "membership after Bayes")
}
