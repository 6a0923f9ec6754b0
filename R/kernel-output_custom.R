#' Any structured output, by three functions
#'
#' Outputs that are not among the ready ones (rankings, matchings, segmentations of images, sets of tags): all that [structured_svm()] and
#' [structured_baseline()] need to know is how to compute joint features and losses and how to search for the best output.
#'
#' @details
#' `psi(x, y)` returns the features \eqn{\Psi(x, y)}{Psi(x, y)}: a numeric vector, always of the same length.
#'
#' `loss(y, y2)` returns the loss \eqn{\Delta(y, y_2) \ge 0}{Delta(y, y2) >= 0} of predicting `y2` where `y` is right, with `loss(y, y) = 0`.
#'
#' `argmax(w, x, y, mode, root)` returns the output \eqn{z} that maximises, by `mode`,
#' \describe{
#' \item{"predict"}{\eqn{\langle w, \Psi(x, z)\rangle}{<w, psi(x, z)>}; `y` may be `NULL`}
#' \item{"wrong"}{the same over \eqn{z \ne y}{z != y}}
#' \item{"margin"}{\eqn{\Delta(y, z) + \langle w, \Psi(x, z)\rangle}{loss(y, z) + <w, psi(x, z)>}}
#' \item{"slack"}{\eqn{\Delta(y, z) (1 + \langle w, \Psi(x, z) - \Psi(x, y)\rangle)}{loss(y, z) (1 + <w, psi(x, z) - psi(x, y)>)}}
#' }
#' With `root = TRUE` (squared slacks) \eqn{\sqrt\Delta}{sqrt(loss)} stands in place of the loss. It may have fewer arguments: those it does not have
#' are not passed (arguments with other names than these are given by position). `NULL` means that there is no such output. If all you have are
#' candidates, give `candidates(x)` instead: a function that lists the possible outputs, over which the search is done for you.
#'
#' An output may be any R object; two are the same if [identical()]. With a search that is not exact (`exact = FALSE`, or found out because a
#' result was worse
#' than one seen before) the duality gap is no certificate, and the fit says so.
#'
#' @section Which method when:
#' `output_custom()` only where [output_multiclass()], [output_chain()], [output_align()] and [output_cfg()] do not fit: functions in R are called in
#' every step, and are slower.
#'
#' @param x,y Lists of inputs and of their right outputs. Vectors are taken element by element.
#' @param psi,loss,argmax Functions, see Details.
#' @param candidates Instead of `argmax`, a function of an input that returns the list of its possible outputs.
#' @param exact Does `argmax` always find the maximum?
#' @param ... Nothing: an argument that is not known is an error.
#' @return An object of class `granary_output_custom`.
#' @references
#' Tsochantaridis, Joachims, Hofmann and Altun (2005). Large margin methods for structured and interdependent output variables.
#' *Journal of Machine Learning Research* 6, 1453--1484.
#' @seealso [structured_svm()], [structured_baseline()], [structured_bounds()], [output_multiclass()], [output_chain()], [output_align()]
#' @export
#' @examples
#' # sets of tags: features per tag and per pair of tags, loss = tags too many or too few
#' set.seed(1)
#' x <- lapply(1:40, function(i) rnorm(2))
#' y <- lapply(x, function(v) c(v[1] > 0, v[2] > 0, v[1] + v[2] > 0))
#' sets <- lapply(0:7, function(k) as.logical(bitwAnd(k, c(1, 2, 4))))
#' psi <- function(x, y) c(outer(c(1, x), y), y[1] * y[2], y[1] * y[3], y[2] * y[3])
#' hamming_loss <- function(y, y2) sum(y != y2)
#' problem <- output_custom(x, y, psi, loss = hamming_loss, candidates = function(x) sets)
#' fit <- structured_svm(problem, cost = 10)
#' fit
#' predict(fit, list(c(1, -0.5)))
output_custom <- function(x, y, psi, loss, argmax = NULL, candidates = NULL, exact = TRUE, ...) {
  refuse_dots(...)
  if (missing(x)) fail_missing("x")
  if (missing(y)) fail_missing("y")
  if (missing(psi)) fail_missing("psi")
  if (missing(loss)) fail_missing("loss")
  call <- match.call()
  x <- check_examples(x, "x")
  y <- check_examples(y, "y")
  if (length(y) != length(x)) abort_input(sprintf("`y` must have one output per input (%d), but it has %d.", length(x), length(y)), "y")
  psi <- check_function(psi, "psi")
  loss <- check_function(loss, "loss")
  exact <- check_flag(exact)
  if (is.null(argmax) == is.null(candidates)) abort_input("Give either `argmax` or `candidates`.", "argmax")
  safe_psi <- guard_psi(psi, NULL)
  first <- safe_psi(x[[1L]], y[[1L]])
  safe_psi <- guard_psi(psi, length(first))
  safe_loss <- guard_loss(loss)
  if (safe_loss(y[[1L]], y[[1L]]) != 0) abort_input("`loss` must be 0 for the right output, but loss(y[[1]], y[[1]]) is not.", "loss")
  search <- if (is.null(argmax)) {
    search_candidates(check_function(candidates, "candidates"), safe_psi, safe_loss)
  } else {
    guard_argmax(check_function(argmax, "argmax"))
  }
  core <- list(x = x, y = y, psi = safe_psi, loss = safe_loss, argmax = search, features = length(first), exact = exact)
  new_output("custom", core, n = length(x), names = names(first), exact = exact, call = call)
}

check_examples <- function(x, arg) {
  if (is.null(x) || is.function(x) || is.environment(x) || is.language(x) || is.data.frame(x)) {
    fail_input(arg, "a list with one element per example", describe(x))
  }
  if (!is.list(x)) {
    if (!is.atomic(x) || !is.null(dim(x))) fail_input(arg, "a list with one element per example", describe(x))
    x <- lapply(seq_along(x), function(i) x[[i]])
  }
  if (length(x) == 0L) abort_input(sprintf("`%s` must have at least one example.", arg), arg)
  x
}

guard_psi <- function(psi, size) {
  function(x, y) {
    value <- user_value(psi, "psi", x, y)
    if (is.logical(value)) value <- as.double(value)
    if (!is_plain_numeric(value) || length(value) == 0L) fail_input("psi", "a function that returns a vector of numbers", describe(value))
    if (!is.null(size) && length(value) != size) {
      abort_input(sprintf("`psi` must always return as many features (%d at first), but it returned %d.", size, length(value)), "psi")
    }
    if (!all(is.finite(value))) abort_input("`psi` must return finite numbers, but one is not.", "psi")
    labels <- names(value)
    stats::setNames(as.double(value), labels)
  }
}

guard_loss <- function(loss) {
  function(y, y2) {
    value <- user_value(loss, "loss", y, y2)
    if (is.logical(value)) value <- as.double(value)
    if (!is_plain_numeric(value) || length(value) != 1L || !is.finite(value) || value < 0) {
      fail_input("loss", "a function that returns one number, not negative", describe(value))
    }
    as.double(value)
  }
}

# Arguments go by name where all names are ours, so that any can be left out; else by position.
guard_argmax <- function(argmax) {
  takes <- names(formals(args(argmax)))
  known <- c("w", "x", "y", "mode", "root")
  named <- length(takes) > 0L && all(takes %in% c(known, "..."))
  passed <- if (is.null(takes) || "..." %in% takes) known else if (named) takes else known[seq_len(min(length(takes), length(known)))]
  function(w, x, y, mode, root) {
    given <- list(w = w, x = x, y = y, mode = mode, root = root)[passed]
    do.call(user_value, c(list(argmax, "argmax"), if (named) given else unname(given)))
  }
}

search_candidates <- function(candidates, psi, loss) {
  function(w, x, y, mode, root) {
    options <- user_value(candidates, "candidates", x)
    if (!is.list(options)) options <- check_examples(options, "candidates")
    if (mode != "predict") options <- Filter(function(z) !identical(z, y), options)
    if (length(options) == 0L) return(NULL)
    score <- vapply(options, function(z) sum(w * psi(x, z)), 0)
    if (mode %in% c("margin", "slack")) {
      cost <- vapply(options, function(z) loss(y, z), 0)
      if (root) cost <- sqrt(cost)
      score <- if (mode == "margin") cost + score else cost * (1 + score - sum(w * psi(x, y)))
    }
    options[[which.max(score)]]
  }
}

#' @export
output_new.granary_output_custom <- function(problem, newdata, ...) {
  core <- problem$core
  core$x <- check_examples(newdata, "newdata")
  core["y"] <- list(NULL)
  core
}

#' @export
output_decode.granary_output_custom <- function(problem, raw) raw

#' @export
output_coef.granary_output_custom <- function(problem, weights) stats::setNames(weights, problem$names)

#' @export
output_describe.granary_output_custom <- function(problem) {
  c(examples = problem$n, features = problem$core$features, search = if (problem$exact) "exact" else "heuristic")
}
