# What all plots share: drawing with the user's wishes, colours, legends.

# Draws with what the caller passed in `...` in place of our defaults of the same name.
draw <- function(fun, ..., user) {
  do.call(fun, utils::modifyList(list(...), user))
}

sign_colours <- c(negative = "#b2182b", positive = "#2166ac")

