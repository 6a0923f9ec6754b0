# Kernels whose features are conjunctions of 0/1 attributes.

#' Kernels of conjunctions
#'
#' For attributes that are 0 or 1: two rows are alike as far as they satisfy the same conjunctions, such as "fever
#' and no rash". A kernel machine with such a kernel is a weighted sum of all interactions up to order `k`, none of
#' which is ever written down; [boolean_rules()] reads the heaviest out of it.
#'
#' @details
#' With \eqn{s} the number of attributes that are 1 in both rows, \eqn{e} the number on which they agree, \eqn{n} of
#' all, and \eqn{g} the `damping`:
#'
#' * `"monotone"`: conjunctions of attributes, \eqn{k(x, z) = \sum_{i=1}^k g^i {s \choose i}}{k(x, z) = sum_i g^i
#'   choose(s, i), i = 1 .. k}.
#' * `"signed"`: conjunctions of attributes and their negations,
#'   \eqn{\sum_i g^i {e \choose i}}{sum_i g^i choose(e, i)}.
#' * `"parity"`: products of attributes coded -1 and 1,
#'   \eqn{\sum_{i=0}^k g^i P_i(n - e; n)}{sum_i g^i P_i(n - e; n)} with Krawtchouk polynomials
#'   \eqn{P_i}{P_i}: interactions as in the analysis of variance.
#'
#' `k = Inf` takes all lengths: \eqn{(1 + g)^s - 1}. `exact` takes length `k` alone, and `empty` adds the conjunction
#' of nothing, a constant (parities have it anyway). A damping below one makes long conjunctions cheap to do without;
#' above one it favours them. Values grow like
#' \eqn{2^n}{2^n}: `normalize`, or ask for their logarithm with `log` (which is no kernel).
#'
#' Rows are counted 64 attributes at a time. Factors become attributes with [boolean_attributes()]: then `"monotone"`
#' counts the factors on which two rows agree. Methods that standardise columns must be told not to: `svm(x, y,
#' kernel = k_boolean(), standardize = FALSE)`.
#'
#' @section Which method when:
#' When the response follows rules: an OR of few ANDs. Begin with `k = 2` or 3. Large `k` makes every row like no
#' other, and a machine of large margin then learns the rows by heart, even where the answer is a single attribute
#' (Khardon and Servedio 2005): choose `k` by [boolean_select()], and look at the memorisation index of
#' [boolean_svm()]. For counts and numbers `k_polynomial()`; for trees of rules [random_forest()].
#'
#' @param k Largest length of a conjunction, `Inf` for all.
#' @param type What the conjunctions are made of.
#' @param exact Whether only length `k` counts.
#' @param empty Whether the empty conjunction counts.
#' @param damping \eqn{g}, above 0.
#' @param normalize Whether \eqn{k(x, z)} is divided by \eqn{\sqrt{k(x, x)\,k(z, z)}}{sqrt(k(x, x) k(z, z))}. It
#'   changes which rules weigh how much.
#' @param log Whether \eqn{\log k(x, z)}{log k(x, z)} is given instead, for [kernel_matrix()].
#' @param variance Factor of the kernel.
#' @param columns Columns the kernel looks at; by default all.
#' @param fixed `"variance"` for methods not to learn it.
#' @param ... Not used.
#' @return A kernel, of class `granary_kernel`.
#' @references
#' Khardon and Servedio (2005). Maximum margin algorithms with Boolean kernels. *Journal of Machine Learning
#' Research* 6, 1405--1429.
#' @seealso [kernels], [boolean_svm()], [boolean_rules()], [boolean_attributes()]
#' @export
#' @examples
#' x <- rbind(c(1, 1, 0), c(0, 1, 1), c(1, 1, 1))
#' kernel_matrix(k_boolean(2), x)
#' kernel_matrix(k_boolean(Inf, "signed"), x)
#' kernel_matrix(k_boolean(1, "parity"), x)
#' survived <- as.data.frame(Titanic)
#' a <- boolean_attributes(survived[, 1:3])
#' fit <- svm(a, survived$Survived, kernel = k_boolean(2), weights = survived$Freq, standardize = FALSE)
#' boolean_rules(fit, top = 5)
k_boolean <- function(k = 2, type = c("monotone", "signed", "parity"), exact = FALSE, empty = FALSE, damping = 1,
                      normalize = FALSE, log = FALSE,
                      variance = 1, columns = NULL, fixed = NULL, ...) {
  refuse_dots(...)
  spec <- boolean_spec(k, type, exact, empty, damping, normalize, log)
  kernel <- new_kernel("boolean", variance, numeric(), columns = columns, fixed = fixed)
  kernel$boolean <- spec
  if (spec$log) kernel$psd <- FALSE
  kernel
}

boolean_spec <- function(k, type, exact, empty, damping, normalize = FALSE, log = FALSE) {
  type <- check_choice(type, c("monotone", "signed", "parity"))
  k <- check_number(k, "k", lower = 1, allow_infinite = TRUE)
  if (is.finite(k)) k <- check_count(k, "k", upper = 1e6)
  exact <- check_flag(exact, "exact")
  empty <- check_flag(empty, "empty")
  if (exact && !is.finite(k)) abort_input("`exact` needs a finite `k`.", "exact")
  if (exact && empty) abort_input("`exact` and `empty` exclude each other: the empty conjunction has length 0.",
                                  "empty")
  least <- if (exact) k else if (empty || type == "parity") 0L else 1L
  spec <- list(literals = type, min_length = as.integer(least), max_length = if (is.finite(k)) k else 0L,
               damping = check_number(damping, "damping", lower = 0, strict_lower = TRUE),
                   normalize = check_flag(normalize, "normalize"), log = check_flag(log, "log"))
  core_boolean_check(spec)
  spec
}

describe_boolean <- function(spec) {
  paste0(spec$literals, ", k ", if (spec$max_length == 0L) Inf else spec$max_length,
         if (spec$min_length == spec$max_length) " exactly",
         if (spec$damping != 1) paste0(", damping ", format(spec$damping)), if (spec$normalize) ", normalised",
             if (spec$log) ", logarithm")
}

#' Factors and logicals as 0/1 attributes
#'
#' One attribute for each level of a factor or text column, one for a logical or 0/1 column, with names such as
#' `"eye=blue"`.
#'
#' @section Which method when:
#' To give factors to [k_boolean()] and its relatives. Numbers have to be cut first, with [cut()] or a comparison.
#'
#' @param x A data frame, or a matrix of 0 and 1 or of logicals.
#' @param levels `NULL`, or the attribute `"levels"` of an earlier answer: the same columns for new data.
#' @param ... Not used.
#' @return A matrix of 0 and 1 with an attribute `"levels"`, a named list with the levels of each column (`NULL` for
#'   0/1 ones). A level that is not in `levels` is an error.
#' @references
#' Khardon and Servedio (2005). Maximum margin algorithms with Boolean kernels. *Journal of Machine Learning
#' Research* 6, 1405--1429.
#' @seealso [k_boolean()], [boolean_svm()]
#' @export
#' @examples
#' a <- boolean_attributes(data.frame(eye = c("blue", "brown", "blue"), tall = c(TRUE, FALSE, TRUE)))
#' a
#' boolean_attributes(data.frame(eye = "brown", tall = TRUE), levels = attr(a, "levels"))
boolean_attributes <- function(x, levels = NULL, ...) {
  refuse_dots(...)
  if (missing(x)) fail_missing("x")
  if (is.matrix(x) && is.character(x)) x <- as.data.frame(x)
  if (!is.data.frame(x)) return(check_bits(x, "x"))
  if (nrow(x) == 0L || length(x) == 0L) fail_input("x", "a data frame with rows and columns", describe(x))
  if (!is.null(levels)) {
    if (!is.list(levels) || length(levels) == 0L || is.null(names(levels))) fail_input("levels",
                                                               "the attribute \"levels\" of an earlier answer",
                                                                   describe(levels))
    lacking <- setdiff(names(levels), names(x))
    if (length(lacking) > 0L) abort_input(sprintf("`x` must have the column \"%s\" of `levels`.", lacking[1L]), "x")
    x <- x[names(levels)]
  }
  found <- list()
  parts <- lapply(seq_along(x), function(j) {
    column <- x[[j]]
    name <- names(x)[j]
    if (anyNA(column)) {
      text <- "Column \"%s\" of `x` must have no missing values.\nMake NA a level with addNA()."
      abort_input(sprintf(text, name), "x")
    }
    plain <- (is.logical(column) || is_plain_numeric(column)) && is.null(dim(column))
    known <- levels[[name]]
    found[name] <<- list(NULL)
    if (plain && is.null(known)) return(check_bits(matrix(as.double(column), ncol = 1L, dimnames = list(NULL, name)),
                                                   "x"))
    if (!is.factor(column) && !is.character(column)) fail_input(sprintf("x$%s", name),
                                                                "a factor, text, logical, or 0 and 1", describe(column))
    if (is.null(known)) known <- if (is.factor(column)) base::levels(column) else sort(unique(column))
    at <- match(as.character(column), known)
    if (anyNA(at)) abort_input(sprintf("Column \"%s\" of `x` has \"%s\", which is none of its levels.", name,
                                       as.character(column)[is.na(at)][1L]), "x")
    found[[name]] <<- known
    matrix(as.double(outer(at, seq_along(known), `==`)), length(at), dimnames = list(NULL, paste0(name, "=", known)))
  })
  out <- do.call(cbind, parts)
  if (.row_names_info(x) > 0L) rownames(out) <- row.names(x)
  structure(out, levels = found)
}

check_bits <- function(x, arg) {
  if (is.matrix(x) && is.logical(x)) storage.mode(x) <- "double"
  if (inherits(x, "nsparseMatrix") || inherits(x, "lsparseMatrix")) x <- methods::as(x, "dMatrix")
  x <- check_matrix(x, arg, allow_sparse = TRUE)
  values <- if (isS4(x)) x@x else x
  bad <- which(values != 0 & values != 1)
  if (length(bad) > 0L) {
    abort_input(sprintf(paste0("Every attribute of `%s` must be 0 or 1, but %s is %s.\n",
                               "Turn factors into attributes with boolean_attributes(), and cut numbers."), arg,
                        describe_position(x, bad[1L]), format(values[bad[1L]], digits = 4L)), arg)
  }
  x
}
