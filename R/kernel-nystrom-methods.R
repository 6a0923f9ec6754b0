# Methods of nystrom().

#' @rdname nystrom
#' @export
print.granary_nystrom <- function(x, ...) {
  cli::cat_line("granary: Nystrom approximation of the kernel matrix of ", x$n, " observations")
  print_call(x$call)
  cli::cat_line("kernel:      ", nystrom_kernel_text(x))
  cli::cat_line("landmarks:   ", nrow(x$map), " (", x$sampling, "), rank ", x$rank)
  cli::cat_line("trace error: ", format(100 * x$trace_error / x$trace, digits = 3L),
                "% of the trace, the nuclear norm of the error")
  if (!is.null(x$beta)) cli::cat_line("beta:        ", format(x$beta, digits = 3L))
  invisible(x)
}

nystrom_kernel_text <- function(x) if (is.null(x$kernel)) paste("a", x$kind, "given") else format(x$kernel)

#' @rdname nystrom
#' @export
summary.granary_nystrom <- function(object, ...) {
  bound <- NULL
  if (!is.null(object$beta) && object$beta > 0) {
    draws <- sum(object$drawn)
    bound <- do.call(rbind, lapply(c("F", "2"), function(norm) {
      nystrom_bounds(object$rank, c = draws, delta = 0.1, norm = norm, beta = min(1, object$beta))
    }))
  }
  seal(structure(list(fit = object, share = cumsum(object$eigenvalues) / object$trace,
                      residual = stats::quantile(object$resid_diag, names = FALSE), bound = bound),
                 class = "summary_granary_nystrom"))
}

#' @export
print.summary_granary_nystrom <- function(x, ...) {
  print(x$fit)
  at <- unique(round(seq(1, length(x$share), length.out = min(6L, length(x$share)))))
  cli::cat_line("share of the trace by rank: ", paste0(at, ": ", format(x$share[at], digits = 3L), collapse = ", "))
  cli::cat_line("residual diagonal: ", paste(c("min", "25%", "median", "75%", "max"), format(x$residual, digits = 3L),
                                             collapse = ", "))
  if (!is.null(x$bound)) {
    cli::cat_line("bound with probability 0.9: best of rank ", x$fit$rank, " plus ",
                  format(x$bound$eps[1L], digits = 3L), " (Frobenius) or ", format(x$bound$eps[2L], digits = 3L),
                  " (spectral) times the trace")
  }
  invisible(x)
}

# Features of new observations, with k(x, x) - |z|^2 as the attribute "left" where `left` is asked for.
nystrom_features <- function(object, newdata, left = FALSE, threads = NULL, arg = "newdata") {
  if (is.null(newdata)) {
    return(if (left) structure(object$features, left = unname(object$resid_diag)) else object$features)
  }
  threads <- thread_count(threads)
  if (object$kind != "points") {
    k <- check_matrix(newdata, arg)
    if (ncol(k) == object$n) k <- k[, object$landmarks, drop = FALSE]
    if (ncol(k) != nrow(object$map)) {
      abort_input(
        sprintf("`%s` must be the kernel of new rows with %d landmarks or all %d observations, but it has %d columns.",
                arg, nrow(object$map), object$n, ncol(k)), arg)
    }
    if (left) {
      abort_input("The kernel of new observations with themselves is not known, so there is no standard error.", "se")
    }
    return(label_both(k %*% object$map, rownames(newdata), colnames(object$features)))
  }
  kernel <- object$kernel
  if (!is.null(object$layout)) {
    bound <- bind_new_objects(kernel, newdata, object$layout, arg, threads, rows = object$points)
    at <- bound$x
    kernel <- bound$kernel
  } else {
    if (is_plain_numeric(newdata) && is.null(dim(newdata))) {
      newdata <- rows_of_vector(newdata, ncol(object$points))
    }
    at <- new_design(newdata, variable_names(object$variables, ncol(object$points)), NULL, arg, allow_sparse = TRUE)
    if (isS4(at) && !isS4(object$points)) at <- as.matrix(at)
  }
  if (has_user_code(kernel)) threads <- 1L
  cross <- core_landmark_kernel(at, object$points, kernel, threads, progress_bar("features"))
  features <- label_both(cross %*% object$map, rownames(at), colnames(object$features))
  if (left) attr(features, "left") <- core_kernel_diagonal(at, kernel, threads, NULL) - rowSums(features^2)
  features
}

#' @rdname nystrom
#' @export
predict.granary_nystrom <- function(object, newdata = NULL, threads = NULL, ...) {
  refuse_dots(...)
  nystrom_features(object, newdata, threads = threads)
}

#' @rdname nystrom
#' @export
fitted.granary_nystrom <- function(object, ...) {
  refuse_dots(...)
  if (object$n > 5000L) {
    abort_input(sprintf("The fitted matrix would be %d x %d, %.1f GB: multiply the rows of `features` you need.",
                        object$n, object$n, 8 * object$n^2 / 2^30), "object")
  }
  tcrossprod(object$features)
}

#' @rdname nystrom
#' @export
as.matrix.granary_nystrom <- function(x, ...) fitted.granary_nystrom(x, ...)

#' @rdname nystrom
#' @export
tidy.granary_nystrom <- function(x, ...) {
  refuse_dots(...)
  if (is.null(x$landmarks)) {
    return(data.frame(landmark = seq_len(nrow(x$map)), index = NA_integer_, name = NA_character_, drawn = x$drawn,
                      prob = NA_real_))
  }
  data.frame(landmark = seq_along(x$landmarks), index = unname(x$landmarks),
             name = if (is.null(names(x$landmarks))) as.character(x$landmarks) else names(x$landmarks), drawn = x$drawn,
             prob = if (is.null(x$prob)) NA_real_ else x$prob[x$landmarks])
}

#' @rdname nystrom
#' @export
glance.granary_nystrom <- function(x, ...) {
  refuse_dots(...)
  data.frame(landmarks = nrow(x$map), rank = x$rank, trace = x$trace, trace_error = x$trace_error,
             share = x$trace_error / x$trace, beta = if (is.null(x$beta)) NA_real_ else x$beta, nobs = x$n)
}

#' @rdname nystrom
#' @export
assess.granary_nystrom <- function(object, columns = NULL, ...) {
  refuse_dots(...)
  columns <- check_count(columns, allow_null = TRUE)
  if (is.null(columns) && object$n > 20000L) {
    abort_input(
      sprintf("The exact errors need %.0f million kernel values: give `columns`, such as 500, for an estimate.",
              object$n^2 / 1e6), "columns")
  }
  own_code <- object$kind == "function" || (!is.null(object$kernel) && has_user_code(object$kernel))
  options <- list(columns = if (is.null(columns)) 0L else columns, threads = if (own_code) 1L else thread_count())
  raw <- core_nystrom_error(object$x, object$kernel, unname(object$features), options, core_seed(),
                            progress_bar("error of the approximation"))
  best <- na_for_nan(c(raw$best_trace, raw$best_frobenius, raw$best_spectral))
  error <- na_for_nan(c(raw$trace, raw$frobenius, raw$spectral))
  data.frame(norm = c("trace", "frobenius", "spectral"), error = error, best = best, ratio = error / best,
             sampled = c(FALSE, raw$sampled, FALSE))
}

#' @rdname nystrom
#' @export
plot.granary_nystrom <- function(x, ...) {
  old <- graphics::par(mfrow = c(1L, 2L))
  on.exit(graphics::par(old))
  share <- cumsum(x$eigenvalues) / x$trace
  draw(graphics::plot, seq_along(share), share, type = "l", lwd = 2, ylim = 0:1, xlab = "rank",
       ylab = "share of the trace", user = list(...))
  draw(graphics::plot, seq_len(x$n), unname(x$resid_diag), pch = 16, cex = 0.5,
       col = grDevices::adjustcolor("black", 0.5), xlab = "observation", ylab = "residual diagonal", user = list(...))
  if (!is.null(x$landmarks)) {
    graphics::points(x$landmarks, x$resid_diag[x$landmarks], pch = 16, cex = 0.7, col = sign_colours[["negative"]])
  }
  invisible()
}

#' @rdname nystrom
#' @usage \method{autoplot}{granary_nystrom}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_nystrom <- function(object, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  refuse_dots(...)
  table <- data.frame(rank = seq_along(object$eigenvalues), share = cumsum(object$eigenvalues) / object$trace)
  gg_canvas(table, ggplot2::aes(x = .data$rank, y = .data$share)) + ggplot2::geom_line() + ggplot2::ylim(0, 1) +
    ggplot2::labs(x = "rank", y = "share of the trace")
}

#' Bounds of the Nystrom approximation
#'
#' How many landmarks an error takes, and what error so many landmarks promise, before any data are seen.
#'
#' @details
#' With \eqn{\eta = 1 + \sqrt{8\log(1/\delta)}}{eta = 1 + sqrt(8 log(1 / delta))}, with probability
#' \eqn{1-\delta}{1 - delta}
#' \deqn{|G - \tilde G_k|_F \le |G - G_k|_F + \epsilon\,\mathrm{tr}(G),\quad c\ge 64k\eta^2/\epsilon^4,}{
#'   |G - G~_k|_F <= |G - G_k|_F + eps tr(G),  c >= 64 k eta^2 / eps^4,}
#' \deqn{|G - \tilde G_k|_2 \le |G - G_k|_2 + \epsilon\,\mathrm{tr}(G),\quad c\ge 4\eta^2/\epsilon^2,}{
#'   |G - G~_k|_2 <= |G - G_k|_2 + eps tr(G),  c >= 4 eta^2 / eps^2,}
#' for draws with replacement by \eqn{G_{ii}/\mathrm{tr}(G)}{G_ii / tr(G)}; in expectation (`delta = 1`) with
#' \eqn{\eta = 1}{eta = 1}. Other probabilities of which none is below `beta` times these need \eqn{1/\beta}{1 / beta}
#' times as many. (The paper prints \eqn{\sum G_{ii}^2}{sum G_ii^2} in the place of the trace; its proof gives the
#' trace.)
#'
#' @section Which method when:
#' Before data are seen. They are very cautious: `trace_error` of a fit is a certificate of what was reached.
#'
#' @param k Rank.
#' @param c Number of draws; give `c` or `eps`.
#' @param eps Error as a share of the trace.
#' @param delta Probability that the bound fails; 1 for the bound in expectation.
#' @param norm `"F"` (Frobenius) or `"2"` (spectral).
#' @param beta Smallest ratio of the probabilities to the ideal ones, as a fit of [nystrom()] reports it.
#' @param ... Not used.
#' @return A data frame with `k`, `c`, `eps`, `delta`, `norm`, `beta`.
#' @references
#' Drineas and Mahoney (2005). On the Nystrom method for approximating a Gram matrix for improved kernel-based learning.
#' *Journal of Machine Learning Research* 6, 2153--2175.
#' @seealso [nystrom()], [cur_plan()]
#' @export
#' @examples
#' nystrom_bounds(k = 5, eps = 0.5)
#' nystrom_bounds(k = 5, c = c(100, 1000), norm = "2")
nystrom_bounds <- function(k, c = NULL, eps = NULL, delta = 0.1, norm = c("F", "2"), beta = 1, ...) {
  refuse_dots(...)
  k <- check_count(k)
  if (is.null(c) == is.null(eps)) abort_input("Give either `c` or `eps`.", "eps")
  delta <- check_number(delta, lower = 0, upper = 1, strict_lower = TRUE)
  norm <- check_choice(norm, c("F", "2"))
  beta <- check_number(beta, lower = 0, upper = 1, strict_lower = TRUE)
  columns <- is.null(c)
  value <- if (columns) check_vector(eps, "eps", lower = 0, strict_lower = TRUE) else check_vector(c, "c", lower = 1)
  other <- vapply(unname(value), function(v) core_nystrom_bound(k, v, delta, norm == "2", beta, columns), 0)
  data.frame(k = k, c = if (columns) ceiling(other * (1 - 1e-12)) else unname(value),
             eps = if (columns) unname(value) else other, delta = delta, norm = norm, beta = beta)
}

#' @export
svm.granary_nystrom <- function(x, y = NULL, ...) {
  given <- names(list(...))
  bad <- intersect(given, c("kernel", "gamma", "degree", "coef0", "standardize"))
  if (length(bad) > 0L) {
    abort_input(sprintf("`%s` belongs to nystrom() here: the machine is linear in its features.", bad[1L]), bad[1L])
  }
  fit <- svm.default(x$features, y, kernel = "linear", standardize = FALSE, ...)
  fit$nystrom <- x
  fit$call <- match.call()
  fit
}

# New points given as a vector: one after the other.
rows_of_vector <- function(newdata, columns) {
  if (length(newdata) == 0L || length(newdata) %% columns != 0L) {
    fail_input("newdata", sprintf("points of %d numbers each", columns), describe(newdata))
  }
  matrix(newdata, ncol = columns, byrow = TRUE)
}
