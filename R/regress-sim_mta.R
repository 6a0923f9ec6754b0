#' Samples of many tasks
#'
#' Draws tasks and their samples from the two hierarchies of the paper's simulations.
#'
#' @details `"gaussian"`: \eqn{\mu_t \sim N(0, \sigma_\mu^2)}{mu_t ~ N(0, s2_mu)}, \eqn{\sigma_t^2 \sim \mathrm{Gamma}(0.9, 1) +
#' 0.1}{sigma_t^2 ~ Gamma(0.9, 1) + 0.1}, normal samples. `"uniform"`: \eqn{\mu_t} uniform around zero with variance
#' \eqn{\sigma_\mu^2}{s2_mu}, \eqn{\sigma_t^2 \sim U(0.1, 2)}{sigma_t^2 ~ U(0.1, 2)}, uniform samples with that variance. \eqn{N_t} is uniform
#' on `n_range`.
#'
#' @section Which method when: To try [mta()] and [mta_compare()] where the true means are known.
#'
#' @param tasks Number of tasks.
#' @param s2_mu Variance of the true means.
#' @param design The hierarchy.
#' @param n_range Smallest and largest number of samples of a task.
#' @param ... Nothing: an argument that is not known is an error.
#' @return A data frame with columns `y` and `group`, and attributes `mu` and `noise_var`, the true means and variances.
#' @references
#' Feldman, Gupta and Frigyik (2014). Revisiting Stein's paradox: multi-task averaging. *Journal of Machine Learning Research* 15, 3441--3482.
#' @seealso [mta()], [mta_compare()], [mta_bounds()], [lasso()], [lasso_select()], [gen_lasso()]
#' @export
#' @examples
#' set.seed(1)
#' data <- sim_mta(5, s2_mu = 0.5)
#' table(data$group)
#' attr(data, "mu")
sim_mta <- function(tasks, s2_mu = 1, design = c("gaussian", "uniform"), n_range = c(2, 100), ...) {
  refuse_dots(...)
  tasks <- check_count(tasks)
  s2_mu <- check_number(s2_mu, lower = 0, upper = 1e150)
  design <- check_choice(design, c("gaussian", "uniform"))
  n_range <- check_vector(n_range, length = 2L, lower = 1, upper = 1e6)
  if (any(n_range != round(n_range)) || n_range[1L] > n_range[2L]) abort_input("`n_range` must be two increasing whole numbers.", "n_range")
  if (tasks * mean(n_range) > 1e9) abort_input(sprintf("That would be some %.1g samples; use fewer `tasks` or a smaller `n_range`.",
                                                       tasks * mean(n_range)), "tasks")
  n <- n_range[1L] - 1 + sample.int(n_range[2L] - n_range[1L] + 1, tasks, replace = TRUE)
  group <- rep.int(seq_len(tasks), n)
  if (design == "gaussian") {
    mu <- stats::rnorm(tasks, sd = sqrt(s2_mu))
    noise_var <- stats::rgamma(tasks, shape = 0.9) + 0.1
    y <- stats::rnorm(sum(n), mu[group], sqrt(noise_var)[group])
  } else {
    mu <- stats::runif(tasks, -sqrt(3 * s2_mu), sqrt(3 * s2_mu))
    noise_var <- stats::runif(tasks, 0.1, 2)
    y <- mu[group] + sqrt(3 * noise_var[group]) * stats::runif(sum(n), -1, 1)
  }
  structure(data.frame(y = y, group = group), mu = mu, noise_var = noise_var)
}
