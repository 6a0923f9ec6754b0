# Finding a method by everyday words.

#' Find a method
#'
#' Looks for methods by what they do, in everyday words, and ranks them: "cluster text by direction", "missing values in a matrix", "which variables cause
#' which", "confidence intervals with more columns than rows".
#'
#' @details
#' Words are compared by their stems and with a letter wrong or missing, in the functions, keywords, tasks, titles, kinds of data, outputs, uses and papers of
#' [granary_catalog()]. A word counts the more, the fewer methods have it.
#'
#' @section Which method when:
#' `granary_find()` with your own words, [granary_catalog()] for the whole list, `vignette("which-method")` for tables by family.
#'
#' @param words What you look for.
#' @param n How many methods to list at most.
#' @param ... Nothing: an argument that is not known is an error.
#' @return A data frame of class `granary_found` with the columns of [granary_catalog()] and `score`, best first.
#' @seealso [granary_report()], [reproduce()], [granary_session()]
#' @seealso [granary_catalog()] for all of them.
#' @export
#' @examples
#' granary_find("sparse regression")
#' granary_find("missing values in a matrix")$functions
granary_find <- function(words, n = 5, ...) {
  refuse_dots(...)
  words <- check_string(words)
  n <- check_count(n)
  catalog <- granary_catalog()
  index <- find_index(catalog)
  asked <- find_stems(words)
  if (length(asked) == 0L) abort_input("`words` must have at least one word that means something, such as \"cluster\" or \"missing values\".", "words")
  score <- numeric(nrow(catalog))
  for (stem in asked) {
    hit <- vapply(index, find_hit, 0, stem = stem)
    if (any(hit > 0)) score <- score + hit * log(1 + nrow(catalog) / sum(hit > 0))
  }
  # a method that has all the words goes before one that has a single word often
  share <- rowSums(vapply(asked, function(stem) vapply(index, find_hit, 0, stem = stem) > 0, logical(nrow(catalog)))) / length(asked)
  score <- score * (0.5 + share) + vapply(seq_len(nrow(catalog)), function(i) find_phrase(catalog[i, ], asked), 0)
  order <- utils::head(order(-score), n)
  found <- catalog[order[score[order] > 0], ]
  found$score <- score[order[score[order] > 0]]
  row.names(found) <- NULL
  structure(found, class = c("granary_found", "data.frame"), words = words)
}

#' @export
print.granary_found <- function(x, ...) {
  if (!all(c("key", "title", "functions", "use") %in% names(x))) return(NextMethod())  # a subset of the columns
  if (nrow(x) == 0L) {
    cli::cat_line("No method matches \"", attr(x, "words"), "\". granary_catalog() lists all of them.")
    return(invisible(x))
  }
  for (i in seq_len(nrow(x))) {
    functions <- split_words(x$functions[i])
    cli::cat_line(cli::style_bold(functions[1L], "()"), "  ", x$title[i], " [", x$key[i], "]")
    cat_wrapped(sub("([.?!]) .*$", "\\1", x$use[i]))
    if (!is.na(x$size[i])) cat_wrapped(paste0("Good for: ", x$size[i]))
    others <- utils::head(functions[-1L], 5L)
    cat_wrapped(paste0("Read ?", functions[1L], if (length(others) > 0L) paste0("; see also ", paste0(others, "()", collapse = ", "))))
  }
  invisible(x)
}

find_weights <- c(functions = 4, keywords = 4, task = 4, title = 3, data = 2, output = 2, use = 1, paper = 0.5)

# For each method a list of stems per field.
find_index <- function(catalog) {
  fields <- intersect(names(find_weights), names(catalog))
  lapply(seq_len(nrow(catalog)), function(i) {
    lapply(stats::setNames(fields, fields), function(field) if (is.na(catalog[[field]][i])) character() else find_stems(catalog[[field]][i]))
  })
}

find_stop <- c("a", "an", "and", "are", "as", "at", "be", "by", "can", "do", "does", "for", "from", "given", "have", "how", "i", "if", "in", "is", "it", "its", "me",
               "my", "not", "of", "on", "once", "one", "or", "other", "own", "r", "some", "such", "than", "that", "the", "their", "them", "there", "these", "they",
               "this", "to", "use", "using", "want", "we", "what", "when", "where", "which", "who", "will", "with", "would", "you", "your", "all", "each", "every",
               "many", "much", "find", "get", "make", "method", "methods", "model", "models", "data", "estimate", "fit")

find_stems <- function(text) {
  words <- strsplit(tolower(enc2utf8(text)), "[^[:alnum:]]+")[[1L]]
  words <- words[nzchar(words) & !words %in% find_stop]
  unique(find_stem(words))
}

# Endings off, British and American spellings as one: enough for words of statistics.
find_stem <- function(word) {
  word <- sub("isation(s?)$", "ization", word)
  word <- sub("is(e|ed|es|ing)$", "iz\\1", word)
  word <- gsub("our", "or", word, fixed = TRUE)
  word <- sub("(izations?|ized|izes|izing|ize|izer)$", "iz", word)
  word <- sub("(ations?|ators?|ating|ated|ates|ate)$", "at", word)
  endings <- "(ions?|ings?|ers?|ors?|ed|ies|ity|ive|ically|ical|ics|ic|ally|al|ly|ness|ments?|es|s|e|y)$"
  for (pass in 1:2) {
    shorter <- sub(endings, "", word)
    word <- ifelse(nchar(shorter) >= 3L, shorter, word)
  }
  sub("(.)\\1$", "\\1", word)
}

# What was asked is the name of a function, or a keyword, as it stands: the sooner it is named, the more the method is about it.
find_phrase <- function(method, asked) {
  named <- c(strsplit(method$functions, ", ", fixed = TRUE)[[1L]], strsplit(if (is.na(method$keywords)) "" else method$keywords, ", ", fixed = TRUE)[[1L]])
  same <- vapply(named, function(name) {
    stems <- find_stems(name)
    length(stems) == length(asked) && all(vapply(asked, function(stem) stem %in% stems || find_near(stem, stems), NA))
  }, NA)
  if (any(same)) find_weights[["keywords"]] * (1 + 1 / which(same)[1L]) else 0
}

# Whether a stem begins as one of these does, or differs from one in a letter.
find_near <- function(stem, stems) {
  begins <- nchar(stem) >= 4L & (startsWith(stems, stem) | (nchar(stems) >= 4L & startsWith(stem, stems)))
  any(begins) || (nchar(stem) >= 5L && any(utils::adist(stem, stems) <= 1))
}

# The weight of the best field with this stem; a stem that differs in one letter, or begins the same, counts half.
find_hit <- function(method, stem) {
  best <- 0
  for (field in names(method)) {
    stems <- method[[field]]
    weight <- find_weights[[field]]
    if (length(stems) == 0L || weight <= best) next
    if (stem %in% stems) {
      best <- weight
    } else if (nchar(stem) >= 4L && weight / 2 > best) {
      if (find_near(stem, stems)) best <- weight / 2
    }
  }
  best
}
