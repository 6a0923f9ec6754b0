# Learners of mlr3, made from the table in R/shared-learners.R: "classif.granary_svm", "regr.granary_lasso" and so on.

mlr3_prefix <- c(classification = "classif", regression = "regr")

# Every argument of the method is a parameter, with a domain where the table has one.
mlr3_parameters <- function(row) {
  formals <- learner_formals(row)
  set <- do.call(paradox::ps, Map(function(name, default) mlr3_domain(row$parameters[[name]], name, default), names(formals), formals))
  set$set_values(.values = row$fixed)
  set
}

mlr3_domain <- function(known, name, default) {
  given <- list(tags = if (name == "threads") c("train", "threads") else "train")
  if (name == "threads") known <- count_domain(1, NULL)
  if (is.null(known) || isTRUE(known$open)) return(do.call(paradox::p_uty, given))
  if (is.null(default)) given$special_vals <- list(NULL)
  if (known$kind == "choice") return(do.call(paradox::p_fct, c(list(known$values), given)))
  if (is.numeric(default)) given$default <- default
  do.call(if (known$kind == "count") paradox::p_int else paradox::p_dbl, c(known[c("lower", "upper")], given))
}

mlr3_properties <- function(row, mode) {
  c(if (mode == "classification") c("twoclass", if (row$classes == "many") "multiclass"), if (row$weights) "weights", if (!is.null(row$selected)) "selected_features")
}

mlr3_learner <- function(row, stem, mode) {
  prefix <- mlr3_prefix[[mode]]
  base <- if (mode == "classification") mlr3::LearnerClassif else mlr3::LearnerRegr
  types <- c(class = "response", response = "response", prob = "prob", se = "se")[learner_types(row, mode)]
  words <- strsplit(stem, "_", fixed = TRUE)[[1L]]
  class_name <- paste0(if (mode == "classification") "LearnerClassif" else "LearnerRegr", "Granary",
                       paste0(toupper(substr(words, 1L, 1L)), substring(words, 2L), collapse = ""))
  features <- if (row$features == "discrete") c("logical", "factor", "ordered") else c("logical", "integer", "numeric", "factor", "ordered")
  initialize <- function() {
    super$initialize(id = paste0(prefix, ".granary_", stem), packages = "granary", feature_types = features, predict_types = unname(types), param_set = mlr3_parameters(row),
                     properties = mlr3_properties(row, mode), man = paste0("granary::", row$fun), label = row$label)
  }
  train <- function(task) {
    given <- self$param_set$get_values(tags = "train")
    arguments <- learner_arguments(row, mode, prob = self$predict_type == "prob", given = given)
    y <- task$truth()
    if (mode == "classification") y <- droplevels(y)
    weights <- if (row$weights) mlr3_weights(self, private, task)
    learner_fit(row, mlr3_features(task), y, arguments, weights)
  }
  predict <- function(task) {
    features <- mlr3_features(task)
    ask <- function(what) learner_answer(row, self$model, features, what)
    if (mode == "classification") {
      if (self$predict_type == "prob") return(list(prob = learner_probabilities(ask("prob"), task$class_names)))
      return(list(response = learner_classes(ask("class"), task$class_names)))
    }
    if (self$predict_type == "response") return(list(response = as.vector(unname(ask("response")))))
    both <- ask("se")
    list(response = as.vector(unname(both$fit)), se = as.vector(unname(both$se.fit)))
  }
  public <- list(initialize = initialize)
  if (!is.null(row$selected)) {
    public$selected_features <- function() {
      if (is.null(self$model)) abort_input("The learner has no model yet: call its train() first.")
      columns <- row$selected(self$model)
      features <- self$state$train_task$feature_names
      # a factor is used where one of its columns is
      design <- self$model$design
      if (is.null(design)) return(intersect(features, columns))
      Filter(function(feature) any(startsWith(gsub("`", "", columns), feature)), features)
    }
  }
  R6::R6Class(class_name, inherit = base, public = public, private = list(.train = train, .predict = predict), parent_env = environment(), cloneable = TRUE)
}

mlr3_features <- function(task) {
  data <- as.data.frame(task$data(cols = task$feature_names))
  names(data) <- task$feature_names
  data
}

# mlr3 renamed the weights of learning when it gave those of scores a name of their own.
mlr3_weights <- function(self, private, task) {
  if (is.function(private$.get_weights)) return(private$.get_weights(task))
  if ("weights" %in% task$properties) task$weights$weight
}

# The hook can run while mlr3's own table is being made: it is filled through mlr3's table itself.
register_mlr3 <- function() {
  if (!requireNamespace("R6", quietly = TRUE) || !requireNamespace("paradox", quietly = TRUE)) return(invisible())
  table <- utils::getFromNamespace("mlr_learners", "mlr3")
  rows <- learners()
  for (stem in names(rows)) {
    for (mode in names(rows[[stem]]$modes)) local({
      row <- rows[[stem]]
      key <- paste0(mlr3_prefix[[mode]], ".granary_", stem)
      kind <- mode
      name <- stem
      table$add(key, function() mlr3_learner(row, name, kind)$new())
    })
  }
}
