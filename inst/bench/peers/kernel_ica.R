# Rscript kernel_ica.R <file for the results, .rds>
#
# Separates 8 sources of 4000 samples and 4 sources of 1000, with Bach and Jordan's 18 laws (sim_ica(set = "bach")), dealt so that each law occurs as often as any
# other. One thread; CPU seconds and Amari errors (0 to 100) with their standard errors, means over the same data sets for all methods; `paper` is Table 4 of Gretton and
# others (2005), for laws of the same kinds, drawn with replacement. Peers: JADE and fastICA, the packages of the methods that granary has too; package KernelICA, the
# only other kernel ICA in R, where it is installed. "polished" goes on with half the width, as the paper does at every size, and kernel_ica() by itself only up to 1000
# samples, where it is the same; "wide" has width 1 and kappa 0.02 at every size. `ratio` is the time over that of kernel_ica(measure = "kmi"), for the baselines over
# granary's version of the same method.

source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))

methods <- list(
  "kernel_ica, kmi" = function(x) kernel_ica(x)$W, "kernel_ica, hsic" = function(x) kernel_ica(x, measure = "hsic")$W,
  "kernel_ica, coco" = function(x) kernel_ica(x, measure = "coco")$W, "kernel_ica, kgv" = function(x) kernel_ica(x, measure = "kgv")$W,
  "kernel_ica, kgv, polished" = function(x) kernel_ica(x, measure = "kgv", polish = TRUE)$W,
  "kernel_ica, kgv, wide" = function(x) kernel_ica(x, measure = "kgv", width = 1, kappa = 0.02)$W,
  "ica_jade" = function(x) ica_baseline(x, method = "jade")$W, "ica_fastica" = function(x) ica_baseline(x, method = "fastica", contrast = "cubic")$W
)
if (has("JADE")) methods[["JADE::JADE"]] <- function(x) loadNamespace("JADE")$JADE(x)$W
if (has("fastICA")) {
  methods[["fastICA, R"]] <- function(x) {
    fit <- loadNamespace("fastICA")$fastICA(x, ncol(x), alpha = 1, fun = "logcosh", maxit = 500, tol = 1e-6)
    t(fit$K %*% fit$W)
  }
  methods[["fastICA, C"]] <- function(x) {
    fit <- loadNamespace("fastICA")$fastICA(x, ncol(x), alpha = 1, fun = "logcosh", maxit = 500, tol = 1e-6, method = "C")
    t(fit$K %*% fit$W)
  }
  methods[["ica_fastica, tanh"]] <- function(x) ica_baseline(x, method = "fastica", contrast = "tanh")$W
}
if (has("KernelICA")) methods[["KernelICA"]] <- function(x) loadNamespace("KernelICA")$kernel_ica(x, variant = "kgv")$W
base <- c("JADE::JADE" = "ica_jade", "fastICA, R" = "ica_fastica, tanh", "fastICA, C" = "ica_fastica, tanh")
paper <- list("4" = c("kernel_ica, kmi" = 4, "kernel_ica, coco" = 4.2, "kernel_ica, kgv, polished" = 3.1, ica_jade = 5.6, ica_fastica = 5.7),
              "8" = c("kernel_ica, kmi" = 1.5, "kernel_ica, coco" = 2, "kernel_ica, kgv, polished" = 1.7, ica_jade = 2.7, ica_fastica = 3.2))
results <- do.call(rbind, lapply(list(c(4, 1000, 18), c(8, 4000, 9)), function(setting) {
  set.seed(prod(setting))
  laws <- matrix(sample(rep_len(letters[1:18], setting[1] * setting[3])), setting[3])
  runs <- vapply(seq_len(setting[3]), function(i) {
    data <- sim_ica(setting[2], laws[i, ], "bach")
    B <- data$mixing
    x <- data$x
    vapply(methods, function(f) {
      seconds <- cpu(W <- suppressWarnings(f(x)))
      c(seconds, granary:::amari_error(W, B))
    }, double(2))
  }, matrix(0, 2L, length(methods)))
  seconds <- rowMeans(matrix(runs[1, , ], length(methods)))
  names(seconds) <- names(methods)
  against <- ifelse(names(methods) %in% names(base), base[names(methods)], "kernel_ica, kmi")
  against[grepl("^ica_", names(methods))] <- NA
  table <- data.frame(sources = setting[1], samples = setting[2], method = names(methods), seconds = seconds, ratio = seconds / seconds[against],
                      amari = rowMeans(matrix(runs[2, , ], length(methods))),
                      standard_error = apply(matrix(runs[2, , ], length(methods)), 1, sd) / sqrt(setting[3]),
                      paper = paper[[as.character(setting[1])]][names(methods)], data_sets = setting[3], row.names = NULL)
  print(table, digits = 3)
  table
}))
if (!is.na(output)) saveRDS(results, output)
