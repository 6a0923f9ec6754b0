# Every argument a user can write is a word of the grammar (inst/grammar.dcf), with one default unless a reason stands beside the word.
grammar <- function() {
  words <- as.data.frame(read.dcf(system.file("grammar.dcf", package = "granary")))
  stopifnot(!anyDuplicated(words$Name))
  words
}

# The functions of a user: what is exported, and the methods that are registered, without those for print and the like of base R.
spoken <- function() {
  namespace <- asNamespace("granary")
  exported <- Filter(function(name) is.function(namespace[[name]]), getNamespaceExports("granary"))
  methods <- unique(unlist(namespace$.__NAMESPACE__.$S3methods[, 3]))
  methods <- Filter(function(name) exists(name, namespace, inherits = FALSE), methods)
  mget(sort(union(exported, methods)), envir = namespace)
}

# "pc the paper's level; fci the paper's level" -> c("pc", "fci"); a function without a reason does not count.
excepted <- function(text) {
  if (is.na(text)) return(character())
  parts <- trimws(strsplit(text, ";", fixed = TRUE)[[1]])
  sub(" .*", "", parts[grepl(" ", parts, fixed = TRUE)])
}

test_that("every formal of every function is a word of the grammar", {
  words <- grammar()
  used <- lapply(spoken(), function(f) names(formals(f)))
  named <- stack(used)
  unknown <- named[!named$values %in% c(words$Name, "...", "e1", "e2"), ]
  expect_identical(sprintf("%s in %s()", unknown$values, unknown$ind), character())
})

test_that("every word of the grammar says what it means, and somebody speaks it", {
  words <- grammar()
  expect_identical(words$Name[is.na(words$Meaning) | nchar(words$Meaning) < 5], character())
  used <- unique(unlist(lapply(spoken(), function(f) names(formals(f)))))
  expect_identical(setdiff(words$Name, used), character())
})

test_that("a word has one default, or a reason", {
  words <- grammar()
  functions <- spoken()
  for (i in which(!is.na(words$Default))) {
    word <- words$Name[i]
    others <- Filter(function(name) {
      text <- vapply(formals(functions[[name]])[word], function(value) paste(deparse(value), collapse = " "), "")
      word %in% names(formals(functions[[name]])) && nzchar(text) && text != words$Default[i]
    }, names(functions))
    allowed <- excepted(words$Except[i])
    stems <- sub("[.](default|formula|data.frame|granary_.*)$", "", others)
    expect_identical(others[!(others %in% allowed | stems %in% allowed)], character(), info = word)
    expect_identical(setdiff(allowed, c(others, stems)), character(), info = paste(word, "needs no exception any more"))
  }
})
