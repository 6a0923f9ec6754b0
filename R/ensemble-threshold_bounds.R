#' Chernoff's law
#'
#' Density, distribution function, quantiles and draws of the place where two-sided Brownian motion less a parabola,
#' \eqn{W(t) - t^2}, is largest: the law behind cut points, monotone regression and other estimates of rate
#' \eqn{n^{-1/3}}{n^(-1/3)}.
#'
#' @details
#' Symmetric about 0, with variance 0.2636. Densities have a relative error below 1e-9, from a Chebyshev sum of
#' Groeneboom's formula with Airy functions.
#'
#' @section Which method when:
#' `qchernoff()` for intervals of one's own; those of thresholds are in [threshold_classifier()].
#'
#' @param x,q Places.
#' @param p Probabilities.
#' @param n Number of draws.
#' @return Numbers.
#' @references
#' Groeneboom, P. (1989). Brownian motion with a parabolic drift and Airy functions. *Probability Theory and Related
#' Fields* 81, 79-109.
#'
#' Groeneboom, P. and Wellner, J. A. (2001). Computing Chernoff's distribution. *Journal of Computational and Graphical
#' Statistics* 10, 388-400.
#' @seealso [threshold_classifier()], [threshold_bounds()]
#' @name chernoff
#' @examples
#' qchernoff(c(0.9, 0.95, 0.975))
#' pchernoff(1)
#' dchernoff(c(0, 0.5, 1))
#' curve(dchernoff, -2, 2)
#' set.seed(1)
#' var(rchernoff(1000))
NULL

#' @rdname chernoff
#' @export
dchernoff <- function(x) chernoff_values(x, "x", "density")

#' @rdname chernoff
#' @export
pchernoff <- function(q) chernoff_values(q, "q", "probability")

#' @rdname chernoff
#' @export
qchernoff <- function(p) {
  p <- check_vector(p, "p", lower = 0, upper = 1, allow_na = TRUE)
  stats::setNames(na_for_nan(core_chernoff(unname(p), "quantile")), names(p))
}

#' @rdname chernoff
#' @export
rchernoff <- function(n) core_chernoff(stats::runif(check_count(n, lower = 0, upper = 1e8)), "quantile")

chernoff_values <- function(x, arg, what) {
  x <- check_vector(x, arg, allow_na = TRUE, min_length = 0L)
  stats::setNames(na_for_nan(core_chernoff(unname(x), what)), names(x))
}

#' Limits, rates and bounds for thresholds
#'
#' What theory says of empirical risk minimisers with thresholds: the scale of the limit laws, the excess risk, rates
#' under other margins, the jump, and a bound that holds for every sample size.
#'
#' @details
#' \describe{
#' \item{`"smooth"`}{from the slopes of \eqn{P(Y = 1 | x)} and the densities of \eqn{x} at the cuts: scales
#'   \eqn{(f^2 g)^{-1/3}}{(f^2 g)^(-1/3)} of \eqn{n^{1/3}(\hat a - a)}{n^(1/3)(a - a*)}, and with `n` the half-width
#'   of intervals and the mean and standard deviation of the excess risk.}
#' \item{`"margin"`}{with \eqn{|1 - 2F| g \ge c |x - a|^\epsilon}{|1 - 2 F| g >= c |x - a|^eps}: the rates
#'   \eqn{n^{-1/(1+2\epsilon)}}{n^(-1/(1 + 2 eps))} of cuts and
#'   \eqn{n^{-(1+\epsilon)/(1+2\epsilon)}}{n^(-(1 + eps)/(1 + 2 eps))} of the excess risk; `eps = 1` is smooth,
#'   `eps = 0` a jump.}
#' \item{`"jump"`}{with shares `left` below and `right` above 1/2: \eqn{P(D \ge m)}{P(D >= m)} of the excess of errors
#'   of the true cut over the best one, for \eqn{m} = 0, ..., 10, and draws of the limit set with `n_draws`.}
#' \item{`"bound"`}{\eqn{P(\mathrm{excess} > r^2 + (w/r)^2 \, 2x/n) \le e^{-x}}{P(excess > r^2 + (w/r)^2 2 x/n) <= e^-x}
#'   where \eqn{r^2 = A w(r)/\sqrt n}{r^2 = A w(r)/sqrt(n)}, at `level`.}
#' }
#'
#' @section Which method when:
#' `threshold_bounds()` to plan a study of a marker or to check a simulation; for intervals from data see
#' [threshold_classifier()].
#'
#' @param what Which calculator.
#' @param n Sample size, or `NULL`.
#' @param slope,density Slopes and densities at the cuts.
#' @param eps Exponent of the margin.
#' @param left,right Shares of positives on both sides of a jump.
#' @param n_draws Draws of the limit set of a jump; 0 for none.
#' @param c,A Constants of the margin and of the entropy.
#' @param level Level.
#' @return A data frame; for `"jump"` with draws a list of `law` and `draws` (`from`, `to`, `errors`, the ends and the
#'   value of the minimum, in units of \eqn{t = n(a - a^*)}{t = n (a - a*)}).
#' @references Mohammadi, L. and van de Geer, S. (2005). Asymptotics in empirical risk minimization. *Journal of Machine
#'   Learning Research* 6, 2027-2047.
#' @seealso [threshold_classifier()], [dchernoff()]
#' @export
#' @examples
#' threshold_bounds("smooth", n = 1000, slope = 1, density = 1)
#' threshold_bounds("margin", eps = c(0, 1, 2))
#' threshold_bounds("jump", left = 0.4, right = 0.7)
threshold_bounds <- function(what = c("smooth", "margin", "jump", "bound"), n = NULL, slope = NULL, density = 1,
                             eps = 1, left = NULL, right = NULL, n_draws = 0,
                             c = 1, A = 1, level = 0.95) {
  what <- check_choice(what, base::c("smooth", "margin", "jump", "bound"))
  n <- check_count(n, allow_null = TRUE)
  level <- check_number(level, lower = 0, upper = 1, strict_lower = TRUE, strict_upper = TRUE)
  switch(what,
    smooth = smooth_bounds(n, slope, density, level),
    margin = {
      eps <- check_vector(eps, "eps", lower = 0)
      out <- data.frame(eps = eps, cut_rate = 1 / (1 + 2 * eps), risk_rate = (1 + eps) / (1 + 2 * eps))
      if (!is.null(n)) out[base::c("cut", "risk")] <- list(n^-out$cut_rate, n^-out$risk_rate)
      out
    },
    jump = jump_bounds(left, right, density, n_draws),
    bound = {
      n <- check_count(n)
      found <- core_risk_bound(n, check_number(eps, lower = 0), check_number(c, lower = 0, strict_lower = TRUE),
                               check_number(A, lower = 0, strict_lower = TRUE), level)
      data.frame(n = n, r = found$r, bound = found$bound, level = level)
    }
  )
}

smooth_bounds <- function(n, slope, density, level) {
  slope <- check_vector(slope, "slope")
  density <- check_vector(density, "density", lower = 0, strict_lower = TRUE)
  if (length(density) == 1L) density <- rep(density, length(slope))
  if (length(density) != length(slope)) {
    abort_input(sprintf("`density` must have one value per slope, %d, or one.", length(slope)), "density")
  }
  if (any(slope == 0)) abort_input("`slope` must not be 0: the cube-root law needs a slope.", "slope")
  found <- core_smooth_limit(unname(slope), unname(density))
  out <- data.frame(slope = slope, density = density, scale = found$scale,
                    excess = found$excess_scale * chernoff_variance)
  if (!is.null(n)) {
    out$half_width <- core_chernoff(0.5 + level / 2, "quantile") * out$scale * n^(-1 / 3)
    out$excess_mean <- found$excess_mean * n^(-2 / 3)
    out$excess_sd <- found$excess_sd * n^(-2 / 3)
  } else {
    out$excess_mean <- found$excess_mean
    out$excess_sd <- found$excess_sd
  }
  out
}

chernoff_variance <- 0.26355964013261

jump_bounds <- function(left, right, density, n_draws) {
  left <- check_number(left, "left", lower = 0, upper = 0.5, strict_upper = TRUE)
  right <- check_number(right, "right", lower = 0.5, upper = 1, strict_lower = TRUE)
  density <- check_number(density, "density", lower = 0, strict_lower = TRUE)
  n_draws <- check_count(n_draws, "n_draws", lower = 0, upper = 1e7)
  law <- data.frame(m = 0:10, prob = vapply(0:10, function(m) core_jump_tail(m, left, right), 0))
  if (n_draws == 0L) return(law)
  draws <- core_poisson_argmin(left, right, density, n_draws, core_seed())
  list(law = law, draws = data.frame(from = draws[, 1L], to = draws[, 2L], errors = draws[, 3L]))
}

#' Labels with thresholds
#'
#' Uniform numbers with labels whose probability crosses 1/2 once, three times, or jumps across it.
#'
#' @details
#' \eqn{P(Y = 1 | x)} is \eqn{x} (`"line"`), \eqn{0.5 - 0.4 \cos(3 \pi x)}{0.5 - 0.4 cos(3 pi x)} with cuts at 1/6, 1/2
#' and 5/6 (`"cosine"`), 0.4 left and 0.7 right of 1/2 (`"step"`), or \eqn{1/2 + 4 (x - 1/2)^3}{1/2 + 4 (x - 1/2)^3}
#' (`"cubic"`, a flat crossing).
#'
#' @section Which method when:
#' For studies of [threshold_classifier()] with a known truth.
#'
#' @param n Number of rows.
#' @param type Which probability.
#' @return A list with `x`, `y` (a factor with levels -1 and 1), `prob`, and `truth`, the cuts.
#' @seealso [threshold_classifier()]
#' @export
#' @examples
#' set.seed(1)
#' str(sim_thresholds(5))
sim_thresholds <- function(n, type = c("line", "cosine", "step", "cubic")) {
  n <- check_count(n, upper = 1e8)
  type <- check_choice(type, c("line", "cosine", "step", "cubic"))
  x <- stats::runif(n)
  prob <- switch(type, line = x, cosine = 0.5 - 0.4 * cos(3 * pi * x), step = ifelse(x < 0.5, 0.4, 0.7),
                 cubic = 0.5 + 4 * (x - 0.5)^3)
  truth <- if (type == "cosine") c(1, 3, 5) / 6 else 0.5
  list(x = x, y = factor(ifelse(stats::runif(n) < prob, "1", "-1"), c("-1", "1")), prob = prob, truth = truth)
}

#' Simple cut points
#'
#' What [threshold_classifier()] should be compared with: the cut of a logistic regression, Youden's index, the first
#' split of a tree, and where a kernel estimate of the probability crosses 1/2.
#'
#' @details
#' `"logistic"` is where the fitted probability of a logistic regression is 1/2; `"youden"` maximises sensitivity plus
#' specificity; `"stump"` lowers Gini's impurity most; `"kernel"` is where the local regression of the labels crosses
#' 1/2, which is faster than \eqn{n^{-1/3}}{n^(-1/3)} where the probability is smooth, and biased where it is not. A
#' kernel estimate may have several crossings, or none.
#'
#' @section Which method when:
#' `"youden"` where both classes count the same whatever their size; the others as yardsticks.
#'
#' @param x Numbers, one per row.
#' @param y Two classes; the second level counts as positive.
#' @param method Which cut.
#' @param width Width of the local regression, or `NULL`.
#' @return A data frame with `cut`, and `risk`, the share of errors of the rule that calls rows above it positive (for
#'   several cuts: labels in turn).
#' @seealso [threshold_classifier()]
#' @export
#' @examples
#' set.seed(1)
#' d <- sim_thresholds(500)
#' threshold_baseline(d$x, d$y, "youden")
#' threshold_baseline(d$x, d$y, "kernel")
threshold_baseline <- function(x, y, method = c("logistic", "youden", "stump", "kernel"), width = NULL) {
  method <- check_choice(method, c("logistic", "youden", "stump", "kernel"))
  data <- threshold_data(x, y)
  if (length(unique(data$y)) < 2L) abort_input("`y` must have both classes.", "y")
  share <- mean(data$y)
  cuts <- switch(method,
    logistic = {
      fit <- suppressWarnings(stats::glm.fit(cbind(1, data$x), data$y, family = stats::binomial()))
      unname(-fit$coefficients[1L] / fit$coefficients[2L])
    },
    # the least of the errors' shares within the classes: costs one over their sizes
    youden = core_thresholds(data$x, data$y, data$weights,
                             threshold_options(1L, "negative", c(1 / (1 - share), 1 / share)))$thresholds,
    stump = stump_cut(data), kernel = kernel_cuts(data, width)
  )
  if (length(cuts) == 0L) return(data.frame(cut = numeric(), risk = numeric()))
  first <- if (method == "kernel") attr(cuts, "first") else -1
  label <- core_threshold_labels(data$x, as.double(cuts), first) > 0
  data.frame(cut = as.vector(cuts), risk = mean(label != (data$y > 0)))
}

stump_cut <- function(data) {
  order <- order(data$x)
  x <- data$x[order]
  up <- cumsum(data$y[order])
  n <- length(x)
  at <- which(x[-n] < x[-1L])
  if (length(at) == 0L) return(numeric())
  impurity <- up[at] * (1 - up[at] / at) + (up[n] - up[at]) * (1 - (up[n] - up[at]) / (n - at))
  best <- at[which.min(impurity)]
  (x[best] + x[best + 1L]) / 2
}

kernel_cuts <- function(data, width) {
  object <- list(x = data$x, y = factor(data$y, 0:1), weights = data$weights, n = length(data$x), levels = c("0", "1"))
  at <- seq(min(data$x), max(data$x), length.out = 401L)
  share <- threshold_local(object, at, width)$prob - 0.5
  known <- !is.nan(share)
  at <- at[known]
  share <- share[known]
  cross <- which(share[-1L] * share[-length(share)] < 0)
  cuts <- at[cross] - share[cross] * (at[cross + 1L] - at[cross]) / (share[cross + 1L] - share[cross])
  structure(cuts, first = if (length(share) > 0L && share[1L] < 0) -1 else 1)
}
