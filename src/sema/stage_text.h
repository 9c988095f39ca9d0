// Programs of the stages after parse as text that says its stage, and back (language.md 11.2 to
// 11.4, docs/decisions/stage-text.md). What the language itself cannot say stands in pragmas.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sema/stages.h"

namespace axon::sema {

// What a text promises; each level includes the ones before.
enum class Level : uint8_t { Closed, Normalized, Elaborated, Flat, Typed };

// What all levels have in common.
struct StagedProgram {
  Program program;
  MainDefaults main_defaults;
};

// The stage that a text says it is of: by a STAGE pragma before anything else.
std::optional<std::string> stage_of(std::string_view text);

// `stage` is the name that the text carries.
std::string write_program(const StagedProgram& staged, Level level, std::string_view stage,
                          Session& session);
std::string write_typed(const TypedProgram& typed, std::string_view stage, Session& session);

// Reads what the writers wrote, and checks it as the stage's own result is checked. A text that is
// not what it says is reported as LOAD-STAGE.
StagedProgram read_program(FileId file, Level level, std::string_view stage, Session& session);
TypedProgram read_typed(FileId file, std::string_view stage, Session& session);

// What a text of an earlier stage can only be asked once its types are known: that the names in its
// scopes and in the defaults of its interface have values.
void check_names(const TypedProgram& typed, std::string_view stage, Session& session);

}  // namespace axon::sema
