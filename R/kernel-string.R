# Kernels over texts and other sequences of tokens.

#' Kernels over texts and sequences
#'
#' How alike two texts, or two sequences of any symbols, are: by the subsequences, grams or substrings they share.
#' Such a kernel goes wherever a kernel goes: [svm()], [gp_classify()], [independence_test()], [kernel_matrix()],
#' sums and products with kernels over numbers.
#'
#' @details
#' With \eqn{\phi_u(s)}{phi_u(s)} the weight of the sequence of tokens \eqn{u} in \eqn{s},
#' \deqn{k(s, t) = \sum_l w_l \sum_{|u| = l} \phi_u(s)\,\phi_u(t),}{k(s, t) = sum_l w_l sum_(|u| = l) phi_u(s)
#' phi_u(t),} for lengths \eqn{l} from `length[1]` to `length[2]`, where \eqn{\phi_u(s)}{phi_u(s)} is
#'
#' * `"gapped"`: every subsequence \eqn{u} of \eqn{s}, gaps allowed, with weight \eqn{\lambda}{lambda} for each token
#'   skipped inside it (`lambda = 1`: all alike)
#' * `"gap_count"`: the same, with weight \eqn{\lambda}{lambda} for each gap, however long
#' * `"spectrum"`: every run \eqn{u} of tokens without gaps: counts of grams; with `length = 1` a bag of words
#' * `"mismatch"`: every run that differs from \eqn{u} in at most `mismatches` places, \eqn{u} any word over the
#'   `alphabet`
#' * `"substring"`: runs again, of any lengths, with \eqn{w_l = \lambda^l}{w_l = lambda^l} unless `length_weights`
#'   says otherwise
#'
#' `max_gap` bounds how many tokens are skipped in all inside one subsequence. `gap_weights` gives tokens a
#' \eqn{\lambda}{lambda} of their own, and `match_weights` multiplies \eqn{\phi_u}{phi_u} by the weight of each token
#' of \eqn{u}: [string_idf()] makes it tf-idf. `raw` counts the whole span,
#' \eqn{\lambda^{\mathrm{span}}}{lambda^span}, as Lodhi and others do; it only matters where several lengths are
#' mixed, or without `normalize`.
#'
#' Texts are split into characters (code points, whatever the encoding) or into words: runs of letters and digits of
#' any script, in lower case. Anything else (syllables, states of a life course, clicks) is given as a list of
#' character or integer vectors. With an `alphabet` tokens outside it match nothing: `"dna"`, `"rna"` and `"protein"`
#' stand for their letters, in either case.
#'
#' **Algorithms.** `method = "auto"` takes the cheapest for each pair. For gaps the dense table costs about \eqn{l m
#' n}{l m n} for lengths \eqn{m} and \eqn{n}, and the sparse one \eqn{l |M| \log n}{l |M| log n}, with \eqn{|M|} the
#' number of pairs of places with the same token: it wins when the alphabet is large, as words are. With a finite
#' `max_gap`, for grams and for mismatches, one trie serves all sequences, and values are products of sparse vectors;
#' longer runs go through a suffix automaton, linear in the length. All give the same numbers.
#'
#' A text shorter than the shortest length has no features: its kernel with everything, itself included, is zero.
#'
#' @section Which method when:
#' `"spectrum"` is the first thing to try on long texts and genomes: it is fast, and `length` 3 to 6 for characters
#' or 1 to 2 for words does well. `"gapped"` for short texts, names, and events in order where something else may
#' come between. `"mismatch"` for proteins and noisy spellings. `"substring"` when no length is right.
#' [string_features()] gives the features themselves to linear models such as [lasso()].
#'
#' @param type What is counted.
#' @param length One length, or the least and the largest; the largest may be `Inf` for `"substring"`, and for
#'   `"gapped"` and `"gap_count"` from 1 on.
#' @param lambda \eqn{\lambda}{lambda}, above 0 and at most 1.
#' @param token What a text is split into.
#' @param max_gap Largest number of tokens skipped in all, `Inf` for any.
#' @param mismatches Number of places that may differ, for `"mismatch"`.
#' @param length_weights Weights \eqn{w_l}{w_l}, one for each length; one number \eqn{r} for \eqn{w_l = r^l}{w_l =
#'   r^l} where the largest length is `Inf`.
#' @param match_weights,gap_weights Named numbers: weights of tokens that match, and \eqn{\lambda}{lambda} of tokens
#'   that are skipped. Other tokens have 1 and `lambda`.
#' @param alphabet Tokens that count: `NULL` for all, `"dna"`, `"rna"`, `"protein"`, or a character vector. Needed
#'   for `"mismatch"`.
#' @param raw Whether matched tokens count for the span.
#' @param method Algorithm; those that do not suit the type are refused.
#' @param normalize Whether \eqn{k(s, t)} is divided by \eqn{\sqrt{k(s, s)\,k(t, t)}}{sqrt(k(s, s) k(t, t))}.
#' @param variance Factor of the kernel.
#' @param columns Name or number of the column that holds the texts, where there are several.
#' @param fixed `"variance"` for methods not to learn it.
#' @param x Texts, or a list of character or integer vectors.
#' @param kernel A kernel made by `k_string()` of type `"spectrum"`, `"mismatch"`, `"substring"`, or gapped with a
#'   finite `max_gap`.
#' @param ... Not used.
#' @return `k_string()` a kernel, of class `granary_kernel`. `string_features()` a sparse matrix (`dgCMatrix`) with a
#'   row for each element of `x` and a named column for each feature: its product with its own transpose is the
#'   kernel without `normalize`. `string_tokens()` a list of character vectors, `string_idf()` named numbers
#'   \eqn{\log_2(N/N_u)}{log2(N / N_u)}, \eqn{N_u} of the \eqn{N} sequences having token \eqn{u}.
#' @references
#' Rousu and Shawe-Taylor (2005). Efficient computation of gapped substring kernels on large alphabets. *Journal of
#' Machine Learning Research* 6, 1323--1344.
#'
#' Lodhi, Saunders, Shawe-Taylor, Cristianini and Watkins (2002). Text classification using string kernels. *Journal
#' of Machine Learning Research* 2, 419--444.
#'
#' Leslie, Eskin, Cohen, Weston and Noble (2004). Mismatch string kernels for discriminative protein classification.
#' *Bioinformatics* 20, 467--476.
#' @seealso [kernels], [k_bag()], [k_boolean()], [svm()]
#' @export
#' @examples
#' x <- c("the cat was chased by the fat dog", "the fat cat bit the dog", "stocks fell on fears of war")
#' k <- k_string("gapped", length = 2, token = "word")
#' k
#' kernel_matrix(k, x)
#'
#' # grams of a small alphabet, with one letter wrong
#' dna <- c(a = "ACGTACGT", b = "ACCTACGA", c = "TTTTGGGG")
#' kernel_matrix(k_string("mismatch", length = 3, mismatches = 1, alphabet = "dna"), dna)
#'
#' # features by name, and a bag of words weighted by how rare they are
#' string_features(x, k_string("gapped", length = 2, token = "word", max_gap = 1))[, 1:4]
#' idf <- string_idf(x, token = "word")
#' kernel_matrix(k_string("spectrum", length = 1, token = "word", match_weights = idf), x)
#' string_tokens(x[3], token = "word")
k_string <- function(type = c("gapped", "gap_count", "spectrum", "mismatch", "substring"), length = 3, lambda = 0.5,
                     token = c("character", "word"), max_gap = Inf, mismatches = 1, length_weights = NULL,
                     match_weights = NULL, gap_weights = NULL, alphabet = NULL, raw = FALSE,
                     method = c("auto", "dense", "sparse", "trie", "automaton", "pairs"), normalize = TRUE,
                     variance = 1, columns = NULL, fixed = NULL, ...) {
  refuse_dots(...)
  type <- check_choice(type, c("gapped", "gap_count", "spectrum", "mismatch", "substring"))
  range <- check_string_lengths(length)
  lambda <- check_number(lambda, lower = 0, upper = 1, strict_lower = TRUE)
  token <- check_choice(token, c("character", "word"))
  max_gap <- check_number(max_gap, lower = 0, allow_infinite = TRUE)
  if (is.finite(max_gap)) max_gap <- check_count(max_gap, lower = 0)
  mismatches <- check_count(mismatches, lower = 0)
  length_weights <- check_vector(length_weights, lower = 0, allow_null = TRUE)
  alphabet <- check_string_alphabet(alphabet)
  options <- list(
    type = type, token = token, method = check_choice(method,
                                                      c("auto", "dense", "sparse", "trie", "automaton", "pairs")),
                                                          min_length = range[1L],
    max_length = range[2L], lambda = lambda, max_gap = if (is.finite(max_gap)) max_gap else -1L,
        mismatches = mismatches,
    length_weights = as.double(length_weights), match_weights = check_token_weights(match_weights, "match_weights",
        Inf),
    gap_weights = check_token_weights(gap_weights, "gap_weights", 1), alphabet = alphabet$symbols,
        fold_case = alphabet$fold, raw = check_flag(raw),
    rescale = check_flag(normalize)
  )
  core_string_check(options)
  if (range[2L] > 50L && type %in% c("gapped", "gap_count")) {
    warn_input("`length` is above 50: few sequences share such subsequences, and the kernel matrix is nearly diagonal.")
  }
  new_object_kernel("string", options, variance = variance, normalize = normalize, columns = columns, fixed = fixed)
}

# c(least, largest), 0 for no end.
check_string_lengths <- function(x) {
  x <- if (is.numeric(x) && length(x) == 2L && identical(x[2L], Inf)) c(check_count(x[1L], "length"),
      0L) else check_vector(x, "length", lower = 1)
  if (length(x) > 2L || any(x != round(x)) || any(x > 1e6)) fail_input("length",
      "one whole number, or the least and the largest", describe(x))
  if (length(x) == 1L) x <- c(x, x)
  if (x[2L] > 0 && x[2L] < x[1L]) abort_input(sprintf("`length` must be the least and the largest, but %g is above %g.",
                                                      x[1L], x[2L]), "length")
  as.integer(x)
}

check_string_alphabet <- function(x) {
  known <- list(dna = c("A", "C", "G", "T"), rna = c("A", "C", "G", "U"),
                protein = strsplit("ACDEFGHIKLMNPQRSTVWY", "")[[1L]])
  if (is.null(x)) return(list(symbols = character(), fold = FALSE))
  if (!is.character(x) || anyNA(x) || length(x) == 0L) {
    fail_input("alphabet", "NULL, \"dna\", \"rna\", \"protein\" or a character vector of tokens", describe(x))
  }
  if (length(x) == 1L && x %in% names(known)) return(list(symbols = known[[x]], fold = TRUE))
  list(symbols = as.vector(x), fold = FALSE)
}

check_token_weights <- function(x, arg, upper) {
  if (is.null(x)) return(list(tokens = character(), weights = numeric()))
  x <- check_vector(x, arg, lower = 0, upper = upper)
  if (is.null(names(x)) || any(!nzchar(names(x))) || anyDuplicated(names(x))) {
    fail_input(arg, "numbers with the tokens as names, each once", "a vector without them")
  }
  list(tokens = names(x), weights = as.double(x))
}

# Texts as they are; lists of tokens as lists of character vectors.
objects_of_string <- function(x, arg, kernel) {
  if (is.factor(x)) x <- as.character(x)
  if (is.character(x) && is.null(dim(x))) return(check_texts(x, arg))
  if (!is.list(x) || is.data.frame(x)) {
    fail_input(arg, "texts, or a list of character or integer vectors", describe(x),
               if (is.numeric(x)) "Use as.character() for numbers that are texts.")
  }
  lapply(seq_along(x), function(i) {
    tokens <- x[[i]]
    if (is.factor(tokens)) tokens <- as.character(tokens)
    whole <- is.numeric(tokens) && !is.object(tokens) && all(is.finite(tokens)) && all(tokens == round(tokens))
    if (!is.null(tokens) && !is.character(tokens) && !whole) {
      fail_input(sprintf("%s[[%d]]", arg, i), "a vector of tokens: texts, a factor or whole numbers", describe(tokens))
    }
    if (anyNA(tokens)) abort_input(sprintf("`%s[[%d]]` must have no missing values, but token %d is NA.", arg, i,
                                           which(is.na(tokens))[1L]), arg)
    if (is.character(tokens)) check_texts(tokens, sprintf("%s[[%d]]", arg, i)) else format(as.double(tokens),
        trim = TRUE, scientific = FALSE, digits = 15L)
  })
}

check_texts <- function(x, arg) {
  if (anyNA(x)) {
    text <- "`%s` must have no missing values, but element %d is NA.\nRemove it, or put an empty text in its place."
    abort_input(sprintf(text, arg, which(is.na(x))[1L]), arg)
  }
  bad <- which(Encoding(x) == "bytes" | !validEnc(x))
  if (length(bad) > 0L) {
    shown <- substr(iconv(x[bad[1L]], "UTF-8", "UTF-8", sub = "byte"), 1L, 40L)
    abort_input(sprintf(paste0("Element %d of `%s` is no text in its encoding: \"%s\".\n",
                               "Convert it with iconv(x, from = \"latin1\", to = \"UTF-8\"), or whatever it is."),
                        bad[1L], arg, shown), arg)
  }
  as.vector(x)
}

describe_kernel_string <- function(kernel) {
  o <- kernel$options
  lengths <- if (o$min_length == o$max_length) o$min_length else paste(o$min_length, "to",
      if (o$max_length == 0L) "any" else o$max_length)
  paste0(gsub("_", " ", o$type), ", length ", lengths, ", ", o$token, "s",
         if (o$type %in% c("gapped", "gap_count", "substring")) paste0(", lambda ", format(o$lambda)),
         if (o$max_gap >= 0) paste0(", max gap ", o$max_gap),
             if (o$type == "mismatch") paste0(", mismatches ", o$mismatches))
}

# The leaf of a string kernel that stands alone.
string_options <- function(kernel) {
  if (!inherits(kernel, "granary_kernel") || !identical(kernel$type, "string")) fail_input("kernel",
      "a kernel made by k_string()", describe(kernel))
  check_fit(kernel)$options
}

#' @rdname k_string
#' @export
string_features <- function(x, kernel = k_string("spectrum"), ...) {
  refuse_dots(...)
  if (missing(x)) fail_missing("x")
  options <- string_options(kernel)
  objects <- objects_of_string(x, "x", kernel)
  raw <- core_string_features(objects, options, if (is.list(objects) || options$token == "word") " " else "")
  dimnames(raw$matrix) <- list(names(x), raw$names)
  raw$matrix
}

#' @rdname k_string
#' @export
string_tokens <- function(x, token = c("character", "word"), ...) {
  refuse_dots(...)
  if (missing(x)) fail_missing("x")
  if (is.factor(x)) x <- as.character(x)
  if (!is.character(x) || !is.null(dim(x))) fail_input("x", "texts", describe(x))
  stats::setNames(core_string_tokens(check_texts(x, "x"), list(token = check_choice(token, c("character", "word")))),
                  names(x))
}

#' @rdname k_string
#' @export
string_idf <- function(x, token = c("character", "word"), alphabet = NULL, ...) {
  refuse_dots(...)
  if (missing(x)) fail_missing("x")
  alphabet <- check_string_alphabet(alphabet)
  objects <- objects_of_string(x, "x", NULL)
  counts <- core_string_counts(objects, list(token = check_choice(token, c("character", "word")),
                                             alphabet = alphabet$symbols, fold_case = alphabet$fold))
  seen <- counts$sequences > 0
  stats::setNames(log2(length(objects) / counts$sequences[seen]), counts$token[seen])
}
