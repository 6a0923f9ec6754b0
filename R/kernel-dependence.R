# Kernel measures of dependence: what hsic(), coco(), kcc(), kgv(), kmi() and independence_test() share. Each variable becomes a list of `x` (a
# matrix),
# `kernel` and, where the kernel is the convolution of a Parzen window with itself, `window`.

dependence_measures <- c("hsic", "coco", "kcc", "kgv", "kmi")
measure_titles <- c(hsic = "Hilbert-Schmidt independence criterion", coco = "Constrained covariance", kcc = "Kernel canonical correlation",
                    kgv = "Kernel generalised variance", kmi = "Kernel mutual information")

# Two variables x and y, or several as the elements of a list or the columns of a table.
split_variables <- function(x, y, labels = c("x", "y")) {
  if (missing(x)) fail_missing("x")
  if (!is.null(y)) return(stats::setNames(list(x, y), labels))
  expected <- "a list of variables, or a table with one in each column, where there is no `y`"
  if (is.matrix(x) && !isS4(x) && is.null(attr(x, "class"))) {
    names <- variable_names(colnames(x), ncol(x))
    x <- lapply(seq_len(ncol(x)), function(j) x[, j])
    names(x) <- names
  }
  if (!is.list(x) || (is.object(x) && !is.data.frame(x))) fail_input("x", expected, describe(x))
  x <- as.list(x)
  if (length(x) < 2L) abort_input("Dependence needs two variables or more: give `y`, or several elements or columns in `x`.", "x")
  names <- names(x)
  if (is.null(names)) names <- rep("", length(x))
  names[is.na(names) | !nzchar(names)] <- paste0("V", seq_along(x))[is.na(names) | !nzchar(names)]
  stats::setNames(x, make.unique(names))
}

# Numbers as a matrix; categories as codes; places of objects for a kernel over them.
read_variable <- function(v, arg, gram = FALSE, kernel = NULL) {
  bound <- bind_kernel(kernel, v, arg)
  if (!is.null(bound$layout)) return(list(x = unname(bound$x), levels = NULL, gram = FALSE, kernel = bound$kernel, layout = bound$layout))
  if (gram) {
    k <- check_symmetric(v, arg)
    return(list(x = unname(k), levels = NULL, gram = TRUE))
  }
  if (is.data.frame(v) && length(v) == 1L) v <- v[[1L]]
  if (is_discrete(v) && is.null(dim(v))) {
    if (length(v) == 0L) fail_input(arg, "a variable with observations", describe(v))
    if (anyNA(v)) {
      at <- which(is.na(v))
      abort_input(paste0("`", arg, "` must have no missing values, but ", counted(length(at), "value is", "values are"),
                         " NA, the first at element ", at[1L], ".\nRemove the rows with na.omit() or impute before calling."), arg)
    }
    v <- droplevels(factor(v))
    return(list(x = matrix(as.double(v)), levels = levels(v), gram = FALSE))
  }
  x <- check_inputs(v, arg)
  list(x = matrix(x, nrow(x), ncol(x)), levels = NULL, gram = FALSE)
}

kernel_per_variable <- function(kernel, names) {
  single <- inherits(kernel, "granary_kernel") || is.function(kernel) || (is.character(kernel) && length(kernel) == 1L)
  if (single) return(rep(list(kernel), length(names)))
  if (!(is.list(kernel) || is.character(kernel)) || is.object(kernel) || length(kernel) != length(names)) {
    fail_input("kernel", sprintf("one kernel, or a list of %d, one for each variable", length(names)), describe(kernel))
  }
  as.list(kernel)
}

width_per_variable <- function(width, names) {
  if (identical(width, "median")) return(rep(NA_real_, length(names)))
  if (is.character(width)) fail_input("width", "\"median\", or a positive number", describe(width))
  width <- check_vector(width, "width", lower = 0, strict_lower = TRUE, upper = 1e150)
  if (!length(width) %in% c(1L, length(names))) {
    fail_input("width", sprintf("one number, or %d, one for each variable", length(names)), describe(width))
  }
  rep_len(unname(width), length(names))
}

# The scale at which half of the pairs are close: the median distance over sqrt(2), from at most `most` rows spread over the data.
median_width <- function(x, arg, most = 1000L) {
  rows <- if (nrow(x) > most) round(seq(1, nrow(x), length.out = most)) else seq_len(nrow(x))
  width <- core_median_distance(x[rows, , drop = FALSE]) / sqrt(2)
  if (!is.finite(width) || width <= 0) {
    abort_input(sprintf(paste0("The median distance of `%s` is zero: more than half of its pairs are ties.\n",
                               "Give a `width`, or treat it as categories with factor() or kernel = \"delta\"."), arg), "width")
  }
  width
}

# Gaussian and Laplace kernels by width, as objects of the kernel language. With `density` they integrate to one. `convolved`: the convolution of
# that
# density with itself.
gaussian_kernel <- function(width, d, density = TRUE, convolved = FALSE) {
  if (convolved) width <- sqrt(2) * width
  parzen_kernel("se", width, -d / 2 * log(2 * pi * width^2), density)
}
laplace_kernel <- function(width, d, density = TRUE, convolved = FALSE) {
  log_size <- lgamma(d / 2) - log(2) - d / 2 * log(pi) - lgamma(d) - d * log(width)
  if (!convolved) return(parzen_kernel("matern", width, log_size, density, 0.5))
  # its Fourier transform is a power of 1 + (width w)^2, and so is the square of that
  nu <- 1 + d / 2
  parzen_kernel("matern", sqrt(2 * nu) * width, log_size - d * log(2), density, nu)
}
parzen_kernel <- function(type, scale, log_size, density, shape = 0) {
  size <- if (density) exp(log_size) else 1
  if (!is.finite(size) || size <= 0) {
    abort_input("The kernel is a density that overflows in so many dimensions: use density = FALSE, or another `width`.", "width")
  }
  kernel <- new_kernel(type, size, scale, shape = shape, fixed = c("variance", "lengthscale", "shape"))
  kernel
}

delta_kernel <- function() k_hamming(lengthscale = 1e-3, fixed = c("variance", "lengthscale"))  # exp(-1000) is zero

make_variable <- function(read, kernel, width, arg, density, parzen) {
  x <- read$x
  if (read$gram) return(c(list(x = x, kernel = NULL, window = NULL, width = NA_real_, label = "precomputed", name = arg), read["levels"]))
  constant <- all(x == rep(x[1L, ], each = nrow(x)))
  named <- is.character(kernel) && length(kernel) == 1L && kernel %in% c("gaussian", "laplace", "delta", "precomputed")
  if (!is.null(read$levels) && is.character(kernel)) kernel <- "delta"
  window <- NULL
  label <- if (is.character(kernel)) kernel[1L] else NULL
  if (identical(kernel, "delta")) {
    kernel <- delta_kernel()
    width <- NA_real_
  } else if (named) {
    if (is.na(width)) width <- if (constant) 1 else median_width(x, arg)
    make <- if (kernel == "gaussian") gaussian_kernel else laplace_kernel
    kernel <- make(width, ncol(x), density || parzen, convolved = parzen)
    if (parzen) window <- make(width, ncol(x))
  } else {
    kernel <- prepare_kernel(if (is.null(read$layout)) kernel else read$kernel, ncol(x))
    label <- format(kernel)
    width <- NA_real_
  }
  list(x = x, kernel = kernel, window = window, width = width, label = label, name = arg, levels = read$levels, constant = constant, layout = read$layout)
}

dependence_variables <- function(x, y, kernel, width, density, parzen, labels = c("x", "y"), min_rows = 4L) {
  raw <- split_variables(x, y, labels)
  kernels <- kernel_per_variable(kernel, names(raw))
  widths <- width_per_variable(width, names(raw))
  gram <- vapply(kernels, identical, NA, "precomputed")
  read <- Map(read_variable, raw, names(raw), gram, kernels)
  rows <- vapply(read, function(v) nrow(v$x), 0L)
  if (any(rows != rows[1L])) {
    at <- which(rows != rows[1L])[1L]
    abort_input(sprintf("The variables must have the same number of observations, but `%s` has %d and `%s` has %d.", names(raw)[1L], rows[1L],
                        names(raw)[at], rows[at]), names(raw)[at])
  }
  if (rows[1L] < min_rows) {
    abort_input(sprintf("At least %d observations are needed, but there are %d.", min_rows, rows[1L]), names(raw)[1L])
  }
  unname(Map(make_variable, read, kernels, widths, names(raw), density, parzen))
}

nu_rules <- c("parzen", "gram", "safe")

# A rule, or a number.
check_nu <- function(nu) {
  if (is.null(nu)) return(NULL)
  if (is.character(nu)) return(check_choice(nu, nu_rules, "nu"))
  check_number(nu, "nu", lower = 0, strict_lower = TRUE)
}

# What the core needs to know, and whether kernels are to be convolutions of Parzen windows.
dependence_settings <- function(measure, kernel, kappa = 2e-2, theta = NULL, form = "squared", nu = NULL, density = NULL, rank_tol = 1e-5,
                                max_rank = NULL) {
  nu <- check_nu(nu)
  rank_tol <- check_number(rank_tol, lower = 0, upper = 1, strict_upper = TRUE)
  max_rank <- check_count(max_rank, allow_null = TRUE)
  density <- check_flag(density, allow_null = TRUE)
  theta <- check_number(theta, lower = 0, upper = 1, strict_upper = TRUE, allow_null = TRUE)
  kappa <- check_number(kappa, lower = 0, strict_lower = TRUE)
  needs_nu <- measure == "kmi" || (measure == "kgv" && !is.null(theta))
  ours <- is.character(kernel) && all(kernel %in% c("gaussian", "laplace"))
  if (needs_nu && identical(nu, "parzen") && !ours) {
    abort_input(paste0("nu = \"parzen\" needs kernel = \"gaussian\" or \"laplace\", whose Parzen windows are known.\n",
                       "Use nu = \"gram\", \"safe\" or a number."), "nu")
  }
  if (needs_nu && is.null(nu)) nu <- "safe"  # the paper's choice leaves the logarithm without argument on most dependent data
  variances <- if (measure == "kgv" && !is.null(theta)) "mixed" else if (measure %in% c("kcc", "kgv")) form else "none"
  list(
    measure = measure, variances = variances, kappa = kappa, theta = if (is.null(theta)) 0 else theta, nu = if (is.numeric(nu)) nu else 1,
    nu_rule = if (needs_nu && is.character(nu)) nu, rank_tol = rank_tol, max_rank = if (is.null(max_rank)) 0L else max_rank,
    needs_nu = needs_nu, parzen = needs_nu && identical(nu, "parzen"),
    # the kernels with which each measure was defined
    density = if (is.null(density)) measure %in% c("coco", "kmi") || needs_nu else density, form = variances
  )
}

# A window that a factor has no use for: categories have the delta kernel, and nu comes from its row sums.
without_windows <- function(settings, variables) {
  if (settings$parzen && any(vapply(variables, function(v) is.null(v$window), NA))) settings$nu_rule <- "gram"
  settings
}

# What of it crosses.
dependence_options <- function(settings, threads) {
  c(settings[c("measure", "variances", "kappa", "theta", "nu", "nu_rule", "rank_tol", "max_rank")], list(threads = threads))
}
core_variables <- function(variables) lapply(variables, function(v) v[c("x", "kernel", "window")])

dependence_threads <- function(variables, threads) {
  own <- vapply(variables, function(v) !is.null(v$kernel) && has_user_code(v$kernel), NA)
  if (any(own)) 1L else thread_count(threads)  # R is called, which only one thread may do
}

warn_constant <- function(variables) {
  constant <- vapply(variables, function(v) isTRUE(v$constant), NA)
  if (any(constant)) {
    name <- variables[[which(constant)[1L]]]$name
    warn_input(sprintf("`%s` is constant: it is independent of everything.", name), name)
  }
}

measure_dependence <- function(measure, x, y, kernel, width, settings, threads, call, labels) {
  variables <- dependence_variables(x, y, kernel, width, settings$density, settings$parzen, labels)
  settings <- without_windows(settings, variables)
  warn_constant(variables)
  dependence_time(variables, settings)
  raw <- core_dependence(core_variables(variables), dependence_options(settings, dependence_threads(variables, threads)),
                         progress_bar(measure_titles[[measure]]))
  names <- vapply(variables, `[[`, "", "name")
  witness <- Map(function(v, w) {
    at <- if (is.null(v$kernel)) NULL else v$x[w$pivots, , drop = FALSE]
    list(x = if (is.null(v$kernel)) NULL else v$x, levels = v$levels, f = w$values, at = at, pivots = w$pivots, coefficients = w$coefficients,
         constant = w$constant, kernel = if (!is.null(v$kernel)) forget_values(v$kernel), layout = v$layout)
  }, variables, raw$witness)
  fit <- new_fit(
    c(measure, "dependence"), value = raw$value, measure = measure, spectrum = raw$spectrum, nu = if (settings$needs_nu) raw$nu,
    valid = if (settings$needs_nu) all(raw$norms < raw$nu), kappa = if (settings$form %in% c("squared", "ridge")) settings$kappa,
    theta = if (settings$form == "mixed") settings$theta, norms = stats::setNames(raw$norms, names), witness = stats::setNames(witness, names),
    rank = stats::setNames(vapply(raw$witness, function(w) length(w$pivots), 0L), names),
    residual = stats::setNames(vapply(raw$witness, `[[`, 0, "residual"), names),
    kernel = stats::setNames(vapply(variables, `[[`, "", "label"), names), width = stats::setNames(vapply(variables, `[[`, 0, "width"), names),
    n = nrow(variables[[1L]]$x), call = call, convergence = list()
  )
  if (!is.finite(fit$value)) warn_undefined(measure)
  fit
}

# A factor of rank r of n rows takes n r^2 operations, and a width that is small beside the range of the data makes r as large as n.
dependence_time <- function(variables, settings) {
  operations <- vapply(variables, function(v) {
    n <- nrow(v$x)
    if (is.null(v$kernel) || !is.finite(v$width) || v$width <= 0 || n < 5000L) return(0)
    spans <- apply(v$x, 2L, function(column) diff(range(column))) / v$width
    n * min(n, settings$max_rank, prod(1 + spans))^2
  }, 0)
  slow_work(sum(operations), "The factors of these kernel matrices", "a larger `width`, a `max_rank` or fewer rows")
}

warn_undefined <- function(measure) {
  warn_input(sprintf(paste0("The %s is not defined for these data: a logarithm would have a negative argument, so the value is Inf.\n",
                            "The variables are too dependent for this `nu`: use nu = \"safe\", a larger number, or a smaller `width`."),
                     tolower(measure_titles[[measure]])), "nu")
}

# How the arguments were written, as names of the variables.
argument_labels <- function(x, y) {
  short <- function(e, default) {
    text <- if (is.language(e)) deparse1(e)
    if (!is.null(text) && nchar(text) <= 30L) text else default
  }
  labels <- c(short(x, "x"), short(y, "y"))
  if (labels[1L] == labels[2L]) c("x", "y") else labels
}
