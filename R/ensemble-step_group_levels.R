#' Grouped levels as a step of a recipe
#'
#' A step for package recipes: groups the levels of factors by an outcome when the recipe is prepared, and gives new
#' data the groups when it is baked.
#'
#' @details
#' `outcome` is a column of classes; it must be there when the recipe is prepared, not when it is baked. See
#' [group_levels()] for what is found, and for `unseen`, which
#' is `"largest"` here: models do not like missing values.
#'
#' @section Which method when:
#' In workflows of tidymodels, where the grouping has to be found anew in every resample. By hand, [group_levels()] and
#' `predict()` do the same.
#'
#' @param recipe A recipe.
#' @param ... Columns to be grouped, as for other steps, such as `all_nominal_predictors()`.
#' @param outcome The name of the column of classes.
#' @param role,trained,skip,id As for every step.
#' @param method,groups,na What [group_levels()] takes.
#' @param unseen What stands for levels that were not there.
#' @param object The fit, once prepared.
#' @return The recipe with the step.
#' @inherit group_levels references
#' @seealso [group_levels()]
#' @export
#' @examples
#' data <- sim_levels(500, 30, "mixture")
#' if (requireNamespace("recipes", quietly = TRUE)) {
#'   recipe <- step_group_levels(recipes::recipe(y ~ x, data), x, outcome = "y")
#'   levels(recipes::bake(recipes::prep(recipe), NULL)$x)
#' }
step_group_levels <- function(recipe, ..., outcome, role = NA, trained = FALSE, method = "modl", groups = NULL,
                              na = "level", unseen = "largest", object = NULL, skip = FALSE, id = NULL) {
  if (missing(recipe)) fail_missing("recipe")
  check_installed(c("recipes", "rlang"), "for steps of recipes")
  if (!inherits(recipe, "recipe")) fail_input("recipe", "a recipe", describe(recipe))
  outcome <- check_string(outcome)
  if (is.null(id)) id <- recipes::rand_id("group_levels")
  method <- check_choice(method, eval(formals(group_levels.default)$method))
  groups <- check_count(groups, allow_null = TRUE)
  na <- check_choice(na, c("level", "error", "omit"))
  unseen <- check_choice(unseen, c("na", "largest", "majority", "error"))
  step <- recipes::step("group_levels", terms = rlang::enquos(...), outcome = outcome, role = role,
                        trained = check_flag(trained), method = method, groups = groups, na = na, unseen = unseen,
                        object = object, skip = check_flag(skip), id = id)
  recipes::add_step(recipe, step)
}

#' @exportS3Method recipes::prep
prep.step_group_levels <- function(x, training, info = NULL, ...) {
  columns <- recipes::recipes_eval_select(x$terms, training, info)
  if (!x$outcome %in% names(training)) {
    abort_input(sprintf("`outcome` is \"%s\", which is no column of the data.%s", x$outcome,
                        did_you_mean(x$outcome, names(training))), "outcome")
  }
  columns <- setdiff(unname(columns), x$outcome)
  if (length(columns) > 0L) {
    x$object <- group_levels(as.data.frame(training)[columns], training[[x$outcome]], method = x$method,
                             groups = x$groups, na = x$na)
  }
  x$trained <- TRUE
  x
}

#' @exportS3Method recipes::bake
bake.step_group_levels <- function(object, new_data, ...) {
  if (is.null(object$object)) return(new_data)
  columns <- names(object$object$factors)
  lacking <- setdiff(columns, names(new_data))
  if (length(lacking) > 0L) {
    abort_input(sprintf("`new_data` must have the columns of the step, but \"%s\" is missing.", lacking[1L]),
                "new_data")
  }
  grouped <- predict.granary_level_groups(object$object, as.data.frame(new_data)[columns], unseen = object$unseen)
  for (name in columns) new_data[[name]] <- grouped[[name]]
  new_data
}

#' @export
print.step_group_levels <- function(x, ...) {
  columns <- if (is.null(x$object)) vapply(x$terms, rlang::as_label, "") else names(x$object$factors)
  cli::cat_line("Grouping the levels of ", paste(columns, collapse = ", "), " by ", x$outcome,
                if (x$trained) " [trained]")
  invisible(x)
}

#' @export
tidy.step_group_levels <- function(x, ...) {
  out <- if (is.null(x$object)) {
    data.frame(factor = vapply(x$terms, rlang::as_label, ""), level = NA_character_, group = NA_character_,
               n = NA_real_)
  } else {
    tidy(x$object)
  }
  out$id <- x$id
  out
}
