#' Two spirals and a related task
#'
#' A target of two classes along the arms of a spiral with few cases, and sources with the same arms, many cases and labels of their own.
#'
#' @details
#' A case of class \eqn{c} in 0, 1 lies at radius \eqn{3t / 2.5\pi}{3 t / (2.5 pi)} and angle \eqn{t + c\pi}{t + c pi}, \eqn{t} uniform between \eqn{0.5\pi}{0.5 pi} and
#' \eqn{2.5\pi}{2.5 pi}, plus normal noise. The sources are turned by `turn` against the target. The paper shows its spiral only as a figure; these numbers are our own.
#'
#' @section Which method when: To see what [transfer_forest()] does, and how it fails once the sources are turned.
#'
#' @param n,n_source Cases per class of the target and of each source.
#' @param n_tasks Number of sources.
#' @param noise Standard deviation of the noise.
#' @param turn Angle between sources and target.
#' @param n_test Cases per class of new data of the target.
#' @param ... Nothing: an argument that is not known is an error.
#' @return A list with `x`, `y`, `task` (`"target"`, `"source1"`, ...), and new data of the target, `newx` and `newy`.
#' @references
#' Goussies, N. A., Ubalde, S. and Mejail, M. (2014). Transfer learning decision forests for gesture recognition. *Journal of Machine Learning Research* 15, 3847-3870.
#' @seealso [transfer_forest()], [transfer_forest_select()], [transfer_forest_baseline()], [transfer_forest_bounds()], [motion_history()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_transfer_forest()
#' table(sim$task, sim$y)
#' plot(sim$x, col = sim$y, pch = ifelse(sim$task == "target", 19, 1))
sim_transfer_forest <- function(n = 10, n_source = 250, n_tasks = 1, noise = 0.1, turn = 0, n_test = 500, ...) {
  refuse_dots(...)
  n <- check_count(n, upper = 1e6)
  n_source <- check_count(n_source, upper = 1e6)
  n_tasks <- check_count(n_tasks, lower = 0, upper = 1000)
  noise <- check_number(noise, lower = 0)
  turn <- check_number(turn)
  n_test <- check_count(n_test, lower = 0, upper = 1e6)
  arms <- function(n, turn) {
    class <- rep(0:1, each = n)
    t <- stats::runif(2 * n, 0.5 * pi, 2.5 * pi)
    angle <- t + class * pi + turn
    cbind(u = 3 * t / (2.5 * pi) * cos(angle), v = 3 * t / (2.5 * pi) * sin(angle)) + noise * stats::rnorm(4 * n)
  }
  target <- arms(n, 0)
  test <- arms(n_test, 0)
  sources <- lapply(seq_len(n_tasks), function(t) arms(n_source, turn))
  names <- c("target", if (n_tasks > 0L) paste0("source", seq_len(n_tasks)))
  list(x = do.call(rbind, c(list(target), sources)), y = factor(c(rep(c("a", "b"), each = n), rep(rep(c("a", "b"), each = n_source), n_tasks))),
       task = factor(rep(names, c(2 * n, rep(2 * n_source, n_tasks))), names), newx = test, newy = factor(rep(c("a", "b"), each = n_test), c("a", "b")))
}
