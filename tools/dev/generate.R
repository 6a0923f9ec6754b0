# Rscript tools/dev/generate.R [check]: writes what is made from inst/methods/*.dcf and inst/grammar/*.dcf: the table of families in README.md, _pkgdown.yml,
# inst/grammar.dcf. With `check` nothing is written, and the status says whether all of it is fresh. Run by `make docs` and `make style`.
check <- "check" %in% commandArgs(TRUE)
stale <- character()
put <- function(file, lines) {
  old <- if (file.exists(file)) readLines(file, warn = FALSE, encoding = "UTF-8") else character()
  if (identical(old, lines)) return(invisible())
  stale <<- c(stale, file)
  if (!check) writeLines(enc2utf8(lines), file, useBytes = TRUE)
}

families <- c(
  graph = "Gaussian, Ising and causal graphs, Bayesian networks", regress = "regression with many columns, tasks or gaps",
  kernel = "kernels, support vector machines, dependence, online learning", process = "Gaussian processes and kriging",
  cluster = "clustering and maps", latent = "latent variables and mixtures", ensemble = "boosting, forests, honest evaluation",
  perturb = "inference by optimising perturbed models", rank = "rankings and graph matching", concept = "learning of rules, patterns and automata",
  signal = "deconvolution, separation, change points", neural = "networks and energy models", decide = "sequential decisions"
)
files <- list.files("inst/methods", "[.]dcf$", full.names = TRUE)
methods <- do.call(rbind, lapply(files, function(file) {
  record <- read.dcf(file, fields = c("Key", "Title", "Family", "Functions"))[1L, ]
  as.data.frame(as.list(gsub("[[:space:]]+", " ", record)))
}))
methods <- methods[order(match(methods$Family, names(families)), methods$Key), ]
words <- function(text) Filter(nzchar, strsplit(text, "[ ,]+")[[1L]])
exported <- sub("^export\\(\"?([^\")]*)\"?\\)$", "\\1", grep("^export\\(", readLines("NAMESPACE"), value = TRUE))

# README: between the two marks.
rows <- vapply(names(families), function(family) {
  mine <- methods[methods$Family == family, ]
  text <- if (nrow(mine) == 0L) "none yet" else {
    paste(vapply(seq_len(nrow(mine)), function(i) {
      shown <- utils::head(intersect(words(mine$Functions[i]), exported), 3L)
      paste0(mine$Title[i], ": ", paste0("`", shown, "()`", collapse = ", "))
    }, ""), collapse = "<br>")
  }
  paste0("| `", family, "` | ", families[[family]], " | ", text, " |")
}, "")
readme <- readLines("README.md", warn = FALSE, encoding = "UTF-8")
marks <- match(c("<!-- families: made by make docs -->", "<!-- end of families -->"), readme)
if (!anyNA(marks)) {
  put("README.md", c(readme[seq_len(marks[1L])], "", "| family | what it is for | methods |", "| --- | --- | --- |", unname(rows), "", readme[marks[2L]:length(readme)]))
}

# The index of the site: methods by family, then the pages that belong to a family by the name of their R file.
pages <- list.files("man", "[.]Rd$", full.names = TRUE)
topics <- lapply(pages, function(page) {
  lines <- readLines(page, warn = FALSE, encoding = "UTF-8")
  list(name = sub("\\\\name\\{(.*)\\}", "\\1", grep("^\\\\name\\{", lines, value = TRUE)[1L]),
       aliases = sub("\\\\alias\\{(.*)\\}", "\\1", grep("^\\\\alias\\{", lines, value = TRUE)), internal = any(grepl("keyword\\{internal\\}", lines)),
       family = sub("^R/([a-z]+)-.*", "\\1", sub("^% Please edit documentation in ([^,]*).*", "\\1", grep("^% Please edit", lines, value = TRUE)[1L])))
})
topics <- Filter(function(topic) !topic$internal, topics)
placed <- character()
index <- character()
section <- function(title, desc, names) {
  names <- setdiff(names, placed)
  if (length(names) == 0L) return()
  placed <<- c(placed, names)
  quote <- function(x) if (grepl("^[A-Za-z_.]+[A-Za-z0-9_.]*$", x)) x else paste0("\"", x, "\"")
  index <<- c(index, paste0("- title: \"", title, "\""), paste0("  desc: \"", desc, "\""), "  contents:", paste0("  - ", vapply(names, quote, "")))
}
topic_of <- function(functions) {
  unlist(lapply(functions, function(f) {
    hit <- Filter(function(topic) f %in% topic$aliases, topics)
    if (length(hit) > 0L) hit[[1L]]$name
  }))
}
for (i in seq_len(nrow(methods))) {
  section(methods$Title[i], paste0(families[[methods$Family[i]]], " (", methods$Key[i], ")"), unique(topic_of(words(methods$Functions[i]))))
}
names_of <- vapply(topics, `[[`, "", "name")
family_of <- vapply(topics, `[[`, "", "family")
for (family in names(families)) section(paste0("More of ", family), families[[family]], names_of[family_of == family])
section("The package", "finding, checking, reporting", names_of[!family_of %in% names(families)])
put("_pkgdown.yml", c("template:", "  bootstrap: 5", "", "navbar:", "  structure:", "    left: [intro, reference, articles, news]", "", "reference:", index))

# The vocabulary, joined. A word of shared.dcf has that meaning for all; what families mean by a word of their own stands side by side.
parts <- list.files("inst/grammar", "[.]dcf$", full.names = TRUE)
if (length(parts) > 0L) {
  vocabulary <- do.call(rbind, lapply(parts, function(file) {
    words <- as.data.frame(read.dcf(file, fields = c("Name", "Meaning", "Default", "Except")))
    cbind(words, family = sub("[.]dcf$", "", basename(file)))
  }))
  vocabulary <- do.call(rbind, lapply(split(vocabulary, vocabulary$Name), function(words) {
    if ("shared" %in% words$family) words <- words[words$family == "shared", ]
    if (nrow(words) > 1L) words$Meaning[1] <- paste(sprintf("In %s: %s", words$family, words$Meaning), collapse = " ")
    words[1, ]
  }))
  vocabulary <- vocabulary[order(vocabulary$Name, method = "radix"), ]
  lines <- unlist(lapply(seq_len(nrow(vocabulary)), function(i) {
    c(paste0("Name: ", vocabulary$Name[i]), paste0("Meaning: ", gsub("[[:space:]]+", " ", vocabulary$Meaning[i])),
      if (!is.na(vocabulary$Default[i])) paste0("Default: ", vocabulary$Default[i]),
      if (!is.na(vocabulary$Except[i])) paste0("Except: ", gsub("[[:space:]]+", " ", vocabulary$Except[i])), "")
  }))
  put("inst/grammar.dcf", lines[-length(lines)])
}

if (check && length(stale) > 0L) cat("Not fresh, run make docs: ", paste(stale, collapse = ", "), "\n", sep = "")
quit(status = as.integer(check && length(stale) > 0L))
