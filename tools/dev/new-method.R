# Writes the files of a new method, each with its shape in place and the substance left to write:
#
#   Rscript tools/dev/new-method.R NAME FAMILY [KEY]        (make method NAME=ising_fit FAMILY=graph KEY=thesis-5-discrete-mrf)
#
#   src/FAMILY/NAME.{h,cpp}, src/r_FAMILY_NAME.cpp, R/FAMILY-NAME.R, tests/testthat/test-FAMILY-NAME.R, tests/cpp/FAMILY/test_NAME.cpp,
#   inst/methods/KEY.dcf, inst/reproduce/KEY.R, inst/bench/peers/NAME.R, news/KEY.md. No file of another method is touched.
#
# Everything compiles and parses at once; the tests fail, and say why, until the method is written. Afterwards run `make docs`.

families <- c("graph", "regress", "kernel", "process", "latent", "cluster", "perturb", "ensemble", "neural", "signal", "decide", "concept", "rank")

stop_with <- function(...) {
  message(...)
  quit(status = 1L)
}

arguments <- commandArgs(TRUE)
if (length(arguments) < 2L) stop_with("Usage: Rscript tools/dev/new-method.R NAME FAMILY [KEY]")
name <- arguments[1L]
family <- arguments[2L]
key <- if (length(arguments) >= 3L && nzchar(arguments[3L])) arguments[3L] else gsub("_", "-", name)
if (!grepl("^[a-z][a-z0-9]*(_[a-z0-9]+)*$", name)) stop_with("NAME must be snake_case, such as ising_fit, not ", name)
if (!family %in% families) stop_with("FAMILY must be one of ", paste(families, collapse = ", "), ", not ", family)
if (!grepl("^[a-z0-9][a-z0-9-]*$", key)) stop_with("KEY must be in small letters, digits and hyphens, such as jmlr15-quic, not ", key)

script <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])
setwd(file.path(dirname(script), "..", ".."))
if (!file.exists("DESCRIPTION")) stop_with("This must lie in tools/dev of the package.")

words <- strsplit(name, "_", fixed = TRUE)[[1L]]
type <- paste0(toupper(substring(words, 1L, 1L)), substring(words, 2L), collapse = "")

# @name@, @Type@, @family@ and @key@ stand for the method.
fill <- function(text) {
  for (part in list(c("@name@", name), c("@Type@", type), c("@family@", family), c("@key@", key))) {
    text <- gsub(part[1L], part[2L], text, fixed = TRUE)
  }
  sub("^\n", "", text)
}

put <- function(path, text) {
  path <- fill(path)
  if (file.exists(path)) stop_with(path, " exists already; nothing more was written.")
  dir.create(dirname(path), showWarnings = FALSE, recursive = TRUE)
  cat(fill(text), file = path)
  message("wrote    ", path)
}

put("src/@family@/@name@.h", '
// Write me: what the method estimates, in a line.
//
//   minimise  ...                                        the objective, in the symbols of the paper
//
// Authors (Journal Year), Algorithm 1; equation numbers below are theirs.
#pragma once

#include "core/base/convergence.h"
#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary::@family@ {

struct @Type@Options {  // the defaults are those of the paper
  double tol = 1e-6;
  int max_iter = 1000;
};
template <class V>
void fields(V& v, @Type@Options& t) {
  v("tol", t.tol);
  v("max_iter", t.max_iter);
}

struct @Type@Result {
  VectorXd estimate;
  Convergence convergence;
};
template <class V>
void fields(V& v, @Type@Result& t) {
  v("estimate", t.estimate);
  v("convergence", t.convergence);
}

@Type@Result @name@(ConstMatrixRef x, const @Type@Options& options, Monitor& monitor);

}  // namespace granary::@family@
')

put("src/@family@/@name@.cpp", '
#include "@family@/@name@.h"

#include "core/base/errors.h"

namespace granary::@family@ {

@Type@Result @name@(ConstMatrixRef x, const @Type@Options& options, Monitor& monitor) {
  if (x.rows() < 1) throw InputError("`x` must have at least one row.");
  const Stopwatch watch;
  @Type@Result result;
  monitor.check();
  result.convergence.seconds = watch.seconds();
  throw NumericalError(message("write me: @name@ has no algorithm yet (tol ", options.tol, ")."));
}

}  // namespace granary::@family@
')

put("src/r_@family@_@name@.cpp", '
// Exports of @name@(). The method is in @family@/@name@.h.
#include "@family@/@name@.h"
#include "r_door.h"

using namespace granary;
using namespace granary::@family@;

GRANARY_DEFAULTS(@name@, @Type@Options);

// [[Rcpp::export(rng = false)]]
SEXP core_@name@(SEXP x, SEXP options, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) { return write(@name@(matrix(x), read<@Type@Options>(options), monitor)); });
}
')

put("R/@family@-@name@.R", '
#\' Write me: the title, what a user would call the method
#\'
#\' Write me: what it estimates and when to use it.
#\'
#\' @param x A numeric matrix or data frame, one row per observation.
#\' @param tol The solver stops when the relative residual falls below it.
#\' @param max_iter The most iterations it may take.
#\' @return An object of class `granary_@name@`: a list with `estimate`, `convergence` and `call`.
#\' @section Which method when: Write me: what to use instead, and when.
#\' @references Write me: the paper, with its key `@key@`; [errata()] lists what it prints wrongly.
#\' @family @family@
#\' @export
#\' @examples
#\' @name@(attitude)
@name@ <- function(x, tol = 1e-6, max_iter = 1000) {
  call <- match.call()
  x <- check_matrix(x)
  options <- list(tol = check_number(tol, lower = 0, strict_lower = TRUE), max_iter = check_count(max_iter))
  core <- core_@name@(x, options, progress_bar("@name@"))
  fit <- new_fit("@name@", estimate = stats::setNames(core$estimate, colnames(x)), call = call, convergence = core$convergence)
  check_convergence(fit)
  fit
}
')

put("tests/testthat/test-@family@-@name@.R", '
test_that("@name@() agrees with an independent reference", {
  fit <- @name@(attitude)
  expect_s3_class(fit, "granary_@name@")
  fail("write me: compare @name@() with a closed form, brute force or another package.")
})

test_that("@name@() recovers the parameters of simulated data", {
  fail("write me: simulate with known parameters and bound the error of @name@().")
})

test_that("@name@() refuses what it cannot use", {
  expect_error(@name@("text"), "`x`", class = "granary_error_input")
  expect_error(@name@(attitude, tol = -1), "`tol`", class = "granary_error_input")
  expect_error(@name@(attitude, max_iter = 0), "`max_iter`", class = "granary_error_input")
})
')

put("tests/cpp/@family@/test_@name@.cpp", '
#include "@family@/@name@.h"
#include "harness.h"

using namespace granary;

TEST("@name@ refuses data without rows") {
  Monitor monitor;
  CHECK_THROWS(@family@::@name@(MatrixXd(0, 2), @family@::@Type@Options(), monitor), InputError);
}

TEST("write me: @name@ meets the optimality conditions of its problem") {
  Monitor monitor;
  bool solved = true;
  try {
    solved = @family@::@name@(MatrixXd::Identity(3, 3), @family@::@Type@Options(), monitor).convergence.converged;
  } catch (const NumericalError&) {
    solved = false;
  }
  CHECK(solved);
}
')

put("inst/reproduce/@key@.R", '
# The headline numbers of the paper. `extended` is TRUE when the long runs are wanted.
set.seed(1)

claim("write me: the first number of the paper", paper = NA, ours = NA, tolerance = NA, note = "this script has not been written yet")
')

put("inst/bench/peers/@name@.R", '
# Rscript @name@.R <file for the results, .rds>
#
# Times @name@() against its peers on CRAN, in one run on one machine.

source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "..", "setup.R"))

set.seed(1)
x <- matrix(rnorm(500 * 50), 500)
results <- data.frame(program = "granary", seconds = cpu(@name@(x)))
# write me: one line per peer, skipped where it is not installed, with the difference of the answers beside the time
print(results)
saveRDS(results, output)
')

put("inst/methods/@key@.dcf", '
Key: @key@
Title: Write me: what a user would call the method
Family: @family@
Functions: @name@
Paper: Write me: authors (year), title, journal.
Use: Write me: the question it answers, and what comes out.
Task: write me: classify, regress, cluster, reduce, test, estimate a graph, rank, mine, decide
Data: write me: matrix, sparse, counts, sequences, graph, text, images, rankings, events
Output: Write me.
Size: Write me: rows and columns it is good for.
Keywords: write me
')

put("news/@key@.md", '
* `@name@()`: write me, one sentence for a user.
')

message("\nNow write the parts marked \"write me\", then run: make docs && make test")
