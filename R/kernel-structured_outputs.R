# Structured outputs as objects: what x and y are, which features and losses they have. Each is list(core, ...) of class
# granary_output_<type>; `core` is what crosses into C++ (src/r_kernels_structured_make.cpp).

new_output <- function(type, core, ..., call) {
  seal(structure(list(core = c(list(type = type), core), ..., call = shorten_call(call)), class = c(paste0("granary_output_", type), "granary_output")))
}

# What of a problem crosses: what is not there is left out.
crossing_core <- function(core) core[!vapply(core, is.null, NA)]

check_output <- function(problem) {
  if (missing(problem)) fail_missing("problem")
  if (!inherits(problem, "granary_output")) {
    fail_input("problem", "made by output_multiclass(), output_chain(), output_align(), output_cfg() or output_custom()", describe(problem))
  }
  check_fit(problem)
  problem
}

# What each kind of output knows how to do. `raw`: outputs as C++ codes them.
output_new <- function(problem, newdata, ...) UseMethod("output_new")     # a problem without truth, for prediction
output_decode <- function(problem, raw) UseMethod("output_decode")        # outputs as the user knows them
output_coef <- function(problem, weights) UseMethod("output_coef")        # weights in their shapes
output_describe <- function(problem) UseMethod("output_describe")         # lines for print()
output_weights <- function(problem, weights) UseMethod("output_weights")  # as output_new() problems want them

#' @export
output_weights.granary_output <- function(problem, weights) weights

#' Classes as a structured output
#'
#' Describes a classification problem for [structured_svm()] and its relatives: classes with costs of confusing them, classes with features of
#' their own
#' or in a taxonomy, and inputs seen through a kernel.
#'
#' @details
#' The joint features are \eqn{\Psi(x, y) = \phi(x) \otimes \Lambda(y)}{Psi(x, y) = phi(x) (x) Lambda(y)}, so
#' \eqn{F(x, y) = \sum_r \lambda_r(y) \langle v_r, \phi(x)\rangle}{F(x, y) = sum_r lambda_r(y) <v_r, phi(x)>}. By default \eqn{\Lambda(y)}{Lambda(y)}
#' is the unit vector of class \eqn{y}: one weight vector per class, the multiclass machine of Crammer and Singer. With features per class, classes
#' that share features learn from each other's examples.
#'
#' **Taxonomy.** Every node \eqn{z}{z} of the taxonomy is a feature, \eqn{\lambda_z(y) = \beta_z}{lambda_z(y) = beta_z} if \eqn{y} lies below
#' \eqn{z} or is
#' \eqn{z}, else 0. `loss = "tree"` is the height of the first common ancestor of two classes: the number of edges on the longest way from it down
#' to a
#' leaf.
#'
#' **Kernel.** With `kernel`, \eqn{\langle\Psi(x, y), \Psi(x', y')\rangle = L(y, y') K(x, x')}{<Psi(x, y), Psi(x', y')> = L(y, y') K(x, x')}, where
#' \eqn{L} comes from the class features. The matrix of all \eqn{K(x_i, x_j)}{K(x_i, x_j)} is held in memory.
#'
#' **Intercept.** There is none in \eqn{F}; `intercept = TRUE` adds a feature that is always 1. Its weight is penalised like the others, so scale the
#' features to be of the order of 1.
#'
#' @section Which method when:
#' Costs that differ between confusions, many classes in a hierarchy, or few examples per class: this. Plain classes, only
#' accuracy counts: any multiclass machine will do.
#'
#' @param x Examples in rows: a matrix, a data frame of numbers or a sparse matrix (package Matrix).
#' @param y Classes: a factor, or what can be made one.
#' @param loss `"zero_one"`, `"tree"` (with `taxonomy`), or a matrix of costs with a row per true and a column per predicted class, zero on the
#'   diagonal; names of rows and columns are matched to the classes.
#' @param class_features A matrix with a row per class: \eqn{\Lambda(y)}{Lambda(y)}. Rows are matched by name where there are names.
#' @param class_kernel Instead of features, a positive semi-definite matrix of similarities between the classes.
#' @param taxonomy Instead of features, who is below whom: a character vector of parents, named by their children, or a matrix or data frame with two
#'   columns, child and parent (then a child may have several).
#' @param node_weights Weights \eqn{\beta_z}{beta_z} of the nodes of the taxonomy, named; 1 for those not named.
#' @param kernel `NULL` for the features themselves, or a kernel (see [kernels]) or its name.
#' @param intercept Add a constant feature (with a kernel, a constant to it)?
#' @param ... Nothing: an argument that is not known is an error.
#' @return An object of class `granary_output_multiclass`, to be given to [structured_svm()] or [structured_baseline()].
#' @references
#' Tsochantaridis, Joachims, Hofmann and Altun (2005). Large margin methods for structured and interdependent output variables.
#' *Journal of Machine Learning Research* 6, 1453--1484.
#' @seealso [structured_svm()], [structured_baseline()], [structured_bounds()], [output_chain()], [output_align()], [output_cfg()]
#' @export
#' @examples
#' costs <- matrix(c(0, 1, 1, 1, 0, 5, 1, 5, 0), 3)
#' problem <- output_multiclass(scale(iris[, 1:4]), iris$Species, loss = costs)
#' problem
#' fit <- structured_svm(problem, cost = 100)
#' table(predict(fit), iris$Species)
#'
#' # classes in a taxonomy
#' kinds <- c(setosa = "small", versicolor = "large", virginica = "large",
#'            small = "iris", large = "iris")
#' fit <- structured_svm(output_multiclass(scale(iris[, 1:4]), iris$Species, "tree", taxonomy = kinds))
#' coef(fit)
output_multiclass <- function(x, y, loss = "zero_one", class_features = NULL, class_kernel = NULL, taxonomy = NULL, node_weights = NULL,
                              kernel = NULL, intercept = TRUE, ...) {
  refuse_dots(...)
  call <- match.call()
  x <- check_design(x, "x", allow_sparse = is.null(kernel), min_rows = 1L)
  y <- check_output_classes(y, nrow(x), keep = !is.null(class_features) || !is.null(class_kernel) || !is.null(taxonomy) || !is.character(loss))
  intercept <- check_flag(intercept)
  classes <- levels(y)
  given <- c("class_features", "class_kernel", "taxonomy")[c(!is.null(class_features), !is.null(class_kernel), !is.null(taxonomy))]
  if (length(given) > 1L) abort_input(sprintf("Only one of `%s` and `%s` can be given.", given[1L], given[2L]), given[2L])
  tree <- if (!is.null(taxonomy)) read_taxonomy(taxonomy, classes, node_weights)
  if (is.null(taxonomy) && !is.null(node_weights)) abort_input("`node_weights` go with `taxonomy` only.", "node_weights")
  lambda <- if (!is.null(tree)) tree$features else class_lambda(class_features, class_kernel, classes)
  loss_matrix <- class_loss(loss, classes, tree)
  core <- list(x = NULL, codes = as.integer(y) - 1L, class_features = lambda, loss = loss_matrix, gram = NULL)
  if (is.null(kernel)) {
    core$x <- if (intercept) add_constant(x) else x
  } else {
    kernel <- prepare_kernel(kernel, ncol(x))
    core$gram <- unname(kernel_matrix(kernel, x)) + intercept
  }
  new_output("multiclass", core, n = nrow(x), features = colnames(x), classes = classes, loss = if (is.character(loss)) loss else "matrix",
             kernel = kernel, inputs = if (!is.null(kernel)) x, intercept = intercept, call = call)
}

add_constant <- function(x) {
  constant <- matrix(1, nrow(x), 1L, dimnames = list(NULL, "(Intercept)"))
  if (isS4(x)) methods::as(cbind(methods::as(constant, "CsparseMatrix"), x), "CsparseMatrix") else cbind(constant, x)
}

# `keep`: unused levels are classes too, because something is known of them.
check_output_classes <- function(y, n, keep, arg = "y") {
  if (missing(y)) fail_missing(arg)
  if (keep && is.factor(y)) {
    unused <- levels(y)
    y <- check_sample_labels_any(y, n, arg)
    return(factor(y, unused))
  }
  check_sample_labels(y, n, arg)
}

# As check_sample_labels(), where one class in the data is enough because there are more levels.
check_sample_labels_any <- function(y, n, arg) {
  if (nlevels(droplevels(y)) > 1L || length(y) != n || anyNA(y)) return(check_sample_labels(y, n, arg))
  if (nlevels(y) < 2L) check_sample_labels(y, n, arg) else y
}

class_lambda <- function(class_features, class_kernel, classes) {
  k <- length(classes)
  if (is.null(class_features) && is.null(class_kernel)) return(diag(k))
  if (!is.null(class_features)) {
    lambda <- check_matrix(class_features)
    lambda <- match_class_rows(lambda, classes, "class_features")
    if (is.null(colnames(lambda))) colnames(lambda) <- paste0("feature", seq_len(ncol(lambda)))
    return(lambda)
  }
  similarity <- check_symmetric(class_kernel)
  similarity <- match_class_rows(similarity, classes, "class_kernel", both = TRUE)
  lambda <- core_class_features(unname(similarity))
  dimnames(lambda) <- list(classes, paste0("component", seq_len(k)))
  lambda
}

# Rows (and columns) in the order of the classes: by name where all are named, else as they stand.
match_class_rows <- function(m, classes, arg, both = FALSE) {
  k <- length(classes)
  if (!is.null(rownames(m)) && all(classes %in% rownames(m))) {
    m <- m[classes, , drop = FALSE]
    if (both && all(classes %in% colnames(m))) m <- m[, classes, drop = FALSE]
  }
  if (nrow(m) != k || (both && ncol(m) != k)) {
    abort_input(sprintf("`%s` must have %s per class (%d), but it is %d x %d.", arg, if (both) "a row and a column" else "a row", k, nrow(m),
                        ncol(m)), arg)
  }
  rownames(m) <- classes
  if (both) colnames(m) <- classes
  m
}

class_loss <- function(loss, classes, tree) {
  k <- length(classes)
  if (is.character(loss)) {
    loss <- check_choice(loss, c("zero_one", "tree"))
    if (loss == "zero_one") return(matrix(1, k, k, dimnames = list(classes, classes)) - diag(k))
    if (is.null(tree)) abort_input("loss = \"tree\" needs a `taxonomy`.", "loss")
    return(tree$loss)
  }
  loss <- match_class_rows(check_matrix(loss), classes, "loss", both = TRUE)
  if (any(loss < 0)) abort_input("`loss` must not be negative, but some costs are.", "loss")
  if (any(diag(loss) != 0)) abort_input("`loss` must be zero on the diagonal: the right class costs nothing.", "loss")
  if (all(loss == 0)) abort_input("`loss` must have a positive cost somewhere, but all are zero.", "loss")
  loss
}

# Nodes above and including each class, their features, and the tree loss.
read_taxonomy <- function(taxonomy, classes, node_weights) {
  if (is.character(taxonomy) && !is.null(names(taxonomy))) {
    child <- names(taxonomy)
    parent <- unname(taxonomy)
  } else if ((is.matrix(taxonomy) || is.data.frame(taxonomy)) && ncol(taxonomy) == 2L && nrow(taxonomy) > 0L) {
    child <- as.character(taxonomy[, 1L, drop = TRUE])
    parent <- as.character(taxonomy[, 2L, drop = TRUE])
  } else {
    fail_input("taxonomy", "a character vector of parents named by their children, or two columns of children and parents", describe(taxonomy))
  }
  if (anyNA(child) || anyNA(parent) || any(!nzchar(child))) abort_input("`taxonomy` must name every child and every parent.", "taxonomy")
  nodes <- unique(c(classes, child, parent))
  below <- diag(length(nodes)) > 0  # below[a, z]: a is z or under z
  direct <- matrix(FALSE, length(nodes), length(nodes))
  direct[cbind(match(child, nodes), match(parent, nodes))] <- TRUE
  height <- numeric(length(nodes))
  for (step in seq_along(nodes)) {
    grown <- below | (direct %*% below > 0)
    up <- vapply(seq_along(nodes), function(z) max(0, height[direct[, z]] + 1), 0)
    if (identical(grown, below) && identical(up, height)) break
    below <- grown
    height <- up
  }
  if (any(below & t(below) & !diag(length(nodes))) || any(diag(direct))) {
    abort_input("`taxonomy` must not have a node below itself, but it has a circle.", "taxonomy")
  }
  used <- colSums(below[seq_along(classes), , drop = FALSE]) > 0
  features <- 1 * below[seq_along(classes), used, drop = FALSE]
  dimnames(features) <- list(classes, nodes[used])
  if (!is.null(node_weights)) {
    weights <- check_vector(node_weights, lower = 0)
    if (is.null(names(weights)) || !all(names(weights) %in% nodes)) {
      abort_input("`node_weights` must be named by nodes of the taxonomy.", "node_weights")
    }
    at <- intersect(names(weights), colnames(features))
    features[, at] <- sweep(features[, at, drop = FALSE], 2L, weights[at], "*")
  }
  list(features = features, loss = tree_loss(below, height, classes))
}

tree_loss <- function(below, height, classes) {
  k <- length(classes)
  loss <- matrix(0, k, k, dimnames = list(classes, classes))
  top <- max(height) + 1  # classes that meet nowhere, as if above everything there was one more node
  for (a in seq_len(k)) {
    for (b in seq_len(k)[-a]) {
      common <- below[a, ] & below[b, ]
      loss[a, b] <- if (any(common)) min(height[common]) else top
    }
  }
  loss
}

#' @export
output_new.granary_output_multiclass <- function(problem, newdata, ...) {
  x <- new_design(newdata, problem$features, allow_sparse = is.null(problem$kernel))
  core <- problem$core
  core$codes <- NULL
  core$gram <- NULL
  if (is.null(problem$kernel)) {
    core$x <- if (problem$intercept) add_constant(x) else x
  } else {
    core$x <- unname(kernel_matrix(problem$kernel, x, problem$inputs)) + problem$intercept
    core$class_features <- diag(length(problem$classes))
  }
  core
}

# Of a kernel problem, in the coordinates of output_new(): the classes of the first input, those of the second, ...
#' @export
output_weights.granary_output_multiclass <- function(problem, weights) {
  if (is.null(problem$kernel)) return(weights)
  as.double(tcrossprod(problem$core$class_features) %*% matrix(weights, nrow = length(problem$classes)))
}

#' @export
output_decode.granary_output_multiclass <- function(problem, raw) {
  factor(problem$classes[unlist(raw) + 1L], problem$classes)
}

#' @export
output_coef.granary_output_multiclass <- function(problem, weights) {
  if (!is.null(problem$kernel)) {
    return(matrix(weights, ncol = length(problem$classes), byrow = TRUE, dimnames = list(rownames(problem$inputs), problem$classes)))
  }
  columns <- colnames(problem$core$class_features)
  if (is.null(columns)) columns <- problem$classes
  matrix(weights, ncol = length(columns), byrow = TRUE, dimnames = list(colnames(problem$core$x), columns))
}

#' @export
output_describe.granary_output_multiclass <- function(problem) {
  c(examples = problem$n, classes = paste0(length(problem$classes), " (", first_few(problem$classes), ")"),
    features = paste0(length(problem$features), if (!is.null(problem$kernel)) paste0(" in the kernel ", kernel_label(problem$kernel)),
                      if (problem$intercept) " and a constant"),
    "class features" = if (!identical(unname(problem$core$class_features), diag(length(problem$classes)))) ncol(problem$core$class_features),
    loss = problem$loss)
}

#' @export
print.granary_output <- function(x, ...) {
  cli::cat_line("granary: structured output, ", sub("granary_output_", "", class(x)[1L]))
  print_call(x$call)
  print_parts(output_describe(x))
  cli::cat_line("Learn with structured_svm(), or structured_perceptron().")
  invisible(x)
}
