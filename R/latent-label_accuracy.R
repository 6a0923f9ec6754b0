#' How far can the labels of a mixture be trusted?
#'
#' The labels that a mixture gives to rows are estimates, and no cross-validation can check them, since labels are never seen. This computes how far the law
#' of the labels is expected to be from the true one, for maximum likelihood and for Bayes, from the Fisher information of the fitted model.
#'
#' @details
#' With \eqn{I_X} the information in the rows, \eqn{I_{XY}} that in rows and labels, and \eqn{\lambda_i \ge 1}{lambda_i >= 1} the eigenvalues of
#' \eqn{I_{XY} I_X^{-1}}, the expected Kullback-Leibler divergence per row between the true law of the labels and the estimated one is \eqn{c/n + o(1/n)}. For
#' maximum likelihood \eqn{c = \frac12 \sum (\lambda_i - 1)}{c = 1/2 sum (lambda_i - 1)}, for labels of the rows of the fit and of future rows alike; for
#' Bayes \eqn{c = \frac{1}{2\alpha} \sum \log(1 + \alpha (\lambda_i - 1))}{c = 1/(2 alpha) sum log(1 + alpha (lambda_i - 1))} for the joint law of a share
#' \eqn{\alpha}{alpha} of the labels (1: all of them, type I of the paper; below: types II' and III'). For a single label the Bayes value is not known; that of
#' \eqn{\alpha \to 0}{alpha -> 0}, which is the one of maximum likelihood, bounds it.
#'
#' The expectation is over the rows in `newdata` (`"empirical"`, as the paper suggests), over draws of the model (`"monte_carlo"`), over quadrature nodes
#' (`"quadrature"`: Gaussian rows of one or two columns) or over all cells (`"exact"`: categorical rows). `"auto"` takes the rows when there are more of them
#' than parameters, else the most exact of the others.
#'
#' Where components nearly coincide, or there is one too many, \eqn{I_X} is singular and the theory does not hold: an error names the direction. An error
#' above \eqn{\log k}{log k} per row means that \eqn{n} is too small for the asymptotics; the print says so.
#'
#' @section Which method when:
#' `label_accuracy()` for the error of the labels that comes from estimating the model; the entropy and the mean uncertainty in its summary, which other packages
#' print, say how fuzzy labels would be even if the model were known. `label_simulate()` to check the asymptotics at your \eqn{n}.
#'
#' @param object A mixture: a fit of [em_fit()] or [spectral_mixture()] (`polish` it first: the errors are those of maximum likelihood and
#'   Bayes), of `mclust::Mclust()` or `flexmix::flexmix()` (normal, Poisson or binary rows, without covariates), or a list with `family`
#'   (`"gaussian"`, `"poisson"`, `"exponential"`, `"categorical"`), `share`, `means` (one row per component: means, rates, or probabilities item by item),
#'   for Gaussian rows `covariance` (a list, one matrix, or one variance) and its `type`, and for categorical rows `levels`; or a list with functions
#'   `score(x, k)` (a matrix, one row per row of `x`) and `log_joint(x, k)`, and `k`.
#' @param newdata Rows; fits of mclust and flexmix bring their own.
#' @param alpha Shares of the labels that are asked for jointly.
#' @param engine How expectations are taken.
#' @param known Parameters that are known: any of `"share"`, `"means"`, `"covariance"`.
#' @param n Number of rows the errors are for; by default that of the fit.
#' @param n_draws Number of draws of `"monte_carlo"`.
#' @param weights Case weights of `newdata`, or `NULL`.
#' @return An object of class `granary_label_accuracy`: `table` (`method`, `alpha`, `coefficient`, `error` per row), `lambda`, `gain` of Bayes over maximum
#'   likelihood, `observed` (\eqn{I_X}), `hidden` (\eqn{I_{Y|X}}), `vectors`, `entropy_r2`, `uncertainty`, `rcond`. `predict(object, error = )` gives the number
#'   of rows needed for an error.
#' @references Yamazaki (2014). Asymptotic accuracy of distribution-based estimation of latent variables. *Journal of Machine Learning Research* 15, 3721--3742.
#' @seealso [em_fit()], [label_posterior()], [label_simulate()].
#' @export
#' @examples
#' set.seed(1)
#' fit <- em_fit(faithful, k = 2)
#' trust <- label_accuracy(fit, newdata = faithful)
#' trust
#' predict(trust, error = 0.001)
#' plot(trust)
label_accuracy <- function(object, newdata = NULL, alpha = c(1, 0.5), engine = c("auto", "empirical", "monte_carlo", "quadrature", "exact"),
                           known = character(), n = NULL, n_draws = 1e5, weights = NULL) {
  call <- match.call()
  if (missing(object)) fail_missing("object")
  engine <- check_choice(engine, c("auto", "empirical", "monte_carlo", "quadrature", "exact"))
  alpha <- check_vector(alpha, lower = 0, upper = 1)
  if (any(alpha <= 0)) abort_input("`alpha` must be above 0: for a single label the Bayes value is not known.", "alpha")
  n_draws <- check_count(n_draws)
  if (is.list(object) && is.function(object$score)) return(label_accuracy_own(object, newdata, alpha, n, weights, call))
  model <- label_model(object, known)
  data <- accuracy_rows(object, model, newdata)
  if (is.null(weights) && is.null(newdata) && inherits(object, "flexmix")) weights <- object@weights
  weights <- check_case_weights(weights, if (is.null(data)) 0L else nrow(data))
  d <- length(model$names)
  engine <- label_engine(engine, model, data, d)
  found <- core_label_fisher(model$core, if (is.null(data)) matrix(0, 0L, 0L) else unname(data), weights, list(engine = engine, n_draws = n_draws),
                             core_seed(), progress_bar("information"))
  if (is.null(n)) n <- if (is.null(newdata)) model$n else nrow(data)
  new_label_accuracy(found, model$names, model$k, alpha, n, engine, call)
}

label_accuracy_own <- function(object, newdata, alpha, n, weights, call) {
  check_function(object$log_joint, "log_joint")
  k <- check_count(object$k, "k")
  if (is.null(newdata)) fail_missing("newdata")
  x <- check_matrix(newdata, "newdata")
  weights <- check_case_weights(weights, nrow(x))
  if (length(weights) == 0L) weights <- rep(1, nrow(x))
  score <- lapply(seq_len(k), function(h) {
    s <- object$score(x, h)
    if (!is.numeric(s) || NROW(s) != nrow(x) || any(!is.finite(s))) fail_input("score", sprintf("a function that gives finite numbers, %d rows", nrow(x)), paste("one that gave", describe(s)))
    unname(as.matrix(s))
  })
  joint <- vapply(seq_len(k), function(h) as.double(object$log_joint(x, h)), numeric(nrow(x)))
  found <- core_label_fisher_given(list(score = score, log_joint = matrix(joint, nrow(x)), weight = weights), NULL)
  new_label_accuracy(found, paste0("w", seq_len(ncol(score[[1L]]))), k, alpha, if (is.null(n)) nrow(x) else n, "empirical", call)
}

new_label_accuracy <- function(found, names, k, alpha, n, engine, call) {
  if (!(found$rcond > 1e-12)) {
    heavy <- utils::head(order(-abs(found$null)), 3L)
    abort_input(sprintf(
      paste("The information in the rows is singular (reciprocal condition %s), so the labels have no regular limit:",
            "components nearly coincide, or there is one too many. The direction that cannot be estimated is mostly %s. Use a smaller `k`."),
      format(found$rcond, digits = 2L), paste(names[heavy], collapse = ", ")), "object")
  }
  n <- check_number(n, "n", lower = 1)
  coefficient <- function(bayes, a) core_label_coefficient(found$lambda, bayes, a)
  table <- rbind(data.frame(method = "ml", alpha = NA_real_, coefficient = coefficient(FALSE, 1)),
                 data.frame(method = "bayes", alpha = alpha, coefficient = vapply(alpha, function(a) coefficient(TRUE, a), 0)))
  table$error <- table$coefficient / n
  square <- function(m) structure(m, dimnames = list(names, names))
  vectors <- structure(found$vectors, dimnames = list(names, NULL))
  fit <- new_fit("label_accuracy", table = table, lambda = found$lambda, vectors = vectors, observed = square(found$observed), hidden = square(found$hidden),
                 gain = coefficient(FALSE, 1) - coefficient(TRUE, 1), entropy_r2 = if (k > 1L) 1 - found$entropy / log(k) else 1, uncertainty = found$uncertainty,
                 rcond = found$rcond, k = k, n = n, df = length(found$lambda), engine = engine, call = call, convergence = NULL)
  if (any(table$error > log(k))) {
    warn_input(sprintf("An error of %s per row is above log(%d): the asymptotics are not reached at n = %s, so the numbers say only that labels are poor.",
                       format(max(table$error), digits = 3L), k, format(n)))
  }
  fit
}

label_engine <- function(engine, model, data, d) {
  columns <- model$columns
  cells <- if (model$core$family == "categorical") prod(model$core$levels) else Inf
  if (engine == "auto") {
    if (!is.null(data) && nrow(data) > d) return("empirical")
    if (!is.null(data)) cli::cli_inform("There are no more rows than parameters, so expectations are taken under the model instead.")
    return(if (model$core$family == "gaussian" && columns <= 2L) "quadrature" else if (cells <= 1e5) "exact" else "monte_carlo")
  }
  if (engine == "empirical" && is.null(data)) abort_input("engine = \"empirical\" needs the rows: give `newdata`.", "newdata")
  if (engine == "quadrature" && (model$core$family != "gaussian" || columns > 2L)) abort_input("engine = \"quadrature\" is for Gaussian rows of one or two columns.", "engine")
  if (engine == "exact" && !(cells <= 2e6)) abort_input("engine = \"exact\" is for categorical rows with at most two million cells.", "engine")
  engine
}

# A mixture from wherever it comes, as the core wants it, with the names of its free parameters.
label_model <- function(object, known = character()) {
  if (!is.character(known) || !all(known %in% c("share", "means", "covariance"))) fail_input("known", "some of \"share\", \"means\", \"covariance\"", describe(known))
  if (inherits(object, "granary_em_fit")) {
    check_fit(object)
    if (!is.null(object$ids)) abort_input("`object` must be a mixture of rows: the theory is not one of sequences.", "object")
    if (object$family == "multinomial") not_for(object, "label_accuracy()", "rows of different totals have no common law")
    return(label_core(object$family, object$share, object$centers, object$covariance, object$covariance_type, lengths(object$items), known, object$n, object$items))
  }
  if (inherits(object, "granary_spectral_mixture")) return(label_from_spectral(object, known))
  if (inherits(object, "Mclust")) return(label_from_mclust(object, known))
  if (inherits(object, "flexmix")) return(label_from_flexmix(object, known))
  if (!is.list(object)) fail_input("object", "a fit of em_fit(), spectral_mixture(), Mclust() or flexmix(), or a list with family, share and means", describe(object))
  family <- check_choice(object$family, c("gaussian", "poisson", "exponential", "categorical"), "family")
  means <- as.matrix(check_rows(object$means, "means"))
  k <- nrow(means)
  share <- if (is.null(object$share)) rep(1 / k, k) else check_vector(object$share, "share", length = k, lower = 0)
  covariance <- NULL
  if (family == "gaussian") {
    given <- if (is.list(object$covariance)) object$covariance else list(if (is.null(object$covariance)) 1 else object$covariance)
    if (!length(given) %in% c(1L, k)) abort_input(sprintf("`covariance` must be one, or a list of %d.", k), "object")
    covariance <- lapply(rep_len(given, k), function(s) if (is_plain_numeric(s) && length(s) == 1L) diag(s, ncol(means)) else unname(as.matrix(check_symmetric(s, "covariance"))))
  }
  type <- if (family == "gaussian") check_choice(if (is.null(object$type)) "full" else object$type, c("full", "diagonal", "spherical", "tied"), "type")
  levels <- if (family == "categorical") check_vector(if (is.null(object$levels)) ncol(means) else object$levels, "levels", lower = 1) else integer()
  if (family == "categorical" && sum(levels) != ncol(means)) abort_input("`levels` must add up to the columns of `means`.", "object")
  label_core(family, share / sum(share), means, covariance, type, levels, known, NA)
}

label_core <- function(family, share, means, covariance, type, levels, known, n, items = NULL) {
  k <- nrow(means)
  columns <- variable_names(colnames(means), ncol(means))
  gaussian <- family == "gaussian"
  p <- if (family == "categorical") length(levels) else ncol(means)
  free <- columns
  if (family == "categorical") free <- columns[-cumsum(levels)]
  per <- if ("means" %in% known) character() else free
  pairs <- if (gaussian && !"covariance" %in% known) {
    switch(type, diagonal = paste0("var(", columns, ")"), spherical = "variance",
           unlist(lapply(seq_len(p), function(i) paste0("cov(", columns[i], ",", columns[seq_len(i)], ")"))))
  }
  tied <- identical(type, "tied")
  own <- c(per, if (!tied) pairs)
  names <- c(if (!"share" %in% known) sprintf("share[%d]", seq_len(k - 1L)), unlist(lapply(seq_len(k), function(h) if (length(own) > 0L) sprintf("%s[%d]", own, h))),
             if (tied) pairs)
  core <- list(family = family, covariance = if (gaussian) type else "full", levels = as.integer(levels), share_known = "share" %in% known,
               means_known = "means" %in% known, covariance_known = "covariance" %in% known,
               parameters = list(share = unname(share), transition = matrix(0, 0L, 0L),
                                 gaussian = list(means = if (gaussian) unname(means) else matrix(0, 0L, 0L), covariance = if (gaussian) lapply(unname(covariance), unname) else list()),
                                 table = if (gaussian) matrix(0, 0L, 0L) else unname(means)))
  list(core = core, names = names, k = k, columns = p, n = n, variables = columns, items = items, named = colnames(means))
}

label_from_spectral <- function(object, known) {
  check_fit(object)
  reason <- switch(object$model, topic = "documents of different lengths have no common law", lda = "documents have shares of topics, not labels", hmm = "the theory is not one of sequences",
                   ica = "independent components have no labels")
  if (!is.null(reason)) not_for(object, "label_accuracy()", reason)
  d <- ncol(object$means)
  if (object$model == "latent_class") {
    return(label_core("categorical", object$share, object$means, NULL, NULL, lengths(object$items), known, object$n, object$items))
  }
  if (object$model == "gmm" && object$k > 1L) {
    cli::cli_inform("The common variance of the model is treated as one of each component, so the error is an upper bound.")
  }
  spherical <- object$model %in% c("gmm", "gmm_hetero")
  covariance <- if (spherical) lapply(rep_len(unname(object$noise_var), object$k), diag, nrow = d) else object$covariance
  label_core("gaussian", object$share, object$means, covariance, if (spherical) "spherical" else "diagonal", integer(), known, object$n)
}

label_from_mclust <- function(object, known) {
  p <- object$parameters
  d <- object$d
  means <- if (d == 1L) matrix(p$mean, ncol = 1L) else t(p$mean)
  if (length(p$pro) > nrow(means)) abort_input("`object` has a noise component, whose uniform law has no score: fit without `initialization$noise`.", "object")
  sigma <- if (d == 1L) lapply(rep_len(p$variance$sigmasq, nrow(means)), matrix) else lapply(seq_len(nrow(means)), function(h) p$variance$sigma[, , h])
  colnames(means) <- colnames(object$data)
  type <- if (object$modelName %in% c("E", "EEE")) "tied" else if (object$modelName == "VII") "spherical" else if (object$modelName %in% c("VVI")) "diagonal" else "full"
  if (nrow(means) > 1L && !object$modelName %in% c("E", "V", "EEE", "VII", "VVI", "VVV")) {
    cli::cli_inform("Model {object$modelName} of mclust has constrained covariances; they are treated as free, so the error is an upper bound.")
  }
  label_core("gaussian", p$pro, means, sigma, type, integer(), known, object$n)
}

flexmix_laws <- "multivariate normals, Poisson or binary rows (FLXMCmvnorm, FLXMCmvpois, FLXMCmvbinary), or of regressions (normal, Poisson) on an intercept alone"

# Name of the law of a flexmix model: "normal", "poisson", "binary", or NA where it cannot be read.
flexmix_law <- function(model) {
  if (methods::is(model, "FLXMRglm")) {
    alone <- ncol(model@x) == 1L && all(model@x == 1) && length(model@offset) == 0L
    return(if (alone && model@family %in% c("gaussian", "poisson")) sub("gaussian", "normal", model@family) else NA_character_)
  }
  if (!methods::is(model, "FLXMC")) return(NA_character_)
  switch(model@dist, mvnorm = "normal", mvpois = "poisson", mvbinary = "binary", NA_character_)
}

label_from_flexmix <- function(object, known) {
  check_installed("flexmix", "to read its fits")
  law <- if (length(object@model) == 1L) flexmix_law(object@model[[1L]]) else NA_character_
  if (is.na(law)) abort_input(sprintf("Of flexmix only mixtures of %s can be read.", flexmix_laws), "object")
  if (!identical(as.character(class(object@concomitant)), "FLXP") || length(object@group) > 0L) {
    abort_input("`object` has shares that depend on covariates, or rows that share a label: the theory is one of rows that stand alone.", "object")
  }
  p <- flexmix::parameters(object, simplify = FALSE)
  size <- if (is.null(object@weights)) sum(object@size) else sum(object@weights)
  value <- function(one) {  # of a regression on an intercept, the mean
    if (is.null(one$coef)) return(as.vector(if (law == "poisson") one$lambda else one$center))
    if (law == "poisson") exp(unname(one$coef)) else unname(one$coef)
  }
  means <- do.call(rbind, lapply(p, value))
  columns <- variable_names(colnames(object@model[[1L]]@y), ncol(means))
  dimnames(means) <- list(NULL, columns)
  if (law == "poisson") return(label_core("poisson", object@prior, means, NULL, NULL, integer(), known, size))
  if (law == "binary") {
    items <- stats::setNames(rep(list(c("0", "1")), ncol(means)), columns)
    both <- matrix(rbind(as.vector(t(1 - means)), as.vector(t(means))), nrow(means), byrow = TRUE, dimnames = list(NULL, paste0(rep(columns, each = 2L), "=", 0:1)))
    return(label_core("categorical", object@prior, both, NULL, NULL, rep(2L, ncol(means)), known, size, items))
  }
  sigma <- lapply(p, function(one) if (is.null(one$coef)) unname(as.matrix(one$cov)) else matrix(one$sigma^2))
  diagonal <- ncol(means) > 1L && all(vapply(sigma, function(s) all(s[upper.tri(s)] == 0), NA))
  label_core("gaussian", object@prior, means, sigma, if (diagonal) "diagonal" else "full", integer(), known, size)
}

# Rows that a fit keeps: mclust and flexmix do.
kept_rows <- function(object, model) {
  if (inherits(object, "Mclust")) return(as.matrix(object$data))
  if (!inherits(object, "flexmix")) return(NULL)
  y <- object@model[[1L]]@y
  if (is.null(model$items)) matrix(as.double(y), nrow(y)) else item_codes(as.data.frame(y), "object", model$items)$codes
}

accuracy_rows <- function(object, model, newdata) {
  if (is.null(newdata)) return(kept_rows(object, model))
  if (!is.null(model$items)) return(item_codes(newdata, "newdata", model$items, names(model$items))$codes)
  if (model$core$family == "categorical") {
    x <- check_matrix(newdata, "newdata", min_cols = model$columns)
    if (ncol(x) != model$columns || any(x != round(x)) || any(x < 1) || any(t(x) > model$core$levels)) abort_input("`newdata` must hold the levels of the items as 1, 2, ...", "newdata")
    return(x)
  }
  x <- as.matrix(check_rows(newdata, "newdata"))
  if (inherits(object, "granary_em_fit") || (!is.null(colnames(x)) && !is.null(model$named))) return(as.matrix(new_design(newdata, model$variables, arg = "newdata")))
  if (ncol(x) != model$columns) abort_input(sprintf("`newdata` must have %d columns, not %d.", model$columns, ncol(x)), "newdata")
  x
}

#' @export
print.granary_label_accuracy <- function(x, ...) {
  cli::cat_line("Accuracy of estimated labels: ", counted(x$k, "component", "components"), ", ", counted(x$df, "parameter", "parameters"), ", n = ", format(x$n))
  print_call(x$call)
  shown <- x$table
  shown$method <- ifelse(shown$method == "ml", "maximum likelihood", ifelse(shown$alpha == 1, "Bayes, all labels", paste0("Bayes, a share of ", format(shown$alpha))))
  print(shown[c("method", "coefficient", "error")], digits = 4L, row.names = FALSE)
  cli::cat_line("error: expected divergence (nats) per row between the true and the estimated law of the labels, coefficient / n")
  if (any(x$table$error > log(x$k))) cli::cat_line("The asymptotics are not reached: the error exceeds log(", x$k, ").")
  cli::cat_line("Hardest direction: ", paste(utils::head(rownames(x$vectors)[order(-abs(x$vectors[, 1L]) * sqrt(diag(x$observed)))], 3L), collapse = ", "), " (lambda ", format(x$lambda[1L], digits = 4L), ")")
  cli::cat_line("For comparison, fuzziness at the fitted model: entropy R2 ", format(x$entropy_r2, digits = 3L), ", mean uncertainty ", format(x$uncertainty, digits = 3L))
  invisible(x)
}

#' @rdname label_accuracy
#' @param x A result.
#' @param error Errors per row that are aimed at.
#' @param method Of maximum likelihood, or of Bayes (all labels).
#' @param ... For `plot()`, passed on to [graphics::plot()]; otherwise not used.
#' @export
predict.granary_label_accuracy <- function(object, error, method = c("ml", "bayes"), ...) {
  refuse_dots(...)
  if (missing(error)) fail_missing("error")
  error <- check_vector(error, lower = 0)
  method <- check_choice(method, c("ml", "bayes"))
  ceiling(core_label_coefficient(object$lambda, method == "bayes", 1) / error)
}

#' @rdname label_accuracy
#' @export
tidy.granary_label_accuracy <- function(x, ...) {
  refuse_dots(...)
  x$table
}

#' @rdname label_accuracy
#' @export
plot.granary_label_accuracy <- function(x, ...) {
  old <- graphics::par(mfrow = c(1L, 2L), mar = c(4.1, 4.6, 3.1, 1.1))
  on.exit(graphics::par(old))
  colors <- unname(grDevices::palette.colors(4L, "Okabe-Ito")[2:4])
  alpha <- seq(0.01, 1, length.out = 60L)
  bayes <- vapply(alpha, function(a) core_label_coefficient(x$lambda, TRUE, a), 0) / x$n
  ml <- x$table$error[x$table$method == "ml"]
  draw(graphics::plot, alpha, bayes, type = "l", lwd = 2, col = colors[2L], ylim = c(0, max(ml, bayes)), xlab = "share of the labels",
       ylab = "error per row (nats)", main = "", bty = "l", user = list(...))
  graphics::abline(h = ml, lwd = 2, col = colors[1L])
  graphics::mtext(c("maximum likelihood", "Bayes"), 3L, line = c(1.3, 0.3), adj = 0, col = colors[1:2], cex = 0.9)
  part <- 0.5 * (x$lambda - 1) / x$n
  count <- min(12L, length(part))
  graphics::barplot(part[seq_len(count)], names.arg = seq_len(count), col = colors[1L], border = NA, xlab = "direction, hardest first", ylab = "its part of the error")
  invisible(x)
}

#' Errors of labels by simulation, and exactly
#'
#' `label_simulate()` draws data from a mixture, fits it by maximum likelihood and measures how far the fitted law of the labels is from the true one, beside what
#' [label_accuracy()] expects. For two known laws of an on-off variable and an unknown share, the error of Bayes is known exactly at every number of rows.
#'
#' @details
#' Fits start from the true parameters, so that labels need not be matched (the best case the theory speaks of). The exact Bayes error is
#' \deqn{n D(n) = n [a \log a + (1-a) \log(1-a)] - n [q \log q + (1-q) \log(1-q)] - E \log B(K + b_1, n - K + b_2)/B(b_1, b_2)
#'   + E \log \int q(u)^m (1-q(u))^{n-m} Beta(u) du}{n D(n) = n[a log a + (1-a) log(1-a)] - n[q log q + (1-q) log(1-q)]
#'   - E log{B(K+b1, n-K+b2)/B(b1, b2)} + E log int q(u)^m (1-q(u))^(n-m) Beta(u) du}
#' with \eqn{K} and \eqn{m} binomial and \eqn{q(u) = u p_1 + (1-u) p_0}.
#'
#' @section Which method when:
#' `label_accuracy()` for an answer at once; `label_simulate()` when \eqn{n} is small or components overlap, where the asymptotics may mislead.
#'
#' @inheritParams label_accuracy
#' @param object A mixture as in [label_accuracy()]; or, for the exact error, `list(share = a, probs = c(p1, p0), prior = c(b1, b2))`.
#' @param n Numbers of rows.
#' @param n_rep Data sets of each size.
#' @param threads Number of threads; see `options(granary.threads)`.
#' @return A data frame with one row per `n`: `n`, `estimate` (of \eqn{n D(n)}), `std.error`, `asymptote`, and `failed`, fits that did not converge.
#' @inherit label_accuracy references
#' @seealso [label_accuracy()].
#' @export
#' @examples
#' set.seed(1)
#' two <- list(family = "gaussian", means = rbind(0, 4), covariance = 1, type = "tied")
#' label_simulate(two, n = c(100, 400), n_rep = 50)
#' label_simulate(list(share = 0.3, probs = c(0.9, 0.2), prior = c(1, 1)), n = c(5, 20, 100))
label_simulate <- function(object, n, n_rep = 200, threads = NULL) {
  if (missing(object)) fail_missing("object")
  if (missing(n)) fail_missing("n")
  n <- check_vector(n, lower = 1)
  if (any(n != round(n))) fail_input("n", "whole numbers", describe(n))
  n_rep <- check_count(n_rep, lower = 2)
  if (is.list(object) && !is.null(object$probs)) {
    share <- check_number(object$share, "share", lower = 0, upper = 1, strict_lower = TRUE, strict_upper = TRUE)
    probs <- check_vector(object$probs, "probs", length = 2L, lower = 0, upper = 1)
    prior <- check_vector(if (is.null(object$prior)) c(1, 1) else object$prior, "prior", length = 2L, lower = 0)
    fisher <- label_accuracy(list(family = "categorical", share = c(share, 1 - share), means = rbind(c(probs[1L], 1 - probs[1L]), c(probs[2L], 1 - probs[2L])), levels = 2),
                             known = "means", engine = "exact", n = max(n, 100))
    value <- vapply(n, function(count) core_binary_label_error(count, share, probs, prior), 0)
    return(data.frame(n = n, estimate = value, std.error = 0, asymptote = fisher$table$coefficient[2L], failed = 0L))
  }
  model <- label_model(object)
  expected <- suppressWarnings(label_accuracy(object, n = max(n)), classes = "granary_warning")$table$coefficient[1L]
  rows <- lapply(n, function(count) {
    found <- core_label_simulate(model$core, count, n_rep, thread_count(threads), core_seed(), progress_bar("data sets"))
    data.frame(n = count, estimate = mean(found$error), std.error = stats::sd(found$error) / sqrt(n_rep), asymptote = expected, failed = found$failed)
  })
  do.call(rbind, rows)
}
