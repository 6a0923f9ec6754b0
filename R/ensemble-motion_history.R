#' Motion history images
#'
#' Turns a film into one row of numbers per frame: where something moved, and how long ago.
#'
#' @details
#' \deqn{H_t = \tau \mbox{ where } |V_t - V_{t-1}| \ge \xi, \quad \max(0, H_{t-1} - 1) \mbox{ elsewhere}, \quad H_1 = 0}{
#' H_t = tau where |V_t - V_(t-1)| >= xi, max(0, H_(t-1) - 1) elsewhere, H_1 = 0}
#' for every point of the frame, averaged over areas to `dim[1]` x `dim[2]`, and written column by column. The frames of a film are a `group` of
#' `predict()` for [transfer_forest()].
#'
#' @section Which method when: For gestures and other movements before a still camera, as features of [transfer_forest()] or [forest()].
#'
#' @param x The film: an array of three dimensions, the last of them time.
#' @param tau How many frames a movement is remembered.
#' @param xi Smallest change that is a movement.
#' @param dim Rows and columns of the small image.
#' @param ... Nothing: an argument that is not known is an error.
#' @return A matrix with one row per frame and `prod(dim)` columns.
#' @references
#' Bobick, A. F. and Davis, J. W. (2001). The recognition of human movement using temporal templates. *IEEE Transactions on Pattern Analysis and Machine
#' Intelligence* 23, 257-267.
#'
#' Goussies, N. A., Ubalde, S. and Mejail, M. (2014). Transfer learning decision forests for gesture recognition. *Journal of Machine Learning Research* 15, 3847-3870.
#' @seealso [transfer_forest()], [transfer_forest_select()], [transfer_forest_baseline()], [transfer_forest_bounds()], [sim_transfer_forest()]
#' @export
#' @examples
#' film <- array(0, c(20, 20, 6))
#' for (t in 1:6) film[8:12, (3 * t - 2):(3 * t), t] <- 255
#' history <- motion_history(film, tau = 5, dim = c(5, 5))
#' round(matrix(history[6, ], 5), 1)
motion_history <- function(x, tau = 8, xi = 25, dim = c(16, 12), ...) {
  refuse_dots(...)
  if (missing(x)) fail_missing("x")
  size <- base::dim(x)
  if (!is.numeric(x) || is.object(x) || length(size) != 3L || any(size < 1L)) fail_input("x", "an array of three dimensions, the last of them time", describe(x))
  if (!all(is.finite(x))) abort_input(sprintf("`x` must be finite, but it has %d values that are not.", sum(!is.finite(x))), "x")
  tau <- check_number(tau, lower = 0, strict_lower = TRUE)
  xi <- check_number(xi, lower = 0, strict_lower = TRUE)
  dim <- check_vector(dim, "dim", length = 2L, lower = 1, upper = 1e4)
  dim <- vapply(dim, check_count, 0L, arg = "dim")
  frames <- matrix(as.double(x), size[1L] * size[2L], size[3L])
  found <- core_motion_history(frames, list(height = size[1L], width = size[2L], rows = dim[1L], columns = dim[2L], tau = tau, xi = xi))
  colnames(found) <- paste0("H", rep(seq_len(dim[1L]), dim[2L]), "_", rep(seq_len(dim[2L]), each = dim[1L]))
  found
}
