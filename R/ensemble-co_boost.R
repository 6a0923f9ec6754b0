#' Boosting over several views
#'
#' Classifies cases that are seen in two or more views, such as sound and movement, or two kinds of molecular data. In
#' every round each view proposes a weak classifier of a random part of its columns, and all views together decide which
#' cases the next round looks at. Views may be matrices, or sequences of different lengths, for which the weak
#' classifier is a Gaussian hidden Markov model per class.
#'
#' @details In every round each view draws `candidates` random sets of columns, the share `share` of all, fits a weak
#'   classifier to each with the weights of the cases, and keeps that with the smallest weighted error
#'   \eqn{\epsilon}{e}. It votes with \eqn{\alpha = \log((1 - \epsilon) / \epsilon)}{alpha = log((1 - e) / e)}, and
#'   `vote = "samme"` adds \eqn{\log(C - 1)}{log(C - 1)} for \eqn{C} classes. The answers \eqn{h_v} of all views then
#'   move the log odds of every class,
#' \deqn{R(i, c) \leftarrow R(i, c) + \sum_v b_{v, c, [h_v(i) = c]}}{R(i, c) <- R(i, c) + sum_v b(v, c, h_v(i) = c)}
#' by the ratios \eqn{b} that minimise the bound on the one-against-the-rest errors
#' \deqn{B_c = \sum_i e^{-s_{ic} R(i, c)} \ge E_c, \quad s_{ic} = \pm 1}{B_c = sum_i exp(-s_ic R(i, c)) >= E_c, s_ic =
#' +-1} which is convex in \eqn{b} for any number of views, and cases are weighted by \eqn{e^{-R(i, y_i)}}{exp(-R(i,
#' y_i))}. To every cell of answers the share `smooth` of the bound is added, so that an empty one does not send a ratio
#' to infinity; \eqn{B_c} still never rises. With one view this is confidence-rated boosting.
#'
#' `rule = "vote"` answers with the class of most votes, as the paper does, `"posterior"` with that of the largest
#' \eqn{R}. A learner no better than chance, \eqn{\epsilon \ge 1 - 1/C}{e >= 1 - 1/C}, is left out, and boosting ends in
#' a round in which no view has a better one. With more than two classes a learner may err on more than half of the
#' weight: its vote by the paper's formula would be negative, and is 0 here; `vote = "samme"` lets it count.
#'
#' Arguments that differ between views (`learner`, `candidates`, `share`, `k`, `covariance`, `topology`, `max_leaves`)
#' may be given once, or once per view.
#'
#' `convergence` speaks of the minimisation of the bounds: the largest derivative left in any round, relative to the
#' bound.
#'
#' @section Which method when: For classes seen in several views, or sequences of which many columns say nothing.
#'   [co_boost_baseline()] has one classifier per view, late fusion, and boosting of one view; compare with them.
#'   [boost()] and [forest()] for one view without sequences, which may simply be all columns side by side.
#'   [hmm_classifier()] for a single view of sequences and few columns.
#'
#' @param x A list of views, each with all cases in the same order: a matrix or data frame (one row per case), or a list
#'   of sequences (a matrix with one row per time, for each case). Or one matrix or data frame, and `views` says which
#'   columns belong together; or a formula.
#' @param y The class of each case.
#' @param views For one matrix, data frame or formula: a list of names or numbers of columns, one element per view.
#' @param formula,data,subset,na.action A formula such as `y ~ .` and the data frame of its variables.
#' @param learner The weak classifier: `"hmm"` (sequences), `"lda"`, `"naive_bayes"`, `"tree"`. `NULL`: `"hmm"` for
#'   sequences, `"lda"` else.
#' @param n_rounds Number of rounds.
#' @param candidates Weak classifiers tried by each view in each round.
#' @param share Share of the columns of a view that a candidate looks at; at least one column.
#' @param vote How votes follow from errors.
#' @param rule How classes are told: by votes or by log odds.
#' @param smooth Share of the bound added to every cell; `NULL` for 1/(2n).
#' @param prior `"equal"`, or `"cases"`: log odds begin at, and weak classifiers use, the weighted shares of the
#'   classes.
#' @param weights Weights of the cases.
#' @param na `"error"`, or `"skip"` for rows that say nothing.
#' @param k,covariance,topology,start,forward,max_iter,tol For `"hmm"`: as for [hmm_classifier()].
#' @param floor Smallest variance, as a share of that of a column over all cases.
#' @param max_leaves,min_leaf For `"tree"`: most leaves, and least cases of a leaf.
#' @param threads Number of threads; the answer does not depend on it.
#' @param ... For the formula: arguments of the default method.
#' @return An object of class `granary_co_boost`: `members` (a data frame: `round`, `view`, `error`, `alpha`,
#'   `columns`), `path` (by round: `bound`, `wrong` (their sums over the classes), `vote_error`, `odds_error`,
#'   `largest_weight`), `bound` and `wrong` by class, `ratios` (what each member's answers do to the log odds, with
#'   probabilities where there are any), `picked` (by view, the share of rounds that used a column), `case_weights`,
#'   `votes`, `log_odds`, `sweeps` (iterations that each update took, by round and class), `model`.
#' @references
#' Wu, J. and Cheng, J. (2014). Bayesian co-boosting for multi-modal gesture recognition. *Journal of Machine Learning
#' Research* 15, 3013-3036.
#' @seealso [co_boost_select()], [co_boost_baseline()], [hmm_classifier()], [skeleton_features()], [sim_co_boost()],
#'   [boost()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_co_boost(n = 8, n_test = 5, n_classes = 3, p = 8)
#' fit <- co_boost(sim$x, sim$y, n_rounds = 5, candidates = 4, share = 0.5, k = 4, topology = "left_right")
#' fit
#' assess(fit, newdata = sim$newx, newy = sim$newy)
#' plot(fit)
#'
#' flowers <- co_boost(Species ~ ., iris, views = list(sepal = 1:2, petal = 3:4), share = 0.5)
#' summary(flowers)
co_boost <- function(x, ...) {
  UseMethod("co_boost", formula_or_first(x, ...))
}

#' @rdname co_boost
#' @export
co_boost.formula <- function(formula, data = NULL, subset, weights, na.action, ...) {
  formula_fit(co_boost.default, "co_boost", "weights", ...)
}

#' @rdname co_boost
#' @export
co_boost.default <- function(x, y = NULL, views = NULL, learner = NULL, n_rounds = 20, candidates = 10, share = 0.2,
                             vote = c("log_odds", "samme"),
                             rule = c("vote", "posterior"), smooth = NULL, prior = c("equal", "cases"), weights = NULL,
                             na = c("error", "skip"), k = 5, covariance = "diagonal",
                             topology = "ergodic", start = c("segments", "kmeans"), forward = c("exact", "hard"),
                             floor = 1e-3, tol = 1e-6, max_iter = 20, max_leaves = 2,
                             min_leaf = 1, threads = NULL, ...) {
  call <- match.call()
  refuse_dots(...)
  if (missing(x)) fail_missing("x")
  if (is.null(y)) fail_missing("y")
  na <- check_choice(na, c("error", "skip"))
  data <- view_data(x, views, na)
  n <- data$n
  classes <- case_classes(y, n)
  weights <- check_sequence_weights(weights, n, "case")
  for (v in seq_along(data$views)) check_class_rows(data$views[[v]], classes, weights, paste0("view ", data$names[v]))
  learners <- view_learners(data, learner, k, covariance, topology, start, forward, max_iter, tol, floor, max_leaves,
                            min_leaf, prior)
  widths <- vapply(data$views, function(view) ncol(view$x), 0L)
  parts <- per_view(share, "share", data, function(s) check_number(s, "share", lower = 0, upper = 1,
                                                                   strict_lower = TRUE))
  options <- list(classes = length(classes$levels), n_rounds = check_count(n_rounds, upper = 1e5),
                  candidates = as.integer(unlist(per_view(candidates, "candidates", data,
                                                          function(m) check_count(m, "candidates", upper = 1e5)))),
                  sizes = as.integer(pmax(1, round(unlist(parts) * widths))), learners = learners,
                  vote = check_choice(vote, c("log_odds", "samme")),
                  smooth = if (is.null(smooth)) -1 else check_number(smooth, lower = 0, upper = 1),
                  class_odds = learners[[1L]]$class_prior, threads = thread_count(threads))
  found <- core_co_boost(core_views(data), classes$y + 1, weights, options, core_seed(), progress_bar("co-boosting"))
  new_co_boost(found, data, classes, options, weights, check_choice(rule, c("vote", "posterior")), na,
               generic_call(call, "co_boost"))
}

# ---- views ----

# list(views (each as of sequence_data()), names, n, form ("list", or "columns" of one table), parts (columns of the
# table by view))
view_data <- function(x, views = NULL, na = "error", arg = "x", known = NULL) {
  if (is.list(x) && !is.data.frame(x)) {
    if (!is.null(views))
      abort_input("`views` says which columns of one table belong together; a list of views needs no `views`.", "views")
    return(view_list(x, na, arg, known))
  }
  if (!is.null(known) && known$form == "list") {
    fail_input(arg, sprintf("a list of the %d views of the fit", length(known$names)), describe(x))
  }
  rows <- if (is.null(known)) split_table(x, seq_len(NROW(x)), arg) else
    split_table(x, seq_len(NROW(x)), arg, known$columns)
  check_sequence_values(rows, na, arg)
  parts <- if (is.null(known)) check_view_parts(views, colnames(rows$x)) else known$parts
  list(views = lapply(parts, function(columns) list(x = rows$x[, columns, drop = FALSE], begin = rows$begin,
                                                    ids = rows$ids, listed = FALSE)), names = names(parts),
       n = nrow(rows$x), form = "columns", parts = parts, columns = colnames(rows$x), case_names = rownames(rows$x))
}

check_view_parts <- function(views, columns) {
  if (is.null(views))
    abort_input(paste("`views` must say which columns belong together, as list(a = c(\"x1\", \"x2\"), b = 3:5),",
                      "or `x` must be a list of views."), "views")
  if (is.atomic(views) && length(views) == length(columns) && !is.null(views) &&
      (is.factor(views) || is.character(views))) views <- split(columns, as.character(views))
  if (!is.list(views) || length(views) == 0L) {
    fail_input("views", "a list of names or numbers of columns, one element per view", describe(views))
  }
  parts <- lapply(views, function(part) {
    at <- if (is.character(part)) match(part, columns) else
      if (is_plain_numeric(part)) match(part, seq_along(columns)) else NA
    if (length(at) == 0L || anyNA(at)) {
      came <- if (length(at) == 0L) "an empty element" else describe(part[is.na(at)][1L])
      fail_input("views", "names or numbers of columns in every element", came)
    }
    twice <- columns[at[duplicated(at)]]
    if (length(twice) > 0L) abort_input(sprintf("A view has the column \"%s\" twice.", twice[1L]), "views")
    at
  })
  names(parts) <- view_names(names(views), length(views))
  check_views_count(length(parts))
  parts
}

view_names <- function(names, n) {
  made <- paste0("view", seq_len(n))
  names <- if (is.null(names)) made else ifelse(nzchar(names), names, made)
  if (anyDuplicated(names) > 0L) abort_input(sprintf("Views must have different names, but two are called \"%s\".",
                                                     names[anyDuplicated(names)]), "views")
  names
}

check_views_count <- function(n) {
  if (n > 12L) abort_input(sprintf("There may be at most 12 views, not %d: one of sequences is list(x).", n), "views")
}

view_list <- function(x, na, arg, known) {
  if (length(x) == 0L) fail_input(arg, "a list with at least one view", "an empty list")
  if (!is.null(known) && known$form == "columns")
    abort_input(sprintf("`%s` must be one table with the columns of the fit, not a list of views.", arg), arg)
  names <- view_names(names(x), length(x))
  if (!is.null(known)) {
    if (length(x) != length(known$names)) {
      abort_input(sprintf("`%s` must have the %d views of the fit, %s, but it has %d.", arg, length(known$names),
                          paste0("\"", known$names, "\"", collapse = ", "), length(x)), arg)
    }
    made_up <- identical(known$names, paste0("view", seq_along(known$names)))
    if (setequal(names, known$names)) x <- x[match(known$names, names)]
    else if (!made_up && !is.null(names(x))) {
      abort_input(sprintf("`%s` must have the views of the fit, but there is no \"%s\".", arg,
                          setdiff(known$names, names)[1L]), arg)
    }
    names <- known$names
  }
  check_views_count(length(x))
  views <- lapply(seq_along(x), function(v) {
    here <- sprintf("%s$%s", arg, names[v])
    columns <- if (!is.null(known)) known$columns[[v]]
    one <- x[[v]]
    if (is.list(one) && !is.data.frame(one)) return(sequence_data(one, NULL, na, here, columns))
    if (is.null(dim(one))) {
      abort_input(sprintf(paste0("Every view must be a matrix, a data frame or a list of sequences, but `%s` is %s.\n",
                                 "For a single view of sequences give a list of one: list(%s)."), here, describe(one),
                                   arg), arg)
    }
    rows <- split_table(one, seq_len(nrow(one)), here, columns)
    check_sequence_values(rows, na, here)
    c(rows, list(listed = FALSE))
  })
  counts <- vapply(views, function(view) length(view$ids), 0L)
  if (any(counts != counts[1L])) {
    other <- which(counts != counts[1L])[1L]
    abort_input(sprintf("All views must have the same cases, but \"%s\" has %d and \"%s\" has %d.", names[1L],
                        counts[1L], names[other], counts[other]), arg)
  }
  named <- vapply(seq_along(x), function(v) if (views[[v]]$listed) !is.null(names(x[[v]])) else
                  is.character(rownames(x[[v]])) && is.character(attr(x[[v]], "row.names")) || is.matrix(x[[v]]) &&
                    !is.null(rownames(x[[v]])), NA)
  case_names <- NULL
  for (v in which(named)) {
    own <- if (views[[v]]$listed) views[[v]]$ids else rownames(x[[v]])
    if (is.null(case_names)) case_names <- own
    if (!setequal(own, case_names))
      abort_input(sprintf("The cases of view \"%s\" have other names than those of the views before.", names[v]), arg)
    if (!identical(own, case_names))
      abort_input(sprintf("The cases of view \"%s\" are in another order than those of the views before: sort them.",
                          names[v]), arg)
  }
  list(views = stats::setNames(views, names), names = names, n = counts[1L], form = "list",
       columns = lapply(views, function(view) colnames(view$x)), case_names = case_names)
}

core_views <- function(data) unname(lapply(data$views, function(view) list(x = plain_rows(view$x), begin = view$begin)))

# One value for all views, or one for each, named or in their order.
per_view <- function(value, arg, data, check) {
  v <- length(data$views)
  if (!is.vector(value)) fail_input(arg, sprintf("one value, or one for each of the %d views", v), describe(value))
  if (length(value) != 1L && length(value) != v)
    abort_input(sprintf("`%s` must have one value, or one for each of the %d views, but it has %d.", arg, v,
                        length(value)), arg)
  if (length(value) == v && !is.null(names(value))) {
    if (!setequal(names(value), data$names))
      abort_input(sprintf("The names of `%s` must be those of the views, %s.", arg,
                          paste0("\"", data$names, "\"", collapse = ", ")), arg)
    value <- value[data$names]
  }
  lapply(seq_len(v), function(i) check(value[[if (length(value) == 1L) 1L else i]]))
}

view_learners <- function(data, learner, k, covariance, topology, start, forward, max_iter, tol, floor, max_leaves,
                          min_leaf, prior) {
  sequences <- vapply(data$views, function(view) any(diff(view$begin) > 1), NA)
  v <- length(sequences)
  word <- if (is.null(learner)) as.list(ifelse(sequences | vapply(data$views, `[[`, NA, "listed"), "hmm", "lda")) else
    per_view(learner, "learner", data, function(l) check_choice(l, c("hmm", "lda", "naive_bayes", "tree"), "learner"))
  wrong <- which(sequences & unlist(word) != "hmm")
  if (length(wrong) > 0L) {
    abort_input(sprintf("View \"%s\" has sequences, for which `learner` must be \"hmm\", not \"%s\".",
                        data$names[wrong[1L]], word[[wrong[1L]]]), "learner")
  }
  k <- per_view(k, "k", data, identity)
  covariance <- per_view(covariance, "covariance", data, identity)
  topology <- per_view(topology, "topology", data, identity)
  leaves <- per_view(max_leaves, "max_leaves", data, function(l) check_count(l, "max_leaves", lower = 2))
  least <- check_count(min_leaf, "min_leaf")
  class_prior <- check_choice(prior, c("equal", "cases"), "prior") == "cases"
  lapply(seq_len(v), function(i) {
    own <- chain_options(k[[i]], covariance[[i]], topology[[i]], start, forward, max_iter, tol, floor)
    own$learner <- word[[i]]
    c(own, list(max_leaves = leaves[[i]], min_leaf = least, class_prior = class_prior))
  })
}

# ---- the fit ----

new_co_boost <- function(found, data, classes, options, weights, rule, na, call, class = "co_boost") {
  model <- found$model
  levels <- classes$levels
  names <- data$names
  columns <- lapply(data$views, function(view) colnames(view$x))
  rounds <- length(found$vote_error)
  members <- data.frame(round = model$round, view = factor(names[model$view], names), error = found$error,
                        alpha = model$alpha,
                        columns = vapply(seq_along(model$members),
                                         function(m) paste(columns[[model$view[m]]][model$members[[m]]$features],
                                                           collapse = ", "), ""))
  by_class <- function(values) structure(values, dimnames = list(seq_len(nrow(values)) - 1L, levels))
  at <- rep(seq_along(model$round), length(levels))
  ratios <- data.frame(round = model$round[at], view = members$view[at],
                       class = factor(rep(levels, each = length(model$round)), levels), hit = as.vector(model$hit),
                       miss = as.vector(model$miss), if_class = na_for_nan(as.vector(found$if_class)),
                       if_other = na_for_nan(as.vector(found$if_other)))
  case_table <- function(values) structure(values, dimnames = list(data$case_names, levels))
  fit <- new_fit(
    class, members = members,
    path = data.frame(round = seq_len(rounds), bound = rowSums(found$bound)[-1L], wrong = rowSums(found$wrong)[-1L],
                      vote_error = found$vote_error, odds_error = found$odds_error,
                      largest_weight = found$largest_weight),
    bound = by_class(found$bound), wrong = by_class(found$wrong), ratios = ratios,
    picked = stats::setNames(lapply(seq_along(names),
                                    function(v) stats::setNames(found$picked[[v]] / max(1, rounds), columns[[v]])),
                                      names),
    case_weights = stats::setNames(found$weights, data$case_names), votes = case_table(found$votes),
    log_odds = case_table(found$log_odds), rule = rule, levels = levels,
    y = factor(levels[classes$y + 1], levels), views = names, form = data$form,
    columns = if (data$form == "list") columns else data$columns, parts = data$parts,
    sizes = stats::setNames(options$sizes, names), settings = options, end = found$end, dropped = found$dropped,
    sweeps = structure(found$sweeps, dimnames = list(NULL, levels)),
    silent = found$silent, na = na, model = model, n = data$n,
    weights = if (length(weights) > 0L) weights, call = call, convergence = found$convergence
  )
  fit$fitted <- co_boost_class(fit, fit$votes, fit$log_odds, rule)
  if (found$end == "no_edge") {
    message(sprintf("No view had a learner better than chance in round %d: boosting ended there%s.", rounds + 1L,
                    if (rounds == 0L) ", and nothing was learnt" else ""))
  }
  if (found$silent > 0L && rule == "vote") {
    message(sprintf("%s at least half of the weight and no vote: vote = \"samme\" lets them count.",
                    counted(found$silent, "weak classifier has an error of", "weak classifiers have errors of")))
  }
  check_convergence(fit, "Raise `smooth`.")
}

co_boost_class <- function(object, votes, log_odds, rule) {
  score <- if (rule == "vote") votes else log_odds
  stats::setNames(factor(object$levels[max.col(score, ties.method = "first")], object$levels), rownames(score))
}

co_boost_prob <- function(votes, log_odds, rule) {
  if (rule == "vote") return(votes)
  odds <- stats::plogis(log_odds)
  odds / rowSums(odds)
}
