#' A Gaussian graph under several priors at once
#'
#' Adds up any of the structured priors of the package: sparsity, hubs, local constancy, few interacting nodes. Solved by alternating directions
#' with one copy of the precision matrix per prior, with a duality gap.
#'
#' @details
#' The estimate minimises over positive definite \eqn{X}
#' \deqn{-\log\det X + \mathrm{tr}(S X) + \sum_k g_k(X),}{-log det X + tr(S X) + sum_k g_k(X),}
#' with \eqn{g_k} from
#'
#' | prior | \eqn{g(X)} | alone it is |
#' | --- | --- | --- |
#' | `l1 = list(lambda)` | \eqn{\lambda \sum_{ij} |X_{ij}|}{lambda sum_ij |X_ij|} | [ggm_lasso()] |
#' | `local = list(neighbors, tau)` | \eqn{\tau \sum_{(a,b)} \sum_{k \ne a,b} |X_{ak} - X_{bk}|}{tau sum_(a,b) sum_(k != a,b) |X[a, k] - X[b, k]|} | with `l1`, [ggm_local()] |
#' | `nodes = list(tau, norm)` | \eqn{\tau \sum_n \|X_{n,-n}\|_q}{tau sum_n ||X[n, -n]||_q} | with `l1`, [ggm_nodes()] |
#' | `multi = list(lambda, lambda1 = 0, norm = "l2")` | \eqn{\sum_{i \ne j} \{\lambda_1 \|x_{ij}\|_1 + \lambda N(x_{ij})\}}{sum_{i != j} (lambda1 |x_ij|_1 + lambda N(x_ij))} over the tasks | [ggm_multi()] |
#' | `hub = list(lambda1, lambda2, lambda3, q)` | \eqn{P(X)}, the least cost of \eqn{X = V + V' + Z} | [ggm_hub()] |
#'
#' **Several tasks.** With `groups`, or lists of data or covariances, there is one precision matrix \eqn{X_t} per task, and the sum of
#' \eqn{T_t \{-\log\det X_t + \mathrm{tr}(S_t X_t)\}}{T_t (-log det X_t + tr(S_t X_t))} is penalised, with \eqn{T_t} by `weights` as in [ggm_multi()].
#' The prior `multi` ties the tasks together; each of the others charges every task for itself, \eqn{\sum_t g_k(X_t)}{sum_t g_k(X_t)}.
#'
#' An own prior is `own = list(penalty, prox)`: any convex \eqn{g(X)} of a symmetric matrix, as a function of `X` that gives a number, and a function of
#' `C` and `t > 0` that gives \eqn{\arg\min_Z g(Z) + \|Z - C\|_F^2 / (2t)}{argmin_Z g(Z) + ||Z - C||_F^2 / (2 t)}. Both are tried on random matrices when the prior is
#' made, where a prox that is not that of a convex penalty gives itself away; the gap is as true as the two functions are.
#'
#' The thesis leaves open how to combine its priors. Each has an exact proximal operator, so consensus ADMM combines them all, and the
#' answer does
#' not depend on their order. That of the hub penalty, \eqn{\min_T P(T) + g/2 \|T - C\|_F^2}{min_T P(T) + g/2 ||T - C||_F^2}, has no closed form: it
#' is a [cov_hub()] without its constraint, solved to rounding from where the last one ended, so an iteration with hubs costs a few times one
#' without; its multiplier is moved into the dual set of \eqn{P} before it serves as a bound. With \eqn{Y_k} the multipliers, which are subgradients,
#' \eqn{\log\det(S + \sum_k (Y_k + Y_k')/2) + p}{log det(S + sum_k (Y_k + Y_k') / 2) + p} bounds the minimum from below: `gap` is the difference.
#' Iteration stops when it is at most `tol` per variable. Entries are zero where the copy of a prior that makes zeros says so; equal
#' interactions are
#' equal only up to the accuracy of the solution.
#'
#' @section Which method when: the special functions named in the table when one or two priors are enough, as they are faster and find
#' exact ties;
#' `ggm_mix()` for combinations that they do not have.
#'
#' @inheritParams ggm_lasso
#' @param groups,weights For several tasks: the task of each row of `x`, and the weights \eqn{T_t} of the tasks, as in [ggm_multi()]; `x` and `S` may
#'   also be lists with one element per task.
#' @param priors A list of the arguments of each prior, named by its kind, as in the table: `list(l1 = 0.05, nodes = list(0.1, norm = "linf"))`. A kind may occur
#'   more than once.
#' @param ... Nothing: an argument that is not known is an error.
#' @return An object of class `granary_ggm_mix`, inheriting from [`granary_ggm`][granary_ggm] and `granary_fit`: the elements of a
#'   [ggm_lasso()] fit,
#'   `priors`, and `penalties`, the value of each, and `V`, per prior the hub part \eqn{V} of a prior `hub`, `NULL` for the others. `lambda` is the
#'   sum of the weights of the priors `l1`. With several tasks one of class `granary_ggm_mix_tasks`, inheriting from
#'   [`granary_ggm_multi`][ggm_multi], with its elements, `priors` and `penalties`.
#' @references
#' Tan, London, Mohan, Lee, Fazel and Witten (2014). Learning graphical models with hubs. *Journal of Machine Learning Research* 15,
#' 3297--3331.
#'
#' Honorio (2012). *Tractable learning of graphical model structures from data.* PhD thesis, Stony Brook University, chapters 2, 3 and 8.
#'
#' Boyd, Parikh, Chu, Peleato and Eckstein (2011). Distributed optimization and statistical learning via the alternating direction method of
#' multipliers.
#' *Foundations and Trends in Machine Learning* 3, 1--122.
#' @seealso [ggm_local()], [ggm_baseline()], [fused_signal()], [ggm_lasso()], [ggm_select()], [ggm_hub()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_ggm("regions", n = 200)
#' alike <- list(neighborhood("chain", 9), tau = 0.03)
#' fit <- ggm_mix(sim$data, priors = list(l1 = 0.05, local = alike, nodes = 0.1))
#' fit
#' # hubs that two tasks have in common
#' tasks <- rep(1:2, 100)
#' ggm_mix(sim$data, groups = tasks, weights = "proportion", priors = list(multi = 0.05, hub = list(lambda1 = 0.1, lambda2 = 0.05, lambda3 = 0.2)))
#' ggm_mix(sim$data, priors = list(hub = list(lambda1 = 0.2, lambda2 = 0.1, lambda3 = 0.3), local = alike))
ggm_mix <- function(x = NULL, S = NULL, n = NULL, priors, groups = NULL, weights = c("size", "proportion", "equal"), tol = 1e-6, max_iter = 5000,
                    threads = NULL, ...) {
  refuse_dots(...)
  call <- match.call()
  many <- !is.null(groups) || is_task_list(x) || is_task_list(S)
  data <- if (many) multi_input(x, groups, S, n) else ggm_input(x, S, n)
  if (!many && !missing(weights)) abort_input("`weights` are those of tasks: give `groups`, or a list with one element per task.", "weights")
  tol <- check_number(tol, lower = 0, strict_lower = TRUE, upper = 1)
  max_iter <- check_count(max_iter)
  if (missing(priors)) fail_missing("priors")
  priors <- make_priors(priors)
  variables <- colnames(if (many) data$S[[1L]] else data$S)
  for (prior in priors) {
    if (prior$kind == "local" && prior$operator$p != length(variables)) {
      abort_input(sprintf("A local prior in `priors` has %d variables, but there are %d.", prior$operator$p, length(variables)), "priors")
    }
    if (prior$kind == "multi" && !many) {
      abort_input("A multi-task prior in `priors` needs several tasks: give `groups`, or a list with one element per task.", "priors")
    }
  }
  priors <- lapply(priors, order_prior, variables = variables)
  threads <- thread_count(threads)
  settings <- list(tol = tol, max_iter = max_iter)
  fit <- if (many) fit_mix_tasks(data, priors, multi_weights(weights, data), settings, threads, call) else fit_mix(data, priors, settings, threads, call)
  check_convergence(fit)
  fit
}

# A prior was made before the variables were known: names are matched now.
order_prior <- function(prior, variables) {
  if (prior$kind == "local") {
    op <- prior$operator
    op$neighbors <- order_neighbors(op$neighbors, variables, "neighbors")
    op$edges <- op$neighbors$edges
    if (op$type == "rows") op$rows <- order_operator(op$rows, variables)
    prior$operator <- op
  }
  prior
}

fit_mix <- function(data, priors, settings, threads, call) {
  result <- core_mix_fit(data$S, unname(lapply(priors, prior_parts)), c(settings, list(threads = threads)), progress_bar("mixed priors"))
  labels <- vapply(priors, format, "")
  weights <- vapply(priors, function(prior) if (prior$kind == "l1") prior$weight else 0, 0)
  new_ggm("ggm_mix", list(result), data, lambda = sum(weights), priors = priors, penalties = stats::setNames(result$penalties, labels),
          V = lapply(result$v, function(v) if (!is.null(v)) label_matrix(v, colnames(data$S))), settings = settings, call = call)
}

# A list of matrices, and not a data frame or what else is made of lists.
is_task_list <- function(x) is.list(x) && !is.object(x)

fit_mix_tasks <- function(data, priors, weights, settings, threads, call) {
  options <- c(settings, list(threads = threads))
  result <- core_mix_tasks(task_parts(data$S, weights), unname(lapply(priors, prior_parts)), options, progress_bar("mixed priors"))
  sum_of <- function(kind, which) sum(vapply(priors, function(prior) if (prior$kind == kind) prior[[which]] else 0, 0))
  penalty <- list(lambda = sum_of("multi", "weight"), lambda1 = sum_of("multi", "lambda1") + sum_of("l1", "weight"))
  fit <- new_ggm_multi(list(result), data, penalty, weights, c(settings, list(norm = "mixed")), call)
  fit$priors <- priors
  fit$penalties <- stats::setNames(result$penalties, vapply(priors, format, ""))
  class(fit) <- c("granary_ggm_mix_tasks", class(fit))
  seal(fit)
}

#' @exportS3Method
refit_path.granary_ggm_mix_tasks <- function(fit, x) {
  data <- multi_input(x, NULL, NULL, NULL)
  fit_mix_tasks(data, fit$priors, refit_weights(fit, data), fit$settings[c("tol", "max_iter")], 1L, NULL)
}

#' @export
print.granary_ggm_mix_tasks <- function(x, ...) {
  NextMethod()
  for (k in seq_along(x$penalties)) cli::cat_line("  ", names(x$penalties)[k], ": ", format(x$penalties[[k]], digits = 4L))
  invisible(x)
}

#' @exportS3Method
refit_path.granary_ggm_mix <- function(fit, x) {
  data <- suppressWarnings(ggm_input(x, NULL, NULL), classes = "granary_warning_input")
  fit_mix(data, fit$priors, fit$settings, 1L, NULL)
}

# What crosses of a prior.
prior_parts <- function(prior) {
  own <- switch(prior$kind,
    l1 = prior["diagonal"],
    nodes = prior["norm"],
    local = list(operator = operator_parts(prior$operator)),
    own = prior[c("prox", "penalty")],
    multi = list(multi = list(norm = prior$norm, lambda1 = prior$lambda1, lambda = prior$weight)),
    hub = list(hub = list(lambda1 = prior$lambda[1L], lambda2 = prior$lambda[2L], lambda3 = prior$lambda[3L], q = hub_norm_word(prior$q)))
  )
  c(unclass(prior)[c("kind", "weight")], own)
}

new_prior <- function(kind, weight, ...) seal(structure(list(kind = kind, weight = weight, ...), class = "granary_prior"))

# list(l1 = 0.1, local = list(neighbors, 0.2)) as priors.
make_priors <- function(priors) {
  if (inherits(priors, "granary_prior")) priors <- list(priors)
  makers <- list(l1 = prior_l1, local = prior_local, nodes = prior_nodes, hub = prior_hub, multi = prior_multi, own = prior_own)
  made <- if (is.list(priors)) vapply(priors, inherits, NA, "granary_prior") else FALSE
  kinds <- names(priors)
  if (length(made) > 0L && all(made)) return(priors)
  if (!is.list(priors) || is.data.frame(priors) || length(priors) == 0L || is.null(kinds) || !all(kinds[!made] %in% names(makers))) {
    fail_input("priors", sprintf("a list with the arguments of each prior, named by its kind (%s), such as list(l1 = 0.1)", paste(names(makers), collapse = ", ")),
               describe(priors))
  }
  Map(function(kind, prior) {
    if (inherits(prior, "granary_prior")) return(prior)
    given <- if (is.list(prior) && !is.object(prior)) prior else list(prior)
    do.call(by_kind, c(list(makers[[kind]], kind), given), quote = TRUE)
  }, kinds, priors)
}

prior_own <- function(penalty, prox, name = "own prior") {
  if (missing(penalty)) fail_missing("penalty")
  if (missing(prox)) fail_missing("prox")
  check_function(penalty, "penalty")
  check_function(prox, "prox")
  name <- check_string(name)
  try_own_prior(penalty, prox)
  new_prior("own", 1, penalty = penalty, prox = prox, name = name)
}

# Y = (C - Z) / t is a subgradient at Z = prox(C, t), so that g(W) >= g(Z) + <Y, W - Z> for every W: tried among the Z of a few fixed matrices.
try_own_prior <- function(penalty, prox) {
  tried <- lapply(1:4, function(k) {
    at <- outer(1:4, 1:4, function(i, j) cos(k * (i + j) + 3 * i * j)) + diag(4) * k  # symmetric, and no draw from the session's stream
    step <- c(0.1, 0.5, 1, 2)[k]
    z <- user_value(prox, "prox", at, step)
    if (!is.matrix(z) || !is.numeric(z) || !identical(dim(z), c(4L, 4L)) || !all(is.finite(z))) {
      abort_input(sprintf("`prox` must give a finite numeric matrix of the size of its first argument, not %s.", describe(z)), "prox")
    }
    value <- user_value(penalty, "penalty", z)
    if (!checkmate::test_number(value, finite = TRUE)) abort_input(sprintf("`penalty` must give one finite number, not %s.", describe(value)), "penalty")
    list(z = z, value = value, slope = (at - z) / step)
  })
  for (a in tried) {
    for (b in tried) {
      promised <- a$value + sum(a$slope * (b$z - a$z))
      if (b$value < promised - 1e-6 * max(1, abs(promised), abs(b$value))) {
        abort_input(paste("`prox` does not belong to `penalty`, or the penalty is not convex: at one of its values the penalty is below the tangent at another.",
                          "The prox of g is argmin g(Z) + ||Z - C||^2 / (2 t), with the factor 1/2."), "prox")
      }
    }
  }
}

prior_l1 <- function(lambda, diagonal = TRUE) {
  new_prior("l1", check_number(lambda, lower = 0, upper = 1e150), diagonal = check_flag(diagonal))
}

prior_local <- function(neighbors, tau, operator = c("difference", "laplacian")) {
  tau <- check_number(tau, lower = 0, upper = 1e150)
  if (missing(neighbors)) fail_missing("neighbors")
  if (is.matrix(operator) || inherits(operator, "Matrix")) {
    op <- local_operator(operator, neighbors, ncol(operator))
  } else {
    if (!inherits(neighbors, "granary_neighbors")) {
      size <- if (inherits(neighbors, "igraph")) igraph::vcount(neighbors) else if (length(dim(neighbors)) == 2L) nrow(neighbors) else 0L
      neighbors <- as_neighbors(neighbors, size)
    }
    check_fit(neighbors)
    op <- local_operator(operator, neighbors, neighbors$n)
  }
  new_prior("local", tau, operator = op)
}

prior_nodes <- function(tau, norm = c("l2", "linf")) {
  new_prior("nodes", check_number(tau, lower = 0, upper = 1e150), norm = check_choice(norm, c("l2", "linf")))
}

prior_multi <- function(lambda, lambda1 = 0, norm = c("l2", "linf", "fused")) {
  new_prior("multi", check_number(lambda, lower = 0, upper = 1e150), lambda1 = check_number(lambda1, lower = 0, upper = 1e150),
            norm = check_choice(norm, c("l2", "linf", "fused")))
}

prior_hub <- function(lambda1, lambda2, lambda3, q = 2) {
  lambda <- c(check_number(lambda1, lower = 0, upper = 1e150), check_number(lambda2, lower = 0, upper = 1e150),
              check_number(lambda3, lower = 0, upper = 1e150))
  new_prior("hub", lambda[1L], lambda = lambda, q = check_hub_norm(q))
}

#' @export
format.granary_prior <- function(x, ...) {
  weight <- format(x$weight, digits = 4L)
  switch(x$kind,
    l1 = paste0("l1 (lambda ", weight, if (!x$diagonal) ", without the diagonal", ")"),
    local = paste0("local constancy (", x$operator$neighbors$type, ", tau ", weight, ")"),
    hub = paste0("hubs (lambda ", paste(format(x$lambda, digits = 4L, trim = TRUE), collapse = ", "), if (x$q != 2) paste0(", q ", x$q), ")"),
    multi = paste0("tasks (", x$norm, ", lambda ", weight, if (x$lambda1 > 0) paste0(", lambda1 ", format(x$lambda1, digits = 4L)), ")"),
    own = x$name,
    nodes = paste0("few nodes (", x$norm, ", tau ", weight, ")")
  )
}

#' @export
print.granary_prior <- function(x, ...) {
  cli::cat_line("Prior: ", format(x))
  invisible(x)
}

ggm_mix_title <- function(x) paste0("Gaussian graph under ", length(x$priors), if (length(x$priors) == 1L) " prior" else " priors")

#' @export
print.granary_ggm_mix <- function(x, ...) {
  p <- ncol(x$S)
  cli::cat_line(ggm_mix_title(x), ": ", p, if (p == 1L) " variable" else " variables", if (!is.null(x$n)) paste0(", n = ", x$n))
  print_call(x$call)
  for (k in seq_along(x$penalties)) cli::cat_line("  ", names(x$penalties)[k], ": ", format(x$penalties[[k]], digits = 4L))
  cli::cat_line(x$df, if (x$df == 1) " edge" else " edges", " among ", sum(ggm_degrees(x$precision) > 0), " variables")
  edges <- utils::head(tidy(x), 6L)
  if (nrow(edges) > 0L) {
    cli::cat_line("Strongest partial correlations:")
    print(format(edges, digits = 3L), row.names = FALSE)
  }
  cli::cat_line("Certificate: the objective ", format(x$objective, digits = 8L), " is within ", format(max(x$gap, 0), digits = 2L), " of its minimum")
  cli::cat_line("Solver: ", format_convergence(x$convergence))
  invisible(x)
}
