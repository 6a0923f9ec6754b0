#' Entropy, with symbols that were never seen
#'
#' Estimates the Shannon entropy of the law behind a sample of symbols (words, species, clonotypes, spike patterns) when many of the possible symbols are not in
#' the sample, and says how sure the estimate is. The frequencies of the sample alone give an entropy that is too small.
#'
#' @details
#' Let \eqn{n_i} be the counts of the \eqn{K} symbols seen in \eqn{N} draws, \eqn{p_i = n_i / N}, \eqn{f_1} the number seen once, and
#' \eqn{\psi}{psi} the digamma function.
#'
#' **Bayesian estimators** average the entropy over all laws that a prior allows. The prior is made so that, before any draw, every entropy is equally likely.
#' * `"pym"` (Archer, Park and Pillow 2014): Pitman-Yor laws with discount \eqn{d} and strength \eqn{a}, whose tails may fall exponentially or as a power. With
#'   \eqn{h = \psi(a + 1) - \psi(1 - d)}{h = psi(a + 1) - psi(1 - d)} and \eqn{g = [\psi(1) - \psi(1 - d)] / h}{g = [psi(1) - psi(1 - d)] / h} the prior is flat
#'   in \eqn{h} and has the density `prior` in \eqn{g}, by default proportional to \eqn{\exp(-10 / (1 - g))}{exp(-10 / (1 - g))}. The estimate is
#'   \deqn{\hat H = \frac1Z \int\!\!\int E[H | n, d, a] \, p(n | d, a) \, q(g) \, dh \, dg,}{H = int int E[H | n, d, a] p(n | d, a) q(g) dh dg / Z,}
#'   \deqn{E[H | n, d, a] = \psi(a + N + 1) - \frac{a + K d}{a + N} \psi(1 - d) - \frac1{a + N} \sum_i (n_i - d) \psi(n_i - d + 1).}{E[H | n, d, a] = psi(a + N + 1)
#'   - (a + K d) / (a + N) psi(1 - d) - sum_i (n_i - d) psi(n_i - d + 1) / (a + N).}
#' * `"dpm"`: the same with \eqn{d = 0}, Dirichlet processes: shorter tails.
#' * `"nsb"` (Nemenman, Shafee and Bialek 2002): Dirichlet laws on `alphabet` symbols.
#'
#' The integrals are sums over grids that follow the integrand and are refined until the answer stands still to `tol`; intervals are quantiles of the posterior,
#' given each law a normal one, or of draws of the entropy where `n_draws` is above 0. Without a single repetition (\eqn{N = K}) nothing bounds the
#' entropy and the answer is infinite, with a warning; with one repetition it leans on the prior, and there is a warning too.
#'
#' **Others**: `"plugin"` \eqn{-\sum p_i \log p_i}{-sum p_i log p_i}; `"miller_madow"` adds \eqn{(K - 1) / 2N}; `"jackknife"`; `"chao_shen"`
#' \eqn{-\sum C p_i \log(C p_i) / (1 - (1 - C p_i)^N)}{-sum C p_i log(C p_i) / (1 - (1 - C p_i)^N)} with the coverage \eqn{C = 1 - f_1 / N};
#' `"coverage_adjusted"` (Vu, Yu and Kass 2007) with \eqn{C = 1 - f_1 / (N + 1)}; `"grassberger"` (2008); `"zhang"` (2012); `"ansb"`
#' \eqn{2 \log N - \psi(N - K) - \psi(1) - \log 2}{2 log N - psi(N - K) - psi(1) - log 2}, for samples with hardly a repetition; `"dirichlet"`, the plug-in
#' after adding `pseudo` to every count of the alphabet; `"shrink"`, the plug-in after shrinking towards the uniform law. Their
#' standard deviations are asymptotic (delta method), or by the jackknife for `"jackknife"`, `"chao_shen"`, `"coverage_adjusted"`, `"dirichlet"` and `"shrink"`; they
#' do not know of the bias.
#'
#' The work is done on the distinct counts, so samples of any size cost little.
#'
#' @section Which method when:
#' `"pym"` when the number of symbols is unknown and tails may be heavy (words, species); `"dpm"` when they are known to be short; `"nsb"` when the alphabet is known;
#' `"chao_shen"` for a quick answer where frequencies are even; `"plugin"` only where every symbol was seen many times. [entropy_compare()] shows several, and how
#' they move with the size of the sample; [good_turing()] says how much probability was not seen.
#'
#' @param x Counts, one per symbol (zeros allowed), a table, or the symbols themselves: text, a factor, or `TRUE` and `FALSE`.
#' @param method The estimator.
#' @param alphabet For `"nsb"`, `"dirichlet"` and `"shrink"`: how many symbols there are, seen or not. `NULL`: the number of counts, zeros included, or of levels of a factor.
#' @param prior For `"pym"`: `"pym"`, the density of \eqn{g} of the paper; `"dp"`, \eqn{g = 0}; `"pd"`, \eqn{g = 1}, no strength; or a function of \eqn{g} in
#'   \eqn{[0, 1)}, a density up to a constant.
#' @param pseudo For `"dirichlet"`: `"jeffreys"` (1/2), `"laplace"` (1), `"perks"` (1 / alphabet), `"minimax"` (\eqn{\sqrt N}{sqrt(N)} / alphabet), or a number.
#' @param unit Whether to give entropies in nats or bits.
#' @param level Level of the interval.
#' @param n_draws For the Bayesian estimators: number of draws from the posterior, with the sum of squared probabilities (Simpson), the probability not seen, and the
#'   parameters of the law. They give intervals that are right for skewed posteriors.
#' @param tol Change of the estimate, relative, at which the grid is fine enough.
#' @param threads Threads for the draws; `NULL` for `options(granary.threads)`.
#' @return An object of class `granary_entropy` with `estimate`, `std.error`, `conf.low`, `conf.high`, `method`, `unit`, `n` (draws), `distinct`,
#'   `singletons`, `coverage`, `law` (discount and strength of highest posterior density), `mixture` (points of the parameters with their weights and the mean and sd of
#'   the entropy given each), `draws`. It has `confint()`, `vcov()`, `coef()`, `tidy()` and `plot()`, and with draws `as_draws()` of posterior and
#'   `as.mcmc()` of coda.
#' @references
#' Archer, Park and Pillow (2014). Bayesian entropy estimation for countable discrete distributions. *Journal of Machine Learning Research* 15, 2833--2868.
#'
#' Nemenman, Shafee and Bialek (2002). Entropy and inference, revisited. *Advances in Neural Information Processing Systems* 14.
#'
#' Chao and Shen (2003). Nonparametric estimation of Shannon's index of diversity when there are unseen species in sample. *Environmental and Ecological Statistics* 10,
#' 429--443.
#'
#' Vu, Yu and Kass (2007). Coverage-adjusted entropy estimation. *Statistics in Medicine* 26, 4039--4060.
#' @seealso [entropy_compare()], [mutual_information()], [pitman_yor()], [good_turing()].
#' @export
#' @examples
#' counts <- c(10, 8, 5, 4, 2, 1, 1, 1, 1, 1)
#' fit <- entropy_estimate(counts)
#' fit
#' entropy_estimate(counts, method = "plugin", unit = "bits")
#' plot(fit)
#'
#' # from the symbols themselves, with draws from the posterior
#' set.seed(1)
#' letters_seen <- strsplit("how much of the alphabet is in this sentence", "")[[1]]
#' confint(entropy_estimate(letters_seen, n_draws = 500))
entropy_estimate <- function(x, method = c("pym", "dpm", "nsb", "ansb", "plugin", "miller_madow", "jackknife", "chao_shen", "coverage_adjusted", "grassberger",
                                           "zhang", "dirichlet", "shrink"), alphabet = NULL, prior = "pym", pseudo = "jeffreys",
                             unit = c("nats", "bits"), level = 0.95, n_draws = 0, tol = 1e-7, threads = NULL) {
  call <- match.call()
  symbols <- check_symbols(x)
  method <- check_choice(method, entropy_methods)
  unit <- check_choice(unit, c("nats", "bits"))
  level <- check_number(level, lower = 0, upper = 1, strict_lower = TRUE, strict_upper = TRUE)
  n_draws <- check_count(n_draws, lower = 0)
  tol <- check_number(tol, lower = 0, upper = 0.1, strict_lower = TRUE)
  if (n_draws > 0L && !method %in% bayesian_methods) {
    abort_input(sprintf("`n_draws` is for the Bayesian methods \"pym\", \"dpm\" and \"nsb\": \"%s\" has no posterior to draw from.", method), "n_draws")
  }
  prior <- check_entropy_prior(prior, method)
  counts <- symbols$counts
  alphabet <- check_alphabet(alphabet, method, counts, symbols$distinct)
  pseudo <- check_pseudo(pseudo, alphabet, symbols$total)
  options <- list(method = method, alphabet = alphabet, pseudo = pseudo, prior = prior$name, level = level, n_draws = n_draws, tol = tol,
                  threads = thread_count(threads))
  seed <- if (n_draws > 0L) core_seed() else c(0, 0)
  found <- core_entropy_estimate(counts, options, prior$density, seed, progress_bar("entropy"))
  warn_repetitions(method, found)
  found[c("sd", "lower", "upper")] <- lapply(found[c("sd", "lower", "upper")], function(v) if (is.nan(v)) NA_real_ else v)  # of one draw there is none
  if (is.na(found$sd)) found$lower <- NA_real_
  scale <- unit_scale(unit)
  bayesian <- method %in% bayesian_methods && length(found$mixture$weight) > 0L
  draws <- if (n_draws > 0L && length(found$draws) > 0L) {
    entropy_draws(found$draws, scale)
  }
  fit <- new_fit("entropy", coefficients = c(entropy = found$estimate * scale), estimate = found$estimate * scale, std.error = found$sd * scale,
                 conf.low = found$lower * scale, conf.high = found$upper * scale, level = level, method = method, unit = unit, n = found$total,
                 distinct = found$distinct, singletons = if (found$count[1L] == 1) found$times[1L] else 0, coverage = found$coverage,
                 alphabet = if (method %in% alphabet_methods) alphabet else NA_real_,
                 law = if (method %in% c("pym", "dpm")) na_for_nan(c(discount = found$mode_discount, strength = found$mode_strength)),
                 shrinkage = if (method == "shrink") found$shrinkage, frequencies = list2DF(list(count = found$count, times = found$times)),
                 mixture = if (bayesian) found$mixture, draws = draws, call = call,
                 convergence = if (method %in% bayesian_methods && is.finite(found$estimate)) found$convergence else list())
  check_convergence(fit, "Loosen `tol`, or give a `prior` with a lighter tail.")
}

entropy_methods <- c("pym", "dpm", "nsb", "ansb", "plugin", "miller_madow", "jackknife", "chao_shen", "coverage_adjusted", "grassberger", "zhang", "dirichlet",
                     "shrink")
bayesian_methods <- c("pym", "dpm", "nsb")
alphabet_methods <- c("nsb", "dirichlet", "shrink")

check_entropy_prior <- function(prior, method) {
  if (is.function(prior)) {
    if (method != "pym") abort_input(sprintf("A function as `prior` is for method = \"pym\", not \"%s\".", method), "prior")
    density <- function(g) {
      value <- user_value(prior, "prior", g)
      if (!is.numeric(value) || length(value) != 1L) {
        abort_input(sprintf("`prior` must give one number for one g, but at %g it gives %s.", g, describe(value)), "prior")
      }
      as.double(value)
    }
    return(list(name = "custom", density = density))
  }
  list(name = check_choice(prior, c("pym", "dp", "pd")), density = NULL)
}

check_alphabet <- function(alphabet, method, counts, distinct) {
  if (is.null(alphabet)) return(as.double(length(counts)))
  if (!method %in% alphabet_methods) {
    abort_input(sprintf("`alphabet` is for the methods %s: \"%s\" does not use it.", paste0("\"", alphabet_methods, "\"", collapse = ", "), method), "alphabet")
  }
  alphabet <- check_number(alphabet, upper = 1e15)
  if (alphabet != round(alphabet) || alphabet < distinct) {
    abort_input(sprintf("`alphabet` must be a whole number, at least the %s seen, not %s.", counted_many(distinct, "symbol"), format(alphabet)), "alphabet")
  }
  alphabet
}

check_pseudo <- function(pseudo, alphabet, total) {
  if (is.character(pseudo)) {
    pseudo <- check_choice(pseudo, c("jeffreys", "laplace", "perks", "minimax"))
    return(switch(pseudo, jeffreys = 0.5, laplace = 1, perks = 1 / alphabet, sqrt(total) / alphabet))
  }
  check_number(pseudo, lower = 0, upper = 1e15)
}

warn_repetitions <- function(method, found) {
  repeats <- found$total - found$distinct
  if (repeats == 0 && method %in% c("pym", "dpm", "ansb")) {
    warn_input("Every symbol was seen once, so nothing bounds the entropy from above: the estimate is infinite.\nDraw more, or use \"nsb\" with an `alphabet`.", "x")
  } else if (repeats == 1 && method %in% c("pym", "dpm")) {
    warn_input("Only one draw repeats a symbol: the estimate is driven by the prior.", "x")
  } else if (method == "ansb" && found$distinct <= 0.9 * found$total) {
    warn_input(sprintf("\"ansb\" is for samples in which more than 90%% of the draws are new symbols; here it is %.0f%%. Use \"pym\" or \"dpm\".",
                       100 * found$distinct / found$total), "method")
  }
}

entropy_draws <- function(draws, scale) {
  draws[, 1L] <- draws[, 1L] * scale
  colnames(draws) <- c("entropy", "simpson", "unseen", "discount", "strength")
  draws
}

entropy_titles <- c(pym = "Pitman-Yor mixture", dpm = "Dirichlet process mixture", nsb = "Nemenman-Shafee-Bialek", ansb = "asymptotic Nemenman-Shafee-Bialek",
                    plugin = "plug-in", miller_madow = "Miller-Madow", jackknife = "jackknife", chao_shen = "Chao-Shen", coverage_adjusted = "coverage-adjusted",
                    grassberger = "Grassberger", zhang = "Zhang", dirichlet = "Dirichlet pseudo-counts", shrink = "James-Stein shrinkage")
