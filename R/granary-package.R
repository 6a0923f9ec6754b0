#' granary: estimators and algorithms from the machine learning literature
#'
#' One package, one grammar: data is checked at the door, a C++17 core does the computing, and every fit comes back as an S3 object
#' with the methods statisticians expect and a certificate of how well the problem was solved.
#'
#' [granary_catalog()] lists the methods, [errata()] what their papers print wrongly, [reproduce()] re-makes the papers' numbers.
#'
#' @section Options:
#' * `granary.threads`: threads the compiled code may use; by default all cores up to 8, and 1 under `R CMD check`.
#' * `granary.progress`: `TRUE` or `FALSE` to force or silence progress bars; by default they show in interactive sessions for work
#'   of more than two seconds.
#'
#' @keywords internal
#' @useDynLib granary, .registration = TRUE
#' @importFrom Rcpp evalCpp
#' @importFrom methods as is
#' @importClassesFrom Matrix dgCMatrix
"_PACKAGE"
