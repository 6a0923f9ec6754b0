#' How much was not seen: Good-Turing masses
#'
#' The probability of everything that was never seen (missing mass), of everything seen exactly once, twice and so on, from the counts of a sample: words, species,
#' alleles, visitors. With an interval for the missing mass that holds for any law, and one that is shorter.
#'
#' @details
#' With \eqn{n_k} symbols seen \eqn{k} times in \eqn{m} draws, the mass \eqn{M_k} is the total probability of these symbols. Estimates of it:
#' * `"good_turing"`: \eqn{G_k = (k + 1) n_{k+1} / (m - k)}; good for small \eqn{k}. \eqn{G_0 = n_1 / m} is the missing mass, one minus the *sample coverage*.
#' * `"empirical"`: \eqn{k n_k / m}; good for large \eqn{k}.
#' * `"combined"` (Drukh and Mansour 2005): the first for \eqn{k \le m^{2/5}}{k <= m^(2/5)}, the second beyond: the error is of order
#'   \eqn{m^{-2/5}}{m^(-2/5)} whatever \eqn{k}.
#' * `"simple"` (Gale and Sampson 1995): \eqn{n_k} smoothed by a line in logarithms where Turing's estimate is not significantly different from it.
#'
#' The masses need not sum to one; `normalized` do. Two intervals for the missing mass: `interval`, normal with the variance
#' \eqn{[n_1 (1 - n_1 / m) + 2 n_2] / m^2} of Esty (1983); and `sure`, which holds with probability `level` for every law and sample size, by McDiarmid's
#' inequality for \eqn{G_0} and that of McAllester and Ortiz (2003) for \eqn{M_0}. The number of symbols that were not seen is at least
#' \eqn{n_1^2 / (2 n_2)} (Chao 1984): `unseen`.
#'
#' @section Which method when:
#' For totals: what is missing, what the rare ones weigh. [unigram_model()] for the probability of each word and what new text will cost, [pitman_yor()] to say how
#' many new symbols further draws will bring, [entropy_estimate()] for diversity.
#'
#' @inheritParams entropy_estimate
#' @param k Which masses to give; `NULL`: for 0 and every count there is.
#' @param method The estimate.
#' @param denominator Of the Good-Turing estimate: \eqn{m - k} as in the paper, or \eqn{m}.
#' @param vocabulary How many symbols there are, seen or not, or `NULL` where nobody knows.
#' @return An object of class `granary_good_turing` with `table` (`k`, `symbols`, `empirical`, `good_turing`, `mass`, `normalized`), `missing` (estimate, s.d. and both
#'   intervals), `coverage`, `unseen`, `crossover`. `predict(object, newdata)` gives the probability of one symbol that was seen so many times.
#' @references
#' Drukh and Mansour (2005). Concentration bounds for unigram language models. *Journal of Machine Learning Research* 6, 1231--1264.
#'
#' Gale and Sampson (1995). Good-Turing frequency estimation without tears. *Journal of Quantitative Linguistics* 2, 217--237.
#'
#' Esty (1983). A normal limit law for a nonparametric estimator of the coverage of a random sample. *Annals of Statistics* 11, 905--912.
#'
#' McAllester and Ortiz (2003). Concentration inequalities for the missing mass and for histogram rule error. *Journal of Machine Learning Research* 4, 895--911.
#' @seealso [unigram_model()], [good_turing_bounds()], [good_turing_compare()], [pitman_yor()].
#' @export
#' @examples
#' # ten names drawn, six of them once and two twice: what is the chance that the next one is new?
#' good_turing(c(2, 1, 1, 1, 2, 1, 1, 1))
#'
#' set.seed(1)
#' sim <- sim_unigram(5000, vocabulary = 5000)
#' fit <- good_turing(sim$counts)
#' c(estimate = fit$missing[["estimate"]], truth = sum(sim$prob[sim$counts == 0]))
#' predict(fit, newdata = 0:3)
#' plot(fit)
good_turing <- function(x, k = NULL, method = c("combined", "good_turing", "empirical", "simple"), denominator = c("m-k", "m"), vocabulary = NULL,
                        level = 0.95) {
  call <- match.call()
  symbols <- check_symbols(x)
  method <- check_choice(method, c("combined", "good_turing", "empirical", "simple"))
  denominator <- check_choice(denominator, c("m-k", "m"))
  level <- check_number(level, lower = 0, upper = 1, strict_lower = TRUE, strict_upper = TRUE)
  k <- check_vector(k, lower = 0, upper = 2^53, allow_null = TRUE)
  check_all_whole(k, "k")
  counts <- unname(symbols$counts)
  vocabulary <- check_vocabulary(vocabulary, sum(counts > 0))
  found <- core_good_turing(counts, list(method = method, full_denominator = denominator == "m", k = unname(k), level = level))
  for (field in c("words", "good_turing", "mass", "normalised")) found[[field]][is.nan(found[[field]])] <- NA_real_
  if (found$singletons == 0) warn_input("No symbol was seen once, so the missing mass is estimated as 0.", "x")
  if (method == "simple" && isTRUE(found$slope > -1)) {
    warn_input(sprintf("The line through the counts of counts has slope %.2f, above -1: \"simple\" smooths too little here. Use \"combined\".", found$slope), "method")
  }
  chao <- if (found$doubletons > 0) found$singletons^2 / (2 * found$doubletons) else found$singletons * (found$singletons - 1) / 2
  unseen <- c(chao1 = chao, vocabulary = if (is.null(vocabulary)) NA_real_ else vocabulary - found$distinct)
  missing <- c(estimate = found$missing, std.error = found$missing_sd, conf.low = found$lower, conf.high = found$upper, sure.low = found$sure_lower,
               sure.high = found$sure_upper)
  new_fit("good_turing", coefficients = stats::setNames(found$mass, paste0("M", format(found$k, trim = TRUE, scientific = FALSE))),
          table = data.frame(k = found$k, symbols = found$words, empirical = found$empirical, good_turing = found$good_turing,
                             mass = found$mass, normalized = found$normalised),
          missing = missing, coverage = 1 - found$missing, unseen = unseen, crossover = found$crossover, slope = if (method == "simple") found$slope,
          method = method, denominator = denominator, level = level, n = found$total, distinct = found$distinct, singletons = found$singletons,
          counts = counts[counts > 0], call = call, convergence = list())
}

check_vocabulary <- function(vocabulary, distinct) {
  if (is.null(vocabulary)) return(NULL)
  vocabulary <- check_number(vocabulary, upper = 1e15)
  if (vocabulary != round(vocabulary) || vocabulary < distinct) {
    abort_input(sprintf("`vocabulary` must be a whole number, at least the %s seen, not %s.", counted_many(distinct, "symbol"), format(vocabulary)), "vocabulary")
  }
  vocabulary
}

#' @export
print.granary_good_turing <- function(x, ...) {
  cli::cat_line(sprintf("Probability of what was not seen: %s (%g%% interval %s to %s; sure for any law: %s to %s)", format(x$missing[["estimate"]], digits = 4L),
                        100 * x$level, format(x$missing[["conf.low"]], digits = 3L), format(x$missing[["conf.high"]], digits = 3L),
                        format(x$missing[["sure.low"]], digits = 3L), format(x$missing[["sure.high"]], digits = 3L)))
  print_call(x$call)
  cli::cat_line(seen_text(x$n, x$distinct, x$singletons), "; at least ", format(round(x$unseen[["chao1"]]), big.mark = ","), " unseen (Chao 1)")
  cli::cat_line(sprintf("Masses of what was seen k times (%s%s):", gsub("_", "-", x$method),
                        if (x$method == "combined") sprintf(", Good-Turing up to k = %.1f", x$crossover) else ""))
  print(format(utils::head(x$table, 6L), digits = 4L), row.names = FALSE)
  if (nrow(x$table) > 6L) cli::cat_line("... and ", nrow(x$table) - 6L, " more in `table`")
  invisible(x)
}

#' @export
summary.granary_good_turing <- function(object, ...) object

#' @export
tidy.granary_good_turing <- function(x, ...) x$table

#' @rdname good_turing
#' @param object A fit.
#' @param newdata Counts; `NULL`: those of the table.
#' @export
predict.granary_good_turing <- function(object, newdata = NULL, ...) {
  refuse_dots(...)
  at <- if (is.null(newdata)) object$table$k else unname(check_vector(newdata, "newdata", lower = 0, upper = 2^53))
  check_all_whole(at, "newdata")
  found <- core_good_turing(object$counts, list(method = object$method, full_denominator = object$denominator == "m", k = as.double(at), level = object$level))
  words <- ifelse(at == 0, object$unseen[["vocabulary"]], found$words)
  ifelse(words > 0, found$normalised / words, NA_real_)
}

#' @rdname good_turing
#' @param ... Passed on to [graphics::plot()].
#' @export
plot.granary_good_turing <- function(x, ...) {
  table <- x$table[x$table$k > 0 & !is.na(x$table$mass), ]
  shown <- c(table$empirical[table$empirical > 0], table$mass[table$mass > 0])
  if (length(shown) == 0L) abort_input("No mass above zero is among the chosen `k`: there is nothing to draw.", "x")
  top <- table$good_turing > 0 & table$k <= 4 * x$crossover
  draw(graphics::plot, range(table$k), range(shown), log = "xy", type = "n", xlab = "times seen, k", ylab = "probability of all such symbols", main = "",
       bty = "l", user = list(...))
  graphics::points(table$k, table$empirical, pch = 1, cex = 0.7, col = "grey50")
  graphics::points(table$k[top], table$good_turing[top], pch = 4, cex = 0.7, col = sign_colours[["negative"]])
  ok <- table$mass > 0
  graphics::lines(table$k[ok], table$mass[ok], col = sign_colours[["positive"]])
  graphics::abline(v = x$crossover, lty = 3)
  graphics::legend("topright", c("empirical", "Good-Turing", x$method), pch = c(1, 4, NA), lty = c(NA, NA, 1),
                   col = c("grey50", sign_colours[["negative"]], sign_colours[["positive"]]), bty = "n")
  invisible(x)
}

#' @rdname good_turing
#' @usage \method{autoplot}{granary_good_turing}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_good_turing <- function(object, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  check_installed("ggplot2", "to draw with autoplot()")
  table <- object$table[object$table$k > 0, ]
  long <- data.frame(k = rep(table$k, 2L), mass = c(table$empirical, table$good_turing), estimate = rep(c("empirical", "Good-Turing"), each = nrow(table)))
  gg_canvas(long[long$mass > 0 & !is.na(long$mass), ], ggplot2::aes(.data$k, .data$mass, colour = .data$estimate)) + ggplot2::geom_point(size = 1) +
    ggplot2::geom_vline(xintercept = object$crossover, linetype = 3) + ggplot2::scale_x_log10() + ggplot2::scale_y_log10() + gg_palette() +
    ggplot2::labs(x = "times seen, k", y = "probability of all such symbols")
}
