#' Classification by a pair of Bayesian networks
#'
#' Two classes, one network per class on a common DAG: fitted generatively (tables by counting) or discriminatively (logistic regression or a
#' support vector machine on exactly the features that such a pair can use, see [bn_kernel()]). Either way the result is a linear rule whose weights
#' can be read as interactions.
#'
#' @details
#' `method = "generative"` estimates \eqn{P(x_i | a, \mathrm{class})}{P(x_i | a, class)} as (count + `pseudo_count`) / (total + `pseudo_count` levels); patterns of
#' parents that do not occur get the uniform distribution. Weights follow by Moebius inversion within each family, and the log prior odds go into
#' the intercept. The discriminative methods start there and minimise
#' \deqn{\frac1n \sum_i \ell(y_i f(x_i)) + \lambda\, \mathrm{pen}(w), \quad f(x) = b + w'\phi(x)}{1/n sum_i l(y_i f(x_i)) + lambda pen(w), f(x) =
#' b + w'phi(x)}
#' with \eqn{\ell(m) = \log(1 + e^{-m})}{l(m) = log(1 + exp(-m))} (`"logistic"`) or \eqn{\max(0, 1 - m)^2}{max(0, 1 - m)^2} (`"svm"`), and
#' \eqn{\mathrm{pen} = \|w\|^2/2}{pen = ||w||^2 / 2} or \eqn{\|w\|_1}{||w||_1}; the intercept is free. Ties (log-odds zero) go to the second
#' class, the
#' sign convention of the paper. Structures: `"naive"` (no edges), `"markov"` (each variable depends on the `k` before it), `"bipartite"` (the
#' first `k`
#' variables are parents of all others), `"tree"` (the Chow-Liu tree of the mutual information within classes), or a DAG.
#'
#' @section Which method when:
#' Generative fits need few data and no tuning; the logistic fit is better once there are many rows per parameter, because it does not depend on the network
#' being true. For many variables without a structure in mind start with `"tree"`. [bn_bounds()] says how many rows a structure needs. [sbn_fit()] is the
#' choice for dense dependence with few parameters.
#'
#' @inheritParams bn_kernel
#' @param formula,data,subset,na.action A formula such as `class ~ a + b` whose terms are columns of `data`, and what goes with it as in [stats::lm()].
#' @param y Classes: a factor, logical, text or number with two distinct values.
#' @param dag `"naive"`, `"markov"`, `"bipartite"`, `"tree"`, or a graph over the columns of `x`.
#' @param k Order of the Markov chain, or number of roots of the bipartite graph.
#' @param method How to fit; see Details.
#' @param pseudo_count Dirichlet smoothing, positive: without it a pattern that one class never shows has infinite odds.
#' @param lambda Penalty of the discriminative methods; by default 1 / n.
#' @param penalty `"l2"` or `"l1"`.
#' @param tol,max_iter Stopping rule of the discriminative methods: largest entry of the gradient, relative to that of the zero rule.
#' @param object,newdata A fit, and data with the same variables; by default the ones fitted.
#' @param type `"class"`, `"link"` (log-odds of the second class) or `"prob"` (a column per class).
#' @param n How many weights to show.
#' @param ... For the formula method, arguments of the default method; for `plot()` passed on to [graphics::barplot()].
#' @return An object of class `granary_bn_classifier`: `coefficients` (intercept and one weight per feature), `cpts` (tables of both classes), `dag`,
#' `levels` (the classes), `states` (levels of the variables), `dimension` (number of features), `generative` (the generative weights), `loss` (mean log-loss in the training data, or
#'   squared hinge)
#'   and `convergence`.
#' @references
#' Nakamura, Schmitt, Schmitt and Simon (2005). Inner product spaces for Bayesian networks. *Journal of Machine Learning Research* 6, 1383--1403.
#'
#' Friedman, Geiger and Goldszmidt (1997). Bayesian network classifiers. *Machine Learning* 29, 131--163 (trees within classes).
#' @seealso [bn_kernel()], [bn_bounds()], [sbn_fit()], [sasb()], [svm()]
#' @export
#' @examples
#' high <- lapply(mtcars[c("mpg", "wt", "hp", "qsec")], function(v) v > median(v))
#' cars <- data.frame(high, vs = mtcars$vs)
#' fit <- bn_classifier(cars, mtcars$am, dag = "tree")
#' fit
#' table(predict(fit), mtcars$am)
#' bn_classifier(am ~ mpg + wt, cbind(cars, am = mtcars$am))
#' summary(bn_classifier(cars, mtcars$am, dag = "naive", method = "logistic"), n = 3)
bn_classifier <- function(x, ...) {
  UseMethod("bn_classifier", formula_or_first(x, ...))
}

#' @rdname bn_classifier
#' @export
bn_classifier.formula <- function(formula, data = NULL, subset, na.action, ...) {  # nolint: object_name_linter.
  discrete_formula_fit(bn_classifier.default, "bn_classifier", ...)
}

#' @rdname bn_classifier
#' @export
bn_classifier.default <- function(x, y, dag = "naive", k = 1, method = c("generative", "logistic", "svm"), pseudo_count = 1, lambda = NULL,
                                  penalty = c("l2", "l1"), groups = NULL, tol = 1e-7, max_iter = 5000, ...) {
  refuse_dots(...)
  call <- generic_call(match.call(), "bn_classifier")
  if (missing(x)) fail_missing("x")
  if (inherits(x, "granary_counts")) {
    whole <- counted_response(x, y)
    x <- whole$x
    y <- whole$y
  }
  data <- bn_codes(x)
  y <- two_classes(y, nrow(data$codes))
  method <- check_choice(method, c("generative", "logistic", "svm"))
  penalty <- check_choice(penalty, c("l2", "l1"))
  pseudo_count <- check_number(pseudo_count, lower = 0, strict_lower = TRUE, upper = 1e12)
  lambda <- check_number(lambda, lower = 0, allow_null = TRUE)
  if (is.null(lambda)) lambda <- 1 / nrow(data$codes)
  tol <- check_number(tol, lower = 0, strict_lower = TRUE, upper = 1)
  max_iter <- check_count(max_iter)
  graph <- bn_structure(dag, k, data, y$code)
  basis <- if (is.null(groups)) "monomial" else "indicator"
  spec <- bn_spec(graph, lengths(data$levels), groups)

  part <- function(code) core_bn_tables(spec, data$codes[y$code == code, , drop = FALSE], pseudo_count)
  tables <- list(part(0L), part(1L))
  size <- tabulate(y$code + 1L, 2L)
  map <- core_bn_weights(spec, basis, tables[[2L]], tables[[1L]], bn_limit)
  map <- c(map$columns, map["weights"])
  labels <- bn_labels(map, data$levels, basis, graph)
  generative <- bn_with_intercept(map$weights, labels, basis, log(size[2L]) - log(size[1L]))
  signs <- 2 * y$code - 1
  loss <- function(odds) {
    margin <- signs * odds
    if (method == "svm") mean(pmax(0, 1 - margin)^2) else mean(pmax(-margin, 0) + log1p(exp(-abs(margin))))
  }
  weights <- generative
  odds <- bn_table_odds(spec, tables, size, data$codes)
  generative_loss <- best_loss <- loss(odds)
  convergence <- list(converged = TRUE, iterations = 0L, gap = NaN, residual = NaN, seconds = 0, message = "")
  if (method != "generative") {
    features <- bn_design(spec, basis, data$codes)
    settings <- list(loss = method, lambda = lambda, l1 = penalty == "l1", intercept = TRUE, tol = tol, max_iter = max_iter)
    result <- core_linear_fit(features, signs, settings, unname(generative), progress_bar("network classifier"))
    weights[] <- c(result$intercept, result$weights)
    convergence <- result$convergence
    best_loss <- loss(as.double(features %*% weights[-1L] + weights[1L]))
  }
  fit <- new_fit("bn_classifier", coefficients = weights, generative = generative,
                 cpts = bn_name_tables(tables, graph, data$levels, y$levels, groups),
                 dag = graph, states = data$levels, levels = y$levels, sizes = stats::setNames(size, y$levels), basis = basis, groups = spec$groups,
                 method = method, pseudo_count = pseudo_count, lambda = if (method != "generative") lambda, penalty = if (method != "generative") penalty,
                 dimension = length(weights), loss = best_loss, generative_loss = generative_loss, x = data$codes, y = y$code, call = call,
                 convergence = convergence)
  check_convergence(fit, "Raise `max_iter` or `lambda`: classes that a rule separates have no finite weights without a penalty.")
  fit
}

# The features but for the constant.
bn_design <- function(spec, basis, codes) {
  features <- core_bn_features(spec, basis, codes, bn_limit)$features
  if (basis == "monomial") features[, -1L, drop = FALSE] else features
}

# Log-odds of the rows straight from the tables: the same numbers as features times weights, without the features.
bn_table_odds <- function(spec, tables, size, codes) {
  density <- function(which) core_bn_log_density(spec, tables[[which]], codes)
  density(2L) - density(1L) + (log(size[[2L]]) - log(size[[1L]]))
}

# Monomials have their own constant; the others get one for the prior.
bn_with_intercept <- function(weights, labels, basis, prior) {
  if (basis == "monomial") {
    weights[1L] <- weights[1L] + prior
    labels[1L] <- "(Intercept)"
    return(stats::setNames(weights, labels))
  }
  stats::setNames(c(prior, weights), c("(Intercept)", labels))
}

two_classes <- function(y, n) {
  if (missing(y)) fail_missing("y")
  usable <- is.factor(y) || (is.atomic(y) && !is.object(y) && !is.null(y) && is.null(dim(y)) && (is.logical(y) || is.numeric(y) || is.character(y)))
  if (!usable) fail_input("y", "a factor, logical, text or numeric vector of two classes", describe(y))
  if (length(y) != n) abort_input(sprintf("`y` must have one class per row of `x` (%d), but it has %d.", n, length(y)), "y")
  if (anyNA(y)) abort_input(sprintf("`y` must have no missing values, but element %d is NA.", which(is.na(y))[1L]), "y")
  values <- if (is.factor(y)) levels(y)[tabulate(y, nlevels(y)) > 0L] else sort(unique(y))
  levels <- as.character(values)
  if (length(levels) != 2L) {
    abort_input(sprintf("`y` must have two classes, but it has %s.", if (length(levels) == 1L) paste0("only \"", levels, "\"") else length(levels)),
                "y")
  }
  list(code = match(y, values) - 1L, levels = levels)
}

bn_structure <- function(dag, k, data, classes) {
  variables <- names(data$levels)
  p <- length(variables)
  kinds <- c("naive", "markov", "bipartite", "tree")
  if (!is.character(dag) || length(dag) != 1L || is.na(dag) || !dag %in% kinds) {
    if (is.character(dag) && length(dag) == 1L && !is.na(dag) && !grepl("[][<>;,-]", dag) && !dag %in% variables) {
      check_choice(dag, kinds, "dag")
    }
    return(bn_dag(dag, variables))
  }
  if (dag == "tree") {
    return(new_graph(variables, core_bn_tree(data$codes, unname(lengths(data$levels)), classes, 2L), "dag"))
  }
  k <- if (dag == "naive") 0L else check_count(k, "k", lower = 0, upper = p - 1L)
  if (k == 0L) return(new_graph(variables, matrix(0L, 0L, 4L), "dag"))
  reach <- outer(seq_len(p), seq_len(p), if (dag == "bipartite") function(i, j) i <= k & j > k else function(i, j) i < j & j - i <= k)
  pairs <- which(reach, arr.ind = TRUE)
  new_graph(variables, cbind(pairs, rep(1L, nrow(pairs)), rep(2L, nrow(pairs))), "dag")
}

bn_name_tables <- function(tables, graph, levels, classes, groups = NULL) {
  parents <- bn_parents(graph)
  name <- function(set) {
    out <- lapply(seq_along(set), function(i) {
      table <- set[[i]]
      if (length(parents[[i]]) == 0L && nrow(table) == 1L) {
        dimnames(table) <- list("", levels[[i]])
        return(table)
      }
      patterns <- if (length(parents[[i]]) == 0L) "" else {
        grid <- expand.grid(lapply(levels[parents[[i]]], identity), stringsAsFactors = FALSE)
        do.call(paste, c(Map(function(n, v) paste0(n, "=", v), names(grid), grid), sep = ", "))
      }
      dimnames(table) <- list(if (nrow(table) == length(patterns)) patterns else paste("group", seq_len(nrow(table))), levels[[i]])
      table
    })
    stats::setNames(out, graph$nodes)
  }
  stats::setNames(lapply(tables, name), classes)
}

bn_model_spec <- function(object) list(nodes = length(object$states), edges = object$dag$edges, levels = lengths(object$states),
                                       groups = object$groups)

#' @rdname bn_classifier
#' @export
predict.granary_bn_classifier <- function(object, newdata = NULL, type = c("class", "link", "prob"), ...) {
  refuse_dots(...)
  type <- check_choice(type, c("class", "link", "prob"))
  codes <- if (is.null(newdata)) object$x else bn_codes(newdata, "newdata", object$states)$codes
  spec <- bn_model_spec(object)
  odds <- if (object$method == "generative") {
    bn_table_odds(spec, object$cpts, object$sizes, codes)
  } else {
    as.double(bn_design(spec, object$basis, codes) %*% object$coefficients[-1L] + object$coefficients[1L])
  }
  switch(type, link = odds, prob = matrix(stats::plogis(c(-odds, odds)), ncol = 2L, dimnames = list(NULL, object$levels)),
         class = factor(object$levels[1L + (odds >= 0)], object$levels))
}

#' @rdname bn_classifier
#' @export
coef.granary_bn_classifier <- function(object, ...) object$coefficients

#' @rdname bn_classifier
#' @export
logLik.granary_bn_classifier <- function(object, ...) {
  refuse_dots(...)
  if (object$method == "svm") abort_input("A support vector machine has no likelihood.", "object")
  structure(-object$loss * nrow(object$x), df = length(object$coefficients), nobs = nrow(object$x), class = "logLik")
}

#' @export
print.granary_bn_classifier <- function(x, ...) {
  cli::cat_line("Bayesian network classifier (", x$method, "): ", paste(rev(x$levels), collapse = " against "))
  print_call(x$call)
  cli::cat_line(length(x$states), " variables, ", counted(nrow(x$dag$edges), "edge", "edges"), ", ", x$dimension, " weights, ", nrow(x$x), " rows (",
                paste0(x$sizes, " ", names(x$sizes), collapse = ", "), ")")
  error <- mean((predict(x, type = "link") >= 0) != (x$y == 1L))
  cli::cat_line("Training ", if (x$method == "svm") "squared hinge loss " else "log-loss ", format(x$loss, digits = 4L), ", error rate ",
                format(error, digits = 3L))
  if (x$method != "generative") cli::cat_line("Solver: ", format_convergence(x$convergence))
  invisible(x)
}

#' @rdname bn_classifier
#' @export
summary.granary_bn_classifier <- function(object, n = 10, ...) {
  n <- check_count(n)
  w <- object$coefficients[-1L]
  seal(structure(list(fit = object, largest = utils::head(w[order(-abs(w))], n), intercept = object$coefficients[[1L]]),
            class = "summary_granary_bn_classifier"))
}

#' @export
print.summary_granary_bn_classifier <- function(x, ...) {
  print(x$fit)
  cli::cat_line("Intercept ", format(x$intercept, digits = 4L), "; largest weights for \"", x$fit$levels[2L], "\":")
  print(x$largest, digits = 4L)
  invisible(x)
}

#' @rdname bn_classifier
#' @param x For the methods, a fit.
#' @export
plot.granary_bn_classifier <- function(x, n = 15, ...) {
  largest <- rev(summary(x, n = n)$largest)
  old <- graphics::par(mar = c(4, 4 + 0.5 * max(c(nchar(names(largest)), 4)), 3, 1))
  on.exit(graphics::par(old))
  draw(graphics::barplot, largest, horiz = TRUE, las = 1, xlab = "weight (log-odds)", main = paste("For", x$levels[2L]),
       col = sign_colours[ifelse(largest > 0, "positive", "negative")], border = NA, user = list(...))
  invisible(largest)
}
