# Multi-task averaging of mean vectors: `mean` is a T x d matrix, the noise of a mean a d x d matrix.
mta_vectors <- function(tasks, method, similarity, gamma, variance, noise_var, bounds, weights, call) {
  if (!is.null(bounds)) abort_input("`bounds` must be NULL for mean vectors: the range of each coordinate is used.", "bounds")
  if (weights) abort_input("`weights` must be FALSE for mean vectors.", "weights")
  mean <- tasks$mean
  count <- nrow(mean)
  d <- ncol(mean)
  if (count == 1L) warn_input("There is only one task, so nothing can be borrowed: the estimate is the sample mean.", "y")
  noise <- vector_noise(tasks, variance, noise_var)
  a <- tau2 <- NULL
  if (method %in% c("constant", "minimax")) {
    by_column <- if (method == "constant") apply(mean, 2L, stats::var) else apply(mean, 2L, function(x) diff(range(x)))^2 / 2
    spread <- if (count == 1L) Inf else sum(by_column) / d
    a <- 1 / spread
    tau2 <- if (gamma == 0) Inf else spread / gamma
    similarity <- matrix(0, 0L, 0L)
  } else if (method == "pairwise") {
    distance <- as.matrix(stats::dist(mean))^2
    similarity <- 2 * d / distance
    diag(similarity) <- 0
    if (any(is.infinite(similarity))) {
      # Equal means: as close to merging as the linear system bears.
      similarity[is.infinite(similarity)] <- 1e12 * max(similarity[is.finite(similarity)], 1)
    }
    dimnames(similarity) <- NULL
  } else {
    similarity <- as.matrix(similarity)
  }
  level <- if (is.null(tau2)) 1 else tau2
  if (!is.null(tau2) && tau2 == 0) {
    out <- list(estimate = mean, variance = matrix(0, count, d), target = mean[1L, ])  # all means are equal
  } else {
    out <- core_mta_vectors(list(mean = mean, common = noise$common, scale = noise$scale, blocks = unname(noise$blocks), similarity = similarity,
                                 tau2 = level, gamma = gamma), progress_bar("means"))
  }
  labelled <- function(x) {
    dimnames(x) <- dimnames(mean)
    x
  }
  new_fit(
    c("mta", "means"), estimate = labelled(out$estimate), mean = mean, n = stats::setNames(tasks$n, tasks$names), covariance = noise$reported,
    a = a, gamma = gamma, tau2 = tau2,
    target = if (!is.null(tau2)) stats::setNames(out$target, colnames(mean)), se = labelled(sqrt(pmax(out$variance, 0))), method = method,
    variance = noise$kind,
    A = if (method == "custom") similarity, y = tasks$y, group = tasks$code, call = call, convergence = list()
  )
}

# The covariance of each mean: `scale` times `common`, or `blocks`.
vector_noise <- function(tasks, variance, noise_var) {
  d <- ncol(tasks$mean)
  n <- tasks$n
  if (is.list(noise_var) && !is.data.frame(noise_var)) {
    if (length(noise_var) != length(n)) fail_input("noise_var", sprintf("a list of %d covariance matrices, one per task", length(n)),
                                                paste("a list of length", length(noise_var)))
    blocks <- lapply(noise_var, function(block) check_covariance(block, d))
    return(list(blocks = Map(`/`, blocks, n), reported = blocks, kind = "given"))
  }
  if (is.matrix(noise_var)) {
    common <- check_covariance(noise_var, d)
    return(list(common = common, scale = 1 / n, reported = common, kind = "given"))
  }
  if (!is.null(noise_var)) {
    noise_var <- per_task(noise_var, tasks)
    return(list(common = diag(d), scale = noise_var / n, reported = noise_var, kind = "given"))
  }
  residuals <- tasks$y - tasks$mean[tasks$code, , drop = FALSE]
  df <- sum(n - 1)
  if (variance == "pooled") {
    if (df == 0) abort_input("No task has two samples, so the covariance within tasks cannot be estimated. Give it as `noise_var`.", "noise_var")
    common <- crossprod(residuals) / df
    return(list(common = unname(common), scale = 1 / n, reported = common, kind = "pooled"))
  }
  single <- which(n < 2)
  if (length(single) > 0L) {
    abort_input(sprintf("Task %s has one sample and so no covariance of its own.\nUse variance = \"pooled\", or give `noise_var`.",
                        label_of(tasks$names, single[1L])), "variance")
  }
  rows <- split(seq_along(tasks$code), tasks$code)
  blocks <- Map(function(at, size) unname(crossprod(residuals[at, , drop = FALSE])) / (size - 1), rows, n)
  list(blocks = Map(`/`, unname(blocks), n), reported = stats::setNames(blocks, tasks$names), kind = "own")
}

check_covariance <- function(x, d) {
  x <- unname(check_symmetric(x, "noise_var"))
  if (nrow(x) != d) abort_input(sprintf("`noise_var` must have one row and column per coordinate (%d), but it is %d x %d.", d, nrow(x), nrow(x)),
                                "noise_var")
  if (any(diag(x) < 0) || core_semidefinite_excess(x) > 1e-8) abort_input("`noise_var` must be positive semi-definite, but it has a negative eigenvalue.", "noise_var")
  x
}
