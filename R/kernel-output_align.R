#' Sequence alignment as a structured output
#'
#' Describes the problem of learning scores of substitutions and gaps, so that the relative of a sequence is told from decoys by its local
#' alignment; for
#' [structured_svm()] and [structured_baseline()].
#'
#' @details
#' An example is a native sequence, a homologous one with the alignment of the two, and decoys, whose alignments are not known. Features are counts
#' of the
#' steps of an alignment: \eqn{A^2} pairs of symbols and the number of symbols beside gaps or, with `gap = "affine"`, the number of gaps and the
#' number of symbols by which they are longer than one. Learning asks that the given alignment scores higher than any alignment with any decoy. The
#' loss
#' is zero-one. Prediction picks the candidate whose best local alignment by [smith_waterman()] scores highest.
#'
#' @section Which method when:
#' With few examples the machine beats scores by counting ([structured_baseline()]), and it learns the gap penalty; with
#' many examples from one model counting is as good.
#'
#' @param native,homolog Sequences: a character vector of strings, whose letters are the symbols, or a list of vectors of symbols.
#' @param decoys A list with, for each example, its decoys in the same form.
#' @param alignment A list with, for each example, the alignment of native and homolog as from [smith_waterman()]: a list with `start`, the
#'   positions in the
#'   two sequences where it starts, and `steps`, a string of `M` (a pair), `D` (a symbol of the first beside a gap) and `I` (of the second).
#' @param gap `"linear"` or `"affine"`.
#' @param alphabet The symbols; by default all that occur.
#' @param ... Nothing: an argument that is not known is an error.
#' @return An object of class `granary_output_align`. New data for `predict()` are a list with `native` and `candidates` (in the form of `decoys`);
#'   predictions
#'   are the numbers of the candidates. For the training examples the homolog is candidate 1.
#' @references
#' Tsochantaridis, Joachims, Hofmann and Altun (2005). Large margin methods for structured and interdependent output variables.
#' *Journal of Machine Learning Research* 6, 1453--1484.
#' @seealso [structured_svm()], [structured_baseline()], [structured_bounds()], [output_multiclass()], [output_chain()], [output_cfg()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_align(8)
#' problem <- output_align(sim$native, sim$homolog, sim$decoys, sim$alignment)
#' fit <- structured_svm(problem, cost = 0.01)
#' fit
#' new <- sim_align(40)
#' candidates <- Map(function(h, d) c(list(h), d), new$homolog, new$decoys)
#' mean(predict(fit, list(native = new$native, candidates = candidates)) != 1)
output_align <- function(native, homolog, decoys, alignment, gap = c("linear", "affine"), alphabet = NULL, ...) {
  refuse_dots(...)
  call <- match.call()
  native <- check_sequences(native, "native")
  homolog <- check_sequences(homolog, "homolog", length(native))
  decoys <- check_candidates(decoys, "decoys", length(native))
  gap <- check_choice(gap, c("linear", "affine"))
  symbols <- unique(unlist(c(native, homolog, unlist(decoys, recursive = FALSE))))
  if (is.null(alphabet)) {
    alphabet <- sort(symbols, method = "radix")
    if (!anyNA(suppressWarnings(as.numeric(alphabet)))) alphabet <- alphabet[order(as.numeric(alphabet))]
  } else {
    if (!is.atomic(alphabet) || is.null(alphabet) || anyNA(alphabet)) fail_input("alphabet", "a vector of symbols", describe(alphabet))
    alphabet <- unique(as.character(alphabet))
    if (!all(symbols %in% alphabet)) {
      abort_input(sprintf("`alphabet` must have all symbols, but \"%s\" is missing.", setdiff(symbols, alphabet)[1L]), "alphabet")
    }
  }
  truth <- read_alignments(alignment, native, homolog)
  core <- list(native = encode_symbols(native, alphabet), truth = truth, alphabet = length(alphabet), affine = gap == "affine",
               candidates = Map(function(h, d) encode_symbols(c(list(h), d), alphabet), homolog, decoys))
  names(core$candidates) <- NULL
  new_output("align", core, n = length(native), alphabet = alphabet, gap = gap, n_decoys = lengths(decoys), call = call)
}

# A list of vectors of symbols, as text.
check_sequences <- function(x, arg, n = NULL) {
  if (missing(x)) fail_missing(arg)
  if (is.character(x) && is.null(dim(x))) x <- strsplit(x, "", fixed = TRUE)
  usable <- is.list(x) && !is.object(x) && all(vapply(x, function(v) is.atomic(v) && is.null(dim(v)) && (!is.object(v) || is.factor(v)), NA))
  if (!usable) fail_input(arg, "strings or a list of vectors of symbols", describe(x))
  if (length(x) == 0L) abort_input(sprintf("`%s` must have at least one sequence.", arg), arg)
  if (!is.null(n) && length(x) != n) abort_input(sprintf("`%s` must have one sequence per example (%d), but it has %d.", arg, n, length(x)), arg)
  bad <- which(vapply(x, function(v) length(v) == 0L || anyNA(v), NA))
  if (length(bad) > 0L) abort_input(sprintf("Sequence %d of `%s` must have symbols, none of them missing.", bad[1L], arg), arg)
  lapply(unname(x), as.character)
}

check_candidates <- function(x, arg, n) {
  if (missing(x)) fail_missing(arg)
  if (!is.list(x) || is.object(x) || length(x) != n) {
    fail_input(arg, paste("a list with the sequences of each example, of length", n), describe(x))
  }
  lapply(seq_len(n), function(i) check_sequences(x[[i]], sprintf("%s[[%d]]", arg, i)))
}

encode_symbols <- function(sequences, alphabet) lapply(sequences, function(v) match(v, alphabet) - 1L)

# Alignments in the code of kernel/structured_align.h: candidate 0, starts, steps.
read_alignments <- function(alignment, native, homolog) {
  if (missing(alignment)) fail_missing("alignment")
  n <- length(native)
  if (inherits(alignment, "granary_alignment") && n == 1L) alignment <- list(alignment)
  if (!is.list(alignment) || is.data.frame(alignment) || length(alignment) != n) {
    fail_input("alignment", paste("a list with the alignment of each example, of length", n), describe(alignment))
  }
  lapply(seq_len(n), function(i) {
    a <- alignment[[i]]
    bad <- function(why) abort_input(sprintf("The alignment of example %d %s.", i, why), "alignment")
    if (!is.list(a) || is.null(a$start) || is.null(a$steps)) bad("must have `start` and `steps`")
    start <- check_vector(a$start, sprintf("alignment[[%d]]$start", i), length = 2L, lower = 1)
    if (!is.character(a$steps) || length(a$steps) != 1L || is.na(a$steps)) bad("must have its steps in one string")
    steps <- match(strsplit(a$steps, "", fixed = TRUE)[[1L]], c("M", "D", "I")) - 1L
    if (anyNA(steps)) bad("must be made of the steps M, D and I")
    used <- start - 1 + c(sum(steps != 2L), sum(steps != 1L))
    if (any(start != round(start)) || used[1L] > length(native[[i]]) || used[2L] > length(homolog[[i]])) bad("goes beyond its sequences")
    c(0L, as.integer(start) - 1L, steps)
  })
}

#' @export
output_new.granary_output_align <- function(problem, newdata, ...) {
  if (!is.list(newdata) || !all(c("native", "candidates") %in% names(newdata))) {
    fail_input("newdata", "a list with `native` and `candidates`", describe(newdata))
  }
  native <- check_sequences(newdata$native, "newdata$native")
  candidates <- check_candidates(newdata$candidates, "newdata$candidates", length(native))
  core <- problem$core
  core["truth"] <- list(NULL)
  unseen <- setdiff(unlist(c(native, unlist(candidates, recursive = FALSE))), problem$alphabet)
  if (length(unseen) > 0L) {
    abort_input(sprintf("`newdata` must be made of the alphabet of the fit, but \"%s\" is not in it. Give output_align() the whole `alphabet`.",
                        unseen[1L]), "newdata")
  }
  core$native <- encode_symbols(native, problem$alphabet)
  core$candidates <- lapply(candidates, encode_symbols, problem$alphabet)
  core
}

#' @export
output_decode.granary_output_align <- function(problem, raw) vapply(raw, function(code) code[1L] + 1L, 0L)

#' @export
output_coef.granary_output_align <- function(problem, weights) {
  a <- length(problem$alphabet)
  gaps <- weights[-seq_len(a^2)]
  names(gaps) <- if (problem$gap == "affine") c("open", "extend") else "gap"
  list(substitution = matrix(weights[seq_len(a^2)], a, dimnames = list(native = problem$alphabet, other = problem$alphabet)), gap = gaps)
}

#' @export
output_describe.granary_output_align <- function(problem) {
  c(examples = problem$n, alphabet = paste0(length(problem$alphabet), " (", first_few(problem$alphabet), ")"),
    decoys = paste(unique(range(problem$n_decoys)), collapse = " to "), gaps = problem$gap, loss = "zero_one")
}

#' Local alignment
#'
#' The best local alignment of two sequences under scores of substitutions and gaps, by the algorithm of Smith and Waterman.
#'
#' @details
#' Maximises the sum of the scores of aligned pairs and of gaps over all alignments of parts of the sequences, in time proportional to the product
#' of their
#' lengths. The empty alignment scores 0. Among equal scores the one that ends first is returned.
#'
#' @section Which method when:
#' For scores you have; to learn scores from known alignments see [output_align()].
#'
#' @param x,y Sequences: a string, whose letters are the symbols, or a vector of symbols.
#' @param score Matrix of scores of pairs, a row per symbol of `x` and a column per symbol of `y`, with names of rows and columns. Or two numbers, for
#'   symbols that are the same and that are not.
#' @param gap Score of a symbol beside a gap, usually negative.
#' @param gap_extend Score of a further symbol beside the same gap; `NULL` for the same as `gap`.
#' @param ... Not used.
#' @return An object of class `granary_alignment`: a list with `score`, `start` (positions where the alignment starts), `steps` (a string of `M`
#'   pair, `D` symbol
#'   of `x` beside a gap, `I` symbol of `y`), and `x` and `y`, the aligned parts with `-` for gaps.
#' @references
#' Smith and Waterman (1981). Identification of common molecular subsequences. *Journal of Molecular Biology* 147, 195--197.
#'
#' Gotoh (1982). An improved algorithm for matching biological sequences. *Journal of Molecular Biology* 162, 705--708.
#' @seealso [structured_svm()], [structured_baseline()], [structured_bounds()], [output_multiclass()], [output_chain()], [output_align()]
#' @export
#' @examples
#' smith_waterman("TTACGTGGA", "CACGGGACC", score = c(2, -1), gap = -1)
#' smith_waterman("TTACGTGGA", "CACGGGACC", score = c(2, -1), gap = -3, gap_extend = -0.5)
smith_waterman <- function(x, y, score = c(1, -1), gap = -1, gap_extend = NULL, ...) {
  refuse_dots(...)
  if (missing(x)) fail_missing("x")
  if (missing(y)) fail_missing("y")
  x <- one_sequence(x, "x")
  y <- one_sequence(y, "y")
  gap <- check_number(gap)
  gap_extend <- check_number(gap_extend, allow_null = TRUE)
  if (is.null(gap_extend)) gap_extend <- gap
  symbols <- unique(c(x, y))
  if (is.matrix(score) || is.data.frame(score)) {
    score <- check_matrix(score)
    if (is.null(rownames(score)) || is.null(colnames(score))) abort_input("`score` must have the symbols as names of rows and columns.", "score")
    lost <- c(setdiff(x, rownames(score)), setdiff(y, colnames(score)))
    if (length(lost) > 0L) abort_input(sprintf("`score` must have all symbols, but \"%s\" is missing.", lost[1L]), "score")
    pairs <- matrix(0, length(symbols), length(symbols), dimnames = list(symbols, symbols))
    pairs[unique(x), unique(y)] <- score[unique(x), unique(y)]
  } else {
    score <- check_vector(score, length = 2L)
    pairs <- matrix(score[2L], length(symbols), length(symbols))
    diag(pairs) <- score[1L]
  }
  found <- core_smith_waterman(match(x, symbols) - 1L, match(y, symbols) - 1L, unname(pairs), c(gap, gap_extend))
  steps <- found$steps
  taken <- function(v, start, skip) {
    out <- rep("-", length(steps))
    out[steps != skip] <- v[start + seq_len(sum(steps != skip))]
    out
  }
  seal(structure(list(score = found$score, start = c(found$start_x, found$start_y), steps = paste(c("M", "D", "I")[steps + 1L], collapse = ""),
                 x = taken(x, found$start_x - 1L, 2L), y = taken(y, found$start_y - 1L, 1L)), class = "granary_alignment"))
}

one_sequence <- function(x, arg) {
  if (is.list(x)) fail_input(arg, "a string or a vector of symbols", describe(x))
  if (is.factor(x) && length(x) == 1L) x <- as.character(x)
  if (is.character(x) && length(x) == 1L) return(check_sequences(x, arg)[[1L]])
  check_sequences(list(x), arg)[[1L]]
}

#' @rdname smith_waterman
#' @export
print.granary_alignment <- function(x, ...) {
  cli::cat_line("Local alignment, score ", format(x$score, digits = 6L), ", from positions ", x$start[1L], " and ", x$start[2L])
  width <- max(1L, nchar(c(x$x, x$y)))
  show <- function(v) cli::cat_line("  ", paste(formatC(v, width = width), collapse = if (width == 1L) "" else " "))
  if (length(x$x) > 0L) {
    show(x$x)
    show(ifelse(x$x == x$y, "|", " "))
    show(x$y)
  }
  invisible(x)
}

#' Sequences with a relative among decoys
#'
#' The simulated data of the alignment experiment of Tsochantaridis and others (2005, section 5.3).
#'
#' @details
#' Native sequences and decoys are independent letters of an alphabet of \eqn{A} symbols, letter \eqn{c} with probability proportional to \eqn{c}. The
#' homologous sequence comes from a random part of the native one by a string of `operations` independent steps: keep a letter, replace \eqn{c} by
#' \eqn{(c\ \mathrm{mod}\ A) + 1}{(c mod A) + 1}, insert a random letter, delete a letter. It is filled up with random letters to the length of the
#' native, half on either side.
#'
#' @section Which method when:
#' To see how many alignments are needed, and to compare [structured_svm()] with [structured_baseline()].
#'
#' @param n Number of examples.
#' @param length Length of all sequences.
#' @param decoys Number of decoys per example.
#' @param alphabet Number \eqn{A} of symbols.
#' @param operations Number of steps from the native to the homologous part.
#' @param probability Probabilities of match, substitution, insertion and deletion.
#' @param ... Nothing: an argument that is not known is an error.
#' @return A list with `native`, `homolog` (lists of integer vectors), `decoys` (a list of lists of them) and `alignment`, for [output_align()].
#' @references
#' Tsochantaridis, Joachims, Hofmann and Altun (2005). Large margin methods for structured and interdependent output variables.
#' *Journal of Machine Learning Research* 6, 1453--1484.
#' @seealso [structured_svm()], [structured_baseline()], [structured_bounds()], [output_multiclass()], [output_chain()], [output_align()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_align(1)
#' sim$alignment[[1]]
sim_align <- function(n, length = 50, decoys = 10, alphabet = 20, operations = 30, probability = c(0.2, 0.4, 0.2, 0.2), ...) {
  refuse_dots(...)
  n <- check_count(n, upper = 1e6)
  length <- check_count(length, upper = 1e6)
  decoys <- check_count(decoys, upper = 1e5)
  alphabet <- check_count(alphabet, lower = 2, upper = 1e4)
  operations <- check_count(operations, lower = 0, upper = length)
  probability <- check_vector(probability, length = 4L, lower = 0)
  if (sum(probability) <= 0) abort_input("`probability` must have a positive element.", "probability")
  if (1 * n * length * (decoys + 2) > 1e9) abort_input("`n`, `length` and `decoys` are too large together.", "n")
  letters <- function(count) sample.int(alphabet, count, TRUE, seq_len(alphabet))
  one <- function(i) {
    native <- letters(length)
    kind <- sample.int(4L, operations, TRUE, probability)
    used <- sum(kind != 3L)  # all but insertions read a letter of the native
    start <- sample.int(length - used + 1L, 1L)
    read <- native[start - 1L + cumsum(kind != 3L)]
    made <- ifelse(kind == 2L, read %% alphabet + 1L, read)
    made[kind == 3L] <- letters(sum(kind == 3L))
    made <- made[kind != 4L]
    before <- (length - base::length(made)) %/% 2L
    homolog <- c(letters(before), made, letters(length - before - base::length(made)))
    steps <- paste(c("M", "M", "I", "D")[kind], collapse = "")
    list(native = native, homolog = homolog, decoys = lapply(seq_len(decoys), function(k) letters(length)),
         alignment = list(start = c(start, before + 1L), steps = steps))
  }
  all <- lapply(seq_len(n), one)
  part <- function(name) lapply(all, `[[`, name)
  list(native = part("native"), homolog = part("homolog"), decoys = part("decoys"), alignment = part("alignment"))
}
