#' Label sequences as a structured output
#'
#' Describes a problem of tagging or segmentation for [structured_svm()] and its relatives: every element of a sequence of inputs gets a label, and
#' neighbouring labels depend on each other.
#'
#' @details
#' With \eqn{\phi(x^t)}{phi(x^t)} the features at position \eqn{t}, the score of a labelling is
#' \deqn{F(x, y) = \sum_t \langle w_{y^t}, \phi(x^t)\rangle + \eta \sum_t \hat w_{y^t y^{t+1}}}{F(x, y) = sum_t <w_(y^t), phi(x^t)> + eta sum_t
#'   w_(y^t, y^(t+1))}
#' and, where asked for, weights for triples of labels (`order = 2`), for pairs of labels by the features at the first of the two positions
#' (`input_transitions`) and for the first label (`start`). Predictions are the best sequence, by the Viterbi algorithm.
#'
#' **Loss.** `"hamming"` counts wrong labels, `"zero_one"` asks for the whole sequence. For slack rescaling, and for squared slacks, the search for
#' the most violated labelling runs over the number of errors: \eqn{O(T^2 K^2)} for \eqn{K} labels instead of \eqn{O(T K^2)}.
#'
#' **Inputs.** Symbols (text, factors) become one indicator each; numbers are taken as they are; in data frames each column is treated by its type.
#' Symbols that were not there in training get no features in prediction, with a warning. With `window = r` the features of the `r` positions on
#' either
#' side are features too (nothing beyond the ends).
#'
#' @section Which method when:
#' [structured_svm()] to train for a loss; [structured_baseline()] for probabilities of labels, when
#' speed is all, or for a hidden Markov model, when training sequences are very few or incomplete tagging is cheap.
#'
#' @param x A list with one sequence per element: a vector of symbols or numbers, or a matrix, sparse matrix or data frame with one position per row.
#'   Or all positions of all sequences in one such object, together with `group`.
#' @param y Labels: a list of vectors or factors as long as the sequences; with `group`, one vector.
#' @param group `NULL`, or which sequence each position belongs to. Positions of a sequence stay in the order of the rows.
#' @param window Number of positions on either side whose features are used too.
#' @param loss `"hamming"` or `"zero_one"`.
#' @param transition_scale The factor \eqn{\eta \ge 0}{eta >= 0} of label-label features.
#' @param order 1 for pairs of neighbouring labels, 2 for triples too.
#' @param input_transitions Weights for pairs of labels by input features?
#' @param start Weights for the label of the first position?
#' @param kernel `NULL`, or a kernel (see [kernels]) between the features of positions.
#' @param intercept Add a constant feature, that is a weight per label?
#' @param ... Nothing: an argument that is not known is an error.
#' @return An object of class `granary_output_chain`.
#' @references
#' Tsochantaridis, Joachims, Hofmann and Altun (2005). Large margin methods for structured and interdependent output variables.
#' *Journal of Machine Learning Research* 6, 1453--1484.
#'
#' Altun, Tsochantaridis and Hofmann (2003). Hidden Markov support vector machines. *International Conference on Machine Learning*.
#' @seealso [structured_svm()], [structured_baseline()], [structured_bounds()], [output_multiclass()], [output_align()], [output_cfg()]
#' @export
#' @examples
#' words <- strsplit(c("the dog saw a cat", "a cat ran", "the old dog ran", "a man saw the dog"), " ")
#' tags <- strsplit(c("D N V D N", "D N V", "D A N V", "D N V D N"), " ")
#' problem <- output_chain(words, tags)
#' fit <- structured_svm(problem, cost = 10)
#' predict(fit, strsplit("the man saw a old cat", " "))
#' round(coef(fit)$transition, 2)
output_chain <- function(x, y, group = NULL, window = 0, loss = c("hamming", "zero_one"), transition_scale = 1, order = 1,
                         input_transitions = FALSE, start = FALSE, kernel = NULL, intercept = TRUE, ...) {
  refuse_dots(...)
  call <- match.call()
  window <- check_count(window, lower = 0, upper = 1000)
  loss <- check_choice(loss, c("hamming", "zero_one"))
  transition_scale <- check_number(transition_scale, lower = 0)
  order <- check_count(order, upper = 2)
  input_transitions <- check_flag(input_transitions)
  start <- check_flag(start)
  intercept <- check_flag(intercept)
  data <- sequence_tokens(x, group, "x")
  labels <- sequence_labels(y, data)
  encoder <- token_encoder(data$tokens)
  phi <- encode_tokens(data$tokens, encoder)
  phi <- add_window(phi, data$lengths, window)
  core <- list(x = NULL, gram = NULL, codes = as.integer(labels) - 1L, start = c(0L, cumsum(data$lengths)), labels = nlevels(labels),
               transition_scale = transition_scale, order = order, input_transitions = input_transitions, first = start, loss = loss)
  if (!is.null(kernel)) {
    if (input_transitions) abort_input("`kernel` and `input_transitions` cannot be combined: transitions have no kernel version.", "kernel")
    if (nrow(phi) > 2e4) {
      abort_input(sprintf("`kernel` needs the matrix of all %d positions, which is too large. Use fewer sequences.", nrow(phi)), "kernel")
    }
    phi <- as.matrix(phi)
    kernel <- prepare_kernel(kernel, ncol(phi))
    core$gram <- unname(kernel_matrix(kernel, phi)) + intercept
  } else {
    core$x <- if (intercept) add_constant(phi) else phi
  }
  new_output("chain", core, n = length(data$lengths), lengths = data$lengths, names = data$names, classes = levels(labels), encoder = encoder,
             features = colnames(phi), window = window, loss = loss, kernel = kernel, inputs = if (!is.null(kernel)) phi, intercept = intercept,
             call = call)
}

# All positions in one table with the lengths of the sequences: list(tokens = matrix, sparse matrix or data frame, lengths, names, order).
sequence_tokens <- function(x, group, arg) {
  if (missing(x)) fail_missing(arg)
  expected <- "a list of sequences (vectors, matrices or data frames), or one table of all positions with `group`"
  if (!is.null(group)) return(grouped_tokens(x, group, arg))
  if (!is.list(x) || is.data.frame(x) || is.object(x)) fail_input(arg, expected, describe(x))
  if (length(x) == 0L) abort_input(sprintf("`%s` must have at least one sequence.", arg), arg)
  tables <- lapply(seq_along(x), function(i) as_tokens(x[[i]], sprintf("%s[[%d]]", arg, i)))
  lengths <- vapply(tables, nrow, 0L)
  empty <- which(lengths == 0L)
  if (length(empty) > 0L) abort_input(sprintf("Every sequence in `%s` must have a position, but sequence %d has none.", arg, empty[1L]), arg)
  kinds <- vapply(tables, function(m) if (is.data.frame(m)) "table" else "matrix", "")
  if (length(unique(kinds)) > 1L) abort_input(sprintf("The sequences of `%s` must all be of one kind: symbols, or numbers.", arg), arg)
  columns <- vapply(tables, ncol, 0L)
  if (any(columns != columns[1L])) {
    at <- which(columns != columns[1L])[1L]
    abort_input(sprintf("Every sequence in `%s` must have the same features, but sequence 1 has %d and sequence %d has %d.", arg, columns[1L], at,
                        columns[at]), arg)
  }
  if (kinds[1L] == "table") {
    known <- names(tables[[1L]])
    same <- vapply(tables, function(m) identical(names(m), known), NA)
    if (!all(same)) abort_input(sprintf("Every sequence in `%s` must have the same columns, but sequence %d differs.", arg, which(!same)[1L]), arg)
  }
  list(tokens = do.call(rbind, tables), lengths = lengths, names = names(x), order = NULL)
}

grouped_tokens <- function(x, group, arg) {
  tokens <- as_tokens(x, arg)
  if (is.list(group) || !is.atomic(group) || length(group) != nrow(tokens)) {
    fail_input("group", paste("a vector with one element per position, of length", nrow(tokens)), describe(group))
  }
  if (anyNA(group)) abort_input("`group` must have no missing values.", "group")
  group <- factor(as.character(group), unique(as.character(group)))
  order <- order(group)
  list(tokens = tokens[order, , drop = FALSE], lengths = as.integer(table(group)), names = levels(group), order = order)
}

# One sequence as a table: a matrix of numbers, or a data frame.
as_tokens <- function(x, arg) {
  if (is.factor(x) || (is.character(x) && is.null(dim(x)))) {
    at <- which(is.na(x))
    if (length(at) > 0L) abort_input(sprintf("`%s` must have no missing values, but element %d is NA.", arg, at[1L]), arg)
    return(data.frame(symbol = as.character(x), stringsAsFactors = FALSE))
  }
  if (is_plain_numeric(x) && is.null(dim(x))) return(matrix(check_vector(x, arg, min_length = 0L), ncol = 1L, dimnames = list(NULL, "x")))
  if (is.data.frame(x)) {
    refuse_missing(x, arg)
    usable <- vapply(x, function(v) is.null(dim(v)) && (is.factor(v) || is.character(v) || is.logical(v) || is_plain_numeric(v)), NA)
    bad <- which(!usable)
    if (length(bad) > 0L) fail_input(arg, "made of numbers and symbols", sprintf("with %s in column %d", describe(x[[bad[1L]]]), bad[1L]))
    if (length(x) == 0L) abort_input(sprintf("`%s` must have at least one column.", arg), arg)
    symbols <- vapply(x, function(v) is.factor(v) || is.character(v), NA)
    x[symbols] <- lapply(x[symbols], as.character)
    for (name in names(x)[!symbols]) x[[name]] <- check_vector(as.double(x[[name]]), arg, min_length = 0L)
    return(as.data.frame(x, stringsAsFactors = FALSE))
  }
  m <- check_matrix(x, arg, min_rows = 0L, allow_sparse = TRUE)
  if (is.null(colnames(m))) dimnames(m) <- list(NULL, paste0("V", seq_len(ncol(m))))
  m
}

sequence_labels <- function(y, data) {
  if (missing(y)) fail_missing("y")
  if (is.null(data$order)) {
    if (!is.list(y) || is.data.frame(y)) fail_input("y", "a list with the labels of each sequence", describe(y))
    if (length(y) != length(data$lengths)) {
      abort_input(sprintf("`y` must have one element per sequence (%d), but it has %d.", length(data$lengths), length(y)), "y")
    }
    fine <- vapply(y, function(v) is.null(dim(v)) && (is.factor(v) || is.character(v) || is.logical(v) || is_plain_numeric(v)), NA)
    bad <- which(!fine)
    if (length(bad) > 0L) fail_input("y", "a list of vectors of labels", sprintf("with %s as element %d", describe(y[[bad[1L]]]), bad[1L]))
    off <- which(lengths(y) != data$lengths)
    if (length(off) > 0L) {
      abort_input(sprintf("Labels must be as many as positions, but sequence %d has %d labels for %d positions.", off[1L], length(y[[off[1L]]]),
                          data$lengths[off[1L]]), "y")
    }
    factors <- vapply(y, is.factor, NA)
    if (any(factors)) {
      known <- levels(y[[which(factors)[1L]]])
      same <- vapply(y, function(v) is.factor(v) && identical(levels(v), known), NA)
      if (!all(same)) {
        abort_input(sprintf("Factors in `y` must all have the same levels, but element %d differs from element %d.", which(!same)[1L],
                            which(factors)[1L]), "y")
      }
    }
    y <- unlist(lapply(y, as.character))
  } else {
    n <- sum(data$lengths)
    if (is.list(y) || !(is.atomic(y)) || !is.null(dim(y)) || length(y) != n) {
      fail_input("y", paste("a vector with one label per position, of length", n), describe(y))
    }
    y <- as.character(y)[data$order]
  }
  if (anyNA(y)) abort_input("`y` must have no missing labels.", "y")
  labels <- factor(y)
  if (nlevels(labels) < 2L) abort_input(sprintf("`y` must have at least two labels, but all are \"%s\".", levels(labels)), "y")
  labels
}

# How columns become features: numbers as they are, symbols as indicators.
token_encoder <- function(tokens) {
  if (!is.data.frame(tokens)) return(list(names = colnames(tokens), symbols = NULL))
  list(names = names(tokens), symbols = lapply(tokens, function(v) if (is.character(v)) sort(unique(v), method = "radix")))
}

encode_tokens <- function(tokens, encoder, arg = "newdata") {
  if (is.null(encoder$symbols)) {
    if (is.data.frame(tokens)) fail_input(arg, "made of numbers, as in training", "symbols")
    if (ncol(tokens) != length(encoder$names)) {
      abort_input(sprintf("`%s` must have the %d features of the fit, but it has %d.", arg, length(encoder$names), ncol(tokens)), arg)
    }
    if (all(encoder$names %in% colnames(tokens))) tokens <- tokens[, encoder$names, drop = FALSE]
    colnames(tokens) <- encoder$names
    return(tokens)
  }
  if (!is.data.frame(tokens) || !all(encoder$names %in% names(tokens))) {
    fail_input(arg, paste0("made of the columns of the fit (", first_few(encoder$names), ")"), "others")
  }
  unseen <- character()
  parts <- lapply(encoder$names, function(name) {
    known <- encoder$symbols[[name]]
    v <- tokens[[name]]
    if (is.null(known)) {
      if (is.character(v)) fail_input(arg, paste0("made of numbers in column \"", name, "\""), "symbols")
      return(Matrix::Matrix(as.double(v), ncol = 1L, sparse = TRUE, dimnames = list(NULL, name)))
    }
    at <- match(as.character(v), known)
    unseen <<- c(unseen, unique(as.character(v)[is.na(at)]))
    has <- which(!is.na(at))
    label <- if (length(encoder$names) == 1L && name == "symbol") known else paste0(name, "=", known)
    Matrix::sparseMatrix(i = has, j = at[has], x = rep(1, length(has)), dims = c(length(v), length(known)), dimnames = list(NULL, label))
  })
  if (length(unseen) > 0L) {
    warn_input(sprintf("%s in `%s` %s not there in training and %s no features: %s.", counted(length(unseen), "symbol", "symbols"), arg,
                       if (length(unseen) == 1L) "was" else "were", if (length(unseen) == 1L) "has" else "have", first_few(unseen)), arg)
  }
  methods::as(methods::as(do.call(cbind, parts), "generalMatrix"), "CsparseMatrix")
}

# Features of the positions around, with nothing beyond the ends of a sequence.
add_window <- function(phi, lengths, window) {
  if (window == 0L) return(phi)
  n <- nrow(phi)
  sequence <- rep(seq_along(lengths), lengths)
  shifted <- function(offset) {
    to <- seq_len(n)
    from <- to + offset
    inside <- from >= 1L & from <= n
    inside[inside] <- sequence[from[inside]] == sequence[to[inside]]
    if (isS4(phi)) {
      m <- Matrix::sparseMatrix(i = to[inside], j = from[inside], x = rep(1, sum(inside)), dims = c(n, n)) %*% phi
    } else {
      m <- matrix(0, n, ncol(phi))
      m[to[inside], ] <- phi[from[inside], ]
    }
    dimnames(m) <- list(NULL, paste0(colnames(phi), if (offset != 0) sprintf("[%+d]", offset)))
    m
  }
  out <- do.call(cbind, lapply(seq(-window, window), shifted))
  if (isS4(out)) methods::as(methods::as(out, "generalMatrix"), "CsparseMatrix") else out
}

#' @export
output_new.granary_output_chain <- function(problem, newdata, group = NULL, ...) {
  data <- sequence_tokens(newdata, group, "newdata")
  phi <- add_window(encode_tokens(data$tokens, problem$encoder), data$lengths, problem$window)
  core <- problem$core
  core$codes <- NULL
  core$gram <- NULL
  core$start <- c(0L, cumsum(data$lengths))
  core$x <- if (!is.null(problem$kernel)) {
    unname(kernel_matrix(problem$kernel, as.matrix(phi), problem$inputs)) + problem$intercept
  } else if (problem$intercept) {
    add_constant(phi)
  } else {
    phi
  }
  attr(core, "sequence_names") <- data$names
  attr(core, "order") <- data$order
  core
}

#' @export
output_decode.granary_output_chain <- function(problem, raw) {
  lapply(raw, function(codes) factor(problem$classes[codes + 1L], problem$classes))
}

#' @export
output_coef.granary_output_chain <- function(problem, weights) {
  k <- length(problem$classes)
  core <- problem$core
  names <- if (is.null(problem$kernel)) colnames(core$x) else rownames(problem$inputs)
  d <- if (is.null(problem$kernel)) ncol(core$x) else nrow(core$gram)
  position <- 0L
  take <- function(dim, dimnames = NULL) {
    position <<- position + prod(dim)
    array(weights[position - prod(dim) + seq_len(prod(dim))], dim, dimnames)
  }
  labels <- problem$classes
  shaped <- list(emission = t(take(c(k, d), list(labels, names))), transition = take(c(k, k), list(from = labels, to = labels)))
  if (core$order == 2L) shaped$triple <- take(c(k, k, k), list(labels, labels, labels))
  if (core$input_transitions) shaped$input_transition <- aperm(take(c(k, k, d), list(from = labels, to = labels, names)), c(3L, 1L, 2L))
  if (core$first) shaped$start <- stats::setNames(as.double(take(k)), labels)
  shaped
}

#' @export
output_describe.granary_output_chain <- function(problem) {
  extra <- c(if (problem$core$order == 2L) "triples of labels", if (problem$core$input_transitions) "transitions by input",
             if (problem$core$first) "first label")
  c(sequences = paste0(problem$n, ", of length ", paste(unique(range(problem$lengths)), collapse = " to ")),
    labels = paste0(length(problem$classes), " (", first_few(problem$classes), ")"),
    features = paste0(length(problem$features), if (!is.null(problem$kernel)) paste0(" in the kernel ", kernel_label(problem$kernel)),
                      if (problem$intercept) " and a constant"),
    also = if (length(extra) > 0L) paste(extra, collapse = ", "), loss = problem$loss)
}
