#' Influence games: what can be done with one
#'
#' @details
#' `predict()` gives, for rows of `newdata`, `"response"`: each player's best response to the others (an indifferent player keeps its action);
#' `"link"`: the payoff \eqn{\sum_j w_{ij} x_j - b_i}{sum_j w_ij x_j - b_i}; `"log_density"`: the logarithm of the probability of the
#' row under the model.
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
#' @return `coef()`: thresholds and influences, named `to<-from`; `tidy()`: a data frame of influences, strongest first. `assess()`: a data frame with
#'   `precision` and `recall` of the equilibria, whether the games are `equivalent` (have the same equilibria), the divergence `kl` of `object` from `truth`
#'   (infinite where the truth gives mass to joint actions that the other excludes) and the counts. `influence()`: a data frame, or with `groups` a list of it and a
#'   matrix.
#' @seealso [influence_game()], [influence_game_select()], [as_influence_game()], [game_equilibria()], [game_bounds()], [ising_fit()]
#' @name granary_influence_game
#' @examples
#' set.seed(1)
#' game <- sim_influence_game(6, density = 0.4)
#' tidy(game)
#' influence(game)
#' x <- simulate(game, nsim = 4)
#' predict(game, x)
#' predict(game, x, type = "log_density")
#' assess(influence_game(simulate(game, nsim = 100)), truth = game)
#' plot(game)
NULL

#' @rdname granary_influence_game
#' @export
print.granary_influence_game <- function(x, ...) {
  fitted <- !is.null(x$x)
  cli::cat_line("Influence game", if (fitted) paste0(" by ", game_titles[[x$loss]]), ": ", counted(ncol(x$W), "player", "players"), ", ",
                counted(sum(x$W != 0), "influence", "influences"),
                if (fitted) paste0(", n = ", x$n))
  print_call(x$call)
  if (fitted) {
    cli::cat_line("lambda: ", format(x$lambda, digits = 3L), "; ", format(100 * x$share, digits = 3L), "% of the rows are equilibria; q = ",
                  format(x$q, digits = 3L))
    cli::cat_line("Equilibria: ", if (is.na(x$n_equilibria)) "not counted" else format(x$n_equilibria, digits = 6L), "; log-likelihood: ",
                  if (is.na(x$loglik)) "not known" else paste0(format(x$loglik, digits = 5L), " (", format(x$loglik / x$n, digits = 4L), " per row)"))
  }
  table <- utils::head(tidy(x), 6L)
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
  seal(structure(list(game = object, influence = influence(object)), class = "summary_granary_influence_game"))
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
  refuse_dots(...)
  edges <- tidy(object)
  c(object$b, stats::setNames(edges$estimate, paste0(edges$to, "<-", edges$from)))
}

#' @rdname granary_influence_game
#' @export
tidy.granary_influence_game <- function(x, ...) {
  refuse_dots(...)
  W <- x$W
  at <- which(W != 0, arr.ind = TRUE)
  at <- at[order(-abs(W[at])), , drop = FALSE]
  data.frame(from = colnames(W)[at[, 2L]], to = rownames(W)[at[, 1L]], estimate = W[at])
}

#' @rdname granary_influence_game
#' @export
as.matrix.granary_influence_game <- function(x, ...) x$W

#' @rdname granary_influence_game
#' @export
#' @importFrom stats influence
influence.granary_influence_game <- function(model, groups = NULL, ...) {
  refuse_dots(...)
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
predict.granary_influence_game <- function(object, newdata = NULL, type = c("response", "link", "log_density"), ...) {
  refuse_dots(...)
  type <- check_choice(type, c("response", "link", "log_density"))
  x <- if (is.null(newdata)) object$x else spin_data(newdata, "newdata", like = object)$x
  if (is.null(x)) abort_input("`newdata` must be given: this game was not fitted to data.", "newdata")
  if (type %in% c("response", "link")) {
    f <- core_game_payoffs(spin_model(object), x)
    dimnames(f) <- dimnames(x)
    if (type == "link") return(f)
    tie <- abs(f) <= rep(1e-9 * (rowSums(abs(object$W)) + abs(object$b)), each = nrow(f))
    return(spin_values(ifelse(tie, x, ifelse(f > 0, 1, -1)), object))
  }
  found <- game_count(object)
  states <- ncol(x) * log(2)
  if (found$count == 0 || found$log_count >= states * (1 - 1e-12)) {
    value <- rep(-states, nrow(x))
  } else {
    rest <- states + log1p(-exp(found$log_count - states))
    stable <- core_game_stable(spin_model(object), x, 1e-9, 0)
    value <- ifelse(stable, log(object$q) - found$log_count, log1p(-object$q) - rest)
  }
  value
}

#' @rdname granary_influence_game
#' @export
simulate.granary_influence_game <- function(object, nsim = 1, seed = NULL, ...) {
  refuse_dots(...)
  nsim <- check_count(nsim, upper = 1e7)
  if (!is.null(seed)) return(with_seed(seed, simulate(object, nsim = nsim)))
  p <- ncol(object$W)
  if (nsim * as.double(p) > 5e8) abort_input("`nsim` times the number of players must be at most 5e8.", "nsim")
  found <- core_game_equilibria(spin_model(object), list(max_list = 2e6, threads = thread_count()), NULL)
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
      todo <- todo[core_game_stable(spin_model(object), draw, 1e-9, 0)]
    }
  }
  colnames(x) <- colnames(object$W)
  spin_values(x, object)
}

#' @rdname granary_influence_game
#' @export
logLik.granary_influence_game <- function(object, ...) {
  refuse_dots(...)
  if (is.null(object$x)) abort_input("This game was not fitted to data, so it has no log-likelihood.", "object")
  if (is.na(object$loglik)) {
    abort_numeric("The equilibria of this game were not counted, so its log-likelihood is not known. See `share` instead.")
  }
  structure(object$loglik, df = sum(object$W != 0) + ncol(object$W) + 1, nobs = object$n, class = "logLik")
}

#' @rdname granary_influence_game
#' @export
plot.granary_influence_game <- function(x, type = c("network", "heatmap"), groups = NULL, labels = NULL, layout = NULL, ...) {
  type <- check_choice(type, c("network", "heatmap"))
  W <- grouped_weights(x$W, groups)
  if (type == "heatmap") return(plot_weights(W, "influence of column on row", labels, ...))
  edges <- influence_edges(W)
  draw_network(edges, colnames(W), counted(nrow(edges), "influence", "influences"), labels, layout, TRUE, ...)
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
  autoplot_weighted(edges, colnames(W), counted(nrow(edges), "influence", "influences"), layout, TRUE)
}

#' @exportS3Method igraph::as.igraph
as.igraph.granary_influence_game <- function(x, ...) {  # nolint: object_name_linter.
  check_installed("igraph", "as.igraph()")
  igraph::graph_from_data_frame(tidy(x), directed = TRUE, vertices = data.frame(name = colnames(x$W)))
}
