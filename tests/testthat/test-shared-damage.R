test_that("a sealed object says what is wrong with it, and may be added to", {
  fit <- new_fit("toy", mean = 1:3, parts = list(a = matrix(0, 2, 2), b = "x"), call = quote(toy(x)), convergence = list(converged = TRUE))
  expect_identical(check_fit(fit), fit)
  outside <- function(fit, field, value) {
    kept <- attributes(fit)
    fit <- unclass(fit)
    fit[[field]] <- value
    structure(fit, class = kept$class)
  }
  expect_error(print(outside(fit, "mean", NULL)), "damaged.*`mean` is gone", class = "granary_error_input")
  expect_error(summary(outside(fit, "mean", 1:2)), "`mean` was integer 3 and is integer 2", class = "granary_error_input")
  expect_error(glance(outside(fit, "parts", list(a = matrix(0, 2, 1), b = "x"))), "damaged.*`parts`", class = "granary_error_input")
  expect_silent(check_fit(outside(outside(fit, "note", "mine"), "call", quote(other(y)))))
  inside <- list2env(list(fit = fit), parent = asNamespace("granary"))  # the package's own assignments are sealed again
  expect_silent(eval(quote({
    fit$mean <- 1:2
    check_fit(fit)
    fit[["mean"]] <- NULL
    fit[c("more", "parts")] <- list(1, 2)
    check_fit(fit)
  }), inside))
  old <- fit
  attr(old, "format") <- 1L
  expect_error(print(old), "another version of granary", class = "granary_error_input")
})

test_that("an assignment outside the package does not seal a fit again", {
  fit <- new_fit("toy", mean = 1:3, call = quote(toy(x)), convergence = list())
  spoiled <- eval(quote({
    fit$mean <- NULL
    fit
  }), list2env(list(fit = fit), parent = globalenv()))
  expect_error(coef(spoiled), "`mean` is gone", class = "granary_error_input")
})

test_that("every method of every class says that an object is damaged, whatever field is gone, empty, short or narrow", {
  skip_on_cran()
  skip_on_os("windows")
  examples <- tryCatch(help_examples("granary"), error = function(e) list())
  skip_if(length(examples) == 0, "the help pages are not installed")
  extended <- identical(Sys.getenv("GRANARY_EXTENDED"), "1")
  seed <- as.integer(Sys.getenv("GRANARY_DAMAGE_SEED", if (identical(Sys.getenv("GRANARY_EXTENDED"), "1")) format(as.integer(Sys.time()) %% 100000L) else "1"))
  pdf(NULL)
  on.exit(dev.off())
  objects <- example_objects(examples)
  expect_gt(length(objects), 100)
  objects$granary_average <- NULL  # made by hand on the page of granary_fit
  open <- names(objects)[vapply(objects, function(object) is.null(attr(object, "shape")), NA)]
  expect(length(open) == 0L, paste("without a seal:", paste(open, collapse = ", ")))
  set.seed(seed)
  if (!extended) objects <- objects[sample(length(objects), 25L)]
  swept <- sweep_in_children(objects, cpu = if (extended) 3600 else 60)
  cat(sprintf("damaged objects: GRANARY_DAMAGE_SEED=%d, %d calls on %d classes\n", seed, swept$calls, length(objects)))
  expect(length(swept$failures) == 0L, paste(c(paste0(length(swept$failures), " failures (GRANARY_DAMAGE_SEED=", seed, "):"), swept$failures), collapse = "\n"))
  expect_gt(swept$calls, 100)
})
