#' Boosting with edges, margins and certificates
#'
#' Weighted votes of small trees, of given answers or of any learner, for two and more classes. More than two classes: the adaptive booster of the game theory of
#' boosting, whose training error falls as long as answers have an edge over random ones, with AdaBoost.M1, SAMME, AdaBoost.MH and two strategies fixed in advance
#' beside it. Two classes: AdaBoost that maximises the smallest margin, with a certificate of how far it is from the best there is, and its relatives.
#'
#' @details
#' **Votes.** \eqn{f_t(i, l) = \sum_{s \le t} \alpha_s 1[h_s(x_i) = l]}{f_t(i, l) = sum_{s <= t} alpha_s 1[h_s(x_i) = l]}. Each round a learner makes
#' \eqn{\sum_i C(i, h(x_i))}{sum_i C(i, h(x_i))} small. With \eqn{w(i, l) = e^{f(i, l) - f(i, y_i)}}{w(i, l) = exp(f(i, l) - f(i, y_i))},
#' \itemize{
#' \item `"adaptive"`: \eqn{C(i, l) = w(i, l)} off the right label and minus the row's sum on it;
#'   \eqn{\gamma = -\sum_i C(i, h(x_i)) / \sum w}{gamma = -sum_i C(i, h(x_i)) / sum w},
#'   \eqn{\alpha = \frac12 \log\frac{1+\gamma}{1-\gamma}}{alpha = 1/2 log((1 + gamma) / (1 - gamma))}. The training error is at most
#'   \eqn{(k - 1) \prod_t \sqrt{1 - \gamma_t^2}}{(k - 1) prod_t sqrt(1 - gamma_t^2)}. `step = "exact"` minimises the loss along \eqn{h} instead.
#' \item `"fixed_edge"`: all weights \eqn{\eta}{eta}, costs the rise of the exponential loss, for an edge `edge` that every answer is to have.
#' \item `"minimax01"`: all weights 1, costs the exact potential of the 0-1 loss with `n_rounds` in all (boost by majority for any number of classes).
#' \item `"m2"`: AdaBoost.M2, also known as AdaBoost.MR: as `"adaptive"`, but a leaf answers with all labels that cost less than nothing there, so that its edge is larger.
#'   For answers of one label the two are the same.
#' \item `"m1"`, `"samme"`, `"mh"`: the classical ones. M1 stops when half the weight is wrong, SAMME has no guarantee, MH asks most of its answers.
#' }
#' The `edge` of a round is the number that the method's own condition asks to be positive.
#'
#' **Margins.** For two classes and \eqn{h \in [-1, 1]}{h in [-1, 1]} the margin of a row is \eqn{y_i \sum_t \alpha_t h_t(x_i) / \sum_t \alpha_t}{
#' y_i sum_t alpha_t h_t(x_i) / sum_t alpha_t}. All methods use
#' \deqn{\alpha_t = \textrm{atanh}\,\gamma_t - \textrm{atanh}\,\rho_t, \quad d_i \leftarrow d_i e^{-\alpha_t y_i h_t(x_i)} / Z_t}{
#' alpha_t = atanh gamma_t - atanh rho_t,   d_i <- d_i exp(-alpha_t y_i h_t(x_i)) / Z_t}
#' with the target \eqn{\rho_t}{rho_t} 0 for `"adaboost"`, `rho` for `"rho"`, the smallest edge less `nu` for `"star"`, the best margin yet for `"arc_gv"`, a smooth
#' margin for `"coordinate_ascent"`. `"marginal"` halves an interval of targets, `"two_pass"` runs star and then its target, `"lpboost"` finds the best combination
#' of all answers so far by linear programming in each round. If every answer has the largest edge there is (stumps, `max_leaves = 2`, and pools), the best smallest
#' margin of any combination lies between `lower` and `upper`, and star brings them within `nu` in
#' \eqn{2 \log N / \nu^2}{2 log N / nu^2} rounds. For larger trees, which are grown greedily, and for learners of yours `upper` is no bound, and
#' `certified` says so. A learner whose edge lies below what was reached is asked again on resampled weights.
#'
#' **Learners.** `"tree"`: at most `max_leaves` leaves, grown best first by the cost a split saves; `"stump"`: two leaves. `"pool"`: the columns of `x` are answers
#' themselves, labels (or, by margins, numbers in \eqn{[-1, 1]}{[-1, 1]}; with `negate` also their opposites, so that the margin is never below 0). A function `learner(x, y, cost)` gets the rows, the classes and
#' a matrix of the costs of each class in each row, and returns a function of new rows that answers with labels (or numbers in \eqn{[-1, 1]}{[-1, 1]}, towards the second class).
#'
#' If an answer is right everywhere it is returned alone. If the learner has no edge, boosting stops and keeps what it has; `end` says why it ended.
#'
#' @section Which method when:
#' `boost()` for a transparent vote of few small trees, for certificates of margins, and to see whether a learner can be boosted at all ([boost_check()]).
#' [forest()] asks for less tuning and withstands wrong labels better. [svm()] maximises another margin, in a space of its kernel. With noisy labels the largest smallest
#' margin is no aim: use few rounds, `shrinkage`, or `method = "adaptive"`.
#'
#' @param x Rows: a matrix, a data frame with numbers and factors, or a sparse matrix; missing values may be there. For a pool its answers. Or a formula.
#' @param y Classes, one per row.
#' @param formula,data A formula such as `y ~ .` and the data frame of its variables; factors stay whole.
#' @param subset,na.action As in [stats::lm()]. Without `na.action` missing values of the right-hand side stay.
#' @param method How answers are weighted; `NULL` for `"star"` with two classes and `"adaptive"` with more.
#' @param learner `"tree"`, `"stump"`, `"pool"`, or a function.
#' @param n_rounds Most rounds; `NULL` for 500, or for what `nu` asks for if it is given.
#' @param max_leaves Leaves of a tree; `NULL` for 5, by margins 2.
#' @param min_leaf Rows a leaf needs.
#' @param step Step of `"adaptive"`.
#' @param shrinkage Factor of all steps, in (0, 1].
#' @param edge Edge that `"fixed_edge"` and `"minimax01"` count on; for the former also one per round.
#' @param eta Step of `"fixed_edge"`, or one per round; `NULL` for the best with that edge.
#' @param sets Whether answers of `"mh"` are sets of labels, as in the original AdaBoost.MH.
#' @param n_draws Potentials of `"minimax01"` by so many random votes, for many classes or rounds; `NULL` for exact ones.
#' @param nu Precision of the margin; `NULL` for \eqn{\sqrt{2 \log N / T}}{sqrt(2 log N / T)}.
#' @param rho Target of `method = "rho"`.
#' @param line_search Margins: whether the step minimises \eqn{\log Z_t + \rho_t \alpha}{log Z_t + rho_t alpha} exactly, for answers other than -1 and 1.
#' @param selection Of a pool: the answer with the largest edge, or the worst or a random one of those whose edge is at least the best margin of the pool.
#' @param negate Whether the opposites of a pool's answers are answers, too, by margins.
#' @param weights One weight per row, or `NULL`. By margins they are where the weights start, and rows of weight 0 do not count.
#' @param tol Margins: boosting ends at a gap below; `NULL` for the whole number of rounds (lpboost: 1e-9).
#' @param threads Threads for reading columns and for predictions; default `getOption("granary.threads")`.
#' @param ... For the formula: arguments of the default method.
#' @return An object of class `granary_boost`, inheriting from `granary_fit`: `alpha` (weights of the answers), `path` (by round: edge, log of the loss and of its bound,
#'   training error; by margins the target, the smallest margin and the smallest edge), `end`, `margins` of the rows, `row_weights` after the last round, `lower`, `upper` and
#'   `certified`, `importance` of the columns, `runs` of `"marginal"` and `"two_pass"`, `trees` (equal ones once), `answers` (which tree, member of the pool or function stands at
#'   each round), `levels`, `fitted`.
#' @references
#' Mukherjee, I. and Schapire, R. E. (2010). A theory of multiclass boosting. *Advances in Neural Information Processing Systems* 23.
#'
#' Ratsch, G. and Warmuth, M. K. (2005). Efficient margin maximizing with boosting. *Journal of Machine Learning Research* 6, 2131-2152.
#' @seealso [boost_select()], [boost_kernels()], [boost_check()], [boost_game()], [boost_bounds()], [forest()]
#' @export
#' @examples
#' fit <- boost(Species ~ ., iris, n_rounds = 50)
#' fit
#' table(predict(fit, iris), iris$Species)
#'
#' # two classes: the smallest margin, and how far it is from the best
#' two <- boost(Species ~ ., iris[51:150, ], nu = 0.2)
#' two
#' plot(two)
boost <- function(x, ...) {
  UseMethod("boost", formula_or_first(x, ...))
}

#' @rdname boost
#' @export
boost.formula <- function(formula, data = NULL, subset, na.action, ...) {
  tree_formula_fit(boost.default, "boost", ...)
}

vote_methods <- c("adaptive", "m2", "fixed_edge", "minimax01", "m1", "samme", "mh")
margin_methods <- c("star", "adaboost", "rho", "arc_gv", "marginal", "coordinate_ascent", "two_pass", "lpboost")

#' @rdname boost
#' @export
boost.default <- function(x, y = NULL, method = NULL, learner = c("tree", "stump", "pool"), n_rounds = NULL, max_leaves = NULL, min_leaf = 1,
                          step = c("paper", "exact"), shrinkage = 1, edge = 0.1, eta = NULL, sets = FALSE, n_draws = NULL, nu = NULL, rho = 0,
                          line_search = FALSE, selection = c("best", "worst", "random"), negate = FALSE, weights = NULL, tol = NULL, threads = NULL, ...) {
  call <- match.call()
  refuse_dots(...)
  if (missing(x)) fail_missing("x")
  if (is.null(y)) fail_missing("y")
  custom <- is.function(learner)
  kind <- if (custom) "custom" else check_choice(learner, c("tree", "stump", "pool"))
  classes <- tree_classes(y, NROW(x))
  k <- length(classes$levels)
  method <- if (is.null(method)) if (k == 2L) "star" else "adaptive" else check_choice(method, c(vote_methods, margin_methods))
  by_margin <- method %in% margin_methods
  if (by_margin && k > 2L) abort_input(sprintf("`method` \"%s\" is for two classes, but `y` has %d: use \"adaptive\".", method, k), "method")
  negate <- check_flag(negate)
  if (negate && !(by_margin && kind == "pool")) abort_input("`negate` is for pools, by margins: other answers come with their opposites.", "negate")
  data <- boost_rows(x, kind, classes$levels, by_margin)
  if (negate) data$x <- closed_pool(data$x)
  n <- nrow(data$x)
  options <- boost_options(data, k, method, kind, n, n_rounds, max_leaves, min_leaf, step, shrinkage, edge, eta, sets, n_draws, nu, rho, line_search,
                           selection, tol, threads)
  weights <- if (is.null(weights)) numeric() else unname(check_vector(weights, "weights", length = n, lower = 0))
  if (length(weights) > 0L && sum(weights) == 0) abort_input("`weights` must not all be 0.", "weights")
  asked <- if (custom) custom_learner(learner, x, factor(classes$levels[classes$y + 1], classes$levels), by_margin)
  found <- core_boost(unname_design(data$x), list(y = classes$y, weights = weights), options, asked$answer, core_seed(), progress_bar("boost"))
  fit <- new_boost(found, data, classes, options, kind, asked, weights, negate, call)
  tell_boost(fit)
  fit
}

# Answers and their opposites.
closed_pool <- function(x) {
  names <- colnames(x)
  out <- cbind(x, -x)
  dimnames(out) <- list(rownames(x), if (!is.null(names)) c(names, paste0("-", names)))
  out
}

boost_options <- function(data, k, method, kind, n, n_rounds, max_leaves, min_leaf, step, shrinkage, edge, eta, sets, n_draws, nu, rho, line_search,
                          selection, tol, threads) {
  by_margin <- method %in% margin_methods
  n_rounds <- check_count(n_rounds, "n_rounds", upper = 1e7, allow_null = TRUE)
  if (!is.null(nu)) nu <- check_number(nu, "nu", lower = 0, strict_lower = TRUE, upper = 2)
  if (is.null(n_rounds)) n_rounds <- if (by_margin && !is.null(nu)) max(1, ceiling(core_boost_bound("rounds", 2L, 0, 0, c(max(2, n), nu)))) else 500L
  if (n_rounds > 1e7) abort_input(sprintf("`nu` = %s asks for %.3g rounds: give a larger one, or `n_rounds`.", format(nu), n_rounds), "nu")
  max_leaves <- check_count(max_leaves, "max_leaves", lower = 2, allow_null = TRUE)
  if (is.null(max_leaves)) max_leaves <- if (by_margin || kind == "stump") 2L else 5L
  if (kind == "stump" && max_leaves != 2L) abort_input("A stump has two leaves: take learner = \"tree\" for `max_leaves` above 2.", "max_leaves")
  shrinkage <- check_number(shrinkage, "shrinkage", lower = 0, strict_lower = TRUE, upper = 1)
  if (shrinkage < 1 && method %in% c("fixed_edge", "minimax01", "lpboost")) {
    abort_input(sprintf("`shrinkage` must be 1 for method = \"%s\": its steps are fixed by the method.", method), "shrinkage")
  }
  selection <- check_choice(selection, c("best", "worst", "random"))
  if (selection != "best" && !(by_margin && kind == "pool")) abort_input("`selection` is for pools, by margins: leave it at \"best\".", "selection")
  n_draws <- check_count(n_draws, "n_draws", lower = 10, upper = 1e7, allow_null = TRUE)
  if (!is.null(n_draws) && method != "minimax01") abort_input("`n_draws` is for the potentials of method = \"minimax01\".", "n_draws")
  sets <- check_flag(sets, "sets")
  if (sets && method != "mh") abort_input("`sets` is for method = \"mh\"; with method = \"m2\" answers are sets anyway.", "sets")
  if (method == "minimax01" && is.null(n_draws) && (n_rounds > 2000L || k > 3L && n_rounds > 200L || k > 5L && n_rounds > 50L)) {
    abort_input(sprintf("Exact potentials for %d classes and %d rounds take too long: give `n_rounds` of at most %d, or `n_draws`.", k, n_rounds,
                        if (k > 5L) 50L else if (k > 3L) 200L else 2000L), "n_rounds")
  }
  line_search <- check_flag(line_search, "line_search")
  if (line_search && method == "lpboost") abort_input("`line_search` is not for lpboost, which has no steps.", "line_search")
  list(
    levels = if (kind == "pool") integer() else tree_level_counts(data), classes = k, method = method, step = check_choice(step, c("paper", "exact")),
    learner = if (kind == "stump") "tree" else kind, n_rounds = as.integer(n_rounds), max_leaves = max_leaves, min_leaf = check_count(min_leaf, "min_leaf"),
    shrinkage = shrinkage, edge = boost_sequence(edge, "edge", n_rounds, method, upper = 0.999), sets = sets, n_draws = if (is.null(n_draws)) 0L else n_draws,
    eta = if (is.null(eta)) numeric() else boost_sequence(eta, "eta", n_rounds, method, upper = 50), rho = check_number(rho, "rho", lower = -0.999999, upper = 0.999999),
    nu = if (is.null(nu)) 0 else nu, tol = if (is.null(tol)) 0 else check_number(tol, "tol", lower = 0, strict_lower = TRUE), line_search = line_search,
    selection = selection, threads = thread_count(threads)
  )
}

# One number, or for a strategy fixed in advance one per round.
boost_sequence <- function(x, arg, n_rounds, method, upper) {
  if (length(x) == 1L) return(check_number(x, arg, lower = 0, strict_lower = TRUE, upper = upper))
  x <- unname(check_vector(x, arg, lower = 0, strict_lower = TRUE, upper = upper))
  if (method != "fixed_edge") abort_input(sprintf("`%s` must be one number for method = \"%s\", not %d.", arg, method, length(x)), arg)
  if (length(x) != n_rounds) abort_input(sprintf("`%s` must be one number or one per round, %d, but it has %d.", arg, n_rounds, length(x)), arg)
  x
}

# Rows for the core. A pool is a matrix of classes from 0, or of numbers in [-1, 1].
boost_rows <- function(x, kind, levels, by_margin, arg = "x") {
  if (kind == "custom") {
    return(list(x = matrix(0, NROW(x), 1L, dimnames = list(row_words(custom_rows(x, arg)), NULL)), levels = list(NULL), ordered = FALSE))
  }
  if (kind != "pool") return(tree_data(x, arg))
  list(x = pool_answers(x, levels, by_margin, arg), levels = NULL, ordered = logical())
}

# What a learner of the user's can take: numbers, words, data frames.
custom_rows <- function(x, arg) if (is.data.frame(x) || is.matrix(x) && is.character(x)) x else check_matrix(x, arg, allow_na = TRUE)
row_words <- function(x) if (is.data.frame(x) && is.integer(attr(x, "row.names"))) NULL else rownames(x)

pool_answers <- function(x, levels, by_margin, arg) {
  if (is.data.frame(x)) x <- if (all(vapply(x, is.numeric, NA))) as.matrix(x) else vapply(x, as.character, character(nrow(x)))
  if (is.factor(x) || is.null(dim(x))) x <- matrix(if (is.factor(x)) as.character(x) else x, ncol = 1L)
  if (length(x) == 0L) fail_input(arg, "a matrix of answers", "one without any")
  if (by_margin && is.numeric(x)) {
    x <- check_matrix(x, arg)
    beyond <- which(abs(x) > 1 + 1e-12)
    if (length(beyond) > 0L) fail_input(arg, "answers in [-1, 1]", paste(format(x[beyond[1L]]), "in", describe_position(x, beyond[1L])))
    return(x)
  }
  words <- words_of(as.vector(x), levels)
  at <- match(words, levels)
  if (anyNA(at)) fail_input(arg, "a matrix of answers that are levels of `y`", sprintf("\"%s\" in row %d", words[which(is.na(at))[1L]], (which(is.na(at))[1L] - 1L) %% nrow(x) + 1L))
  out <- matrix(as.double(at) - 1, nrow(x), dimnames = dimnames(x))
  if (by_margin) 2 * out - 1 else out
}

# The user's learner as the core asks it: costs in, an answer per row out. What it returned is kept in `store`.
custom_learner <- function(learner, x, y, by_margin) {
  store <- new.env(parent = emptyenv())
  store$answers <- list()
  levels <- levels(y)
  list(store = store, answer = function(cost) {
    colnames(cost) <- levels
    member <- user_value(learner, "learner", x, y, cost)
    if (!is.function(member)) abort_input(sprintf("`learner` must return a function of new rows, but it returned %s.", describe(member)), "learner")
    store$answers <- c(store$answers, member)
    member_answers(member, x, levels, by_margin)
  })
}

member_answers <- function(member, x, levels, by_margin) {
  found <- user_value(member, "learner", x)
  if (length(found) != nrow(x)) abort_input(sprintf("What `learner` returned must answer for every row, %d, but it gave %d answers.", nrow(x), length(found)), "learner")
  if (anyNA(found)) abort_input(sprintf("What `learner` returned must answer for every row, but its answer for row %d is missing.", which(is.na(found))[1L]), "learner")
  pool_answers(matrix(if (is.factor(found)) as.character(found) else as.vector(found), ncol = 1L), levels, by_margin, "learner")[, 1L]
}

new_boost <- function(found, data, classes, options, kind, asked, weights, negate, call) {
  by_margin <- options$method %in% margin_methods
  path <- data.frame(round = seq_along(found$alpha), alpha = found$alpha, edge = found$edge, loss = found$loss, bound = found$bound, error = found$error)
  if (by_margin) path <- cbind(path, target = found$target, margin = found$margin, upper = found$upper)
  score <- matrix(found$score, ncol = options$classes, dimnames = list(rownames(data$x), classes$levels))
  answers <- if (kind %in% c("pool", "tree", "stump")) found$picks else if (kind == "custom") asked$store$answers[found$picks]
  importance <- if (length(found$importance) > 0L) stats::setNames(found$importance, colnames(data$x))
  fit <- new_fit(
    "boost", alpha = found$alpha, path = path, end = found$end, method = options$method, learner = kind, margins = stats::setNames(found$margins, rownames(data$x)),
    row_weights = found$weights, lower = if (by_margin) found$lower, upper = if (by_margin) found$upper_bound, certified = if (by_margin) found$exact, nu = if (by_margin) found$nu,
    eta = if (options$method == "fixed_edge") boost_steps(found$alpha), below = if (options$method %in% c("fixed_edge", "minimax01")) found$below,
    runs = if (options$method %in% c("marginal", "two_pass")) data.frame(rho = found$run_rho, rounds = found$run_rounds, lower = found$run_lower, upper = found$run_upper),
    importance = importance, trees = if (kind %in% c("tree", "stump")) found$trees, answers = answers, score = score,
    y = factor(classes$levels[classes$y + 1], classes$levels), levels = classes$levels, column_levels = if (kind == "custom") NULL else data$levels,
    pool_names = if (kind == "pool") colnames(data$x)[seq_len(ncol(data$x) / (1L + negate))], 
    pool_size = if (kind == "pool") ncol(data$x) / (1L + negate), negate = negate, ordered = data$ordered, settings = options, n = nrow(data$x),
    weights = if (length(weights) > 0L) weights, held = new.env(parent = emptyenv()), call = generic_call(call, "boost"), convergence = if (by_margin) found$convergence
  )
  fit$fitted <- tree_answer(score, classes$levels, "class")
  fit
}

boost_steps <- function(alpha) if (length(unique(alpha)) == 1L) alpha[1L] else alpha

# What a fit says of itself when it is made.
tell_boost <- function(fit) {
  if (fit$end == "no_edge") {
    message(sprintf("The learner had no edge in round %d: boosting ended there%s.", length(fit$alpha) + 1L, if (length(fit$alpha) == 0L) ", and nothing was learnt" else ""))
  }
  if (isTRUE(fit$lower <= 0) && isTRUE(fit$certified) && fit$upper <= 0) message("No combination of answers is right in all rows: the best smallest margin is at most 0.")
  if (isTRUE(fit$certified) && fit$end == "rounds" && fit$method %in% c("star", "two_pass", "marginal", "lpboost")) {
    check_convergence(fit, "Raise `n_rounds`, or give a larger `nu`.")
  }
  invisible(fit)
}
