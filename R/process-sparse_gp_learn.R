# Starting values, bounds and the learning of sparse Gaussian processes.

# The kernel without white noise, which becomes the noise of the model, and what is known of it.
sparse_kernel <- function(kernel, d, ard, noise_var) {
  named <- is.character(kernel)
  kernel <- as_kernel(kernel)
  if (named && ard) kernel <- map_leaves(kernel, function(k) {
    if (k$type %in% c("se", "matern", "rq", "powexp", "hamming")) k$ard <- TRUE
    k
  })
  white_leaf <- function(k) identical(k$type, "white")
  noise <- noise_var
  if (identical(kernel$type, "sum")) {
    whites <- vapply(kernel$children, white_leaf, NA)
    if (any(whites) && !all(whites)) {
      if (is.null(noise) && !named) noise <- sum(vapply(kernel$children[whites], function(k) k$variance, 0))
      rest <- kernel$children[!whites]
      kernel <- if (length(rest) == 1L) rest[[1L]] else seal(structure(list(type = "sum", children = rest), class = "granary_kernel"))
    }
  }
  leaves <- kernel_leaves(kernel)
  if (any(vapply(leaves, white_leaf, NA))) {
    abort_input("`kernel` must describe a function: k_white() can only be added to other kernels, where it stands for the noise.", "kernel")
  }
  kernel <- prepare_kernel(kernel, d)
  known <- core_kernel_parameters(kernel, d)
  list(kernel = kernel, named = named, noise = noise, names = known$names, given = known$log_parameters, differentiable = known$differentiable,
       user = any(vapply(leaves, function(k) identical(k$type, "user"), NA)))
}

# For every free parameter, in the order of coef(): a starting value and bounds from the spread of the data, as logarithms. `stretch` scales
# the lengthscales.
kernel_anchors <- function(kernel, x, scale, stretch = 1) {
  spread <- column_sds(x)
  size <- max(scale, .Machine$double.xmin) / max(1, sum(vapply(kernel_leaves(kernel), function(k) k$type != "bias" || k$learn[1L], NA)))
  one <- function(value, below, above) cbind(start = log(value), lower = log(value) - log(below), upper = log(value) + log(above))
  leaf <- function(k) {
    columns <- if (length(k$columns) > 0L) k$columns else seq_along(spread)
    own <- spread[columns]
    per_column <- function(value) if (length(k$scales) == 1L && length(value) > 1L) sqrt(mean(value^2)) else value
    scales <- switch(
      k$type, linear = one(per_column(size / (length(columns) * own^2)), 1e8, 1e8),
      se = , matern = , rq = , powexp = one(per_column(own) * sqrt(length(columns)) * stretch, 3e3, 3e3),
      hamming = one(rep(length(columns) * stretch, length(k$scales)), 1e3, 1e3), periodic = one(rep(stretch, length(k$scales)), 1e2, 1e2),
      polynomial = , sigmoid = one(1 / (length(columns) * mean(own^2)), 1e4, 1e4), mlp = one(c(10 / mean(own^2), 10), 1e5, 1e5), NULL
    )
    rbind(
      if (k$type == "user") one(k$parameters, 1e4, 1e4),
      if (k$learn[1L] && !k$type %in% c("linear", "user")) one(size, 1e6, 1e6),
      if (k$learn[2L] && length(k$scales) > 0L) scales,
      if (k$learn[3L]) if (k$type == "periodic") one(k$shape, 10, 10) else one(k$shape, 1e2, 1e3)
    )
  }
  do.call(rbind, c(list(cbind(start = numeric(), lower = numeric(), upper = numeric())), lapply(kernel_leaves(kernel), leaf)))
}

# Starts (one per column) and bounds of log parameters and log noise.
sparse_starts <- function(kernel, data, learn) {
  scale <- if (data$scale > 0) data$scale else max(1, max(data$y^2)) * 1e-16
  noise <- if (!is.null(kernel$noise)) kernel$noise else 0.1 * scale
  given <- c(kernel$given, log(noise))
  if (!learn && !(kernel$named && data$scale <= 0)) return(list(starts = cbind(given), lower = given, upper = given))
  anchors <- lapply(c(1, 0.3, 3), function(stretch) kernel_anchors(kernel$kernel, data$x, scale, stretch))
  starts <- vapply(anchors, function(a) c(a[, "start"], log(noise)), given)
  starts <- matrix(starts, nrow = length(given))
  if (!learn) return(list(starts = starts[, 1L, drop = FALSE], lower = starts[, 1L], upper = starts[, 1L]))
  quiet <- starts[, 1L]
  quiet[length(quiet)] <- log(noise / 10)
  starts <- cbind(starts, if (is.null(kernel$noise)) quiet, if (!kernel$named) given)
  lower <- c(anchors[[1L]][, "lower"], log(1e-8 * scale))
  upper <- c(anchors[[1L]][, "upper"], log(100 * scale))
  if (!kernel$named) {  # what the user gave is inside
    lower <- pmin(lower, given - log(10))
    upper <- pmax(upper, given + log(10))
  }
  list(starts = unname(starts), lower = unname(lower), upper = unname(upper))
}

# Selection and learning, all in compiled code. `blocks` are those of the rows.
learn_sparse <- function(data, kernel, place, blocks, settings) {
  start <- sparse_starts(kernel, data, settings$learn)
  exact <- settings$method %in% c("sod", "exact")
  rule <- if (settings$select == "optimize") "kmeans" else settings$select
  options <- list(
    select = rule, m = place$m, given = if (is.null(place$given)) matrix(0, 0L, ncol(data$x)) else unname(place$given),
    subset = settings$method == "sod", test = place$test, learn = settings$learn, learn_noise = settings$learn_noise,
    learn_inducing = settings$learn_inducing, residual = as.double(data$residual), starts = start$starts, lower = start$lower, upper = start$upper,
    prior = settings$prior, n_starts = settings$n_starts, max_iter = settings$max_iter, tol = settings$tol
  )
  rows <- sparse_rows(data$x, cbind(data$y, data$trend), blocks, kernel$kernel, settings$method, settings$threads)
  raw <- core_sparse_gp(rows, options, core_seed(), progress_bar("sparse Gaussian process"))
  last <- length(raw$parameters)
  labels <- c(kernel$names, "noise_var")
  free <- settings$learn * (last - 1L) + settings$learn_noise
  list(state = raw$state, kernel = set_kernel_parameters(kernel$kernel, raw$parameters[-last]), trace = raw$trace,
       rows = if (length(raw$rows) > 0L && (rule != "kmeans" || exact)) raw$rows, at_bound = labels[raw$on_bound],
       learnt = free + if (settings$learn_inducing) length(raw$state$inducing) else 0L, dropped = raw$dropped, convergence = raw$convergence,
       search = list(names = labels, lower = start$lower, upper = start$upper, at = raw$parameters, prior = settings$prior,
                     learn_noise = settings$learn_noise))
}

# Rows as compiled code takes them: [y F], blocks as numbers.
sparse_rows <- function(x, targets, blocks, kernel, method, threads = 1L) {
  list(x = unname(x), targets = unname(targets), blocks = if (is.null(blocks)) integer() else as.integer(blocks), kernel = kernel, method = method,
       threads = threads)
}
