# Honorio (PhD thesis, Stony Brook 2012), chapter 7 and appendix K: counts of games, worked examples, random games, recovery.
#
# The comparisons of losses are figures without printed values, so what is compared is their order. The senate data are not part of this package.

set.seed(701)

# Section 7.4: sets of equilibria of linear games
sets_of <- function(n) {
  x <- as.matrix(expand.grid(rep(list(c(-1, 1)), n)))
  influence_game(unname(rbind(x, x[1L, ])), loss = "exhaustive", count = FALSE)$convergence$iterations
}
claim("distinct sets of equilibria of linear games, n = 4", 23706, suppressWarnings(sets_of(4)), 0)

# Worked example of section 7.2
chain <- rbind(c(0, 1, 0), c(0.5, 0, 0), c(0, 1, 0))
star <- rbind(c(0, 2, 1), c(2, 0, 0), c(1, 0, 0))
for (W in list(chain, star, 1 - diag(3))) claim("three players, three games: number of equilibria", 2, game_equilibria(as_influence_game(W), "count"), 0)
claim("W = 0, n = 6: number of equilibria", 64, game_equilibria(as_influence_game(matrix(0, 6, 6)), "count"), 0)
claim("W = 1e-6 (11' - I), n = 6: number of equilibria", 2, game_equilibria(as_influence_game(1e-6 * (1 - diag(6))), "count"), 0)

# Section 7.7.1: random games
many <- mean(replicate(20, game_equilibria(sim_influence_game(20, density = 0.8, p_plus = 0), "count")))
claim("n = 20, density 0.8, all weights -1: more than 1000 equilibria on average", TRUE, many > 1000, 0,
      sprintf("ours %.0f; an independent run of 20 games gave 1510", many))
two <- mean(replicate(20, game_equilibria(sim_influence_game(20, density = 0.8, p_plus = 1), "count") == 2))
claim("n = 20, density 0.8, all weights +1: share of games with two equilibria", 1, two, 0.1, "the thesis: almost always")

# Figure 7.2: four players, four equilibria, 50 rows for training and 50 for choosing lambda; lambda fixed before looking: ten values from 0.3 to 0.003
W <- matrix(0, 4, 4)
W[cbind(c(1, 2, 3, 4), c(2, 1, 4, 3))] <- 1
learn <- function(train, validation, loss) {
  fits <- lapply(exp(seq(log(0.3), log(0.003), length.out = 10)), function(lambda) suppressWarnings(influence_game(train, lambda = lambda, loss = loss,
                                                                                                                tol = 1e-5)))
  held_out <- vapply(fits, function(fit) {
    fit$q <- min(max(fit$q, 0.01), 0.99)
    mean(predict(fit, validation, type = "log_density"))
  }, 0)
  fits[[which.max(held_out)]]
}
losses <- if (extended) c("sl", "il", "ss", "is", "s2") else c("sl", "il", "s2")
for (q in if (extended) c(0.5, 0.7, 0.9) else 0.9) {
  truth <- as_influence_game(W, q = q)
  runs <- replicate(if (extended) 50 else 8, {
    train <- simulate(truth, nsim = 50)
    validation <- simulate(truth, nsim = 50)
    vapply(losses, function(loss) {
      fit <- learn(train, validation, loss)
      fit$q <- min(max(fit$q, 0.01), 0.99)
      score <- assess(fit, truth = truth)
      c(kl = score$kl, precision = score$precision, recall = score$recall, share = fit$share)
    }, c(0, 0, 0, 0))
  })
  average <- apply(runs, 1:2, mean, na.rm = TRUE)
  name <- sprintf("n = 4, four equilibria, q = %.1f, 50 rows: ", q)
  for (loss in losses) {
    claim(paste0(name, "KL of ", loss), NA, average["kl", loss], NA, "figure without printed values")
  }
  if (q == 0.9) {
    claim(paste0(name, "recall of equilibria, sl"), 1, average["recall", "sl"], 0.05, "the thesis: perfect recovery")
    claim(paste0(name, "precision of equilibria, sl"), 1, average["precision", "sl"], 0.05, "the thesis: perfect recovery")
  }
  claim(paste0(name, "share of equilibria among the rows, sl"), q, average["share", "sl"], 0.1, "the thesis: close to q")
}
# Section 7.8: the roll calls of the thesis (104th, 107th and 110th congress) are not in a package; those of the 109th are, in pscl. Twenty senators, ten of each
# party, evenly through the list; a vote that was not cast counts as -1, as in the thesis.
if (requireNamespace("pscl", quietly = TRUE)) {
  holder <- new.env()
  utils::data("s109", package = "pscl", envir = holder)
  votes <- holder$s109$votes
  party <- as.character(holder$s109$legis.data$party)
  seated <- lapply(c("D", "R"), function(p) which(party == p & rowMeans(votes == 9 | votes == 0) < 0.2 & !grepl("USA", rownames(votes))))
  chosen <- unlist(lapply(seated, function(s) s[round(seq(1, length(s), length.out = 10))]))
  x <- t(matrix(ifelse(votes[chosen, ] %in% 1:3, 1, -1), length(chosen), dimnames = list(rownames(votes)[chosen], NULL)))
  x <- x[, abs(colMeans(x)) < 1]
  party <- party[match(colnames(x), rownames(votes))]
  senate <- suppressWarnings(influence_game(x, lambda = 0.006, loss = "il", count = FALSE))
  weight <- abs(senate$W)
  same <- outer(party, party, "==") & row(weight) != col(weight)
  claim("senate, 109th congress, 20 senators: share of the influence that is within parties exceeds one half", TRUE, sum(weight[same]) / sum(weight) > 0.5, 0,
        sprintf("the thesis, of other congresses: mostly within parties; here %.2f", sum(weight[same]) / sum(weight)))
  mean_of <- function(inside) mean(senate$W[inside & row(weight) != col(weight)])
  claim("senate, 109th congress: influence within parties is stronger than between them", TRUE, mean_of(same) > mean_of(!same), 0)
} else {
  claim("senate, 109th congress, 20 senators: share of the influence that is within parties exceeds one half", TRUE, NA, NA, "needs package pscl")
}
claim("senate, 104th, 107th and 110th congress: influence within parties", NA, NA, NA, "needs the roll calls of the thesis, not part of this package")
