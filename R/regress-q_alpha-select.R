# Which features to keep, from their weights.

#' Select features by their weights
#'
#' Turns the weights of [q_alpha()], or the scores of [q_alpha_baseline()], into a selection of features; or selects those that come out on top again and
#' again in random halves of the samples.
#'
#' @details
#' With \eqn{w_{(1)} \ge w_{(2)} \ge \dots}{w(1) >= w(2) >= ...} the sorted weights, rule `"drop"` cuts where \eqn{w_{(j)} / w_{(j+1)}}{w(j) / w(j+1)} is
#' largest among cuts that keep at most `n` features (by default half of them) and have a weight of at least a hundredth of the largest above them; `"top"`
#' keeps the `n` largest; `"mass"` keeps the fewest whose squares add up to the share `mass` of all. `"stability"` refits to random halves of the samples
#' `x` (without replacement), takes the `n` largest each time, and keeps the features that were among them in more than half of the `n_rep` refits. The
#' refits use the workers of [future::plan()] when one is set.
#'
#' @section Which method when:
#' `"drop"` when the plot of the sorted weights has a step, `"mass"` when it fades, `"top"` for a fixed budget, `"stability"` when the answer is to be
#' trusted.
#'
#' @param object A fit of [q_alpha()] or [q_alpha_baseline()], or a named vector of scores, the larger the better. For `"stability"` one of [q_alpha()].
#' @param rule See Details.
#' @param n Number of features for `"top"` and `"stability"`, the most to keep for `"drop"`.
#' @param mass Share of the sum of squares for `"mass"`.
#' @param x For `"stability"`: the samples the fit was made of.
#' @param n_rep For `"stability"`: number of random halves.
#' @param ... For `"stability"`: further arguments of [q_alpha()] for the refits, such as `n_starts`.
#' @return A [granary_selection]. Row \eqn{j} of `table` stands for keeping the first \eqn{j} features: `features` (their number), `feature` (the last of
#'   them), `weight`, `mass`, `sparsity_gap` (mean weight of the features kept over that of the rest) and `estimate`, the criterion of the rule. `coef()` has
#'   the weights of the features selected, best first, and `predict(type = "selected")` their columns of new data.
#' @references
#' Wolf and Shashua (2005). *Journal of Machine Learning Research* 6, 1855--1887, Section 6.
#' @seealso [q_alpha()], [q_alpha_baseline()], [q_alpha_bounds()], [lasso()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_q_alpha("clusters", clusters = 2)
#' fit <- q_alpha(sim$x, k = 2)
#' choice <- q_alpha_select(fit)
#' choice
#' names(coef(choice))
#' names(coef(q_alpha_select(fit, "top", n = 3)))
#' q_alpha_select(fit, "stability", n = 5, x = sim$x, n_rep = 5, n_starts = 2)
q_alpha_select <- function(object, rule = c("drop", "top", "mass", "stability"), n = NULL, mass = 0.95, x = NULL, n_rep = 50, ...) {
  if (missing(object)) fail_missing("object")
  if (is_plain_numeric(object) && is.null(dim(object)) && !is.null(names(object))) object <- score_fit(check_vector(object), "given")
  if (!inherits(object, "granary_q_alpha")) fail_input("object", "a fit of q_alpha() or q_alpha_baseline(), or scores with names", describe(object))
  check_fit(object)
  rule <- check_choice(rule, c("drop", "top", "mass", "stability"))
  weights <- object$weights
  n <- check_count(n, upper = length(weights), allow_null = TRUE)
  mass <- check_number(mass, lower = 0, upper = 1, strict_lower = TRUE)
  n_rep <- check_count(n_rep, upper = 1e5)
  if (rule %in% c("top", "stability") && is.null(n)) abort_input(sprintf("`n` must be given with rule = \"%s\": the number of features to keep.", rule), "n")
  if (rule != "stability") refuse_dots(...)
  if (rule != "stability" && !is.null(x)) abort_input("`x` is for rule = \"stability\" only.", "x")
  share <- if (rule == "stability") selected_share(object, x, n, n_rep, ...)
  order <- if (is.null(share)) order(-weights) else order(-share, -weights)
  table <- feature_table(weights[order])
  count <- switch(rule,
    top = n,
    mass = if (sum(weights^2) > 0) which(table$mass >= mass * (1 - 1e-12))[1L] else 0L,
    drop = largest_drop(pmax(weights[order], 0), if (is.null(n)) max(1L, length(weights) %/% 2L) else n),
    stability = max(1L, sum(share > 0.5))
  )
  table$estimate <- switch(rule, mass = table$mass, drop = table$ratio, stability = share[order], table$weight)
  if (rule == "stability") table$std.error <- sqrt(table$estimate * (1 - table$estimate) / n_rep)
  chosen <- table$feature[seq_len(count)]
  measure <- c(drop = "weight over the next", top = "weight", mass = "share of the squared weights", stability = "share of refits with the feature")[[rule]]
  new_selection("q_alpha", object, table[setdiff(names(table), "ratio")], rule, measure, at = function(row) list(which = table$feature[seq_len(row)]),
                maximize = TRUE, axis = "features", selected = max(1L, count), features = chosen, call = shorten_call(match.call()))
}

# One row per number of features kept; `weights` are sorted.
feature_table <- function(weights) {
  p <- length(weights)
  kept <- seq_len(p)
  positive <- pmax(unname(weights), 0)
  squares <- (positive / max(positive[1L], .Machine$double.xmin))^2
  rest <- (sum(weights) - cumsum(weights)) / pmax(p - kept, 1)
  below <- c(pmax(positive[-1L], 1e-10 * positive[1L]), NA_real_)
  data.frame(features = kept, feature = names(weights), weight = unname(weights), mass = cumsum(squares) / max(sum(squares), .Machine$double.xmin),
             sparsity_gap = ifelse(kept == p | rest <= 0, Inf, unname(cumsum(weights) / kept / rest)), ratio = positive / below)
}

largest_drop <- function(sorted, most) {
  if (length(sorted) < 2L) return(length(sorted))
  if (sorted[1L] <= 0) return(0L)
  above <- unname(sorted[-length(sorted)])
  below <- pmax(unname(sorted[-1L]), 1e-10 * sorted[1L])
  ratio <- above / below
  ratio[above < 0.01 * sorted[1L] | seq_along(ratio) > most] <- -Inf
  which.max(ratio)
}

# The share of random halves in which each feature is among the n largest.
selected_share <- function(object, x, n, n_rep, ...) {
  if (inherits(object, "granary_q_alpha_baseline")) abort_input("rule = \"stability\" is for fits of q_alpha().", "rule")
  if (is.null(x)) abort_input("`x` must be given with rule = \"stability\": the samples the fit was made of.", "x")
  x <- new_design(x, names(object$weights), arg = "x", allow_sparse = FALSE)
  x <- check_design(x, "x", allow_sparse = FALSE, min_rows = 6L)
  k <- min(object$k, nrow(x) %/% 2L)
  chosen <- resample_lapply(seq_len(n_rep), function(r) {
    rows <- sort(sample.int(nrow(x), nrow(x) %/% 2L))
    weights <- suppressWarnings(q_alpha(x[rows, , drop = FALSE], k, ...))$weights
    names(weights)[order(-weights)[seq_len(n)]]
  }, "subsamples")
  tabulate(match(unlist(chosen), names(object$weights)), length(object$weights)) / n_rep
}

# What print(), summary() and plot() suggest: the features above the largest drop.
suggested_features <- function(fit) {
  order <- order(-fit$weights)
  count <- largest_drop(pmax(fit$weights[order], 0), max(1L, length(order) %/% 2L))
  names(fit$weights)[order[seq_len(count)]]
}

sparsity_gap <- function(weights, selected) {
  inside <- names(weights) %in% selected
  if (!any(inside)) return(0)
  rest <- weights[!inside]
  if (length(rest) == 0L || mean(rest) <= 0) return(Inf)
  mean(weights[inside]) / mean(rest)
}

# Names or positions of features as a logical vector along `weights`.
check_features <- function(features, weights, arg) {
  if (is.character(features)) {
    unknown <- setdiff(features, names(weights))
    if (length(unknown) > 0L) abort_input(sprintf("`%s` names a feature that is not there: \"%s\".", arg, unknown[1L]), arg)
    return(names(weights) %in% features)
  }
  at <- check_vector(features, arg, min_length = 0L, lower = 1, upper = length(weights))
  if (any(at != round(at))) abort_input(sprintf("`%s` must hold names or whole numbers.", arg), arg)
  seq_along(weights) %in% at
}
