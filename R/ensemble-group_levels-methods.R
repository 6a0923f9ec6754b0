# Methods of grouped levels.

#' @rdname group_levels
#' @param object A fit.
#' @param newdata Levels, or a data frame with the columns of the fit; its other columns are handed back as they are.
#' @param type `"group"`: the groups, as factors in the place of the columns; `"class"` and `"prob"`: the most probable
#'   class and the probabilities, by naive Bayes where there are several factors.
#' @param unseen Levels that were not there: `NA`, with a warning; the largest group; the group whose classes are
#'   nearest to those of all; or an error. For probabilities they say nothing.
#' @param smooth Added to every count (Laplace); 0 for the shares as they are.
#' @param drop Whether factors with a single group, which [stats::model.matrix()] does not take, are left out.
#' @export
predict.granary_level_groups <- function(object, newdata, type = c("group", "class", "prob"),
                                         unseen = c("na", "largest", "majority", "error"),
                                         smooth = 1, drop = FALSE, ...) {
  refuse_dots(...)
  if (missing(newdata)) fail_missing("newdata")
  type <- check_choice(if (identical(type, "response")) "group" else type, c("group", "class", "prob"))
  unseen <- check_choice(unseen, c("na", "largest", "majority", "error"))
  smooth <- check_number(smooth, lower = 0)
  frame <- level_frame(newdata, "newdata")
  base <- setdiff(names(object$factors), names(object$pairs))
  columns <- frame$columns
  if (frame$vector && length(base) == 1L) names(columns) <- base
  lacking <- setdiff(base, names(columns))
  if (length(lacking) > 0L && length(columns) == 1L && length(base) == 1L) {
    names(columns) <- base
    lacking <- character()
  }
  if (length(lacking) > 0L) {
    abort_input(sprintf("`newdata` must have the columns of the fit, but \"%s\" is missing.%s", lacking[1L],
                        did_you_mean(lacking[1L], names(columns))), "newdata")
  }
  codes <- level_group_codes(object, columns, if (type == "group") unseen else "prior")
  if (type != "group") return(group_classes(object, codes, type, smooth))
  grouped <- lapply(stats::setNames(nm = names(codes)), function(name) {
    labels <- names(object$factors[[name]]$groups)
    factor(labels[codes[[name]]], labels)
  })
  if (length(grouped) == 1L && !is.data.frame(newdata)) return(grouped[[1L]])
  alone <- vapply(grouped, nlevels, 0L) == 1L & check_flag(drop)
  if (!is.data.frame(newdata)) newdata <- as.data.frame(frame$columns, optional = TRUE)
  newdata[names(grouped)] <- grouped
  newdata[setdiff(names(newdata), names(grouped)[alone])]
}

# The number of the group of every row, by factor.
level_group_codes <- function(object, columns, unseen) {
  for (name in names(object$breaks)) {
    if (!is.numeric(columns[[name]])) {
      fail_input("newdata", sprintf("numbers in column \"%s\"", name), describe(columns[[name]]))
    }
    columns[[name]] <- cut_at(columns[[name]], object$breaks[[name]])
  }
  for (name in names(object$pairs)) columns[[name]] <- cross_levels(columns[object$pairs[[name]]])
  lapply(stats::setNames(nm = names(object$factors)), function(name) {
    one <- object$factors[[name]]
    column <- columns[[name]]
    if (!is.atomic(column) || !is.null(dim(column))) {
      fail_input("newdata", sprintf("a factor or text in column \"%s\"", name), describe(column))
    }
    text <- as.character(column)
    if (anyNA(text) && object$na == "level") text[is.na(text)] <- if ("NA" %in% names(one$group)) "NA" else NA
    code <- unname(one$group[text])
    strange <- which(is.na(code) & !is.na(text))
    if (length(strange) > 0L || (anyNA(code) && unseen == "error")) {
      what <- sprintf("%d of %d values of \"%s\" are levels that the fit has not seen, the first of them %s",
                      sum(is.na(code)), length(code), name,
                      if (length(strange) > 0L) paste0("\"", text[strange[1L]], "\"") else "NA")
      if (unseen == "error") abort_input(paste0(what, "."), "newdata")
      if (unseen == "na") warn_input(paste0(what, ": NA stands for them. See `unseen`."), "newdata")
    }
    if (unseen == "largest") code[is.na(code)] <- 1L
    if (unseen == "majority") code[is.na(code)] <- nearest_to_all(one$table, object$prior)
    code
  })
}

# The group whose shares of classes are nearest to those of all rows.
nearest_to_all <- function(table, prior) {
  share <- table / rowSums(table)
  which.min(rowSums(abs(sweep(share, 2L, prior / sum(prior)))))
}

group_classes <- function(object, codes, type, smooth) {
  group <- do.call(cbind, lapply(codes, function(code) ifelse(is.na(code), 0L, code)))
  prob <- core_level_bayes(unname(group), unname(lapply(object$factors[names(codes)], function(one) unname(one$table))),
                           unname(object$prior), smooth)
  colnames(prob) <- object$levels
  if (type == "prob") return(prob)
  factor(object$levels[max.col(prob, ties.method = "first")], object$levels)
}

#' @export
fitted.granary_level_groups <- function(object, ...) {
  not_for(object, "fitted()", "it keeps counts, not rows; use predict()")
}

#' @export
augment.granary_level_groups <- function(x, data = NULL, ...) {
  if (is.null(data)) abort_input("`data` must be given: the fit keeps counts, not rows.", "data")
  cbind(data, stats::setNames(as.data.frame(lapply(names(x$factors), function(name) {
    labels <- names(x$factors[[name]]$groups)
    factor(labels[level_group_codes(x, as.list(data), "na")[[name]]], labels)
  })), paste0(".group_", names(x$factors))))
}

#' @export
coef.granary_level_groups <- function(object, smooth = 0, ...) {
  refuse_dots(...)
  smooth <- check_number(smooth, lower = 0)
  shares <- lapply(object$factors, function(one) (one$table + smooth) / (rowSums(one$table) + smooth * ncol(one$table)))
  if (length(shares) == 1L) shares[[1L]] else shares
}

#' @export
logLik.granary_level_groups <- function(object, ...) {
  if (length(object$factors) > 1L) not_for(object, "logLik()", "it has several factors; take one of them")
  table <- object$factors[[1L]]$table
  used <- table[table > 0]
  rows <- rowSums(table)
  structure(sum(used * log(used)) - sum(rows * log(rows)), df = nrow(table) * (ncol(table) - 1L), nobs = sum(table),
            class = "logLik")
}

#' @rdname group_levels
#' @param newy Classes of `newdata`.
#' @export
assess.granary_level_groups <- function(object, newdata = NULL, newy = NULL, weights = NULL, ...) {
  refuse_dots(...)
  if (is.null(newdata) != is.null(newy)) {
    abort_input("Give `newdata` and `newy` together, or neither.", if (is.null(newdata)) "newdata" else "newy")
  }
  base <- setdiff(names(object$factors), names(object$pairs))
  rows <- lapply(names(object$factors), function(name) {
    one <- object$factors[[name]]
    counts <- one$counts
    share <- (one$table / rowSums(one$table))[one$group, , drop = FALSE]
    if (!is.null(newdata)) {
      columns <- level_frame(newdata, "newdata")$columns
      if (length(columns) == 1L && length(base) == 1L) names(columns) <- base
      for (cut in names(object$breaks)) columns[[cut]] <- cut_at(columns[[cut]], object$breaks[[cut]])
      for (pair in names(object$pairs)) columns[[pair]] <- cross_levels(columns[object$pairs[[pair]]])
      counts <- new_level_counts(columns[[name]], newy, weights, object)
      at <- one$group[rownames(counts)]
      share <- (one$table / rowSums(one$table))[at, , drop = FALSE]
      share[is.na(at), ] <- rep(object$prior / sum(object$prior), each = sum(is.na(at)))
    }
    right <- sum(counts[cbind(seq_len(nrow(counts)), max.col(share, ties.method = "first"))])
    data.frame(factor = name, n = sum(counts), groups = nrow(one$table),
               divergence = core_level_divergence(unname(counts), unname(share)), error = 1 - right / sum(counts))
  })
  do.call(rbind, rows)
}

new_level_counts <- function(column, newy, weights, object) {
  codes <- level_codes(column, "newdata", if (object$na == "omit") "omit" else "level")
  label <- match(words_of(newy, object$levels), object$levels)
  if (length(label) != length(codes$code)) {
    fail_input("newy", sprintf("one class per row, %d", length(codes$code)), describe(newy))
  }
  if (anyNA(label)) {
    abort_input(sprintf("`newy` has the class %s, which the fit does not know.",
                        describe(as.character(newy)[which(is.na(label))[1L]])), "newy")
  }
  weights <- if (is.null(weights)) numeric() else unname(check_vector(weights, length = length(label), lower = 0))
  used <- !is.na(codes$code)
  counts <- core_level_counts(codes$code[used], label[used], weights[used[seq_along(weights)]], length(codes$levels),
                              length(object$levels))
  rownames(counts) <- codes$levels
  counts[rowSums(counts) > 0, , drop = FALSE]
}

#' @export
print.granary_level_groups <- function(x, ...) {
  refuse_dots(...)
  single <- length(x$factors) == 1L
  cli::cat_line("Grouped levels (", x$method, "): ", counted(length(x$factors), "factor", "factors"), ", ",
                format(x$n, big.mark = ","), " cases, ", counted(length(x$levels), "class", "classes"))
  print_call(x$call)
  if (single) {
    one <- x$factors[[1L]]
    cli::cat_line(length(one$group), " levels in ", counted(length(one$groups), "group", "groups"),
                  sprintf("; gain %.3f, MODL cost %.3f against %.3f for one group", one$gain, one$cost, one$null_cost))
    if (x$method %in% c("modl", "bic")) {
      word <- if (x$method == "bic") "BIC" else "cost"
      if (x$method == "bic") cli::cat_line(sprintf("BIC %.3f", one$criterion))
      cli::cat_line(if (one$exact) {
        sprintf("No grouping has a smaller %s", word)
      } else {
        sprintf("Heuristic: no grouping has a %s below %.3f (gap %.3g)", word, one$lower, one$convergence$gap)
      })
    }
    shown <- utils::head(order(-rowSums(one$table)), 12L)
    share <- round(100 * one$table[shown, , drop = FALSE] / rowSums(one$table)[shown])
    print(data.frame(group = rownames(share), n = unname(rowSums(one$table)[shown]),
                     share[, seq_len(min(6L, ncol(share))), drop = FALSE], check.names = FALSE), row.names = FALSE)
    if (nrow(one$table) > 12L) cli::cat_line("... and ", nrow(one$table) - 12L, " more groups")
    if (nrow(one$table) > 0L) cli::cat_line("(shares of the classes in percent)")
    return(invisible(x))
  }
  print(format(utils::head(tidy_factors(x), 20L), digits = 4L), row.names = FALSE)
  if (length(x$factors) > 20L) cli::cat_line("... and ", length(x$factors) - 20L, " more factors")
  invisible(x)
}

tidy_factors <- function(x) {
  out <- data.frame(factor = names(x$factors), levels = vapply(x$factors, function(one) length(one$group), 0L),
                    groups = vapply(x$factors, function(one) length(one$groups), 0L), gain = x$gain, cost = x$cost,
                    null_cost = x$null_cost, exact = x$exact,
                    row.names = NULL)
  out[order(-out$gain), ]
}

#' @export
summary.granary_level_groups <- function(object, ...) {
  seal(structure(list(fit = object, factors = tidy_factors(object), costs = object$costs),
                 class = "summary_granary_level_groups"))
}

#' @export
print.summary_granary_level_groups <- function(x, ...) {
  print(x$fit)
  cli::cat_line()
  cli::cat_line("Parts of the cost (nats):")
  print(x$costs, digits = 5L)
  if (length(x$fit$factors) == 1L) {
    cli::cat_line()
    for (name in utils::head(names(x$fit$groups), 20L)) {
      cli::cat_line(paste(strwrap(paste(x$fit$groups[[name]], collapse = ", "), 100L, exdent = 2L, prefix = "",
                                  initial = "* "), collapse = "\n"))
    }
  }
  invisible(x)
}

#' @export
tidy.granary_level_groups <- function(x, ...) {
  do.call(rbind, lapply(names(x$factors), function(name) {
    one <- x$factors[[name]]
    data.frame(factor = name, level = names(one$group), group = names(one$groups)[one$group],
               n = unname(rowSums(one$counts)), row.names = NULL)
  }))
}

#' @export
glance.granary_level_groups <- function(x, ...) {
  data.frame(n = x$n, factors = length(x$factors), levels = sum(vapply(x$factors, function(one) length(one$group), 0L)),
             groups = sum(vapply(x$factors, function(one) length(one$groups), 0L)), gain = max(x$gain),
             method = x$method, exact = all(x$exact))
}

group_bars <- function(x) {
  one <- x$factors[[which.max(x$gain)]]
  one$table[order(-(one$table / rowSums(one$table))[, 1L]), , drop = FALSE]
}

group_colours <- function(n) grDevices::hcl.colors(max(n, 2L), "Dark 3")[seq_len(n)]

#' @rdname group_levels
#' @details `plot()` shows the classes of each group as bars as wide as the group is large; of several factors the one
#'   with the largest gain.
#' @export
plot.granary_level_groups <- function(x, ...) {
  table <- group_bars(x)
  share <- t(table / rowSums(table))
  colours <- group_colours(nrow(share))
  old <- graphics::par(mar = c(5.1, 4.1, 3.1, 1))
  on.exit(graphics::par(old))
  at <- draw(graphics::barplot, share, width = rowSums(table) / sum(table), space = 0.02, col = colours,
             border = "white", las = 2L, names.arg = rep("", ncol(share)), ylab = "share of the classes", main = "",
             user = list(...))
  wide <- rowSums(table) / sum(table) > 0.03
  names <- rownames(table)
  graphics::text(at[wide], -0.03, ifelse(nchar(names) > 24L, paste0(substr(names, 1L, 22L), ".."), names)[wide],
                 srt = 35, adj = c(1, 1), xpd = NA, cex = 0.8)
  graphics::legend(sum(range(at)) / 2, 1.04, rownames(share), fill = colours, border = NA, bty = "n", horiz = TRUE,
                   xjust = 0.5, yjust = 0, xpd = NA, cex = 0.9)
  invisible(x)
}

#' @rdname group_levels
#' @usage \method{autoplot}{granary_level_groups}(object, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_level_groups <- function(object, ...) {  # nolint: object_name_linter.
  refuse_dots(...)
  check_installed("ggplot2", "autoplot()")
  table <- group_bars(object)
  share <- table / rowSums(table)
  right <- cumsum(rowSums(table)) / sum(table)
  left <- c(0, utils::head(right, -1L))
  top <- t(apply(share, 1L, cumsum))
  if (ncol(share) == 1L) top <- t(top)
  boxes <- data.frame(left = left[row(share)], right = right[row(share)], low = as.vector(top - share),
                      high = as.vector(top), class = factor(colnames(share)[col(share)], colnames(share)))
  gg_canvas(boxes, ggplot2::aes(xmin = .data$left, xmax = .data$right, ymin = .data$low, ymax = .data$high,
                                fill = .data$class)) +
    ggplot2::geom_rect(colour = "white") + ggplot2::scale_x_continuous(breaks = (left + right) / 2,
                                                                       labels = rownames(table)) +
    gg_palette("fill") + ggplot2::labs(x = NULL, y = "share of the classes", fill = NULL)
}
