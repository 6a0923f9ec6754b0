#' Kernel independent component analysis
#'
#' Separates linear mixtures of independent sources by the rotation of the whitened data whose components depend least on each other, measured with
#' kernels: robust to outliers, and indifferent to the shape of the source densities.
#'
#' @details
#' The model is \eqn{x = As + \mu}{x = A s + mu} with independent sources \eqn{s}, at most one of them Gaussian. The data are centred and
#' whitened, \eqn{z = Q(x - \mu)}{z =
#' Q (x - mu)}, and an orthogonal \eqn{R} is sought that minimises the dependence of the components of \eqn{Rz}; \eqn{W =
#' RQ} unmixes. Order, sign and
#' scale of sources cannot be known: here they have unit variance, are in the order of their part in the variance of `x`, and the largest entry of
#' each column of
#' \eqn{A} is positive.
#'
#' With two components every angle on a grid of one degree is tried, then refined: the minimum is the global one. With more, descent along
#' geodesics of the orthogonal
#' group starts from JADE (from FastICA for 16 components or more) and from random rotations where `n_starts` asks for them. Kernel matrices are
#' incomplete Cholesky
#' factors of rank \eqn{d} and gradients are exact, so a step is \eqn{O(mn^2d^2)} for \eqn{m} observations of \eqn{n} components. `polish` starts
#' again from the solution with half the `width`: a wide kernel finds the basin, a narrow one its bottom. Too narrow a kernel gains nothing: the
#' minimum is found as well (it is the one reached from the true sources), but it is that of a noisier function.
#'
#' \eqn{\nu}{nu} of `"kmi"` is fixed when a kernel comes into use; where the rule would leave the measure undefined, the rule `"safe"` takes its
#' place.
#'
#' @section Which method when:
#' On clean data `"kgv"` was the most exact at every size we tried; `"kmi"`, which has nothing to tune, comes next. With outliers `"kmi"`, `"hsic"`
#' or `"coco"`, or `"kgv"` with `kappa` about 0.1. [ica_baseline()] are faster, and less exact where kurtosis says little about the
#' sources.
#'
#' @param x Observed mixtures: a matrix or data frame of numbers, one row per observation.
#' @param k Number of components; `NULL` for all that the data have. Principal components beyond it are dropped.
#' @param measure What is minimised: see [kernel_dependence].
#' @param kernel `"gaussian"` or `"laplace"`, or a kernel of one input (see [kernels]).
#' @param width Scale of the kernel for components of unit variance. `NULL`: 1 for the Gaussian, 1/3 for the Laplace kernel; for `"kcc"` and
#'   `"kgv"` with more than 1000 rows 0.5 (Gaussian), as in the paper.
#' @param kappa Regularisation of `"kcc"` and `"kgv"`. `NULL`: 0.02 up to 1000 rows, else 0.002, as in the paper. In our experiments on 8 sources of
#'   4000 samples `width = 1` and `kappa = 0.02` were as exact.
#' @param nu For `"kmi"`: `"gram"`, `"safe"` or a number; see [kernel_dependence].
#' @param start Start: `"jade"`, `"fastica"`, `"random"`, or an unmixing matrix, one row per component. `NULL`: JADE, but FastICA for 16 components
#'   or more.
#' @param n_starts Number of starts; all but the first are random rotations. With two components one is enough.
#' @param polish Go on with half the width? `NULL`: yes, unless the default width has been halved already (`"kcc"` and `"kgv"` with the Gaussian
#'   kernel and more than 1000 rows). There the paper goes on to a quarter, which in our experiments made the errors larger: see the benchmark.
#' @param rank_tol Share of the trace of kernel matrices that may be left out. `NULL`: 1e-5 for Gaussian and smooth kernels, 0.01 for the Laplace
#'   kernel.
#' @param max_rank Largest rank of a factor. `NULL`: no bound, but 60 for kernels as rough as the Laplace one with three components or more, whose
#'   factors would otherwise have hundreds of columns.
#' @param tol Stop when no component turns by a larger angle.
#' @param max_iter Largest number of steps for each width.
#' @param threads Number of threads; `NULL` for `options(granary.threads)`.
#' @param ... Nothing: an argument that is not known is an error.
#' @return An object of class `granary_kernel_ica` and `granary_ica`: a list with
#' \item{W}{the unmixing matrix, one row per component: sources are `(x - mean) W'`}
#' \item{A}{the mixing matrix, one column per component}
#' \item{S}{the estimated sources, one column per component}
#' \item{mean, rotation, whitener}{\eqn{\mu}{mu}, \eqn{R} and \eqn{Q}}
#' \item{value, trace, nu}{the measure at the end, its course, and \eqn{\nu}{nu}}
#' \item{starts}{the value that was reached from each start: their spread shows local minima}
#' The methods (`predict()`, `coef()`, `fitted()`, `plot()`) are those of [ica_baseline()].
#' @references
#' Gretton, Herbrich, Smola, Bousquet and Schoelkopf (2005). Kernel methods for measuring independence. *Journal of Machine Learning Research* 6,
#' 2075--2129.
#'
#' Bach and Jordan (2002). Kernel independent component analysis. *Journal of Machine Learning Research* 3, 1--48.
#' @seealso [hsic()], [ica_baseline()], [sim_ica()]
#' @export
#' @examples
#' set.seed(1)
#' data <- sim_ica(300, c("c", "b", "g"))
#' fit <- kernel_ica(data$x)
#' fit
#' assess(fit, truth = data$mixing)
#' plot(fit)
#' plot(fit, type = "trace")
#' head(predict(fit, data$x[1:3, ]))
#' coef(fit)
#' tidy(fit)
kernel_ica <- function(x, k = NULL, measure = c("kmi", "hsic", "coco", "kcc", "kgv"), kernel = "gaussian", width = NULL, kappa = NULL,
                       nu = "gram", start = NULL, n_starts = 1, polish = NULL, rank_tol = NULL, max_rank = NULL, tol = 1e-4, max_iter = 100,
                       threads = NULL, ...) {
  refuse_dots(...)
  call <- match.call()
  data <- check_ica_data(x, k)
  measure <- check_choice(measure, c("kmi", "hsic", "coco", "kcc", "kgv"))
  width <- check_number(width, lower = 0, strict_lower = TRUE, allow_null = TRUE)
  kappa <- check_number(kappa, lower = 0, strict_lower = TRUE, allow_null = TRUE)
  nu <- if (is.character(nu)) check_choice(nu, c("gram", "safe")) else check_number(nu, lower = 0, strict_lower = TRUE)
  n_starts <- check_count(n_starts, upper = 1000)
  rank_tol <- check_number(rank_tol, lower = 0, upper = 1, strict_upper = TRUE, allow_null = TRUE)
  max_rank <- check_count(max_rank, allow_null = TRUE)
  tol <- check_number(tol, lower = 1e-10, upper = 0.1)
  max_iter <- check_count(max_iter)
  large <- nrow(data$x) > 1000L
  correlations <- measure %in% c("kcc", "kgv")
  halved <- correlations && large && is.null(width) && identical(kernel, "gaussian")  # the default width is 1/2 then
  polish <- if (is.null(polish)) !halved else check_flag(polish)
  if (is.null(kappa)) kappa <- if (large) 2e-3 else 2e-2
  if (is.character(kernel) && length(kernel) == 1L && kernel %in% c("gaussian", "laplace")) {
    if (is.null(width)) width <- if (kernel == "laplace") 1 / 3 else if (halved) 0.5 else 1
    make <- if (kernel == "gaussian") gaussian_kernel else laplace_kernel
    kernels <- lapply(if (polish) c(width, width / 2) else width, make, d = 1L, density = !correlations)
    rough <- kernel == "laplace"
    label <- kernel
  } else {
    if (!is.null(width)) abort_input("`width` goes with kernel = \"gaussian\" or \"laplace\"; other kernels have their own scales.", "width")
    base <- prepare_kernel(kernel, 1L)
    narrow <- map_leaves(base, function(k) {
      if (k$type %in% c("se", "matern", "rq", "powexp")) k$scales <- k$scales / 2
      k
    })
    kernels <- if (polish) list(base, narrow) else list(base)
    rough <- any(vapply(kernel_leaves(base), function(k) (k$type == "matern" && k$shape < 1) || (k$type == "powexp" && k$shape < 1.5), NA))
    label <- format(base)
  }
  options <- c(
    list(measure = measure, variances = if (correlations) "squared" else "none", kappa = kappa, nu = if (is.numeric(nu)) nu else 1,
         nu_rule = if (is.numeric(nu)) "gram" else nu, fixed_nu = is.numeric(nu),
         rank_tol = if (!is.null(rank_tol)) rank_tol else if (rough) 0.01 else 1e-5,
         max_rank = if (!is.null(max_rank)) max_rank else if (rough && data$components > 2L) 60L else 0L, tol = tol, max_iter = max_iter,
         threads = if (any(vapply(kernels, has_user_code, NA))) 1L else thread_count(threads), k = data$components, n_starts = n_starts),
    ica_start(start, data)
  )
  raw <- core_kernel_ica(data$x, kernels, options, core_seed(), progress_bar("kernel independent component analysis"))
  data_rank_note(data, raw)
  if (!is.finite(raw$value)) {
    abort_numeric("The measure is not defined at the start: use nu = \"safe\", another `measure`, or another `start`.")
  }
  fit <- new_ica("kernel_ica", raw, data, measure = measure, value = raw$value, nu = if (measure == "kmi") raw$nu, nu_raised = raw$nu_raised,
                 kappa = if (correlations) kappa, kernel = label, width = width,
                 trace = data.frame(kernel = raw$stage + 1L, value = raw$trace), starts = raw$starts, call = call)
  warn_gaussian(fit)
  check_convergence(fit, "Raise `max_iter`, or loosen `tol`.")
}

# The start as a name, or as an unmixing matrix.
ica_start <- function(start, data) {
  if (is.null(start)) return(list(start = if (data$components >= 16L) "fastica" else "jade"))
  if (is.character(start)) return(list(start = check_choice(start, c("jade", "fastica", "random"))))
  start <- check_matrix(start, "start")
  if (nrow(start) != data$components || ncol(start) != ncol(data$x)) {
    abort_input(sprintf("`start` must be an unmixing matrix with %d rows and %d columns, not %s.", data$components, ncol(data$x), describe(start)),
                "start")
  }
  list(start = "given", unmixing = unname(start))
}

check_ica_data <- function(x, components) {
  x <- check_matrix(x, "x", min_rows = 2L, max_abs = 1e100)
  components <- check_count(components, "k", allow_null = TRUE)
  if (!is.null(components) && components > ncol(x)) {
    abort_input(sprintf("`k` must be at most the number of columns, %d, but it is %d.", ncol(x), components), "k")
  }
  if (nrow(x) <= ncol(x)) {
    abort_input(sprintf("Independent components need more rows than columns, but `x` has %d rows and %d columns.", nrow(x), ncol(x)), "x")
  }
  wanted <- if (is.null(components)) ncol(x) else components
  list(x = unname(x), components = as.integer(wanted), names = variable_names(colnames(x), ncol(x)), rows = rownames(x))
}

data_rank_note <- function(data, raw) {
  if (nrow(raw$W) < data$components) {
    message(sprintf("The columns of `x` are linearly dependent: %d instead of %d components.", nrow(raw$W), data$components))
  }
}

new_ica <- function(class, raw, data, ..., call) {
  parts <- paste0("IC", seq_len(nrow(raw$W)))
  new_fit(
    unique(c(class, "ica")), W = matrix(raw$W, length(parts), dimnames = list(parts, data$names)),
    A = matrix(raw$A, ncol = length(parts), dimnames = list(data$names, parts)),
    S = matrix(raw$S, ncol = length(parts), dimnames = list(data$rows, parts)), mean = stats::setNames(raw$mean, data$names),
    rotation = raw$rotation, whitener = raw$whitener, columns = data$names, ..., call = call, convergence = raw$convergence
  )
}

excess_kurtosis <- function(s) colMeans(s^4) / colMeans(s^2)^2 - 3

# Two Gaussian sources cannot be told apart. Suspicious: two components whose third and fourth moments are those of a Gaussian, and which are no
# more
# dependent after a turn by 45 degrees than chance would have it.
warn_gaussian <- function(fit) {
  s <- fit$S
  m <- nrow(s)
  near <- which(abs(excess_kurtosis(s)) < 2.5 * sqrt(24 / m) & abs(colMeans(s^3)) < 2.5 * sqrt(6 / m))
  if (length(near) < 2L || m < 20L) return(invisible())
  pair <- s[, near[1:2]]
  turned <- pair %*% matrix(c(1, 1, -1, 1), 2L) / sqrt(2)
  if (independence_test(turned[, 1L], turned[, 2L], method = "gamma", width = 1)$p.value > 1e-3) {
    warn_input(sprintf(paste0("Components %d and %d look Gaussian, and any rotation of two Gaussian components is as independent: ",
                              "they are not identified."), near[1L], near[2L]), "x")
  }
}
