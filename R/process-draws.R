# Draws of the processes as the packages posterior and coda have them.

#' @rdname gp_parameter_sample
#' @usage \method{as_draws}{granary_gp_parameter_sample}(x, ...)
#' @exportS3Method posterior::as_draws
as_draws.granary_gp_parameter_sample <- function(x, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  draws_array(x$draws, x$chains)
}

#' @rdname gp_parameter_sample
#' @usage \method{as.mcmc}{granary_gp_parameter_sample}(x, ...)
#' @exportS3Method coda::as.mcmc
as.mcmc.granary_gp_parameter_sample <- function(x, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  mcmc_list(x$draws, x$chains)
}

#' @rdname gp_classify_sample
#' @usage \method{as_draws}{granary_gp_sample}(x, ...)
#' @exportS3Method posterior::as_draws
as_draws.granary_gp_sample <- function(x, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  draws_array(x$f, x$chains)
}

#' @rdname gp_classify_sample
#' @usage \method{as.mcmc}{granary_gp_sample}(x, ...)
#' @exportS3Method coda::as.mcmc
as.mcmc.granary_gp_sample <- function(x, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  mcmc_list(x$f, x$chains)
}
