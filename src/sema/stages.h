// The stages of the front end as functions from one value type to the next (language.md 10,
// design.md 2). Each reports to the session's sink; a stage that reported an error is the last (the
// driver stops).
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "model/config_value.h"
#include "model/param_index.h"
#include "sema/session.h"

namespace axon::sema {

// ---- load ----------------------------------------------------------------------------------

struct LoadedModule {
  syntax::Module module;
  NameId name;  // namespace; invalid for the root
  bool from_library = false;
  std::vector<size_t>
      import_targets;  // parallel to module.imports: index into LoadedModules::modules
};
// Dependencies before dependents, imports of one file alphabetically; the root is last.
struct LoadedModules {
  std::vector<LoadedModule> modules;
  std::unordered_map<NameId, NameId, IdHash>
      module_aliases;  // other import names of a module → canonical
  std::vector<std::string> overlays;
};
struct LoadOptions {
  std::vector<std::string> search_path;  // AXON_PATH entries
  std::vector<std::string> overlays;     // in command-line order
};
// Where library files come from: the text of `static/Cache.axon`, or null. Memory-backed in tests.
struct LibrarySource {
  virtual ~LibrarySource() = default;
  virtual const std::string_view* find(std::string_view relative_path) const = 0;
  // All paths, for suggestions; a source need not know them.
  virtual std::vector<std::string> paths() const { return {}; }
};
// Parses `root_path` (already in session.files as `root`) and everything it imports
// (language.md 7.1).
LoadedModules load(FileId root, const LibrarySource& library, const LoadOptions& options,
                   Session& session);

// ---- resolve … flatten ---------------------------------------------------------------------

// One closed program: canonical names, no imports. The same struct carries the later stages; what
// may occur in it is the stage's validator's business.
struct Program {
  std::vector<syntax::Definition>
      definitions;  // dependencies of files first, source order within a file
  std::vector<syntax::TypeAlias> aliases;  // empty from flatten on
  std::vector<syntax::Pragma> pragmas;     // the root's
  NameId main;
  std::unordered_map<NameId, size_t, IdHash> by_name;
  std::vector<std::string> overlays;
};
struct ClosedProgram {
  Program program;
};
struct NormalizedProgram {
  Program program;
};
// MAIN's defaults, which elaboration takes out of the program (language.md 10.6): by parameter.
using MainDefaults = std::vector<std::pair<NameId, syntax::ExprId>>;
struct ElaboratedProgram {
  Program program;
  MainDefaults main_defaults;
};
struct FlatProgram {
  Program program;
  MainDefaults main_defaults;
};

struct ResolveOptions {
  std::string main;  // explicit entry name, or empty
  // Definitions are missing, the entry may be one of them: all of the user's files that are there
  // make the program, and any of them its entry. For errors in them, not for running.
  bool partial = false;
};
ClosedProgram resolve(const LoadedModules& modules, const ResolveOptions& options,
                      Session& session);

// The checkpoint's answers; both may be null (no checkpoint).
struct Answers {
  const model::ConfigValue* config = nullptr;
  const model::ParamIndex* params = nullptr;
};
// What became of each config key that the program asks for.
struct ConfigRead {
  std::string key;
  enum class Outcome : uint8_t { Read, Defaulted, Missing } outcome = Outcome::Read;
  std::string value;  // shown
  Span span;
};
struct Materialized {
  ClosedProgram closed;
  std::vector<ConfigRead> config_reads;
};
Materialized materialize(const ClosedProgram& closed, const Answers& answers, Session& session);

NormalizedProgram normalize(const ClosedProgram& closed, Session& session);
ElaboratedProgram elaborate(const NormalizedProgram& normalized, Session& session);
FlatProgram flatten(const ElaboratedProgram& elaborated, Session& session);

// ---- typecheck -----------------------------------------------------------------------------

struct TypedParam {
  NameId name;
  TypeId type;
  bool optional = false;
};
// What a parameter is where a constraint is needed.
struct TypedGuard {
  NameId param;
  enum class Is : uint8_t { Null, NotNull, True, False } is = Is::Null;
  friend bool operator==(const TypedGuard&, const TypedGuard&) = default;
};
// What must hold of the sizes that a definition is given: `left == right`; with `or_one`, a `left`
// of 1 will do as well.
struct TypedConstraint {
  DimId left, right;
  bool or_one = false;
  bool guarded = false;  // found in a branch: calls that do not take it need not keep it
  // That branch is only taken where all of these hold; what else decides it they do not say.
  std::vector<TypedGuard> guards;
};
struct TypedDefinition {
  std::vector<TypedParam> params;
  TypeId return_type;
  // Among them, for each name of the header that was made equal to something else, that it is.
  std::vector<TypedConstraint> constraints;
  // Names of dims that are values in the body, and what each is in the terms of the types: a name
  // that was made equal to another stands for that one's dim.
  std::vector<std::pair<NameId, DimId>> dim_values;
};
struct TypedProgram {
  FlatProgram flat;                          // ternaries decided for every call may be gone
  std::vector<TypeId> type_of;               // by ExprId, for every expression of the program
  std::vector<TypedDefinition> definitions;  // parallel to flat.program.definitions
  size_t bodies_checked = 0;                 // generic checks and checks for calls
};
TypedProgram typecheck(const FlatProgram& flat, const Answers& answers, Session& session);

}  // namespace axon::sema
