#' Many methods on many data sets: which are better?
#'
#' From a table of accuracies, with one row per data set and one column per method, to ranks, tests and pictures:
#' Friedman's test, critical differences of Nemenyi, paired tests with corrections, the Bayesian signed rank test, how
#' often and how nearly a method is the best, and means that weight the data sets.
#'
#' @details
#' Methods are ranked within each data set (1 is best, ties share); a failed run (`NA`) gets the mean of its data set
#' for this purpose only. Friedman's \eqn{\chi^2}{chi2} is corrected for ties, and Iman and Davenport's
#' \eqn{F = (N-1)\chi^2 / (N(k-1) - \chi^2)}{F = (N - 1) chi2 / (N (k - 1) - chi2)} goes with it. Two methods differ
#' after Nemenyi where their mean ranks do by
#' \eqn{q_\alpha \sqrt{k(k+1)/(6N)}}{q sqrt(k (k + 1)/(6 N))}.
#'
#' The table of methods holds, following Fernandez-Delgado and others (2014), the mean and its spread over the data
#' sets; `pama`, the percentage of data sets where the method attains the best value; `reach`, where it attains a share
#' `reach` of the best; and `pma`, the mean of value over best, in percent. For measures where smaller is better the
#' ratio is turned round. The profile is the share of data sets where the ratio is at least \eqn{t}; its area is `pma`.
#' With `info` come means weighted by difficulty, \eqn{1 - \max_j}{1 - best}, and by each column of `info`, rising and
#' falling.
#'
#' Pairs are compared on the data sets where neither failed: paired t test with its interval, Wilcoxon's signed rank
#' test (exact up to 50 differences, ties or not), the sign test and Nemenyi's p-value, with the p-values of t and
#' Wilcoxon corrected by `adjust` over the pairs. With `rope` the Bayesian signed rank test adds the probabilities that
#' a difference beyond `rope` favours the second method, neither, or the first.
#'
#' @section Which method when:
#' `compare_methods()` for results on several data sets, the unit of the tests. For two learners on one data set see
#' [cv_compare()]. Friedman and Nemenyi, or Wilcoxon with `adjust = "holm"`, for the question whether there is a
#' difference; `rope` for the question whether there is one that matters.
#'
#' @param x A matrix or data frame of results, one row per data set and one column per method, or what
#'   [benchmark_classifiers()] returns.
#' @param maximize Whether larger is better.
#' @param info A data frame of numbers about the data sets, such as their rows and columns, or `NULL`.
#' @param family Family of each method, or `NULL`.
#' @param against Which pairs are tested: `"best"` for the method with the best mean rank against all others, `"all"`
#'   for all pairs, or the name of a method.
#' @param adjust Correction of p-values: a method of [stats::p.adjust()].
#' @param alpha Level of the critical difference.
#' @param level Level of the intervals.
#' @param reach Share of the best value in column `reach`.
#' @param rope Half-width of the region of practical equivalence, in the units of `x`; `NULL` leaves the Bayesian test
#'   out.
#' @param n_draws Draws of the Bayesian test.
#' @param scale The best possible value, for the weights by difficulty: 1 or 100; `NULL` to tell from the values.
#' @param threads Threads; default `getOption("granary.threads")`.
#' @param object A comparison.
#' @param type Plot: `"cd"`, the critical difference diagram; `"profile"`, shares of the best; `"rank"`, the ranks over
#'   data sets; `"family"`, mean ranks by family; `"pairs"`, intervals of the pairs.
#' @param n Plot and print: number of methods shown, from the best.
#' @param ... Passed to [graphics::plot()].
#' @return An object of class `granary_compare_methods`: `table`, one row per method, best first; `friedman`, a data
#'   frame with both tests; `critical`, the critical difference; `groups`, first and last place of sets of methods that
#'   do not differ;
#'   `pairs`, one row per pair; `families`; `ranks`, data sets by methods.
#' @references
#' Fernandez-Delgado, M., Cernadas, E., Barro, S. and Amorim, D. (2014). Do we need hundreds of classifiers to solve
#' real world classification problems? *Journal of Machine Learning Research* 15, 3133-3181.
#'
#' Demsar, J. (2006). Statistical comparisons of classifiers over multiple data sets. *Journal of Machine Learning
#' Research* 7, 1-30.
#'
#' Benavoli, A., Corani, G., Mangili, F., Zaffalon, M. and Ruggeri, F. (2014). A Bayesian Wilcoxon signed-rank test
#' based on the Dirichlet process. *Proceedings of the 31st International Conference on Machine Learning*, 1026-1034.
#' @seealso [benchmark_classifiers()], [cv_compare()]
#' @export
#' @examples
#' # accuracies of four methods on ten data sets
#' accuracy <- cbind(
#'   forest = c(94, 82, 99, 77, 88, 91, 63, 85, 97, 79), svm = c(93, 84, 98, 75, 89, 92, 60, 84, 97, 76),
#'   tree = c(90, 75, 95, 74, 83, 86, 58, 80, 93, 74), majority = c(50, 65, 33, 74, 56, 51, 20, 60, 50, 70)
#' )
#' set.seed(1)
#' comparison <- compare_methods(accuracy, rope = 1)
#' comparison
#' plot(comparison)
#' plot(comparison, type = "profile")
compare_methods <- function(x, maximize = TRUE, info = NULL, family = NULL, against = "best", adjust = "holm",
                            alpha = 0.05,
                            level = 0.95, reach = 0.95, rope = NULL, n_draws = 10000, scale = NULL, threads = NULL) {
  call <- match.call()
  if (missing(x)) fail_missing("x")
  if (inherits(x, "granary_benchmark_classifiers")) {
    check_fit(x)
    if (is.null(info)) info <- x$info[c("n", "inputs", "classes")]
    x <- x$accuracy
  }
  x <- results_table(x)
  maximize <- check_flag(maximize)
  adjust <- check_choice(adjust, stats::p.adjust.methods)
  alpha <- check_number(alpha, lower = 0, upper = 1, strict_lower = TRUE, strict_upper = TRUE)
  level <- check_number(level, lower = 0, upper = 1, strict_lower = TRUE, strict_upper = TRUE)
  reach <- check_number(reach, lower = 0, upper = 1)
  rope <- check_number(rope, lower = 0, allow_null = TRUE)
  n_draws <- check_count(n_draws, upper = 1e7)
  scale <- results_scale(scale, x)
  family <- check_family(family, colnames(x))
  info <- check_info(info, x)
  kept <- rowSums(!is.na(x)) > 0
  if (!all(kept)) {
    message(sprintf("%s without any value: %s left out.", counted(sum(!kept), "data set is", "data sets are"),
                    if (is.null(rownames(x))) paste("row", which(!kept)[1L]) else rownames(x)[!kept][1L]))
    x <- x[kept, , drop = FALSE]
    info <- info[kept, , drop = FALSE]
  }
  if (nrow(x) == 0L) abort_input("`x` must have at least one value, but all are NA.", "x")
  lost <- which(colSums(!is.na(x)) == 0)
  if (length(lost) > 0L) {
    abort_input(sprintf("Method \"%s\" has no value on any data set: leave its column out.", colnames(x)[lost[1L]]),
                "x")
  }
  if (nrow(x) == 1L) warn_input("One data set ranks the methods, but there is nothing to test: tests are NA.", "x")
  options <- list(maximize = maximize, level = reach, alpha = alpha, scale = scale)
  plain <- unname_design(x)
  found <- core_method_table(plain, options)
  place <- order(found$mean_rank, -found$mean * (if (maximize) 1 else -1))
  table <- data.frame(
    method = colnames(x), rank = found$mean_rank, mean = found$mean, sd = na_for_nan(found$sd),
    failed = as.integer(found$failed),
    pama = na_for_nan(found$pama), reach = na_for_nan(found$reach), pma = na_for_nan(found$pma)
  )
  table <- cbind(table, weighted_means(plain, info, options))
  if (!is.null(family)) table$family <- family
  pairs <- method_pairs(plain, colnames(x), found$mean_rank, against, place, maximize, level, rope, n_draws, adjust,
                        threads)
  ranks <- found$ranks
  dimnames(ranks) <- dimnames(x)
  single <- nrow(x) == 1L
  friedman <- data.frame(
    test = c("Friedman", "Iman-Davenport"), statistic = c(found$chi2, na_for_nan(found$f)), df1 = found$chi2_df,
    df2 = c(NA, found$f_df2), p.value = c(if (single) NA else found$chi2_p, na_for_nan(found$f_p))
  )
  if (single) pairs[intersect(pair_p, names(pairs))] <- NA_real_
  new_fit("compare_methods", table = reset_rows(table[place, ]), friedman = friedman, critical = found$critical,
          groups = core_rank_groups(sort(found$mean_rank), found$critical), pairs = pairs,
          families = family_table(table),
          ranks = ranks[, place, drop = FALSE], x = x[, place, drop = FALSE], maximize = maximize, adjust = adjust,
          alpha = alpha,
          level = level, rope = rope, n = nrow(x), call = call, convergence = NULL)
}

pair_p <- c("nemenyi.p", "t.p", "t.adjusted", "wilcoxon.p", "wilcoxon.adjusted", "sign.p")

reset_rows <- function(table) {
  row.names(table) <- NULL
  table
}

results_table <- function(x) {
  x <- check_matrix(x, "x", min_cols = 2L, allow_na = TRUE)
  colnames(x) <- variable_names(colnames(x), ncol(x))
  check_names_unique(colnames(x), "x")
  x
}

results_scale <- function(scale, x) {
  scale <- check_number(scale, lower = 0, strict_lower = TRUE, allow_null = TRUE)
  top <- max(x, na.rm = TRUE, -Inf)
  if (!is.null(scale)) {
    if (top > scale * (1 + 1e-9)) {
      abort_input(sprintf("`x` has a value of %s, above `scale` = %s.", format(top, digits = 6L), format(scale)),
                  "scale")
    }
    return(scale)
  }
  if (top <= 1) 1 else if (top <= 100) 100 else top
}

check_family <- function(family, methods) {
  if (is.null(family)) return(NULL)
  if (!is.atomic(family) || length(family) != length(methods) || anyNA(family)) {
    fail_input("family", sprintf("one family per method, %d (or NULL)", length(methods)), describe(family))
  }
  if (!is.null(names(family)) && all(methods %in% names(family))) family <- family[methods]
  as.character(family)
}

check_info <- function(info, x) {
  if (is.null(info)) return(data.frame(row.names = seq_len(nrow(x))))
  if (!is.data.frame(info)) fail_input("info", "a data frame with one row per data set (or NULL)", describe(info))
  sets <- rownames(x)
  if (!is.null(sets) && .row_names_info(info) > 0L && all(sets %in% rownames(info))) info <- info[sets, , drop = FALSE]
  if (nrow(info) != nrow(x)) {
    abort_input(sprintf("`info` must have one row per data set, %d, but it has %d.", nrow(x), nrow(info)), "info")
  }
  info <- info[vapply(info, is_plain_numeric, NA)]
  for (name in names(info)) check_vector(info[[name]], paste0("info$", name), lower = 0)
  info
}

weighted_means <- function(x, info, options) {
  columns <- list()
  if (max(x, na.rm = TRUE) <= options$scale && min(x, na.rm = TRUE) >= 0) {
    columns$by_difficulty <- weighted_mean(x, core_row_weights(x, numeric(), "complexity", options))
  }
  for (name in names(info)) {
    size <- as.double(info[[name]])
    columns[[paste0("by_", name)]] <- weighted_mean(x, core_row_weights(x, size, "proportional", options))
    columns[[paste0("by_few_", name)]] <- weighted_mean(x, core_row_weights(x, size, "decreasing", options))
  }
  if (length(columns) == 0L) data.frame(row.names = seq_len(ncol(x))) else as.data.frame(columns)
}

# Of the rows that did not fail.
weighted_mean <- function(x, w) {
  known <- !is.na(x)
  x[!known] <- 0
  colSums(x * w) / colSums(known * w)
}

method_pairs <- function(x, names, mean_rank, against, place, maximize, level, rope, n_draws, adjust, threads) {
  k <- length(names)
  if (!is.character(against) || length(against) != 1L || is.na(against)) {
    fail_input("against", "\"best\", \"all\" or the name of a method", describe(against))
  }
  if (against == "all") {
    first <- rep(place[-k], rev(seq_len(k - 1L)))
    second <- unlist(lapply(seq_len(k - 1L), function(i) place[seq.int(i + 1L, k)]))
  } else {
    leader <- if (against == "best") place[1L] else match(against, names)
    if (is.na(leader)) {
      abort_input(paste0("There is no method \"", readable(against), "\".",
                         did_you_mean(against, c("best", "all", names))), "against")
    }
    second <- setdiff(place, leader)
    first <- rep(leader, length(second))
  }
  options <- list(first = first, second = second, maximize = maximize, conf = level,
                  rope = if (is.null(rope)) 0 else rope, n_draws = if (is.null(rope)) 0L else n_draws,
                  threads = thread_count(threads))
  found <- as.data.frame(core_method_pairs(x, mean_rank, options, core_seed(), progress_bar("pairs")))
  found[] <- lapply(found, na_for_nan)
  out <- data.frame(
    first = names[found$first], second = names[found$second], rank.difference = found$rank_difference,
    nemenyi.p = found$nemenyi_p,
    difference = found$difference, conf.low = found$conf_low, conf.high = found$conf_high, t.p = found$t_p,
    t.adjusted = stats::p.adjust(found$t_p, adjust), wilcoxon.p = found$w_p,
    wilcoxon.adjusted = stats::p.adjust(found$w_p, adjust),
    sign.p = found$sign_p, wins = found$wins, ties = found$ties, losses = found$losses, gain = found$gain,
    loss = found$loss
  )
  if (!is.null(rope)) out[c("first.better", "no.matter", "second.better")] <- found[c("above", "inside", "below")]
  out
}

family_table <- function(table) {
  if (is.null(table$family)) return(NULL)
  parts <- split(table, table$family)
  out <- do.call(rbind, lapply(names(parts), function(name) {
    part <- parts[[name]]
    data.frame(family = name, methods = nrow(part), best = part$method[which.min(part$rank)], min = min(part$rank),
               mean = mean(part$rank), max = max(part$rank))
  }))
  reset_rows(out[order(out$min), ])
}
