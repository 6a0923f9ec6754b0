# What a Bayesian optimisation is made of: its space, its model, and the steps that keep the model up to date. The state is a plain list, so that
# it survives saveRDS(); compiled code sees points scaled to the unit cube (categories as codes) and responses standardised, to be minimised.

# --- the space

bo_space <- function(lower, upper, integer, levels, candidates, embed_dim, feasible) {
  if (!is.null(candidates)) return(bo_space_listed(lower, upper, integer, levels, candidates, embed_dim, feasible))
  lower <- if (is.null(lower)) numeric() else check_vector(lower, "lower")
  upper <- if (is.null(upper)) numeric() else check_vector(upper, "upper")
  if (length(lower) != length(upper)) {
    abort_input(sprintf("`upper` must have the length of `lower`, which is %d, but it has length %d.", length(lower), length(upper)), "upper")
  }
  bad <- which(!(upper > lower) | !is.finite(upper - lower))
  if (length(bad) > 0L) {
    abort_input(sprintf("Every bound in `lower` must be below the one in `upper`, but for input %d they are %s and %s.", bad[1L],
                        format(lower[bad[1L]]), format(upper[bad[1L]])), "lower")
  }
  levels <- bo_levels(levels)
  if (length(lower) + length(levels) == 0L) fail_input("lower", "the bounds of at least one input (or `levels` or `candidates` given)", "none")
  labels <- bo_names(lower, upper)
  whole <- bo_integer(integer, labels, lower, upper)
  space <- list(
    names = c(labels, names(levels)), lower = unname(lower), upper = unname(upper), levels = levels, named = !is.null(names(lower) %||% names(upper)),
    values = c(ifelse(whole, upper - lower + 1, 0), lengths(levels)), categorical = rep(c(0L, 1L), c(length(lower), length(levels))),
    candidates = matrix(0, 0L, length(lower) + length(levels)), feasible = feasible, embedding = NULL
  )
  space$values <- as.integer(space$values)
  if (!is.null(embed_dim)) space <- bo_embed(space, embed_dim)
  space
}

`%||%` <- function(a, b) if (is.null(a)) b else a

bo_names <- function(lower, upper) {
  labels <- names(lower) %||% names(upper)
  if (is.null(labels)) return(if (length(lower) > 0L) paste0("x", seq_along(lower)) else character())
  check_names_unique(labels, "names(lower)")
  labels
}

bo_levels <- function(levels) {
  if (is.null(levels)) return(list())
  ok <- is.list(levels) && !is.data.frame(levels) && length(levels) > 0L && !is.null(names(levels)) &&
    all(vapply(levels, function(l) is.atomic(l) && length(l) > 1L && !anyNA(l) && !anyDuplicated(l), NA))
  if (!ok) fail_input("levels", "a named list with the categories (two or more, all different) of each categorical input", describe(levels))
  check_names_unique(names(levels), "names(levels)")
  lapply(levels, as.character)
}

bo_integer <- function(integer, labels, lower, upper) {
  whole <- rep(FALSE, length(labels))
  if (is.null(integer)) return(whole)
  at <- if (is.character(integer)) match(integer, labels) else if (is_plain_numeric(integer)) match(integer, seq_along(labels)) else NA
  if (length(at) == 0L || anyNA(at)) fail_input("integer", "names or positions of inputs in `lower`", describe(integer))
  whole[at] <- TRUE
  odd <- which(whole & (lower != round(lower) | upper != round(upper)))
  if (length(odd) > 0L) {
    abort_input(sprintf("The bounds of integer inputs must be whole numbers, but those of input %d are %s and %s.", odd[1L],
                        format(lower[odd[1L]]), format(upper[odd[1L]])), "integer")
  }
  if (any(upper[whole] - lower[whole] > 1e6)) abort_input("An integer input has more than a million values. Treat it as continuous.", "integer")
  whole
}

# A list of points: numbers are scaled by their range, text becomes categories.
bo_space_listed <- function(lower, upper, integer, levels, candidates, embed_dim, feasible) {
  if (!is.null(lower) || !is.null(upper) || !is.null(integer) || !is.null(levels) || !is.null(embed_dim)) {
    abort_input("With `candidates` the space is the list: leave out `lower`, `upper`, `integer`, `levels` and `embed_dim`.", "candidates")
  }
  if (is_plain_numeric(candidates) && is.null(dim(candidates))) candidates <- matrix(candidates, ncol = 1L)
  text <- if (is.data.frame(candidates)) vapply(candidates, function(col) is.factor(col) || is.character(col), NA) else rep(FALSE, NCOL(candidates))
  if (is.data.frame(candidates) && any(text)) {
    numbers <- if (all(text)) matrix(0, nrow(candidates), 0L) else check_matrix(candidates[!text], "candidates")
    levels <- lapply(candidates[text], function(col) {
      if (anyNA(col)) abort_input("`candidates` must have no missing values.", "candidates")
      unique(as.character(col))
    })
  } else {
    numbers <- check_matrix(candidates, "candidates")
    levels <- list()
  }
  if (nrow(numbers) == 0L) fail_input("candidates", "a matrix or data frame with one point per row", describe(candidates))
  lower <- apply(numbers, 2L, min)
  upper <- apply(numbers, 2L, max)
  upper[upper == lower] <- lower[upper == lower] + 1
  labels <- colnames(numbers) %||% if (ncol(numbers) > 0L) paste0("x", seq_len(ncol(numbers)))
  space <- list(
    names = c(labels, names(levels)), lower = unname(lower), upper = unname(upper), levels = levels, named = !is.null(colnames(numbers)),
    values = as.integer(rep(0, ncol(numbers) + length(levels))), categorical = rep(c(0L, 1L), c(ncol(numbers), length(levels))), candidates = NULL,
    feasible = feasible, embedding = NULL
  )
  space$values[space$categorical == 1L] <- lengths(levels)
  codes <- vapply(names(levels), function(name) match(as.character(candidates[[name]]), levels[[name]]) - 1, numeric(nrow(numbers)))
  scaled <- sweep(sweep(unname(numbers), 2L, space$lower), 2L, space$upper - space$lower, "/")
  space$candidates <- cbind(scaled, matrix(codes, nrow(numbers)))
  dimnames(space$candidates) <- NULL
  space
}

# Random embedding: z in [-sqrt(de), sqrt(de)]^de stands for clip(A z) in the box scaled to [-1, 1]^D.
bo_embed <- function(space, embed_dim) {
  embed_dim <- check_count(embed_dim, "embed_dim", upper = length(space$lower))
  if (any(space$values != 0L)) abort_input("`embed_dim` needs continuous inputs: leave out `integer` and `levels`.", "embed_dim")
  space$embedding <- core_normals(length(space$lower), embed_dim, core_seed())
  space$values <- rep(0L, embed_dim)
  space$categorical <- rep(0L, embed_dim)
  space$candidates <- matrix(0, 0L, embed_dim)
  space
}

# z with clip(A z) = x, from the inputs that are not clipped; NA where there is none or where these do not determine it.
bo_preimage <- function(space, x) {
  v <- 2 * sweep(sweep(x, 2L, space$lower), 2L, space$upper - space$lower, "/") - 1
  core_bo_preimage(space$embedding, unname(v))
}

bo_dimension <- function(space) length(space$values)

# Points of the model in the user's units: a matrix, or a data frame where there are categories.
bo_to_user <- function(space, unit) {
  if (!is.null(space$embedding)) {
    z <- sqrt(ncol(space$embedding)) * (2 * unit - 1)
    unit <- (pmin(pmax(tcrossprod(z, space$embedding), -1), 1) + 1) / 2
  }
  numeric <- seq_along(space$lower)
  x <- sweep(sweep(unit[, numeric, drop = FALSE], 2L, space$upper - space$lower, "*"), 2L, space$lower, "+")
  whole <- if (is.null(space$embedding)) which(space$values[numeric] != 0L) else integer()
  x[, whole] <- round(x[, whole])
  colnames(x) <- space$names[numeric]
  if (length(space$levels) == 0L) return(x)
  frame <- as.data.frame(x)
  for (name in names(space$levels)) {
    frame[[name]] <- factor(space$levels[[name]][unit[, match(name, space$names)] + 1], space$levels[[name]])
  }
  frame
}

bo_to_unit <- function(space, x, arg = "x") {
  numeric <- space$names[seq_along(space$lower)]
  x <- bo_columns(space, x, arg)
  unit <- sweep(sweep(x$numbers, 2L, space$lower), 2L, space$upper - space$lower, "/")
  outside <- which(unit < -1e-8 | unit > 1 + 1e-8, arr.ind = TRUE)
  if (nrow(outside) > 0L) {
    j <- outside[1L, 2L]
    abort_input(sprintf("`%s` must lie in the box, but input %s of row %d is %s, outside [%s, %s].", arg, numeric[j], outside[1L, 1L],
                        format(x$numbers[outside[1L, 1L], j]), format(space$lower[j]), format(space$upper[j])), arg)
  }
  unit <- pmin(pmax(unit, 0), 1)
  whole <- which(space$values[seq_along(numeric)] != 0L)
  for (j in whole) unit[, j] <- round(unit[, j] * (space$values[j] - 1)) / max(space$values[j] - 1, 1)
  unname(cbind(unit, x$codes))
}

bo_columns <- function(space, x, arg) {
  numeric <- space$names[seq_along(space$lower)]
  d <- length(space$names)
  if (is.list(x) && !is.data.frame(x) && !is.object(x) && length(space$levels) > 0L && all(lengths(x) == 1L)) x <- as.data.frame(x)
  if (is_plain_numeric(x) && is.null(dim(x))) {
    x <- if (length(x) == d && d > 1L) matrix(x, 1L, dimnames = list(NULL, names(x))) else matrix(x, ncol = 1L)
  }
  if (length(space$levels) == 0L) {
    numbers <- check_matrix(x, arg)
    if (ncol(numbers) != d) abort_input(sprintf("`%s` must have %s, but it has %d.", arg, counted(d, "column", "columns"), ncol(numbers)), arg)
    if (!is.null(colnames(numbers)) && all(numeric %in% colnames(numbers))) numbers <- numbers[, numeric, drop = FALSE]
    return(list(numbers = unname(numbers), codes = matrix(0, nrow(numbers), 0L)))
  }
  if (!is.data.frame(x) || !all(space$names %in% names(x)) || nrow(x) == 0L) {
    fail_input(arg, paste0("a data frame with columns ", paste(space$names, collapse = ", ")), describe(x))
  }
  numbers <- if (length(numeric) > 0L) check_matrix(x[numeric], arg) else matrix(0, nrow(x), 0L)
  codes <- vapply(names(space$levels), function(name) {
    at <- match(as.character(x[[name]]), space$levels[[name]])
    if (anyNA(at)) {
      abort_input(sprintf("Column %s of `%s` must hold the categories %s.", name, arg, paste(space$levels[[name]], collapse = ", ")), arg)
    }
    at - 1
  }, numeric(nrow(x)))
  list(numbers = unname(numbers), codes = matrix(codes, nrow(x)))
}

# What the user's functions are given: a vector of numbers, or a list where there are categories.
bo_point <- function(space, user, i) {
  if (is.data.frame(user)) return(lapply(as.list(user[i, , drop = FALSE]), function(v) if (is.factor(v)) as.character(v) else v))
  point <- user[i, ]
  names(point) <- if (space$named) colnames(user)
  point
}

# The space as compiled code takes it.
bo_core_space <- function(space) {
  feasible <- if (!is.null(space$feasible)) {
    function(unit) {
      point <- bo_point(space, bo_to_user(space, matrix(unit, 1L)), 1L)
      answer <- tryCatch(space$feasible(point), error = function(e) abort_input(paste0("`feasible` failed: ", conditionMessage(e), "."), "feasible"))
      if (!is.logical(answer) && !is_plain_numeric(answer) || length(answer) != 1L) {
        abort_input(paste0("`feasible` must return TRUE or FALSE, not ", describe(answer), "."), "feasible")
      }
      isTRUE(as.logical(answer))
    }
  }
  c(space[c("values", "categorical", "candidates")], list(feasible = feasible))
}

# --- the model

# Only parts that look at all columns are narrowed to the numeric ones.
narrow_kernel <- function(kernel, columns) {
  if (!is.null(kernel$children)) {
    kernel$children <- lapply(kernel$children, narrow_kernel, columns)
  } else if (length(kernel$columns) == 0L && !kernel$type %in% c("bias", "white", "user")) {
    kernel$columns <- columns
  }
  kernel
}

# The scale of the process, s2, is known or integrated out, so one variance of the kernel is redundant: `anchor` holds it at one. Of a product
# only the first factor keeps a variance of its own.
anchor_kernel <- function(kernel, anchor) {
  if (is.null(kernel$children)) {
    if (anchor && kernel$learn[1L] && !kernel$type %in% c("linear", "user")) {
      kernel$variance <- 1
      kernel$learn[1L] <- FALSE
    }
    return(kernel)
  }
  first <- seq_along(kernel$children) == 1L
  held <- if (kernel$type == "product") anchor | !first else anchor & first
  kernel$children <- Map(anchor_kernel, kernel$children, held)
  kernel
}

bo_kernel <- function(kernel, space, student) {
  d <- bo_dimension(space)
  numeric <- which(space$categorical == 0L)
  categories <- which(space$categorical == 1L)
  overlap <- if (length(categories) > 0L) k_hamming(ard = TRUE, columns = categories)
  if (is.null(kernel)) {
    kernel <- if (length(numeric) > 0L) k_matern(2.5, lengthscale = 0.5, ard = TRUE, columns = numeric)
    kernel <- if (is.null(kernel)) overlap else if (is.null(overlap)) kernel else kernel * overlap
  } else {
    kernel <- as_kernel(kernel)
    if (length(categories) > 0L && length(numeric) > 0L) {
      narrowed <- narrow_kernel(kernel, numeric)
      kernel <- if (identical(narrowed, kernel)) kernel else narrowed * overlap
    }
  }
  anchor_kernel(prepare_kernel(kernel, d), student)
}

# The mean: formulas for none, a constant, and linear terms are known to compiled code; any other is evaluated in R.
bo_trend <- function(mean, space) {
  if (is.null(mean)) mean <- ~0
  if (!inherits(mean, "formula") || length(mean) != 2L) fail_input("mean", "a formula without a left-hand side, such as ~1", describe(mean))
  labels <- if (is.null(space$embedding)) space$names else paste0("z", seq_len(bo_dimension(space)))
  numeric <- labels[space$categorical == 0L]
  example <- stats::setNames(as.data.frame(matrix(0.5, 1L, length(numeric))), numeric)
  terms <- tryCatch(stats::terms(mean, data = example), error = function(e) {
    abort_input(paste0("`mean` was not understood: ", conditionMessage(e), "."), "mean")
  })
  unknown <- setdiff(all.vars(terms), numeric)
  if (length(unknown) > 0L) {
    abort_input(sprintf("`mean` must use numeric inputs only (%s), but it has %s.", paste(numeric, collapse = ", "), paste(unknown, collapse = ", ")),
                "mean")
  }
  constant <- attr(terms, "intercept") == 1L
  linear <- match(attr(terms, "term.labels"), labels)
  if (!anyNA(linear) && is.null(attr(terms, "offset"))) {
    return(list(constant = constant, columns = as.integer(linear), features = NULL,
                names = c(if (constant) "(Intercept)", attr(terms, "term.labels"))))
  }
  features <- function(unit) {
    at <- stats::setNames(as.data.frame(unit[, space$categorical == 0L, drop = FALSE]), numeric)
    phi <- tryCatch(stats::model.matrix(terms, at), error = function(e) abort_input(paste0("`mean` failed: ", conditionMessage(e), "."), "mean"))
    if (!all(is.finite(phi))) abort_input("`mean` must give finite numbers everywhere in the box, scaled to [0, 1].", "mean")
    matrix(phi, nrow(unit))
  }
  list(constant = FALSE, columns = integer(), features = features, names = colnames(stats::model.matrix(terms, example)))
}

bo_prior <- function(prior, surrogate, trend) {
  if (!is.list(prior) || is.data.frame(prior)) fail_input("prior", "a list", describe(prior))
  known <- c("b", "B", "a", "c", "s2", "hp_mean", "hp_sd")
  if (length(prior) > 0L && (is.null(names(prior)) || !all(names(prior) %in% known))) {
    fail_input("prior", paste("a list with elements among", paste(known, collapse = ", ")), paste("one with", paste(names(prior), collapse = ", ")))
  }
  p <- length(trend$names)
  term <- function(name, default, lower = -Inf) {
    value <- check_vector(prior[[name]] %||% default, paste0("prior$", name), lower = lower, strict_lower = lower == 0, min_length = 1L)
    if (!length(value) %in% c(1L, p)) {
      abort_input(sprintf("`prior$%s` must have one value, or one for each of the %d terms of the mean.", name, p), "prior")
    }
    unname(rep_len(value, p))
  }
  positive <- function(name, default) check_number(prior[[name]] %||% default, paste0("prior$", name), lower = 0, strict_lower = TRUE)
  list(process = surrogate, b = term("b", 0), B = term("B", 100, 0),
       a = positive("a", 1), c = positive("c", 1), s2 = positive("s2", 1), hp_mean = positive("hp_mean", 0.5), hp_sd = positive("hp_sd", 1))
}

# Bounds and priors of the logarithms of the parameters, by what they are.
bo_search_box <- function(model, d) {
  described <- core_kernel_parameters(model$kernel, d)
  labels <- c(described$names, if (model$learn_noise) "noise")
  m <- length(labels)
  box <- list(names = labels, start = c(described$log_parameters, if (model$learn_noise) log(max(model$noise, 1e-3))),
              lower = rep(log(1e-3), m), upper = rep(log(1e3), m), mean = rep(0, m), sd = rep(2, m))
  scale <- grepl("lengthscale", labels)
  box$lower[scale] <- log(0.02)
  box$upper[scale] <- log(20)
  box$mean[scale] <- log(model$prior$hp_mean)
  box$sd[scale] <- model$prior$hp_sd
  noise <- labels == "noise"
  box$lower[noise] <- log(1e-6)
  box$upper[noise] <- log(10)
  box$mean[noise] <- log(1e-2)
  box
}

# --- the data as the model sees them

bo_data <- function(object) {
  ok <- object$status == "ok"
  use <- if (object$settings$failed == "skip") which(ok) else seq_along(object$y)
  sign <- if (object$settings$maximize) -1 else 1
  if (!any(ok)) return(list(x = object$unit[0L, , drop = FALSE], y = numeric(), centre = 0, scale = 1, sign = sign, usable = FALSE))
  v <- sign * object$y[use]
  v[!ok[use]] <- max(sign * object$y[ok])
  size <- max(abs(v), 0)
  centre <- mean(v)
  scale <- if (length(v) > 1L && is.finite(size) && size > 0) size * stats::sd(v / size) else 0
  if (!is.finite(scale) || scale <= 1e-14 * size) scale <- if (is.finite(size) && size > 0) size else 1
  list(x = object$unit[use, , drop = FALSE], y = (v - centre) / scale, centre = centre, scale = scale, sign = sign, usable = TRUE)
}

# What compiled code needs to know of the model and of what it has seen.
bo_core_state <- function(object, data = bo_data(object)) {
  list(model = object$model, x = data$x, y = data$y, theta = if (is.null(object$theta)) matrix(0, 0L, 0L) else object$theta,
       factors = object$factors)
}

bo_seed <- function(object, purpose) {
  c(object$seed[1L], (object$seed[2L] + 7919 * length(object$y) + 104729 * purpose) %% .Machine$integer.max)
}

# Parameters learnt where that is due, factors carried on to the new rows; NULL model while nothing can be modelled.
bo_refresh <- function(object) {
  data <- bo_data(object)
  n <- length(data$y)
  if (!data$usable || n == 0L || identical(object$fitted, length(object$y))) return(object)
  settings <- object$settings
  box <- object$box
  m <- length(box$start)
  every <- if (identical(settings$relearn, "auto")) if (n <= 60L) 1L else 10L else settings$relearn
  first <- is.null(object$theta)
  due <- (first || n - object$learnt_at >= every) && settings$learn != "fixed" && n > 1L && m > 0L
  if (due) {
    global <- first || n >= 1.5 * object$global_at
    with_prior <- settings$learn %in% c("map", "mcmc")
    options <- list(score = if (settings$learn == "loo") "loo" else "evidence", lower = box$lower, upper = box$upper, global = global,
                    burn_in = if (first) settings$burn_in else as.integer(ceiling(settings$burn_in / 10)), particles = settings$particles,
                    sample = settings$learn == "mcmc")
    if (with_prior) options$prior <- box[c("mean", "sd")]
    start <- if (first) box$start else object$theta[nrow(object$theta), ]
    object$theta <- core_bo_learn(bo_core_state(object, data), start, options, bo_seed(object, 1))
    object$learnt_at <- n
    if (global) object$global_at <- n
    object$factors <- list()
  } else if (first) {
    object$theta <- matrix(box$start, 1L)
    object$learnt_at <- object$global_at <- 0L
  }
  done <- core_bo_factors(bo_core_state(object, data))
  object$factors <- done$factors
  object$repeats <- object$repeats + done$floored
  object$fitted <- length(object$y)
  object$surrogate <- list(
    kernel = set_kernel_parameters(object$model$kernel, object$theta[1L, seq_len(m - object$model$learn_noise)]), log_evidence = done$log_evidence,
    nu = done$nu, s2 = done$s2 * data$scale^2, noise = if (object$model$learn_noise) exp(object$theta[, m]) else object$model$noise
  )
  object
}
