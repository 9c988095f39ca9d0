// Checks and merges pragma occurrences.
#include "sema/pragmas.h"

#include <algorithm>
#include <optional>

#include "sema/stage_pragmas.h"
#include "support/text.h"
#include "syntax/render.h"

namespace axon::sema {

using namespace syntax;

namespace {

class PragmaMerger {
 public:
  explicit PragmaMerger(Session& session) : session_(session) {}

  std::vector<Pragma> run(const std::vector<Pragma>& pragmas) {
    for (const Pragma& pragma : pragmas) {
      std::string_view name = session_.names.text(pragma.name);
      if (name == "main" || name == "stage") {
        single_text(pragma);
      } else if (name == "task") {
        task(pragma);
      } else if (name == "padding_side") {
        padding_side(pragma);
      } else if (name == "checkpoints") {
        checkpoints(pragma);
      } else if (name == "tokenizer") {
        tokenizer(pragma);
      } else if (name == "architectures") {
        architectures(pragma);
      } else if (name == "scopes" || name == "constraints") {
        if (!texts(pragma.value)) bad(pragma, "a list of strings");
        out_.push_back(pragma);
      } else {
        out_.push_back(pragma);
      }
    }
    // What a source says of stages is checked, and means nothing.
    std::erase_if(out_, [&](const Pragma& pragma) {
      return is_stage_pragma(session_.names.text(pragma.name));
    });
    return std::move(out_);
  }

 private:
  std::string upper(const Pragma& pragma) const {
    std::string out(session_.names.text(pragma.name));
    for (char& c : out) {
      if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
    return out;
  }
  void bad(const Pragma& pragma, const std::string& needed) {
    session_.sink.report(Diag::NormPragmaValue, pragma.span, {upper(pragma), needed});
  }
  std::optional<NameId> text(ExprId id) const {
    const String* node = session_.ast[id].get<String>();
    if (!node) return {};
    return node->value;
  }
  const std::vector<ExprId>* items(ExprId id) const {
    const Expr& node = session_.ast[id];
    if (const List* list = node.get<List>()) return &list->items;
    if (const Tuple* tuple = node.get<Tuple>()) return &tuple->items;
    return nullptr;
  }
  // The strings of a list or tuple of strings, or of one string.
  std::optional<std::vector<NameId>> texts(ExprId id) const {
    if (auto one = text(id)) return std::vector<NameId>{*one};
    const std::vector<ExprId>* list = items(id);
    if (!list) return {};
    std::vector<NameId> out;
    for (ExprId item : *list) {
      auto one = text(item);
      if (!one) return {};
      out.push_back(*one);
    }
    return out;
  }
  Pragma* known(NameId name) {
    for (Pragma& pragma : out_) {
      if (pragma.name == name) return &pragma;
    }
    return nullptr;
  }
  ExprId string(NameId value, Span span) { return session_.ast.add(Expr{String{value}, span}); }

  // One string for the whole file; a second occurrence must say the same.
  void put_single(const Pragma& pragma, NameId value) {
    Pragma* old = known(pragma.name);
    if (!old) {
      Pragma now = pragma;
      if (text(pragma.value) != value) now.value = string(value, pragma.span);
      out_.push_back(now);
      return;
    }
    NameId before = *text(old->value);
    if (before == value) return;
    auto quoted = [&](NameId id) { return "\"" + std::string(session_.names.text(id)) + "\""; };
    session_.sink
        .report(Diag::NormPragmaConflict, pragma.span,
                {upper(pragma), quoted(before), quoted(value)})
        .note(Note::NoteFirstHere, old->span);
  }

  void single_text(const Pragma& pragma) {
    auto value = text(pragma.value);
    if (!value || session_.names.text(*value).empty())
      return bad(pragma, "a string that is not empty");
    put_single(pragma, *value);
  }

  void task(const Pragma& pragma) {
    auto values = texts(pragma.value);
    if (!values || values->empty()) return bad(pragma, "a string");
    put_single(pragma, values->front());
  }

  void padding_side(const Pragma& pragma) {
    auto value = text(pragma.value);
    std::string side = value ? lower_ascii(session_.names.text(*value)) : "";
    if (side != "left" && side != "right") return bad(pragma, "`\"left\"` or `\"right\"`");
    put_single(pragma, session_.names.intern(side));
  }

  // All occurrences together, without repetitions.
  void checkpoints(const Pragma& pragma) {
    auto values = texts(pragma.value);
    if (!values) return bad(pragma, "a string or a list of strings");
    Pragma* old = known(pragma.name);
    std::vector<NameId> all;
    if (old) all = *texts(old->value);
    for (NameId value : *values) {
      if (std::find(all.begin(), all.end(), value) == all.end()) all.push_back(value);
    }
    List list;
    for (NameId value : all) list.items.push_back(string(value, pragma.span));
    ExprId value = session_.ast.add(Expr{std::move(list), pragma.span});
    if (old) {
      old->value = value;
    } else {
      out_.push_back({pragma.name, value, pragma.span});
    }
  }

  struct TokenizerEntry {
    NameId checkpoint;  // invalid: for all
    NameId tokenizer;
  };

  void tokenizer(const Pragma& pragma) {
    std::vector<TokenizerEntry> entries;
    auto pair = [&](ExprId id) {
      auto two = texts(id);
      if (!two || two->size() != 2 || text(id)) return false;
      entries.push_back({(*two)[0], (*two)[1]});
      return true;
    };
    bool ok = true;
    if (auto one = text(pragma.value)) {
      entries.push_back({{}, *one});
    } else if (!pair(pragma.value)) {
      const std::vector<ExprId>* list = items(pragma.value);
      ok = list != nullptr;
      for (size_t i = 0; ok && i < list->size(); ++i) ok = pair((*list)[i]);
    }
    if (!ok) return bad(pragma, "a string, a pair of strings, or a list of pairs");
    bool fresh = false;
    for (const TokenizerEntry& entry : entries) fresh |= add_tokenizer(pragma, entry);
    if (fresh) out_.push_back(pragma);
  }

  bool add_tokenizer(const Pragma& pragma, const TokenizerEntry& entry) {
    for (const TokenizerEntry& old : tokenizers_) {
      if (old.checkpoint != entry.checkpoint) continue;
      if (old.tokenizer == entry.tokenizer) return false;
      session_.sink.report(Diag::NormPragmaConflict, pragma.span,
                           {upper(pragma), session_.names.text(old.tokenizer),
                            session_.names.text(entry.tokenizer)});
      return false;
    }
    tokenizers_.push_back(entry);
    return true;
  }

  void architectures(const Pragma& pragma) {
    const std::vector<ExprId>* list = items(pragma.value);
    bool ok = text(pragma.value).has_value() || list;
    for (size_t i = 0; ok && list && i < list->size(); ++i) {
      auto entry = texts((*list)[i]);
      ok = entry && (text((*list)[i]) || entry->size() == 3);
    }
    if (!ok) {
      return bad(pragma, "a list of names or of (architecture, main, task) tuples");
    }
    out_.push_back(pragma);
  }

  Session& session_;
  std::vector<Pragma> out_;
  std::vector<TokenizerEntry> tokenizers_;
};

}  // namespace

std::vector<Pragma> normalize_pragmas(const std::vector<Pragma>& pragmas, Session& session) {
  return PragmaMerger(session).run(pragmas);
}

}  // namespace axon::sema
