#' Blind kriging: the trend is found in the data
#'
#' Kriging whose trend is built step by step from polynomial effects of the inputs and their products, those that the data ask for.
#'
#' @details
#' Inputs are coded to \eqn{z \in [-1, 1]}{z in [-1, 1]}. The effects of an input are the polynomials that are orthogonal on `degree + 1` equally
#' spaced levels; for degree 2 \eqn{\sqrt{3/2}\,z}{sqrt(3/2) z} and \eqn{\sqrt{1/2}(3z^2 - 2)}{sqrt(1/2) (3 z^2 - 2)}. Candidates \eqn{U} are all
#' of them and all products of two effects of different inputs. An effect has prior variance \deqn{r_l = \frac{3 - 3\psi(2)}{3 + 4\psi(1) +
#' 2\psi(2)}, \quad r_q = \frac{3 - 4\psi(1) + \psi(2)}{3 + 4\psi(1) + 2\psi(2)}}{r_l = (3 - 3 psi(2)) / (3 + 4 psi(1) + 2 psi(2)), r_q = (3 - 4
#' psi(1) + psi(2)) / (3 + 4 psi(1) + 2 psi(2))} (degree 2), \eqn{\psi(h)}{psi(h)} the correlation of its input at lag \eqn{h}, products the
#' product of their factors' variances; for higher degrees \eqn{r_k = u_k'\Psi u_k/1'\Psi 1}{r_k = u_k'Psi u_k / 1'Psi 1} over the levels, of
#' which these are the case of three.
#'
#' 1. Ordinary kriging is fitted. 2. The effects' posterior means are \eqn{b = \mathrm{diag}(r)U'C^{-1}(y - V\hat\beta)}{b = diag(r) U'C^-1 (y -
#' Vb)}, \eqn{V} the trend so far; the one with the largest \eqn{|b|} joins. 3. The leave-one-out error (CVPE) is recorded, the lengthscales being
#' held; up to `max_terms` steps. 4. The size with the smallest CVPE is kept. 5. Lengthscales are learnt again with that trend, and kept if the
#' CVPE drops.
#'
#' The matrix is factored once for the whole path: a step costs \eqn{O(n^2)}.
#'
#' @section Which method when:
#' For few runs of a function with strong main effects. With many runs [kriging()] is as good and simpler: the process then learns what the trend would
#' say. Where the trend is known, give it to [kriging()].
#'
#' @param x Inputs, one run per row: a matrix, a data frame, or a vector for one input; or a formula.
#' @param y Responses.
#' @param formula,data A formula, response ~ inputs, and a data frame with its variables.
#' @param weights,subset,na.action,offset As in [stats::lm()]; weights and offsets are refused.
#' @param degree Largest degree of the effects, 1 to 4; 2 in the paper.
#' @param max_terms Largest number of steps; `NULL` for as many as there are candidates, at most the number of runs less two.
#' @param kernel,nugget,noise_var,method,prior,n_starts,lower,upper,optimizer,max_iter,tol,threads As in [kriging()].
#' @param ... Passed from the formula method to the default method.
#' @return An object of class `granary_blind_kriging` and `granary_kriging`, with all [methods][granary_kriging] of that, and with `path`: a data
#'   frame with the term that joined in each step and the CVPE after it; `relearnt`, whether the lengthscales learnt again were kept.
#' @references Joseph, Hung and Sudjianto (2008). Blind kriging: a new method for developing metamodels. *Journal of Mechanical Design* 130,
#' 031102.
#'
#' Couckuyt, Dhaene and Demeester (2014). ooDACE toolbox: a flexible object-oriented Kriging implementation. *Journal of Machine Learning
#' Research* 15, 3183--3186.
#' @seealso [kriging()], [cokriging()], [kriging_diagnose()], [gp_parameter_sample()], [sparse_gp()], [gp_classify()]
#' @export
#' @examples
#' set.seed(3)
#' x <- cbind(a = runif(20), b = runif(20), c = runif(20))
#' y <- 3 * x[, "a"] + 4 * x[, "b"]^2 + 0.2 * sin(9 * x[, "c"])
#' fit <- blind_kriging(x, y, kernel = "se", n_starts = 2, max_terms = 6)
#' fit
#' fit$path
#' blind_kriging(y ~ a + b + c, data.frame(x, y = y), n_starts = 2, max_terms = 3)$beta
blind_kriging <- function(x, ...) {
  UseMethod("blind_kriging", formula_or_first(x, ...))
}

#' @rdname blind_kriging
#' @export
blind_kriging.formula <- function(formula, data = NULL, weights, subset, na.action, offset, ...) {
  formula_fit(function(x, y, ...) blind_kriging.default(unname_rows(x), y, ...), "blind_kriging", takes = character(), ...)
}

#' @rdname blind_kriging
#' @export
blind_kriging.default <- function(x, y, degree = 2, max_terms = NULL, kernel = "matern52", nugget = NULL, noise_var = NULL,
                                  method = c("ML", "REML", "LOO"), prior = NULL, n_starts = 10, lower = NULL, upper = NULL, optimizer = NULL,
                                  max_iter = 500, tol = 1e-6, threads = NULL, ...) {
  call <- match.call()
  refuse_dots(...)
  if (missing(x)) fail_missing("x")
  method <- check_choice(method, c("ML", "REML", "LOO"))
  degree <- check_count(degree, upper = 4)
  max_terms <- check_count(max_terms, lower = 0, allow_null = TRUE)
  runs <- check_runs(x, y, noise_var, check_nugget(nugget))
  nugget <- runs$nugget
  kernel <- kriging_kernel(kernel, runs$x, NULL, NULL)
  types <- vapply(kernel_leaves(kernel), `[[`, "", "type")
  if (!all(types %in% c(radial_types, "bias", "white"))) {
    abort_input("`kernel` must be stationary: the prior of the effects comes from its correlation at given lags.", "kernel")
  }
  settings <- kriging_settings(nugget, method, NULL, n_starts, lower, upper, optimizer, max_iter, tol, threads, prior)
  fit <- find_trend(krige(runs, make_trend(~1, runs$x), kernel, settings), runs, degree, max_terms, kernel, settings)
  fit$call <- generic_call(call, "blind_kriging")
  warn_on_bound(fit$at_bound)
  check_convergence(fit)
}

effect_labels <- c("lin", "quad", "cub", "quart")

find_trend <- function(ordinary, runs, degree, max_terms, kernel, settings) {
  x <- runs$x
  n <- nrow(x)
  as_blind <- function(fit, path, relearnt) {
    fit$path <- path
    fit$relearnt <- relearnt
    class(fit) <- c("granary_blind_kriging", class(fit))
    fit
  }
  start <- data.frame(step = 0L, term = "(Intercept)", cvpe = ordinary$cvpe, kept = TRUE, stringsAsFactors = FALSE)
  if (ordinary$s2 == 0 || n <= 2L) return(as_blind(ordinary, start, FALSE))
  low <- apply(x, 2L, min)
  width <- input_ranges(x)
  z <- unname(code_inputs(x, low, width))
  options <- list(degree = degree, max_terms = if (is.null(max_terms)) -1L else max_terms, half = unname(width) / 2 / ordinary$units$width)
  found <- core_blind_search(ordinary$core, z, options, progress_bar("blind kriging"))
  factors <- found$factors
  label <- function(j, k) paste0(effect_labels[k], "(", colnames(x)[j], ")")
  names <- ifelse(factors[, 3L] == 0L, label(factors[, 1L], factors[, 2L]),
                  paste(label(factors[, 1L], factors[, 2L]), label(pmax(factors[, 3L], 1L), factors[, 4L]), sep = ":"))
  best <- which.min(found$cvpe) - 1L
  path <- data.frame(step = seq_along(found$cvpe) - 1L, term = c("(Intercept)", names), cvpe = found$cvpe, kept = seq_along(found$cvpe) <= best + 1L,
                     stringsAsFactors = FALSE)
  if (best == 0L) return(as_blind(ordinary, path, FALSE))
  polynomial <- function(k) found$polynomials[, k]
  terms <- lapply(seq_len(best), function(s) {
    second <- factors[s, 3L] > 0L
    list(inputs = c(factors[s, 1L], if (second) factors[s, 3L]),
         polynomials = c(list(polynomial(factors[s, 2L])), if (second) list(polynomial(factors[s, 4L]))))
  })
  trend <- effects_trend(x, c(list(list(inputs = integer(), polynomials = list())), terms), c("(Intercept)", names[seq_len(best)]))
  held <- rebuild_kriging(ordinary, runs, trend)
  again <- tryCatch(krige(runs, trend, kernel, settings), granary_error_numeric = function(e) NULL)
  better <- !is.null(again) && again$cvpe < held$cvpe
  as_blind(if (better) again else held, path, better)
}

#' @export
print.granary_blind_kriging <- function(x, ...) {
  print.granary_kriging(x)
  kept <- sum(x$path$kept) - 1L
  cli::cat_line(sprintf("Search:       %d of %d effects kept, leave-one-out error %s without, %s with; lengthscales %s", kept, nrow(x$path) - 1L,
                        format(x$path$cvpe[1L], digits = 4L), format(x$cvpe, digits = 4L), if (x$relearnt) "learnt again" else "as without"))
  invisible(x)
}
