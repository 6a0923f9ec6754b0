#' Support vector machines for structured outputs
#'
#' Learns to predict objects: label sequences, classes with costs or in a taxonomy, alignments, parse trees, or anything for which features, a loss
#' and a
#' search can be given. Trains against the loss that counts, and comes with a certificate of how far from the optimum the answer can be.
#'
#' @details
#' Predictions are \eqn{f(x) = \arg\max_y \langle w, \Psi(x, y)\rangle}{f(x) = argmax_y <w, Psi(x, y)>}. With
#' \eqn{\delta\Psi_i(y) = \Psi(x_i, y_i) - \Psi(x_i, y)}{dPsi_i(y) = Psi(x_i, y_i) - Psi(x_i, y)} and the loss
#' \eqn{\Delta_i(y)}{D_i(y)} of predicting \eqn{y} for example \eqn{i}, the weights solve
#' \deqn{\min_{w, \xi \ge 0} \frac12 \|w\|^2 + \frac{C}{n} \sum_i \xi_i \quad\mathrm{s.t.}\quad H_i(y) \le \xi_i \ \mathrm{for\ all}\ i,
#'   y \ne y_i}{min 1/2 |w|^2 + C/n sum_i xi_i   such that H_i(y) <= xi_i for all i and y != y_i}
#' or, with `penalty = "squared"`, \eqn{\frac{C}{2n} \sum_i \xi_i^2}{C/(2n) sum_i xi_i^2}; `"hard"` has no slacks. The constraints are, by `rescale`,
#' \tabular{lll}{
#' `"none"` \tab \eqn{1 - \langle w, \delta\Psi_i(y)\rangle}{1 - <w, dPsi_i(y)>} \tab only right or wrong counts \cr
#' `"margin"` \tab \eqn{\Delta_i(y) - \langle w, \delta\Psi_i(y)\rangle}{D_i(y) - <w, dPsi_i(y)>} \tab worse outputs must be further away \cr
#' `"slack"` \tab \eqn{\Delta_i(y) (1 - \langle w, \delta\Psi_i(y)\rangle)}{D_i(y) (1 - <w, dPsi_i(y)>)} \tab violations are dearer for worse
#'   outputs
#' }
#' with \eqn{\sqrt{\Delta}}{sqrt(D)} in place of \eqn{\Delta}{D} for squared slacks. With both rescalings the mean of \eqn{\xi_i}{xi_i} (of
#' \eqn{\xi_i^2}{xi_i^2} for squared slacks) is an upper bound of the training loss. With a 0/1 loss all three are the same. Slack rescaling does not
#' change with the units of the loss (up to `cost`), margin rescaling does; its search is cheaper.
#'
#' **Algorithm.** There are as many constraints as outputs; only violated ones are looked at. Sweeps over the examples search the most violated
#' output of each and,
#' if it is violated by more than `tol` beyond the present slack, add it to the working set, after which the dual is optimised again: over the cuts of
#' this example, with all of them at the end of a sweep (`optimize = "block"`), or over all at once (`"full"`), which needs fewer searches and more
#' algebra. The last sweep is over all examples and adds nothing. Theory bounds the number of cuts, whatever the number of outputs: see
#' [structured_bounds()].
#'
#' **Certificate.** `convergence$gap` is the primal minus the dual objective, computed from the final weights by a search over every example. It is at
#' most `cost * tol` (linear), `cost / n * tol * sum(slacks) + cost * tol^2 / 2` (squared). It holds if the search is exact, which it is for all
#' outputs but custom ones that say otherwise.
#'
#' Under slack rescaling outputs other than the right one with loss 0 cannot be told from it and make no constraint. Ties go to the lowest class or
#' label.
#'
#' @section Which method when:
#' [structured_svm()] when a loss other than 0/1 counts, with a linear or squared penalty alike. `"slack"` where losses of
#' outputs differ by orders of magnitude, `"margin"` else. [structured_baseline()]: the perceptron is faster and less accurate, the
#' conditional random field gives probabilities, the generative model needs least data.
#'
#' @param problem From [output_multiclass()], [output_chain()], [output_align()], [output_cfg()] or [output_custom()].
#' @param cost The constant \eqn{C}.
#' @param penalty,rescale See Details. `rescale` is `"none"` for a hard margin.
#' @param tol The precision \eqn{\epsilon}{eps} of the cuts, in units of the margin. 0.1 is enough for good predictions; 0.01 for weights to be
#'   looked at.
#' @param optimize `"block"` or `"full"`, see Details.
#' @param max_iter Largest number of sweeps.
#' @param prune Number of sweeps after which a cut that carries no weight is dropped.
#' @param threads Number of threads for expensive searches; see `options(granary.threads)`. The result does not depend on it.
#' @param object,x A fit.
#' @param newdata New inputs, in the form of the training inputs: a matrix of examples, a list of sequences, a list of pairs, or sentences. By
#'   default the training inputs.
#' @param type For `predict()`: `"output"`, the best output; `"score"`, its score (for classes, the scores of all); `"marginal"`, for label
#'   sequences the
#'   probabilities \eqn{P(y^t | x)} under \eqn{P(y | x) \propto \exp F(x, y)}{P(y | x) proportional to exp F(x, y)}, which mean something for
#'   [structured_baseline()]. For `plot()`: `"trace"`, objectives and number of cuts by sweep, or `"weights"`, a heat map of
#'   transitions, classes or substitutions.
#' @param group For `predict()` with label sequences: `NULL`, or which sequence each row of `newdata` belongs to, as in [output_chain()]. Labels and
#'   marginals then come in the order of the rows, not in a list.
#' @param ... For `plot()`, passed on to [graphics::plot()] or [graphics::image()].
#' @return An object of class `granary_structured_svm`: a list with
#' \item{weights}{\eqn{w}; `coef()` gives it in shape}
#' \item{slacks, losses}{\eqn{\xi_i}{xi_i}, and the loss of the prediction, per example}
#' \item{risk, risk_bound}{mean training loss and its bound}
#' \item{primal, dual, gap_bound}{objectives, and the gap that theory promises}
#' \item{active}{the cuts that carry weight: example, loss, dual variable \eqn{\alpha}{alpha} and output}
#' \item{cuts, cuts_added, support}{number of cuts in the end, added in all, and with weight}
#' \item{radius}{largest \eqn{\|\delta\Psi\|}{|dPsi|} among the cuts}
#' \item{trace}{per sweep: dual and primal objective (the primal is exact if the sweep was complete and added nothing), largest violation, cuts}
#' \item{history}{with `optimize = "full"`: violation and gain in the dual of every cut}
#' @references
#' Tsochantaridis, Joachims, Hofmann and Altun (2005). Large margin methods for structured and interdependent output variables.
#' *Journal of Machine Learning Research* 6, 1453--1484.
#' @seealso [structured_baseline()], [output_multiclass()], [output_chain()], [output_align()], [output_cfg()]
#' @seealso [structured_bounds()]; `errata("jmlr6-structured-svm")`; `reproduce("jmlr6-structured-svm")`
#' @export
#' @examples
#' # tag a sequence: which of two dice was thrown?
#' set.seed(1)
#' die <- lapply(1:30, function(i) cumsum(runif(20) < 0.15) %% 2 + 1)
#' throw <- function(d) ifelse(d == 1, sample(6, 20, TRUE), sample(4:9, 20, TRUE))
#' faces <- lapply(die, function(d) factor(throw(d), 1:9))
#' fit <- structured_svm(output_chain(faces, die), cost = 10)
#' fit
#' summary(fit)
#' mean(unlist(predict(fit)) != unlist(die))
#' predict(fit, list(c("1", "2", "9", "8", "5")))
#' plot(fit, type = "weights")
structured_svm <- function(problem, cost = 1, penalty = c("squared", "linear", "hard"), rescale = c("margin", "slack", "none"), tol = 0.1,
                           optimize = c("block", "full"), max_iter = 200, prune = 50, threads = NULL, ...) {
  refuse_dots(...)
  call <- match.call()
  problem <- check_output(problem)
  cost <- check_number(cost, lower = 0, strict_lower = TRUE, upper = 1e100)  # beyond, n / C has no room left
  penalty <- check_choice(penalty, c("squared", "linear", "hard"))
  chosen <- check_choice(rescale, c("margin", "slack", "none"))
  if (penalty == "hard") {
    if (!missing(rescale) && !identical(rescale, c("margin", "slack", "none")) && chosen != "none") {
      abort_input("penalty = \"hard\" has no loss: `rescale` must be \"none\".", "rescale")
    }
    chosen <- "none"
  }
  tol <- check_number(tol, lower = 0, strict_lower = TRUE, upper = if (penalty == "hard") 0.9 else Inf)
  optimize <- check_choice(optimize, c("block", "full"))
  settings <- list(cost = cost, penalty = penalty, rescale = chosen, tol = tol, optimize = optimize, max_iter = check_count(max_iter),
                   prune = check_count(prune, lower = 1), threads = thread_count(threads))
  raw <- core_structured_svm(crossing_core(problem$core), settings, progress_bar("cutting planes"))
  bound <- if (chosen == "none" && penalty != "hard") NA_real_ else mean(if (penalty == "squared") raw$slacks^2 else raw$slacks)
  if (penalty == "hard") bound <- NA_real_
  raw$active$output <- output_decode(problem, raw$outputs)
  trace <- data.frame(sweep = seq_along(raw$trace$dual), raw$trace)
  fit <- new_fit(
    c("structured_svm", "structured"), weights = as.double(raw$weights), slacks = as.double(raw$slacks), losses = as.double(raw$losses),
    risk = mean(raw$losses), risk_bound = bound, primal = raw$primal, dual = raw$dual, gap_bound = raw$gap_bound, active = raw$active,
    cuts = raw$cuts, cuts_added = raw$cuts_added, support = raw$support, radius = raw$radius, heuristic = raw$heuristic, trace = trace,
    history = as.data.frame(raw$history), settings = settings, problem = problem, call = call, convergence = raw$convergence
  )
  check_convergence(fit, "Raise `max_iter` or `tol`, lower `cost`, or rescale the features.")
  fit
}

formulation <- function(settings) {
  base <- c(hard = "SVM0", linear = "SVM1", squared = "SVM2")[[settings$penalty]]
  paste0(base, switch(settings$rescale, margin = " with margin rescaling", slack = " with slack rescaling", ""))
}

#' @rdname structured_svm
#' @export
print.granary_structured_svm <- function(x, ...) {
  cli::cat_line(fit_title(x), " (", sub("granary_output_", "", class(x$problem)[1L]), ")")
  print_call(x$call)
  number <- function(v) format(v, digits = 4L)
  print_parts(c(
    formulation = paste0(formulation(x$settings), ", cost ", number(x$settings$cost)),
    examples = x$problem$n, features = length(x$weights),
    "training loss" = paste0(number(x$risk), if (is.finite(x$risk_bound)) paste0(", at most ", number(x$risk_bound), " by the slacks")),
    objective = paste0(number(x$primal), " primal, ", number(x$dual), " dual"),
    cuts = paste0(x$cuts_added, " added, ", x$support, " carry weight")
  ))
  cli::cat_line("Solver: ", format_convergence(x$convergence))
  invisible(x)
}

#' @rdname structured_svm
#' @export
summary.granary_structured_svm <- function(object, ...) {
  seal(structure(list(fit = object, slacks = stats::quantile(object$slacks, names = FALSE), losses = table(signif(object$losses, 4)),
                 norm = sqrt(2 * max(0, object$dual - sum_dual_linear(object)))), class = "summary_granary_structured_svm"))
}

# Only the norm of w is wanted, which is plain except with a kernel.
sum_dual_linear <- function(object) object$dual - sum(object$weights^2) / 2

#' @export
print.summary_granary_structured_svm <- function(x, ...) {
  print(x$fit)
  cli::cat_line()
  cli::cat_line("Slacks (min, quartiles, max): ", paste(format(x$slacks, digits = 3L), collapse = " "))
  cli::cat_line("Losses of training predictions:")
  print(x$losses)
  cli::cat_line("Gap promised by theory: ", format(x$fit$gap_bound, digits = 3L), "; found: ", format(max(x$fit$convergence$gap, 0), digits = 3L))
  invisible(x)
}

#' @rdname structured_svm
#' @export
coef.granary_structured <- function(object, ...) output_coef(object$problem, object$weights)

#' @rdname structured_svm
#' @export
predict.granary_structured <- function(object, newdata = NULL, type = c("output", "score", "marginal"), group = NULL, ...) {
  refuse_dots(...)
  type <- check_choice(type, c("output", "score", "marginal"))
  problem <- object$problem
  chain <- inherits(problem, "granary_output_chain")
  if (type == "marginal" && !chain) abort_input("type = \"marginal\" is for label sequences.", "type")
  if (!is.null(group) && (!chain || is.null(newdata))) abort_input("`group` goes with `newdata` of label sequences only.", "group")
  core <- if (is.null(newdata)) training_core(problem) else if (is.null(group)) output_new(problem, newdata) else output_new(problem, newdata, group)
  weights <- output_weights(problem, object$weights)
  if (type == "marginal") {
    found <- lapply(core_chain_marginals(crossing_core(core), weights, NULL), function(m) structure(m, dimnames = list(NULL, problem$classes)))
    return(by_sequence(found, core, rbind))
  }
  if (type == "score" && inherits(problem, "granary_output_multiclass")) {
    return(structure(core_multiclass_scores(crossing_core(core), weights), dimnames = list(rownames(newdata), problem$classes)))
  }
  found <- core_structured_predict(crossing_core(core), weights, progress_bar("prediction"))
  if (type == "score") return(if (is.null(group)) as.double(found$scores) else stats::setNames(as.double(found$scores), attr(core, "sequence_names")))
  decoded <- output_decode(problem, found$outputs)
  if (chain) by_sequence(decoded, core, c) else decoded
}

# A list with an element per sequence; for a table with `group`, all of them together in the order of its rows.
by_sequence <- function(found, core, join) {
  order <- attr(core, "order")
  if (is.null(order)) return(stats::setNames(found, attr(core, "sequence_names")))
  all <- do.call(join, found)
  if (is.matrix(all)) all[order(order), , drop = FALSE] else all[order(order)]
}

# The training inputs as output_new() would have made them.
training_core <- function(problem) {
  core <- problem$core
  if (is.null(core[["gram"]])) {  # `$` would take a grammar for it
    if (problem$core$type != "custom") core$codes <- NULL
  } else {
    core$x <- core[["gram"]]
    core$gram <- NULL
    core$codes <- NULL
    if (core$type == "multiclass") core$class_features <- diag(length(problem$classes))
  }
  attr(core, "sequence_names") <- problem$names
  core
}

#' @rdname structured_svm
#' @export
plot.granary_structured_svm <- function(x, type = c("trace", "weights"), ...) {
  type <- check_choice(type, c("trace", "weights"))
  if (type == "weights") return(plot_structured_weights(x, ...))
  trace <- x$trace
  old <- graphics::par(mfrow = c(1L, 2L))
  on.exit(graphics::par(old))
  objectives <- cbind(trace$primal, trace$dual)
  objectives[!is.finite(objectives)] <- NA
  graphics::matplot(trace$sweep, objectives, type = "b", pch = c(16, 1), lty = 1, col = c("grey50", "black"), xlab = "sweep", ylab = "objective",
                    ...)
  graphics::legend("bottom", c("primal", "dual"), pch = c(16, 1), lty = 1, col = c("grey50", "black"), bty = "n", horiz = TRUE, cex = 0.8,
                   inset = c(0, 1), xpd = NA)
  graphics::plot(trace$sweep, trace$cuts, type = "b", pch = 16, xlab = "sweep", ylab = "cuts", ...)
  invisible(x)
}

#' @rdname structured_svm
#' @export
plot.granary_structured <- function(x, type = "weights", ...) {
  check_choice(type, "weights")
  plot_structured_weights(x, ...)
}

# The weights that are best seen as a picture.
plot_structured_weights <- function(x, ...) {
  shaped <- coef(x)
  m <- if (is.matrix(shaped)) shaped else if (is.list(shaped)) shaped$transition %||% shaped$substitution
  if (is.null(m)) {
    values <- if (is.data.frame(shaped)) shaped$weight else unlist(shaped)
    graphics::plot(sort(values), type = "h", xlab = "feature, sorted", ylab = "weight", ...)
    return(invisible(x))
  }
  largest <- max(abs(m), .Machine$double.xmin)
  shown <- function(labels) if (length(labels) <= 40L) labels
  room <- function(labels) if (is.null(labels)) 0 else 2 + 0.5 * min(max(nchar(labels)), 20L)
  old <- graphics::par(mar = pmax(graphics::par("mar"), c(room(shown(colnames(m))), room(shown(rownames(m))), 2, 3.1)))
  on.exit(graphics::par(old))
  colours <- signed_colours(101L)
  graphics::image(seq_len(ncol(m)), seq_len(nrow(m)), t(m[rev(seq_len(nrow(m))), , drop = FALSE]), zlim = c(-largest, largest), axes = FALSE,
                  col = colours, xlab = "", ylab = "", ...)
  draw_key(c(-largest, largest), colours)
  if (!is.null(shown(colnames(m)))) graphics::axis(1, seq_len(ncol(m)), colnames(m), las = 2, cex.axis = 0.8)
  if (!is.null(shown(rownames(m)))) graphics::axis(2, seq_len(nrow(m)), rev(rownames(m)), las = 2, cex.axis = 0.8)
  across <- names(dimnames(m))
  if (!is.null(across)) graphics::mtext(sprintf("%s in rows, %s in columns", across[1L], across[2L]), line = 0.4, cex = 0.8)
  graphics::box()
  invisible(x)
}

#' @rdname structured_svm
#' @export
tidy.granary_structured <- function(x, ...) {
  shaped <- coef(x)
  if (is.data.frame(shaped)) return(shaped)
  if (!is.list(shaped)) shaped <- list(weight = shaped)
  long <- function(name) {
    v <- shaped[[name]]
    if (is.null(dim(v))) {
      labels <- if (is.null(names(v))) as.character(seq_along(v)) else names(v)
      return(data.frame(part = name, feature = labels, output = "", estimate = as.double(v)))
    }
    named <- dimnames(v)
    named <- lapply(seq_along(dim(v)), function(d) if (is.null(named[[d]])) as.character(seq_len(dim(v)[d])) else named[[d]])
    grid <- expand.grid(named, stringsAsFactors = FALSE)
    data.frame(part = name, feature = grid[[1L]], output = do.call(paste, c(unname(as.list(grid[-1L])), sep = " > ")), estimate = as.double(v))
  }
  do.call(rbind, lapply(names(shaped), long))
}

#' @rdname structured_svm
#' @export
glance.granary_structured_svm <- function(x, ...) {
  data.frame(primal = x$primal, dual = x$dual, gap = x$convergence$gap, risk = x$risk, risk_bound = x$risk_bound, cuts = x$cuts_added,
             support = x$support, sweeps = x$convergence$iterations, converged = x$convergence$converged, seconds = x$convergence$seconds)
}

#' Bounds for the training of structured support vector machines
#'
#' How many cuts [structured_svm()] adds at most, and by how much each raises the dual objective at least, whatever the number of outputs.
#'
#' @details
#' With \eqn{\bar R}{R} the largest \eqn{\|\delta\Psi\|}{|dPsi|} and \eqn{\bar\Delta}{D} the largest loss, at most (Theorem 18)
#' \tabular{ll}{
#' linear, slack \tab \eqn{\max\{2n\bar\Delta/\epsilon, 8C\bar\Delta^3\bar R^2/\epsilon^2\}}{max(2nD/eps, 8CD^3R^2/eps^2)} \cr
#' linear, margin \tab \eqn{\max\{2n\bar\Delta/\epsilon, 8C\bar\Delta\bar R^2/\epsilon^2\}}{max(2nD/eps, 8CDR^2/eps^2)} \cr
#' squared, slack \tab \eqn{(C\bar\Delta^2\bar R^2 + n\bar\Delta)/\epsilon^2}{(CD^2R^2 + nD)/eps^2} \cr
#' squared, margin \tab \eqn{(C\bar\Delta\bar R^2 + n\bar\Delta)/\epsilon^2}{(CDR^2 + nD)/eps^2}
#' }
#' cuts are added. Without rescaling \eqn{\bar\Delta = 1}{D = 1}. There is no such bound for a hard margin. The gains are those of Propositions 14
#' to 17, which hold for
#' full re-optimisation; for margin rescaling with linear slacks with the term that the paper leaves out (see `errata("jmlr6-structured-svm")`).
#'
#' @section Which method when:
#' `structured_bounds()` before a long run, for how many cuts it can take; the fit's own gap says more once it is there.
#'
#' @param object A fit of [structured_svm()], or a problem.
#' @param radius,largest_loss Bounds of \eqn{\|\delta\Psi\|}{|dPsi|} and of the loss. By default those that follow from the inputs (section 4 of
#'   the paper);
#'   they must be given for custom outputs.
#' @param ... For a problem, `cost`, `penalty`, `rescale` and `tol` as in [structured_svm()].
#' @return A list with `cuts`, the largest number of cuts; `gain`, the smallest gain per cut; `radius` and `largest_loss`; and for a fit `added`, the
#'   number of cuts there were.
#' @references
#' Tsochantaridis, Joachims, Hofmann and Altun (2005). Large margin methods for structured and interdependent output variables.
#' *Journal of Machine Learning Research* 6, 1453--1484.
#' @seealso [structured_svm()], [structured_baseline()], [output_multiclass()], [output_chain()], [output_align()], [output_cfg()]
#' @export
#' @examples
#' problem <- output_multiclass(scale(iris[, 1:4]), iris$Species)
#' fit <- structured_svm(problem, penalty = "linear", rescale = "none")
#' structured_bounds(fit)
structured_bounds <- function(object, radius = NULL, largest_loss = NULL, ...) {
  if (missing(object)) fail_missing("object")
  if (inherits(object, "granary_structured_svm")) {
    refuse_dots(...)
    problem <- object$problem
    settings <- object$settings
  } else if (inherits(object, "granary_output")) {
    problem <- object
    settings <- bound_settings(...)
  } else {
    fail_input("object", "a fit of structured_svm() or a problem", describe(object))
  }
  radius <- check_number(radius, lower = 0, allow_null = TRUE)
  largest_loss <- check_number(largest_loss, lower = 0, allow_null = TRUE)
  if (is.null(radius) || is.null(largest_loss)) {
    if (inherits(problem, "granary_output_custom")) abort_input("For custom outputs `radius` and `largest_loss` must be given.", "radius")
    sizes <- core_structured_sizes(crossing_core(problem$core))
    if (is.null(radius)) radius <- max(sizes$radius)
    if (is.null(largest_loss)) largest_loss <- max(sizes$loss)
  }
  found <- core_structured_bounds(settings, problem$n, radius, largest_loss)
  c(list(cuts = found[1L], gain = found[2L], radius = radius, largest_loss = largest_loss),
    if (inherits(object, "granary_structured_svm")) list(added = object$cuts_added))
}

bound_settings <- function(cost = 1, penalty = c("squared", "linear", "hard"), rescale = c("margin", "slack", "none"), tol = 0.1, ...) {
  refuse_dots(...)
  list(cost = check_number(cost, lower = 0, strict_lower = TRUE), penalty = check_choice(penalty, c("squared", "linear", "hard")),
       rescale = check_choice(rescale, c("margin", "slack", "none")), tol = check_number(tol, lower = 0, strict_lower = TRUE), optimize = "full",
       max_iter = 1L, prune = 50L, threads = 1L)
}
