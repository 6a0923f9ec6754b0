# make demo: a sparse graph from the data shipped with the package, printed, with its stability, and an HTML report about it.
library(granary)
output <- commandArgs(TRUE)[1L]
set.seed(1)
expression <- riboflavin_twin$x
genes <- scale(expression[, order(-apply(expression, 2L, var))[1:30]])  # the thirty that vary most, in 71 samples
path <- ggm_lasso(genes)
print(path)
cat("\n")
best <- ggm_select(path, criterion = "ebic")
print(summary(best))
stable <- ggm_select(path, criterion = "stars")
cat(sprintf("\nOf %d penalties the extended BIC takes number %d, with %d of %d possible edges; the stability of the edges (StARS) takes number %d.\n",
            nrow(best$table), best$selected, best$fit$df, choose(ncol(genes), 2L), stable$selected))
file <- granary_report(best, output = output, title = "Thirty genes: a sparse graph")
cat("\nReport written to", normalizePath(file), "\n")
if (nrow(vignette(package = "granary")$results) > 0L) cat("vignette(\"granary\") goes on from here; start R with R_LIBS=build/library.\n")
