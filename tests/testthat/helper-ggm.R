# References for the Gaussian graph tests, in plain R: nothing here calls the core.

extended <- function() skip_if_not(identical(Sys.getenv("GRANARY_EXTENDED"), "1"), "GRANARY_EXTENDED is not 1")

random_covariance <- function(p, n = 2 * p) {
  x <- matrix(rnorm(n * p), n) %*% chol(toeplitz(0.6^(0:(p - 1))))
  cov(x)
}

# The penalty matrix as the help page defines it.
penalty_matrix <- function(p, lambda, weights = NULL, penalize_diagonal = TRUE) {
  m <- if (is.null(weights)) matrix(1, p, p) else if (is.matrix(weights)) weights else sqrt(outer(weights, weights))
  m <- ifelse(is.infinite(m), Inf, lambda * m)
  if (!penalize_diagonal) diag(m) <- 0
  m
}

glasso_objective <- function(X, S, L) {
  X <- as.matrix(X)
  -as.numeric(determinant(X)$modulus) + sum(S * X) + sum(ifelse(X == 0, 0, L * abs(X)))
}

# The largest violation of the optimality conditions, from solve() alone.
kkt_violation <- function(X, S, L) {
  X <- as.matrix(X)
  G <- solve(X) - S
  on <- X != 0
  max(0, abs(G - L * sign(X))[on], (abs(G) - L)[!on])
}
