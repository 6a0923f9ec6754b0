#' Matrices with holes to try completions on
#'
#' @details
#' `design = "gaussian"`: \eqn{W = A B'}{W = A B'} with standard normal factors over \eqn{rank^{1/4}}{rank^(1/4)} each, so that entries have
#' variance one, plus normal noise. `"ratings"`: whole numbers from 1 to 5, the
#' rounded and clipped \eqn{3 + 1.2 W}{3 + 1.2 W} plus noise. `"lower_bound"`: Theorem 7's instance, random signs on the first
#' \eqn{\lfloor t/\sqrt{n} \rfloor}{floor(t / sqrt(n))} rows of an n x n matrix and zero elsewhere: its trace norm is at most `t`, and no method
#' can predict its unseen cells, so with fewer than
#' \eqn{t\sqrt{n}/2}{t sqrt(n) / 2} cells completion must fail; cells are drawn from those rows.
#'
#' Cells are drawn without replacement, uniformly or with row activity and column popularity falling as a power of the rank of the row or column.
#'
#' @param m,n Numbers of rows and columns (equal for `"lower_bound"`).
#' @param rank Rank of the signal.
#' @param n_obs Number of observed cells.
#' @param sampling How cells are drawn.
#' @param noise Standard deviation of the noise.
#' @param design What the matrix looks like.
#' @param exponent Power of the decay of row activity under `"power"` sampling.
#' @param t Trace norm for `"lower_bound"`.
#' @param ... Nothing: an argument that is not known is an error.
#' @return A list: `x` (a matrix with `NA`), `cells` (data frame of the observed cells), `test` (data frame of the others, with their values),
#'   `signal` (the matrix without noise).
#' @section Which method when: To see when completion works (evenly spread cells, low rank) and when it must fail (`"lower_bound"`).
#' @inherit complete_matrix references
#' @seealso [complete_matrix()], [complete_matrix_select()], [complete_matrix_baseline()], [complete_matrix_bounds()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_complete_matrix(20, 15, rank = 2, n_obs = 100)
#' str(sim$cells)
#' hard <- sim_complete_matrix(25, 25, n_obs = 50, design = "lower_bound", t = 25)
#' sum(svd(hard$signal)$d)
sim_complete_matrix <- function(m, n, rank = 2, n_obs, sampling = c("uniform", "power"), noise = 0, design = c("gaussian", "ratings", "lower_bound"),
                                exponent = 1.2, t = n, ...) {
  refuse_dots(...)
  m <- check_count(m, upper = 1e6)
  n <- check_count(n, upper = 1e6)
  if (as.double(m) * n > 2^28) abort_input("`m` times `n` must be at most 2^28: the simulation holds the whole matrix.", "m")
  rank <- check_count(rank, upper = min(m, n))
  sampling <- check_choice(sampling, c("uniform", "power"))
  noise <- check_number(noise, lower = 0)
  design <- check_choice(design, c("gaussian", "ratings", "lower_bound"))
  exponent <- check_number(exponent, lower = 0, upper = 100)
  rows <- m
  if (design == "lower_bound") {
    if (m != n) abort_input("`m` and `n` must be equal for design \"lower_bound\".", "m")
    t <- check_number(t, lower = sqrt(n), upper = n^1.5)
    rows <- floor(t / sqrt(n))
    signal <- matrix(0, m, n)
    signal[seq_len(rows), ] <- sample(c(-1, 1), rows * n, replace = TRUE)
  } else {
    signal <- matrix(stats::rnorm(m * rank), m) %*% matrix(stats::rnorm(rank * n), rank) / sqrt(rank)
  }
  n_obs <- check_count(n_obs, upper = as.double(rows) * n)
  values <- signal + noise * stats::rnorm(m * n)
  if (design == "ratings") values[] <- round(pmin(pmax(3 + 1.2 * signal + noise * stats::rnorm(m * n), 1), 5))
  allowed <- if (rows < m) which(row(values) <= rows) else seq_along(values)
  if (sampling == "uniform") {
    seen <- allowed[sample.int(length(allowed), n_obs)]
  } else {
    activity <- sample(seq_len(m))^-exponent
    popularity <- sample(seq_len(n))^(-exponent / 2)
    # the n_obs smallest of independent exponentials with these rates are a sample without replacement with these odds
    race <- stats::rexp(length(allowed)) / (activity[(allowed - 1L) %% m + 1L] * popularity[(allowed - 1L) %/% m + 1L])
    seen <- allowed[order(race)[seq_len(n_obs)]]
  }
  seen <- sort(seen)
  frame <- function(at) data.frame(i = (at - 1L) %% m + 1L, j = (at - 1L) %/% m + 1L, value = values[at])
  x <- matrix(NA_real_, m, n)
  x[seen] <- values[seen]
  list(x = x, cells = frame(seen), test = frame(setdiff(allowed, seen)), signal = signal)
}
