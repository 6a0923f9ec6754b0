#' Which answers can be boosted
#'
#' Whether votes of the members of a finite pool can be right everywhere, and how large the edge of the pool is under each condition on weak learners: for many classes
#' the conditions behind SAMME, AdaBoost.M1 and AdaBoost.MH differ from what is necessary and sufficient.
#'
#' @details
#' With \eqn{P_i(l) = \sum_h \lambda_h 1[h(x_i) = l]}{P_i(l) = sum_h lambda_h 1[h(x_i) = l]} every condition is a matrix game, solved by linear programming:
#' \tabular{lll}{
#' `mr` \tab \eqn{M = \max_\lambda \min_{i, l \ne y_i} P_i(y_i) - P_i(l)}{M = max_lambda min_{i, l != y_i} P_i(y_i) - P_i(l)}, \eqn{\gamma = M/2}{gamma = M / 2} \tab necessary and sufficient \cr
#' `uniform` \tab \eqn{u = \min_\lambda \max_{i, l \ne y_i} P_i(l)}{u = min_lambda max_{i, l != y_i} P_i(l)}, \eqn{\gamma = 1 - k u}{gamma = 1 - k u} \tab sufficient \cr
#' `m1` \tab \eqn{V = \max_\lambda \min_i P_i(y_i)}{V = max_lambda min_i P_i(y_i)}, \eqn{\gamma = 2 V - 1}{gamma = 2 V - 1} \tab sufficient (AdaBoost.MH has the same) \cr
#' `samme` \tab the same \eqn{V}{V}, \eqn{\gamma = (V - 1/k) / (1 - 1/k)}{gamma = (V - 1/k) / (1 - 1/k)} \tab necessary only \cr
#' `baseline` \tab \eqn{\max_\lambda \min_{i, l \ne y_i} B(i, l) - P_i(l)}{max_lambda min_{i, l != y_i} B(i, l) - P_i(l)} \tab met if not negative
#' }
#' A condition is met when its \eqn{\gamma}{gamma} is positive beyond the gap of its game. `cost` holds the hardest costs of each condition: no member does better on them than its value says.
#'
#' @section Which method when:
#' `boost_check()` before boosting a finite pool, or on the answers of trained models, to see whether a vote of them can do. `boost(learner = "pool")` gives the vote.
#' [boost_game()] is for two classes and for any matrix of pay-offs.
#'
#' @param x Answers: one row per example, one column per member of the pool, labels as in `y`.
#' @param y Classes, one per row.
#' @param baseline A matrix, one row per example and one column per class, of distributions to compare with; or `NULL`.
#' @param levels All classes, where `y` does not show them all; or `NULL`.
#' @return An object of class `granary_boost_check`, inheriting from `granary_fit`: `table` (condition, value, gamma, met, gap), `lambda` (a matrix, mixtures of the members by condition),
#'   `cost` (a list of matrices), `boostable`.
#' @references
#' Mukherjee, I. and Schapire, R. E. (2010). A theory of multiclass boosting. *Advances in Neural Information Processing Systems* 23.
#' @seealso [boost()], [boost_bounds()]
#' @export
#' @examples
#' # SAMME's condition holds, and yet no vote is right in both rows
#' boost_check(cbind(always_1 = c(1, 1), always_2 = c(2, 2)), y = c(1, 2), levels = 1:3)
boost_check <- function(x, y, baseline = NULL, levels = NULL) {
  call <- match.call()
  if (missing(x)) fail_missing("x")
  if (missing(y)) fail_missing("y")
  classes <- boost_labels(y, NROW(x), levels)
  k <- length(classes$levels)
  answers <- pool_answers(x, classes$levels, FALSE, "x")
  m <- nrow(answers)
  conditions <- c("mr", "uniform", "m1", "samme", if (!is.null(baseline)) "baseline")
  baseline <- if (is.null(baseline)) matrix(0, 0L, 0L) else check_baseline(baseline, m, classes$levels)
  found <- lapply(conditions, core_boost_condition, list(answers = unname_design(answers), y = classes$y, k = k, baseline = unname_design(baseline)), progress_bar("boost_check"))
  names(found) <- conditions
  part <- function(name) unname(vapply(found, `[[`, 0, name))
  role <- c(mr = "necessary and sufficient", uniform = "sufficient", m1 = "sufficient", samme = "necessary", baseline = "")
  table <- data.frame(condition = conditions, value = part("value"), gamma = part("gamma"), gap = part("gap"), role = unname(role[conditions]))
  table$met <- ifelse(conditions == "baseline", table$gamma >= -1e-9, table$gamma > 1e-9)
  members <- if (is.null(colnames(answers))) paste0("V", seq_len(ncol(answers))) else colnames(answers)
  lambda <- matrix(unlist(lapply(found, `[[`, "lambda")), ncol(answers), dimnames = list(members, conditions))
  cost <- lapply(found, function(one) matrix(one$cost, m, dimnames = list(rownames(answers), classes$levels)))
  new_fit("boost_check", table = table, lambda = lambda, cost = cost, boostable = table$met[1L], levels = classes$levels, n = m, call = call,
          convergence = list(converged = all(table$gap <= 1e-6), iterations = NA_integer_, gap = max(table$gap), residual = NaN, seconds = NaN, message = "", reason = "solved"))
}

boost_labels <- function(y, n, levels) {
  if (!is.null(levels)) {
    if (!is.atomic(levels) || length(levels) < 2L || anyNA(levels) || anyDuplicated(levels) > 0L) fail_input("levels", "at least two different labels", describe(levels))
    levels <- as.character(levels)
    if (length(y) != n) abort_input(sprintf("`y` must have one label per row, %d, but it has %d.", n, length(y)), "y")
    at <- match(words_of(if (is.factor(y)) as.character(y) else y, levels), levels)
    if (anyNA(at)) abort_input(sprintf("`y` must hold labels of `levels`, but label %d is %s.", which(is.na(at))[1L], format(y[which(is.na(at))[1L]])), "y")
    return(list(y = as.double(at) - 1, levels = levels))
  }
  tree_classes(y, n)
}

check_baseline <- function(baseline, m, levels) {
  baseline <- check_matrix(baseline, "baseline")
  if (nrow(baseline) != m || ncol(baseline) != length(levels)) {
    fail_input("baseline", sprintf("a matrix with %d rows and %d columns", m, length(levels)), sprintf("%d x %d", nrow(baseline), ncol(baseline)))
  }
  if (!is.null(colnames(baseline))) baseline <- match_columns(baseline, levels, "baseline")
  off <- which(rowSums(baseline < 0) > 0 | abs(rowSums(baseline) - 1) > 1e-8)
  if (length(off) > 0L) abort_input(sprintf("Every row of `baseline` must be a distribution, but row %d is not.", off[1L]), "baseline")
  baseline
}

#' @export
print.granary_boost_check <- function(x, ...) {
  cli::cat_line("Can the pool be boosted? ", if (x$boostable) "Yes: a vote of its members is right in every row" else "No: no vote of its members is right in every row")
  print_call(x$call)
  cli::cat_line(counted(x$n, "row", "rows"), ", ", counted(nrow(x$lambda), "member", "members"), ", ", length(x$levels), " classes\n")
  print(x$table[c("condition", "gamma", "met", "role")], digits = 4L, row.names = FALSE)
  invisible(x)
}

#' @rdname boost_check
#' @param ... Further arguments of [graphics::barplot()].
#' @export
plot.granary_boost_check <- function(x, ...) {
  old <- graphics::par(mar = c(3.1, 4.1, 1.1, 1.1))
  on.exit(graphics::par(old))
  gamma <- stats::setNames(x$table$gamma, x$table$condition)
  draw(graphics::barplot, gamma, col = ifelse(x$table$met, "#009E73", "#D55E00"), border = NA, ylab = "edge of the pool", las = 1L, main = "", user = list(...))
  graphics::abline(h = 0)
  invisible(x)
}

#' @export
tidy.granary_boost_check <- function(x, ...) x$table

#' @rdname boost_check
#' @usage \method{autoplot}{granary_boost_check}(object, ...)
#' @param object A result of `boost_check()`.
#' @exportS3Method ggplot2::autoplot
autoplot.granary_boost_check <- function(object, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  check_installed("ggplot2", "autoplot()")
  table <- object$table
  table$condition <- factor(table$condition, table$condition)
  gg_canvas(table, ggplot2::aes(.data$condition, .data$gamma, fill = .data$met)) + ggplot2::geom_col() + gg_palette("fill") + ggplot2::labs(x = NULL, y = "edge of the pool", fill = "met")
}

#' The largest smallest margin of a matrix of answers
#'
#' \eqn{\max_\alpha \min_i (U \alpha)_i}{max_alpha min_i (U alpha)_i} over distributions \eqn{\alpha}{alpha}, with the weights of the rows that prove it: the value of a matrix game, the hard
#' margin of boosting, or the best mixture of strategies against the worst case.
#'
#' @details
#' By linear programming, exact to rounding; or by AdaBoost*, within `nu` after at most \eqn{2 \log N / \nu^2}{2 log N / nu^2} rounds of one product with
#' \eqn{U}{U} each (scaled to \eqn{[-1, 1]}{[-1, 1]}), for matrices too large for the former. `value` is the smallest margin of `alpha`, `upper` the largest edge of `weights`; both are
#' computed from the answer, and the value of the game lies between them. With `negate` a column may stand with either sign, \eqn{\sum_j |\alpha_j| = 1}{sum_j |alpha_j| = 1}: the value
#' then is never below 0, and it is the one-norm margin \eqn{\min_i (U \alpha)_i / \|\alpha\|_1}{min_i (U alpha)_i / |alpha|_1} where that is not negative.
#'
#' @section Which method when:
#' `"lp"` up to some thousand rows or columns, `"boost"` beyond, or where a precision of one percent does. [boost()] with `learner = "pool"` for a classifier.
#'
#' @param x The matrix \eqn{U}{U}: by row the margins \eqn{y_i h_j(x_i)}{y_i h_j(x_i)}, or the pay-offs to whoever chooses the column.
#' @param method `"lp"` or `"boost"`.
#' @param nu Precision of `"boost"`, in the units of `x`.
#' @param max_iter Most rounds of `"boost"`.
#' @param negate Whether columns may be taken with the opposite sign.
#' @return An object of class `granary_boost_game`, inheriting from `granary_fit`: `value`, `upper`, `alpha` (by column), `weights` (by row), `margins`.
#' @references
#' Ratsch, G. and Warmuth, M. K. (2005). Efficient margin maximizing with boosting. *Journal of Machine Learning Research* 6, 2131-2152.
#' @seealso [boost()], [boost_check()]
#' @export
#' @examples
#' boost_game(1 - 2 * diag(3))
#' boost_game(1 - 2 * diag(3), "boost", nu = 0.05)
boost_game <- function(x, method = c("lp", "boost"), nu = 0.01, max_iter = 1e6, negate = FALSE) {
  call <- match.call()
  x <- check_matrix(x)
  if (check_flag(negate)) x <- closed_pool(x)
  method <- check_choice(method, c("lp", "boost"))
  nu <- check_number(nu, lower = 0, strict_lower = TRUE)
  max_iter <- check_count(max_iter)
  if (method == "lp" && length(x) > 2e7) abort_input(sprintf("`x` has %.3g entries, too many for linear programming: use method = \"boost\".", length(x)), "x")
  found <- core_margin_game(unname_design(x), method == "lp", nu, max_iter, progress_bar("boost_game"))
  if (negate) {  # one signed weight for an answer and its opposite
    half <- seq_len(ncol(x) / 2L)
    found$alpha <- found$alpha[half] - found$alpha[-half]
    x <- x[, half, drop = FALSE]
  }
  alpha <- stats::setNames(found$alpha, colnames(x))
  fit <- new_fit("boost_game", value = found$value, upper = found$upper, alpha = alpha, weights = stats::setNames(found$d, rownames(x)),
                 margins = stats::setNames(drop(x %*% found$alpha), rownames(x)), coefficients = stats::setNames(found$alpha, variable_names(colnames(x), ncol(x))),
                 method = method, n = nrow(x), call = call, convergence = found$convergence)
  check_convergence(fit, "Raise `max_iter`, or give a larger `nu`.")
}

#' @export
print.granary_boost_game <- function(x, ...) {
  cli::cat_line(sprintf("Smallest margin %.6g, at most %.6g for any mixture", x$value, x$upper))
  print_call(x$call)
  cli::cat_line(counted(sum(abs(x$alpha) > 1e-9), "column", "columns"), " of ", length(x$alpha), " in the mixture, ", counted(sum(x$weights > 1e-9), "row", "rows"), " of ", x$n, " with weight")
  cli::cat_line("Solver: ", format_convergence(x$convergence))
  invisible(x)
}

#' @rdname boost_game
#' @param ... Further arguments of [graphics::plot()].
#' @export
plot.granary_boost_game <- function(x, ...) {
  old <- graphics::par(mar = c(4.1, 4.1, 1.1, 1.1))
  on.exit(graphics::par(old))
  m <- sort(x$margins)
  draw(graphics::plot, m, seq_along(m) / length(m), type = "s", col = "#0072B2", lwd = 2, bty = "n", las = 1L, xlab = "margin", ylab = "share of rows with at most that", ylim = c(0, 1), main = "",
       user = list(...))
  graphics::abline(v = c(x$value, x$upper), col = c("#0072B2", "#D55E00"), lty = 2L)
  invisible(x)
}

#' @rdname boost_game
#' @usage \method{autoplot}{granary_boost_game}(object, ...)
#' @param object A result of `boost_game()`.
#' @exportS3Method ggplot2::autoplot
autoplot.granary_boost_game <- function(object, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  check_installed("ggplot2", "autoplot()")
  gg_canvas(data.frame(margin = object$margins), ggplot2::aes(.data$margin)) + ggplot2::stat_ecdf(colour = "#0072B2") +
    ggplot2::geom_vline(xintercept = object$upper, colour = "#D55E00", linetype = 2L) + ggplot2::labs(x = "margin", y = "share of rows with at most that")
}

#' Bounds and potentials of boosting
#'
#' What boosting promises: factors and bounds on the training error, the potentials of the boosting game, rounds that do for a margin, and the margin reached in the limit.
#'
#' @details
#' \describe{
#' \item{`"error"`}{\eqn{(k - 1) \prod_t \sqrt{1 - \gamma_t^2}}{(k - 1) prod_t sqrt(1 - gamma_t^2)}, or with steps `eta` \eqn{(k - 1) \prod_t \phi(\gamma_t, \eta_t)}{(k - 1) prod_t phi(gamma_t, eta_t)}.}
#' \item{`"factor"`}{\eqn{\phi(\gamma, \eta) = 1 + \frac{1 - \gamma}{k}(e^\eta + e^{-\eta} - 2) - (1 - e^{-\eta}) \gamma}{phi(gamma, eta) = 1 + (1 - gamma)/k (exp(eta) + exp(-eta) - 2) - (1 - exp(-eta)) gamma};
#'   without `eta` at the best one, `"step"`.}
#' \item{`"zero_one"`}{\eqn{\Phi_t(s) = P(}{Phi_t(s) = P(}some wrong label has at least as many votes as the right one after \eqn{t}{t} more votes from the baseline\eqn{)}{)}: exact, for votes
#'   `state`, the right label's first.}
#' \item{`"exponential"`}{\eqn{\Phi_t(s) = \sum_{l>1} a_l^t e^{\eta_l (s_l - s_1)}}{Phi_t(s) = sum_{l > 1} a_l^t exp(eta_l (s_l - s_1))},
#'   \eqn{a_l = 1 - (b_1 + b_l) + e^{\eta_l} b_l + e^{-\eta_l} b_1}{a_l = 1 - (b_1 + b_l) + exp(eta_l) b_l + exp(-eta_l) b_1}, for one `eta` or one per wrong label.}
#' \item{`"loss"`}{\eqn{\Phi_t(s) = \sum_l b_l \Phi_{t-1}(s + e_l)}{Phi_t(s) = sum_l b_l Phi_{t-1}(s + e_l)} for any loss \eqn{\Phi_0}{Phi_0}, a function `loss` of a matrix of votes, one state per row.}
#' \item{`"rounds"`}{AdaBoost* has a smallest margin within `nu` of the best after \eqn{2 \log N / \nu^2}{2 log N / nu^2} rounds; AdaBoost with a target `rho` in \eqn{[0, \rho^* - \nu]}{[0, rho* - nu]} has that
#'   margin after \eqn{\log N / -\log(1 - \nu^2 / (2 (1 - \rho^2)))}{log N / -log(1 - nu^2 / (2 (1 - rho^2)))}.}
#' \item{`"margin"`}{With edges of at least \eqn{g}{g} and target \eqn{\rho}{rho} the margin tends to at least
#'   \eqn{-\log(\frac{1+g}{2} e^{-a} + \frac{1-g}{2} e^{a}) / a}{-log((1+g)/2 exp(-a) + (1-g)/2 exp(a)) / a}, \eqn{a = \eta(\textrm{atanh}\, g - \textrm{atanh}\, \rho)}{a = eta (atanh g - atanh rho)}, for
#'   `shrinkage` \eqn{\eta}{eta}.}
#' \item{`"share"`}{The share of rows with a margin of at most `rho` is at most \eqn{\prod_t e^{D(\rho, \rho_t) - D(\rho, \gamma_t)}}{prod_t exp(D(rho, rho_t) - D(rho, gamma_t))},
#'   \eqn{D}{D} the divergence of two coins with
#'   these means, \eqn{\rho_t}{rho_t} the `target`s.}
#' }
#'
#' @section Which method when:
#' `"error"` and `"factor"` before and after a fit by `"adaptive"` or `"fixed_edge"`; `"zero_one"` for the promise of `"minimax01"`; `"rounds"`, `"margin"` and `"share"` for [boost()] by margins.
#'
#' @param what Which.
#' @param edge Edges \eqn{\gamma}{gamma}, one per round (`"error"`, `"share"`) or any number of them.
#' @param loss For `"loss"`: a function of a matrix of votes, the right label's first, one state per row, that gives a loss for each.
#' @param n_draws Potentials as means over so many random votes, for many labels and rounds; `NULL` for all votes.
#' @param eta Steps; `NULL` for the best, `"error"` for those of the adaptive booster, `"exponential"` 1.
#' @param k Number of classes.
#' @param n_rounds Rounds to come, for potentials.
#' @param state Votes so far, the right label's first; `NULL` for none.
#' @param baseline A distribution over labels, the right one first; `NULL` for `edge` above uniform.
#' @param n Number of rows.
#' @param nu Precision of the margin.
#' @param rho Target, or the margin asked about.
#' @param target Targets of the rounds; 0 for AdaBoost.
#' @param shrinkage Factor of the steps.
#' @return A number, or one per edge; with `n_draws` an estimate and its standard error.
#' @references
#' Mukherjee, I. and Schapire, R. E. (2010). A theory of multiclass boosting. *Advances in Neural Information Processing Systems* 23.
#'
#' Ratsch, G. and Warmuth, M. K. (2005). Efficient margin maximizing with boosting. *Journal of Machine Learning Research* 6, 2131-2152.
#' @seealso [boost()], [boost_check()]
#' @export
#' @examples
#' boost_bounds("error", edge = rep(0.2, 100), k = 5)
#' boost_bounds("zero_one", edge = 0.2, k = 3, n_rounds = 50)
#' boost_bounds("rounds", n = 1000, nu = 0.1)
#' boost_bounds("loss", edge = 0.2, k = 3, n_rounds = 10, loss = function(votes) 1 / (1 + exp(votes[, 1] - pmax(votes[, 2], votes[, 3]))))
#' boost_bounds("margin", edge = c(0.2, 0.5), rho = 0)
boost_bounds <- function(what = c("error", "factor", "step", "zero_one", "exponential", "loss", "rounds", "margin", "share"),
                         edge = NULL, eta = NULL, k = 2, n_rounds = 1, state = NULL,
                         baseline = NULL, n = NULL, nu = NULL, rho = NULL, target = 0, shrinkage = 1, loss = NULL, n_draws = NULL) {
  what <- check_choice(what, c("error", "factor", "step", "zero_one", "exponential", "loss", "rounds", "margin", "share"))
  k <- check_count(k, lower = 2, upper = 1e6)
  if (what == "rounds") return(bound_of_rounds(n, nu, rho))
  if (what %in% c("zero_one", "exponential", "loss")) return(bound_of_potential(what, edge, eta, k, n_rounds, state, baseline, loss, n_draws))
  if (!is.null(loss)) abort_input("`loss` is for what = \"loss\".", "loss")
  if (!is.null(n_draws)) abort_input("`n_draws` is for the potentials \"zero_one\" and \"loss\".", "n_draws")
  if (is.null(edge)) fail_missing("edge")
  edge <- unname(check_vector(edge, "edge", lower = -1, upper = 1))
  inner <- which(abs(edge) == 1)
  if (length(inner) > 0L && what != "error") abort_input(sprintf("`edge` must lie between -1 and 1, but element %d is %s.", inner[1L], format(edge[inner[1L]])), "edge")
  many <- function(x, arg, ...) rep_len(unname(check_vector(x, arg, length = if (length(x) == 1L) 1L else length(edge), ...)), length(edge))
  if (what %in% c("margin", "share")) {
    target <- if (what == "margin") many(if (is.null(rho)) 0 else rho, "rho", lower = -1, upper = 1) else many(target, "target", lower = -1, upper = 1)
    if (what == "share") return(exp(core_boost_bound("share", k, edge, target, check_number(if (is.null(rho)) 0 else rho, "rho", lower = -1, upper = 1))))
    low <- which(target >= edge)
    if (length(low) > 0L) abort_input(sprintf("`rho` must be below the edge, but %s is not below %s.", format(target[low[1L]]), format(edge[low[1L]])), "rho")
    return(core_boost_bound("limit", k, edge, target, check_number(shrinkage, "shrinkage", lower = 0, strict_lower = TRUE, upper = 1)))
  }
  best <- function() core_boost_bound("step", k, edge, numeric(), 0)
  if (what == "step") return(best())
  steps <- if (is.null(eta)) NULL else many(eta, "eta")
  if (what == "error") return(exp(core_boost_bound("error", k, edge, if (is.null(steps)) numeric() else steps, 0)))
  core_boost_bound("contraction", k, edge, if (is.null(steps)) best() else steps, 0)
}

bound_of_rounds <- function(n, nu, rho) {
  if (is.null(n)) fail_missing("n")
  if (is.null(nu)) fail_missing("nu")
  n <- check_count(n, "n")
  nu <- check_number(nu, "nu", lower = 0, strict_lower = TRUE, upper = 2)
  if (is.null(rho)) return(core_boost_bound("rounds", 2L, 0, 0, c(n, nu)))
  core_boost_bound("target_rounds", 2L, 0, 0, c(n, nu, check_number(rho, "rho", lower = 0, upper = 1)))
}

bound_of_potential <- function(what, edge, eta, k, n_rounds, state, baseline, loss, n_draws) {
  if (!is.null(baseline)) {
    baseline <- unname(check_vector(baseline, "baseline", min_length = 2L, lower = 0))
    if (abs(sum(baseline) - 1) > 1e-9) abort_input(sprintf("`baseline` must sum to 1, but its sum is %s.", format(sum(baseline))), "baseline")
    k <- length(baseline)
  } else {
    if (is.null(edge)) fail_missing("edge")
    edge <- check_number(edge, "edge", lower = 0, upper = 1)
    baseline <- (1 - edge) / k + edge * (seq_len(k) == 1L)
  }
  if (what == "zero_one" && any(baseline[-1L] > baseline[1L])) {
    abort_input("`baseline` must give the right label, its first, the largest share: otherwise the potential is not the chance of a random vote.", "baseline")
  }
  state <- if (is.null(state)) integer(k) else unname(check_vector(state, "state", length = k, lower = -1e6, upper = 1e6))
  if (any(state != round(state))) abort_input("`state` must hold counts of votes.", "state")
  n_draws <- check_count(n_draws, "n_draws", lower = 10, upper = 1e7, allow_null = TRUE)
  n_rounds <- check_count(n_rounds, "n_rounds", lower = 0, upper = if (is.null(n_draws)) 2000 else 1e6)
  if (what == "loss" && is.null(loss)) fail_missing("loss")
  if (what != "loss" && !is.null(loss)) abort_input("`loss` is for what = \"loss\".", "loss")
  if (what == "exponential") {
    if (!is.null(n_draws)) abort_input("`n_draws` is for the potentials \"zero_one\" and \"loss\": that of the exponential loss has a closed form.", "n_draws")
    eta <- if (is.null(eta)) 1 else unname(check_vector(eta, "eta", lower = 0, strict_lower = TRUE, upper = 50))
    if (!length(eta) %in% c(1L, k - 1L)) abort_input(sprintf("`eta` must be one number or one per wrong label, %d, but it has %d.", k - 1L, length(eta)), "eta")
    return(core_potential(as.integer(state), n_rounds, baseline, eta))
  }
  if (what == "zero_one" && is.null(n_draws)) return(core_potential(as.integer(state), n_rounds, baseline, numeric()))
  if (what == "zero_one") loss <- function(votes) as.double(votes[, 1L] <= apply(votes[, -1L, drop = FALSE], 1L, max))
  potential_of_loss(check_function(loss, "loss"), state, n_rounds, baseline, n_draws)
}

# The mean of a loss over all ways that the votes to come can fall, or over random ones, then with its standard error.
potential_of_loss <- function(loss, state, n_rounds, baseline, n_draws) {
  fall <- if (is.null(n_draws)) core_vote_outcomes(n_rounds, baseline) else list(votes = core_random_votes(n_rounds, baseline, n_draws, core_seed()))
  votes <- sweep(matrix(as.double(fall$votes), ncol = length(baseline)), 2L, state, `+`)
  values <- user_value(loss, "loss", votes)
  if (!is.numeric(values) || length(values) != nrow(votes) || anyNA(values)) {
    abort_input(sprintf("`loss` must give one number per row of votes, %d, but it gave %s.", nrow(votes), describe(values)), "loss")
  }
  if (is.null(n_draws)) return(sum(exp(fall$log_prob) * values))
  c(estimate = mean(values), std.error = stats::sd(values) / sqrt(n_draws))
}
