# Rows of the table of learners (R/shared-learners.R).
learner_row_forest <- function() {
  list(
    fun = "forest", label = "Random forest", modes = list(classification = list(), regression = list()), classes = "many", weights = TRUE, probabilities = list(),
    predict = list(response = list(type = "response"), class = list(type = "class"), prob = list(type = "prob")),
    parameters = list(n_trees = count_domain(1, range = c(100, 1000)), mtry = count_domain(1, range = c(1, 20)), min_node = count_domain(2, range = c(2, 40)),
                      min_leaf = count_domain(1, range = c(1, 20)), max_depth = count_domain(1, range = c(2, 20)), cuts = count_domain(0, range = c(0, 10)),
                      sample = number_domain(0, range = c(0.3, 1)), score = choice_domain("gini", "entropy")),
    parsnip = list(rand_forest = list(arguments = c(trees = "n_trees", mtry = "mtry", min_n = "min_node")))
  )
}

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

learner_row_nc_ensemble <- function() {
  list(
    fun = "nc_ensemble", label = "Regression ensemble trained together", modes = list(regression = list()), weights = TRUE,
    predict = list(response = list(type = "response")),
    parameters = list(
      lambda = number_domain(0, range = c(0, 1)), n_members = count_domain(1, range = c(4, 30)), size = count_domain(1, range = c(2, 10)),
      learner = choice_domain("mlp", "rbf", "features"), decay = number_domain(0, range = c(-6, -1), trans = "log10"),
      max_iter = count_domain(1, range = c(100, 2000)), validation = number_domain(0, 0.9, range = c(0, 0.4))
    ),
    parsnip = list(mlp = list(arguments = c(hidden_units = "size", penalty = "decay", epochs = "max_iter")))
  )
}

learner_row_kernel_elm <- function() {
  list(
    fun = "kernel_elm", label = "Kernel extreme learning machine", modes = list(classification = list()), classes = "many",
    predict = list(class = list(type = "class")),
    parameters = list(cost = number_domain(0, range = c(-5, 14), trans = "log2"), gamma = number_domain(0, range = c(-16, 8), trans = "log2"))
  )
}

learner_row_elm <- function() {
  list(
    fun = "elm", label = "Extreme learning machine", modes = list(classification = list()), classes = "many", predict = list(class = list(type = "class")),
    parameters = list(activation = choice_domain("sine", "sign", "sigmoid", "hardlimit", "triangular", "radial"), hidden = count_domain(1, range = c(3, 200)))
  )
}

learner_row_pnn <- function() {
  list(
    fun = "pnn", label = "Probabilistic neural network", modes = list(classification = list()), classes = "many", probabilities = list(),
    predict = list(class = list(type = "class"), prob = list(type = "prob")), parameters = list(sigma = number_domain(0, range = c(-2, 1), trans = "log10"))
  )
}

learner_row_logitboost <- function() {
  list(
    fun = "logitboost", label = "LogitBoost", modes = list(classification = list()), classes = "many", weights = TRUE, probabilities = list(),
    predict = list(class = list(type = "class"), prob = list(type = "prob")),
    parameters = list(n_rounds = count_domain(1, range = c(10, 200)), max_leaves = count_domain(2, range = c(2, 16)), min_leaf = count_domain(1, range = c(1, 20)),
                      shrinkage = number_domain(0, 1, range = c(-2, 0), trans = "log10"))
  )
}
