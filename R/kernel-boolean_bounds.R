#' When rules of largest margin must fail
#'
#' The conditions under which the theory says that the rule of largest margin over conjunctions learns the rows by
#' heart, and whether a sample is one of those it speaks of.
#'
#' @details
#' `what = "lengths"`: for `p` attributes and `n` rows from the sparse law `"D"` of [sim_boolean()], a row for each
#' length `k`. With
#' \eqn{\rho_k(u)}{rho_k(u)} the number of conjunctions of at most \eqn{k} of \eqn{u} attributes, `log_margin` is the
#' logarithm of a lower bound on the margin, and on \eqn{\theta}{theta}; `overfits` whether every new row of the
#' second class is then called the first, with high probability (condition (3) of the paper); `polynomial` the same
#' for the polynomial kernel \eqn{(x'z)^k}{(x'z)^k}; `uniform` for attributes uniform on the cube (its equation (10),
#' which no `p` up to a million satisfies).
#'
#' `what = "sample"`: whether rows `x` with classes `y` are typical for either law: the zero row is there, other rows
#' have about \eqn{p^{2/3}}{p^(2/3)} ones, rows of different classes share at most \eqn{1.01p^{1/3}}{1.01 p^(1/3)};
#' all rows have about \eqn{p/2} ones, and share at most \eqn{0.26p}{0.26 p}; and the skew, by how much the largest
#' row of the second class exceeds that of the first, beside the skew the proof needs.
#'
#' @section Which method when:
#' Before a study: how long conjunctions may be. For data at hand the memorisation index of [boolean_svm()] says more.
#'
#' @param what Which of them.
#' @param n,p For `"lengths"`: numbers of rows and of attributes.
#' @param k_max For `"lengths"`: the largest length.
#' @param x,y For `"sample"`: attributes that are 0 or 1, and two classes.
#' @param ... Not used.
#' @return A data frame: for `"lengths"` with columns `k`, `log_margin`, `overfits`, `polynomial`, `uniform`; for
#'   `"sample"` with one row.
#' @references
#' Khardon and Servedio (2005). Maximum margin algorithms with Boolean kernels. *Journal of Machine Learning
#' Research* 6, 1405--1429.
#' @seealso [boolean_svm()], [sim_boolean()]
#' @export
#' @examples
#' boolean_bounds(n = 100, p = 1000, k_max = 9)
#' set.seed(1)
#' d <- sim_boolean(50, 64, type = "result2")
#' boolean_bounds("sample", x = d$x, y = d$y)
boolean_bounds <- function(what = c("lengths", "sample"), n = NULL, p = NULL, k_max = 10, x = NULL, y = NULL, ...) {
  refuse_dots(...)
  what <- check_choice(what, c("lengths", "sample"))
  if (what == "lengths") {
    n <- check_count(n)
    p <- check_number(p, lower = 1, upper = 1e9)
    return(as.data.frame(core_boolean_bounds(p, n, check_count(k_max, upper = 1000))))
  }
  data <- boolean_data(x, y)
  as.data.frame(core_boolean_typical(data$x, 2 * data$y - 3))
}

#' Data for rules of 0/1 attributes
#'
#' Attributes and classes from the laws under which Khardon and Servedio show that the largest margin fails, and from
#' one where it does not.
#'
#' @details
#' * `"D"`: with probability 1/2 the zero row; otherwise the attributes of the target are 1 with probability 1/2 and
#' all others with probability \eqn{p^{-1/3}}{p^(-1/3)}. * `"result2"`: the zero row with probability 1/4; otherwise
#' the first attribute is 1 with probability 2/3, the others with \eqn{p^{-1/3}}{p^(-1/3)}. The class is the first
#' attribute, and both classes are equally likely. * `"uniform"`: all attributes are 1 with probability 1/2.
#'
#' The target of `"D"` and `"uniform"` is an OR of `terms` ANDs, each of `term_length` attributes of its own; `terms
#' = 0` for the first attribute alone. The paper's own target for a given \eqn{l} has \eqn{l} terms of \eqn{4l^2}
#' attributes, so that rows of the second class are very rare.
#'
#' @section Which method when:
#' To see how a method that learns rules fares where the truth is known.
#'
#' @param n,p Numbers of rows and of attributes.
#' @param type The law.
#' @param terms,term_length The target.
#' @param ... Not used.
#' @return A list with `x`, a matrix of 0 and 1 with columns `x1`, `x2`, ..., and `y`, a factor with levels `"0"` and
#'   `"1"`.
#' @references
#' Khardon and Servedio (2005). Maximum margin algorithms with Boolean kernels. *Journal of Machine Learning
#' Research* 6, 1405--1429.
#' @seealso [boolean_svm()], [boolean_bounds()]
#' @export
#' @examples
#' set.seed(1)
#' d <- sim_boolean(100, 60, type = "uniform", terms = 2, term_length = 2)
#' table(d$y)
#' boolean_select(d$x, d$y, k = 1:3, folds = 5)
sim_boolean <- function(n, p, type = c("D", "result2", "uniform"), terms = 2, term_length = 2, ...) {
  refuse_dots(...)
  n <- check_count(n)
  p <- check_count(p)
  options <- list(law = check_choice(type, c("D", "result2", "uniform")), terms = check_count(terms, lower = 0),
                  term_length = check_count(term_length))
  raw <- core_sim_boolean(n, p, options, core_seed())
  list(x = structure(raw$x, dimnames = list(NULL, paste0("x", seq_len(p)))), y = factor(raw$y, c(0, 1)))
}
