#' The variance of a cross-validated error
#'
#' How much a cross-validated error varies: for a result of [cv_error()] by any of its methods and by the conservative
#' estimate, which fits anew, or for bare means of splits from any other software.
#'
#' @details
#' For a vector of \eqn{J} means, `"nadeau_bengio"` is \eqn{(1/J + \rho/(1-\rho)) S^2}{(1/J + rho/(1 - rho)) S^2} with
#' the correlation \eqn{\rho}{rho} of two splits, by default \eqn{n_2/n}{n2/n}, and `"naive"` is \eqn{S^2/J}.
#'
#' `"conservative"` splits the rows into halves `n_rep` times and runs the same number of random splits with the same
#' test size in both: \eqn{\frac{1}{2M} \sum_m (\mu_{1m} - \mu_{2m})^2}{sum_m (mu_1m - mu_2m)^2 / (2M)}. It is unbiased
#' for training sets of \eqn{\lfloor n/2 \rfloor - n_2}{floor(n/2) - n2} rows, and so too large for yours.
#'
#' The moment approximation can be negative for very few rows; it is `NA` then, with a warning.
#'
#' @section Which method when:
#' `"exact"` wherever there is one; `"moment"` for absolute error and losses of your own with least squares;
#' `"nadeau_bengio"` for everything else, with random splits; `"conservative"` to stay on the safe side.
#'
#' @param object A result of [cv_error()], or the means of the splits.
#' @param method Which estimates; several may be given.
#' @param n1,n2 For means: rows trained on and tested in each split.
#' @param rho Correlation of two splits, or `NULL` for \eqn{n_2/n}{n2/n}.
#' @param n_rep Halvings of the conservative estimate.
#' @return A data frame with one row per method: `method`, `estimate`, `variance`, `std.error`, `df` of the t
#'   distribution for an interval.
#' @seealso [cv_error()], [cv_bounds()]
#' @references Nadeau, C. and Bengio, Y. (2003). Inference for the generalization error. *Machine Learning* 52, 239-281.
#' @export
#' @examples
#' # accuracies of 5 random splits, 90 rows to train and 30 to test
#' cv_variance(c(0.81, 0.79, 0.84, 0.80, 0.77), n1 = 90, n2 = 30)
#' set.seed(1)
#' fit <- cv_error(mtcars["wt"], mtcars$mpg, scheme = "random", test = 0.2)
#' cv_variance(fit, c("exact", "moment", "nadeau_bengio", "conservative"))
cv_variance <- function(object, method = c("auto", "exact", "moment", "nadeau_bengio", "conservative", "naive"),
                        n1 = NULL,
                        n2 = NULL, rho = NULL, n_rep = 10) {
  if (missing(object)) fail_missing("object")
  choices <- c("auto", "exact", "moment", "nadeau_bengio", "conservative", "naive")
  method <- if (identical(method, choices)) "auto" else check_methods(method, choices)
  rho <- check_number(rho, lower = 0, upper = 1, strict_upper = TRUE, allow_null = TRUE)
  n_rep <- check_count(n_rep)
  if (!inherits(object, "granary_cv_error")) return(bare_variance(object, method, n1, n2, rho))
  check_fit(object)
  if (!is.null(n1) || !is.null(n2)) {
    abort_input("`n1` and `n2` are known from the splits.", if (is.null(n1)) "n2" else "n1")
  }
  method[method == "auto"] <- object$method
  do.call(rbind, lapply(unique(method), function(one) variance_row(object, one, rho, n_rep)))
}

check_methods <- function(method, choices) {
  if (!is.character(method) || length(method) == 0L || anyNA(method)) {
    fail_input("method", "names of methods", describe(method))
  }
  vapply(method, check_choice, "", choices = choices, arg = "method", USE.NAMES = FALSE)
}

bare_variance <- function(means, method, n1, n2, rho) {
  means <- check_vector(means, "object", min_length = 2L)
  if (any(method %in% c("exact", "moment", "conservative"))) {
    abort_input(
      "For bare means of splits there are \"nadeau_bengio\" and \"naive\": the others need the result of cv_error().",
      "method")
  }
  method[method == "auto"] <- "nadeau_bengio"
  needs <- "nadeau_bengio" %in% method && is.null(rho)
  n1 <- if (needs) check_number(n1, "n1", lower = 1) else 1
  n2 <- if (needs) check_number(n2, "n2", lower = 1) else 1
  do.call(rbind, lapply(unique(method), function(one) spread_row(means, one, n1, n2, rho)))
}

spread_row <- function(means, method, n1, n2, rho = NULL) {
  value <- if (method == "naive") {
    core_nadeau_bengio(means, 1, 1, 0)
  } else {
    core_nadeau_bengio(means, n1, n2, if (is.null(rho)) NaN else rho)
  }
  method_row(method, mean(means), na_for_nan(value), length(means) - 1)
}

method_row <- function(method, estimate, variance, df) {
  data.frame(method = method, estimate = estimate, variance = variance, std.error = sqrt(variance), df = df)
}

# What each method needs; NULL where it is there, else why it is not.
method_absent <- function(object, method) {
  linear <- object$problem$learner$kind == "linear"
  if (method == "exact") {
    if (!linear || is.null(object$details)) {
      return("it is for the learners \"mean\", \"lm\" and \"ridge\" with fixed arguments")
    }
    if (object$loss != "squared") return("it is for the squared error")
  }
  if (method == "moment") {
    if (!linear) return("it is for the learners \"mean\", \"lm\" and \"ridge\"")
    if (is.null(object$levels) && is.null(object$details)) return("it is for learners with fixed arguments")
    if (object$loss == "function" && length(object$prediction$loss) == 0L) {
      return("it needs a loss with one number per row")
    }
  }
  if (method %in% c("nadeau_bengio", "naive") && length(object$split_mean) < 2L) return("it needs at least two splits")
  NULL
}

variance_row <- function(object, method, rho = NULL, n_rep = 10) {
  why <- method_absent(object, method)
  if (!is.null(why)) abort_input(sprintf("There is no variance by method \"%s\" here: %s.", method, why), "method")
  sizes <- object$folds$table
  mu <- object$estimate
  satterthwaite <- function(v) if (is.na(v) || v <= 0) Inf else 2 * mu^2 / v
  switch(method,
    exact = method_row("exact", mu, object$details$exact, satterthwaite(object$details$exact)),
    moment = {
      v <- moment_variance(object)
      method_row("moment", mu, v, satterthwaite(v))
    },
    conservative = {
      v <- conservative_variance(object, n_rep)
      method_row("conservative", mu, v, n_rep)
    },
    spread_row(object$split_mean, method, mean(sizes$train), mean(sizes$test), rho)
  )
}

# The table of what there is, and the standard error that counts.
set_variance <- function(object, method) {
  if (method != "auto" && !is.null(why <- method_absent(object, method))) {
    abort_input(sprintf("There is no variance by method \"%s\" here: %s.", method, why), "method")
  }
  known <- Filter(function(m) is.null(method_absent(object, m)), c("exact", "moment", "nadeau_bengio", "naive"))
  # pairs of very many splits take their time; cv_variance(object, "moment") has it when asked
  if (length(object$folds$test) > 200L && "exact" %in% known && method != "moment") known <- setdiff(known, "moment")
  table <- if (length(known) > 0L) {
    do.call(rbind, lapply(known, function(m) variance_row(object, m)))
  } else {
    method_row(character(), numeric(), numeric(), numeric())
  }
  usable <- table$method[!is.na(table$variance)]
  object$variance <- table
  object$method <- if (method != "auto") method else if (length(usable) > 0L) usable[1L] else "none"
  object$std.error <- c(table$std.error[table$method == object$method], NA_real_)[1L]
  heavy <- object$details$kurtosis
  if (object$method == "exact" && is.null(object$settings$kurtosis) && heavy > 20) {
    warn_input(
      sprintf(paste0(
        "The residuals have an excess kurtosis of %.0f: the variance of squared errors rests on a fourth moment that ",
        "few ",
        "rows decide. Look at the residuals, or take loss = \"absolute\"."), heavy), "y")
  }
  object
}

plan_of <- function(folds, n1) {
  k <- max(folds$table$fold)
  random <- folds$scheme == "random"
  list(n = folds$n, n1 = n1, splits = if (random) nrow(folds$table) else k,
       repeats = if (random) 1 else max(folds$table$rep), scheme = if (random) "random" else "kfold", kurtosis = 0)
}

moment_variance <- function(object) {
  problem <- object$problem
  width <- object$settings$width
  folds <- object$folds
  n <- object$n
  rule <- !is.null(object$levels)
  mean_case <- problem$learner$learner == "mean"
  x <- if (rule) problem$x[, 1L] else problem$y
  center <- if (rule) rep(mean(x), n) else object$details$fitted
  loss <- if (rule) "smooth" else object$loss
  moments <- if (loss == "function") {
    user_moments(problem$loss, center, x)
  } else {
    if (is.null(width)) width <- if (loss == "absolute") 1 / n else 0.1
    group <- if (rule) 2 * as.integer(problem$y) - 3 else numeric()
    core_loss_moments(center, x, group, list(loss = loss, width = width))
  }
  moments$noise_var <- if (rule) stats::var(x) else object$details$noise_var
  if (mean_case) {
    value <- core_mean_moment(moments, plan_of(folds, mean(folds$table$train)))$total
  } else {
    if (loss == "squared") {  # the paper takes normal errors here
      kurtosis <- object$settings$kurtosis
      moments$var <- (2 + if (is.null(kurtosis)) 0 else kurtosis) * moments$noise_var^2
      moments$slope_square <- 4 * moments$noise_var
      moments$slope <- 0
    }
    options <- linear_options(problem$learner, problem$learner$arguments, folds$test, threads = object$settings$threads)
    value <- core_cv_linear_moment(unname_design(linear_design(problem$learner$learner, problem$x)), moments, options,
                                   progress_bar("moments"))$total
  }
  if (value < 0) {
    warn_input(
      paste("The moment approximation is negative: there are too few rows for it.",
            "Take method = \"exact\" where there is one, or \"nadeau_bengio\"."),
      "method")
    return(NA_real_)
  }
  value
}

# Derivatives of the user's loss in the prediction, by differences of it.
user_moments <- function(loss, center, x) {
  h <- 1e-3 * max(stats::sd(x - center), 1e-8 * max(abs(x), 1))
  at <- function(shift) as.double(user_value(loss, "loss", x, center + shift))
  core_loss_moments_from(at(-h), at(0), at(h), h)
}

# Nadeau and Bengio's second estimate: the same splits on both halves of the rows, `n_rep` times.
conservative_variance <- function(object, n_rep) {
  problem <- object$problem
  n <- object$n
  half <- n %/% 2L
  n2 <- round(mean(object$folds$table$test))
  if (half - n2 < 2L) {
    abort_input(sprintf("Half of the %d rows leaves %d to train on beside test sets of %d: use smaller test sets.", n,
                        max(0, half - n2), n2), "method")
  }
  splits <- length(object$folds$test)
  means <- resample_lapply(seq_len(n_rep), function(m) {
    order <- sample.int(n)
    vapply(list(order[seq_len(half)], order[half + seq_len(half)]), function(rows) {
      folds <- cv_folds(half, scheme = "random", n_rep = splits, test = n2 / half)
      suppressWarnings(cv_error.default(learner_rows(problem$x, rows), problem$y[rows], problem$learner, problem$loss,
                                        folds, method = if (splits > 1L) "naive" else "auto", kurtosis = 0,
                                        threads = 1))$estimate
    }, 0)
  }, "halves")
  means <- do.call(rbind, means)
  core_conservative(means[, 1L], means[, 2L])
}
