#' Rows and sequences of mixtures
#'
#' Draws from the models of [em_fit()]: mixtures and hidden Markov models of Gaussian, Poisson, multinomial or categorical rows.
#'
#' @section Which method when:
#' `sim_em()` for data with known states to try [em_fit()] and [label_accuracy()] on; `simulate()` of a fit for data like those at hand.
#'
#' @param n Number of rows; of sequences where `transition` is given.
#' @param family Law of the rows.
#' @param means One row per state: means, rates, shares of words, or probabilities of items (columns item by item).
#' @param share Shares of the states, or the law of the first state; `NULL` for equal ones.
#' @param covariance For `"gaussian"`: a list of covariances, one covariance, or one variance for all columns.
#' @param transition Transition probabilities, one row per state: sequences instead of rows.
#' @param length Length of the sequences: one number, or one for each.
#' @param levels For `"categorical"`: number of levels of each item; `NULL` where all columns are one item.
#' @param size For `"multinomial"`: sum of a row.
#' @return A list with `x`, the rows (categories as a data frame of factors), `cluster`, their states, and for sequences `id`.
#' @seealso [em_fit()].
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_em(200, means = rbind(c(0, 0), c(4, 4)))
#' table(sim$cluster, em_fit(sim$x, k = 2)$cluster)
sim_em <- function(n, family = c("gaussian", "poisson", "multinomial", "categorical"), means, share = NULL, covariance = 1, transition = NULL, length = 100,
                   levels = NULL, size = 100) {
  n <- check_count(n, upper = 1e8)
  family <- check_choice(family, c("gaussian", "poisson", "multinomial", "categorical"))
  if (missing(means)) fail_missing("means")
  means <- as.matrix(check_rows(means, "means"))
  k <- nrow(means)
  d <- ncol(means)
  share <- if (is.null(share)) rep(1 / k, k) else check_vector(share, length = k, lower = 0)
  if (sum(share) == 0) abort_input("`share` must not all be zero.", "share")
  if (family != "gaussian" && any(means < 0)) abort_input("`means` must not be negative for counts and categories.", "means")
  size <- check_count(size)
  covariances <- list()
  if (family == "gaussian") {
    given <- if (is.list(covariance)) covariance else list(covariance)
    if (!base::length(given) %in% c(1L, k)) abort_input(sprintf("`covariance` must be one, or a list of %d.", k), "covariance")
    covariances <- lapply(rep_len(given, k), function(s) {
      if (is_plain_numeric(s) && base::length(s) == 1L) return(diag(check_number(s, "covariance", lower = 0, strict_lower = TRUE), d))
      s <- check_symmetric(s, "covariance")
      if (nrow(s) != d) abort_input(sprintf("`covariance` must be %d x %d, but it is %d x %d.", d, d, nrow(s), ncol(s)), "covariance")
      unname(as.matrix(s))
    })
  }
  items <- NULL
  if (family == "categorical") {
    levels <- if (is.null(levels)) d else check_vector(levels, lower = 1)
    if (sum(levels) != d) abort_input(sprintf("`levels` must add up to the %d columns of `means`, but their sum is %s.", d, format(sum(levels))), "levels")
    items <- stats::setNames(lapply(levels, function(l) as.character(seq_len(l))), paste0("item", seq_along(levels)))
  }
  lengths <- n
  if (!is.null(transition)) {
    transition <- check_matrix(transition)
    if (nrow(transition) != k || ncol(transition) != k || any(transition < 0) || any(abs(rowSums(transition) - 1) > 1e-8)) {
      abort_input(sprintf("`transition` must be %d x %d with rows of probabilities.", k, k), "transition")
    }
    length <- check_vector(length, lower = 1)
    if (!base::length(length) %in% c(1L, n)) abort_input(sprintf("`length` must be one number, or one for each of the %d sequences.", n), "length")
    lengths <- rep_len(length, n)
  }
  plan <- list(family = family, levels = as.integer(base::lengths(items)), lengths = lengths, sequences = !is.null(transition), size = size,
               parameters = list(share = share / sum(share), transition = if (is.null(transition)) matrix(0, 0L, 0L) else unname(transition),
                                 gaussian = list(means = if (family == "gaussian") unname(means) else matrix(0, 0L, 0L), covariance = covariances),
                                 table = if (family == "gaussian") matrix(0, 0L, 0L) else unname(means)))
  drawn <- core_em_draws(plan, core_seed(), NULL)
  out <- list(x = em_values(drawn$x, items, colnames(means)), cluster = drawn$cluster)
  if (!is.null(transition)) out$id <- rep(seq_len(n), lengths)
  out
}
