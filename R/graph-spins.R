# Two-valued data for Ising models and influence games: -1 and +1 inside, whatever the user has outside.

# A list: `x` (rows of -1, +1 with names), `levels` (2 x p: what stands for -1 and +1), `kind` of each column. `like`: such a list from the
# data a model was fitted to; columns and levels are then matched by name.
spin_data <- function(x, arg = "x", na = "error", like = NULL, min_rows = 1L, min_cols = 1L) {
  frame <- spin_frame(counted_rows(x, arg), arg)
  if (nrow(frame) < min_rows || ncol(frame) < min_cols) {
    check_shape(matrix(0, nrow(frame), ncol(frame)), arg, min_rows, min_cols)
  }
  if (!is.null(like)) frame <- match_spins(frame, like, arg)
  check_names_unique(names(frame), arg)
  columns <- lapply(seq_along(frame), function(j) {
    spin_column(frame[[j]], names(frame)[j], arg, if (is.null(like)) NULL else like$levels[, j])
  })
  values <- matrix(unlist(lapply(columns, `[[`, "x"), use.names = FALSE), nrow(frame), ncol(frame), dimnames = list(NULL, names(frame)))
  labels <- vapply(columns, `[[`, c("", ""), "levels")
  dimnames(labels) <- list(c("-1", "+1"), names(frame))
  missing <- which(is.na(values))
  if (length(missing) > 0L) {
    if (na == "negative") {
      values[missing] <- -1
    } else if (na == "omit") {
      values <- values[stats::complete.cases(values), , drop = FALSE]
      check_shape(values, arg, min_rows, min_cols)
    } else {
      abort_input(paste0("`", arg, "` must have no missing values, but ", counted(length(missing), "value is", "values are"),
                         " NA, the first at ", describe_position(values, missing[1L]), ".\nUse na = \"omit\" to leave out such rows, or impute."),
                         arg)
    }
  }
  list(x = values, levels = labels, kind = vapply(columns, `[[`, "", "kind"))
}

# One column per variable, of any type, with names.
spin_frame <- function(x, arg) {
  if (missing(x)) fail_missing(arg)
  if (is.data.frame(x)) {
    frame <- as.list(x)
    names <- names(x)
  } else if (inherits(x, "Matrix") || (is.matrix(x) && !isS4(x) && (is.numeric(x) || is.logical(x) || is.character(x)))) {
    if (inherits(x, "Matrix")) x <- matrix_from_matrix_package(x, arg, FALSE)
    frame <- lapply(seq_len(ncol(x)), function(j) as.vector(x[, j]))
    names <- colnames(x)
  } else {
    fail_input(arg, "a matrix or a data frame of two-valued columns", describe(x))
  }
  count <- if (is.data.frame(x) || is.matrix(x)) nrow(x) else 0L
  if (length(frame) == 0L || count == 0L) check_shape(matrix(0, count, length(frame)), arg, 1L, 1L)
  names(frame) <- variable_names(names, length(frame))
  structure(frame, class = "data.frame", row.names = seq_len(count))
}

spin_column <- function(column, name, arg, known) {
  where <- paste0("Column \"", name, "\" of `", arg, "`")
  if (!is.null(dim(column)) || is.list(column) || !(is.numeric(column) || is.logical(column) || is.character(column) || is.factor(column)) ||
        (is.numeric(column) && is.object(column) && !is.factor(column))) {
    abort_input(paste0(where, " must hold two values (0/1, -1/1, logical, or a factor or text with two levels), but it is ", describe(column), "."),
                arg)
  }
  kind <- if (is.factor(column)) "factor" else if (is.character(column)) "text" else if (is.logical(column)) "logical" else "number"
  # Numbers are turned into text once per value, not once per row.
  text <- if (kind == "number") NULL else as.character(column)
  seen <- if (kind == "number") number_text(unique(column[!is.na(column)])) else unique(text[!is.na(text)])
  levels <- if (!is.null(known)) known else column_levels(column, kind, seen, where, arg)
  unknown <- setdiff(seen, levels)
  if (length(unknown) > 0L) {
    abort_input(paste0(where, " must hold \"", levels[1L], "\" or \"", levels[2L], "\", but it also holds \"", unknown[1L], "\"."), arg)
  }
  if (kind == "number") {
    high <- column == suppressWarnings(as.numeric(levels[2L]))
    if (anyNA(high) && !anyNA(column)) high <- number_text(column) == levels[2L]  # levels that are no numbers
  } else {
    high <- text == levels[2L]
  }
  list(x = 2 * high - 1, levels = unname(levels), kind = kind)
}

number_text <- function(x) {
  if (length(x) == 0L) return(character())
  vapply(x, function(value) if (is.na(value)) NA_character_ else format(value, digits = 15L, trim = TRUE), "")
}

column_levels <- function(column, kind, seen, where, arg) {
  if (length(seen) > 2L) {
    abort_input(paste0(where, " has ", length(seen), " values, where two are wanted.\n",
                       "Turn it into indicator columns, one per value, with model.matrix(), or merge values."), arg)
  }
  if (kind == "logical") return(c("FALSE", "TRUE"))
  if (kind == "number") {
    if (all(seen %in% c("0", "1")) && !identical(seen, "1")) return(c("0", "1"))
    if (all(seen %in% c("-1", "1"))) return(c("-1", "1"))
    abort_input(paste0(where, " must hold 0 and 1, or -1 and 1, but it holds ", paste(seen, collapse = " and "),
                       ".\nIf these are the codes of two categories, turn it into a factor."), arg)
  }
  if (kind == "text") return(if (length(seen) == 2L) sort(seen) else c(paste("not", seen), seen)[seq_len(2L)])
  declared <- levels(column)
  if (length(declared) == 2L) return(declared)
  if (length(seen) < 2L) return(c(setdiff(declared, seen)[1L], seen)[1:2])
  met <- paste0("\"", declared[declared %in% seen], "\"", collapse = " and ")
  warn_input(paste0(where, " declares ", length(declared), " levels of which only ", met,
                    " occur; the others are ignored. Use droplevels() if that is meant."), arg)
  declared[declared %in% seen]
}

match_spins <- function(frame, like, arg) {
  wanted <- colnames(like$levels)
  given <- names(frame)
  if (setequal(given, wanted)) return(frame[wanted])
  if (all(wanted %in% given)) return(frame[wanted])
  if (length(given) == length(wanted) && all(given == paste0("V", seq_along(given)))) {
    names(frame) <- wanted
    return(frame)
  }
  abort_input(paste0("`", arg, "` must have the columns of the model, but \"", setdiff(wanted, given)[1L], "\" is missing."), arg)
}

# Rows of -1, +1 in the user's own values: a data frame with factors, or a matrix when all columns are of one simple kind.
spin_values <- function(x, data) {
  kind <- unique(data$kind)
  one <- length(kind) == 1L && length(unique(data$levels[1L, ])) == 1L
  if (one && kind == "logical") return(x > 0)
  if (one && kind == "number") {
    out <- ifelse(x > 0, 1, as.numeric(data$levels[1L, 1L]))
    dimnames(out) <- dimnames(x)
    return(out)
  }
  columns <- lapply(seq_len(ncol(x)), function(j) {
    labels <- unname(data$levels[, j])
    switch(data$kind[j],
      logical = x[, j] > 0, number = as.numeric(labels[(x[, j] > 0) + 1L]), text = labels[(x[, j] > 0) + 1L],
      factor = factor(labels[(x[, j] > 0) + 1L], levels = labels)
    )
  })
  names(columns) <- colnames(x)
  as.data.frame(columns, check.names = FALSE, optional = TRUE)
}

spin_labels <- function(names) {
  list(levels = matrix(c("-1", "1"), 2L, length(names), dimnames = list(c("-1", "+1"), names)), kind = rep("number", length(names)))
}

# Edges drawn by sign (blue +, red -) and strength. `edges`: from, to (numbers), value.
draw_network <- function(edges, names, main, labels = NULL, layout = NULL, directed = FALSE, ...) {
  p <- length(names)
  labels <- check_flag(if (is.null(labels)) p <= 60 else labels, "labels")
  position <- spin_layout(edges, p, layout, directed)
  old <- graphics::par(mar = c(1, 1, 2, 1))
  on.exit(graphics::par(old))
  draw(graphics::plot, position, type = "n", axes = FALSE, xlab = "", ylab = "", xlim = stretch(position[, 1L]), ylim = stretch(position[, 2L]),
       main = main, user = list(...))
  if (nrow(edges) > 0L) {
    edges <- edges[order(abs(edges$value)), ]
    strength <- abs(edges$value) / max(abs(edges$value))
    colour <- grDevices::adjustcolor(sign_colours[ifelse(edges$value > 0, "positive", "negative")], 0.75)
    from <- position[edges$from, , drop = FALSE]
    to <- position[edges$to, , drop = FALSE]
    if (directed) {
      apart <- sqrt(rowSums((to - from)^2))
      keep <- apart > 1e-9
      gap <- 0.04 * max(apply(position, 2L, function(v) diff(range(v))))
      end <- to - (to - from) * pmin(0.4, gap / pmax(apart, 1e-9))
      graphics::arrows(from[keep, 1L], from[keep, 2L], end[keep, 1L], end[keep, 2L], length = 0.08, lwd = (0.5 + 3 * strength)[keep],
                       col = colour[keep])
    } else {
      graphics::segments(from[, 1L], from[, 2L], to[, 1L], to[, 2L], lwd = 0.5 + 4 * strength, col = colour)
    }
  }
  graphics::points(position, pch = 21, cex = if (p <= 60) 1.6 else 0.8, bg = "white", col = "grey30")
  if (labels) halo_text(position, names, 0.8, label_side(position, edges$from, edges$to))
  invisible(position)
}

# The same with ggplot2.
autoplot_weighted <- function(edges, names, main, layout, directed) {
  position <- spin_layout(edges, length(names), layout, directed)
  nodes <- data.frame(x = position[, 1L], y = position[, 2L])
  picture <- gg_canvas(nodes, ggplot2::aes(.data$x, .data$y))
  if (nrow(edges) > 0L) {
    edges <- edges[order(abs(edges$value)), ]
    from <- position[edges$from, , drop = FALSE]
    to <- position[edges$to, , drop = FALSE]
    apart <- pmax(sqrt(rowSums((to - from)^2)), 1e-9)
    gap <- if (directed) 0.03 * max(apply(position, 2L, function(v) diff(range(v)))) else 0
    end <- to - (to - from) * pmin(0.4, gap / apart)
    lines <- data.frame(x0 = from[, 1L], y0 = from[, 2L], x1 = end[, 1L], y1 = end[, 2L], strength = abs(edges$value),
                        sign = ifelse(edges$value > 0, "positive", "negative"))
    head <- if (directed) ggplot2::arrow(length = ggplot2::unit(0.18, "cm"), type = "closed")
    picture <- picture +
      ggplot2::geom_segment(ggplot2::aes(.data$x0, .data$y0, xend = .data$x1, yend = .data$y1, colour = .data$sign, linewidth = .data$strength),
                            lines,
                            arrow = head, alpha = 0.75) +
      ggplot2::scale_linewidth(range = c(0.2, 2), guide = "none") + ggplot2::scale_colour_manual(values = sign_colours, name = NULL)
  }
  picture + ggplot2::geom_point(shape = 21, fill = "white", size = 3) + autoplot_names(names, position, edges$from, edges$to) +
    ggplot2::labs(title = main)
}

autoplot_weights <- function(m, main) {
  cells <- data.frame(row = factor(rep(rownames(m), ncol(m)), rev(rownames(m))), column = factor(rep(colnames(m), each = nrow(m)), colnames(m)),
                      value = as.vector(m))
  gg_canvas(cells, ggplot2::aes(.data$column, .data$row, fill = .data$value)) + ggplot2::geom_tile() +
    ggplot2::scale_fill_gradient2(low = sign_colours[["negative"]], high = sign_colours[["positive"]], name = NULL) +
    ggplot2::labs(x = NULL, y = NULL, title = main) + ggplot2::theme_minimal() +
    ggplot2::theme(axis.text.x = ggplot2::element_text(angle = 90, hjust = 1, vjust = 0.5))
}

spin_layout <- function(edges, p, layout, directed) {
  if (!is.null(layout)) {
    layout <- check_matrix(layout, "layout", min_rows = p, min_cols = 2L)
    if (nrow(layout) != p) abort_input(sprintf("`layout` must have one row per variable (%d), but it has %d.", p, nrow(layout)), "layout")
    return(layout[, 1:2, drop = FALSE])
  }
  if (requireNamespace("igraph", quietly = TRUE) && nrow(edges) > 0L) {
    graph <- igraph::make_graph(rbind(edges$from, edges$to), n = p, directed = directed)
    return(keep_seed({
      set.seed(1)
      igraph::layout_with_fr(graph, weights = 0.1 + abs(edges$value) / max(abs(edges$value)))
    }))
  }
  angle <- 2 * pi * (seq_len(p) - 1) / p
  cbind(cos(angle), sin(angle))
}
