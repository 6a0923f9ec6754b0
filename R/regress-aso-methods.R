# What a fit of aso() can do.

aso_thetas <- function(fit) if (is.list(fit$theta)) fit$theta else list(fit$theta)

# Coordinates of rows in the subspace: Theta x.
aso_latent <- function(object, newdata) {
  parts <- Map(function(theta, columns) as.matrix(Matrix::tcrossprod(newdata[, columns, drop = FALSE], theta)), aso_thetas(object), object$groups)
  labels <- unlist(Map(function(theta, name) if (nrow(theta) > 0L) if (length(parts) > 1L) paste0(name, ".", rownames(theta)) else rownames(theta),
                       aso_thetas(object), names(object$groups)))
  out <- do.call(cbind, unname(parts))
  dimnames(out) <- list(rownames(newdata), unname(labels))
  out
}

check_task <- function(task, fit) {
  names <- colnames(fit$u)
  if (is.null(task)) return(seq_along(names))
  which(check_features(task, stats::setNames(seq_along(names), names), "task"))
}

#' @rdname aso
#' @export
coef.granary_aso <- function(object, task = NULL, ...) {
  refuse_dots(...)
  at <- check_task(task, object)
  rbind("(Intercept)" = object$intercepts[at], object$u[, at, drop = FALSE])
}

#' @rdname aso
#' @importFrom stats predict
#' @export
predict.granary_aso <- function(object, newdata, task = NULL, type = c("link", "response", "class", "latent"), ...) {
  refuse_dots(...)
  if (missing(newdata)) fail_missing("newdata")
  type <- check_choice(type, c("link", "response", "class", "latent"))
  newdata <- normalize_rows(new_design(newdata, rownames(object$u), object$design, "newdata"), object$normalize)
  if (type == "latent") return(aso_latent(object, newdata))
  at <- check_task(task, object)
  scores <- as.matrix(newdata %*% object$u[, at, drop = FALSE])
  scores <- sweep(scores, 2L, object$intercepts[at], `+`)
  dimnames(scores) <- list(rownames(newdata), colnames(object$u)[at])
  if (type == "class") return(aso_classes(object, scores, is.null(task)))
  if (type == "response" && object$loss == "logistic") stats::plogis(scores) else scores
}

aso_classes <- function(fit, scores, all_tasks) {
  if (fit$loss == "squared") abort_input("There are no classes with squared loss: use type = \"link\".", "type")
  if (is.null(fit$classes) || !all_tasks) return(ifelse(scores > 0, 1L, -1L))
  if (ncol(scores) == 1L) return(factor(fit$classes[(scores[, 1L] > 0) + 1L], levels = fit$classes))
  factor(fit$classes[max.col(scores, ties.method = "first")], levels = fit$classes)
}

#' @rdname aso
#' @export
print.granary_aso <- function(x, ...) {
  cli::cat_line(fit_title(x))
  print_call(x$call)
  cli::cat_line(counted(ncol(x$u), "task", "tasks"), ", ", counted(nrow(x$u), "feature", "features"), ", loss ", x$loss, ", shared dimensions ",
                paste(x$h, collapse = " "), if (length(x$h) > 1L) " (by group)")
  shares <- aso_shared_share(x)
  cli::cat_line("Share of the squared weights inside the subspace: ", format(shares, digits = 3L), "; mean loss ", format(mean(x$losses),
                                                                                                                          digits = 4L))
  cli::cat_line("Solver: ", format_convergence(x$convergence))
  invisible(x)
}

aso_shared_share <- function(fit) {
  total <- sum(fit$u^2)
  if (total == 0) return(0)
  v <- if (is.list(fit$v)) fit$v else list(fit$v)
  sum(vapply(v, function(part) sum(part^2), 0)) / total
}

#' @rdname aso
#' @export
summary.granary_aso <- function(object, ...) {
  d <- if (is.list(object$d)) object$d else list(object$d)
  values <- vapply(d, function(s) paste(format(utils::head(s, 8L), digits = 3L), collapse = " "), "")
  seal(structure(list(
    title = fit_title(object), call = object$call, convergence = object$convergence,
    parts = c(tasks = ncol(object$u), features = nrow(object$u), loss = object$loss, shared = paste(object$h, collapse = " "),
              objective = format(object$objective, digits = 6L), share_inside = format(aso_shared_share(object), digits = 3L),
              singular_values = paste(values, collapse = " | ")),
    quantiles = rbind(losses = stats::setNames(stats::quantile(object$losses, c(0, 0.25, 0.5, 0.75, 1), names = FALSE), c("min", "25%", "median",
                                                                                                                          "75%", "max")))
  ), class = "summary_granary_fit"))
}

#' @rdname aso
#' @export
tidy.granary_aso <- function(x, task = NULL, type = c("weights", "features"), n = 10, largest = 100, ...) {
  refuse_dots(...)
  if (check_choice(type, c("weights", "features")) == "features") return(aso_features(x, n, largest))
  at <- check_task(task, x)
  own <- aso_own(x)
  data.frame(task = rep(colnames(x$u)[at], each = nrow(x$u)), term = rep(rownames(x$u), length(at)), estimate = as.vector(x$u[, at, drop = FALSE]),
             own = as.vector(own[, at, drop = FALSE]))
}

# What the tasks have for themselves, w_l = u_l - Theta'v_l.
aso_own <- function(fit) {
  v <- if (is.list(fit$v)) fit$v else list(fit$v)
  own <- fit$u
  for (t in seq_along(fit$groups)) own[fit$groups[[t]], ] <- own[fit$groups[[t]], ] - crossprod(aso_thetas(fit)[[t]], v[[t]])
  own
}

#' @rdname aso
#' @export
glance.granary_aso <- function(x, ...) {
  refuse_dots(...)
  end <- convergence_table(x$convergence)
  data.frame(tasks = ncol(x$u), features = nrow(x$u), h = sum(x$h), loss = x$loss, mean_loss = mean(x$losses), objective = x$objective,
             share_inside = aso_shared_share(x), end[c("converged", "iterations", "seconds")])
}

#' @rdname aso
#' @export
plot.granary_aso <- function(x, type = c("scree", "theta"), ...) {
  type <- check_choice(type, c("scree", "theta"))
  if (type == "theta") {
    theta <- aso_thetas(x)[[which.max(x$h)]]
    if (nrow(theta) == 0L) abort_input("There is no shared structure to draw: `h` is 0.", "x")
    largest <- max(abs(theta))
    colours <- signed_colours(41L)
    graphics::image(seq_len(ncol(theta)), seq_len(nrow(theta)), t(theta), zlim = c(-largest, largest), xlab = "feature", ylab = "row of Theta",
                    yaxt = "n", col = colours, ...)
    graphics::axis(2L, seq_len(nrow(theta)), las = 1L)
    draw_key(c(-largest, largest), colours)
    return(invisible())
  }
  d <- if (is.list(x$d)) x$d else list(x$d)
  if (sum(lengths(d)) == 0L) abort_input("There are no singular values to draw: this fit took its structure from another.", "x")
  draw(graphics::plot, range(1, lengths(d)), c(0, max(unlist(d))), type = "n", xlab = "component", ylab = "singular value of U", user = list(...))
  for (t in seq_along(d)) {
    graphics::lines(d[[t]], type = "b", pch = 19, col = t)
    if (x$h[[t]] > 0) graphics::abline(v = x$h[[t]] + 0.5, lty = 3, col = t)
  }
  invisible()
}

# What the rows of a shared structure stand for, Section 5.2.8 of the paper.
aso_features <- function(fit, n, largest) {
  n <- check_count(n)
  largest <- check_count(largest)
  rows <- list()
  for (t in seq_along(fit$groups)) {
    theta <- aso_thetas(fit)[[t]]
    if (nrow(theta) == 0L) next
    owner <- max.col(t(abs(theta)), ties.method = "first")
    for (k in seq_len(nrow(theta))) {
      for (sign in c("positive", "negative")) {
        values <- if (sign == "positive") theta[k, ] else -theta[k, ]
        top <- utils::head(order(-values), largest)
        top <- utils::head(top[values[top] > 0 & owner[top] == k], n)
        if (length(top) == 0L) next
        rows[[length(rows) + 1L]] <- data.frame(group = names(fit$groups)[t], row = k, sign = sign, feature = colnames(theta)[top],
                                                entry = theta[k, top])
      }
    }
  }
  out <- do.call(rbind, rows)
  if (is.null(out)) out <- data.frame(group = character(), row = integer(), sign = character(), feature = character(), entry = numeric())
  rownames(out) <- NULL
  out
}
