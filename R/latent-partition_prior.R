# Laws of partitions: how many clusters n rows fall into before any data are seen.

#' Laws of partitions: Dirichlet process, Pitman-Yor, mixture of finite mixtures
#'
#' The prior of [dp_mixture()] and its relatives, and what it says about the number of clusters before data are seen.
#'
#' @details
#' With block sizes \eqn{s_1, \dots, s_t}{s_1, ..., s_t} of \eqn{n} rows and rising factorials \eqn{x^{(n)} = x(x+1)\cdots(x+n-1)}{x^(n) = x (x+1) ... (x+n-1)}:
#'
#' `prior_dp()`: \eqn{p = \theta^t \prod (s_i-1)! / \theta^{(n)}}{p = theta^t prod (s_i - 1)! / theta^(n)}. The expected number of clusters grows like
#' \eqn{\theta \log n}{theta log n}. With `shape` and `rate`, \eqn{\theta}{theta} has a gamma law and is learnt.
#'
#' `prior_py()`:
#' \deqn{p = \frac{(\theta+\sigma)(\theta+2\sigma)\cdots(\theta+(t-1)\sigma)}{(\theta+1)^{(n-1)}} \prod (1-\sigma)^{(s_i-1)}.}%
#' {p = (theta+sigma)(theta+2 sigma)...(theta+(t-1) sigma) / (theta+1)^(n-1) prod (1-sigma)^(s_i-1).}
#' With \eqn{0 < \sigma < 1}{0 < sigma < 1} the number grows like \eqn{n^\sigma}{n^sigma}; with \eqn{\sigma < 0}{sigma < 0} and
#' \eqn{\theta = N|\sigma|}{theta = N |sigma|} there are at most \eqn{N} clusters.
#'
#' `prior_mfm()`: a finite mixture with \eqn{k \sim p_K}{k ~ p_K} components and Dirichlet(\eqn{\gamma}{gamma}) weights:
#' \eqn{p = V_n(t) \prod \gamma^{(s_i)}}{p = V_n(t) prod gamma^(s_i)},
#' \eqn{V_n(t) = \sum_{k \ge t} \frac{k!}{(k-t)!} p_K(k) / (\gamma k)^{(n)}}{V_n(t) = sum_{k >= t} k!/(k-t)! p_K(k) / (gamma k)^(n)}. Here the posterior of \eqn{k}
#' does concentrate at the number of components when the family is right.
#'
#' `prior_sticks()`: weights by breaking a stick with Beta(\eqn{a_i, b_i}) shares, the last piece being what is left. It can only be drawn from.
#'
#' `partition_prior()` gives the law of the number of clusters \eqn{T_n} by the sequential rule, in time of order \eqn{n^2}, and draws of whole
#' partitions.
#'
#' @section Which method when:
#' `prior_mfm()` when the number of groups is the question; `prior_dp()` or `prior_py()` when the clusters are a means, to a density or a
#' similarity, and new ones should keep appearing as rows are added. See [dp_mixture()].
#'
#' @param theta Concentration.
#' @param shape,rate Parameters of a gamma law of `theta`, or `NULL` to keep `theta` as it is.
#' @param sigma Discount of a Pitman-Yor law, below 1; negative for finitely many components.
#' @param gamma Dirichlet weight of each component.
#' @param law Law of the number of components: a vector of probabilities of 1, 2, ..., or `"uniform"` on 1 to `k_max`, `"poisson"` (\eqn{k - 1} with mean `mean`)
#'   or `"geometric"` (\eqn{k - 1} with mean `mean`).
#' @param k_max,mean Parameters of these laws.
#' @param a,b Positive numbers, one pair for each stick but the last.
#' @param n Number of rows.
#' @param prior One of these laws.
#' @param n_draws Number of partitions to draw.
#' @return The first four a law, of class `granary_partition_law`. `partition_prior()` an object of class `granary_partition_prior` with `count`, a data frame
#'   of `clusters` and `probability`, `mean`, `sd`, `components` (the law of \eqn{k} for `prior_mfm()`) and `draws`, a matrix of labels with one partition
#'   per row.
#' @references Miller and Harrison (2014). Inconsistency of Pitman-Yor process mixtures for the number of components. *Journal of Machine Learning Research* 15,
#'   3333--3370.
#' @seealso [dp_mixture()], [partition_exact()], [partition_curve()], [dp_concentration()].
#' @export
#' @examples
#' prior_dp(1)
#' partition_prior(100, prior_dp(1))
#' partition_prior(100, prior_py(0.3, 1))$mean
#' set.seed(1)
#' partition_prior(8, prior_mfm(), n_draws = 3)$draws
#' partition_prior(8, prior_sticks(c(1, 1), c(2, 2)), n_draws = 3)$draws
prior_dp <- function(theta = 1, shape = NULL, rate = NULL) {
  theta <- check_number(theta, lower = 0, strict_lower = TRUE, upper = 1e12)
  if (is.null(shape) != is.null(rate)) abort_input("Give `shape` and `rate` of the gamma law together, or neither.", if (is.null(shape)) "shape" else "rate")
  shape <- check_number(shape, lower = 0, strict_lower = TRUE, allow_null = TRUE)
  rate <- check_number(rate, lower = 0, strict_lower = TRUE, allow_null = TRUE)
  new_partition_law(type = "dp", theta = if (is.null(shape)) theta else shape / rate, shape = shape, scale_rate = rate,
                    words = if (is.null(shape)) {
                      sprintf("Dirichlet process, concentration %s", format(theta, digits = 4L))
                    } else {
                      sprintf("Dirichlet process, concentration ~ gamma(%s, rate %s)", format(shape, digits = 4L), format(rate, digits = 4L))
                    })
}

#' @rdname prior_dp
#' @export
prior_py <- function(sigma = 0.25, theta = 1) {
  sigma <- check_number(sigma, lower = -1e6, upper = 1, strict_upper = TRUE)
  theta <- check_number(theta, upper = 1e12)
  if (sigma >= 0 && theta <= -sigma) {
    abort_input(sprintf("`theta` must be greater than -sigma, %s, not %s.", format(-sigma, digits = 6L), format(theta, digits = 6L)), "theta")
  }
  if (sigma < 0) {
    components <- theta / -sigma
    if (components < 0.5 || abs(components - round(components)) > 1e-8 * components || components > 1e9) {
      abort_input(sprintf("With a negative `sigma`, `theta` must be a whole multiple of -sigma (the number of components), but theta / -sigma is %s.",
                          format(components, digits = 6L)), "theta")
    }
  }
  new_partition_law(type = "py", sigma = sigma, theta = theta,
                    words = paste0(sprintf("Pitman-Yor, discount %s, concentration %s", format(sigma, digits = 4L), format(theta, digits = 4L)),
                                   if (sigma < 0) sprintf(" (%d components)", as.integer(round(theta / -sigma)))))
}

#' @rdname prior_dp
#' @export
prior_mfm <- function(gamma = 1, law = "uniform", k_max = 30, mean = 3) {
  gamma <- check_number(gamma, lower = 0, strict_lower = TRUE, upper = 1e6)
  if (is.character(law)) {
    law <- check_choice(law, c("uniform", "poisson", "geometric"))
    k_max <- check_count(k_max, upper = 1e5)
    mean <- check_number(mean, lower = 0, strict_lower = TRUE, upper = 1e5)
    if (law == "uniform") return(new_partition_law(type = "mfm", gamma = gamma, table = rep(1 / k_max, k_max), words = sprintf("mixture of finite mixtures, k uniform on 1 to %d", k_max)))
    return(new_partition_law(type = "mfm", gamma = gamma, law = law, rate = if (law == "poisson") mean else 1 / (1 + mean),
                             words = sprintf("mixture of finite mixtures, k - 1 %s with mean %s", law, format(mean, digits = 4L))))
  }
  table <- check_vector(law, "law", lower = 0)
  if (sum(table) == 0) abort_input("`law` must have at least one probability above 0.", "law")
  new_partition_law(type = "mfm", gamma = gamma, table = unname(table) / sum(table), words = sprintf("mixture of finite mixtures, k up to %d", length(table)))
}

#' @rdname prior_dp
#' @export
prior_sticks <- function(a, b) {
  a <- check_vector(a, lower = 0, strict_lower = TRUE)
  b <- check_vector(b, lower = 0, strict_lower = TRUE, length = length(a))
  new_partition_law(type = "sticks", a = unname(a), b = unname(b), words = sprintf("%d broken sticks", length(a) + 1L))
}

new_partition_law <- function(..., words) {
  seal(structure(list(core = Filter(Negate(is.null), list(...)), words = words), class = "granary_partition_law"))
}

#' @export
print.granary_partition_law <- function(x, ...) {
  cli::cat_line("Law of partitions: ", x$words)
  invisible(x)
}

check_law <- function(prior, arg = "prior", drawn = FALSE) {
  if (!inherits(prior, "granary_partition_law") || !is.list(prior$core)) fail_input(arg, "a law of partitions: prior_dp(), prior_py() or prior_mfm()", describe(prior))
  if (!drawn && identical(prior$core$type, "sticks")) {
    abort_input(sprintf("`%s` must have a law of partitions in closed form: truncated sticks can only be drawn from, by partition_prior(n_draws =).", arg), arg)
  }
  prior
}

#' @rdname prior_dp
#' @export
partition_prior <- function(n, prior = prior_dp(), n_draws = 0) {
  n <- check_count(n, upper = 50000L)
  prior <- check_law(prior, drawn = TRUE)
  n_draws <- check_count(n_draws, lower = 0)
  if (identical(prior$core$type, "sticks") && n_draws == 0L) abort_input("Truncated sticks can only be drawn from: give `n_draws`.", "n_draws")
  found <- if (!identical(prior$core$type, "sticks")) core_partition_prior(prior$core, n, progress_bar("prior of the count"))
  draws <- if (n_draws > 0L) core_partition_draws(prior$core, n, n_draws, core_seed(), progress_bar("partitions"))
  p <- found$probability
  if (is.null(p)) p <- tabulate(apply(draws, 1L, max), n) / n_draws
  mean <- sum(seq_along(p) * p)
  seal(structure(list(count = data.frame(clusters = seq_along(p), probability = p), mean = if (is.null(found)) mean else found$mean,
                      sd = if (is.null(found)) sqrt(max(0, sum((seq_along(p) - mean)^2 * p))) else found$sd,
                      components = if (length(found$components) > 0L) data.frame(components = seq_along(found$components), probability = found$components),
                      draws = draws, prior = prior, n = n), class = "granary_partition_prior"))
}

#' @export
print.granary_partition_prior <- function(x, ...) {
  print(x$prior)
  cli::cat_line(sprintf("Clusters among %d rows: mean %s, sd %s", x$n, format(x$mean, digits = 4L), format(x$sd, digits = 4L)))
  print_count(x$count)
  invisible(x)
}

# The probabilities that matter, in one table.
print_count <- function(count, label = "clusters") {
  most <- which(count$probability >= 0.005)
  shown <- if (length(most) > 0L) seq(min(most), min(max(most), min(most) + 11L)) else seq_len(min(nrow(count), 12L))
  table <- rbind(sprintf("%.3f", count$probability[shown]))
  dimnames(table) <- list("probability", count[[1L]][shown])
  names(dimnames(table)) <- c("", label)
  print(table, quote = FALSE)
}

#' @export
plot.granary_partition_prior <- function(x, ...) {
  shown <- x$count[x$count$probability > 1e-4, ]
  draw(graphics::plot, shown$clusters, shown$probability, type = "h", lwd = 4, lend = 1, col = "#0072B2", bty = "l", xlab = "number of clusters",
       ylab = "prior probability", main = x$prior$words, user = list(...))
  invisible(x)
}

#' The concentration of a Dirichlet process, given how many clusters there were
#'
#' The posterior of the concentration \eqn{\alpha}{alpha} when \eqn{n} rows have fallen into \eqn{k} clusters, for one partition or for several that share it
#' (documents, groups).
#'
#' @details
#' With \eqn{\alpha \sim}{alpha ~} gamma(`shape`, `rate`),
#' \deqn{p(\alpha | n, k) \propto \alpha^{a-1} e^{-b\alpha} \prod_m \alpha^{k_m} \Gamma(\alpha)/\Gamma(\alpha+n_m).}{p(alpha | n, k) ~ alpha^(a-1) exp(-b alpha) prod_m alpha^(k_m) Gamma(alpha) / Gamma(alpha + n_m).}
#' Draws come from West's auxiliary variables. For several partitions the mixture over their indicators is drawn exactly, by elementary symmetric
#' polynomials, where the paper runs an inner Gibbs sampler; the paper's shape has one \eqn{-1} too many, see `errata("jmlr6-dp-supervised-clustering")`.
#'
#' @section Which method when:
#' To choose or to judge a concentration from known groupings; inside a fit it is learnt by `prior_dp(shape =, rate =)`.
#'
#' @param n,k Rows and clusters of each partition.
#' @param shape,rate Parameters of the gamma prior.
#' @param n_draws Number of draws.
#' @return An object of class `granary_dp_concentration` with `draws`, `mean`, `sd`, `quantiles` and `density`, a data frame of `theta` and `density`.
#' @references Daume and Marcu (2005). A Bayesian model for supervised clustering with the Dirichlet process prior. *Journal of Machine Learning Research* 6,
#'   1551--1577.
#'
#' West (1992). Hyperparameter estimation in Dirichlet process mixture models. Discussion paper 92-A03, Duke University.
#' @seealso [prior_dp()], [partition_curve()].
#' @export
#' @examples
#' set.seed(1)
#' dp_concentration(n = c(50, 80, 120), k = c(5, 9, 10))
dp_concentration <- function(n, k, shape = 1, rate = 1, n_draws = 2000) {
  n <- check_vector(n, lower = 1)
  k <- check_vector(k, length = length(n), lower = 1)
  if (any(n != round(n))) abort_input("`n` must be whole numbers.", "n")
  if (any(k != round(k)) || any(k > n)) abort_input("`k` must be whole numbers, none larger than the rows of its partition.", "k")
  law <- list(shape = check_number(shape, lower = 0, strict_lower = TRUE), rate = check_number(rate, lower = 0, strict_lower = TRUE))
  n_draws <- check_count(n_draws, lower = 10)
  draws <- core_concentration(unname(n), unname(k), law, n_draws, core_seed())
  at <- seq(0, max(draws) * 1.2, length.out = 513L)[-1L]
  value <- core_concentration_density(at, unname(n), unname(k), law)
  value <- exp(value - max(value))
  seal(structure(list(draws = draws, mean = mean(draws), sd = stats::sd(draws), quantiles = stats::quantile(draws, c(0.025, 0.25, 0.5, 0.75, 0.975)),
                      density = data.frame(theta = at, density = value / (sum(value) * (at[2L] - at[1L]))), n = n, k = k), class = "granary_dp_concentration"))
}

#' @export
print.granary_dp_concentration <- function(x, ...) {
  cli::cat_line(sprintf("Concentration of a Dirichlet process given %s", counted(length(x$n), "partition", "partitions")))
  cli::cat_line(sprintf("mean %s, sd %s, 95%% between %s and %s", format(x$mean, digits = 4L), format(x$sd, digits = 3L), format(x$quantiles[[1L]], digits = 3L),
                        format(x$quantiles[[5L]], digits = 3L)))
  invisible(x)
}

#' @export
plot.granary_dp_concentration <- function(x, ...) {
  draw(graphics::plot, x$density$theta, x$density$density, type = "l", lwd = 2, col = "#0072B2", bty = "l", xlab = "concentration", ylab = "posterior density", main = "", user = list(...))
  graphics::rug(x$draws[seq_len(min(length(x$draws), 200L))], col = grDevices::adjustcolor("black", 0.3))
  invisible(x)
}

#' Does the number of clusters grow as a Dirichlet process says?
#'
#' Compares the number of clusters in sub-samples of labelled rows with what a Dirichlet process, with the concentration that fits all rows, expects.
#'
#' @details
#' \eqn{E K_n = \sum_{i=1}^n \alpha/(\alpha+i-1)}{E K_n = sum_i alpha/(alpha+i-1)} and
#' \eqn{Var K_n = \sum_i \alpha(i-1)/(\alpha+i-1)^2}{Var K_n = sum_i alpha (i-1)/(alpha+i-1)^2}, at the posterior mean of
#' \eqn{\alpha}{alpha} ([dp_concentration()]); beside them the mean and standard deviation of the count over `n_rep` sub-samples. If the observed curve leaves the band,
#' the sizes of the clusters are not those of a Dirichlet process: try `prior_py()`.
#'
#' @section Which method when:
#' With labelled rows, before a [supervised_cluster()] or [dp_mixture()] is believed.
#'
#' @param cluster Labels of the rows.
#' @param n Sizes of the sub-samples; `NULL` for 20 of them, evenly spaced.
#' @param n_rep Number of sub-samples of each size.
#' @param theta Concentration, or `NULL` to estimate it.
#' @return A data frame of class `granary_partition_curve` with `n`, `expected`, `sd`, `observed`, `observed_sd`, and the attribute `theta`.
#' @references Daume and Marcu (2005). A Bayesian model for supervised clustering with the Dirichlet process prior. *Journal of Machine Learning Research* 6,
#'   1551--1577.
#' @seealso [dp_concentration()], [partition_prior()].
#' @export
#' @examples
#' set.seed(1)
#' labels <- partition_prior(300, prior_dp(5), n_draws = 1)$draws[1, ]
#' curve <- partition_curve(labels)
#' curve
#' plot(curve)
partition_curve <- function(cluster, n = NULL, n_rep = 20, theta = NULL) {
  if (missing(cluster)) fail_missing("cluster")
  labels <- check_labels(if (inherits(cluster, "granary_clustering")) cluster$cluster else cluster, "cluster")
  total <- length(labels)
  n <- if (is.null(n)) unique(round(seq(1, total, length.out = min(20L, total)))) else sort(unique(check_vector(n, lower = 1, upper = total)))
  if (any(n != round(n))) abort_input("`n` must be whole numbers.", "n")
  n_rep <- check_count(n_rep)
  theta <- check_number(theta, lower = 0, strict_lower = TRUE, allow_null = TRUE)
  if (is.null(theta)) theta <- dp_concentration(total, nlevels(labels))$mean
  steps <- seq_len(total) - 1
  expected <- cumsum(theta / (theta + steps))
  variance <- cumsum(theta * steps / (theta + steps)^2)
  orders <- random_orders(total, n_rep)
  counts <- apply(orders, 1L, function(order) cumsum(!duplicated(labels[order]))[n])
  counts <- matrix(counts, length(n), n_rep)
  structure(data.frame(n = n, expected = expected[n], sd = sqrt(variance[n]), observed = rowMeans(counts),
                       observed_sd = if (n_rep > 1L) apply(counts, 1L, stats::sd) else rep(NA_real_, length(n))),
            class = c("granary_partition_curve", "data.frame"), theta = theta)
}

# Random orders of the rows, from the stream of R.
random_orders <- function(n, n_rep) t(replicate(n_rep, sample.int(n), simplify = "matrix"))

#' @export
plot.granary_partition_curve <- function(x, ...) {
  top <- max(x$expected + 2 * x$sd, x$observed)
  draw(graphics::plot, x$n, x$expected, type = "n", ylim = c(0, top), bty = "l", xlab = "rows", ylab = "clusters", main = "", user = list(...))
  graphics::polygon(c(x$n, rev(x$n)), c(x$expected + 2 * x$sd, rev(pmax(x$expected - 2 * x$sd, 0))), col = grDevices::adjustcolor("#0072B2", 0.2), border = NA)
  graphics::lines(x$n, x$expected, col = "#0072B2", lwd = 2)
  graphics::lines(x$n, x$observed, col = "#D55E00", lwd = 2)
  low <- x$observed - 2 * x$observed_sd
  high <- x$observed + 2 * x$observed_sd
  wide <- which(is.finite(high) & high > low)
  if (length(wide) > 0L) graphics::segments(x$n[wide], low[wide], x$n[wide], high[wide], col = "#D55E00")
  graphics::legend("topleft", c("Dirichlet process, two sd", "rows at hand, two sd"), col = c("#0072B2", "#D55E00"), lwd = 2, bty = "n")
  invisible(x)
}
