# Prints --as-cran where CRAN's table of packages can be read: some of those checks ask it, and stop without an answer (a mirror of the packages alone has none).
reached <- tryCatch(suppressWarnings({
  close(url(paste0(Sys.getenv("R_CRAN_WEB", "https://cloud.r-project.org"), "/web/packages/packages.rds"), open = "rb"))
  TRUE
}), error = function(e) FALSE)
if (reached) cat("--as-cran") else message("CRAN cannot be reached: the check runs without --as-cran.")
