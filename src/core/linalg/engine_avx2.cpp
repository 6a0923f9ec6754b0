// The engine for processors with AVX2 and FMA. configure compiles this file for them (-mavx2 -mfma) where the compiler can, and
// defines GRANARY_AVX2; otherwise it is empty. Whether the processor at hand has them is asked when the package is used.
#ifdef GRANARY_AVX2

#define Eigen EigenAvx2
#define GRANARY_ENGINE engine_avx2
#include "core/linalg/engine_kernels.h"

namespace granary {

extern const DenseEngine avx2_engine{"native", engine_avx2::gemm<double>, engine_avx2::gemm<float>, engine_avx2::gemv<double>,
                                     engine_avx2::gemv<float>, engine_avx2::symv, engine_avx2::solve_small, engine_avx2::factor_small,
                                     nullptr, nullptr, nullptr};

}  // namespace granary

#else
extern const int granary_engine_avx2_is_empty;
const int granary_engine_avx2_is_empty = 1;
#endif
