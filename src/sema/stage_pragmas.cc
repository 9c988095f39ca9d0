// Forms of the pragmas of stage texts.
#include "sema/stage_pragmas.h"

#include <algorithm>

#include "support/text.h"
#include "syntax/path_text.h"
#include "syntax/render.h"

namespace axon::sema {

using namespace syntax;

namespace {

constexpr std::string_view kBranch = " in a branch";
constexpr std::string_view kIs[] = {"null", "not null", "true", "false"};
constexpr std::string_view kKinds[] = {"part", "true", "else", "loop"};

std::string_view namespace_of(std::string_view name) {
  size_t dot = name.rfind('.');
  return dot == name.npos ? std::string_view() : name.substr(0, dot);
}

// `head: rest` or `head rest`, cut at the first occurrence.
bool cut(std::string_view text, std::string_view mark, std::string_view& head,
         std::string_view& rest) {
  size_t at = text.find(mark);
  if (at == text.npos) return false;
  head = text.substr(0, at);
  rest = text.substr(at + mark.size());
  return true;
}

// The definition of a name, or the number of definitions.
size_t index_of(std::string_view name, const Program& program, const Interner& names) {
  auto found = program.by_name.find(names.find(name));
  return found == program.by_name.end() ? program.definitions.size() : found->second;
}

std::string unknown(std::string_view pragma, std::string_view text) {
  return "pragma `" + std::string(pragma) + "` does not fit: `" + std::string(text) + "`";
}

// The prefix that a statement was written under; null for one that has none.
const PathLit* scope_of(const Stmt& stmt) {
  if (const Bind* bind = stmt.get<Bind>()) return &bind->scope;
  if (const Loop* loop = stmt.get<Loop>()) return &loop->lexical_scope;
  return nullptr;
}

std::string path_body(const PathLit& path, const Interner& names) {
  std::string out;
  for (const PathPiece& piece : path.pieces) {
    if (!out.empty() && !piece.joined) out += '.';
    std::string text(names.text(piece.text));
    out += piece.placeholder ? "{" + text + "}" : text;
  }
  return out;
}

}  // namespace

bool is_stage_pragma(std::string_view name) {
  constexpr std::string_view kNames[] = {"stage",   "overlays", "library",
                                         "helpers", "scopes",   "constraints"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

std::vector<std::string> library_of(const Program& program, const Interner& names) {
  std::vector<std::string> out;
  for (const Definition& def : program.definitions) {
    std::string module(namespace_of(names.text(def.name)));
    if (def.from_library && std::find(out.begin(), out.end(), module) == out.end())
      out.push_back(std::move(module));
  }
  return out;
}

std::string apply_library(const std::vector<std::string>& texts, Program& program,
                          const Interner& names) {
  for (Definition& def : program.definitions) {
    std::string_view module = namespace_of(names.text(def.name));
    def.from_library = std::find(texts.begin(), texts.end(), module) != texts.end();
  }
  return {};
}

std::vector<std::string> helpers_of(const Program& program, const Interner& names) {
  std::vector<std::string> out;
  for (const Definition& def : program.definitions) {
    const HelperInfo& helper = def.helper;
    if (!helper.parent.valid()) continue;
    std::string line(names.text(def.name));
    line += ": " + std::string(kKinds[static_cast<size_t>(helper.kind)]);
    if (helper.loop_var.valid()) line += " " + std::string(names.text(helper.loop_var));
    out.push_back(line + " of " + std::string(names.text(helper.parent)));
  }
  return out;
}

std::string apply_helpers(const std::vector<std::string>& texts, Program& program,
                          Interner& names) {
  for (std::string_view text : texts) {
    std::string_view name, rest, what, parent, kind, variable;
    bool ok = cut(text, ": ", name, rest) && cut(rest, " of ", what, parent);
    if (!cut(what, " ", kind, variable)) kind = what;
    size_t index = index_of(name, program, names);
    auto found = std::find(std::begin(kKinds), std::end(kKinds), kind);
    if (!ok || parent.empty() || found == std::end(kKinds) || index == program.definitions.size())
      return unknown("HELPERS", text);
    HelperInfo& helper = program.definitions[index].helper;
    helper.kind = static_cast<HelperKind>(found - std::begin(kKinds));
    helper.parent = names.intern(parent);
    if (!variable.empty()) helper.loop_var = names.intern(variable);
  }
  return {};
}

std::vector<std::string> scopes_of(const Program& program, const Session& session) {
  std::vector<std::string> out;
  for (const Definition& def : program.definitions) {
    std::string name(session.names.text(def.name));
    for (size_t first = 0; first < def.body.size();) {
      const PathLit* scope = scope_of(session.ast[def.body[first]]);
      size_t end = first + 1;
      if (scope && !scope->pieces.empty()) {
        auto same = [&](size_t i) {
          const PathLit* other = scope_of(session.ast[def.body[i]]);
          return other && other->pieces == scope->pieces;
        };
        while (end < def.body.size() && same(end)) ++end;
        out.push_back(name + ":" + std::to_string(first) + "-" + std::to_string(end - 1) + " " +
                      path_body(*scope, session.names));
      }
      first = end;
    }
  }
  return out;
}

std::string apply_scopes(const std::vector<std::string>& texts, Program& program,
                         Session& session) {
  for (std::string_view text : texts) {
    std::string_view name, rest, range, prefix, first_text, last_text;
    bool ok = cut(text, ":", name, rest) && cut(rest, " ", range, prefix) &&
              cut(range, "-", first_text, last_text);
    size_t index = index_of(name, program, session.names);
    ok = ok && index < program.definitions.size();
    auto first = parse_int(first_text), last = parse_int(last_text);
    if (!ok || !first || !last) return unknown("SCOPES", text);
    Definition& def = program.definitions[index];
    std::vector<Diagnostic> errors;
    PathLit scope = path_from_text(true, prefix, def.name_span, session.names, errors);
    if (!errors.empty() || *first < 0 || *last >= static_cast<int64_t>(def.body.size()))
      return unknown("SCOPES", text);
    for (auto i = static_cast<size_t>(*first); i <= static_cast<size_t>(*last); ++i) {
      Stmt stmt = session.ast[def.body[i]];
      if (Bind* bind = std::get_if<Bind>(&stmt.data)) bind->scope = scope;
      if (Loop* loop = std::get_if<Loop>(&stmt.data)) loop->lexical_scope = scope;
      def.body[i] = session.ast.add(std::move(stmt));
    }
  }
  return {};
}

namespace {

// ` in a branch where m is null, c is true`
std::string branch_text(const TypedConstraint& c, const Interner& names) {
  if (!c.guarded) return {};
  std::string out(kBranch);
  for (size_t i = 0; i < c.guards.size(); ++i) {
    out += i == 0 ? " where " : ", ";
    out += std::string(names.text(c.guards[i].param)) + " is " +
           std::string(kIs[static_cast<size_t>(c.guards[i].is)]);
  }
  return out;
}

bool read_branch(std::string_view text, const Interner& names, std::vector<TypedGuard>& out) {
  if (text.empty()) return true;
  if (!starts_with(text, " where ")) return false;
  for (std::string_view item : split(text.substr(7), ',')) {
    std::string_view name, is;
    if (!cut(trim(item), " is ", name, is)) return false;
    auto found = std::find(std::begin(kIs), std::end(kIs), is);
    if (found == std::end(kIs)) return false;
    out.push_back({names.find(name), static_cast<TypedGuard::Is>(found - std::begin(kIs))});
  }
  return true;
}

}  // namespace

std::vector<std::string> constraints_of(const TypedProgram& typed, Session& session) {
  std::vector<std::string> out;
  DimTable& dims = session.dims;
  const Program& program = typed.flat.program;
  for (size_t i = 0; i < program.definitions.size(); ++i) {
    const Definition& def = program.definitions[i];
    std::string name(session.names.text(def.name));
    for (const TypedConstraint& c : typed.definitions[i].constraints) {
      std::string left = dims.show(c.left);
      out.push_back(name + ": " + left + " == " + dims.show(c.right) +
                    (c.or_one ? " if " + left + " != 1" : "") + branch_text(c, session.names));
    }
    // What is known of a constant is the same fact about its own name.
    if (!def.params.empty()) continue;
    auto value = dims.symbol(dims.symbol(def.name, SymbolKind::Rigid)).value;
    if (value) out.push_back(name + ": " + name + " == " + std::to_string(*value));
  }
  return out;
}

std::string split_constraints(const std::vector<std::string>& texts, const Program& program,
                              const Interner& names, std::vector<ConstraintText>& out) {
  for (std::string_view text : texts) {
    ConstraintText parts;
    std::string_view name, rest, fact, guard;
    bool ok = cut(text, ": ", name, rest);
    size_t branch = rest.find(kBranch);
    parts.guarded = branch != rest.npos;
    if (parts.guarded) {
      ok = ok && read_branch(rest.substr(branch + kBranch.size()), names, parts.guards);
      rest = rest.substr(0, branch);
    }
    parts.or_one = cut(rest, " if ", fact, guard);
    if (!parts.or_one) fact = rest;
    ok = ok && cut(fact, " == ", parts.left, parts.right);
    ok = ok && (!parts.or_one || guard == std::string(parts.left) + " != 1");
    parts.definition = index_of(name, program, names);
    if (!ok || parts.definition == program.definitions.size()) return unknown("CONSTRAINTS", text);
    out.push_back(parts);
  }
  return {};
}

}  // namespace axon::sema
