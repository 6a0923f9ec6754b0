game_of <- function(game, arg = "game") {
  if (missing(game)) fail_missing(arg)
  if (!inherits(game, "granary_influence_game")) {
    fail_input(arg, "an influence game, from influence_game(), as_influence_game() or sim_influence_game()", describe(game))
  }
  check_fit(game)
  game
}

#' Influence games from their parameters
#'
#' @section Which method when:
#' `as_influence_game()` where weights and thresholds are known; [influence_game()] learns them from joint actions; `sim_influence_game()` draws a game
#' to try things on.
#'
#' @param W Matrix of weights with zero diagonal: row i holds what moves player i.
#' @param b Thresholds; zeros by default. A large one favours the action -1.
#' @param q Probability that a row is an equilibrium.
#' @param ... Nothing: an argument that is not known is an error.
#' @return An object of class `granary_influence_game`.
#' @seealso [influence_game()], [influence_game_select()], [game_equilibria()], [game_bounds()], [ising_fit()]
#' @export
#' @examples
#' game <- as_influence_game(matrix(c(0, 1, 1, 0), 2))
#' game_equilibria(game)
as_influence_game <- function(W, b = NULL, q = 0.9, ...) {
  refuse_dots(...)
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
#' game_equilibria(sim_influence_game(12, density = 0.5, p_plus = 0), "count")
sim_influence_game <- function(n, density = 0.5, p_plus = 0.5, b = NULL, q = 0.9, ...) {
  refuse_dots(...)
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
#' `what = "test"`, `predict()` and `influence()` need no enumeration.
#'
#' An indifferent player is content with either action. Payoffs within `tie_tol` of zero, relative to \eqn{|w_i|_1 + |b_i|}{|w_i|_1 + |b_i|}, count as
#' indifference; `ties` says how often that happened among the equilibria listed. `epsilon` admits players who would gain at most that much.
#'
#' @section Which method when:
#' `method = "auto"` decides by the number of players; `what = "test"` where only some joint actions are asked about, which takes no enumeration.
#'
#' @param game An influence game.
#' @param method How; see Details.
#' @param what List them, count them, or test whether the rows of `x` are equilibria.
#' @param max_n Most players for `"gray"`.
#' @param max_list More equilibria than this are counted only, with a warning.
#' @param max_nodes Most nodes of a search.
#' @param tie_tol,epsilon Tolerances, see Details.
#' @param x For `"test"`: joint actions, one row each.
#' @param ... Nothing: an argument that is not known is an error.
#' @return `"list"`: a list of class `granary_equilibria`: `count`, `log_count`, `states` (rows in the coding of the data; `NULL` if not
#'   listed), `proportion`
#'   (\eqn{|NE| / 2^n}{|NE| / 2^n}), `trivial` (none, or all), `ties`, `method`. `"count"`: the count. `"test"`: a logical per row.
#' @seealso [influence_game()], [influence_game_select()], [as_influence_game()], [game_bounds()], [ising_fit()]
#' @export
#' @examples
#' game <- as_influence_game(1 - diag(3))
#' game_equilibria(game)
#' game_equilibria(as_influence_game(diag(4) - 1), "count")  # anti-coordination: choose(4, 2)
#' game_equilibria(game, "test", x = rbind(c(1, 1, 1), c(1, 1, -1)))
game_equilibria <- function(game, what = c("list", "count", "test"), x = NULL, method = c("auto", "gray", "elimination", "search"), max_n = 26,
                            max_list = 1e6, max_nodes = 1e8, tie_tol = 1e-9, epsilon = 0, ...) {
  refuse_dots(...)
  game <- game_of(game)
  what <- check_choice(what, c("list", "count", "test"))
  if (is.null(x) == (what == "test")) {
    abort_input(if (is.null(x)) "`x` must be given for what = \"test\": joint actions, one row each." else "`x` is for what = \"test\".", "x")
  }
  method <- check_choice(method, c("auto", "gray", "elimination", "search"))
  list <- what == "list"
  max_n <- check_count(max_n, upper = 34)
  max_list <- check_number(max_list, lower = 0, upper = 1e8)
  max_nodes <- check_number(max_nodes, lower = 1, upper = 1e15)
  tie_tol <- check_number(tie_tol, lower = 0, upper = 1)
  epsilon <- check_number(epsilon, lower = 0)
  if (what == "test") return(core_game_stable(spin_model(game), spin_data(x, "x", like = game)$x, tie_tol, epsilon))
  found <- core_game_equilibria(spin_model(game), list(method = method, tie_tol = tie_tol, epsilon = epsilon, list = list, max_list = max_list,
                                                       max_nodes = max_nodes, max_n = max_n, threads = thread_count()), progress_bar("equilibria"))
  if (what == "count") return(found$count)
  states <- NULL
  if (found$listed) {
    colnames(found$states) <- colnames(game$W)
    states <- spin_values(found$states, game)
  } else if (list) {
    warn_input(sprintf("There are %s equilibria, more than `max_list`; they are counted, not listed.", format(found$count, digits = 6L)), "max_list")
  }
  p <- ncol(game$W)
  seal(structure(
    list(count = found$count, log_count = found$log_count, proportion = exp(found$log_count - p * log(2)), states = states,
         trivial = found$count == 0 || found$log_count >= p * log(2) * (1 - 1e-12), ties = if (found$listed) found$ties else NA_real_,
         method = found$method, width = found$width, seconds = found$seconds, players = p),
    class = "granary_equilibria"
  ))
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

#' @rdname granary_influence_game
#' @param truth The game to compare with, over the same players (matched by name). Both must be games whose equilibria can be listed.
#' @export
assess.granary_influence_game <- function(object, truth = NULL, ...) {
  refuse_dots(...)
  if (is.null(truth)) fail_missing("truth")
  truth <- game_like(game_of(truth, "truth"), object)
  one <- game_listed(object, "object")
  two <- game_listed(truth, "truth")
  both <- length(intersect(one$key, two$key))
  data.frame(precision = if (one$count > 0) both / one$count else NA_real_, recall = if (two$count > 0) both / two$count else NA_real_,
             equivalent = both == one$count && both == two$count, kl = game_divergence(truth, object, two, one, both), equilibria = one$count,
             true_equilibria = two$count)
}

# sum p1 log(p1 / p2) over four classes of states: equilibria of both games, of the first only, of the second only, of neither.
game_divergence <- function(game1, game2, one, two, both) {
  total <- 2^ncol(game1$W)
  q1 <- law_weight(game1, one$count, total)
  q2 <- law_weight(game2, two$count, total)
  size <- c(both, one$count - both, two$count - both, total - one$count - two$count + both)
  p1 <- state_probability(c(TRUE, TRUE, FALSE, FALSE), q1, one$count, total)
  p2 <- state_probability(c(TRUE, FALSE, TRUE, FALSE), q2, two$count, total)
  max(0, sum(ifelse(size > 0 & p1 > 0, size * p1 * (log(p1) - log(p2)), 0)))
}

# A trivial game is the uniform law: the weight of its equilibria is their share.
law_weight <- function(game, count, total) {
  if (count == 0 || count == total) return(count / total)
  game$q
}

state_probability <- function(inside, q, count, total) {
  ifelse(inside, if (count > 0) q / count else 0, if (count < total) (1 - q) / (total - count) else 0)
}

game_listed <- function(game, arg) {
  game <- game_of(game, arg)
  found <- core_game_equilibria(spin_model(game), list(max_list = 2e6, threads = thread_count()), NULL)
  if (!found$listed) abort_input(sprintf("`%s` has %s equilibria, too many to compare one by one.", arg, format(found$count, digits = 4L)), arg)
  key <- if (found$count == 0) character() else do.call(paste0, as.data.frame(ifelse(found$states > 0, "+", "-")))
  list(count = found$count, key = key)
}

# The players of a game in the order of another's; by position where one of them has made-up names.
game_like <- function(game, like) {
  at <- same_variables(colnames(game$W), colnames(like$W), "truth", "players")
  game$W <- game$W[at, at, drop = FALSE]
  game$b <- game$b[at]
  game
}

# Where the names `want` stand among `have`.
same_variables <- function(have, want, arg, what = "variables") {
  if (length(have) != length(want)) {
    abort_input(sprintf("`%s` must have the same %s, but it has %d and not %d.", arg, what, length(have), length(want)), arg)
  }
  if (setequal(have, want)) return(match(want, have))
  made_up <- variable_names(NULL, length(have))
  if (identical(have, made_up) || identical(want, made_up)) return(seq_along(have))
  abort_input(sprintf("`%s` must have the same %s, but \"%s\" is not among them.", arg, what, setdiff(want, have)[1L]), arg)
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
#' [game_equilibria()] is exact.
#'
#' @section Which method when:
#' `game_bounds()` before data are gathered, for the number of joint actions that [influence_game()] needs; [game_equilibria()] for a given game.
#'
#' @param n Number of players.
#' @param m Number of rows.
#' @param q Largest probability of an equilibrium.
#' @param delta Probability of failure.
#' @param gamma Proportion of equilibria for `players`.
#' @param share,proportion Observed share and proportion of equilibria, or `NULL`.
#' @param ... Nothing: an argument that is not known is an error.
#' @return A list of class `granary_game_bounds`.
#' @seealso [influence_game()], [influence_game_select()], [as_influence_game()], [game_equilibria()], [ising_fit()]
#' @export
#' @examples
#' game_bounds(n = 5, m = 1e5)
game_bounds <- function(n, m, q = 0.9, delta = 0.05, gamma = 0.05, share = NULL, proportion = NULL, ...) {
  refuse_dots(...)
  n <- check_count(n, upper = 1e6)
  m <- check_count(m)
  q <- check_number(q, lower = 0, upper = 1, strict_upper = TRUE)
  delta <- check_number(delta, lower = 0, upper = 1, strict_lower = TRUE, strict_upper = TRUE)
  gamma <- check_number(gamma, lower = 0, upper = 1, strict_lower = TRUE)
  share <- check_number(share, lower = 0, upper = 1, allow_null = TRUE)
  proportion <- check_number(proportion, lower = 0, upper = 1, strict_lower = TRUE, allow_null = TRUE)
  n <- as.double(n)
  kl <- if (!is.null(share) && !is.null(proportion)) -share * log(proportion) - c(lower = log(2), upper = 0)
  seal(structure(
    list(players = ceiling(max(1, log(delta * gamma) / log(0.75))), kl = kl, gap = (log(max(2 * m,
        1 / (1 - q))) + n * log(2)) * sqrt(2 / m * (n^3 * log(2) + log(4 / delta))), log2_dimension = n^2 * (n + 1) / 2 + 1,
         log2_games = c(lower = 0.33048 * n^3, upper = n^3), expected_proportion = c(lower = 0.5^n, upper = 0.75^n),
         proportion = min(1, 0.75^n / delta), n = n, m = m, q = q, delta = delta),
    class = "granary_game_bounds"
  ))
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
