// What a program reads of a checkpoint, and the diagnostics of reads that fail.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/param_index.h"
#include "source/diag.h"

namespace axon::opt {

struct ParamRead {
  enum class Outcome : uint8_t { Found, Missing, Shape, Type, NoBias } outcome = Outcome::Found;
  std::string key;    // as the program asks for it
  std::string found;  // Shape: its shape; Type: its element type
  std::string wants;  // the shape that is read, or what is wrong with the type; may be empty
  int32_t call = 0;   // of specialise(): every phase reads anew
  Span span;
  std::vector<DiagNote> notes;  // the calls that led there

  bool fails() const { return outcome != Outcome::Found && outcome != Outcome::NoBias; }
};

struct ParamReads {
  std::vector<ParamRead> all;
  int32_t calls = 0;
  bool stopped = false;  // another error ended a call: there may be more reads
  bool fails() const;
};

// Reports the reads that fail, and missing biases as warnings: one diagnostic for all tensors that
// differ only by numbers, such as those of layers. `params` may be null.
void report_reads(const ParamReads& reads, const model::ParamIndex* params, DiagSink& sink);

}  // namespace axon::opt
