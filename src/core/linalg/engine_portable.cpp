// The engine for any processor of the architecture.
#define Eigen EigenPortable
#define GRANARY_ENGINE engine_portable
#include "core/linalg/engine_kernels.h"

namespace granary {

extern const DenseEngine portable_engine{"portable", engine_portable::gemm<double>, engine_portable::gemm<float>, engine_portable::gemv<double>,
                                         engine_portable::gemv<float>, engine_portable::symv, engine_portable::solve_small,
                                         engine_portable::factor_small, nullptr, nullptr, nullptr};

}  // namespace granary
