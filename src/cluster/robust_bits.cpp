#include "cluster/robust_bits.h"

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__) && defined(__GLIBC__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(__POPCNT__)
#define GRANARY_COUNTED __attribute__((target_clones("popcnt", "default")))
#else
#define GRANARY_COUNTED
#endif

namespace granary::cluster {

GRANARY_COUNTED
int count_both(const std::uint64_t* a, const std::uint64_t* b, Index words) {
  int total = 0;
  for (Index w = 0; w < words; ++w) total += __builtin_popcountll(a[w] & b[w]);
  return total;
}

GRANARY_COUNTED
int count_three(const std::uint64_t* a, const std::uint64_t* b, const std::uint64_t* c, Index words) {
  int total = 0;
  for (Index w = 0; w < words; ++w) total += __builtin_popcountll(a[w] & b[w] & c[w]);
  return total;
}

}  // namespace granary::cluster
