#' Criteria of Bayesian optimisation
#'
#' What [bayes_opt()] maximises to find the next point, with its settings; alone, added, multiplied, or as the arms of a bandit.
#'
#' @details
#' The prediction at a point has location \eqn{m}, scale \eqn{s} and \eqn{\nu}{nu} degrees of freedom; \eqn{y^*}{y*} is the lowest observation (the
#' lowest
#' prediction at the data where responses are noisy), \eqn{d = (y^* - \xi - m)/s}{d = (y* - xi - m) / s}, and \eqn{T} a standard t or normal variable.
#'
#' | type | criterion |
#' | --- | --- |
#' | `"ei"` | expected improvement \eqn{s^g E\max(d - T, 0)^g}{s^g E max(d - T, 0)^g}, with `power` \eqn{g = 1}; larger exponents look further away |
#' | `"pi"` | probability of improvement \eqn{P(T < d)} |
#' | `"lcb"` | lower confidence bound \eqn{-(m - \kappa s)}{-(m - kappa s)} |
#' | `"lcb_annealed"` | the same with \eqn{\kappa_t = \{2\log(t^2\pi^2 D/6\delta)\}^{1/2}}{kappa_t = sqrt(2 log(t^2 pi^2 D / (6 delta)))} after t evaluations of D inputs |
#' | `"return"` | expected return \eqn{-m}: no exploration |
#' | `"uncertainty"` | \eqn{s}: exploration only (A-optimality) |
#' | `"thompson"` | \eqn{-f(x)} for one draw \eqn{f} of the whole process |
#' | `"optimistic"` | \eqn{-\min(m(x), f(x))}{-min(m(x), f(x))} for such a draw |
#' | `"distance"` | \eqn{-|x - x_{last}|}{-|x - x_last|}, the cost of moving, for sums |
#' | `"sum"` | weighted sum of others |
#' | `"product"` | product of others, with exponents `weights` |
#' | `"hedge"` | GP-Hedge: each criterion nominates a point; which is evaluated is drawn with probability proportional to \eqn{e^{\eta g_j}}{exp(eta g_j)} |
#'
#' The gain \eqn{g_j} of a criterion grows by \eqn{-m(x_j)} after each evaluation, \eqn{m} the new prediction. This rewards greed: plain gains soon
#' leave every evaluation to the criterion that explores least. `bounded` gains are shifted and scaled to \eqn{[0, 1]} before they are weighed, so
#' that each criterion keeps a share: the worst has \eqn{e^{-\eta}}{exp(-eta)} times that of the best.
#' Responses are standardised and inputs scaled to the unit cube before criteria are added or multiplied, so that weights
#' have no units. Under a t process with \eqn{\nu \le g}{nu <= g} expected improvement is infinite, and probability of improvement takes its place.
#'
#' Text such as `"hedge(ei, lcb(kappa = 2), thompson)"` works wherever a criterion is wanted.
#'
#' @section Which method when:
#' `"ei"` is a good first choice; `"lcb"` where exploration is to be steered by hand; `"thompson"` for many evaluations at once; a bandit of several
#' criteria where none is trusted. [gp_bandit()] where batches and regret matter and the candidates are a finite set.
#'
#' @param type The name of a criterion.
#' @param ... For `"sum"`, `"product"` and `"hedge"`: the criteria, as objects or text.
#' @param xi Improvement that does not count, in units of the standard deviation of the responses. `NULL` for 0.01 in `"pi"`, which without it never
#'   leaves the neighbourhood of the best point, and 0 elsewhere.
#' @param power \eqn{g} of expected improvement, a whole number from 1 to 20.
#' @param kappa Weight of the scale in `"lcb"`.
#' @param delta Of `"lcb_annealed"`: the probability that the bound may fail.
#' @param weights For `"sum"` and `"product"`: one number per criterion.
#' @param eta For `"hedge"`: how fast good criteria are preferred.
#' @param bounded For `"hedge"`: whether gains are scaled to \eqn{[0, 1]}.
#' @param x An acquisition, to be printed.
#' @return An object of class `granary_acquisition`.
#' @references
#' Martinez-Cantin (2014). BayesOpt: a Bayesian optimization library for nonlinear optimization, experimental design and bandits. *Journal of
#' Machine Learning Research* 15, 3735--3739.
#'
#' Hoffman, Brochu and de Freitas (2011). Portfolio allocation for Bayesian optimization. *Uncertainty in Artificial Intelligence*, 327--336.
#' @seealso [bayes_opt()], [gp_bandit()], [kriging()], [test_function()]
#' @export
#' @examples
#' bo_acquisition("lcb", kappa = 2)
#' bo_acquisition("sum", "ei", "distance", weights = c(1, 0.1))
#' bo_acquisition("hedge", "ei", bo_acquisition("lcb"), "thompson")
bo_acquisition <- function(type = "ei", ..., xi = NULL, power = 1, kappa = 1, delta = 0.1, weights = NULL, eta = 1, bounded = TRUE) {
  type <- check_choice(type, acquisition_types)
  parts <- list(...)
  combines <- type %in% c("sum", "product", "hedge")
  if (!combines && length(parts) > 0L) abort_input(sprintf("\"%s\" takes no other criteria: use \"sum\", \"product\" or \"hedge\".", type), "type")
  if (combines && length(parts) < 2L) abort_input(sprintf("\"%s\" needs at least two criteria to combine.", type), "type")
  parts <- lapply(unname(parts), as_acquisition, arg = "...")
  if (any(vapply(parts, function(p) p$type == "hedge", NA))) abort_input("A hedge stands outermost: it cannot be part of another criterion.", "...")
  if (is.null(weights)) {
    weights <- numeric()
  } else {
    if (!type %in% c("sum", "product")) abort_input("`weights` belong to \"sum\" and \"product\".", "weights")
    weights <- unname(check_vector(weights, length = length(parts)))
  }
  seal(structure(list(
    type = type, xi = check_number(xi, allow_null = TRUE) %||% if (type == "pi") 0.01 else 0,
    power = check_count(power, upper = 20L), kappa = check_number(kappa, lower = 0),
    delta = check_number(delta, lower = 0, upper = 1, strict_lower = TRUE, strict_upper = TRUE), eta = check_number(eta, lower = 0),
    bounded = check_flag(bounded), weights = weights, children = parts
  ), class = "granary_acquisition"))
}

acquisition_types <- c("ei", "pi", "lcb", "lcb_annealed", "return", "uncertainty", "thompson", "optimistic", "distance", "sum", "product", "hedge")

# From an object, or text read as nested calls of the names above with numbers for settings.
as_acquisition <- function(x, arg = "criterion") {
  if (inherits(x, "granary_acquisition")) return(x)
  expected <- "a criterion such as \"ei\", \"hedge(ei, lcb)\" or bo_acquisition(\"lcb\", kappa = 2)"
  if (!is.character(x) || length(x) != 1L || is.na(x)) fail_input(arg, expected, describe(x))
  refuse <- function(...) abort_input(sprintf("`%s` must be %s, but \"%s\" was not understood.\nThe names are %s.", arg, expected, x,
                                              paste(acquisition_types, collapse = ", ")), arg)
  setting <- function(e) {
    if (is.numeric(e) || is.logical(e)) return(e)
    if (is.call(e) && as.character(e[[1L]])[1L] %in% c("c", "-")) return(do.call(as.character(e[[1L]]), lapply(as.list(e)[-1L], setting)))
    refuse()
  }
  build <- function(e) {
    name <- if (is.call(e)) e[[1L]] else e
    if (!is.name(name) || !as.character(name) %in% acquisition_types) refuse()
    parts <- if (is.call(e)) as.list(e)[-1L] else list()
    given <- names(parts) %||% rep("", length(parts))
    if (!all(given %in% c("", setdiff(names(formals(bo_acquisition)), c("type", "..."))))) refuse()
    do.call(bo_acquisition, c(list(as.character(name)), lapply(parts[given == ""], build), lapply(parts[given != ""], setting)))
  }
  parsed <- tryCatch(parse(text = x, keep.source = FALSE)[[1L]], error = refuse)
  build(parsed)
}

acquisition_text <- function(x) {
  inner <- vapply(x$children, acquisition_text, "")
  own <- c(
    if (x$type == "pi" || (x$type == "ei" && x$xi != 0)) paste("xi =", format(x$xi)), if (x$type == "ei" && x$power != 1) paste("power =", x$power),
    if (x$type == "lcb") paste("kappa =", format(x$kappa)), if (x$type == "lcb_annealed") paste("delta =", format(x$delta)),
    if (length(x$weights) > 0L) paste0("weights = ", deparse1(x$weights)), if (x$type == "hedge") paste("eta =", format(x$eta))
  )
  if (length(c(inner, own)) == 0L) x$type else paste0(x$type, "(", paste(c(inner, own), collapse = ", "), ")")
}

#' @rdname bo_acquisition
#' @export
print.granary_acquisition <- function(x, ...) {
  cli::cat_line("criterion: ", acquisition_text(x))
  invisible(x)
}
