#' Background knowledge for causal searches
#'
#' What is known before looking at the data, for [pc()], [fci()] and [rfci()].
#'
#' @details
#' Pairs are given as text (`"a -> b"`, several in one string or vector), as a two-column matrix or a data frame with `from` and `to`, or
#' as a square
#' logical matrix, whose names, if it has any, say which variables are meant. In `gaps` and `edges` the direction does not matter.
#'
#' In [pc()] a pair forbidden in both directions has no edge. In [fci()] and [rfci()] `forbidden` means that the first variable is no
#' cause of the
#' second: if they are
#' adjacent the edge has an arrow at the first. A tier holds the variables of one time; a variable is never a cause of one in an earlier
#' tier, and
#' it is not used to
#' separate two variables that are both earlier.
#'
#' @section Which method when:
#' `tiers` where times are known, `forbidden` and `required` for single arrows, `gaps` and `edges` for adjacency. What is uncertain is better left to the
#' data and to [pc_stability()].
#'
#' @param required Pairs whose edge is there and directed.
#' @param forbidden Pairs of which the first is no cause of the second.
#' @param tiers A list of character vectors, earliest first, or one number per variable (named, or in the order of the columns). Variables
#'   that are
#'   in no tier are not restricted.
#' @param gaps Pairs that are not adjacent.
#' @param edges Pairs that are adjacent, in whichever direction.
#' @param ... Nothing: an argument that is not known is an error.
#' @return An object of class `granary_background`.
#' @seealso [pc()], [fci()], [ci_test()], [causal_dag()], [ida()], [pc_stability()]
#' @export
#' @examples
#' tiers <- list(c("cyl", "wt"), c("hp", "disp"), "mpg")
#' known <- pc_knowledge(required = "wt -> mpg", forbidden = "mpg -> cyl", tiers = tiers)
#' known
#' pc(mtcars[c("mpg", "cyl", "wt", "hp", "disp")], background = known)
pc_knowledge <- function(required = NULL, forbidden = NULL, tiers = NULL, gaps = NULL, edges = NULL, ...) {
  refuse_dots(...)
  parts <- list(required = required, forbidden = forbidden, gaps = gaps, edges = edges)
  for (name in names(parts)) {
    part <- parts[[name]]
    fits <- is.null(part) || (is.character(part) && is.null(dim(part)) && !anyNA(part) && length(part) > 0L) ||
      (is.data.frame(part) && length(part) >= 2L) ||
      (is.matrix(part) && (ncol(part) == 2L || nrow(part) == ncol(part)) && length(part) > 0L && !anyNA(part))
    if (!fits || isS4(part)) fail_input(name, "pairs of variables: text like \"a -> b\", two columns, or a square logical matrix (or NULL)",
                                        describe(part))
  }
  fits <- is.null(tiers) || (is.list(tiers) && !is.object(tiers) && length(tiers) > 0L && all(vapply(tiers, is.character, NA))) ||
    (is_plain_numeric(tiers) && !is.object(tiers) && is.null(dim(tiers)) && length(tiers) > 0L && !any(is.infinite(tiers)))
  if (!fits) fail_input("tiers", "a list of character vectors or one number per variable (or NULL)", describe(tiers))
  seal(structure(c(parts, list(tiers = tiers)), class = "granary_background"))
}

#' @export
print.granary_background <- function(x, ...) {
  size <- function(part) {
    if (is.character(part)) return(length(unlist(strsplit(part, "[;,\n]"))))
    if (is.matrix(part) && ncol(part) != 2L) sum(part != 0) else nrow(part)
  }
  cli::cat_line("Background knowledge")
  for (name in c("required", "forbidden", "gaps", "edges")) if (!is.null(x[[name]])) cli::cat_line("  ", name, ": ", size(x[[name]]))
  if (!is.null(x$tiers)) cli::cat_line("  tiers: ", if (is.list(x$tiers)) length(x$tiers) else length(unique(x$tiers)))
  invisible(x)
}

no_background <- function() list(gaps = NULL, edges = NULL, required = NULL, excluded = NULL, tier = NULL)

# Two-column matrix of node numbers.
resolve_pairs <- function(part, nodes, arg) {
  if (is.null(part)) return(matrix(0L, 0L, 2L))
  number <- function(x) {
    if (is.factor(x)) x <- as.character(x)
    at <- if (is.character(x)) match(x, nodes) else ifelse(x %in% seq_along(nodes), x, NA)
    if (anyNA(at)) abort_input(sprintf("`%s` must hold variables of the data, but there is no variable %s.", arg, describe_node(x[is.na(at)][1L])),
                               arg)
    as.integer(at)
  }
  pairs <- if (is.character(part) && is.null(dim(part))) {
    parsed <- parse_edges(part, arg)
    if (length(parsed$from) == 0L) abort_input(sprintf("`%s` names no edge; write it like \"a -> b\".", arg), arg)
    turned <- grepl("^<", parsed$edge) & !grepl(">$", parsed$edge)
    both <- grepl("^<", parsed$edge) & grepl(">$", parsed$edge)
    first <- number(ifelse(turned, parsed$to, parsed$from))
    second <- number(ifelse(turned, parsed$from, parsed$to))
    rbind(cbind(first, second), cbind(second, first)[both, , drop = FALSE])
  } else if (is.matrix(part) && nrow(part) == ncol(part) && (is.logical(part) || ncol(part) != 2L)) {
    if (ncol(part) != length(nodes)) {
      abort_input(sprintf("`%s` must be a %d x %d matrix, one row and column per variable, but it is %d x %d.", arg, length(nodes), length(nodes),
                          nrow(part),
                          ncol(part)), arg)
    }
    unname(which(match_named(part, nodes, arg) != 0, arr.ind = TRUE))
  } else {
    if (is.data.frame(part)) part <- if (all(c("from", "to") %in% names(part))) part[c("from", "to")] else part[1:2]
    cbind(number(part[, 1L]), number(part[, 2L]))
  }
  loop <- which(pairs[, 1L] == pairs[, 2L])
  if (length(loop) > 0L) abort_input(sprintf("`%s` pairs %s with itself.", arg, nodes[pairs[loop[1L], 1L]]), arg)
  unique(matrix(as.integer(pairs), ncol = 2L))
}

resolve_tiers <- function(tiers, nodes) {
  if (is.null(tiers)) return(NULL)
  if (is.list(tiers)) {
    named <- unlist(tiers)
    unknown <- setdiff(named, nodes)
    if (length(unknown) > 0L) abort_input(sprintf("`tiers` must hold variables of the data, but there is no variable \"%s\".", unknown[1L]), "tiers")
    if (anyDuplicated(named)) abort_input(sprintf("`tiers` must hold each variable once, but \"%s\" comes twice.", named[duplicated(named)][1L]),
                                          "tiers")
    return(rep(seq_along(tiers), lengths(tiers))[match(nodes, named)])
  }
  if (!is.null(names(tiers))) {
    unknown <- setdiff(names(tiers), nodes)
    if (length(unknown) > 0L) abort_input(sprintf("`tiers` must name variables of the data, but there is no variable \"%s\".", unknown[1L]), "tiers")
    return(unname(tiers[match(nodes, names(tiers))]))
  }
  if (length(tiers) != length(nodes)) {
    abort_input(sprintf("`tiers` must have one number per variable (%d), but it has %d.", length(nodes), length(tiers)), "tiers")
  }
  as.double(tiers)
}

# For the core. `hidden`: may there be hidden common causes? Then a pair of which neither causes the other can still be adjacent.
resolve_background <- function(known, nodes, hidden) {
  if (is.null(known)) return(no_background())
  if (!inherits(known, "granary_background")) fail_input("background", "knowledge made by pc_knowledge() (or NULL)", describe(known))
  check_fit(known)
  required <- resolve_pairs(known$required, nodes, "required")
  forbidden <- resolve_pairs(known$forbidden, nodes, "forbidden")
  gaps <- resolve_pairs(known$gaps, nodes, "gaps")
  edges <- resolve_pairs(known$edges, nodes, "edges")
  tier <- resolve_tiers(known$tiers, nodes)
  key <- function(pairs) paste(pairs[, 1L], pairs[, 2L])
  either <- function(pairs) rbind(pairs, pairs[, 2:1, drop = FALSE])
  say <- function(pair) paste(nodes[pair[1L]], "->", nodes[pair[2L]])

  cycle <- required_cycle(required, length(nodes))
  if (length(cycle) > 0L) {
    abort_input(paste0("The required edges form a cycle: ", paste(nodes[c(cycle, cycle[1L])], collapse = " -> "),
                       ".\nNo DAG has them all; drop one."), "required")
  }
  at <- which(key(required) %in% key(forbidden))
  if (length(at) > 0L) abort_input(sprintf("%s is both required and forbidden.", say(required[at[1L], ])), "forbidden")
  if (!is.null(tier)) {
    at <- which(tier[required[, 1L]] > tier[required[, 2L]])
    if (length(at) > 0L) abort_input(sprintf("%s is required, but it goes from a later to an earlier tier.", say(required[at[1L], ])), "tiers")
  }
  if (!hidden) {
    both <- forbidden[key(forbidden) %in% key(forbidden[, 2:1, drop = FALSE]), , drop = FALSE]
    gaps <- rbind(gaps, both)
  }
  at <- which(key(either(gaps)) %in% key(rbind(required, edges)))
  if (length(at) > 0L) {
    pair <- either(gaps)[at[1L], ]
    abort_input(sprintf("%s and %s are known to be adjacent and known not to be.", nodes[pair[1L]], nodes[pair[2L]]), "gaps")
  }
  excluded <- rbind(forbidden, required[, 2:1, drop = FALSE])
  some <- function(pairs) if (nrow(pairs) > 0L) pairs
  # With variables in no tier the order of the tiers is said pair by pair; separating sets are then not restricted.
  if (anyNA(tier)) {
    in_tier <- which(!is.na(tier))
    later <- expand.grid(i = in_tier, j = in_tier)
    excluded <- rbind(excluded, as.matrix(later[tier[later$i] > tier[later$j], ]))
    tier <- NULL
  } else if (!is.null(tier)) {
    tier <- match(tier, sort(unique(tier)))
  }
  list(gaps = some(gaps), edges = some(rbind(edges, required)), required = some(required), excluded = some(excluded), tier = tier)
}

required_cycle <- function(required, p) {
  if (nrow(required) == 0L) return(integer())
  low <- pmin(required[, 1L], required[, 2L])
  high <- pmax(required[, 1L], required[, 2L])
  twice <- which(duplicated(cbind(low, high)))
  if (length(twice) > 0L) return(c(low[twice[1L]], high[twice[1L]]))
  core_graph_cycle(list(nodes = p, edges = cbind(required, 1L, 2L)))
}
