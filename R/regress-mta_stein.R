# James-Stein estimates of many means: all are shrunk by one factor. The positive-part version with unequal variances is the one of Bock (1975).
#
#   yhat_t = xi + (1 - (k - c) / ((ybar - xi)' Sigma^-1 (ybar - xi)))_+ (ybar_t - xi)
stein_means <- function(tasks, target, positive, dim, variance, noise_var, cv, gamma, splits, weights, call) {
  target <- check_choice(target, c("mean", "zero"), "target")
  positive <- check_flag(positive, "positive")
  dim <- check_choice(dim, c("T", "effective"), "dim")
  if (is.matrix(tasks$mean)) abort_input("`y` must hold scalar samples for method = \"james_stein\"; the other methods take vectors.", "y")
  noise <- task_variances(tasks, variance, noise_var)
  count <- length(tasks$mean)
  if (count == 1L) warn_input("There is only one task, so nothing can be borrowed: the estimate is the sample mean.", "y")
  if (cv != "none" && target == "zero") abort_input("`cv` is for target = \"mean\" only.", "cv")
  k <- if (dim == "T") count else if (max(noise$s) > 0) sum(noise$s) / max(noise$s) else count
  xi <- if (target == "mean") mean(tasks$mean) else 0
  table <- NULL
  if (cv == "none" || count == 1L) {
    keep <- stein_factor(tasks$mean - xi, noise$s, k - if (target == "mean") 3 else 2, positive)
  } else {
    tuned <- tune_gamma(tasks, noise, "shrink_average", NULL, gamma, cv, splits)
    keep <- tuned$gamma / (1 + tuned$gamma)
    table <- tuned$table
  }
  named <- function(x) stats::setNames(x, tasks$names)
  # W = keep I + (1 - keep) 11' / T, or keep I
  borrowed <- if (target == "mean") (1 - keep) / count else 0
  variances <- noise$s * ((keep + borrowed)^2 - borrowed^2) + borrowed^2 * sum(noise$s)
  W <- if (weights) stein_weights(keep, target, tasks$names)  # nolint: object_name_linter.
  new_fit(
    c("mta", "means"), estimate = named(xi + keep * (tasks$mean - xi)), mean = named(tasks$mean), n = named(tasks$n),
    var_mean = named(noise$s),
    noise_var = noise$noise_var, target = xi, shrinkage = keep, towards = target, dim = k, W = W, se = named(sqrt(variances)),
    method = paste0("james_stein", if (!is.null(table)) "_cv"),
    variance = if (noise$noise == "given") "given" else variance, cv = table, y = tasks$y, group = tasks$code, call = call, convergence = list()
  )
}

# The factor taken as known: keep I, and (1 - keep) times the average.
stein_weights <- function(keep, target, names) {
  T <- length(names)  # nolint: object_name_linter, T_and_F_symbol_linter.
  W <- diag(keep, T) + if (target == "mean") (1 - keep) / T else 0  # nolint: object_name_linter.
  dimnames(W) <- list(names, names)
  W
}

# 1 - numerator / (z' Sigma^-1 z). A mean without noise forbids shrinkage unless it is on target.
stein_factor <- function(z, s, numerator, positive) {
  if (numerator <= 0) return(1)
  if (any(s == 0 & z != 0)) return(1)
  known <- s == 0
  form <- sum(z[!known]^2 / s[!known])
  if (form == 0) return(if (positive) 0 else 1)  # all means are on target: any factor gives the same
  factor <- 1 - numerator / form
  if (positive) max(0, factor) else factor
}
