# Where the default of an argument in R and that of the option of the same name in C++ may differ, with the reason. "function argument".
default_exceptions <- c(
  "bo_init prior" = "NULL in R is no prior; C++ holds an empty one",
  "ggm_lasso covariance" = "R drops the inverse, which is as large as the data; C++ keeps it for the solvers that start from it",
  "causal_dag weights" = "a word or a vector in R; the word is the option weighting in C++",
  "causal_dag penalty" = "a rule or a number in R; the rule is the option penalty_rule in C++",
  "any threads" = "NULL in R: options(granary.threads) or the cores of the machine; C++ has 1",
  "kernel_ica measure" = "the contrast of C++ is any measure of dependence; R takes the paper's best",
  "lasso lower" = "-Inf in R for every column; empty in C++ means no bound", "lasso upper" = "as lower",
  "gen_lasso lower" = "-Inf in R for every coefficient; empty in C++ means no bound", "gen_lasso upper" = "as lower",
  "label_accuracy engine" = "R's auto becomes the engine that model and data allow",
  "aso h" = "one number in R; C++ has one per group of columns",
  "complete_matrix solver" = "R's auto becomes the solver that the model calls for",
  "ising_fit method" = "R's auto becomes exact or pseudolik by the number of variables", "ising_fit samples" = "a function of the step in R, its values in C++"
)
