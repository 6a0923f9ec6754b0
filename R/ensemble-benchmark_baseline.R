#' Simple classifiers, and probabilistic neural networks
#'
#' What a classifier should be compared with: the largest class, nearest neighbours, naive Bayes with normal or kernel
#' densities, the direct kernel perceptron, a committee of small nets. `pnn()` is the probabilistic neural network:
#' kernel densities of the classes.
#'
#' @details
#' \describe{
#' \item{`pnn()`}{the score of a class is the mean over its rows of
#'   \eqn{\exp(-|x - x_i|^2/2\sigma^2)}{exp(-|x - x_i|^2 / (2 sigma^2))}, with `sigma` chosen by leaving one out.}
#' \item{`"majority"`}{the shares of the classes, whatever the columns.}
#' \item{`"knn"`}{the majority of the `k` nearest rows, chosen by leaving one out.}
#' \item{`"naive_bayes"`, `"kernel_naive_bayes"`}{columns independent within each class, with normal densities, or
#'   Gaussian kernel densities with the bandwidth of [stats::bw.nrd0()] times `adjust`.}
#' \item{`"direct_perceptron"`}{the nearest class mean in the space of the kernel
#'   \eqn{\exp(-\gamma|x-z|^2)}{exp(-gamma |x - z|^2)}: with two classes, a perceptron whose weights are
#'   \eqn{\pm 1/n_c}{+-1/n_c} with the bias midway. `gamma` by leaving one out. An
#'   approximation to the classifier of that name in the paper, which gives no details; its shares are not
#'   probabilities.}
#' \item{`"nets"`}{the mean of `n_nets` nets with `hidden` tanh units and weight decay, from different starts.}
#' }
#' Of settings with equal errors the middle one is taken.
#'
#' @section Which method when:
#' A method that does not beat `"knn"` and `"naive_bayes"` is not worth its time; one that does not beat `"majority"`
#' has learnt nothing. [benchmark_classifiers()] runs them beside others.
#'
#' @param x Rows: a numeric matrix or data frame; or, for `pnn()`, a formula.
#' @param y Classes.
#' @param method Which classifier.
#' @param k,gamma Values to choose from; `NULL` for 1, 4, ..., 37, and powers of 2.
#' @param adjust Factor of the bandwidth.
#' @param hidden,decay,n_nets Units of a net, its weight decay, and number of nets.
#' @param max_iter Iterations of a net's optimiser.
#' @param sigma Values to choose from; `NULL` for 19 values between 0.01 and 10.
#' @param standardize Whether columns are brought to mean 0 and standard deviation 1.
#' @param formula,data A formula such as `y ~ .` and the data frame of its variables.
#' @param subset,na.action As in [stats::lm()].
#' @param threads Threads; default `getOption("granary.threads")`.
#' @param object A fit.
#' @param newdata Rows in the columns of the fit; `NULL` for its own.
#' @param type `"class"`, or `"prob"`.
#' @param ... For the formula: arguments of the default method.
#' @return An object of class `granary_benchmark_baseline` (and `granary_pnn`), inheriting from `granary_fit`: `chosen`,
#'   `table` with the leave-one-out errors, `prior`, `levels`.
#' @references Specht, D. F. (1990). Probabilistic neural networks. *Neural Networks* 3, 109-118.
#' @seealso [benchmark_classifiers()], [kernel_elm()]
#' @export
#' @examples
#' set.seed(1)
#' fit <- benchmark_baseline(iris[1:4], iris$Species, method = "knn")
#' fit
#' predict(fit, iris[c(1, 51, 101), ], type = "prob")
#' density <- pnn(Species ~ ., iris)
#' plot(density)
benchmark_baseline <- function(x, y, method = c("majority", "knn", "naive_bayes", "kernel_naive_bayes",
                                                "direct_perceptron", "nets"), k = NULL,
                               gamma = NULL, adjust = 1, hidden = 3, decay = 0.1, n_nets = 5, max_iter = 200,
                               standardize = TRUE,
                               threads = NULL) {
  call <- match.call()
  method <- check_choice(method, baseline_classifiers)
  if (missing(y)) fail_missing("y")
  data <- elm_data(x, y, standardize)
  values <- switch(method,
    knn = {
      k <- if (is.null(k)) seq(1, 37, 3) else check_vector(k, "k", lower = 1)
      if (any(k != round(k))) abort_input("`k` must be whole numbers.", "k")
      k
    },
    direct_perceptron = if (is.null(gamma)) 2^(-10:4) else check_vector(gamma, "gamma", lower = 0, strict_lower = TRUE),
    kernel_naive_bayes = check_number(adjust, lower = 0, strict_lower = TRUE), nets = check_number(decay, lower = 0),
    numeric()
  )
  baseline_fit("benchmark_baseline", data, method, unname(values), hidden = check_count(hidden, upper = 1000),
               n_nets = check_count(n_nets, upper = 1000), max_iter = check_count(max_iter), threads = threads,
               call = call)
}

baseline_classifiers <- c("majority", "knn", "naive_bayes", "kernel_naive_bayes", "direct_perceptron", "nets")

#' @rdname benchmark_baseline
#' @export
pnn <- function(x, ...) {
  UseMethod("pnn", formula_or_first(x, ...))
}

#' @rdname benchmark_baseline
#' @export
pnn.formula <- function(formula, data = NULL, subset, na.action, ...) {
  formula_fit(pnn.default, "pnn", ...)
}

#' @rdname benchmark_baseline
#' @export
pnn.default <- function(x, y = NULL, sigma = NULL, standardize = TRUE, threads = NULL, ...) {
  call <- match.call()
  refuse_dots(...)
  data <- elm_data(x, y, standardize)
  sigma <- if (is.null(sigma)) {
    10^seq(-2, 1, length.out = 19L)
  } else {
    check_vector(sigma, "sigma", lower = 0, strict_lower = TRUE)
  }
  baseline_fit(c("pnn", "benchmark_baseline"), data, "pnn", unname(sigma), threads = threads,
               call = generic_call(call, "pnn"))
}

baseline_fit <- function(class, data, method, values, hidden = 3L, n_nets = 5L, max_iter = 200L, threads = NULL, call) {
  options <- list(method = method, classes = length(data$levels), values = values, hidden = hidden, n_nets = n_nets,
                  max_iter = max_iter, threads = thread_count(threads))
  found <- core_plain_classifier(data$z, data$y, options, core_seed(), progress_bar(method))
  table <- if (length(found$loo_error) > 0L) data.frame(value = found$values, error = found$loo_error)
  new_fit(class, method = method, chosen = if (length(values) > 0L) found$chosen, table = table,
          prior = stats::setNames(found$prior, data$levels), y = factor(data$levels[data$y], data$levels),
          levels = data$levels, columns = data$names,
          scale = data$scale, x = if (nrow(found$x) == 0L) data$z, n = length(data$y), state = found, call = call,
          convergence = NULL)
}

#' @rdname benchmark_baseline
#' @export
predict.granary_benchmark_baseline <- function(object, newdata = NULL, type = c("class", "prob"), threads = NULL, ...) {
  refuse_dots(...)
  type <- check_choice(type, c("class", "prob"))
  z <- if (!is.null(newdata)) elm_newdata(object, newdata) else if (is.null(object$x)) object$state$x else object$x
  prob <- core_plain_probabilities(z, object$state, thread_count(threads), progress_bar(object$method))
  colnames(prob) <- object$levels
  if (type == "prob") prob else tree_answer(prob, object$levels, "class")
}

plain_words <- c(majority = "Largest class", knn = "Nearest neighbours", naive_bayes = "Naive Bayes, normal densities",
                 nets = "Committee of small nets", kernel_naive_bayes = "Naive Bayes, kernel densities",
                 direct_perceptron = "Direct kernel perceptron", pnn = "Probabilistic neural network")
plain_values <- c(knn = "k", direct_perceptron = "gamma", pnn = "sigma", kernel_naive_bayes = "adjust", nets = "decay")

#' @export
print.granary_benchmark_baseline <- function(x, ...) {
  cli::cat_line(plain_words[[x$method]], ": ", x$n, " rows, ", length(x$columns), " columns, ", length(x$levels),
                " classes")
  print_call(x$call)
  if (!is.null(x$chosen)) cli::cat_line(plain_values[[x$method]], " = ", format(x$chosen, digits = 3L),
                                        if (!is.null(x$table)) paste0(", leave-one-out error ",
                                                                      format(100 * min(x$table$error), digits = 3L),
                                                                      "%"))
  invisible(x)
}

#' @export
tidy.granary_benchmark_baseline <- function(x, ...) {
  if (is.null(x$table)) return(data.frame(term = x$levels, estimate = unname(x$prior)))
  stats::setNames(x$table, c(plain_values[[x$method]], "error"))
}

#' @export
glance.granary_benchmark_baseline <- function(x, ...) {
  data.frame(method = x$method, n = x$n, columns = length(x$columns), classes = length(x$levels),
             error = if (is.null(x$table)) NA_real_ else min(x$table$error))
}

#' @export
fitted.granary_benchmark_baseline <- function(object, ...) predict.granary_benchmark_baseline(object, ...)

#' @rdname benchmark_baseline
#' @export
plot.granary_benchmark_baseline <- function(x, ...) {
  if (is.null(x$table)) {
    draw(graphics::barplot, x$prior, ylab = "share of the rows", col = "#0072B2", border = NA, user = list(...))
    return(invisible(x))
  }
  draw(graphics::plot, x$table$value, x$table$error, type = "b", log = if (x$method == "knn") "" else "x", pch = 16,
       col = "#0072B2", bty = "l",
       xlab = plain_values[[x$method]], ylab = "leave-one-out error", user = list(...))
  graphics::abline(v = x$chosen, lty = 3)
  invisible(x)
}

#' @rdname benchmark_baseline
#' @usage \method{autoplot}{granary_benchmark_baseline}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_benchmark_baseline <- function(object, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  check_installed("ggplot2", "autoplot()")
  if (is.null(object$table)) {
    table <- data.frame(class = factor(object$levels, object$levels), share = unname(object$prior))
    return(gg_canvas(table, ggplot2::aes(.data$class, .data$share)) + ggplot2::geom_col(fill = "#0072B2") +
           ggplot2::labs(x = NULL))
  }
  picture <- gg_canvas(object$table, ggplot2::aes(.data$value, .data$error)) + ggplot2::geom_line(colour = "#0072B2") +
    ggplot2::geom_point(colour = "#0072B2") + ggplot2::geom_vline(xintercept = object$chosen, linetype = 3) +
    ggplot2::labs(x = plain_values[[object$method]], y = "leave-one-out error")
  if (object$method == "knn") picture else picture + ggplot2::scale_x_continuous(trans = "log10")
}
