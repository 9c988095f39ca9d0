// Names the values of the configuration behind errors that show only at their consequences.
#include "driver/config_notes.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "support/text.h"
#include "syntax/walk.h"

namespace axon::driver {
namespace {

using namespace syntax;

bool contains(Span outer, Span inner) {
  return outer.valid() && outer.file == inner.file && outer.begin <= inner.begin &&
         inner.end <= outer.end;
}

// The natural numbers that stand in a text.
std::vector<int64_t> numbers_in(std::string_view text) {
  std::vector<int64_t> out;
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
    if (auto value = parse_int(text.substr(i, end - i)); end > i && value) out.push_back(*value);
    i = std::max(end, i + 1);
  }
  return out;
}

class ConfigNotes {
 public:
  explicit ConfigNotes(Frontend& frontend)
      : session_(*frontend.session),
        program_(frontend.closed->program),
        reads_(frontend.materialized->config_reads) {}

  void add_to(Diagnostic& d) {
    switch (d.id) {
      case Diag::RunNull:
        return constants_behind(d);
      case Diag::RunParamShape:
        return defaults_behind(d, numbers_in(d.args[2].text));
      case Diag::RunParam: {
        // A name with number n is asked for by whoever counts to n + 1.
        std::vector<int64_t> counts = numbers_in(d.args[0].text);
        for (int64_t& n : counts) n += n < INT64_MAX;
        return defaults_behind(d, counts);
      }
      default:
        return;
    }
  }

 private:
  void note(Diagnostic& d, Span span, std::string text) {
    for (const DiagNote& old : d.notes) {
      if (old.span == span && message_of(old) == text) return;
    }
    d.note(Note::NoteHere, span, {std::move(text)});
  }

  void defaults_behind(Diagnostic& d, const std::vector<int64_t>& numbers) {
    for (const sema::ConfigRead& read : reads_) {
      if (read.outcome != sema::ConfigRead::Outcome::Defaulted) continue;
      auto value = parse_int(read.value);
      // Small numbers stand in shapes for many reasons.
      if (!value || *value < 2 ||
          std::find(numbers.begin(), numbers.end(), *value) == numbers.end())
        continue;
      note(d, read.span,
           "the configuration lacks `" + read.key + "`; its default " + read.value + " is used");
    }
  }

  const Definition* constant(NameId name) const {
    for (const Definition& def : program_.definitions) {
      if (def.name == name) return def.is_global ? &def : nullptr;
    }
    return nullptr;
  }

  // Constants in the failing expression and in the conditions that led to it. A choice among kinds
  // goes by a text: where there are such constants, the others are left out.
  void constants_behind(Diagnostic& d) {
    std::vector<NameId> names;
    auto add = [&](ExprId, const Expr& e) {
      const Name* name = e.get<Name>();
      if (name && std::find(names.begin(), names.end(), name->name) == names.end())
        names.push_back(name->name);
    };
    auto nothing = [](StmtId, const Stmt&) {};
    const Ast& ast = session_.ast;
    auto condition = [&](ExprId cond) { walk(cond, ast, {add, nothing}); };
    auto expression = [&](ExprId id, const Expr& e) {
      if (contains(d.span, e.span)) add(id, e);
      if (!contains(e.span, d.span)) return;
      if (const If* choice = e.get<If>()) condition(choice->cond);
      if (const Ternary* choice = e.get<Ternary>()) condition(choice->cond);
    };
    auto statement = [&](StmtId, const Stmt& s) {
      const IfStmt* choice = s.get<IfStmt>();
      if (choice && contains(s.span, d.span)) condition(choice->cond);
    };
    for (const Definition& def : program_.definitions) {
      if (contains(def.span, d.span)) walk(def, ast, {expression, statement});
    }
    std::vector<std::pair<const Definition*, const sema::ConfigRead*>> found;
    for (NameId name : names) {
      const Definition* def = constant(name);
      const sema::ConfigRead* read = def ? read_of(*def) : nullptr;
      if (read) found.emplace_back(def, read);
    }
    auto is_text = [](const auto& one) { return starts_with(one.second->value, "\""); };
    if (std::any_of(found.begin(), found.end(), is_text))
      std::erase_if(found, [&](const auto& one) { return !is_text(one); });
    for (auto [def, read] : found) {
      const std::string name(session_.names.text(def->name));
      bool given = read->outcome == sema::ConfigRead::Outcome::Read;
      note(d, read->span,
           given
               ? "`" + name + "` is " + read->value + ", from configuration key `" + read->key + "`"
               : "`" + name + "` has its default, as the configuration lacks `" + read->key + "`");
    }
  }

  // The read that gave a constant its value: the first one in it that found its key.
  const sema::ConfigRead* read_of(const Definition& def) const {
    for (auto wanted : {sema::ConfigRead::Outcome::Read, sema::ConfigRead::Outcome::Defaulted}) {
      for (const sema::ConfigRead& read : reads_) {
        if (read.outcome == wanted && contains(def.span, read.span)) return &read;
      }
    }
    return nullptr;
  }

  sema::Session& session_;
  const sema::Program& program_;
  const std::vector<sema::ConfigRead>& reads_;
};

}  // namespace

void add_config_notes(Frontend& frontend) {
  if (!frontend.closed || !frontend.materialized) return;
  ConfigNotes notes(frontend);
  for (Diagnostic& d : frontend.session->sink.all()) notes.add_to(d);
}

}  // namespace axon::driver
