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
