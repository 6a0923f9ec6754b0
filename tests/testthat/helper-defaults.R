# Where the default of an argument in R and that of the option of the same name in C++ may differ, with the reason. "function argument".
default_exceptions <- c(
  "any threads" = "NULL in R: options(granary.threads) or the cores of the machine; C++ has 1",
  "kernel_ica measure" = "the contrast of C++ is any measure of dependence; R takes the paper's best"
)
