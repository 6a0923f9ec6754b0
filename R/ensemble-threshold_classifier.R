#' Thresholds with the fewest errors
#'
#' The exact cut points of a marker that misclassify least, any number of them, with intervals that know about their odd
#' limit: cut points settle at the rate \eqn{n^{-1/3}}{n^(-1/3)}, where the usual bootstrap is wrong.
#'
#' @details
#' Labels alternate between cuts \eqn{a_1 < \dots < a_K}{a_1 < ... < a_K}; those that minimise
#' \eqn{\sum_i w_i c(y_i) 1\{\hat y_i \ne y_i\}}{the weighted cost of errors} are found exactly, for every \eqn{K} at
#' once (the `path`), in
#' \eqn{O(n \log n)}{O(n log n)}. Cuts lie between distinct values. A cut at the end, infinite, says that its label on
#' the far side is given to no row. Where the optimum is not unique all intervals of optima are in `optima`, and the
#' cuts stand in the middle of them.
#'
#' With a smooth \eqn{F(x) = P(Y = 1 | x)} of slope \eqn{f} and a density \eqn{g} at the cut (Theorem 1),
#' \deqn{n^{1/3} (\hat a_k - a_k) \to (f_k^2 g_k)^{-1/3} C,}{n^(1/3) (a_k - a*_k) -> (f_k^2 g_k)^(-1/3) C,}
#' \eqn{C} the place of the maximum of \eqn{W(t) - t^2} ([dchernoff()]), independently for all cuts. `confint()` has
#' \describe{
#' \item{`"plugin"`}{this law with the density by a normal kernel and the slope by local quadratic regression of width
#'   `width`. With a slope near 0 the interval is infinite.}
#' \item{`"subsample"`}{the cuts of subsamples of \eqn{n^{2/3}}{n^(2/3)} rows without replacement, scaled by the rate.}
#' \item{`"jump"`}{for \eqn{F} that jumps across 1/2 at the cut (Theorem 6): all places that cost at most \eqn{d} more
#'   errors, with \eqn{P(D \ge m) = 1 - (1 - r_1^m)(1 - r_2^m)}{P(D >= m) = 1 - (1 - r1^m)(1 - r2^m)}.}
#' \item{`"bootstrap"`}{the plain bootstrap, with a warning: it is inconsistent here.}
#' }
#'
#' @section Which method when:
#' `threshold_classifier()` where the rule must be a cut point and errors (or their costs) count; [linear_01()] for a
#' line in two columns, [threshold_select()] for the number of cuts. Where the probability is wanted, logistic
#' regression or [gp_classify()]. Take `"subsample"` when in doubt between smooth and not, `"jump"` where a mechanism
#' switches.
#'
#' @param x Numbers, one per row.
#' @param y Two classes; the second level counts as positive.
#' @param k Most cuts.
#' @param first The label left of the first cut; `"free"` for the better one.
#' @param weights One weight per row, or `NULL`. Rows of weight 0 are left out.
#' @param cost Costs of a false positive and of a false negative.
#' @param object,newdata A fit, and new numbers, or a data frame whose first column they are.
#' @param type Of predictions: `"class"`, or `"region"`, the number of cuts below.
#' @param parm Which cuts; all by default.
#' @param level Level of the intervals.
#' @param method How intervals are computed.
#' @param width Width of the local regression, and `NULL` for \eqn{1.5 s n^{-1/7}}{1.5 sd n^(-1/7)}.
#' @param n_draws Subsamples.
#' @param nsim,seed As in [stats::simulate()]: labels drawn from the smoothed shares.
#' @param threads Threads; default `getOption("granary.threads")`.
#' @param ... Passed to [graphics::plot()].
#' @return An object of class `granary_threshold_classifier`: `thresholds`; `labels`, those of the regions; `risk`;
#'   `optima`, a data frame of the intervals in which a cut may stand; `path`, the least risk by number of cuts;
#'   `levels`.
#' @references Mohammadi, L. and van de Geer, S. (2005). Asymptotics in empirical risk minimization. *Journal of Machine
#'   Learning Research* 6, 2027-2047.
#' @seealso [threshold_select()], [linear_01()], [threshold_bounds()], [dchernoff()]
#' @export
#' @examples
#' set.seed(1)
#' d <- sim_thresholds(1000, "cosine")
#' fit <- threshold_classifier(d$x, d$y, k = 3)
#' fit
#' confint(fit)
#' plot(fit)
threshold_classifier <- function(x, y, k = 1, first = c("negative", "positive", "free"), weights = NULL,
                                 cost = c(1, 1)) {
  call <- match.call()
  data <- threshold_data(x, y, weights)
  k <- check_count(k, lower = 0, upper = 1e4)
  first <- check_choice(first, c("negative", "positive", "free"))
  options <- threshold_options(k, first, cost)
  if (length(unique(data$y)) == 1L) {
    message(sprintf("Every label is \"%s\": no cut between classes is needed.", data$levels[data$y[1L] + 1]))
  }
  found <- core_thresholds(data$x, data$y, data$weights, options)
  if (found$distinct < 30L && length(unique(data$y)) == 2L) {
    warn_input(sprintf("`x` has only %d different values: the cuts are right, but intervals need a density.",
                       found$distinct), "x")
  }
  cuts <- found$thresholds
  labels <- data$levels[ifelse((seq_len(length(cuts) + 1L) - 1L) %% 2 == 0, if (found$first < 0) 1L else 2L,
                               if (found$first < 0) 2L else 1L)]
  optima <- data.frame(cut = found$cut, from = found$from, to = found$to)
  path <- data.frame(k = seq_along(found$path) - 1L, risk = found$path)
  new_fit("threshold_classifier", thresholds = cuts, labels = labels, risk = found$risk, optima = optima,
          range = data.frame(low = found$low, high = found$high), path = path, first = found$first, k = k, x = data$x,
          y = factor(data$levels[data$y + 1], data$levels), levels = data$levels, weights = data$weights,
          options = options,
          distinct = found$distinct, n = length(data$x), call = call, convergence = NULL)
}

threshold_data <- function(x, y, weights = NULL) {
  if (missing(x)) fail_missing("x")
  if (missing(y)) fail_missing("y")
  if (is.data.frame(x) && length(x) == 1L) x <- x[[1L]]
  x <- unname(check_vector(x, "x"))
  if (is.factor(y) && nlevels(y) == 2L && length(unique(y)) == 1L || is.logical(y) && length(unique(y)) == 1L ||
      is.numeric(y) && all(y == y[1L]) && y[1L] %in% 0:1) {
    levels <- if (is.factor(y)) levels(y) else if (is.logical(y)) c("FALSE", "TRUE") else c("0", "1")
    if (length(y) != length(x)) {
      abort_input(sprintf("`y` must have one label per row, %d, but it has %d.", length(x), length(y)), "y")
    }
    target <- if (is.factor(y)) as.double(y) - 1 else as.double(y)
    if (anyNA(target)) abort_input("`y` must have no missing labels.", "y")
  } else {
    classes <- tree_classes(y, length(x))
    if (length(classes$levels) != 2L) {
      abort_input(sprintf("`y` must have two classes, but it has %d.", length(classes$levels)), "y")
    }
    levels <- classes$levels
    target <- classes$y
  }
  weights <- if (is.null(weights)) {
    rep(1, length(x))
  } else {
    unname(check_vector(weights, "weights", length = length(x), lower = 0))
  }
  if (sum(weights) == 0) abort_input("`weights` must not all be 0.", "weights")
  list(x = x, y = target, levels = levels, weights = weights)
}

threshold_options <- function(k, first, cost) {
  cost <- check_vector(cost, "cost", length = 2L, lower = 0, strict_lower = TRUE)
  list(k = k, first = first, false_positive = unname(cost[1L]), false_negative = unname(cost[2L]))
}

# What the core takes as data.
threshold_rows <- function(object) {
  list(x = object$x, y = as.double(as.integer(object$y) - 1L), weights = object$weights)
}

#' @rdname threshold_classifier
#' @export
predict.granary_threshold_classifier <- function(object, newdata = NULL, type = c("class", "region"), ...) {
  refuse_dots(...)
  type <- check_choice(type, c("class", "region"))
  if (is.data.frame(newdata)) newdata <- newdata[[1L]]
  x <- if (is.null(newdata)) object$x else unname(check_vector(newdata, "newdata"))
  if (type == "region") return(findInterval(x, object$thresholds))
  factor(object$levels[ifelse(core_threshold_labels(x, object$thresholds, object$first) > 0, 2L, 1L)], object$levels)
}

#' @rdname threshold_classifier
#' @export
confint.granary_threshold_classifier <- function(object, parm, level = 0.95,
                                                 method = c("plugin", "subsample", "jump", "bootstrap"), width = NULL,
                                                 n_draws = 500, threads = NULL, ...) {
  refuse_dots(...)
  level <- check_number(level, lower = 0, upper = 1, strict_lower = TRUE, strict_upper = TRUE)
  method <- check_choice(method, c("plugin", "subsample", "jump", "bootstrap"))
  n_draws <- check_count(n_draws, lower = 20)
  cuts <- object$thresholds
  names <- paste0("a", seq_along(cuts))
  parm <- if (missing(parm)) seq_along(cuts) else check_cuts(parm, names)
  ends <- paste0(format(100 * (0.5 + c(-0.5, 0.5) * level), digits = 3L, trim = TRUE), " %")
  out <- matrix(NA_real_, length(cuts), 2L, dimnames = list(names, ends))
  inner <- is.finite(cuts)
  if (any(!inner[parm])) {
    warn_input("A cut at the end of the data has no interval: there is no row on its far side.", "object")
  }
  if (any(inner)) {
    out[inner, ] <- switch(method, plugin = plugin_interval(object, inner, level, width),
                           jump = jump_interval(object, inner, level),
                           subsample = resample_interval(object, inner, level, n_draws, FALSE, threads),
                           bootstrap = resample_interval(object, inner, level, n_draws, TRUE, threads))
  }
  out[parm, , drop = FALSE]
}

check_cuts <- function(parm, names) {
  if (is.character(parm)) parm <- match(parm, names)
  if (!is.numeric(parm) || anyNA(parm) || !all(parm %in% seq_along(names))) {
    fail_input("parm", sprintf("numbers or names of the %d cuts", length(names)), describe(parm))
  }
  parm
}

threshold_local <- function(object, at, width = NULL) {
  width <- check_number(width, "width", lower = 0, strict_lower = TRUE, allow_null = TRUE)
  n <- object$n
  spread <- stats::sd(object$x)
  if (is.na(spread) || spread == 0) {
    abort_input("All of `x` is equal: there is nothing to estimate a slope from.", "object")
  }
  if (is.null(width)) width <- 1.5 * spread * n^(-1 / 7)
  density <- tryCatch(stats::bw.SJ(object$x), error = function(e) stats::bw.nrd0(object$x))
  core_threshold_local(threshold_rows(object), at, width, density, max(10L, as.integer(round(n^(2 / 3) / 2))))
}

plugin_interval <- function(object, inner, level, width) {
  cuts <- object$thresholds[inner]
  local <- threshold_local(object, cuts, width)
  cost <- object$options
  # with costs the cut is where the expected costs are equal, and the criterion's slope is f times their sum over 2
  slope <- local$slope
  slope[is.nan(slope)] <- 0
  target <- cost$false_positive / (cost$false_positive + cost$false_negative)
  spread <- target * (1 - target) * 4
  scale <- (slope^2 * local$density / spread)^(-1 / 3)
  weak <- abs(slope) * stats::sd(object$x) < 0.05
  scale[weak] <- Inf
  if (any(weak)) {
    warn_input(paste("The slope of the probability at a cut is near 0: its interval is infinite.",
                     "Try method = \"subsample\" or \"jump\"."), "object")
  }
  half <- core_chernoff(0.5 + level / 2, "quantile") * scale * object$n^(-1 / 3)
  cbind(cuts - half, cuts + half)
}

resample_interval <- function(object, inner, level, n_draws, plain, threads) {
  cuts <- object$thresholds
  n <- object$n
  if (plain) warn_input("The plain bootstrap is inconsistent for cut points: use method = \"subsample\".", "method")
  size <- if (plain) n else max(2L, as.integer(ceiling(n^(2 / 3))))
  options <- object$options
  options$k <- length(cuts)
  options$first <- if (object$first < 0) "negative" else "positive"
  drawn <- core_threshold_resample(threshold_rows(object), options,
                                   list(size = size, replace = plain, n_draws = n_draws,
                                        threads = thread_count(threads)), core_seed(), progress_bar("subsamples"))
  tail <- (1 - level) / 2
  rows <- lapply(which(inner), function(j) {
    moved <- (if (plain) 1 else (size / n)^(1 / 3)) * (drawn[, j] - cuts[j])
    moved <- moved[is.finite(moved)]
    if (length(moved) < 20L) return(c(NA_real_, NA_real_))
    cuts[j] - stats::quantile(moved, c(1 - tail, tail), names = FALSE)
  })
  rows <- do.call(rbind, rows)
  if (anyNA(rows)) {
    warn_input("Too few resamples have as many cuts: an interval is NA. Use fewer cuts, or method = \"plugin\".",
               "method")
  }
  rows
}

jump_interval <- function(object, inner, level) {
  cuts <- object$thresholds
  if (object$options$false_positive != object$options$false_negative || any(object$weights != object$weights[1L])) {
    abort_input("The law of the jump is for equal costs and weights.", "method")
  }
  unit <- object$weights[1L] * object$options$false_positive
  local <- threshold_local(object, cuts[inner])
  at <- which(inner)
  rows <- lapply(seq_along(at), function(i) {
    rising <- if (at[i] %% 2 == 1) object$first < 0 else object$first > 0
    left <- if (rising) local$left[i] else 1 - local$left[i]
    right <- if (rising) local$right[i] else 1 - local$right[i]
    if (is.nan(left) || is.nan(right) || left >= 0.5 || right <= 0.5) {
      warn_input("The shares on both sides of a cut do not straddle 1/2: there is no jump, and its interval is NA.",
                 "object")
      return(c(NA_real_, NA_real_))
    }
    most <- core_jump_quantile(level, left, right)
    profile <- core_cut_profile(threshold_rows(object), cuts, at[i], object$first, object$options)
    near <- which(profile$excess <= unit * most * (1 + 1e-9))
    sorted <- sort(unique(object$x))
    upper <- sorted[sorted > profile$place[max(near)]]
    c(profile$place[min(near)], if (length(upper) > 0L) upper[1L] else Inf)
  })
  do.call(rbind, rows)
}

#' @export
coef.granary_threshold_classifier <- function(object, ...) {
  stats::setNames(object$thresholds, paste0("a", seq_along(object$thresholds))[seq_along(object$thresholds)])
}

#' @export
print.granary_threshold_classifier <- function(x, ...) {
  cli::cat_line("Thresholds with the fewest errors: ", counted(x$n, "row", "rows"), ", ",
                counted(length(x$thresholds), "cut", "cuts"), " of at most ", x$k)
  print_call(x$call)
  bounds <- c("", format(x$thresholds, digits = 4L, trim = TRUE))
  regions <- paste0(ifelse(seq_along(x$labels) == 1L, "", paste0(" | ", bounds[seq_along(x$labels)], " | ")), x$labels)
  cli::cat_line("Regions: ", paste(regions, collapse = ""))
  cli::cat_line("Risk ", format(x$risk, digits = 4L), ", ", format(x$path$risk[1L], digits = 4L), " without cuts")
  several <- table(x$optima$cut)
  if (any(several > 1L)) cli::cat_line("The optimum is not unique: see `optima`")
  invisible(x)
}

#' @export
summary.granary_threshold_classifier <- function(object, ...) {
  seal(structure(list(fit = object), class = "summary_granary_threshold_classifier"))
}

#' @export
print.summary_granary_threshold_classifier <- function(x, ...) {
  print(x$fit)
  cli::cat_line()
  print(utils::head(x$fit$path, 10L), digits = 4L, row.names = FALSE)
  invisible(x)
}

#' @export
tidy.granary_threshold_classifier <- function(x, ...) {
  data.frame(term = paste0("a", seq_along(x$thresholds))[seq_along(x$thresholds)], estimate = x$thresholds,
             low = x$range$low, high = x$range$high)
}

#' @export
glance.granary_threshold_classifier <- function(x, ...) {
  data.frame(n = x$n, cuts = length(x$thresholds), risk = x$risk, risk_without = x$path$risk[1L], distinct = x$distinct)
}

#' @export
fitted.granary_threshold_classifier <- function(object, ...) predict.granary_threshold_classifier(object, ...)

#' @rdname threshold_classifier
#' @export
simulate.granary_threshold_classifier <- function(object, nsim = 1, seed = NULL, ...) {
  refuse_dots(...)
  nsim <- check_count(nsim)
  draw_labels <- function() {
    share <- threshold_curve(object, object$x)
    as.data.frame(lapply(stats::setNames(seq_len(nsim), paste0("sim_", seq_len(nsim))), function(i) {
      factor(object$levels[(stats::runif(object$n) < share) + 1L], object$levels)
    }))
  }
  if (is.null(seed)) draw_labels() else with_seed(seed, draw_labels())
}

# Smoothed share of the positive label; where the local regression has no answer, the share of all.
threshold_curve <- function(object, at) {
  share <- threshold_local(object, at)$prob
  share[is.nan(share)] <- mean(object$y == object$levels[2L])
  pmin(1, pmax(0, share))
}

#' @rdname threshold_classifier
#' @export
plot.granary_threshold_classifier <- function(x, ...) {
  up <- as.integer(x$y) - 1L
  rise <- (seq_along(up) * 0.61803398875) %% 1  # an even jitter
  draw(graphics::plot, x$x, up + ifelse(up == 1L, 0.02, -0.02) + ifelse(up == 1L, 0.1, -0.1) * rise, pch = 16,
       cex = 0.4, col = "#00000055",
       xlab = "x", ylab = paste0("share of \"", x$levels[2L], "\""), ylim = c(-0.15, 1.15), bty = "l", user = list(...))
  if (x$distinct > 3L) {
    at <- seq(min(x$x), max(x$x), length.out = 201L)
    graphics::lines(at, threshold_curve(x, at), col = "#0072B2", lwd = 2)
  }
  graphics::abline(h = 0.5, lty = 3)
  inner <- is.finite(x$thresholds)
  graphics::abline(v = x$thresholds[inner], col = "#D55E00", lwd = 2)
  invisible(x)
}

#' @rdname threshold_classifier
#' @usage \method{autoplot}{granary_threshold_classifier}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_threshold_classifier <- function(object, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  check_installed("ggplot2", "autoplot()")
  up <- as.integer(object$y) - 1L
  rows <- data.frame(x = object$x, y = up + ifelse(up == 1L, 0.02, -0.02) + ifelse(up == 1L, 0.1, -0.1) *
                     ((seq_along(up) * 0.61803398875) %% 1))
  picture <- gg_canvas(rows, ggplot2::aes(.data$x, .data$y)) + ggplot2::geom_point(size = 0.4, alpha = 0.3) +
    ggplot2::geom_hline(yintercept = 0.5, linetype = 3) +
      ggplot2::geom_vline(xintercept = object$thresholds[is.finite(object$thresholds)], colour = "#D55E00") +
    ggplot2::labs(y = paste0("share of \"", object$levels[2L], "\""))
  if (object$distinct <= 3L) return(picture)
  at <- seq(min(object$x), max(object$x), length.out = 201L)
  picture + ggplot2::geom_line(data = data.frame(x = at, y = threshold_curve(object, at)), colour = "#0072B2")
}
