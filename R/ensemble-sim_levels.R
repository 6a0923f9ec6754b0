#' Simulated factors
#'
#' Factors and classes from the two patterns of the paper's experiments.
#'
#' @details
#' `"noise"`: levels uniform, two equally frequent classes, independent of them. `"mixture"`: eight blocks of levels and
#' four classes; block \eqn{b} has the largest class
#' \eqn{\lceil b/2 \rceil}{ceil(b/2)}, with probability 1/2 for odd and 3/4 for even blocks, the other three share the
#' rest.
#'
#' @section Which method when:
#' For trying [group_levels()].
#'
#' @param n Number of rows.
#' @param levels Number of levels.
#' @param pattern Which pattern.
#' @return A data frame: `x` (factor), `y` (class); for `"mixture"` also `block`.
#' @inherit group_levels references
#' @seealso [group_levels()], [level_cost()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_levels(2000, 80, "mixture")
#' group_levels(sim$x, sim$y)
sim_levels <- function(n = 1000, levels = 20, pattern = c("noise", "mixture")) {
  n <- check_count(n)
  levels <- check_count(levels, upper = 1e7)
  pattern <- check_choice(pattern, c("noise", "mixture"))
  level <- sample.int(levels, n, replace = TRUE)
  x <- factor(paste0("l", level), paste0("l", seq_len(levels)))
  if (pattern == "noise") return(data.frame(x = x, y = factor(sample(c("a", "b"), n, replace = TRUE), c("a", "b"))))
  if (levels < 8L) abort_input("The mixture has eight blocks of levels: `levels` must be at least 8.", "levels")
  block <- ceiling(8 * level / levels)
  major <- (block + 1L) %/% 2L
  own <- stats::runif(n) < ifelse(block %% 2L == 1L, 0.5, 0.75)
  other <- (major - 1L + sample.int(3L, n, replace = TRUE)) %% 4L + 1L
  data.frame(x = x, y = factor(letters[ifelse(own, major, other)], letters[1:4]), block = as.integer(block))
}
