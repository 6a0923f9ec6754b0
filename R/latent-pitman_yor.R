#' Pitman-Yor and Dirichlet process laws of counts
#'
#' Fits a Pitman-Yor law to counts by maximum likelihood, or takes a given one, and says what follows: the entropy before and after the counts, and how many new
#' symbols further draws will bring.
#'
#' @details
#' A Pitman-Yor law with discount \eqn{0 \le d < 1}{0 <= d < 1} and strength \eqn{a > -d} has frequencies that fall as the power \eqn{-1/d}; with \eqn{d = 0} it is a
#' Dirichlet process, whose frequencies fall exponentially. The likelihood of counts \eqn{n_i} of \eqn{K} symbols in \eqn{N} draws is
#' \deqn{p(n | d, a) = \frac{\prod_{l=1}^{K-1} (a + l d)}{\prod_{j=1}^{N-1} (a + j)} \prod_i \frac{\Gamma(n_i - d)}{\Gamma(1 - d)}.}{p(n | d, a) =
#' prod_{l<K} (a + l d) / prod_{j<N} (a + j) prod_i Gamma(n_i - d) / Gamma(1 - d).}
#' Before any draw the entropy has the mean \eqn{\psi(a + 1) - \psi(1 - d)}{psi(a + 1) - psi(1 - d)}. After \eqn{N} draws with \eqn{K} symbols, \eqn{m} more bring
#' \eqn{(K + a / d) [(a + N + d)_m / (a + N)_m - 1]} new ones on average, with rising factorials \eqn{(x)_m}: that is what `predict()` gives.
#'
#' The maximum may lie on the edge (\eqn{d = 0}); standard errors do not hold there and are `NA`. Where every symbol was seen once, or only one symbol, there is no
#' maximum, and an error says so.
#'
#' @section Which method when:
#' To extrapolate the number of species or words, and to see whether a tail falls exponentially or as a power. For the entropy itself [entropy_estimate()] is better: it
#' averages over laws rather than taking the best. [good_turing()] needs no law at all.
#'
#' @inheritParams entropy_estimate
#' @param x Counts, a table, or symbols, as in [entropy_estimate()]; `NULL` for a given law without counts.
#' @param discount,strength The law; `NULL`: both by maximum likelihood.
#' @param type `"pitman_yor"`, or `"dirichlet"` for a fit with discount 0.
#' @return An object of class `granary_pitman_yor` with `coefficients`, `vcov`, `loglik`, `entropy` (mean and sd before and after the counts), `n`, `distinct` and
#'   `expected` (mean number of symbols in as many draws). `predict(object, newdata)` gives the expected number of new symbols in that many further draws, `simulate()`
#'   counts of as many draws as there were.
#' @inherit entropy_estimate references
#' @seealso [entropy_estimate()], [sim_pitman_yor()], [good_turing()].
#' @export
#' @examples
#' set.seed(1)
#' counts <- sim_pitman_yor(2000, discount = 0.4, strength = 20)
#' fit <- pitman_yor(counts)
#' fit
#' confint(fit)
#' predict(fit, newdata = c(1000, 10000))
#' pitman_yor(discount = 0.3, strength = 5)
pitman_yor <- function(x = NULL, discount = NULL, strength = NULL, type = c("pitman_yor", "dirichlet"), unit = c("nats", "bits")) {
  call <- match.call()
  type <- check_choice(type, c("pitman_yor", "dirichlet"))
  unit <- check_choice(unit, c("nats", "bits"))
  counts <- if (is.null(x)) numeric() else unname(check_symbols(x)$counts)
  given <- check_py_law(discount, strength, type, is.null(x))
  fitted <- if (is.null(given)) core_pitman_yor_fit(counts, type == "dirichlet", progress_bar("Pitman-Yor law"))
  law <- if (is.null(given)) c(discount = fitted$discount, strength = fitted$strength) else given
  found <- core_pitman_yor_law(counts, law[["discount"]], law[["strength"]])
  scale <- unit_scale(unit)
  covariance <- matrix(NA_real_, 2L, 2L, dimnames = list(names(law), names(law)))
  if (!is.null(fitted)) {
    covariance[] <- c(fitted$se_discount^2, fitted$covariance, fitted$covariance, fitted$se_strength^2)
    covariance[is.nan(covariance)] <- NA
  }
  fit <- new_fit("pitman_yor", coefficients = law, vcov = covariance, loglik = if (!is.null(x)) found$loglik,
                 df = if (is.null(fitted)) 0L else if (type == "dirichlet") 1L else 2L,
                 entropy = rbind(before = c(mean = found$prior_mean, sd = found$prior_sd), after = c(mean = found$mean, sd = found$sd)) * scale, unit = unit,
                 n = found$total, distinct = found$distinct, expected = found$expected_distinct, edge = isTRUE(fitted$edge), type = type, counts = counts[counts > 0],
                 call = call, convergence = if (is.null(fitted)) list() else fitted$convergence)
  check_convergence(fit, "Give `discount` and `strength`.")
}

check_py_law <- function(discount, strength, type, needed) {
  if (is.null(discount) && is.null(strength)) {
    if (needed) abort_input("Give counts as `x`, or `discount` and `strength`, the law.", "x")
    return(NULL)
  }
  if (is.null(discount) && type == "dirichlet") discount <- 0
  if (is.null(discount) || is.null(strength)) {
    abort_input("Give both `discount` and `strength`, or neither.", if (is.null(discount)) "discount" else "strength")
  }
  discount <- check_number(discount, lower = 0, upper = 1, strict_upper = TRUE)
  strength <- check_number(strength, lower = -discount, upper = 1e15, strict_lower = TRUE)
  if (type == "dirichlet" && discount > 0) abort_input("`discount` must be 0 for type = \"dirichlet\".", "discount")
  c(discount = discount, strength = strength)
}

#' @export
print.granary_pitman_yor <- function(x, ...) {
  se <- sqrt(diag(x$vcov))
  shown <- function(name) paste0(name, " ", format(x$coefficients[[name]], digits = 4L), if (!is.na(se[[name]])) paste0(" (s.e. ", format(se[[name]], digits = 2L), ")"))
  cli::cat_line(if (x$coefficients[["discount"]] == 0) "Dirichlet process: " else "Pitman-Yor law: ", shown("discount"), ", ", shown("strength"))
  print_call(x$call)
  cli::cat_line(sprintf("Entropy of such laws: %s %s, s.d. %s", format(x$entropy["before", "mean"], digits = 4L), x$unit,
                        format(x$entropy["before", "sd"], digits = 3L)))
  if (x$n > 0) {
    cli::cat_line(sprintf("Given the counts: %s, s.d. %s", format(x$entropy["after", "mean"], digits = 4L), format(x$entropy["after", "sd"], digits = 3L)))
    cli::cat_line(counted_many(x$distinct, "symbol"), " in ", counted_many(x$n, "draw"), sprintf("; the law expects %s. Log-likelihood %s",
                                                                                                 format(x$expected, digits = 4L), format(x$loglik, digits = 8L)))
    if (x$distinct / x$n > 0.9) cli::cat_line("More than 90% of the draws are new symbols: the sample says little about the law.")
  }
  if (length(x$convergence) > 0L) cli::cat_line("Solver: ", format_convergence(x$convergence))
  invisible(x)
}

#' @export
vcov.granary_pitman_yor <- function(object, ...) object$vcov

#' @export
confint.granary_pitman_yor <- function(object, parm, level = 0.95, ...) {
  refuse_dots(...)
  level <- check_number(level, lower = 0, upper = 1, strict_lower = TRUE, strict_upper = TRUE)
  at <- c((1 - level) / 2, (1 + level) / 2)
  out <- object$coefficients + outer(sqrt(diag(object$vcov)), stats::qnorm(at))
  out["discount", ] <- pmin(pmax(out["discount", ], 0), 1)
  dimnames(out) <- list(names(object$coefficients), sprintf("%g %%", 100 * at))
  out
}

#' @export
tidy.granary_pitman_yor <- function(x, ...) {
  refuse_dots(...)
  data.frame(term = names(x$coefficients), estimate = unname(x$coefficients), std.error = unname(sqrt(diag(x$vcov))))
}

#' @rdname pitman_yor
#' @param object A fit.
#' @param newdata Numbers of further draws; `NULL`: as many as there were.
#' @export
predict.granary_pitman_yor <- function(object, newdata = NULL, ...) {
  refuse_dots(...)
  if (is.null(newdata)) newdata <- max(object$n, 1)
  more <- check_vector(newdata, "newdata", lower = 0, upper = 2^53)
  check_all_whole(more, "newdata")
  core_pitman_yor_new(unname(more), c(object$coefficients[["discount"]], object$coefficients[["strength"]], object$n, object$distinct))
}

#' @rdname pitman_yor
#' @param nsim Number of samples.
#' @param seed `NULL`, or a seed that is used for these draws only.
#' @export
simulate.granary_pitman_yor <- function(object, nsim = 1, seed = NULL, ...) {
  refuse_dots(...)
  nsim <- check_count(nsim)
  if (!is.null(seed)) return(with_seed(seed, simulate(object, nsim = nsim)))
  n <- max(object$n, 1)
  if (n > .Machine$integer.max) abort_input("Samples of more than 2^31 draws cannot be simulated one draw at a time.", "object")
  lapply(seq_len(nsim), function(i) sim_pitman_yor(n, object$coefficients[["discount"]], object$coefficients[["strength"]]))
}

# Number of symbols against draws: what was expected on the way, and what is to come.
growth_curve <- function(x) {
  n <- max(x$n, 100)
  before <- unique(round(exp(seq(0, log(n), length.out = 60L))))
  after <- unique(round(exp(seq(0, log(9 * n), length.out = 60L))))
  law <- unname(x$coefficients)
  past <- data.frame(draws = before, symbols = core_pitman_yor_new(before, c(law, 0, 0)), part = "law")
  if (x$n == 0) return(past)
  rbind(past, data.frame(draws = x$n + after, symbols = x$distinct + stats::predict(x, after), part = "to come"))
}

#' @rdname pitman_yor
#' @param ... Passed on to [graphics::plot()].
#' @export
plot.granary_pitman_yor <- function(x, ...) {
  curve <- growth_curve(x)
  draw(graphics::plot, curve$draws, curve$symbols, log = "xy", type = "n", xlab = "draws", ylab = "symbols", main = "", bty = "l", user = list(...))
  past <- curve[curve$part == "law", ]
  graphics::lines(past$draws, past$symbols, lwd = 2, col = "grey60")
  if (x$n > 0) {
    next_part <- curve[curve$part == "to come", ]
    graphics::lines(next_part$draws, next_part$symbols, lwd = 2, lty = 2, col = sign_colours[["positive"]])
    graphics::points(x$n, x$distinct, pch = 19)
    graphics::legend("topleft", c("expected under the law", "to come", "seen"), lty = c(1, 2, NA), pch = c(NA, NA, 19), lwd = 2,
                     col = c("grey60", sign_colours[["positive"]], "black"), bty = "n")
  }
  invisible(x)
}

#' @rdname pitman_yor
#' @usage \method{autoplot}{granary_pitman_yor}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_pitman_yor <- function(object, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  check_installed("ggplot2", "to draw with autoplot()")
  gg_canvas(growth_curve(object), ggplot2::aes(.data$draws, .data$symbols, colour = .data$part)) + ggplot2::geom_line() + ggplot2::scale_x_log10() +
    ggplot2::scale_y_log10() + gg_palette() + ggplot2::labs(colour = NULL)
}
