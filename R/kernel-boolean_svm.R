#' Rules of largest margin
#'
#' The linear rule over all conjunctions of 0/1 attributes that separates two classes by the largest margin, exactly,
#' with a certificate; and how much of it is learning by heart.
#'
#' @details
#' Over the features \eqn{\phi}{phi} of [k_boolean()]: maximise \eqn{\min_i b_i(W'\phi(x_i) - \theta)/|W|}{min_i b_i
#' (W'phi(x_i) - theta) / |W|} over \eqn{W} and
#' \eqn{\theta}{theta}, \eqn{b_i = -1} or 1 for the first and the second class. Solved in the dual, by steps in two
#' variables, until the margin of the answer and half the distance between two points of the hulls of the classes,
#' which no margin exceeds, agree to `tol`. It is made for the exact answer: soft margins, weights and more classes
#' are the business of [svm()] with `kernel = k_boolean()`.
#'
#' Where no rule separates the classes, the fit says so and is not converged; equal rows with different labels are an
#' error that names them.
#'
#' The **memorisation index** is the median of \eqn{\log k(x, x)}{log k(x, x)} over that of the largest \eqn{\log
#' k(x, z)}{log k(x, z)} to another row. Far above 1, rows share next to nothing with each other, the rule is near to
#' a table of the rows, and new rows fall where \eqn{\theta}{theta} puts them: a large margin does not help (Khardon
#' and Servedio 2005). `predict(type = "forced")` says for which rows this is certain: no rule of unit length that is
#' made of the rows of the fit reaches \eqn{\theta}{theta} there.
#'
#' @section Which method when:
#' For small clean data that rules explain. With errors in the labels [svm()] with [k_boolean()] and a finite cost; with
#' `k` unknown [boolean_select()]; for the rules themselves [boolean_rules()].
#'
#' @param x Attributes: a matrix of 0 and 1 or logicals, sparse or not, or a data frame, whose factors become
#'   attributes by [boolean_attributes()].
#' @param y Two classes: a factor, text, logical or two numbers.
#' @param formula,data,subset,na.action As in [stats::lm()]. Factors on the right-hand side become indicators by
#'   their contrasts.
#' @param k,type,exact,empty,damping The kernel, see [k_boolean()].
#' @param tol Relative difference of the two bounds on the margin at which the solver stops.
#' @param max_iter Largest number of steps.
#' @param object A fit.
#' @param newdata Rows, as `x`; `NULL` for those of the fit.
#' @param top Number of rules.
#' @param ... For `plot()`, passed on to [graphics::barplot()]; otherwise not used.
#' @return An object of class `granary_boolean_svm`: `coefficients` of the rows, `theta`, `margin` (lower and upper
#'   bound), `norm` \eqn{|W|}, `radius` \eqn{\max|\phi(x_i)|}{max |phi(x_i)|}, `certificate`, a lower bound on the
#'   margin from adding up the rows of the second class, `memorisation`, `decision`. `predict()` gives classes,
#'   decision values (`"link"`, at -1 and 1 on the margin) or `"forced"`; `coef()` and `tidy()` the rules of largest
#'   weight.
#' @references
#' Khardon and Servedio (2005). Maximum margin algorithms with Boolean kernels. *Journal of Machine Learning
#' Research* 6, 1405--1429.
#' @seealso [k_boolean()], [boolean_rules()], [boolean_select()], [boolean_bounds()], [svm()]
#' @export
#' @examples
#' set.seed(1)
#' x <- matrix(rbinom(40 * 8, 1, 0.5), 40, dimnames = list(NULL, letters[1:8]))
#' y <- ifelse(x[, "a"] & x[, "b"] | x[, "c"] & x[, "d"], "yes", "no")
#' fit <- boolean_svm(x, y, k = 2)
#' fit
#' coef(fit, top = 4)
#' predict(fit, x[1:3, ], type = "link")
#' plot(fit)
boolean_svm <- function(x, ...) {
  UseMethod("boolean_svm", formula_or_first(x, ...))
}

#' @rdname boolean_svm
#' @export
boolean_svm.formula <- function(formula, data = NULL, subset, na.action, ...) {
  formula_fit(boolean_svm.default, "boolean_svm", ...)
}

#' @rdname boolean_svm
#' @export
boolean_svm.default <- function(x, y = NULL, k = 2, type = c("monotone", "signed", "parity"), exact = FALSE,
                                empty = FALSE, damping = 1, tol = 1e-6,
                                max_iter = 1e6, ...) {
  call <- match.call()
  refuse_dots(...)
  if (missing(x)) fail_missing("x")
  spec <- boolean_spec(k, type, exact, empty, damping)
  settings <- list(tol = check_number(tol, lower = 0, strict_lower = TRUE, upper = 0.5),
                   max_iter = check_number(max_iter, lower = 1, upper = 1e9))
  data <- boolean_data(x, y)
  fit <- boolean_fit(data, spec, settings, generic_call(call, "boolean_svm"))
  boolean_notes(fit)
  fit
}

boolean_data <- function(x, y) {
  x <- boolean_attributes(x)
  levels <- attr(x, "levels")
  attr(x, "levels") <- NULL
  x <- check_design(x)
  labels <- svm_labels(y, nrow(x), seq_len(nrow(x)))
  if (length(labels$levels) != 2L) {
    abort_input(sprintf("`y` must have two classes, but it has %d.\nFor more use svm() with k_boolean().",
                        length(labels$levels)), "y")
  }
  list(x = x, y = labels$class, levels = labels$levels, columns = levels)
}

boolean_fit <- function(data, spec, settings, call) {
  raw <- core_boolean_margin(data$x, 2 * data$y - 3, c(list(kernel = spec), settings), progress_bar("largest margin"))
  new_fit("boolean_svm", coefficients = stats::setNames(raw$coefficients, rownames(data$x)), theta = raw$theta,
          margin = c(lower = raw$lower, upper = raw$upper),
          norm = raw$norm, radius = raw$radius, certificate = raw$certificate, memorisation = raw$memorisation,
          overlap = c(self = raw$self_overlap, cross = raw$cross_overlap),
              decision = stats::setNames(raw$decision, rownames(data$x)), kernel = spec,
          levels = data$levels, y = data$y, x = data$x, attributes = data$columns, n = nrow(data$x),
              settings = settings, call = call,
          convergence = raw$convergence)
}

boolean_notes <- function(fit) {
  if (identical(fit$convergence$reason, "unbounded")) {
    warn_convergence(paste0("No rule over these conjunctions separates the classes: the hulls meet.\n",
                            "Raise `k`, allow negations (type = \"signed\"), or use svm() with k_boolean()."),
                     convergence = fit$convergence)
  } else {
    check_convergence(fit, "Raise `max_iter`, or loosen `tol`.")
  }
  outnumbered <- exp(fit$overlap[["self"]] - fit$overlap[["cross"]])
  if (fit$n >= 10L && is.finite(outnumbered) && outnumbered > sqrt(fit$n)) {
    text <- paste0("A row has %.0f times more conjunctions than it shares with the row most like it: at this `k` ",
                   "the rule is near to a table of the rows (memorisation index %.1f).")
    warn_input(sprintf(text, outnumbered, fit$memorisation))
  }
}

#' @rdname boolean_svm
#' @export
print.granary_boolean_svm <- function(x, ...) {
  check_fit(x)
  cli::cat_line("granary: rules of largest margin, ", describe_boolean(x$kernel))
  print_call(x$call)
  cli::cat_line(sprintf("%d rows, %d attributes, classes \"%s\" and \"%s\"", x$n, ncol(x$x), x$levels[1L],
                        x$levels[2L]))
  cli::cat_line(sprintf("margin %s (at most %s), radius %s, %d support rows", format(x$margin[[1L]], digits = 4L),
                        format(x$margin[[2L]], digits = 4L),
                        format(x$radius, digits = 4L), sum(x$coefficients != 0)))
  cli::cat_line("memorisation index ", format(x$memorisation, digits = 3L))
  cli::cat_line("Solver: ", format_convergence(x$convergence))
  invisible(x)
}

#' @rdname boolean_svm
#' @export
predict.granary_boolean_svm <- function(object, newdata = NULL, type = c("class", "link", "forced"), ...) {
  refuse_dots(...)
  check_fit(object)
  type <- check_choice(type, c("class", "link", "forced"))
  x <- if (is.null(newdata)) object$x else boolean_new_rows(object, newdata)
  raw <- core_boolean_scores(object$x, object$coefficients, object$kernel, x, progress_bar("prediction"))
  if (type == "forced") return(stats::setNames(raw$reach < abs(object$theta) / object$norm, rownames(x)))
  decision <- stats::setNames(raw$score - object$theta, rownames(x))
  if (type == "link") decision else factor(object$levels[1L + (decision > 0)], object$levels)
}

boolean_new_rows <- function(object, newdata) {
  if (!is.null(object$attributes) && is.data.frame(newdata)) {
    x <- boolean_attributes(newdata, object$attributes)
    attr(x, "levels") <- NULL
    return(match_columns(x, colnames(object$x)))
  }
  if (is.matrix(newdata) && is.logical(newdata)) storage.mode(newdata) <- "double"
  check_bits(new_design(newdata, colnames(object$x), object$design), "newdata")
}

#' @rdname boolean_svm
#' @export
coef.granary_boolean_svm <- function(object, top = 20, ...) {
  refuse_dots(...)
  rules <- boolean_rules(object, top)
  stats::setNames(rules$estimate, rules$term)
}

#' @rdname boolean_svm
#' @export
tidy.granary_boolean_svm <- function(x, top = 20, ...) boolean_rules(x, top)

#' @rdname boolean_svm
#' @export
glance.granary_boolean_svm <- function(x, ...) {
  check_fit(x)
  cbind(data.frame(nobs = x$n, margin = x$margin[[1L]], upper = x$margin[[2L]], radius = x$radius,
                   memorisation = x$memorisation,
                   n_support = sum(x$coefficients != 0)), NextMethod())
}

#' @rdname boolean_svm
#' @export
plot.granary_boolean_svm <- function(x, top = 12, ...) {
  rules <- boolean_rules(x, top)
  rules <- rules[rev(seq_len(nrow(rules))), ]
  width <- max(graphics::strwidth(rules$term, "inches", cex = 0.8), 0.5)
  old <- graphics::par(mai = c(0.9, min(width + 0.3, 3), 0.6, 0.3))
  on.exit(graphics::par(old))
  draw(graphics::barplot, rules$estimate, names.arg = rules$term, horiz = TRUE, las = 1, cex.names = 0.8, border = NA,
       col = ifelse(rules$estimate > 0, "#B2182B", "#2166AC"), xlab = "weight of the rule",
           main = paste("Rules for", x$levels[2L], "(red) and", x$levels[1L]), user = list(...))
  invisible(x)
}

#' @rdname boolean_svm
#' @usage \method{autoplot}{granary_boolean_svm}(object, top = 12, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_boolean_svm <- function(object, top = 12, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  rules <- boolean_rules(object, top)
  rules$class <- ifelse(rules$estimate > 0, object$levels[2L], object$levels[1L])
  rules$term <- factor(rules$term, rev(rules$term))
  ggplot2::ggplot(rules, ggplot2::aes(x = .data$estimate, y = .data$term, fill = .data$class)) + ggplot2::geom_col() +
    ggplot2::labs(x = "weight of the rule", y = NULL, fill = "for")
}

#' Rules read out of a kernel machine
#'
#' The conjunctions that weigh most in a machine with a kernel of conjunctions, found among all there are without
#' listing them.
#'
#' @details
#' A machine \eqn{f(z) = \sum_i \beta_i k(x_i, z)}{f(z) = sum_i beta_i k(x_i, z)} with [k_boolean()] is a sum of
#' rules, \eqn{\sum_T w_T z_T}{sum_T w_T z_T}, with
#' \eqn{w_T = g^{|T|}\sum_i \beta_i x_{iT}}{w_T = g^|T| sum_i beta_i x_iT} and \eqn{z_T = 1} where \eqn{z} satisfies
#' \eqn{T}. A search by depth leaves out what cannot weigh as much as the rules found so far, for a longer
#' conjunction is satisfied by fewer rows; it misses nothing.
#'
#' @section Which method when:
#' After [boolean_svm()], or [svm()] for two classes with [k_boolean()] alone and neither `normalize` nor `"parity"`.
#' Many rules of equal weight are a sign that `k` is too large.
#'
#' @param object A fit of [boolean_svm()], or of [svm()] with `k_boolean()`.
#' @param top Number of rules.
#' @param max_length Longest rule; `NULL` for those of the kernel.
#' @param ... Not used.
#' @return A data frame with a row per rule: `term`, its literals joined by `" & "` with `!` before those negated,
#'   `estimate`, its weight, `length`, `support`, the number of rows of the fit that satisfy it, and two columns with
#'   the share of each class that does.
#' @references
#' Khardon and Servedio (2005). Maximum margin algorithms with Boolean kernels. *Journal of Machine Learning
#' Research* 6, 1405--1429.
#' @seealso [boolean_svm()], [k_boolean()]
#' @export
#' @examples
#' set.seed(1)
#' x <- matrix(rbinom(60 * 10, 1, 0.5), 60, dimnames = list(NULL, letters[1:10]))
#' y <- ifelse(x[, "a"] & !x[, "b"], "yes", "no")
#' boolean_rules(boolean_svm(x, y, k = 2, type = "signed"), top = 5)
boolean_rules <- function(object, top = 20, max_length = NULL, ...) {
  refuse_dots(...)
  if (missing(object)) fail_missing("object")
  top <- check_count(top, upper = 1e5)
  max_length <- check_count(max_length, allow_null = TRUE)
  machine <- boolean_machine(object)
  options <- list(kernel = machine$kernel, top = top, max_length = max_length)
  raw <- core_boolean_rules(machine$support, machine$coefficients, machine$x, machine$label, options,
                            progress_bar("rules"))
  names <- variable_names(colnames(machine$x), ncol(machine$x))
  term <- vapply(raw$literal, function(l) if (length(l) == 0L) "(always)" else paste0(ifelse(l < 0, "!", ""),
      names[abs(l)], collapse = " & "), "")
  out <- data.frame(term = term, estimate = raw$weight, length = lengths(raw$literal), support = raw$support)
  out[[paste0("share.", machine$levels[1L])]] <- raw$negative
  out[[paste0("share.", machine$levels[2L])]] <- raw$positive
  out
}

# list(support, coefficients, kernel, x, label, levels) of a machine for two classes.
boolean_machine <- function(object) {
  if (inherits(object, "granary_boolean_svm")) {
    check_fit(object)
    return(list(support = object$x, coefficients = object$coefficients, kernel = object$kernel, x = object$x,
                label = 2 * object$y - 3, levels = object$levels))
  }
  usable <- inherits(object, "granary_svm") && identical(object$kernel$type, "boolean") &&
      length(object$levels) == 2L && ncol(object$coefficients) == 1L
  if (!usable) fail_input("object", "a fit of boolean_svm(), or of svm() for two classes with k_boolean()",
                          describe(object))
  check_fit(object)
  if (!is.null(object$scaling)) {
    abort_input("The fit is to standardised columns, which are no rules: fit with standardize = FALSE.", "object")
  }
  chosen <- if (length(object$kernel$columns) > 0L) object$kernel$columns else seq_along(object$columns)
  label <- 2 * match(as.character(object$y), object$levels) - 3
  list(support = object$sv[, chosen, drop = FALSE], coefficients = object$coefficients[, 1L] * object$kernel$variance,
       kernel = object$kernel$boolean,
       x = object$x[, chosen, drop = FALSE], label = label, levels = object$levels)
}
