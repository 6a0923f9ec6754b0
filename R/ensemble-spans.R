#' Labelled spans of text
#'
#' Spans found in documents by systems or people: where each begins and ends, what it is, and how sure its finder was.
#' What [span_merge()] and its relatives work on.
#'
#' @details
#' Boundaries are those between tokens (or letters): a span from 3 to 5 holds what lies between boundary 3 and boundary
#' 5, so `start < end`. A system has
#' each span with each field once; of exact repetitions the one with the highest score stays, with a warning.
#'
#' @section Which method when:
#' `spans()` brings data into form and checks them; [span_merge()] puts several systems side by side; [span_vote()] and
#' [span_stack()] make one answer of
#' them, [span_score()] scores it.
#'
#' @param data A data frame with one row per span, or a `spans` object.
#' @param doc,start,end,field,score,system The names of its columns; `score` and `system` may be `NULL` (no scores; one
#' system).
#' @return A data frame of class `granary_spans` with the columns `doc`, `start`, `end`, `field`, `score`, `system`.
#' @references
#' Sigletos, G., Paliouras, G., Spyropoulos, C. D. and Hatzopoulos, M. (2005). Combining information extraction systems
#' using voting and stacked generalization.
#' *Journal of Machine Learning Research* 6, 1751-1782.
#' @seealso [span_merge()], [span_vote()], [span_stack()], [span_score()], [sim_spans()], [span_hmm()]
#' @export
#' @examples
#' spans(data.frame(doc = "page", start = c(47, 59), end = c(49, 60), field = c("model", "screen"), score = c(0.9,
#' 0.8)))
spans <- function(data, doc = "doc", start = "start", end = "end", field = "field", score = NULL, system = NULL) {
  if (missing(data)) fail_missing("data")
  if (inherits(data, "granary_spans")) {
    if (all(c("doc", "start", "end", "field", "score", "system") %in% names(data))) return(data)
    class(data) <- "data.frame"  # some of its columns are gone
  }
  if (!is.data.frame(data)) fail_input("data", "a data frame with one row per span", describe(data))
  if (is.null(score) && "score" %in% names(data)) score <- "score"
  if (is.null(system) && "system" %in% names(data)) system <- "system"
  pick <- function(name, arg) {
    name <- check_string(name, arg)
    if (!name %in% names(data)) {
      abort_input(sprintf("`%s` is \"%s\", which is no column of `data`.%s", arg, name,
                          did_you_mean(name, names(data))), arg)
    }
    data[[name]]
  }
  text <- function(x, arg) {
    if (!is.atomic(x) || anyNA(x)) {
      abort_input(sprintf("Column `%s` of spans must be text without missing values, but it is %s.", arg,
                          if (anyNA(x)) paste("missing in row", which(is.na(x))[1L]) else describe(x)), arg)
    }
    readable(as.character(x))
  }
  place <- function(x, arg) {
    x <- check_vector(x, arg, min_length = 0L, lower = -1e9, upper = 1e9)
    odd <- which(x != round(x))[1L]
    if (!is.na(odd)) {
      abort_input(sprintf("`%s` must be whole numbers, but in row %d it is %s.", arg, odd, format(x[odd])), arg)
    }
    as.integer(x)
  }
  out <- data.frame(doc = text(pick(doc, "doc"), "doc"), start = place(pick(start, "start"), "start"),
                    end = place(pick(end, "end"), "end"), field = text(pick(field, "field"), "field"),
                    stringsAsFactors = FALSE)
  out$score <- rep(NA_real_, nrow(out))
  if (!is.null(score)) {
    out$score <- unname(check_vector(pick(score, "score"), "score", min_length = 0L, allow_na = TRUE,
                                     length = nrow(out)))
  }
  out$system <- if (is.null(system)) rep("system", nrow(out)) else text(pick(system, "system"), "system")
  bad <- which(out$start >= out$end)
  if (length(bad) > 0L) {
    abort_input(sprintf("Every span must begin before it ends, but in row %d it goes from %d to %d.", bad[1L],
                        out$start[bad[1L]], out$end[bad[1L]]), "start")
  }
  order <- order(is.na(out$score), -out$score)
  same <- duplicated(out[order, c("doc", "start", "end", "field", "system")])
  if (any(same)) {
    warn_input(sprintf("%d spans are there more than once in the same system; of each the highest score was kept.",
                       sum(same)), "data")
    out <- out[-order[same], , drop = FALSE]
    row.names(out) <- NULL
  }
  structure(out, class = c("granary_spans", "data.frame"))
}

#' @export
print.granary_spans <- function(x, ...) {
  refuse_dots(...)
  cli::cat_line(counted(nrow(x), "span", "spans"), " of ", counted(length(unique(x$field)), "field", "fields"), " in ",
                counted(length(unique(x$doc)), "document", "documents"), " by ",
                counted(length(unique(x$system)), "system", "systems"))
  print(utils::head(as.data.frame(unclass(x)[c("doc", "start", "end", "field", "score", "system")]), 10L),
        row.names = FALSE)
  if (nrow(x) > 10L) cli::cat_line("... and ", nrow(x) - 10L, " more")
  invisible(x)
}

# Several systems: a spans object, or a list of them by name.
several_spans <- function(x, arg = "x") {
  if (is.data.frame(x)) return(structure(spans(x), systems = attr(x, "systems")))
  if (!is.list(x) || length(x) == 0L) fail_input(arg, "spans, or a list of spans, one per system", describe(x))
  names <- variable_names(names(x), length(x))
  check_names_unique(names, arg)
  parts <- Map(function(one, name) {
    one <- spans(one)
    if (length(unique(one$system)) > 1L) {
      abort_input(sprintf("\"%s\" in `%s` holds the spans of several systems.", name, arg), arg)
    }
    one$system <- rep(name, nrow(one))
    one
  }, x, names)
  out <- do.call(rbind, lapply(unname(parts), function(one) as.data.frame(unclass(one))))
  structure(out, class = c("granary_spans", "data.frame"), systems = names)
}

systems_of <- function(x) {
  named <- attr(x, "systems")
  if (is.null(named)) sort(unique(x$system), method = "radix") else named
}

span_codes <- function(x, docs, fields, systems) {
  list(doc = match(x$doc, docs), start = x$start, end = x$end, field = match(x$field, fields),
       system = match(x$system, systems), score = x$score)
}

#' Several systems side by side
#'
#' The merged template of several systems: one row per span that at least one of them found, what each says, and what
#' is right where that is known.
#'
#' @details
#' Spans that differ in a boundary are different rows. A system that gives two fields to a span keeps the one with the
#' higher score. The right field is `NA`
#' where the span is not in `gold`.
#'
#' @section Which method when:
#' To look at the systems ([span_agreement()], `plot()`) and as the input of [span_vote()].
#'
#' @param x Spans of several systems: a [spans()] object with a column `system`, or a list of spans named by system.
#' @param gold The right spans, or `NULL` where they are not known.
#' @param fields,systems All fields and systems, where some may be missing here; `NULL` for those that occur.
#' @return An object of class `granary_span_merge`, inheriting from `granary_fit`: `spans` (data frame: `doc`, `start`,
#' `end`, `gold`), `field` and `score` (rows by systems),
#'   `fields`, `systems`, `missed` (right spans by field that no system found).
#' @inherit spans references
#' @seealso [spans()], [span_vote()], [span_agreement()], [span_stack()], [span_score()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_spans(20)
#' merged <- span_merge(sim$spans, gold = sim$gold)
#' merged
#' plot(merged)
span_merge <- function(x, gold = NULL, fields = NULL, systems = NULL) {
  call <- match.call()
  if (missing(x)) fail_missing("x")
  x <- several_spans(x)
  if (is.null(systems)) systems <- systems_of(x)
  if (!is.null(gold)) gold <- spans(gold)
  if (is.null(fields)) fields <- sort(unique(c(x$field, gold$field)), method = "radix")
  check_span_words(systems, "systems")
  check_span_words(fields, "fields")
  if (length(systems) == 0L) abort_input("`x` has no spans: name the systems by `systems`.", "x")
  docs <- unique(c(x$doc, gold$doc))
  strange <- setdiff(x$system, systems)
  if (length(strange) > 0L) {
    abort_input(sprintf("`x` has the system \"%s\", which is not among `systems`.", strange[1L]), "x")
  }
  unknown <- !x$field %in% fields
  if (any(unknown)) {
    warn_input(sprintf("%d spans have fields that are not among `fields`, the first \"%s\": they are left out.",
                       sum(unknown), x$field[unknown][1L]), "x")
    x <- x[!unknown, , drop = FALSE]
  }
  if (any(!gold$field %in% fields)) {
    abort_input(sprintf("`gold` has the field \"%s\", which is not among `fields`.", setdiff(gold$field, fields)[1L]),
                "gold")
  }
  clash <- duplicated(gold[c("doc", "start", "end")])
  if (any(clash)) {
    abort_input(sprintf("`gold` gives two fields to the span from %d to %d of \"%s\".", gold$start[clash][1L],
                        gold$end[clash][1L], gold$doc[clash][1L]), "gold")
  }
  all <- rbind(as.data.frame(unclass(x)[c("doc", "start", "end", "field", "score", "system")]),
               if (!is.null(gold)) as.data.frame(unclass(gold)[c("doc", "start", "end", "field", "score", "system")]))
  codes <- span_codes(all, docs, fields, systems)
  codes$system <- c(codes$system[seq_len(nrow(x))], rep(0L, NROW(gold)))
  found <- core_span_merge(codes, length(systems), max(length(fields), 1L), progress_bar("merging"))
  if (found$several > 0L) {
    warn_input(sprintf("%d times a system gives two fields to a span; the one with the higher score was kept.",
                       found$several), "x")
  }
  word <- function(code) c(NA, fields)[code + 1L]
  table <- data.frame(doc = docs[found$doc], start = found$start, end = found$end, gold = word(found$gold),
                      stringsAsFactors = FALSE)
  if (is.null(gold)) table$gold <- NULL
  dimnames(found$field) <- dimnames(found$score) <- list(NULL, systems)
  new_fit("span_merge", spans = table, field = found$field, score = na_for_nan(found$score), fields = fields,
          systems = systems, missed = if (!is.null(gold)) stats::setNames(found$missed[seq_along(fields)], fields),
          n = nrow(table), call = call, convergence = NULL)
}

check_span_words <- function(x, arg) {
  if (!is.character(x) || anyNA(x)) fail_input(arg, "text without missing values", describe(x))
  check_names_unique(x, arg)
}

check_merged <- function(x, gold = FALSE, arg = "x") {
  if (!inherits(x, "granary_span_merge")) fail_input(arg, "what span_merge() returns", describe(x))
  if (gold && is.null(x$spans$gold)) {
    abort_input(sprintf("`%s` was merged without `gold`: what is right is not known.", arg), arg)
  }
  x
}

merged_words <- function(x) {
  words <- matrix(c(NA, x$fields)[x$field + 1L], nrow(x$field), dimnames = list(NULL, x$systems))
  out <- cbind(x$spans[c("doc", "start", "end")], as.data.frame(words, optional = TRUE))
  out$gold <- x$spans$gold
  out
}

#' @export
print.granary_span_merge <- function(x, ...) {
  refuse_dots(...)
  cli::cat_line("Merged spans: ", counted(x$n, "span", "spans"), " in ",
                counted(length(unique(x$spans$doc)), "document", "documents"), " by ",
                paste(x$systems, collapse = ", "))
  print_call(x$call)
  if (x$n > 0L) print(utils::head(merged_words(x), 10L), row.names = FALSE)
  if (x$n > 10L) cli::cat_line("... and ", x$n - 10L, " more")
  if (!is.null(x$missed)) cli::cat_line(sum(x$missed), " right spans were found by no system")
  invisible(x)
}

#' @export
summary.granary_span_merge <- function(object, ...) {
  seal(structure(list(fit = object, agreement = if (!is.null(object$spans$gold)) span_agreement(object)),
                 class = "summary_granary_span_merge"))
}

#' @export
print.summary_granary_span_merge <- function(x, ...) {
  print(x$fit)
  if (!is.null(x$agreement)) print(x$agreement)
  invisible(x)
}

#' @export
tidy.granary_span_merge <- function(x, ...) merged_words(x)

#' @export
glance.granary_span_merge <- function(x, ...) {
  data.frame(n = x$n, documents = length(unique(x$spans$doc)), systems = length(x$systems), fields = length(x$fields),
             missed = if (is.null(x$missed)) NA_integer_ else sum(x$missed))
}

merge_counts <- function(x) {
  spoken <- rowSums(x$field > 0L)
  first <- apply(x$field, 1L, function(row) length(unique(row[row > 0L])))
  kind <- factor(ifelse(first > 1L, "conflict", ifelse(spoken == length(x$systems), "agreement", "some silent")),
                 c("agreement", "some silent", "conflict"))
  right <- factor(rep("unknown", x$n))
  if (!is.null(x$spans$gold)) {
    right <- factor(ifelse(is.na(x$spans$gold), "not a span", "a right span"), c("a right span", "not a span"))
  }
  table(right, kind)
}

#' @rdname span_merge
#' @details `plot()` counts rows on which the systems agree, on which some are silent, and on which they contradict
#' each other.
#' @param ... Passed on to [graphics::barplot()].
#' @export
plot.granary_span_merge <- function(x, ...) {
  counts <- merge_counts(x)
  colours <- unname(rev(sign_colours))[seq_len(nrow(counts))]
  draw(graphics::barplot, counts, col = colours, border = NA, ylab = "spans", user = list(...))
  if (nrow(counts) > 1L) graphics::legend("topright", rownames(counts), fill = colours, border = NA, bty = "n")
  invisible(x)
}

#' @rdname span_merge
#' @param object What `span_merge()` returns.
#' @usage \method{autoplot}{granary_span_merge}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_span_merge <- function(object, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  check_installed("ggplot2", "autoplot()")
  gg_canvas(as.data.frame(merge_counts(object)), ggplot2::aes(.data$kind, .data$Freq, fill = .data$right)) +
    ggplot2::geom_col() +
    ggplot2::scale_fill_manual(values = unname(rev(sign_colours))) + ggplot2::labs(x = NULL, y = "spans", fill = NULL)
}
