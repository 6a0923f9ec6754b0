# Rscript tools/dev/style.R [counts file]: the rules of the house that a program can check. Prints every breach, writes "passed failed skipped".
counts_file <- c(commandArgs(TRUE), tempfile())[1L]
breaches <- character()
checked <- 0L
breach <- function(...) breaches <<- c(breaches, paste0(...))
rule <- function(found) {
  checked <<- checked + 1L
  if (length(found) > 0L) for (one in found) breach(one)
}
read <- function(file) readLines(file, warn = FALSE, encoding = "UTF-8")
grep_in <- function(files, pattern, what, perl = TRUE, skip = NULL) {
  unlist(lapply(files, function(file) {
    lines <- read(file)
    at <- grep(pattern, lines, perl = perl)
    if (!is.null(skip)) at <- at[!grepl(skip, lines[at], perl = TRUE)]
    if (length(at) > 0L) paste0(file, ":", at, ": ", what)
  }))
}

families <- c("graph", "regress", "kernel", "process", "latent", "cluster", "perturb", "ensemble", "neural", "signal", "decide", "concept", "rank")
cpp <- list.files("src", "[.](h|cpp)$", recursive = TRUE, full.names = TRUE)
cpp <- setdiff(cpp, "src/RcppExports.cpp")
glue <- grep("^src/[^/]+$", cpp, value = TRUE)
rooms <- setdiff(cpp, glue)
glue <- setdiff(glue, "src/door.cpp")  # the door itself
r_files <- setdiff(list.files("R", "[.]R$", full.names = TRUE), "R/RcppExports.R")

# Core and rooms know nothing of R; Eigen comes in by one door; includes are counted from src.
rule(grep_in(rooms, "#include *[<\"](R[.]h|Rcpp|Rinternals|Rmath|R_ext)", "R inside the core"))
rule(grep_in(grep("^src/core/(base/eigen|linalg/(dense|engine|small|sparse_cholesky))", rooms, invert = TRUE, value = TRUE), "#include *<(Eigen|unsupported)/",
             "include core/base/types.h, core/linalg/dense.h, small.h or sparse_cholesky.h, not Eigen"))
rule(grep_in(cpp, "#include \"[.][.]/", "includes are counted from src: \"core/...\", \"<family>/...\""))
rule(grep_in(rooms, "^#include \"[a-z_0-9]+[.]h\"", "includes are counted from src: \"core/...\", \"<family>/...\""))
rule(grep_in(rooms, "std::cout|std::cerr|\\bprintf\\(", "no printing in the core", skip = "^\\s*//"))
rule(grep_in(rooms, "(?<![\\w.\"])new (?!\\()[A-Za-z_:<>]+ *[({\\[]", "no raw new", skip = "^\\s*//|//.*\\bnew\\b|\"[^\"]*\\bnew\\b"))

# Exceptions, each with its reason.
loops_allowed <- c(
  "src/r_core.cpp" = "writes the registered defaults one after the other",
  "src/r_core_shape.cpp" = "walks through R objects and nothing else",
  "src/r_kernel_structured_make.cpp" = "keeps R objects of the user's own outputs alive and hands them back: nothing but R's memory"
)
long_allowed <- c("src/r_door.h" = "the door is read as one page")

# The glue has no loops and no decisions, and exports take at most six arguments.
for (file in grep("[.]cpp$", glue, value = TRUE)) {
  text <- paste(read(file), collapse = "\n")
  exports <- regmatches(text, gregexpr("\\[\\[Rcpp::export[^\n]*\\]\\]\\s*\n[^{]*\\{", text))[[1L]]
  for (export in exports) {
    signature <- sub("^[^\n]*\n", "", export)
    name <- sub("\\(.*", "", signature)
    arguments <- gsub("<[^<>]*>", "", gsub("<[^<>]*>", "", sub("^[^(]*\\(", "", signature)))
    checked <- checked + 1L
    if (lengths(regmatches(arguments, gregexpr(",", arguments))) > 5L) breach(file, ": more than six arguments: ", trimws(name))
  }
  if (file %in% names(loops_allowed)) next
  rule(grep_in(file, "\\b(for|while) *\\(|parallel_for *\\(", "a loop in the glue", skip = "^\\s*//"))
}
rule(grep_in(glue, "#include *<RcppEigen.h>", "RcppEigen.h is heavy: the door has what is needed"))
rule(grep("^src/r_(core|door|glue)", grep(paste0("^src/r_(", paste(families, collapse = "|"), ")_[a-z0-9_]+[.](cpp|h)$"), glue, invert = TRUE, value = TRUE), invert = TRUE,
          value = TRUE))

# R files carry their room in their name, and compute nothing.
named <- grepl(paste0("^R/((", paste(families, collapse = "|"), ")-[a-z0-9_]+(-[a-z]+)?|shared-[a-z0-9-]+|zzz|granary-package)[.]R$"), r_files)
rule(if (any(!named)) paste0(r_files[!named], ": R files are <family>-<stem>[-methods|-plot|-select].R or shared-<what>.R"))
# One name, one function: of two in different files the later silently takes the place of the other.
defined <- unlist(lapply(r_files, function(file) {
  named <- Filter(function(e) is.call(e) && identical(e[[1L]], as.name("<-")) && is.name(e[[2L]]), as.list(parse(file, keep.source = FALSE)))
  vapply(named, function(e) as.character(e[[2L]]), "")
}))
rule(sprintf("%s is defined twice in R/", unique(defined[duplicated(defined)])))
allowed <- read("tools/dev/numerics-in-r.txt")
allowed <- trimws(sub("#.*", "", allowed))
numerics <- grep("(^R/.*sim[-_.])", r_files, invert = TRUE, value = TRUE)
rule(grep_in(setdiff(numerics, allowed), "(?<![\\w.$:])(solve|svd|eigen|chol|qr|optim|rnorm|kmeans)\\s*\\(|stats::(optim|rnorm|kmeans|nlm|uniroot)\\s*\\(",
             "numerics in R: they belong to C++ (exceptions with reasons: tools/dev/numerics-in-r.txt)", skip = "^\\s*#"))
tests <- list.files("tests/testthat", "^test-.*[.]R$")
rule(grep(paste0("^test-(", paste(c(families, "shared"), collapse = "|"), ")-"), tests, invert = TRUE, value = TRUE))

# Length: a file is one idea, a line can be read.
long <- vapply(setdiff(c(cpp, r_files), names(long_allowed)), function(file) length(read(file)), 0L)
rule(if (any(long > 600L)) paste0(names(long)[long > 600L], ": ", long[long > 600L], " lines: two ideas in one file?"))
limit <- function(files, most) {
  unlist(lapply(files, function(file) {
    at <- which(nchar(read(file)) > most)
    if (length(at) > 0L) paste0(file, ":", at, ": longer than ", most, " characters")
  }))
}
# 130 and 120 for what is new. Files listed in tools/dev/wide-files.txt are from before the rule: a line of theirs may be as long as the longest was then, and
# a file leaves the list when it is touched for good. The list never grows.
wide <- read("tools/dev/wide-files.txt")
rule(limit(setdiff(cpp, wide), 130L))
rule(limit(setdiff(r_files, wide), 120L))
rule(limit(intersect(cpp, wide), 190L))
rule(limit(intersect(r_files, wide), 220L))
rule(if (length(gone <- setdiff(wide, c(cpp, r_files))) > 0L) paste0("tools/dev/wide-files.txt names ", gone, ", which is not there"))

# Formatting, where the formatter is installed.
if (nzchar(Sys.which("clang-format")) && identical(Sys.getenv("GRANARY_FORMAT"), "1")) {
  for (file in cpp) {
    checked <- checked + 1L
    if (system2("clang-format", c("--dry-run", "-Werror", file), stdout = FALSE, stderr = FALSE) != 0L) breach(file, ": make format")
  }
}

# Generated files are fresh.
if (requireNamespace("Rcpp", quietly = TRUE)) {
  copy <- tempfile()
  dir.create(file.path(copy, "R"), recursive = TRUE)
  file.copy(c("DESCRIPTION", "NAMESPACE"), copy)
  dir.create(file.path(copy, "src"))
  file.copy(glue, file.path(copy, "src"))
  Rcpp::compileAttributes(copy)
  checked <- checked + 1L
  if (!identical(read(file.path(copy, "R", "RcppExports.R")), read("R/RcppExports.R"))) breach("R/RcppExports.R is not fresh: make docs")
}

checked <- checked + 1L
if (system2(file.path(R.home("bin"), "Rscript"), c("tools/dev/generate.R", "check"), stdout = FALSE) != 0L) breach("README.md, _pkgdown.yml or inst/grammar.dcf is not fresh: make docs")

if (length(breaches) > 0L) cat("STYLE", breaches, sep = "\n  ", fill = FALSE)
cat("\nStyle: ", checked - min(checked, length(breaches)), " rules kept, ", length(breaches), " breaches\n", sep = "")
writeLines(paste(max(0L, checked - length(breaches)), length(breaches), 0), counts_file)
quit(status = as.integer(length(breaches) > 0L))
