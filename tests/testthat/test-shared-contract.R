test_that("every fit answers the generics of the grammar, or refuses in a sentence", {
  skip_on_cran()
  examples <- tryCatch(help_examples("granary"), error = function(e) list())
  skip_if(length(examples) == 0, "the help pages are not installed")
  pdf(NULL)
  old <- options(granary.progress = FALSE)
  on.exit({
    options(old)
    dev.off()
  })
  fits <- example_fits(examples)
  expect_gt(length(fits), 30)
  for (class in names(fits)) {
    fit <- fits[[class]]
    asked <- list(
      print = function() answers(print(fit)), summary = function() answers(print(summary(fit))), plot = function() answers(plot(fit), TRUE),
      tidy = function() answers(tidy(fit)), glance = function() answers(glance(fit)), nobs = function() answers(nobs(fit)), coef = function() answers(coef(fit)),
      fitted = function() answers(fitted(fit)), residuals = function() answers(residuals(fit)), predict = function() answers(predict(fit)),
      augment = function() answers(augment(fit)), logLik = function() answers(logLik(fit)), vcov = function() answers(vcov(fit)),
      confint = function() answers(confint(fit)), formula = function() answers(formula(fit)), terms = function() answers(terms(fit)),
      autoplot = function() if (requireNamespace("ggplot2", quietly = TRUE)) drawn_twice(fit) else ""
    )
    for (generic in names(asked)) {
      if (paste(class, generic) %in% contract_exceptions) next
      found <- asked[[generic]]()
      expect(identical(found, ""), paste0(generic, "() of ", class, ": ", found))
    }
  }
})

test_that("what plot() draws autoplot() draws too, beyond fits", {
  skip_on_cran()
  skip_if_not_installed("ggplot2")
  examples <- tryCatch(help_examples("granary"), error = function(e) list())
  skip_if(length(examples) == 0, "the help pages are not installed")
  pdf(NULL)
  old <- options(granary.progress = FALSE)
  on.exit({
    options(old)
    dev.off()
  })
  objects <- example_fits(examples, others = TRUE)
  expect_gt(length(objects), 20)
  for (class in names(objects)) {
    found <- drawn_twice(objects[[class]])
    expect(identical(found, ""), paste0(class, ": ", found))
  }
})
