utils::globalVariables(".data")  # ggplot2's pronoun

guard_methods(environment())  # while the package is installed, when all methods are there

.onLoad <- function(libname, pkgname) {
  core_offer_blas()
  core_use_engine(getOption("granary.blas", "auto"))
  when_loaded("parsnip", register_parsnip)
  when_loaded("mlr3", register_mlr3)
}

utils::globalVariables(c("self", "private", "super"))  # R6's
