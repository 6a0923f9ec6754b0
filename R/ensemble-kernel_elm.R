#' Kernel extreme learning machines
#'
#' A classifier that is ridge regression of the classes, coded -1 and 1, on a Gaussian kernel: quick, with both
#' parameters chosen by exact leave-one-out, and among the best of 179 classifiers on 121 data sets.
#'
#' @details
#' \deqn{\beta = (I/C + K)^{-1} T, \quad K_{ij} = \exp(-\gamma |x_i - x_j|^2)}{
#' beta = (I/C + K)^-1 T, K_ij = exp(-gamma |x_i - x_j|^2)}
#' with one column of \eqn{T} per class; a row gets the class with the largest \eqn{k(x)'\beta}{k(x)'beta}. One
#' eigendecomposition for each `gamma` gives all `cost` and the leave-one-out values of all rows; the smallest
#' leave-one-out error rate wins, then the smallest squared error. Time grows with \eqn{n^3} for each `gamma`. Above
#' 5000 rows the kernel is taken at `landmarks` random rows (Nystrom).
#'
#' `elm()` has a layer of random units in place of the kernel, \eqn{a(w'x + b)}, and least squares behind it: faster
#' still, less accurate, and different after each [set.seed()].
#'
#' @section Which method when:
#' `kernel_elm()` for up to some thousand rows of numbers where boundaries are smooth and only classes are wanted.
#' [svm()] gives probabilities and takes other kernels, [gp_classify()] honest probabilities, [forest()] takes factors
#' and missing values. `elm()` where time counts more than accuracy.
#'
#' @param x Rows: a numeric matrix or data frame; or a formula.
#' @param y Classes.
#' @param formula,data A formula such as `y ~ .` and the data frame of its variables.
#' @param subset,na.action As in [stats::lm()].
#' @param cost Values of \eqn{C} to choose from, or one.
#' @param gamma Values of the rate of the kernel to choose from, or one.
#' @param standardize Whether columns are brought to mean 0 and standard deviation 1.
#' @param landmarks Rows at which the kernel is taken where there are more than 5000.
#' @param threads Threads; default `getOption("granary.threads")`.
#' @param object A fit.
#' @param newdata Rows in the columns of the fit; without it the rows of the fit, each left out.
#' @param type `"class"`, or `"link"` for the values of all classes.
#' @param ... For the formula: arguments of the default method.
#' @return An object of class `granary_kernel_elm` or `granary_elm`, inheriting from `granary_fit`: `cost`, `gamma` or
#'   `hidden`; `loo`, leave-one-out values; `error`, the leave-one-out error rate; `table`, that error for all settings;
#'   `levels`.
#' @references Huang, G.-B., Zhou, H., Ding, X. and Zhang, R. (2012). Extreme learning machine for regression and
#'   multiclass classification. *IEEE Transactions on Systems, Man, and Cybernetics B* 42, 513-529.
#' @seealso [pnn()], [benchmark_classifiers()]
#' @export
#' @examples
#' set.seed(1)
#' fit <- kernel_elm(Species ~ ., iris, cost = 10^(-1:3), gamma = 2^(-6:0))
#' fit
#' predict(fit, iris[c(1, 51, 101), ])
#' plot(fit)
#' fast <- elm(Species ~ ., iris, hidden = 50)
#' mean(predict(fast) == iris$Species)
kernel_elm <- function(x, ...) {
  UseMethod("kernel_elm", formula_or_first(x, ...))
}

#' @rdname kernel_elm
#' @export
kernel_elm.formula <- function(formula, data = NULL, subset, na.action, ...) {
  formula_fit(kernel_elm.default, "kernel_elm", ...)
}

#' @rdname kernel_elm
#' @export
kernel_elm.default <- function(x, y = NULL, cost = 2^(-5:14), gamma = 2^seq(-16, 8, 2), standardize = TRUE,
                               landmarks = 2000,
                               threads = NULL, ...) {
  call <- match.call()
  refuse_dots(...)
  data <- elm_data(x, y, standardize)
  options <- list(
    classes = length(data$levels), cost = check_vector(cost, "cost", lower = 0, strict_lower = TRUE),
    gamma = check_vector(gamma, "gamma", lower = 0, strict_lower = TRUE), landmarks = check_count(landmarks, lower = 2),
    threads = thread_count(threads)
  )
  found <- core_kernel_elm(data$z, data$y, options, core_seed(), progress_bar("kernel machine"))
  table <- data.frame(cost = rep(options$cost, length(options$gamma)),
                      gamma = rep(options$gamma, each = length(options$cost)), error = as.vector(found$table$error),
                      square = as.vector(found$table$square))
  elm_fit("kernel_elm", data, found$loo, table, generic_call(call, "kernel_elm"), cost = found$cost,
          gamma = found$gamma, machine = found[c("centers", "beta", "gamma")])
}

#' @rdname kernel_elm
#' @export
elm <- function(x, ...) {
  UseMethod("elm", formula_or_first(x, ...))
}

#' @rdname kernel_elm
#' @export
elm.formula <- function(formula, data = NULL, subset, na.action, ...) {
  formula_fit(elm.default, "elm", ...)
}

#' @rdname kernel_elm
#' @param activation What a random unit does to its input.
#' @param hidden Numbers of random units to choose from; `NULL` for 20 values from 3 to 200, or to half of the rows.
#' @export
elm.default <- function(x, y = NULL, hidden = NULL, activation = c("sine", "sign", "sigmoid", "hardlimit", "triangular",
                                                                   "radial"),
                        standardize = TRUE, ...) {
  call <- match.call()
  refuse_dots(...)
  data <- elm_data(x, y, standardize)
  n <- length(data$y)
  if (is.null(hidden)) hidden <- unique(pmin(round(exp(seq(log(3), log(200), length.out = 20L))), max(1, n %/% 2)))
  hidden <- check_vector(hidden, "hidden", lower = 1, upper = 1e5)
  if (any(hidden != round(hidden))) abort_input("`hidden` must be whole numbers.", "hidden")
  activation <- check_choice(activation, c("sine", "sign", "sigmoid", "hardlimit", "triangular", "radial"))
  options <- list(classes = length(data$levels), activation = activation, hidden = unname(hidden))
  found <- core_elm(data$z, data$y, options, core_seed(), progress_bar("learning machine"))
  table <- data.frame(hidden = hidden, error = as.vector(found$table$error), square = as.vector(found$table$square))
  elm_fit("elm", data, found$loo, table, generic_call(call, "elm"), hidden = found$hidden, activation = activation,
          machine = found)
}

# Rows, classes, and how columns were brought to one scale.
elm_data <- function(x, y, standardize) {
  if (missing(x)) fail_missing("x")
  if (is.null(y)) fail_missing("y")
  x <- check_design(x, "x", allow_sparse = FALSE)
  classes <- tree_classes(y, nrow(x))
  standardize <- check_flag(standardize, "standardize")
  scale <- column_scale(x, standardize)
  list(z = unname_design(scaled_columns(x, scale)), y = as.integer(classes$y) + 1L, levels = classes$levels,
       names = colnames(x), scale = scale)
}

column_scale <- function(x, standardize) {
  if (!standardize) return(list(center = rep(0, ncol(x)), scale = rep(1, ncol(x))))
  center <- colMeans(x)
  spread <- sqrt(colMeans((x - rep(center, each = nrow(x)))^2) * nrow(x) / max(1, nrow(x) - 1))
  constant <- spread <= 1e-12 * pmax(abs(center), 1e-300)
  list(center = unname(center), scale = unname(ifelse(constant, 1, spread)))
}

scaled_columns <- function(x, scale) (x - rep(scale$center, each = nrow(x))) / rep(scale$scale, each = nrow(x))

elm_fit <- function(class, data, loo, table, call, ...) {
  colnames(loo) <- data$levels
  y <- factor(data$levels[data$y], data$levels)
  loo[is.nan(loo)] <- NA
  error <- min(table$error)
  new_fit(c(class, "elm_family"), ..., error = error, loo = loo, table = table, y = y, levels = data$levels,
          columns = data$names, scale = data$scale, n = length(y), call = call, convergence = NULL)
}

elm_newdata <- function(object, newdata) {
  x <- new_design(newdata, object$columns, object$design, allow_sparse = FALSE)
  unname_design(scaled_columns(x, object$scale))
}

#' @rdname kernel_elm
#' @export
predict.granary_elm_family <- function(object, newdata = NULL, type = c("class", "link"), ...) {
  refuse_dots(...)
  type <- check_choice(type, c("class", "link"))
  values <- if (is.null(newdata)) object$loo else elm_values(object, elm_newdata(object, newdata))
  colnames(values) <- object$levels
  if (type == "link") values else tree_answer(values, object$levels, "class")
}

elm_values <- function(object, z) {
  machine <- object$machine
  if (inherits(object, "granary_elm")) return(core_elm_values(z, machine))
  core_kernel_elm_values(z, machine$centers, machine$beta, machine$gamma)
}

#' @export
print.granary_elm_family <- function(x, ...) {
  kernel <- inherits(x, "granary_kernel_elm")
  cli::cat_line(if (kernel) "Kernel extreme learning machine" else "Extreme learning machine", ": ", x$n, " rows, ",
                length(x$columns), " columns, ", length(x$levels), " classes")
  print_call(x$call)
  chosen <- if (kernel) sprintf("cost = %s, gamma = %s", format(x$cost, digits = 3L), format(x$gamma, digits = 3L)) else
    sprintf("%d %s units", x$hidden, x$activation)
  cli::cat_line(chosen, ", of ", nrow(x$table), " settings; leave-one-out error ", format(100 * x$error, digits = 3L),
                "%")
  invisible(x)
}

#' @export
tidy.granary_elm_family <- function(x, ...) x$table

#' @export
glance.granary_elm_family <- function(x, ...) {
  data.frame(n = x$n, columns = length(x$columns), classes = length(x$levels), error = x$error)
}

#' @export
fitted.granary_elm_family <- function(object, ...) predict.granary_elm_family(object, ...)

#' @rdname kernel_elm
#' @export
plot.granary_elm_family <- function(x, ...) {
  if (inherits(x, "granary_kernel_elm") && length(unique(x$table$gamma)) > 1L && length(unique(x$table$cost)) > 1L) {
    gamma <- sort(unique(x$table$gamma))
    cost <- sort(unique(x$table$cost))
    ordered <- x$table[order(x$table$cost, x$table$gamma), ]
    error <- matrix(ordered$error, length(gamma))
    draw(graphics::image, log2(gamma), log2(cost), error, col = grDevices::hcl.colors(64L, "Blues", rev = TRUE),
         xlab = "log2 gamma", ylab = "log2 cost", main = "Leave-one-out error", user = list(...))
    graphics::points(log2(x$gamma), log2(x$cost), pch = 4L, lwd = 2)
    return(invisible(x))
  }
  at <- elm_axis(x)
  draw(graphics::plot, at$value, x$table$error, type = "b", log = if (all(at$value > 0)) "x" else "", pch = 16,
       col = "#0072B2", xlab = at$name,
       ylab = "leave-one-out error", bty = "l", user = list(...))
  invisible(x)
}

elm_axis <- function(x) {
  name <- if (inherits(x, "granary_elm")) "hidden" else if (length(unique(x$table$cost)) > 1L) "cost" else "gamma"
  list(name = name, value = x$table[[name]])
}

#' @rdname kernel_elm
#' @usage \method{autoplot}{granary_elm_family}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_elm_family <- function(object, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  check_installed("ggplot2", "autoplot()")
  if (inherits(object, "granary_elm")) {
    return(gg_canvas(object$table, ggplot2::aes(.data$hidden, .data$error)) + ggplot2::geom_line(colour = "#0072B2") +
             ggplot2::geom_point(colour = "#0072B2") + ggplot2::labs(x = "hidden units", y = "leave-one-out error"))
  }
  gg_canvas(object$table, ggplot2::aes(log2(.data$gamma), log2(.data$cost), fill = .data$error)) +
    ggplot2::geom_tile() +
    ggplot2::scale_fill_gradientn(colours = grDevices::hcl.colors(64L, "Blues", rev = TRUE)) +
    ggplot2::labs(x = "log2 gamma", y = "log2 cost", fill = "leave-one-out\nerror")
}
