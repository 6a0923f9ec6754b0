#' Data from mixtures with an unknown number of clusters
#'
#' Draws a partition from a law and rows from a family, or the three normals of Miller and Harrison.
#'
#' @details
#' `type = "mixture"`: the partition follows `prior`, and within each cluster rows are drawn one after the other from their predictive law, which is the same as drawing
#' the parameters of the cluster from their prior. `type = "three_normals"`: the mixture \eqn{0.45 N(4, 1) + 0.3 N(6, 0.2^2) + 0.25 N(8, 0.6^2)} of Figures 1b
#' and 3b of the paper.
#'
#' @section Which method when: To check a prior by looking at the data it expects, and to try [dp_mixture()] where the truth is known.
#'
#' @inheritParams dp_mixture
#' @param n Number of rows.
#' @param type `"mixture"` or `"three_normals"`.
#' @param p Number of columns, for `"mvnormal"`; for `"categorical"` columns with three levels each.
#' @return A list with `x` (a vector, matrix or data frame) and `cluster`.
#' @references Miller and Harrison (2014). Inconsistency of Pitman-Yor process mixtures for the number of components. *Journal of Machine Learning Research* 15,
#'   3333--3370.
#' @seealso [dp_mixture()], [partition_prior()].
#' @export
#' @examples
#' set.seed(1)
#' str(sim_dp_mixture(100, "poisson", prior_dp(2), hyper = list(a = 2, b = 0.2)))
#' hist(sim_dp_mixture(500, type = "three_normals")$x, breaks = 40, main = "")
sim_dp_mixture <- function(n, family = "normal", prior = prior_dp(), hyper = NULL, type = c("mixture", "three_normals"), p = 2) {
  n <- check_count(n)
  type <- check_choice(type, c("mixture", "three_normals"))
  if (type == "three_normals") {
    cluster <- sample.int(3L, n, TRUE, c(0.45, 0.3, 0.25))
    return(list(x = stats::rnorm(n, c(4, 6, 8)[cluster], c(1, 0.2, 0.6)[cluster]), cluster = cluster))
  }
  family <- check_choice(family, setdiff(mixture_families, "richardson_green"))
  prior <- check_law(prior, drawn = TRUE)
  p <- check_count(p)
  columns <- if (family %in% c("mvnormal", "categorical")) p else 1L
  standard <- list(normal = list(m0 = 0, k0 = 0.05, a0 = 2, b0 = 1), lognormal = list(m0 = 0, k0 = 0.05, a0 = 2, b0 = 1), normal_known = list(m0 = 0, t2 = 10, s2 = 1),
                   mvnormal = list(m0 = rep(0, columns), k0 = 0.05, nu0 = columns + 2, psi0 = diag(columns)), binomial = list(size = 20), poisson = list(a = 2, b = 0.2),
                   exponential = list(a = 2, b = 2), weibull = list(a = 2, b = 2, power = 2), negative_binomial = list(successes = 3))[[family]]
  wanted <- hyper
  if (!is.null(hyper) && (!is.list(hyper) || is.object(hyper) || is.null(names(hyper)))) fail_input("hyper", "a named list", describe(hyper))
  for (name in setdiff(names(standard), names(hyper))) wanted[[name]] <- standard[[name]]
  filler <- if (family %in% c("lognormal", "weibull", "exponential")) 1 else 0
  rows <- list(x = matrix(filler, n, columns), family = family, names = paste0("V", seq_len(columns)), levels = if (family == "categorical") rep(list(letters[1:3]), columns))
  found <- core_dp_draw(family_spec(rows, as.list(wanted)), prior$core, n, columns, core_seed(), progress_bar("rows"))
  x <- if (family == "categorical") {
    as.data.frame(stats::setNames(lapply(seq_len(columns), function(j) factor(letters[found$x[, j] + 1], letters[1:3])), rows$names))
  } else if (columns == 1L && family != "mvnormal") {
    found$x[, 1L]
  } else {
    structure(found$x, dimnames = list(NULL, rows$names))
  }
  list(x = x, cluster = found$cluster)
}
