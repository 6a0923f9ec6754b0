# Rscript tools/dev/namespace.R: writes NAMESPACE from the comments of the sources alone, without the package being installed: after a function has got a new
# name the installed one cannot be loaded. The first step of `make docs`.
load_sources <- function(path) {
  envir <- roxygen2::load_source(path)
  if ("package:Matrix" %in% search()) detach("package:Matrix")  # its S4 generics hide print(), summary() and others, whose methods would be exported by name
  for (file in list.files("data", "[.]rda$", full.names = TRUE)) load(file, envir = envir)
  envir
}
roxygen2::roxygenise(".", roclets = "namespace", load_code = load_sources)
