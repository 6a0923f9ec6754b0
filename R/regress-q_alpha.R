#' Weights of features without labels
#'
#' Ranks features (genes, pixels, words) by how much they support a structure of `k` clusters among the samples. The weights come from an
#' eigenproblem, add up to a profile that decays sharply, and are positive though nothing asks for it. A cheap filter ahead of clustering or
#' classification when there are many more features than samples. Also for known classes, and through a kernel between features.
#'
#' @details
#' Let \eqn{m_i} be feature \eqn{i} over the \eqn{q} samples, centred and of unit length, and
#' \eqn{A_\alpha = \sum_i \alpha_i m_i m_i'}{A_alpha = sum_i alpha_i m_i m_i'} the similarity of the samples under weights \eqn{\alpha}{alpha}.
#' The weights solve
#' \deqn{\max_{\|\alpha\| = 1,\, Q'Q = I} \mathrm{tr}(Q' A_\alpha^2 Q) = \max_\alpha \sum_{j \le k} \lambda_j(A_\alpha)^2,}{max tr(Q' A_alpha^2 Q)
#'   over |alpha| = 1, Q'Q = I  =  max sum_(j <= k) lambda_j(A_alpha)^2,}
#' with \eqn{k} columns in \eqn{Q}. For given \eqn{Q} the objective is \eqn{\alpha' G \alpha}{alpha' G alpha},
#' \eqn{G_{ij} = (m_i'm_j)(m_i'QQ'm_j)}{G_ij = (m_i'm_j)(m_i'QQ'm_j)}, so the best weights are the leading eigenvector of \eqn{G}; for given weights
#' the
#' best \eqn{Q} are the leading eigenvectors of \eqn{A_\alpha}{A_alpha}. Alternating between the two never lowers the objective. \eqn{G} is not
#' formed:
#' a product with it costs \eqn{O(nqk)} for \eqn{n} features.
#'
#' **Methods.** `"power"` takes one step of orthogonal iteration for \eqn{Q} per round (Definition 2, the choice of the paper, and the only one with a
#' kernel), `"basic"` the exact eigenvectors: fewer rounds of \eqn{O(nq^2)} each, the better choice for up to some thousand features. `"ritz"` is
#' Definition 4; its rounds span the same spaces as those of `"power"`, so it ends at the same weights, with more work.
#' `criterion = "gap"` subtracts the squares of the other eigenvalues.
#' `spectrum = "laplacian"` puts \eqn{L_i = m_i m_i' - \mathrm{diag}(m_i m_i'1) + dI}{L_i = m_i m_i' - diag(m_i m_i'1) + d I} in the place of
#' \eqn{m_i m_i'}; with centred features its degrees vanish, so use it with `center = FALSE` on data that is not negative. The shift \eqn{d} is the
#' largest degree of the weighted graph, over the sum of the weights. The paper moves it in every round, and the objective falls with it; here it stays
#' until the rounds are at rest, moves, and so on until it moves no more: `objective_path` begins where it moved last.
#'
#' **Starts.** There are many local maxima; a single feature has objective 1. The first start is at the leading eigenvectors for equal weights, the
#' others alternate between the neighbourhood of a random feature and random subspaces. All are followed for 8 rounds, the
#' best third for 24 more, the best one to the end; `start_objectives` shows where each got.
#'
#' **Classes.** With `labels`, the criterion is the energy within classes minus `gamma` times that between them (Definition 6),
#' \deqn{\sum_g \sum_{j \le k_{within}} \sigma_j(A^{gg})^2 - \gamma \sum_{g \ne h} \sum_{j \le k_{between}} \sigma_j(A^{gh})^2,}{sum_g
#'   sum_(j <= k_within) sigma_j(A^gg)^2 - gamma sum_(g != h) sum_(j <= k_between) sigma_j(A^gh)^2,}
#' where \eqn{A^{gh}}{A^gh} is the block of \eqn{A_\alpha}{A_alpha} for the samples of classes \eqn{g} and \eqn{h}. It rewards features that are
#' active in one class and silent in the others. Because squares ignore signs, it punishes centred features whose class means have
#' opposite signs, which is why `center` is then `FALSE` by default. **A plain filter is usually better when labels are known:** see
#' [q_alpha_baseline()].
#' The criterion is a saddle; the best weights met in `max_iter` rounds are returned, and negative ones are set to zero for the ranking.
#'
#' **Kernels.** With `kernel` the features enter through the matrix \eqn{V} of their similarities alone, \eqn{G = V \circ (VEE'V)}{G = V o (V E E'V)},
#' so that interactions beyond correlation count. The points of the kernel are the standardised features, its columns the samples;
#' `kernel = "blocks"` is the one of the paper, \eqn{k(m, m') = \sum_b (m_b' m'_b)^d}{k(m, m') = sum_b (m_b' m'_b)^d} over blocks \eqn{b} of `size`
#' successive samples: similarity that does not mind a change of sign from one block to the next, as when the samples come from sessions with an unknown
#' state each. A kernel needs the \eqn{n \times n}{n x n} matrix.
#'
#' @section Which method when:
#' `q_alpha()` for a quick look at thousands of features before clustering; the features it keeps are redundant on purpose
#' (whole groups
#' of correlated ones). For a sparse clustering itself use sparse k-means (package `sparcl`), which is slower. With labels use
#' [q_alpha_baseline()], or a lasso.
#'
#' @param x Samples in rows, features in columns: a matrix or data frame of numbers.
#' @param k Number of clusters expected, or a little more; at most the number of samples. With `labels`, only the dimension of the embedding, by
#'   default
#'   the number of classes.
#' @param labels Classes of the samples for the supervised criterion, or `NULL`.
#' @param method,criterion,spectrum See Details.
#' @param kernel `NULL`, `"blocks"`, a kernel (see [kernels]) or its name, or a symmetric matrix of similarities between the features.
#' @param center Centre the features? `NULL`: yes without, no with `labels`. They are scaled to unit length in any case.
#' @param n_starts Number of starts, of `q_alpha()` or of k-means. Not used with `labels`, which start from the share of the variance between classes.
#' @param gamma Weight of the energy between classes; it may be negative.
#' @param k_within,k_between Number of singular values counted within a class (fewer in a class that has fewer samples) and between two.
#' @param kernel_normalize,kernel_center Divide the kernel matrix by the square roots of its diagonal elements? Centre it in feature space before
#'   that?
#' @param size,degree Samples in a block and power \eqn{d} for `kernel = "blocks"`; 8 and 2 in the paper.
#' @param max_iter Largest number of rounds; `NULL` for 500, or 50 with `labels`.
#' @param tol Rounds end when the weights change by less than this, or the objective relatively by a hundredth of it. With as many directions `k`
#'   as there is structure that takes a few dozen rounds; a direction that is all noise settles slowly (three clusters span two directions once
#'   centred, so `k = 3` has one). For a mere ranking 1e-4 is enough, and several times faster there.
#' @param threads Number of threads for the starts; see `options(granary.threads)`.
#' @param object A fit.
#' @param newdata Samples with the same features; `NULL` for `"cluster"`.
#' @param which For `coef()` and `predict()`: features, by name or number; `NULL` for all (for `"selected"` those above the largest drop).
#' @param clusters Number of clusters for `"cluster"`, by default `k` of the fit.
#' @param type For `predict()`: `"cluster"` for clusters of the samples of the fit in their embedding, by k-means: spectral clustering under the weighted
#'   features; `"weighted"` for standardised features times the square roots of their weights, whose inner products are
#'   \eqn{A_\alpha}{A_alpha},
#'   `"selected"` for the columns of the selected features. For `plot()`: sorted weights with the suggested cut, or samples in the leading two
#'   dimensions.
#' @param n How many weights to print or draw.
#' @param ... For `plot()`, passed on to [graphics::plot()]; otherwise not used.
#' @return An object of class `granary_q_alpha`: a list with
#' \item{weights}{one per feature, named, of unit length as a vector; negative rounding errors are zero}
#' \item{rank}{1 for the largest weight}
#' \item{embedding}{samples x `k`: the leading eigenvectors of \eqn{A_\alpha}{A_alpha}}
#' \item{eigenvalues}{its leading eigenvalues}
#' \item{objective, objective_path, start_objectives}{the criterion reached, along the rounds, and from every start}
#' \item{trace}{\eqn{\sum_i \alpha_i}{sum of alpha}: the trace of \eqn{A_\alpha}{A_alpha}; small is sparse}
#' \item{min_weight}{the smallest weight before rounding}
#' \item{eigen_gap}{relative distance of the second eigenvalue of \eqn{G} to the first; near 0 the weights are not well determined}
#' \item{dropped}{names of features that do not vary; their weight is 0}
#' \item{centre, scale}{of the features}
#' @references
#' Wolf and Shashua (2005). Feature selection for unsupervised and supervised inference: the emergence of sparsity in a weight-based approach.
#' *Journal of Machine Learning Research* 6, 1855--1887.
#' @seealso [q_alpha_baseline()], [lasso()]
#' @seealso [q_alpha_select()], [q_alpha_bounds()]; `errata("jmlr6-q-alpha-feature-selection")`;
#'   `reproduce("jmlr6-q-alpha-feature-selection")`
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_q_alpha("clusters", clusters = 3)
#' fit <- q_alpha(sim$x, k = 3)
#' fit
#' names(coef(q_alpha_select(fit)))
#' plot(fit)
#' table(predict(fit, type = "cluster"), sim$labels)
#' head(predict(fit, sim$x, type = "selected"), 3)
q_alpha <- function(x, k = NULL, labels = NULL, method = c("power", "basic", "ritz"), criterion = c("energy", "gap"),
                    spectrum = c("standard", "laplacian"), kernel = NULL, center = NULL, n_starts = 10, gamma = 0.5, k_within = 2, k_between = 1,
                    kernel_normalize = TRUE, kernel_center = FALSE, size = 8, degree = 2, max_iter = NULL, tol = 1e-8, threads = NULL, ...) {
  refuse_dots(...)
  call <- match.call()
  x <- check_design(x, allow_sparse = FALSE, min_rows = 3L)
  method <- check_choice(method, c("power", "basic", "ritz"))
  criterion <- check_choice(criterion, c("energy", "gap"))
  spectrum <- check_choice(spectrum, c("standard", "laplacian"))
  settings <- list(method = method, criterion = criterion, spectrum = spectrum)
  center <- check_flag(center, allow_null = TRUE)
  n_starts <- check_count(n_starts, upper = 10000)
  gamma <- check_number(gamma)
  k_within <- check_count(k_within)
  k_between <- check_count(k_between)
  kernel_normalize <- check_flag(kernel_normalize)
  kernel_center <- check_flag(kernel_center)
  max_iter <- check_count(max_iter, allow_null = TRUE)
  tol <- check_number(tol, lower = 0, strict_lower = TRUE, upper = 0.1)
  threads <- thread_count(threads)
  if (!is.null(labels)) labels <- check_sample_labels(labels, nrow(x))
  if (is.null(k) && !is.null(labels)) k <- min(nlevels(labels), nrow(x))
  if (is.null(k)) fail_missing("k")
  k <- check_count(k, upper = nrow(x))
  if (identical(kernel, "blocks")) kernel <- block_kernel(nrow(x), check_count(size), check_count(degree, upper = 100))
  refuse_combinations(settings, kernel, labels)
  if (is.null(center)) center <- is.null(labels)

  standard <- core_standardise_features(x, center)
  keep <- !standard$constant
  if (!any(keep)) abort_input("`x` must have a feature that varies, but all are constant.", "x")
  if (!all(keep)) {
    warn_input(sprintf("%s not vary and %s weight 0: %s.", if (sum(!keep) == 1L) "1 feature does" else paste(sum(!keep), "features do"),
                       if (sum(!keep) == 1L) "gets" else "get", first_few(colnames(x)[!keep])), "x")
  }
  m <- standard$x[, keep, drop = FALSE]
  progress <- progress_bar("feature weights")
  raw <- if (!is.null(labels)) {
    core_q_alpha_classes(m, as.integer(labels), list(gamma = gamma, k_within = k_within, k_between = k_between, tol = tol, max_iter = max_iter), progress)
  } else if (!is.null(kernel)) {
    v <- feature_kernel(kernel, m, keep, kernel_normalize, kernel_center)
    core_q_alpha_kernel(v, list(k = min(k, ncol(m)), method = "power", criterion = criterion, n_starts = n_starts, tol = tol, max_iter = max_iter,
                                threads = threads), core_seed(), progress)
  } else {
    check_all_pairs(nrow(m), 3, "Take a sample of the rows.")
    core_q_alpha(m, c(settings, list(k = k, n_starts = n_starts, tol = tol, max_iter = max_iter, threads = threads)), core_seed(), progress)
  }
  fit <- q_alpha_fit(raw, x, m, keep, k, standard, settings, center, labels, kernel, call)
  check_convergence(fit)
  fit
}

q_alpha_fit <- function(raw, x, m, keep, k, standard, settings, center, labels, kernel, call) {
  alpha <- stats::setNames(numeric(ncol(x)), colnames(x))
  alpha[keep] <- raw$alpha
  weights <- pmax(alpha, 0)
  embedded <- core_weighted_embedding(m, unname(weights[keep]), k)
  dimnames(embedded$vectors) <- list(rownames(x), paste0("dim", seq_len(k)))
  new_fit(
    "q_alpha", weights = weights, rank = stats::setNames(as.integer(rank(-weights, ties.method = "min")), names(weights)),
    embedding = embedded$vectors, eigenvalues = as.double(embedded$values), objective = raw$objective, objective_path = as.double(raw$path),
    start_objectives = as.double(raw$start_objectives), trace = sum(weights), min_weight = min(alpha), eigen_gap = raw$eigen_gap,
    dropped = colnames(x)[!keep], centre = stats::setNames(standard$centre, colnames(x)), scale = stats::setNames(standard$scale, colnames(x)),
    k = k, samples = nrow(x), method = if (is.null(labels)) settings$method else "classes", criterion = settings$criterion,
    spectrum = settings$spectrum, center = center, labels = labels, kernel = if (!is.null(kernel)) kernel_label(kernel), call = call,
    convergence = raw$convergence
  )
}

first_few <- function(names, n = 5L) {
  paste0(paste(utils::head(names, n), collapse = ", "), if (length(names) > n) ", ...")
}

check_sample_labels <- function(labels, n, arg = "labels") {
  usable <- (is.factor(labels) || is.character(labels) || is.logical(labels) || is_plain_numeric(labels)) && is.null(dim(labels))
  if (!usable) fail_input(arg, paste("a factor with one class per sample, of length", n), describe(labels))
  if (length(labels) != n) fail_input(arg, paste("a factor with one class per sample, of length", n), paste("one of length", length(labels)))
  if (anyNA(labels)) abort_input(sprintf("`%s` must have no missing values, but element %d is NA.", arg, which(is.na(labels))[1L]), arg)
  labels <- droplevels(as.factor(labels))
  if (nlevels(labels) < 2L) abort_input(sprintf("`%s` must have at least two classes, but every sample is \"%s\".", arg, levels(labels)), arg)
  labels
}

refuse_combinations <- function(settings, kernel, labels) {
  if (settings$spectrum == "laplacian" && (settings$criterion == "gap" || settings$method == "ritz")) {
    abort_input("spectrum = \"laplacian\" goes with criterion = \"energy\" and method \"power\" or \"basic\" only.", "spectrum")
  }
  if (settings$method == "ritz" && settings$criterion == "gap") abort_input("method = \"ritz\" goes with criterion = \"energy\" only.", "method")
  special <- if (!is.null(kernel)) "kernel" else if (!is.null(labels)) "labels"
  if (is.null(special)) return(invisible())
  if (!is.null(kernel) && !is.null(labels)) abort_input("`kernel` and `labels` cannot be combined: the supervised criterion has no kernel version.",
                                                        "kernel")
  plain <- settings$method == "power" && settings$spectrum == "standard" && (special == "kernel" || settings$criterion == "energy")
  if (!plain) {
    abort_input(sprintf("With `%s` only method = \"power\" and spectrum = \"standard\"%s are defined.", special,
                        if (special == "labels") " and criterion = \"energy\"" else ""), special)
  }
}

kernel_label <- function(kernel) if (inherits(kernel, "granary_kernel")) format(kernel) else if (is.character(kernel)) kernel else "given matrix"

# Similarities between the features that vary: from a kernel whose points are the features, or as given.
feature_kernel <- function(kernel, m, keep, normalize, center) {
  if (is.matrix(kernel) || inherits(kernel, "Matrix") || is.data.frame(kernel)) {
    v <- check_symmetric(kernel, "kernel")
    if (nrow(v) != length(keep)) {
      abort_input(sprintf("`kernel` must have one row per feature (%d), but it has %d.", length(keep), nrow(v)), "kernel")
    }
    v <- v[keep, keep, drop = FALSE]
  } else {
    v <- kernel_matrix(as_kernel(kernel), t(m))
  }
  v <- unname(v)
  if (center) v <- sweep(sweep(v, 1L, rowMeans(v)), 2L, colMeans(v)) + mean(v)
  if (normalize) {
    if (any(diag(v) <= 0)) abort_input("`kernel` must have a positive diagonal to be normalised. Use kernel_normalize = FALSE.", "kernel")
    root <- sqrt(diag(v))
    v <- v / outer(root, root)
  }
  if (!all(is.finite(v))) abort_input("`kernel` must give finite similarities, but some are not.", "kernel")
  (v + t(v)) / 2
}

# The kernel of the paper's section on sessions: sum over blocks of columns of (m_b'm'_b)^degree.
block_kernel <- function(n, size = 8L, degree = 2L) {
  blocks <- split(seq_len(n), (seq_len(n) - 1L) %/% size)
  Reduce(`+`, lapply(blocks, function(b) k_polynomial(degree, offset = 0, columns = b, fixed = c("variance", "scales"))))
}

#' @rdname q_alpha
#' @export
print.granary_q_alpha <- function(x, n = 6, ...) {
  n <- check_count(n)
  cli::cat_line(fit_title(x), if (!is.null(x$labels)) ", with classes", if (!is.null(x$kernel)) paste0(", kernel ", x$kernel))
  print_call(x$call)
  cli::cat_line(x$samples, " samples, ", length(x$weights), " features, k = ", x$k, "; objective ", format(x$objective, digits = 5L),
                ", trace ", format(x$trace, digits = 4L))
  top <- utils::head(sort(x$weights, decreasing = TRUE), n)
  cli::cat_line("Largest weights: ", paste(names(top), format(top, digits = 2L), collapse = ", "))
  chosen <- suggested_features(x)
  cli::cat_line("Suggested cut: ", counted(length(chosen), "feature", "features"), " (largest drop), sparsity gap ",
                format(sparsity_gap(x$weights, chosen), digits = 3L), "; see q_alpha_select()")
  if (x$eigen_gap < 1e-3) cli::cat_line("The second eigenvalue is within ", format(x$eigen_gap, digits = 1L),
                                        " of the first: the weights are not well determined.")
  zero <- mean(x$weights < 1e-8 * max(x$weights))
  if (zero > 0.5) cli::cat_line("More than half of the weights vanish: the features fall into unrelated blocks, and one block has it all.")
  cli::cat_line("Solver: ", format_convergence(x$convergence))
  invisible(x)
}

#' @rdname q_alpha
#' @export
summary.granary_q_alpha <- function(object, ...) {
  chosen <- suggested_features(object)
  seal(structure(list(
    title = fit_title(object), call = object$call, convergence = object$convergence,
    parts = c(
      features = length(object$weights), selected = length(chosen), sparsity_gap = format(sparsity_gap(object$weights, chosen), digits = 3L),
      objective = format(object$objective, digits = 6L), trace = format(object$trace, digits = 4L),
      eigenvalues = paste(format(object$eigenvalues, digits = 4L), collapse = " "), eigen_gap = format(object$eigen_gap, digits = 3L),
      min_weight = format(object$min_weight, digits = 3L),
      starts = sprintf("%d, objectives from %.4g to %.4g", length(object$start_objectives), min(object$start_objectives),
                       max(object$start_objectives))
    ),
    quantiles = rbind(weights = stats::setNames(stats::quantile(object$weights, c(0, 0.25, 0.5, 0.75, 1), names = FALSE),
                                                c("min", "25%", "median", "75%", "max")))
  ), class = "summary_granary_fit"))
}

#' @rdname q_alpha
#' @export
coef.granary_q_alpha <- function(object, which = NULL, ...) {
  refuse_dots(...)
  if (is.null(which)) object$weights else object$weights[features_asked(object, which)]
}

# Features by name or number, in the order asked for.
features_asked <- function(object, which) {
  check_features(which, object$weights, "which")
  if (is.character(which)) match(which, names(object$weights)) else as.integer(which)
}

#' @rdname q_alpha
#' @importFrom stats predict
#' @export
predict.granary_q_alpha <- function(object, newdata = NULL, type = c("weighted", "selected", "cluster"), which = NULL, clusters = NULL, n_starts = 20, ...) {
  refuse_dots(...)
  type <- check_choice(type, c("weighted", "selected", "cluster"))
  if (type == "cluster") return(embedding_clusters(object, newdata, clusters, n_starts))
  if (is.null(newdata)) fail_missing("newdata")
  newdata <- new_design(newdata, names(object$weights), allow_sparse = FALSE)
  colnames(newdata) <- names(object$weights)
  if (type == "selected") return(newdata[, if (is.null(which)) suggested_features(object) else features_asked(object, which), drop = FALSE])
  keep <- !names(object$weights) %in% object$dropped
  out <- sweep(newdata, 2L, object$centre)
  out <- sweep(out, 2L, sqrt(object$weights) / object$scale, `*`)
  out[, !keep] <- 0
  if (is.null(which)) out else out[, features_asked(object, which), drop = FALSE]
}

# k-means (Hartigan and Wong) on the rows of the embedding.
embedding_clusters <- function(object, newdata, clusters, n_starts) {
  if (inherits(object, "granary_q_alpha_baseline")) not_for(object, "predict(type = \"cluster\")", "it has no embedding of the samples")
  if (!is.null(newdata)) abort_input("`newdata` must be NULL for type = \"cluster\": only the samples of the fit are in its embedding.", "newdata")
  clusters <- check_count(clusters, upper = nrow(object$embedding), allow_null = TRUE)
  n_starts <- check_count(n_starts, upper = 1e6)
  cluster <- core_cluster_embedding(unname(object$embedding), if (is.null(clusters)) object$k else clusters, n_starts, core_seed(), progress_bar("clusters"))
  stats::setNames(cluster, rownames(object$embedding))
}

#' @rdname q_alpha
#' @export
plot.granary_q_alpha <- function(x, type = c("weights", "embedding"), n = 100, ...) {
  type <- check_choice(type, c("weights", "embedding"))
  n <- check_count(n)
  if (type == "embedding") {
    if (is.null(x$embedding)) not_for(x, "plot(type = \"embedding\")", "it has no embedding of the samples")
    e <- x$embedding
    second <- if (ncol(e) > 1L) e[, 2L] else seq_len(nrow(e))
    draw(graphics::plot, e[, 1L], second, pch = 19, col = grDevices::adjustcolor("#2166ac", 0.7), xlab = "dimension 1",
         ylab = if (ncol(e) > 1L) "dimension 2" else "sample", user = list(...))
    return(invisible())
  }
  sorted <- sort(x$weights, decreasing = TRUE)
  chosen <- length(suggested_features(x))
  shown <- sorted[seq_len(min(max(n, chosen + 1L), length(sorted)))]
  draw(graphics::plot, seq_along(shown), shown, type = "h", lwd = 2, col = ifelse(seq_along(shown) <= chosen, "#b2182b", "grey60"), xlab = "rank",
       ylab = "weight", user = list(...))
  graphics::abline(v = chosen + 0.5, lty = 3)
  invisible()
}

#' @rdname q_alpha
#' @export
tidy.granary_q_alpha <- function(x, ...) {
  refuse_dots(...)
  order <- order(-x$weights)
  data.frame(term = names(x$weights)[order], estimate = unname(x$weights[order]), rank = unname(x$rank[order]),
             selected = names(x$weights)[order] %in% suggested_features(x))
}
