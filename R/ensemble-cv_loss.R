# Losses of held-out rows. Rows have a loss each where the loss is a sum; the last three are 1 - a measure of the whole
# test set.
cv_losses <- list(
  regression = c("squared", "absolute"),
  classification = c("misclass", "log_loss", "brier", "auc", "f", "kappa")
)
set_losses <- c("auc", "f", "kappa")
loss_words <- c(squared = "squared error", absolute = "absolute error", misclass = "misclassification rate",
                log_loss = "log loss", brier = "Brier score", auc = "1 - AUC", f = "1 - macro F", kappa = "1 - kappa")

loss_label <- function(loss) if (is.function(loss)) "loss" else loss_words[[loss]]

loss_needs_prob <- function(loss) !is.function(loss) && loss %in% c("log_loss", "brier", "auc")

# Rows of what probability_scores() and class_scores() need.
core_classes <- function(y, answer, levels, loss, rows = seq_along(y)) {
  truth <- as.integer(y)[rows]
  if (loss_needs_prob(loss)) {
    return(core_probability_scores(answer$prob[rows, , drop = FALSE], truth, rep(1, length(rows))))
  }
  core_class_scores(truth, as.integer(answer$class)[rows], rep(1, length(rows)), length(levels), 1)
}

# list(mean, rows): the loss of a test set, and of each of its rows where it is a mean over them (else NULL).
split_loss <- function(loss, y, answer, levels) {
  if (is.function(loss)) {
    value <- user_value(loss, "loss", y,
                        if (is.null(levels)) answer$response else if (is.null(
                          answer$prob)) answer$class else answer$prob)
    if (!is.numeric(value) || !length(value) %in% c(1L, length(y)) || !all(is.finite(value))) {
      abort_input(sprintf("The function `loss` must give one finite number, or one per row, not %s.", describe(value)),
                  "loss")
    }
    return(list(mean = mean(value), rows = if (length(value) == length(y) && length(y) > 1L) as.double(value)))
  }
  rows <- switch(loss,
    squared = (y - answer$response)^2, absolute = abs(y - answer$response), misclass = as.double(y != answer$class),
    log_loss = -log(pmax(answer$prob[cbind(seq_along(y), as.integer(y))], .Machine$double.xmin)),
    brier = rowSums((answer$prob - outer(as.integer(y), seq_along(levels), `==`))^2)
  )
  if (!is.null(rows)) return(list(mean = mean(rows), rows = rows))
  scores <- core_classes(y, answer, levels, loss)
  value <- switch(loss, auc = scores$auc, f = scores$macro_f, kappa = scores$kappa)
  list(mean = if (is.nan(value)) NA_real_ else 1 - value, rows = NULL)
}

check_loss <- function(loss, levels) {
  if (is.function(loss)) return(loss)
  mode <- if (is.null(levels)) "regression" else "classification"
  if (is.null(loss)) return(cv_losses[[mode]][1L])
  other <- cv_losses[[setdiff(names(cv_losses), mode)]]
  if (is.character(loss) && length(loss) == 1L && loss %in% other) {
    abort_input(sprintf("`loss` = \"%s\" is for %s, but `y` is %s.", loss,
                        if (mode == "regression") "classes" else "numbers",
                        if (mode == "regression") "numbers" else "classes"), "loss")
  }
  check_choice(loss, cv_losses[[mode]], "loss")
}
