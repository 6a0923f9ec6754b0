# Kernels over bags: observations that are samples, sets of vectors, or histograms.

#' Kernels over bags
#'
#' How alike two observations are when each is itself a sample: the cells of a patient, the pixels of a drawing, the
#' words of a text, the species of a plot. A value is a function of the two samples thrown together, so no bins and
#' no fitted densities are needed. Such a kernel goes wherever a kernel goes: [svm()], [gp_classify()],
#' [independence_test()], [kernel_matrix()].
#'
#' @details
#' A bag is a measure \eqn{\mu}{mu} of mass one, its points weighted; \eqn{\mu'' = (\mu + \mu')/2}{mu'' = (mu + mu')
#' / 2}, \eqn{\Sigma}{Sigma} the covariance of the points, \eqn{h} the entropy.
#'
#' * `"igv"`: \eqn{1/\det\{\Sigma(\mu'')/\eta + I\}}{1 / det(Sigma(mu'') / eta + I)}, the inverse generalised
#'   variance, with a `kernel` that of its feature space; \eqn{1/\det\Sigma(\mu'')}{1 / det Sigma(mu'')} for `eta = 0`
#' * `"bhattacharyya"`: affinity of the Gaussian laws with the means and the covariances \eqn{\Sigma + \eta I}{Sigma
#'   + eta I}, with a `kernel` in its feature space
#' * `"mean_map"`: \eqn{\exp(-\beta|m - m'|^2)}{exp(-beta |m - m'|^2)} for the means of the points, with a `kernel`
#'   in its feature space: from the maximum mean discrepancy
#' * `"jensen_shannon"`: \eqn{\exp(-\beta J)}{exp(-beta J)}, \eqn{J = h(\mu'') - \{h(\mu) + h(\mu')\}/2}{J = h(mu'')
#'   - (h(mu) + h(mu')) / 2}, of histograms
#' * `"entropy"`: \eqn{\exp\{-h(f + g)\}}{exp(-h(f + g))} of counts as they are
#' * `"parzen"`: \eqn{\exp(-\beta J)}{exp(-beta J)} of the bags smoothed by Gaussians of this `width`
#' * `"laplace"`: \eqn{\exp[-2\beta\{h(p'') - (h(p) + h(p'))/2\}]}{exp(-2 beta {h(p'') - (h(p) + h(p')) / 2})} with
#'   \eqn{p} the law of the `family` that fits \eqn{\mu}{mu}
#' * `"dirichlet"`: \eqn{\phi(n + n')}{phi(n + n')}, \eqn{\phi}{phi} the probability of counts in one order when
#'   their shares have a Dirichlet law, or a mixture of such laws
#' * `"integral"`: \eqn{\sum_r w_r\exp(\mu[f_r] + \mu'[f_r])}{sum_r w_r exp(mu[f_r] + mu'[f_r])} for `functions`
#'   \eqn{f_r}{f_r}, total weights as they are
#' * `"interval"`: \eqn{\int_0^1\exp(\mu[0, t] + \mu'[0, t])\,dt}{int_0^1 exp(mu[0, t] + mu'[0, t]) dt} for numbers
#'   between 0 and 1
#'
#' `normalize` divides by \eqn{\sqrt{k(\mu, \mu)\,k(\mu', \mu')}}{sqrt(k(mu, mu) k(mu', mu'))}. All is computed on
#' the log scale.
#'
#' The kernelised `"igv"` is the one to try on sets of vectors. Each bag is reduced once to the few directions its
#' covariance operator has, so that a pair of bags of \eqn{d} points costs \eqn{d^2} kernel values and a small
#' determinant; the paper's way costs \eqn{d^3}. Bags of thousands of points want `landmarks`: points whose kernel
#' values serve as features, from [k_center()] or at random. Then a pair costs the same whatever \eqn{d}.
#'
#' `"parzen"` is a sum over a lattice in one and two dimensions. In more it is simulated, with `n_draws` for each
#' bag, the same in all its pairs: an error of about one over the square root of their number, which leaves the
#' kernel matrix positive only up to that. `"laplace"` is positive for the multinomial family, and for the Gaussian
#' ones where `beta` is a multiple of 1/2 (`beta = 1` is the normalised `"igv"`); elsewhere it need not be, and says
#' so. With `masses` the total weights count as numbers of observations.
#'
#' **What a bag is.** For points: a list of matrices or data frames with a point in each row, or of numeric vectors
#' for points on a line; an attribute `"weights"` of an element weights its points ([bags()] makes such lists from
#' long data). For `"jensen_shannon"`, `"entropy"`, `"dirichlet"` and the multinomial `"laplace"`: a matrix of counts
#' with a bag in each row, or a list of named or equally long numeric vectors, tables, factors or character vectors,
#' which are counted.
#'
#' @section Which method when:
#' `"jensen_shannon"` for histograms and words, `"dirichlet"` for few counts; `"igv"` with a Gaussian `kernel` for
#' sets of vectors where shape matters, its `lengthscale` a tenth of the range and `eta` about 0.01 to begin with;
#' `"mean_map"` when the bags are large and the bulk of the points tells; `"igv"` without a kernel for covariances
#' alone. Points in sequence: [k_string()].
#'
#' @param type Kind of kernel.
#' @param kernel For `"igv"`, `"bhattacharyya"` and `"mean_map"`: a kernel over points such as `k_se(lengthscale =
#'   0.1)`, or its text; `NULL` for their inner product.
#' @param eta \eqn{\eta}{eta}, added to covariances.
#' @param beta \eqn{\beta}{beta}, above 0.
#' @param width Standard deviation of the Gaussians of `"parzen"`.
#' @param family For `"laplace"`: Gaussian with any or with diagonal covariance, independent exponential, or
#'   multinomial.
#' @param masses For `"laplace"`: whether total weights count.
#' @param prior For `"dirichlet"`: one number, one for each cell, or a matrix with a row for each law of a mixture.
#' @param functions For `"integral"`: a list of functions of a matrix of points that return one number for each row.
#' @param weights Weights of the functions, or of the laws of a mixture. For `bags()`: weights of the points, one per
#'   row of `x`.
#' @param landmarks A matrix of points whose values of `kernel` are the features.
#' @param reference,reference_share For `"igv"` without kernel or with landmarks: a matrix of points that is mixed
#'   into every \eqn{\mu''}{mu''} with this share.
#' @param levels The cells of histograms by name, where their number is known beforehand.
#' @param n_draws For `"parzen"` in three dimensions or more: draws for each bag.
#' @param normalize Whether the kernel is divided by the root of the product of its diagonal.
#' @param variance Factor of the kernel.
#' @param columns Name or number of the column that holds the bags, where there are several.
#' @param fixed `"variance"` for methods not to learn it.
#' @param x For `bags()`: points, one per row: a matrix, data frame or numeric vector.
#' @param id Which bag each row belongs to.
#' @param size Largest number of points per bag: of more, that many are drawn. `NULL` keeps all.
#' @param ... Not used.
#' @return `k_bag()` a kernel, of class `granary_kernel`; `bags()` a list of matrices, in the order in which the
#'   values of `id` first occur, or of its levels.
#' @references
#' Cuturi, Fukumizu and Vert (2005). Semigroup kernels on measures. *Journal of Machine Learning Research* 6,
#' 1169--1198.
#'
#' Kondor and Jebara (2003). A kernel between sets of vectors. *Proceedings of the 20th International Conference on
#' Machine Learning*, 361--368.
#' @seealso [kernels], [k_string()], [bag_eigen()], [kernel_distance()], [svm()]
#' @export
#' @examples
#' flowers <- bags(iris[, 1:2], rep(1:30, each = 5))
#' k <- k_bag("igv", kernel = k_se(lengthscale = 0.4))
#' k
#' round(kernel_matrix(k, flowers)[c(1, 2, 15, 30), c(1, 2, 15, 30)], 3)
#'
#' # histograms: hair colours by eye colour
#' kernel_matrix(k_bag("jensen_shannon", beta = 2), t(HairEyeColor[, , "Female"]))
#' kernel_matrix(k_bag("dirichlet", prior = 1), t(HairEyeColor[, , "Female"]))
k_bag <- function(type = c("igv", "bhattacharyya", "mean_map", "jensen_shannon", "entropy", "parzen", "laplace",
                           "dirichlet", "integral", "interval"),
                  kernel = NULL, eta = 0.01, beta = 1, width = 1,
                  family = c("gaussian", "diagonal", "exponential", "multinomial"), masses = FALSE, prior = 0.5,
                  functions = NULL, weights = NULL, landmarks = NULL, reference = NULL, reference_share = 0,
                  levels = NULL, n_draws = 2000, normalize = TRUE, variance = 1, columns = NULL, fixed = NULL, ...) {
  refuse_dots(...)
  type <- check_choice(type, c("igv", "bhattacharyya", "mean_map", "jensen_shannon", "entropy", "parzen", "laplace",
                               "dirichlet", "integral", "interval"))
  family <- check_choice(family, c("gaussian", "diagonal", "exponential", "multinomial"))
  eta <- check_number(eta, lower = 0)
  beta <- check_number(beta, lower = 0, strict_lower = TRUE)
  masses <- check_flag(masses)
  normalize <- check_flag(normalize)
  if (!is.null(kernel)) kernel <- check_point_kernel(kernel, type)
  if (!is.null(kernel) && eta == 0 && type != "mean_map") {
    abort_input("`eta` must be above 0 with a `kernel`: covariances in its feature space are singular.", "eta")
  }
  landmarks <- check_matrix(landmarks, allow_null = TRUE)
  if (!is.null(landmarks) &&
      is.null(kernel)) abort_input("`landmarks` are for a `kernel`: its values at them are the features.", "landmarks")
  if (!is.null(functions) && type != "integral") abort_input("`functions` are for the type \"integral\".", "functions")
  if (type == "integral" && (!is.list(functions) || length(functions) == 0L ||
                             !all(vapply(functions, is.function, NA)))) {
    fail_input("functions", "a list of functions of a matrix of points", describe(functions))
  }
  prior <- check_bag_prior(prior)
  size <- if (type == "integral") length(functions) else nrow(prior)
  weights <- if (is.null(weights)) rep(1, size) else check_vector(weights, length = size, lower = 0,
                                                                  strict_lower = TRUE)
  reference_share <- check_number(reference_share, lower = 0, upper = 1, strict_upper = TRUE)
  reference <- check_matrix(reference, allow_null = TRUE)
  if (is.null(reference) != (reference_share == 0)) {
    abort_input("`reference` and a `reference_share` above 0 belong together.", "reference")
  }
  if (!is.null(reference) && (type != "igv" || (!is.null(kernel) && is.null(landmarks)))) {
    abort_input("`reference` is for the type \"igv\" without `kernel`, or with `landmarks`.", "reference")
  }
  if (!is.null(levels) && (!is.character(levels) || anyNA(levels) || anyDuplicated(levels))) {
    fail_input("levels", "the names of the cells, each once (or NULL)", describe(levels))
  }
  options <- list(
    type = type, kernel = kernel, eta = eta, beta = beta, landmarks = landmarks, family = family, masses = masses,
        prior = prior,
    prior_weights = if (type == "dirichlet") weights, levels = as.character(levels),
        bandwidth = check_number(width, lower = 0, strict_lower = TRUE),
    n_draws = check_count(n_draws, lower = 10), seed = if (type == "parzen") core_seed(),
        function_weights = if (type == "integral") weights,
    reference = reference, reference_share = reference_share, normalize = normalize
  )
  whole <- family %in% c("gaussian", "diagonal") && !masses && abs(2 * beta - round(2 * beta)) < 1e-12
  psd <- type != "laplace" || whole || (family == "multinomial" && !masses)
  if (!psd) {
    warn_input("The type \"laplace\" is not always positive semidefinite with this family, `beta` and `masses`.")
  }
  leaf <- new_object_kernel("bag", options, variance = variance, normalize = FALSE, columns = columns, fixed = fixed,
                            psd = psd)
  leaf$functions <- functions
  leaf
}

check_point_kernel <- function(kernel, type, arg = "kernel") {
  kernel <- as_kernel(kernel, arg)
  if (has_objects(kernel)) fail_input(arg, "a kernel over points", "one over objects")
  if (has_user_code(kernel)) {
    abort_input("`kernel` must be one of the package's own: a function of yours cannot run on several threads.", arg)
  }
  if (!type %in% c("igv", "bhattacharyya",
                   "mean_map")) abort_input("`kernel` is for the types \"igv\", \"bhattacharyya\" and \"mean_map\".",
                                            arg)
  prepare_kernel(kernel, kernel_dimension(kernel), arg)
}

check_bag_prior <- function(prior) {
  prior <- if (is.matrix(prior)) check_matrix(prior) else matrix(check_vector(prior, "prior"), 1L)
  if (any(prior <= 0)) abort_input("Every element of `prior` must be above 0.", "prior")
  unname(prior)
}

is_histogram_type <- function(kernel) {
  o <- kernel$options
  o$type %in% c("jensen_shannon", "entropy", "dirichlet") || (o$type == "laplace" && o$family == "multinomial")
}

objects_of_bag <- function(x, arg, kernel) {
  if (is_histogram_type(kernel)) return(read_histograms(x, arg))
  if (!is.list(x) || is.data.frame(x)) {
    fail_input(arg, "a list of bags, each a matrix with one point per row", describe(x),
               "See bags() for long data with an id.")
  }
  objects <- lapply(seq_along(x), function(i) read_bag(x[[i]], sprintf("%s[[%d]]", arg, i)))
  columns <- vapply(objects, function(bag) ncol(bag$x), 0L)
  if (any(columns != columns[1L])) {
    at <- which(columns != columns[1L])[1L]
    abort_input(sprintf("All bags of `%s` must have the same coordinates, but the first has %d and bag %d has %d.", arg,
                        columns[1L], at, columns[at]), arg)
  }
  objects <- align_bags(objects, arg)
  if (kernel$options$type == "integral") return(lapply(objects, integrate_bag, functions = kernel$functions))
  lapply(objects, function(bag) list(x = unname(bag$x), weights = bag$weights))
}

read_bag <- function(bag, arg) {
  weights <- attr(bag, "weights", exact = TRUE)
  attr(bag, "weights") <- NULL
  if (is.null(bag) || NROW(bag) == 0L) {
    abort_input(sprintf("`%s` has no members: a bag needs one point at least.\nRemove it.", arg), arg)
  }
  if (is_plain_numeric(bag) && is.null(dim(bag))) bag <- matrix(as.double(bag), ncol = 1L)
  bag <- check_matrix(bag, arg)
  weights <- if (is.null(weights)) rep(1, nrow(bag)) else check_vector(weights, sprintf("attr(%s, \"weights\")", arg),
      length = nrow(bag), lower = 0)
  if (sum(weights) == 0) abort_input(sprintf("The weights of `%s` are all zero: it has no members.", arg), arg)
  list(x = bag, weights = as.double(weights))
}

# Coordinates of points by name, where all bags have names.
align_bags <- function(objects, arg) {
  first <- colnames(objects[[1L]]$x)
  if (is.null(first)) return(objects)
  lapply(seq_along(objects), function(i) {
    names <- colnames(objects[[i]]$x)
    if (is.null(names) || identical(names, first)) return(objects[[i]])
    if (!setequal(names, first)) {
      abort_input(sprintf("All bags of `%s` must have the same coordinates, but bag %d lacks \"%s\".", arg, i,
                          c(setdiff(first, names), "?")[1L]), arg)
    }
    objects[[i]]$x <- objects[[i]]$x[, first, drop = FALSE]
    objects[[i]]
  })
}

integrate_bag <- function(bag, functions) {
  sums <- vapply(seq_along(functions), function(r) {
    value <- user_value(functions[[r]], sprintf("functions[[%d]]", r), bag$x)
    if (!is.numeric(value) || length(value) != nrow(bag$x) || anyNA(value)) {
      fail_input(sprintf("functions[[%d]]", r), "a function that returns one number for each point", describe(value))
    }
    sum(bag$weights * value)
  }, 0)
  list(weights = sums)
}

read_histograms <- function(x, arg) {
  if (is.matrix(x)) {
    labels <- colnames(x)
    x <- check_matrix(unclass(x), arg)
    x <- lapply(seq_len(nrow(x)), function(i) stats::setNames(x[i, ], labels))
  }
  if (!is.list(x) || is.data.frame(x)) {
    fail_input(arg, "a matrix of counts with a bag in each row, or a list of counts or of things to count", describe(x),
               if (is.character(x)) "Split texts with string_tokens(x, \"word\").")
  }
  lapply(seq_along(x), function(i) {
    counts <- x[[i]]
    what <- sprintf("%s[[%d]]", arg, i)
    if (is.character(counts) || is.factor(counts)) {
      if (anyNA(counts)) abort_input(sprintf("`%s` must have no missing values.", what), arg)
      if (length(counts) == 0L) abort_input(sprintf("`%s` has no members.", what), arg)
      counts <- table(counts)
    }
    if (length(counts) == 0L) abort_input(sprintf("`%s` has no members.", what), arg)
    if (length(dim(counts)) == 1L) counts <- stats::setNames(as.vector(counts), names(counts))
    values <- check_vector(counts, what, lower = 0)
    if (anyDuplicated(names(values))) abort_input(sprintf("`%s` has two counts of \"%s\".", what,
                                                          names(values)[anyDuplicated(names(values))]), arg)
    list(weights = as.double(values), names = as.character(names(values)))
  })
}

describe_kernel_bag <- function(kernel) {
  o <- kernel$options
  parts <- switch(o$type, igv = , bhattacharyya = c(if (!is.null(o$kernel)) paste("kernel", format(o$kernel)),
                                                    paste("eta", format(o$eta))),
                  mean_map = c(if (!is.null(o$kernel)) paste("kernel", format(o$kernel)),
                               paste("beta", format(o$beta))),
                  jensen_shannon = paste("beta", format(o$beta)),
                      parzen = c(paste("width", format(o$bandwidth)), paste("beta", format(o$beta))),
                  laplace = c(o$family, if (o$masses) "masses" else paste("beta", format(o$beta))),
                  dirichlet = paste("prior", if (length(o$prior) == 1L) format(o$prior[1L]) else paste(dim(o$prior),
                      collapse = " x ")),
                  integral = paste(length(kernel$functions), "functions"))
  paste(c(gsub("_", " ", o$type), parts), collapse = ", ")
}

#' @rdname k_bag
#' @export
bags <- function(x, id, weights = NULL, size = NULL, ...) {
  refuse_dots(...)
  if (missing(x)) fail_missing("x")
  if (missing(id)) fail_missing("id")
  if (is_plain_numeric(x) && is.null(dim(x))) x <- matrix(x, ncol = 1L)
  x <- check_matrix(x)
  if (!is.atomic(id) || length(id) != nrow(x)) fail_input("id",
                                                          sprintf("one value for each of the %d rows of `x`", nrow(x)),
                                                              describe(id))
  if (anyNA(id)) abort_input(sprintf("`id` must have no missing values, but element %d is NA.", which(is.na(id))[1L]),
                             "id")
  if (!is.null(weights)) weights <- check_vector(weights, length = nrow(x), lower = 0)
  size <- check_count(size, allow_null = TRUE)
  if (is.factor(id)) {
    empty <- levels(id)[!levels(id) %in% id]
    if (length(empty) > 0L) {
      text <- "`id` has the level \"%s\" without rows: a bag without members.\nUse droplevels()."
      abort_input(sprintf(text, empty[1L]), "id")
    }
  }
  rows <- split(seq_len(nrow(x)), factor(id, if (is.factor(id)) levels(id) else unique(id)))
  lapply(rows, function(i) {
    if (!is.null(size) && length(i) > size) i <- sort(i[sample.int(length(i), size)])
    bag <- x[i, , drop = FALSE]
    if (!is.null(weights)) attr(bag, "weights") <- unname(weights[i])
    bag
  })
}
