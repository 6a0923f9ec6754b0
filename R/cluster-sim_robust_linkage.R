#' Similarities with wrong neighbours
#'
#' The examples of the paper on robust hierarchical clustering: topics in a tree with one wrong link each, areas of two
#' fields with boundary points, and noise of chosen amounts.
#'
#' @details
#' `"topics"` (figures 1 and 2): eight regions of `n / 8` points in four pairs and two halves. Similarities are .999
#' within a region, .75 within a pair, .5 within a half and 0 otherwise; with `wrong = TRUE` point \eqn{i} of region
#' \eqn{r} and point \eqn{i} of region \eqn{r + 4} have similarity 1. Any clustering by regions, pairs, halves or a
#' mixture of them has the good neighbourhood property with \eqn{\alpha = 1/n}{alpha = 1 / n}; single, average and
#' complete linkage first join the wrong pairs.
#'
#' `"fields"` (figure 7): four areas of `n / 4` points, two in each of two fields; the first eighth of every area are
#' boundary points. Similarities are .99 within an area; .9 within a field, but .1 if either is a boundary point; .1
#' between fields, but .5 if either is a boundary point, and 1 with probability \eqn{2/n} for a boundary point and one
#' of the other field. (The figure with the numbers is not legible in every copy of the paper: these agree with all that
#' its text says.) `alpha` raises the similarity of every point to that share of points of the other field to 1; `nu`
#' replaces the similarities of that share of points by one minus themselves. A symmetric jitter of 1e-4 breaks ties.
#'
#' @param type `"topics"` or `"fields"`.
#' @param n Number of points: a multiple of 8 for topics, of 32 for fields.
#' @param wrong Whether topics have wrong links.
#' @param alpha,nu For fields: more wrong neighbours, bad points.
#' @return A list with `similarity`, a symmetric matrix, and `labels`, a data frame of target clusterings (`region`,
#'   `pair`, `half` and `mixed`; or `field`, `area` and `mixed`), for fields also `boundary` and `bad`.
#' @section Which method when:
#' For experiments with [robust_linkage()]; [sim_bregman()] draws rows instead of similarities.
#' @inherit robust_linkage references
#' @seealso [robust_linkage()], [robust_linkage_check()].
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_robust_linkage("fields", n = 128)
#' fit <- robust_linkage(sim$similarity, eps = 1 / 32, similarity = TRUE)
#' sapply(sim$labels, function(truth) assess(fit, truth = truth)$error)
sim_robust_linkage <- function(type = c("topics", "fields"), n = 64, wrong = TRUE, alpha = 0, nu = 0) {
  type <- check_choice(type, c("topics", "fields"))
  n <- check_count(n)
  wrong <- check_flag(wrong)
  alpha <- check_number(alpha, lower = 0, upper = 1)
  nu <- check_number(nu, lower = 0, upper = 1)
  unit <- if (type == "topics") 8L else 32L
  if (n %% unit != 0L) abort_input(sprintf("`n` must be a multiple of %d for \"%s\", not %d.", unit, type, n), "n")
  if (type == "topics") {
    if (alpha > 0 || nu > 0) abort_input("`alpha` and `nu` are for \"fields\".", if (alpha > 0) "alpha" else "nu")
    return(sim_topics(n, wrong))
  }
  sim_fields(n, alpha, nu)
}

sim_topics <- function(n, wrong) {
  m <- n / 8
  region <- rep(1:8, each = m)
  pair <- (region + 1) %/% 2
  half <- (region + 3) %/% 4
  similarity <- 0.5 * outer(half, half, `==`) + 0.25 * outer(pair, pair, `==`) + 0.249 * outer(region, region, `==`)
  if (wrong) {
    own <- rep(seq_len(m), 8)
    similarity[outer(own, own, `==`) & abs(outer(region, region, `-`)) == 4] <- 1
  }
  names <- c("Algorithms", "Complexity", "Learning", "Planning", "Squash", "Billiards", "Football", "Baseball")
  labels <- data.frame(region = factor(names[region], names),
                       pair = factor(c("Theory", "AI", "Cue and racket", "Ball games")[pair]),
                       half = factor(c("Computing", "Sports")[half]))
  labels$mixed <- factor(ifelse(half == 1, "Computing", as.character(labels$pair)))
  list(similarity = similarity, labels = labels)
}

sim_fields <- function(n, alpha, nu) {
  area <- rep(1:4, each = n / 4)
  field <- (area + 1) %/% 2
  boundary <- rep(seq_len(n / 4) <= n / 32, 4)
  either <- outer(boundary, boundary, `|`)
  same_area <- outer(area, area, `==`)
  same_field <- outer(field, field, `==`)
  similarity <- ifelse(same_area, 0.99, ifelse(same_field, ifelse(either, 0.1, 0.9), ifelse(either, 0.5, 0.1)))
  raised <- !same_field & either & matrix(stats::runif(n * n) < 2 / n, n)
  raised <- raised & upper.tri(raised)
  similarity[raised | t(raised)] <- 1
  more <- round(alpha * n)
  for (i in if (more > 0) seq_len(n) else integer()) {
    to <- sample(which(field != field[i]), min(more, n / 2))
    similarity[i, to] <- similarity[to, i] <- 1
  }
  bad <- rep(FALSE, n)
  bad[sample.int(n, round(nu * n))] <- TRUE
  flipped <- outer(bad, bad, `|`)
  similarity[flipped] <- 1 - similarity[flipped]
  jitter <- matrix(stats::runif(n * n, 0, 1e-4), n)
  similarity <- similarity + (jitter + t(jitter)) / 2
  labels <- data.frame(field = factor(c("AI", "Statistics")[field]), area = factor(area))
  labels$mixed <- factor(ifelse(field == 1, "AI", paste("area", area)))
  list(similarity = similarity, labels = labels, boundary = boundary, bad = bad)
}
