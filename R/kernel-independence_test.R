#' Test independence with kernels
#'
#' Are two or more variables independent? A test against dependence of any shape, for numbers, vectors, categories and everything else with a
#' kernel.
#'
#' @details
#' The statistic is a measure of dependence, by default the [hsic()].
#'
#' **More than two variables.** The measures of [kernel_dependence] then look at pairs, and three variables can depend on each other though any two
#' of them are independent. `"dhsic"` looks at all of them at once (Pfister and others): with kernel matrices \eqn{K^1, \dots, K^d}{K^1, ..., K^d},
#' \deqn{\frac1{n^2}\sum_{ij}\prod_k K^k_{ij} + \prod_k\frac1{n^2}\sum_{ij}K^k_{ij} - \frac2n\sum_i\prod_k\frac1n\sum_j K^k_{ij},}{
#'   1/n^2 sum_ij prod_k K^k_ij + prod_k (1/n^2 sum_ij K^k_ij) - 2/n sum_i prod_k (1/n sum_j K^k_ij),}
#' which for two variables is the HSIC. Its limit is zero only if all variables are independent together. It needs the kernel matrices, at most
#' 4000 observations, and \eqn{O(d n^2)} for each permutation.
#'
#' `"permutation"` compares it with its values after the observations of `y` (of all variables but the first, each by itself) were put in
#' random order; \eqn{p = (1 + b)/(1 + B)}{p = (1 + b) / (1 + B)} with \eqn{b} the number of the \eqn{B} `n_perm` that are at least as
#' large. Its level holds
#' exactly, for any sample size, kernel and measure. Kernel matrices are factorised and centred once, and permutations only reorder rows of the
#' factors,
#' at \eqn{O(n d^2)} each for rank \eqn{d}.
#'
#' `"gamma"`, for HSIC of two variables, takes the gamma law that has the mean and the variance of HSIC over all permutations. Both are computed
#' exactly
#' (Kazi-Aoual and others), so it takes no random numbers and no more time than HSIC itself; in the far tail it is an approximation.
#'
#' Random numbers come from R's stream, so `set.seed()` fixes the result, whatever the number of threads.
#'
#' @section Which method when:
#' `"permutation"` in general; `"gamma"` for very many tests, or for p-values far below \eqn{1/B}. `"hsic"` in general; `"coco"` reacts to one
#' strong
#' relation rather than to many weak ones; `"dhsic"` for the joint independence of three variables or more. For conditional independence see
#' [ci_test()]; for tables of categories alone the chi-squared test.
#'
#' @inheritParams kernel_dependence
#' @param measure The statistic: see [kernel_dependence]; `"dhsic"`: see Details.
#' @param method How to find its law; see Details.
#' @param n_perm Number of permutations.
#' @param kappa,theta,nu,form For `"kcc"`, `"kgv"` and `"kmi"`: see [kernel_dependence].
#' @return An object of class `granary_independence_test` and `htest`: a list with `statistic`, `p.value`, `parameter`, `method`, `data.name`, and
#'   `null`, the
#'   values after permutation or the `mean`, `variance`, `shape` and `scale` of the gamma law. `plot()` draws them.
#' @references
#' Gretton, Fukumizu, Teo, Song, Schoelkopf and Smola (2007). A kernel statistical test of independence. *Advances in Neural Information Processing
#' Systems* 20.
#'
#' Kazi-Aoual, Hitier, Sabatier and Lebreton (1995). Refined approximations to permutation tests for multivariate inference. *Computational
#' Statistics and
#' Data Analysis* 20, 643--656.
#'
#' Gretton, Herbrich, Smola, Bousquet and Schoelkopf (2005). Kernel methods for measuring independence. *Journal of Machine Learning Research* 6,
#' 2075--2129.
#'
#' Pfister, Buehlmann, Schoelkopf and Peters (2018). Kernel-based tests for joint independence. *Journal of the Royal Statistical Society B* 80,
#' 5--31.
#' @seealso [hsic()], [kernel_features()], [kernel_ica()], [kmi_bounds()]
#' @export
#' @examples
#' set.seed(1)
#' x <- rnorm(100)
#' y <- x^2 + rnorm(100)
#' test <- independence_test(x, y)
#' test
#' plot(test)
#' independence_test(x, y, method = "gamma")
#' independence_test(iris$Species, iris[, 1:4], measure = "coco", n_perm = 199)
#' independence_test(airquality[c("Wind", "Temp", "Day")])
#' # independent in pairs, not together
#' u <- sign(rnorm(60))
#' v <- sign(rnorm(60))
#' independence_test(list(u, v, u * v + rnorm(60, sd = 0.3)), measure = "dhsic", width = 1)
independence_test <- function(x, y = NULL, measure = c("hsic", "coco", "kcc", "kgv", "kmi", "dhsic"), method = c("permutation", "gamma"),
                              n_perm = 499, kernel = "gaussian", width = "median", kappa = 2e-2, theta = NULL, nu = NULL,
                              form = c("squared", "ridge"), density = NULL, rank_tol = 1e-5, max_rank = NULL, threads = NULL, ...) {
  refuse_dots(...)
  labels <- argument_labels(substitute(x), substitute(y))
  measure <- check_choice(measure, c(dependence_measures, "dhsic"))
  method <- check_choice(method, c("permutation", "gamma"))
  n_perm <- check_count(n_perm, upper = 1e7)
  form <- check_choice(form, c("squared", "ridge"))
  joint <- measure == "dhsic"
  settings <- dependence_settings(if (joint) "hsic" else measure, kernel, kappa, theta, form, nu, density, rank_tol, max_rank)
  variables <- dependence_variables(x, y, kernel, width, settings$density, settings$parzen, labels, min_rows = 5L)
  settings <- without_windows(settings, variables)
  constant <- vapply(variables, function(v) isTRUE(v$constant), NA)
  names <- vapply(variables, `[[`, "", "name")
  if (any(constant)) abort_input(sprintf("`%s` is constant: there is nothing to test.", names[constant][1L]), names[constant][1L])
  if (method == "gamma" && (measure != "hsic" || length(variables) > 2L)) {
    abort_input("method = \"gamma\" is for the HSIC of two variables. Use method = \"permutation\".", "method")
  }
  n <- nrow(variables[[1L]]$x)
  if (joint && n > 4000L) {
    abort_input(sprintf("measure = \"dhsic\" needs the kernel matrices of at most 4000 observations, but there are %d: take a sample of them.", n),
                "measure")
  }
  threads <- dependence_threads(variables, threads)
  progress <- progress_bar("test of independence")
  if (method == "gamma") {
    raw <- core_gamma_test(core_variables(variables), dependence_options(settings, threads), progress)
    null <- unlist(raw[c("mean", "variance", "shape", "scale")])
    parameter <- c(shape = raw$shape, scale = raw$scale)
  } else {
    options <- c(dependence_options(settings, threads), list(joint = joint, n_perm = n_perm))
    raw <- core_permutation_test(core_variables(variables), options, core_seed(), progress)
    null <- raw$permuted
    parameter <- c(permutations = n_perm)
    if (!is.finite(raw$statistic)) warn_undefined(measure)
  }
  title <- if (joint) "joint Hilbert-Schmidt independence criterion" else
    sub("^(Hilbert)|^(.)", "\\1\\L\\2", measure_titles[[measure]], perl = TRUE)
  seal(structure(
    list(
      statistic = stats::setNames(raw$statistic, if (joint) "dHSIC" else toupper(measure)), parameter = parameter, p.value = raw$p.value,
      method = paste0("Test of independence by the ", title, if (!joint && length(variables) > 2L) " of all pairs", " (",
                      if (method == "gamma") "gamma approximation" else "permutations", ")"),
      alternative = "dependent", data.name = paste(names, collapse = " and "), null = null
    ),
    class = c("granary_independence_test", "htest")
  ))
}

#' @rdname independence_test
#' @export
plot.granary_independence_test <- function(x, ...) {
  value <- unname(x$statistic)
  label <- names(x$statistic)
  title <- sprintf("p = %s", format.pval(x$p.value, digits = 3L))
  if (!is.null(names(x$null))) {
    shape <- x$null[["shape"]]
    scale <- x$null[["scale"]]
    at <- seq(0, max(value, stats::qgamma(0.9999, shape, scale = scale)) * 1.05, length.out = 401L)
    draw(graphics::plot, at, stats::dgamma(at, shape, scale = scale), type = "l", lwd = 2, xlab = label, ylab = "density", main = title,
         user = list(...))
  } else {
    shown <- x$null[is.finite(x$null)]
    if (length(shown) == 0L) abort_input("There is nothing to draw: the statistic was undefined after every permutation.", "x")
    draw(graphics::hist, shown, breaks = "FD", col = "grey85", border = "white", xlab = label, main = title,
         xlim = range(shown, value[is.finite(value)]), user = list(...))
  }
  if (is.finite(value)) graphics::abline(v = value, col = sign_colours[["negative"]], lwd = 2)
  invisible()
}
