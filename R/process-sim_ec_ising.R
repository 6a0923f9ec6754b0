#' @rdname ec_baseline
#' @param type Kind of model, see Details.
#' @param n Number of variables; for a grid a square number.
#' @param size Size of the couplings.
#' @param coupling Sign of the couplings.
#' @param field Size of the fields.
#' @export
sim_ec_ising <- function(type = c("gaussian", "full", "grid"), n = 16, size = 0.5, coupling = c("mixed", "repulsive", "attractive"),
                         field = if (identical(type, "gaussian")) 0.1 else 0.25, ...) {
  refuse_dots(...)
  type <- check_choice(type, c("gaussian", "full", "grid"))
  n <- check_count(n, upper = 1e4)
  size <- check_number(size, lower = 0, upper = 1e100)
  coupling <- check_choice(coupling, c("mixed", "repulsive", "attractive"))
  field <- check_number(field, lower = 0, upper = 1e100)
  J <- matrix(0, n, n)
  if (type == "grid") {
    side <- round(sqrt(n))
    if (side^2 != n) abort_input(sprintf("`n` must be a square number for a grid, not %d.", n), "n")
    row <- (seq_len(n) - 1L) %% side
    column <- (seq_len(n) - 1L) %/% side
    pairs <- which(upper.tri(J) & abs(outer(row, row, "-")) + abs(outer(column, column, "-")) == 1)
  } else {
    pairs <- which(upper.tri(J))
  }
  J[pairs] <- if (type == "gaussian") {
    size * stats::rnorm(length(pairs)) / sqrt(n)
  } else {
    stats::runif(length(pairs), switch(coupling, repulsive = -2, mixed = -1, attractive = 0),
                 switch(coupling, repulsive = 0, mixed = 1, attractive = 2)) * size
  }
  theta <- if (type == "gaussian") rep(field, n) else stats::runif(n, -field, field)
  list(J = J + t(J), theta = theta)
}
