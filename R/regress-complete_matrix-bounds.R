# What theory says about a completion: the bounds and the complexities of the paper.

#' What a completion guarantees for unseen cells
#'
#' The bounds of Shamir and Shalev-Shwartz (2014): on the error of a completion on cells it has not seen, on how well matrices of small trace norm can fit
#' random signs on the cells that were observed, and the norm behind the latter.
#'
#' @details
#' `what = "error"`, for a fit of [complete_matrix()]. Transductive (Theorem 5, with `newdata`): when the cells of training and test together were split at
#' random into equal halves, with probability at least \eqn{1 - \delta}{1 - delta}
#' \deqn{\mbox{test} \le \mbox{train} + 4 R + b_l \frac{11 + 4 \sqrt{\log(1/\delta)}}{\sqrt{N_{train}}}}{test <= train + 4 R + b_l (11 + 4
#' sqrt(log(1 / delta))) / sqrt(N_train)}
#' with \eqn{R}{R} the complexity on all the cells, times the Lipschitz constant of the loss. Inductive (Theorem 1), for cells drawn independently:
#' \eqn{\mbox{train} + 2 R + b_l \sqrt{2 \log(2/\delta) / N}}{train + 2 R + b_l sqrt(2 log(2 / delta) / N)}.
#' Losses are those of predictions clipped to `bound`, so that they are bounded: absolute (\eqn{l = 1}{l = 1}, \eqn{b_l = hi - lo}{b_l = hi - lo})
#' or squared (\eqn{l = 2 (hi - lo)}{l = 2 (hi - lo)}, \eqn{b_l = (hi - lo)^2}{b_l = (hi - lo)^2}). The class is that of the trace norm of the fit;
#' strictly it should be fixed before seeing the data. For a fit of model `"bounded"` the class is that of Theorem 3. A bound above \eqn{b_l}{b_l} is
#' vacuous, and often is one: cells in the order of \eqn{t \sqrt{n}}{t sqrt(n)} are needed.
#'
#' `what = "complexity"`, for a pattern of cells. With \eqn{N}{N} observed values, \eqn{h_{ij}}{h_ij} of them in cell \eqn{(i,j)}{(i, j)}, and
#' \eqn{\Gamma_{ij}}{Gamma_ij} a sum of \eqn{h_{ij}}{h_ij} random signs, the Rademacher complexity of \eqn{\{\|W\|_{tr} \le t\}}{|W|_tr <= t} is exactly
#' \eqn{(t/N) E\|\Gamma\|_{sp}}{(t / N) E|Gamma|_sp}; a loss with Lipschitz constant \eqn{l}{l} multiplies it by at most \eqn{l}{l}.
#'
#' * `type = "transductive"`: distinct cells, each counted once.
#' * `type = "inductive"`: cells drawn with replacement. For a loss bounded by \eqn{b_l}{b_l} heavily hit cells are split off (proof of Theorem
#'   2): the minimum over
#'   \eqn{p}{p} of \deqn{\frac{b_l}{N} \sum_{h > p} E|\mbox{sum of } h \mbox{ signs}| + \frac{l t}{N} E\|Z_p\|_{sp}}{(b_l / N) sum_(h > p) E|sum
#'   of h signs| + (l t / N) E|Z_p|_sp} with
#'   \eqn{Z_p}{Z_p} the part of \eqn{\Gamma}{Gamma} on cells with \eqn{h \le p}{h <= p}.
#' * with `sigmoid = c(lo, hi)`, the class is that of the bounded model, \eqn{\phi \circ W}{phi(W)} with the sigmoid between these bounds (Theorem
#'   3): the spectral norm is multiplied by the Lipschitz constant of the link, \eqn{(hi - lo)/4}{(hi - lo) / 4}, and a heavily hit cell costs no
#'   more than \eqn{l (hi - lo)/2}{l (hi - lo) / 2}.
#' * with `max_abs = b`, the class also has \eqn{|W_{ij}| \le b}{|W_ij| <= b} (Theorem 4), and the spectral norm gives way to the dual norm of
#'   Lemma 12. Dense.
#'
#' The closed forms hold up to a universal constant \eqn{C}{C} that is not known; they are printed with `C = 1`, for comparing patterns of cells,
#' not as bounds.
#'
#' `what = "dual"`, for a matrix \eqn{G}: the largest \eqn{\langle G, W\rangle}{<G, W>} over matrices with \eqn{\|W\|_{tr} \le t}{|W|_tr <= t} and
#' \eqn{|W_{ij}| \le b}{|W_ij| <= b}, \eqn{b} = `max_abs`, which by Lemma 12 is
#' \deqn{\min_{Y + Z = G} b \|Y\|_1 + t \|Z\|_{sp}.}{min over Y + Z = G of b |Y|_1 + t |Z|_sp.}
#' Solved by the alternating direction method with a duality gap: `value` is attained by the decomposition, and `W` is feasible with
#' \eqn{\langle G, W\rangle}{<G, W>} at least `value` minus `gap`.
#'
#' @section Which method when:
#' `"error"` to see what can be promised, [complete_matrix_select()] for an estimate rather than a promise. `"complexity"` before trusting a completion: the
#' value says how informative the *pattern* of cells is, whatever their values. Evenly spread cells need about n of them, concentrated ones
#' \eqn{n^{3/2}}{n^1.5}. `"dual"` is a sharper norm than either alone; it serves checks.
#'
#' @param what Which bound; see Details.
#' @param ... Arguments of that bound.
#'
#'   `"error"`: `object`, a fit of [complete_matrix()]; `newdata`, the cells to be predicted, in any form [complete_matrix()] takes (values are not used),
#'   for the transductive bound, `NULL` for the inductive one; `delta` (0.05), the probability that the bound fails; `loss`, `"absolute"` or `"squared"`;
#'   `lambda`, one of the penalties of the fit, by default the last; `bound`, the range of the values, by default that of the fit; `n_draws`, `threads`.
#'
#'   `"complexity"`: `object`, the observed cells: a matrix with `NA`, a sparse matrix, a data frame with `i` and `j` (and `value`, if it has one), or a fit;
#'   `t`, the bound on the trace norm; `n_draws` (200), the number of draws of signs; `type`, cells without (`"transductive"`) or with repetition
#'   (`"inductive"`); `lipschitz` (1) and `loss_bound` of the loss, without the latter nothing is split off; `max_abs`, a bound on the entries, or `NULL`;
#'   `sigmoid`, the range `c(lo, hi)` of the link of the bounded model, or `NULL`; `dims`, the numbers of rows and columns for a data frame; `threads`.
#'
#'   `"dual"`: `object`, the matrix \eqn{G}; `t` and `max_abs`, the radii; `tol` (1e-6), the relative duality gap at which to stop; `max_iter` (20000).
#' @return For `"error"` an object of class `granary_completion_bound`: `train`, `complexity`, `deviation`, `bound`, `vacuous`, `loss_bound`, and
#'   `rademacher`. For `"complexity"` one of class `granary_rademacher`: `value` with its standard error `se`, `norm` (mean spectral or dual norm), the chosen
#'   `threshold` p, and `analytic`, the closed forms. For `"dual"` one of class `granary_trace_max_dual`: `value`, `Y`, `Z`, `W`, `gap` and `convergence`.
#' @inherit complete_matrix references
#' @seealso [complete_matrix()], [complete_matrix_select()], [complete_matrix_baseline()]
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_complete_matrix(40, 30, rank = 1, n_obs = 600)
#' half <- sample(nrow(sim$cells), 300)
#' fit <- complete_matrix(sim$cells[half, ], dims = c(40, 30), lambda = 5, bound = 4,
#'                        model = "clipped")
#' complete_matrix_bounds("error", fit, newdata = sim$cells[-half, ], n_draws = 20)
#' # evenly spread cells against whole rows
#' rows <- data.frame(i = rep(1:10, each = 30), j = rep(1:30, 10))
#' complete_matrix_bounds("complexity", sim$cells[half, ], t = 50, n_draws = 20, dims = c(40, 30))
#' complete_matrix_bounds("complexity", rows, t = 50, n_draws = 20, dims = c(40, 30))
#' complete_matrix_bounds("dual", rbind(c(3, 1), c(-1, 2)), t = 2, max_abs = 0.8)
complete_matrix_bounds <- function(what = c("error", "complexity", "dual"), ...) {
  by_what(what, list(error = completion_guarantee, complexity = pattern_complexity, dual = mixed_dual_norm), ...)
}

# The Rademacher complexity of matrices of trace norm at most t on the cells of `object`.
pattern_complexity <- function(object, t, n_draws = 200, type = c("transductive", "inductive"), lipschitz = 1, loss_bound = NULL, max_abs = NULL,
                               dims = NULL, threads = NULL, sigmoid = NULL) {
  call <- user_call()
  if (missing(object)) fail_missing("object")
  type <- check_choice(type, c("transductive", "inductive"))
  t <- check_number(t, lower = 0, strict_lower = TRUE)
  draws <- check_count(n_draws, lower = 2, upper = 1e6)
  lipschitz <- check_number(lipschitz, lower = 0, strict_lower = TRUE)
  loss_bound <- check_number(loss_bound, lower = 0, strict_lower = TRUE, allow_null = TRUE)
  max_abs <- check_number(max_abs, lower = 0, strict_lower = TRUE, allow_null = TRUE)
  sigmoid <- check_vector(sigmoid, length = 2L, allow_null = TRUE)
  if (!is.null(sigmoid) && diff(sigmoid) <= 0) abort_input("`sigmoid` must be c(lo, hi) with lo below hi.", "sigmoid")
  if (!is.null(sigmoid) && !is.null(max_abs)) abort_input("Give `sigmoid` or `max_abs`, not both: they are different classes.", "max_abs")
  slope <- if (is.null(sigmoid)) 1 else diff(sigmoid) / 4
  # what a cell hit many times can cost: the loss is bounded, or the link is
  charge <- min(loss_bound, if (!is.null(sigmoid)) lipschitz * diff(sigmoid) / 2, Inf)
  cells <- pattern_cells(object, dims, type)
  counts <- cell_counts(cells)
  if (type == "transductive") counts$h <- rep(1, length(counts$h))
  N <- sum(counts$h)
  if (!is.null(max_abs) && as.double(cells$rows) * cells$cols > 1e6) {
    abort_input("`max_abs` works on the dense matrix, which must have at most a million cells here.", "max_abs")
  }
  thresholds <- Inf
  if (is.finite(charge) && is.null(max_abs) && type == "inductive") thresholds <- c(0, sort(unique(counts$h)))
  options <- list(thresholds = thresholds, t = t, b = max_abs, draws = draws, threads = thread_count(threads))
  norms <- core_sign_norms(cell_triplets(cells), options, core_seed(), progress_bar("random signs"))
  radius <- if (is.null(max_abs)) slope * t else 1  # the dual norm holds both radii
  first <- vapply(thresholds, function(p) {
    heavy <- counts$h[counts$h > p]
    if (length(heavy) == 0L) 0 else charge * sum(core_mean_absolute_sum(as.double(heavy))) / N
  }, 0)
  values <- first + lipschitz * radius * colMeans(norms) / N
  best <- which.min(values)
  seal(structure(
    list(value = values[best], se = lipschitz * radius * stats::sd(norms[, best]) / sqrt(draws) / N, norm = mean(norms[, best]),
         norm_se = stats::sd(norms[, best]) / sqrt(draws), threshold = thresholds[best], type = type, t = t, observations = N, draws = draws,
         dim = c(cells$rows, cells$cols), max_abs = max_abs, sigmoid = sigmoid,
         analytic = analytic_bounds(counts, cells, t, lipschitz, loss_bound, max_abs, type, sigmoid),
         call = shorten_call(call)),
    class = "granary_rademacher"
  ))
}

#' @export
print.granary_rademacher <- function(x, ...) {
  cli::cat_line("Rademacher complexity (", x$type, ") of ", x$dim[1L], " x ", x$dim[2L], " matrices with trace norm at most ", format(x$t,
                                                            digits = 4L),
                if (!is.null(x$max_abs)) paste0(" and entries at most ", format(x$max_abs, digits = 4L)))
  print_call(x$call)
  cli::cat_line(format(x$observations, big.mark = ","), " observed values: ", format(x$value, digits = 4L), " (standard error ", format(x$se,
                                                            digits = 2L), ", ",
                x$draws, " draws)")
  cli::cat_line("mean ", if (is.null(x$max_abs)) "spectral" else "dual", " norm of the signs ", format(x$norm, digits = 4L),
                if (is.finite(x$threshold)) paste0("; cells seen more than ", x$threshold, " times are charged with the loss bound"))
  cli::cat_line("closed forms with C = 1: ", paste(names(x$analytic), format(x$analytic, digits = 3L), collapse = ", "))
  invisible(x)
}

# The pattern alone: values, where there are any, do not matter.
pattern_cells <- function(S, dims, type, arg = "object") {
  if (inherits(S, "granary_trace_completion")) {
    cells <- S$cells
  } else {
    if (is.data.frame(S) && all(c("i", "j") %in% names(S)) && !("value" %in% names(S))) S$value <- rep(1, nrow(S))
    cells <- completion_cells(S, "weight", dims, arg)
  }
  cells$value <- rep(1, length(cells$i))
  cells$weighted <- type == "inductive"
  cells
}

cell_counts <- function(cells) {
  h <- rle(sort(cells$i + as.double(cells$rows) * cells$j))
  list(h = h$lengths, i = h$values %% cells$rows, j = h$values %/% cells$rows)
}

# Theorems 2, 3, 4 and 6 with C = 1. The first form of Theorem 6 as in its proof: Latala's third term is a fourth root.
analytic_bounds <- function(counts, cells, t, l, b_l, b, type, sigmoid = NULL) {
  m <- cells$rows
  n <- cells$cols
  N <- sum(counts$h)
  sides <- sqrt(m) + sqrt(n)
  width <- if (is.null(sigmoid)) 4 else diff(sigmoid)
  slope <- l * width / 4  # of loss and link together
  if (type == "inductive") {
    return(c(theorem2 = if (!is.null(b_l)) sqrt(9 * slope * b_l * t * sides / N),
             theorem3 = if (!is.null(sigmoid)) l * sqrt(9 * width / 4 * width / 2 * t * sides / N),
             theorem4 = if (!is.null(b)) l * sqrt(9 * b * t * sides / N),
             lemma11 = slope * t * (sqrt(max(rowsum(counts$h, counts$i))) + sqrt(max(rowsum(counts$h, counts$j))) + (3 * sum(counts$h^2))^0.25) / N))
  }
  M <- max(tabulate(counts$j + 1))
  R <- max(tabulate(counts$i + 1))
  c(theorem6 = slope * t * 3 * sides / (2 * N), counts = slope * t * (sqrt(M) + sqrt(R) + N^0.25) / N,
    log_form = slope * t * max(sqrt(M), sqrt(R)) * log(min(m, n))^0.25 / N)
}

# Lemma 12: the dual norm of trace norm at most t and entries at most b.
mixed_dual_norm <- function(object, t, max_abs, tol = 1e-6, max_iter = 20000) {
  call <- user_call()
  G <- check_matrix(object)  # nolint: object_name_linter.
  t <- check_number(t, lower = 0, strict_lower = TRUE)
  b <- check_number(max_abs, lower = 0, strict_lower = TRUE)
  tol <- check_number(tol, lower = 0, strict_lower = TRUE)
  max_iter <- check_count(max_iter)
  size <- max(abs(G), .Machine$double.xmin)
  found <- core_mixed_dual_norm(unname(G) / size, t / max(t, b), b / max(t, b), tol, max_iter, progress_bar("dual norm"))
  scale <- size * max(t, b)
  fit <- new_fit("trace_max_dual", value = found$value * scale, Y = G - found$Z * size, Z = found$Z * size, W = found$W * max(t, b),
                 gap = found$convergence$gap * scale,
                 call = shorten_call(call), convergence = found$convergence)
  fit$convergence$gap <- fit$gap
  check_convergence(fit)
  fit
}

# Theorems 1 and 5.
completion_guarantee <- function(object, newdata = NULL, delta = 0.05, loss = c("absolute", "squared"), lambda = NULL, bound = NULL, n_draws = 200,
                                 threads = NULL) {
  call <- user_call()
  if (missing(object)) fail_missing("object")
  fit <- object
  test <- newdata
  if (!inherits(fit, "granary_trace_completion")) fail_input("object", "a fit of complete_matrix()", describe(fit))
  check_fit(fit)
  delta <- check_number(delta, lower = 0, upper = 1, strict_lower = TRUE, strict_upper = TRUE)
  loss <- check_choice(loss, c("absolute", "squared"))
  draws <- check_count(n_draws, lower = 2, upper = 1e6)
  at <- completion_at(fit, lambda)
  if (is.null(bound)) bound <- fit$bound
  if (is.null(bound)) abort_input("`bound` must be given, as c(lo, hi), for a fit without one: unbounded losses have no guarantee.", "bound")
  bound <- completion_range(bound, "clipped", fit$cells)
  width <- diff(bound)
  b_l <- if (loss == "absolute") width else width^2
  lipschitz <- if (loss == "absolute") 1 else 2 * width
  sigmoid <- if (fit$model == "bounded") fit$bound
  prediction <- pmin(pmax(predict_cells(fit, at, fit$cells$i, fit$cells$j, "response"), bound[1L]), bound[2L])
  error <- abs(prediction - fit$cells$original)
  train <- mean(if (loss == "absolute") error else error^2)
  t <- fit$trace_norm[at]
  if (t == 0) t <- .Machine$double.xmin
  N <- length(fit$cells$i)
  if (is.null(test)) {
    complexity <- pattern_complexity(fit, t, draws, "inductive", lipschitz, b_l, threads = threads, sigmoid = sigmoid)
    parts <- c(2 * complexity$value, b_l * sqrt(2 * log(2 / delta) / N))
  } else {
    if (is.data.frame(test) && !("value" %in% names(test))) test$value <- rep(1, nrow(test))
    test <- test_cells(fit, test, "newdata")
    both <- data.frame(i = c(fit$cells$i, test$i) + 1L, j = c(fit$cells$j, test$j) + 1L)
    if (anyDuplicated(both) > 0L) {
      abort_input("`newdata` must be cells that the fit has not seen, each once: the transductive bound is for distinct cells.", "newdata")
    }
    if (length(test$i) != N) {
      warn_input(sprintf("Theorem 5 is stated for as many test cells as training cells; here there are %d and %d.", length(test$i), N), "newdata")
    }
    complexity <- pattern_complexity(both, t, draws, "transductive", lipschitz, dims = fit$dim, threads = threads, sigmoid = sigmoid)
    parts <- c(4 * complexity$value, b_l * (11 + 4 * sqrt(log(1 / delta))) / sqrt(N))
  }
  total <- train + sum(parts)
  seal(structure(
    list(train = train, complexity = parts[1L], deviation = parts[2L], bound = total, vacuous = total >= b_l, loss = loss, loss_bound = b_l,
         delta = delta,
         type = complexity$type, rademacher = complexity, call = shorten_call(call)),
    class = "granary_completion_bound"
  ))
}

#' @export
print.granary_completion_bound <- function(x, ...) {
  cli::cat_line("Bound on the mean ", x$loss, " error of unseen cells (", x$type, "), with probability ", format(1 - x$delta))
  print_call(x$call)
  cli::cat_line(format(x$train, digits = 4L), " on the observed cells + ", format(x$complexity, digits = 4L), " complexity + ", format(x$deviation,
                                                            digits = 4L),
                " deviation = ", format(x$bound, digits = 4L))
  if (x$vacuous) cli::cat_line("Vacuous: no prediction inside the range can be off by more than ", format(x$loss_bound, digits = 4L), ".")
  invisible(x)
}
