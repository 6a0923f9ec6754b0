#' Parse trees as a structured output
#'
#' Describes the problem of learning the weights of a context-free grammar from parsed sentences, for [structured_svm()] and
#' [structured_baseline()].
#'
#' @details
#' The score of a tree is the sum of the weights of its rules; the rules are those that occur in the training trees. Sentences are parsed by the algorithm of Cocke, Kasami and Younger.
#'
#' **Trees** are strings in brackets, such as `"(S (NP (D the) (N dog)) (VP barks))"`: a node is its label and its parts, a leaf is a word under
#' its label.
#' Parsing needs Chomsky normal form: nodes with two parts or one word. With `binarize = TRUE` trees are brought into it, and predictions back:
#' nodes with more
#' parts are split from the left with helper nodes `A|B-C`, chains of single parts are joined to one label `A+B`.
#'
#' **Loss.** `"f1"` is one minus the F1 score of labelled spans of two or more words, in normal form (where all trees have as many spans, so that
#' it is the share of spans that are wrong; sentences of one word are right or wrong); `"zero_one"` asks for the whole tree. Trees that differ from
#' the right one in labels of words only have
#' the F1 loss 0.
#'
#' @section Which method when:
#' [structured_svm()] to parse well by F1; [structured_baseline()] for the probabilistic grammar of maximum likelihood.
#'
#' @param trees A character vector of trees in brackets.
#' @param loss `"f1"` or `"zero_one"`.
#' @param binarize Bring trees into Chomsky normal form? Otherwise they must be in it.
#' @param ... Nothing: an argument that is not known is an error.
#' @return An object of class `granary_output_cfg`. New data for `predict()` are sentences: strings with words between spaces, or a list of vectors of
#'   words. Predictions are trees; `NA`, with a warning, where the grammar has no parse.
#' @references
#' Tsochantaridis, Joachims, Hofmann and Altun (2005). Large margin methods for structured and interdependent output variables.
#' *Journal of Machine Learning Research* 6, 1453--1484.
#' @seealso [structured_svm()], [structured_baseline()], [structured_bounds()], [output_multiclass()], [output_chain()], [output_align()]
#' @export
#' @examples
#' trees <- c(
#'   "(S (NP (D the) (N dog)) (VP (V saw) (NP (D a) (N cat))))",
#'   "(S (NP (D a) (N cat)) (VP (VP (V ate) (NP (D a) (N pie))) (PP (P with) (NP (D a) (N fork)))))",
#'   "(S (NP (NP (D a) (N dog)) (PP (P with) (NP (D a) (N pie)))) (VP (V saw) (NP (D the) (N cat))))"
#' )
#' problem <- output_cfg(trees)
#' fit <- structured_svm(problem, cost = 10, rescale = "slack")
#' predict(fit, "the cat saw the dog with a fork")
output_cfg <- function(trees, loss = c("f1", "zero_one"), binarize = FALSE, ...) {
  refuse_dots(...)
  call <- match.call()
  if (missing(trees)) fail_missing("trees")
  if (!is.character(trees) || length(trees) == 0L || !is.null(dim(trees)) || anyNA(trees) || !all(validEnc(trees))) {
    fail_input("trees", "a character vector of trees in brackets", describe(trees))
  }
  loss <- check_choice(loss, c("f1", "zero_one"))
  binarize <- check_flag(binarize)
  nodes <- lapply(seq_along(trees), function(i) {
    tree <- read_tree(trees[i], i)
    if (binarize) tree <- to_normal_form(tree)
    rules_of_tree(tree, i)
  })
  table <- do.call(rbind, lapply(nodes, `[[`, "rules"))
  rules <- unique(table)
  rules <- rules[order(rules$lhs, is.na(rules$rhs2), rules$rhs1, rules$rhs2, method = "radix"), ]
  rownames(rules) <- NULL
  starts <- unique(vapply(nodes, function(tree) tree$rules$lhs[1L], ""))
  if (length(starts) > 1L) {
    abort_input(sprintf("All trees must have one label at the root, but there are \"%s\" and \"%s\".", starts[1L], starts[2L]), "trees")
  }
  grammar <- code_grammar(rules, starts)
  key <- function(r) paste(r$lhs, r$rhs1, r$rhs2, sep = "\r")
  core <- list(grammar = grammar$core, sentences = lapply(nodes, function(tree) match(tree$words, grammar$words) - 1L),
               trees = lapply(nodes, function(tree) match(key(tree$rules), key(rules)) - 1L), loss = loss)
  new_output("cfg", core, n = length(trees), rules = rules, symbols = grammar$symbols, words = grammar$words, start = starts, loss = loss,
             binarize = binarize, sentences = lapply(nodes, `[[`, "words"), call = call)
}

# "(A (B x) (C y))" as list(label, parts), a leaf as list(label, word).
read_tree <- function(text, i) {
  tokens <- regmatches(text, gregexpr("[()]|[^()[:space:]]+", text))[[1L]]
  bad <- function(why) abort_input(sprintf("Tree %d %s: \"%s\".", i, why, substr(text, 1L, 60L)), "trees")
  at <- 1L
  node <- function() {
    if (at + 2L > length(tokens) || tokens[at] != "(" || tokens[at + 1L] %in% c("(", ")")) bad("must be made of (label parts)")
    label <- tokens[at + 1L]
    at <<- at + 2L
    parts <- list()
    while (at <= length(tokens) && tokens[at] != ")") {
      if (tokens[at] == "(") {
        parts[[length(parts) + 1L]] <- node()
      } else {
        parts[[length(parts) + 1L]] <- tokens[at]
        at <<- at + 1L
      }
    }
    if (at > length(tokens)) bad("has brackets that are not closed")
    at <<- at + 1L
    words <- vapply(parts, is.character, NA)
    if (length(parts) == 0L || (any(words) && length(parts) > 1L)) bad("must have one word, or parts in brackets, in each node")
    list(label = label, parts = parts)
  }
  tree <- node()
  if (at <= length(tokens)) bad("goes on after its end")
  tree
}

is_leaf <- function(tree) is.character(tree$parts[[1L]])

to_normal_form <- function(tree) {
  while (!is_leaf(tree) && length(tree$parts) == 1L) {
    below <- tree$parts[[1L]]
    tree <- list(label = paste0(tree$label, "+", below$label), parts = below$parts)
  }
  if (is_leaf(tree)) return(tree)
  parts <- lapply(tree$parts, to_normal_form)
  while (length(parts) > 2L) {
    helper <- list(label = paste0(sub("[|].*", "", tree$label), "|", short_label(parts[[1L]]), "-", short_label(parts[[2L]])), parts = parts[1:2])
    parts <- c(list(helper), parts[-(1:2)])
  }
  list(label = tree$label, parts = parts)
}

short_label <- function(tree) sub("[|].*", "", tree$label)

# The inverse of to_normal_form().
from_normal_form <- function(tree) {
  if (!is_leaf(tree)) {
    parts <- unlist(lapply(tree$parts, function(part) {
      part <- from_normal_form(part)
      if (grepl("|", part$label, fixed = TRUE)) part$parts else list(part)
    }), recursive = FALSE)
    tree$parts <- parts
  }
  chain <- strsplit(tree$label, "+", fixed = TRUE)[[1L]]
  for (label in rev(chain)[-1L]) {
    tree$label <- chain[length(chain)]
    chain <- chain[-length(chain)]
    tree <- list(label = label, parts = list(tree))
  }
  tree
}

# Rules in preorder and words from left to right.
rules_of_tree <- function(tree, i) {
  rows <- list()
  words <- character()
  walk <- function(node) {
    if (is_leaf(node)) {
      rows[[length(rows) + 1L]] <<- c(node$label, node$parts[[1L]], NA)
      words <<- c(words, node$parts[[1L]])
      return(invisible())
    }
    if (length(node$parts) != 2L) {
      abort_input(sprintf(paste0("Tree %d must be in Chomsky normal form, but a node \"%s\" has %d parts.\nUse binarize = TRUE."), i, node$label,
                          length(node$parts)), "trees")
    }
    rows[[length(rows) + 1L]] <<- c(node$label, node$parts[[1L]]$label, node$parts[[2L]]$label)
    walk(node$parts[[1L]])
    walk(node$parts[[2L]])
  }
  walk(tree)
  m <- do.call(rbind, rows)
  list(rules = data.frame(lhs = m[, 1L], rhs1 = m[, 2L], rhs2 = m[, 3L]), words = words)
}

# Rules by whole numbers; `rules` has lhs, rhs1, rhs2, the last NA for words.
code_grammar <- function(rules, start) {
  lexical <- is.na(rules$rhs2)
  symbols <- sort(unique(c(rules$lhs, rules$rhs1[!lexical], rules$rhs2[!lexical], start)), method = "radix")
  words <- sort(unique(rules$rhs1[lexical]), method = "radix")
  first <- match(rules$rhs1, symbols)
  first[lexical] <- match(rules$rhs1[lexical], words)
  second <- match(rules$rhs2, symbols)
  second[lexical] <- 0L
  list(core = list(lhs = match(rules$lhs, symbols) - 1L, first = first - 1L, second = second - 1L, symbols = length(symbols), words = length(words),
                   start = match(start, symbols) - 1L), symbols = symbols, words = words)
}

# A tree in brackets from its rules in preorder.
write_tree <- function(codes, rules, unfold) {
  at <- 0L
  node <- function() {
    at <<- at + 1L
    rule <- rules[codes[at] + 1L, ]
    if (is.na(rule$rhs2)) return(list(label = rule$lhs, parts = list(rule$rhs1)))
    left <- node()
    list(label = rule$lhs, parts = list(left, node()))
  }
  tree <- node()
  if (unfold) tree <- from_normal_form(tree)
  show <- function(tree) {
    inside <- if (is_leaf(tree)) tree$parts[[1L]] else paste(vapply(tree$parts, show, ""), collapse = " ")
    paste0("(", tree$label, " ", inside, ")")
  }
  show(tree)
}

check_sentences <- function(x, arg) {
  if (is.character(x) && is.null(dim(x)) && !anyNA(x) && length(x) > 0L) x <- strsplit(trimws(x), "[[:space:]]+")
  usable <- is.list(x) && !is.object(x) && length(x) > 0L && all(vapply(x, function(v) (is.character(v) || is.factor(v)) && !anyNA(v), NA))
  if (!usable) fail_input(arg, "sentences: strings, or a list of vectors of words", describe(x))
  x <- lapply(x, as.character)
  empty <- which(vapply(x, function(v) length(v) == 0L || !all(nzchar(v)), NA))
  if (length(empty) > 0L) abort_input(sprintf("Every sentence in `%s` must have a word, but sentence %d has none.", arg, empty[1L]), arg)
  x
}

code_words <- function(sentences, words) {
  lapply(sentences, function(v) {
    at <- match(v, words) - 1L
    at[is.na(at)] <- -1L
    at
  })
}

#' @export
output_new.granary_output_cfg <- function(problem, newdata, ...) {
  sentences <- check_sentences(newdata, "newdata")
  core <- problem$core
  core["trees"] <- list(NULL)
  core$sentences <- code_words(sentences, problem$words)
  core
}

#' @export
output_decode.granary_output_cfg <- function(problem, raw) {
  none <- lengths(raw) == 0L
  if (any(none)) {
    warn_input(sprintf("%s no parse in this grammar and %s NA, the first is number %d.", counted(sum(none), "sentence has", "sentences have"),
                       if (sum(none) == 1L) "is" else "are", which(none)[1L]), "newdata")
  }
  out <- rep(NA_character_, length(raw))
  out[!none] <- vapply(raw[!none], write_tree, "", problem$rules, problem$binarize)
  out
}

#' @export
output_coef.granary_output_cfg <- function(problem, weights) data.frame(problem$rules, weight = weights)

#' @export
output_describe.granary_output_cfg <- function(problem) {
  c(trees = paste0(problem$n, ", of length ", paste(unique(range(lengths(problem$sentences))), collapse = " to ")),
    rules = paste0(sum(!is.na(problem$rules$rhs2)), " of two parts, ", sum(is.na(problem$rules$rhs2)), " of words"),
    labels = paste0(length(problem$symbols), " (", first_few(problem$symbols), ")"), start = problem$start, loss = problem$loss)
}
