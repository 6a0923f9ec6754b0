# parsnip and mlr3 are not needed by the package: what follows is skipped where they are absent.
iris2 <- droplevels(iris[51:150, ])

test_that("every row of the table of learners can be called by its words", {
  rows <- learners()
  expect_gt(length(rows), 10)
  for (stem in names(rows)) {
    row <- rows[[stem]]
    expect_true(all(names(row$modes) %in% c("classification", "regression")), info = stem)
    known <- c(names(learner_formals(row)), "weights")
    expect_identical(setdiff(c(names(row$parameters), names(row$fixed), names(row$probabilities), unlist(lapply(row$modes, names))), known), character(), info = stem)
    for (spec in row$parsnip) expect_identical(setdiff(c(unname(spec$arguments), names(spec$fixed)), known), character(), info = stem)
    expect_length(setdiff(unlist(lapply(row$parsnip, function(spec) names(spec$arguments))), names(parsnip_dials)), 0)
    for (mode in names(row$modes)) expect_identical(setdiff(learner_types(row, mode), names(row$predict)), character(), info = stem)
  }
})

test_that("every row fits and predicts numbers, and factors through the formula", {
  set.seed(1)
  numbers <- iris2[c(1:8, 51:58), 1:4]
  labels <- iris2$Species[c(1:8, 51:58)]
  mixed <- cbind(numbers[1:2], g = factor(rep(c("a", "b"), 8)))
  for (stem in names(learners())) {
    row <- learners()[[stem]]
    for (mode in names(row$modes)) {
      features <- if (row$features == "discrete") data.frame(lapply(numbers, function(column) factor(column > median(column)))) else numbers
      y <- if (mode == "classification") labels else numbers$Sepal.Length
      few <- if (stem == "sparse_gp") list(inducing = 5) else if ("n_starts" %in% names(learner_formals(row))) list(n_starts = 1)
      for (columns in if (row$features == "discrete") list(features) else list(features[-1], mixed[-1])) {
        prob <- "prob" %in% learner_types(row, mode)
        fit <- suppressWarnings(suppressMessages(learner_fit(row, columns, y, learner_arguments(row, mode, prob, few))))
        for (what in learner_types(row, mode)) {
          answer <- learner_answer(row, fit, columns[1:3, , drop = FALSE], what)
          if (what == "prob") {
            expect_equal(unname(rowSums(learner_probabilities(answer, levels(labels)))), rep(1, 3), info = stem)
          } else if (what == "se") {
            expect_true(all(answer$se.fit > 0), info = stem)
          } else {
            expect_length(as.vector(answer), 3)
          }
        }
      }
    }
  }
})

test_that("a class that a fit never saw has probability zero", {
  answer <- cbind(b = c(0.2, 0.7), a = c(0.8, 0.3))
  expect_identical(learner_probabilities(answer, c("a", "b", "c"))[, "c"], c(0, 0))
  expect_identical(learner_probabilities(answer, c("a", "b", "c"))[, "a"], c(0.8, 0.3))
})

test_that("a package that does not take the learners does not keep granary from being loaded", {
  expect_message(when_loaded("stats", function() stop("an older version")), "an older version")
})

test_that("gp_model() refuses modes and engines it does not have", {
  skip_if_not_installed("parsnip")
  expect_error(gp_model("survival"), "mode", class = "granary_error_input")
  expect_error(gp_model("regression", "stan"), "engine", class = "granary_error_input")
})

test_that("parsnip's engines fit, translate and predict", {
  skip_if_not_installed("parsnip")
  register_parsnip()  # a second time changes nothing
  engines <- function(model) parsnip::show_engines(model)
  for (model in c("svm_rbf", "svm_poly", "svm_linear", "linear_reg", "logistic_reg", "gp_model")) expect_true("granary" %in% engines(model)$engine, info = model)
  expect_identical(anyDuplicated(engines("svm_rbf")), 0L)

  spec <- parsnip::set_engine(parsnip::svm_rbf("classification", cost = 2, rbf_sigma = 0.1), "granary")
  fit <- parsnip::fit(spec, Species ~ ., iris)
  own <- svm(as.matrix(iris[1:4]), iris$Species, cost = 2, gamma = 0.1)
  expect_identical(as.character(predict(fit, iris)$.pred_class), as.character(predict(own)))
  expect_identical(names(predict(fit, iris[1:2, ], type = "prob")), paste0(".pred_", levels(iris$Species)))

  linear <- parsnip::fit(parsnip::set_engine(parsnip::linear_reg(penalty = 0.1, mixture = 0.5), "granary"), mpg ~ ., mtcars)
  own <- lasso(mpg ~ ., mtcars, lambda = 0.1, mixture = 0.5)
  expect_equal(predict(linear, mtcars)$.pred, unname(predict(own)[, 1]))
  weights <- seq_len(32) / 16
  weighted <- parsnip::fit(parsnip::set_engine(parsnip::linear_reg(penalty = 0.1), "granary"), mpg ~ ., mtcars, case_weights = hardhat::importance_weights(weights))
  expect_equal(predict(weighted, mtcars)$.pred, unname(predict(lasso(mpg ~ ., mtcars, lambda = 0.1, weights = weights))[, 1]))

  logistic <- parsnip::fit(parsnip::set_engine(parsnip::logistic_reg(penalty = 0.01), "granary"), Species ~ ., iris2)
  prob <- predict(logistic, iris2, type = "prob")
  expect_equal(rowSums(prob), rep(1, 100))
  expect_gt(mean(predict(logistic, iris2)$.pred_class == iris2$Species), 0.9)
  expect_identical(predict(logistic, iris2)$.pred_class, factor(levels(iris2$Species)[1 + (prob[[2]] > 0.5)]))

  process <- parsnip::fit(parsnip::set_engine(gp_model("regression", kernel = "se"), "granary", n_starts = 1), mpg ~ wt + hp, mtcars)
  band <- predict(process, mtcars, type = "pred_int", level = 0.5)
  narrow <- predict(process, mtcars, type = "conf_int", level = 0.5)
  mean <- predict(process, mtcars)$.pred
  expect_true(all(band$.pred_lower < narrow$.pred_lower & narrow$.pred_lower < mean & mean < narrow$.pred_upper & narrow$.pred_upper < band$.pred_upper))
  classes <- parsnip::fit(gp_model("classification"), Species ~ ., iris2)
  expect_gt(mean(predict(classes, iris2)$.pred_class == iris2$Species), 0.9)
})

test_that("parsnip's engines are tuned inside a workflow, over the ranges of dials", {
  for (package in c("parsnip", "dials", "tune", "workflows", "rsample", "yardstick")) skip_if_not_installed(package)
  tune <- hardhat::tune  # dials looks for a call by this name
  spec <- parsnip::set_engine(parsnip::svm_rbf("classification", cost = tune(), rbf_sigma = tune()), "granary")
  parameters <- workflows::extract_parameter_set_dials(spec)
  expect_identical(sort(parameters$name), c("cost", "rbf_sigma"))
  expect_equal(unlist(parameters$object[[which(parameters$name == "cost")]]$range, use.names = FALSE), c(-10, 5))
  kernels <- workflows::extract_parameter_set_dials(gp_model("regression", "granary_sparse_gp", kernel = tune(), inducing = tune()))
  expect_true("matern52" %in% dials::value_seq(kernels$object[[which(kernels$name == "kernel")]], 5))
  expect_equal(unlist(kernels$object[[which(kernels$name == "inducing")]]$range, use.names = FALSE), c(10, 300))

  set.seed(1)
  flow <- workflows::add_formula(workflows::add_model(workflows::workflow(), spec), Species ~ .)
  found <- tune::tune_grid(flow, rsample::vfold_cv(iris, v = 3), grid = expand.grid(cost = c(0.01, 10), rbf_sigma = c(1e-4, 0.1)),
                           metrics = yardstick::metric_set(yardstick::accuracy, yardstick::roc_auc))
  table <- tune::collect_metrics(found)
  expect_identical(nrow(table), 8L)
  best <- tune::select_best(found, metric = "accuracy")
  expect_identical(best$cost, 10)
  final <- parsnip::fit(tune::finalize_workflow(flow, best), iris)
  expect_gt(mean(predict(final, iris)$.pred_class == iris$Species), 0.9)
})

test_that("mlr3 knows the learners, with types, properties and domains", {
  skip_if_not_installed("mlr3")
  for (stem in names(learners())) {
    for (mode in names(learners()[[stem]]$modes)) {
      learner <- mlr3::lrn(paste0(mlr3_prefix[[mode]], ".granary_", stem))
      expect_true("granary" %in% learner$packages)
      expect_identical("prob" %in% learner$predict_types, mode == "classification" && !is.null(learners()[[stem]]$probabilities), info = stem)
      expect_error(learner$param_set$set_values(nothing_like_it = 1))
    }
  }
  expect_error(mlr3::lrn("classif.granary_svm", cost = -1), "cost|>= 0")
  svm <- mlr3::lrn("classif.granary_svm", cost = 2, gamma = 0.1, predict_type = "prob")
  svm$train(mlr3::tsk("iris"))
  expect_s3_class(svm$model, "granary_svm")
  expect_lt(svm$predict(mlr3::tsk("iris"))$score(), 0.1)
  sparse <- mlr3::lrn("regr.granary_lasso", lambda = 0.5)
  sparse$train(mlr3::tsk("mtcars"))
  expect_true(length(sparse$selected_features()) < 10 && "wt" %in% sparse$selected_features())
})

test_that("mlr3's own check of learners finds nothing", {
  skip_if_not_installed("mlr3")
  skip_if(Sys.getenv("GRANARY_EXTENDED") != "1", "minutes")
  helpers <- new.env(parent = globalenv())
  for (file in list.files(system.file("testthat", package = "mlr3"), "^helper.*[.][rR]$", full.names = TRUE)) sys.source(file, helpers)
  lgr::get_logger("mlr3")$set_threshold("fatal")
  for (stem in names(learners())) {
    for (mode in names(learners()[[stem]]$modes)) {
      learner <- mlr3::lrn(paste0(mlr3_prefix[[mode]], ".granary_", stem))
      # one column has no penalty of its own; the task of the sanity check has numbers
      exclude <- switch(stem, scaled_lasso = "feat_single", bn_classifier = "sanity")
      result <- suppressMessages(suppressWarnings(helpers$run_autotest(learner, exclude = exclude)))
      expect_true(result, info = paste(learner$id, if (is.list(result)) result$error))
      exclude <- c("x", "y", "weights", "offset", "start", "newdata")
      method <- get0(paste0(learners()[[stem]]$fun, ".default"), asNamespace("granary"))
      expect_true(helpers$run_paramtest(learner, method, exclude, tag = "train"), info = learner$id)
    }
  }
})
