# Rows of the table of learners (R/shared-learners.R). The parsnip model type is that of gp_model().
process_kernel_choice <- function() choice_domain("se", "matern32", "matern52", "rq", "linear", open = TRUE)

# Mean, and mean with its standard error, that of a new response included.
process_answers <- function() {
  interval <- function(kind) list(interval = kind, level = quote(level))
  list(response = list(type = "response"), se = list(type = "response", se = TRUE), conf_int = interval("confidence"), pred_int = interval("prediction"))
}

learner_row_kriging <- function() {
  list(
    fun = "kriging", label = "Kriging", modes = list(regression = list()), fixed = list(nugget = "estimate"), predict = process_answers(),
    parameters = list(kernel = process_kernel_choice(), method = choice_domain("ML", "REML", "LOO"), n_starts = count_domain(1, range = c(1, 20))),
    parsnip = list(gp_model = list(arguments = c(kernel = "kernel")))
  )
}

learner_row_sparse_gp <- function() {
  list(
    fun = "sparse_gp", label = "Sparse Gaussian process", modes = list(regression = list()), predict = process_answers(),
    parameters = list(kernel = process_kernel_choice(), inducing = count_domain(1, range = c(10, 300)), method = choice_domain("fitc", "pitc", "dtc", "sor", "vfe", "fic", "sod", "nystrom", "exact")),
    parsnip = list(gp_model = list(engine = "granary_sparse_gp", arguments = c(kernel = "kernel", inducing = "inducing")))
  )
}

learner_row_rvm <- function() {
  list(
    fun = "rvm", label = "Relevance vector machine", modes = list(regression = list()), predict = process_answers(),
    parameters = list(kernel = process_kernel_choice()),
    parsnip = list(gp_model = list(engine = "granary_rvm", arguments = c(kernel = "kernel")))
  )
}

learner_row_gp_classify <- function() {
  list(
    fun = "gp_classify", label = "Gaussian process classification", modes = list(classification = list()), probabilities = list(),
    predict = list(class = list(type = "class"), prob = list(type = "prob")),
    parameters = list(kernel = process_kernel_choice(), method = choice_domain("ep", "laplace"), link = choice_domain("probit", "logit"), n_starts = count_domain(1, range = c(1, 10))),
    parsnip = list(gp_model = list(arguments = c(kernel = "kernel")))
  )
}
