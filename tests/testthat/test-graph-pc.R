# The worked examples of the paper, through tests that answer from a list of independencies.
listed_test <- function(names, facts) {
  # facts: list(c("1", "2"), list(pair, set)); a pair is independent given exactly the listed sets
  function(i, j, S) {
    for (fact in facts) {
      if (setequal(names[c(i, j)], fact$pair) && setequal(names[S], fact$set)) return(1)
    }
    0
  }
}
fact <- function(pair, set = character()) list(pair = pair, set = set)
undirected_edges <- function(fit) sort(paste0(pmin(fit$edges$from, fit$edges$to), pmax(fit$edges$from, fit$edges$to)))

test_that("example 1 and 4: the original skeleton depends on the order, the stable one does not", {
  facts <- list(fact(c("1", "2")), fact(c("2", "4"), c("1", "3")), fact(c("3", "4"), c("1", "5")))
  skeleton <- function(order, method) undirected_edges(pc(order, type = "skeleton", test = listed_test(order, facts), method = method))
  first <- c("1", "4", "2", "3", "5")
  second <- c("1", "3", "4", "2", "5")
  expected <- c("13", "14", "15", "23", "25", "35", "45")
  expect_identical(skeleton(first, "original"), expected)
  expect_identical(skeleton(second, "original"), sort(c(expected, "24")))
  expect_identical(skeleton(first, "stable"), expected)
  expect_identical(skeleton(second, "stable"), expected)
})

test_that("examples 2 and 5: separating sets depend on the order; the conservative rule is undecided, the majority rule right", {
  dag <- as_graph("1 -> 2 -> 3 -> 4; 1 -> 5 <- 4")
  test <- function(order) {
    function(i, j, S) {
      if (setequal(order[c(i, j)], c("1", "3")) && identical(order[S], "4")) return(1)
      as.numeric(graph_nodes(dag, "separated", of = order[i], from = order[j], given = order[S]))
    }
  }
  fifth <- c("1", "3", "4", "2", "5")
  sixth <- c("3", "1", "2", "4", "5")
  wrong <- pc(fifth, test = test(fifth), colliders = "standard", conflicts = "overwrite")
  expect_true(all(as.matrix(wrong)[c("1", "3"), "2"] == 2L))
  right <- pc(sixth, test = test(sixth), colliders = "standard", conflicts = "overwrite")
  expect_equal(shd(right, graph_cpdag(dag)), 0)
  for (order in list(fifth, sixth)) {
    careful <- pc(order, test = test(order), colliders = "conservative")
    expect_true(any(apply(careful$ambiguous, 1L, function(t) t[2L] == "2" && setequal(t[c(1L, 3L)], c("1", "3")))))
    expect_equal(shd(pc(order, test = test(order), colliders = "majority"), graph_cpdag(dag)), 0)
  }
})

test_that("examples 3 and 6: lists make conflicting edges bidirected, in every order", {
  chain <- list(fact(c("1", "3")), fact(c("2", "4")), fact(c("1", "4")))
  for (order in list(c("1", "2", "3", "4"), c("4", "2", "1", "3"))) {
    fit <- pc(order, test = listed_test(order, chain))
    expect_equal(shd(fit, as_graph("1 -> 2 <-> 3 <- 4")), 0)
    expect_identical(sort(fit$conflicts[1L, ]), c("2", "3"))
    expect_identical(fit$graph$type, "mixed")
  }
  # rule 1 from both sides
  nodes <- as.character(1:6)
  skeleton <- as_graph("1 -> 2; 3 -> 2; 2 -> 5; 4 -> 5; 6 -> 5")
  own <- function(order) {
    function(i, j, S) {
      pair <- sort(order[c(i, j)])
      if (as.matrix(skeleton)[pair[1L], pair[2L]] > 0) return(0)
      if (setequal(pair, c("1", "3")) || setequal(pair, c("4", "6"))) return(as.numeric(length(S) == 0L))
      if (setequal(pair, c("1", "5")) || setequal(pair, c("3", "5"))) return(as.numeric(setequal(order[S], "2")))
      if (setequal(pair, c("4", "2")) || setequal(pair, c("6", "2"))) return(as.numeric(setequal(order[S], "5")))
      as.numeric(length(S) == 0L)
    }
  }
  for (order in list(nodes, rev(nodes))) {
    fit <- pc(order, test = own(order))
    expect_equal(shd(fit, as_graph("1 -> 2 <- 3; 4 -> 5 <- 6; 2 <-> 5", nodes = nodes)), 0)
  }
})

test_that("with an oracle every version returns the CPDAG", {
  for (seed in 1:4) {
    set.seed(seed)
    dag <- sim_dag(12, degree = 3, shuffle = TRUE)$graph
    truth <- graph_cpdag(dag)
    for (method in c("stable", "original")) for (rule in c("standard", "conservative", "majority")) for (conflicts in c("lists", "overwrite",
        "first")) {
      expect_equal(shd(pc(dag, method = method, colliders = rule, conflicts = conflicts), truth), 0)
    }
  }
})

test_that("versions with lists do not depend on the order of the columns; threads and cache change nothing", {
  set.seed(3)
  x <- sim_dag(25, n = 60, degree = 3)$data
  for (rule in c("conservative", "majority")) {
    fits <- list(pc = function(...) pc(..., colliders = rule, alpha = 0.05), fci = function(...) fci(..., colliders = rule, alpha = 0.05))
    for (fit in fits) {
      base <- fit(x, threads = 1)
      for (k in 1:6) expect_equal(shd(fit(x[, sample(25)], threads = 1), base), 0)
      for (other in list(fit(x, threads = 2), fit(x, cache = TRUE))) {
        expect_identical(other$graph, base$graph)
        expect_identical(other$edges, base$edges)
        expect_identical(other$tests, base$tests)
      }
    }
  }
})

test_that("skeletons, CPDAGs and RFCI agree with pcalg", {
  skip_if_not_installed("pcalg")
  peer <- "pcalg"  # a reference, not a dependency: it needs Bioconductor
  pcalg <- loadNamespace(peer)
  for (seed in 1:3) {
    set.seed(seed)
    x <- sim_dag(15, n = 300, degree = 2.5, latent = TRUE)$data
    stat <- list(C = cor(x), n = nrow(x))
    theirs <- pcalg$pc(stat, pcalg$gaussCItest, 0.01, labels = colnames(x), skel.method = "stable", u2pd = "relaxed")
    m <- methods::as(theirs@graph, "matrix") != 0
    expect_identical(unname(m | t(m)), unname(as.matrix(pc(x)) > 0))
    rfci_theirs <- pcalg$rfci(stat, pcalg$gaussCItest, 0.01, labels = colnames(x), skel.method = "stable")@amat
    expect_identical(c(0L, 3L, 2L, 1L)[rfci_theirs + 1L], as.vector(as.matrix(rfci(x, conflicts = "overwrite"))))
  }
})

test_that("covariance input, scales, and rank tests", {
  set.seed(4)
  x <- sim_dag(10, n = 200)$data
  base <- pc(x)
  expect_identical(pc(S = cov(x), n = 200)$graph, base$graph)
  for (scale in c(1e-8, 1e8)) expect_identical(pc(x * scale)$graph$edges, base$graph$edges)
  expect_identical(pc(exp(x), test = "rank")$graph, pc(x, test = "rank")$graph)
  expect_identical(pc(x^3, test = "kendall")$graph, pc(x, test = "kendall")$graph)
  expect_identical(nrow(pc(x, alpha = 0)$edges), 0L)
  expect_identical(nrow(pc(x, alpha = 1, m_max = 1)$edges), 45L)
})

test_that("ci_test gives textbook answers", {
  x <- as.matrix(mtcars)
  r <- cor(resid(lm(mpg ~ wt + cyl, mtcars)), resid(lm(hp ~ wt + cyl, mtcars)))
  test <- ci_test(mtcars, "mpg", "hp", given = c("wt", "cyl"), test = "gauss")
  expect_equal(test$estimate, c("partial correlation" = r))
  expect_equal(test$statistic, c(z = sqrt(nrow(x) - 5) * atanh(r)))
  gap <- mtcars
  gap$drat[1:5] <- NA
  gap$hp[6] <- NA
  left <- mtcars[-6, ]
  by_rows <- ci_test(gap, "mpg", "hp", given = c("wt", "cyl"), test = "gauss", na = "pairwise")
  expect_equal(by_rows$statistic, ci_test(left, "mpg", "hp", given = c("wt", "cyl"), test = "gauss")$statistic)
  expect_equal(test$p.value, 2 * pnorm(-sqrt(nrow(x) - 5) * abs(atanh(r))))
  people <- data.frame(Titanic)[rep(1:32, data.frame(Titanic)$Freq), 1:4]
  chi <- suppressWarnings(chisq.test(table(people$Class, people$Survived), correct = FALSE))
  found <- ci_test(people, "Class", "Survived", test = "x2")
  expect_equal(found$p.value, chi$p.value)
  expect_equal(unname(found$statistic), unname(chi$statistic))
  expect_equal(unname(found$parameter), unname(chi$parameter))
  expect_equal(unclass(found$observed), unclass(table(people[c("Class", "Survived")])), ignore_attr = TRUE)
  sliced <- ci_test(people, "Class", "Survived", given = c("Sex", "Age"), test = "g2")
  expect_equal(dim(sliced$observed), c(4L, 2L, 4L))
  expect_equal(sum(sliced$observed), nrow(people))
  one <- anova(lm(mpg ~ factor(cyl), mtcars))
  mixed <- ci_test(transform(mtcars, cyl = factor(cyl)), "mpg", "cyl", test = "mixed")
  expect_equal(unname(mixed$statistic), 32 * log(1 + one$`Sum Sq`[1] / one$`Sum Sq`[2]))
  expect_equal(mixed$parameter, c(df = 2))
  expect_equal(mixed$p.value, pchisq(32 * log(1 + one$`Sum Sq`[1] / one$`Sum Sq`[2]), 2, lower.tail = FALSE))
  expect_equal(ci_test("a -> b -> c", "a", "c", given = "b")$p.value, 1)
})

test_that("counted rows and tables are what they stand for, and are not expanded", {
  people <- data.frame(Titanic)[rep(1:32, data.frame(Titanic)$Freq), 1:4]
  cells <- as.data.frame(Titanic)
  for (test in c("g2", "x2")) {
    whole <- ci_test(people, "Class", "Survived", given = "Sex", test = test)
    for (counted in list(ci_test(Titanic, "Class", "Survived", given = "Sex", test = test),
                         ci_test(cells[1:4], "Class", "Survived", given = "Sex", test = test, weights = cells$Freq))) {
      expect_equal(counted[c("statistic", "parameter", "p.value")], whole[c("statistic", "parameter", "p.value")])
      expect_equal(as.vector(counted$observed), as.vector(whole$observed))
    }
  }
  expect_identical(pc(Titanic)$graph, pc(people)$graph)
  expect_equal(pc(Titanic)$n, 2201)
  huge <- Titanic * 1e5  # two hundred million rows
  expect_lt(ci_test(huge, "Class", "Survived")$p.value, 1e-100)
  expect_error(ci_test(cells[1:4], "Class", "Survived", weights = cells$Freq / 2), "whole numbers", class = "granary_error_input")
  expect_error(ci_test(mtcars, "mpg", "hp", test = "gauss", weights = rep(1, 32)), "\"g2\"", class = "granary_error_input")
  expect_error(ci_test(Titanic, "Class", "Survived", weights = 1:32), "table already", class = "granary_error_input")
  expect_error(pc_stability(pc(Titanic), x = people), "counted rows", class = "granary_error_input")
})

test_that("discrete data: factors, logicals and 0/1 are the same, unused levels and empty strata do no harm", {
  set.seed(5)
  a <- rbinom(400, 1, 0.5)
  b <- rbinom(400, 1, ifelse(a == 1, 0.8, 0.2))
  c <- rbinom(400, 1, ifelse(b == 1, 0.8, 0.2))
  d <- rbinom(400, 1, 0.5)
  numbers <- cbind(a, b, c, d)
  fit <- pc(numbers, test = "g2")
  expect_equal(shd(fit, as_graph("a -- b -- c; d")), 0)
  expect_identical(pc(numbers)$test, "g2")
  factors <- data.frame(a = factor(a, levels = 0:5), b = b == 1, c = letters[c + 1], d = d)
  expect_identical(pc(factors, test = "g2")$graph, fit$graph)
  numbers[1, 1] <- NA
  expect_error(pc(numbers, test = "g2"), "missing", class = "granary_error_input")
  expect_equal(shd(pc(numbers, test = "g2", na = "pairwise"), fit), 0)
  expect_error(pc(data.frame(a = factor(rep("x", 9)), b = 1:9 > 4), test = "g2"), "constant", class = "granary_error_input")
  mixed <- data.frame(a = factor(a), b = b + rnorm(400), c = c + rnorm(400))
  expect_identical(pc(mixed)$test, "mixed")
})

test_that("background knowledge orients, and contradictions are named", {
  dag <- as_graph("a -> b -> c")
  expect_equal(shd(pc(dag, background = pc_knowledge(required = "a -> b")), dag), 0)
  expect_equal(shd(pc(dag, background = pc_knowledge(tiers = list("a", c("b", "c")))), dag), 0)
  expect_equal(shd(pc(dag, background = pc_knowledge(forbidden = "b -> a")), dag), 0)
  expect_equal(shd(pc(dag, background = pc_knowledge(gaps = "a - b")), as_graph("b -- c", nodes = c("a", "b", "c"))), 0)
  expect_identical(nrow(pc(dag, background = pc_knowledge(edges = rbind(c("a", "c"))))$edges), 3L)
  expect_identical(nrow(pc(dag, background = pc_knowledge(forbidden = "a -> b; b -> a"))$edges), 1L)
  known <- function(...) pc(dag, background = pc_knowledge(...))
  expect_error(known(required = "a -> b; b -> c; c -> a"), "cycle: a -> b -> c -> a", class = "granary_error_input")
  expect_error(known(required = "a -> b; b -> a"), "cycle: a -> b -> a", class = "granary_error_input")
  expect_error(known(required = "a -> b", forbidden = "a -> b"), "both required and forbidden", class = "granary_error_input")
  expect_error(known(required = "c -> a", tiers = list("a", "b", "c")), "later to an earlier tier", class = "granary_error_input")
  expect_error(known(required = "a -> b", gaps = "b - a"), "adjacent", class = "granary_error_input")
  expect_error(known(required = "a -> z"), "no variable \"z\"", class = "granary_error_input")
  expect_error(known(tiers = list("a", "a")), "twice", class = "granary_error_input")
  pag <- fci(dag, background = pc_knowledge(tiers = list("a", c("b", "c"))))$graph
  expect_identical(as.matrix(pag)["a", "b"], 2L)
})

test_that("a user's test that fails names the variables", {
  broken <- function(i, j, S) if (length(S) == 1) stop("no luck") else 0
  expect_error(pc(c("u", "v", "w"), test = broken), "failed for variables u and v given w: no luck", class = "granary_error_input")
  expect_error(pc(c("u", "v"), test = function(i, j, S) NA), "u and v.*returned NA", class = "granary_error_input")
  expect_error(pc(c("u", "v"), test = function(i, j, S) "a"), "returned the text", class = "granary_error_input")
})

test_that("bad data are refused or reported", {
  set.seed(6)
  x <- matrix(rnorm(60), 10, dimnames = list(NULL, letters[1:6]))
  expect_error(pc(cbind(x, k = 1)), "k is constant", class = "granary_error_input")
  expect_error(pc(x[1:3, ]), "at least 4 rows", class = "granary_error_input")
  expect_error(pc(rbind(x, NA)), "missing", class = "granary_error_input")
  expect_error(pc(), "neither came", class = "granary_error_input")
  expect_error(pc(x, alpha = 2), "alpha", class = "granary_error_input")
  expect_error(pc(S = diag(3)), "`n`", class = "granary_error_input")
  expect_error(pc(S = matrix(c(1, 2, 2, 1), 2), n = 9), "no covariance", class = "granary_error_input")
  expect_warning(pc(x[1:5, ], alpha = 1), "cannot support", class = "granary_warning_convergence")
  expect_warning(pc(cbind(x, g = x[, 1] + x[, 2]), alpha = 0.9, m_max = 2), "linear functions", class = "granary_warning_input")
  y <- rbind(x, x, x) + rnorm(180, sd = 0.1)
  y[1, 1] <- NA
  expect_s3_class(pc(y, na = "pairwise"), "granary_pc")
  expect_identical(pc(x[, 1, drop = FALSE])$graph$nodes, "a")
})

test_that("fci and rfci find hidden causes", {
  dag <- as_graph("a -> b; c -> d; h -> b; h -> d")
  truth <- as_graph("a o-> b <-> d; c o-> d")
  expect_equal(shd(fci(ci_oracle(dag, latent = "h")), truth), 0)
  expect_equal(shd(fci(graph_convert(dag, "mag", latent = "h")), truth), 0)
  expect_equal(shd(rfci(ci_oracle(dag, latent = "h")), truth), 0)
  expect_equal(shd(graph_pag(dag, latent = "h"), truth), 0)
  selected <- as_graph("a -> s <- b; b -> t <- c; c -> u <- d; d -> v <- a")
  ring <- fci(ci_oracle(selected, selection = c("s", "t", "u", "v")), selection = TRUE)
  expect_equal(shd(fci(graph_convert(selected, "mag", selection = c("s", "t", "u", "v")), selection = TRUE), ring), 0)
  expect_identical(unique(ring$edges$edge), "---")
  for (seed in 1:3) {
    set.seed(seed)
    sim <- sim_dag(15, degree = 2.5, latent = TRUE)
    oracle <- ci_oracle(sim$graph, latent = sim$latent)
    expect_equal(shd(fci(graph_convert(sim$graph, "mag", latent = sim$latent)), fci(oracle)), 0)
    truth <- graph_pag(sim$graph, latent = sim$latent)
    for (rule in c("standard", "conservative", "majority")) {
      expect_equal(shd(fci(oracle, colliders = rule, conflicts = "overwrite"), truth), 0)
      expect_true(all(as.matrix(rfci(oracle, colliders = rule))[as.matrix(truth) > 0] > 0))
    }
  }
})

test_that("ida gives the regression coefficient in a DAG and bounds otherwise", {
  set.seed(7)
  sim <- sim_dag(6, n = 300, degree = 3)
  x <- as.data.frame(sim$data)
  effect <- ida(sim$graph, "V3", "V6", S = cov(x))
  parents <- effect$parents[[1L]]
  expect_equal(effect$effects[[1L]], unname(coef(lm(reformulate(c("V3", parents), "V6"), x))["V3"]))
  fit <- pc(sim$data)
  all <- ida(fit, "V2")
  expect_identical(dim(all$effects)[2L], 5L)
  expect_equal(all$minimum, apply(abs(all$effects), 2L, min))
  expect_equal(ida(as_graph("a -- b"), "a", "b", S = matrix(c(1, .5, .5, 1), 2))$effects[, 1L], c(0.5, 0))
  expect_error(ida(graph_pag("a -> b"), 1, 2), "circles", class = "granary_error_input")
  expect_error(ida(as_graph("a -- b"), "a"), "`S` is needed", class = "granary_error_input")
})

test_that("alpha by BIC, stability selection, order sensitivity", {
  set.seed(8)
  sim <- sim_dag(8, n = 300)
  chosen <- pc_select(sim$data, alpha = c(0.001, 0.01, 0.1))
  expect_identical(chosen$fit$alpha, chosen$table$alpha[which.min(chosen$table$estimate)])
  # the score is that of the regressions of a DAG of the class
  dag <- graph_dag(chosen$fit)
  m <- as.matrix(dag)
  loglik <- sum(vapply(1:8, function(j) {
    parents <- colnames(m)[m[, j] == 2L]
    y <- sim$data[, j]
    fit <- if (length(parents) > 0) lm(y ~ sim$data[, parents]) else lm(y ~ 1)
    as.numeric(logLik(fit))
  }, 0))
  expect_equal(max(chosen$table$loglik[chosen$table$alpha == chosen$fit$alpha]), loglik)
  fit <- pc(sim$data)
  set.seed(1)
  one <- pc_stability(fit, n_rep = 10)
  set.seed(1)
  expect_identical(pc_stability(fit, n_rep = 10), one)
  expect_true(all(one$edges >= 0 & one$edges <= 1) && isSymmetric(one$edges))
  table <- tidy(one)
  expect_equal(table$estimate, one$edges[cbind(table$from, table$to)])
  expect_equal(table$backward, one$arrows[cbind(table$to, table$from)])
  expect_false(is.unsorted(rev(table$estimate)))
  orders <- order_sensitivity(fit, K = 5)
  expect_identical(length(unique(orders$counts)), 1L)  # the stable skeleton
  expect_identical(dim(orders$runs), c(nrow(fit$edges), 6L))
  original <- order_sensitivity(pc(matrix(rnorm(20 * 60), 20), alpha = 0.3, method = "original", m_max = 2), K = 8)
  expect_gt(length(unique(original$counts)), 1L)
})

test_that("fits print, summarise and convert", {
  set.seed(9)
  fit <- pc(sim_dag(6, n = 100)$data)
  expect_output(print(fit), "PC-stable")
  expect_output(print(summary(fit)), "Tests per size")
  expect_identical(nrow(tidy(fit)), nrow(fit$edges))
  expect_identical(glance(fit)$edges, nrow(fit$edges))
  pdf(NULL)
  expect_silent(plot(fit))
  dev.off()
  expect_identical(as_graph(fit), fit$graph)
})
