// Applies a loader transform to the bytes of a stored tensor.
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/formats/tensor_source.h"

namespace axon::formats {

// Row of the file that becomes row `row` of the published tensor under PermuteRope.
int64_t rope_row(int64_t row, int64_t rows, int64_t heads);

// The same under GroupQkv.
int64_t qkv_row(int64_t row, int64_t rows, int64_t heads, int64_t groups);

// Writes the published form of `from` (as large as the stored form) to `to`. The transform fits the
// tensor: published_shape() has accepted it. Rows are moved whole, so block formats stay as they
// are.
void apply_transform(const SourceTensor& tensor, const uint8_t* from, uint8_t* to);

}  // namespace axon::formats
