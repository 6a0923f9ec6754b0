#' Support vector machines learnt online
#'
#' A kernel classifier that visits the rows one at a time, keeps a set of potential support vectors, and comes close to the batch support vector
#' machine after a single pass; several passes give exactly that machine. It goes on learning with `update()`, and it can choose which rows to
#' learn from, so that few labels are needed.
#'
#' @details
#' For two classes, \eqn{y_i = \pm 1}{y_i = +-1}, the machine is \eqn{f(x) = \sum_i a_i k(x, x_i) + b}{f(x) = sum_i a_i k(x, x_i) + b}, where
#' \eqn{a} maximises
#' \deqn{W(a) = \sum_i a_i y_i - \frac12 \sum_{ij} a_i a_j k(x_i, x_j), \quad \sum_i a_i = 0, \quad a_i \mbox{ between } 0 \mbox{ and } C_i y_i,}{
#' W(a) = sum_i a_i y_i - 1/2 sum_ij a_i a_j k(x_i, x_j),  sum_i a_i = 0,  a_i between 0 and C_i y_i,}
#' with \eqn{C_i} = `cost` times the weight of the class. Let \eqn{S} be the set of potential support vectors and
#' \eqn{g_k = y_k - \sum_i a_i k(x_i, x_k)}{g_k = y_k - sum_i a_i k(x_i, x_k)}. Each visit does two things.
#' * **PROCESS** takes the row into \eqn{S} if it can improve \eqn{W} together with a member of \eqn{S}, that is, if
#'   \eqn{y_k f(x_k) < 1 + \delta/2}{y_k f(x_k) < 1 + delta/2}, and moves the two coefficients to the best place.
#' * **REPROCESS** moves the two members of \eqn{S} whose \eqn{g} differ most against optimality; this difference is
#'   \eqn{\delta}{delta}. Members that can no longer become support vectors are dropped. With `delta_max` it is repeated until
#'   \eqn{\delta}{delta} is smaller.
#'
#' After the last pass **finishing** maximises \eqn{W} over \eqn{S}, to \eqn{\delta}{delta} < `tol`. Rows that were dropped on the way are not in
#' that problem, and may violate its optimality. So at the end all rows are looked at whose label was used: `convergence` has the duality gap and the
#' largest violation over all of them, and `converged` is TRUE only if that violation is at most `tol`. After one pass it seldom is; more
#' `epochs`, `retrain`, or [svm()] with the same arguments come to the end. Where rows came in pieces and were let go, nothing can be certified, and
#' `converged` is FALSE: [lasvm_bounds()] tells from all the rows. A visit costs \eqn{|S|} kernel values, and so does this last look at a row.
#'
#' `select` decides which of the rows not yet visited comes next: `"random"`, in (shuffled) order; `"gradient"`, the one of
#' `candidates` random rows with the least \eqn{y f(x)}, which trusts the labels and suffers when some are wrong; `"active"`, the
#' one with the least \eqn{|f(x)|}, which does not look at labels before it has chosen; `"autoactive"`, the same with as many candidates as it takes
#' to find five near the boundary, \eqn{|f(x)| < 1 + \delta/2}{|f(x)| < 1 + delta/2}, and at most 100. The best of \eqn{M} random candidates is
#' among the best \eqn{100(1-q)} per cent with probability \eqn{1 - q^M}. Stop early with `max_labels` or `early_stop`: the machines
#' passed on the way are small and often as good as the last one. Candidates are looked at by several threads (`options(granary.threads)`), which
#' does not change the result.
#'
#' With `"random"` and `"gradient"` repeated passes reach the batch machine with probability 1. With `"active"` they do so only because candidates are
#' random, and slowly.
#'
#' **Labels that cost.** Where `y` is a function, it is called with a row number when, and only when, the label of that row is wanted. Where `select`
#' is `"active"` or `"autoactive"` and `y` has missing values, those rows are left out; [lasvm_suggest()] says which of them to label next.
#'
#' **More than two classes** are one machine against the rest for each class; the largest decision value wins. The machines share
#' \eqn{S} and the kernel values. For the choice of rows \eqn{|f|} is half the lead of the first class over the second.
#'
#' **Memory.** Kernel rows over \eqn{S} are cached, in single precision where the kernel matrix of all rows does not fit into the cache in double
#' precision. One pass needs about \eqn{|S|} times the number of free support vectors, several passes about \eqn{n |S|} values.
#'
#' @section Which method when:
#' `lasvm()` for many rows, streams, or labels that cost; [svm()] for the exact machine with probabilities on data
#' at hand; [budget_perceptron()] when the number of support vectors must not grow; [gp_classify()] for probabilities with few rows.
#'
#' @param x A numeric matrix or data frame, a sparse matrix of package Matrix, or data in pieces ([data_chunks()]); a kernel matrix with
#'   `kernel = "precomputed"`.
#' @param y Labels: a factor, text, logical or whole numbers; or a function of a row number that gives a label.
#' @param formula,data,subset,na.action A formula and a data frame with its variables, rows to use, and what to do with missing values, as for
#'   [stats::lm()].
#' @param cost \eqn{C}, at which coefficients are cut off. `Inf` for classes that can be separated.
#' @param kernel `"rbf"`, `"linear"`, `"polynomial"`, `"sigmoid"`, `"laplace"`, `"precomputed"`, a kernel such as [k_se()], or a function.
#' @param gamma,degree,coef0 Parameters of kernels given by name (see [svm()]); `gamma = NULL` is one over the number of columns.
#' @param tol \eqn{\tau}{tau}: pairs of coefficients that violate optimality by less are left alone.
#' @param epochs Number of passes over the data.
#' @param select How to choose the next row.
#' @param candidates Number of rows \eqn{M} looked at by `"gradient"` and `"active"`; `Inf` for all that are left.
#' @param max_labels Stop after this number of rows whose label was used.
#' @param early_stop Whether `"active"` and `"autoactive"` stop once no candidate has \eqn{|f(x)| < 1 + \delta/2}{|f(x)| < 1 + delta/2}.
#' @param delta_max REPROCESS is repeated until \eqn{\delta}{delta} is less. `Inf` is the plain algorithm; about 3 can spare the finishing.
#' @param finish Whether to finish, at the end. See also [update(finish = TRUE)].
#' @param n_seed Number of rows of each class \eqn{S} is started with.
#' @param bias Whether there is a \eqn{b}, and with it the constraint on the sum of the coefficients.
#' @param class_weights Factors of the cost by class: a vector with the names of the classes, or `"balanced"`.
#' @param retrain Whether to solve the machine on all rows seen after each visit: the baseline of active learning. Nothing is dropped.
#' @param cache_mb Megabytes for kernel rows.
#' @param shuffle Whether to visit the rows in random order.
#' @param levels The classes, for data in pieces and for `y` a function; `NULL` to take them from `y`.
#' @param max_iter Largest number of steps when finishing.
#' @param validation A list with `x` and `y`, or NULL: rows on which the error is measured along the way. For that, the machine is finished (where
#'   `finish`), tried, and put back as it was.
#' @param snapshots Number of times the error is measured, or the numbers of visits after which it is.
#' @param standardize Whether to centre the columns of a dense `x` and to divide them by their standard deviations, those of the rows of this call; of
#'   data in pieces those of the first piece. Later rows and new ones are treated alike. Sparse matrices are left as they are.
#' @param na What to do with missing values: `"error"`, or `"skip"` the row.
#' @param ... Passed from the formula method to the default method.
#' @return An object of class `granary_lasvm`, a [granary_online_classifier], with `sv_index` (numbers of the support vectors' rows), `sv`,
#'   `coefficients` (\eqn{a}), `b`, `delta`, `objective` (\eqn{W}), `n_sv`, `n_bounded`, `n_kernel` (kernel values computed), `cache_hit_rate`,
#'   `labels_used`
#'   (rows whose label was used, in order), `trace` (data frame with columns `iter`, `n_sv`, `delta`, `objective`, `labels`),
#'   `curve` (with `validation`: `iter`, `labels`, `n_sv`, `error`), `finished`, `stopped_early`. See [granary_lasvm] for what can be done with it.
#' @references
#' Bordes, Ertekin, Weston and Bottou (2005). Fast kernel classifiers with online and active learning. *Journal of Machine Learning Research* 6,
#' 1579--1619.
#' @seealso [update(finish = TRUE)], [lasvm_suggest()], [data_chunks()], [budget_perceptron()], [kernel_perceptron()], [sasb()]
#' @export
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(800), 400)
#' y <- factor(ifelse(x[, 1]^2 + x[, 2]^2 > 1.4, "out", "in"))
#' fit <- lasvm(x[1:300, ], y[1:300], gamma = 0.5, cost = 10)
#' fit
#' mean(predict(fit, x[301:400, ]) == y[301:400])
#' fit <- update(update(fit, x[301:400, ], y[301:400]), finish = TRUE)
#' plot(fit, "boundary")
#'
#' # with 40 labels, chosen by the machine
#' active <- lasvm(x, y, gamma = 0.5, cost = 10, select = "active", max_labels = 40)
#' mean(predict(active, x) == y)
lasvm <- function(x, ...) {
  UseMethod("lasvm", formula_or_first(x, ...))
}

#' @rdname lasvm
#' @export
lasvm.formula <- function(formula, data = NULL, subset, na.action, ...) {
  formula_fit(lasvm.default, "lasvm", ...)
}

lasvm_selections <- c("random", "gradient", "active", "autoactive")

#' @rdname lasvm
#' @export
lasvm.default <- function(x, y = NULL, cost = 1, kernel = "rbf", gamma = NULL, degree = 3, coef0 = 0, tol = 1e-3, epochs = 1,
                          select = c("random", "gradient", "active", "autoactive"), candidates = 50, max_labels = Inf, early_stop = FALSE,
                          delta_max = Inf, finish = TRUE, n_seed = 5, bias = TRUE, class_weights = NULL, retrain = FALSE, cache_mb = 256,
                          shuffle = TRUE, levels = NULL, max_iter = 1e7, validation = NULL, snapshots = 20, standardize = TRUE, na = c("error", "skip"),
                          ...) {
  call <- match.call()
  refuse_dots(...)
  if (missing(x)) fail_missing("x")
  select <- check_choice(select, lasvm_selections)
  asked <- is.function(y) && !is_chunk_source(x)
  if (asked && is.null(levels)) abort_input("`levels` must be given where `y` is a function.", "levels")
  if (asked && select == "gradient") {
    abort_input("`select = \"gradient\"` looks at the labels of all candidates, so `y` must be labels, not a function.", "y")
  }
  levels <- online_levels(levels, if (asked) NULL else labels_given(x, y))
  precomputed <- identical(kernel, "precomputed")
  if (precomputed) x <- check_lasvm_gram(x)
  settings <- online_settings(
    na, sparse = !precomputed,
    cost = check_number(cost, lower = 0, strict_lower = TRUE, allow_infinite = TRUE), kernel = kernel, gamma = gamma, degree = degree, coef0 = coef0,
    precomputed = precomputed, tol = check_number(tol, lower = 0, strict_lower = TRUE), select = select,
    candidates = check_number(candidates, lower = 1, allow_infinite = TRUE), early_stop = check_flag(early_stop),
    delta_max = check_number(delta_max, lower = 0, allow_infinite = TRUE), finish = check_flag(finish), n_seed = check_count(n_seed),
    bias = check_flag(bias), retrain = check_flag(retrain), cache_mb = check_number(cache_mb, lower = 0),
    max_iter = check_number(max_iter, lower = 1), shuffle = check_flag(shuffle), standardize = check_flag(standardize) && !precomputed
  )
  max_labels <- check_number(max_labels, lower = 1, allow_infinite = TRUE)
  epochs <- check_count(epochs)
  settings$weights <- lasvm_weights(class_weights, levels, if (asked || is_chunk_source(x)) NULL else y)
  if (settings$retrain) settings$delta_max <- settings$tol
  fit <- new_online("lasvm", settings, list(), levels, generic_call(call, "lasvm"))
  # Data in memory are learnt in one go, so finishing can use the kernel rows that the passes have left in the cache.
  fit$run <- list(epochs = if (is_chunk_source(x)) 1L else epochs, max_labels = max_labels, snapshots = numeric(),
                  finish = settings$finish && !is_chunk_source(x))
  if (!is_chunk_source(x)) {
    if (!asked) fit <- lasvm_labels_seen(fit, x, y, select)
    rows <- if (is.null(dim(x))) 1L else nrow(x)
    if (!is.null(validation)) fit$run$snapshots <- lasvm_snapshots(snapshots, min(rows * epochs, max_labels))
  } else if (!is.null(validation)) {
    abort_input("`validation` is for data in memory, not for data in pieces.", "validation")
  }
  check_lasvm_rows(validation, "validation")
  fit$run$validation <- validation
  if (!asked && !is_chunk_source(x)) lasvm_warn_long(call, x, min(NROW(x) * epochs, max_labels), parent.frame())
  fit <- if (asked) lasvm_ask(fit, x, y) else learn_online(fit, x, y, if (is_chunk_source(x)) epochs else 1L, settings$shuffle)
  through <- fit$run$finish && length(fit$state$id) > 0L
  fit$run <- NULL
  fit <- if (through) lasvm_finished(fit) else if (settings$finish) finish_lasvm(fit) else lasvm_refresh(fit)
  lasvm_notes(fit)
  fit
}

# How long many rows may take, before they are begun: the number of support vectors grows with the rows where classes overlap, so that time grows with
# their square. The first few thousand say how fast; they cost a second at most.
lasvm_warn_long <- function(call, x, rows, frame) {
  pilot <- 2000
  if (rows <= 50 * pilot || is.null(dim(x))) return(invisible())
  at <- round(seq(1, nrow(x), length.out = pilot))
  call[[1L]] <- lasvm.default
  call$x <- x[at, , drop = FALSE]
  y <- if (!is.null(call$y)) eval(call$y, frame)
  if (is.null(y) || length(y) != nrow(x)) return(invisible())
  call$y <- y[at]
  call$validation <- NULL
  call$max_labels <- NULL
  call$epochs <- 1
  took <- system.time(tried <- keep_seed(tryCatch(suppressMessages(suppressWarnings(eval(call, frame))), error = function(e) NULL)))[["elapsed"]]
  if (is.null(tried)) return(invisible())
  minutes <- took * (rows / pilot)^2 / 60
  if (minutes > 1) {
    length <- if (minutes < 120) sprintf("%.0f minutes", ceiling(minutes)) else sprintf("%.0f hours", ceiling(minutes / 60))
    message(sprintf("lasvm() may take up to %s for %s rows, of which %.0f%% of a sample became support vectors; fewer rows, `max_labels` with select = \"active\", or %s make it quicker.",
                    length, format(rows, big.mark = ",", scientific = FALSE), 100 * tried$n_sv / pilot, "budget_perceptron()"))
  }
  invisible()
}

# What the user should know, once each; as svm_notes().
lasvm_notes <- function(fit) {
  if (length(fit$state) == 0L) return(invisible())
  shown <- fit$levels[fit$state$seeded > 0L]
  if (fit$n_sv == 0L && length(shown) == 1L) {
    warn_input(sprintf("Of the %d labels that were used all are \"%s\": there is nothing to tell apart, and every prediction is of that class.\n%s",
                       length(fit$labels_used), shown, "Raise `max_labels`, or put rows of each class first with shuffle = FALSE."), "max_labels")
  }
  if (fit$settings$cache_mb * 2^20 < 0.1 * 4 * fit$n_sv^2) {
    message("The cache of ", format(fit$settings$cache_mb),
            " MB holds less than a tenth of the support vectors' kernel rows: slow, but no less exact. Raise `cache_mb`.")
  }
  held <- list(x = fit$state$x, kernel = fit$state$kernel, rows = seq_along(fit$state$id))
  if (length(held$rows) > 1L && svm_indefinite(held)) {
    message("The kernel is not positive semidefinite on these rows: the answer is a stationary point, which need not be the best one.")
  }
}

check_lasvm_gram <- function(x) {
  if (is_chunk_source(x)) abort_input("`kernel = \"precomputed\"` needs the whole kernel matrix, not data in pieces.", "x")
  check_symmetric(x)
}

# Labels in memory: there must be two classes, and missing ones are rows to be queried where the method is made for that.
lasvm_labels_seen <- function(fit, x, y, select) {
  codes <- label_codes(y, fit$levels)
  seen <- unique(codes[!is.na(codes)])
  if (length(seen) < 2L) {
    abort_input(if (length(seen) == 0L) "`y` has no label at all." else
      sprintf("`y` must show two classes, but every label is \"%s\".", fit$levels[seen]), "y")
  }
  if (anyNA(codes) && select %in% c("active", "autoactive")) {
    if (fit$settings$na == "error") check_matrix(x, "x", allow_sparse = TRUE)
    fit$settings$na <- "skip"
    fit$unlabelled <- which(is.na(codes))
  }
  fit
}

lasvm_weights <- function(class_weights, levels, y) {
  out <- stats::setNames(rep(1, length(levels)), levels)
  if (is.null(class_weights)) return(out)
  if (identical(class_weights, "balanced")) {
    if (is.null(y)) abort_input("`class_weights = \"balanced\"` needs the labels beforehand.", "class_weights")
    sizes <- tabulate(label_codes(y, levels), length(levels))
    out[] <- ifelse(sizes > 0, sum(sizes) / (sum(sizes > 0) * pmax(sizes, 1)), 1)
    return(out)
  }
  given <- check_vector(class_weights, "class_weights", lower = 0, strict_lower = TRUE)
  if (is.null(names(given)) || !all(names(given) %in% levels) || anyDuplicated(names(given)) > 0L) {
    quoted <- paste0("\"", utils::head(levels, 6L), "\"", collapse = ", ")
    fail_input("class_weights", paste0("a vector with names among ", quoted, ", or \"balanced\""),
               paste("one with", if (is.null(names(given))) "no names" else paste0("names ", paste0("\"", names(given), "\"", collapse = ", "))))
  }
  out[names(given)] <- given
  out
}

check_lasvm_rows <- function(rows, arg) {
  if (is.null(rows)) return(invisible())
  if (!is.list(rows) || is.object(rows) || !all(c("x", "y") %in% names(rows))) fail_input(arg, "a list with `x` and `y` (or NULL)", describe(rows))
}

lasvm_snapshots <- function(snapshots, visits) {
  at <- check_vector(snapshots, "snapshots", lower = 1)
  if (length(at) == 1L) at <- unique(round(seq(0, visits, length.out = at + 1)[-1L]))
  sort(unique(ceiling(at)))
}

# Learning -----------------------------------------------------------------------------------------------------------------------------------------

lasvm_empty_state <- function(fit, x) {
  machines <- if (length(fit$levels) == 2L) 1L else length(fit$levels)
  settings <- fit$settings
  kernel <- machine_kernel(settings$kernel, ncol(x), settings$gamma, settings$degree, settings$coef0)
  list(x = x[0L, , drop = FALSE], id = numeric(), label = integer(), alpha = matrix(0, 0L, machines), f = matrix(0, 0L, machines),
       member = matrix(0L, 0L, machines), b = numeric(machines), delta = numeric(machines), objective = numeric(machines),
       seeded = integer(length(fit$levels)), steps = 0, kernel_values = 0, cache_hits = 0, cache_misses = 0, kernel = kernel,
       labels = numeric(), trace = list(stride = 1, visits = 0, table = NULL), finished = FALSE)
}

# User functions cannot run on threads; dense data and kernel matrices can.
lasvm_options <- function(fit, plan) {
  c(plan, fit$settings[c("tol", "delta_max", "n_seed", "bias", "retrain", "cache_mb", "max_iter")], list(threads = thread_count()))
}

lasvm_run <- function(fit, x, codes, state, plan, seed, label, ask = NULL) {
  codes[is.na(codes)] <- 0L
  points <- list(x = x, kernel = state$kernel, ask = ask)
  core_lasvm_run(points, list(label = codes, cost = lasvm_cost(fit)), state, lasvm_options(fit, plan), seed, progress_bar(label))
}

lasvm_cost <- function(fit) fit$settings$cost * unname(fit$settings$weights)

#' @export
learn_chunk.granary_lasvm <- function(fit, x, y, order, id) {
  lasvm_learn(fit, x, y, order, id, NULL)
}

# `order` are rows of x and `id` their numbers in the stream; `ask` is NULL, or gives the class number of a row of x.
lasvm_learn <- function(fit, x, codes, order, id, ask) {
  state <- fit$state
  if (length(state) == 0L) state <- lasvm_empty_state(fit, x)
  run <- fit$run
  if (is.null(run)) run <- list(epochs = 1L, max_labels = Inf, snapshots = numeric())
  held <- length(state$id)
  if (held > 0L && fit$settings$precomputed) {
    abort_input(paste0("A fit of a kernel matrix cannot learn from more rows: it has no kernel between these and the old ones.\n",
                       "Give the data and a kernel."), "x")
  }
  all_x <- if (held == 0L) x else rbind(state$x, x)
  all_id <- c(state$id, rep(NA_real_, nrow(x)))
  all_id[held + order] <- id
  twin <- match(id, state$id)  # visited before, and still held
  plan <- lasvm_plan(fit, run, ifelse(is.na(twin), held + order, twin), length(state$labels))
  answer <- if (!is.null(ask)) function(row) ask(row - held)
  out <- lasvm_run(fit, all_x, c(state$label, as.integer(codes)), state, plan, core_seed(), "learning", answer)
  new <- lasvm_new_state(fit, state, out, all_x, all_id)
  new$finished <- isTRUE(run$finish) && out$solved
  result <- list(state = new, wrong = ifelse(out$wrong < 0, NA, out$wrong == 1L), support = out$support, changed = out$changed == 1L)
  if (!is.null(run$validation)) result$state$curve <- lasvm_curve(fit, out, all_x, new$kernel)
  result
}

lasvm_plan <- function(fit, run, order, used) {
  settings <- fit$settings
  list(order = as.double(order), epochs = as.integer(run$epochs), shuffle = settings$shuffle, select = settings$select,
       candidates = floor(settings$candidates), max_labels = run$max_labels - used, early_stop = settings$early_stop, finish = isTRUE(run$finish),
       finish_snapshots = settings$finish, snapshots = as.double(run$snapshots))
}

lasvm_new_state <- function(fit, state, out, x, id) {
  rows <- out$rows
  new <- out$state
  new$x <- if (fit$settings$precomputed) x[rows, rows, drop = FALSE] else x[rows, , drop = FALSE]
  if (!is.null(unlist(dimnames(new$x)))) dimnames(new$x) <- list(NULL, NULL)
  new$id <- id[rows]
  new$label <- out$label[rows]
  new["kernel"] <- list(state$kernel)  # NULL for a kernel matrix, and there all the same: `$` would take kernel_values for it
  new$labels <- unique(c(state$labels, id[out$labels_used]))
  new$trace <- lasvm_extend_trace(state$trace, out, length(state$labels))
  new$finished <- FALSE
  new$stopped_early <- out$stopped_early
  new$checked <- out$rows_checked
  new$convergence <- lasvm_convergence(out, length(new$labels))
  new
}

# What is certified is the problem of all rows whose label was used. Those of earlier pieces that were let go are not at hand any more: then nothing is.
lasvm_convergence <- function(out, used) {
  convergence <- out$convergence
  if (!out$solved || convergence$converged && out$rows_checked == used) return(convergence)
  convergence$converged <- FALSE
  convergence$reason <- "iterations"
  rows <- function(n) format(n, big.mark = ",", scientific = FALSE)
  convergence$message <- if (out$rows_checked < used) {
    sprintf("optimal over the rows held, but of the %s rows learnt from %s are not at hand: see lasvm_bounds()", rows(used), rows(used - out$rows_checked))
  } else {
    sprintf("optimal over the rows held, but of all %s rows one violates optimality by %s: more `epochs` come closer", rows(used), format(convergence$residual, digits = 3L))
  }
  convergence
}

# Visits that are multiples of a power of two, few enough: see extend_record().
lasvm_extend_trace <- function(trace, out, labels_before) {
  new <- data.frame(iter = trace$visits + seq_along(out$visited), n_sv = out$support, delta = out$delta, objective = out$objective,
                    labels = labels_before + out$labels)
  total <- trace$visits + nrow(new)
  stride <- trace$stride
  while (total / stride > record_points) stride <- 2 * stride
  table <- rbind(trace$table, new)
  table <- table[table$iter %% stride == 0, ]
  rownames(table) <- NULL
  list(stride = stride, visits = total, table = table, last = if (nrow(new) > 0L) new[nrow(new), ] else trace$last)
}

# The error of the machines kept along the way.
lasvm_curve <- function(fit, out, x, kernel) {
  validation <- fit$run$validation
  z <- online_design(fit, validation$x, "validation$x")
  codes <- label_codes(validation$y, fit$levels, "validation$y")
  if (length(codes) != nrow(z)) {
    abort_input(sprintf("`validation$y` must have one label per row, %d, but it has %d.", nrow(z), length(codes)), "validation")
  }
  error <- vapply(out$snapshots, function(s) {
    sv <- if (fit$settings$precomputed) s$rows else x[s$rows, , drop = FALSE]
    mean(as.integer(classes_of(lasvm_values(sv, kernel, s$alpha, s$b, z), fit$levels)) != codes, na.rm = TRUE)
  }, 0)
  column <- function(name) vapply(out$snapshots, function(s) s[[name]], 0)
  data.frame(iter = column("visits"), labels = column("labels"), n_sv = vapply(out$snapshots, function(s) length(s$rows), 0L), error = error)
}

# Decision values. `sv` are the support vectors, or where the kernel was given as a matrix the columns of `z` that belong to them.
lasvm_values <- function(sv, kernel, alpha, b, z) {
  if (nrow(alpha) == 0L) {
    scores <- matrix(0, nrow(z), ncol(alpha))
  } else if (is.null(kernel)) {
    scores <- z[, sv, drop = FALSE] %*% alpha
  } else {
    threads <- if (has_user_code(kernel)) 1L else thread_count()
    scores <- core_svm_decision(sv, kernel, alpha, z, threads, progress_bar("decision values"))
  }
  scores <- scores + rep(b, each = nrow(z))
  if (ncol(scores) == 1L) drop(scores) else scores
}

#' @export
online_scores.granary_lasvm <- function(fit, x) {
  lasvm_values(if (fit$settings$precomputed) fit$sv_index else fit$sv, fit$state$kernel, as.matrix(fit$coefficients), fit$b, x)
}

# Labels by a function, called with the number of a row when its label is wanted.
lasvm_ask <- function(fit, x, y) {
  x <- online_design(fit, x, "x")
  check_matrix(x, "x", allow_sparse = TRUE)
  fit <- online_begin(fit, x)
  fit$begins <- NULL
  x <- online_scaled(fit, x)
  ask <- function(row) {
    answer <- y(row)
    code <- if (length(answer) == 1L) label_codes(answer, fit$levels) else NA
    if (is.na(code)) abort_input(sprintf("`y` must give one label for row %.0f, but it gave %s.", row, describe(answer)), "y")
    code
  }
  n <- nrow(x)
  order <- if (fit$settings$shuffle) sample.int(n) else seq_len(n)
  out <- lasvm_learn(fit, x, rep(NA_integer_, n), order, as.double(order), ask)
  fit$record <- extend_record(fit$record, fit, out)
  fit$state <- out$state
  fit$trials <- length(out$wrong)
  fit$mistakes <- sum(out$wrong, na.rm = TRUE)
  fit$changes <- sum(out$changed)
  fit$support <- out$support[length(out$support)]
  fit$rows_seen <- n
  fit
}

# Finishing ----------------------------------------------------------------------------------------------------------------------------------------

finish_lasvm <- function(fit) {
  state <- fit$state
  if (length(state$id) == 0L) return(lasvm_refresh(fit))
  plan <- lasvm_plan(fit, list(epochs = 0L, max_labels = Inf, snapshots = numeric(), finish = TRUE), numeric(), 0)
  out <- lasvm_run(fit, state$x, state$label, state, plan, c(1, 1), "finishing")
  fit$state <- lasvm_new_state(fit, state, out, state$x, state$id)
  for (part in c("trace", "curve", "stopped_early")) fit$state[[part]] <- state[[part]]
  fit$state$finished <- out$solved
  lasvm_finished(fit)
}

lasvm_finished <- function(fit) {
  fit <- lasvm_refresh(fit)
  fit$support <- fit$n_sv
  if (fit$finished) return(fit)  # that a pass has let rows go is in the nature of the method, and printed
  check_convergence(fit, "Raise `max_iter`, loosen `tol`, or scale the data; with `cost = Inf` the classes may overlap.")
}

# What the user sees, from the state.
lasvm_refresh <- function(fit) {
  state <- fit$state
  if (length(state) == 0L) {  # no row has come yet
    nothing <- list(sv_index = numeric(), coefficients = numeric(), b = 0, delta = 0, objective = 0, n_sv = 0L, n_bounded = 0L, n_kernel = 0,
                    cache_hit_rate = 0, labels_used = numeric(), finished = FALSE, stopped_early = FALSE)
    fit[names(nothing)] <- nothing
    return(fit)
  }
  alpha <- state$alpha
  has <- rowSums(alpha != 0) > 0
  bound <- lasvm_cost(fit)[state$label]
  coefficients <- alpha[has, , drop = FALSE]
  fit$sv_index <- state$id[has]
  fit$sv <- state$x[has, if (fit$settings$precomputed) has else TRUE, drop = FALSE]
  if (!fit$settings$precomputed && length(fit$columns) == ncol(fit$sv)) dimnames(fit$sv) <- list(NULL, fit$columns)
  if (ncol(alpha) == 1L) {
    fit$coefficients <- coefficients[, 1L]
  } else {
    colnames(coefficients) <- fit$levels
    fit$coefficients <- coefficients
  }
  fit$b <- state$b
  fit$delta <- max(state$delta)
  fit$objective <- sum(state$objective)
  fit$n_sv <- sum(has)
  if (length(fit$support) == 0L) fit$support <- fit$n_sv  # a piece that came after the last label
  fit$n_bounded <- sum(rowSums(abs(alpha) == bound) > 0)
  fit$n_kernel <- state$kernel_values
  fit$cache_hit_rate <- state$cache_hits / max(1, state$cache_hits + state$cache_misses)
  fit$labels_used <- state$labels
  trace <- state$trace$table
  last <- state$trace$last
  if (!is.null(last) && (nrow(trace) == 0L || trace$iter[nrow(trace)] < last$iter)) trace <- rbind(trace, last)
  rownames(trace) <- NULL
  fit$trace <- trace
  fit$curve <- state$curve
  fit$finished <- state$finished
  fit$stopped_early <- isTRUE(state$stopped_early)
  fit$convergence <- state$convergence
  fit
}
