// The layout of source files.
#include "syntax/format.h"

#include <algorithm>

#include "support/text.h"
#include "syntax/fold.h"
#include "syntax/parse.h"
#include "syntax/printer.h"
#include "syntax/render.h"

namespace axon::syntax {
namespace {

enum class ItemKind : uint8_t { Pragma, Import, Export, Alias, Global, Definition };

struct Item {
  int32_t begin = 0;
  ItemKind kind = ItemKind::Pragma;
  size_t index = 0;
};

// Where the item begins whose keyword stands before `pos`; `pos` itself when none does.
int32_t keyword_before(std::string_view text, int32_t pos, std::string_view word) {
  size_t begin = text.rfind(word, static_cast<size_t>(pos));
  bool own_line = begin != text.npos && (begin == 0 || text[begin - 1] == '\n');
  return own_line ? static_cast<int32_t>(begin) : pos;
}

// The items in the order of the file. The parser merges repeated imports and exports into the
// first.
std::vector<Item> items_of(const Module& module, std::string_view text) {
  std::vector<Item> out;
  for (size_t i = 0; i < module.pragmas.size(); ++i) {
    int32_t begin = module.pragmas[i].span.begin;
    // The entry that the parser names itself is not in the text.
    if (starts_with(text.substr(static_cast<size_t>(begin)), "{-#"))
      out.push_back({begin, ItemKind::Pragma, i});
  }
  int32_t import_line = -1;
  for (size_t i = 0; i < module.imports.size(); ++i) {
    int32_t begin = module.imports[i].span.begin;
    int32_t line = keyword_before(text, begin, "import ");
    // Of several imports in one line the first has the keyword.
    out.push_back({line == import_line ? begin : line, ItemKind::Import, i});
    import_line = line;
  }
  for (size_t i = 0; i < module.aliases.size(); ++i)
    out.push_back({module.aliases[i].span.begin, ItemKind::Alias, i});
  for (size_t i = 0; i < module.definitions.size(); ++i) {
    const Definition& definition = module.definitions[i];
    ItemKind kind = definition.is_global ? ItemKind::Global : ItemKind::Definition;
    out.push_back({definition.span.begin, kind, i});
  }
  auto before = [](const Item& a, const Item& b) { return a.begin < b.begin; };
  std::stable_sort(out.begin(), out.end(), before);
  if (!module.has_export) return out;
  Item exports{0, ItemKind::Export, 0};
  auto place = out.begin();
  if (module.exports.empty()) {  // nothing says where it stood: behind pragmas and imports
    while (place != out.end() && place->kind <= ItemKind::Import) ++place;
    exports.begin = place == out.end() ? static_cast<int32_t>(text.size()) : place->begin;
  } else {
    exports.begin = keyword_before(text, module.exports[0].span.begin, "export");
    place = std::upper_bound(out.begin(), out.end(), exports, before);
  }
  out.insert(place, exports);
  return out;
}

void print_item(const Item& item, const Module& module, Printer& printer) {
  switch (item.kind) {
    case ItemKind::Pragma:
      return printer.print_pragma(module.pragmas[item.index]);
    case ItemKind::Import:
      return printer.print_import(module.imports[item.index]);
    case ItemKind::Export:
      return printer.print_export(module.exports);
    case ItemKind::Alias:
      return printer.print_alias(module.aliases[item.index]);
    case ItemKind::Global:
    case ItemKind::Definition:
      return printer.print_definition(module.definitions[item.index]);
  }
}

// Items of one kind may stand without a blank line between them, unless they have blocks.
bool may_touch(const Item& above, const Item& below, const Module& module) {
  if (above.kind != below.kind) return false;
  if (above.kind != ItemKind::Global) return above.kind != ItemKind::Definition;
  return !module.definitions[above.index].statement_body &&
         !module.definitions[below.index].statement_body;
}

}  // namespace

std::string format(const Module& module, const FileTable& files, const Ast& ast, Interner& names) {
  Margin margin(files.text(module.file), module.comments);
  Printer printer(ast, names, {}, &margin);
  std::vector<Item> items = items_of(module, files.text(module.file));
  for (size_t i = 0; i < items.size(); ++i) {
    bool touch = i > 0 && may_touch(items[i - 1], items[i], module);
    Margin::Blank between = touch ? Margin::Blank::Keep : Margin::Blank::Force;
    printer.start_item(items[i].begin, i == 0 ? Margin::Blank::None : between);
    print_item(items[i], module, printer);
  }
  printer.print_rest();
  return fold_lines(printer.take(), kFormatWidth, names) + "\n";
}

bool same_comments(std::string_view a, const Module& in_a, std::string_view b, const Module& in_b) {
  auto text = [](std::string_view file, const Comment& comment) {
    size_t begin = static_cast<size_t>(comment.span.begin);
    return trim(file.substr(begin, static_cast<size_t>(comment.span.end) - begin));
  };
  return std::equal(in_a.comments.begin(), in_a.comments.end(), in_b.comments.begin(),
                    in_b.comments.end(),
                    [&](const Comment& x, const Comment& y) { return text(a, x) == text(b, y); });
}

std::optional<std::string> format_file(FileId file, FileTable& files, DiagSink& sink) {
  Interner names;
  Ast ast;
  Module module = parse(file, files, names, ast, sink);
  if (sink.has_errors()) return {};
  std::string text = format(module, files, ast, names);
  DiagSink again_sink;
  FileId again_file = files.add(files.path(file) + " (formatted)", text);
  Module again = parse(again_file, files, names, ast, again_sink);
  std::string_view problem = again_sink.has_errors()      ? "the layout has errors"
                             : !equal(module, again, ast) ? "the layout is another program"
                             : !same_comments(files.text(file), module, text, again)
                                 ? "the layout has other comments"
                                 : "";
  if (problem.empty()) return text;
  sink.report(Diag::BugStage, {file, 0, 0}, {"formatting", problem});
  return {};
}

}  // namespace axon::syntax
