#' Ising models: what can be done with one
#'
#' Methods of the models of [ising_model()], [sim_ising()] and [ising_fit()]: conditional and joint probabilities, draws, likelihood, edges, pictures.
#'
#' @details
#' `predict()` gives, for rows of `newdata`, `"response"`: \eqn{P(x_i = +1 | rest)}{P(x_i = +1 | rest)} for each variable given the others in the
#' row;
#' `"class"`: the likelier value of each, in the user's own coding; `"log_density"`: the logarithm of the probability of the row, for models
#' whose connected components have at most 25 variables. `newdata` is matched by the names of columns and of factor levels.
#'
#' `simulate()` draws rows exactly where components have at most 20 variables, else by Gibbs sampling with 200 sweeps of burn-in and one row every
#' ten sweeps from each of 32 chains; couplings much above 0.5 mix badly.
#'
#' `logLik()` is the log-likelihood of the data, or where that cannot be enumerated the log pseudo-likelihood, which it says in attribute `type`.
#'
#' @param x,object An Ising model.
#' @param newdata Rows of two-valued data; by default those fitted.
#' @param type For `predict()`, see Details. For `plot()`: the `"network"` (blue: positive couplings), a `"heatmap"`, or the `"trace"` of a
#'   stochastic fit.
#' @param nsim Number of rows.
#' @param seed A seed for [set.seed()]; the session's random numbers are left as they were, as in [stats::simulate()]. Usually left `NULL`.
#' @param labels Whether to write names; by default for at most 60 variables.
#' @param layout A two-column matrix of positions.
#' @param ... For `plot()`, graphical parameters.
#' @param truth The model to compare with, over the same variables (matched by name).
#' @return `coef()` gives fields and couplings \eqn{w_{ij}}{w_ij}, named `a` and `a:b`; `tidy()` a data frame of edges, strongest first, with \eqn{w_{ij}}{w_ij}
#'   as `estimate`; `assess()` a data frame with the divergence `kl` of `object` from `truth`, \eqn{\sum p \log(p / \hat p)}{sum p log(p / p_hat)} (exact; `NA`
#'   where components are too large to enumerate), `precision` and `recall` of the edges and the root mean square error `rmse` of the couplings; `predict()` a matrix or vector; `simulate()` rows in the coding of the
#'   data.
#' @seealso [ising_fit()], [ising_path()], [ising_moments()], [ising_hub()], [influence_game()], [ec_ising()]
#' @name granary_ising
#' @examples
#' set.seed(1)
#' sim <- sim_ising(p = 6, density = 0.4, n = 200)
#' fit <- ising_fit(sim$data, lambda = 0.05)
#' tidy(fit)
#' head(predict(fit))
#' predict(fit, sim$data[1:2, ], type = "log_density")
#' assess(fit, truth = sim)
#' simulate(fit, nsim = 2)
#' logLik(fit)
#' plot(fit)
NULL

ising_of <- function(model, arg = "model") {
  if (missing(model)) fail_missing(arg)
  if (!inherits(model, "granary_ising")) {
    fail_input(arg, "an Ising model, from ising_fit(), ising_model() or sim_ising()", describe(model))
  }
  check_fit(model)
  model
}

ising_size <- function(model) core_ising_component(unname(model$W))

# A model as it crosses.
spin_model <- function(model) list(W = unname(model$W), b = unname(model$b))

#' An Ising model from its parameters
#'
#' `ising_model()` makes a model from couplings and fields; `sim_ising()` draws one at random, with data.
#'
#' @details `sim_ising()` is the set-up of the thesis: each pair is an edge with probability `density`, \eqn{w_{ij}}{w_ij} uniform between -`size`
#'   and `size`,
#'   and the fields zero, or uniform between -1 and 1.
#'
#' @section Which method when:
#' `ising_model()` where couplings and fields are known; [ising_fit()] learns them; `sim_ising()` draws one to try things on.
#'
#' @param W Symmetric matrix with zero diagonal; \eqn{p(x) \propto \exp(x'Wx + b'x)}{p(x) ~ exp(x'Wx + b'x)} on \eqn{\{-1, +1\}^p}{(-1, +1)^p}, so the
#'   coupling of physics is 2 `W`.
#' @param b Fields, one per variable; zeros by default.
#' @param ... Nothing: an argument that is not known is an error.
#' @return An object of class `granary_ising` with `W`, `b` and `coupling`; for `sim_ising()` also `data`.
#' @seealso [ising_fit()], [ising_path()], [ising_moments()], [ising_hub()], [influence_game()], [ec_ising()]
#' @export
#' @examples
#' model <- ising_model(matrix(c(0, 0.3, 0.3, 0), 2), b = c(0.1, 0))
#' model
#' ising_moments(model)$logz
ising_model <- function(W, b = NULL, ...) {
  refuse_dots(...)
  call <- match.call()
  W <- check_symmetric(W, "W")
  if (any(diag(W) != 0)) abort_input("`W` must have a zero diagonal: the square of a spin is always one.", "W")
  if (max(abs(W)) > 1e6) abort_input("`W` must be at most 1e6 in absolute value: such a model has no randomness left.", "W")
  names <- variable_names(colnames(W), ncol(W))
  dimnames(W) <- list(names, names)
  b <- if (is.null(b)) rep(0, ncol(W)) else check_vector(b, "b", length = ncol(W), lower = -1e6, upper = 1e6)
  labels <- spin_labels(names)
  new_fit(c("ising_model", "ising"), W = W, b = stats::setNames(b, names), coupling = 2 * W, levels = labels$levels, kind = labels$kind, call = call,
          convergence = NULL)
}

#' @rdname ising_model
#' @param p Number of variables.
#' @param density Probability of an edge.
#' @param field `"zero"`, or `"uniform"` fields.
#' @param n Number of rows to draw; `NULL` for none.
#' @param size Largest \eqn{|w_{ij}|}{|w_ij|}.
#' @export
#' @examples
#'
#' set.seed(1)
#' sim <- sim_ising(p = 10, n = 5)
#' sim$data
sim_ising <- function(p = 15, density = 0.5, field = c("zero", "uniform"), n = 50, size = 1, ...) {
  refuse_dots(...)
  p <- check_count(p, upper = 5000)
  density <- check_number(density, lower = 0, upper = 1)
  field <- check_choice(field, c("zero", "uniform"))
  n <- check_count(n, allow_null = TRUE, upper = 1e7)
  size <- check_number(size, lower = 0, upper = 1e6)
  W <- matrix(0, p, p)
  pairs <- which(upper.tri(W))
  W[pairs] <- ifelse(stats::runif(length(pairs)) < density, stats::runif(length(pairs), -size, size), 0)
  W <- W + t(W)
  b <- if (field == "zero") rep(0, p) else stats::runif(p, -1, 1)
  model <- ising_model(W, b)
  class(model) <- c("granary_sim_ising", class(model))
  if (!is.null(n)) model$data <- simulate(model, nsim = n)
  model
}

#' Moments, partition function and entropy of Ising models
#'
#' @details
#' Exact answers enumerate the states of each connected component: energies and all moments up to pairs cost a few operations per state. The
#' other methods: `"mean_field"` (a lower bound on \eqn{\log Z}{log Z}), `"belief"` (loopy belief propagation with the Bethe value of \eqn{\log
#' Z}{log Z}; exact on trees), `"importance"` (draws from mean field, self-normalised; `ess` is the effective number), `"gibbs"` (`sweeps` Gibbs
#' sweeps
#' on each of `samples` draws from mean field).
#'
#' @section Which method when:
#' `"exact"` up to about 25 variables, `"belief"` for weak or tree-like couplings, `"gibbs"` for anything else; [ec_ising()] for better approximations in
#' milliseconds.
#'
#' @param model An Ising model.
#' @param method How; `"auto"` is exact where components have at most 20 variables, else belief propagation.
#' @param samples Number of draws.
#' @param sweeps Gibbs sweeps on each draw.
#' @param ... Nothing: an argument that is not known is an error.
#' @return A list with `mean`, `second` (\eqn{E x_i x_j}{E x_i x_j}), `logz`, `entropy` (in nats:
#'   \eqn{\log Z}{log Z} less the mean energy, as good as these are), `ess`, `r_hat`
#'   (of the energy of the Gibbs chains over the second half of their sweeps; a warning above 1.2), `method`, `convergence`.
#' @seealso [ising_fit()], [ising_path()], [ising_model()], [ising_hub()], [influence_game()], [ec_ising()]
#' @export
#' @examples
#' chain <- ising_model(toeplitz(c(0, 0.3, 0, 0)))
#' ising_moments(chain)$second[1, 2]  # tanh(0.6)
#' ising_moments(chain)$logz - 4 * log(2)  # 3 log cosh(0.6)
ising_moments <- function(model, method = c("auto", "exact", "mean_field", "belief", "importance", "gibbs"), samples = 1000, sweeps = 20, ...) {
  refuse_dots(...)
  model <- ising_of(model)
  method <- check_choice(method, c("auto", "exact", "mean_field", "belief", "importance", "gibbs"))
  if (method == "auto") method <- if (ising_size(model) <= 20L) "exact" else "belief"
  samples <- check_count(samples, upper = 1e7)
  sweeps <- check_count(sweeps, upper = 1e5)
  if (samples * as.double(ncol(model$W)) > 2e8) abort_input("`samples` times the number of variables must be at most 2e8.", "samples")
  names <- colnames(model$W)
  result <- core_ising_moments(spin_model(model), method, list(samples = samples, sweeps = sweeps, max_iter = 1000L, diagnose = TRUE), core_seed(),
                               progress_bar("moments"))
  if (!result$convergence$converged) {
    warn_convergence(sprintf("The %s iterations did not settle: the last change was %.2g.", sub("_", "-", method), result$convergence$residual),
                     result$convergence)
  }
  if (isTRUE(result$r_hat > 1.2)) {
    warn_convergence(sprintf("The Gibbs chains have not mixed: R-hat of the energy is %.2f. Raise `sweeps`, or use an exact or deterministic method.",
                             result$r_hat), result$convergence)
  }
  real <- function(v) if (is.nan(v)) NA_real_ else v
  dimnames(result$second) <- list(names, names)
  logz <- real(result$logz)
  list(mean = stats::setNames(as.vector(result$mean), names), second = result$second, logz = logz,
       entropy = logz - sum(model$W * result$second) - sum(model$b * result$mean), ess = real(result$ess), r_hat = real(result$r_hat),
       method = method, convergence = result$convergence)
}

#' @rdname granary_ising
#' @export
assess.granary_ising <- function(object, truth = NULL, ...) {
  refuse_dots(...)
  if (is.null(truth)) fail_missing("truth")
  truth <- ising_of(truth, "truth")
  at <- same_variables(colnames(truth$W), colnames(object$W), "truth")
  W <- unname(truth$W[at, at, drop = FALSE])
  size <- max(core_ising_component(W), ising_size(object))
  kl <- if (size > 25L) NA_real_ else core_ising_kl(list(W = W, b = unname(truth$b[at])), spin_model(object), progress_bar("divergence"))
  pairs <- upper.tri(W)
  found <- object$W[pairs] != 0
  true <- W[pairs] != 0
  data.frame(kl = kl, precision = if (any(found)) mean(true[found]) else NA_real_, recall = if (any(true)) mean(found[true]) else NA_real_,
             rmse = sqrt(mean((object$W[pairs] - W[pairs])^2)), edges = sum(found), true_edges = sum(true))
}

#' @rdname granary_ising
#' @export
print.granary_ising <- function(x, ...) {
  p <- ncol(x$W)
  fitted <- inherits(x, "granary_ising_fit")
  edges <- if (fitted) x$df else count_pairs(x$W)
  cli::cat_line(if (fitted) paste0("Ising model by ", ising_titles[[x$method]]) else "Ising model", ": ", counted(p, "variable", "variables"), ", ", counted(edges, "edge", "edges"),
                if (fitted) paste0(", n = ", x$n))
  print_call(x$call)
  if (fitted) {
    cli::cat_line("lambda: ", if (length(unique(x$lambda)) > 1L) paste(format(range(x$lambda), digits = 3L), collapse = " to ") else format(x$lambda[1L],
                                                                                                                                   digits = 3L),
                  if (!is.null(x$selection) || x$method == "nodewise" && length(unique(x$lambda)) > 1L) " (by EBIC)",
                  "; log-likelihood: ", if (is.na(x$loglik)) "not enumerable" else format(x$loglik, digits = 6L),
                  ", pseudo: ", format(x$pseudo_loglik, digits = 6L))
  }
  table <- utils::head(tidy(x), 6L)
  if (nrow(table) > 0L) {
    cli::cat_line(if (edges > 6L) "Strongest edges:" else "Edges:")
    print(table, digits = 3L, row.names = FALSE)
  }
  if (fitted) cli::cat_line("Solver: ", format_convergence(x$convergence))
  invisible(x)
}

ising_titles <- c(exact = "exact penalised likelihood", pseudolik = "penalised pseudo-likelihood", nodewise = "one logistic regression per variable",
                  fbs = "forward-backward splitting", pg = "proximal gradient", apg = "accelerated proximal gradient",
                  bp2step = "belief propagation on a nodewise structure")

#' @rdname granary_ising
#' @export
summary.granary_ising <- function(object, ...) {
  W <- object$W
  seal(structure(
    list(model = object, edges = tidy(object), degree = sort(rowSums(W != 0), decreasing = TRUE), strength = sort(rowSums(abs(W)), decreasing = TRUE),
         largest_component = ising_size(object)),
    class = "summary_granary_ising"
  ))
}

#' @export
print.summary_granary_ising <- function(x, ...) {
  print(x$model)
  cli::cat_line("Largest connected component: ", x$largest_component, " variables")
  bound <- x$model$theorem_bound
  if (!is.null(bound) && !is.na(bound)) cli::cat_line("Above the optimum by at most ", format(bound, digits = 2L),
                                                      " by Theorem 5.2 (the duality gap is the sharper bound)")
  cli::cat_line("Most connected: ", paste0(names(utils::head(x$degree, 5L)), " (", utils::head(x$degree, 5L), ")", collapse = ", "))
  cli::cat_line("Fields:")
  print(x$model$b, digits = 3L)
  invisible(x)
}

#' @rdname granary_ising
#' @importFrom stats coef
#' @export
coef.granary_ising <- function(object, ...) {
  refuse_dots(...)
  edges <- tidy(object)
  c(object$b, stats::setNames(edges$estimate, paste0(edges$from, ":", edges$to)))
}

#' @rdname granary_ising
#' @export
tidy.granary_ising <- function(x, ...) {
  refuse_dots(...)
  W <- x$W
  at <- which(upper.tri(W) & W != 0, arr.ind = TRUE)
  at <- at[order(-abs(W[at])), , drop = FALSE]
  data.frame(from = colnames(W)[at[, 1L]], to = colnames(W)[at[, 2L]], estimate = W[at], coupling = 2 * W[at], log_odds_ratio = 8 * W[at])
}

#' @rdname granary_ising
#' @export
as.matrix.granary_ising <- function(x, ...) x$W

#' @rdname granary_ising
#' @export
predict.granary_ising <- function(object, newdata = NULL, type = c("response", "class", "log_density"), ...) {
  refuse_dots(...)
  type <- check_choice(type, c("response", "class", "log_density"))
  x <- ising_newdata(object, newdata)
  W <- unname(object$W)
  b <- unname(object$b)
  if (type == "log_density") {
    size <- ising_size(object)
    if (size > 25L) {
      abort_input(sprintf(paste("Joint probabilities need the sum over 2^%d states of the largest component, and enumeration stops at 25.",
                                "Use type = \"response\"."), size), "type")
    }
    return(rowSums(x * (x %*% W)) + as.vector(x %*% b) - core_ising_logz(list(W = W, b = b), progress_bar("log Z")))
  }
  out <- core_ising_conditional(x, list(W = W, b = b))
  dimnames(out) <- dimnames(x)
  if (type == "response") out else spin_values(ifelse(out >= 0.5, 1, -1), object)
}

ising_newdata <- function(object, newdata) {
  if (is.null(newdata)) {
    x <- if (is.null(object$x)) NULL else object$x
    if (is.null(x) && !is.null(object$data)) x <- spin_data(object$data, "data", like = object)$x
    if (is.null(x)) abort_input("`newdata` must be given: this model was not fitted to data.", "newdata")
    return(x)
  }
  spin_data(newdata, "newdata", like = object)$x
}

#' @rdname granary_ising
#' @export
simulate.granary_ising <- function(object, nsim = 1, seed = NULL, ...) {
  refuse_dots(...)
  nsim <- check_count(nsim, upper = 1e7)
  if (nsim * as.double(ncol(object$W)) > 5e8) abort_input("`nsim` times the number of variables must be at most 5e8.", "nsim")
  if (!is.null(seed)) return(with_seed(seed, simulate(object, nsim = nsim)))
  x <- core_spins_sample(spin_model(object), list(rows = nsim, exact = ising_size(object) <= 20L, burn_in = 200L, thin = 10L), core_seed(),
                         progress_bar("draws"))
  colnames(x) <- colnames(object$W)
  spin_values(x, object)
}

#' @rdname granary_ising
#' @export
logLik.granary_ising_fit <- function(object, ...) {
  refuse_dots(...)
  exact <- !is.na(object$loglik)
  structure(if (exact) object$loglik else object$pseudo_loglik, df = object$df + ncol(object$W), nobs = object$n,
            type = if (exact) "likelihood" else "pseudo-likelihood", class = "logLik")
}

#' @rdname granary_ising
#' @export
plot.granary_ising <- function(x, type = c("network", "heatmap", "trace"), labels = NULL, layout = NULL, ...) {
  type <- check_choice(type, c("network", "heatmap", "trace"))
  if (type == "trace") return(plot_ising_trace(x, ...))
  W <- x$W
  if (type == "heatmap") return(plot_weights(W, "couplings w", labels, ...))
  net <- ising_network(x)
  draw_network(net$edges, colnames(W), net$main, labels, layout, FALSE, ...)
}

ising_network <- function(x) {
  at <- which(upper.tri(x$W) & x$W != 0, arr.ind = TRUE)
  list(edges = data.frame(from = at[, 1L], to = at[, 2L], value = x$W[at]),
       main = paste0(counted(nrow(at), "edge", "edges"), if (!is.null(x$lambda) && length(unique(x$lambda)) == 1L) paste(" at lambda =", format(x$lambda[1L], digits = 3L))))
}

#' @rdname granary_ising
#' @usage \method{autoplot}{granary_ising}(object, type = c("network", "heatmap"), layout = NULL, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_ising <- function(object, type = c("network", "heatmap"), layout = NULL, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  type <- check_choice(type, c("network", "heatmap"))
  if (type == "heatmap") return(autoplot_weights(object$W, "couplings w"))
  net <- ising_network(object)
  autoplot_weighted(net$edges, colnames(object$W), net$main, layout, FALSE)
}

plot_ising_trace <- function(x, ...) {
  if (is.null(x$trace)) abort_input("There is no trace to plot: only \"fbs\", \"pg\" and \"bp2step\" fits have one.", "type")
  table <- x$trace
  known <- c("last", "average", "robust")[colSums(is.finite(as.matrix(table[c("last", "average", "robust")]))) > 0]
  if (length(known) == 0L) {
    draw(graphics::plot, table$step, table$move, log = "x", type = "l", xlab = "step", ylab = "length of the move", user = list(...))
    return(invisible())
  }
  values <- as.matrix(table[known])
  draw(graphics::matplot, table$step, values, log = "x", type = "l", lty = seq_along(known), col = "black", xlab = "step",
       ylab = "penalised objective",
       user = list(...))
  graphics::legend("topright", known, lty = seq_along(known), bty = "n")
  invisible()
}

# A matrix of weights in colours; rows from the top.
plot_weights <- function(m, main, labels = NULL, ...) {
  p <- ncol(m)
  labels <- check_flag(if (is.null(labels)) p <= 40 else labels, "labels")
  limit <- max(abs(m), 1e-9)
  colours <- signed_colours(101L)
  margin <- if (labels) min(8, 1 + 0.55 * max(nchar(colnames(m)))) else 1
  old <- graphics::par(mar = c(margin, margin, 2, 4))
  on.exit(graphics::par(old))
  draw(graphics::image, seq_len(p), seq_len(p), t(m)[, p:1L, drop = FALSE], zlim = c(-limit, limit), col = colours, axes = FALSE, xlab = "",
       ylab = "",
       main = main, user = list(...))
  graphics::box(col = "grey60")
  draw_key(c(-limit, limit), colours)
  if (labels) {
    graphics::axis(1, seq_len(p), colnames(m), las = 2, tick = FALSE, line = -0.7, cex.axis = 0.8)
    graphics::axis(2, seq_len(p), rev(rownames(m)), las = 2, tick = FALSE, line = -0.7, cex.axis = 0.8)
  }
  invisible()
}

#' @exportS3Method igraph::as.igraph
as.igraph.granary_ising <- function(x, ...) {  # nolint: object_name_linter.
  check_installed("igraph", "as.igraph()")
  edges <- tidy(x)
  igraph::graph_from_data_frame(edges[c("from", "to", "estimate", "coupling")], directed = FALSE, vertices = data.frame(name = colnames(x$W)))
}
