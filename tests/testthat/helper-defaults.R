# Where the default of an argument in R and that of the option of the same name in C++ may differ, with the reason. "function argument".
default_exceptions <- c(
  "any threads" = "NULL in R: options(granary.threads) or the cores of the machine; C++ has 1"
)
