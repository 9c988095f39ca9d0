// Takes what has an error out of a program, and checks the rest: a value where only that is wrong,
// a whole definition with all that mentions it where its head is.
#include "driver/later_errors.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "driver/source_pieces.h"
#include "sema/unread.h"
#include "support/text.h"
#include "syntax/structure.h"

namespace axon::driver {
namespace {

using syntax::Definition;

bool contains(Span outer, Span inner) {
  return outer.valid() && outer.file == inner.file && outer.begin <= inner.begin &&
         inner.begin < std::max(outer.end, outer.begin + 1);
}

// Errors that say something of the whole program, which is not there.
bool of_the_whole(Diag id) {
  return id == Diag::ResMain || id == Diag::ResMainPath || id == Diag::TypeMainSig ||
         id == Diag::BugStage;
}

// Errors of what defines a name: that name, or another, may be missing elsewhere.
bool is_of_a_name(Diag id) {
  return id == Diag::AstDupDef || id == Diag::AstSigName || id == Diag::AstName ||
         id == Diag::AstReserved;
}
bool is_unknown_name(Diag id) {
  return id == Diag::ResUnknown || id == Diag::ResPlaceholder || id == Diag::ResDimUnbound ||
         id == Diag::TypeUnknown;
}

// Errors after which the front end went on with what was certainly meant.
bool is_mended(const Diagnostic& d) {
  return !d.fixes.empty() && (d.id == Diag::ParSyntax || d.id == Diag::ParUnary ||
                              d.id == Diag::LexChar || d.id == Diag::LoadNotFound);
}

// Errors about the statements of a body: its head is as it was meant.
bool is_of_a_body(Diag id) {
  return id == Diag::AstNoReturn || id == Diag::AstUnreachable || id == Diag::AstReturnInLoop ||
         id == Diag::AstYield || id == Diag::AstScopeArity || id == Diag::AstLoopArity ||
         id == Diag::FlatMixedReturn || id == Diag::LayEmptyDo || id == Diag::LayDedent;
}

class Survey {
 public:
  Survey(Frontend& f, const FrontendOptions& options)
      : options_(options), session_(*f.session), rest_(*f.loaded) {
    for (const sema::LoadedModule& module : rest_.modules) {
      if (!module.from_library) files_.push_back(module.module.file);
    }
    for (FileId file : files_) pieces_.add(file, session_.files.text(file));
    main_ = main_name();
  }

  void run() {
    DiagSink told = std::move(session_.sink);
    bool loaded = true;
    std::vector<Diagnostic> errors;
    for (const Diagnostic& d : told.all()) {
      places_.insert(place_of(d));
      if (told.severity(d) != Severity::Error) continue;
      errors.push_back(d);
      const bool of_library =
          d.span.valid() && std::find(files_.begin(), files_.end(), d.span.file) == files_.end();
      loaded &= d.id != Diag::LoadCycle && !of_library;
    }
    if (loaded) {
      take_out_unread();
      end_blocks();
      check_rest(told, std::move(errors));
    }
    session_.sink = std::move(told);
  }

 private:
  // Every round takes something out, and a stage that has no more errors hands on to the next.
  void check_rest(DiagSink& told, std::vector<Diagnostic> errors) {
    constexpr int kRounds = 12;
    for (int round = 0; round < kRounds; ++round) {
      bool less = false;
      for (const Diagnostic& d : errors) less |= take_out(d);
      if (!less && round > 0) return;
      spread();
      check_names(told);
      const sema::LoadedModules part = what_is_left();
      session_.sink = DiagSink();
      const bool last = run_stages(part);
      errors.clear();
      for (const Diagnostic& d : session_.sink.all()) {
        if (session_.sink.severity(d) == Severity::Error) errors.push_back(d);
      }
      lose_strange_types();
      for (const Diagnostic& d : errors) tell(told, d);
      if (last || errors.empty()) return;
    }
  }

  // Names are looked up in what mentions lost ones, too.
  void check_names(DiagSink& told) {
    constexpr int kRounds = 4;
    for (int round = 0; round < kRounds; ++round) {
      session_.sink = DiagSink();
      sema::resolve(what_has_names(), {main_, true}, session_);
      std::vector<Diagnostic> errors;
      for (const Diagnostic& d : session_.sink.all()) {
        const bool of_use = d.id == Diag::ResUnknown || d.id == Diag::ResPlaceholder ||
                            d.id == Diag::ResNotCallable || d.id == Diag::ResDiscard;
        const Definition* def = definition_at(d.span);
        const bool broken = def && broken_.count(session_.names.text(def->name)) > 0;
        if (of_use && !broken) errors.push_back(d);
      }
      bool less = false;
      for (const Diagnostic& d : errors) tell_once(told, d);
      for (const Diagnostic& d : errors) less |= take_out(d);
      if (!less) return;
      spread();
    }
  }

  using Place = std::tuple<Diag, int32_t, int32_t, int32_t>;
  static Place place_of(const Diagnostic& d) {
    return {d.id, d.span.file.index, d.span.begin, d.span.end};
  }

  void tell(DiagSink& told, const Diagnostic& d) {
    const Definition* def = definition_at(d.span);
    // A name that only one branch gives is missed behind them, which has been told.
    if (d.id == Diag::FlatMixedReturn && def && !sema::unread_in(*def, session_.ast).empty())
      return;
    if (!def || !lost_.count(session_.names.text(def->name))) tell_once(told, d);
  }

  void tell_once(DiagSink& told, const Diagnostic& d) {
    const int32_t file = d.span.file.index;
    const bool unsure = unsure_ || unsure_files_.count(file) > 0 || blind_.count(file) > 0;
    if (of_the_whole(d.id) || mentions_lost(d) || (unsure && is_unknown_name(d.id))) return;
    if (is_unknown_name(d.id) && is_in_unread(d)) return;
    if (!places_.insert(place_of(d)).second) return;
    Diagnostic& added = told.report(d.id, d.span, d.args);
    added.notes = d.notes;
    added.fixes = d.fixes;
    added.context = d.context;
  }

  bool mentions_lost(const Diagnostic& d) const {
    for (const DiagArg& arg : d.args) {
      for (std::string_view word : words_in(arg.text)) {
        if (lost_.count(word)) return true;
      }
    }
    return false;
  }

  // What could not be read may have bound the name, or was told because of it.
  bool is_in_unread(const Diagnostic& d) {
    const Definition* def = definition_at(d.span);
    if (!def) return false;
    std::string name = d.args[0].text;
    const bool no_module = std::any_of(d.notes.begin(), d.notes.end(), [](const DiagNote& note) {
      return note.id == Note::NoteHere && starts_with(note.args[0].text, "no module");
    });
    if (no_module) name = name.substr(0, name.find('.'));
    return is_unread_word(*def, name.substr(name.rfind('.') + 1));
  }

  bool is_unread_word(const Definition& def, std::string_view word) const {
    for (Span where : sema::unread_in(def, session_.ast)) {
      const std::string_view text = session_.files.text(where.file);
      const std::vector<std::string_view> words = words_in(text.substr(
          static_cast<size_t>(where.begin), static_cast<size_t>(where.end - where.begin)));
      if (std::binary_search(words.begin(), words.end(), word)) return true;
    }
    return false;
  }

  Definition* definition_at(Span span) {
    for (sema::LoadedModule& module : rest_.modules) {
      if (module.module.file != span.file) continue;
      std::vector<Definition>& all = module.module.definitions;
      auto after = std::partition_point(all.begin(), all.end(), [&](const Definition& def) {
        return def.span.begin <= span.begin;
      });
      if (after != all.begin() && contains((after - 1)->span, span)) return &*(after - 1);
    }
    return nullptr;
  }

  // What reads as a type variable may be an alias of a module that was not found.
  void lose_strange_types() {
    for (const Diagnostic& d : session_.sink.all()) {
      if (d.id != Diag::WTypevar || !unsure_files_.count(d.span.file.index)) continue;
      lose(d.args[0].text);
      if (const Definition* def = definition_at(d.span)) lose(session_.names.text(def->name));
    }
    spread();
  }

  // Whether the stages came to their end.
  bool run_stages(const sema::LoadedModules& part) {
    const bool any = std::any_of(part.modules.begin(), part.modules.end(), [](const auto& m) {
      return !m.from_library && !m.module.definitions.empty();
    });
    if (!any) return true;
    auto stops = [&](Stage next) {
      return session_.sink.has_errors() || options_.stop_after < next;
    };
    sema::ClosedProgram closed = sema::resolve(part, {main_, true}, session_);
    if (stops(Stage::Materialize) || closed.program.definitions.empty()) return false;
    sema::Materialized known = sema::materialize(closed, options_.answers, session_);
    if (stops(Stage::Normalize)) return false;
    sema::NormalizedProgram normalized = sema::normalize(known.closed, session_);
    if (stops(Stage::Elaborate)) return false;
    sema::ElaboratedProgram elaborated = sema::elaborate(normalized, session_);
    if (stops(Stage::Flatten)) return false;
    sema::FlatProgram flat = sema::flatten(elaborated, session_);
    if (stops(Stage::Typecheck)) return false;
    sema::typecheck(flat, options_.answers, session_);
    return true;
  }

  // ---- what is lost ------------------------------------------------------------------------

  bool lose(std::string_view name) { return lost_.insert(std::string(name)).second; }

  bool lose_file(FileId file) {
    bool less = blind_.insert(file.index).second;
    for (const Piece& piece : pieces_.all()) {
      if (piece.file == file && !piece.name.empty()) less |= lose(piece.name);
    }
    return less;
  }

  // Later stages are given blocks that end. Where the end of a body could not be read, it returns
  // what is not known; of one that lacks another end nothing is known.
  void end_blocks() {
    auto whole = [&](const Definition& def) {
      return syntax::has_whole_blocks(def, session_.ast, session_.names);
    };
    for (sema::LoadedModule& module : rest_.modules) {
      if (module.from_library) continue;
      for (Definition& def : module.module.definitions) {
        if (whole(def)) continue;
        if (def.statement_body && !def.body.empty()) {
          def.body.push_back(sema::unread_return(session_.ast[def.body.back()].span, session_));
          if (whole(def)) continue;
        }
        sema::take_out_body(def, session_);
        if (!is_function(def) || !whole(def)) lose(session_.names.text(def.name));
      }
    }
  }

  // Items that the parser made nothing of.
  void take_out_unread() {
    std::set<std::pair<int32_t, std::string_view>> made;
    for (const sema::LoadedModule& module : rest_.modules) {
      const int32_t file = module.module.file.index;
      for (const Definition& def : module.module.definitions) {
        made.insert({file, session_.names.text(def.name)});
        if (!is_function(def) && !sema::unread_in(def, session_.ast).empty())
          lose(session_.names.text(def.name));
      }
      for (const auto& alias : module.module.aliases)
        made.insert({file, session_.names.text(alias.name)});
    }
    for (const Piece& piece : pieces_.all()) {
      bool named = piece.kind == Piece::Kind::Definition || piece.kind == Piece::Kind::Alias;
      if (named && !made.count({piece.file.index, piece.name})) lose(piece.name);
    }
  }

  // A line without a sign of what it defines may have been meant as an import, unless it is known
  // what else was meant.
  bool may_import(const Diagnostic& d, const Piece& piece) const {
    std::string_view text =
        session_.files.text(piece.file).substr(static_cast<size_t>(piece.begin));
    std::string_view line = text.substr(0, text.find('\n'));
    const bool told = std::any_of(d.notes.begin(), d.notes.end(), [&](const DiagNote& note) {
      return note.id == Note::NoteHere && note.span.begin == piece.begin;
    });
    if (told && line.find("import") == line.npos) return false;
    return piece.kind == Piece::Kind::Definition && !begins_statement(piece.name) &&
           line.find('=') == line.npos && line.find("::") == line.npos &&
           line.find("<-") == line.npos;
  }

  bool is_foreign_comment(const Piece& piece) const {
    const char first = session_.files.text(piece.file)[static_cast<size_t>(piece.begin)];
    return piece.name.empty() && std::string_view("/*\"#").find(first) != std::string_view::npos;
  }

  // Where the first word may have been meant as a keyword, the second is the name.
  bool lose_misspelt(const Diagnostic& d, const Piece& piece) {
    const bool misspelt = std::any_of(d.notes.begin(), d.notes.end(), [&](const DiagNote& note) {
      const bool says = note.id == Note::NoteDidYouMean || note.id == Note::NoteHere;
      return says && note.span.begin == piece.begin;
    });
    if (!misspelt) return false;
    std::string_view text = session_.files.text(piece.file);
    text = text.substr(static_cast<size_t>(piece.begin) + piece.name.size());
    std::string_view line = text.substr(0, text.find('\n'));
    const size_t begin = line.find_first_not_of(" \t");
    if (begin == line.npos) return false;
    std::string_view rest = line.substr(begin);
    std::string_view second = rest.substr(0, rest.find_first_of(" \t[=("));
    return !second.empty() && lose(second);
  }

  // Items that the parser may have taken for lines of the one around them.
  bool lose_inner(const Diagnostic& d) {
    const Piece* piece = pieces_.at(d.span);
    bool less = false;
    if (!piece) return less;
    for (std::string_view name : inner_names(*piece, session_.files.text(piece->file))) {
      if (name != piece->name) less |= lose(name);
    }
    return less;
  }

  // A constant is also a size: of what mentions it nothing can be said.
  static bool is_function(const Definition& def) {
    return !def.is_global && !(def.params.empty() && def.path_params.empty());
  }

  // Whether something less is left of the program without what the error is about.
  bool take_out(const Diagnostic& d) {
    if (!d.span.valid()) return of_the_whole(d.id);
    if (is_mended(d)) return false;
    if (std::find(files_.begin(), files_.end(), d.span.file) == files_.end()) return false;
    bool less = of_the_whole(d.id);
    if (Definition* def = definition_at(d.span); def && is_function(*def)) {
      if (sema::is_unread_at(*def, d.span, session_.ast)) return less | lose_inner(d);
      const bool yields = is_unread_word(*def, "yield");
      if (sema::take_out_value(*def, d.span, session_)) {
        // A `yield` on a line that continues another: of that loop nothing is known.
        const bool loop = !yields && is_unread_word(*def, "yield");
        return !loop || sema::take_out_body(*def, session_);
      }
      if (is_of_a_body(d.id)) return sema::take_out_body(*def, session_);
    }
    if (const Definition* def = definition_at(d.span)) {
      broken_.emplace(session_.names.text(def->name));
      less |= lose(session_.names.text(def->name));
    }
    unsure_ |= is_of_a_name(d.id);
    if (d.id == Diag::AstSigName) {  // the definition that stands there has lost its signature
      for (std::string_view word : words_in(d.args[1].text)) less |= lose(word);
    }
    const Piece* piece = pieces_.at(d.span);
    const bool named = piece && !(piece->name.empty() && (piece->kind == Piece::Kind::Definition ||
                                                          piece->kind == Piece::Kind::Alias));
    // A comment of another language defines nothing.
    if (piece && is_foreign_comment(*piece)) return less;
    // What it was to define is not known.
    if (!named || d.id == Diag::LayTop) return less | lose_file(d.span.file);
    if (d.id == Diag::ParSyntax && may_import(d, *piece))
      less |= unsure_files_.insert(piece->file.index).second;
    switch (piece->kind) {
      case Piece::Kind::Definition:
      case Piece::Kind::Alias:
        broken_.emplace(piece->name);
        less |= lose(piece->name) | lose_misspelt(d, *piece) | lose_inner(d);
        break;
      case Piece::Kind::Import:
        less |= take_out_import(d, *piece);
        break;
      case Piece::Kind::Export:
        less |= take_out_export(d);
        break;
      case Piece::Kind::Pragma:
        less |= !std::exchange(no_pragmas_, true);
        break;
    }
    return less;
  }

  bool take_out_import(const Diagnostic& d, const Piece& piece) {
    bool less = false;
    if (d.id == Diag::ResImportMember) {
      for (std::string_view word : words_in(d.args[1].text)) less |= lose(word);
      for (const DiagNote& note : d.notes) {  // what it was most likely meant to be
        for (std::string_view word : words_in(note.args[0].text)) less |= lose(word);
      }
      return less;
    }
    std::string_view text = session_.files.text(piece.file);
    auto cut = [&](int32_t begin, int32_t end) {
      return text.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
    };
    if (cut(d.span.begin, d.span.end) == "*")  // any name may be one of that module's
      return unsure_files_.insert(piece.file.index).second;
    std::string_view said = cut(piece.begin, piece.end);
    if (d.id == Diag::LoadNotFound) said = cut(d.span.begin, d.span.end);
    for (std::string_view word : words_in(said)) {
      if (word != "import") less |= lose(word);
    }
    // Whatever the module has may have been meant by any name.
    bool listed = d.id == Diag::ParImportAs ||
                  (d.id == Diag::LoadNotFound && said.find_first_of(" (") != said.npos);
    if (listed) return less;
    if (d.id == Diag::LoadNotFound) return less | unsure_files_.insert(piece.file.index).second;
    return less | lose_file(piece.file);
  }

  bool take_out_export(const Diagnostic& d) {
    if (d.id == Diag::ResExport) return no_export_.insert(d.args[0].text).second;
    bool less = !std::exchange(no_exports_, true);
    if (d.span.file == files_.back()) return less;
    for (FileId file : files_) less |= lose_file(file);  // what they get from this one is not known
    return less;
  }

  // What mentions a lost name is lost.
  void spread() {
    std::vector<std::string> fresh(lost_.begin(), lost_.end());
    while (!fresh.empty()) {
      std::string name = std::move(fresh.back());
      fresh.pop_back();
      for (size_t i : pieces_.mentioning(name)) {
        const Piece& piece = pieces_.all()[i];
        bool named = piece.kind == Piece::Kind::Definition || piece.kind == Piece::Kind::Alias;
        if (named && lose(piece.name)) fresh.emplace_back(piece.name);
      }
    }
  }

  // ---- what is left ------------------------------------------------------------------------

  // All that the parser made something of. Where it did not, a name stands for anything.
  sema::LoadedModules what_has_names() const {
    sema::LoadedModules out = rest_;
    std::set<std::string, std::less<>> missing = lost_;
    for (sema::LoadedModule& loaded : out.modules) {
      if (loaded.from_library) continue;
      for (const Definition& def : loaded.module.definitions)
        missing.erase(std::string(session_.names.text(def.name)));
      std::erase_if(loaded.module.aliases, [&](const syntax::TypeAlias& alias) {
        return lost_.count(session_.names.text(alias.name)) > 0;
      });
      std::erase_if(loaded.module.exports, [&](const syntax::ImportMember& member) {
        return no_exports_ || no_export_.count(session_.names.text(member.name)) > 0;
      });
    }
    for (const std::string& name : missing) {
      Definition any;
      any.name = session_.names.intern(name);
      any.origin = out.modules.back().module.file;
      any.body_expr = session_.ast.add(syntax::Expr{syntax::Null{true}, {}});
      out.modules.back().module.definitions.push_back(std::move(any));
    }
    return out;
  }

  sema::LoadedModules what_is_left() const {
    sema::LoadedModules out = rest_;
    const std::set<std::string, std::less<>> reached = reached_from_main();
    auto text = [&](NameId name) { return session_.names.text(name); };
    for (sema::LoadedModule& loaded : out.modules) {
      if (loaded.from_library) continue;
      syntax::Module& module = loaded.module;
      const bool blind = blind_.count(module.file.index) > 0;
      std::erase_if(module.definitions, [&](const Definition& def) {
        std::string_view name = text(def.name);
        return blind || lost_.count(name) || (!reached.empty() && !reached.count(name));
      });
      std::erase_if(module.aliases, [&](const syntax::TypeAlias& alias) {
        return blind || lost_.count(text(alias.name)) > 0;
      });
      auto gone = [&](const syntax::ImportMember& member) {
        std::string_view name = text(member.name);
        bool unreached = !reached.empty() && !reached.count(name) && pieces_.defines(name);
        return unreached || lost_.count(name) > 0;
      };
      for (syntax::Import& import : module.imports) std::erase_if(import.members, gone);
      std::erase_if(module.exports, [&](const syntax::ImportMember& member) {
        return no_exports_ || gone(member) || no_export_.count(text(member.name)) > 0;
      });
      if (no_pragmas_) module.pragmas.clear();
    }
    return out;
  }

  // Names of the items that the entry needs; empty when there is no telling: all of them.
  std::set<std::string, std::less<>> reached_from_main() const {
    std::set<std::string, std::less<>> out;
    if (main_.empty() || !pieces_.defines(main_)) return out;
    std::vector<std::string_view> open{main_};
    out.insert(main_);
    while (!open.empty()) {
      std::string_view name = open.back();
      open.pop_back();
      for (size_t i : pieces_.named(name)) {
        for (std::string_view word : pieces_.words(pieces_.all()[i])) {
          if (pieces_.defines(word) && out.emplace(word).second) open.push_back(word);
        }
      }
    }
    return out;
  }

  // The entry as far as the texts say.
  std::string main_name() const {
    if (!options_.main.empty()) return options_.main;
    const syntax::Module& root = rest_.modules.back().module;
    std::string_view text = session_.files.text(root.file);
    for (const syntax::Pragma& pragma : root.pragmas) {
      if (session_.names.text(pragma.name) != "main") continue;
      bool written = text.substr(static_cast<size_t>(pragma.span.begin), 2) == "{-";
      const auto* value = session_.ast[pragma.value].get<syntax::String>();
      if (written && value) return std::string(session_.names.text(value->value));
    }
    std::string last;
    for (const Piece& piece : pieces_.all()) {
      bool may_be = piece.kind == Piece::Kind::Definition && !piece.is_global;
      if (may_be && piece.file == root.file) last = piece.name;
    }
    return last;
  }

  const FrontendOptions& options_;
  sema::Session& session_;
  sema::LoadedModules rest_;
  std::vector<FileId> files_;  // of the user, the root's last
  SourcePieces pieces_;
  std::string main_;
  std::set<std::string, std::less<>> lost_;       // names that nothing is known of
  std::set<std::string, std::less<>> broken_;     // those whose own text has an error in its head
  std::set<std::string, std::less<>> no_export_;  // exported, but not there
  std::set<int32_t> blind_;                       // files in which any name may be lost
  std::set<int32_t> unsure_files_;                // where any unknown name may be meant well
  std::set<Place> places_;                        // of what has been told
  bool no_exports_ = false, no_pragmas_ = false;
  bool unsure_ = false;  // names that are not known may be those of broken definitions
};

}  // namespace

void add_later_errors(Frontend& f, const FrontendOptions& options) {
  if (!f.loaded || f.loaded->modules.empty() || f.ok() || f.typed) return;
  if (options.stop_after <= Stage::Parse) return;
  Survey(f, options).run();
}

}  // namespace axon::driver
