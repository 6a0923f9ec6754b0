# Chains: how well they have mixed, and their draws as the packages posterior and coda have them.

# R-hat of the worst series (columns) from the halves of the chains, so that one chain has one too; `n` draws of each chain, one chain below another.
split_rhat <- function(series, n, chains) {
  half <- n %/% 2L
  if (half < 2L) return(NA_real_)
  series <- as.matrix(series)
  values <- apply(series, 2L, function(one) {
    by_chain <- matrix(one, n, chains)
    halves <- cbind(by_chain[seq_len(half), , drop = FALSE], by_chain[n - half + seq_len(half), , drop = FALSE])
    within <- mean(apply(halves, 2L, stats::var))
    if (identical(within, 0) && stats::var(colMeans(halves)) > 0) return(Inf)  # chains that stand still, in different places
    if (!is.finite(within) || within <= 0) return(NA_real_)
    sqrt((half - 1) / half + stats::var(colMeans(halves)) / within)
  })
  if (all(is.na(values))) NA_real_ else max(values, na.rm = TRUE)
}

# A sample cannot be certain of itself: it has converged as far as R-hat and the effective size can see.
chain_convergence <- function(rhat, effective_size, n, thin, burn_in) {
  effective_size <- sum(effective_size)
  mixed <- !is.na(rhat) && rhat < 1.1
  enough <- is.finite(effective_size) && effective_size >= 10
  said <- function(x) format(x, digits = 3L)
  message <- if (is.na(rhat)) {
    "too few draws to judge the chains"
  } else if (!mixed) {
    sprintf("the chains have not mixed: R-hat %s", said(rhat))
  } else if (!enough) {
    sprintf("the draws are worth only %s independent ones", said(effective_size))
  } else {
    ""
  }
  list(converged = mixed && enough, iterations = as.integer(min(.Machine$integer.max, as.double(n) * thin + burn_in)), reason = "approximate",
       message = message)
}

check_chains <- function(fit) check_convergence(fit, "Raise `n_draws`, `burn_in` or `thin`, or try another sampler.")

# draws x chains x variables
chain_array <- function(draws, chains, prefix) {
  n <- nrow(draws) %/% chains
  labels <- colnames(draws)
  if (is.null(labels)) labels <- paste0(prefix, "[", seq_len(ncol(draws)), "]")
  array(draws, c(n, chains, ncol(draws)), list(iteration = NULL, chain = NULL, variable = labels))
}

draws_array <- function(draws, chains, prefix = "f") {
  check_installed("posterior", "as_draws()")
  posterior::as_draws_array(chain_array(draws, chains, prefix))
}

mcmc_list <- function(draws, chains, prefix = "f") {
  check_installed("coda", "as.mcmc()")
  whole <- chain_array(draws, chains, prefix)
  parts <- lapply(seq_len(chains), function(chain) {
    coda::mcmc(matrix(whole[, chain, ], dim(whole)[1L], dim(whole)[3L], dimnames = list(NULL, dimnames(whole)$variable)))
  })
  if (chains == 1L) parts[[1L]] else coda::mcmc.list(parts)
}
