#' Simulate a graph with hubs and data from it
#'
#' The three set-ups of the hub paper (Section 3.5.2). Seed with [set.seed()].
#'
#' @details `"hub"`: any two nodes are joined with chance `sparsity`, and a hub with any other node with chance `hub_density`. `"two_blocks"`:
#' two such
#' graphs side by side. `"scale_free"`: degrees follow \eqn{P(k) \propto k^{-2.5}}{P(k) ~ k^-2.5}; nodes joined to more than 5 percent of
#' the others count as hubs. An edge gets the mean of two draws from \eqn{\pm[0.25, 0.75]}{[-0.75, -0.25] and [0.25, 0.75]}; a precision or
#' covariance matrix
#' gets the diagonal that makes its smallest eigenvalue 0.1, an Ising model intercepts of zero.
#'
#' @section Which method when:
#' `sim_hub()` for the set-ups of [ggm_hub()], [cov_hub()] and [ising_hub()]; [sim_ggm()] for other patterns.
#'
#' @param p,hubs,n Number of variables, of hubs, of observations (`NULL` for none).
#' @param sparsity,hub_density Chance of an edge between ordinary nodes, and of an edge at a hub.
#' @param type The model the matrix belongs to: a precision matrix, a covariance matrix or an Ising model.
#' @param setup The graph; see Details.
#' @param standardize Whether the columns of Gaussian data are scaled to standard deviation one, as in the paper.
#' @param burn_in,thin Gibbs sampler of the Ising model: scans before the first row, and from row to row (the paper takes 1e5 and 1e4).
#' @param exact Draw from the Ising model by enumerating its states (p at most 15).
#' @param ... Nothing: an argument that is not known is an error.
#' @return A list of class `granary_sim_hub`: `theta` (sparse), also as `precision` for Gaussian graphs, `hubs` (positions), `data`, `type`.
#' @seealso [ggm_hub()], [cov_hub()], [ising_hub()], [ggm_hub_select()], [hub_screen()]
#' @export
#' @examples
#' set.seed(1)
#' sim_hub(p = 50, hubs = 3, n = 100)
#' head(sim_hub(p = 6, hubs = 1, n = 10, type = "binary", exact = TRUE)$data)
sim_hub <- function(p = 100, hubs = 5, n = NULL, sparsity = 0.02, hub_density = 0.7, type = c("gaussian", "covariance", "binary"),
                          setup = c("hub", "two_blocks", "scale_free"), standardize = TRUE, burn_in = 1000, thin = 100, exact = FALSE, ...) {
  refuse_dots(...)
  p <- check_count(p, upper = 20000)
  hubs <- check_count(hubs, lower = 0, upper = p)
  n <- check_count(n, allow_null = TRUE)
  sparsity <- check_number(sparsity, lower = 0, upper = 1)
  hub_density <- check_number(hub_density, lower = 0, upper = 1)
  type <- check_choice(type, c("gaussian", "covariance", "binary"))
  setup <- check_choice(setup, c("hub", "two_blocks", "scale_free"))
  standardize <- check_flag(standardize)
  burn_in <- check_count(burn_in, lower = 0)
  thin <- check_count(thin)
  exact <- check_flag(exact)
  if (exact && type == "binary" && p > 15) abort_input(sprintf("`exact` enumerates 2^p states and is for p up to 15, not %d.", p), "exact")
  graph <- core_sim_hub(list(setup = setup, p = p, hubs = hubs, sparsity = sparsity, hub_density = hub_density, definite = type != "binary"),
                        core_seed())
  theta <- graph$weights
  dimnames(theta) <- rep(list(variable_names(NULL, p)), 2L)
  data <- NULL
  if (!is.null(n)) {
    data <- if (type == "gaussian") {
      core_ggm_sample(theta, n, core_seed())
    } else if (type == "covariance") {
      core_covariance_sample(as.matrix(theta), n, core_seed())
    } else {
      core_ising_sample(as.matrix(theta), list(n = n, burn_in = burn_in, thin = thin, exact = exact), core_seed(), progress_bar("Gibbs sampler"))
    }
    if (type != "binary" && standardize && n > 1L) data <- sweep(data, 2L, apply(data, 2L, stats::sd), "/")
    colnames(data) <- colnames(theta)
  }
  seal(structure(list(theta = theta, precision = if (type == "gaussian") theta, hubs = graph$hubs, data = data, type = type, setup = setup),
            class = c("granary_sim_hub", if (type == "gaussian") "granary_sim_ggm")))
}

#' @export
print.granary_sim_hub <- function(x, ...) {
  cli::cat_line("Simulated graph with hubs (", x$type, ", ", x$setup, "): ", ncol(x$theta), " variables, ", count_edges(x$theta), " edges, ",
                length(x$hubs), " hubs", if (!is.null(x$data)) paste0(", n = ", nrow(x$data)))
  invisible(x)
}
