#' Re-make the numbers of a paper
#'
#' Each paper behind granary comes with a script that computes its headline numbers again and sets them beside the printed ones.
#' `reproduce()` runs it and says plainly which agree, which do not, and which cannot be had, because the paper used data that is not public or
#' left a detail open.
#'
#' The scripts are ordinary R files in `system.file("reproduce", package = "granary")`. They run in an environment of their own that sees
#' granary and R's standard packages but nothing of the session, with R's default random number generators; the session's random state is
#' put back afterwards.
#' A script reports by calling `claim(text, paper, ours, tolerance, note = "")` once per number: `ours` agrees
#' when it is within `tolerance` of `paper`. Where one of the three is `NA` nothing is compared, and `note` has to say why.
#' The variable `extended` tells the script whether the long runs are wanted.
#'
#' @param key The key of a paper, as in [granary_catalog()]; `NULL` lists the papers that have a script.
#' @param extended Also run the parts that take minutes rather than seconds?
#' @return A data frame of class `granary_reproduction` with columns `claim`, `paper`, `ours`, `tolerance`, `agrees` and `note`. Without a `key`,
#'   the rows of [granary_catalog()] that have a script.
#' @family infrastructure
#' @export
#' @examples
#' reproduce()
reproduce <- function(key = NULL, extended = FALSE) {
  extended <- check_flag(extended, "extended")
  scripts <- list.files(system.file("reproduce", package = "granary"), pattern = "[.]R$", full.names = TRUE)
  keys <- sub("[.]R$", "", basename(scripts))
  if (is.null(key)) {
    catalog <- granary_catalog()
    return(catalog[catalog$key %in% keys, ])
  }
  check_keys(key, granary_catalog()$key, one = TRUE)
  at <- match(key, keys)
  if (is.na(at)) abort_input(paste0("There is no script for \"", key, "\" yet. reproduce() lists the papers that have one."), arg = "key")
  run_reproduction(scripts[at], key, extended)
}

run_reproduction <- function(file, key, extended = FALSE) {
  claims <- claim_collector()
  script <- new.env(parent = standard_environment())
  script$claim <- claims$claim
  script$extended <- extended

  had_seed <- exists(".Random.seed", globalenv(), inherits = FALSE)
  seed <- if (had_seed) get(".Random.seed", globalenv(), inherits = FALSE)
  kind <- RNGkind()
  on.exit({
    do.call(RNGkind, as.list(kind))
    if (had_seed) assign(".Random.seed", seed, globalenv()) else suppressWarnings(rm(".Random.seed", envir = globalenv()))
  })
  RNGkind("default", "default", "default")

  started <- proc.time()[["elapsed"]]
  tryCatch(
    sys.source(file, envir = script, keep.source = FALSE),
    error = function(e) {
      abort_numeric(paste0("The script for \"", key, "\" stopped after ", nrow(claims$table()), " claims: ", conditionMessage(e)))
    }
  )
  seconds <- proc.time()[["elapsed"]] - started
  structure(claims$table(), class = c("granary_reproduction", "data.frame"), key = key, seconds = seconds, extended = extended)
}

# Everything a plain session offers, and granary, but nothing the user has defined.
standard_environment <- function() {
  everything <- new.env(parent = baseenv())
  for (package in c("methods", "datasets", "utils", "grDevices", "graphics", "stats")) {
    space <- asNamespace(package)
    list2env(mget(getNamespaceExports(space), envir = space, inherits = TRUE), everything)
    list2env(as.list(getNamespaceInfo(space, "lazydata")), everything)
  }
  own <- topenv()
  exported <- if (isNamespace(own)) getNamespaceExports(own) else ls(own)
  list2env(mget(exported, envir = own, inherits = TRUE), everything)
  everything
}

claim_collector <- function() {
  rows <- list()
  claim <- function(text, paper, ours, tolerance, note = "") {
    text <- check_string(text, "text")
    number <- function(x, arg) if (checkmate::test_scalar_na(x)) NA_real_ else if (isTRUE(x) || isFALSE(x)) as.double(x) else check_number(x, arg)
    paper <- number(paper, "paper")
    ours <- number(ours, "ours")
    tolerance <- number(tolerance, "tolerance")
    comparable <- !anyNA(c(paper, ours, tolerance))
    if (!comparable && !checkmate::test_string(note, min.chars = 1L)) {
      abort_input(paste0("`note` must say why nothing can be compared, since a value of the claim \"", text, "\" is NA."), arg = "note")
    }
    rows[[length(rows) + 1L]] <<- data.frame(
      claim = text, paper = paper, ours = ours, tolerance = tolerance,
      agrees = if (comparable) abs(ours - paper) <= tolerance else NA, note = note
    )
    invisible(rows[[length(rows)]]$agrees)
  }
  none <- data.frame(claim = character(), paper = double(), ours = double(), tolerance = double(), agrees = logical(), note = character())
  list(claim = claim, table = function() do.call(rbind, c(list(none), rows)))
}

#' @export
print.granary_reproduction <- function(x, ...) {
  if (!all(c("claim", "paper", "ours", "tolerance", "agrees", "note") %in% names(x))) return(NextMethod())  # a subset of the columns
  key <- attr(x, "key")
  cli::cat_line(cli::rule(left = paste("reproduce", key), width = min(80L, cli::console_width())))
  if (nrow(x) == 0L) {
    cli::cat_line("The script makes no claim.")
    return(invisible(x))
  }
  mark <- ifelse(is.na(x$agrees), "?", ifelse(x$agrees, cli::symbol$tick, cli::symbol$cross))
  number <- function(value) ifelse(is.na(value), "-", formatC(value, digits = 4L, format = "g"))
  columns <- list(
    c("", mark), c("paper", number(x$paper)), c("ours", number(x$ours)), c("tolerance", number(x$tolerance)), c("claim", x$claim)
  )
  columns[1:4] <- lapply(columns[1:4], function(column) formatC(column, width = max(nchar(column, "width"))))
  cli::cat_line(do.call(paste, c(columns, sep = "  ")))

  agree <- x$agrees %in% TRUE
  disagree <- x$agrees %in% FALSE
  open <- is.na(x$agrees)
  cli::cat_line()
  cli::cat_line(sum(agree), " of ", nrow(x), " claims agree, ", sum(disagree), " do not, ", sum(open), " cannot be compared",
                if (!is.null(attr(x, "seconds"))) paste0(" (", format(attr(x, "seconds"), digits = 2L), " s)"), ".")
  tell <- function(which, title) {
    if (!any(which)) return(invisible())
    cli::cat_line(title)
    for (i in which(which)) cat_wrapped(paste0(x$claim[i], if (nzchar(x$note[i])) paste0(": ", x$note[i])), prefix = "- ")
  }
  tell(disagree, "Does not agree:")
  tell(open, "Cannot be compared:")
  if (isFALSE(attr(x, "extended"))) cli::cat_line("reproduce(\"", key, "\", extended = TRUE) also does the long runs, where there are any.")
  invisible(x)
}
