# Rows of the table of learners (R/shared-learners.R).
machine_kernel_choice <- function() choice_domain("rbf", "linear", "polynomial", "sigmoid", "laplace", open = TRUE)

machine_domains <- function() {
  list(cost = number_domain(0, range = c(-10, 5), trans = "log2"), kernel = machine_kernel_choice(),
       gamma = number_domain(0, range = c(-10, 0), trans = "log10"), degree = number_domain(1, range = c(1, 3)), coef0 = number_domain(-Inf, range = c(0, 1)))
}

learner_row_svm <- function() {
  list(
    fun = "svm", label = "Support vector machine", modes = list(classification = list(type = "classification"), regression = list(type = "regression")),
    classes = "many", weights = TRUE, probabilities = list(probability = "platt"),
    predict = list(response = list(type = "response"), class = list(type = "class"), prob = list(type = "prob")),
    parameters = c(machine_domains(), list(epsilon = number_domain(0, range = c(0, 0.2)), nu = number_domain(0, 1, range = c(0.05, 0.5)))),
    parsnip = list(
      svm_rbf = list(fixed = list(kernel = "rbf"), arguments = c(cost = "cost", rbf_sigma = "gamma", margin = "epsilon")),
      svm_poly = list(fixed = list(kernel = "polynomial", coef0 = 1), arguments = c(cost = "cost", degree = "degree", scale_factor = "gamma", margin = "epsilon")),
      svm_linear = list(fixed = list(kernel = "linear"), arguments = c(cost = "cost", margin = "epsilon"))
    )
  )
}

learner_row_lasvm <- function() {
  list(
    fun = "lasvm", label = "Online support vector machine", modes = list(classification = list()), classes = "many",
    predict = list(class = list(type = "class")), parameters = c(machine_domains(), list(epochs = count_domain(1, range = c(1, 3)))),
    parsnip = list(
      svm_rbf = list(engine = "granary_lasvm", fixed = list(kernel = "rbf"), arguments = c(cost = "cost", rbf_sigma = "gamma")),
      svm_linear = list(engine = "granary_lasvm", fixed = list(kernel = "linear"), arguments = c(cost = "cost"))
    )
  )
}

learner_row_budget_perceptron <- function() {
  list(
    fun = "budget_perceptron", label = "Perceptron on a budget", modes = list(classification = list()), classes = "many",
    predict = list(class = list(type = "class")),
    parameters = c(machine_domains()[-1L], list(budget = number_domain(1, range = c(10, 500)), epochs = count_domain(1, range = c(1, 5))))
  )
}

learner_row_kernel_perceptron <- function() {
  list(
    fun = "kernel_perceptron", label = "Kernel perceptron", modes = list(classification = list()), classes = "many",
    predict = list(class = list(type = "class")), parameters = c(machine_domains()[-1L], list(epochs = count_domain(1, range = c(1, 5))))
  )
}
