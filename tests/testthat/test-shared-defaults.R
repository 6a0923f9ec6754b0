test_that("the defaults of R are those of C++", {
  defaults <- core_defaults()
  expect_gt(length(defaults), 0)
  compared <- 0
  for (name in names(defaults)) {
    fun <- get0(paste0(name, ".default"), asNamespace("granary"), mode = "function")
    if (is.null(fun)) fun <- get0(name, asNamespace("granary"), mode = "function")
    expect_false(is.null(fun), label = paste0("the function ", name, "()"))
    if (is.null(fun)) next
    arguments <- formals(fun)
    for (option in intersect(names(defaults[[name]]), names(arguments))) {
      if (any(c(paste(name, option), paste("any", option)) %in% names(default_exceptions))) next
      if (is.name(arguments[[option]]) && !nzchar(as.character(arguments[[option]]))) next  # no default in R
      ours <- tryCatch(eval(arguments[[option]], asNamespace("granary")), error = function(e) NULL)
      if (is.null(ours) || is.function(ours)) next  # decided from the data, or from another argument
      theirs <- defaults[[name]][[option]]
      if (is.character(ours)) ours <- ours[1L]
      if (length(theirs) == 0L || is.character(ours) != is.character(theirs)) next  # C++ is told a value that R decides
      expect_equal(ours, theirs, ignore_attr = TRUE, tolerance = 1e-12, label = paste0("default `", option, "` of ", name, "() in R"), expected.label = "that of C++")
      compared <- compared + 1
    }
  }
  expect_gt(compared, 0)
})
