# Rscript install-from-cran.R "<packages that must be there>" "<packages to install>"
arguments <- commandArgs(TRUE)
words <- function(x) strsplit(trimws(x), "[[:space:]]+")[[1L]]
needed <- words(arguments[1L])
wanted <- words(arguments[2L])

library <- .libPaths()[1L]
if (file.access(library, 2L) != 0L) {
  library <- Sys.getenv("R_LIBS_USER")
  dir.create(library, recursive = TRUE, showWarnings = FALSE)
}
repos <- getOption("repos")
if (length(repos) == 0L || identical(unname(repos[1L]), "@CRAN@")) {
  repos <- c(CRAN = utils::getCRANmirrors(local.only = TRUE)$URL[1L])  # the first of R's own list is the worldwide one
}
cores <- max(1L, parallel::detectCores(), na.rm = TRUE)

# fs, which testthat and rmarkdown stand on, looks for the system's libuv and gives up without it; asked to, it builds its own with cmake.
if (!nzchar(Sys.getenv("USE_BUNDLED_LIBUV"))) Sys.setenv(USE_BUNDLED_LIBUV = "1")

# One by one, so that one package that does not build does not take the others with it.
.libPaths(c(library, .libPaths()))
for (package in wanted) {
  if (length(find.package(package, quiet = TRUE)) == 0L) {
    install.packages(package, lib = library, repos = repos, Ncpus = cores, quiet = TRUE)
  }
}
lost <- wanted[!vapply(wanted, function(p) length(find.package(p, quiet = TRUE)) > 0L, NA)]
lacking <- intersect(lost, needed)
if (length(lacking) > 0L) stop("These packages are needed and could not be installed: ", paste(lacking, collapse = ", "))
if (length(lost) > 0L) message("Not installed, and not indispensable: ", paste(lost, collapse = ", "))
