#' Mixtures and hidden Markov models with a certificate
#'
#' Fits mixtures of Gaussian, Poisson, multinomial or categorical rows (latent classes), and hidden Markov models of
#' sequences of such rows, by expectation-maximisation in its exact, incremental, generalised, accelerated, hard and
#' constrained forms, and says of each whether it still leads to the likelihood.
#'
#' @details
#' With \eqn{Q} a law of the hidden states and \eqn{\theta}{theta} the parameters, every variant lowers
#' \deqn{D(Q, \theta) = E_Q \log q - E_Q \log p(z, y; \theta) = KL(Q || p(z | y; \theta)) - \log p(y; \theta)}{D(Q, theta) = E_Q log q - E_Q log p(z, y; theta) = KL(Q || p(z | y; theta)) - log p(y; theta)}
#' by turns over \eqn{Q} (the forward step) and \eqn{\theta}{theta} (the backward step). \eqn{-D} never exceeds the
#' log-likelihood, and `gap` \eqn{= D + \log p(y)}{= D + log p(y)} is the divergence between \eqn{Q} and the posterior.
#' The models are exponential families, so that \eqn{D} is known exactly after every step without another pass over the
#' data; `trace` has it.
#'
#' `method = "em"` takes both steps in full. `"incremental"` takes the rows in `blocks`, and a backward step after each:
#' fewer passes over large data, the same limits. `"gem"` goes the share `step` of the way to the maximum of the backward
#' step, less where \eqn{D} would rise. `"squarem"` leaps along two steps of EM and takes the leap only where the
#' likelihood does not fall; it needs the fewest passes where EM crawls. `partial` > 0 looks only at rows whose
#' memberships still move by more than that, and at all of them every `refresh` passes.
#'
#' `forward` keeps \eqn{Q} in a smaller family: `"hard"` gives every row one state (classification EM; for sequences the
#' best path), `"box"` holds memberships between `lower` and `upper`, `"tempered"` multiplies the entropy in \eqn{D} by
#' `temperature`. Limits then have a gap and are not maxima of the likelihood; `print()` says so.
#'
#' A fit has converged when \eqn{D} fell by less than `tol` of itself over a pass and the derivative of the
#' log-likelihood per row, in units of the model's own standard deviations (`score`), is below
#' \eqn{\sqrt{tol}}{sqrt(tol)}. Both are computed from what is returned. `change` is how far one more step of EM would
#' move the parameters.
#'
#' A Gaussian component can shrink to a point, where the likelihood is infinite. Its covariance is then lifted by 1e-6 of
#' the variances of the columns, and the fit warns; `prior` = 1 or more rows (of the overall covariance, and of every
#' state, transition and category) makes the problem proper (MAP).
#'
#' @section Which method when:
#' `em_fit()` when the likelihood, its certificate, or sequences matter; [bregman_cluster()] and [vmf_mixture()] for other
#' laws and for directions; [label_accuracy()] for how far the memberships can be trusted; `method = "incremental"` from
#' some ten thousand rows on, `"squarem"` for components that overlap.
#'
#' @param x Rows: a numeric matrix or data frame (counts may be sparse); for `"categorical"` a data frame of factors or
#'   words, in which values may be missing. For sequences a list of such, one element each, or rows with `id`.
#' @param k Number of components or states.
#' @param family Law of the rows in each state.
#' @param covariance For `"gaussian"`: covariances of the states. `"full"`, `"diagonal"` and `"spherical"` differ between
#'   states; `"tied"` is one for all.
#' @param method How the steps are taken.
#' @param id For sequences in one table: which sequence each row belongs to; rows of a sequence stand in order.
#' @param weights Case weights: one per row, or per sequence.
#' @param forward The family of \eqn{Q}.
#' @param lower,upper For `"box"`: bounds of the memberships.
#' @param temperature For `"tempered"`.
#' @param blocks For `"incremental"`: number of blocks.
#' @param order For `"incremental"`: blocks in a `"fixed"` order, or a `"random"` one in every pass.
#' @param step For `"gem"`: share of the way that is tried first.
#' @param partial,refresh Only rows that moved by more than `partial` are looked at again, all of them every `refresh` passes.
#' @param prior Rows' worth of prior information in every state.
#' @param equal_share Whether all components have the same share.
#' @param start `"kmeans"`, `"random"`, labels of the rows, a matrix of memberships, or a fit made before.
#' @param n_starts Number of starts, of which the best is kept.
#' @param tol Stop when \eqn{D} falls by less than this share of itself over a pass.
#' @param max_iter Largest number of passes from each start.
#' @param threads Number of threads; see `options(granary.threads)`.
#' @return An object of class `granary_em_fit`, a [granary_clustering], with `cluster`, `membership`, `share` (for
#'   sequences the law of the first state), `centers` (means, rates or probabilities), `covariance` (a list),
#'   `transition`, `loglik`, `df`, `divergence`, `gap`, `score`, `change`, `trace` (per step: `pass`, `forward` and
#'   `backward`, that is \eqn{D} after them, `loglik`, `gap`, and `delta`, what the gap adds to the guaranteed rise of the
#'   likelihood), `rises` and `falls` (steps in which \eqn{D} rose, passes in which the likelihood fell), `values` of all
#'   starts.
#' @references Gunawardana and Byrne (2005). Convergence theorems for generalized alternating minimization procedures.
#'   *Journal of Machine Learning Research* 6, 2049--2073.
#' @seealso [em_select()], [em_iterate()], [boltzmann_fit()], [sim_em()], [bregman_cluster()], [granary_clustering].
#' @export
#' @examples
#' set.seed(1)
#' fit <- em_fit(faithful, k = 2)
#' fit
#' summary(fit)
#' plot(fit, newdata = faithful)
#' fast <- em_fit(faithful, k = 2, method = "incremental", start = fit)
#' c(logLik(fit), logLik(fast))
#'
#' waves <- sim_em(3, family = "gaussian", means = rbind(0, 3), transition = rbind(c(.9, .1), c(.2, .8)), length = 60)
#' chain <- em_fit(waves$x, k = 2, id = waves$id)
#' round(chain$transition, 2)
em_fit <- function(x, k, family = c("gaussian", "poisson", "multinomial", "categorical"),
                   covariance = c("full", "diagonal", "spherical", "tied"),
                   method = c("em", "incremental", "gem", "squarem"), id = NULL, weights = NULL,
                   forward = c("exact", "hard", "box", "tempered"), lower = 0, upper = 1, temperature = 1, blocks = 20,
                   order = c("fixed", "random"), step = 0.5, partial = 0, refresh = 5, prior = 0, equal_share = FALSE,
                   start = "kmeans", n_starts = 5, tol = 1e-8, max_iter = 1000, threads = NULL) {
  call <- match.call()
  if (missing(x)) fail_missing("x")
  if (missing(k)) fail_missing("k")
  family <- check_choice(family, c("gaussian", "poisson", "multinomial", "categorical"))
  data <- em_data(x, id, family, weights)
  k <- check_clusters(k, nrow(data$rows))
  em <- list(method = check_choice(method, c("em", "incremental", "gem", "squarem")),
             forward = check_choice(forward, c("exact", "hard", "box", "tempered")),
             lower = check_number(lower, lower = 0, upper = 1), upper = check_number(upper, lower = 0, upper = 1),
             temperature = check_number(temperature, lower = 0, strict_lower = TRUE), blocks = check_count(blocks),
             order = check_choice(order, c("fixed", "random")),
             step = check_number(step, lower = 0, upper = 1, strict_lower = TRUE),
             partial = check_number(partial, lower = 0), refresh = check_count(refresh),
             tol = check_number(tol, lower = 0, strict_lower = TRUE), max_iter = check_count(max_iter))
  if (em$forward == "box" && (k * em$lower > 1 || k * em$upper < 1)) {
    abort_input(sprintf("No memberships of %d states lie between `lower` = %s and `upper` = %s: their sum must be 1.", k, format(em$lower),
                        format(em$upper)), "lower")
  }
  sequences <- length(data$core$begin) > 0L
  if (sequences && em$forward %in% c("box", "tempered")) abort_input("For sequences `forward` must be \"exact\" or \"hard\".", "forward")
  if (sequences && em$partial > 0) abort_input("`partial` steps are for rows that stand alone, not for sequences.", "partial")
  options <- list(family = family, covariance = check_choice(covariance, c("full", "diagonal", "spherical", "tied")), k = k,
                  prior = check_number(prior, lower = 0), equal_share = check_flag(equal_share), n_starts = check_count(n_starts), em = em,
                  threads = thread_count(threads))
  found <- core_em_fit(data$core, c(options, em_start(start, data, options)), core_seed(), progress_bar("mixture"))
  fit <- new_em_fit(found, data, options, given = !is.character(start) || length(start) != 1L, call)
  em_warnings(fit)
  check_convergence(fit, if (fit$lifted > 0L) "At the floor more passes do not help." else "Raise `max_iter`, use method = \"squarem\", or fewer components.")
}

# Rows in the form the core wants: `rows` (with names), `core` (x, levels, begin, weights), `ids` of the sequences, `labels` of items.
em_data <- function(x, id, family, weights, arg = "x", levels = NULL, columns = NULL) {
  if (is.list(x) && !is.data.frame(x)) {
    if (!is.null(id)) abort_input("`id` is for rows in one table; a list of sequences says itself which rows belong together.", "id")
    if (length(x) == 0L) fail_input(arg, "a list with at least one sequence", "an empty list")
    parts <- lapply(seq_along(x), function(i) em_sequence(x[[i]], family, sprintf("%s[[%d]]", arg, i)))
    widths <- vapply(parts, ncol, 0L)
    if (length(unique(widths)) > 1L) {
      abort_input(sprintf("All sequences must have the same columns, but `%s[[1]]` has %d and `%s[[%d]]` has %d.", arg, widths[1L], arg,
                          which(widths != widths[1L])[1L], widths[widths != widths[1L]][1L]), arg)
    }
    first <- colnames(parts[[1L]])
    if (!is.null(first)) parts <- lapply(parts, function(part) if (is.null(colnames(part))) part else part[, match_all(colnames(part), first, arg), drop = FALSE])
    id <- rep(if (is.null(names(x))) seq_along(x) else names(x), vapply(parts, nrow, 0L))
    if (anyDuplicated(names(x)) > 0L) id <- rep(seq_along(x), vapply(parts, nrow, 0L))
    x <- do.call(rbind, lapply(parts, as_table))
    from_list <- TRUE
  } else {
    from_list <- FALSE
  }
  items <- NULL
  if (family == "categorical") {
    coded <- item_codes(x, arg, levels, columns)
    rows <- coded$codes
    items <- coded$levels
  } else {
    rows <- check_rows(x, arg)
    if (!is.null(columns)) rows <- new_design(rows, columns, arg = arg)
    if (family == "gaussian" && isS4(rows)) rows <- as.matrix(rows)
    if (family != "gaussian") check_counts(rows, arg)
  }
  begin <- numeric()
  ids <- NULL
  if (!is.null(id)) {
    if (length(id) != nrow(rows) || anyNA(id)) fail_input("id", sprintf("one value for each of the %d rows, none missing", nrow(rows)), describe(id))
    runs <- rle(as.character(id))
    if (anyDuplicated(runs$values) > 0L) {
      abort_input(sprintf("The rows of a sequence must stand together, but `id` has \"%s\" in two places: sort the rows by `id`.",
                          runs$values[anyDuplicated(runs$values)]), "id")
    }
    begin <- c(0, cumsum(runs$lengths))
    ids <- runs$values
  }
  weights <- check_case_weights(weights, if (is.null(id)) nrow(rows) else length(ids))
  list(rows = rows, core = list(x = plain_rows(rows), levels = as.integer(lengths(items)), begin = begin, weights = weights), ids = ids, items = items,
       from_list = from_list)
}

em_sequence <- function(part, family, arg) {
  if (is.null(part) || length(part) == 0L) fail_input(arg, "a sequence with at least one row", describe(part))
  if (is.null(dim(part))) {
    if (family == "categorical") return(data.frame(item = as.character(part), stringsAsFactors = FALSE))
    return(check_rows(part, arg))
  }
  if (family == "categorical") as.data.frame(part, stringsAsFactors = FALSE) else check_rows(part, arg)
}

as_table <- function(part) if (is.data.frame(part)) data.frame(lapply(part, as.character), stringsAsFactors = FALSE, check.names = FALSE) else as.matrix(part)

match_all <- function(have, want, arg) {
  at <- match(want, have)
  if (anyNA(at)) abort_input(sprintf("All sequences must have the same columns, but one of `%s` has no \"%s\".", arg, want[is.na(at)][1L]), arg)
  at
}

check_counts <- function(x, arg) {
  values <- if (isS4(x)) x@x else x
  if (any(values < 0)) abort_input(sprintf("`%s` must hold counts, but there is a negative one.", arg), arg)
  if (any(values != round(values))) {
    abort_input(sprintf("`%s` must hold counts, but there is %s.", arg, format(values[values != round(values)][1L], digits = 4L)), arg)
  }
  invisible(x)
}

# Codes from 1, 0 where missing, and the levels of every item.
item_codes <- function(x, arg, levels = NULL, columns = NULL) {
  if (is.null(dim(x))) x <- data.frame(item = x)
  x <- as.data.frame(x, stringsAsFactors = FALSE)
  if (nrow(x) < 1L || ncol(x) < 1L) fail_input(arg, "items with at least one row and one column", describe(x))
  if (!is.null(columns)) {
    at <- match(columns, names(x))
    if (anyNA(at)) abort_input(sprintf("`%s` lacks the item \"%s\".", arg, columns[is.na(at)][1L]), arg)
    x <- x[at]
  }
  odd <- !vapply(x, function(item) is.factor(item) || is.character(item) || is.logical(item) || is_plain_numeric(item), NA)
  if (any(odd)) fail_input(arg, "factors, words, flags or whole numbers in every column", sprintf("column \"%s\" of class %s", names(x)[odd][1L], class(x[[which(odd)[1L]]])[1L]))
  if (is.null(levels)) {
    levels <- lapply(x, function(item) if (is.factor(item)) base::levels(droplevels(item)) else as.character(sort(unique(item[!is.na(item)]))))
    empty <- lengths(levels) == 0L
    if (any(empty)) abort_input(sprintf("Item \"%s\" of `%s` has no value at all.", names(x)[empty][1L], arg), arg)
  }
  codes <- vapply(seq_along(x), function(j) {
    value <- as.character(x[[j]])
    code <- match(value, levels[[j]], nomatch = 0L)
    new <- code == 0L & !is.na(value)
    if (any(new)) abort_input(sprintf("Item \"%s\" of `%s` has the value \"%s\", which the model does not know.", names(x)[j], arg, value[new][1L]), arg)
    as.double(code)
  }, numeric(nrow(x)))
  codes <- matrix(codes, nrow(x), dimnames = list(if (is.character(attr(x, "row.names"))) row.names(x), names(x)))
  list(codes = codes, levels = stats::setNames(levels, names(x)))
}

em_start <- function(start, data, options) {
  if (is.character(start) && length(start) == 1L && nrow(data$rows) != 1L) return(list(start = check_choice(start, c("kmeans", "random"))))
  n <- nrow(data$rows)
  if (inherits(start, "granary_em_fit")) {
    check_fit(start)
    same <- start$family == options$family && length(start$sizes) == options$k && ncol(start$centers) == ncol(em_centers_width(data, options))
    if (!same) abort_input("`start` must be a fit with the same family, columns and number of states.", "start")
    return(list(start = "parameters", parameters = em_parameters(start, !is.null(data$ids))))
  }
  if (is.matrix(start) && is.numeric(start)) {
    start <- check_matrix(start, "start")
    if (nrow(start) != n || ncol(start) != options$k) {
      abort_input(sprintf("`start` must be a matrix of memberships, %d x %d, but it is %d x %d.", n, options$k, nrow(start), ncol(start)), "start")
    }
    if (any(start < 0) || any(abs(rowSums(start) - 1) > 1e-6)) abort_input("Memberships in `start` must not be negative and have sum 1 in every row.", "start")
    return(list(start = "membership", membership = unname(start)))
  }
  labels <- check_labels(start, "start")
  if (length(labels) != n) fail_input("start", sprintf("\"kmeans\", \"random\", a fit, memberships, or one label for each of the %d rows", n), describe(start))
  labels <- droplevels(as.factor(labels))
  if (nlevels(labels) != options$k) abort_input(sprintf("`start` must have %d different labels, but it has %d.", options$k, nlevels(labels)), "start")
  membership <- matrix(0, n, options$k)
  membership[cbind(seq_len(n), as.integer(labels))] <- 1
  list(start = "membership", membership = membership)
}

em_centers_width <- function(data, options) {
  if (options$family == "categorical") matrix(0, 1L, sum(lengths(data$items))) else data$rows[1L, , drop = FALSE]
}

em_parameters <- function(fit, sequences) {
  k <- length(fit$share)
  list(share = unname(fit$share),
       transition = if (!sequences) matrix(0, 0L, 0L) else if (is.null(fit$transition)) matrix(1 / k, k, k) else unname(fit$transition),
       gaussian = list(means = if (fit$family == "gaussian") unname(fit$centers) else matrix(0, 0L, 0L),
                       covariance = if (fit$family == "gaussian") lapply(unname(fit$covariance), unname) else list()),
       table = if (fit$family == "gaussian") matrix(0, 0L, 0L) else unname(fit$centers))
}

# Largest state first, unless the start had an order of its own.
new_em_fit <- function(found, data, options, given, call) {
  k <- options$k
  p <- found$parameters
  sizes <- colSums(found$membership * row_weights(data))
  at <- if (given) seq_len(k) else order(-sizes, seq_len(k))
  gaussian <- options$family == "gaussian"
  names <- if (options$family == "categorical") {
    unlist(lapply(names(data$items), function(item) paste0(item, "=", data$items[[item]])))
  } else {
    variable_names(colnames(data$rows), ncol(data$rows))
  }
  centers <- (if (gaussian) p$gaussian$means else p$table)[at, , drop = FALSE]
  dimnames(centers) <- list(seq_len(k), names)
  covariance <- if (gaussian) stats::setNames(lapply(p$gaussian$covariance[at], function(s) structure(s, dimnames = list(names, names))), seq_len(k))
  sequences <- !is.null(data$ids)
  trace <- as.data.frame(found$trace)
  trace$loglik[is.nan(trace$loglik)] <- NA  # passes that looked at a part of the rows only
  trace$gap <- trace$forward + trace$loglik
  trace$delta <- c(diff(trace$gap), NA_real_)
  states <- as.character(seq_len(k))
  fit <- new_clustering(
    "em_fit", cluster = stats::setNames(match(found$cluster, at), rownames(data$rows)), centers = centers, sizes = unname(sizes[at]),
    objective = found$loglik, membership = structure(found$membership[, at, drop = FALSE], dimnames = list(rownames(data$rows), states)),
    share = p$share[at], covariance = covariance,
    transition = if (sequences) structure(p$transition[at, at, drop = FALSE], dimnames = list(from = states, to = states)), family = options$family,
    covariance_type = if (gaussian) options$covariance, items = data$items, ids = data$ids, lengths = if (sequences) diff(data$core$begin),
    row_loglik = found$row_loglik, loglik = found$loglik, df = found$df, divergence = found$divergence, gap = found$gap, score = found$score,
    change = found$change, rises = found$rises, falls = found$falls, lifted = found$lifted, trace = trace, values = found$values, settings = options$em,
    prior = options$prior, per_cluster = list(share = p$share[at]), size = if (options$family == "multinomial") multinomial_sizes(data$rows),
    title = em_title(options, sequences, length(data$ids), ncol(data$rows)), measure = "Log-likelihood", call = call, convergence = found$convergence
  )
  fit$n <- if (sequences) length(data$ids) else nrow(data$rows)
  seal(fit)
}

multinomial_sizes <- function(rows) round(mean(if (isS4(rows)) Matrix::rowSums(rows) else rowSums(rows)))

row_weights <- function(data) {
  w <- data$core$weights
  if (length(w) == 0L) return(1)
  if (is.null(data$ids)) w else rep(w, diff(data$core$begin))
}

em_title <- function(options, sequences, count, columns) {
  law <- switch(options$family, gaussian = paste0("Gaussian (", options$covariance, " covariances)"), poisson = "Poisson", multinomial = "multinomial",
                categorical = "categorical")
  if (sequences) {
    sprintf("Hidden Markov model, %s rows: %d states, %s", law, options$k, counted(count, "sequence", "sequences"))
  } else {
    sprintf("Mixture of %s rows: %s, %s", law, counted(options$k, "component", "components"), counted(columns, "column", "columns"))
  }
}

em_warnings <- function(fit) {
  if (fit$lifted > 0L) {
    warn_input("The covariance of a state shrinks towards a point and is held up by a floor; the likelihood has no maximum there. Use `prior = 1`, fewer states, or another kind of `covariance`.")
  }
  empty <- which(fit$sizes < 1e-6 * sum(fit$sizes))
  if (length(empty) > 0L) warn_input(sprintf("%s left without rows: use a smaller `k` or more starts.", counted(length(empty), "state was", "states were")))
  invisible(fit)
}
