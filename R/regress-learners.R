# Rows of the table of learners (R/shared-learners.R).

# Without a penalty the path is fitted, and the penalty with the smallest BIC predicts.
learner_row_lasso <- function() {
  at <- list(lambda = quote(summary(object$fit)$lambda))
  list(
    fun = "lasso", label = "Lasso and elastic net", modes = list(regression = list(family = "gaussian"), classification = list(family = "binomial")),
    weights = TRUE, probabilities = list(),
    predict = list(response = c(at, list(type = "response")), class = c(at, list(type = "class")), prob = c(at, list(type = "prob"))),
    selected = function(fit) tidy(fit, lambda = summary(fit)$lambda)$term,
    parameters = list(lambda = number_domain(0, range = c(-10, 0), trans = "log10"), mixture = number_domain(0, 1, range = c(0, 1))),
    parsnip = list(linear_reg = list(arguments = c(penalty = "lambda", mixture = "mixture")),
                   logistic_reg = list(arguments = c(penalty = "lambda", mixture = "mixture")))
  )
}

learner_row_scaled_lasso <- function() {
  list(
    fun = "scaled_lasso", label = "Scaled lasso", modes = list(regression = list()), predict = list(response = list()),
    selected = function(fit) names(which(stats::coef(fit)[-1L] != 0)),
    parameters = list(lambda0 = number_domain(0, range = c(-3, 1), trans = "log10")),
    parsnip = list(linear_reg = list(engine = "granary_scaled_lasso", arguments = c(penalty = "lambda0")))
  )
}

learner_row_adapt_partition <- function() {
  list(
    fun = "adapt_partition", label = "Adaptive partition", modes = list(regression = list()), fixed = list(degree = 1), predict = list(response = list(type = "response")),
    parameters = list(kappa = number_domain(0, range = c(-3, 1), trans = "log10"), method = choice_domain("threshold", "cart", "uniform"), degree = count_domain(0, range = c(0, 1), upper = 1))
  )
}
