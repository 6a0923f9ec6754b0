// Exports of the kernels over bags.
#include "kernel/bag_kernel.h"
#include "r_core_kernel.h"

using namespace granary;
using namespace granary::kernel;

namespace {

const ObjectKernelReader reader("bag", [](SEXP objects, SEXP options) -> std::shared_ptr<const ObjectKernel> {
  return std::make_shared<BagKernel>(read<std::vector<Bag>>(objects, "objects"), read<BagOptions>(options));
});

}  // namespace

// [[Rcpp::export(rng = false)]]
SEXP core_bag_eigen(SEXP bag, SEXP kernel, SEXP k, SEXP at) {
  return crossing(
      [&] { return write(bag_eigen(read<Bag>(bag, "bag"), read<KernelSpec>(kernel, "kernel"), count(k), matrix(at, "at"))); });
}
