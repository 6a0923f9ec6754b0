#' Gaussian graph among few interacting nodes
#'
#' Estimates a sparse precision matrix in which whole nodes are disconnected: for many variables of which only a few interact. The answer is a
#' short list of nodes and the graph among them, with a duality gap that certifies it.
#'
#' @details
#' The estimate minimises over positive definite \eqn{X}
#' \deqn{-\log\det X + \mathrm{tr}(S X) + \rho \sum_{i,j} |X_{ij}| + \tau \sum_n \|X_{n,-n}\|_q,}{-log det X
#'   + tr(S X) + rho sum_ij |X_ij| + tau sum_n ||X[n, -n]||_q,}
#' \eqn{q = 2} or \eqn{q = \infty}{q = Inf}. The first penalty removes edges, and charges the diagonal too; the second removes nodes, as a row
#' without its diagonal is zero as a whole or not at all. Every edge sits in two rows. With \eqn{\tau = 0}{tau = 0} it is the graphical lasso,
#' with two variables the graphical lasso with an off-diagonal penalty \eqn{\rho + \tau}{rho + tau}. The dual problem is
#' \deqn{\max \log\det(S + (Y + Y')/2) + p, \quad Y = A + B,\ |A_{ij}| \le \rho,\ \|B_{n,-n}\|_{q'} \le \tau,}{max
#'   log det(S + (Y + Y') / 2) + p, Y = A + B, |A_ij| <= rho, ||B[n, -n]||_q' <= tau,}
#' with \eqn{q'} the dual norm (2 or 1). `gap` is the difference to the value at a feasible \eqn{Y}, hence a bound on the distance to the
#' minimum; `kkt` is the largest entry of \eqn{X^{-1} - S - (Y + Y')/2}{X^-1 - S - (Y + Y') / 2}.
#'
#' **Screening** is exact and looks at `S` alone. With \eqn{T_{ij} = \max(|S_{ij}| - \rho, 0)}{T_ij = max(|S_ij| - rho, 0)} a node is isolated
#' if \eqn{\|T_{n,-n}\|_{q'} \le \tau/2}{||T[n, -n]||_q' <= tau / 2} (rule `"row"`; `"lemma"` where already Lemma 3.5 of the thesis says so),
#' and a set of nodes if the same holds for each of them with the covariances inside the set halved (rule `"set"`). Isolated nodes leave the
#' same problem among the others, so the rules are applied again until nothing changes; the components of \eqn{|S_{ij}| > \rho}{|S_ij| > rho}
#' among the rest are solved one by one. At \eqn{\tau \ge \max_n \|T_{n,-n}\|_{q'}}{tau >= max_n ||T[n, -n]||_q'} the graph is empty.
#'
#' **Solvers.** `"admm"` gives \eqn{X} a copy that need not be symmetric, in which every row is one closed step (a soft threshold, then the
#' shrinkage of the row), and reaches the optimum. It stops when both relative residuals are at most `tol`, and has converged if the gap is
#' then at most `tol` per variable. `"bcd"` is the block coordinate descent of the thesis, Algorithm 3.1, with 10 sweeps by default. **It
#' usually stops above the optimum**: it moves one coordinate at a time, and the row norms have kinks that no single coordinate can leave. It
#' is here to reproduce the thesis, carries the same certificate, and warns. `"auto"` runs it first and `"admm"` from where it stopped.
#' Each iteration of `"admm"` takes an eigendecomposition of the nodes that screening leaves: cheap for the few that the method is made for, but
#' where most of p nodes interact the cost is that of p^3 in each of 30 to 400 iterations (0.4 to 0.7 s at 200 nodes, all connected).
#'
#' **Bounds.** The eigenvalues of the solution lie between \eqn{1/(\|S\|_2 + p\rho + p^{1/q'}\tau)}{1 / (|S|_2 + p rho + p^(1/q') tau)} and
#' \eqn{p/\rho}{p / rho} (Theorem 3.2, corrected: see `errata("thesis-3-variable-selection")`).
#'
#' @section Which method when: `ggm_nodes()` when most variables are expected to take no part (voxels, genes, stocks) and the nuisance variables
#' have smaller variances than the rest; it does not rescale them, as that is what tells them apart. [ggm_lasso()] when every variable may have
#' an edge, or when the variables are on scales that mean nothing. `norm = "l2"` is the better default: it needs fewer iterations and, solved
#' exactly, estimates better in the set-up of the thesis.
#'
#' @inheritParams ggm_lasso
#' @param lambda The penalty on every entry: one number or several (a path, sorted to be decreasing). By default `n_lambda` values evenly
#'   spaced on the log
#'   scale, from one that empties the graph at the given `tau` down to `lambda_min_ratio` times that.
#' @param tau The penalty on the rows: one number, one per `lambda`, or a function of `lambda`. The default is the choice of the thesis,
#'   50 `lambda`.
#' @param norm The norm of a row: `"l2"` or `"linf"`, whose largest entries tie.
#' @param n_lambda,lambda_min_ratio Length of the default path and the ratio of its ends.
#' @param method The solver; see Details.
#' @param screen Whether to look for isolated nodes and components first. The answer is the same.
#' @param max_iter Largest number of iterations (`"admm"`, `"auto"`) or sweeps (`"bcd"`). `NULL` for 5000 and 10.
#' @param ... Nothing: an argument that is not known is an error.
#' @return An object of class `granary_ggm_nodes`, inheriting from [`granary_ggm`][granary_ggm] and `granary_fit`: a list with the elements of a
#' [ggm_lasso()] fit (`lambda` is `lambda`), and
#' \item{rho, tau, norm}{the penalties}
#' \item{selected}{names of the nodes with an edge; on a path a list}
#' \item{node_norm}{norm of every row without its diagonal}
#' \item{screened}{the rule that isolated each node before the solver, `"none"` if none did}
#' \item{entry}{on a path, the largest `lambda` at which a node has an edge, `NA` for those that never have: nodes in decreasing order of entry}
#' \item{bounds}{lower and upper bound on the eigenvalues of the solution, one row per `lambda`}
#' @references
#' Honorio (2012). *Tractable learning of graphical model structures from data.* PhD thesis, Stony Brook University, chapter 3.
#'
#' Honorio, Samaras, Rish and Cecchi (2012). Variable selection for Gaussian graphical models. *AISTATS*, JMLR W&CP 22, 538--546.
#' @seealso [ggm_neighbors()], [ggm_lasso()], [ggm_hub()]
#' @seealso [ggm_classify()], [ggm_select()]; `errata("thesis-3-variable-selection")`; `reproduce("thesis-3-variable-selection")`
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_ggm("confounders", p = 60, n = 80, connected = 0.15, density = 0.5, ratio = 10)
#' fit <- ggm_nodes(sim$data, lambda = 0.004)
#' fit
#' table(fit$screened)
#'
#' path <- ggm_nodes(sim$data, n_lambda = 8)
#' best <- ggm_select(path, "ebic")
#' best$selected
#' plot(best)
ggm_nodes <- function(x = NULL, S = NULL, n = NULL, lambda = NULL, tau = function(rho) 50 * rho, norm = c("l2", "linf"), n_lambda = 20,
                      lambda_min_ratio = 0.01, method = c("admm", "bcd", "auto"), screen = TRUE, tol = 1e-6, max_iter = NULL, start = NULL,
                      covariance = FALSE, threads = NULL, ...) {
  refuse_dots(...)
  rho <- lambda
  call <- match.call()
  data <- ggm_input(x, S, n)
  norm <- check_choice(norm, c("l2", "linf"))
  method <- check_choice(method, c("admm", "bcd", "auto"))
  screen <- check_flag(screen)
  covariance <- check_flag(covariance)
  tol <- check_number(tol, lower = 0, strict_lower = TRUE, upper = 1)
  max_iter <- check_count(max_iter, allow_null = TRUE)
  if (is.null(max_iter)) max_iter <- if (method == "bcd") 10L else 5000L
  ratio <- check_number(lambda_min_ratio, "lambda_min_ratio", lower = 0, upper = 1, strict_lower = TRUE)
  penalty <- nodes_penalty(rho, tau, data$S, norm, check_count(n_lambda), ratio)
  if (any(penalty$rho == 0) && any(diag(data$S) <= 0)) {
    abort_input(sprintf("Variable %s has variance 0, so `lambda` must be greater than 0: else the likelihood has no maximum.",
                        colnames(data$S)[which.min(diag(data$S))]), "lambda")
  }
  warn_scales(diag(data$S))
  start <- ggm_start(start, colnames(data$S))
  threads <- thread_count(threads)
  settings <- list(norm = norm, method = method, screen = screen, tol = tol, max_iter = max_iter)
  # No regression on more than half as many neighbours as there are rows can be trusted: the default path ends there.
  most <- if (is.null(rho) && !is.null(data$n)) data$n / 2 else Inf
  fit <- fit_nodes_path(data, penalty, settings, covariance, if (!is.null(start)) as.matrix(start), threads, call, most)
  advice <- if (method == "bcd") "The thesis' block descent need not reach the optimum: method = \"admm\" does."
  if (is.null(advice)) check_convergence(fit) else check_convergence(fit, advice)
  if (is.finite(most)) warn_sudden(fit, most)
  fit
}

# With a heavy row penalty and variances alike the nodes enter all at once, and there is nothing on the path to choose from.
warn_sudden <- function(fit, most) {
  degree <- 2 * fit$df / ncol(fit$S)
  if (max(degree) <= most || any(fit$df > 0 & degree <= most)) return(invisible())
  warn_input(sprintf(paste(
    "The path goes from no edge to %d edges in one step: at this `tau` the nodes enter together.",
    "Choose a smaller `tau`, such as function(rho) rho; and where the variables are standardised, ggm_lasso()."
  ), max(fit$df)), "tau")
}

# Small variances are what the method goes by, so only units that cannot have been meant are worth a word.
warn_scales <- function(variance) {
  variance <- variance[variance > 0]
  if (length(variance) > 1L && max(variance) > 1e8 * min(variance)) {
    warn_input(sprintf(paste(
      "The variances differ by a factor of %.1g (%s and %s): nodes of small variance will be isolated.",
      "If the units mean nothing, fit to scale(x)."
    ), max(variance) / min(variance), names(which.min(variance)), names(which.max(variance))), "x")
  }
}

# rho decreasing, and tau beside it. Where rho is left to be chosen, the path starts at the smallest rho that certainly empties the graph.
nodes_penalty <- function(rho, tau, S, norm, n_lambda, ratio) {
  if (!is.null(rho)) rho <- check_vector(rho, "lambda", lower = 0)
  call <- user_call()
  tau_at <- if (is.function(tau)) {
    function(rho) {
      fails <- function(e) abort_input(paste0("`tau` is a function of rho, but fails: ", conditionMessage(e)), "tau", call)
      check_vector(tryCatch(tau(rho), error = fails), "tau(rho)", length = length(rho), lower = 0)
    }
  }
  if (is.null(tau_at)) tau <- check_vector(tau, "tau", lower = 0)
  if (is.null(rho)) {
    if (is.null(tau_at) && length(tau) > 1L) abort_input("`tau` must be one number or a function of rho when `lambda` is left to be chosen.", "tau")
    grid <- list(norm = norm, n = n_lambda, ratio = ratio)
    return(core_nodes_grid(S, grid, if (is.null(tau_at)) function(rho) tau else tau_at)[c("rho", "tau")])
  }
  order <- order(rho, decreasing = TRUE)
  if (!is.null(tau_at)) return(list(rho = as.double(rho[order]), tau = as.double(tau_at(rho[order]))))
  if (!length(tau) %in% c(1L, length(rho))) {
    abort_input(sprintf("`tau` must be one number or one per `lambda` (%d), but it has %d elements.", length(rho), length(tau)), "tau")
  }
  list(rho = as.double(rho[order]), tau = as.double(rep_len(tau, length(rho))[order]))
}

# Where ggm_nodes() and the refits of ggm_select() meet: everything is checked by now.
fit_nodes_path <- function(data, penalty, settings, covariance, start, threads, call, max_degree = Inf) {
  options <- c(settings[c("method", "screen", "tol", "max_iter")], list(covariance = covariance, threads = threads, max_degree = max_degree))
  results <- core_nodes_path(data$S, c(penalty[c("rho", "tau")], settings["norm"]), options, start, progress_bar("node selection"))
  penalty <- lapply(penalty, `[`, seq_along(results))
  bounds <- data.frame(rho = penalty$rho, lower = vapply(results, `[[`, 0, "lower"), upper = vapply(results, `[[`, 0, "upper"))
  results <- lapply(results, function(r) {
    r$trace <- list(objective = r$trace)
    r
  })
  names <- colnames(data$S)
  each <- function(value) {
    all <- lapply(results, value)
    if (length(all) == 1L) all[[1L]] else all
  }
  rules <- c("none", "lemma", "row", "set")
  fit <- new_ggm(
    "ggm_nodes", results, data, lambda = penalty$rho, rho = penalty$rho, tau = penalty$tau, norm = settings$norm,
    selected = each(function(r) names[ggm_degrees(r$precision) > 0]),
    node_norm = each(function(r) stats::setNames(r$node_norm, names)),
    screened = each(function(r) stats::setNames(factor(r$rule, levels = rules), names)),
    settings = settings, call = call
  )
  if (is_path(fit)) fit$entry <- nodes_entry(fit)
  fit$bounds <- bounds
  fit$along <- c("rho", "tau", "selected", "node_norm", "screened")
  fit
}

nodes_entry <- function(fit) {
  present <- vapply(fit$selected, function(s) colnames(fit$S) %in% s, logical(ncol(fit$S)))
  dim(present) <- c(ncol(fit$S), path_length(fit))
  first <- apply(present, 1L, function(row) if (any(row)) which(row)[1L] else NA_integer_)
  entry <- stats::setNames(fit$rho[first], colnames(fit$S))
  strength <- fit$node_norm[[path_length(fit)]]
  entry[order(-entry, -strength, na.last = TRUE)]
}

#' @exportS3Method
refit_path.granary_ggm_nodes <- function(fit, x) {
  data <- suppressWarnings(ggm_input(x, NULL, NULL), classes = "granary_warning_input")
  fit_nodes_path(data, list(rho = fit$rho, tau = fit$tau), fit$settings, FALSE, NULL, 1L, NULL)
}

#' @export
print.granary_ggm_nodes <- function(x, ...) {
  p <- ncol(x$S)
  cli::cat_line("Gaussian graph among few nodes (", x$norm, " rows): ", p, if (p == 1L) " variable" else " variables",
                if (!is.null(x$n)) paste0(", n = ", x$n))
  print_call(x$call)
  if (is_path(x)) {
    table <- data.frame(rho = x$rho, tau = x$tau, nodes = lengths(x$selected), edges = x$df, objective = x$objective, gap = x$gap)
    shown <- if (nrow(table) > 12L) unique(round(seq(1, nrow(table), length.out = 10L))) else seq_len(nrow(table))
    print(format(table[shown, ], digits = 4L), quote = FALSE)
    if (length(shown) < nrow(table)) cli::cat_line("(", length(shown), " of ", nrow(table), " penalties shown)")
    early <- names(x$entry)[!is.na(x$entry)]
    if (length(early) > 0L) cat_nodes("First nodes to enter: ", early)
  } else {
    k <- length(x$selected)
    cli::cat_line("rho ", format(x$rho, digits = 4L), ", tau ", format(x$tau, digits = 4L), ": ", k, " of ", p, " nodes interact, ", x$df,
                  if (x$df == 1) " edge; " else " edges; ", sum(x$screened != "none"), " nodes isolated by screening alone")
    if (k > 0L) {
      cat_nodes("Nodes: ", x$selected[order(-x$node_norm[x$selected])])
      cli::cat_line("Strongest partial correlations:")
      print(format(utils::head(tidy(x), 6L), digits = 3L), row.names = FALSE)
    }
    cli::cat_line("Certificate: the objective ", format(x$objective, digits = 8L), " is within ", format(max(x$gap, 0), digits = 2L),
                  " of its minimum")
  }
  cli::cat_line("Solver: ", format_convergence(x$convergence))
  if (is_path(x)) cli::cat_line("Next: ggm_select() chooses a penalty; plot() shows the path.")
  invisible(x)
}

cat_nodes <- function(label, names, most = 20L) {
  more <- length(names) - most
  cat(strwrap(paste0(label, paste(utils::head(names, most), collapse = ", "), if (more > 0L) paste0(" and ", more, " more")),
              width = min(100L, cli::console_width()), exdent = 2L), sep = "\n")
}

#' Plot a node-selecting Gaussian graph
#'
#' The pictures of [plot.granary_ggm()], with isolated nodes left out of the network, numbers of nodes and edges along
#' the path, and the strengths of the nodes as bars.
#'
#' @param x A [ggm_nodes()] fit.
#' @param type `"network"`, `"path"`, `"heatmap"`, `"selection"` or `"nodes"`: the row norms, largest first.
#' @param which Position on the path.
#' @param isolated Whether to draw nodes without edges.
#' @param ... Passed on.
#' @return The layout (network) or `NULL`, invisibly.
#' @seealso [ggm_lasso()], [ggm_select()], [ggm_hub()], [ggm_multi()], [ggm_local()], [ggm_nodes()]
#' @export
#' @examples
#' path <- ggm_nodes(scale(mtcars), n_lambda = 8)
#' plot(path)
#' plot(path, "nodes", which = 4)
plot.granary_ggm_nodes <- function(x, type = NULL, which = NULL, isolated = FALSE, ...) {
  types <- c("network", "path", "heatmap", "selection", "nodes")
  type <- if (is.null(type)) plot_type(x, NULL) else check_choice(type, types)
  if (type == "nodes") return(plot_node_norms(ggm_at(x, path_position(x, which)), ...))
  if (type == "path" && is_path(x)) return(plot_node_path(x, ...))
  plot.granary_ggm(x, type = type, which = which, isolated = isolated, ...)
}

plot_node_norms <- function(fit, ...) {
  size <- sort(fit$node_norm[fit$node_norm > 0], decreasing = TRUE)
  if (length(size) == 0L) size <- c(none = 0)
  size <- utils::head(size, 50L)
  old <- graphics::par(mar = c(2 + 0.5 * max(nchar(names(size))), 4.1, 2.1, 1.1))
  on.exit(graphics::par(old))
  draw(graphics::barplot, size, las = 2, border = NA, col = sign_colours[["positive"]], ylab = paste(fit$norm, "norm of the row"),
       main = sprintf("%d of %d nodes interact", length(fit$selected), ncol(fit$S)), user = list(...))
  invisible()
}

plot_node_path <- function(x, ...) {
  nodes <- lengths(x$selected)
  plot_along(x$rho, x$df, "edges (blue), nodes (red)", xlab = "rho", extra = function() {
    graphics::points(x$rho, nodes, type = "b", pch = 17, col = sign_colours[["negative"]])
  }, ...)
}

#' Which model do new rows belong to?
#'
#' Assigns rows, or groups of rows, to the Gaussian graph under which they are most likely: one fit per class, as in the thesis'
#' classification of
#' subjects.
#'
#' @details
#' With \eqn{X_k}, \eqn{\mu_k}{mu_k} and \eqn{\pi_k}{pi_k} the precision matrix, mean and prior of class \eqn{k}, a row \eqn{x} scores
#' \eqn{\frac12\{\log\det X_k - (x-\mu_k)'X_k(x-\mu_k) - p\log 2\pi\}}{(log det X_k - (x - mu_k)' X_k (x - mu_k) - p log 2 pi) / 2}. A group of
#' rows (the scans of a subject, say) scores the sum over its rows, and \eqn{\log\pi_k}{log pi_k} is added once per group.
#'
#' @section Which method when:
#' `ggm_classify()` where classes differ in how their variables are related; [svm()] or [gp_classify()] where they differ in where they lie.
#'
#' @param fits A named list of single Gaussian graph fits ([ggm_nodes()], [ggm_lasso()], ...), one per class, of the same variables.
#' @param newdata New rows.
#' @param group Which group each row belongs to; `NULL` if every row stands for itself.
#' @param prior Prior probabilities of the classes, in the order of `fits`; by default all alike.
#' @return A list of class `granary_ggm_classify`: `class` (a factor), `scores` (log-likelihood plus log prior) and `posterior`, one row
#'   per group.
#' @references
#' Honorio (2012). *Tractable learning of graphical model structures from data.* PhD thesis, Stony Brook University, section 3.5.
#' @seealso [ggm_nodes()], [ggm_neighbors()], [ggm_lasso()], [ggm_select()], [ggm_hub()]
#' @export
#' @examples
#' species <- split(iris[1:4], iris$Species)
#' fits <- lapply(species, function(x) ggm_nodes(x, lambda = 0.001))
#' guess <- ggm_classify(fits, iris[1:4])
#' table(guess$class, iris$Species)
#' ggm_classify(fits, iris[1:4], group = rep(1:30, each = 5))
ggm_classify <- function(fits, newdata, group = NULL, prior = NULL, ...) {
  refuse_dots(...)
  if (missing(fits)) fail_missing("fits")
  if (!is.list(fits) || inherits(fits, "granary_fit") || length(fits) < 2L || !all(vapply(fits, inherits, NA, "granary_ggm")) ||
        any(vapply(fits, inherits, NA, "granary_ggm_multi"))) {
    abort_input(sprintf("`fits` must be a list of at least two Gaussian graph fits, one per class, not %s.", describe(fits)), "fits")
  }
  if (any(vapply(fits, is_path, NA))) {
    abort_input("Every fit in `fits` must have a single penalty: choose one with ggm_select() or ggm_at().", "fits")
  }
  named <- !is.null(names(fits))
  if (!named) names(fits) <- paste0("class", seq_along(fits))
  check_names_unique(names(fits), "fits")
  variables <- colnames(fits[[1L]]$S)
  if (!all(vapply(fits, function(fit) setequal(colnames(fit$S), variables), NA))) {
    abort_input("The fits in `fits` must be of the same variables.", "fits")
  }
  if (is.null(prior)) prior <- rep(1 / length(fits), length(fits))
  prior <- check_vector(prior, "prior", length = length(fits), lower = 0, strict_lower = TRUE)
  if (named) prior <- match_named(prior, names(fits), "prior")
  newdata <- ggm_newdata(fits[[1L]], if (missing(newdata)) fail_missing("newdata") else check_matrix(newdata, "newdata"))
  if (!is.null(group)) {
    if (!is.atomic(group) || !checkmate::test_atomic_vector(as.vector(group), any.missing = FALSE, len = nrow(newdata))) {
      abort_input(sprintf("`group` must have one element per row of `newdata` (%d) and no missing values, but it is %s.", nrow(newdata),
                          describe(group)), "group")
    }
    group <- factor(group, levels = unique(group))
  }
  scores <- vapply(fits, function(fit) predict(fit, newdata[, colnames(fit$S), drop = FALSE], type = "loglik"), numeric(nrow(newdata)))
  dim(scores) <- c(nrow(newdata), length(fits))
  if (!is.null(group)) scores <- rowsum(scores, group, reorder = FALSE)
  colnames(scores) <- names(fits)
  scores <- sweep(scores, 2L, log(prior / sum(prior)), "+")
  relative <- exp(scores - apply(scores, 1L, max))
  class <- factor(names(fits)[max.col(scores, "first")], levels = names(fits))
  if (!is.null(group)) names(class) <- rownames(scores)
  seal(structure(list(class = class, scores = scores, posterior = relative / rowSums(relative)), class = "granary_ggm_classify"))
}

#' @export
print.granary_ggm_classify <- function(x, ...) {
  cli::cat_line(length(x$class), if (length(x$class) == 1L) " case" else " cases", " assigned by likelihood among ", nlevels(x$class),
                " Gaussian graphs")
  print(table(class = x$class))
  invisible(x)
}
