# Times pc(), fci() and rfci() against pcalg and bnlearn in one run. Rscript pc.R [output.rds] [extended]
#
# Seconds are processor time (user and system) of one thread, the smallest of a few runs, so that they mean something on a busy machine; `edges`
# and `difference` (of adjacencies for pc, of marks for fci and rfci) say whether the answers agree. Peers that are not installed are left out. The
# rows on threads are wall-clock seconds: processor time cannot fall. They mean something only on a machine with two idle cores.
#
# bnlearn's pc.stable is timed at p = 100 only (6.78 s where granary took 0.003, when it could last be installed): at p = 300 it was stopped after nine
# minutes, at p = 1000 after fifty, each unfinished.

source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))
arguments <- commandArgs(trailingOnly = TRUE)
output <- if (length(arguments) > 0L) arguments[1L] else NA
extended <- "extended" %in% arguments
has <- function(package) requireNamespace(package, quietly = TRUE)
pcalg <- function(name) getExportedValue("pcalg", name)
bnlearn <- function(name) getExportedValue("bnlearn", name)

cpu <- function(run, times = 3L) {
  best <- Inf
  for (k in seq_len(times)) {
    gc(FALSE)
    started <- proc.time()
    value <- run()
    used <- proc.time() - started
    best <- min(best, used[["user.self"]] + used[["sys.self"]])
  }
  list(seconds = best, value = value)
}

rows <- list()
# `times_ours`: seconds over those of the first method of the setting, granary.
note <- function(setting, method, timed, edges, difference = NA) {
  first <- Find(function(row) row$setting == setting, rows)
  rows[[length(rows) + 1L]] <<- data.frame(setting = setting, method = method, seconds = timed$seconds, edges = edges, difference = difference,
                                           times_ours = if (is.null(first)) 1 else timed$seconds / first$seconds)
  print(rows[[length(rows)]], row.names = FALSE)
}
skeleton_of <- function(m) (m != 0 | t(m) != 0) * 1
pcalg_matrix <- function(fit) methods::as(fit@graph, "matrix")

compare_pc <- function(p, n, degree, alpha, slow = TRUE) {
  set.seed(1)
  x <- sim_dag(p, n = n, degree = degree)$data
  setting <- sprintf("pc, p = %d, n = %d, degree %g, alpha %g", p, n, degree, alpha)
  ours <- cpu(function() pc(x, alpha = alpha, threads = 1))
  mine <- skeleton_of(as.matrix(ours$value))
  note(setting, "granary", ours, nrow(ours$value$edges))
  if (has("pcalg")) {
    stat <- function() list(C = stats::cor(x), n = n)
    fast <- cpu(function() {
      pcalg("pc")(stat(), pcalg("gaussCItest"), alpha, labels = colnames(x), skel.method = "stable.fast", u2pd = "relaxed")
    })
    note(setting, "pcalg stable.fast", fast, sum(skeleton_of(pcalg_matrix(fast$value))) / 2, sum(skeleton_of(pcalg_matrix(fast$value)) != mine) / 2)
    only <- cpu(function() pcalg("skeleton")(stat(), pcalg("gaussCItest"), alpha, labels = colnames(x), method = "stable.fast"))
    note(setting, "pcalg skeleton stable.fast", only, sum(skeleton_of(pcalg_matrix(only$value))) / 2,
         sum(skeleton_of(pcalg_matrix(only$value)) != mine) / 2)
    if (slow) {
      plain <- cpu(function() pcalg("pc")(stat(), pcalg("gaussCItest"), alpha, labels = colnames(x), skel.method = "stable", u2pd = "relaxed"), 1L)
      note(setting, "pcalg stable (R)", plain, sum(skeleton_of(pcalg_matrix(plain$value))) / 2,
           sum(skeleton_of(pcalg_matrix(plain$value)) != mine) / 2)
    }
  }
  if (has("bnlearn") && p <= 100) {
    frame <- as.data.frame(x)
    theirs <- cpu(function() suppressWarnings(bnlearn("pc.stable")(frame, test = "zf", alpha = alpha)), 1L)
    m <- bnlearn("amat")(theirs$value)
    note(setting, "bnlearn pc.stable", theirs, sum(skeleton_of(m)) / 2, sum(skeleton_of(m) != mine) / 2)
  }
}

# A problem large enough for threads to matter; the smallest of several runs, as other work on the machine only ever adds to it.
compare_threads <- function(p, n, degree, alpha) {
  set.seed(3)
  x <- sim_dag(p, n = n, degree = degree)$data
  setting <- sprintf("threads, pc, p = %d, n = %d, degree %g, alpha %g", p, n, degree, alpha)
  seconds <- c(Inf, Inf)
  fits <- list()
  for (k in 1:15) for (threads in 1:2) {  # in turn, so that both meet the same machine
    seconds[threads] <- min(seconds[threads], system.time(fits[[threads]] <- pc(x, alpha = alpha, threads = threads))[["elapsed"]])
  }
  for (threads in 1:2) {
    note(setting, paste(threads, if (threads == 1L) "thread" else "threads"), list(seconds = seconds[threads]), nrow(fits[[threads]]$edges),
         sum(as.matrix(fits[[1L]]) != as.matrix(fits[[threads]])))
  }
}

# pcalg's "stable" FCI decides the v-structures behind Possible-D-SEP by the separating sets, ours by the conservative rule, as FCI-stable in the
# paper: the edges then differ. The original algorithm is the same on both sides and is compared; rfci has no such step.
compare_latent <- function(p, n, degree, alpha) {
  set.seed(2)
  x <- sim_dag(p, n = n, degree = degree, latent = TRUE)$data
  stat <- list(C = stats::cor(x), n = n)
  # pcalg writes 1 circle, 2 arrow, 3 tail.
  translate <- function(m) c(0L, 3L, 2L, 1L)[m + 1L]
  fit <- NULL
  for (name in c("fci", "rfci")) {
    setting <- sprintf("%s, p = %d, n = %d, degree %g, alpha %g", name, p, n, degree, alpha)
    fun <- get(name, asNamespace("granary"))
    method <- if (name == "fci") "original" else "stable"
    each <- cpu(function() for (k in 1:50) fit <<- fun(x, alpha = alpha, method = method, conflicts = "overwrite", m_max = 3, threads = 1))  # the clock ticks in ms
    ours <- list(seconds = each$seconds / 50, value = fit)
    note(setting, "granary", ours, nrow(ours$value$edges))
    if (has("pcalg")) {
      theirs <- cpu(function() {
        if (name == "fci") {
          pcalg("fci")(stat, pcalg("gaussCItest"), alpha, labels = colnames(x), skel.method = method, m.max = 3)
        } else {
          pcalg("rfci")(stat, pcalg("gaussCItest"), alpha, labels = colnames(x), skel.method = "stable", m.max = 3)
        }
      }, 1L)
      note(setting, "pcalg", theirs, sum(theirs$value@amat != 0) / 2, sum(translate(theirs$value@amat) != as.vector(as.matrix(ours$value))))
    }
  }
}

compare_threads(1000, 50, 2, 0.04)
compare_threads(2000, 50, 2, 0.04)
compare_threads(300, 1000, 10, 0.05)
compare_pc(100, 200, 3, 0.01)
compare_pc(300, 50, 2, 0.04)
compare_pc(1000, 50, 2, 0.04)
compare_latent(50, 1000, 2, 0.01)
compare_latent(100, 1000, 2, 0.01)
# Larger subsets of Possible-D-SEP than 3 are left out on both sides: pcalg needs minutes for them.
if (extended) compare_pc(5000, 100, 2, 0.01, slow = FALSE)
results <- do.call(rbind, rows)
if (!is.na(output)) saveRDS(results, output)
