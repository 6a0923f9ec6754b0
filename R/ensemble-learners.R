# Rows of the table of learners (R/shared-learners.R).
learner_row_boost <- function() {
  list(
    fun = "boost", label = "Boosted trees", modes = list(classification = list()), classes = "many", weights = TRUE,
    predict = list(class = list(type = "class")),
    parameters = list(
      n_rounds = count_domain(1, range = c(10, 500)), max_leaves = count_domain(2, range = c(2, 20)), min_leaf = count_domain(1, range = c(1, 20)),
      shrinkage = number_domain(0, 1, range = c(-2, 0), trans = "log10"), method = choice_domain("adaptive", "m1", "samme", "mh"), step = choice_domain("paper", "exact")
    ),
    parsnip = list(boost_tree = list(arguments = c(trees = "n_rounds", min_n = "min_leaf", learn_rate = "shrinkage")))
  )
}
