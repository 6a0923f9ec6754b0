# Rscript cg_network.R <file for the results, .rds>
#
# Times cg_fit(), cg_condition() and cg_marginal() against BayesNetBP, which implements the same paper in R, on the examples of that package and on
# random
# networks, and against gRain on a discrete one. Both fit the same complete rows (the peer divides residual sums by the degrees of freedom). Peers are
# looked for in the library GRANARY_PEERS and left out when they are not there. Beside each time stands the largest difference of the marginal
# probabilities, means and standard deviations. Each time is processor time, the median of several
# runs, one thread.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))
options(granary.threads = 1L)

clock <- function(expr, times = 5L) {
  expr <- substitute(expr)
  frame <- parent.frame()
  eval(expr, frame)
  stats::median(vapply(seq_len(times), function(k) {
    loops <- 0L
    started <- sum(proc.time()[1:2])
    repeat {
      eval(expr, frame)
      loops <- loops + 1L
      spent <- sum(proc.time()[1:2]) - started
      if (spent > 0.1) return(spent / loops)
    }
  }, 0))
}

rows <- list()
record <- function(case, step, granary, peer, peer_name, difference = NA) {
  rows[[length(rows) + 1L]] <<- data.frame(case = case, step = step, granary = granary, peer = peer, ratio = peer / granary, against = peer_name,
                                           difference = difference)
}

compare_bayesnetbp <- function(case, adjacency, data, evidence) {
  peer <- asNamespace("BayesNetBP")
  discrete <- vapply(data, is.factor, NA)
  dag <- methods::as(methods::new("graphAM", adjMat = adjacency, edgemode = "directed"), "graphNEL")
  first <- peer$Initializer(dag, data, discrete, propagate = TRUE)
  ours <- cg_fit(adjacency, data, variance = "unbiased")
  peer_time <- clock(peer$Initializer(dag, data, discrete, propagate = TRUE), 3L)
  record(case, "fit and compile", clock(cg_fit(adjacency, data, variance = "unbiased")), peer_time, "BayesNetBP")
  seen <- cg_condition(ours, evidence)
  absorbed <- peer$AbsorbEvidence(first, names(evidence), unname(evidence))
  enter <- clock(cg_condition(ours, evidence))
  peer_enter <- clock(peer$AbsorbEvidence(first, names(evidence), unname(evidence)), 3L)
  record(case, "inference: findings", enter, peer_enter, "BayesNetBP")
  nodes <- setdiff(names(data), names(evidence))
  ask <- clock(cg_marginal(seen, nodes))
  peer_ask <- clock(peer$Marginals(absorbed, nodes), 3L)
  theirs <- peer$Marginals(absorbed, nodes)$marginals
  mine <- cg_marginal(seen, nodes)
  gaps <- vapply(nodes, function(v) {
    a <- mine[[v]]
    b <- theirs[[v]]
    if (a$kind == "table") return(max(abs(a$probabilities - b[names(a$probabilities)])))
    mean <- sum(b$prob * b$mu)
    sd <- sqrt(sum(b$prob * (b$sd^2 + (b$mu - mean)^2)))
    max(abs(a$mean - mean), abs(a$sd - sd))
  }, 0)
  record(case, "inference: all marginals", ask, peer_ask, "BayesNetBP", max(gaps))
  record(case, "inference, together", enter + ask, peer_enter + peer_ask, "BayesNetBP", max(gaps))
}

as_adjacency <- function(dag, nodes) methods::as(dag, "matrix")[nodes, nodes]

if (requireNamespace("BayesNetBP", quietly = TRUE) && requireNamespace("graph", quietly = TRUE)) {
  library(graph)
  examples <- new.env()
  utils::data("liver", "emission1000", "chest", package = "BayesNetBP", envir = examples)
  liver <- stats::na.omit(examples$liver$data)
  discrete <- examples$liver$node.class
  liver[names(discrete)[discrete]] <- lapply(liver[names(discrete)[discrete]], function(x) factor(as.character(x)))
  compare_bayesnetbp("liver (15 nodes)", as_adjacency(examples$liver$dag, names(liver)), liver, list(Nr1i3 = 1, chr1_42.65 = "1"))

  emission <- examples$emission1000$data
  text <- vapply(emission, function(x) !is.numeric(x), NA)
  emission[text] <- lapply(emission[text], factor)
  compare_bayesnetbp("emission (9 nodes)", as_adjacency(examples$emission1000$dag, names(emission)), emission, list(C = -0.9, L = 1.1))

  chest <- examples$chest$data
  chest[] <- lapply(chest, function(x) factor(as.character(x)))
  sign <- names(chest)[c(1L, length(chest))]
  compare_bayesnetbp("chest (8 discrete nodes)", as_adjacency(examples$chest$dag, names(chest)), chest,
                     stats::setNames(list(levels(chest[[1L]])[2L], levels(chest[[length(chest)]])[1L]), sign))

  for (p in c(20L, 40L)) {
    set.seed(p)
    k <- p / 4
    nodes <- c(paste0("D", seq_len(k)), paste0("Y", seq_len(p - k)))
    adjacency <- matrix(0, p, p, dimnames = list(nodes, nodes))
    for (j in 2:p) {
      near <- max(1, j - 4):(j - 1)
      if (j > k) near <- union(near[near > k], sample(k, 1))
      adjacency[sample(near, min(2, length(near))), j] <- 1
    }
    truth <- cg_network(
      adjacency,
      tables = lapply(stats::setNames(seq_len(k), nodes[seq_len(k)]), function(j) {
        parents <- nodes[adjacency[, j] == 1]
        array(apply(matrix(stats::runif(2^(length(parents) + 1)) + 0.3, 2), 2, function(x) x / sum(x)), rep(2, length(parents) + 1),
              stats::setNames(rep(list(c("a", "b")), length(parents) + 1), c(nodes[j], parents)))
      }),
      regressions = lapply(stats::setNames(seq_len(p)[-seq_len(k)], nodes[-seq_len(k)]), function(j) {
        parents <- nodes[adjacency[, j] == 1]
        discrete <- parents[startsWith(parents, "D")]
        frame <- if (length(discrete) > 0) expand.grid(stats::setNames(rep(list(c("a", "b")), length(discrete)), discrete),
                                                       stringsAsFactors = FALSE) else data.frame(row.names = 1L)
        size <- max(nrow(frame), 1L)
        for (z in setdiff(parents, discrete)) frame[[z]] <- stats::rnorm(size) / 2
        frame$intercept <- stats::rnorm(size)
        frame$variance <- 0.5 + stats::runif(size)
        frame
      })
    )
    data <- stats::simulate(truth, 2000)
    compare_bayesnetbp(sprintf("random (%d nodes)", p), adjacency, data, stats::setNames(list(0.5, -0.5), nodes[c(p, p - 3L)]))
  }
} else {
  cat("BayesNetBP (or graph) is not installed and is left out.\n")
}

# Discrete networks: a grid of binary nodes, its tables given to both.
if (requireNamespace("gRain", quietly = TRUE)) {
  gr <- asNamespace("gRain")
  build <- function(tables) getExportedValue("gRbase", "propagate")(getExportedValue("gRbase", "compile")(gr$grain(gr$compileCPT(tables))))
  for (side in c(4L, 6L)) {
    set.seed(side)
    name <- function(i, j) sprintf("n%d_%d", i, j)
    tables <- list()
    edges <- character()
    for (i in seq_len(side)) for (j in seq_len(side)) {
      parents <- c(if (i > 1) name(i - 1, j), if (j > 1) name(i, j - 1))
      x <- matrix(stats::runif(2^(length(parents) + 1)) + 0.2, 2)
      tables[[name(i, j)]] <- array(sweep(x, 2, colSums(x), "/"), rep(2, length(parents) + 1),
                                    stats::setNames(rep(list(c("a", "b")), length(parents) + 1), c(name(i, j), parents)))
      edges <- c(edges, if (length(parents) > 0) paste(parents, "->", name(i, j)))
    }
    text <- paste(edges, collapse = "; ")
    ours <- cg_network(text, tables)
    their_tables <- lapply(tables, function(t) as.table(t))
    theirs <- build(their_tables)
    finding <- list(n1_1 = "a")
    finding[[name(side, side)]] <- "b"
    nodes <- setdiff(names(tables), names(finding))
    mine <- cg_marginal(cg_condition(ours, finding), nodes)
    peer <- gr$querygrain(gr$setEvidence(theirs, evidence = finding), nodes = nodes)
    gap <- max(vapply(nodes, function(v) max(abs(mine[[v]]$probabilities - peer[[v]][c("a", "b")])), 0))
    record(sprintf("grid %d x %d", side, side), "compile", clock(cg_network(text, tables)), clock(build(their_tables), 3L), "gRain")
    record(sprintf("grid %d x %d", side, side), "findings and marginals", clock(cg_marginal(cg_condition(ours, finding), nodes)),
           clock(gr$querygrain(gr$setEvidence(theirs, evidence = finding), nodes = nodes), 3L), "gRain", gap)
  }
} else {
  cat("gRain is not installed and is left out.\n")
}

table <- do.call(rbind, rows)
print(format(table, digits = 3L), row.names = FALSE)
if (!is.na(output)) saveRDS(table, output)
