utils::globalVariables(".data")  # ggplot2's pronoun

.onLoad <- function(libname, pkgname) {
  core_offer_blas()
  core_use_engine(getOption("granary.blas", "auto"))
}
