// Lookup of module-level names: own, imported, qualified.
#include "sema/module_env.h"

#include <algorithm>

#include "support/check.h"
#include "support/text.h"

namespace axon::sema {

using namespace syntax;

ModuleEnvs::ModuleEnvs(const LoadedModules& modules, Session& session)
    : modules_(modules), session_(session) {
  envs_.resize(modules.modules.size());
  for (size_t i = 0; i < envs_.size(); ++i) build(i);
}

void ModuleEnvs::build(size_t module) {
  const Module& source = modules_.modules[module].module;
  Env& env = envs_[module];
  for (size_t i = 0; i < source.definitions.size(); ++i) {
    env.defs.emplace(source.definitions[i].name, i);
  }
  for (size_t i = 0; i < source.aliases.size(); ++i) env.aliases.emplace(source.aliases[i].name, i);
  for (const ImportMember& member : source.exports) {
    Entity entity = own(module, member.name);
    if (!entity) entity = import_member(module, member.name);
    if (entity && env.exports.emplace(member.name, entity).second) {
      env.export_order.push_back(member.name);
    }
  }
}

Entity ModuleEnvs::own(size_t module, NameId name) const {
  const Env& env = envs_[module];
  if (auto def = env.defs.find(name); def != env.defs.end()) {
    return {Entity::Kind::Def, module, def->second};
  }
  if (auto alias = env.aliases.find(name); alias != env.aliases.end()) {
    return {Entity::Kind::Alias, module, alias->second};
  }
  return {};
}

// An exported name that the module does not define: an imported namespace or member.
Entity ModuleEnvs::import_member(size_t module, NameId name) const {
  const LoadedModule& loaded = modules_.modules[module];
  Entity plain;
  for (size_t i = 0; i < loaded.module.imports.size(); ++i) {
    const Import& import = loaded.module.imports[i];
    size_t target = loaded.import_targets[i];
    if (import.module == name) return {Entity::Kind::Namespace, target, 0};
    for (const ImportMember& item : import.members) {
      if (item.name == name) return member(target, name);
    }
    if (!import.has_members && !plain) {
      auto found = envs_[target].exports.find(name);
      if (found != envs_[target].exports.end()) plain = found->second;
    }
  }
  return plain;
}

Entity ModuleEnvs::member(size_t module, NameId name) const {
  if (Entity entity = own(module, name)) return entity;
  auto found = envs_[module].exports.find(name);
  if (found != envs_[module].exports.end()) return found->second;
  const LoadedModule& loaded = modules_.modules[module];
  for (size_t i = 0; i < loaded.module.imports.size(); ++i) {
    if (loaded.module.imports[i].module == name) {
      return {Entity::Kind::Namespace, loaded.import_targets[i], 0};
    }
  }
  return {};
}

void ModuleEnvs::add(std::vector<Candidate>& to, Candidate candidate) {
  for (const Candidate& old : to) {
    if (old.entity == candidate.entity) return;
  }
  to.push_back(candidate);
}

// Modules that `text` names in a file: its imports, and namespaces that imports bring.
std::vector<Candidate> ModuleEnvs::namespaces(size_t module, std::string_view text) const {
  std::vector<Candidate> out;
  NameId name = session_.names.find(text);
  if (!name.valid()) return out;
  const LoadedModule& loaded = modules_.modules[module];
  for (size_t i = 0; i < loaded.module.imports.size(); ++i) {
    const Import& import = loaded.module.imports[i];
    size_t target = loaded.import_targets[i];
    if (import.module == name) add(out, {{Entity::Kind::Namespace, target, 0}, i});
    Entity entity;
    if (import.has_members) {
      for (const ImportMember& item : import.members) {
        if (item.name == name) entity = member(target, name);
      }
    } else if (envs_[target].exports_name(name)) {
      entity = envs_[target].exports.at(name);
    }
    if (entity.kind == Entity::Kind::Namespace) add(out, {entity, i});
  }
  return out;
}

// Follows `a.b.x` inside a module: namespaces that it hands on, then a name of its own.
Entity ModuleEnvs::through(size_t module, std::string_view rest, NameLookup& out) const {
  NameId whole = session_.names.find(rest);
  if (whole.valid()) {
    Entity entity = member(module, whole);
    if (entity.kind == Entity::Kind::Def) {
      out.owner = module;
      out.is_private = !envs_[module].exports_name(whole);
      return entity;
    }
  }
  for (size_t dot = rest.rfind('.'); dot != rest.npos && dot > 0; dot = rest.rfind('.', dot - 1)) {
    NameId head = session_.names.find(rest.substr(0, dot));
    if (!head.valid()) continue;
    auto found = envs_[module].exports.find(head);
    if (found == envs_[module].exports.end()) continue;
    if (found->second.kind != Entity::Kind::Namespace) continue;
    if (Entity entity = through(found->second.module, rest.substr(dot + 1), out)) return entity;
  }
  return {};
}

void ModuleEnvs::qualified(size_t module, std::string_view text, NameLookup& out) const {
  for (size_t dot = text.rfind('.'); dot != text.npos; dot = text.rfind('.', dot - 1)) {
    std::string_view head = text.substr(0, dot);
    std::vector<Candidate> spaces = namespaces(module, head);
    for (const Candidate& space : spaces) {
      Entity entity = through(space.entity.module, text.substr(dot + 1), out);
      if (entity) add(out.candidates, {entity, space.import});
    }
    if (!out.candidates.empty()) return;
    if (dot == 0) break;
  }
  // A module that only some other file imported.
  for (size_t dot = text.rfind('.'); dot != text.npos; dot = text.rfind('.', dot - 1)) {
    NameId head = session_.names.find(text.substr(0, dot));
    auto alias = modules_.module_aliases.find(head);
    for (size_t i = 0; head.valid() && i + 1 < modules_.modules.size(); ++i) {
      NameId name = modules_.modules[i].name;
      if (name != head && (alias == modules_.module_aliases.end() || name != alias->second)) {
        continue;
      }
      Entity entity = through(i, text.substr(dot + 1), out);
      if (!entity) continue;
      out.not_imported = true;
      add(out.candidates, {entity, kNoImport});
      return;
    }
    if (dot == 0) break;
  }
}

NameLookup ModuleEnvs::value(size_t module, NameId name, bool with_plain) const {
  NameLookup out;
  const Env& env = envs_[module];
  if (auto def = env.defs.find(name); def != env.defs.end()) {
    out.own = true;
    out.candidates.push_back({{Entity::Kind::Def, module, def->second}, kNoImport});
    return out;
  }
  std::string_view text = session_.names.text(name);
  if (text.find('.') != text.npos) {
    qualified(module, text, out);
    return out;
  }
  const LoadedModule& loaded = modules_.modules[module];
  for (size_t i = 0; i < loaded.module.imports.size(); ++i) {
    for (const ImportMember& item : loaded.module.imports[i].members) {
      if (item.name != name) continue;
      Entity entity = member(loaded.import_targets[i], name);
      if (entity.kind == Entity::Kind::Def) add(out.candidates, {entity, i});
    }
  }
  if (!out.candidates.empty() || !with_plain) return out;
  for (size_t i = 0; i < loaded.module.imports.size(); ++i) {
    if (loaded.module.imports[i].has_members) continue;
    const Env& target = envs_[loaded.import_targets[i]];
    auto found = target.exports.find(name);
    if (found != target.exports.end() && found->second.kind == Entity::Kind::Def) {
      add(out.candidates, {found->second, i});
    }
  }
  return out;
}

bool ModuleEnvs::imports_alias(size_t module, const Entity& alias,
                               std::vector<size_t>& through) const {
  if (alias.module == module) return true;
  const LoadedModule& loaded = modules_.modules[module];
  NameId name = modules_.modules[alias.module].module.aliases[alias.index].name;
  bool named = false;
  for (size_t i = 0; i < loaded.module.imports.size(); ++i) {
    const Import& import = loaded.module.imports[i];
    size_t target = loaded.import_targets[i];
    if (!(member(target, name) == alias)) continue;
    through.push_back(i);
    bool exported = !import.has_members && envs_[target].exports_name(name);
    named |= exported || std::any_of(import.members.begin(), import.members.end(),
                                     [&](const ImportMember& m) { return m.name == name; });
  }
  return named;
}

bool ModuleEnvs::lists_missing(size_t module, NameId name) const {
  if (meant_[module].count(name)) return true;
  const LoadedModule& loaded = modules_.modules[module];
  for (size_t i = 0; i < loaded.module.imports.size(); ++i) {
    const std::vector<ImportMember>& members = loaded.module.imports[i].members;
    bool listed = std::any_of(members.begin(), members.end(),
                              [&](const ImportMember& m) { return m.name == name; });
    if (listed && !member(loaded.import_targets[i], name)) return true;
  }
  return false;
}

void ModuleEnvs::check_lists() {
  meant_.resize(envs_.size());
  for (size_t i = 0; i < envs_.size(); ++i) {
    const LoadedModule& loaded = modules_.modules[i];
    for (size_t k = 0; k < loaded.module.imports.size(); ++k) {
      const Import& import = loaded.module.imports[k];
      size_t target = loaded.import_targets[k];
      for (const ImportMember& item : import.members) {
        if (member(target, item.name)) continue;
        Diagnostic& diag = session_.sink.report(
            Diag::ResImportMember, item.span,
            {session_.names.text(import.module), session_.names.text(item.name)});
        std::vector<std::string> known;
        for (const auto& [name, index] : envs_[target].defs) {
          known.emplace_back(session_.names.text(name));
        }
        for (const auto& [name, index] : envs_[target].aliases) {
          known.emplace_back(session_.names.text(name));
        }
        for (const std::string& near : closest(session_.names.text(item.name), known, 1)) {
          diag.note(Note::NoteDidYouMean, item.span, {"`" + near + "`"});
          meant_[i].insert(session_.names.intern(near));
        }
      }
    }
    for (const ImportMember& item : loaded.module.exports) {
      if (own(i, item.name) || import_member(i, item.name)) continue;
      Diagnostic& diag =
          session_.sink.report(Diag::ResExport, item.span, {session_.names.text(item.name)});
      std::vector<std::string> known;
      for (const auto& [name, index] : envs_[i].defs) known.emplace_back(session_.names.text(name));
      for (const std::string& near : closest(session_.names.text(item.name), known, 1))
        diag.note(Note::NoteDidYouMean, item.span, {"`" + near + "`"});
    }
  }
}

const Definition& ModuleEnvs::def(const Entity& entity) const {
  AXON_CHECK(entity.kind == Entity::Kind::Def, "entity is no definition");
  return modules_.modules[entity.module].module.definitions[entity.index];
}

NameId ModuleEnvs::canonical(const Entity& entity) const {
  NameId name = def(entity).name;
  if (entity.module == root()) return name;
  return session_.names.intern(module_name(entity.module) + "." +
                               std::string(session_.names.text(name)));
}

std::string ModuleEnvs::module_name(size_t module) const {
  if (module == root()) return {};
  return std::string(session_.names.text(modules_.modules[module].name));
}

bool ModuleEnvs::knows_module(std::string_view name) const {
  NameId id = session_.names.intern(name);
  auto named = [&](const LoadedModule& module) { return module.name == id; };
  return modules_.module_aliases.count(id) > 0 ||
         std::any_of(modules_.modules.begin(), modules_.modules.end(), named);
}

std::vector<std::string> ModuleEnvs::suggestions(size_t module, std::string_view name,
                                                 const std::vector<std::string>& locals) const {
  std::vector<std::string> known = locals;
  for (const auto& [own_name, index] : envs_[module].defs) {
    known.emplace_back(session_.names.text(own_name));
  }
  const LoadedModule& loaded = modules_.modules[module];
  std::vector<std::string> exact;
  auto add_module = [&](const Import& import, size_t target) {
    for (const auto& [id, index] : envs_[target].defs) {
      std::string plain(session_.names.text(id));
      std::string full = std::string(session_.names.text(import.module)) + "." + plain;
      if (plain == name) exact.push_back(full);
      known.push_back(full);
      if (!import.has_members && envs_[target].exports_name(id)) known.push_back(plain);
    }
    for (const ImportMember& item : import.members) {
      known.emplace_back(session_.names.text(item.name));
    }
  };
  // A module that is imported by its own name is known by no other.
  auto has_better = [&](size_t at) {
    const size_t target = loaded.import_targets[at];
    const NameId real = modules_.modules[target].name;
    for (size_t i = 0; i < loaded.module.imports.size(); ++i) {
      const bool same =
          loaded.import_targets[i] == target && loaded.module.imports[i].module == real;
      if (same && loaded.module.imports[at].module != real) return true;
    }
    return false;
  };
  for (size_t i = 0; i < loaded.module.imports.size(); ++i) {
    if (!has_better(i)) add_module(loaded.module.imports[i], loaded.import_targets[i]);
  }
  std::sort(exact.begin(), exact.end());
  if (!exact.empty()) return exact;
  return closest(name, known);
}

}  // namespace axon::sema
