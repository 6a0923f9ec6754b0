# Rscript influence_game.R <file for the results, .rds>
#
# Times game_equilibria() and influence_game() on one thread. No package counts equilibria of influence games or learns them, so the peers are plain R:
# all joint
# actions of expand.grid() for counting, and glm() per player (no penalty) for the independent logistic losses. CPU seconds of the R process.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))

rows <- list()
note <- function(task, seconds, answer) {
  rows[[length(rows) + 1L]] <<- data.frame(task = task, seconds = seconds, answer = answer)
  print(rows[[length(rows)]], row.names = FALSE)
}

set.seed(1)
for (n in c(16L, 20L, 24L)) {
  game <- sim_influence_game(n, density = 0.8, p_plus = 0)
  for (method in c("gray", "search")) {
    seconds <- cpu(count <- game_equilibria(game, "count", method = method))
    note(sprintf("%d players, dense, %s", n, method), seconds, count)
  }
  if (n == 16L) {
    seconds <- cpu({
      x <- as.matrix(expand.grid(rep(list(c(-1, 1)), n)))
      count <- sum(rowSums(x * (x %*% t(game$W)) < -1e-9) == 0)
    })
    note(sprintf("%d players, dense, plain R", n), seconds, count)
  }
}
chain <- matrix(0, 40, 40)
chain[abs(row(chain) - col(chain)) == 1] <- 1
seconds <- cpu(count <- game_equilibria(as_influence_game(chain), "count"))
note("40 players in a chain, elimination", seconds, count)

x <- simulate(sim_influence_game(20, density = 0.2, p_plus = 1, q = 0.7), nsim = 300)
for (loss in c("sl", "il", "ss", "is")) {
  seconds <- cpu(fit <- suppressWarnings(influence_game(x, lambda = 0.01, loss = loss)))
  note(paste("learning 20 players from 300 rows,", loss), seconds, fit$convergence$gap)
}
seconds <- cpu(for (i in 1:20) suppressWarnings(stats::glm.fit(cbind(1, x[, -i]), x[, i] > 0, family = stats::binomial())))
note("learning 20 players from 300 rows, glm.fit per player", seconds, NA)
if (!is.na(output)) saveRDS(do.call(rbind, rows), output)
