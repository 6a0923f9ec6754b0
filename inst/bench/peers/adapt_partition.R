# Times adapt_partition() against rpart and tree. Rscript adapt_partition.R [output.rds]
#
# Seconds are processor time of one thread, the smallest of three runs (of one where a run takes more than ten seconds). `error` is the mean
# squared distance to the true function at 10000 new points, `cells` the size of the partition. The methods are not the same: rpart and tree
# search all split points greedily (with rpart's default stopping rule, cp = 0.01, and with cp = 0.0005, which is nearer in the number of
# cells), adapt_partition() splits boxes in the middle and thresholds, and its time is that of all thresholds at once, down to the last level.
# rpart places a jump exactly where we need a chain of cells, and with its default rule is quicker in one dimension, with three to twenty
# times the error; with cp = 0.0005 and 10000 rows it is quicker and closer there. At a checkerboard no first split helps: tree stops, rpart goes
# on where noise happens to lead it.

source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))
output <- commandArgs(trailingOnly = TRUE)[1L]
has <- function(package) requireNamespace(package, quietly = TRUE)
peer <- function(package, name) getExportedValue(package, name)
cpu <- function(run) {
  best <- Inf
  for (k in 1:3) {
    used <- system.time(value <- run())
    best <- min(best, used[["user.self"]] + used[["sys.self"]])
    if (best > 10) break
  }
  list(seconds = best, value = value)
}
rows <- list()
note <- function(setting, method, timed, error = NA, cells = NA, ours = NA) {
  rows[[length(rows) + 1L]] <<- data.frame(setting = setting, method = method, seconds = timed$seconds, ratio = timed$seconds / ours,
                                           error = error, cells = cells)
  print(rows[[length(rows)]], row.names = FALSE)
}
functions <- list(
  "step and sine, d = 1" = list(d = 1, f = function(x) (x[, 1] > 1 / 3) + 0.5 * sin(6 * x[, 1]) * (x[, 1] > 0.6)),
  "disc, d = 2" = list(d = 2, f = function(x) 1 * (rowSums(x^2) < 0.5)),
  "checkerboard, d = 2" = list(d = 2, f = function(x) 1 * xor(x[, 1] > 0.5, x[, 2] > 0.5)),
  "ball, d = 3" = list(d = 3, f = function(x) 1 * (rowSums(x^2) < 1))
)
for (name in names(functions)) {
  for (m in c(1e4, 1e5, 1e6)) {
    if (m == 1e6 && functions[[name]]$d != 3) next
    set.seed(1)
    d <- functions[[name]]$d
    f <- functions[[name]]$f
    x <- matrix(runif(m * d), m, dimnames = list(NULL, paste0("x", seq_len(d))))
    y <- f(x) + rnorm(m, sd = 0.2)
    new <- matrix(runif(1e4 * d), 1e4, dimnames = dimnames(x))
    error <- function(value) mean((value - f(new))^2)
    setting <- sprintf("%s, %g rows", name, m)
    box <- rbind(rep(0, d), rep(1, d))
    ours <- cpu(function() adapt_partition(x, y, box = box))
    note(setting, "adapt_partition()", ours, error(predict(ours$value, new)), ours$value$n_cells, ours$seconds)
    cart <- cpu(function() adapt_partition(x, y, method = "cart", box = box))
    note(setting, "adapt_partition(method = \"cart\")", cart, error(predict(cart$value, new)), cart$value$n_cells, ours$seconds)
    data <- data.frame(x, y)
    if (has("rpart")) {
      for (cp in if (m < 1e6) c(0.01, 0.0005) else 0.01) {
        control <- peer("rpart", "rpart.control")(cp = cp, xval = 0)
        timed <- cpu(function() peer("rpart", "rpart")(y ~ ., data, control = control))
        note(setting, sprintf("rpart, cp = %g", cp), timed, error(predict(timed$value, as.data.frame(new))),
             sum(timed$value$frame$var == "<leaf>"), ours$seconds)
      }
    }
    if (has("tree") && m < 1e6) {
      timed <- cpu(function() peer("tree", "tree")(y ~ ., data))
      note(setting, "tree", timed, error(predict(timed$value, as.data.frame(new))), sum(timed$value$frame$var == "<leaf>"), ours$seconds)
    }
  }
}
for (m in c(1e3, 1e4, 1e5, 1e6)) {
  set.seed(2)
  x <- matrix(runif(3 * m), m)
  fit <- adapt_partition(x, rowSums(x) + rnorm(m), box = rbind(rep(0, 3), rep(1, 3)), range = c(-5, 8))
  new <- matrix(runif(3000), 1000)
  used <- system.time(for (i in 1:1000) fit <- update(fit, new[i, , drop = FALSE], 1, refresh = FALSE))
  note(sprintf("1000 updates by one row each, after %g rows", m), "update()", list(seconds = used[["user.self"]] + used[["sys.self"]]))
}
if (!is.na(output)) saveRDS(do.call(rbind, rows), output)
