// The library as the parser sees it, as JSON: library_list.
//
// For each file its comment, exports, type aliases and definitions, each with the comment above it,
// its signature and its head as they are written.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "driver/library.h"
#include "sema/session.h"
#include "support/text.h"
#include "syntax/parse.h"

namespace {

using Json = nlohmann::ordered_json;
using axon::Span;

// Runs of blanks and line ends become one blank.
std::string joined(std::string_view text) {
  std::string out;
  for (char c : text) {
    bool blank = c == ' ' || c == '\n';
    if (blank && (out.empty() || out.back() == ' ')) continue;
    out += blank ? ' ' : c;
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

class File {
 public:
  File(std::string_view path, std::string_view text) : path_(path), text_(text) {
    axon::FileId id = session_.files.add(path_, std::string(text));
    module_ = axon::syntax::parse(id, session_.files, session_.names, session_.ast, session_.sink);
  }

  Json list() {
    Json out;
    out["path"] = path_;
    out["meaning"] = comment_from(0);
    out["exports"] = Json::array();
    for (const auto& member : module_.exports) out["exports"].push_back(name(member.name));
    out["aliases"] = Json::array();
    for (const auto& alias : module_.aliases) out["aliases"].push_back(alias_of(alias));
    out["definitions"] = Json::array();
    for (const auto& definition : module_.definitions)
      out["definitions"].push_back(definition_of(definition));
    return out;
  }

 private:
  std::string name(axon::NameId id) const { return std::string(session_.names.text(id)); }
  std::string_view part(int32_t begin, int32_t end) const {
    return text_.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
  }

  // The lines of comment that start at or behind `begin` and follow each other.
  std::string comment_from(int32_t begin) const {
    std::string out;
    int32_t end = -1;
    for (const auto& comment : module_.comments) {
      if (!comment.own_line || comment.span.begin < begin) continue;
      if (end >= 0 && part(end, comment.span.begin).find_first_not_of(" \n") != text_.npos) break;
      if (end >= 0 && lines_between(end, comment.span.begin) > 1) break;
      end = comment.span.end;
      std::string_view words = part(comment.span.begin, comment.span.end).substr(2);
      out += (out.empty() ? "" : " ") + std::string(axon::trim(words));
    }
    return out;
  }

  int lines_between(int32_t begin, int32_t end) const {
    int count = 0;
    for (char c : part(begin, end)) count += c == '\n';
    return count;
  }

  // The comment that ends on the line above `begin`.
  std::string comment_above(int32_t begin) const {
    int32_t first = begin;
    for (size_t i = module_.comments.size(); i-- > 0;) {
      const Span& span = module_.comments[i].span;
      if (span.begin >= first || !module_.comments[i].own_line) continue;
      std::string_view gap = part(span.end, first);
      if (gap.find_first_not_of(" \n") != gap.npos || lines_between(span.end, first) != 1) break;
      first = span.begin;
    }
    return first == begin ? "" : comment_from(first);
  }

  Json alias_of(const axon::syntax::TypeAlias& alias) const {
    size_t end = text_.find('\n', static_cast<size_t>(alias.span.end));
    Json out;
    out["name"] = name(alias.name);
    out["text"] = joined(part(alias.span.begin, static_cast<int32_t>(end)));
    out["meaning"] = comment_above(alias.span.begin);
    return out;
  }

  // What stands before the body, without `=` or `<-`.
  std::string_view before_body(const axon::syntax::Definition& d) const {
    int32_t body = d.statement_body ? session_.ast[d.body[0]].span.begin
                                    : session_.ast[d.body_expr].span.begin;
    std::string_view all = part(d.span.begin, body);
    size_t mark = all.rfind(d.is_global ? " <-" : " =");
    return all.substr(0, mark);
  }

  Json definition_of(const axon::syntax::Definition& d) const {
    std::string_view front = before_body(d);
    size_t head = d.has_signature ? front.rfind("\n" + name(d.name)) : front.npos;
    std::string_view signature = head == front.npos ? std::string_view{} : front.substr(0, head);
    Json out;
    out["name"] = name(d.name);
    size_t colons = signature.find("::");
    out["signature"] = colons == signature.npos ? "" : joined(signature.substr(colons + 2));
    out["head"] = joined(head == front.npos ? front : front.substr(head));
    out["meaning"] = comment_above(d.span.begin);
    out["value"] = d.is_global;
    return out;
  }

  std::string path_;
  std::string_view text_;
  axon::sema::Session session_;
  axon::syntax::Module module_;
};

}  // namespace

int main() {
  Json out = Json::array();
  const axon::sema::LibrarySource& library = axon::driver::builtin_library();
  for (const std::string& path : library.paths())
    out.push_back(File(path, *library.find(path)).list());
  std::printf("%s\n", out.dump(1).c_str());
  return 0;
}
