# Builds vignettes into the installed package, so that vignette("granary") finds them after `make demo`:
#   Rscript tools/dev/vignettes.R library name ...
# An installation from a tarball has them all; `R CMD INSTALL` of a folder has none.
arguments <- commandArgs(TRUE)
home <- file.path(arguments[1L], "granary")
.libPaths(c(arguments[1L], .libPaths()))
if (!requireNamespace("rmarkdown", quietly = TRUE) || !rmarkdown::pandoc_available()) {
  cat("rmarkdown or pandoc is not there: the vignettes are left unbuilt.\n")
  quit(save = "no")
}
index_file <- file.path(home, "Meta", "vignette.rds")
index <- if (file.exists(index_file)) readRDS(index_file)
doc <- file.path(home, "doc")
dir.create(doc, showWarnings = FALSE)
for (name in arguments[-1L]) {
  source <- file.path("vignettes", paste0(name, ".Rmd"))
  built <- file.path(doc, paste0(name, ".html"))
  if (file.exists(built) && file.mtime(built) > max(file.mtime(source), file.mtime(file.path(home, "Meta", "package.rds")))) next
  work <- tempfile()
  dir.create(work)
  file.copy(source, work)
  file <- rmarkdown::render(file.path(work, basename(source)), quiet = TRUE, envir = new.env(parent = globalenv()))
  file.copy(c(file, source), doc, overwrite = TRUE)
  title <- sub(".*VignetteIndexEntry\\{(.*)\\}.*", "\\1", grep("VignetteIndexEntry", readLines(source), value = TRUE)[1L])
  row <- data.frame(File = basename(source), Title = title, PDF = basename(built), R = "", Depends = I(list(character())), Keywords = I(list(character())),
                    stringsAsFactors = FALSE)
  index <- rbind(index[index$File != row$File, ], row)
}
saveRDS(index, index_file)
