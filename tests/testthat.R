library(testthat)
library(granary)

test_check("granary")
