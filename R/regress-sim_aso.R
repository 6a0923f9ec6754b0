#' Tasks with a common subspace, and documents of two words
#'
#' The two kinds of data of Ando and Zhang (2005).
#'
#' @details
#' `"tasks"`: linear tasks whose weights lie near a random subspace: \eqn{u_l = \Theta'v_l + w_l}{u_l = Theta'v_l + w_l} with \eqn{v_l \sim N(0, I)}{v_l ~
#' N(0, I)} and \eqn{w_l \sim N(0, s^2 I/p)}{w_l ~ N(0, s^2 I / p)}.
#'
#' `"documents"` (Section 4.3): five sets of words \eqn{T_{-2}, \dots, T_2}{T_-2, ..., T_2}; a document of class \eqn{y = \pm 1}{y = -1 or 1} has one word
#' uniform on \eqn{T_0 \cup T_y}{T_0 and T_y} and one uniform on \eqn{T_{2y}}{T_2y}. A few labelled documents say nothing about most words, but the
#' second word predicts the first.
#'
#' @section Which method when: `"tasks"` to try [aso()], `"documents"` to try [aso_semi()] and [aso_baseline()].
#'
#' @param design The set-up.
#' @param p,tasks,n,h For `"tasks"`: number of features, of tasks, of rows per task, dimension of the subspace.
#' @param noise For `"tasks"`: standard deviation of the responses about \eqn{u'x}.
#' @param own For `"tasks"`: the scale \eqn{s} of what a task has for itself.
#' @param words,unlabelled,labelled,test For `"documents"`: size of each set of words, numbers of documents.
#' @param ... Nothing: an argument that is not known is an error.
#' @return For `"tasks"` a list with `x` and `y` (lists, one element per task), `u` (p x tasks) and `theta` (h x p); for `"documents"` one with `x_lab`,
#'   `x_unlab`, `x_test` (sparse, one column per word and position), `y_lab`, `y_test`, and `first`, the columns of the first word.
#' @references Ando and Zhang (2005). *Journal of Machine Learning Research* 6, 1817--1853, Section 4.3.
#' @seealso [aso()], [aso_semi()], [aso_auxiliary()], [aso_select()], [aso_baseline()]
#' @export
#' @examples
#' set.seed(1)
#' str(sim_aso(p = 10, tasks = 2, n = 5, h = 1))
#' str(sim_aso("documents", words = 5, unlabelled = 20, labelled = 4, test = 4), max.level = 1)
sim_aso <- function(design = c("tasks", "documents"), p = 100, tasks = 60, n = 40, h = 5, noise = 0.5, own = 0.1, words = 200, unlabelled = 20000,
                    labelled = 10, test = 1000, ...) {
  refuse_dots(...)
  design <- check_choice(design, c("tasks", "documents"))
  if (design == "documents") return(sim_documents(words, unlabelled, labelled, test))
  p <- check_count(p, upper = 1e6)
  tasks <- check_count(tasks, upper = 1e6)
  n <- check_count(n, upper = 1e7)
  h <- check_count(h, lower = 0, upper = p)
  noise <- check_number(noise, lower = 0)
  own <- check_number(own, lower = 0)
  theta <- if (h > 0L) t(qr.Q(qr(matrix(stats::rnorm(p * h), p)))) else matrix(0, 0L, p)
  shared <- if (h > 0L) crossprod(theta, matrix(stats::rnorm(h * tasks), h)) else 0
  u <- shared + own / sqrt(p) * matrix(stats::rnorm(p * tasks), p)
  x <- lapply(seq_len(tasks), function(l) matrix(stats::rnorm(n * p), n))
  y <- lapply(seq_len(tasks), function(l) drop(x[[l]] %*% u[, l]) + noise * stats::rnorm(n))
  list(x = x, y = y, u = u, theta = theta)
}

sim_documents <- function(words, unlabelled, labelled, test) {
  words <- check_count(words, upper = 1e5)
  unlabelled <- check_count(unlabelled, lower = 2, upper = 1e7)
  labelled <- check_count(labelled, lower = 2, upper = 1e7)
  test <- check_count(test, upper = 1e7)
  draw_documents <- function(n, y = sample(c(-1, 1), n, replace = TRUE)) {
    set <- ifelse(stats::runif(n) < 0.5, 0, y)
    word <- function(s) (s + 2) * words + sample.int(words, n, replace = TRUE)
    x <- Matrix::sparseMatrix(rep(seq_len(n), 2L), c(word(set), 5 * words + word(2 * y)), x = 1, dims = c(n, 10 * words))
    colnames(x) <- paste0(rep(c("first", "second"), each = 5 * words), seq_len(5 * words))
    list(x = x, y = factor(y, levels = c(-1, 1)))
  }
  lab <- draw_documents(labelled, rep_len(c(-1, 1), labelled))
  new <- draw_documents(test)
  list(x_lab = lab$x, y_lab = lab$y, x_unlab = draw_documents(unlabelled)$x, x_test = new$x, y_test = new$y, first = seq_len(5L * words))
}
