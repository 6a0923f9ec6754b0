#' Methods for networks of discrete and Gaussian variables
#'
#' What can be done with a [cg_network()] besides [cg_condition()], [cg_marginal()] and [cg_map()].
#'
#' @details
#' `simulate()` draws all nodes given the findings. `logLik()` of a fit is that of its data; with `newdata` the log density of new rows, `NA` where a
#' cell is not known, given
#' the findings; a row that cannot occur has `-Inf`. `predict()` gives, for each row, the law of `target` given everything else in the row: `type =
#' "response"` is the most
#' probable state or the mean, `"class"` that state, `"prob"` the probabilities of the states; with `se = TRUE` the mean of a continuous node comes with its
#' standard deviation given the row.
#'
#' `plot()` and `autoplot()` draw discrete nodes as squares and continuous ones as circles; nodes with findings are filled.
#'
#' @param x,object A network, or a marginal.
#' @param newdata A data frame with columns for some of the nodes; missing columns and cells are not known.
#' @param target The node to predict.
#' @param type What to return; see Details.
#' @param se Whether the standard deviation of a continuous `target` is given too: a list with `fit` and `se.fit`.
#' @param nsim Number of draws.
#' @param seed A seed, or `NULL` for R's stream.
#' @param layout A two-column matrix of positions, one row per node.
#' @param labels Whether to write names.
#' @param threads Number of threads.
#' @param ... For `plot()`, passed on to [graphics::plot()]; otherwise not used.
#' @return `simulate()` a data frame; `predict()` a factor, a vector or a matrix; `coef()` the parameters, named by node, configuration and term
#'   (as tables and regressions they stand in `object$tables` and `object$regressions`); `tidy()` one row per
#'   parameter.
#' @seealso [cg_network()], [cg_condition()], [cg_marginal()], [cg_map()], [cg_tree()], [cg_prune()]
#' @name granary_cg_network
#' @examples
#' fit <- cg_fit("Species -> Sepal.Length -> Petal.Length; Species -> Petal.Length", iris)
#' plot(fit)
#' set.seed(1)
#' simulate(cg_condition(fit, list(Species = "virginica")), nsim = 3)
#' predict(fit, iris[c(1, 51, 101), ], target = "Species", type = "prob")
#' new <- data.frame(Species = c("setosa", NA), Petal.Length = 2)
#' predict(fit, new, target = "Sepal.Length", se = TRUE)
#' logLik(fit)
#' tidy(fit)
#' glance(fit)
#' summary(fit)
NULL

#' @export
print.granary_cg_network <- function(x, ...) {
  nodes <- x$graph$nodes
  discrete <- vapply(nodes, function(v) cg_discrete(x, v), NA)
  cli::cat_line("Conditional Gaussian network: ", counted(sum(discrete), "discrete", "discrete"), " and ",
                counted(sum(!discrete), "continuous node", "continuous nodes"), ", ",
                counted(nrow(x$graph$edges), "edge", "edges"))
  print_call(x$call)
  print_edges(x$graph)
  if (!is.null(x$n)) {
    cli::cat_line("Fitted to ", x$n, " rows: log-likelihood ", format(x$loglik, digits = 6L), ", ", x$df, " parameters",
                  if (x$convergence$iterations > 1L) paste0("; EM ", format_convergence(x$convergence)))
  }
  if (length(x$evidence) > 0L) {
    shown <- utils::head(names(x$evidence), 8L)
    cli::cat_line("Findings: ", paste(vapply(shown, function(v) format_finding(x, v), ""), collapse = ", "),
                  if (length(x$evidence) > 8L) sprintf(" and %d more", length(x$evidence) - 8L),
                  " (log-evidence ", format(x$log_evidence, digits = 6L), ")")
  }
  cli::cat_line("Ask with cg_condition(), cg_marginal(), cg_map(), predict(), simulate().")
  invisible(x)
}

#' @rdname granary_cg_network
#' @export
summary.granary_cg_network <- function(object, ...) seal(structure(list(network = object, tree = cg_tree(object)), class = "summary_granary_cg_network"))

#' @export
print.summary_granary_cg_network <- function(x, ...) {
  print(x$network)
  for (v in utils::head(names(x$network$tables), 10L)) {
    cli::cat_line()
    cli::cat_line(v)
    print(round(x$network$tables[[v]], 4L))
  }
  for (v in utils::head(names(x$network$regressions), 10L)) {
    cli::cat_line()
    cli::cat_line(v)
    print(x$network$regressions[[v]], digits = 4L, row.names = FALSE)
  }
  cli::cat_line()
  print(x$tree)
  invisible(x)
}

#' @rdname granary_cg_network
#' @export
coef.granary_cg_network <- function(object, ...) {
  refuse_dots(...)
  table <- tidy(object)
  stats::setNames(table$estimate, paste0(table$node, ifelse(nzchar(table$configuration), paste0("|", table$configuration), ""), ":", table$term))
}

#' @rdname granary_cg_network
#' @export
tidy.granary_cg_network <- function(x, ...) {
  refuse_dots(...)
  label <- function(frame, names) {
    if (length(names) == 0L) return(rep("", nrow(frame)))
    do.call(paste, c(lapply(names, function(u) paste(u, "=", frame[[u]])), sep = ", "))
  }
  tables <- lapply(names(x$tables), function(v) {
    frame <- as.data.frame.table(x$tables[[v]], responseName = "estimate", stringsAsFactors = FALSE)
    names(frame)[seq_along(dim(x$tables[[v]]))] <- names(dimnames(x$tables[[v]]))
    data.frame(node = v, configuration = label(frame, names(dimnames(x$tables[[v]]))[-1L]), term = as.character(frame[[1L]]),
               estimate = frame$estimate)
  })
  regressions <- lapply(names(x$regressions), function(v) {
    frame <- x$regressions[[v]]
    parents <- split_parents(x, v)
    terms <- c("intercept", parents$continuous, "variance")
    do.call(rbind, lapply(terms, function(term) data.frame(node = v, configuration = label(frame, parents$discrete), term = term,
                                                           estimate = frame[[term]])))
  })
  result <- do.call(rbind, c(tables, regressions))
  result <- result[order(match(result$node, x$graph$nodes)), ]
  rownames(result) <- NULL
  result
}

#' @rdname granary_cg_network
#' @export
glance.granary_cg_network <- function(x, ...) {
  refuse_dots(...)
  discrete <- vapply(x$graph$nodes, function(v) cg_discrete(x, v), NA)
  or_na <- function(value) if (is.null(value)) NA_real_ else as.double(value)
  data.frame(discrete = sum(discrete), continuous = sum(!discrete), edges = nrow(x$graph$edges), findings = length(x$evidence),
             log_evidence = x$log_evidence,
             logLik = or_na(x$loglik), df = or_na(x$df), nobs = or_na(x$n))
}

#' @rdname granary_cg_network
#' @export
logLik.granary_cg_network <- function(object, newdata = NULL, threads = NULL, ...) {
  refuse_dots(...)
  if (is.null(newdata)) {
    if (is.null(object$n)) abort_input("The network was not fitted to data. Give `newdata`, or look at `log_evidence` for findings.", "newdata")
    return(structure(object$loglik, df = object$df, nobs = object$n, class = "logLik"))
  }
  rows <- read_newdata(object, newdata)
  clash <- intersect(names(object$evidence), colnames(rows)[colSums(!is.na(rows)) > 0L])
  if (length(clash) > 0L) abort_input(sprintf("`newdata` has values for \"%s\", on which there is a finding already. Take it back with cg_condition(retract = ) first.",
                                              clash[1L]), "newdata")
  whole <- length(object$evidence) == 0L && !anyNA(rows)
  each <- if (whole) {
    core_cg_log_density(cg_spec(object), unname(rows))
  } else {
    core_cg_row_evidence(cg_state(object), unname(rows), thread_count(threads), progress_bar("rows"))
  }
  structure(sum(each), df = if (is.null(object$df)) NA_integer_ else object$df, nobs = nrow(rows), each = each, class = "logLik")
}

read_newdata <- function(object, newdata) {
  if (!is.data.frame(newdata)) fail_input("newdata", "a data frame with columns for some of the nodes", describe(newdata))
  if (nrow(newdata) == 0L) abort_input("`newdata` must have at least one row.", "newdata")
  nodes <- object$graph$nodes
  if (!any(nodes %in% names(newdata))) abort_input("`newdata` must have a column for at least one node of the network, but it has none.", "newdata")
  full <- as.list(newdata)[intersect(nodes, names(newdata))]
  for (v in setdiff(nodes, names(full))) full[[v]] <- rep(NA, nrow(newdata))
  full <- structure(full[nodes], class = "data.frame", row.names = seq_len(nrow(newdata)))
  read_columns(full, nodes, TRUE, object$levels, "newdata")$rows
}

#' @rdname granary_cg_network
#' @export
predict.granary_cg_network <- function(object, newdata, target, type = c("response", "class", "prob"), se = FALSE, threads = NULL, ...) {
  refuse_dots(...)
  if (missing(newdata)) fail_missing("newdata")
  if (missing(target)) fail_missing("target")
  type <- check_choice(type, c("response", "class", "prob"))
  se <- check_flag(se)
  target <- check_string(target)
  number <- node_numbers(target, object$graph$nodes, "target")
  discrete <- cg_discrete(object, target)
  if (discrete && se) abort_input(sprintf("\"%s\" is discrete: use `type = \"prob\"`.", target), "se")
  if (!discrete && type != "response") abort_input(sprintf("\"%s\" is continuous: use `type = \"response\"`, with `se = TRUE` for the spread.", target), "type")
  if (target %in% names(object$evidence)) abort_input(sprintf("There is a finding on \"%s\", so there is nothing to predict. Take it back with cg_condition(retract = ) first.",
                                                              target), "target")
  rows <- if (!is.data.frame(newdata) || any(setdiff(object$graph$nodes, target) %in% names(newdata)) || nrow(newdata) == 0L) {
    read_newdata(object, newdata)
  } else {
    matrix(NaN, nrow(newdata), length(object$graph$nodes), dimnames = list(NULL, object$graph$nodes))
  }
  clash <- intersect(names(object$evidence), colnames(rows)[colSums(!is.na(rows)) > 0L])
  if (length(clash) > 0L) abort_input(sprintf("`newdata` has values for \"%s\", on which there is a finding already. Take it back with cg_condition(retract = ) first.",
                                              clash[1L]), "newdata")
  result <- core_cg_predict(cg_state(object), unname(rows), number, thread_count(threads), progress_bar("rows"))
  if (discrete) {
    states <- object$levels[[target]]
    if (type == "prob") return(matrix(result, nrow(rows), dimnames = list(NULL, states)))
    return(factor(states[max.col(result, ties.method = "first")], states))
  }
  if (se) return(list(fit = result[, 1L], se.fit = sqrt(result[, 2L])))
  result[, 1L]
}

#' @rdname granary_cg_network
#' @export
simulate.granary_cg_network <- function(object, nsim = 1, seed = NULL, ...) {
  refuse_dots(...)
  nsim <- check_count(nsim)
  if (!is.null(seed)) return(with_seed(seed, simulate(object, nsim = nsim)))
  nodes <- object$graph$nodes
  if (as.double(nsim) * length(nodes) > 2^30) abort_input("`nsim` asks for more numbers than fit into memory. Draw in parts.", "nsim")
  rows <- core_cg_simulate(cg_state(object), nsim, core_seed(), progress_bar("draws"))
  columns <- lapply(seq_along(nodes), function(k) {
    states <- object$levels[[nodes[k]]]
    if (is.null(states)) rows[, k] else factor(states[rows[, k] + 1], states)
  })
  structure(stats::setNames(columns, nodes), class = "data.frame", row.names = seq_len(nsim))
}

#' @rdname granary_cg_network
#' @export
plot.granary_cg_network <- function(x, layout = NULL, labels = TRUE, ...) {
  labels <- check_flag(labels)
  graph <- x$graph
  discrete <- cg_kinds(x)
  draw_graph(graph, graph_layout(graph, layout), "Squares are discrete, circles continuous", rep("grey40", nrow(graph$edges)), labels,
             rep(TRUE, length(graph$nodes)), list(...), square = discrete, fill = ifelse(graph$nodes %in% names(x$evidence), "grey55", "white"),
             border = ifelse(discrete, "#2166ac", "#b2182b"))
}

cg_kinds <- function(net) unname(vapply(net$graph$nodes, function(v) cg_discrete(net, v), NA))

#' @rdname granary_cg_network
#' @usage \method{autoplot}{granary_cg_network}(object, layout = NULL, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.granary_cg_network <- function(object, layout = NULL, ...) {  # nolint: object_name_linter.
  check_installed("ggplot2", "autoplot()")
  position <- graph_layout(object$graph, layout)
  nodes <- data.frame(x = position[, 1L], y = position[, 2L], kind = ifelse(cg_kinds(object), "discrete", "continuous"),
                      fill = ifelse(object$graph$nodes %in% names(object$evidence), "grey55", "white"))
  autoplot_edges(object$graph, position) + ggplot2::guides(colour = "none") +
    ggplot2::geom_point(ggplot2::aes(.data$x, .data$y, shape = .data$kind), nodes, fill = nodes$fill, size = 4) +
    ggplot2::scale_shape_manual(values = c(discrete = 22, continuous = 21), name = NULL) +
    autoplot_names(object$graph$nodes, position, object$graph$edges[, 1L], object$graph$edges[, 2L])
}

#' @export
print.granary_cg_marginal <- function(x, ...) {
  if (x$kind == "table") {
    cli::cat_line("P(", paste(x$nodes, collapse = ", "), ")")
    print(round(x$probabilities, 6L))
    return(invisible(x))
  }
  several <- is.matrix(x$means)
  cli::cat_line("Law of ", paste(x$nodes, collapse = ", "), ": ",
                if (length(x$weights) == 1L) "normal" else paste("mixture of", length(x$weights), "normal laws"))
  if (several) {
    print(rbind(mean = x$mean, sd = sqrt(diag(x$covariance))), digits = 5L)
  } else {
    cli::cat_line("mean ", format(x$mean, digits = 6L), ", sd ", format(x$sd, digits = 6L))
  }
  if (length(x$weights) > 1L) {
    top <- utils::head(order(-x$weights), 8L)
    table <- cbind(x$components[top, , drop = FALSE], weight = x$weights[top],
                   if (several) as.data.frame(x$means)[top, , drop = FALSE] else data.frame(mean = x$means[top], sd = x$sds[top]))
    print(table, digits = 4L, row.names = FALSE)
    if (length(x$weights) > 8L) cli::cat_line("  ... and ", length(x$weights) - 8L, " more components")
  }
  invisible(x)
}

#' @rdname cg_marginal
#' @export
tidy.granary_cg_marginal <- function(x, ...) {
  refuse_dots(...)
  if (x$kind == "table") return(as.data.frame.table(x$probabilities, responseName = "probability"))
  moments <- if (is.matrix(x$means)) as.data.frame(x$means) else data.frame(mean = x$means, sd = x$sds)
  cbind(x$components, weight = x$weights, moments)
}

#' @rdname cg_marginal
#' @export
tidy.granary_cg_marginals <- function(x, ...) {
  refuse_dots(...)
  rows <- lapply(x, function(m) {
    if (m$kind == "table") data.frame(node = m$nodes, state = names(m$probabilities), probability = as.vector(m$probabilities), mean = NA_real_,
                                      sd = NA_real_)
    else data.frame(node = m$nodes, state = NA_character_, probability = NA_real_, mean = m$mean, sd = m$sd)
  })
  result <- do.call(rbind, rows)
  rownames(result) <- NULL
  result
}

#' @export
print.granary_cg_marginals <- function(x, ...) {
  table <- vapply(x, function(m) m$kind == "table", NA)
  for (m in utils::head(x[table], 20L)) {
    top <- utils::head(order(-m$probabilities), 6L)
    cli::cat_line(m$nodes, ": ", paste(names(m$probabilities)[top], format(round(m$probabilities[top], 4L)), collapse = ", "),
                  if (length(m$probabilities) > 6L) ", ...")
  }
  for (m in utils::head(x[!table], 20L)) {
    cli::cat_line(m$nodes, ": mean ", format(m$mean, digits = 5L), ", sd ", format(m$sd, digits = 5L),
                  if (length(m$weights) > 1L) paste0(" (", length(m$weights), " components)"))
  }
  hidden <- max(0L, sum(table) - 20L) + max(0L, sum(!table) - 20L)
  if (hidden > 0L) cli::cat_line("... and ", hidden, " more; tidy() lists them")
  invisible(x)
}

#' @rdname cg_marginal
#' @export
plot.granary_cg_marginal <- function(x, ...) {
  if (x$kind == "table" && length(x$nodes) <= 2L) {
    two <- length(x$nodes) == 2L
    shades <- grDevices::grey.colors(if (two) nrow(x$probabilities) else 1L)
    draw(graphics::barplot, x$probabilities, beside = TRUE, ylab = "probability", xlab = x$nodes[length(x$nodes)],
         main = if (two) "" else x$nodes, ylim = c(0, 1), col = shades, user = list(...))
    if (two) graphics::legend("top", rownames(x$probabilities), fill = shades, title = x$nodes[1L], horiz = TRUE, bty = "n", inset = c(0, -0.2), xpd = NA)
    return(invisible(x))
  }
  if (x$kind == "table") {
    draw(graphics::mosaicplot, as.table(x$probabilities), main = paste(x$nodes, collapse = ", "), user = list(...))
    return(invisible(x))
  }
  if (is.matrix(x$means)) {
    draws <- ellipse_points(x)
    draw(graphics::plot, draws, type = "n", user = list(...))
    for (k in seq_along(x$weights)) graphics::lines(draws[seq_len(101L) + (k - 1L) * 102L, ], lwd = 0.5 + 3 * x$weights[k], col = "#2166ac")
    return(invisible(x))
  }
  curve <- cg_density(x)
  draw(graphics::plot, curve$at, curve$height, type = "l", xlab = x$nodes, ylab = "density", ylim = c(0, max(curve$height, 1e-300, na.rm = TRUE)),
       user = list(...))
  if (any(curve$point)) graphics::abline(v = x$means[curve$point], lty = 2, lwd = 0.5 + 2 * x$weights[curve$point])
  invisible(x)
}

# The density of one continuous node where it is worth drawing, and which parts of the mixture are single points.
cg_density <- function(x) {
  spread <- max(x$sds, 0.02 * x$sd, 1e-12 * max(abs(x$means), 1))
  at <- sort(c(seq(min(x$means) - 4 * spread, max(x$means) + 4 * spread, length.out = 400L),
               outer(x$means, c(-2, -1, 0, 1, 2) * max(min(x$sds), 1e-300), "+")))
  height <- density(x, at)
  height[!is.finite(height)] <- NA
  list(at = at, height = height, point = x$sds == 0)
}

# One-standard-deviation outlines of the components in the first two variables, each closed and followed by a gap.
ellipse_points <- function(x) {
  angle <- seq(0, 2 * pi, length.out = 101L)
  parts <- lapply(seq_along(x$weights), function(k) {
    s <- x$covariances[, , k, drop = TRUE]
    if (ncol(x$means) == 1L) return(rbind(cbind(x$means[k, 1L] + sqrt(s) * cos(angle), x$weights[k] + 0 * angle), NA))
    # the circle by the Cholesky factor of the 2 x 2 covariance
    first <- sqrt(s[1L, 1L])
    along <- if (first > 0) s[1L, 2L] / first else 0
    rest <- sqrt(max(s[2L, 2L] - along^2, 0))
    rbind(cbind(x$means[k, 1L] + first * cos(angle), x$means[k, 2L] + along * cos(angle) + rest * sin(angle)), NA)
  })
  points <- do.call(rbind, parts)
  colnames(points) <- if (ncol(x$means) == 1L) c(colnames(x$means), "weight") else colnames(x$means)[1:2]
  points
}

#' @rdname cg_marginal
#' @export
plot.granary_cg_marginals <- function(x, ...) {
  shown <- utils::head(seq_along(x), 16L)
  side <- ceiling(sqrt(length(shown)))
  old <- graphics::par(mfrow = c(ceiling(length(shown) / side), side), mar = c(3, 3, 2, 1))
  on.exit(graphics::par(old))
  for (k in shown) plot(x[[k]], ...)
  invisible(x)
}

#' @rdname cg_tree
#' @export
print.granary_cg_tree <- function(x, ...) {
  title <- c(semi = "Strong semi-elimination tree", elimination = "Strong elimination tree", junction = "Strong junction tree")[[x$type]]
  cli::cat_line(title, ": ", counted(nrow(x$clusters), "cluster", "clusters"), ", at most ", format(x$largest, big.mark = ","), " configurations, ",
                format(x$cost, big.mark = ","), " numbers")
  for (k in rev(utils::tail(seq_len(nrow(x$clusters)), 30L))) {
    members <- c(x$clusters$continuous[[k]], x$clusters$discrete[[k]])
    members <- c(x$clusters$eliminated[k], setdiff(members, x$clusters$eliminated[k]))
    above <- if (x$clusters$parent[k] > 0L) paste(" -", x$clusters$parent[k]) else " (root)"
    cli::cat_line("  ", k, ": {", paste(members, collapse = ", "), "}", above)
  }
  if (nrow(x$clusters) > 30L) cli::cat_line("  ... and ", nrow(x$clusters) - 30L, " more")
  invisible(x)
}

#' @rdname cg_tree
#' @export
plot.granary_cg_tree <- function(x, ...) plot(cg_tree_graph(x), ...)

cg_tree_graph <- function(x) {
  names <- vapply(seq_len(nrow(x$clusters)), function(k) paste(c(x$clusters$continuous[[k]], x$clusters$discrete[[k]]), collapse = " "), "")
  linked <- which(x$clusters$parent > 0L)
  new_graph(make.unique(names), cbind(linked, x$clusters$parent[linked], rep(1L, length(linked)), rep(1L, length(linked))), "undirected")
}
