# Kernels of kriging models: units of the inputs, which variances are free, starts and bounds of the parameters.

radial_types <- c("se", "matern", "rq", "powexp")

leaf_columns <- function(leaf, d) if (length(leaf$columns) > 0L) leaf$columns else seq_len(d)

# The kernel as the model will hold it, in the user's units. Text means a lengthscale for every input.
kriging_kernel <- function(kernel, x, lengthscale, theta) {
  d <- ncol(x)
  text <- is.character(kernel)
  kernel <- as_kernel(kernel)
  if (text) kernel <- map_leaves(kernel, function(leaf) {
    if (leaf$type %in% c(radial_types, "hamming")) leaf$ard <- TRUE
    leaf
  })
  kernel <- prepare_kernel(kernel, d)
  if (text) kernel <- map_leaves(kernel, function(leaf) {
    if (leaf$type %in% radial_types) leaf$scales <- 0.5 * input_ranges(x)[leaf_columns(leaf, d)]
    leaf
  })
  if (!is.null(theta)) {
    if (!is.null(lengthscale)) abort_input("Give `lengthscale` or `theta`, not both: theta = 1 / (2 lengthscale^2).", "theta")
    if (!identical(kernel$type, "se")) abort_input("`theta` is for the kernel \"se\" alone: use `lengthscale`.", "theta")
    lengthscale <- 1 / sqrt(2 * check_vector(theta, "theta", lower = 0, strict_lower = TRUE))
  }
  if (!is.null(lengthscale)) {
    lengthscale <- check_vector(lengthscale, lower = .Machine$double.xmin)
    if (!isTRUE(kernel$type %in% c(radial_types, "hamming"))) {
      abort_input("`lengthscale` is for kernels of one part with lengthscales: for others set it and fixed = \"lengthscale\" in the parts.",
                  "lengthscale")
    }
    looks_at <- length(leaf_columns(kernel, d))
    if (!length(lengthscale) %in% c(1L, looks_at)) {
      abort_input(sprintf("`lengthscale` must be one number or %d, one per input, but it has length %d.", looks_at, length(lengthscale)),
                  "lengthscale")
    }
    kernel$scales <- rep_len(as.double(lengthscale), looks_at)
    kernel$learn[2L] <- FALSE
  }
  kernel
}

input_ranges <- function(x) apply(x, 2L, function(column) max(column) - min(column))

# Shift and width of each input. One lengthscale for several inputs keeps their proportions; kernels that see more than distances keep the units.
input_units <- function(kernel, x) {
  leaves <- kernel_leaves(kernel)
  range <- input_ranges(x)
  types <- vapply(leaves, `[[`, "", "type")
  if (!all(types %in% c(radial_types, "hamming", "bias", "white"))) return(list(low = numeric(ncol(x)), width = rep(1, ncol(x))))
  shared <- vapply(leaves, function(leaf) leaf$type %in% radial_types && length(leaf$scales) == 1L && length(leaf_columns(leaf, ncol(x))) > 1L, NA)
  list(low = unname(apply(x, 2L, min)), width = unname(if (any(shared)) rep(max(range), ncol(x)) else range))
}

to_units <- function(x, units) unname(sweep(sweep(x, 2L, units$low), 2L, units$width, `/`))

# Lengthscales times (or divided by) the width of their inputs.
rescale_kernel <- function(kernel, width) {
  map_leaves(kernel, function(leaf) {
    if (leaf$type %in% radial_types) {
      columns <- leaf_columns(leaf, length(width))
      leaf$scales <- leaf$scales * (if (length(leaf$scales) == 1L) width[columns[1L]] else width[columns])
    }
    leaf
  })
}

# With the scale profiled out only ratios of variances matter: the first term of a sum gives the unit, a product has one size.
anchor_variance <- function(kernel, free = FALSE) {
  if (is.null(kernel$children)) {
    if (!free) {
      kernel$learn[1L] <- FALSE
      if (kernel$type == "linear" && length(kernel$scales) == 1L) kernel$learn[2L] <- FALSE
    }
    return(kernel)
  }
  first <- seq_along(kernel$children) == 1L
  kernel$children <- Map(anchor_variance, kernel$children, if (kernel$type == "sum") free | !first else free & first)
  kernel
}

kernel_parameters <- function(kernel, d) core_kernel_parameters(kernel, d)

# Logarithms of the parameters if every lengthscale were the range of its input.
log_ranges <- function(kernel, x) {
  range <- unname(input_ranges(x))
  kernel_parameters(map_leaves(kernel, function(leaf) {
    columns <- leaf_columns(leaf, ncol(x))
    if (leaf$type %in% radial_types) leaf$scales <- if (length(leaf$scales) == 1L) max(range[columns]) else range[columns]
    if (leaf$type %in% c("hamming", "periodic")) leaf$scales[] <- 1
    leaf
  }), ncol(x))$log_parameters
}

# Starts and bounds of the logarithms of all parameters, in the units of the core: list(names, start, lower, upper, spread). `size`: a variance the
# data suggest, where the variance of the kernel is learnt.
kriging_parameters <- function(kernel, unit_kernel, x, lower, upper, size, learn_nugget) {
  d <- ncol(x)
  user <- kernel_parameters(kernel, d)
  names <- user$names
  is_length <- grepl("lengthscale", names)
  unit <- log_ranges(kernel, x)
  start <- user$log_parameters
  low <- ifelse(is_length, unit + log(0.01), start - log(1e4))
  high <- ifelse(is_length, unit + log(10), start + log(1e4))
  is_period <- grepl("period$", names)
  low[is_period] <- start[is_period] - log(10)
  high[is_period] <- start[is_period] + log(10)
  is_variance <- grepl("variance", names)
  if (!is.null(size)) {
    start[is_variance] <- start[is_variance] + log(size)
    low[is_variance] <- start[is_variance] - log(1e6)
    high[is_variance] <- start[is_variance] + log(1e5)
  }
  low[is_length] <- log_bound(lower, low[is_length], "lower")
  high[is_length] <- log_bound(upper, high[is_length], "upper")
  if (any(low >= high)) abort_input("`lower` must be below `upper` for every lengthscale.", "lower")
  around <- ifelse(is_period, log(2), log(10))
  spread_low <- ifelse(is_length, low, start - around)
  spread_high <- ifelse(is_length, high, start + around)
  shift <- user$log_parameters - kernel_parameters(unit_kernel, d)$log_parameters
  out <- list(names = names, start = pmin(pmax(start, low), high) - shift, lower = low - shift, upper = high - shift,
              spread_low = spread_low - shift, spread_high = spread_high - shift, shift = shift, is_length = is_length)
  if (!learn_nugget) return(out)
  unit <- if (is.null(size)) 0 else log(size)
  extra <- list(names = "nugget", start = log(1e-2) + unit, lower = log(1e-8) + unit, upper = log(1e2) + unit, spread_low = log(1e-6) + unit,
                spread_high = unit, shift = 0, is_length = FALSE)
  Map(c, out, extra)
}

log_bound <- function(bound, default, arg) {
  if (is.null(bound)) return(default)
  bound <- check_vector(bound, arg, lower = .Machine$double.xmin)
  if (!length(bound) %in% c(1L, length(default))) {
    abort_input(sprintf("`%s` must be one number or %d, one per lengthscale, but it has length %d.", arg, length(default), length(bound)), arg)
  }
  rep_len(log(bound), length(default))
}
