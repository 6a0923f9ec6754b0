# make demo: a sparse graph from the data shipped with the package, printed, and an HTML report about it.
library(granary)
output <- commandArgs(TRUE)[1L]
set.seed(1)
path <- ggm_lasso(scale(cell_signals))
print(path)
cat("\n")
best <- ggm_select(path, criterion = "ebic")
print(summary(best))
file <- granary_report(cell_signals, output = output, title = "Cell signalling: a sparse graph")
cat("\nReport written to", normalizePath(file), "\n")
