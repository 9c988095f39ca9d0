// Canonical text of pragmas, imports, exports and aliases (language.md 11.1).
#include "syntax/printer.h"

namespace axon::syntax {

std::string Printer::take() {
  std::string out = std::move(out_);
  out_.clear();
  return out;
}

// Each item ends its own line; with a margin the next item starts one.
void Printer::end_item() {
  if (!margin_) out_ += '\n';
}

void Printer::print_pragma(const Pragma& pragma) {
  out_ += "{-# ";
  for (char c : text(pragma.name)) out_ += c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  out_ += ' ';
  print_expr(pragma.value, Slot::Top);
  out_ += " #-}";
  end_item();
}

void Printer::print_members(const std::vector<ImportMember>& members) {
  out_ += " (";
  for (size_t i = 0; i < members.size(); ++i) {
    if (i) out_ += ", ";
    comments_before(members[i].span.begin);
    out_ += text(members[i].name);
  }
  out_ += ')';
}

void Printer::print_import(const Import& import) {
  out_ += "import " + text(import.module);
  if (import.has_members) print_members(import.members);
  end_item();
}

void Printer::print_export(const std::vector<ImportMember>& members) {
  out_ += "export";
  print_members(members);
  end_item();
}

void Printer::print_alias(const TypeAlias& alias) {
  out_ += "type " + text(alias.name);
  for (size_t i = 0; i < alias.params.size(); ++i) {
    out_ += i ? "," : "[";
    out_ += alias.params[i].variadic ? ".." : "";
    out_ += text(alias.params[i].name);
  }
  if (!alias.params.empty()) out_ += "]";
  out_ += " = ";
  comments_before(ast_[alias.type].span.begin);
  out_ += type_text(alias.type, ast_, names_);
  end_item();
}

}  // namespace axon::syntax
