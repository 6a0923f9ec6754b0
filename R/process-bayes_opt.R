#' Bayesian optimisation
#'
#' Finds the minimum of a function that is expensive to evaluate, in some 20 to 300 evaluations. A Gaussian or Student-t process predicts the function
#' everywhere from the evaluations so far, and the next point is where a criterion such as expected improvement is largest.
#'
#' @details
#' **Model.**
#' \deqn{f(x) = \phi(x)'w + \epsilon(x), \quad \mathrm{cov}\,\epsilon = s^2 K(\theta), \quad y = f(x) + N(0, s^2\,\mathrm{noise})}{f(x) = phi(x)'w
#' + eps(x), cov eps = s^2 K(theta), y = f(x) + N(0, s^2 noise)} with inputs scaled to \eqn{[0, 1]} and responses standardised.
#'
#' | surrogate | priors |
#' | --- | --- |
#' | `"gp"` | \eqn{w = b} and \eqn{s^2} known |
#' | `"gp_normal"` | \eqn{w \sim N(b, s^2 B)}{w ~ N(b, s^2 B)}, \eqn{s^2} known |
#' | `"tp_nig"` | \eqn{w \sim N(b, s^2 B)}{w ~ N(b, s^2 B)}, \eqn{s^2 \sim IG(a, c)}{s^2 ~ IG(a, c)}: predictions follow a t law with \eqn{n + 2a} degrees of freedom |
#' | `"tp_jeffreys"` | \eqn{p(w, s^2) \propto 1/s^2}{p(w, s^2) proportional to 1 / s^2}: a t law with \eqn{n - p} degrees of freedom; while \eqn{n \le p}{n <= p} a weak proper prior |
#'
#' For t processes the overall variance of the kernel is held at one, as \eqn{s^2} is integrated out; for Gaussian ones it is learnt.
#'
#' **Kernel parameters** are learnt by maximum posterior (`"map"`, log-normal priors on lengthscales), maximum likelihood (`"ml"`), leave-one-out
#' predictive density (`"loo"`), or averaged over draws of a slice sampler (`"mcmc"`: `burn_in` sweeps, then one of `particles` per sweep; later
#' relearning continues the chain with a tenth of the burn-in). A global search (DIRECT) precedes the local one at first and whenever the data
#' have grown by half. `relearn = "auto"` learns after every evaluation up to 60 evaluations and after every tenth beyond; between, rows are appended
#' to the Cholesky factor at a cost of \eqn{O(n^2)}.
#'
#' **Search.** The criterion (see [bo_acquisition()]) is maximised by DIRECT with `search` evaluations per input, followed by L-BFGS with exact
#' gradients, or
#' by a compass search where there are constraints, integers, categories or kernels without derivatives; over lists of candidates and small discrete
#' spaces by enumeration. With probability `epsilon`, and after `stuck` evaluations in a row next to old points, a point is drawn at random. Where the
#' criterion is flat, the most uncertain or the most distant point is taken.
#'
#' **Errors of `f`.** An error, `NA`, a value that is not finite or not one number is recorded in the trace with its message. The model counts the
#' point as
#' bad as the worst one seen (`failed = "penalise"`), or does not see it (`"skip"`). With `file`, the state is saved before and after each evaluation:
#' when R itself dies within `f`, `update(readRDS(file))` goes on, and records the point that did it as failed.
#'
#' **Several at a time.** `batch` points are chosen as if earlier ones of the batch had come out as predicted, and evaluated on the workers of
#' `future::plan()` where one is set (package `future.apply`). A worker that dies costs one point, not the run.
#'
#' **Many inputs, few that matter.** `embed_dim` = e optimises over \eqn{z \in [-\sqrt e, \sqrt e]^e}{z in [-sqrt(e), sqrt(e)]^e} with \eqn{x} =
#' clip(Az), A a
#' matrix of standard normal numbers (REMBO); `n_embed` runs with matrices of their own share the budget. Points that are told, or where the model is
#' asked, have to lie in the embedding.
#'
#' **Ask and tell.** For experiments outside R: `bo_init()`, then `bo_suggest()` and `bo_observe()` in turns. Suggestions depend on the object
#' alone, so a
#' state saved with `saveRDS()` goes on as if it had never stopped, and both ways give the same trace after the same `set.seed()`.
#'
#' @section Which method when:
#' Up to some 20 inputs and 1000 evaluations that take longer than the tenth of a second each suggestion costs. For cheap functions use
#' [stats::optim()]
#' from many starts. `"tp_jeffreys"` with `"ei"` needs no choices. Noisy responses: `learn_noise = TRUE`. Small budgets (below 30 evaluations), where
#' kernel parameters are uncertain: `learn = "mcmc"`. A hedge such as `"hedge(ei, lcb, thompson)"` guards against a bad choice of criterion, at the
#' price of
#' evaluations spent on finding out. For many evaluations at a time with guarantees on the regret, batch bandits are the better tool.
#'
#' @param f The function to be minimised: of a vector with the numeric inputs (with names where `lower` has them), or, where there are categories,
#'   of a
#'   named list. Returns one number.
#' @param lower,upper Bounds of the numeric inputs.
#' @param n_init Size of the initial design.
#' @param n_iter Evaluations after the initial design; for `update()`, further ones.
#' @param ... For `bayes_opt()`: further arguments of `bo_init()`, below. For methods: see there.
#' @param batch Points evaluated at a time.
#' @param target A value of `f` that is good enough to stop.
#' @param time_limit Seconds after which no new evaluation starts.
#' @param n_embed Number of random embeddings that share the budget.
#' @param file File for the state, or `NULL`.
#' @param verbose Whether to print a line per evaluation.
#' @param init Initial design: Latin hypercube (the best of ten by smallest distance), shifted Sobol points, or uniform.
#' @param surrogate,kernel,mean The model. The default kernel is Matern 5/2 with one lengthscale per input, times an overlap kernel for categories;
#'   a kernel given
#'   without `columns` is for the numeric inputs. `mean` is a formula in the inputs scaled to \eqn{[0, 1]}: `~0`, `~1`, `~.` or any other.
#' @param criterion What is maximised: text or an [bo_acquisition()].
#' @param learn,relearn How kernel parameters are learnt, and after how many evaluations again.
#' @param noise Noise variance relative to \eqn{s^2}. From 0.001 on, or where it is learnt, the incumbent is the best prediction instead of the best
#'   observation, which owes much to luck; `print()` shows both.
#' @param learn_noise Whether to learn it.
#' @param prior A list with any of `b`, `B` (variances), `a`, `c`, `s2` for the standardised responses, and `hp_mean` (0.5), `hp_sd` (1): median and
#'   standard deviation of the logarithm of lengthscales, in units of the scaled inputs.
#' @param epsilon Probability of a random point.
#' @param feasible A function like `f` that says whether a point may be evaluated. Points where it is `FALSE` are never evaluated.
#' @param candidates A matrix or data frame of points to choose from, instead of bounds.
#' @param integer Names or positions of inputs that are whole numbers.
#' @param levels A named list with the categories of categorical inputs.
#' @param embed_dim Dimension of a random embedding.
#' @param maximize Whether `f` is to be maximised.
#' @param failed What the model makes of evaluations that failed.
#' @param burn_in,particles Of the slice sampler.
#' @param search Criterion evaluations per input.
#' @param stuck Evaluations next to old points before a random one.
#' @param object A state or result.
#' @param n Number of points.
#' @param x Points in the units of the user: rows of a matrix or data frame.
#' @param y Their responses; `NA`, or a value that is not finite, for one that failed.
#' @return `bayes_opt()`, `bo_init()` and `bo_observe()`: an object of class `granary_bayes_opt` with `best_x`, `best_y`, `x`, `y`, `trace` (iteration,
#'   response, best so far, value of the criterion on the standardised scale, criterion used, status, seconds of `f`, message), `surrogate` (kernel
#'   with
#'   its parameters, evidence, degrees of freedom), and the state. See [granary_bayes_opt] for its methods. `bo_suggest()`: points, one per row.
#' @references
#' Martinez-Cantin (2014). BayesOpt: a Bayesian optimization library for nonlinear optimization, experimental design and bandits. *Journal of
#' Machine Learning Research* 15, 3735--3739.
#'
#' Jones, Perttunen and Stuckman (1993). Lipschitzian optimization without the Lipschitz constant. *Journal of Optimization Theory and
#' Applications* 79, 157--181.
#'
#' Wang, Zoghi, Hutter, Matheson and de Freitas (2013). Bayesian optimization in a billion dimensions via random embeddings. *IJCAI*.
#' @seealso [bo_acquisition()], [gp_bandit()], [kriging()], [test_function()]
#' @export
#' @examples
#' set.seed(1)
#' fit <- bayes_opt(test_function("forrester"), 0, 1, n_init = 4, n_iter = 8)
#' fit
#' plot(fit)
#'
#' # ask and tell
#' state <- bo_init(lower = c(a = -5, b = 0), upper = c(a = 10, b = 15), n_init = 4)
#' for (k in 1:5) {
#'   point <- bo_suggest(state)
#'   state <- bo_observe(state, point, test_function("branin")(point))
#' }
#' state <- bo_observe(state, x = c(3, 2), y = test_function("branin")(c(3, 2)))
#' predict(state, rbind(c(3, 2), c(9, 3)), type = "criterion", criterion = "ei")
bayes_opt <- function(f, lower = NULL, upper = NULL, n_init = 10, n_iter = 50, ..., batch = 1, target = NULL, time_limit = Inf, n_embed = 1,
                      file = NULL, verbose = FALSE) {
  call <- match.call()
  if (missing(f)) fail_missing("f")
  if (!is.function(f)) fail_input("f", "a function of a point", describe(f))
  n_iter <- check_count(n_iter, lower = 0)
  n_init <- check_count(n_init, upper = 1e5)
  run <- bo_run_options(batch, target, time_limit, file, verbose)
  extra <- list(...)
  known <- setdiff(names(formals(bo_init)), c("lower", "upper", "n_init", "..."))
  labels <- names(extra) %||% rep("", length(extra))
  full <- known[pmatch(labels, known)]
  if (anyNA(full)) {
    abort_input(paste0("Unknown argument: ", labels[is.na(full)][1L], ".\nThe settings are ", paste(known, collapse = ", "), "."), "...")
  }
  start <- function() do.call(bo_init, c(list(lower = lower, upper = upper, n_init = n_init), stats::setNames(extra, full)))
  n_embed <- check_count(n_embed, upper = 1000)
  if (n_embed > 1L) {
    if (is.null(extra$embed_dim)) abort_input("`n_embed` needs `embed_dim`.", "n_embed")
    return(bo_run_embeddings(start, f, n_init, n_iter, n_embed, run, call))
  }
  object <- start()
  object$call <- shorten_call(call)
  bo_run(object, f, nrow(object$design) + n_iter, run)
}

bo_run_options <- function(batch, target, time_limit, file, verbose) {
  list(batch = check_count(batch, "batch", upper = 1000), target = check_number(target, "target", allow_null = TRUE),
       time_limit = check_number(time_limit, "time_limit", lower = 0, allow_infinite = TRUE), file = check_string(file, "file", allow_null = TRUE),
       verbose = check_flag(verbose, "verbose"))
}

# Evaluates f at suggestions until there are `total` results, the target is met, or time is up.
bo_run <- function(object, f, total, run) {
  object$f <- f
  started <- proc.time()[["elapsed"]]
  own <- 0  # seconds not spent in f
  show <- bo_progress(total, run$verbose)
  reason <- "the budget was used"
  converged <- TRUE
  reached <- function() {
    !is.null(run$target) && !is.na(object$best_y) && (if (object$settings$maximize) object$best_y >= run$target else object$best_y <= run$target)
  }
  tryCatch(
    while (length(object$y) < total) {
      if (reached()) break
      if (proc.time()[["elapsed"]] - started > run$time_limit) {
        reason <- "the time was up"
        break
      }
      tick <- proc.time()[["elapsed"]]
      proposal <- bo_propose(object, min(run$batch, total - length(object$y)))
      if (nrow(proposal$unit) == 0L) {
        reason <- "no feasible point was found"
        converged <- FALSE
        break
      }
      user <- bo_to_user(object$space, proposal$unit)
      bo_save(object, run$file, pending = proposal$unit)
      own <- own + proc.time()[["elapsed"]] - tick
      results <- bo_evaluate_all(f, lapply(seq_len(nrow(proposal$unit)), function(i) bo_point(object$space, user, i)))
      tick <- proc.time()[["elapsed"]]
      field <- function(name, type) vapply(results, `[[`, type, name)
      # Through the user's units, as bo_observe() has to: the two ways give the same trace.
      unit <- if (is.null(object$space$embedding)) bo_to_unit(object$space, user) else proposal$unit
      object <- bo_tell(object, unit, field("y", 0), field("status", ""), field("seconds", 0), field("message", ""))
      bo_save(object, run$file)
      own <- own + proc.time()[["elapsed"]] - tick
      show(object, length(results))
    },
    interrupt = function(e) {
      reason <<- "interrupted"
      converged <<- FALSE
    }
  )
  stopped <- identical(reason, "interrupted")
  if (reached()) reason <- "the target was reached"
  object$convergence <- list(converged = converged, iterations = length(object$y), seconds = object$convergence$seconds + own, message = reason)
  kept <- if (stopped && is.null(run$file)) tempfile("bayes_opt_", fileext = ".rds") else run$file
  bo_save(object, kept)
  if (stopped) {  # the interruption goes on, so that a loop around this one stops too; nothing that was evaluated is lost
    message(sprintf("Interrupted after %s, which are kept: update(readRDS(\"%s\")) goes on from there.",
                    counted(length(object$y), "evaluation", "evaluations"), kept))
    signal_interrupt()
  }
  if (!any(object$status == "ok") && length(object$y) > 0L) {
    warn_input(paste0("Every evaluation of `f` failed. The first message: ", object$trace$message[1L]), "f")
  }
  check_convergence(object, "The evaluations so far are kept: update() goes on from here.")
  object
}

bo_save <- function(object, file, pending = NULL) {
  if (is.null(file)) return(invisible())
  object["pending"] <- list(pending)
  # Into a second file first: a crash while writing leaves the old state readable.
  draft <- paste0(file, ".part")
  tryCatch({
    saveRDS(object, draft)
    file.rename(draft, file)
  }, error = function(e) abort_input(paste0("The state could not be written to `file`: ", conditionMessage(e), "."), "file"),
  warning = function(w) abort_input(paste0("The state could not be written to `file`: ", conditionMessage(w), "."), "file"))
  invisible()
}

# One evaluation, whatever f does: list(y, status, seconds, message).
bo_evaluate <- function(f, point) {
  started <- proc.time()[["elapsed"]]
  answer <- tryCatch(f(point), error = identity)
  seconds <- proc.time()[["elapsed"]] - started
  message <- if (inherits(answer, "error")) {
    paste("error:", conditionMessage(answer))
  } else if (!(is.numeric(answer) || is.logical(answer)) || length(answer) != 1L || is.object(answer)) {
    paste("not one number but", describe(answer))
  } else {
    bo_trouble(answer)
  }
  if (nzchar(message)) return(list(y = NA_real_, status = "failed", seconds = seconds, message = message))
  list(y = as.double(answer), status = "ok", seconds = seconds, message = "")
}

# A batch on the workers of the plan. Should one die, workers are started anew, as a plan with a dead one fails for good, and the points are
# evaluated again one by one, so that only the one that kills is lost.
bo_evaluate_all <- function(f, points) {
  if (length(points) == 1L && !has_workers()) return(list(bo_evaluate(f, points[[1L]])))
  together <- function(points) resample_lapply(points, function(point) bo_evaluate(f, point), "evaluations")
  tryCatch(together(points), error = function(e) {
    restart_workers()
    lapply(points, function(point) {
      tryCatch(together(list(point))[[1L]], error = function(e) {
        restart_workers()
        list(y = NA_real_, status = "failed", seconds = NA_real_, message = paste("the worker died:", conditionMessage(e)))
      })
    })
  })
}

restart_workers <- function() {
  if (!requireNamespace("future", quietly = TRUE)) return(invisible())
  stack <- future::plan("list")
  future::plan("sequential")
  future::plan(stack)
  invisible()
}

# A live line (interactive sessions), and one line per evaluation with `verbose`.
bo_progress <- function(total, verbose, frame = parent.frame()) {
  live <- isTRUE(getOption("granary.progress", interactive()))
  line <- function(object) {
    row <- object$trace[nrow(object$trace), ]
    last <- if (row$status == "ok") format(row$y, digits = 6L) else row$message
    sprintf("%d/%d  best %s  last %s (%s)", row$iter, total, format(row$best, digits = 6L), last, row$used)
  }
  look <- "Bayesian optimisation {cli::pb_bar} {cli::pb_extra$line}"
  bar <- if (live) cli::cli_progress_bar(format = look, total = total, extra = list(line = ""), clear = TRUE, .envir = frame)
  function(object, count) {
    if (live) cli::cli_progress_update(set = length(object$y), extra = list(line = line(object)), id = bar, .envir = frame)
    if (verbose) cli::cat_line(line(object))
    invisible()
  }
}

# Independent runs with embeddings of their own; the best is returned, with the evaluations of all in `runs`.
bo_run_embeddings <- function(start, f, n_init, n_iter, n_embed, run, call) {
  total <- n_init + n_iter
  shares <- diff(round(seq(0, total, length.out = n_embed + 1L)))
  if (min(shares) < 2L) abort_input(sprintf("%d evaluations are too few for %d embeddings.", total, n_embed), "n_embed")
  runs <- lapply(shares, function(share) bo_run(start(), f, share, run))
  value <- vapply(runs, function(r) r$best_y, 0)
  sign <- if (runs[[1L]]$settings$maximize) -1 else 1
  best <- if (all(is.na(value))) 1L else which.min(sign * value)
  object <- runs[[best]]
  object$call <- shorten_call(call)
  object$runs <- lapply(runs, function(r) r[c("best_x", "best_y", "x", "y", "trace")])
  object
}
