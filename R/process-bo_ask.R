# Ask and tell: bo_init() makes the state, bo_suggest() asks for points, bo_observe() tells what came of them. bayes_opt() is a loop around these.

#' @rdname bayes_opt
#' @export
bo_init <- function(lower = NULL, upper = NULL, n_init = 10, init = c("lhs", "sobol", "uniform"),
                    surrogate = c("tp_jeffreys", "tp_nig", "gp_normal", "gp"), kernel = NULL, mean = ~1, criterion = "ei",
                    learn = c("map", "ml", "loo", "mcmc", "fixed"), relearn = "auto", noise = 1e-6, learn_noise = FALSE, prior = list(),
                    epsilon = 0, feasible = NULL, candidates = NULL, integer = NULL, levels = NULL, embed_dim = NULL, maximize = FALSE,
                    failed = c("penalise", "skip"), burn_in = 100, particles = 10, search = 500, stuck = 20, ...) {
  refuse_dots(...)
  call <- match.call()
  if (!is.null(feasible) && !is.function(feasible)) fail_input("feasible", "a function of a point (or NULL)", describe(feasible))
  n_init <- check_count(n_init, upper = 1e5)
  init <- check_choice(init, c("lhs", "sobol", "uniform"))
  settings <- list(
    learn = check_choice(learn, c("map", "ml", "loo", "mcmc", "fixed")),
    relearn = if (identical(relearn, "auto")) relearn else check_count(relearn),
    epsilon = check_number(epsilon, lower = 0, upper = 1), maximize = check_flag(maximize), failed = check_choice(failed, c("penalise", "skip")),
    burn_in = check_count(burn_in, lower = 0, upper = 1e6), particles = check_count(particles, upper = 1e4),
    search = check_count(search, upper = 1e6), stuck = check_count(stuck), n_init = n_init
  )
  surrogate <- check_choice(surrogate, c("tp_jeffreys", "tp_nig", "gp_normal", "gp"))
  learn_noise <- check_flag(learn_noise)
  noise <- check_number(noise, lower = 0, upper = 1e6)
  criterion <- as_acquisition(criterion)
  space <- bo_space(lower, upper, integer, levels, candidates, embed_dim, feasible)
  trend <- bo_trend(mean, space)
  model <- list(kernel = bo_kernel(kernel, space, surrogate %in% c("tp_nig", "tp_jeffreys")), noise = noise, learn_noise = learn_noise, trend = trend,
                prior = bo_prior(prior, surrogate, trend))
  seed <- core_seed()
  design <- core_bo_design(bo_core_space(space), list(init = init, n_init = n_init), seed)
  if (nrow(design) == 0L) abort_input("No feasible point was found in 10000 tries at random. Is `feasible` ever TRUE?", "feasible")
  object <- new_fit(
    "bayes_opt", best_x = NULL, best_y = NA_real_, x = bo_to_user(space, design[0L, , drop = FALSE]), y = numeric(), trace = NULL, surrogate = NULL,
    criterion = criterion, type = surrogate, settings = settings, space = space, model = model, box = bo_search_box(model, bo_dimension(space)),
    design = design, unit = design[0L, , drop = FALSE], status = character(), log = list(), theta = NULL, factors = list(), learnt_at = 0L,
    global_at = 0L, fitted = 0L, gains = rep(0, if (criterion$type == "hedge") length(criterion$children) else 0L), in_place = 0L, repeats = 0L,
    seed = seed, pending = NULL, cache = new.env(parent = emptyenv()), f = NULL, call = call,
    convergence = list(converged = NA, iterations = 0L, seconds = 0, message = "")
  )
  bo_finish(object)
}

check_bo <- function(object) {
  if (missing(object)) fail_missing("object")
  if (!inherits(object, "granary_bayes_opt")) fail_input("object", "the result of bo_init() or bayes_opt()", describe(object))
  check_fit(object)
  object
}

# Is the best observation more luck than merit?
bo_noisy <- function(object) object$model$learn_noise || object$model$noise >= 1e-3

# The next points: list(unit, value, used, nominees). Depends on the object alone, so a second call gives the same answer; the last one is kept.
bo_propose <- function(object, n) {
  key <- list(n = n, x = object$unit, y = object$y, criterion = object$criterion, seed = object$seed)
  if (identical(object$cache$key, key)) return(object$cache$proposal)
  told <- length(object$y)
  left <- nrow(object$design) - told
  data <- bo_data(object)
  proposal <- if (left > 0L || !data$usable) {
    bo_propose_design(object, n, max(left, 0L))
  } else {
    object <- bo_refresh(object)
    noisy <- bo_noisy(object)
    stuck <- object$in_place >= object$settings$stuck && !noisy
    options <- list(n = n, epsilon = object$settings$epsilon, force_random = stuck, noisy = noisy, cover = 1000L, gains = object$gains,
                    search = list(evaluations_per_input = object$settings$search))
    space <- bo_core_space(object$space)
    # Points that failed and that the model does not see would be proposed again and again.
    unseen <- if (object$settings$failed == "skip") object$unit[object$status != "ok", , drop = FALSE] else object$unit[0L, , drop = FALSE]
    if (nrow(unseen) > 0L && nrow(space$candidates) > 0L) {
      rest <- is.na(match_unit(space$candidates, unseen))
      if (any(rest)) space$candidates <- space$candidates[rest, , drop = FALSE]
    }
    ask <- function(options) {
      core_bo_suggest(bo_core_state(object, data), space, object$criterion, options, bo_seed(object, 2))
    }
    found <- ask(options)
    if (nrow(unseen) > 0L && nrow(found$x) > 0L && !is.na(match_unit(found$x[1L, , drop = FALSE], unseen, 1e-6))) {
      options$force_random <- TRUE
      found <- ask(options)
    }
    found
  }
  proposal$unit <- proposal$x
  proposal$x <- NULL
  object$cache$key <- key
  object$cache$proposal <- proposal
  proposal
}

# What is left of the initial design, then points at random.
bo_propose_design <- function(object, n, left) {
  take <- min(n, left)
  x <- object$design[length(object$y) + seq_len(take), , drop = FALSE]
  if (take < n) {
    x <- rbind(x, core_bo_design(bo_core_space(object$space), list(init = "uniform", n_init = n - take), bo_seed(object, 3)))
  }
  list(x = x, value = rep(NA_real_, nrow(x)), used = rep(c("design", "random"), c(take, nrow(x) - take)), nominees = vector("list", nrow(x)))
}

#' @rdname bayes_opt
#' @export
bo_suggest <- function(object, n = 1, ...) {
  refuse_dots(...)
  object <- check_bo(object)
  n <- check_count(n, upper = 1000)
  proposal <- bo_propose(object, n)
  if (nrow(proposal$unit) < n) abort_input("No feasible point was found. Is `feasible` ever TRUE where the model can go?", "object")
  bo_to_user(object$space, proposal$unit)
}

#' @rdname bayes_opt
#' @export
bo_observe <- function(object, x, y, ...) {
  refuse_dots(...)
  object <- check_bo(object)
  if (missing(x)) fail_missing("x")
  if (missing(y)) fail_missing("y")
  told <- y
  if (is_plain_numeric(y)) y[nzchar(bo_trouble(y))] <- NA
  y <- check_vector(y, "y", allow_na = TRUE)
  embedded <- !is.null(object$space$embedding)
  if (embedded && is.null(object$cache$proposal)) bo_propose(object, NROW(y))  # told without asking: a suggestion all the same?
  unit <- if (embedded) bo_embedded(object, x) else bo_to_unit(object$space, x)
  if (nrow(unit) != length(y)) abort_input(sprintf("`y` must have one value per point, %d, but it has %d.", nrow(unit), length(y)), "y")
  bo_tell(object, unit, unname(y), ifelse(is.na(y), "failed", "ok"), rep(NA_real_, length(y)), bo_trouble(told))
}

# Why a response cannot be used, "" where it can.
bo_trouble <- function(y) {
  y <- as.double(y)
  ifelse(is.na(y) & !is.nan(y), "missing response", ifelse(!is.finite(y), paste("the value", y),
                                                           ifelse(abs(y) > 1e150, "a value too large to compute with", "")))
}

# Places in the embedding. Those of suggestions are known; others follow from the inputs that are not clipped, where these are enough.
bo_embedded <- function(object, x, arg = "x") {
  space <- object$space
  numbers <- bo_columns(space, x, arg)$numbers
  unit <- matrix(NA_real_, nrow(numbers), bo_dimension(space))
  suggested <- object$cache$proposal$unit
  if (!is.null(suggested)) {
    scaled <- function(x) sweep(unname(x), 2L, space$upper - space$lower, "/")
    at <- match_unit(scaled(numbers), scaled(bo_to_user(space, suggested)))
    unit[!is.na(at), ] <- suggested[at[!is.na(at)], ]
  }
  lost <- is.na(unit[, 1L])
  unit[lost, ] <- bo_preimage(space, numbers[lost, , drop = FALSE])
  lost <- which(is.na(unit[, 1L]))
  if (length(lost) > 0L) {
    abort_input(sprintf(paste0("With `embed_dim` every row of `%s` must be a point of the embedding, clip(Az), but row %d is not, or too many of ",
                               "its inputs are at their bounds to tell which."), arg, lost[1L]), arg)
  }
  unit
}

# Appends results and brings the model up to date.
bo_tell <- function(object, unit, y, status, seconds, message) {
  told <- length(object$y)
  modelled <- told >= nrow(object$design)
  hedge <- object$criterion$type == "hedge" && modelled
  proposal <- object$cache$proposal
  matches <- function(p) if (is.null(p)) rep(NA_integer_, nrow(unit)) else match_unit(unit, p$unit)
  at <- matches(proposal)
  if (hedge && anyNA(at)) {  # told after a reload, or without asking: what would have been nominated?
    proposal <- bo_propose(object, nrow(unit))
    at <- matches(proposal)
  }
  known <- object$unit
  for (i in seq_len(nrow(unit))) {
    near <- if (nrow(known) > 0L) min(apply(abs(sweep(known, 2L, unit[i, ])), 1L, max)) < 1e-4 else FALSE
    object$in_place <- if (near) object$in_place + 1L else 0L
    known <- rbind(known, unit[i, ])
  }
  object$unit <- known
  object$y <- c(object$y, y)
  object$status <- c(object$status, status)
  pick <- function(values, missing) ifelse(is.na(at), missing, values[at])
  object$log <- list(used = c(object$log$used, pick(proposal$used %||% character(), "told")),
                     value = c(object$log$value, pick(proposal$value %||% numeric(), NA_real_)),
                     seconds = c(object$log$seconds, seconds), message = c(object$log$message, message))
  if (length(object$y) >= nrow(object$design)) object <- bo_refresh(object)
  if (hedge && !is.null(object$theta)) {
    for (nominees in proposal$nominees[at[!is.na(at)]]) {
      if (length(nominees) == 0L) next
      object$gains <- object$gains - rowMeans(bo_predict_unit(object, nominees)$location)
    }
  }
  bo_finish(object)
}

# Both sides went through the user's units, which costs the last digits.
match_unit <- function(unit, proposed, tol = 1e-9) {
  vapply(seq_len(nrow(unit)), function(i) {
    gap <- apply(abs(sweep(proposed, 2L, unit[i, ])), 1L, max)
    if (length(gap) > 0L && min(gap) < tol) which.min(gap) else NA_integer_
  }, 1L)
}

# Best point and trace from the data.
bo_finish <- function(object) {
  n <- length(object$y)
  object$x <- bo_to_user(object$space, object$unit)
  sign <- if (object$settings$maximize) -1 else 1
  v <- sign * ifelse(object$status == "ok", object$y, NA)
  best <- sign * cummin(ifelse(is.na(v), Inf, v))
  best[!is.finite(best)] <- NA
  object$trace <- data.frame(iter = seq_len(n), y = object$y, best = best, criterion = as.double(object$log$value %||% numeric()),
                             used = as.character(object$log$used %||% character()), status = object$status,
                             seconds = as.double(object$log$seconds %||% numeric()), message = as.character(object$log$message %||% character()))
  if (any(!is.na(v))) {
    at <- which.min(v)
    object$best_y <- object$y[at]
    object$best_x <- bo_point(object$space, object$x, at)
  }
  object$convergence$iterations <- n
  object
}

bo_predict_unit <- function(object, unit) {
  core_bo_predict(bo_core_state(object), unit)
}

bo_ready <- function(object) {
  object <- check_bo(object)
  if (!any(object$status == "ok")) abort_input("There is no model yet: tell it results first, with bo_observe().", "object")
  bo_refresh(object)
}

# Values of a criterion at points, in the units of the response where the criterion has any.
bo_criterion_at <- function(object, x, criterion = NULL) {
  object <- bo_ready(object)
  if (missing(x)) fail_missing("x")
  criterion <- if (is.null(criterion)) object$criterion else as_acquisition(criterion)
  if (criterion$type == "hedge") abort_input("A hedge has no value of its own: ask for one of its criteria with `criterion`.", "criterion")
  unit <- if (is.null(object$space$embedding)) bo_to_unit(object$space, x) else bo_embedded(object, x)
  data <- bo_data(object)
  value <- core_bo_value(bo_core_state(object, data), list(criterion = criterion, noisy = bo_noisy(object)), unit, core_seed())
  # Back to the units of the response, where the criterion has any.
  switch(criterion$type, ei = value * data$scale^criterion$power, uncertainty = value * data$scale, lcb = , lcb_annealed = , return = , thompson = ,
         optimistic = value * data$scale - data$centre, value)
}
