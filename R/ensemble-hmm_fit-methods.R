# What a hidden Markov model can do beyond a clustering of its rows.

#' @export
print_more.granary_hmm <- function(x) {
  cli::cat_line("Sequences of ", paste(unique(range(x$lengths)), collapse = " to "), " rows",
                if (x$gaps > 0L) paste0(", ", counted(x$gaps, "row", "rows"), " missing"),
                if (!is.null(x$weights)) ", with weights", "; ", format(x$df), " parameters, BIC ",
                format(stats::BIC(x), digits = 6L))
  stay <- diag(x$transition)
  cli::cat_line("States stay with probability ", paste(format(stay, digits = 2L), collapse = " "))
  if (x$settings$forward == "hard") cli::cat_line("Fitted along best paths: this is not a maximum likelihood estimate.")
}

#' @rdname hmm_fit
#' @param object A fit.
#' @param newdata New sequences, as `x`; `NULL` for those of the fit.
#' @param type `"class"` for the best path, `"prob"` for probabilities of the states given the whole sequence,
#'   `"density"` for the log-likelihood of each sequence (`-Inf` where no path is possible).
#' @param ... Not used.
#' @export
predict.granary_hmm <- function(object, newdata = NULL, type = c("class", "prob", "density"), id = NULL,
                                na = c("error", "skip"), threads = NULL, ...) {
  refuse_dots(...)
  type <- check_choice(type, c("class", "prob", "density"))
  if (is.null(newdata)) {
    rows <- list(begin = c(0, cumsum(object$lengths)), ids = object$ids, listed = object$listed)
    return(switch(type, class = for_sequences(object$cluster, rows), prob = for_sequences(object$membership, rows),
                  density = object$sequence_loglik))
  }
  rows <- sequence_data(newdata, id, check_choice(na, c("error", "skip")), "newdata",
                        columns = colnames(object$centers))
  threads <- thread_count(threads)
  x <- plain_rows(rows$x)
  if (type == "density")
    return(stats::setNames(core_hmm_loglik(object$model, x, rows$begin, threads, progress_bar("likelihoods")),
                           rows$ids))
  found <- core_hmm_states(object$model, x, rows$begin, threads, progress_bar("states"))
  if (type == "class") return(for_sequences(stats::setNames(found$path, rownames(rows$x)), rows))
  for_sequences(structure(found$prob, dimnames = list(rownames(rows$x), rownames(object$centers))), rows)
}

#' @rdname hmm_fit
#' @export
logLik.granary_hmm <- function(object, ...) {
  refuse_dots(...)
  structure(object$loglik, df = object$df, nobs = object$observed, class = "logLik")
}

#' @rdname hmm_fit
#' @param nsim Number of data sets.
#' @param seed `NULL`, or a seed that is used for these draws only.
#' @param lengths Lengths of the sequences to draw; `NULL` for those of the fit.
#' @export
simulate.granary_hmm <- function(object, nsim = 1, seed = NULL, lengths = NULL, ...) {
  refuse_dots(...)
  nsim <- check_count(nsim)
  lengths <- if (is.null(lengths)) object$lengths else check_lengths(lengths)
  if (!is.null(seed)) return(with_seed(seed, simulate(object, nsim = nsim, lengths = lengths)))
  rows <- list(begin = c(0, cumsum(lengths)), ids = as.character(seq_along(lengths)), listed = TRUE)
  lapply(seq_len(nsim), function(i) {
    drawn <- core_hmm_draws(object$model, as.double(lengths), core_seed())
    list(x = unname(for_sequences(structure(drawn$x, dimnames = list(NULL, colnames(object$centers))), rows)),
         state = unname(for_sequences(drawn$state, rows)))
  })
}

check_lengths <- function(lengths) {
  lengths <- check_vector(lengths, "lengths", lower = 1)
  if (any(lengths != round(lengths))) fail_input("lengths", "whole numbers, one per sequence", describe(lengths))
  lengths
}

#' @rdname hmm_fit
#' @param which With `newdata`: which sequence to draw.
#' @param columns With `newdata`: names or numbers of the columns to draw, at most six.
#' @details `plot()` shows the means of the states with one standard deviation to both sides, each column in units of
#'   its own spread; with `newdata` a sequence over time, coloured by its best path.
#' @export
plot.granary_hmm <- function(x, newdata = NULL, which = 1, columns = NULL, id = NULL, na = c("error", "skip"), ...) {
  colors <- cluster_colors(length(x$initial))
  if (is.null(newdata)) {
    table <- hmm_profile(x)
    old <- graphics::par(mar = c(7.1, 4.1, 2.1, 7.1))
    on.exit(graphics::par(old))
    p <- ncol(x$centers)
    k <- length(x$initial)
    at <- table$column + (table$state - (k + 1) / 2) * min(0.12, 0.7 / k)
    draw(graphics::plot, at, table$mean, ylim = range(table$low, table$high), xlim = c(0.5, p + 0.5), pch = 16,
         col = colors[table$state], xaxt = "n", xlab = "",
         ylab = "mean and standard deviation, scaled", bty = "l", main = "", user = list(...))
    graphics::segments(at, table$low, at, table$high, col = colors[table$state], lwd = 2)
    graphics::axis(1L, seq_len(p), colnames(x$centers), las = if (p > 6L) 2L else 1L, tick = FALSE)
    hmm_legend(k, colors)
    return(invisible(x))
  }
  shown <- hmm_course(x, newdata, which, columns, id, na)
  old <- graphics::par(mfrow = c(ncol(shown$values), 1L), mar = c(3.1, 4.1, 1.1, 7.1), oma = c(1, 0, 1, 0))
  on.exit(graphics::par(old))
  for (j in seq_len(ncol(shown$values))) {
    draw(graphics::plot, shown$values[, j], type = "n", xlab = "", ylab = colnames(shown$values)[j], bty = "l",
         user = list(...))
    graphics::lines(shown$values[, j], col = "grey75")
    graphics::points(shown$values[, j], pch = 16, cex = 0.7, col = colors[shown$state])
    at <- seq_along(shown$state)
    graphics::segments(at - 0.5, x$centers[shown$state, shown$columns[j]], at + 0.5,
                       x$centers[shown$state, shown$columns[j]], col = colors[shown$state], lwd = 2)
    if (j == 1L) hmm_legend(length(x$initial), colors)
  }
  graphics::mtext("time", 1L, line = 2)
  invisible(x)
}

hmm_legend <- function(k, colors) {
  place <- graphics::par("usr")
  graphics::legend(place[2L], place[4L], paste("state", seq_len(k)), col = colors, pch = 16, bty = "n", xpd = NA)
}

# One row per state and column, each column in units of the spread of the model.
hmm_profile <- function(x) {
  k <- length(x$initial)
  p <- ncol(x$centers)
  share <- x$sizes / sum(x$sizes)
  centre <- colSums(share * x$centers)
  sd <- t(vapply(x$covariance, function(s) sqrt(diag(s)), numeric(p)))
  if (p == 1L) sd <- matrix(sd, k)
  spread <- sqrt(colSums(share * (sd^2 + sweep(x$centers, 2L, centre)^2)))
  scaled <- sweep(sweep(x$centers, 2L, centre), 2L, spread, "/")
  width <- sweep(sd, 2L, spread, "/")
  data.frame(state = rep(seq_len(k), p), column = rep(seq_len(p), each = k), mean = as.vector(scaled),
             low = as.vector(scaled - width), high = as.vector(scaled + width))
}

hmm_course <- function(x, newdata, which, columns, id, na) {
  na <- check_choice(na, c("error", "skip"))
  rows <- sequence_data(newdata, id, na, "newdata", columns = colnames(x$centers))
  which <- check_count(which, upper = length(rows$ids))
  at <- (rows$begin[which] + 1):rows$begin[which + 1L]
  if (is.null(columns)) columns <- utils::head(colnames(x$centers), 6L)
  place <- if (is.character(columns)) match(columns, colnames(x$centers)) else
    as.integer(check_vector(columns, "columns", lower = 1, upper = ncol(x$centers)))
  if (anyNA(place) || anyDuplicated(place) > 0L || length(place) > 6L)
    fail_input("columns", "names or numbers of at most six different columns of the fit",
               describe(columns))
  values <- rows$x[at, , drop = FALSE]
  state <- stats::predict(x, newdata = unname(values), na = na)
  list(values = values[, place, drop = FALSE], state = state, columns = place)
}

#' @rdname hmm_fit
#' @usage \method{autoplot}{granary_hmm}(object, newdata = NULL, which = 1, columns = NULL, id = NULL,
#'   na = c("error", "skip"), ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_hmm <- function(object, newdata = NULL, which = 1, columns = NULL, id = NULL, na = c("error", "skip"),
                                 ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  check_installed("ggplot2", "to draw with autoplot()")
  if (is.null(newdata)) {
    table <- hmm_profile(object)
    table$column <- factor(colnames(object$centers)[table$column], colnames(object$centers))
    table$state <- factor(table$state)
    return(gg_canvas(table, ggplot2::aes(.data$column, .data$mean, ymin = .data$low, ymax = .data$high,
                                         colour = .data$state)) +
             ggplot2::geom_pointrange(position = ggplot2::position_dodge(width = 0.5)) + gg_states(table$state) +
             ggplot2::labs(x = NULL, y = "mean and standard deviation, scaled"))
  }
  shown <- hmm_course(object, newdata, which, columns, id, na)
  n <- length(shown$state)
  table <- data.frame(time = rep(seq_len(n), ncol(shown$values)), value = as.vector(shown$values),
                      state = factor(rep(shown$state, ncol(shown$values)), seq_along(object$initial)),
                      column = factor(rep(colnames(shown$values), each = n), colnames(shown$values)))
  gg_course(table)
}

# The colours of plot().
gg_states <- function(state) ggplot2::scale_colour_manual(values = unname(cluster_colors(nlevels(state))), drop = FALSE)

# By itself, so that a plot does not hold the data a second time.
gg_course <- function(table) {
  gg_canvas(table, ggplot2::aes(.data$time, .data$value)) + ggplot2::geom_line(colour = "grey75", na.rm = TRUE) +
    ggplot2::geom_point(ggplot2::aes(colour = .data$state), size = 1.2, na.rm = TRUE) + gg_states(table$state) +
      ggplot2::facet_wrap(~ column, ncol = 1L, scales = "free_y") +
    ggplot2::labs(y = NULL)
}

#' How many states?
#'
#' Fits [hmm_fit()] for several numbers of states, kinds of covariance and topologies, and chooses by an information
#' criterion or by the likelihood of sequences kept back.
#'
#' @details `"bic"` is \eqn{-2 \ell + p \log n}{-2 l + p log n} with \eqn{p} parameters and \eqn{n} rows, `"aic"`
#'   \eqn{-2 \ell + 2 p}{-2 l + 2 p}; `"icl"` adds twice the entropy of the states to `"bic"`. `"cv"` is minus the mean
#'   log-likelihood per row of sequences kept back, over `folds`; it needs several sequences. The smallest value wins.
#'
#' @section Which method when: `"bic"` for one long sequence, `"cv"` for many short ones, `"icl"` where states are to be
#'   told apart.
#'
#' @inheritParams hmm_fit
#' @param k Numbers of states to try.
#' @param covariance,topology Kinds to try.
#' @param criterion What to minimise.
#' @param folds For `"cv"`: a number, or the fold of every sequence.
#' @param ... Further arguments of [hmm_fit()].
#' @return A [granary_selection]: `fit`, the chosen model, and `table` with `k`, `covariance`, `topology`, `estimate`,
#'   `std.error` (for `"cv"`), `loglik`, `df`.
#' @seealso [hmm_fit()], [em_select()]
#' @export
#' @examples
#' set.seed(1)
#' choice <- hmm_select(beaver1$temp, k = 1:3)
#' choice
#' plot(choice)
hmm_select <- function(x, k = 1:6, covariance = "diagonal", topology = "ergodic",
                       criterion = c("bic", "aic", "icl", "cv"), folds = 10, id = NULL, weights = NULL,
                       na = c("error", "skip"), ...) {
  call <- match.call()
  if (missing(x)) fail_missing("x")
  criterion <- check_choice(criterion, c("bic", "aic", "icl", "cv"))
  k <- check_vector(k, lower = 1, upper = 1000)
  if (any(k != round(k)) || anyDuplicated(k) > 0L) fail_input("k", "different whole numbers", describe(k))
  covariance <- check_kinds(covariance, c("diagonal", "full", "spherical", "tied"), "covariance")
  topology <- check_kinds(topology, c("ergodic", "left_right", "forward"), "topology")
  extra <- list(...)
  odd <- setdiff(names(extra), names(formals(hmm_fit)))
  if (length(extra) > 0L && (is.null(names(extra)) || any(!nzchar(names(extra))) || length(odd) > 0L)) {
    abort_input(sprintf("Further arguments must be those of hmm_fit(), by name%s.",
                        if (length(odd) > 0L && nzchar(odd[1L])) sprintf("; there is no `%s`", odd[1L]) else ""), "...")
  }
  na <- check_choice(na, c("error", "skip"))
  rows <- sequence_data(x, id, na)
  n <- length(rows$ids)
  weights <- check_sequence_weights(weights, n)
  sequences <- split_cases(c(rows[c("x", "begin", "ids")], listed = TRUE))
  if (criterion == "cv" && n < 2L)
    abort_input("criterion = \"cv\" keeps sequences back, but there is only one: use \"bic\".", "criterion")
  if (length(folds) == 1L) folds <- min(check_count(folds, lower = 2), n)
  fold <- if (criterion == "cv") check_folds(folds, n)
  grid <- expand.grid(k = as.integer(k), covariance = covariance, topology = topology, stringsAsFactors = FALSE)
  fit_one <- function(i, keep) {
    w <- if (length(weights) > 0L) weights[keep]
    suppressWarnings(do.call(hmm_fit,
                             c(list(sequences[keep], grid$k[i], covariance = grid$covariance[i],
                                    topology = grid$topology[i], na = na), if (!is.null(w)) list(weights = w), extra)),
                     classes = "granary_warning")
  }
  fits <- resample_lapply(seq_len(nrow(grid)), function(i) fit_one(i, seq_len(n)), "hidden Markov models")
  stopped <- sum(!vapply(fits, function(fit) fit$convergence$converged %in% TRUE, NA))
  if (stopped > 0L)
    warn_convergence(sprintf("%d of %d models have not converged, so the choice may be off. Use a larger `max_iter`.",
                             stopped, length(fits)))
  table <- do.call(rbind, lapply(seq_along(fits), function(i) {
    l <- stats::logLik(fits[[i]])
    q <- fits[[i]]$membership
    bic <- -2 * as.numeric(l) + attr(l, "df") * log(attr(l, "nobs"))
    value <- switch(criterion, bic = bic, aic = -2 * as.numeric(l) + 2 * attr(l, "df"),
                    icl = bic - 2 * sum(q[q > 0] * log(q[q > 0])), cv = NA_real_)
    data.frame(k = grid$k[i], covariance = grid$covariance[i], topology = grid$topology[i], estimate = value,
               loglik = as.numeric(l), df = attr(l, "df"))
  }))
  if (criterion == "cv") table <- cbind(table[1:3], hmm_kept_back(grid, sequences, fold, fit_one, na, weights),
                                        table[c("loglik", "df")])
  best <- which.min(table$estimate)
  if (length(best) == 0L) abort_numeric("No model gives the sequences that were kept back a positive density.")
  chosen <- fits[[best]]
  chosen$listed <- rows$listed  # as the user gave the sequences
  names(chosen$cluster) <- rownames(chosen$membership) <- rownames(rows$x)
  new_selection("hmm", chosen, table, rule = "min",
                measure = if (criterion == "cv") "minus log-likelihood per row, kept back" else toupper(criterion),
                selected = best,
                folds = fold, call = call)
}

# Minus the mean log-likelihood per row over folds, and its standard error over the folds.
hmm_kept_back <- function(grid, sequences, fold, fit_one, na, weights) {
  groups <- unique(fold)
  tasks <- expand.grid(i = seq_len(nrow(grid)), fold = seq_along(groups))
  values <- resample_lapply(seq_len(nrow(tasks)), function(t) {
    out <- fold == groups[tasks$fold[t]]
    w <- if (length(weights) > 0L) weights[out] else rep(1, sum(out))
    density <- stats::predict(fit_one(tasks$i[t], which(!out)), sequences[out], type = "density", na = na)
    lengths <- vapply(sequences[out], nrow, 0L)
    c(-sum(w * density), sum(w * lengths))
  }, "folds")
  values <- do.call(rbind, values)
  do.call(rbind, lapply(seq_len(nrow(grid)), function(i) {
    own <- values[tasks$i == i, , drop = FALSE]
    per_row <- own[, 1L] / own[, 2L]
    data.frame(estimate = sum(own[, 1L]) / sum(own[, 2L]), std.error = stats::sd(per_row) / sqrt(length(per_row)))
  }))
}

check_kinds <- function(x, choices, arg) {
  if (!is.character(x) || length(x) < 1L || anyNA(x) || !all(x %in% choices))
    fail_input(arg, paste0("some of ", paste0("\"", choices, "\"", collapse = ", ")), describe(x))
  unique(x)
}
