#' Ising models by expectation consistent inference
#'
#' Means, covariances of all pairs, marginals and \eqn{\log Z}{log Z} of an Ising (Boltzmann, pairwise binary) model whose \eqn{2^N}{2^N} states
#' cannot be
#' summed, by coupling a law of spins with a Gaussian until their moments agree.
#'
#' @details
#' The model is \deqn{p(x) = \exp(x'Jx / 2 + \theta'x) / Z, \qquad x \in \{-1, +1\}^N,}{p(x) = exp(x'Jx / 2 + theta'x) / Z, x in (-1, +1)^N,} so
#' that
#' `J[i, j]` is the coupling of a pair. Three tractable laws share the statistics \eqn{g(x) = (x_i, -x_i^2/2, -x_i x_j)}{g(x) = (x_i, -x_i^2/2,
#' -x_i x_j)}:
#' \eqn{q}{q} on spins with parameters \eqn{(\gamma_q, \Lambda_q)}{(gamma_q, Lambda_q)}, the Gaussian \eqn{r}{r} with precision
#' \eqn{\Lambda_r - J}{Lambda_r - J} and shift \eqn{\gamma_r + \theta}{gamma_r + theta}, and the Gaussian \eqn{s}{s} with \eqn{\lambda_s =
#' \lambda_q +
#' \lambda_r}{lambda_s = lambda_q + lambda_r}. At a solution all three agree on the expectations of \eqn{g}{g}, and
#' \deqn{\log Z_{EC} = \log Z_q + \log Z_r - \log Z_s}{log Z_EC = log Z_q + log Z_r - log Z_s} is stationary: its derivatives in
#' \eqn{\theta}{theta} and
#' \eqn{J}{J} are the means and second moments that are returned.
#'
#' `method` says how much has to agree: `"restricted"` all means and \eqn{\sum_i \langle x_i^2 \rangle}{sum_i <x_i^2>} (one eigendecomposition, then
#' \eqn{O(N^2)}{O(N^2)} per step), `"factorized"` all means and variances, `"tree"` also the pairs of a spanning tree, by default the heaviest by
#' \eqn{|J_{ij}|}{|J_ij|}; it is exact when `J` is a forest. The last two cost \eqn{O(N^3)}{O(N^3)} per sweep. `width` \eqn{L > 1}{L > 1} makes the
#' tree wider: variables join one by one, each with \eqn{L}{L} that are joined with each other already, so that more couplings are treated exactly, at
#' \eqn{2^L}{2^L} times the cost for the spins. This is what the paper proposes as strips of a grid. Only the single loop is
#' there for it, and covariances of pairs outside the tree are those of a Gaussian even where the rest is exact.
#'
#' `algorithm`: `"single"` loops send messages between \eqn{q}{q} and \eqn{r}{r} and usually settle in some ten sweeps; the `"double"` loop solves
#' a concave
#' problem in each outer step and never raises the free energy \eqn{F}{F} (column `free_energy` of the trace), but is slow; `"greedy"` is the
#' double loop with an outer step after each
#' inner update. `"auto"` tries single loops with less and less of a step, then greedy, then double.
#'
#' With strong couplings there may be several fixed points, of which a ferromagnet without fields has two. `n_starts` tries further starts at
#' random and keeps the one
#' with the largest \eqn{\log Z_{EC}}{log Z_EC} among those that converged; all are listed in `starts`.
#'
#' @section Which method when:
#' Up to 20 or so variables `ising_moments(method = "exact")` has no error. `"tree"` is the default: in the paper's experiments it is better than
#' `"factorized"` and than belief propagation everywhere. `"restricted"` is for a first look at thousands of spins. Belief propagation
#' (`ec_baseline(method = "bethe")`) costs less on large sparse
#' graphs but gives no covariances of pairs without an edge. Gibbs sampling is unbiased where it mixes.
#'
#' @param J Symmetric matrix of couplings, or a model of [ising_model()] (whose \eqn{W}{W} is \eqn{J/2}{J/2}), then `theta` is left out. A matrix
#'   that is not symmetric is
#'   replaced by the mean of itself and its transpose, with a warning. The diagonal adds a constant.
#' @param theta Fields, one per variable; one number stands for all.
#' @param method Moments that have to agree, see Details.
#' @param algorithm Loop, see Details.
#' @param spins `"-1/1"`, or `"0/1"` for a model on \eqn{\{0, 1\}^N}{(0, 1)^N}; the answer is then about zeros and ones.
#' @param damping Share of each step taken by the single loops, between 0 and 1; `NULL` for 1 in sweeps over spins (then 0.3), 0.5 in parallel
#'   steps (then 0.1).
#' @param tol Stop when \eqn{\| \langle g \rangle_q - \langle g \rangle_r \|^2}{|<g>_q - <g>_r|^2} is below.
#' @param max_iter Sweeps of each loop.
#' @param tree For `method = "tree"`: a two-column matrix of edges to use instead of the heaviest spanning tree.
#' @param width For `method = "tree"`: the width of the tree, 1 to 10.
#' @param n_starts Number of starts.
#' @param ... Nothing: an argument that is not known is an error.
#' @return An object of class `granary_ec`: `mean`, `cov` (of \eqn{r}{r}), `prob` (\eqn{P(x_i = 1)}{P(x_i = 1)}), `log_z`, `tree` (edges),
#'   `algorithm` (the one that gave the answer),
#'   `lambda` (the parameters of \eqn{q}{q} and \eqn{r}{r}), `trace` (residual per sweep), `free_energy`, `starts`, `convergence` (`residual` is
#'   the gap of the moments).
#'   See [predict()][predict.granary_ec] and [granary_ec] for what can be done with it.
#' @references
#' Opper and Winther (2005). Expectation Consistent Approximate Inference. *Journal of Machine Learning Research* 6, 2177--2204.
#' See `errata("jmlr6-expectation-consistent")`.
#' @seealso [ec_ising_fit()], [ec_gauss()], [ec_box()], [ec_factor()], [ec_baseline()]
#' @export
#' @examples
#' J <- matrix(c(0, 0.5, -0.4, 0.5, 0, 0.3, -0.4, 0.3, 0), 3)
#' fit <- ec_ising(J, theta = c(0.2, -0.1, 0.4))
#' fit
#' ec_baseline(J, c(0.2, -0.1, 0.4), "exact")$log_z
#'
#' set.seed(1)
#' sim <- sim_ec_ising("grid", n = 16, size = 1)
#' ec_compare(sim$J, sim$theta)
ec_ising <- function(J, theta = 0, method = c("tree", "factorized", "restricted"), algorithm = c("auto", "single", "greedy", "double"),
                     spins = c("-1/1", "0/1"), damping = NULL, tol = 1e-12, max_iter = 1000, tree = NULL, width = 1, n_starts = 1, ...) {
  refuse_dots(...)
  call <- match.call()
  method <- check_choice(method, c("tree", "factorized", "restricted"))
  algorithm <- check_choice(algorithm, c("auto", "single", "greedy", "double"))
  spins <- check_choice(spins, c("-1/1", "0/1"))
  model <- ec_model(J, theta, spins)
  damping <- check_number(damping, lower = 0, upper = 1, strict_lower = TRUE, allow_null = TRUE)
  tol <- check_number(tol, lower = 0, strict_lower = TRUE, upper = 1)
  max_iter <- check_count(max_iter, upper = 1e7)
  tree <- check_ec_tree(tree, method, length(model$theta))
  width <- check_count(width, upper = 10)
  if (width > 1L && (method != "tree" || !is.null(tree))) abort_input("`width` has a meaning only for method = \"tree\" and without `tree`.", "width")
  if (width > 1L && !algorithm %in% c("auto", "single")) abort_input("A tree with `width` above 1 has the single loop only.", "algorithm")
  n_starts <- check_count(n_starts, upper = 1e4)
  options <- list(method = method, algorithm = algorithm, damping = if (is.null(damping)) 0 else damping, tol = tol, max_iter = max_iter,
                  width = width, n_starts = n_starts)
  if (!is.null(tree)) options$tree <- tree
  found <- core_ec_ising(model[c("J", "theta")], options, core_seed(), progress_bar("expectation consistency"))
  starts <- as.data.frame(found$starts)
  starts$log_z <- starts$log_z + model$constant
  fit <- ec_finish(found$best, model, method, starts, call)
  fit$width <- width
  fit
}

# Couplings with a zero diagonal and fields for spins -1 and 1, and what that adds to log Z.
ec_model <- function(J, theta, spins = "-1/1") {
  if (missing(J)) fail_missing("J")
  if (inherits(J, "granary_ising")) {
    if (!identical(theta, 0)) abort_input("`theta` must be left out when `J` is a model: it brings its own fields.", "theta")
    theta <- J$b
    J <- 2 * J$W
  }
  J <- check_matrix(J, "J", max_abs = 1e100)
  if (nrow(J) != ncol(J)) abort_input(sprintf("`J` must be square, but it has %d rows and %d columns.", nrow(J), ncol(J)), "J")
  names <- symmetric_labels(J, "J")
  J <- unname(J)
  gap <- max(abs(J - t(J)))
  if (gap > 1e-8 * max(abs(J))) {
    warn_input(sprintf("`J` is not symmetric (largest difference %.3g): the mean of it and its transpose is used.", gap), "J")
  }
  J <- (J + t(J)) / 2
  n <- nrow(J)
  theta <- check_vector(theta, "theta", lower = -1e100, upper = 1e100)
  if (is.null(names)) names <- if (length(theta) == n) names(theta)
  if (length(theta) == 1L) theta <- rep(theta, n)
  if (length(theta) != n) {
    abort_input(sprintf("`theta` must have one field per variable (%d) or one for all, but it has %d.", n, length(theta)), "theta")
  }
  theta <- unname(theta)
  constant <- 0
  if (spins == "0/1") {  # x = (1 + s) / 2
    constant <- sum(J) / 8 + sum(theta) / 2
    theta <- theta / 2 + rowSums(J) / 4
    J <- J / 4
  }
  constant <- constant + sum(diag(J)) / 2
  diag(J) <- 0
  list(J = J, theta = theta, constant = constant, names = variable_names(names, n), spins = spins)
}

check_ec_tree <- function(tree, method, n) {
  if (is.null(tree)) return(NULL)
  if (method != "tree") abort_input("`tree` has a meaning only for method = \"tree\".", "tree")
  tree <- check_matrix(tree, "tree", min_rows = 0L)
  if (ncol(tree) != 2L || any(tree != round(tree)) || any(tree < 1) || any(tree > n)) {
    abort_input(sprintf("`tree` must have two columns with the numbers of variables, from 1 to %d.", n), "tree")
  }
  storage.mode(tree) <- "integer"
  unname(tree)
}

ec_finish <- function(result, model, method, starts, call, class = NULL, advice = NULL) {
  names <- model$names
  zero_one <- model$spins == "0/1"
  mean <- stats::setNames(as.vector(result$mean), names)
  cov <- result$cov
  dimnames(cov) <- list(names, names)
  fit <- new_fit(
    c(class, "ec"), mean = if (zero_one) (1 + mean) / 2 else mean, cov = if (zero_one) cov / 4 else cov, prob = (1 + mean) / 2,
    log_z = result$log_z + model$constant, method = method, algorithm = result$algorithm, tree = result$edges, lambda = list(q = result$q,
                                                                                                                             r = result$r),
    trace = result$residual, free_energy = result$free_energy, starts = starts, spins = model$spins, J = model$J, theta = model$theta,
    constant = model$constant, call = call, convergence = result$convergence
  )
  check_convergence(fit, if (is.null(advice)) {
    paste("The couplings may be too strong for this approximation: try another `method`, n_starts > 1,",
          "more `max_iter`, or Gibbs sampling.")
  } else {
    advice
  })
  fit
}

#' What can be done with the answer of expectation consistent inference
#'
#' Methods for [ec_ising()] and [ec_baseline()].
#'
#' @details `plot()` shows `"marginals"`: \eqn{P(x_i = 1)}{P(x_i = 1)}, against the exact ones where there are at most 20 variables; `"network"`:
#'   the couplings, those of the tree
#'   drawn as the last and boldest; `"trace"`: how the moments of \eqn{q}{q} and \eqn{r}{r} came together.
#'
#' @param x,object An object of class `granary_ec`.
#' @param type What to draw, see Details.
#' @param ... For `plot()`, graphical parameters.
#' @return `coef()` the means, `vcov()` the covariances, `logLik()` \eqn{\log Z}{log Z}, `tidy()` one row per variable, `gradient` parts as in
#'   [ec_ising()].
#' @seealso [ec_ising()], [ec_gauss()], [ec_factor()], [ec_baseline()], [ising_moments()]
#' @name granary_ec
#' @examples
#' set.seed(1)
#' sim <- sim_ec_ising("full", n = 12, size = 0.3)
#' fit <- ec_ising(sim$J, sim$theta)
#' coef(fit)
#' vcov(fit)[1:2, 1:2]
#' logLik(fit)
#' plot(fit)
NULL

ec_titles <- c(tree = "expectation consistency on a tree", factorized = "expectation consistency, factorized",
               restricted = "expectation consistency, restricted",
               exact = "enumeration", mean_field = "mean field", tap = "TAP equations", bethe = "belief propagation", gibbs = "Gibbs sampling")

#' @rdname granary_ec
#' @export
print.granary_ec <- function(x, ...) {
  n <- length(x$mean)
  cli::cat_line("Ising model by ", ec_titles[[x$method]], ": ", n, if (n == 1L) " variable" else " variables",
                if (!is.null(x$tree) && nrow(x$tree) > 0L) {
                  paste0(", tree of ", counted(nrow(x$tree), "edge", "edges"), if (isTRUE(x$width > 1L)) paste(" and width", x$width))
                })
  print_call(x$call)
  cli::cat_line("log Z: ", format(x$log_z, digits = 7L))
  cli::cat_line(if (n > 8L) "First means:" else "Means:")
  print(utils::head(x$mean, 8L), digits = 4L)
  if (!is.null(x$starts) && nrow(x$starts) > 1L) {
    good <- x$starts$log_z[x$starts$converged]
    cli::cat_line(nrow(x$starts), " starts, ", length(good), " converged, to ", length(unique(round(good, 6L))), " different values of log Z")
  }
  cli::cat_line("Solver: ", if (!is.null(x$algorithm)) paste0(x$algorithm, " loop, "), format_convergence(x$convergence))
  invisible(x)
}

#' @rdname granary_ec
#' @export
summary.granary_ec <- function(object, ...) {
  pairs <- upper.tri(object$cov)
  correlation <- stats::cov2cor(object$cov)
  pair <- ec_pair_table(object)
  seal(structure(list(fit = object, prob = stats::quantile(object$prob), correlation = if (any(pairs)) stats::quantile(correlation[pairs]),
                 outside = sum(pair$outside)), class = "summary_granary_ec"))
}

#' @export
print.summary_granary_ec <- function(x, ...) {
  print(x$fit)
  cli::cat_line("P(x = 1):")
  print(x$prob, digits = 3L)
  if (!is.null(x$correlation)) {
    cli::cat_line("Correlations of pairs:")
    print(x$correlation, digits = 3L)
  }
  if (x$outside > 0L) cli::cat_line(counted(x$outside, "pair has", "pairs have"), " a probability outside [0, 1] before clipping: a sign of strain")
  invisible(x)
}

#' @rdname granary_ec
#' @export
coef.granary_ec <- function(object, ...) object$mean

#' @rdname granary_ec
#' @importFrom stats vcov
#' @export
vcov.granary_ec <- function(object, ...) object$cov

#' @rdname granary_ec
#' @export
logLik.granary_ec <- function(object, ...) {
  n <- length(object$mean)
  structure(object$log_z, df = n + sum(object$J[upper.tri(object$J)] != 0), nobs = NA_integer_, class = "logLik")
}

#' @rdname granary_ec
#' @export
tidy.granary_ec <- function(x, ...) {
  data.frame(variable = names(x$mean), mean = unname(x$mean), sd = sqrt(pmax(0, diag(x$cov))), prob = unname(x$prob))
}

#' @rdname granary_ec
#' @export
plot.granary_ec <- function(x, type = c("marginals", "network", "trace"), ...) {
  type <- check_choice(type, c("marginals", "network", "trace"))
  user <- list(...)
  if (type == "trace") {
    if (length(x$trace) == 0L) abort_input("There is no trace: this answer took no sweeps.", "type")
    draw(graphics::plot, seq_along(x$trace), pmax(x$trace, 1e-300), log = "y", type = "l", xlab = "sweep", ylab = "squared gap of the moments",
         user = user)
    return(invisible(x))
  }
  if (type == "network") {
    at <- which(upper.tri(x$J) & x$J != 0, arr.ind = TRUE)
    edges <- data.frame(from = at[, 1L], to = at[, 2L], value = x$J[at])
    in_tree <- if (is.null(x$tree)) character() else paste(x$tree[, 1L], x$tree[, 2L])
    bold <- paste(edges$from, edges$to) %in% in_tree
    edges$value[bold] <- edges$value[bold] * 3  # the width of a line is its value
    draw_network(edges[order(bold), ], names(x$mean), if (length(in_tree) > 0L) "couplings; the tree is bold" else "couplings", NULL, NULL, FALSE,
                 ...)
    return(invisible(x))
  }
  if (length(x$mean) <= 20L && x$method != "exact") {
    exact <- ec_enumerate(x)
    draw(graphics::plot, exact$prob, x$prob, xlim = c(0, 1), ylim = c(0, 1), pch = 19, xlab = "exact P(x = 1)", ylab = ec_titles[[x$method]],
         user = user)
    graphics::abline(0, 1, col = "grey60")
  } else {
    draw(graphics::plot, seq_along(x$prob), x$prob, ylim = c(0, 1), type = "h", xlab = "variable", ylab = "P(x = 1)", user = user)
    graphics::abline(h = 0.5, col = "grey60", lty = 2)
  }
  invisible(x)
}

ec_enumerate <- function(x) ec_enumerate_model(list(J = x$J, theta = x$theta, constant = x$constant, names = names(x$mean), spins = x$spins))

#' Marginal laws from expectation consistent inference
#'
#' @details
#' Spins: \eqn{p(x_i) = (1 + x_i m_i)/2}{p(x_i) = (1 + x_i m_i)/2} and \eqn{p(x_i, x_j) = x_i x_j C_{ij}/4 + p(x_i)p(x_j)}{p(x_i, x_j) = x_i x_j
#' C_ij / 4 + p(x_i) p(x_j)} with the
#' covariance \eqn{C}{C} of the Gaussian. Nothing keeps the latter inside \eqn{[0, 1]}{[0, 1]}: where they leave it they are clipped and made to
#' sum to one, and `outside` says so.
#'
#' Fits of [ec_gauss()]: the law of one variable is its factor times the cavity, which keeps the shape of the factor: the interval of a
#' truncation, the atom of a spike, the
#' values of a discrete factor.
#'
#' @section Which method when:
#' `predict()` after [ec_ising()] or [ec_gauss()] where one variable or a pair is asked about; `tidy()` lists means and variances of all.
#'
#' @param object A fit of [ec_ising()], [ec_baseline()] or [ec_gauss()].
#' @param i,j Variables, by number or name. With spins and both given: the tables of the pairs. Without any: all single variables, and for spins
#'   all pairs.
#' @param at For [ec_gauss()], points at which to give densities; by default 101 points where the law is.
#' @return For spins and one variable each: a data frame with `variable`, `prob` of the upper value. For pairs: one row per pair with the four
#'   probabilities `p00`, `p01`, `p10`, `p11`
#'   (1 is the upper value) and `outside`. For [ec_gauss()]: a data frame with `variable`, `x`, `density` and `mass` (probabilities of single
#'   points).
#' @param ... Not used.
#' @seealso [ec_ising()], [ec_ising_fit()], [ec_gauss()], [ec_box()], [ec_factor()], [ec_baseline()]
#' @export
#' @examples
#' fit <- ec_ising(matrix(c(0, 0.5, 0.5, 0), 2), c(0.2, 0))
#' predict(fit)
#' predict(fit, 1, 2)
predict.granary_ec <- function(object, i = NULL, j = NULL, at = NULL, ...) {
  refuse_dots(...)
  if (!is.null(at)) abort_input("`at` has a meaning only for fits of ec_gauss().", "at")
  if (is.null(j)) {
    index <- ec_index(object, i, "i")
    return(data.frame(variable = names(object$mean)[index], prob = unname(object$prob)[index]))
  }
  first <- ec_index(object, i, "i")
  second <- ec_index(object, j, "j")
  if (length(first) != length(second)) abort_input("`i` and `j` must be of the same length.", "j")
  if (any(first == second)) abort_input("`i` and `j` must be different variables.", "j")
  ec_pair_table(object, first, second)
}

#' @rdname predict.granary_ec
#' @export
predict.granary_ec_gauss <- function(object, i = NULL, j = NULL, at = NULL, ...) {
  refuse_dots(...)
  if (!is.null(j)) abort_input("`j` must be left out: pairs of a fit of ec_gauss() are Gaussian, with vcov().", "j")
  ec_gauss_marginals(object, ec_index(object, i, "i"), at)
}

ec_index <- function(object, i, arg) {
  names <- names(object$mean)
  if (is.null(i)) return(seq_along(names))
  if (is.character(i)) {
    at <- match(i, names)
    if (anyNA(at)) abort_input(sprintf("`%s` must name variables, but there is no \"%s\".", arg, i[is.na(at)][1L]), arg)
    return(at)
  }
  i <- check_vector(i, arg, lower = 1, upper = length(names))
  if (any(i != round(i))) abort_input(sprintf("`%s` must hold whole numbers.", arg), arg)
  as.integer(i)
}

ec_pair_table <- function(object, i = NULL, j = NULL) {
  if (is.null(i)) {
    at <- which(upper.tri(object$cov), arr.ind = TRUE)
    i <- at[, 1L]
    j <- at[, 2L]
  }
  p <- unname(object$prob)
  scale <- if (object$spins == "0/1") 1 else 4
  c <- object$cov[cbind(i, j)] / scale
  raw <- cbind(p00 = (1 - p[i]) * (1 - p[j]) + c, p01 = (1 - p[i]) * p[j] - c, p10 = p[i] * (1 - p[j]) - c, p11 = p[i] * p[j] + c)
  outside <- apply(raw, 1L, function(row) any(row < -1e-9 | row > 1 + 1e-9))
  clipped <- pmin(pmax(raw, 0), 1)
  clipped <- clipped / rowSums(clipped)
  names <- names(object$mean)
  data.frame(i = names[i], j = names[j], clipped, outside = as.logical(outside))
}
