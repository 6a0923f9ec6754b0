#' Latent variable models by their moments
#'
#' Fits topic models, mixtures of Gaussians, latent classes, hidden Markov models and independent components from second and third (fourth) moments, in a few passes over the data and
#' without local optima: the moments are whitened to a small symmetric tensor whose orthogonal decomposition ([tensor_decompose()]) gives the parameters.
#'
#' @details
#' Every model here has moments of the form
#' \deqn{M_2 = \sum_i s_i \, \mu_i \mu_i', \quad M_3 = \sum_i t_i \, \mu_i \otimes \mu_i \otimes \mu_i.}{M2 = sum_i s_i mu_i mu_i', M3 = sum_i t_i mu_i (x) mu_i (x) mu_i.}
#' With \eqn{W'M_2W = I}{W'M2 W = I} the tensor \eqn{M_3(W, W, W)}{M3(W, W, W)} of size \eqn{k^3} is orthogonal with \eqn{\lambda_i = t_i s_i^{-3/2}}{lambda_i = t_i / s_i^1.5}, and
#' \eqn{\mu_i}{mu_i} and \eqn{s_i}{s_i} follow. For documents nothing of the size of the squared vocabulary is formed.
#'
#' * `"topic"`: each document has one topic, \eqn{s_i = t_i = w_i}{s_i = t_i = w_i}. `"lda"`: latent Dirichlet allocation with known \eqn{\alpha_0 = \sum \alpha_i}{alpha0 = sum alpha_i}.
#' * `"gmm"`: spherical Gaussians of one variance; `"gmm_hetero"`: each of its own. Means must be linearly independent, so \eqn{k \le d}{k <= d}.
#' * `"product"`: Gaussians with diagonal covariances, columns split at random in three views (`rotate = TRUE`: rows of spherical Gaussians
#'   are rotated at random first). `"latent_class"`: items with categories, split likewise.
#' * `"multiview"`: three given views that are independent given the component. The polish, `predict()` and `logLik()` take columns to be Gaussian and independent given it.
#' * `"hmm"`: hidden Markov model; the views are three observations in a row. Numbers are Gaussian with diagonal covariances, words or factors categorical.
#' * `"ica"`: independent components from fourth moments; `noise = TRUE` allows for Gaussian noise of any covariance and gives columns of length one.
#'
#' Moment estimates are consistent but not efficient. `polish` lets so many steps of EM go on from them (for `"lda"` variational EM that also fits \eqn{\alpha}{alpha}); what that gains in
#' log-likelihood is in `gain`. For `"lda"` all log-likelihoods are lower bounds. Estimates as the moments give them stay in `raw`; probabilities are clipped at zero and scaled to sum 1.
#' Variances of single columns that the moments give as zero or less are lifted to a millionth of the column's variance; a warning says how many, and `lifted` holds the number.
#'
#' The \eqn{\alpha}{alpha} of a long polish of `"lda"` comes out too small, because the bound itself is highest below the truth: with the true topics of four, 100 words,
#' 20000 documents and \eqn{\sum \alpha = 1}{sum alpha = 1} at about 0.6, 0.7 and 0.8 for documents of 8, 20 and 100 words. 100 steps on 1000 documents ended at 0.63, 0.68 and 0.69 (means of
#' three seeds). And there is overfitting on short documents: of 8 words, perplexity went from 67.1 after 5 steps to 66.8 after 100 on the documents at hand, but only from 70.14 to 70.12
#' on others. Where \eqn{\alpha}{alpha} matters, keep `alpha0`; choose `polish` by `assess(newdata = )`.
#'
#' With `n_rep` the error of the whitened tensor is judged by the bootstrap (of rows, documents or sequences; of stretches of a few long sequences): `tensor_error` holds, for each sample,
#' a lower bound of the operator norm of the difference from the tensor at hand, found by power steps; it is infinite where a sample does not allow `k` components.
#' `spectral_mixture_bounds("perturbation", lambda = fit$values, error = median(fit$tensor_error))` says what the paper's Theorem 5.1 makes of it.
#'
#' An eigenvalue of \eqn{M_2}{M2} that is not positive shows that `k` is above what the moments allow: it is an error that names the eigenvalue.
#' `plot(type = "scree")` draws the eigenvalues.
#'
#' @section Which method when:
#' `spectral_mixture()` for many rows, as a start for EM that needs no restarts, and for large collections of documents (`x` may be [data_chunks()], which are read several times and
#' never held). With few rows or strongly overlapping components third moments are noisy: use [em_fit()], or `polish`. How many components: [em_select()], [dp_mixture()].
#' Decomposition: `"joint"` copes best with noise, `"power"` is the paper's.
#'
#' @param x Counts of words, one row per document (matrix, sparse matrix, document-term matrix of tm or quanteda, or [data_chunks()]); numbers for Gaussian models and `"ica"`; factors or words for
#'   `"latent_class"`; a list of sequences, or rows with `id`, for `"hmm"`; for `"multiview"` a matrix with `views`, or a list of three matrices.
#' @param k Number of components.
#' @param model Kind of model.
#' @param alpha0 For `"lda"`: sum of the Dirichlet parameters. Small values say that a document has few topics.
#' @param method Algorithm of the decomposition, see [tensor_decompose()]. For `"ica"` without noise `"power"` or `"joint"`.
#' @param views For `"multiview"`: 1, 2 or 3 for each column.
#' @param id For `"hmm"` with rows in one table: the sequence of each row.
#' @param noise For `"ica"`: Gaussian noise is added to the sources.
#' @param rotate For `"product"`: rotate the rows at random before the split (spherical Gaussians).
#' @param polish Steps of EM from the moment estimates, at most; 0 for none.
#' @param smooth For documents with `polish`: count added to every word of every topic.
#' @param passes For documents: passes over the data for the second moments, at most.
#' @param n_splits For `"product"` and `"latent_class"`: random splits in views, of which the one is taken whose worst conditioned pair of views is best.
#' @param n_rep Bootstrap samples for the error of the tensor; 0 for none. Not for `"ica"`, nor for documents in chunks.
#' @param n_starts,tol,max_iter Of the decomposition, see [tensor_decompose()].
#' @param threads Threads; `NULL` for the option `granary.threads`.
#' @return An object of class `granary_spectral_mixture`: `share` (of the components; `alpha` for `"lda"`), `means` (topics, means or probabilities, one row per component), `noise_var`, `covariance`,
#'   `transition` and `initial`, `mixing`, `unmixing` and `kurtosis`, `raw`, `table` (checks of the tensor's components), `residual`, `tensor_error`, `lifted`, `eigenvalues` of the second moments, `moments`
#'   (`whiten`, `unwhiten`, `tensor`, `mean`), `loglik`, `gain`, `objective` (course of the polish), `convergence`.
#' @references Anandkumar, Ge, Hsu, Kakade and Telgarsky (2014). Tensor decompositions for learning latent variable models. *Journal of Machine Learning Research* 15, 2773--2832.
#' @seealso [tensor_decompose()], [sim_spectral_mixture()], [spectral_mixture_bounds()], [em_fit()].
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_spectral_mixture(1000, model = "lda", k = 3, d = 30, alpha = 0.3, length = 50)
#' fit <- spectral_mixture(sim$x, k = 3, model = "lda", alpha0 = 0.9)
#' fit
#' assess(fit, truth = sim$means)
#' plot(fit)
spectral_mixture <- function(x, k, model = c("topic", "lda", "gmm", "gmm_hetero", "product", "latent_class", "multiview", "hmm", "ica"), alpha0 = 1,
                             method = c("power", "power_stop", "joint", "jennrich", "svd", "ball"), views = NULL, id = NULL, noise = FALSE, rotate = FALSE,
                             polish = 0, smooth = 0.01, passes = 30, n_splits = 5, n_starts = 0, n_rep = 0, tol = 1e-12, max_iter = 100, threads = NULL) {
  call <- match.call()
  if (missing(x)) fail_missing("x")
  if (missing(k)) fail_missing("k")
  model <- check_choice(model, spectral_models)
  k <- check_count(k)
  options <- list(model = model, k = k, alpha0 = check_number(alpha0, lower = 0, strict_lower = TRUE), noise = check_flag(noise), rotate = check_flag(rotate),
                  n_splits = check_count(n_splits), passes = check_count(passes), tensor = tensor_options(method, n_starts, tol, max_iter), n_rep = check_count(n_rep, lower = 0),
                  polish = check_count(polish, lower = 0), smooth = check_number(smooth, lower = 0, strict_lower = TRUE), threads = thread_count(threads))
  check_only(!is.null(views), model == "multiview" , "views", "multiview")
  check_only(!is.null(id), model == "hmm", "id", "hmm")
  check_only(noise, model == "ica", "noise", "ica")
  check_only(rotate, model == "product", "rotate", "product")
  if (model == "ica" && polish > 0) abort_input("`polish` must be 0 for \"ica\": it has no likelihood to climb.", "polish")
  if (model == "ica" && n_rep > 0) abort_input("`n_rep` must be 0 for \"ica\": the bootstrap is of third moments, and it has fourth ones.", "n_rep")
  if (n_rep > 0 && inherits(x, "granary_chunks")) abort_input("`n_rep` must be 0 for chunks: documents are drawn again, so they must be held in memory.", "n_rep")
  if (model == "ica" && !noise && !options$tensor$method %in% c("power", "joint")) abort_input("`method` must be \"power\" or \"joint\" for fourth moments.", "method")
  if (model %in% c("topic", "lda")) return(spectral_topics(x, options, call))
  data <- spectral_data(x, options, views, id)
  found <- core_spectral_rows(data$core, as.double(data$views), options, core_seed(), progress_bar("moments"))
  fit <- new_spectral(found, options, data$names, call, data = data)
  spectral_warnings(fit)
}

spectral_models <- c("topic", "lda", "gmm", "gmm_hetero", "product", "latent_class", "multiview", "hmm", "ica")

check_only <- function(given, right, arg, model) {
  if (given && !right) abort_input(sprintf("`%s` is for model = \"%s\".", arg, model), arg)
}

spectral_topics <- function(x, options, call) {
  stream <- inherits(x, "granary_chunks")
  docs <- if (stream) document_stream(x) else document_matrix(x)
  if (!stream) check_documents(docs, options$k)
  words <- docs$words
  if (options$k > length(words)) abort_input(sprintf("`k` must be at most the number of words, %d, not %d.", length(words), options$k), "k")
  options$stream <- stream
  found <- core_spectral_topics(if (stream) docs$read else docs$core, length(words), options, core_seed(), progress_bar("moments"))
  brief <- found$rows - found$rows3
  if (brief > 0) {
    cli::cli_inform("{brief} document{?s} of fewer than three words {?is/are} left out of the third moments.")
  }
  fit <- new_spectral(found, options, words, call, lengths = if (!stream) Matrix::colSums(docs$core))
  spectral_warnings(fit)
}

# Documents as the core wants them, words x documents, of whole counts.
document_matrix <- function(x, arg = "x", words = NULL) {
  if (inherits(x, "simple_triplet_matrix")) {
    x <- Matrix::sparseMatrix(i = x$i, j = x$j, x = as.double(x$v), dims = c(x$nrow, x$ncol), dimnames = x$dimnames)
  } else if (methods::is(x, "dgCMatrix") && class(x)[1L] != "dgCMatrix") {
    x <- methods::as(x, "dgCMatrix")
  }
  x <- check_matrix(x, arg, allow_sparse = TRUE)
  check_names_unique(colnames(x), arg)
  if (!is.null(words)) x <- new_design(x, words, arg = arg)
  if (!isS4(x)) x <- methods::as(methods::as(methods::as(x, "dMatrix"), "generalMatrix"), "CsparseMatrix")
  check_counts(x, arg)
  list(core = Matrix::t(x), words = variable_names(colnames(x), ncol(x)), labels = rownames(x))
}

check_documents <- function(docs, k) {
  if (ncol(docs$core) < 2L) abort_input("`x` must have at least two documents, but it has one: moments are averages over documents.", "x")
  if (length(docs$core@x) == 0L || all(docs$core@x == 0)) abort_input("`x` has no words: all counts are zero, so the vocabulary is empty.", "x")
  invisible(docs)
}

# A function that gives the next piece, NULL at the end, and then begins again.
document_stream <- function(source) {
  if (is.null(source$rewind)) abort_input(sprintf("The documents are read several times, but %s can be read once only. Use a file, data in memory, or a function that starts again.", source$kind), "x")
  source$rewind()
  first <- source$read()
  if (is.null(first)) abort_input(sprintf("`x` gives no documents: %s is empty.", source$kind), "x")
  words <- document_matrix(first$x)$words
  named <- !is.null(colnames(first$x))
  source$rewind()
  read <- function() {
    piece <- source$read()
    if (is.null(piece)) {
      source$rewind()
      return(NULL)
    }
    document_matrix(piece$x, words = if (named) words)$core
  }
  list(read = read, words = words)
}

# Rows for the other models: core (x, levels, begin, weights), views, names of the columns.
spectral_data <- function(x, options, views, id) {
  model <- options$model
  if (inherits(x, "granary_chunks")) abort_input(sprintf("`x` must be held in memory for \"%s\": chunks are for documents.", model), "x")
  if (model == "multiview" && is.list(x) && !is.data.frame(x)) {
    if (!is.null(views)) abort_input("`views` is for views in one matrix; a list of three says itself which columns belong together.", "views")
    if (length(x) != 3L) fail_input("x", "a list of three views", sprintf("a list of %d", length(x)))
    parts <- lapply(1:3, function(v) as.matrix(check_rows(x[[v]], sprintf("x[[%d]]", v))))
    rows <- vapply(parts, nrow, 0L)
    if (any(rows != rows[1L])) abort_input(sprintf("The three views must have the same rows, but they have %s.", paste(rows, collapse = ", ")), "x")
    views <- rep(1:3, vapply(parts, ncol, 0L))
    names <- unlist(lapply(1:3, function(v) if (is.null(colnames(parts[[v]]))) paste0("view", v, ".", seq_len(ncol(parts[[v]]))) else colnames(parts[[v]])))
    x <- structure(do.call(cbind, lapply(parts, unname)), dimnames = list(rownames(parts[[1L]]), make.unique(names)))
  }
  worded <- function(v) is.factor(v) || is.character(v) || (is.data.frame(v) && length(v) > 0L && !any(vapply(v, is.numeric, NA)))
  sequences <- model == "hmm"
  family <- if (model == "latent_class") "categorical" else "gaussian"
  if (sequences) {
    listed <- is.list(x) && !is.data.frame(x)
    if (listed && length(x) == 0L) fail_input("x", "a list with at least one sequence", "an empty list")
    if (!listed && is.null(id)) id <- rep(1L, NROW(x))
    if (worded(if (listed) x[[1L]] else x)) family <- "categorical"
  }
  data <- em_data(x, id, family, NULL)
  if (family == "categorical" && any(data$rows == 0)) {
    abort_input(sprintf("`x` must have no missing values for moments, but row %d has one. Leave such rows out, or use em_fit().", which(rowSums(data$rows == 0) > 0)[1L]), "x")
  }
  names <- spectral_columns(data, family)
  n <- nrow(data$rows)
  if (n < 2L) abort_input("`x` must have at least two rows: moments are averages.", "x")
  if (options$k > length(names)) abort_input(sprintf("`k` must be at most the number of columns, %d, not %d.", length(names), options$k), "k")
  if (model == "multiview") {
    views <- check_vector(views, "views", length = length(names), lower = 1, upper = 3)
    if (any(views != round(views))) fail_input("views", "1, 2 or 3 for each column", describe(views))
    few <- tabulate(views, 3L)
    if (any(few < options$k)) abort_input(sprintf("Each of the three views must have at least `k` = %d columns, but they have %s.", options$k, paste(few, collapse = ", ")), "views")
  }
  c(data, list(views = if (is.null(views)) numeric() else views, names = names, family = family))
}

spectral_columns <- function(data, family) {
  if (family != "categorical") return(variable_names(colnames(data$rows), ncol(data$rows)))
  unlist(lapply(names(data$items), function(item) paste0(item, "=", data$items[[item]])))
}

new_spectral <- function(found, options, names, call, data = NULL, lengths = NULL) {
  k <- options$k
  model <- options$model
  states <- as.character(seq_len(k))
  labelled <- function(m) if (length(m) > 0L) structure(m, dimnames = list(states, names))
  p <- found$parameters
  ica <- model == "ica"
  part <- function(m) if (length(m) > 0L) m
  gaussian <- length(p$gaussian$covariance) > 0L
  new_fit(
    "spectral_mixture", model = model, k = k, share = if (!ica) stats::setNames(if (model == "lda") found$weight / sum(found$weight) else found$weight, states),
    alpha = if (model == "lda") stats::setNames(found$weight, states), means = labelled(found$means), noise_var = if (length(found$noise_var) > 0L) stats::setNames(found$noise_var, states),
    covariance = if (gaussian) stats::setNames(lapply(p$gaussian$covariance, function(s) structure(s, dimnames = list(names, names))), states),
    transition = if (length(p$transition) > 0L) structure(p$transition, dimnames = list(from = states, to = states)),
    initial = if (length(p$transition) > 0L) stats::setNames(p$share, states),
    mixing = if (ica) structure(found$mixing, dimnames = list(names, states)), unmixing = if (ica) structure(found$unmixing, dimnames = list(states, names)),
    kurtosis = if (ica) stats::setNames(found$kurtosis, states), noise = options$noise,
    raw = list(weight = found$raw_weight, means = labelled(found$raw_means)), table = tensor_table(found$tensor), residual = found$tensor$residual,
    tensor_error = part(found$tensor_error), lifted = found$lifted, coherence = found$tensor$coherence,
    column_coherence = if (model %in% c("product", "latent_class")) found$coherence, views = part(found$views), eigenvalues = found$eigenvalues,
    moments = list(whiten = part(found$whiten), unwhiten = part(found$unwhiten), mean = found$mean,
                   tensor = if (length(found$moments) > 0L) array(found$moments, c(k, k, k))),
    vectors = found$tensor$vectors, values = found$tensor$values, method = options$tensor$method, alpha0 = if (model == "lda") options$alpha0, parameters = p, items = data$items,
    ids = data$ids, lengths = if (is.null(data$ids)) lengths else diff(data$core$begin), loglik = found$loglik, loglik_before = found$loglik_before, gain = found$loglik - found$loglik_before,
    words = found$words, objective = part(found$objective), polish = if (options$polish > 0L) found$polish, n = found_rows(found, data),
    used = c(second = found$rows2, third = found$rows3), df = spectral_df(model, k, data, names), names = names, call = call, convergence = found$convergence
  )
}

found_rows <- function(found, data) if (is.null(data)) found$rows else nrow(data$rows)

spectral_df <- function(model, k, data, names) {
  d <- length(names)
  free <- if (is.null(data$items)) d else d - length(data$items)
  switch(model, topic = k - 1 + k * (d - 1), lda = k + k * (d - 1), gmm = k - 1 + k * d + 1, gmm_hetero = k - 1 + k * d + k, product = , multiview = k - 1 + 2 * k * d,
         latent_class = k - 1 + k * free, hmm = k - 1 + k * (k - 1) + k * (if (is.null(data$items)) 2 * d else free), ica = NA_real_)
}

spectral_warnings <- function(fit) {
  if (!fit$model %in% c("lda", "ica")) {
    total <- sum(fit$raw$weight)
    if (abs(total - 1) > 0.2) {
      warn_input(sprintf("The weights that the moments give have sum %s and not 1, so they were scaled: the moments are noisy, or the model or `k` does not fit. See `raw`.", format(total, digits = 3L)))
    }
  }
  if (fit$lifted > 0L) {
    warn_input(sprintf("The moments give %s that %s not positive, lifted to a millionth of the column's: the model or `k` does not fit, or the rows are few. A `polish` mends variances.",
                       counted(fit$lifted, "variance", "variances"), if (fit$lifted == 1L) "is" else "are"))
  }
  if (fit$model == "ica" && sum(abs(fit$kurtosis) < 4 * sqrt(24 / fit$n)) > 1L && !isTRUE(fit$noise)) {
    warn_input("Two or more sources look Gaussian (kurtosis near 0): their directions cannot be told from fourth moments.")
  }
  if (fit$model == "hmm" && rcond(fit$transition) < 1e-8) {
    warn_input("The transition matrix is nearly singular: the states cannot be told by what follows them, and the estimates may be far off. Use a smaller `k`, or em_fit().")
  }
  check_convergence(fit, "Use method = \"joint\", more `n_starts` or `passes`, or a smaller `k`.")
}
