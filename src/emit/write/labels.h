// Names and descriptions of blocks.
#pragma once

#include <map>
#include <string>

#include "emit/write/program.h"
#include "emit/write/scope.h"

namespace axon::emit {

// Sizes of an axis as readers know them: `B`, `HIDDEN`, `64`.
std::string shape_text(const Program& program, TypeId type);
// `llama.axon:41` for the first step of a block that is not the library's; empty when there is
// none.
std::string place_of(const Program& program, BlockId id);
// Of what a block becomes: "`model.layers.{i}` (llama.axon:84)."
std::string block_doc(const Program& program, BlockId id);
// From the path: the last segment; of the rounds of a list, one of what the list is called. Taken
// in the file's plan.
std::string block_class_name(Program& program, BlockId id);
// Of its function, with the names that its values have in `scope`: "x [B, S] -> [B, S, HIDDEN]."
std::string function_doc(const Program& program, BlockId id, const Scope& scope);
// `layers` → `layer`.
std::string singular(const std::string& text);
// Parts below a block that only one round of the list around it has: what makes it is told, by
// these names, whether the round is that one.
std::map<std::string, int64_t> flags_of(const Program& program, BlockId id);
// What the configuration says of a decoder's first token; 0 where it says nothing.
int64_t start_token(const Program& program);
// The class of the whole program; reserved in the file's plan.
std::string root_name(const Program& program);
// The class of several results, of the program and of what runs once for many calls.
std::string encoded_name(const Program& program);
std::string output_name(const Program& program);
// The name of MAIN's input in role `role`; empty when there is none.
std::string input_name(const Program& program, int role);

}  // namespace axon::emit
