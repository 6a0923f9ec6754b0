#' Compare sparse approximations of a Gaussian process
#'
#' Fits several methods of [sparse_gp()] to the same data with the same kernel and the same inducing inputs, and sets evidence, accuracy on new data,
#' calibration, distance to the exact process, and time side by side.
#'
#' @details
#' With test responses \eqn{y_*}, means \eqn{\mu} and variances \eqn{s^2} of new observations: `smse` is
#' \eqn{\sum (y_* - \mu)^2 / \sum (y_* - \bar y)^2}{sum (y* - mu)^2 / sum (y* - mean of y)^2}, `nlpd` the mean of
#' \eqn{-\log N(y_*; \mu, s^2)}{-log N(y*; mu, s2)},
#' `coverage` the share of responses inside the central 95 percent interval.
#' With `reference = TRUE` and at most 3000 rows, the exact process with the parameters of each fit is the standard for it: `kl` is the mean
#' over the new rows of the divergence
#' \eqn{KL(p \| q)}{KL(p || q)} of the two normal distributions of \eqn{f_*}{f*} (infinite or huge where error bars collapse), and `kl_evidence`
#' the difference
#' of the exact and the approximate log evidence. `kl` is `NA` where variances are negative (`"nystrom"`).
#'
#' @section Which method when:
#' `sparse_gp_compare()` on a part of the rows before [sparse_gp()] is run on all; the exact process is fitted beside them where that is affordable.
#'
#' @param x,y Data, as for [sparse_gp()].
#' @param newdata,newy Test inputs and responses; `NULL` for a random fifth of the rows, left out of the fits.
#' @param methods Methods of [sparse_gp()]. Names that start with an `"a"` before a method, as `"asor"`, `"afitc"`, `"apitc"`, stand for
#'   augmented predictions.
#' @param inducing,select,kernel,... As for [sparse_gp()]. The inducing inputs are chosen once, by the first method that has any, unless `select
#'   = "optimize"`.
#' @param hyper `"ml2"` to learn parameters for each method, `"fixed"` to take them as given, `"shared"` to learn them once, by the first method.
#' @param reference Compare with the exact process, if there are at most 3000 rows?
#' @return A data frame of class `granary_sparse_comparison`, one row per method, with columns `method`, `log_evidence`, `smse`, `nlpd`,
#'   `coverage`, `kl`, `kl_evidence`,
#'   `fit_seconds` and `predict_seconds`; the fits are in the attribute `fits`.
#' @references
#' Quinonero-Candela and Rasmussen (2005). A unifying view of sparse approximate Gaussian process regression. *Journal of Machine Learning Research*
#' 6, 1939--1959.
#' @seealso [sparse_gp()], [rvm()], [kriging()], [gp_classify()], [bayes_opt()], [gp_parameter_sample()]
#' @export
#' @examples
#' set.seed(1)
#' x <- runif(150, 0, 6)
#' y <- sin(2 * x) + 0.3 * x + rnorm(150, sd = 0.2)
#' k <- k_se(lengthscale = 0.5)
#' sparse_gp_compare(x, y, methods = c("sor", "dtc", "fitc", "asor"), inducing = 8, kernel = k,
#'                hyper = "fixed", noise_var = 0.05)
sparse_gp_compare <- function(x, y, newdata = NULL, newy = NULL, methods = c("sod", "sor", "dtc", "fitc", "pitc", "vfe"), inducing = 100,
                           select = c("kmeans", "pivchol", "random", "info", "posterior", "evidence", "optimize"), kernel = "se",
                           hyper = c("ml2", "fixed", "shared"), reference = TRUE, ...) {
  x <- check_process_inputs(x)
  y <- check_response(y, nrow(x))$y
  hyper <- check_choice(hyper, c("ml2", "fixed", "shared"))
  select <- check_choice(select, sparse_rules)
  reference <- check_flag(reference)
  known <- c(sparse_methods, paste0("a", setdiff(sparse_methods, c("sod", "nystrom", "exact"))))
  if (!is.character(methods) || length(methods) == 0L || !all(methods %in% known) || anyDuplicated(methods) > 0L) {
    fail_input("methods", paste("different names among", paste0("\"", known, "\"", collapse = ", ")), describe(methods))
  }
  split <- comparison_rows(x, y, newdata, newy)
  if (is.character(inducing)) fail_input("inducing", "a number or a matrix of inputs", describe(inducing))
  fits <- list()
  base_of <- function(method) if (method %in% sparse_methods) method else substring(method, 2L)
  inducing_now <- inducing
  kernel_now <- kernel
  hyper_now <- if (hyper == "shared") "ml2" else hyper
  noise <- list(...)$noise_var
  pass <- list(...)
  seconds <- c()
  for (method in unique(vapply(methods, base_of, ""))) {
    many <- if (is.matrix(inducing_now) && method == "sod") nrow(inducing_now) else inducing_now
    arguments <- utils::modifyList(c(list(x = split$x, y = split$y, method = method, inducing = many,
                                          select = if (is.matrix(many) || (select == "optimize" && method == "sod")) "kmeans" else select,
                                          kernel = kernel_now, hyper = hyper_now), pass), list(noise_var = noise))
    started <- proc.time()[["elapsed"]]
    fits[[method]] <- do.call(sparse_gp.default, arguments)
    seconds[method] <- proc.time()[["elapsed"]] - started
    if (select != "optimize" && !is.matrix(inducing_now) && !method %in% c("sod", "exact")) inducing_now <- fits[[method]]$inducing
    if (hyper == "shared" && hyper_now == "ml2") {
      hyper_now <- "fixed"
      kernel_now <- fits[[method]]$kernel
      noise <- fits[[method]]$noise_var
    }
  }
  exact <- exact_references(fits, split, reference)
  score <- function(method) {
    fit <- fits[[base_of(method)]]
    started <- proc.time()[["elapsed"]]
    at <- suppressWarnings(predict(fit, split$newx, se = TRUE, augment = !method %in% sparse_methods))
    spent <- proc.time()[["elapsed"]] - started
    comparison_row(method, fit, at, split, exact[[base_of(method)]], seconds[[base_of(method)]], spent)
  }
  structure(do.call(rbind, lapply(methods, score)), class = c("granary_sparse_comparison", "data.frame"), fits = fits)
}

comparison_rows <- function(x, y, newdata, newy) {
  if (is.null(newdata)) {
    if (!is.null(newy)) abort_input("`newy` needs `newdata`, the inputs it belongs to.", "newdata")
    if (nrow(x) < 10L) abort_input("`newdata` must be given when there are fewer than 10 rows.", "newdata")
    left <- sample.int(nrow(x), nrow(x) %/% 5L)
    return(list(x = x[-left, , drop = FALSE], y = y[-left], newx = x[left, , drop = FALSE], newy = y[left]))
  }
  newx <- new_design(check_process_inputs(newdata), colnames(x), allow_sparse = FALSE, arg = "newdata")
  list(x = x, y = y, newx = newx, newy = if (!is.null(newy)) check_response(newy, nrow(newx))$y)
}

# The exact process with the parameters of each fit; fits that share them share it.
exact_references <- function(fits, split, reference) {
  if (!reference || nrow(split$x) > 3000L) return(list())
  cache <- list()
  lapply(fits, function(fit) {
    key <- paste(format(c(coef(fit$kernel), fit$noise_var), digits = 15L), collapse = " ")
    if (is.null(cache[[key]])) {
      full <- sparse_gp.default(split$x, split$y, method = "exact", kernel = fit$kernel, hyper = "fixed", noise_var = fit$noise_var, mean = fit$mean,
                                threads = fit$threads)
      cache[[key]] <<- list(at = predict(full, split$newx, se = TRUE), loglik = full$loglik)
    }
    cache[[key]]
  })
}

normal_divergence <- function(mean, sd, other_mean, other_sd) {
  log(other_sd / sd) + (sd^2 + (mean - other_mean)^2) / (2 * other_sd^2) - 0.5
}

comparison_row <- function(method, fit, at, split, exact, fit_seconds, predict_seconds) {
  row <- data.frame(method = method, log_evidence = fit$loglik, smse = NA_real_, nlpd = NA_real_, coverage = NA_real_, kl = NA_real_,
                    kl_evidence = NA_real_, fit_seconds = fit_seconds, predict_seconds = predict_seconds)
  if (!is.null(split$newy)) {
    sd <- sqrt(at$se.fit^2 + fit$noise_var)
    error <- split$newy - at$fit
    row$smse <- sum(error^2) / sum((split$newy - mean(split$y))^2)
    row$nlpd <- mean(0.5 * log(2 * pi * sd^2) + error^2 / (2 * sd^2))
    row$coverage <- mean(abs(error) <= stats::qnorm(0.975) * sd)
  }
  if (!is.null(exact)) {
    row$kl <- mean(normal_divergence(exact$at$fit, exact$at$se.fit, at$fit, at$se.fit))
    row$kl_evidence <- if (fit$method != "sod") exact$loglik - fit$loglik else NA_real_
  }
  row
}

#' @rdname sparse_gp_compare
#' @param digits Number of digits.
#' @export
print.granary_sparse_comparison <- function(x, digits = 4, ...) {
  digits <- check_count(digits, upper = 15)
  cli::cat_line("Sparse approximations of a Gaussian process")
  print(as.data.frame(unclass(x)[names(x)]), digits = digits, row.names = FALSE)
  invisible(x)
}
