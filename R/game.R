#' Influence games: what can be done with one
#'
#' @details
#' `predict()` gives, for rows of `newdata`, `"response"`: each player's best response to the others (an indifferent player keeps its action);
#' `"payoff"`: \eqn{\sum_j w_{ij} x_j - b_i}{sum_j w_ij x_j - b_i}; `"joint"` and `"log_joint"`: the probability of the row under the model and its
#' logarithm.
#'
#' `influence()` scales each row of the weights by \eqn{|w_i|_1 + |b_i|}{|w_i|_1 + |b_i|} and reports per player: `influence` on others (column sums
#' of
#' absolute weights), `influenced` (row sums) and `threshold` (the scaled \eqn{b_i}{b_i}; large in absolute value: hard to move). With `groups` also
#' the mean
#' influence of each group on each.
#'
#' `simulate()` draws rows: an equilibrium, evenly, with probability q, otherwise another joint action.
#'
#' @param x,object,model An influence game.
#' @param newdata Joint actions; by default those fitted.
#' @param type For `predict()`, see Details. For `plot()`: `"network"` (arrows from influencer to influenced; blue positive, red negative) or
#'   `"heatmap"`.
#' @param nsim Number of rows.
#' @param seed A seed for [set.seed()]; the session's random numbers are left as they were, as in [stats::simulate()]. Usually left `NULL`.
#' @param groups A vector with the group of each player.
#' @param labels Whether to write names.
#' @param layout A two-column matrix of positions.
#' @param ... For `plot()`, graphical parameters.
#' @return `coef()` and `tidy()`: a data frame of influences, strongest first. `influence()`: a data frame, or with `groups` a list of it and a
#'   matrix.
#' @family influence games
#' @name granary_influence_game
#' @examples
#' set.seed(1)
#' game <- sim_game(6, density = 0.4)
#' coef(game)
#' influence(game)
#' x <- simulate(game, nsim = 4)
#' predict(game, x)
#' predict(game, x, type = "joint")
#' plot(game)
NULL

game_of <- function(game, arg = "game") {
  if (missing(game)) fail_missing(arg)
  if (!inherits(game, "granary_influence_game")) {
    fail_input(arg, "an influence game, from influence_game(), as_influence_game() or sim_game()", describe(game))
  }
  game
}

#' Influence games from their parameters
#'
#' @param W Matrix of weights with zero diagonal: row i holds what moves player i.
#' @param b Thresholds; zeros by default. A large one favours the action -1.
#' @param q Probability that a row is an equilibrium.
#' @return An object of class `granary_influence_game`.
#' @family influence games
#' @export
#' @examples
#' game <- as_influence_game(matrix(c(0, 1, 1, 0), 2))
#' equilibria(game)
as_influence_game <- function(W, b = NULL, q = 0.9) {
  call <- match.call()
  W <- check_matrix(W, "W")
  if (nrow(W) != ncol(W)) abort_input(sprintf("`W` must be square, one row and column per player, but it is %d x %d.", nrow(W), ncol(W)), "W")
  if (any(diag(W) != 0)) abort_input("`W` must have a zero diagonal: players do not influence themselves.", "W")
  names <- variable_names(if (is.null(colnames(W))) rownames(W) else colnames(W), ncol(W))
  check_names_unique(names, "W")
  dimnames(W) <- list(names, names)
  b <- if (is.null(b)) rep(0, ncol(W)) else check_vector(b, "b", length = ncol(W))
  q <- check_number(q, lower = 0, upper = 1)
  labels <- spin_labels(names)
  new_fit("influence_game", W = W, b = stats::setNames(b, names), q = q, levels = labels$levels, kind = labels$kind, call = call, convergence = NULL)
}

#' @rdname as_influence_game
#' @param n Number of players.
#' @param density Probability that one player influences another.
#' @param p_plus Probability that a weight is +1 rather than -1.
#' @export
#' @examples
#'
#' set.seed(1)
#' count_equilibria(sim_game(12, density = 0.5, p_plus = 0))
sim_game <- function(n, density = 0.5, p_plus = 0.5, b = NULL, q = 0.9) {
  n <- check_count(n, upper = 5000)
  density <- check_number(density, lower = 0, upper = 1)
  p_plus <- check_number(p_plus, lower = 0, upper = 1)
  edge <- matrix(stats::runif(n * n) < density, n)
  W <- edge * ifelse(matrix(stats::runif(n * n), n) < p_plus, 1, -1)
  diag(W) <- 0
  as_influence_game(W, b, q)
}

#' Equilibria of an influence game
#'
#' Lists, counts and tests pure-strategy Nash equilibria: joint actions from which no single player wants to move.
#'
#' @details
#' `"gray"` looks at all joint actions, one flip at a time (up to `max_n` players); `"elimination"` sums players out one by one, at a cost of
#' \eqn{2^{width}}{2^width}, so that sparse games of any size can be counted and listed; `"search"` assigns players one after the other and prunes,
#' up to
#' `max_nodes` nodes. `"auto"` takes the cheapest. More players than these can enumerate are an error that says what is left:
#' `is_equilibrium()`, `predict()` and `influence()` need no enumeration.
#'
#' An indifferent player is content with either action. Payoffs within `tie_tol` of zero, relative to \eqn{|w_i|_1 + |b_i|}{|w_i|_1 + |b_i|}, count as
#' indifference; `ties` says how often that happened among the equilibria listed. `epsilon` admits players who would gain at most that much.
#'
#' @param game An influence game.
#' @param method How; see Details.
#' @param list Whether to list the equilibria, not only count them.
#' @param max_n Most players for `"gray"`.
#' @param max_list More equilibria than this are counted only, with a warning.
#' @param max_nodes Most nodes of a search.
#' @param tie_tol,epsilon Tolerances, see Details.
#' @param x Joint actions, one row each.
#' @return `equilibria()`: a list of class `granary_equilibria`: `count`, `log_count`, `states` (rows in the coding of the data; `NULL` if not
#'   listed), `proportion`
#'   (\eqn{|NE| / 2^n}{|NE| / 2^n}), `trivial` (none, or all), `ties`, `method`. `count_equilibria()`: the count. `is_equilibrium()`: a logical per
#'   row.
#' @family influence games
#' @export
#' @examples
#' game <- as_influence_game(1 - diag(3))
#' equilibria(game)
#' count_equilibria(as_influence_game(diag(4) - 1))  # anti-coordination: choose(4, 2)
#' is_equilibrium(game, rbind(c(1, 1, 1), c(1, 1, -1)))
equilibria <- function(game, method = c("auto", "gray", "elimination", "search"), list = TRUE, max_n = 26, max_list = 1e6, max_nodes = 1e8,
                       tie_tol = 1e-9, epsilon = 0) {
  game <- game_of(game)
  method <- check_choice(method, c("auto", "gray", "elimination", "search"))
  list <- check_flag(list)
  max_n <- check_count(max_n, upper = 34)
  max_list <- check_number(max_list, lower = 0, upper = 1e8)
  max_nodes <- check_number(max_nodes, lower = 1, upper = 1e15)
  tie_tol <- check_number(tie_tol, lower = 0, upper = 1)
  epsilon <- check_number(epsilon, lower = 0)
  found <- core_call(core_game_equilibria(unname(game$W), unname(game$b), method, tie_tol, epsilon, list, max_list, max_nodes, max_n, thread_count(),
                                          progress_bar("equilibria")))
  states <- NULL
  if (found$listed) {
    colnames(found$states) <- colnames(game$W)
    states <- spin_values(found$states, game)
  } else if (list) {
    warn_input(sprintf("There are %s equilibria, more than `max_list`; they are counted, not listed.", format(found$count, digits = 6L)), "max_list")
  }
  p <- ncol(game$W)
  structure(
    list(count = found$count, log_count = found$log_count, proportion = exp(found$log_count - p * log(2)), states = states,
         trivial = found$count == 0 || found$log_count >= p * log(2) * (1 - 1e-12), ties = if (found$listed) found$ties else NA_real_,
         method = found$method, width = found$width, seconds = found$seconds, players = p),
    class = "granary_equilibria"
  )
}

#' @export
print.granary_equilibria <- function(x, ...) {
  cli::cat_line(format(x$count, digits = 6L), if (x$count == 1) " equilibrium of " else " equilibria of ", x$players, " players (by ", x$method, ", ",
                format(signif(x$seconds, 2L)), " s)", if (x$trivial) "; the game is trivial")
  if (isTRUE(x$ties > 0)) cli::cat_line(x$ties, " indifferent players among them")
  if (!is.null(x$states) && x$count > 0) {
    print(utils::head(x$states, 10L))
    if (x$count > 10) cli::cat_line("... ", x$count - 10, " more in $states")
  }
  invisible(x)
}

#' @rdname equilibria
#' @export
count_equilibria <- function(game, method = c("auto", "gray", "elimination", "search"), max_nodes = 1e8) {
  equilibria(game, method, list = FALSE, max_nodes = max_nodes)$count
}

#' @rdname equilibria
#' @export
is_equilibrium <- function(game, x, tie_tol = 1e-9, epsilon = 0) {
  game <- game_of(game)
  x <- spin_data(x, "x", like = game)$x
  core_game_stable(unname(game$W), unname(game$b), x, check_number(tie_tol, lower = 0, upper = 1), check_number(epsilon, lower = 0))
}

#' Compare influence games
#'
#' `game_kl()` is the divergence of the second game's distribution from the first's; `game_recovery()` says how well the equilibria of a fit match
#' those of
#' the truth, and whether the games are equivalent (have the same equilibria).
#'
#' @param game1,game2,fit,truth Influence games with the same players, whose equilibria can be listed.
#' @return A number (infinite where the first game gives mass to joint actions that the second excludes); `game_recovery()`: a data frame with
#'   `precision`, `recall`, `equivalent` and the counts.
#' @family influence games
#' @export
#' @examples
#' a <- as_influence_game(1 - diag(3), q = 0.8)
#' b <- as_influence_game(2 * (1 - diag(3)), q = 0.9)
#' game_kl(a, b)
#' game_recovery(b, a)
game_kl <- function(game1, game2) {
  one <- game_listed(game1, "game1")
  two <- game_listed(game2, "game2")
  same_players(game1, game2, "game2")
  p <- ncol(game1$W)
  total <- 2^p
  both <- length(intersect(one$key, two$key))
  q1 <- law_weight(game1, one$count, total, "game1")
  q2 <- law_weight(game2, two$count, total, "game2")
  # Four classes of states: in both, only in the first, only in the second, in neither.
  size <- c(both, one$count - both, two$count - both, total - one$count - two$count + both)
  inside1 <- c(TRUE, TRUE, FALSE, FALSE)
  inside2 <- c(TRUE, FALSE, TRUE, FALSE)
  p1 <- state_probability(inside1, q1, one$count, total)
  p2 <- state_probability(inside2, q2, two$count, total)
  term <- ifelse(size > 0 & p1 > 0, size * p1 * (log(p1) - log(p2)), 0)
  max(0, sum(term))
}

# A trivial game is the uniform law: the weight of its equilibria is their share.
law_weight <- function(game, count, total, arg) {
  if (count == 0 || count == total) return(count / total)
  if (is.na(game$q)) abort_input(paste0("`", arg, "` has no q."), arg)
  game$q
}

state_probability <- function(inside, q, count, total) {
  ifelse(inside, if (count > 0) q / count else 0, if (count < total) (1 - q) / (total - count) else 0)
}

game_listed <- function(game, arg) {
  game <- game_of(game, arg)
  found <- core_call(core_game_equilibria(unname(game$W), unname(game$b), "auto", 1e-9, 0, TRUE, 2e6, 1e8, 26L, thread_count(), NULL))
  if (!found$listed) abort_input(sprintf("`%s` has %s equilibria, too many to compare one by one.", arg, format(found$count, digits = 4L)), arg)
  key <- if (found$count == 0) character() else do.call(paste0, as.data.frame(ifelse(found$states > 0, "+", "-")))
  list(count = found$count, key = key)
}

same_players <- function(game1, game2, arg) {
  if (ncol(game1$W) != ncol(game2$W)) {
    abort_input(sprintf("The two games must have the same players, but they have %d and %d.", ncol(game1$W), ncol(game2$W)), arg)
  }
}

#' @rdname game_kl
#' @export
game_recovery <- function(fit, truth) {
  one <- game_listed(fit, "fit")
  two <- game_listed(truth, "truth")
  same_players(fit, truth, "truth")
  both <- length(intersect(one$key, two$key))
  data.frame(precision = if (one$count > 0) both / one$count else NA_real_, recall = if (two$count > 0) both / two$count else NA_real_,
             equivalent = both == one$count && both == two$count, equilibria = one$count, true_equilibria = two$count)
}

#' Bounds for influence games
#'
#' How far the likelihood of a learnt game can be from its expectation, and how many equilibria random games have: the calculator of chapter 7 of the
#' thesis.
#'
#' @details
#' `gap` bounds, with probability \eqn{1 - \delta}{1 - delta}, the difference between the expected log-likelihood of the maximum likelihood estimate
#' and the
#' best one: \eqn{(\log\max(2m, 1/(1-\bar q)) + n \log 2) \sqrt{(2/m)(n^3 \log 2 + \log(4/\delta))}}{(log max(2m, 1/(1-q)) + n log 2) sqrt((2/m) (n^3
#' log 2 +
#' log(4/delta)))}. `log2_games` bounds the number of distinct linear games, \eqn{2^{0.33048 n^3}}{2^(0.33048 n^3)} to \eqn{2^{n^3}}{2^(n^3)}.
#' `expected_proportion` bounds \eqn{E|NE|/2^n}{E |NE| / 2^n}, \eqn{(1/2)^n}{(1/2)^n} to \eqn{(3/4)^n}{(3/4)^n}, and `proportion` is
#' \eqn{(3/4)^n / \delta}{(3/4)^n / delta}; these hold for weights with a law that is symmetric about zero, not for all independent rows as printed
#' (see
#' `errata("thesis-7-influence-games")`). `players` is the number of players from which a random game has \eqn{|NE|/2^n \le \gamma}{|NE| / 2^n <=
#' gamma} with
#' that probability. With a `share` of rows and a `proportion` of joint actions that are equilibria, `kl` bounds
#' \eqn{KL(share || proportion)}{KL(share || proportion)}, the gain of log-likelihood over the uniform law. Where the game is known,
#' [count_equilibria()] is exact.
#'
#' @param n Number of players.
#' @param m Number of rows.
#' @param q Largest probability of an equilibrium.
#' @param delta Probability of failure.
#' @param gamma Proportion of equilibria for `players`.
#' @param share,proportion Observed share and proportion of equilibria, or `NULL`.
#' @return A list of class `granary_game_bounds`.
#' @family influence games
#' @export
#' @examples
#' game_bounds(n = 5, m = 1e5)
game_bounds <- function(n, m, q = 0.9, delta = 0.05, gamma = 0.05, share = NULL, proportion = NULL) {
  n <- check_count(n, upper = 1e6)
  m <- check_count(m)
  q <- check_number(q, lower = 0, upper = 1, strict_upper = TRUE)
  delta <- check_number(delta, lower = 0, upper = 1, strict_lower = TRUE, strict_upper = TRUE)
  gamma <- check_number(gamma, lower = 0, upper = 1, strict_lower = TRUE)
  share <- check_number(share, lower = 0, upper = 1, allow_null = TRUE)
  proportion <- check_number(proportion, lower = 0, upper = 1, strict_lower = TRUE, allow_null = TRUE)
  n <- as.double(n)
  kl <- if (!is.null(share) && !is.null(proportion)) -share * log(proportion) - c(lower = log(2), upper = 0)
  structure(
    list(players = ceiling(max(1, log(delta * gamma) / log(0.75))), kl = kl, gap = (log(max(2 * m,
        1 / (1 - q))) + n * log(2)) * sqrt(2 / m * (n^3 * log(2) + log(4 / delta))), log2_dimension = n^2 * (n + 1) / 2 + 1,
         log2_games = c(lower = 0.33048 * n^3, upper = n^3), expected_proportion = c(lower = 0.5^n, upper = 0.75^n),
         proportion = min(1, 0.75^n / delta), n = n, m = m, q = q, delta = delta),
    class = "granary_game_bounds"
  )
}

#' @export
print.granary_game_bounds <- function(x, ...) {
  short <- function(v) format(v, digits = 4L)
  cli::cat_line("Bounds for influence games of ", x$n, " players from ", x$m, " rows, with probability ", 1 - x$delta)
  cli::cat_line("  log-likelihood: within ", short(x$gap), if (x$gap > x$n * log(2)) " (no information: the uniform law is that close)")
  cli::cat_line("  distinct linear games: 2^", short(x$log2_games[[1L]]), " to 2^", short(x$log2_games[[2L]]))
  cli::cat_line("  share of equilibria, weights symmetric about zero: mean ", short(x$expected_proportion[[1L]]), " to ",
                short(x$expected_proportion[[2L]]), ", at most ", short(x$proportion))
  invisible(x)
}

#' @rdname granary_influence_game
#' @export
print.granary_influence_game <- function(x, ...) {
  fitted <- !is.null(x$x)
  cli::cat_line("Influence game", if (fitted) paste0(" by ", game_titles[[x$loss]]), ": ", ncol(x$W), " players, ", sum(x$W != 0), " influences",
                if (fitted) paste0(", n = ", x$n))
  print_call(x$call)
  if (fitted) {
    cli::cat_line("rho: ", format(x$rho, digits = 3L), "; ", format(100 * x$share, digits = 3L), "% of the rows are equilibria; q = ",
                  format(x$q, digits = 3L))
    cli::cat_line("Equilibria: ", if (is.na(x$n_equilibria)) "not counted" else format(x$n_equilibria, digits = 6L), "; mean log-likelihood: ",
                  if (is.na(x$loglik)) "not known" else format(x$loglik, digits = 5L))
  }
  table <- utils::head(coef(x), 6L)
  if (nrow(table) > 0L) {
    cli::cat_line("Strongest influences:")
    print(table, digits = 3L, row.names = FALSE)
  }
  if (fitted) cli::cat_line("Solver: ", format_convergence(x$convergence))
  invisible(x)
}

game_titles <- c(sl = "simultaneous logistic loss", il = "independent logistic losses", ss = "simultaneous hinge loss",
                 is = "independent hinge losses",
                 s2 = "sigmoidal share of equilibria", s1 = "sigmoidal likelihood", exhaustive = "exhaustive maximum likelihood")

#' @rdname granary_influence_game
#' @export
summary.granary_influence_game <- function(object, ...) {
  structure(list(game = object, influence = influence(object)), class = "summary_granary_influence_game")
}

#' @export
print.summary_granary_influence_game <- function(x, ...) {
  print(x$game)
  cli::cat_line("Most influential players:")
  print(utils::head(x$influence, 10L), digits = 3L, row.names = FALSE)
  invisible(x)
}

#' @rdname granary_influence_game
#' @export
coef.granary_influence_game <- function(object, ...) {
  W <- object$W
  at <- which(W != 0, arr.ind = TRUE)
  at <- at[order(-abs(W[at])), , drop = FALSE]
  data.frame(from = colnames(W)[at[, 2L]], to = rownames(W)[at[, 1L]], weight = W[at])
}

#' @rdname granary_influence_game
#' @export
tidy.granary_influence_game <- function(x, ...) coef(x)

#' @rdname granary_influence_game
#' @export
as.matrix.granary_influence_game <- function(x, ...) x$W

#' @importFrom stats influence
#' @export
stats::influence

#' @rdname granary_influence_game
#' @export
influence.granary_influence_game <- function(model, groups = NULL, ...) {
  W <- model$W
  scale <- rowSums(abs(W)) + abs(model$b)
  scale[scale == 0] <- 1
  W <- W / scale
  table <- data.frame(player = colnames(W), influence = unname(colSums(abs(W))), influenced = unname(rowSums(abs(W))),
                      threshold = unname(model$b / scale))
  table <- table[order(-table$influence), ]
  rownames(table) <- NULL
  if (is.null(groups)) return(table)
  if (!(is.atomic(groups) || is.factor(groups)) || length(groups) != ncol(W) || anyNA(groups)) {
    fail_input("groups", sprintf("a vector with the group of each of the %d players", ncol(W)), describe(groups))
  }
  groups <- factor(groups)
  diag(W) <- NA
  between <- vapply(levels(groups), function(by) {
    vapply(levels(groups), function(on) {
      cell <- W[groups == on, groups == by]
      if (all(is.na(cell))) NA_real_ else mean(cell, na.rm = TRUE)
    }, 0)
  }, numeric(nlevels(groups)))
  between <- matrix(between, nlevels(groups), dimnames = list(on = levels(groups), by = levels(groups)))
  list(players = table, groups = between)
}

#' @rdname granary_influence_game
#' @export
predict.granary_influence_game <- function(object, newdata = NULL, type = c("response", "payoff", "joint", "log_joint"), ...) {
  type <- check_choice(type, c("response", "payoff", "joint", "log_joint"))
  x <- if (is.null(newdata)) object$x else spin_data(newdata, "newdata", like = object)$x
  if (is.null(x)) abort_input("`newdata` must be given: this game was not fitted to data.", "newdata")
  if (type %in% c("response", "payoff")) {
    f <- core_game_payoffs(unname(object$W), unname(object$b), x)
    dimnames(f) <- dimnames(x)
    if (type == "payoff") return(f)
    tie <- abs(f) <= rep(1e-9 * (rowSums(abs(object$W)) + abs(object$b)), each = nrow(f))
    return(spin_values(ifelse(tie, x, ifelse(f > 0, 1, -1)), object))
  }
  found <- game_count(object)
  states <- ncol(x) * log(2)
  if (found$count == 0 || found$log_count >= states * (1 - 1e-12)) {
    value <- rep(-states, nrow(x))
  } else {
    rest <- states + log1p(-exp(found$log_count - states))
    stable <- core_game_stable(unname(object$W), unname(object$b), x, 1e-9, 0)
    value <- ifelse(stable, log(object$q) - found$log_count, log1p(-object$q) - rest)
  }
  if (type == "joint") exp(value) else value
}

#' @rdname granary_influence_game
#' @export
simulate.granary_influence_game <- function(object, nsim = 1, seed = NULL, ...) {
  nsim <- check_count(nsim, upper = 1e7)
  if (!is.null(seed)) return(with_seed(seed, simulate(object, nsim = nsim)))
  p <- ncol(object$W)
  if (nsim * as.double(p) > 5e8) abort_input("`nsim` times the number of players must be at most 5e8.", "nsim")
  found <- core_call(core_game_equilibria(unname(object$W), unname(object$b), "auto", 1e-9, 0, TRUE, 2e6, 1e8, 26L, thread_count(), NULL))
  if (!found$listed) {
    abort_numeric(sprintf("This game has %s equilibria, too many to draw from a list.", format(found$count, digits = 4L)))
  }
  uniform <- function(rows) matrix(ifelse(stats::runif(rows * p) < 0.5, -1, 1), rows, p)
  all_states <- p < 60 && found$count == 2^p
  if (found$count == 0 || all_states) {
    x <- uniform(nsim)
  } else {
    x <- matrix(0, nsim, p)
    at_rest <- stats::runif(nsim) < object$q
    x[at_rest, ] <- found$states[sample.int(nrow(found$states), sum(at_rest), replace = TRUE), ]
    # Off the equilibria by rejection; they are nearly always few.
    todo <- which(!at_rest)
    while (length(todo) > 0L) {
      draw <- uniform(length(todo))
      x[todo, ] <- draw
      todo <- todo[core_game_stable(unname(object$W), unname(object$b), draw, 1e-9, 0)]
    }
  }
  colnames(x) <- colnames(object$W)
  spin_values(x, object)
}

#' @rdname granary_influence_game
#' @export
logLik.granary_influence_game <- function(object, ...) {
  if (is.null(object$x)) abort_input("This game was not fitted to data, so it has no log-likelihood.", "object")
  if (is.na(object$loglik)) {
    abort_numeric("The equilibria of this game were not counted, so its log-likelihood is not known. See `share` instead.")
  }
  structure(object$n * object$loglik, df = sum(object$W != 0) + ncol(object$W) + 1, nobs = object$n, class = "logLik")
}

#' @rdname granary_influence_game
#' @export
plot.granary_influence_game <- function(x, type = c("network", "heatmap"), groups = NULL, labels = NULL, layout = NULL, ...) {
  type <- check_choice(type, c("network", "heatmap"))
  W <- grouped_weights(x$W, groups)
  if (type == "heatmap") return(plot_weights(W, "influence of column on row", labels, ...))
  edges <- influence_edges(W)
  draw_network(edges, colnames(W), paste(nrow(edges), "influences"), labels, layout, TRUE, ...)
}

grouped_weights <- function(W, groups) {
  if (!is.null(groups)) {
    if (!(is.atomic(groups) || is.factor(groups)) || length(groups) != ncol(W) || anyNA(groups)) {
      fail_input("groups", sprintf("a vector with the group of each of the %d players", ncol(W)), describe(groups))
    }
    at <- order(groups)
    W <- W[at, at, drop = FALSE]
  }
  W
}

influence_edges <- function(W) {
  at <- which(W != 0, arr.ind = TRUE)
  data.frame(from = at[, 2L], to = at[, 1L], value = W[at])
}

#' @rdname granary_influence_game
#' @usage \method{autoplot}{granary_influence_game}(object, type = c("network", "heatmap"), groups = NULL, layout = NULL, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_influence_game <- function(object, type = c("network", "heatmap"), groups = NULL, layout = NULL,
                                            ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  type <- check_choice(type, c("network", "heatmap"))
  W <- grouped_weights(object$W, groups)
  if (type == "heatmap") return(autoplot_weights(W, "influence of column on row"))
  edges <- influence_edges(W)
  autoplot_weighted(edges, colnames(W), paste(nrow(edges), "influences"), layout, TRUE)
}

#' @exportS3Method igraph::as.igraph
as.igraph.granary_influence_game <- function(x, ...) {  # nolint: object_name_linter.
  check_installed("igraph", "as.igraph()")
  igraph::graph_from_data_frame(coef(x), directed = TRUE, vertices = data.frame(name = colnames(x$W)))
}
