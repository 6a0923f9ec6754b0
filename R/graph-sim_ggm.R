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
#' | `tasks` | `tasks` graphs of one random topology of the given `density`, each with weights of its own, uniform on \eqn{[-1, 1]} |
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
#' `tasks` is the generator of the experiments with [ggm_multi()]; the diagonal makes the smallest eigenvalue 0.1. With `similarity` below one, every
#' task keeps each pair of the common topology (edge or not) with that probability and draws it anew otherwise (the thesis does not spell this out);
#' at 0 the topologies are independent.
#'
#' @section Which method when:
#' `sim_ggm()` for Gaussian graphs of a pattern; [sim_hub()] for the hub models of the paper; `simulate()` of a fit for data like those at hand.
#'
#' @param type The pattern.
#' @param p Number of variables: 100 by default, 50 for `tasks`, 9 for `regions`.
#' @param n Number of observations to draw; `NULL` for none. For `tasks` one number or one per task.
#' @param tasks,similarity Number of tasks, and how alike their topologies are, between 0 and 1.
#' @param groups,density,block,width,rows,connected,ratio Shape of the pattern; see Details.
#' @param shift The constant added to the diagonal (`random`, `block`), or the smallest eigenvalue. By default 0.4, and 0.1 for `confounders`.
#' @param unit_variance Whether to rescale to unit variances; the pattern does not change.
#' @param ... Nothing: an argument that is not known is an error.
#' @return A list of class `granary_sim_ggm`: `precision` (sparse), `data` (an `n` by `p` matrix, or `NULL`), `type`. For `tasks`
#'   of class `granary_sim_ggm_multi`: `precision` and `data` are lists over tasks.
#' @references Li and Toh (2010). An inexact interior point method for L1-regularized sparse covariance selection.
#'   *Mathematical Programming Computation* 2, 291--315 (the `chain` and `random` examples).
#'
#'   Barabasi and Albert (1999). Emergence of scaling in random networks. *Science* 286, 509--512 (`scale_free`).
#'
#'   Honorio (2012). *Tractable learning of graphical model structures from data.* PhD thesis, Stony Brook University, section 3.5
#'   (`confounders`) and
#'   figure 2.1 (`regions`; it gives no weights, these are ours), section 4.9 (`tasks`).
#' @seealso [ggm_lasso()], [ggm_select()], [ggm_at()], [ggm_bounds()], [ggm_hub()], [ggm_multi()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_ggm("hub", p = 40, n = 200, groups = 4)
#' sim
#' fit <- ggm_lasso(sim$data)
#' assess(ggm_select(fit), sim)
#' sim_ggm("tasks", p = 20, n = c(30, 40, 50), tasks = 3)
sim_ggm <- function(type = c("chain", "band", "random", "block", "hub", "cluster", "scale_free", "grid", "confounders", "regions", "tasks"),
                    p = if (type == "regions") 9 else if (type == "tasks") 50 else 100, n = NULL,
                    groups = 5, density = if (type == "tasks") 0.1 else 0.3, block = 150, width = 2, rows = 10, shift = if (type == "confounders") 0.1 else 0.4,
                    unit_variance = FALSE, connected = 0.2, ratio = 1, tasks = 5, similarity = 1, ...) {
  refuse_dots(...)
  type <- check_choice(type, c("chain", "band", "random", "block", "hub", "cluster", "scale_free", "grid", "confounders", "regions",
                               "tasks"))
  if (type == "tasks") return(sim_ggm_multi(tasks, p, n, density, similarity))
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
  seal(structure(list(precision = precision, data = data, type = type), class = "granary_sim_ggm"))
}

#' @export
print.granary_sim_ggm <- function(x, ...) {
  cli::cat_line("Simulated Gaussian graph (", x$type, "): ", counted(ncol(x$precision), "variable", "variables"), ", ",
                counted(count_edges(x$precision), "edge", "edges"),
                if (!is.null(x$data)) paste0(", n = ", nrow(x$data)))
  invisible(x)
}

# Several tasks.
sim_ggm_multi <- function(tasks = 5, p = 50, n = 50, density = 0.1, similarity = 1) {
  tasks <- check_count(tasks)
  p <- check_count(p, lower = 1, upper = 10000)
  density <- check_number(density, lower = 0, upper = 1)
  similarity <- check_number(similarity, lower = 0, upper = 1)
  if (!is.null(n)) {
    n <- check_vector(n, "n", lower = 1)
    if (!length(n) %in% c(1L, tasks)) {
      abort_input(sprintf("`n` must have one entry per task (%d) or one for all, but it has %d.", tasks, length(n)), "n")
    }
    if (any(n != round(n)) || any(n > 1e8)) abort_input("`n` must be whole numbers of observations.", "n")
    n <- rep_len(n, tasks)
  }
  pairs <- p * (p - 1) / 2
  common <- stats::runif(pairs) < density
  names <- variable_names(NULL, p)
  labels <- paste0("task", seq_len(tasks))
  precision <- lapply(seq_len(tasks), function(k) {
    edges <- ifelse(stats::runif(pairs) < similarity, common, stats::runif(pairs) < density)
    m <- matrix(0, p, p, dimnames = list(names, names))
    m[upper.tri(m)] <- edges * stats::runif(pairs, -1, 1)
    m <- m + t(m)
    diag(m) <- 0.1 - core_eigenvalue_range(m)$smallest
    as_sparse(m)
  })
  names(precision) <- labels
  data <- NULL
  if (!is.null(n)) {
    data <- Map(function(m, size) {
      x <- core_ggm_sample(m, size, core_seed())
      colnames(x) <- names
      x
    }, precision, n)
  }
  seal(structure(list(precision = precision, data = data), class = "granary_sim_ggm_multi"))
}

#' @export
print.granary_sim_ggm_multi <- function(x, ...) {
  edges <- vapply(x$precision, count_edges, 0)
  cli::cat_line("Simulated multi-task Gaussian graphs: ", length(edges), " tasks, ", ncol(x$precision[[1L]]), " variables, ",
                paste(unique(range(edges)), collapse = " to "), " edges",
                if (!is.null(x$data)) paste0(", n = ", paste(unique(range(vapply(x$data, nrow, 0L))), collapse = " to ")))
  invisible(x)
}
