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
      kernel <- if (length(rest) == 1L) rest[[1L]] else structure(list(type = "sum", children = rest), class = "granary_kernel")
    }
  }
  leaves <- kernel_leaves(kernel)
  if (any(vapply(leaves, white_leaf, NA))) {
    abort_input("`kernel` must describe a function: k_white() can only be added to other kernels, where it stands for the noise.", "kernel")
  }
  kernel <- prepare_kernel(kernel, d)
  known <- core_call(core_kernel_parameters(kernel, d))
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
      hamming = one(rep(length(columns) * stretch, length(k$scales)), 1e3, 1e3),
      polynomial = , sigmoid = one(1 / (length(columns) * mean(own^2)), 1e4, 1e4), mlp = one(c(10 / mean(own^2), 10), 1e5, 1e5), NULL
    )
    rbind(
      if (k$type == "user") one(k$parameters, 1e4, 1e4),
      if (k$learn[1L] && !k$type %in% c("linear", "user")) one(size, 1e6, 1e6),
      if (k$learn[2L] && length(k$scales) > 0L) scales,
      if (k$learn[3L]) one(k$shape, 1e2, 1e3)
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

# Selection and learning. `blocks` are those of the rows.
learn_sparse <- function(data, kernel, place, blocks, settings) {
  start <- sparse_starts(kernel, data, settings$learn)
  box <- if (settings$learn_inducing) inducing_box(data$x) else matrix(0, 2L, ncol(data$x))
  problem <- list(x = data$x, targets = cbind(data$y, data$trend), blocks = blocks, box = box)
  choose <- function(parameters, rule, label = "inducing inputs") {
    at <- set_kernel_parameters(kernel$kernel, parameters[-length(parameters)])
    core_call(core_sparse_select(data$x, data$residual, at, exp(parameters[length(parameters)]), rule, place$m, 1e-10, settings$threads, core_seed(),
                                 progress_bar(label)))
  }
  run <- function(problem, inducing, start, learn_inducing, learn = settings$learn, max_iter = settings$max_iter, tol = settings$tol) {
    spec <- c(start, list(learn_kernel = learn, learn_noise = learn && settings$learn_noise, learn_inducing = learn_inducing, box = problem$box,
                          n_starts = settings$n_starts, max_iter = max_iter, tol = tol, prior = settings$prior))
    order <- if (is.null(problem$blocks)) NULL else order(problem$blocks)
    rows <- function(m) if (is.null(order)) m else m[order, , drop = FALSE]
    core_call(core_sparse_fit(rows(problem$x), rows(problem$targets), settings$method, block_starts(problem$blocks), kernel$kernel, inducing,
                              spec, settings$threads, progress_bar("sparse Gaussian process")))
  }
  follow <- function(raw, start) utils::modifyList(start, list(starts = matrix(raw$parameters)))

  exact <- settings$method %in% c("sod", "exact")
  rule <- if (settings$select == "optimize") "kmeans" else settings$select
  chosen <- if (settings$method == "exact") {
    list(rows = NULL)
  } else if (is.null(place$given)) {
    choose(start$starts[, 1L], rule)
  } else {
    list(inducing = place$given, rows = NULL)
  }
  subset_problem <- function(rows) {
    list(x = data$x[rows, , drop = FALSE], targets = problem$targets[rows, , drop = FALSE], blocks = NULL, box = problem$box)
  }
  if (exact) {
    on_rows <- function(rows, start) run(if (is.null(rows)) problem else subset_problem(rows), matrix(0, 0L, ncol(data$x)), start, FALSE)
    raw <- on_rows(chosen$rows, start)
    if (settings$learn && !is.null(chosen$rows) && rule %in% c("pivchol", "info", "posterior", "evidence")) {
      chosen <- choose(raw$parameters, rule)
      raw <- on_rows(chosen$rows, follow(raw, start))
    }
  } else {
    inducing <- chosen$inducing
    n <- nrow(data$x)
    if (settings$learn && n > 20000L) {  # a sample shows where the parameters are
      sampled <- sample_rows(blocks, n, max(5000L, 10L * nrow(inducing)))
      small <- subset_problem(sampled)
      if (!is.null(blocks)) small$blocks <- blocks[sampled]
      start <- follow(run(small, inducing, start, FALSE, tol = max(settings$tol, 1e-4)), start)
    }
    greedy <- is.null(place$given) && rule %in% c("pivchol", "info", "posterior", "evidence")
    if (settings$learn && greedy) {
      raw <- if (n > 20000L) list(parameters = start$starts[, 1L]) else run(problem, inducing, start, FALSE)
      chosen <- choose(raw$parameters, rule)
      inducing <- chosen$inducing
      start <- follow(raw, start)
    }
    raw <- run(problem, inducing, start, settings$learn_inducing)
    if ((settings$learn_inducing || raw$state$jitter > 1e-7) && !place$test) {
      kept <- independent_inputs(set_kernel_parameters(kernel$kernel, raw$parameters[-length(raw$parameters)]), raw$inducing)
      if (length(kept) < nrow(raw$inducing)) {
        learnt <- raw
        raw <- run(problem, learnt$inducing[kept, , drop = FALSE], follow(learnt, start), FALSE, learn = FALSE)
        raw[c("trace", "convergence")] <- learnt[c("trace", "convergence")]
        raw$dropped <- nrow(learnt$inducing) - length(kept)
        if (!is.null(chosen$rows)) chosen$rows <- chosen$rows[kept]
      }
    }
  }
  last <- length(raw$parameters)
  free <- c(rep(settings$learn, last - 1L), settings$learn_noise)
  touch <- free & (raw$parameters < start$lower + 1e-6 | raw$parameters > start$upper - 1e-6)
  list(state = raw$state, kernel = set_kernel_parameters(kernel$kernel, raw$parameters[-last]), trace = raw$trace,
       rows = if (rule != "kmeans" || exact) chosen$rows, at_bound = c(kernel$names, "noise_var")[touch],
       learnt = sum(free) + if (settings$learn_inducing) length(raw$inducing) else 0L, dropped = if (is.null(raw$dropped)) 0L else raw$dropped,
       convergence = raw$convergence, search = list(names = c(kernel$names, "noise_var"), lower = start$lower, upper = start$upper,
                                                    at = raw$parameters, prior = settings$prior, learn_noise = settings$learn_noise))
}

# Inducing inputs that say something beyond the others, by pivoted Cholesky: the rest would only make their covariance singular.
independent_inputs <- function(kernel, inducing) {
  prior <- mean(diag(kernel_matrix(kernel, inducing)))
  greedy <- core_call(core_bandit_greedy_kernel(kernel, inducing, 1e-14 * prior, nrow(inducing), NULL))
  sort(greedy$picks[greedy$variances > 1e-9 * prior])
}

# Where inducing inputs may move: the range of the data and a tenth beyond.
inducing_box <- function(x) {
  box <- apply(x, 2L, range)
  margin <- 0.1 * (box[2L, ] - box[1L, ])
  unname(rbind(box[1L, ] - margin, box[2L, ] + margin))
}

# First row of each block, in the order of the blocks, from 0, and the number of rows at the end.
block_starts <- function(blocks) {
  if (is.null(blocks)) return(integer())
  as.integer(c(0, cumsum(tabulate(match(sort(blocks), unique(sort(blocks)))))))
}

# About `size` rows; whole blocks where there are any.
sample_rows <- function(blocks, n, size) {
  if (is.null(blocks)) return(sort(sample.int(n, min(n, size))))
  order <- unique(blocks)
  order <- order[sample.int(length(order))]
  enough <- order[seq_len(which(cumsum(tabulate(blocks)[order]) >= min(size, n))[1L])]
  which(blocks %in% enough)
}
