#' How sure can a Dirichlet or Pitman-Yor mixture be of the number of clusters?
#'
#' Upper bounds, valid for the data at hand, on the posterior probability that there are exactly `t` clusters. Where the bound stays below 1 as rows are added,
#' the posterior cannot concentrate at `t`, even if `t` is the truth.
#'
#' @details
#' Lemma 13 of Miller and Harrison: \eqn{p(T_n=t|x) \le C/(1+C)}{p(T_n = t | x) <= C/(1 + C)} with
#' \eqn{C = t\,c\,c_n(t)/(\varphi - t/n)}{C = t c c_n(t) / (phi - t/n)} whenever \eqn{\varphi > t/n}{phi > t/n}. Here \eqn{c_n(t)} bounds how much likelier a partition is
#' than one in which a row has been cut off, for a Pitman-Yor law \eqn{\frac{t+1}{\theta+t\sigma}\frac{n-t-\sigma}{n}}{(t+1)/(theta + t sigma) (n-t-sigma)/n}, and \eqn{\varphi}{phi} is the share of
#' rows that lose at most a factor \eqn{c} when cut off from their cluster. `what = "count"` bounds \eqn{\varphi}{phi} by the share of rows with
#' \eqn{\sup_\theta p_\theta(x)/m(x) \le c}{sup p_theta(x)/m(x) <= c} and searches the best \eqn{c}; families whose density has no bound (mean and variance unknown) give
#' `NA`. `what = "exact"` finds \eqn{\varphi}{phi} itself by listing partitions, for at most 12 rows. `what = "growth"` gives \eqn{c_n(t)} and its limit alone and
#' needs no data: for `prior_mfm()` it grows with \eqn{n}, which is why its posterior can concentrate.
#'
#' @section Which method when:
#' To see, before sampling, that a posterior probability near 1 for any number of clusters is impossible; [dp_mixture_compare()] shows the same by sampling.
#'
#' @inheritParams dp_mixture
#' @param what `"count"`, `"exact"` or `"growth"`; see Details.
#' @param t Numbers of clusters.
#' @param n Number of rows, for `what = "growth"`.
#' @return A data frame with one row per `t`: `t`, `bound`, `c`, `phi`, `growth` (\eqn{c_n(t)}) and `limit` (of \eqn{c_n(t)} as \eqn{n} grows; `Inf` where it grows
#'   without end). `NA` where the lemma says nothing.
#' @references Miller and Harrison (2014). Inconsistency of Pitman-Yor process mixtures for the number of components. *Journal of Machine Learning Research* 15,
#'   3333--3370.
#' @seealso [dp_mixture()], [partition_exact()].
#' @export
#' @examples
#' # coin tosses: whatever the data, at most 0.8 for a single cluster
#' dp_mixture_bounds("count", rbinom(50, 1, 0.5), family = "binomial", prior = prior_dp(1), t = 1:3)
#' dp_mixture_bounds("growth", n = c(100), t = 2, prior = prior_mfm())
dp_mixture_bounds <- function(what = c("count", "exact", "growth"), x = NULL, family = "auto", prior = prior_dp(), hyper = NULL, t = 1:5, n = NULL) {
  what <- check_choice(what, c("count", "exact", "growth"))
  prior <- check_law(prior)
  t <- check_vector(t, "t", lower = 1, upper = 1e6)
  if (any(t != round(t))) abort_input("`t` must be whole numbers.", "t")
  if (what == "growth") {
    n <- check_count(n, lower = 2, upper = 1e6)
    x <- rep(0, n)
    rows <- list(x = matrix(0, n, 1L), family = "binomial")
    spec <- list(type = "binomial", size = 1)
  } else {
    if (is.null(x)) fail_missing("x")
    rows <- mixture_rows(x, family)
    if (rows$family == "richardson_green") abort_input("`family` must be conjugate.", "family")
    spec <- family_spec(rows, hyper)
    if (what == "exact" && nrow(rows$x) > 12L) abort_input(sprintf("what = \"exact\" lists partitions: at most 12 rows, not %d. Use what = \"count\".", nrow(rows$x)), "what")
  }
  found <- lapply(t, function(one) core_partition_bound(rows$x, spec, prior$core, one, what == "exact", progress_bar("bounds")))
  column <- function(name) {
    v <- vapply(found, function(f) as.double(f[[name]]), 0)
    ifelse(is.nan(v), NA_real_, v)
  }
  out <- data.frame(t = t, bound = column("bound"), c = column("c"), phi = column("phi"), growth = column("growth"), limit = column("limit"))
  if (what == "growth") out <- out[c("t", "growth", "limit")]
  out
}

#' Several laws of partitions side by side
#'
#' Fits the same rows under several priors and, if wanted, to growing parts of them: the posterior of the number of clusters under a Dirichlet process does not sharpen as
#' rows are added, that of the number of components of a finite mixture does.
#'
#' @section Which method when:
#' To see how much the number of clusters owes to the prior; for one prior [dp_mixture()].
#'
#' @inheritParams dp_mixture
#' @param priors A named list of laws of partitions.
#' @param n Numbers of rows, the first so many of `x`; `NULL` for all.
#' @param ... Passed on to [dp_mixture()]: `n_draws`, `burn_in`, `hyper`, ...
#' @return An object of class `granary_dp_mixture_compare` with `table`, a data frame of `prior`, `n`, `what` (`"clusters"` or `"components"`), `number` and `probability`, and
#'   `fits`, those of all rows.
#' @references Miller and Harrison (2014). Inconsistency of Pitman-Yor process mixtures for the number of components. *Journal of Machine Learning Research* 15,
#'   3333--3370.
#' @seealso [dp_mixture()], [dp_mixture_bounds()].
#' @export
#' @examples
#' set.seed(1)
#' x <- sim_dp_mixture(120, type = "three_normals")$x
#' compare <- dp_mixture_compare(x, n = c(30, 120), n_draws = 1000, burn_in = 500)
#' compare
#' plot(compare)
dp_mixture_compare <- function(x, priors = list(dp = prior_dp(1), py = prior_py(0.25, 1), mfm = prior_mfm()), family = "auto", n = NULL, ...) {
  if (missing(x)) fail_missing("x")
  if (!is.list(priors) || is.object(priors) || length(priors) == 0L || is.null(names(priors)) || any(!nzchar(names(priors)))) {
    fail_input("priors", "a named list of laws of partitions", describe(priors))
  }
  for (name in names(priors)) check_law(priors[[name]], paste0("priors$", name))
  rows <- mixture_rows(x, family)
  total <- nrow(rows$x)
  n <- if (is.null(n)) total else sort(unique(check_vector(n, lower = 1, upper = total)))
  if (any(n != round(n))) abort_input("`n` must be whole numbers.", "n")
  part <- function(m) if (is.null(dim(x))) x[seq_len(m)] else x[seq_len(m), , drop = FALSE]
  table <- list()
  fits <- list()
  for (m in n) {
    for (name in names(priors)) {
      fit <- dp_mixture(part(m), family = family, prior = priors[[name]], ...)
      table[[length(table) + 1L]] <- data.frame(prior = name, n = m, what = "clusters", number = fit$count$clusters, probability = fit$count$probability)
      if (!is.null(fit$components)) {
        table[[length(table) + 1L]] <- data.frame(prior = name, n = m, what = "components", number = fit$components$components, probability = fit$components$probability)
      }
      if (m == max(n)) fits[[name]] <- fit
    }
  }
  seal(structure(list(table = do.call(rbind, table), fits = fits, n = n), class = "granary_dp_mixture_compare"))
}

# One row per prior, size and quantity; one column per number.
compare_matrix <- function(x) {
  key <- unique(x$table[c("prior", "what", "n")])
  most <- min(max(x$table$number[x$table$probability > 5e-3]), 12L)
  values <- t(vapply(seq_len(nrow(key)), function(i) {
    rows <- x$table$prior == key$prior[i] & x$table$what == key$what[i] & x$table$n == key$n[i]
    pad(x$table$probability[rows][order(x$table$number[rows])], most)
  }, numeric(most)))
  values <- matrix(values, nrow(key), most, dimnames = list(NULL, seq_len(most)))
  list(key = key, values = values)
}

#' @export
print.granary_dp_mixture_compare <- function(x, ...) {
  cli::cat_line("Posterior of the number of clusters (T) and of components (k)")
  m <- compare_matrix(x)
  out <- cbind(m$key, round(m$values, 3L))
  print(out[order(out$prior, out$what, out$n), ], row.names = FALSE)
  cli::cat_line("Under \"dp\" and \"py\" the number of clusters is no estimate of the number of components.")
  invisible(x)
}

#' @export
plot.granary_dp_mixture_compare <- function(x, ...) {
  m <- compare_matrix(x)
  panels <- unique(m$key[c("prior", "what")])
  old <- graphics::par(mfrow = grDevices::n2mfrow(nrow(panels)), mar = c(4.1, 4.1, 2.1, 1.1))
  on.exit(graphics::par(old))
  colors <- grDevices::hcl.colors(length(x$n) + 1L, "Blues 3", rev = TRUE)[-1L]
  for (i in seq_len(nrow(panels))) {
    at <- which(m$key$prior == panels$prior[i] & m$key$what == panels$what[i])
    draw(graphics::barplot, m$values[at, , drop = FALSE], beside = TRUE, col = colors, border = NA, ylim = c(0, max(m$values)),
         main = paste0(panels$prior[i], ": ", panels$what[i]), xlab = "number", ylab = "probability", user = list(...))
    if (i == 1L && length(x$n) > 1L) graphics::legend("topright", paste("n =", x$n), fill = colors, border = NA, bty = "n")
  }
  invisible(x)
}
