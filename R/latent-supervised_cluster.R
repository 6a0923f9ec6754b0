#' Supervised clustering
#'
#' Clusters new rows the way labelled rows were clustered: training rows have known clusters, the others belong to clusters that may never have been seen. What is learnt from the
#' training rows is which columns tell clusters apart. For record linkage, entity resolution, coreference, or whatever was grouped by hand once and must be grouped again.
#'
#' @details
#' Rows are centred and scaled. Row \eqn{r_n} belongs to cluster \eqn{c_n} and has a reference type \eqn{d_n}:
#' \deqn{r_n \sim N(p_{c_n}, diag(1/t_{d_n})),\quad p_k \sim N(0, s^2 I),\quad t_{lf} \sim gamma(a, b),}{r_n ~ N(p_{c_n}, diag(1/t_{d_n})),  p_k ~ N(0, s2 I),  t_lf ~ gamma(a, b),}
#' both \eqn{c} and \eqn{d} with Dirichlet process laws. A type is a set of weights of the columns: large where rows of one cluster agree. \eqn{c} is known for training
#' rows; \eqn{d} never is.
#'
#' * `type = "scdp1"`: as above.
#' * `"scdp2"`: the law of \eqn{t_f} is renewed in every sweep from the distances between cluster means along column \eqn{f}, so that columns along which clusters lie
#'   far apart get more weight. (What the paper means by "mean variance" is not defined; here it is that of \eqn{(p_{jf}-p_{kf})^2/2}{(p_jf - p_kf)^2 / 2} over pairs of
#'   clusters.)
#' * `"scdp3"`: \eqn{t_f} given the means is gamma(\eqn{a}, \eqn{b + \lambda \sum_{j<k} (p_{jf}-p_{kf})^2}{b + lambda sum_{j<k} (p_jf - p_kf)^2}), the paper's equation (3) normalised. Read
#'   so, and there is no other reading of the printed formula, it *lowers* the weight of columns along which clusters differ; with many clusters keep `lambda` small.
#'
#' `method = "collapsed"` draws clusters with their means integrated out, which mixes better (not for `"scdp3"`). Both concentrations are learnt.
#'
#' With `share = TRUE` new rows may join training clusters; with `share = FALSE` they form clusters of their own. Rows of different `group`s (documents, blocks of
#' records) are never in one cluster, but share types and concentrations; the same label in two groups means two clusters, which are then named `group:label`.
#'
#' @section Which method when:
#' `supervised_cluster()` when training rows are grouped and new groups must be expected; [dp_mixture()] without training rows; a classifier such as [svm()] when no new
#' groups can occur. [supervised_cluster_baseline()] has what it should beat.
#'
#' @param x Rows: a matrix or data frame of numbers.
#' @param cluster Known clusters, `NA` where they are to be found.
#' @param type Variant; see Details. For `predict()`, `"class"`; for `plot()`, the `"weights"` of the columns, the `"similarity"` of rows or the `"trace"` of the chains.
#' @param group Groups of rows between which there are no common clusters, or `NULL`.
#' @param share Whether new rows may join training clusters.
#' @param method `"gibbs"`, the paper's, or `"collapsed"`.
#' @param shape,rate Gamma prior of the weights. A type of \eqn{m} rows can have weights of up to about \eqn{m / (2\,rate)}{m / (2 rate)}: lower `rate` (0.05, say) where
#'   clusters are much tighter than the rows as a whole, so that small types can be sharp.
#' @param mean_var Variance \eqn{s^2} of cluster means, in units of the scaled columns.
#' @param theta_prior Shape and rate of the gamma prior of both concentrations.
#' @param lambda Of `"scdp3"`.
#' @param auxiliary Auxiliary draws of `"scdp3"`.
#' @param n_draws,burn_in,thin,chains Draws of each chain, sweeps before them, sweeps between them, and the number of chains.
#' @param loss Loss of the partition that is returned; see [partition_estimate()].
#' @param threads Number of threads; see `options(granary.threads)`.
#' @return An object of class `granary_supervised_cluster`, a [granary_clustering]. `cluster` holds the known clusters and those found: training clusters by name,
#'   new ones as `new1`, `new2`, ... `open` says which rows were clustered; `partitions` has their labels in every draw; `weights` the types of the draw of largest likelihood,
#'   `mean_weights` the average weight of every column; `theta_draws`, `count_draws`, `type_draws`, `loglik_draws`, `rhat`, `effective_size`.
#' @references Daume and Marcu (2005). A Bayesian model for supervised clustering with the Dirichlet process prior. *Journal of Machine Learning Research* 6,
#'   1551--1577.
#' @seealso [supervised_cluster_baseline()], [sim_supervised_cluster()], [partition_estimate()], [dp_mixture()], [dp_concentration()].
#' @export
#' @examples
#' set.seed(1)
#' sim <- sim_supervised_cluster(120, type = "plus")
#' known <- ifelse(sim$train, sim$cluster, NA)
#' fit <- supervised_cluster(sim$x, known, rate = 0.05, n_draws = 300, burn_in = 300)
#' fit
#' assess(fit, truth = sim$cluster)
#' plot(fit)
supervised_cluster <- function(x, cluster, type = c("scdp1", "scdp2", "scdp3"), group = NULL, share = FALSE, method = c("gibbs", "collapsed"), shape = 1, rate = 1,
                               mean_var = 1, theta_prior = c(1, 1), lambda = 1, auxiliary = 8, n_draws = 1500, burn_in = 500, thin = 1, chains = 2,
                               loss = c("vi", "binder"), threads = NULL) {
  call <- match.call()
  if (missing(x)) fail_missing("x")
  if (missing(cluster)) fail_missing("cluster")
  type <- check_choice(type, c("scdp1", "scdp2", "scdp3"))
  method <- check_choice(method, c("gibbs", "collapsed"))
  if (method == "collapsed" && type == "scdp3") abort_input("method = \"collapsed\" is not for type = \"scdp3\", whose means cannot be integrated out.", "method")
  rows <- supervised_rows(x, cluster, group, check_flag(share))
  theta_prior <- check_vector(theta_prior, length = 2L, lower = 0, strict_lower = TRUE)
  loss <- check_choice(loss, c("vi", "binder"))
  options <- list(type = type, collapse = method == "collapsed", mean_var = check_number(mean_var, lower = 0, strict_lower = TRUE),
                  shape = check_number(shape, lower = 0, strict_lower = TRUE), rate = check_number(rate, lower = 0, strict_lower = TRUE),
                  alpha_shape = theta_prior[[1L]], alpha_rate = theta_prior[[2L]], lambda = check_number(lambda, lower = 0, strict_lower = TRUE),
                  auxiliary = check_count(auxiliary, upper = 1000), n_draws = check_count(n_draws), burn_in = check_count(burn_in, lower = 0), thin = check_count(thin),
                  chains = check_count(chains, upper = 1000), threads = thread_count(threads))
  found <- core_supervised_cluster(rows$scaled, rows$label, rows$domain, options, core_seed(), progress_bar("chains"))
  new_supervised(found, rows, options, loss, type, method, call)
}

# Scaled rows, numbers of known clusters (0 where to be found) and of the domains within which clusters live.
supervised_rows <- function(x, cluster, group, share) {
  x <- check_matrix(x)
  if (!is.null(colnames(x))) colnames(x) <- variable_names(colnames(x), ncol(x))
  check_names_unique(colnames(x), "x")
  n <- nrow(x)
  ok <- (is.factor(cluster) || is.character(cluster) || is.logical(cluster) || is_plain_numeric(cluster)) && is.null(dim(cluster))
  if (!ok || length(cluster) != n) fail_input("cluster", sprintf("one label for each of the %d rows, NA where it is to be found", n), describe(cluster))
  if (!is.null(group) && (length(group) != n || anyNA(group) || !is.atomic(group))) fail_input("group", sprintf("one group for each of the %d rows, without NA", n), describe(group))
  open <- is.na(cluster)
  names <- variable_names(colnames(x), ncol(x))
  base <- if (any(!open)) x[!open, , drop = FALSE] else x
  center <- colMeans(base)
  scale <- if (nrow(base) > 1L) apply(base, 2L, stats::sd) else rep(1, ncol(x))
  flat <- !(is.finite(scale) & scale > 1e-10 * pmax(apply(abs(base), 2L, max), 1e-300))
  if (all(flat)) abort_input("Every column of `x` is constant over the training rows: there is nothing to cluster by.", "x")
  if (any(flat)) {
    warn_input(sprintf("Column %s of `x` is constant over the training rows and left out.", paste(names[flat], collapse = ", ")), "x")
  }
  if (sum(!flat) > 100L) {
    warn_input(sprintf("`x` has %d columns, which the model takes for independent: with many correlated columns it is too sure of itself. Use principal components.", sum(!flat)), "x")
  }
  if (all(open)) cli::cli_inform("No row has a known cluster: this is a Dirichlet process mixture without training.")
  scaled <- sweep(sweep(x[, !flat, drop = FALSE], 2L, center[!flat]), 2L, scale[!flat], "/")
  groups <- if (is.null(group)) rep(1L, n) else as.integer(droplevels(as.factor(group)))
  domain <- if (share) groups else as.integer(factor(paste(groups, open)))
  text <- ifelse(open, NA_character_, as.character(cluster))
  keys <- if (is.null(group)) text else ifelse(open, NA_character_, paste(group, text, sep = ":"))
  levels <- unique(keys[!open])
  label <- match(keys, levels)
  label[open] <- 0L
  list(x = x, scaled = plain_rows(scaled), label = label, domain = domain, open = open, levels = levels, given = keys, names = names, kept = !flat, labels = rownames(x), center = center,
       scale = scale, group = groups, share = share)
}

new_supervised <- function(found, rows, options, loss, type, method, call) {
  open <- rows$open
  training <- length(rows$levels)
  cluster <- rows$given
  estimate <- list(loss = 0)
  if (any(open)) {
    # Labels of training clusters must stay apart from those of new ones; by first appearance for the loss.
    dense <- t(apply(found$clusters, 1L, function(row) match(row, unique(row))))
    if (sum(open) == 1L) dense <- t(dense)
    storage.mode(dense) <- "integer"
    estimate <- core_partition_estimate(dense, list(loss = loss), NULL)
    cluster[open] <- name_clusters(estimate$cluster, found$clusters, rows$levels)
  }
  numbers <- factor(cluster, unique(c(cluster[!open], cluster[open])))
  sizes <- tabulate(numbers, nlevels(numbers))
  centers <- rowsum(rows$x, as.integer(numbers)) / sizes
  dimnames(centers) <- list(levels(numbers), rows$names)
  weights <- matrix(NA_real_, nrow(found$weights), length(rows$names), dimnames = list(paste0("type", seq_len(nrow(found$weights))), rows$names))
  weights[, rows$kept] <- found$weights
  mean_weights <- stats::setNames(rep(NA_real_, length(rows$names)), rows$names)
  mean_weights[rows$kept] <- found$mean_weights
  rhat <- split_rhat(cbind(found$n_clusters, found$n_types, found$loglik), options$n_draws, options$chains)
  effective <- c(clusters = sum(found$effective_clusters), loglik = sum(found$effective_loglik))
  effective[!is.finite(effective)] <- NA_real_
  least <- if (all(is.na(effective))) NA_real_ else min(effective, na.rm = TRUE)
  order <- order(-found$weight_sizes)
  fit <- new_clustering(
    "supervised_cluster", cluster = stats::setNames(cluster, rows$labels), centers = centers, sizes = stats::setNames(sizes, levels(numbers)), objective = estimate$loss,
    open = open, partitions = found$clusters, types = found$types, weights = weights[order, , drop = FALSE], type_sizes = found$weight_sizes[order], mean_weights = mean_weights,
    count_draws = found$n_clusters, type_draws = found$n_types, theta_draws = cbind(cluster = found$alpha_cluster, type = found$alpha_type), loglik_draws = found$loglik,
    training = rows$levels, rhat = rhat, effective_size = effective, chains = options$chains, rows = rows[c("center", "scale", "kept", "names", "share")], scaled = rows$scaled,
    group = rows$group, type = type, method = method, loss = loss, k = length(sizes), x = rows$x,
    title = sprintf("Supervised clustering (%s, %s): %d training rows in %s, %d rows clustered", type, method, sum(!open), counted(training, "cluster", "clusters"), sum(open)),
    measure = if (loss == "vi") "Expected variation of information of the rows clustered, nats" else "Expected share of pairs treated differently", call = call,
    convergence = c(chain_convergence(rhat, least, options$n_draws, options$thin, options$burn_in), list(seconds = found$seconds))
  )
  check_chains(fit)
}

# A cluster of the estimate has the name of the training cluster most of its rows are in, in most draws; else it is new.
name_clusters <- function(estimate, draws, levels) {
  names <- character(max(estimate))
  used <- character()
  fresh <- 0L
  for (k in order(-tabulate(estimate))) {
    values <- draws[, estimate == k]
    top <- if (length(levels) > 0L) which.max(tabulate(values[values <= length(levels)], length(levels))) else 0L
    share <- if (length(levels) > 0L) mean(values == top) else 0
    if (share > 0.5 && !(levels[top] %in% used)) {
      names[k] <- levels[top]
      used <- c(used, levels[top])
    } else {
      fresh <- fresh + 1L
      names[k] <- paste0("new", fresh)
    }
  }
  names[estimate]
}
