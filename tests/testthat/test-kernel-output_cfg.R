bank <- c(
  "(S (NP (D the) (N dog)) (VP (V saw) (NP (D a) (N cat))))",
  "(S (NP (D a) (N cat)) (VP (VP (V saw) (NP (D the) (N dog))) (PP (P with) (NP (D a) (N fork)))))",
  "(S (NP (NP (D the) (N dog)) (PP (P with) (NP (D a) (N fork)))) (VP (V ate) (NP (D the) (N cat))))",
  "(S (NP (D the) (N fork)) (VP (VP (V saw) (NP (D the) (N cat))) (PP (P with) (NP (D the) (N dog)))))"
)

toy_grammar <- data.frame(
  lhs = c("S", "VP", "VP", "NP", "NP", "PP", "V", "P", "NP", "NP"), rhs1 = c("NP", "V", "VP", "NP", "we", "P", "saw", "with", "stars", "glasses"),
  rhs2 = c("VP", "NP", "PP", "PP", NA, "NP", NA, NA, NA, NA), weight = log(c(1, 0.7, 0.3, 0.4, 0.1, 1, 1, 1, 0.2, 0.3))
)

test_that("grammars are learnt in every formulation, with certificates", {
  for (loss in c("f1", "zero_one")) {
    problem <- output_cfg(bank, loss)
    for (penalty in c("linear", "squared")) {
      for (rescale in c("margin", "slack", "none")) {
        fit <- structured_svm(problem, cost = 100, penalty = penalty, rescale = rescale, tol = 0.01)
        expect_true(fit$convergence$converged)
        expect_lte(fit$convergence$gap, fit$gap_bound * (1 + 1e-8))
        if (rescale != "none") expect_gte(fit$risk_bound, fit$risk)
        expect_lte(fit$cuts_added, structured_bounds(fit)$cuts)
        expect_identical(predict(fit), bank)
      }
    }
  }
  expect_identical(predict(fit, c("the dog saw a cat", "a dog ate the fork"))[1], bank[1])
  w <- coef(fit)
  used <- c("S -> NP VP", "NP -> D N", "D -> the", "N -> cat", "VP -> V NP", "V -> ate", "NP -> D N", "D -> a", "N -> dog")
  rule <- paste(w$lhs, "->", ifelse(is.na(w$rhs2), w$rhs1, paste(w$rhs1, w$rhs2)))
  expect_identical(predict(fit, "the cat ate a dog"), "(S (NP (D the) (N cat)) (VP (V ate) (NP (D a) (N dog))))")
  expect_equal(predict(fit, list(c("the", "cat", "ate", "a", "dog")), type = "score"), sum(w$weight[match(used, rule)]))
  expect_warning(lost <- predict(fit, c("the dog saw a unicorn", "the dog saw a cat")), "no parse", class = "granary_warning_input")
  expect_identical(is.na(lost), c(TRUE, FALSE))
  expect_identical(structured_svm(problem, threads = 1)$weights, structured_svm(problem, threads = 2)$weights)
  expect_output(print(problem), "rules: +6 of two parts, 8 of words")
})

test_that("the probabilistic grammar is the share of rules, and recovers the one that made the trees", {
  fit <- structured_baseline(output_cfg(bank), "generative")
  w <- coef(fit)
  expect_equal(as.double(tapply(exp(w$weight), w$lhs, sum)), rep(1, length(unique(w$lhs))))
  expect_equal(exp(w$weight[w$lhs == "V" & w$rhs1 == "saw"]), 3 / 4)
  for (seed in 1:3) {
    set.seed(seed)
    grow <- function(symbol, depth = 0) {
      rows <- which(toy_grammar$lhs == symbol & (depth < 6 | is.na(toy_grammar$rhs2) | !toy_grammar$lhs %in% c("NP", "VP") | toy_grammar$rhs1 == "V"))
      r <- toy_grammar[rows[sample.int(length(rows), 1, prob = exp(toy_grammar$weight[rows]))], ]
      if (is.na(r$rhs2)) return(sprintf("(%s %s)", symbol, r$rhs1))
      sprintf("(%s %s %s)", symbol, grow(r$rhs1, depth + 1), grow(r$rhs2, depth + 1))
    }
    fitted <- coef(structured_baseline(output_cfg(replicate(300, grow("S"))), "generative"))
    both <- merge(fitted, toy_grammar, by = c("lhs", "rhs1", "rhs2"))
    expect_identical(nrow(both), nrow(toy_grammar))
    expect_lt(max(abs(exp(both$weight.x) - exp(both$weight.y))), 0.12)
  }
})

test_that("trees that are not in normal form are brought into it and back", {
  free <- c("(S (NP (D the) (A old) (N dog)) (VP (V ran)))", "(S (NP (N dogs)) (VP (V saw) (NP (D the) (A big) (A old) (N dog)) (ADV well)))")
  expect_error(output_cfg(free), "Chomsky normal form.*binarize", class = "granary_error_input")
  problem <- output_cfg(free, binarize = TRUE)
  fit <- structured_svm(problem, cost = 100)
  expect_identical(predict(fit), free)
  expect_true(all(c("NP|D-A", "VP+V") %in% problem$symbols))
})

test_that("one word, two words, and what is wrong with trees", {
  small <- output_cfg(c("(S (A x) (B y))", "(S z)"), "f1")
  expect_identical(predict(structured_svm(small, rescale = "slack")), c("(S (A x) (B y))", "(S z)"))
  for (bad in c("", "S", "(S", "(S)", "(S x y)", "(S x) (S y)", "((S x))", "(S (A x) y)")) {
    expect_error(output_cfg(bad), "Tree 1", class = "granary_error_input")
  }
  expect_error(output_cfg(c("(S x)", "(T x)")), "one label at the root", class = "granary_error_input")
  expect_error(output_cfg(NA_character_), "`trees`", class = "granary_error_input")
  expect_error(output_cfg(1), "`trees`", class = "granary_error_input")
  fit <- structured_svm(small)
  expect_error(predict(fit, 1), "`newdata`", class = "granary_error_input")
  expect_error(predict(fit, ""), "`newdata`", class = "granary_error_input")
  expect_error(structured_baseline(output_multiclass(diag(2), 1:2), "generative"), "output_chain", class = "granary_error_input")
})
