// Finds, reads and parses the root file and everything it imports (language.md 7.1).
#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <unordered_set>

#include "sema/overlay.h"
#include "sema/stages.h"
#include "support/file.h"
#include "support/text.h"
#include "syntax/parse.h"

namespace axon::sema {

using namespace syntax;

namespace {

struct LegacyName {
  std::string_view old_name;
  std::string_view module;
  std::string_view overlay;  // empty: the base definitions
};
// Names that the library's modules had in older models (language.md 15, A-79).
constexpr std::array<LegacyName, 6> kLegacy = {{{"DynamicCache", "Cache", ""},
                                                {"DynamicMasking", "Masking", ""},
                                                {"DynamicPositions", "Positions", ""},
                                                {"StaticCache", "Cache", "static"},
                                                {"StaticMasking", "Masking", "static"},
                                                {"StaticPositions", "Positions", "static"}}};

// What an import denotes before it is read.
struct Found {
  bool library = false;
  std::string path;                   // a real path, or a path inside the library
  std::vector<std::string> overlays;  // library: folders to merge
  std::string name;                   // the namespace it would get
  std::string key() const { return library ? "library:" + path + "|" + join(overlays, ",") : path; }
};

std::string expand_home(const std::string& entry) {
  if (entry.empty() || entry[0] != '~' || (entry.size() > 1 && entry[1] != '/')) return entry;
  const char* home = std::getenv("HOME");
  return home ? home + entry.substr(1) : entry;
}

std::vector<std::string> clean_search_path(const std::vector<std::string>& entries) {
  std::vector<std::string> out;
  for (const std::string& entry : entries) {
    std::string folder = expand_home(entry);
    if (!folder.empty() && std::find(out.begin(), out.end(), folder) == out.end()) {
      out.push_back(folder);
    }
  }
  return out;
}

class Loader {
 public:
  Loader(const LibrarySource& library, const LoadOptions& options, Session& session)
      : library_(library), search_path_(clean_search_path(options.search_path)), session_(session) {
    out_.overlays = options.overlays;
  }

  LoadedModules run(FileId root) {
    LoadedModule module;
    module.module = parse_file(root);
    std::string path = session_.files.path(root);
    std::string key = real_path(path);
    open_.push_back({key, base_name(path)});
    state_[key] = kOpen;
    load_imports(module, parent_path(path));
    set_origin(module);
    out_.modules.push_back(std::move(module));
    return std::move(out_);
  }

 private:
  static constexpr size_t kOpen = static_cast<size_t>(-1);
  static constexpr size_t kNone = static_cast<size_t>(-2);

  // A misspelt import as it was meant.
  struct Mended {
    Import import;
    size_t target;
  };

  Module parse_file(FileId file) {
    return parse(file, session_.files, session_.names, session_.ast, session_.sink);
  }

  void set_origin(LoadedModule& module) {
    for (Definition& def : module.module.definitions) def.from_library = module.from_library;
  }

  // Loads what the module imports, in alphabetical order, and records the targets.
  void load_imports(LoadedModule& module, const std::string& folder) {
    const std::vector<Import>& imports = module.module.imports;
    module.import_targets.assign(imports.size(), kNone);
    std::vector<size_t> order(imports.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return session_.names.text(imports[a].module) < session_.names.text(imports[b].module);
    });
    std::vector<Mended> mended;
    for (size_t i : order) {
      module.import_targets[i] = load_import(imports[i], module.from_library, folder, mended);
    }
    drop_failed(module);
    // What the file calls by its right name is there as well.
    for (Mended& more : mended) {
      module.module.imports.push_back(std::move(more.import));
      module.import_targets.push_back(more.target);
    }
  }

  void drop_failed(LoadedModule& module) {
    std::vector<Import> imports;
    std::vector<size_t> targets;
    for (size_t i = 0; i < module.import_targets.size(); ++i) {
      if (module.import_targets[i] == kNone) continue;
      imports.push_back(module.module.imports[i]);
      targets.push_back(module.import_targets[i]);
    }
    module.module.imports = std::move(imports);
    module.import_targets = std::move(targets);
  }

  // Reports the import; where only one module can have been meant, that one is loaded for it.
  size_t report_missing(const Import& import, bool from_library, const std::string& folder,
                        const std::vector<std::string>& tried, std::vector<Mended>& mended) {
    const std::string name(session_.names.text(import.module));
    Diagnostic& diag =
        session_.sink.report(Diag::LoadNotFound, import.span, {name, join(tried, ", ")});
    if (name == "import") {
      diag.note(Note::NoteHere, import.span, {"the second `import` is the name of a module"});
      return kNone;
    }
    if (const auto owner = load_owner(import, from_library, folder, mended)) return *owner;
    const std::vector<std::string> near = closest(name, module_names(folder), 2);
    if (near.empty()) return kNone;
    diag.note(Note::NoteDidYouMean, import.span, {"`" + near[0] + "`"});
    std::vector<std::string> unused;
    std::optional<Found> found = find(near[0], from_library, folder, unused);
    const int edits = edit_distance(name, near[0]);
    const bool certain = near.size() == 1 || (edits <= 2 && edits < edit_distance(name, near[1]));
    if (!certain || !found) return kNone;
    auto known = state_.find(found->key());
    if (known != state_.end() && known->second == kOpen) return kNone;
    const Span written{import.span.file, import.span.begin,
                       import.span.begin + static_cast<int32_t>(name.size())};
    diag.fix(written, near[0]);
    Import meant = import;
    meant.module = session_.names.intern(near[0]);
    const size_t target = load_import(meant, from_library, folder, mended);
    if (target == kNone) return kNone;
    add_alias(import.module, target);
    mended.push_back({std::move(meant), target});
    return target;
  }

  // `import T.name`, where `name` is no module but a member of T, which is loaded for it.
  std::optional<size_t> load_owner(const Import& import, bool from_library,
                                   const std::string& folder, std::vector<Mended>& mended) {
    const std::string name(session_.names.text(import.module));
    const size_t dot = name.rfind('.');
    if (dot == name.npos || import.has_members) return {};
    const std::string owner = name.substr(0, dot), member = name.substr(dot + 1);
    std::vector<std::string> unused;
    std::optional<Found> found = find(owner, from_library, folder, unused);
    if (!found) return {};
    auto known = state_.find(found->key());
    if (known != state_.end() && known->second == kOpen) return {};
    const size_t at = session_.sink.all().size() - 1;  // of the report
    Import meant = import;
    meant.module = session_.names.intern(owner);
    const size_t target = load_import(meant, from_library, folder, mended);
    if (target == kNone) return kNone;
    const NameId own = session_.names.intern(member);
    const std::vector<Definition>& all = out_.modules[target].module.definitions;
    const bool has =
        std::any_of(all.begin(), all.end(), [&](const Definition& def) { return def.name == own; });
    Diagnostic& report = session_.sink.all()[at];
    report.note(Note::NoteHere, import.span,
                {"what `" + owner + "` has is listed behind its name: `import " + owner + " (" +
                 member + ")`"});
    if (has) report.fix(import.span, owner + " (" + member + ")");
    mended.push_back({meant, target});
    if (has) {
      meant.has_members = true;
      meant.members = {{own, import.span}};
      mended.push_back({std::move(meant), target});
    }
    return target;
  }

  size_t load_import(const Import& import, bool from_library, const std::string& folder,
                     std::vector<Mended>& mended) {
    std::string name(session_.names.text(import.module));
    std::vector<std::string> tried;
    std::optional<Found> found = find(name, from_library, folder, tried);
    if (!found) found = find_legacy(import, tried);
    if (!found) return report_missing(import, from_library, folder, tried, mended);
    auto known = state_.find(found->key());
    if (known != state_.end() && known->second == kOpen) return report_cycle(import, *found);
    if (known != state_.end()) {
      if (known->second != kNone) add_alias(import.module, known->second);
      return known->second;
    }
    size_t index = load_module(import, *found);
    state_[found->key()] = index;
    if (index != kNone) add_alias(import.module, index);
    return index;
  }

  void add_alias(NameId name, size_t index) {
    if (name != out_.modules[index].name)
      out_.module_aliases.emplace(name, out_.modules[index].name);
  }

  std::optional<Found> find(const std::string& name, bool from_library, const std::string& folder,
                            std::vector<std::string>& tried) {
    std::string relative = name;
    std::replace(relative.begin(), relative.end(), '.', '/');
    relative += ".axon";
    std::vector<std::string> folders;
    if (!from_library) folders.push_back(folder);
    folders.insert(folders.end(), search_path_.begin(), search_path_.end());
    for (const std::string& at : folders) {
      std::string path = at.empty() ? relative : path_join(at, relative);
      tried.push_back("`" + path + "`");
      if (file_exists(path)) return Found{false, real_path(path), {}, name};
    }
    tried.push_back("`" + relative + "` of the library");
    if (library_has(relative, out_.overlays)) return Found{true, relative, out_.overlays, name};
    return {};
  }

  // Modules of the library and beside the importing file, as imports write them.
  std::vector<std::string> module_names(const std::string& folder) const {
    std::vector<std::string> files = library_.paths();
    std::vector<std::string> beside = list_directory(folder.empty() ? "." : folder);
    files.insert(files.end(), beside.begin(), beside.end());
    std::vector<std::string> out;
    for (const std::string& file : files) {
      bool overlay = file.find('/') != file.npos;
      if (ends_with(file, ".axon") && !overlay) out.push_back(file.substr(0, file.size() - 5));
    }
    return out;
  }

  bool library_has(const std::string& relative, const std::vector<std::string>& overlays) {
    if (library_.find(relative)) return true;
    return std::any_of(overlays.begin(), overlays.end(), [&](const std::string& overlay) {
      return library_.find(path_join(overlay, relative)) != nullptr;
    });
  }

  std::optional<Found> find_legacy(const Import& import, std::vector<std::string>& tried) {
    std::string_view name = session_.names.text(import.module);
    for (const LegacyName& legacy : kLegacy) {
      if (legacy.old_name != name) continue;
      std::string relative = std::string(legacy.module) + ".axon";
      std::vector<std::string> overlays;
      if (!legacy.overlay.empty()) overlays = {std::string(legacy.overlay)};
      if (!library_has(relative, overlays)) {
        tried.push_back("`" + relative + "` of the library");
        return {};
      }
      // An overlay that has nothing for the module leaves it as it is.
      std::vector<std::string> chosen = out_.overlays;
      std::string shown(legacy.module);
      if (chosen == overlays || overlays_of(relative, chosen) == overlays_of(relative, overlays)) {
        overlays = chosen;
      } else {
        shown = name;
      }
      Span written{import.span.file, import.span.begin,
                   import.span.begin + static_cast<int32_t>(name.size())};
      Diagnostic& diag =
          session_.sink.report(Diag::WLegacyModule, written, {name, std::string(legacy.module)});
      if (legacy.overlay.empty()) diag.fix(written, std::string(legacy.module));
      return Found{true, relative, overlays, shown};
    }
    return {};
  }

  std::vector<std::string> overlays_of(const std::string& relative,
                                       const std::vector<std::string>& overlays) {
    std::vector<std::string> out;
    for (const std::string& overlay : overlays) {
      if (library_.find(path_join(overlay, relative))) out.push_back(overlay);
    }
    return out;
  }

  size_t report_cycle(const Import& import, const Found& found) {
    std::string text;
    auto from = std::find_if(open_.begin(), open_.end(),
                             [&](const auto& entry) { return entry.first == found.key(); });
    for (auto at = from; at != open_.end(); ++at) text += at->second + " → ";
    text += from->second;
    session_.sink.report(Diag::LoadCycle, import.span, {text});
    return kNone;
  }

  // Reads a module and what it imports; kNone when it cannot be read.
  size_t load_module(const Import& import, const Found& found) {
    LoadedModule module;
    module.from_library = found.library;
    if (found.library) {
      module.module = parse_library(found);
    } else {
      Result<std::string> text = read_file(found.path);
      if (!text) {
        session_.sink.report(Diag::LoadRead, import.span, {found.path, text.error().message});
        return kNone;
      }
      module.module = parse_file(session_.files.add(found.path, std::move(*text)));
    }
    module.name = unique_name(found.name);
    state_[found.key()] = kOpen;
    open_.push_back({found.key(), found.name});
    load_imports(module, found.library ? "" : parent_path(found.path));
    open_.pop_back();
    set_origin(module);
    out_.modules.push_back(std::move(module));
    return out_.modules.size() - 1;
  }

  Module parse_library(const Found& found) {
    std::optional<Module> merged;
    auto add = [&](const std::string& path) {
      const std::string_view* text = library_.find(path);
      if (!text) return;
      Module next = parse_file(session_.files.add("library/" + path, std::string(*text)));
      if (merged) {
        merge_overlay(*merged, std::move(next));
      } else {
        merged = std::move(next);
      }
    };
    add(found.path);
    for (const std::string& overlay : found.overlays) add(path_join(overlay, found.path));
    return std::move(*merged);
  }

  // Two files may be imported under one name from different folders; each is a module of its own.
  NameId unique_name(const std::string& wanted) {
    NameId name = session_.names.intern(wanted);
    for (int n = 2; !taken_.insert(name.index).second; ++n) {
      name = session_.names.intern(wanted + "_" + std::to_string(n));
    }
    return name;
  }

  const LibrarySource& library_;
  std::vector<std::string> search_path_;
  Session& session_;
  LoadedModules out_;
  std::unordered_map<std::string, size_t> state_;          // by Found::key()
  std::vector<std::pair<std::string, std::string>> open_;  // key, name shown
  std::unordered_set<int32_t> taken_;
};

}  // namespace

LoadedModules load(FileId root, const LibrarySource& library, const LoadOptions& options,
                   Session& session) {
  return Loader(library, options, session).run(root);
}

}  // namespace axon::sema
