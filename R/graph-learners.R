# Rows of the table of learners (R/shared-learners.R).
learner_row_bn_classifier <- function() {
  list(
    fun = "bn_classifier", label = "Bayesian network classifier", modes = list(classification = list()), features = "discrete", probabilities = list(),
    predict = list(class = list(type = "class"), prob = list(type = "prob")),
    parameters = list(method = choice_domain("generative", "logistic", "svm"), k = count_domain(0, range = c(0, 2)), pseudo_count = number_domain(0, range = c(0.1, 5)),
                      lambda = number_domain(0, range = c(-4, 1), trans = "log10"))
  )
}
