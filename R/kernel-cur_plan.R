#' How many columns and rows an error takes
#'
#' From the target rank and a relative error to the numbers of columns and rows of [cur()] with method `"fast"`, and
#' back.
#'
#' @details
#' With \eqn{c_1} of \eqn{c} columns from the dual set, \eqn{E|A - CC^+A|_F^2 \le (1 + \epsilon_c)|A - A_k|_F^2}{
#' E|A - CC^+A|^2 <= (1 + eps_c)|A - A_k|^2} with
#' \deqn{\epsilon_c = \frac{k}{c - c_1}\left(1 + \frac1{(1 - \sqrt{k/c_1})^2}\right),}{
#'   eps_c = k / (c - c1) (1 + 1 / (1 - sqrt(k/c1))^2),}
#' and the rows add \eqn{\epsilon_r}{eps_r}, the same with \eqn{c/(r - r_1)}{c / (r - r1)} in place of the first factor.
#' The plan takes the smallest \eqn{c} with
#' \eqn{\epsilon_c\le\epsilon}{eps_c <= eps} and then the smallest \eqn{r} with
#' \eqn{\epsilon_r\le\epsilon}{eps_r <= eps}, over the best
#' \eqn{c_1} and \eqn{r_1}, so that the expected error is at most \eqn{1 + \epsilon}{1 + eps} times that of the best
#' matrix of rank \eqn{k}. Its numbers exceed the leading terms \eqn{2k/\epsilon}{2k/eps} and \eqn{2c/\epsilon}{2c/eps},
#' which are also given; in practice far fewer do.
#'
#' The bounds are for exact singular vectors; a sketch adds a factor close to one.
#'
#' @section Which method when:
#' For a guarantee before the data are seen. Afterwards `err_ratio` of the fit says what was reached.
#'
#' @param k Target rank.
#' @param eps Relative error; give either `eps`, or `c` and `r`.
#' @param c,r Numbers of columns and rows.
#' @param ... Not used.
#' @return A data frame with `k`, `eps`, `c`, `c1`, `r`, `r1`, and the leading terms `c_leading` and `r_leading`; one
#'   row per element of `eps` (or of `c`).
#' @references
#' Wang and Zhang (2012). A scalable CUR matrix decomposition algorithm: lower time complexity and tighter bound.
#' *Advances in Neural Information Processing Systems* 25.
#' @seealso [cur()], [nystrom_bounds()]
#' @export
#' @examples
#' cur_plan(5, eps = c(1, 0.5, 0.25))
#' cur_plan(5, c = 60, r = 400)
cur_plan <- function(k, eps = NULL, c = NULL, r = c, ...) {
  refuse_dots(...)
  k <- check_count(k)
  if (is.null(eps) == is.null(c)) abort_input("Give either `eps`, or `c` (and `r`).", "eps")
  plans <- if (!is.null(eps)) {
    eps <- unname(check_vector(eps, lower = 1e-8, upper = 1e6))
    lapply(eps, function(e) core_cur_plan(k, e))
  } else {
    counts <- lapply(list(c = c, r = r), function(v) unname(check_vector(v, "c", lower = k + 2,
                                                                         upper = .Machine$integer.max)))
    if (any(unlist(counts) != round(unlist(counts)))) abort_input("`c` and `r` must be whole numbers.", "c")
    n <- max(lengths(counts))
    Map(function(c, r) core_cur_error(k, c, r), rep_len(counts$c, n), rep_len(counts$r, n))
  }
  of <- function(name) vapply(plans, function(p) as.double(p[[name]]), 0)
  data.frame(k = k, eps = of("eps"), c = of("c"), c1 = of("dual"), r = of("r"), r1 = of("dual_rows"),
             c_leading = of("c_leading"), r_leading = of("r_leading"))
}
