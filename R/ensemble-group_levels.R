#' Group the levels of a factor
#'
#' Merges the levels of a factor that say the same about a class: post codes, products, diagnoses. The most probable
#' partition, without anything to tune; one group where the factor is noise. Exact for two classes, and for few levels;
#' otherwise with a bound.
#'
#' @details
#' With \eqn{I} levels, \eqn{J} classes and \eqn{K} groups with class counts \eqn{n_{kj}}{n_kj} the criterion is minus
#' the log of the posterior probability of a partition,
#' \deqn{C = \log I + \log B(I, K) + \sum_k \log {n_k + J - 1 \choose J - 1} + \sum_k \log \frac{n_k!}{\prod_j
#' n_{kj}!}, \quad
#' B(I, K) = \sum_{k \le K} S(I, k)}{
#' C = log I + log B(I, K) + sum_k log choose(n_k + J - 1, J - 1) + sum_k log(n_k! / prod_j n_kj!), B(I, K) = sum_(k <=
#' K) S(I, k)} with Stirling numbers of the second kind \eqn{S}: a uniform prior on the number of groups, on partitions,
#' and on the classes within each group. Differences of \eqn{C} are log posterior odds.
#'
#' Levels with proportional counts belong together in some best partition. For two classes groups are intervals in the
#' order of the shares (the paper's Conjecture 1, which follows from the convexity of the marginal likelihood), and
#' dynamic programming finds the best ones; beyond `max_exact` different shares the intervals of least entropy are
#' improved, and bound what could be gained. For more classes up to 12 different shares are enumerated; otherwise pairs
#' are merged, all levels are reassigned at once, single levels move, and merges are tried. `convergence$gap` is the
#' distance to a bound that no partition can beat.
#'
#' `method`: `"modl"` is the criterion above. `"bic"` is the deviance plus \eqn{\log(n) (K - 1)(J - 1)}. `"chaid"`
#' merges the pair with the largest p-value of chi-square while it is above `alpha` (Kass 1980); `"chaid_exhaustive"`
#' goes down to two groups and keeps the partition with the smallest p-value times \eqn{S(I, K)}.
#' `"khiops"` (the smallest p-value of the whole table, levels with an expected count below 5 pooled; without its
#' control of noise, which the paper does not specify), `"tschuprow"` and `"gain_ratio"` are there for comparisons: they
#' never give a single group. `"none"` leaves the levels alone.
#'
#' A missing value is a level of its own with `na = "level"`. Numbers are cut into `bins` intervals of equal width
#' first. With `pairs = TRUE` the pairs of factors are grouped as well, each pair of levels as one level.
#'
#' @section Which method when:
#' Before a regression, a tree or naive Bayes, where a factor has many levels, or to read a contingency table. `gain`
#' says how much a factor tells about the class, 0 for nothing. [step_group_levels()] does it within a recipe.
#' [adapt_partition()] cuts numbers, [bn_classifier()] is naive Bayes for two classes.
#'
#' @param x A factor, text, logicals or whole numbers; a data frame of such columns; a contingency table (levels by
#'   classes, without `y`); or a formula.
#' @param y The class of every row.
#' @param formula,data,subset,na.action A formula `class ~ factor + factor` and its data frame; terms are columns, not
#'   products.
#' @param method What makes a good grouping.
#' @param groups So many groups exactly; `NULL` for as many as pay.
#' @param search `"auto"`, `"exact"` (an error where that takes too long) or `"greedy"`.
#' @param weights Whole numbers: how often each row counts.
#' @param na Whether a missing value is a level, an error, or left out.
#' @param pairs Whether pairs of factors are grouped too.
#' @param bins Intervals that columns of numbers are cut into.
#' @param alpha For `"chaid"`: pairs whose p-value is above are merged.
#' @param max_exact Most levels with different shares for the exact search with two classes.
#' @param time_limit Seconds for improving a grouping that is not certainly the best; `NULL` for no limit.
#' @param ... Not used.
#' @return An object of class `granary_level_groups`, inheriting from `granary_fit`: `groups` (for a single factor a
#'   list of levels by group; else a list of such lists),
#'   `table` (groups by classes), `cost` and its parts `costs`, `null_cost` (one group), `gain` (1 - cost / null cost),
#'   `exact`, `factors` (all of this by factor), `levels` (classes), `prior` (class counts), `convergence` with the
#'   `gap` to the bound.
#' @references
#' Boulle, M. (2005). A Bayes optimal approach for partitioning the values of categorical attributes. *Journal of
#' Machine Learning Research* 6, 1431-1452.
#'
#' Kass, G. (1980). An exploratory technique for investigating large quantities of categorical data. *Applied
#' Statistics* 29, 119-127.
#' @seealso [step_group_levels()], [level_cost()], [sim_levels()], [adapt_partition()], [bn_classifier()]
#' @export
#' @examples
#' titanic <- as.data.frame(Titanic)
#' fit <- group_levels(titanic$Class, titanic$Survived, weights = titanic$Freq)
#' fit
#' predict(fit, c("1st", "Crew", "3rd"))
#' group_levels(apply(UCBAdmissions, 3:2, sum)[, 1:2])
#' plot(fit)
group_levels <- function(x, ...) {
  UseMethod("group_levels", formula_or_first(x, ...))
}

#' @rdname group_levels
#' @export
group_levels.formula <- function(formula, data = NULL, weights, subset, na.action, ...) {
  call <- match.call(expand.dots = FALSE)
  shown <- match.call()
  env <- parent.frame()
  refuse_parts(call, character())
  data <- check_formula_data(formula, data, TRUE)
  ask <- c(list(quote(stats::model.frame), formula = formula, data = data,
                na.action = if ("na.action" %in% names(call)) call$na.action else quote(stats::na.pass)),
           as.list(call[intersect(c("subset", "weights"), names(call))]))
  frame <- tryCatch(eval(as.call(ask), env), error = function(e) {
    abort_input(paste0("The variables of `formula` could not be found or combined: ", conditionMessage(e), "."),
                "formula")
  })
  if (nrow(frame) == 0L) abort_input("`data` must have at least one row, but it has none.", "data")
  if (max(attr(stats::terms(frame), "order"), 0L) > 1L) {
    abort_input("`formula` must be a sum of columns; for pairs of them use `pairs = TRUE`.", "formula")
  }
  if (!is.null(stats::model.offset(frame))) refuse_offset()
  y <- stats::model.response(frame)
  weights <- stats::model.weights(frame)
  x <- frame[attr(stats::terms(frame), "term.labels")]
  if (length(x) == 0L) abort_input("`formula` must have at least one column on its right-hand side.", "formula")
  arguments <- c(list(x = x, y = y), if (!is.null(weights)) list(weights = weights), list(...))
  fit <- do.call(group_levels.default, arguments, quote = TRUE)
  fit$formula <- stats::formula(stats::terms(frame))
  fit$call <- generic_call(shown, "group_levels")
  fit
}

#' @rdname group_levels
#' @export
group_levels.default <- function(x, y = NULL, method = c("modl", "chaid", "chaid_exhaustive", "bic", "khiops",
                                                         "tschuprow", "gain_ratio", "none"),
                                 groups = NULL, search = c("auto", "exact", "greedy"), weights = NULL,
                                 na = c("level", "error", "omit"),
                                 pairs = FALSE, bins = 10, alpha = 0.05, max_exact = 5000, time_limit = NULL, ...) {
  call <- generic_call(match.call(), "group_levels")
  refuse_dots(...)
  if (missing(x)) fail_missing("x")
  options <- list(method = check_choice(method, c("modl", "chaid", "chaid_exhaustive", "bic", "khiops", "tschuprow",
                                                  "gain_ratio", "none")),
                  search = check_choice(search, c("auto", "exact", "greedy")),
                  groups = check_count(groups, allow_null = TRUE), alpha = check_number(alpha, lower = 0, upper = 1),
                  max_exact = check_count(max_exact, upper = 50000),
                  time_limit = check_number(time_limit, lower = 0, strict_lower = TRUE, allow_null = TRUE))
  na <- check_choice(na, c("level", "error", "omit"))
  pairs <- check_flag(pairs)
  bins <- check_count(bins, lower = 2, upper = 1e6)
  if (is.null(y)) {
    if (!is.null(weights)) abort_input("A table has its counts: `weights` go with `x` and `y`.", "weights")
    data <- table_data(x)
  } else {
    data <- level_data(x, y, weights, na, pairs, bins)
  }
  found <- lapply(names(data$counts), function(name) group_one(data$counts[[name]], options, name))
  names(found) <- names(data$counts)
  single <- length(found) == 1L
  first <- found[[1L]]
  fit <- new_fit("level_groups", groups = if (single) first$groups else lapply(found, `[[`, "groups"),
                 table = if (single) first$table, cost = vapply(found, `[[`, 0, "cost"),
                 costs = do.call(rbind, lapply(found, `[[`, "costs")), null_cost = vapply(found, `[[`, 0, "null_cost"),
                 gain = vapply(found, `[[`, 0, "gain"), exact = vapply(found, `[[`, NA, "exact"), factors = found,
                 levels = data$classes, prior = data$prior, breaks = data$breaks, pairs = data$pairs, na = na,
                 vector = data$vector, method = options$method, n = data$n, call = call,
                 convergence = if (single) first$convergence else lapply(found, `[[`, "convergence"))
  check_convergence(fit, "Give more time by `time_limit`; the grouping is the best one met.")
}

# Codes of the levels of one column: list(code, levels), NA as the level "NA" or a code of NA.
level_codes <- function(column, arg, na) {
  if (!is.atomic(column) || !is.null(dim(column)) || is.complex(column) || is.raw(column)) {
    fail_input(arg, "a factor, text, logicals or numbers", describe(column))
  }
  text <- if (is.factor(column)) {
    as.character(column)
  } else if (is.character(column)) {
    readable(column)
  } else {
    as.character(column)
  }
  missing <- is.na(text)
  if (any(missing) && na == "error") {
    abort_input(
      sprintf("`%s` has %d missing values, the first in row %d. With na = \"level\" they are a level.",
              arg, sum(missing), which(missing)[1L]), arg)
  }
  levels <- if (is.factor(column)) {
    levels(column)[levels(column) %in% text]
  } else {
    sort(unique(text[!missing]), method = "radix")
  }
  if (any(missing) && na == "level") {
    label <- utils::tail(make.unique(c(levels, "NA")), 1L)
    text[missing] <- label
    levels <- c(levels, label)
  }
  list(code = match(text, levels), levels = levels)
}

is_measured <- function(column) {
  is.numeric(column) && !is.factor(column) && is_plain_numeric(column) && any(column != round(column), na.rm = TRUE)
}

equal_breaks <- function(column, bins, arg) {
  if (any(is.infinite(column))) {
    abort_input(sprintf("`%s` must be finite, but it has an infinite value in row %d.", arg,
                        which(is.infinite(column))[1L]), arg)
  }
  range <- range(column, na.rm = TRUE)
  if (range[1L] == range[2L]) return(NULL)
  seq(range[1L], range[2L], length.out = bins + 1L)[-c(1L, bins + 1L)]
}

cut_at <- function(column, breaks) {
  if (is.null(breaks)) return(factor(ifelse(is.na(column), NA, "all")))
  labels <- paste0(c("below ", rep("", length(breaks))), signif(c(breaks[1L], breaks), 4L),
                   c("", rep(" and more", length(breaks))))
  labels[-c(1L, length(labels))] <- paste(signif(utils::head(breaks, -1L), 4L), "to", signif(breaks[-1L], 4L))
  factor(make.unique(labels)[findInterval(column, breaks) + 1L], make.unique(labels))
}

level_frame <- function(x, arg = "x") {
  vector <- is.atomic(x) && is.null(dim(x))
  if (vector) x <- list(x = x)
  if (is.matrix(x)) x <- as.data.frame(x, stringsAsFactors = FALSE)
  if (!is.list(x) || length(x) == 0L) fail_input(arg, "a factor, or a data frame of factors", describe(x))
  x <- as.list(x)
  if (is.null(names(x)) || !all(nzchar(names(x)))) names(x) <- variable_names(names(x), length(x))
  check_names_unique(names(x), arg)
  list(columns = x, vector = vector)
}

level_data <- function(x, y, weights, na, pairs, bins) {
  frame <- level_frame(x)
  columns <- frame$columns
  n <- length(columns[[1L]])
  if (n == 0L) abort_input("`x` must have at least one row, but it has none.", "x")
  if (is.data.frame(y) && length(y) == 1L) y <- y[[1L]]
  if (!is.atomic(y) || length(y) != n || !is.null(dim(y))) {
    fail_input("y", sprintf("one class per row, %d", n), describe(y))
  }
  if (anyNA(y)) {
    abort_input(sprintf("`y` must have no missing classes, but it has %d, the first in row %d.", sum(is.na(y)),
                        which(is.na(y))[1L]), "y")
  }
  if (is_measured(y)) {
    fail_input("y", "classes (a factor, text, logicals or whole numbers)", "numbers with fractions",
               "Cut them with cut() first.")
  }
  weights <- if (is.null(weights)) numeric() else unname(check_vector(weights, length = n, lower = 0))
  if (any(weights != round(weights))) {
    abort_input(sprintf("`weights` must be whole numbers, how often a row counts, but element %d is %s.",
                        which(weights != round(weights))[1L], format(weights[weights != round(weights)][1L])),
                "weights")
  }
  if (length(weights) > 0L && sum(weights) == 0) abort_input("`weights` must not all be 0.", "weights")
  kept <- if (length(weights) > 0L) weights > 0 else rep(TRUE, n)
  classes <- level_codes(if (is.factor(y)) droplevels(y[kept, drop = TRUE]) else y[kept], "y", "error")
  breaks <- list()
  for (name in names(columns)) {
    if (length(columns[[name]]) != n) {
      abort_input(sprintf("Column \"%s\" of `x` must have %d values, but it has %d.", name, n, length(columns[[name]])),
                  "x")
    }
    if (is_measured(columns[[name]])) {
      cuts <- equal_breaks(columns[[name]], bins, name)
      breaks[name] <- list(cuts)
      columns[[name]] <- cut_at(columns[[name]], cuts)
    }
  }
  chosen <- if (pairs) pair_columns(names(columns))
  if (pairs && length(columns) < 2L) abort_input("`pairs` needs at least two columns.", "pairs")
  for (name in names(chosen)) columns[[name]] <- cross_levels(columns[chosen[[name]]])
  counts <- lapply(stats::setNames(nm = names(columns)), function(name) {
    codes <- level_codes(columns[[name]][kept], name, na)
    used <- !is.na(codes$code)
    if (!any(used)) abort_input(sprintf("Column \"%s\" of `x` has no value.", name), "x")
    w <- if (length(weights) > 0L) weights[kept][used] else numeric()
    found <- core_level_counts(codes$code[used], classes$code[used], w, length(codes$levels), length(classes$levels))
    dimnames(found) <- list(codes$levels, classes$levels)
    found[rowSums(found) > 0, , drop = FALSE]
  })
  prior <- drop(core_level_counts(rep(1L, sum(kept)), classes$code, weights[kept[seq_along(weights)]], 1L,
                                  length(classes$levels)))
  list(counts = counts, classes = classes$levels, prior = stats::setNames(prior, classes$levels), breaks = breaks,
       pairs = chosen, vector = frame$vector, n = if (length(weights) > 0L) sum(weights) else n)
}

pair_columns <- function(names) {
  if (length(names) < 2L) return(list())
  both <- utils::combn(names, 2L, simplify = FALSE)
  stats::setNames(both, vapply(both, paste, "", collapse = ":"))
}

cross_levels <- function(columns) {
  words <- lapply(columns, function(column) ifelse(is.na(column), "NA", as.character(column)))
  factor(paste(words[[1L]], words[[2L]], sep = ":"))
}

# A contingency table as data.
table_data <- function(x) {
  if (!is.matrix(x) && !is.data.frame(x)) {
    fail_input("y", "the class of every row (or `x` a table of levels by classes)", "NULL")
  }
  counts <- check_matrix(if (is.table(x)) unclass(x) else x, "x")
  if (any(counts < 0) || any(counts != round(counts))) {
    at <- which(counts < 0 | counts != round(counts))[1L]
    abort_input(sprintf("A table `x` must hold counts, but %s is %s. Without `y`, `x` is a table of levels by classes.",
                        describe_position(counts, at), format(counts[at])), "x")
  }
  dimnames(counts) <- list(variable_names(rownames(counts), nrow(counts)),
                           variable_names(colnames(counts), ncol(counts)))
  check_names_unique(rownames(counts), "x")
  full <- rowSums(counts) > 0
  if (!any(full)) abort_input("`x` must have at least one case.", "x")
  counts <- counts[full, colSums(counts) > 0, drop = FALSE]
  list(counts = list(x = counts), classes = colnames(counts), prior = colSums(counts), breaks = list(), pairs = NULL,
       vector = TRUE, n = sum(counts))
}

group_one <- function(counts, options, name) {
  if (!is.null(options$groups) && options$groups > nrow(counts)) {
    abort_input(sprintf("`groups` is %d, but \"%s\" has only %s.", options$groups, name,
                        counted(nrow(counts), "level", "levels")), "groups")
  }
  found <- core_group_levels(unname(counts), options, progress_bar("groups"))
  number <- found$group
  groups <- unname(split(rownames(counts), factor(number, seq_len(max(number)))))
  labels <- make.unique(vapply(groups, group_label, ""))
  names(groups) <- labels
  dimnames(found$table) <- list(labels, colnames(counts))
  costs <- c(number = found$choice_cost, partition = found$partition_cost, classes = found$class_cost,
             data = found$data_cost)
  list(groups = groups, table = found$table, group = stats::setNames(number, rownames(counts)), cost = found$cost,
       costs = costs, null_cost = found$null_cost, gain = if (found$null_cost > 0) 1 - found$cost /
       found$null_cost else 0, lower = na_for_nan(found$lower), criterion = na_for_nan(found$criterion),
       items = found$items, exact = found$exact, counts = counts,
       convergence = if (options$method %in% c("modl", "bic")) found$convergence)
}

# "a, b" for few levels, else "a, b + 12 more".
group_label <- function(levels) {
  if (length(levels) <= 3L) return(paste(levels, collapse = ", "))
  paste0(paste(levels[1:2], collapse = ", "), " + ", length(levels) - 2L, " more")
}
