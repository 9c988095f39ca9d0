// Warnings that the text of one file decides.
#include "syntax/lint.h"

#include <algorithm>

#include "support/text.h"
#include "syntax/walk.h"

namespace axon::syntax {
namespace {

constexpr std::string_view kKnownPragmas[] = {
#define AXON_PRAGMA(ident, name) name,
#include "syntax/pragmas.def"
};

// Lines that hold more than blanks and comments; strings never span lines.
void check_tabs(FileId file, std::string_view text, DiagSink& sink) {
  bool tabs = false;
  bool blanks = false;
  size_t begin = text.substr(0, 3) == "\xEF\xBB\xBF" ? 3 : 0;
  while (begin < text.size()) {
    size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    size_t content = std::min(line.find_first_not_of(" \t\r"), line.size());
    if (content < line.size() && line.substr(content, 2) != "--") {
      std::string_view indent = line.substr(0, content);
      tabs = tabs || indent.find('\t') != indent.npos;
      blanks = blanks || indent.find(' ') != indent.npos;
      if (tabs && blanks) {
        sink.report(Diag::WTabs,
                    {file, static_cast<int32_t>(begin), static_cast<int32_t>(begin + content)});
        return;
      }
    }
    begin = end + 1;
  }
}

void check_pragmas(const Module& module, const Interner& names, DiagSink& sink) {
  for (const Pragma& pragma : module.pragmas) {
    std::string_view name = names.text(pragma.name);
    bool known = std::find(std::begin(kKnownPragmas), std::end(kKnownPragmas), name) !=
                 std::end(kKnownPragmas);
    if (known) continue;
    std::string upper(name);
    for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    Diagnostic& diag = sink.report(Diag::WPragmaUnknown, pragma.span, {upper});
    std::vector<std::string> all(std::begin(kKnownPragmas), std::end(kKnownPragmas));
    for (std::string near : closest(name, all, 1)) {
      for (char& c : near) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
      diag.note(Note::NoteDidYouMean, pragma.span, {"`" + near + "`"});
    }
  }
}

// `@p.x` in a definition with the path parameter p.
void check_paths(const Definition& definition, const Ast& ast, const Interner& names,
                 DiagSink& sink) {
  if (definition.path_params.empty()) return;
  auto check = [&](const PathLit& path) {
    if (path.absolute || path.pieces.size() < 2 || path.pieces[0].placeholder ||
        path.pieces[1].joined)
      return;
    const auto& params = definition.path_params;
    if (std::find(params.begin(), params.end(), path.pieces[0].text) == params.end()) return;
    std::string text;
    for (const PathPiece& piece : path.pieces) {
      if (!text.empty() && !piece.joined) text += '.';
      std::string_view part = names.text(piece.text);
      text += piece.placeholder ? "{" + std::string(part) + "}" : std::string(part);
    }
    sink.report(Diag::WPathParamSegment, path.span, {text});
  };
  auto on_expr = [&](ExprId, const Expr& expr) {
    if (const PathExpr* path = expr.get<PathExpr>()) check(path->path);
    if (const Name* name = expr.get<Name>()) {
      for (const PathLit& path : name->suffixes) check(path);
    }
    if (const Call* call = expr.get<Call>()) {
      for (const PathLit& path : call->suffixes) check(path);
    }
  };
  auto on_stmt = [&](StmtId, const Stmt& stmt) {
    if (const ScopeBind* scope = stmt.get<ScopeBind>()) check(scope->path);
    if (const Loop* loop = stmt.get<Loop>()) check(loop->scope);
  };
  walk(definition, ast, {on_expr, on_stmt});
}

}  // namespace

void lint(const Module& module, std::string_view text, const Ast& ast, const Interner& names,
          DiagSink& sink) {
  check_tabs(module.file, text, sink);
  check_pragmas(module, names, sink);
  NameId stage = names.find("stage");
  bool is_dump =
      std::any_of(module.pragmas.begin(), module.pragmas.end(),
                  [&](const Pragma& pragma) { return stage.valid() && pragma.name == stage; });
  for (const Definition& definition : module.definitions) {
    std::string_view name = names.text(definition.name);
    if (!is_dump && name.find("__") != name.npos) {
      sink.report(Diag::WGeneratedName, definition.name_span, {name});
    }
    check_paths(definition, ast, names, sink);
  }
}

}  // namespace axon::syntax
