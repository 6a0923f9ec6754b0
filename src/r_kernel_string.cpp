// Exports of the string kernels.
#include "kernel/string_kernel.h"
#include "r_core_kernel.h"

using namespace granary;
using namespace granary::kernel;

namespace {

TokenSet token_set(SEXP objects, const StringOptions& options) {  // texts, or lists of tokens
  if (TYPEOF(objects) == VECSXP) return number_tokens(read<std::vector<std::vector<std::string>>>(objects, "objects"), options);
  return number_tokens(read<std::vector<std::string>>(objects, "objects"), options);
}

const ObjectKernelReader reader("string", [](SEXP objects, SEXP options) -> std::shared_ptr<const ObjectKernel> {
  const auto o = read<StringOptions>(options);
  return std::make_shared<StringKernel>(token_set(objects, o), o);
});

}  // namespace

// An error where the options do not go together.
// [[Rcpp::export(rng = false)]]
SEXP core_string_check(SEXP options) {
  return crossing([&] {
    read<StringOptions>(options);  // with check()
    return R_NilValue;
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_string_features(SEXP objects, SEXP options, SEXP separator) {
  return crossing([&] {
    const auto o = read<StringOptions>(options);
    return write(string_features(token_set(objects, o), o, text(separator, "separator")));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_string_tokens(SEXP texts, SEXP options) {
  return crossing(
      [&] { return write(split_texts(read<std::vector<std::string>>(texts, "x"), read<StringOptions>(options).token)); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_string_counts(SEXP objects, SEXP options) {
  return crossing([&] { return write(count_tokens(token_set(objects, read<StringOptions>(options)))); });
}
