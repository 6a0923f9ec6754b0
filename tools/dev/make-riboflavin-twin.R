# Rscript tools/dev/make-riboflavin-twin.R: writes data/riboflavin_twin.rda, artificial data in the shape of the riboflavin data of package hdi
# (71 strains, log expression of genes, log production rate), small enough to ship.
set.seed(2014)
n <- 71L
p <- 300L
# Genes come in 30 operons of ten whose members share a factor, and all follow the growth of the culture a little.
operon <- rep(seq_len(30L), each = 10L)
growth <- rnorm(n)
factors <- matrix(rnorm(n * 30L), n)
loading <- runif(p, 0.45, 0.9)
x <- sapply(seq_len(p), function(j) 0.3 * growth + loading[j] * factors[, operon[j]] + sqrt(1 - loading[j]^2) * rnorm(n))
colnames(x) <- sprintf("G%03d_op%02d", seq_len(p), operon)
effects <- setNames(numeric(p), colnames(x))
effects[c(12L, 57L, 133L, 208L)] <- c(-0.8, 0.7, 0.6, -0.5)
y <- -7 + drop(x %*% effects) + 0.4 * rnorm(n)
riboflavin_twin <- list(x = round(sweep(x, 2L, runif(p, 5, 10), `+`), 3L), y = round(y, 3L), effects = effects[effects != 0])
save(riboflavin_twin, file = "data/riboflavin_twin.rda", compress = "xz", version = 2)
cat(file.size("data/riboflavin_twin.rda"), "bytes\n")
