#' How well masses and log-losses are estimated, by simulation
#'
#' Draws many samples from a known law and compares the estimates of the mass of what was seen \eqn{k} times, and of the log-loss, with the truth of each sample.
#'
#' @details
#' For every sample and every \eqn{k}: \eqn{|G_k - M_k|}, \eqn{|\hat M_k - M_k|}{|Mhat_k - M_k|} and the same for the combined estimate (see [good_turing()]), and for the
#' smoother of [unigram_model()] its log-loss \eqn{L = \sum_w p_w \log 1/q_w}{L = sum_w p_w log(1 / q_w)}, unseen words included, beside the leave-one-out estimate of it.
#' The orders that theory gives are those of `good_turing_bounds("rates")`.
#'
#' @section Which method when:
#' To see at which \eqn{k} the two estimates change places for a law like yours, and how far a leave-one-out log-loss can be trusted at a sample size.
#'
#' @inheritParams good_turing_bounds
#' @param n Number of draws of each sample.
#' @param k Orders of the masses.
#' @param n_rep Number of samples.
#' @param method,pseudo The smoother, as in [unigram_model()].
#' @param discount,tau Its parameters, as in [unigram_model()]; `discount = "loo"` searches in every sample.
#' @param threads Number of threads; `NULL` for `options(granary.threads)`.
#' @return An object of class `granary_good_turing_compare` with `table` (mean absolute errors by `k`), `log_loss` (of every sample the truth and the estimate).
#' @inherit good_turing references
#' @seealso [good_turing()], [unigram_model()], [good_turing_bounds()].
#' @export
#' @examples
#' set.seed(1)
#' law <- sim_unigram(1, vocabulary = 2000)$prob
#' compared <- good_turing_compare(law, n = 1000, n_rep = 20, k = 0:30)
#' compared
#' plot(compared)
good_turing_compare <- function(prob, n, n_rep = 50, k = 0:40, method = c("loo", "absolute", "good_turing", "ml", "add"), discount = "gt", tau = NULL, pseudo = 1,
                                threads = NULL) {
  call <- match.call()
  if (missing(prob)) fail_missing("prob")
  prob <- check_word_law(prob)
  n <- check_number(n, lower = 3, upper = 2^53)
  if (n != round(n)) fail_input("n", "a whole number", describe(n))
  n_rep <- check_count(n_rep)
  k <- unname(check_vector(k, lower = 0, upper = n))
  check_all_whole(k, "k")
  options <- check_smoother(check_choice(method, c("loo", "absolute", "good_turing", "ml", "add")), discount, tau, pseudo)
  found <- core_unigram_trials(prob, c(n, n_rep, thread_count(threads)), k, options, core_seed(), progress_bar("samples"))
  table <- data.frame(k = k, good_turing = colMeans(found$good_turing), empirical = colMeans(found$empirical), combined = colMeans(found$combined))
  loss <- data.frame(truth = found$log_loss, estimate = found$left_out)
  new_fit("good_turing_compare", coefficients = stats::setNames(table$combined, paste0("M", k)), table = table, log_loss = loss, crossover = n^0.4, n = n,
          replicates = n_rep, method = options$method, call = call, convergence = list())
}

#' @export
print.granary_good_turing_compare <- function(x, ...) {
  cli::cat_line(sprintf("Errors in %d samples of %s draws", x$replicates, format(x$n, big.mark = ",")))
  print_call(x$call)
  cli::cat_line("Mean absolute errors of the mass of what was seen k times:")
  print(format(utils::head(x$table, 8L), digits = 3L), row.names = FALSE)
  if (nrow(x$table) > 8L) cli::cat_line("... and ", nrow(x$table) - 8L, " more in `table`")
  gap <- abs(x$log_loss$truth - x$log_loss$estimate)
  cli::cat_line(sprintf("Log-loss of \"%s\": mean %s, leave-one-out estimate off by %s on average", x$method, format(mean(x$log_loss$truth), digits = 4L),
                        format(mean(gap), digits = 3L)))
  invisible(x)
}

#' @export
summary.granary_good_turing_compare <- function(object, ...) object

#' @export
tidy.granary_good_turing_compare <- function(x, ...) x$table

compare_lines <- function(x) {
  table <- x$table
  k <- table$k
  place <- ifelse(k == 0, 0.5, k)
  long <- data.frame(k = rep(place, 3L), error = c(table$good_turing, table$empirical, table$combined),
                     estimate = rep(c("Good-Turing", "empirical", "combined"), each = nrow(table)))
  long[!is.na(long$error) & long$error > 0, ]
}

#' @rdname good_turing_compare
#' @param x,object The comparison.
#' @param ... Passed on to [graphics::plot()].
#' @export
plot.granary_good_turing_compare <- function(x, ...) {
  long <- compare_lines(x)
  if (nrow(long) == 0L) abort_input("All errors are zero or undefined: there is nothing to draw.", "x")
  colors <- c(`Good-Turing` = sign_colours[["negative"]], empirical = "grey50", combined = sign_colours[["positive"]])
  draw(graphics::plot, range(long$k), range(long$error), log = "xy", type = "n", xlab = "times seen, k (0 drawn at 0.5)", ylab = "mean absolute error of the mass",
       main = "", bty = "l", user = list(...))
  for (name in names(colors)) {
    one <- long[long$estimate == name, ]
    graphics::lines(one$k, one$error, col = colors[[name]], lwd = if (name == "combined") 3 else 1.5, lty = if (name == "combined") 1 else 2)
  }
  graphics::abline(v = x$crossover, lty = 3)
  graphics::legend("topright", names(colors), col = colors, lwd = 2, bty = "n")
  invisible(x)
}

#' @rdname good_turing_compare
#' @usage \method{autoplot}{granary_good_turing_compare}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_good_turing_compare <- function(object, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  check_installed("ggplot2", "to draw with autoplot()")
  gg_canvas(compare_lines(object), ggplot2::aes(.data$k, .data$error, colour = .data$estimate)) + ggplot2::geom_line() +
    ggplot2::geom_vline(xintercept = object$crossover, linetype = 3) + ggplot2::scale_x_log10() + ggplot2::scale_y_log10() + gg_palette() +
    ggplot2::labs(x = "times seen, k (0 drawn at 0.5)", y = "mean absolute error of the mass")
}
