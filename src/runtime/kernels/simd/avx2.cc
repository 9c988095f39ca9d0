// api.h for AVX2 with FMA and F16C.
#include <cmath>

#define AXON_SIMD_NAMESPACE n_avx2
#define AXON_SIMD_BLOCK_GEMM nullptr
#include "runtime/kernels/simd/body-inl.h"

namespace axon::runtime::simd {
const Api& avx2() { return n_avx2::kApi; }
}  // namespace axon::runtime::simd
