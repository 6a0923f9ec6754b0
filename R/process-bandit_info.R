# Planning calculators for batch bandits: information, exploration weights, regret bounds, sizes of starting designs.

check_gram <- function(K) {
  K <- check_symmetric(K)
  if (any(diag(K) < 0)) abort_input("`K` must be a covariance matrix, but it has a negative variance.", "K")
  unname(as.matrix(K))
}

check_positions <- function(x, n, arg, allow_empty = FALSE) {
  if (is.null(x) && allow_empty) return(integer())
  x <- check_vector(x, arg, lower = 1, upper = n)
  if (any(x != round(x))) fail_input(arg, sprintf("whole numbers from 1 to %d", n), describe(x))
  as.integer(x)
}

#' Information, weights and regret of batch bandits
#'
#' How much noisy observations at some candidates tell about a Gaussian process, the most any set of a given size could tell, and what follows for
#' exploration weights, regret and starting designs of batch bandits.
#'
#' @details
#' \deqn{I(f; y_A) = \tfrac12 \log|I + K_{AA}/\sigma_n^2|}{I(f; y_A) = 1/2 log|I + K_AA / s_n^2|}
#' and, given observations at \eqn{S}, \eqn{I(f; y_A \mid y_S) = I(f; y_{A\cup S}) - I(f; y_S)}{I(f; y_A | y_S) = I(f; y_AS) - I(f; y_S)}.
#' `"max_information"` bounds \eqn{\gamma_T = \max_{|A| = T} I(f; y_A)}{gamma_T = max I(f; y_A) over sets of size T}: the greedy set (uncertainty sampling) gives
#' the lower bound, \eqn{\min\{e/(e-1)\,I_{greedy},\, T\gamma_1\}}{min(e/(e-1) I_greedy, T gamma_1)} the upper one, and with `exact = TRUE` all sets are
#' tried.
#'
#' `"weight"` gives \eqn{\alpha_t}{alpha_t} of GP-UCB. Case 1, a finite set: \eqn{2\log(|D| t^2\pi^2/(6\delta))}{2 log(|D| t^2 pi^2 / (6 delta))}. Case 2, a box
#' \eqn{[0, l]^d} and derivatives with tails \eqn{a\exp(-(L/b)^2)}{a exp(-(L/b)^2)}:
#' \eqn{2\log(2t^2\pi^2/(3\delta)) + 2d\log(t^2 d b l\sqrt{\log(4da/\delta)})}{2 log(2 t^2 pi^2 / (3 delta)) + 2 d log(t^2 d b l sqrt(log(4 d a / delta)))}.
#' Case 3, a function of RKHS norm at most \eqn{\sqrt M}{sqrt(M)}: \eqn{2M + 300\gamma_t\log^3(t/\delta)}{2 M + 300 gamma_t log(t / delta)^3}.
#'
#' `"regret"` is Theorem 2: with probability at least \eqn{1 - \delta}{1 - delta}
#' \deqn{R_T \le \sqrt{C_1 T e^{2C}\alpha_T\gamma_T} + 2,\quad C_1 = 8/\log(1 + \sigma_n^{-2}).}{R_T <= sqrt(C_1 T exp(2 C) alpha_T gamma_T) + 2,
#' C_1 = 8 / log(1 + 1 / s_n^2).}
#'
#' `"initial_size"` gives the size of a starting design after which batches of \eqn{B} cost only a constant factor, for the growth bounds
#' \eqn{\gamma_t \le \eta d\log(t+1)}{gamma_t <= eta d log(t + 1)} (linear), \eqn{\nu t^\epsilon}{nu t^eps} (Matern) and
#' \eqn{\eta\log(t+1)^{d+1}}{eta log(t + 1)^(d+1)} (squared exponential), rebuilt from the paper's Appendix B. In practice stop earlier: `"initial_set"` runs
#' uncertainty sampling until \eqn{(B-1) I_T/T \le C}{(B - 1) I_T / T <= C} or \eqn{B - 1} times the last gain is at most \eqn{C}, which by submodularity
#' bounds the information of any batch.
#'
#' @section Which method when:
#' `gp_bandit_bounds()` to set exploration weights and starting designs before [gp_bandit()] runs; `simulate()` of a bandit for what they give in
#' practice.
#'
#' @param K Covariance matrix of the candidates.
#' @param noise_var Variance of the noise.
#' @param A,given Positions of candidates; repetitions count as further observations.
#' @param size,T Number of observations.
#' @param exact Whether to try all sets: possible up to ten million of them.
#' @param t Time steps.
#' @param n_candidates Size of the finite set.
#' @param delta Probability with which the bounds may fail.
#' @param case 1, 2 or 3; see Details.
#' @param d,a,b,l For case 2; `d` also for `"initial_size"`.
#' @param M,gamma For case 3: squared norm and \eqn{\gamma_t}{gamma_t}, one per `t`. For `"regret"`, \eqn{\gamma_T}{gamma_T}.
#' @param exploration \eqn{\alpha_T}{alpha_T}.
#' @param limit \eqn{C}, the most information hallucinated at any time.
#' @param kernel `"linear"`, `"matern"` or `"se"`.
#' @param batch_size \eqn{B}.
#' @param eta,nu,eps Constants of the growth bounds.
#' @param object A bandit from [gp_bandit()].
#' @return `"information"`: a number. `"max_information"`: a list with `lower`, `upper`, `set` and the greedy `path` of gains, and `exact` where asked for.
#'   `"weight"`: a vector. `"regret"`: a number. `"initial_size"`: a list with `size`, `limit` and `factor` (\eqn{C'}). `"initial_set"`:
#'   positions of candidates.
#' @references
#' Desautels, Krause and Burdick (2014). Parallelizing exploration-exploitation tradeoffs in Gaussian process bandit optimization. *Journal of
#' Machine Learning Research* 15, 4053--4103.
#' @seealso [gp_bandit()], [gp_bandit_compare()], [kriging()], [sparse_gp()], [gp_classify()], [rvm()]
#' @export
#' @examples
#' K <- kernel_matrix(k_se(lengthscale = 0.2), seq(0, 1, by = 0.1))
#' gp_bandit_bounds("information", K, 0.01, c(1, 11), given = 6)
#' gp_bandit_bounds("max_information", K, 0.01, 3, exact = TRUE)
#' gp_bandit_bounds("weight", c(1, 10, 200), n_candidates = 1000)
#' gp_bandit_bounds("regret", 200, gamma = 20, exploration = gp_bandit_bounds("weight", 200, 1000), noise_var = 0.025)
#' gp_bandit_bounds("initial_size", "linear", batch_size = 5, d = 2)
#' gp_bandit_bounds("initial_set", gp_bandit(seq(0, 1, by = 0.05), k_se(0.2), 0.1), limit = 0.5)
gp_bandit_bounds <- function(what = c("information", "max_information", "weight", "regret", "initial_size", "initial_set"), ...) {
  if (missing(what)) fail_missing("what")
  ask_for(list(information = bandit_information, max_information = bandit_max_information, weight = bandit_weight, regret = bandit_regret,
               initial_size = bandit_initial_size, initial_set = bandit_initial_set), what, list(...))
}

bandit_information <- function(K, noise_var, A, given = NULL) {
  K <- check_gram(K)
  noise_var <- check_number(noise_var, lower = 0, strict_lower = TRUE)
  A <- check_positions(A, nrow(K), "A")
  given <- check_positions(given, nrow(K), "given", allow_empty = TRUE)
  core_information_gain(K, noise_var, list(A = A, given = given))
}

bandit_max_information <- function(K, noise_var, size, exact = FALSE) {
  K <- check_gram(K)
  noise_var <- check_number(noise_var, lower = 0, strict_lower = TRUE)
  size <- check_count(size, upper = 1e6)
  exact <- check_flag(exact)
  if (max(diag(K)) == 0) abort_input("`K` has no variance: there is nothing to learn.", "K")
  greedy <- core_bandit_greedy(K, noise_var, size, progress_bar("information"))
  path <- cumsum(greedy$gains)
  result <- list(lower = path[length(path)], upper = gain_bound(path, size), set = greedy$picks, path = path)
  if (exact) {
    best <- core_best_information(K, noise_var, size, progress_bar("sets"))
    result$exact <- best$value
    result$exact_set <- best$set
  }
  result
}

bandit_weight <- function(t, n_candidates = NULL, delta = 0.1, case = 1, d = 1, a = 1, b = 1, l = 1, M = 1, gamma = NULL) {
  t <- check_vector(t, lower = 1)
  delta <- check_number(delta, lower = 0, upper = 1, strict_lower = TRUE, strict_upper = TRUE)
  case <- check_count(case, upper = 3)
  if (case == 1L) {
    if (is.null(n_candidates)) fail_missing("n_candidates")
    n_candidates <- check_count(n_candidates)
    return(2 * log(n_candidates * t^2 * pi^2 / (6 * delta)))
  }
  if (case == 2L) {
    d <- check_count(d)
    a <- check_number(a, lower = 0, strict_lower = TRUE)
    b <- check_number(b, lower = 0, strict_lower = TRUE)
    l <- check_number(l, lower = 0, strict_lower = TRUE)
    if (4 * d * a <= delta) abort_input("`a` must be above delta / (4 d) for the weights of case 2 to exist.", "a")
    return(2 * log(2 * t^2 * pi^2 / (3 * delta)) + 2 * d * log(t^2 * d * b * l * sqrt(log(4 * d * a / delta))))
  }
  M <- check_number(M, lower = 0)
  if (is.null(gamma)) fail_missing("gamma")
  gamma <- check_vector(gamma, lower = 0)
  if (!length(gamma) %in% c(1L, length(t))) abort_input(sprintf("`gamma` must have one value per `t` (%d), but it has %d.", length(t),
                                                                length(gamma)), "gamma")
  2 * M + 300 * gamma * log(t / delta)^3
}

bandit_regret <- function(T, gamma, exploration, noise_var, limit = 0) {  # nolint: object_name_linter.
  T <- check_count(T)  # nolint: object_name_linter, T_and_F_symbol_linter.
  gamma <- check_number(gamma, lower = 0)
  exploration <- check_number(exploration, lower = 0)
  noise_var <- check_number(noise_var, lower = 0, strict_lower = TRUE)
  limit <- check_number(limit, lower = 0)
  if (limit > 350) {
    warn_input("exp(2 * `limit`) overflows: the bound is infinite.", "limit")
    return(Inf)
  }
  sqrt(8 / log1p(1 / noise_var) * T * exp(2 * limit) * exploration * gamma) + 2
}

bandit_initial_size <- function(kernel = c("linear", "matern", "se"), batch_size, d = 1, eta = 1, nu = 1, eps = 0.5) {
  kernel <- check_choice(kernel, c("linear", "matern", "se"))
  batch_size <- check_count(batch_size, lower = 2)
  d <- check_count(d)
  eta <- check_number(eta, lower = 0, strict_lower = TRUE)
  nu <- check_number(nu, lower = 0, strict_lower = TRUE)
  eps <- check_number(eps, lower = 0, upper = 1, strict_upper = TRUE)
  e <- exp(1)
  log_b <- log(batch_size)
  pieces <- switch(
    kernel,
    linear = list(max(log_b, e * (log(eta) + log(d) + 2 * log_b) / (2 * log_b - 1) * eta * d * (batch_size - 1) * log_b), 2 / e),
    matern = list((nu * (batch_size - 1))^(1 / (1 - eps)), 1),
    se = list(max(log_b^(d + 1), (e * (log(eta) + (d + 2) * log_b) / ((d + 1) * (2 * log_b - 1)))^(d + 1) * eta * (batch_size - 1) * log_b^(d + 1)),
              (2 * (d + 1) / e)^(d + 1))
  )
  list(size = ceiling(pieces[[1L]] - 1e-9), limit = pieces[[2L]], factor = exp(pieces[[2L]]))
}

bandit_initial_set <- function(object, limit = 1) {
  if (missing(object)) fail_missing("object")
  object <- check_bandit(object)
  limit <- check_number(limit, lower = 0, strict_lower = TRUE)
  core_bandit_initial_set(object, object$batch_size, limit, progress_bar("information"))
}
