// The pragmas that carry what program text cannot say of a stage: the form of each, both ways.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sema/stages.h"

namespace axon::sema {

// Facts of one program, as the strings of its pragmas.
struct StageFacts {
  std::vector<std::string> overlays;
  std::vector<std::string> library;      // namespaces whose definitions are the library's
  std::vector<std::string> helpers;      // `NAME: KIND [VARIABLE ]of PARENT`
  std::vector<std::string> scopes;       // `NAME:FIRST-LAST PREFIX`
  std::vector<std::string> constraints;  // `NAME: LEFT == RIGHT[ if LEFT != 1][ in a branch]`
};

// Whether a pragma says something of a stage's text; a program in source form has none of these.
bool is_stage_pragma(std::string_view name);

std::vector<std::string> library_of(const Program& program, const Interner& names);
std::vector<std::string> helpers_of(const Program& program, const Interner& names);
std::vector<std::string> scopes_of(const Program& program, const Session& session);
std::vector<std::string> constraints_of(const TypedProgram& typed, Session& session);

// Readers; the result says what is wrong, and is empty when all is well.
std::string apply_library(const std::vector<std::string>& texts, Program& program,
                          const Interner& names);
std::string apply_helpers(const std::vector<std::string>& texts, Program& program, Interner& names);
// Gives the binds and loops of flat bodies, which are not shared with anything, their prefixes.
std::string apply_scopes(const std::vector<std::string>& texts, Program& program, Session& session);

// A constraint's parts as text, not yet read as dims.
struct ConstraintText {
  size_t definition = 0;
  std::string_view left, right;
  bool or_one = false;
  bool guarded = false;
  std::vector<TypedGuard> guards;
};
std::string split_constraints(const std::vector<std::string>& texts, const Program& program,
                              const Interner& names, std::vector<ConstraintText>& out);

}  // namespace axon::sema
