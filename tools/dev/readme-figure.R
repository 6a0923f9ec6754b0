# Draws the picture in README.md: Rscript tools/dev/readme-figure.R
library(granary)
set.seed(1)
fit <- ggm_at(ggm_lasso(scale(cell_signals)), lambda = 0.25)
print(fit)
png(file.path("man", "figures", "README-network.png"), width = 900, height = 640, res = 130)
plot(fit)
invisible(dev.off())
