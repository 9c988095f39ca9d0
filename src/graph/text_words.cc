// The words and marks that the graph writer and reader share.
#include "graph/text_words.h"

#include <iterator>

namespace axon::graph::words {
namespace {

constexpr std::string_view kDTypes[] = {"", "bool", "i32", "i64", "f16", "bf16", "f32"};
constexpr std::string_view kMarks[] = {"", "!", "^", "~", "#", "", ""};
constexpr std::string_view kRelations[] = {"==",      "!=",       "<=",      "<",
                                           "is true", "is false", "is null", "is not null"};
constexpr TypeKind kPlain[] = {TypeKind::Error, TypeKind::Any,    TypeKind::Null,
                               TypeKind::Int,   TypeKind::Dim,    TypeKind::Float,
                               TypeKind::Bool,  TypeKind::String, TypeKind::Path};
constexpr std::string_view kPlainNames[] = {"Error", "Any",  "Null",   "Int", "Dim",
                                            "Float", "Bool", "String", "Path"};

}  // namespace

std::string_view short_dtype(DType dtype) { return kDTypes[static_cast<size_t>(dtype)]; }

std::optional<DType> read_dtype(std::string_view word) {
  for (size_t i = 1; i < std::size(kDTypes); ++i) {
    if (kDTypes[i] == word) return static_cast<DType>(i);
  }
  return {};
}

std::string_view mark(SymbolKind kind) { return kMarks[static_cast<size_t>(kind)]; }

std::optional<SymbolKind> read_mark(char c) {
  for (size_t i = 1; i < std::size(kMarks); ++i) {
    if (!kMarks[i].empty() && kMarks[i][0] == c) return static_cast<SymbolKind>(i);
  }
  return {};
}

std::string_view relation(Relation relation) { return kRelations[static_cast<size_t>(relation)]; }

bool is_unary(Relation relation) { return relation >= Relation::IsTrue; }

std::string_view plain_type(TypeKind kind) {
  for (size_t i = 0; i < std::size(kPlain); ++i) {
    if (kPlain[i] == kind) return kPlainNames[i];
  }
  return "";
}

std::optional<TypeKind> read_plain_type(std::string_view word) {
  for (size_t i = 0; i < std::size(kPlain); ++i) {
    if (kPlainNames[i] == word) return kPlain[i];
  }
  return {};
}

bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_name_char(char c) { return is_name_start(c) || (c >= '0' && c <= '9') || c == '.'; }

void put_name(std::string& out, std::string_view name) {
  bool plain = !name.empty() && is_name_start(name[0]) && name != "_";
  for (char c : name) plain = plain && is_name_char(c);
  if (plain) {
    out += name;
    return;
  }
  out += '`';
  put_escaped(out, name, "`");
  out += '`';
}

void put_escaped(std::string& out, std::string_view text, std::string_view also) {
  constexpr char kHex[] = "0123456789abcdef";
  for (char c : text) {
    if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (c == '\r')
      out += "\\r";
    else if (c == '\\' || also.find(c) != also.npos)
      (out += '\\') += c;
    else if (static_cast<unsigned char>(c) < 32 || c == 127) {
      out += "\\x";
      out += kHex[static_cast<unsigned char>(c) >> 4];
      out += kHex[c & 15];
    } else {
      out += c;
    }
  }
}

}  // namespace axon::graph::words
