// What each loaded module knows by which name (language.md 7.2, 7.3).
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "sema/stages.h"

namespace axon::sema {

// Something a module can hand on: a definition or global binding, an alias, or a namespace.
struct Entity {
  enum class Kind : uint8_t { None, Def, Alias, Namespace } kind = Kind::None;
  size_t module = 0;
  size_t index = 0;  // of the definition or alias; unused for namespaces
  explicit operator bool() const { return kind != Kind::None; }
  friend bool operator==(const Entity&, const Entity&) = default;
};

// The import that a name came through, for unused-import warnings.
constexpr size_t kNoImport = static_cast<size_t>(-1);

struct Candidate {
  Entity entity;
  size_t import = kNoImport;
};

// Outcome of a lookup: one candidate is a hit, several an ambiguity.
struct NameLookup {
  std::vector<Candidate> candidates;
  bool own = false;           // defined in the asking file
  bool not_imported = false;  // found in a module that the file does not import
  bool is_private = false;    // found by a qualified name though not exported
  size_t owner = 0;           // the module of a qualified hit
};

class ModuleEnvs {
 public:
  explicit ModuleEnvs(const LoadedModules& modules, Session& session);

  // Names of definitions and global bindings, qualified or not. `with_plain`: whether what a plain
  // `import N` brings counts (it does not in dims).
  NameLookup value(size_t module, NameId name, bool with_plain) const;
  // What `module` has under `name` for others: its own, or re-exported.
  Entity member(size_t module, NameId name) const;
  // Whether the file may use the alias without a warning; marks the import that brings it.
  bool imports_alias(size_t module, const Entity& alias, std::vector<size_t>& through) const;
  // Whether an import list of the file names a member that does not exist, or was meant to name
  // this one; it has been reported.
  bool lists_missing(size_t module, NameId name) const;
  // Reports members and exports that do not exist.
  void check_lists();

  const syntax::Definition& def(const Entity& entity) const;
  NameId canonical(const Entity& entity) const;
  std::string module_name(size_t module) const;  // empty for the root
  size_t root() const { return modules_.modules.size() - 1; }
  const LoadedModules& modules() const { return modules_; }
  // Whether a module of that name was loaded.
  bool knows_module(std::string_view name) const;
  // Names near a misspelled one, as a user would write them.
  std::vector<std::string> suggestions(size_t module, std::string_view name,
                                       const std::vector<std::string>& locals) const;

 private:
  struct Env {
    std::unordered_map<NameId, size_t, IdHash> defs;
    std::unordered_map<NameId, size_t, IdHash> aliases;
    std::unordered_map<NameId, Entity, IdHash> exports;
    std::vector<NameId> export_order;
    bool exports_name(NameId name) const { return exports.count(name) > 0; }
  };

  void build(size_t module);
  Entity own(size_t module, NameId name) const;
  Entity import_member(size_t module, NameId name) const;  // a name in an export list
  void qualified(size_t module, std::string_view text, NameLookup& out) const;
  std::vector<Candidate> namespaces(size_t module, std::string_view text) const;
  Entity through(size_t module, std::string_view rest, NameLookup& out) const;
  static void add(std::vector<Candidate>& to, Candidate candidate);

  const LoadedModules& modules_;
  Session& session_;
  std::vector<std::unordered_set<NameId, IdHash>> meant_;  // by misspelt members, of each module
  std::vector<Env> envs_;
};

}  // namespace axon::sema
