# Functions that belong to no paper.
infrastructure <- c("granary_catalog", "granary_find", "granary_session", "gp_model", "errata", "reproduce", "granary_report", "tidy", "glance", "augment", "assess", "data_moments", "data_counts", "combine",
                    # the kernel language
                    grep("^k_[a-z]+$", getNamespaceExports("granary"), value = TRUE), "kernel_matrix",
                    # shared by emulators and optimisers
                    "branin", "camelback", "hartmann6", "forrester",
                    # shared by online classifiers
                    "chunks", "online_compare")

test_that("every entry of the catalog is complete and has a key of its own", {
  catalog <- granary_catalog()
  expect_gt(nrow(catalog), 0)
  needed <- catalog[c("key", "title", "family", "functions", "paper", "use")]
  expect_false(anyNA(needed))
  expect_true(all(nzchar(unlist(needed))))
  expect_identical(anyDuplicated(catalog$key), 0L)
  families <- c("graph", "regress", "kernel", "process", "latent", "cluster", "perturb", "ensemble", "neural", "signal", "decide", "concept", "rank")
  expect_true(all(catalog$family %in% families))
})

test_that("every function in the catalog is exported", {
  exported <- getNamespaceExports("granary")
  skip_if_not(any(catalog_functions() %in% exported), "no estimator is exported yet")
  expect_identical(setdiff(catalog_functions(), exported), character())
})

test_that("every exported function is in the catalog", {
  exported <- getNamespaceExports("granary")
  functions <- exported[vapply(exported, function(name) is.function(getExportedValue("granary", name)), NA)]
  expect_identical(setdiff(functions, c(catalog_functions(), infrastructure)), character())
})

test_that("the catalog is searched in all fields, whatever the case", {
  expect_identical(granary_catalog("HSIEH")$key, "jmlr15-quic")
  expect_true("jmlr15-quic" %in% granary_catalog("^ggm_lasso|precision matrix")$key)
  expect_identical(nrow(granary_catalog("no such method")), 0L)
  expect_identical(nrow(granary_catalog("[")), 0L)  # no regular expression, so taken as text
  expect_error(granary_catalog(1), "`pattern`", class = "granary_error_input")
})

test_that("the catalog prints by family, and says so when nothing was found", {
  expect_output(print(granary_catalog()), "graph.*jmlr15-quic.*ggm_lasso\\(\\)")
  expect_output(print(granary_catalog("no such method")), "No method matches \"no such method\"")
  expect_output(print(granary_catalog()["key"]), "jmlr15-quic")
})

test_that("every paper of the catalog is in the bibliography, and every entry there is closed", {
  lines <- readLines(system.file("REFERENCES.bib", package = "granary"))
  entry <- cumsum(startsWith(lines, "@"))
  braces <- function(text, brace) lengths(regmatches(text, gregexpr(brace, text, fixed = TRUE)))
  open <- tapply(braces(lines, "{") - braces(lines, "}"), entry, sum)
  expect_identical(lines[startsWith(lines, "@")][open[names(open) != "0"] != 0], character())
  keys <- sub("^@[a-z]+[{](.*),$", "\\1", grep("^@", lines, value = TRUE))
  expect_identical(setdiff(granary_catalog()$key, keys), character())
  expect_identical(anyDuplicated(keys), 0L)
})
