#' Re-make the numbers of a paper
#'
#' Each paper behind granary comes with a script that computes its headline numbers again and sets them beside the printed ones.
#' `reproduce()` runs it and says plainly which agree, which do not, and which cannot be had, because the paper used data that is not public or
#' left a detail open.
#'
#' The scripts are ordinary R files in `system.file("reproduce", package = "granary")`. They run in an environment of their own that sees
#' granary and R's standard packages but nothing of the session, with R's default random number generators; the session's random state is
#' put back afterwards.
#' A script reports by calling `claim(text, paper, ours, tolerance, note = "", source = "paper")` once per number: `ours` agrees
#' when it is within `tolerance` of `paper`. Where one of the three is `NA` nothing is compared, and `note` has to say why. With
#' `source = "reference"` the number to compare with is not the paper's but one of our own making, such as that of a prototype; such claims are
#' counted apart. A number within a tolerance as large as itself is not counted as agreement
#' but among those that cannot be compared.
#' The variable `extended` tells the script whether the long runs are wanted; then every claim is printed as it comes.
#'
#' @section Which method when:
#' `reproduce(key)` for one paper, `reproduce("all")` for a table of all of them; [errata()] for what a paper prints wrongly.
#'
#' @param key The key of a paper, as in [granary_catalog()]; `NULL` lists the papers that have a script, `"all"` runs all of them.
#' @param extended Also run the parts that take minutes rather than seconds?
#' @param ... Nothing: an argument that is not known is an error.
#' @return A data frame of class `granary_reproduction` with columns `claim`, `paper`, `ours`, `tolerance`, `agrees`, `source` and `note`. Without a `key`,
#'   the rows of [granary_catalog()] that have a script. `reproduce("all")` runs every script, which takes some minutes, and gives a data frame of class
#'   `granary_reproductions` with one row per paper: `key`, `agree`, `disagree`, `open` (claims that cannot be compared), `references` and `differ` (those
#'   of our own making), `seconds`, and `error` where a script stopped; the claims of all are its attribute `"claims"`.
#' @seealso [granary_find()], [granary_catalog()], [granary_report()], [granary_session()]
#' @export
#' @examples
#' reproduce()
reproduce <- function(key = NULL, extended = FALSE, ...) {
  refuse_dots(...)
  extended <- check_flag(extended, "extended")
  scripts <- list.files(system.file("reproduce", package = "granary"), pattern = "[.]R$", full.names = TRUE)
  keys <- sub("[.]R$", "", basename(scripts))
  if (is.null(key)) {
    catalog <- granary_catalog()
    return(catalog[catalog$key %in% keys, ])
  }
  if (identical(key, "all")) return(reproduce_all(extended))
  check_keys(key, granary_catalog()$key, one = TRUE)
  at <- match(key, keys)
  if (is.na(at)) abort_input(paste0("There is no script for \"", key, "\" yet. reproduce() lists the papers that have one."), arg = "key")
  run_reproduction(scripts[at], key, extended)
}

reproduce_all <- function(extended) {
  keys <- reproduce()$key
  bar <- progress_bar("papers")
  runs <- lapply(seq_along(keys), function(i) {
    # a script that stops is a row with its message
    run <- tryCatch(suppressWarnings(reproduce(keys[i], extended)), granary_error = function(e) conditionMessage(e))
    if (!is.null(bar)) bar(i / length(keys))
    run
  })
  reproduction_table(stats::setNames(runs, keys), extended)
}

# One row per paper from `runs`, named by key: a reproduction each, or the message of a script that stopped.
reproduction_table <- function(runs, extended) {
  keys <- names(runs)
  rows <- Map(function(key, run) {
    if (is.character(run)) return(data.frame(key, agree = NA, disagree = NA, open = NA, references = NA, differ = NA, seconds = NA, error = run))
    own <- run$source == "reference"
    data.frame(key, agree = sum(run$agrees[!own] %in% TRUE), disagree = sum(run$agrees[!own] %in% FALSE), open = sum(is.na(run$agrees)),
               references = sum(own & !is.na(run$agrees)), differ = sum(run$agrees[own] %in% FALSE), seconds = attr(run, "seconds"), error = "")
  }, keys, runs)
  claims <- Map(function(key, run) if (!is.character(run) && nrow(run) > 0L) cbind(key, as.data.frame(run)), keys, runs)
  table <- do.call(rbind, unname(rows))
  structure(table, class = c("granary_reproductions", "data.frame"), claims = do.call(rbind, unname(claims)), extended = extended)
}

#' @export
print.granary_reproductions <- function(x, ...) {
  if (!all(c("key", "agree", "disagree", "open", "seconds", "error") %in% names(x))) return(NextMethod())  # a subset of the columns
  shown <- as.data.frame(x)[c("key", "agree", "disagree", "open", "references", "differ", "seconds")]
  shown$seconds <- round(shown$seconds, 1)
  print(shown, row.names = FALSE)
  total <- function(column) sum(x[[column]], na.rm = TRUE)
  cli::cat_line()
  cli::cat_line(total("agree"), " numbers of the papers agree, ", total("disagree"), " do not, ", total("open"), " cannot be compared; of ", total("references"),
                " references of our own ", total("differ"), " differ.")
  for (i in which(nzchar(x$error))) cat_wrapped(paste0(x$key[i], ": ", x$error[i]), prefix = "- ")
  invisible(x)
}

run_reproduction <- function(file, key, extended = FALSE) {
  claims <- claim_collector(aloud = extended)
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

claim_collector <- function(aloud = FALSE) {
  rows <- list()
  claim <- function(text, paper, ours, tolerance, note = "", source = "paper") {
    text <- check_string(text, "text")
    source <- check_choice(source, c("paper", "reference"), "source")
    number <- function(x, arg) if (checkmate::test_scalar_na(x)) NA_real_ else if (isTRUE(x) || isFALSE(x)) as.double(x) else check_number(x, arg)
    paper <- number(paper, "paper")
    ours <- number(ours, "ours")
    tolerance <- number(tolerance, "tolerance")
    comparable <- !anyNA(c(paper, ours, tolerance))
    if (!comparable && !checkmate::test_string(note, min.chars = 1L)) {
      abort_input(paste0("`note` must say why nothing can be compared, since a value of the claim \"", text, "\" is NA."), arg = "note")
    }
    agrees <- if (comparable) abs(ours - paper) <= tolerance else NA
    if (isTRUE(agrees) && source == "paper" && paper != 0 && tolerance >= abs(paper)) {  # anything from nothing to twice as much would do
      agrees <- NA
      note <- paste0(note, if (nzchar(note)) "; ", "within a tolerance as wide as the number itself, which is no agreement")
    }
    rows[[length(rows) + 1L]] <<- data.frame(claim = text, paper = paper, ours = ours, tolerance = tolerance, agrees = agrees, source = source, note = note)
    if (aloud) cli::cat_line(claim_mark(agrees), "  ", text, ": paper ", claim_number(paper), ", ours ", claim_number(ours))
    invisible(rows[[length(rows)]]$agrees)
  }
  none <- data.frame(claim = character(), paper = double(), ours = double(), tolerance = double(), agrees = logical(), source = character(),
                     note = character())
  list(claim = claim, table = function() do.call(rbind, c(list(none), rows)))
}

claim_mark <- function(agrees) ifelse(is.na(agrees), "?", ifelse(agrees, cli::symbol$tick, cli::symbol$cross))
claim_number <- function(value) ifelse(is.na(value), "-", formatC(value, digits = 4L, format = "g"))

#' @export
print.granary_reproduction <- function(x, ...) {
  if (!all(c("claim", "paper", "ours", "tolerance", "agrees", "source", "note") %in% names(x))) return(NextMethod())  # a subset of the columns
  key <- attr(x, "key")
  cli::cat_line(cli::rule(left = paste("reproduce", key), width = min(80L, cli::console_width())))
  if (nrow(x) == 0L) {
    cli::cat_line("The script makes no claim.")
    return(invisible(x))
  }
  columns <- list(
    c("", claim_mark(x$agrees)), c("paper", claim_number(x$paper)), c("ours", claim_number(x$ours)), c("tolerance", claim_number(x$tolerance)),
    c("claim", paste0(x$claim, ifelse(x$source == "reference", " [reference]", "")))
  )
  columns[1:4] <- lapply(columns[1:4], function(column) formatC(column, width = max(nchar(column, "width"))))
  cli::cat_line(do.call(paste, c(columns, sep = "  ")))

  own <- x$source == "reference"
  disagree <- x$agrees %in% FALSE
  open <- is.na(x$agrees)
  cli::cat_line()
  cli::cat_line(sum(x$agrees %in% TRUE & !own), " of ", sum(!own), " claims agree, ", sum(disagree & !own), " do not, ", sum(open), " cannot be compared",
                if (!is.null(attr(x, "seconds"))) paste0(" (", format(attr(x, "seconds"), digits = 2L), " s)"), ".")
  if (any(own)) cli::cat_line(sum(own), " numbers marked [reference] are of our own making, not the paper's; ", sum(disagree & own), " of them differ.")
  vague <- open & !own & !is.na(x$ours + x$paper + x$tolerance)
  if (any(vague)) cli::cat_line(sum(vague), " tolerances are as wide as the number: ", paste(x$claim[vague], collapse = "; "), ".")
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
