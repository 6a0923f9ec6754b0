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

test_that("every export appears in a vignette", {
  pages <- list.files("../../vignettes", "[.]Rmd$", full.names = TRUE)
  skip_if(length(pages) == 0, "the sources of the vignettes are not here")
  text <- paste(unlist(lapply(pages, readLines, warn = FALSE)), collapse = "\n")
  exports <- Filter(function(name) is.function(getExportedValue("granary", name)), getNamespaceExports("granary"))
  shown <- vapply(exports, function(name) grepl(paste0("(^|[^A-Za-z0-9_.])", gsub(".", "[.]", name, fixed = TRUE), "\\("), text), NA)
  expect_identical(sort(exports[!shown]), character())
})

test_that("the help of every export says which method when, and lists at most six neighbours", {
  skip_on_cran()
  pages <- tryCatch(tools::Rd_db("granary"), error = function(e) list())
  skip_if(length(pages) == 0, "the help pages are not installed")
  exports <- getNamespaceExports("granary")
  tags <- function(page) vapply(page, function(part) attr(part, "Rd_tag"), "")
  for (page in pages) {
    aliases <- vapply(page[tags(page) == "\\alias"], function(part) paste(unlist(part), collapse = ""), "")
    name <- aliases[1]
    sections <- vapply(page[tags(page) == "\\section"], function(part) paste(unlist(part[[1]]), collapse = ""), "")
    if (any(aliases %in% exports) && !"reexports" %in% aliases) expect(any(trimws(sections) == "Which method when"), paste0("?", name, " has no section \"Which method when\""))
    neighbours <- as.character(page[tags(page) == "\\seealso"])
    links <- sum(lengths(regmatches(neighbours, gregexpr("\\\\link", neighbours))))
    expect(links <= 6L, paste0("?", name, " lists ", links, " neighbours"))
  }
})

test_that("there are not more functions than a user can look through", {
  exports <- getNamespaceExports("granary")
  catalog <- granary_catalog()
  of_family <- unlist(strsplit(catalog$functions[catalog$family %in% c("graph", "regress", "kernel", "process")], "[ ,]+"))
  later <- setdiff(unlist(strsplit(catalog$functions[!catalog$family %in% c("graph", "regress", "kernel", "process")], "[ ,]+")), of_family)
  expect_lte(length(setdiff(exports, later)), 235)  # 36 methods and what all share
})

# The names of arguments that a function of the package takes; NULL where it passes on what it does not know.
takes <- function(name) {
  namespace <- asNamespace("granary")
  own <- c(name, grep(paste0("^", name, "[.](default|formula|data.frame|matrix|Matrix|granary_[a-z_]+)$"), ls(namespace), value = TRUE))
  own <- Filter(function(one) is.function(namespace[[one]]), own)
  open <- vapply(own, function(one) {
    text <- gsub("(refuse_dots|formula_or_first|UseMethod)\\([^)]*\\)", "", paste(deparse(body(namespace[[one]])), collapse = " "))
    !endsWith(one, ".formula") && grepl("...", text, fixed = TRUE)
  }, NA)
  if (any(open)) NULL else unique(unlist(lapply(own, function(one) names(formals(namespace[[one]])))))
}

# "file: f(argument = )" for every call of an exported function in `expressions` with an argument that it does not have.
unspoken <- function(expressions, file, known) {
  found <- character()
  walk <- function(e) {
    if (is.pairlist(e)) return(invisible(lapply(as.list(e), function(part) if (!identical(part, quote(expr = ))) walk(part))))
    if (!is.call(e)) return(invisible())
    name <- if (is.name(e[[1]])) as.character(e[[1]]) else if (is.call(e[[1]]) && identical(e[[1]][[1]], quote(`::`)) && identical(e[[1]][[2]], quote(granary))) as.character(e[[1]][[3]])
    if (!is.null(name) && name %in% names(known) && !is.null(known[[name]])) {
      given <- setdiff(names(e)[-1], "")
      wrong <- given[is.na(pmatch(given, known[[name]]))]
      if (length(wrong) > 0) found <<- c(found, sprintf("%s: %s(%s = )", basename(file), name, wrong))
    }
    for (part in as.list(e)) if (!missing(part)) walk(part)
  }
  for (e in as.list(expressions)) walk(e)
  found
}

test_that("vignettes, benchmarks and scripts speak the grammar", {
  root <- "../.."
  skip_if_not(file.exists(file.path(root, "DESCRIPTION")), "the sources are not here")
  exports <- Filter(function(name) is.function(getExportedValue("granary", name)), getNamespaceExports("granary"))
  known <- sapply(exports, takes, simplify = FALSE)
  files <- list.files(file.path(root, c("inst/reproduce", "inst/bench/peers")), "[.]R$", full.names = TRUE)
  found <- unlist(lapply(files, function(file) unspoken(parse(file, keep.source = FALSE), file, known)))
  pages <- list.files(file.path(root, "vignettes"), "[.]Rmd$", full.names = TRUE)
  found <- c(found, unlist(lapply(pages, function(file) {
    lines <- readLines(file, warn = FALSE)
    chunk <- cumsum(grepl("^```", lines)) %% 2 == 1 & !grepl("^```", lines)
    code <- lines[chunk]
    unspoken(parse(text = code, keep.source = FALSE), file, known)
  })))
  expect_identical(unique(found), character())
})
