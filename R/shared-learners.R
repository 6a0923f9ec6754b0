# One table of the supervised methods, for the packages that train and tune learners: R/shared-parsnip.R and R/shared-mlr3.R are made from it.
#
# A method joins by a function `learner_row_<stem>()` in a file of its family that returns a row, a list with
#   fun            the estimator
#   label          what it is, in a few words
#   modes          by mode ("classification", "regression"), the arguments that make it do that
#   classes        "two" or "many"
#   features       "numbers", or "discrete" where each value is a label
#   weights        whether it takes case weights
#   fixed          arguments that stand for learners unless the user says otherwise
#   probabilities  arguments of the fit that probabilities need; NULL where there are none
#   predict        arguments of predict() by what is asked: response, class, prob, se, conf_int, pred_int; may name `object$fit`
#   selected       a function that gives the names of the columns a fit uses, where that is fewer than all
#   parameters     domains of arguments: number_domain(), count_domain(), choice_domain(); the other arguments are there without a domain
#   parsnip        by model type, `engine`, `fixed`, and `arguments`, a vector of the method's words named by parsnip's
learners <- function() {
  namespace <- topenv()
  names <- grep("^learner_row_", ls(namespace), value = TRUE)
  rows <- lapply(names, function(name) complete_learner(namespace[[name]]()))
  stats::setNames(rows, sub("^learner_row_", "", names))
}

complete_learner <- function(row) {
  absent <- list(classes = "two", features = "numbers", weights = FALSE, fixed = list(), probabilities = NULL, selected = NULL, parameters = list(), parsnip = list())
  for (part in setdiff(names(absent), names(row))) row[part] <- absent[part]
  row
}

# `range` is where to search, on the scale of `trans` (log2, log10 or none).
number_domain <- function(lower, upper = Inf, range, trans = NULL) list(kind = "number", lower = lower, upper = upper, range = range, trans = trans)
count_domain <- function(lower, range, upper = Inf, trans = NULL) list(kind = "count", lower = lower, upper = upper, range = range, trans = trans)
# `open`: an object may stand for the word.
choice_domain <- function(..., open = FALSE) list(kind = "choice", values = c(...), open = open)

# What a learner can be asked for.
learner_types <- function(row, mode) {
  if (mode == "regression") return(c("response", if (!is.null(row$predict$se)) "se"))
  c("class", if (!is.null(row$probabilities)) "prob")
}

# The method's own arguments that a learner may set, with their defaults.
learner_formals <- function(row) {
  method <- get0(paste0(row$fun, ".default"), topenv(), mode = "function")
  if (is.null(method)) method <- get(row$fun, topenv(), mode = "function")
  all <- as.list(formals(method))
  all[setdiff(names(all), c("x", "y", "weights", "offset", "start", "newdata", "..."))]
}

# Arguments of the fit: what makes the mode, what stands for learners, what probabilities need, then what the user says.
learner_arguments <- function(row, mode, prob = FALSE, given = list()) {
  arguments <- c(row$modes[[mode]], row$fixed)
  if (prob) arguments <- utils::modifyList(arguments, row$probabilities)
  arguments[names(given)] <- given
  arguments
}

# One method on a data frame of features: as a matrix where all are numbers, through the formula where some are factors.
learner_fit <- function(row, features, y, arguments, weights = NULL) {
  fun <- get(row$fun, topenv(), mode = "function")
  if (!is.null(weights)) arguments$weights <- weights
  numbers <- vapply(features, function(column) is.numeric(column) || is.logical(column), NA)
  if (row$features == "discrete") return(do.call(fun, c(list(x = features, y = y), arguments)))
  if (all(numbers)) return(do.call(fun, c(list(x = learner_matrix(features), y = y), arguments)))
  data <- c(list(.response = y), features)
  data <- data.frame(data, check.names = FALSE)
  do.call(fun, c(list(formula = .response ~ ., data = data), arguments))
}

learner_matrix <- function(features) {
  matrix(as.double(unlist(features, use.names = FALSE)), ncol = length(features), dimnames = list(NULL, names(features)))
}

# predict() of a fit for a data frame of features; `what` is a word of learner_types().
learner_answer <- function(row, fit, features, what) {
  object <- list(fit = fit)
  extra <- lapply(row$predict[[what]], eval, envir = environment())
  newdata <- if (row$features == "discrete" || !is.null(fit$formula)) features else learner_matrix(features)
  do.call(stats::predict, c(list(fit, newdata = newdata), extra))
}

# A factor with all levels, and a matrix with a column for each: a fit knows only the classes that it saw.
learner_classes <- function(answer, levels) factor(as.character(answer), levels)

learner_probabilities <- function(answer, levels) {
  out <- matrix(0, nrow(answer), length(levels), dimnames = list(NULL, levels))
  out[, colnames(answer)] <- answer
  out
}

# Calls `register` now where a package is there, and otherwise when it is loaded. What another version of that package does not take must not keep granary from
# being loaded.
when_loaded <- function(package, register) {
  try_it <- function(...) {
    tryCatch(register(), error = function(e) packageStartupMessage("granary's learners are not known to ", package, ": ", conditionMessage(e)))
    invisible()
  }
  if (isNamespaceLoaded(package)) try_it()
  setHook(packageEvent(package, "onLoad"), try_it)
}
