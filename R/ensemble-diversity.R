#' How much of the error of an ensemble is whose
#'
#' For predictions of any members, from whatever software: the ambiguity decomposition from one training, and the
#' decomposition into bias, variance and covariance from several.
#'
#' @details
#' **One training** (`x` a matrix, one column per member). In every row
#' \deqn{(\bar f - t)^2 = \sum_i c_i (f_i - t)^2 - \sum_i c_i (f_i - \bar f)^2,}{
#' (fbar - t)^2 = sum_i c_i (f_i - t)^2 - sum_i c_i (f_i - fbar)^2,}
#' the error of the (weighted) mean is the mean error of the members less their ambiguity: the more they differ the
#' better, as long as they are no worse for it.
#'
#' **Several trainings** (`x` a list of such matrices, or an array of training, member and point). At every point, with
#' means over the trainings for expectations,
#' \deqn{E (\bar f - t)^2 = \mathrm{bias}^2 + \frac1M \mathrm{var} + \Big(1 - \frac1M\Big) \mathrm{covar},}{
#' E (fbar - t)^2 = bias^2 + var / M + (1 - 1/M) covar,}
#' where bias, variance and covariance are means over the members; averaged over the points, squares first. `omega` is
#' the part that the mean error of the members,
#' \eqn{\mathrm{bias}^2 + \Omega}{bias^2 + Omega}, shares with the ambiguity,
#' \eqn{\Omega - \mathrm{var}/M - (1 - 1/M)\,\mathrm{covar}}{Omega - var / M - (1 - 1/M) covar}: why one cannot simply
#' make members differ.
#'
#' With noise in the responses give the noiseless means as `y` and the variance of the noise as `noise_var`.
#'
#' @section Which method when:
#' The first on any test set. The second in simulations, or over resampled training sets (which share rows, so that
#' variances come out too small).
#'
#' @param x Predictions: a matrix, rows by members; or several trainings.
#' @param y The response, or its mean, one per row.
#' @param weights Weights of the members, for one training; equal if `NULL`.
#' @param noise_var Variance of the noise, which is added to the errors of several trainings.
#' @param object A result.
#' @param ... Further arguments of [graphics::barplot()].
#' @return An object of class `granary_ensemble_diversity`, inheriting from `granary_fit`: `table` (component, value),
#'   `rows` (the same by row), and for one training `members` (error and ambiguity of each), `correlation` of their
#'   errors and `fitted`.
#' @references
#' Brown, G., Wyatt, J. L. and Tino, P. (2005). Managing diversity in regression ensembles. *Journal of Machine Learning
#' Research* 6, 1621-1650.
#'
#' Krogh, A. and Vedelsby, J. (1995). Neural network ensembles, cross validation, and active learning. *Advances in
#' Neural Information Processing Systems* 7, 231-238.
#'
#' Ueda, N. and Nakano, R. (1996). Generalization error of ensemble estimators. *Proceedings of the International
#' Conference on Neural Networks*, 90-95.
#' @seealso [nc_ensemble()], [nc_ensemble_select()], [nc_ensemble_baseline()], [nc_ensemble_bounds()],
#'   [sim_nc_ensemble()]
#' @export
#' @examples
#' # three models of one response, none of them ours
#' train <- mtcars[1:20, ]
#' test <- mtcars[21:32, ]
#' models <- list(lm(mpg ~ wt, train), lm(mpg ~ hp, train), lm(mpg ~ poly(disp, 2), train))
#' ensemble_diversity(sapply(models, predict, newdata = test), test$mpg)
#'
#' # bias, variance and covariance of straight lines through bootstrapped rows, over 20 training sets
#' set.seed(1)
#' runs <- lapply(1:20, function(r) {
#'   sim <- sim_nc_ensemble(50, p = 5)
#'   fits <- lapply(1:4, function(i) lm.fit(cbind(1, sim$x[s <- sample(50, 50, TRUE), ]), sim$y[s]))
#'   grid <- rbind(seq(0.1, 0.9, 0.2), 0.5)
#'   sapply(fits, function(f) cbind(1, grid) %*% f$coefficients)
#' })
#' grid <- rbind(seq(0.1, 0.9, 0.2), 0.5)
#' truth <- 10 * sin(pi * grid[, 1] * grid[, 2]) + 20 * (grid[, 3] - 0.5)^2 + 10 * grid[, 4] + 5 * grid[, 5]
#' parts <- ensemble_diversity(runs, truth)
#' parts
#' plot(parts)
ensemble_diversity <- function(x, y, weights = NULL, noise_var = 0) {
  call <- match.call()
  if (missing(x)) fail_missing("x")
  if (missing(y)) fail_missing("y")
  noise_var <- check_number(noise_var, "noise_var", lower = 0)
  several <- is.list(x) && !is.data.frame(x) || is.array(x) && length(dim(x)) == 3L
  if (several) {
    if (!is.null(weights)) {
      abort_input("The decomposition over several trainings is for equal weights: leave `weights` out.", "weights")
    }
    return(diversity_of_trainings(x, y, noise_var, call))
  }
  if (noise_var != 0) {
    abort_input("`noise_var` is for several trainings: the errors of one contain the noise already.", "noise_var")
  }
  x <- check_matrix(x, "x")
  y <- unname(check_vector(y, "y", length = nrow(x)))
  members <- if (is.null(colnames(x))) paste0("member", seq_len(ncol(x))) else colnames(x)
  if (!is.null(weights)) {
    weights <- check_vector(weights, "weights", length = ncol(x), lower = 0)
    if (sum(weights) == 0) abort_input("`weights` must not all be 0.", "weights")
    if (!is.null(names(weights)) && !is.null(colnames(x))) {
      if (!setequal(names(weights), members)) {
        abort_input("The names of `weights` must be those of the columns of `x`.", "weights")
      }
      weights <- weights[members]
    }
  }
  found <- core_ambiguity(unname_design(x), y, if (is.null(weights)) numeric() else unname(weights),
                          progress_bar("ambiguity"))
  rows <- data.frame(ensemble = found$error, members = found$member_error, ambiguity = found$ambiguity)
  if (!is.null(rownames(x)) && anyDuplicated(rownames(x)) == 0L) rownames(rows) <- rownames(x)
  correlation <- na_for_nan(found$correlation)
  dimnames(correlation) <- list(members, members)
  table <- data.frame(component = c("members", "ambiguity", "ensemble"),
                      value = c(mean(rows$members), mean(rows$ambiguity), mean(rows$ensemble)))
  new_fit("ensemble_diversity", table = table, rows = rows,
          members = data.frame(member = members, weight = if (is.null(weights)) 1 / ncol(x) else unname(weights) /
                               sum(weights), mse = found$by_member_error, ambiguity = found$by_member_ambiguity),
          correlation = correlation, fitted = stats::setNames(found$prediction, rownames(x)), y = y, kind = "ambiguity",
          n = nrow(x), n_members = ncol(x), call = call, convergence = NULL)
}

diversity_of_trainings <- function(x, y, noise_var, call) {
  if (is.list(x)) {
    if (length(x) == 0L) fail_input("x", "predictions of at least one training", "an empty list")
    x <- lapply(seq_along(x), function(k) check_matrix(x[[k]], sprintf("x[[%d]]", k)))
    off <- which(vapply(x, function(one) !identical(dim(one), dim(x[[1L]])), NA))
    if (length(off) > 0L) {
      abort_input(
        sprintf("The trainings in `x` must have the same points and members, %d x %d, but number %d has %d x %d.",
                nrow(x[[1L]]), ncol(x[[1L]]), off[1L], nrow(x[[off[1L]]]), ncol(x[[off[1L]]])), "x")
    }
    points <- nrow(x[[1L]])
    members <- ncol(x[[1L]])
    x <- aperm(array(unlist(x), c(points, members, length(x))), c(3L, 2L, 1L))
  }
  if (!is.numeric(x)) fail_input("x", "an array of numbers (training, member, point)", describe(x))
  size <- dim(x)
  if (any(size == 0L)) fail_input("x", "an array with trainings, members and points", describe(x))
  flat <- check_matrix(matrix(as.double(x), size[1L] * size[2L], size[3L]), "x")
  y <- unname(check_vector(y, "y", length = size[3L]))
  found <- core_variances(flat, size[1L], y, progress_bar("variances"))
  m <- size[2L]
  rows <- data.frame(bias = found$bias, variance = found$variance, covariance = na_for_nan(found$covariance),
                     ensemble = found$error + noise_var, members = found$member_error + noise_var,
                     ambiguity = found$ambiguity, omega = found$omega)
  of_covariance <- if (m > 1L) (1 - 1 / m) * mean(rows$covariance) else 0
  table <- data.frame(
    component = c("bias2", "variance", "covariance", if (noise_var > 0) "noise", "ensemble", "members", "ambiguity",
                  "omega"),
    value = c(mean(rows$bias^2), mean(rows$variance), mean(rows$covariance), if (noise_var > 0) noise_var,
              mean(rows$ensemble), mean(rows$members), mean(rows$ambiguity), mean(rows$omega)),
    in_ensemble = c(mean(rows$bias^2), mean(rows$variance) / m, of_covariance, if (noise_var > 0) noise_var,
                    mean(rows$ensemble), NA, NA, NA)
  )
  new_fit("ensemble_diversity", table = table, rows = rows, kind = "variance", n = size[3L], n_members = m,
          n_rep = size[1L], call = call, convergence = NULL)
}

#' @export
print.granary_ensemble_diversity <- function(x, ...) {
  refuse_dots(...)
  value <- stats::setNames(x$table$value, x$table$component)
  show <- function(v) format(v, digits = 4L)
  if (x$kind == "ambiguity") {
    cli::cat_line("Error of an ensemble of ", counted(x$n_members, "member", "members"), " in ",
                  counted(x$n, "row", "rows"))
    print_call(x$call)
    cli::cat_line("mean squared error ", show(value[["ensemble"]]), " = ", show(value[["members"]]),
                  " of the members - ", show(value[["ambiguity"]]), " of ambiguity")
    best <- x$members[which.min(x$members$mse), ]
    cli::cat_line("best member: ", best$member, ", ", show(best$mse))
  } else {
    cli::cat_line("Error of an ensemble of ", counted(x$n_members, "member", "members"), " over ",
                  counted(x$n_rep, "training", "trainings"), ", at ", counted(x$n, "point", "points"))
    print_call(x$call)
    shown <- x$table
    shown[] <- lapply(shown, function(column) if (is.numeric(column)) ifelse(is.na(column), "",
                                                                             format(column, digits = 4L)) else column)
    print(shown, row.names = FALSE)
  }
  invisible(x)
}

#' @export
summary.granary_ensemble_diversity <- function(object, ...) {
  refuse_dots(...)
  seal(structure(list(result = object, rows = vapply(object$rows, function(v) stats::quantile(v,
                                                                                              c(0, 0.25, 0.5, 0.75, 1),
                                                                                              na.rm = TRUE,
                                                                                              names = FALSE),
                                                     numeric(5L))), class = "summary_granary_ensemble_diversity"))
}

#' @export
print.summary_granary_ensemble_diversity <- function(x, ...) {
  print(x$result)
  cli::cat_line()
  rownames(x$rows) <- c("min", "25%", "median", "75%", "max")
  cli::cat_line(if (x$result$kind == "ambiguity") "By row:" else "By point:")
  print(x$rows, digits = 4L)
  if (!is.null(x$result$members)) {
    cli::cat_line()
    print(format(x$result$members, digits = 4L), row.names = FALSE)
  }
  invisible(x)
}

#' @export
tidy.granary_ensemble_diversity <- function(x, ...) x$table

#' @export
glance.granary_ensemble_diversity <- function(x, ...) {
  value <- stats::setNames(x$table$value, x$table$component)
  data.frame(n = x$n, n_members = x$n_members, n_rep = if (is.null(x$n_rep)) 1L else x$n_rep, mse = value[["ensemble"]],
             members = value[["members"]], ambiguity = value[["ambiguity"]])
}

# Bars of what adds up: list(names, values matrix, colours, labels).
diversity_bars <- function(x) {
  value <- stats::setNames(x$table$value, x$table$component)
  if (x$kind == "ambiguity") {
    return(data.frame(bar = "mean error of the members",
                      part = factor(c("error of the ensemble", "ambiguity"), c("error of the ensemble", "ambiguity")),
                      value = value[c("ensemble", "ambiguity")]))
  }
  inside <- stats::setNames(x$table$in_ensemble, x$table$component)
  parts <- intersect(c("bias2", "variance", "covariance", "noise"), names(inside))
  words <- c(bias2 = "squared bias", variance = "variance / M", covariance = "(1 - 1/M) covariance", noise = "noise")
  data.frame(bar = "error of the ensemble", part = factor(words[parts], words[parts]), value = inside[parts])
}

diversity_colours <- c("#0072B2", "#009E73", "#D55E00", "grey60")

#' @rdname ensemble_diversity
#' @export
plot.granary_ensemble_diversity <- function(x, ...) {
  bars <- diversity_bars(x)
  old <- graphics::par(mar = c(3.1, 4.1, 1.1, 1.1))
  on.exit(graphics::par(old))
  up <- pmax(bars$value, 0)
  draw(graphics::barplot, matrix(up), names.arg = bars$bar[1L], col = diversity_colours[seq_along(up)], border = NA,
       las = 1L, ylab = "mean squared error", width = 0.4, xlim = c(0, 1.4),
       ylim = c(min(0, sum(pmin(bars$value, 0))), 1.1 * max(sum(up), 1e-300)), main = "", user = list(...))
  down <- pmin(bars$value, 0)
  if (any(down < 0)) {
    graphics::barplot(matrix(down), col = diversity_colours[seq_along(down)], border = NA, add = TRUE, axes = FALSE,
                      width = 0.4)
  }
  graphics::legend("right", rev(paste0(bars$part, ": ", format(bars$value, digits = 3L))),
                   fill = rev(diversity_colours[seq_along(up)]), border = NA, bty = "n")
  invisible(x)
}

#' @rdname ensemble_diversity
#' @usage \method{autoplot}{granary_ensemble_diversity}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_ensemble_diversity <- function(object, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  check_installed("ggplot2", "autoplot()")
  bars <- diversity_bars(object)
  gg_canvas(bars, ggplot2::aes(.data$bar, .data$value, fill = .data$part)) +
    ggplot2::geom_col(width = 0.5, position = ggplot2::position_stack(reverse = TRUE)) +
    ggplot2::scale_fill_manual(values = diversity_colours) +
      ggplot2::labs(x = NULL, y = "mean squared error", fill = NULL)
}
