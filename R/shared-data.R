#' Signalling proteins in single human immune cells
#'
#' Flow cytometry measurements of eleven phosphorylated proteins and phospholipids in 7466 cells, the data behind the best known example of the
#' graphical lasso.
#' Values are base-10 logarithms of the published measurements, rounded to three decimals.
#'
#' @format A data frame with 7466 rows and 11 columns: `raf`, `mek`, `plcg`, `pip2`, `pip3`, `erk`, `akt`, `pka`, `pkc`, `p38`, `jnk`.
#' @source Sachs, Perez, Pe'er, Lauffenburger and Nolan (2005). Causal protein-signaling networks derived from multiparameter
#'   single-cell data. *Science* 308, 523--529; through the data set `Sachs` of the R package gss (Chong Gu, GPL).
#' @examples
#' ggm_select(ggm_lasso(scale(cell_signals)))
"cell_signals"

#' Artificial data in the shape of the riboflavin data
#'
#' Seventy-one cultures, the log expression of 300 genes in operons of ten, and a log production rate that depends on four of the genes: a small
#' stand-in,
#' with a known truth, for the data on riboflavin production by *Bacillus subtilis* in package hdi (71 x 4088). Nothing in it was measured.
#'
#' @format A list: `x`, a 71 x 300 matrix with a name for each gene and its operon; `y`, 71 numbers; `effects`, the four coefficients that are
#'   not zero.
#' @source Simulated by `tools/dev/make-riboflavin-twin.R` in the sources: genes of an operon share a factor (loadings 0.45 to 0.9), all follow a
#'   weak common
#'   factor; the noise has standard deviation 0.4.
#' @examples
#' fit <- debiased_lasso(riboflavin_twin$x, riboflavin_twin$y)
#' confint(fit, names(riboflavin_twin$effects))
"riboflavin_twin"
