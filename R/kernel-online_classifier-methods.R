#' What every online classifier can do
#'
#' Online classifiers ([budget_perceptron()], [kernel_perceptron()], [sasb()], [winnow()], [weighted_majority()] and others) learn from one example
#' at a time:
#' they predict its class, are told the right one, and change their state. They can go on learning at any time, from data that
#' need not fit in memory, and each prediction made *before* learning counts towards an error rate that serves as validation for free.
#'
#' @details
#' `update(fit, x, y)` learns from more rows, and `update(fit, source)` from data in pieces (see [data_chunks()]). In how many pieces the rows
#' come does not matter. A fit is plain data: save it with [saveRDS()], read it in another session, and it goes on exactly where it stopped.
#'
#' Rows of a fit made by a formula may be given as a data frame with the response in it: `update(fit, data)`.
#'
#' A **mistake** is a prediction that was wrong at the time, before the example was learnt. A tie (all classes score the same, as in the
#' first trial of a perceptron) counts as a mistake of the perceptrons; [sasb()] and [winnow()] break ties towards the first class, as their papers
#' do.
#' `tidy()` and `plot()` show how mistakes and support (the number of examples or attributes the state holds) came about; of long runs a few thousand
#' trials are kept.
#'
#' `online_compare()` puts several fits side by side: their plot overlays error and support against trials.
#'
#' @section Which method when:
#' `online_compare()` for classifiers that saw the same rows; on rows kept back use `assess()`. [svm()] where all rows are at hand and fit in memory.
#'
#' @param object,x A fit. For `update()`, `x` is the new data: a numeric matrix, data frame or sparse matrix, or a source as [data_chunks()] makes or
#'   takes it. For
#'   `plot()` and others a fit or a comparison.
#' @param y The labels of `x`; `NULL` for data in pieces and for formulas.
#' @param newdata Rows to predict: in the columns of the fit, or a data frame with the variables of its formula, or data in pieces.
#' @param type `"class"` for a factor, `"link"` for the scores behind it: for two classes a vector that is positive for the second; for more a
#'   matrix with a
#'   column per class.
#' @param shuffle Whether to visit the new rows in random order (each piece by itself).
#' @param type What to plot: the share of mistakes so far (`"error"`), their number (`"mistakes"`), the number of examples held (`"support"`), or
#'   `"both"`, error and support.
#' @param ... For `online_compare()`, fits, named or not, or one list of fits; for `plot()` passed on to [graphics::plot()]; otherwise not used.
#' @return `update()` a fit; `predict()` a factor, vector or matrix; `tidy()` a data frame with columns `trial`, `mistakes`, `error`, `changes` and
#'   `support`;
#'   `glance()` one row, for a comparison one per fit; `online_compare()` an object of class `granary_online_comparison`.
#' @seealso [sasb()], [winnow()], [weighted_majority()], [lasvm()], [budget_perceptron()], [kernel_perceptron()]
#' @name granary_online_classifier
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(800), 400)
#' y <- factor(ifelse(x[, 1]^2 + x[, 2]^2 > 1.4, "out", "in"))
#' fit <- kernel_perceptron(x[1:200, ], y[1:200])
#' fit <- update(fit, x[201:300, ], y[201:300])
#' fit <- update(fit, data_chunks(x[301:400, ], y[301:400], size = 25))
#' summary(fit)
#' mean(predict(fit, x) == y)
#' tail(tidy(fit), 3)
#'
#' small <- budget_perceptron(x, y, budget = 10)
#' both <- online_compare(all = fit, ten = small)
#' both
#' plot(both)
NULL

#' @rdname granary_online_classifier
#' @importFrom stats update
#' @export
update.granary_online_classifier <- function(object, newdata, newy = NULL, shuffle = FALSE, ...) {
  refuse_dots(...)
  if (missing(newdata)) fail_missing("newdata")
  if (is.null(newy) && !is_chunk_source(newdata) && !is.null(object$design)) newy <- online_response(object, newdata)
  learn_online(object, newdata, newy, 1L, check_flag(shuffle))
}

online_response <- function(fit, data) {
  if (!is.data.frame(data)) abort_input("`newy` must be given, or `newdata` be a data frame with the response of the formula in it.", "newy")
  response <- fit$formula[[2L]]
  tryCatch(eval(response, data, environment(fit$formula)), error = function(e) {
    abort_input(sprintf("The response of the formula, `%s`, was not found in `newdata`.", paste(deparse(response), collapse = "")), "newdata")
  })
}

# The rows to predict, piece by piece: `fun` gets a checked matrix; the results are put together.
predict_rows <- function(object, newdata, fun) {
  if (missing(newdata)) fail_missing("newdata")
  if (is.null(object$columns)) abort_input("The fit has not seen any data yet: update() it first.", "object")
  one <- function(x) {
    x <- online_design(object, x, "newdata")
    bad <- if (object$settings$allow_na) FALSE else missing_inputs(x)
    if (any(bad)) abort_input(sprintf("`newdata` must have no missing values, but row %d has one.", which(bad)[1L]), "newdata")
    fun(x)
  }
  if (!inherits(newdata, "granary_chunks")) return(one(newdata))
  if (!is.null(newdata$rewind)) newdata$rewind()
  if (!is.null(newdata$close)) on.exit(newdata$close())
  parts <- list()
  repeat {
    piece <- newdata$read()
    if (is.null(piece)) break
    parts[[length(parts) + 1L]] <- one(piece$x)
  }
  if (length(parts) > 0L && is.matrix(parts[[1L]])) do.call(rbind, parts) else unlist(parts)
}

classes_of <- function(scores, levels) {
  code <- if (is.matrix(scores)) max.col(scores, ties.method = "first") else 1L + (scores > 0)
  factor(levels[code], levels = levels)
}

#' @rdname granary_online_classifier
#' @importFrom stats predict
#' @export
predict.granary_online_classifier <- function(object, newdata, type = c("class", "link"), ...) {
  refuse_dots(...)
  type <- check_choice(type, c("class", "link"))
  scores <- predict_rows(object, newdata, function(x) named_scores(object, x))
  if (type == "class") classes_of(scores, object$levels) else scores
}

named_scores <- function(fit, x) {
  scores <- online_scores(fit, x)
  if (is.matrix(scores)) {
    dimnames(scores) <- list(rownames(x), fit$levels)
    scores
  } else {
    stats::setNames(scores, rownames(x))
  }
}

# Words ----------------------------------------------------------------------------------------------------------------------------------------------

share_text <- function(part, whole) {
  if (whole == 0) "none yet" else sprintf("%s of %s (%.3g%%)", format(part, big.mark = ",", scientific = FALSE),
                                          format(whole, big.mark = ",", scientific = FALSE), 100 * part / whole)
}

common_facts <- function(fit) {
  c(classes = paste(utils::head(fit$levels, 8L), collapse = ", "), "online mistakes" = share_text(fit$mistakes, fit$trials),
    support = format(fit$support, big.mark = ","), if (fit$skipped > 0) c("rows skipped" = format(fit$skipped, big.mark = ",")))
}

#' @rdname granary_online_classifier
#' @export
print.granary_online_classifier <- function(x, ...) {
  cli::cat_line(fit_title(x))
  print_call(x$call)
  print_parts(c(common_facts(x), online_facts(x)))
  invisible(x)
}

#' @rdname granary_online_classifier
#' @export
summary.granary_online_classifier <- function(object, ...) {
  record <- full_record(object)
  at <- unique(vapply(object$trials * c(0.1, 0.25, 0.5, 0.75, 1), function(t) which.max(c(record$trial >= t, TRUE)), 0L))
  table <- record[at[at <= nrow(record)], ]
  if (nrow(table) > 0L) {
    before <- rbind(0, table[-nrow(table), c("trial", "mistakes")])
    table$recent <- (table$mistakes - before$mistakes) / (table$trial - before$trial)
  }
  seal(structure(list(title = fit_title(object), call = object$call, facts = c(common_facts(object), online_facts(object)), trace = table),
            class = "summary_granary_online_classifier"))
}

#' @export
print.summary_granary_online_classifier <- function(x, ...) {
  cli::cat_line(x$title)
  print_call(x$call)
  print_parts(x$facts)
  if (nrow(x$trace) > 0L) {
    cli::cat_line()
    cli::cat_line("The run so far (recent: share of mistakes since the line above):")
    print(x$trace, digits = 3L, row.names = FALSE)
  }
  invisible(x)
}

#' @rdname granary_online_classifier
#' @export
tidy.granary_online_classifier <- function(x, ...) {
  record <- full_record(x)
  data.frame(trial = record$trial, mistakes = record$mistakes, error = record$mistakes / record$trial, changes = record$changes,
             support = record$support)
}

#' @rdname granary_online_classifier
#' @export
glance.granary_online_classifier <- function(x, ...) {
  data.frame(trials = x$trials, mistakes = x$mistakes, error = if (x$trials > 0) x$mistakes / x$trials else NA_real_, changes = x$changes,
             support = x$support, classes = length(x$levels), skipped = x$skipped)
}

# Pictures -------------------------------------------------------------------------------------------------------------------------------------------

#' @rdname granary_online_classifier
#' @export
plot.granary_online_classifier <- function(x, type = c("both", "error", "mistakes", "support"), ...) {
  plot_online(list(x), type, ...)
}

plot_online <- function(fits, what, ...) {
  what <- check_choice(what, c("both", "error", "mistakes", "support"), "type")
  runs <- lapply(fits, tidy)
  if (all(vapply(runs, nrow, 0L) == 0L)) abort_input("There is nothing to plot: no trial has been seen yet.", "x")
  if (what == "both") {
    old <- graphics::par(mfrow = c(2L, 1L), mar = c(4, 4, 2, 1))
    on.exit(graphics::par(old))
    plot_run(runs, "error", names(fits), ...)
    plot_run(runs, "support", NULL, ...)
  } else {
    plot_run(runs, what, names(fits), ...)
  }
  invisible()
}

plot_run <- function(runs, what, labels, ...) {
  label <- switch(what, error = "mistake rate", mistakes = "mistakes so far", support = "support")
  colours <- grDevices::hcl.colors(max(2L, length(runs)), "Dark 3")
  top <- max(vapply(runs, function(run) {
    value <- run[[what]]
    if (what == "error") value <- value[run$trial >= max(run$trial) / 100]  # the first trials are all or nothing
    max(0, value)
  }, 0))
  trials <- max(vapply(runs, function(run) max(0, run$trial), 0))
  draw(graphics::plot, NA, xlim = c(0, trials), ylim = c(0, max(top, 1e-3)), xlab = "trial", ylab = label, las = 1, user = list(...))
  for (k in seq_along(runs)) {
    graphics::lines(runs[[k]]$trial, runs[[k]][[what]], col = colours[k], lwd = 2, type = if (what == "support") "s" else "l")
  }
  if (length(runs) > 1L && !is.null(labels)) {
    graphics::legend("bottom", labels, col = colours, lwd = 2, cex = 0.8, bty = "n", horiz = TRUE, inset = c(0, 1), xpd = NA)  # above the panel
  }
}

# Several fits ---------------------------------------------------------------------------------------------------------------------------------------

#' @rdname granary_online_classifier
#' @export
online_compare <- function(...) {
  fits <- list(...)
  if (length(fits) == 1L && is.list(fits[[1L]]) && !inherits(fits[[1L]], "granary_online_classifier")) fits <- unclass(fits[[1L]])
  if (length(fits) == 0L) abort_input("online_compare() needs at least one fit.")
  for (fit in fits) {
    if (!inherits(fit, "granary_online_classifier")) fail_input("...", "online classifiers, or one list of them", describe(fit))
    check_fit(fit)
  }
  own <- vapply(fits, function(fit) sub("^granary_", "", class(fit)[1L]), "")
  given <- names(fits)
  names(fits) <- make.unique(if (is.null(given)) own else ifelse(nzchar(given), given, own))
  seal(structure(list(fits = fits), class = "granary_online_comparison"))
}

#' @rdname granary_online_classifier
#' @export
glance.granary_online_comparison <- function(x, ...) {
  data.frame(fit = names(x$fits), do.call(rbind, lapply(unname(x$fits), glance)))
}

#' @rdname granary_online_classifier
#' @export
tidy.granary_online_comparison <- function(x, ...) {
  do.call(rbind, lapply(names(x$fits), function(name) {
    run <- tidy(x$fits[[name]])
    data.frame(fit = rep(name, nrow(run)), run)
  }))
}

#' @rdname granary_online_classifier
#' @export
print.granary_online_comparison <- function(x, ...) {
  cli::cat_line("granary: ", counted(length(x$fits), "online classifier", "online classifiers"))
  print(glance(x)[c("fit", "trials", "mistakes", "error", "changes", "support")], digits = 3L, row.names = FALSE)
  invisible(x)
}

#' @rdname granary_online_classifier
#' @export
plot.granary_online_comparison <- function(x, type = c("both", "error", "mistakes", "support"), ...) {
  plot_online(x$fits, type, ...)
}
