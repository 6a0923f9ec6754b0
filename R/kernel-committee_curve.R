#' Learning curves of soft committee machines
#'
#' How does the test error of a two-layer network evolve when it learns a noisy teacher of the same kind, one example at a time, from a finite set
#' of examples? `committee_curve()` integrates the
#' equations of Barber and Sollich (1998) for the overlaps of student and teacher. They show plateaus, the specialisation of hidden units that ends
#' them, overfitting, and what a small training set changes.
#'
#' The student computes \eqn{\sum_l g(w_l^T x / \sqrt N)}{sum_l g(w_l'x / sqrt(N))} with `L` hidden units and \eqn{g(u) = \mathrm{erf}(u / \sqrt
#' 2)}{g(u) = erf(u / sqrt(2))}; the teacher
#' \eqn{y = \sum_m g(w^{*T}_m x / \sqrt N + \xi_m) + \xi_0}{y = sum_m g(w*_m'x / sqrt(N) + xi_m) + xi_0} has `M`. Inputs are standard normal. Each
#' update picks one of `p` = `alpha` `N` examples at random and
#' moves every \eqn{w_l}{w_l} by \eqn{-\eta / \sqrt N}{-eta / sqrt(N)} times the gradient of half the squared error; time is counted in updates per
#' input. For large `N` the errors depend on the weights
#' through the overlaps \eqn{Q = w_l \cdot w_{l'} / N}{Q = w_l.w_l' / N} and \eqn{R = w_l \cdot w^*_m / N}{R = w_l.w*_m / N} only. On a finite
#' training set these must be followed in each part of the
#' spectrum of the inputs, here in `blocks` of equal size ([sgd_bounds()]), together with the overlaps `U` of the weights with the noise of the
#' examples:
#' \deqn{\dot R^c = -\eta \langle k^c \delta \rangle, \quad \dot U^c = -\eta \langle c^c \delta \rangle, \quad \dot Q^c = -\eta \langle h^c \delta'
#' + \delta h^{c\prime} \rangle + \eta^2 (a_c/\alpha) \langle \delta \delta' \rangle,}{dR^c/dt = -eta <k^c d>,  dU^c/dt = -eta <c^c d>,  dQ^c/dt =
#' -eta <h^c d' + d h^c'> + eta^2 (a_c/alpha) <d d'>,}
#' with averages over Gaussian activations, all in closed form. The equations are integrated by an adaptive Runge-Kutta method of fifth order.
#'
#' They are exact for `activation = "linear"` (with many blocks) and for `alpha = Inf`. Otherwise they take the activations on the training set as
#' Gaussian, which is good for short
#' times and for `alpha` of 3 or more, and underestimates the error below; with several hidden units they let units specialise although on small
#' training sets
#' real networks stay on the plateau. [sim_committee()] shows by how much.
#'
#' @section Which method when:
#' [sgd_curve()] is exact and faster for linear networks, and has weight decay. `committee_curve()` for what is particular to hidden units; compare
#' with [sim_committee()] wherever
#' `alpha` is below 3 or the time is long.
#'
#' @param alpha Examples per input, `p / N`; `Inf` for a new example at every update.
#' @param eta Learning rate.
#' @param L,M Number of hidden units of student and teacher.
#' @param noise Variances of the noise on the teacher's output and on the activations of its hidden units: `c(output = , activation = )`.
#' @param teacher Overlaps of the teacher's weight vectors, an `M` x `M` positive semi-definite matrix.
#' @param t Times, in updates per input, ascending from 0.
#' @param blocks Number of blocks of the spectrum.
#' @param q0 Squared length of the student's weight vectors at the start, over `N`: one number, or the `L` x `L` matrix of their overlaps.
#' @param r0 Size of the overlaps of student and teacher at the start, which are drawn as normals with this standard deviation, or the `L` x `M`
#'   matrix of them. In a network of `N` inputs they are of order
#'   \eqn{\sqrt{q_0 / N}}{sqrt(q0 / N)}. Without any difference between hidden units the student stays on the plateau forever.
#' @param activation `"erf"` or `"linear"`, \eqn{g(u) = u}{g(u) = u}.
#' @param noisy_test Whether the test error counts the noise of the teacher.
#' @return A fit of class `granary_committee_curve` with `t`, `test`, `train`, arrays `Q`, `R` and `U` (the last dimension is time; `U` has the
#'   output noise first), `diverged` (the time at which the weights left all bounds, or
#'   `NA`; the curve ends there), `least_eigenvalue` of the covariance of the activations along the way (relative; negative beyond rounding would
#'   mean that the equations broke down), and `settings`.
#'   `predict(object, t)` and `tidy()` give data frames; `summary()` finds plateau, specialisation and overfitting.
#' @references Barber, D. and Sollich, P. (1998). Online learning from finite training sets in nonlinear networks. *Advances in Neural Information
#'   Processing Systems* 10, 357-363.
#'
#' Saad, D. and Solla, S. A. (1995). On-line learning in soft committee machines. *Physical Review E* 52, 4225-4243.
#' @seealso [sgd_curve()], [sgd_exact()], [sgd_optimize()], [sgd_bounds()], [sgd_data()]
#' @export
#' @examples
#' set.seed(1)
#' curve <- committee_curve(alpha = 4, eta = 2, L = 2, t = seq(0, 100, 1))
#' curve
#' summary(curve)
#' predict(curve, t = c(0, 10, 100))
#' plot(curve, type = "overlaps")
#' noisy <- committee_curve(alpha = 2, eta = 1, noise = c(output = 0.1, activation = 0.1), t = 0:50)
#' run <- sim_committee(N = 50, alpha = 2, eta = 1, noise = c(0.1, 0.1), t = seq(0, 50, 5),
#'                           n_rep = 5)
#' plot(noisy, run)
committee_curve <- function(alpha, eta, L = 1, M = L, noise = c(output = 0, activation = 0), teacher = diag(M),
                            t = seq(0, 50, length.out = 201), blocks = 10, q0 = 0.25, r0 = 1e-3, activation = c("erf", "linear"), noisy_test = TRUE, ...) {
  refuse_dots(...)
  settings <- check_committee(alpha, eta, L, M, noise, teacher, activation, noisy_test)
  blocks <- check_count(blocks, upper = 10000)
  t <- check_times(t)
  if (t[1L] > 0) t <- c(0, t)
  q <- check_start_overlaps(q0, settings$L)
  r <- check_teacher_overlaps(r0, q, settings)
  if (!overlaps_fit(q, r, settings$teacher)) {
    abort_input("`r0` must fit to `q0` and `teacher`: no vectors have these overlaps (their joint matrix has a negative eigenvalue).", "r0")
  }
  work <- blocks * (settings$L * (settings$L + 2 * settings$M + 1))
  if (work > 1e6) abort_input(sprintf("`blocks` asks for %s equations. Use fewer blocks or hidden units.", format(work)), "blocks")
  settings <- c(settings, list(blocks = if (is.finite(settings$alpha)) blocks else 1L, q0 = q, r0 = r))
  if (settings$L > 1L && symmetric_start(q, r)) {
    warn_input(paste("The student's hidden units start alike with respect to the teacher: by symmetry they never specialise.",
                     "Give `r0` some difference between rows."), "r0")
  }
  found <- committee_at(settings, t)
  fit <- new_fit(c("committee_curve", "learning_curve"), t = t[seq_along(found$test)], test = found$test, train = found$train,
                 Q = as_overlaps(found$q, settings$L), R = as_overlaps(found$r, settings$L), U = as_overlaps(found$u, settings$L),
                 diverged = if (found$diverged) found$reached else NA_real_, least_eigenvalue = found$least_eigenvalue, settings = settings,
                 call = match.call(), convergence = found$convergence)
  if (found$diverged) {
    warn_input(sprintf("The weights diverge at t = %s: the curve ends there. Use a smaller `eta`.", format(found$reached, digits = 4L)), "eta")
  }
  fit
}

committee_at <- function(settings, t) {
  core_committee_curve(c(committee_setting(settings), settings[c("blocks", "q0", "r0")]), t, progress_bar("learning curve"))
}

committee_setting <- function(settings) {
  c(settings[c("alpha", "eta", "L", "teacher", "activation", "noisy_test")], list(noise = noise_variances(settings)))
}

noise_variances <- function(settings) c(settings$noise[["output"]], rep(settings$noise[["activation"]], settings$M))

as_overlaps <- function(columns, L) array(columns, c(L, nrow(columns) / L, ncol(columns)))

check_committee <- function(alpha, eta, L, M, noise, teacher, activation, noisy_test) {
  alpha <- check_number(alpha, "alpha", lower = 1e-6, allow_infinite = TRUE)
  if (is.finite(alpha) && alpha > 1e12) alpha <- Inf
  eta <- check_number(eta, "eta", lower = 0, upper = 1e6)
  L <- check_count(L, "L", upper = 1000)
  M <- check_count(M, "M", upper = 1000)
  noise <- check_vector(noise, "noise", length = 2L, lower = 0, upper = 1e6)
  if (!is.null(names(noise)) && any(nzchar(names(noise))) && !setequal(names(noise), c("output", "activation"))) {
    abort_input("`noise` must be c(output = , activation = ), or two numbers in this order.", "noise")
  }
  named <- !is.null(names(noise)) && all(nzchar(names(noise)))
  noise <- if (named) noise[c("output", "activation")] else c(output = noise[[1L]], activation = noise[[2L]])
  teacher <- check_symmetric(if (is.numeric(teacher) && length(teacher) == 1L) matrix(teacher) else teacher, "teacher")
  if (nrow(teacher) != M) {
    abort_input(sprintf("`teacher` must have one row and column per hidden unit of the teacher (%d), but it has %d.", M, nrow(teacher)), "teacher")
  }
  if (!is_semidefinite(teacher)) abort_input("`teacher` must be positive semi-definite: no vectors have these overlaps.", "teacher")
  if (max(abs(teacher)) > 1e6) abort_input("`teacher` must have entries of at most 1e6.", "teacher")
  list(alpha = alpha, eta = eta, L = L, M = M, noise = noise, teacher = unname(teacher),
       activation = check_choice(activation, c("erf", "linear"), "activation"), noisy_test = check_flag(noisy_test, "noisy_test"))
}

is_semidefinite <- function(x) core_overlaps_exist(x, matrix(0, nrow(x), 0L), matrix(0, 0L, 0L))

check_start_overlaps <- function(q0, L) {
  if (is_plain_numeric(q0) && length(q0) == 1L && is.null(dim(q0))) return(diag(check_number(q0, "q0", lower = 0, upper = 1e6), L))
  q <- unname(check_symmetric(q0, "q0"))
  if (nrow(q) != L) {
    abort_input(sprintf("`q0` must be one number or a matrix with one row and column per hidden unit (%d), but it has %d rows.", L, nrow(q)), "q0")
  }
  if (!is_semidefinite(q) || max(abs(q)) > 1e6) abort_input("`q0` must be positive semi-definite, with entries of at most 1e6.", "q0")
  q
}

overlaps_fit <- function(q, r, teacher) core_overlaps_exist(q, r, teacher)

# Random ones lie in the span of the teacher's vectors and are shortened where the student's are too short for them.
check_teacher_overlaps <- function(r0, q, settings) {
  if (is_plain_numeric(r0) && length(r0) == 1L && is.null(dim(r0))) {
    r0 <- check_number(r0, "r0", lower = 0, upper = 1e6)
    return(core_random_overlaps(r0, q, settings$teacher, core_seed()))
  }
  r <- unname(check_matrix(r0, "r0", max_abs = 1e6))
  if (!identical(dim(r), c(settings$L, settings$M))) {
    abort_input(sprintf("`r0` must be one number or a %d x %d matrix (hidden units of student and teacher), not %s.", settings$L, settings$M,
                        describe(r0)), "r0")
  }
  r
}

# Two student units with equal overlaps with everything move alike.
symmetric_start <- function(q, r) {
  alike <- function(i, j) all(r[i, ] == r[j, ]) && q[i, i] == q[j, j] && all(q[i, -c(i, j)] == q[j, -c(i, j)])
  pairs <- utils::combn(nrow(r), 2L)
  any(apply(pairs, 2L, function(pair) alike(pair[1L], pair[2L])))
}

#' @rdname committee_curve
#' @param x,object A learning curve.
#' @export
print.granary_committee_curve <- function(x, ...) {
  s <- x$settings
  cli::cat_line("granary: learning curve of a soft committee machine, ", describe_committee(s))
  print_curve_points(x)
  if (!is.na(x$diverged)) cli::cat_line("DIVERGES at t = ", format(x$diverged, digits = 4L))
  if (s$activation == "erf" && is.finite(s$alpha) && (s$alpha < 3 || s$L > 1L)) {
    cli::cat_line("The theory is approximate here (", if (s$alpha < 3) "alpha below 3" else "several hidden units, long times",
                  "): compare with sim_committee().")
  }
  invisible(x)
}

describe_committee <- function(s) {
  paste0("L = ", s$L, ", M = ", s$M, ", alpha = ", format(s$alpha, digits = 4L), ", eta = ", format(s$eta, digits = 4L), ", noise ",
         format(s$noise[["output"]], digits = 3L), " (output) and ",
         format(s$noise[["activation"]], digits = 3L), " (activations)", if (s$activation == "linear") ", linear")
}

#' @rdname committee_curve
#' @export
summary.granary_committee_curve <- function(object, ...) {
  seal(structure(list(curve = object, plateau = find_plateau(object), specialised = specialisation_time(object),
                 best = c(t = object$t[which.min(object$test)], test = min(object$test)),
                 overfitted = object$test[length(object$test)] / min(object$test) - 1), class = "summary_granary_committee_curve"))
}

# How far the best teacher unit of each student unit stands out from the second best, over the sum of both; the least over students.
specialisation <- function(R) {
  if (dim(R)[2L] < 2L || dim(R)[1L] < 2L) return(rep(NA_real_, dim(R)[3L]))
  apply(R, 3L, function(r) min(apply(abs(r), 1L, function(row) {
    top <- sort(row, decreasing = TRUE)
    (top[1L] - top[2L]) / max(top[1L] + top[2L], 1e-300)
  })))
}

# The longest stretch in which the error changes by less than 2% per e-folding of time while hidden units have not specialised.
find_plateau <- function(object) {
  special <- specialisation(object$R)
  if (all(is.na(special)) || length(object$t) < 5L) return(NULL)
  t <- object$t
  slope <- abs(diff(log(pmax(object$test, 1e-300)))) / diff(t) * pmax((t[-1L] + t[-length(t)]) / 2, 1)
  flat <- slope < 0.1 & special[-1L] < 0.5
  if (!any(flat)) return(NULL)
  runs <- rle(flat)
  ends <- cumsum(runs$lengths)
  starts <- ends - runs$lengths + 1L
  length_of <- ifelse(runs$values, t[ends + 1L] - t[starts], 0)
  best <- which.max(length_of)
  inside <- starts[best]:(ends[best] + 1L)
  c(from = t[starts[best]], to = t[ends[best] + 1L], height = stats::median(object$test[inside]))
}

specialisation_time <- function(object) {
  special <- specialisation(object$R)
  if (all(is.na(special))) return(NA_real_)
  # The start is random and may look special; count from the time after which the gap stays open.
  open <- special > 0.5
  if (!open[length(open)]) return(NA_real_)
  closed <- which(!open)
  if (length(closed) == 0L) object$t[1L] else object$t[max(closed) + 1L]
}

#' @export
print.summary_granary_committee_curve <- function(x, ...) {
  print(x$curve)
  number <- function(v) format(v, digits = 4L)
  if (!is.null(x$plateau)) {
    cli::cat_line("plateau at ", number(x$plateau[["height"]]), " from t = ", number(x$plateau[["from"]]), " to ", number(x$plateau[["to"]]))
  }
  if (x$curve$settings$L > 1L && x$curve$settings$M > 1L) {
    if (is.na(x$specialised)) {
      cli::cat_line("hidden units have not specialised by the end")
    } else {
      cli::cat_line("hidden units specialised from t = ", number(x$specialised))
    }
  }
  cli::cat_line("smallest test error ", number(x$best[["test"]]), " at t = ", number(x$best[["t"]]),
                if (x$overfitted > 0.01) paste0(", then overfitting: ", number(100 * x$overfitted), "% above it at the end"))
  invisible(x)
}

#' @rdname committee_curve
#' @export
predict.granary_committee_curve <- function(object, t = object$t, ...) {
  refuse_dots(...)
  t <- check_times(t)
  found <- committee_at(object$settings, c(0, t))
  values <- function(y) c(y, rep(Inf, length(t) + 1L - length(y)))[-1L]
  data.frame(t = t, test = values(found$test), train = values(found$train))
}

#' @rdname committee_curve
#' @param type For `plot()`: the errors, or the overlaps of each hidden unit of the student with each of the teacher's.
#' @param ... For `plot()`: further curves and simulations to draw into the same picture, and graphical parameters. Otherwise not used.
#' @export
plot.granary_committee_curve <- function(x, ..., type = c("errors", "overlaps")) {
  type <- check_choice(type, c("errors", "overlaps"))
  extra <- list(...)
  is_curve <- vapply(extra, inherits, NA, "granary_learning_curve")
  if (type == "errors") return(draw_learning_curves(c(list(x), extra[is_curve]), "both", extra[!is_curve]))
  R <- matrix(x$R, ncol = dim(x$R)[3L])
  L <- dim(x$R)[1L]
  M <- dim(x$R)[2L]
  colours <- rep(grDevices::hcl.colors(max(3L, L), "Dark 3")[seq_len(L)], M)
  draw(graphics::matplot, x$t, t(R), type = "l", lty = rep(seq_len(M), each = L), col = colours, lwd = 2, xlab = "time (updates per input)",
       ylab = "overlap of student and teacher", user = extra[!is_curve])
  graphics::legend("topleft", paste0("R", rep(seq_len(L), M), rep(seq_len(M), each = L)), lty = rep(seq_len(M), each = L), col = colours, bty = "n",
                   cex = 0.8)
  invisible()
}
