#' Independent component analysis by moments
#'
#' The two classical ways to separate linear mixtures of independent sources: JADE, from all fourth cumulants at once, and FastICA, from one
#' contrast per
#' component. Fast, and where kernel ICA starts.
#'
#' @details
#' Both whiten the data and look for a rotation. `"jade"` diagonalises jointly, by Jacobi rotations, the \eqn{n(n + 1)/2} matrices of fourth
#' cumulants.
#' `"fastica"` iterates \eqn{w \leftarrow E\,z\,g(w'z) - E\,g'(w'z)\,w}{w <- E z g(w'z) - E g'(w'z) w} for all components at once, followed by
#' \eqn{R \leftarrow (RR')^{-1/2}R}{R <- (RR')^(-1/2) R}, with \eqn{g} the hyperbolic tangent or the cube (kurtosis), from a random start.
#'
#' @section Which method when:
#' `"jade"` for up to some 20 components; `"fastica"` for more, with `"tanh"` where there are outliers. Sources whose kurtosis is near
#' zero, and
#' outliers, ask for [kernel_ica()].
#'
#' @inheritParams kernel_ica
#' @param method `"jade"` or `"fastica"`.
#' @param contrast \eqn{g} of FastICA: `"tanh"` or `"cubic"`.
#' @param tol For FastICA: stop when no component's direction changes by more, in \eqn{1 - |\cos|}.
#' @param max_iter Largest number of iterations of FastICA or sweeps of JADE; `NULL` for 500 and 200.
#' @param x A numeric matrix or data frame of mixtures, one row per observation; for the methods, a fit.
#' @param object A fit.
#' @param newdata New mixtures, as `x`; `NULL` for the data of the fit.
#' @param type For `plot()`: `"sources"` for their densities and pairwise scatter plots, `"trace"` for the course of the minimisation.
#' @param ... For `plot()`, passed on to [graphics::plot()]; otherwise not used.
#' @return An object of class `granary_ica`: as for [kernel_ica()], with `W`, `A`, `S`, `mean`, `rotation` and `whitener`.
#'   `predict()` gives sources of new mixtures, `coef()` the matrix \eqn{A}, `fitted()` the data rebuilt from the sources.
#' @references
#' Cardoso and Souloumiac (1993). Blind beamforming for non-Gaussian signals. *IEE Proceedings F* 140, 362--370.
#'
#' Hyvarinen (1999). Fast and robust fixed-point algorithms for independent component analysis. *IEEE Transactions on Neural Networks* 10, 626--634.
#' @seealso [hsic()], [kernel_ica()], [sim_ica()]
#' @export
#' @examples
#' set.seed(1)
#' data <- sim_ica(500, c("c", "b", "g"))
#' fit <- ica_baseline(data$x)
#' fit
#' assess(fit, truth = data$mixing)
#' assess(ica_baseline(data$x, method = "fastica", contrast = "cubic"), truth = data$mixing)
#' plot(fit)
#' coef(fit)
#' range(fitted(fit) - data$x)
#' predict(fit, data$x[1:2, ])
#' tidy(fit)
ica_baseline <- function(x, k = NULL, method = c("jade", "fastica"), contrast = c("tanh", "cubic"), tol = 1e-6, max_iter = NULL, ...) {
  refuse_dots(...)
  call <- match.call()
  data <- check_ica_data(x, k)
  method <- check_choice(method, c("jade", "fastica"))
  contrast <- check_choice(contrast, c("tanh", "cubic"))
  tol <- check_number(tol, lower = 1e-14, upper = 0.1)
  max_iter <- check_count(max_iter, allow_null = TRUE)
  if (is.null(max_iter)) max_iter <- if (method == "jade") 200L else 500L
  options <- list(k = data$components, method = method, contrast = contrast, tol = tol, max_iter = max_iter)
  raw <- core_ica_moments(data$x, options, if (method == "jade") c(1, 1) else core_seed(), progress_bar("independent components"))
  data_rank_note(data, raw)
  fit <- new_ica(paste0("ica_", method), raw, data, contrast = if (method == "fastica") contrast, call = call)
  check_convergence(fit, if (method == "jade") "Raise `max_iter`." else "Raise `max_iter`, or start again: the start is random.")
}

ica_title <- function(fit) {
  switch(class(fit)[1L], granary_ica_jade = "Independent components by JADE", granary_ica_fastica = "Independent components by FastICA",
         paste("Kernel independent components by the", sub("^(Hilbert)|^(.)", "\\1\\L\\2", measure_titles[[fit$measure]], perl = TRUE)))
}

#' @rdname ica_baseline
#' @export
print.granary_ica <- function(x, ...) {
  cli::cat_line(ica_title(x), ": ", nrow(x$S), " rows, ", counted(nrow(x$W), "component", "components"), " of ",
                counted(ncol(x$W), "column", "columns"))
  print_call(x$call)
  if (!is.null(x$value)) {
    cli::cat_line("value:  ", format(x$value, digits = 5L), if (!is.null(x$nu)) paste0(", nu ", format(x$nu, digits = 4L)),
                  if (isTRUE(x$nu_raised)) " (safe: the rule's was too small)", if (!is.null(x$kappa)) paste0(", kappa ", format(x$kappa)))
    cli::cat_line("kernel: ", x$kernel, if (!is.null(x$width)) paste(" of width", format(x$width, digits = 3L)))
    if (length(x$starts) > 1L) {
      cli::cat_line("starts: ", length(x$starts), ", values from ", format(min(x$starts), digits = 5L), " to ", format(max(x$starts), digits = 5L))
    }
  }
  cli::cat_line("Mixing matrix A:")
  shown <- x$A[seq_len(min(nrow(x$A), 10L)), seq_len(min(ncol(x$A), 8L)), drop = FALSE]
  print(signif(shown, 3L))
  if (length(shown) < length(x$A)) cli::cat_line("... ", nrow(x$A), " x ", ncol(x$A), " in all")
  cli::cat_line("Solver: ", format_convergence(x$convergence))
  invisible(x)
}

#' @rdname ica_baseline
#' @export
coef.granary_ica <- function(object, ...) object$A

#' @rdname ica_baseline
#' @export
predict.granary_ica <- function(object, newdata = NULL, ...) {
  refuse_dots(...)
  if (is.null(newdata)) return(object$S)
  if (is_plain_numeric(newdata) && is.null(dim(newdata))) newdata <- if (ncol(object$W) == 1L) cbind(newdata) else rbind(newdata)
  newdata <- match_columns(check_matrix(newdata), object$columns, "newdata")
  sources <- sweep(newdata, 2L, object$mean) %*% t(object$W)
  dimnames(sources) <- list(rownames(newdata), rownames(object$W))
  sources
}

#' @rdname ica_baseline
#' @importFrom stats fitted
#' @export
fitted.granary_ica <- function(object, ...) {
  rebuilt <- object$S %*% t(object$A)
  rebuilt + rep(object$mean, each = nrow(rebuilt))
}

#' @rdname ica_baseline
#' @importFrom generics tidy
#' @export
tidy.granary_ica <- function(x, ...) {
  share <- colSums(x$A^2)
  data.frame(component = colnames(x$A), variance = share, share = share / sum(share), skewness = colMeans(x$S^3), kurtosis = excess_kurtosis(x$S),
             row.names = NULL)
}

#' @rdname ica_baseline
#' @export
plot.granary_ica <- function(x, type = c("sources", "trace"), ...) {
  type <- check_choice(type, c("sources", "trace"))
  if (type == "trace") {
    if (is.null(x$trace)) abort_input("Only fits of kernel_ica() have a trace.", "type")
    value <- x$trace$value
    stage <- x$trace$kernel
    draw(graphics::plot, seq_along(value), value, type = "n", log = if (all(value > 0)) "y" else "", xlab = "step",
         ylab = measure_titles[[x$measure]], user = list(...))
    colours <- c("black", sign_colours[["negative"]])
    # Values under different kernels do not compare: no line joins them.
    for (k in unique(stage)) graphics::lines(which(stage == k), value[stage == k], type = "o", pch = 16, col = colours[k])
    if (length(unique(stage)) > 1L) {
      graphics::abline(v = sum(stage == 1L) + 0.5, lty = 3)
      labels <- if (is.null(x$width)) c("kernel as given", "half as wide") else sprintf("width %s", format(x$width / 1:2, digits = 3, trim = TRUE))
      graphics::legend("right", labels, col = colours, pch = 16, lty = 1, bty = "n")
    }
    return(invisible())
  }
  shown <- min(ncol(x$S), 6L)
  rows <- if (nrow(x$S) > 2000L) round(seq(1, nrow(x$S), length.out = 2000L)) else seq_len(nrow(x$S))
  diagonal <- function(values, ...) {
    limits <- graphics::par("usr")
    on.exit(graphics::par(usr = limits))
    density <- stats::density(values)
    graphics::par(usr = c(limits[1:2], 0, 1.3 * max(density$y)))
    graphics::lines(density, lwd = 2)
  }
  s <- x$S[rows, seq_len(shown), drop = FALSE]
  if (shown == 1L) {
    draw(graphics::plot, stats::density(s[, 1L]), main = "IC1", user = list(...))
  } else {
    draw(graphics::pairs, s, pch = 16, cex = 0.4, col = grDevices::adjustcolor("black", 0.4), diag.panel = diagonal, user = list(...))
  }
  invisible()
}

# How far from the truth, from 0 to 100: `truth` is the mixing matrix.
#' @rdname ica_baseline
#' @param truth The mixing matrix \eqn{B} of simulated data.
#' @export
assess.granary_ica <- function(object, truth, ...) {
  refuse_dots(...)
  if (missing(truth)) fail_missing("truth")
  data.frame(amari = amari_error(object$W, truth))
}
