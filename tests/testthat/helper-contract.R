# One fit of every class that the examples of the help pages make: list(class = fit); and one of all other objects that can be drawn.
example_fits <- function(examples, others = FALSE) {
  wanted <- function(object) {
    if (!others) return(inherits(object, "granary_fit"))
    drawn <- vapply(paste0("plot.", class(object)), exists, NA, envir = asNamespace("granary"), inherits = FALSE)
    startsWith(class(object)[1L], "granary_") && any(drawn) && !inherits(object, "granary_fit")
  }
  session <- list2env(mget(getNamespaceExports("granary"), envir = asNamespace("granary"), inherits = TRUE), parent = globalenv())
  fits <- list()
  for (page in examples) {
    envir <- new.env(parent = session)
    for (expression in as.list(page$code)) {
      value <- tryCatch(quietly(suppressWarnings(eval(expression, envir))), error = function(e) NULL)
      for (object in c(list(value), mget(ls(envir), envir = envir))) {
        if (is.null(fits[[class(object)[1L]]]) && wanted(object)) fits[[class(object)[1L]]] <- object
      }
    }
  }
  fits
}

# "" where the answer is one, or a refusal in a sentence with a class; otherwise what is wrong.
answers <- function(code, may_be_null = FALSE) {
  tryCatch({
    value <- quietly(suppressWarnings(code))
    if (is.null(value) && !may_be_null) "NULL in silence" else ""
  }, granary_error = function(e) "", error = function(e) paste("an error without class:", conditionMessage(e)))
}

# What plot() draws autoplot() draws too, to the last grob.
drawn_twice <- function(fit) {
  drawn <- tryCatch({
    quietly(suppressWarnings(plot(fit)))
    TRUE
  }, error = function(e) FALSE)
  tryCatch({
    quietly(suppressWarnings(ggplot2::ggplotGrob(ggplot2::autoplot(fit))))
    ""
  }, granary_error = function(e) if (drawn) paste("plot() draws, but:", conditionMessage(e)) else "",
  error = function(e) paste("an error without class:", conditionMessage(e)))
}

# Generics that a class does not answer yet, with the reason: "class generic".
contract_exceptions <- c()
