# Families of mixtures: rows in the form the core wants, and the hyperparameters with defaults from the data.

mixture_families <- c("normal", "mvnormal", "normal_known", "poisson", "exponential", "geometric", "negative_binomial", "binomial", "categorical",
                      "lognormal", "weibull", "richardson_green")

# list(x, family, names, levels, labels): a plain matrix of doubles, codes from 0 for a categorical family.
mixture_rows <- function(x, family, arg = "x", levels = NULL) {
  family <- check_choice(family, c("auto", mixture_families), "family")
  worded <- is.character(x) || is.factor(x) || (is.data.frame(x) && length(x) > 0L && !any(vapply(x, is.numeric, NA)))
  if (family == "auto") {
    family <- if (worded) "categorical" else if (NCOL(x) > 1L) "mvnormal" else "normal"
  }
  if (family == "categorical") return(c(categorical_rows(x, arg, levels), family = family))
  rows <- check_rows(x, arg)
  if (isS4(rows)) rows <- as.matrix(rows)
  if (family != "mvnormal" && ncol(rows) != 1L) {
    abort_input(sprintf("family = \"%s\" needs one column, but `%s` has %d. For several use \"mvnormal\" or \"categorical\".", family, arg, ncol(rows)), arg)
  }
  list(x = plain_rows(rows), names = variable_names(colnames(rows), ncol(rows)), levels = NULL, labels = rownames(rows), family = family)
}

categorical_rows <- function(x, arg, levels) {
  if (is.null(dim(x))) x <- data.frame(V1 = x)
  if (!is.data.frame(x)) x <- as.data.frame(x, stringsAsFactors = FALSE)
  if (nrow(x) == 0L || length(x) == 0L) fail_input(arg, "levels, one row per observation", describe(x))
  for (j in seq_along(x)) {
    at <- which(is.na(x[[j]]))
    if (length(at) > 0L) abort_input(sprintf("`%s` must have no missing values, but row %d of column %s is NA.", arg, at[1L], label_of(names(x), j)), arg)
    if (!(is.factor(x[[j]]) || is.character(x[[j]]) || is.logical(x[[j]]) || is_plain_numeric(x[[j]]))) fail_input(arg, "columns of levels", describe(x[[j]]))
  }
  if (is.null(levels)) {
    levels <- lapply(x, function(column) levels(droplevels(as.factor(column))))
  } else if (!is.null(names(levels)) && all(names(levels) %in% names(x))) {
    x <- x[names(levels)]
  }
  codes <- matrix(0, nrow(x), length(levels))
  for (j in seq_along(levels)) {
    code <- match(as.character(x[[j]]), levels[[j]])
    if (anyNA(code)) {
      abort_input(sprintf("Column %s of `%s` has the level \"%s\", which the fit does not know.", label_of(names(x), j), arg, as.character(x[[j]])[is.na(code)][1L]), arg)
    }
    codes[, j] <- code - 1
  }
  rows <- if (.row_names_info(x) > 0L) attr(x, "row.names")
  list(x = codes, names = names(x), levels = levels, labels = rows)
}

hyper_words <- list(
  normal = c("m0", "k0", "a0", "b0"), lognormal = c("m0", "k0", "a0", "b0"), mvnormal = c("m0", "k0", "nu0", "psi0"), normal_known = c("m0", "t2", "s2"),
  poisson = c("a", "b"), exponential = c("a", "b"), weibull = c("a", "b", "power"), geometric = c("a", "b"), negative_binomial = c("a", "b", "successes"),
  binomial = c("a", "b", "size"), categorical = "weight", richardson_green = character()
)

# What the core calls FamilySpec. Where `hyper` is silent the data say where the rows are and how far they spread: clusters are expected anywhere among the rows,
# each with about a tenth of their variance.
family_spec <- function(rows, hyper = NULL) {
  family <- rows$family
  if (is.null(hyper)) hyper <- list()
  if (!is.list(hyper) || is.object(hyper) || (length(hyper) > 0L && is.null(names(hyper)))) fail_input("hyper", "a named list", describe(hyper))
  unknown <- setdiff(names(hyper), hyper_words[[family]])
  if (length(unknown) > 0L) {
    known <- hyper_words[[family]]
    abort_input(sprintf("`hyper` has \"%s\", but family = \"%s\" has %s.", unknown[1L], family,
                        if (length(known) > 0L) paste0("only ", paste0("\"", known, "\"", collapse = ", ")) else "no parameters to set"), "hyper")
  }
  p <- ncol(rows$x)
  one <- function(name, default, lower = 0) {
    if (is.null(hyper[[name]])) return(default)
    check_number(hyper[[name]], paste0("hyper$", name), lower = lower, strict_lower = lower == 0)
  }
  values <- rows$x
  if (family == "lognormal") {
    if (any(values <= 0)) abort_input(sprintf("family = \"lognormal\" needs positive rows, but row %d is %s.", which(values <= 0)[1L], format(values[values <= 0][1L])), "x")
    values <- log(values)
  }
  # A variance that rounding alone has made would be no scale.
  spread <- function(v) {
    s <- if (length(v) > 1L) stats::var(v) else 0
    if (is.finite(s) && s > 1e-20 * max(v^2)) s else if (max(abs(v)) > 0) max(v^2) * 1e-2 else 1
  }
  spec <- switch(family,
    normal = , lognormal = list(m0 = one("m0", mean(values), -Inf), k0 = one("k0", 0.1), a0 = one("a0", 2), b0 = one("b0", 0.1 * spread(values[, 1L]))),
    normal_known = list(m0 = one("m0", mean(values), -Inf), t2 = one("t2", spread(values[, 1L])), s2 = one("s2", 0.1 * spread(values[, 1L]))),
    mvnormal = {
      m0 <- if (is.null(hyper$m0)) colMeans(values) else unname(check_vector(hyper$m0, "hyper$m0", length = p))
      psi0 <- if (is.null(hyper$psi0)) diag(0.1 * apply(values, 2L, spread), p) else unname(check_symmetric(hyper$psi0, "hyper$psi0"))
      list(m0 = unname(m0), k0 = one("k0", 0.1), nu0 = one("nu0", p + 2, p - 1), psi0 = psi0)
    },
    poisson = list(a = one("a", 1), b = one("b", 1 / max(mean(values), 0.1))),
    exponential = list(a = one("a", 1), b = one("b", if (mean(values) > 0) mean(values) else 1)),
    weibull = {
      power <- one("power", 1)
      list(a = one("a", 1), b = one("b", mean(pmax(values, 0)^power)), power = power)
    },
    geometric = list(a = one("a", 1), b = one("b", 1)),
    negative_binomial = list(a = one("a", 1), b = one("b", 1), successes = one("successes", 1)),
    binomial = {
      size <- hyper$size
      if (is.null(size)) size <- max(values, 1)
      size <- unname(check_vector(size, "hyper$size", lower = 0))
      if (!length(size) %in% c(1L, nrow(values))) abort_input(sprintf("`hyper$size` must be one number or one per row, %d, but it has length %d.", nrow(values), length(size)), "hyper")
      list(a = one("a", 1), b = one("b", 1), size = size)
    },
    categorical = {
      levels <- lengths(rows$levels, use.names = FALSE)
      weight <- if (is.null(hyper$weight)) 1 else unname(check_vector(hyper$weight, "hyper$weight", lower = 0, strict_lower = TRUE))
      list(levels = levels, weight = weight)
    },
    richardson_green = list()
  )
  c(list(type = family), spec)
}

# The scales of a categorical family are the shares of its levels.
center_names <- function(rows) {
  if (is.null(rows$levels)) return(rows$names)
  unlist(Map(function(name, levels) paste0(name, "=", levels), rows$names, rows$levels), use.names = FALSE)
}
