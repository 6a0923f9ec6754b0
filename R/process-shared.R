# What the Gaussian-process methods share in R: bands, surfaces, and words about parameters that ran into a bound.

# A mean with a band of `width` standard errors, the data on top. `ticks`: positions marked on the axis (inducing points, pending runs).
draw_band <- function(at, fit, se, x = NULL, y = NULL, width = 2, ticks = NULL, xlab = "x", ylab = "y", user = list()) {
  lower <- fit - width * se
  upper <- fit + width * se
  draw(graphics::plot, range(at), range(lower, upper, y, finite = TRUE), type = "n", xlab = xlab, ylab = ylab, user = user)
  graphics::polygon(c(at, rev(at)), c(lower, rev(upper)), col = "#2166ac33", border = NA)
  graphics::lines(at, fit, col = "#2166ac", lwd = 2)
  if (!is.null(x)) graphics::points(x, y, pch = 19, cex = 0.7)
  if (!is.null(ticks)) graphics::rug(ticks, col = "#b2182b", lwd = 2)
  invisible()
}

# A surface over a grid as shades and contours; `z` has one row per entry of `at1`.
draw_surface <- function(at1, at2, z, points = NULL, xlab = "x1", ylab = "x2", main = NULL, palette = "YlGnBu", user = list()) {
  draw(graphics::image, at1, at2, z, col = grDevices::hcl.colors(64L, palette, rev = TRUE), xlab = xlab, ylab = ylab, main = main, user = user)
  if (diff(range(z, finite = TRUE)) > 0) graphics::contour(at1, at2, z, add = TRUE, col = "#00000066")
  if (!is.null(points)) graphics::points(points, pch = 21, bg = "white", cex = 0.8)
  draw_key(range(z, finite = TRUE), grDevices::hcl.colors(64L, palette, rev = TRUE))
  invisible()
}

# What the shades mean, as a bar in the right margin where there is one.
draw_key <- function(range, colours) {
  if (graphics::par("mar")[4L] < 1.5 || !all(is.finite(range)) || diff(range) <= 0) return(invisible())
  box <- graphics::par("usr")
  left <- box[2L] + 0.015 * (box[2L] - box[1L])
  right <- box[2L] + 0.035 * (box[2L] - box[1L])
  graphics::rasterImage(grDevices::as.raster(matrix(rev(colours))), left, box[3L], right, box[4L], xpd = NA)
  words <- formatC(c(range[1L], mean(range), range[2L]), digits = 3L, format = "g")
  if (max(nchar(words)) > 5L) words <- formatC(c(range[1L], mean(range), range[2L]), digits = 2L, format = "g")
  graphics::text(right, c(box[3L], mean(box[3:4]), box[4L]), words, pos = 4, offset = 0.15, cex = 0.6, xpd = NA)
  invisible()
}

# One warning that names the parameters that ended on a bound of their search.
warn_on_bound <- function(names, advice = "Widen the bounds, rescale the inputs, or take it as a sign that the data say little about them.") {
  if (length(names) == 0L) return(invisible())
  warn_input(sprintf("%s at a bound of the search: %s.\n%s", counted(length(names), "parameter ended", "parameters ended"),
                     paste(names, collapse = ", "), advice))
}

# One function for several answers: `what` names one of `makers`, `given` are the arguments for it.
ask_for <- function(makers, what, given, arg = "what") {
  what <- check_choice(what, names(makers), arg)
  maker <- makers[[what]]
  known <- setdiff(names(formals(maker)), "...")
  named <- if (is.null(names(given))) rep("", length(given)) else names(given)
  unknown <- setdiff(named[nzchar(named)], known)
  if (length(unknown) > 0L) {
    abort_input(paste0("There is no argument `", unknown[1L], "` for ", arg, " = \"", what, "\".", did_you_mean(unknown[1L], known, "`")),
                unknown[1L])
  }
  if (length(given) > length(known)) {
    abort_input(sprintf("There are too many values for %s = \"%s\": it takes %s.", arg, what, paste(known, collapse = ", ")), arg)
  }
  do.call(maker, given, quote = TRUE)
}

# update() without new rows: the call of the fit with other arguments, or another formula in the place of new rows.
refitted_call <- function(object, asked, env) {
  asked[[1L]] <- quote(stats::update)
  asked$object <- object
  names(asked)[names(asked) == "newdata"] <- "formula."
  plain <- object
  class(plain) <- "granary_fit"
  asked$object <- plain
  eval(asked, env)
}

# Bytes that can be had, or NA where nobody says.
memory_free <- function() {
  limit <- getOption("granary.memory")
  if (!is.null(limit)) return(check_number(limit, "granary.memory", lower = 0))
  lines <- tryCatch(readLines("/proc/meminfo", n = 5L, warn = FALSE), error = function(e) character())
  free <- grep("^MemAvailable:", lines, value = TRUE)
  if (length(free) == 1L) 1024 * as.double(gsub("[^0-9]", "", free)) else NA_real_
}

# Refuses before it allocates what cannot be held.
check_memory <- function(bytes, what, advice, arg = "x") {
  free <- memory_free()
  if (bytes < (if (is.na(free)) 64e9 else free)) return(invisible())
  abort_input(sprintf("%s need about %.*f GB of memory%s.\n%s", what, if (bytes < 1e10) 1L else 0L, bytes / 1e9,
                      if (is.na(free)) "" else sprintf(", and %.1f GB are free", free / 1e9), advice), arg)
}

# ... for methods that hold `copies` matrices of all pairs of rows.
check_all_pairs <- function(n, copies, advice, arg = "x") {
  check_memory(8 * copies * as.double(n)^2, sprintf("All pairs of %d rows", n), advice, arg)
}

# ... or of all pairs of columns.
check_all_columns <- function(p, copies, advice, arg = "x") {
  check_memory(8 * copies * as.double(p)^2, sprintf("All pairs of %d columns", p), advice, arg)
}

# Says how long it may take where that is more than a minute, at about a thousand million operations a second.
slow_work <- function(operations, what, advice) {
  minutes <- operations / 1e9 / 60
  if (minutes > 1) message(sprintf("%s may take up to %.0f minutes here; %s make it quicker.", what, ceiling(minutes), advice))
  invisible()
}

# predict() with an interval: `asked(type)` gives fit and se.fit of the function ("latent") or of a response with its noise.
with_interval <- function(asked, interval, level, se) {
  level <- check_number(level, "level", lower = 0, upper = 1, strict_lower = TRUE, strict_upper = TRUE)
  out <- asked(if (interval == "prediction") "response" else "latent")
  half <- stats::qnorm(0.5 + level / 2) * out$se.fit
  if (!se) out$se.fit <- NULL
  c(out, list(lwr = out$fit - half, upr = out$fit + half))
}
