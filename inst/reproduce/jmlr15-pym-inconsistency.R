# Miller and Harrison (2014): Figures 1b and 3b, the bound of Lemma 13, and exact posteriors. The impala data of Figure 1a and the parameters of Figure 2 are not at hand.
seven <- c(-2.1, -1.9, -2.4, 0.3, 1.8, 2.2, 2.0)
unit <- list(m0 = 0, t2 = 1, s2 = 1)
reference <- list(
  dp = list(prior_dp(1), c(.001792, .270640, .417001, .237821, .064093, .008244, .000408)),
  py = list(prior_py(0.25, 0.5), c(.002320, .204671, .338438, .276331, .134809, .038363, .005069)),
  mfm = list(prior_mfm(), c(.000343, .043266, .101582, .194539, .291580, .266698, .101992))
)
for (name in names(reference)) {
  exact <- partition_exact(seven, "normal_known", reference[[name]][[1L]], unit)
  claim(sprintf("seven rows, %s: largest difference of p(T = t) from the enumeration of the prototype", name), 0, max(abs(exact$count$probability - reference[[name]][[2L]])), 1e-6, source = "reference")
}
claim("seven rows, DP(1): log evidence", -16.0681316, partition_exact(seven, "normal_known", prior_dp(1), unit)$log_evidence, 1e-7, source = "reference")
claim("coin tosses, DP(1): the bound on p(T = 1) for any data", 0.8, dp_mixture_bounds("count", rep(0:1, 20), "binomial", prior_dp(1), t = 1)$bound, 1e-12)
claim("six equal coins, DP(1): p(T = 1)", .339284, partition_exact(rep(1, 6), "binomial", prior_dp(1), list(size = 1))$count$probability[1L], 1e-6, source = "reference")

# Figures 1b and 3b: three normals, the prior of Richardson and Green, averaged over data sets. The paper shows curves up to n in the thousands; numbers are read off them roughly.
set.seed(1)
sets <- if (extended) 10L else 3L
sizes <- if (extended) c(50, 500, 2000) else c(50, 500)
draws <- if (extended) 4000 else 1000
share <- array(0, c(length(sizes), 2L, 10L))
for (s in seq_len(sets)) {
  x <- sim_dp_mixture(max(sizes), type = "three_normals")$x
  for (i in seq_along(sizes)) {
    dp <- suppressWarnings(dp_mixture(x[seq_len(sizes[i])], "richardson_green", prior_dp(1), n_draws = draws, burn_in = draws))
    mfm <- suppressWarnings(dp_mixture(x[seq_len(sizes[i])], "richardson_green", prior_mfm(), n_draws = draws, burn_in = draws))
    share[i, 1L, ] <- share[i, 1L, ] + c(dp$count$probability, rep(0, 10))[1:10] / sets
    share[i, 2L, ] <- share[i, 2L, ] + c(mfm$components$probability, rep(0, 10))[1:10] / sets
  }
}
last <- length(sizes)
claim(sprintf("Figure 1b: under the DP at least a third of the posterior lies above 3 clusters at n = %d", sizes[last]), 1, sum(share[last, 1L, 4:10]) > 1 / 3, 0,
      sprintf("p(T > 3) is %s at n = %s", paste(sprintf("%.2f", rowSums(share[, 1L, 4:10, drop = FALSE])), collapse = ", "), paste(sizes, collapse = ", ")))
claim(sprintf("Figure 3b: the posterior of k is largest at 3 at n = %d", sizes[last]), 3, which.max(share[last, 2L, ]), 0,
      sprintf("p(k = 3) is %s", paste(sprintf("%.2f", share[, 2L, 3L]), collapse = ", ")))
claim("Figure 3b: p(k = 3) grows with n", 1, share[last, 2L, 3L] > share[1L, 2L, 3L], 0)
claim("Figure 1a, impala data, and Figure 2", NA, NA, NA, "the data and the parameters are not printed")
