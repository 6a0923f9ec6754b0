# Samples of symbols: counts, tables, or the symbols themselves.

# A list with `counts` (doubles, with names where the symbols have them), `listed`, whether symbols that were not seen may stand among them, `total` and `distinct`.
check_symbols <- function(x, arg = "x", min_total = 1) {
  if (missing(x)) fail_missing(arg)
  expected <- "counts (whole numbers), a table, or the symbols themselves (text, a factor, TRUE and FALSE)"
  if (inherits(x, "granary_symbols")) return(x)
  raw <- is.null(dim(x)) && (is.character(x) || is.factor(x) || (is.logical(x) && !is.object(x)))
  if (raw) {
    if (length(x) == 0L) fail_input(arg, expected, "nothing: it is empty")
    if (anyNA(x)) abort_input(sprintf("`%s` has a missing symbol, element %d.\nLeave it out, or give it a name.", arg, which(is.na(x))[1L]), arg)
    if (is.character(x)) x <- readable(x)
    listed <- is.factor(x)
    if (listed) levels(x) <- make.unique(readable(levels(x)))
    x <- table(x)
  } else {
    listed <- TRUE
  }
  numeric <- (is_plain_numeric(x) || inherits(x, "table")) && !is.data.frame(x) && length(x) > 0L && is.numeric(x)
  if (!numeric) fail_input(arg, expected, describe(x))
  labels <- if (length(dim(x)) <= 1L) names(x)
  counts <- as.double(x)
  found <- core_count_summary(counts)
  bad <- found[1L]
  if (bad > 0) {
    abort_input(sprintf("Every count in `%s` must be a whole number from 0 to 2^53, but element %d is %s.", arg, as.integer(bad),
                        format(counts[bad], digits = 6L)), arg)
  }
  total <- found[2L]
  if (total < min_total) {
    abort_input(sprintf("`%s` must hold at least %s, but it holds %s.", arg, counted(min_total, "draw", "draws"),
                        if (total == 0) "none: all counts are zero" else format(total)), arg)
  }
  if (total > 2^53) abort_input(sprintf("The counts in `%s` sum to %g, more than 2^53: they cannot be held exactly.", arg, total), arg)
  if (!is.null(labels)) names(counts) <- readable(labels)
  structure(list(counts = counts, listed = listed, total = total, distinct = found[3L]), class = "granary_symbols")
}

check_all_whole <- function(x, arg) {
  bad <- which(x != round(as.double(x)))
  if (length(bad) > 0L) {
    abort_input(sprintf("Every element of `%s` must be a whole number, but element %d is %s.", arg, bad[1L], format(x[[bad[1L]]], digits = 6L)), arg)
  }
}

# Nats to the unit asked for.
unit_scale <- function(unit) if (unit == "bits") 1 / log(2) else 1

seen_text <- function(total, distinct, singletons) {
  sprintf("%s in %s, %s seen once", counted_many(distinct, "symbol"), counted_many(total, "draw"), format(singletons, big.mark = ","))
}

counted_many <- function(n, what) paste0(format(n, big.mark = ",", scientific = FALSE), " ", what, if (n == 1) "" else "s")
