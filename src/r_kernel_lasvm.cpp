// Export of the online support vector machine.
#include "kernel/lasvm_run.h"
#include "r_core_kernel_rows.h"

using namespace granary;
using namespace granary::kernel;

GRANARY_DEFAULTS(lasvm, LasvmRun);

namespace {

LasvmData lasvm_data(SEXP labels, SEXP points) {
  LasvmData data = read<LasvmData>(labels, "labels");
  SEXP ask = door::element(points, "ask");
  if (ask == nullptr || is_null(ask)) return data;
  data.ask = [f = Callback<int, double>(ask)](Index row) { return f(static_cast<double>(row) + 1) - 1; };
  return data;
}

}  // namespace

// `points` is list(x =, kernel =, ask =), where ask is NULL or a function of the number of a row; `labels` is list(label =, cost =)
// with label 0 where it is not known.
// [[Rcpp::export(rng = false)]]
SEXP core_lasvm_run(SEXP points, SEXP labels, SEXP state, SEXP options, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    KernelRows rows = kernel_rows(points);
    LasvmData data = lasvm_data(labels, points);
    const LasvmRun run = read<LasvmRun>(options);
    Rng draws = rng(seed);
    return write(run_lasvm(rows, data, read_state<LasvmState>(state), run.plan, run.options, draws, monitor));
  });
}
