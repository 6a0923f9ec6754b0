#' Simulate a Gaussian graph and data from it
#'
#' Draws a precision matrix of a chosen pattern and, if asked, observations from it. Seed with [set.seed()].
#'
#' @details
#' | type | pattern |
#' | --- | --- |
#' | `chain` | \eqn{X_{ii} = 1.25}{X[i, i] = 1.25}, \eqn{X_{i,i+1} = -0.5}{X[i, i + 1] = -0.5} |
#' | `band` | \eqn{X_{i,i+d} = -0.5/d}{X[i, i + d] = -0.5 / d} for \eqn{d = 1, \dots,}{d = 1, ...,} `width` |
#' | `random` | \eqn{U'U + c I}, \eqn{U} with three entries \eqn{\pm 1}{1 or -1} per column at random rows: about 10 p nonzeros |
#' | `block` | one `random` graph of `block` nodes repeated along the diagonal |
#' | `hub` | `groups` stars |
#' | `cluster` | `groups` Erdos-Renyi graphs of the given `density` |
#' | `scale_free` | preferential attachment, one edge per new node |
#' | `grid` | a lattice with `rows` nodes in each column |
#' | `confounders` | a share `connected` of the nodes, with edges of value \eqn{\pm 1}{1 or -1} at the given `density`; the others isolated |
#' | `regions` | neighbouring variables of a chain linked alike: the locally constant model of [ggm_local()] |
#'
#' `chain`, `random` and `block` are the set-ups of the QUIC paper (with `n = p / 2`). The other types draw edge values uniformly from
#' \eqn{\pm[0.25, 0.6]}{[-0.6, -0.25] and [0.25, 0.6]} (`band` and `confounders` excepted) and set the diagonal so that the smallest eigenvalue
#' is `shift`. In
#' `confounders`, the set-up of [ggm_nodes()], `ratio` is the mean standard deviation of the connected nodes over that of the isolated ones:
#' 1 for confounders of high variance, 10 for low. `regions` has nine places on a chain: 1 and 2 are linked to 6 and 7 with precision 0.35, 4 and
#' 5 to 8 and 9 with -0.35, 1 to 4 with 0.25, and place 3 to none; unit diagonal, smallest eigenvalue 0.2216. With `p = 9`, the default, a
#' place is
#' one variable; otherwise it is `p / 9` neighbouring ones, which share the weight.
#'
#' @param type The pattern.
#' @param p Number of variables: 100 by default, 9 for `regions`.
#' @param n Number of observations to draw; `NULL` for none.
#' @param groups,density,block,width,rows,connected,ratio Shape of the pattern; see Details.
#' @param shift The constant added to the diagonal (`random`, `block`), or the smallest eigenvalue. By default 0.4, and 0.1 for `confounders`.
#' @param unit_variance Whether to rescale to unit variances; the pattern does not change.
#' @return A list of class `granary_sim_ggm`: `precision` (sparse), `data` (an `n` by `p` matrix, or `NULL`), `type`.
#' @references Li and Toh (2010). An inexact interior point method for L1-regularized sparse covariance selection.
#'   *Mathematical Programming Computation* 2, 291--315 (the `chain` and `random` examples).
#'
#'   Barabasi and Albert (1999). Emergence of scaling in random networks. *Science* 286, 509--512 (`scale_free`).
#'
#'   Honorio (2012). *Tractable learning of graphical model structures from data.* PhD thesis, Stony Brook University, section 3.5
#'   (`confounders`) and
#'   figure 2.1 (`regions`; it gives no weights, these are ours).
#' @family Gaussian graphs
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_ggm("hub", p = 40, n = 200, groups = 4)
#' sim
#' fit <- ggm_lasso(sim$data)
#' assess(ggm_select(fit), sim)
sim_ggm <- function(type = c("chain", "band", "random", "block", "hub", "cluster", "scale_free", "grid", "confounders", "regions"),
                    p = if (type == "regions") 9 else 100, n = NULL,
                    groups = 5, density = 0.3, block = 150, width = 2, rows = 10, shift = if (type == "confounders") 0.1 else 0.4,
                    unit_variance = FALSE, connected = 0.2, ratio = 1) {
  type <- check_choice(type, c("chain", "band", "random", "block", "hub", "cluster", "scale_free", "grid", "confounders", "regions"))
  p <- check_count(p, upper = 46340)
  n <- check_count(n, allow_null = TRUE)
  groups <- check_count(groups, upper = if (type %in% c("hub", "cluster")) p else .Machine$integer.max)
  density <- check_number(density, lower = 0, upper = 1)
  block <- check_count(block)
  width <- check_count(width)
  rows <- check_count(rows)
  shift <- check_number(shift, lower = 0, strict_lower = TRUE)
  unit_variance <- check_flag(unit_variance)
  connected <- check_number(connected, lower = 0, upper = 1)
  ratio <- check_number(ratio, lower = 0, strict_lower = TRUE)
  if (type == "block" && p %% block != 0) {
    abort_input(sprintf("`p` must be a multiple of `block`, but %d is not one of %d.", p, block), "p")
  }
  if (type == "regions" && p %% 9 != 0) abort_input(sprintf("`p` must be a multiple of 9 for regions, but it is %d.", p), "p")
  precision <- core_sim_ggm(list(type = type, p = p, groups = groups, block = block, width = width, rows = rows, density = density, shift = shift,
                                 unit_variance = unit_variance, connected = connected, ratio = ratio), core_seed())
  dimnames(precision) <- rep(list(variable_names(NULL, p)), 2L)
  data <- NULL
  if (!is.null(n)) {
    data <- core_ggm_sample(precision, n, core_seed())
    colnames(data) <- colnames(precision)
  }
  structure(list(precision = precision, data = data, type = type), class = "granary_sim_ggm")
}

#' @export
print.granary_sim_ggm <- function(x, ...) {
  cli::cat_line("Simulated Gaussian graph (", x$type, "): ", ncol(x$precision), " variables, ", count_edges(x$precision), " edges",
                if (!is.null(x$data)) paste0(", n = ", nrow(x$data)))
  invisible(x)
}
