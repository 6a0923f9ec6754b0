# The kernel language: covariance functions as objects that add and multiply, the same for Gaussian processes and kernel machines.

#' Kernels
#'
#' Covariance functions as R objects. They combine with `+` and `*`, print as a formula with their parameters, and are understood by
#' every method of the package that takes a `kernel`.
#'
#' @details
#' With \eqn{r^2 = \sum_k (x_k - z_k)^2/\ell_k^2}{r^2 = sum_k (x_k - z_k)^2 / l_k^2} over the columns a kernel looks at:
#'
#' | kernel | \eqn{k(x, z)} |
#' | --- | --- |
#' | `k_se()` | \eqn{v\exp(-r^2/2)}{v exp(-r^2 / 2)} |
#' | `k_rbf(gamma)` | \eqn{\exp(-\gamma|x - z|^2)}{exp(-gamma |x - z|^2)}: `k_se()` with \eqn{\ell = (2\gamma)^{-1/2}}{l = (2 gamma)^(-1/2)} |
#' | `k_matern()` | \eqn{v\,2^{1-\nu}/\Gamma(\nu)\,q^\nu K_\nu(q)}{v 2^(1-nu) / Gamma(nu) q^nu K_nu(q)}, \eqn{q = \sqrt{2\nu}\,r}{q = sqrt(2 nu) r}; `nu = 0.5` is \eqn{v e^{-r}}{v exp(-r)}, also called Laplace |
#' | `k_rq()` | \eqn{v(1 + r^2/2a)^{-a}}{v (1 + r^2 / (2 a))^(-a)} |
#' | `k_powexp()` | \eqn{v\exp(-\sum_k|x_k - z_k|^a/\ell_k^a)}{v exp(-sum_k |x_k - z_k|^a / l_k^a)} |
#' | `k_periodic()` | \eqn{v\exp(-2\sum_k\sin^2\{\pi(x_k - z_k)/p\}/\ell_k^2)}{v exp(-2 sum_k sin^2(pi (x_k - z_k) / p) / l_k^2)}, \eqn{p} the period |
#' | `k_hamming()` | \eqn{v\exp(-\sum_k [x_k \neq z_k]/\ell_k)}{v exp(-sum_k [x_k != z_k] / l_k)}, for codes of categories |
#' | `k_linear()` | \eqn{\sum_k v_k x_k z_k}{sum_k v_k x_k z_k} |
#' | `k_polynomial()` | \eqn{v(g\,x'z + c)^m}{v (g x'z + c)^m} |
#' | `k_sigmoid()` | \eqn{v\tanh(g\,x'z + c)}{v tanh(g x'z + c)}, not positive definite in general |
#' | `k_mlp()` | \eqn{v\,\mathrm{asin}\{(w x'z + b)/\sqrt{(w x'x + b + 1)(w z'z + b + 1)}\}}{v asin((w x'z + b) / sqrt((w x'x + b + 1) (w z'z + b + 1)))} |
#' | `k_bias()` | \eqn{v} |
#' | `k_white()` | \eqn{v} where both points are the same observation, else 0 |
#'
#' A number times a kernel scales it. Where a method learns parameters, it learns all positive ones but those named in `fixed`; `nu`, `power`,
#' `degree` and `offset` are never learnt.
#'
#' `k_user()` wraps a function `f(x, z)` or `f(x, z, parameters)` of two matrices with one point per row, which returns the matrix of kernel
#' values. It is called from R, so it is slower; gradients in its parameters are differences, gradients in the inputs do not exist, and methods
#' that need them refuse it.
#'
#' With `objects = TRUE` the function is given two lists of objects, or two character vectors, and returns the matrix of their kernel values: any
#' similarity of texts, graphs, sets or curves. The objects are then the data: a character vector, a factor, a list with one element per observation, or
#' a data frame one of whose columns (`columns`) holds them. The kernel goes to [svm()], [gp_classify()], [independence_test()], [kernel_ridge()],
#' [kernel_pca()], [nystrom()] and [kernel_matrix()], in sums and products with kernels over the columns of numbers too.
#'
#' **Which kernel when:** `k_matern()` with the default \eqn{\nu = 5/2}{nu = 5/2} for responses of computer experiments and most data;
#' `k_se()` for very smooth functions; `k_rq()` when several scales of variation are at work; `k_mlp()` for functions that level off;
#' `k_linear()` plus others for a trend.
#'
#' @section Which method when:
#' `k_se()` for smooth functions, `k_matern()` for rougher ones (the usual choice for simulators), `k_rq()` for several scales at once, `k_periodic()`
#' for seasons, `k_linear()` and `k_polynomial()` for trends, `k_hamming()` for categories, `k_white()` for noise. Sums add effects, products make them
#' interact.
#'
#' @param lengthscale Distance over which the function varies, \eqn{\ell}{l}: one number, or one per column.
#' @param variance Size of the kernel at distance zero, \eqn{v}; `k_linear()` takes one per column too.
#' @param ard Whether each column gets its own lengthscale (variance for `k_linear()`), starting from the one given.
#' @param columns Columns of the inputs the kernel looks at; by default all. For a kernel over objects, the name or number of the column that holds them.
#' @param fixed Names of parameters that methods are not to learn: `"variance"`, `"lengthscale"`, `"shape"`, `"period"`.
#' @param gamma For `k_rbf()`, \eqn{\gamma}{gamma}.
#' @param nu Smoothness, \eqn{\nu}{nu}, positive and at most 50.
#' @param shape \eqn{a} of `k_rq()`: the smaller, the more scales are mixed.
#' @param period \eqn{p} of `k_periodic()`, in the units of the inputs; learnt unless fixed.
#' @param power \eqn{a} of `k_powexp()`, above 0 and at most 2.
#' @param degree \eqn{m}, a whole number.
#' @param slope \eqn{g}.
#' @param offset \eqn{c}.
#' @param weight,bias Variances \eqn{w} and \eqn{b} of the weights and biases of the network behind `k_mlp()`.
#' @param f A function of two matrices, and of a vector of parameters if it has any; of two lists or character vectors with `objects = TRUE`.
#' @param objects Whether `f` is a function of objects.
#' @param parameters Positive starting values of the parameters of `f`.
#' @param x,z Points, one per row: matrices or data frames of numbers, or vectors for one column; objects for a kernel over objects; `z = NULL` for `x`
#'   with itself. For the methods
#'   (`print()`, `coef()`, `plot()`, `format()`), `x` and `object` are kernels.
#' @param kernel A kernel, or text such as `"se"`, `"matern52"`, `"se + bias + white"`.
#' @param object A kernel.
#' @param e1,e2 Kernels, or a kernel and a positive number.
#' @param range For `plot()`: the largest distance drawn.
#' @param ... For `plot()`, passed on to [graphics::plot()]; otherwise not used.
#' @return An object of class `granary_kernel`; `kernel_matrix()` a matrix, `coef()` the parameters by name.
#' @references
#' Rasmussen and Williams (2006). *Gaussian Processes for Machine Learning*. MIT Press, chapter 4.
#' @seealso [kriging()], [svm()], [gp_classify()]
#' @name kernels
#' @examples
#' k <- k_se(lengthscale = c(0.5, 2)) + 0.1 * k_linear() + k_white(0.01)
#' k
#' coef(k)
#' kernel_matrix(k, matrix(1:6, 3))
#' kernel_matrix("matern52", c(0, 0.5, 1))
#' plot(k_matern(nu = 1.5, lengthscale = 2))
#'
#' # the others, at one pair of points
#' own <- k_user(function(x, z) tcrossprod(x, z)^2)
#' others <- list(k_rbf(0.5), k_rq(shape = 2), k_powexp(power = 1.5), k_periodic(period = 3), k_hamming(), k_polynomial(degree = 3),
#'                k_sigmoid(), k_mlp(), k_bias(2), own)
#' sapply(others, function(k) kernel_matrix(k, 0.4, 1))
NULL

#' @rdname kernels
#' @export
k_se <- function(lengthscale = 1, variance = 1, ard = FALSE, columns = NULL, fixed = NULL, ...) {
  refuse_dots(...)
  new_kernel("se", variance, check_scale(lengthscale, "lengthscale"), ard = ard, columns = columns, fixed = fixed)
}

#' @rdname kernels
#' @export
k_rbf <- function(gamma = 1, columns = NULL, fixed = "variance", ...) {
  refuse_dots(...)
  gamma <- check_number(gamma, lower = 0, strict_lower = TRUE)
  new_kernel("se", 1, 1 / sqrt(2 * gamma), columns = columns, fixed = fixed)
}

#' @rdname kernels
#' @export
k_matern <- function(nu = 2.5, lengthscale = 1, variance = 1, ard = FALSE, columns = NULL, fixed = NULL, ...) {
  refuse_dots(...)
  nu <- check_number(nu, lower = 0, upper = 50, strict_lower = TRUE)
  new_kernel("matern", variance, check_scale(lengthscale, "lengthscale"), shape = nu, ard = ard, columns = columns, fixed = fixed)
}

#' @rdname kernels
#' @export
k_rq <- function(shape = 1, lengthscale = 1, variance = 1, ard = FALSE, columns = NULL, fixed = NULL, ...) {
  refuse_dots(...)
  shape <- check_number(shape, lower = 0, strict_lower = TRUE)
  new_kernel("rq", variance, check_scale(lengthscale, "lengthscale"), shape = shape, ard = ard, columns = columns, fixed = fixed)
}

#' @rdname kernels
#' @export
k_powexp <- function(power = 1, lengthscale = 1, variance = 1, ard = FALSE, columns = NULL, fixed = NULL, ...) {
  refuse_dots(...)
  power <- check_number(power, lower = 0, upper = 2, strict_lower = TRUE)
  new_kernel("powexp", variance, check_scale(lengthscale, "lengthscale"), shape = power, ard = ard, columns = columns, fixed = fixed)
}

#' @rdname kernels
#' @export
k_periodic <- function(period = 1, lengthscale = 1, variance = 1, ard = FALSE, columns = NULL, fixed = NULL, ...) {
  refuse_dots(...)
  period <- check_number(period, lower = 0, strict_lower = TRUE)
  new_kernel("periodic", variance, check_scale(lengthscale, "lengthscale"), shape = period, ard = ard, columns = columns, fixed = fixed)
}

#' @rdname kernels
#' @export
k_hamming <- function(lengthscale = 1, variance = 1, ard = FALSE, columns = NULL, fixed = NULL, ...) {
  refuse_dots(...)
  new_kernel("hamming", variance, check_scale(lengthscale, "lengthscale"), ard = ard, columns = columns, fixed = fixed)
}

#' @rdname kernels
#' @export
k_linear <- function(variance = 1, ard = FALSE, columns = NULL, fixed = NULL, ...) {
  refuse_dots(...)
  kernel <- new_kernel("linear", 1, check_scale(variance, "variance"), ard = ard, columns = columns, fixed = fixed)
  kernel$learn[2L] <- kernel$learn[1L]  # its scales are its variances
  kernel
}

#' @rdname kernels
#' @export
k_polynomial <- function(degree = 2, slope = 1, offset = 1, variance = 1, columns = NULL, fixed = NULL, ...) {
  refuse_dots(...)
  degree <- check_count(degree, upper = 100)
  slope <- check_number(slope, lower = 0, strict_lower = TRUE)
  offset <- check_number(offset)
  new_kernel("polynomial", variance, slope, shape = degree, offset = offset, columns = columns, fixed = fixed)
}

#' @rdname kernels
#' @export
k_sigmoid <- function(slope = 1, offset = 0, variance = 1, columns = NULL, fixed = NULL, ...) {
  refuse_dots(...)
  slope <- check_number(slope, lower = 0, strict_lower = TRUE)
  offset <- check_number(offset)
  new_kernel("sigmoid", variance, slope, offset = offset, columns = columns, fixed = fixed)
}

#' @rdname kernels
#' @export
k_mlp <- function(weight = 10, bias = 10, variance = 1, columns = NULL, fixed = NULL, ...) {
  refuse_dots(...)
  weight <- check_number(weight, lower = 0, strict_lower = TRUE)
  bias <- check_number(bias, lower = 0, strict_lower = TRUE)
  new_kernel("mlp", variance, c(weight, bias), columns = columns, fixed = fixed)
}

#' @rdname kernels
#' @export
k_bias <- function(variance = 1, fixed = NULL, ...) {
  refuse_dots(...)
  new_kernel("bias", variance, numeric(), fixed = fixed)
}

#' @rdname kernels
#' @export
k_white <- function(variance = 1, fixed = NULL, ...) {
  refuse_dots(...)
  new_kernel("white", variance, numeric(), fixed = fixed)
}

#' @rdname kernels
#' @export
k_user <- function(f, parameters = NULL, objects = FALSE, columns = NULL, ...) {
  refuse_dots(...)
  if (missing(f)) fail_missing("f")
  if (!is.function(f)) fail_input("f", "a function of two matrices", describe(f))
  if (check_flag(objects)) {
    if (!is.null(parameters)) abort_input("`parameters` are for functions of matrices: a kernel over objects has none to learn.", "parameters")
    return(user_objects_kernel(f, columns))
  }
  if (!is.null(columns)) abort_input("`columns` is for functions of objects: a function of matrices picks its columns itself.", "columns")
  parameters <- if (is.null(parameters)) numeric() else check_vector(parameters, "parameters", lower = .Machine$double.xmin)
  kernel <- new_kernel("user", 1, numeric())
  kernel$parameters <- as.double(parameters)
  kernel$f <- f
  kernel$call <- function(x, z, parameters) {
    value <- tryCatch(if (length(parameters) > 0L) f(x, z, parameters) else f(x, z), error = function(e) {
      abort_input(paste0("The function of the user kernel failed: ", conditionMessage(e), "."), "f")
    })
    if (!is.numeric(value) && !is.logical(value)) fail_input("f", "a function that returns a matrix of numbers", describe(value))
    matrix(as.double(value), NROW(value), NCOL(value))
  }
  kernel
}

check_scale <- function(x, arg) {
  as.double(check_vector(x, arg, lower = .Machine$double.xmin))
}

new_kernel <- function(type, variance, scales, shape = 0, offset = 0, ard = FALSE, columns = NULL, fixed = NULL) {
  variance <- check_number(variance, "variance", lower = 0, strict_lower = TRUE)
  ard <- check_flag(ard, "ard")
  if (!is.null(columns)) {
    columns <- check_vector(columns, "columns", lower = 1, upper = .Machine$integer.max)
    if (any(columns != round(columns)) || anyDuplicated(columns)) {
      abort_input("`columns` must be whole numbers, each once: the columns of the inputs the kernel looks at.", "columns")
    }
  }
  if (!is.null(fixed)) {
    known <- c("variance", "lengthscale", "scales", "shape", "period")
    if (!is.character(fixed) || !all(fixed %in% known)) {
      fail_input("fixed", "names of parameters (\"variance\", \"lengthscale\", \"shape\")", describe(fixed))
    }
  }
  learn <- c(!"variance" %in% fixed, !any(c("lengthscale", "scales") %in% fixed), type %in% c("rq", "periodic") && !any(c("shape", "period") %in% fixed))
  seal(structure(
    list(type = type, variance = variance, scales = as.double(scales), shape = as.double(shape), offset = offset, ard = ard,
         columns = as.integer(columns), learn = learn),
    class = "granary_kernel"
  ))
}

combine_kernels <- function(type, a, b) {
  parts <- function(k) if (identical(k$type, type)) k$children else list(k)
  seal(structure(list(type = type, children = c(parts(a), parts(b))), class = "granary_kernel"))
}

#' @rdname kernels
#' @export
Ops.granary_kernel <- function(e1, e2) {
  if (missing(e2) || !.Generic %in% c("+", "*")) {
    abort_input(sprintf("Kernels can be added and multiplied, but `%s` is not defined for them.", .Generic))
  }
  as_operand <- function(e) {
    if (inherits(e, "granary_kernel")) return(e)
    number <- is.numeric(e) && length(e) == 1L && is.finite(e) && e > 0
    if (number && .Generic == "*") return(k_bias(as.double(e), fixed = "variance"))
    fail_input("e2", if (.Generic == "*") "a kernel or a positive number" else "a kernel", describe(e),
               if (number) "Use k_bias() for a constant.")
  }
  combine_kernels(if (.Generic == "+") "sum" else "product", as_operand(e1), as_operand(e2))
}

kernel_names <- c("se", "rbf", "matern12", "matern32", "matern52", "laplace", "rq", "powexp", "periodic", "hamming", "linear", "polynomial", "sigmoid", "mlp",
                  "bias", "white")

# A kernel from a kernel, a function, or text such as "se + white".
as_kernel <- function(x, arg = "kernel") {
  if (inherits(x, "granary_kernel")) return(check_fit(x))
  if (is.function(x)) return(k_user(x))
  expected <- "a kernel such as k_se(), or text such as \"matern52\" or \"se + bias\""
  if (!is.character(x) || length(x) != 1L || is.na(x)) fail_input(arg, expected, describe(x))
  parsed <- tryCatch(parse(text = x)[[1L]], error = function(e) NULL)
  build <- function(e) {
    if (is.name(e) && (as.character(e) %in% kernel_names || !is.null(object_reader(as.character(e))))) {
      name <- as.character(e)
      return(switch(name, matern12 = , laplace = k_matern(0.5), matern32 = k_matern(1.5), matern52 = k_matern(2.5), match.fun(paste0("k_", name))()))
    }
    if (is.numeric(e)) return(e)
    if (is.call(e) && identical(e[[1L]], as.name("(")) && length(e) == 2L) return(build(e[[2L]]))
    if (is.call(e) && as.character(e[[1L]])[1L] %in% c("+", "*") && length(e) == 3L) {
      return(do.call(as.character(e[[1L]]), list(build(e[[2L]]), build(e[[3L]]))))
    }
    abort_input(sprintf("`%s` must be %s, but \"%s\" was not understood.\nThe names are %s.", arg, expected, x, paste(kernel_names, collapse = ", ")),
                arg)
  }
  kernel <- build(parsed)
  if (!inherits(kernel, "granary_kernel")) fail_input(arg, expected, describe(x))
  check_fit(kernel)
  kernel
}

# One scale per column where `ard` asks for it, and every column there.
prepare_kernel <- function(kernel, d, arg = "kernel") {
  kernel <- as_kernel(kernel, arg)
  if (!is.null(kernel$children)) {
    kernel$children <- lapply(kernel$children, prepare_kernel, d, arg)
    return(kernel)
  }
  refuse_objects(kernel, arg)
  if (any(kernel$columns > d)) {
    abort_input(sprintf("`%s` looks at column %d, but the inputs have %d.", arg, max(kernel$columns), d), arg)
  }
  looks_at <- if (length(kernel$columns) > 0L) length(kernel$columns) else d
  if (kernel$ard && length(kernel$scales) == 1L) kernel$scales <- rep(kernel$scales, looks_at)
  if (!kernel$type %in% c("mlp", "user") && !length(kernel$scales) %in% c(0L, 1L, looks_at)) {
    abort_input(sprintf("`%s` has %d lengthscales for %s of the inputs.", arg, length(kernel$scales), counted(looks_at, "column", "columns")), arg)
  }
  kernel
}

# The parts of a kernel that are no sums or products, in order; and the kernel with each of them replaced.
kernel_leaves <- function(kernel) {
  if (is.null(kernel$children)) list(kernel) else unlist(lapply(kernel$children, kernel_leaves), recursive = FALSE)
}

map_leaves <- function(kernel, fun) {
  if (is.null(kernel$children)) return(fun(kernel))
  kernel$children <- lapply(kernel$children, map_leaves, fun)
  kernel
}

# Whether R has to be called for its values, which only one thread may do.
has_user_code <- function(kernel) any(vapply(kernel_leaves(kernel), function(leaf) leaf$type %in% c("user", "user_objects"), NA))

# The kernel with its free parameters replaced, from their logarithms in the order of coef().
set_kernel_parameters <- function(kernel, log_parameters) {
  position <- 0L
  take <- function(count) {
    position <<- position + count
    exp(log_parameters[seq_len(count) + position - count])
  }
  walk <- function(k) {
    if (!is.null(k$children)) {
      k$children <- lapply(k$children, walk)
      return(k)
    }
    if (k$type == "user") {
      k$parameters <- take(length(k$parameters))
      return(k)
    }
    if (k$learn[1L] && k$type != "linear") k$variance <- take(1L)
    if (k$learn[2L]) k$scales <- take(length(k$scales))
    if (k$learn[3L]) k$shape <- take(1L)
    k
  }
  walk(kernel)
}

# Inputs as a matrix; a vector is one column.
check_inputs <- function(x, arg = deparse1(substitute(x)), min_rows = 1L) {
  force(arg)
  if (missing(x)) fail_missing(arg)
  if (is_plain_numeric(x) && is.null(dim(x))) x <- matrix(x, ncol = 1L)
  check_matrix(x, arg, min_rows = min_rows)
}

#' @rdname kernels
#' @export
kernel_matrix <- function(kernel, x, z = NULL, ...) {
  refuse_dots(...)
  if (missing(x)) fail_missing("x")
  bound <- bind_kernel(kernel, x, values = FALSE)
  kernel <- bound$kernel
  if (!is.null(bound$layout)) {
    x <- bound$x
    if (!is.null(z)) {
      later <- bind_new_objects(kernel, z, bound$layout, "z", values = FALSE)
      z <- later$x
      kernel <- later$kernel
    }
  }
  x <- check_inputs(x)
  kernel <- prepare_kernel(kernel, ncol(x))
  z <- if (is.null(z)) matrix(0, 0L, ncol(x)) else check_inputs(z)
  if (ncol(z) != ncol(x)) abort_input(sprintf("`z` must have the %d columns of `x`, but it has %d.", ncol(x), ncol(z)), "z")
  pairs <- as.double(nrow(x)) * (if (nrow(z) > 0L) nrow(z) else nrow(x))
  check_memory(8 * pairs, sprintf("%.3g kernel values", pairs), "Take the rows in pieces, or kernel_features(), which needs no matrix of all pairs.")
  threads <- if (has_user_code(kernel)) 1L else thread_count(NULL)
  value <- core_kernel_matrix(kernel, x, z, threads, progress_bar("kernel matrix"))
  labels <- list(rownames(x), if (nrow(z) > 0L) rownames(z) else rownames(x))
  if (!all(vapply(labels, is.null, NA))) dimnames(value) <- labels
  value
}

#' @rdname kernels
#' @export
coef.granary_kernel <- function(object, ...) {
  described <- core_kernel_parameters(object, kernel_dimension(object))
  stats::setNames(exp(described$log_parameters), described$names)
}

# The smallest number of columns a kernel can be meant for.
kernel_dimension <- function(kernel) {
  if (!is.null(kernel$children)) return(max(vapply(kernel$children, kernel_dimension, 0)))
  scales <- if (kernel$type == "mlp") 1L else length(kernel$scales)
  max(1, if (length(kernel$columns) > 0L) max(kernel$columns) else scales)
}

#' @rdname kernels
#' @export
format.granary_kernel <- function(x, ...) {
  if (is.null(x$children)) {
    if (x$type == "matern") return(paste0("matern(", format(x$shape, digits = 4L), ")"))
    if (x$type == "bias" && !x$learn[1L]) return(format(x$variance, digits = 4L))
    return(x$type)
  }
  inner <- vapply(x$children, function(k) {
    text <- format(k)
    if (x$type == "product" && identical(k$type, "sum")) paste0("(", text, ")") else text
  }, "")
  paste(inner, collapse = if (x$type == "sum") " + " else " * ")
}

#' @rdname kernels
#' @export
print.granary_kernel <- function(x, ...) {
  cli::cat_line("kernel: ", format(x))
  show <- function(values) paste(format(values, digits = 4L, trim = TRUE), collapse = " ")
  for (k in kernel_leaves(x)) {
    if (k$type == "bias" && !k$learn[1L]) next
    held <- function(text, learnt) if (learnt) text else paste(text, "(fixed)")
    scales <- switch(k$type, linear = "variance", polynomial = , sigmoid = "slope", mlp = "weight, bias", "lengthscale")
    parts <- c(
      if (is_object_leaf(k)) format_object_options(k),
      if (k$type == "boolean") describe_boolean(k$boolean),
      if (!k$type %in% c("linear", "user")) held(paste("variance", show(k$variance)), k$learn[1L]),
      if (length(k$scales) > 0L) held(paste(scales, show(k$scales)), k$learn[2L]),
      if (k$type == "rq") held(paste("shape", show(k$shape)), k$learn[3L]),
      if (k$type == "powexp") paste("power", show(k$shape)),
      if (k$type == "periodic") paste("period", show(k$shape)),
      if (k$type == "polynomial") paste("degree", k$shape),
      if (k$type %in% c("polynomial", "sigmoid")) paste("offset", show(k$offset)),
      if (k$type == "user" && length(k$parameters) > 0L) paste("parameters", show(k$parameters)),
      if (length(k$columns) > 0L) paste("columns", paste(k$columns, collapse = " "))
    )
    cli::cat_line("  ", format(k), ": ", paste(parts, collapse = ", "))
  }
  invisible(x)
}

#' @rdname kernels
#' @export
plot.granary_kernel <- function(x, range = NULL, ...) {
  profile <- kernel_profile(x, range)
  draw(graphics::plot, profile$at, profile$value, type = "l", lwd = 2, xlab = "distance along the diagonal from 0", ylab = format(x),
       ylim = base::range(0, profile$value), user = list(...))
  invisible()
}

kernel_profile <- function(x, range) {
  range <- check_number(range, lower = 0, strict_lower = TRUE, allow_null = TRUE)
  d <- kernel_dimension(x)
  if (is.null(range)) {
    scales <- unlist(rapply(unclass(x), function(s) s, how = "unlist"))
    scales <- as.double(scales[grepl("scales", names(scales))])
    range <- if (length(scales) > 0L) 4 * max(scales) else 4
  }
  at <- seq(0, range, length.out = 201L)
  data.frame(at = at, value = kernel_matrix(x, matrix(at, length(at), d) / sqrt(d), matrix(0, 1L, d))[, 1L])
}
