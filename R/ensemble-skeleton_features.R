#' Features of a moving body
#'
#' Turns the joints of a tracked body, frame by frame, into numbers that depend neither on where the person stands, nor
#' on the direction, nor on the size of the body.
#'
#' @details In every frame the joint `origin` moves to the origin; the plane through the three joints of `plane` is
#'   turned to be orthogonal to the third axis, with the first axis from the first to the second of them (the paper
#'   leaves that turn open); and everything is divided by the sum of the lengths of `pairs`. Features are the positions
#'   of `joints`, the differences along those of `pairs` whose both ends are among them, and with `speed` how both
#'   change from the frame before (0 in the first). Twelve joints and eleven pairs make \eqn{2 (36 + 33) = 138}. A frame
#'   with a missing joint has missing features, which `na = "skip"` of [co_boost()] and [hmm_fit()] passes over.
#'
#' @section Which method when: Before [hmm_classifier()] or [co_boost()], for joints that a depth camera or a pose
#'   estimator follows.
#'
#' @param x One recording or a list of them: a matrix with one row per frame and three columns (x, y, z) per joint,
#'   joint after joint; or an array frames x joints x 3.
#' @param origin Number of a joint.
#' @param plane Numbers of three joints, such as both shoulders and the middle of the hips.
#' @param pairs A matrix with two columns: joints that are connected.
#' @param joints Numbers of the joints whose features are wanted; `NULL` for all.
#' @param speed Whether the changes between frames are features too.
#' @return A matrix, or a list of them, with named columns.
#' @references
#' Wu, J. and Cheng, J. (2014). Bayesian co-boosting for multi-modal gesture recognition. *Journal of Machine Learning
#' Research* 15, 3013-3036. Appendix A.
#' @seealso [co_boost()], [hmm_classifier()]
#' @export
#' @examples
#' set.seed(1)
#' rest <- c(0, 0, 0, -1, 1, 0, 1, 1, 0, 0, 2, 0)
#' frames <- t(replicate(5, rest + rnorm(12, sd = 0.05)))
#' bones <- rbind(c(1, 2), c(1, 3), c(2, 4), c(3, 4))
#' features <- skeleton_features(frames, origin = 1, plane = c(2, 3, 1), pairs = bones)
#' dim(features)
#' # the same body, elsewhere and twice as large
#' all.equal(features, skeleton_features(2 * frames + 10, origin = 1, plane = c(2, 3, 1), pairs = bones))
skeleton_features <- function(x, origin, plane, pairs, joints = NULL, speed = TRUE) {
  if (missing(x)) fail_missing("x")
  if (missing(pairs)) fail_missing("pairs")
  listed <- is.list(x) && !is.data.frame(x)
  recordings <- lapply(if (listed) x else list(x), skeleton_frames)
  if (length(recordings) == 0L) fail_input("x", "at least one recording", "an empty list")
  sizes <- vapply(recordings, ncol, 0L)
  if (any(sizes != sizes[1L]))
    abort_input(sprintf("All recordings must have the same joints, but the first has %d columns and number %d has %d.",
                        sizes[1L], which(sizes != sizes[1L])[1L], sizes[sizes != sizes[1L]][1L]), "x")
  all <- sizes[1L] %/% 3L
  origin <- check_count(origin, upper = all)
  plane <- check_joints(plane, "plane", all, 3L)
  if (anyDuplicated(plane) > 0L) fail_input("plane", "three different joints", "one of them twice")
  if (is.data.frame(pairs)) pairs <- as.matrix(pairs)
  if (!is.matrix(pairs) || ncol(pairs) != 2L || nrow(pairs) < 1L || !is.numeric(pairs))
    fail_input("pairs", "a matrix of joint numbers with two columns and at least one row", describe(pairs))
  ends <- matrix(check_joints(as.vector(pairs), "pairs", all), ncol = 2L)
  joints <- if (is.null(joints)) seq_len(all) else check_joints(joints, "joints", all)
  if (anyDuplicated(joints) > 0L) fail_input("joints", "different joints", "one of them twice")
  speed <- check_flag(speed)
  kept <- ends[ends[, 1L] %in% joints & ends[, 2L] %in% joints, , drop = FALSE]
  axes <- c("x", "y", "z")
  still <- c(paste0("joint", rep(joints, each = 3L), axes),
             if (nrow(kept) > 0L) paste0("pair", rep(paste0(kept[, 1L], "_", kept[, 2L]), each = 3L), axes))
  names <- c(still, if (speed) paste0("d_", still))
  options <- list(origin = origin, plane = plane, pairs = ends, joints = joints, speed = speed)
  out <- lapply(recordings, function(frames) {
    found <- core_skeleton_features(frames, options)
    found[is.nan(found)] <- NA
    structure(found, dimnames = list(NULL, names))
  })
  if (listed) stats::setNames(out, names(x)) else out[[1L]]
}

skeleton_frames <- function(x) {
  if (is.array(x) && length(dim(x)) == 3L && is.numeric(x)) {
    if (dim(x)[3L] != 3L) fail_input("x", "an array frames x joints x 3",
                                     sprintf("one of %s", paste(dim(x), collapse = " x ")))
    x <- matrix(aperm(x, c(1L, 3L, 2L)), dim(x)[1L])
  }
  x <- check_matrix(x, "x", allow_na = TRUE)
  if (ncol(x) %% 3L != 0L || ncol(x) < 9L)
    abort_input(sprintf("A recording must have three columns for each of at least three joints, but `x` has %d.",
                        ncol(x)), "x")
  plain_rows(x)
}

check_joints <- function(joints, arg, all, length = NULL) {
  joints <- check_vector(joints, arg, length = length, lower = 1, upper = all)
  if (any(joints != round(joints))) fail_input(arg, "numbers of joints", describe(joints))
  as.integer(joints)
}
