// api.h for AVX-512 (F, BW, DQ, VL).
#include <cmath>

#define AXON_SIMD_NAMESPACE n_avx512
#define AXON_SIMD_BLOCK_GEMM nullptr
#include "runtime/kernels/simd/body-inl.h"

namespace axon::runtime::simd {
const Api& avx512() { return n_avx512::kApi; }
}  // namespace axon::runtime::simd
