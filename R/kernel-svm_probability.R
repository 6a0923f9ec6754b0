# Probabilities of classes from decision values on folds that were left out.

# One calibration for each machine: list(method, slope, intercept) or list(method, at, value).
svm_calibrate <- function(problem, point, settings, threads, method, folds) {
  machines <- svm_tasks(problem)
  size <- table(factor(problem$class[problem$rows], seq_along(problem$levels)))
  if (any(size < 2L)) {
    abort_input(sprintf("Probabilities need at least two rows of each class, but \"%s\" has one.\nLeave the class out, or the probabilities.",
                        problem$levels[which(size < 2L)[1L]]), "y")
  }
  parts <- lapply(machines, function(machine) {
    fold <- stratified_folds(machine$y, min(folds, length(machine$rows)))
    lapply(sort(unique(fold)), function(part) {
      list(rows = machine$rows[fold != part], y = machine$y[fold != part], weight = machine$weight[fold != part], start = numeric(), start_cost = 1,
           held_out = machine$rows[fold == part])
    })
  })
  settings$trace <- FALSE
  tasks <- unlist(parts, recursive = FALSE)
  if (problem$type == "nu_classification") {  # a fold may have a smaller share of the rarer class
    point$nu <- min(point$nu, vapply(tasks, svm_largest_nu, 0))
  }
  found <- svm_solve(problem, tasks, point, settings, threads, "probabilities")
  last <- cumsum(lengths(parts))
  stats::setNames(lapply(seq_along(machines), function(k) {
    mine <- seq(last[k] - length(parts[[k]]) + 1L, last[k])
    rows <- unlist(lapply(tasks[mine], `[[`, "held_out"))
    scores <- unlist(lapply(found[mine], function(path) path[[1L]]$held_out))
    at <- match(rows, machines[[k]]$rows)
    svm_calibration(scores, machines[[k]]$y[at], machines[[k]]$weight[at], method)
  }), vapply(machines, `[[`, "", "name"))
}

svm_calibration <- function(scores, label, weight, method) {
  if (method == "platt") {
    c(list(method = "platt"), core_svm_platt(scores, label, weight), list(scores = scores, label = label))
  } else {
    c(list(method = "isotonic"), core_svm_isotonic(scores, label, weight), list(scores = scores, label = label))
  }
}

# P(positive class | decision value).
calibrated <- function(calibration, decision) {
  if (calibration$method == "platt") return(stats::plogis(-(calibration$slope * decision + calibration$intercept)))
  if (length(calibration$at) == 1L) return(rep(calibration$value, length(decision)))
  stats::approx(calibration$at, calibration$value, decision, rule = 2, ties = "ordered")$y
}

# A row for each row of `decision`, a column for each class.
svm_probabilities <- function(object, decision) {
  chance <- vapply(seq_len(ncol(decision)), function(k) calibrated(object$calibration[[k]], decision[, k]), numeric(nrow(decision)))
  chance <- matrix(chance, nrow(decision))
  k <- length(object$levels)
  p <- if (k == 2L) {
    cbind(1 - chance[, 1L], chance[, 1L])
  } else if (object$multiclass == "one_vs_one") {
    core_svm_couple(chance, k)
  } else {
    total <- rowSums(chance)
    ifelse(total > 0, 1, NA) * chance / total
  }
  p[is.na(p)] <- 1 / k  # no class has any chance
  dimnames(p) <- list(rownames(decision), object$levels)
  p
}
