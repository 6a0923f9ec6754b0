# Tan, London, Mohan, Lee, Fazel, Witten (JMLR 15, 2014): Sections 3 to 5. The paper prints curves, so what is compared is who wins.

set.seed(1)
curves <- "the paper shows a curve; compared is the order of the methods at the same number of edges"

# A graphical lasso with about as many edges as `edges`.
lasso_like <- function(data, edges) {
  path <- ggm_lasso(data, nlambda = 40, penalize_diagonal = FALSE, threads = 1)
  ggm_at(path, which.min(abs(path$df - edges)))
}

compare <- function(name, p, hubs, n, r, penalties, setup = "hub") {
  sim <- sim_hub_graph(p = p, hubs = hubs, n = n, setup = setup)
  fit <- ggm_hub(sim$data, lambda1 = penalties[1L], lambda2 = penalties[2L], lambda3 = penalties[3L], tol = 1e-5, threads = 1)
  ours <- hub_score(sim, fit, r = r)
  theirs <- hub_score(sim, lasso_like(sim$data, ours$edges), r = r)
  note <- function(what) {
    sprintf("%s: %.3g against %.3g of the graphical lasso, %d and %d edges; %s", what, ours[[what]], theirs[[what]], ours$edges, theirs$edges, curves)
  }
  claim(paste0(name, ": more correct edges than the graphical lasso"), TRUE, ours$correct > theirs$correct, 0, note("correct"))
  claim(paste0(name, ": a larger share of hub edges"), TRUE, ours$hub_edges > theirs$hub_edges, 0, note("hub_edges"))
  claim(paste0(name, ": at least as many hubs"), TRUE, ours$hubs >= theirs$hubs, 0, note("hubs"))
  claim(paste0(name, ": duality gap per variable"), 0, fit$gap / p, 1e-5)
}

# Figures 3 and 4, at a size that takes seconds, and at the paper's n = 250, p = 500.
compare("Set-up I, n = 100, p = 150, 5 hubs", 150, 5, 100, 30, c(0.4, 0.2, 1))
compare("Set-up II, n = 100, p = 160, 6 hubs", 160, 6, 100, 15, c(0.4, 0.2, 1), "two_blocks")
if (extended) compare("Set-up I, n = 250, p = 500, 10 hubs (Figure 4)", 500, 10, 250, 100, c(0.4, 0.2, 1))

# Figure 7: hub binary network against an l1 penalty, n = 100, p = 50, 5 hubs, lambda1 = 5, r = 20.
binary <- sim_hub_graph(p = 50, hubs = 5, n = 100, type = "binary")
keep <- !apply(binary$data, 2L, function(v) length(unique(v)) == 1L)
hub <- ising_hub(binary$data[, keep], 5, 4, 15)
plain <- lapply(c(3.6, 3.4, 3.2, 3, 2.8), function(l) suppressWarnings(ising_hub(binary$data[, keep], l, 1e3, 1e3)))
near <- plain[[which.min(abs(vapply(plain, `[[`, 0, "df") - hub$df))]]
truth <- as.matrix(binary$theta)[keep, keep]
hubs <- which(which(keep) %in% binary$hubs)
ours <- hub_score(truth, hub, hubs, r = 20)
theirs <- hub_score(truth, near, hubs, r = 20)
alike <- abs(ours$edges - theirs$edges) <= 0.15 * ours$edges  # else the two are no comparison
claim("Figure 7, binary network: a larger share of hub edges than with an l1 penalty", TRUE, if (alike) ours$hub_edges > theirs$hub_edges else NA, 0,
      sprintf("%.3g with %d edges against %.3g with %d; %s", ours$hub_edges, ours$edges, theirs$hub_edges, theirs$edges, curves))

# Section 3.1: p = 30 in a second, where an interior point method takes three minutes.
small <- sim_hub_graph(p = 30, hubs = 2, n = 60)
seconds <- system.time(ggm_hub(small$data, lambda1 = 0.4, lambda2 = 0.2, lambda3 = 0.8, threads = 1))[["elapsed"]]
claim("p = 30: seconds", 1, seconds, 1, "the paper: 1 s on a 1.86 GHz Core 2 Duo; tolerance: it does not take longer than twice that")

# Section 6: data that are not part of the package.
claim("Webpages: number of hubs", 6, NA, NA, "the webpage data of Cardoso-Cachopo (2009) are not part of this package")
claim("Glioblastoma genes: number of hubs", 5, NA, NA, "the expression data of Verhaak et al. (2010) are not part of this package")
