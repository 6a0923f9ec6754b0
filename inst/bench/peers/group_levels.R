# Rscript group_levels.R <file for the results, .rds>
#
# group_levels() against greedy merging of pairs in plain R (the algorithm of Section 2.4.1 with a matrix of differences) and, where they are installed, scorecard::woebin and CHAID.
# Khiops, by the author of the paper, is no R package. `cost` is the criterion of the paper for the grouping found; one thread, CPU seconds.

source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))

bell <- function(levels, k) level_bounds(levels, k)$log_bell
group_cost <- function(n) lfactorial(rowSums(n) + ncol(n) - 1) - lfactorial(ncol(n) - 1) - rowSums(lfactorial(n))
greedy <- function(counts) {
  levels <- nrow(counts)
  log_bell <- bell(levels, levels)
  group <- seq_len(levels)
  now <- counts
  own <- group_cost(now)
  gain <- matrix(Inf, levels, levels)
  for (i in seq_len(levels - 1)) {
    j <- (i + 1):levels
    gain[i, j] <- group_cost(sweep(now[j, , drop = FALSE], 2, now[i, ], `+`)) - own[i] - own[j]
  }
  best <- sum(own) + log_bell[levels]
  found <- group
  alive <- seq_len(levels)
  while (length(alive) > 1) {
    at <- arrayInd(which.min(gain), dim(gain))
    i <- at[1]
    j <- at[2]
    now[i, ] <- now[i, ] + now[j, ]
    own[i] <- group_cost(now[i, , drop = FALSE])
    gain[j, ] <- gain[, j] <- Inf
    alive <- setdiff(alive, j)
    group[group == j] <- i
    others <- setdiff(alive, i)
    if (length(others) > 0) {
      value <- group_cost(sweep(now[others, , drop = FALSE], 2, now[i, ], `+`)) - own[i] - own[others]
      low <- others < i
      gain[cbind(others[low], rep(i, sum(low)))] <- value[low]
      gain[cbind(rep(i, sum(!low)), others[!low])] <- value[!low]
    }
    cost <- sum(own[alive]) + log_bell[length(alive)]
    if (cost < best) {
      best <- cost
      found <- group
    }
  }
  found
}

rows <- list()
for (levels in c(100, 400)) {
  for (classes in c(2, 4)) {
    set.seed(1)
    sim <- sim_levels(50 * levels, levels, "mixture")
    y <- if (classes == 2) factor(sim$y %in% c("a", "b")) else sim$y
    counts <- unclass(table(sim$x, y))
    ours <- cpu(fit <- group_levels(counts))
    peer <- cpu(found <- greedy(counts))
    rows[[length(rows) + 1L]] <- data.frame(levels = levels, classes = classes, peer = "plain R, greedy pairs", peer_s = peer, granary_s = ours, ratio = peer / ours,
                                            peer_cost = level_cost(counts, found)$cost, granary_cost = unname(fit$cost), lower = fit$factors$x$lower)
    if (has("scorecard") && classes == 2) {
      data <- data.frame(y = as.integer(y) - 1L, x = sim$x)
      peer <- cpu(bins <- suppressMessages(scorecard::woebin(data, "y", method = "chimerge", print_step = 0, check_cate_num = FALSE)))
      parts <- strsplit(bins$x$bin, "%,%", fixed = TRUE)
      rows[[length(rows) + 1L]] <- data.frame(levels = levels, classes = classes, peer = "scorecard::woebin", peer_s = peer, granary_s = ours, ratio = peer / ours,
                                              peer_cost = level_cost(counts, parts)$cost, granary_cost = unname(fit$cost), lower = fit$factors$x$lower)
    }
    print(rows[[length(rows)]], digits = 4, row.names = FALSE)
  }
}
for (classes in c(2, 4)) {
  set.seed(2)
  level <- sample.int(1e5, 1e6, TRUE)
  share <- rbeta(1e5, 1, 3)
  y <- rbinom(1e6, classes - 1, sqrt(share[level]))
  ours <- cpu(fit <- group_levels(level, y))
  rows[[length(rows) + 1L]] <- data.frame(levels = 1e5, classes = classes, peer = "none", peer_s = NA, granary_s = ours, ratio = NA, peer_cost = NA,
                                          granary_cost = unname(fit$cost), lower = fit$factors$x$lower)
  print(rows[[length(rows)]], digits = 4, row.names = FALSE)
}
results <- do.call(rbind, rows)
if (!is.na(output)) saveRDS(results, output)
