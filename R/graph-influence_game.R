#' Influence games learnt from behaviour
#'
#' Who influences whom among players who choose between two actions at the same time? Learns a linear influence game, whose stable outcomes
#' (pure-strategy
#' Nash equilibria) explain the observed joint actions.
#'
#' @details
#' Player i plays \eqn{x_i \in \{-1, +1\}}{x_i in (-1, +1)} and is content where \eqn{x_i (\sum_j w_{ij} x_j - b_i) \ge 0}{x_i (sum_j w_ij x_j - b_i)
#' >= 0}; the
#' equilibria are the joint actions in which all are. Rows of `x` are equilibria with probability q, spread evenly over them, and otherwise any
#' other joint action. Counting equilibria is hard, so the weights come from a convex loss of the margins \eqn{z_i = x_i (w_i'x - b_i)}{z_i = x_i
#' (w_i'x - b_i)}
#' with penalty \eqn{\lambda \sum |w_{ij}|}{lambda sum |w_ij|}:
#'
#' | loss | a row costs |
#' | --- | --- |
#' | `"sl"` simultaneous logistic | \eqn{\log(1 + \sum_i e^{-z_i})}{log(1 + sum_i exp(-z_i))} |
#' | `"il"` independent logistic | \eqn{\sum_i \log(1 + e^{-z_i})}{sum_i log(1 + exp(-z_i))} |
#' | `"ss"` simultaneous hinge | \eqn{\max(0, \max_i (1 - z_i))}{max(0, max_i (1 - z_i))} |
#' | `"is"` independent hinge | \eqn{\sum_i \max(0, 1 - z_i)}{sum_i max(0, 1 - z_i)} |
#' | `"s2"`, `"s1"` | sigmoids for \eqn{1[z \ge 0]}{1[z >= 0]}: the share of equilibria, or (to 15 players) the likelihood; several starts |
#' | `"exhaustive"` | the likelihood itself, over all linear games of up to 4 players |
#'
#' The convex losses come with a duality gap. Hinges are linear (with a ridge quadratic) programs, solved by an interior point method that uses
#' their shape; where their minimum is not unique, a corner of it is taken if the certificate allows, as it has more zeros. Only where the program
#' of `"ss"` would have more than 1600 coefficients (above 40 players without `mask`) is the hinge smoothed instead, to a gap of 0.1 per cent. A
#' player who never changes has no finite threshold and is left out of the loss (`w_i = 0`, `b_i = -x_i`), with a warning. A player with all
#' parameters zero would be indifferent always; `fix_indifferent` gives it the threshold of its commoner action.
#'
#' The equilibria of the fit are counted where that is possible (see [game_equilibria()]); otherwise `n_equilibria` and `loglik` are `NA`, and the share of
#' rows that are equilibria (`share`), predictions and influences are what there is.
#'
#' @section Which method when:
#' `"sl"` had the smallest divergence of the convex losses in the thesis; `"il"` is fastest to explain, one regression per
#' player; `"exhaustive"` for up to four players. For symmetric interactions and a smooth distribution use [ising_fit()] and compare held-out likelihoods.
#'
#' @param x Actions, one row per occasion and one column per player: 0/1, -1/1, logical or two-valued factors.
#' @param lambda Penalty, above zero.
#' @param loss See Details.
#' @param penalty `"l1"`, or `"ridge"` for \eqn{\lambda \|W\|_F^2}{lambda |W|_F^2}, for a known structure (with `mask`).
#' @param mask A 0/1 matrix: entry (i, j) says whether j may influence i. `NULL` for everywhere.
#' @param fix_indifferent Whether to give indifferent players a threshold.
#' @param na Missing actions: an error, leave out the rows, or count them as -1 (abstention, as in the thesis' votes).
#' @param tol Duality gap at which to stop, relative to the loss at zero weights.
#' @param max_iter Iterations.
#' @param n_starts Starts of `"s1"` and `"s2"`.
#' @param count Whether to count equilibria.
#' @param ... Nothing: an argument that is not known is an error.
#' @return An object of class `granary_influence_game`: `W` (row i: what moves player i), `b`, `q`, `share`, `n_equilibria`, `log_equilibria`,
#'   `loglik`, `objective`, `loss`, `lambda`, the data, and a duality gap in `convergence`. See [granary_influence_game] for its methods.
#' @references
#' Honorio (2012). *Tractable learning of graphical model structures from data.* PhD thesis, Stony Brook University, chapter 7.
#'
#' Honorio and Ortiz (2015). Learning the structure and parameters of large-population graphical games from behavioral data. *Journal of Machine
#' Learning
#' Research* 16, 1157--1210.
#' @seealso [influence_game_select()], [as_influence_game()], [game_equilibria()], [game_bounds()], [ising_fit()]
#' @export
#' @examples
#' set.seed(1)
#' truth <- sim_influence_game(6, density = 0.4, p_plus = 0.8)
#' x <- simulate(truth, nsim = 100)
#' fit <- influence_game(x, lambda = 0.02)
#' fit
#' assess(fit, truth = truth)
influence_game <- function(x, lambda = 0.02, loss = c("sl", "il", "ss", "is", "s2", "s1", "exhaustive"), penalty = c("l1", "ridge"), mask = NULL,
                           fix_indifferent = TRUE, na = c("error", "omit", "negative"), tol = 1e-7, max_iter = 5000, n_starts = 5, count = TRUE, ...) {
  refuse_dots(...)
  call <- match.call()
  na <- check_choice(na, c("error", "omit", "negative"))
  data <- spin_data(x, "x", na, min_rows = 2L)
  settings <- game_settings(data, lambda, loss, penalty, mask, fix_indifferent, tol, max_iter, n_starts, check_flag(count))
  warn_still(data$x)
  game_finish(game_run(data$x, settings), data, settings, call)
}

game_settings <- function(data, lambda, loss, penalty, mask, fix_indifferent, tol, max_iter, n_starts, count) {
  loss <- check_choice(loss, c("sl", "il", "ss", "is", "s2", "s1", "exhaustive"))
  ridge <- check_choice(penalty, c("l1", "ridge")) == "ridge"
  lambda <- check_number(lambda, lower = 0, strict_lower = TRUE, upper = 1e6)
  p <- ncol(data$x)
  if (!is.null(mask)) {
    mask <- check_matrix(mask, "mask")
    if (!all(dim(mask) == p)) abort_input(sprintf("`mask` must be a %d x %d matrix, one row and column per player.", p, p), "mask")
    if (!all(mask %in% c(0, 1))) abort_input("`mask` must hold zeros and ones only.", "mask")
    mask <- unname(mask)
  }
  if (loss %in% c("s1", "s2", "exhaustive") && (ridge || !is.null(mask))) {
    abort_input(sprintf("loss = \"%s\" takes no ridge and no `mask`. Use a convex loss.", loss), "loss")
  }
  list(loss = loss, lambda = lambda, ridge = ridge, mask = mask, fix_indifferent = check_flag(fix_indifferent),
       tol = check_number(tol, lower = 0, strict_lower = TRUE), max_iter = check_count(max_iter, upper = 1e6), n_starts = check_count(n_starts,
                                                                                                                                    upper = 1000),
       count = count)
}

warn_still <- function(x) {
  still <- colnames(x)[abs(colMeans(x)) == 1]
  if (length(still) > 0L) {
    warn_input(paste0("Nothing can be learnt about ", if (length(still) > 1L) "players who never change" else "a player who never changes", ": ",
                      paste(utils::head(still, 5L), collapse = ", "), if (length(still) > 5L) ", ...",
                      ".\nTheir thresholds are set so that they always act as observed."), "x")
  }
}

game_run <- function(x, settings) {
  bar <- progress_bar("influence game")
  if (settings$loss == "exhaustive") {
    result <- core_game_exhaustive(x, bar)
    result$convergence <- list(converged = TRUE, iterations = as.integer(result$sets), gap = 0, residual = 0, seconds = 0, message = "")
    result$objective <- -result$log_likelihood
    return(result)
  }
  if (settings$loss %in% c("s1", "s2")) {
    return(core_game_sigmoid(x, list(likelihood = settings$loss == "s1", lambda = settings$lambda, n_starts = settings$n_starts,
                                     max_iter = min(settings$max_iter, 500L)), core_seed(), bar))
  }
  core_game_fit(x, list(loss = settings$loss, lambda = settings$lambda, ridge = settings$ridge, mask = settings$mask, tol = settings$tol,
                        max_iter = settings$max_iter), bar)
}

game_finish <- function(result, data, settings, call) {
  names <- colnames(data$x)
  W <- structure(result$W, dimnames = list(names, names))
  b <- stats::setNames(as.vector(result$b), names)
  indifferent <- rowSums(W != 0) == 0 & b == 0
  if (settings$fix_indifferent && any(indifferent)) b[indifferent] <- ifelse(colMeans(data$x)[indifferent] < 0, 1, -1)
  fit <- new_fit(
    "influence_game", W = W, b = b, q = NA_real_, share = NA_real_, n_equilibria = NA_real_, log_equilibria = NA_real_, loglik = NA_real_,
    objective = result$objective, loss = settings$loss, lambda = settings$lambda, indifferent = names[indifferent], levels = data$levels, kind = data$kind,
    x = data$x, n = nrow(data$x), settings = settings, call = call, convergence = result$convergence
  )
  fit <- game_score(fit)
  check_convergence(fit, "Raise `max_iter`, loosen `tol`, or use a larger `lambda`.")
  fit
}

# Share of the rows, number of equilibria, q and the log-likelihood.
game_score <- function(fit) {
  n <- nrow(fit$x)
  fit$share <- mean(core_game_stable(spin_model(fit), fit$x, 1e-9, 0))
  fit$q <- min(fit$share, 1 - 1 / (2 * n))
  if (!fit$settings$count) return(fit)
  found <- tryCatch(game_count(fit, max_nodes = 5e5), granary_error = function(e) e)
  if (inherits(found, "granary_error")) {
    warn_input(paste0("The equilibria of this game of ", ncol(fit$W),
                      " players cannot be counted in reasonable time, so its likelihood is not known.\n",
                      "Still available: the share of rows that are equilibria, game_equilibria(what = \"test\"), predict(), influence(). ",
                      "A larger `lambda` gives a sparser game; game_equilibria() with a larger `max_nodes` tries harder."), "x")
    return(fit)
  }
  fit$n_equilibria <- found$count
  fit$log_equilibria <- found$log_count
  trivial <- found$count == 0 || found$log_count >= ncol(fit$W) * log(2) * (1 - 1e-12)
  fit$loglik <- n * core_game_loglik(ncol(fit$W), found$log_count, fit$share, fit$q)
  if (trivial) {
    warn_input(paste0("The game learnt is trivial: ", if (found$count == 0) "it has no equilibrium" else "every joint action is an equilibrium",
                      ", so the model is the uniform distribution. Try another `lambda` or `loss`."), "lambda")
  }
  fit
}

game_count <- function(game, max_nodes = 1e8) {
  core_game_equilibria(spin_model(game), list(list = FALSE, max_list = 0, max_nodes = max_nodes, threads = thread_count()), NULL)
}

#' Choose the penalty of an influence game, or its equilibria
#'
#' `type = "influence"` chooses the penalty of [influence_game()] by cross-validation. `type = "any"` is the maximum likelihood estimate among games of any
#' form (Algorithm 7.1 of the thesis): the most frequent joint actions are the equilibria, and what is chosen is how many.
#'
#' @details The score of a penalty is the mean log-likelihood of held-out rows, with the equilibria counted exactly and q from the training rows. Where the
#'   game of some fold cannot be counted, its score is the held-out share of equilibria instead, for all penalties; such a score favours games with many
#'   equilibria, and a warning says so. For `"any"` the score is the mean log-likelihood of all rows with the `k` most frequent actions as equilibria (with
#'   `k = 0`, that of the uniform law).
#' @section Which method when:
#' `"any"` is what the influence games are to be compared with: it uses no structure, so it predicts nothing about joint actions that were not seen, and its
#' likelihood is an upper limit for that of any game on the same rows.
#' @inheritParams influence_game
#' @param type Games with linear influence, or any game.
#' @param lambda Penalties; by default `n_lambda` from 0.3 downwards to 0.003.
#' @param n_lambda Number of default penalties.
#' @param folds Number of folds, or the fold of each row.
#' @param rule `"min"`: the best score; `"1se"`: the largest penalty within one standard error of it.
#' @param ... Nothing: an argument that is not known is an error.
#' @return A [granary_selection]; the table has also the held-out `share` of equilibria. Its `fit` is one of [influence_game()], or for `"any"` one of class
#'   `granary_game_pick`: `equilibria` (rows of `x`), `frequency`, `q`, `share`, `loglik`.
#' @references
#' Honorio (2012). *Tractable learning of graphical model structures from data.* PhD thesis, Stony Brook University, chapter 7.
#' @seealso [influence_game()], [as_influence_game()], [game_equilibria()], [game_bounds()], [ising_fit()]
#' @export
#' @examples
#' set.seed(1)
#' x <- simulate(sim_influence_game(5, density = 0.5, p_plus = 1), nsim = 60)
#' choice <- influence_game_select(x, n_lambda = 5, folds = 3)
#' choice
#' choice$fit
#' influence_game_select(x, type = "any")$fit
influence_game_select <- function(x, type = c("influence", "any"), lambda = NULL, n_lambda = 10, folds = 10, rule = c("min", "1se"),
                                  loss = c("sl", "il", "ss", "is", "s2", "s1"), na = c("error", "omit", "negative"), tol = 1e-6, max_iter = 5000, ...) {
  refuse_dots(...)
  call <- match.call()
  na <- check_choice(na, c("error", "omit", "negative"))
  type <- check_choice(type, c("influence", "any"))
  if (type == "any") return(pick_equilibria(spin_data(x, "x", na), call))
  data <- spin_data(x, "x", na, min_rows = 4L)
  n_lambda <- check_count(n_lambda, upper = 1000)
  rule <- check_choice(rule, c("min", "1se"))
  lambda <- if (is.null(lambda)) exp(seq(log(0.3), log(0.003), length.out = n_lambda)) else {
    check_vector(lambda, "lambda", lower = 0, strict_lower = TRUE, upper = 1e6)
  }
  loss <- check_choice(loss, c("sl", "il", "ss", "is", "s2", "s1"))
  settings <- game_settings(data, lambda[1L], loss, "l1", NULL, TRUE, tol, max_iter, 5, TRUE)
  warn_still(data$x)
  fold <- check_folds(folds, nrow(data$x))
  parts <- sort(unique(fold))
  scores <- resample_lapply(parts, function(k) {
    train <- list(x = data$x[fold != k, , drop = FALSE], levels = data$levels, kind = data$kind)
    test <- data$x[fold == k, , drop = FALSE]
    vapply(lambda, function(value) {
      settings$lambda <- value
      fit <- suppressWarnings(game_finish(game_run(train$x, settings), train, settings, NULL))
      if (is.na(fit$log_equilibria)) settings$count <<- FALSE  # one game that cannot be counted settles the kind of score
      share <- mean(core_game_stable(spin_model(fit), test, 1e-9, 0))
      # With no equilibrium among the training rows q = 0; half an observation keeps the score finite.
      q <- min(max(fit$q, 1 / (2 * nrow(train$x))), 1 - 1 / (2 * nrow(train$x)))
      c(if (is.na(fit$log_equilibria)) NA_real_ else core_game_loglik(ncol(test), fit$log_equilibria, share, q), share)
    }, c(0, 0))
  }, "cross-validation")
  each <- function(row) matrix(vapply(scores, function(s) s[row, ], numeric(length(lambda))), length(lambda))
  values <- each(1L)
  shares <- each(2L)
  counted <- !anyNA(values)
  if (!counted) warn_input("Some games have too many players to count equilibria; penalties are compared by the held-out share of equilibria.", "x")
  score <- if (counted) values else shares
  weight <- as.vector(table(fold)) / length(fold)
  table <- data.frame(lambda = lambda, estimate = drop(score %*% weight), std.error = apply(score, 1L, stats::sd) / sqrt(length(parts)),
                      share = drop(shares %*% weight))
  out <- new_selection("influence_game", NULL, table, rule, if (counted) "held-out log-likelihood per row" else "held-out share of equilibria",
                       simplicity = lambda, maximize = TRUE, folds = fold, lambda = lambda, call = call, convergence = NULL)
  settings$lambda <- lambda[out$selected]
  out$fit <- game_finish(game_run(data$x, settings), data, settings, call)
  out$convergence <- out$fit$convergence
  out
}

# Algorithm 7.1: the k most frequent joint actions as equilibria, for the k of largest likelihood.
pick_equilibria <- function(data, call) {
  result <- core_game_pick(unname(data$x))
  top <- seq_len(result$picked)
  uniform <- -ncol(data$x) * log(2)
  if (result$picked == 0) warn_input("All joint actions occur and no smaller set of equilibria is left to pick: the estimate is the uniform law.", "x")
  fit <- new_fit("game_pick", equilibria = spin_values(data$x[result$row[top], , drop = FALSE], data), frequency = result$frequency[top], q = result$q,
                 share = result$share, loglik = nrow(data$x) * (if (result$picked == 0) uniform else result$log_likelihood),
                 df = as.integer(result$picked) + 1L, n = nrow(data$x), levels = data$levels, kind = data$kind, call = call, convergence = NULL)
  table <- data.frame(k = c(0, seq_along(result$path)), estimate = c(uniform, result$path))
  new_selection("influence_game", fit, table, "min", "log-likelihood per row", maximize = TRUE, selected = as.integer(result$picked) + 1L, call = call)
}

#' @export
print.granary_game_pick <- function(x, ...) {
  cli::cat_line("Equilibria picked from the sample: ", length(x$frequency), ", with ", format(100 * x$share, digits = 3L), "% of the rows")
  print_call(x$call)
  cli::cat_line("Log-likelihood ", format(x$loglik, digits = 5L), " (", format(x$loglik / x$n, digits = 4L), " per row), q = ", format(x$q, digits = 3L))
  print(utils::head(tidy(x), 10L), digits = 3L, row.names = FALSE)
  invisible(x)
}

#' @export
summary.granary_game_pick <- function(object, ...) object

#' @export
tidy.granary_game_pick <- function(x, ...) {
  refuse_dots(...)
  cbind(as.data.frame(x$equilibria), estimate = x$frequency)
}
