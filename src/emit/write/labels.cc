// Names and descriptions of blocks.
#include "emit/write/labels.h"

#include <fmt/format.h>

#include <cctype>

#include "support/text.h"

namespace axon::emit {
namespace {

using graph::NodeId;
using graph::ValueId;

// Breaks behind commas and arrows so that docstrings keep to the line.
std::string wrapped(const std::string& text) {
  constexpr size_t kAlone = 74, kOfSeveral = 77;  // the one has the quotes behind it too
  if (text.size() <= kAlone) return text;
  const size_t width = text.size() <= kOfSeveral ? kAlone : kOfSeveral;
  std::string out, line;
  size_t depth = 0;
  std::string word;
  auto flush = [&] {
    if (line.size() + word.size() > width && !line.empty()) {
      while (!line.empty() && line.back() == ' ') line.pop_back();
      out += line + "\n";
      line = word.substr(word.find_first_not_of(' '));
    } else {
      line += word;
    }
    word.clear();
  };
  for (char c : text) {
    word += c;
    if (c == '[') ++depth;
    if (c == ']') --depth;
    if (c == ',' && depth == 0) flush();
  }
  flush();
  return out + line;
}

void add(std::string& list, const std::string& item) {
  if (!list.empty()) list += ", ";
  list += item;
}

// Modules of a bank see rows only.
std::string shape_within(const Program& p, BlockId id, TypeId type) {
  std::string text = shape_text(p, type);
  size_t last = text.rfind(", ");
  if (p.block(id).bank < 0 || last == std::string::npos) return text;
  return "[N" + text.substr(last);
}

std::string root_doc(const Program& p, const Scope& scope) {
  std::string inputs, results, more;
  for (const JoinedInput& input : p.joined.inputs) {
    bool mask = p.calls.cached && static_cast<int>(input.input) == p.calls.roles.mask;
    if (mask)
      more = fmt::format("\n\n`{}` is 0 at padding; K positions, from the first of the cache.",
                         *scope.name_of(input.value));
    std::string shape = mask ? "[B, K]" : shape_text(p, p.joined.values[input.value].type);
    add(inputs, *scope.name_of(input.value) + " " + shape);
  }
  for (const auto& [name, operand] : p.joined.outputs) {
    const auto* ref = operand.get<graph::Ref>();
    if (!ref) continue;
    add(results, std::string(p.types.dims().names().text(name)) + " " +
                     shape_text(p, p.joined.values[ref->value].type));
  }
  return wrapped(inputs + " -> " + results + ".") + more;
}

}  // namespace

std::string function_doc(const Program& p, BlockId id, const Scope& scope) {
  if (p.is_root(id)) return root_doc(p, scope);
  std::string inputs, results;
  for (ValueId value : p.block(id).inputs) {
    const graph::Value& facts = p.joined.values[value];
    bool shaped = p.types.is_tensor(facts.type) || p.types.kind(facts.type) == TypeKind::List;
    if (facts.optional || !shaped) continue;
    add(inputs, *scope.name_of(value) + " " + shape_within(p, id, facts.type));
  }
  for (ValueId value : p.block(id).outputs)
    add(results, shape_within(p, id, p.joined.values[value].type));
  return wrapped(inputs + " -> " + results + ".");
}

std::string block_doc(const Program& p, BlockId id) {
  std::string place = place_of(p, id);
  std::string where = place.empty() ? "" : " (" + place + ")";
  if (p.is_root(id)) return fmt::format("The program `{}`{}.", p.request.program, where);
  return fmt::format("`{}`{}.", p.block(id).path, where);
}

std::string block_class_name(Program& p, BlockId id) {
  if (p.is_root(id)) return root_name(p);
  std::string segment = p.block(id).segment;
  BlockId up = p.block(id).parent;
  if (segment[0] == '{' || std::isdigit(static_cast<unsigned char>(segment[0]))) {
    segment = singular(p.block(up).segment);
    up = p.block(up).parent;
  }
  std::string name = py::class_name(segment), longer = name;
  auto taken = [&] { return segment == "self" || p.names.taken(longer); };
  for (; taken() && up.valid() && !p.is_root(up); up = p.block(up).parent) {
    const std::string& above = p.block(up).segment;
    bool numbered = above[0] == '{' || std::isdigit(static_cast<unsigned char>(above[0]));
    if (!numbered) longer = py::class_name(above) + name;
    if (longer != name && !p.names.taken(longer)) return p.names.unique(longer);
  }
  if (name == root_name(p)) name += "Model";
  return p.names.unique(name);
}

std::map<std::string, int64_t> flags_of(const Program& program, BlockId id) {
  std::map<std::string, int64_t> out;
  for (BlockId child : program.block(id).children) {
    const Block& block = program.block(child);
    if (block.only >= 0) out["has_" + block.segment] = block.only;
    if (block.only < 0 && block.segment[0] != '{') out.merge(flags_of(program, child));
  }
  return out;
}

int64_t start_token(const Program& program) {
  for (const char* key : {"decoder_start_token_id", "pad_token_id"}) {
    const model::ConfigValue* value =
        program.request.answers.config ? program.request.answers.config->member(key) : nullptr;
    if (value && value->kind == model::ConfigValue::Kind::Int) return value->integer;
  }
  return 0;
}

std::string singular(const std::string& text) {
  return text.size() > 2 && text.back() == 's' ? text.substr(0, text.size() - 1) : text;
}

std::string root_name(const Program& program) { return py::class_name(program.request.program); }

std::string output_name(const Program& program) { return root_name(program) + "Output"; }

std::string encoded_name(const Program& program) { return root_name(program) + "Encoded"; }

std::string input_name(const Program& program, int role) {
  if (role < 0) return "";
  const graph::Module& main = (*program.request.graph)[program.request.graph->main];
  return std::string(
      program.types.dims().names().text(main.values[main.inputs[static_cast<size_t>(role)]].name));
}

std::string shape_text(const Program& program, TypeId type) {
  const DimTable& dims = program.types.dims();
  if (program.types.kind(type) == TypeKind::List)
    return (program.request.scan_layers ? "stack of " : "list of ") +
           shape_text(program, program.types.get(type).items[0]);
  std::string out;
  for (DimId dim : program.types.dims_of(type)) {
    if (!out.empty()) out += ", ";
    auto number = dims.as_integer(dim);
    auto named = number && *number > 2 ? program.sizes.find(*number) : program.sizes.end();
    out += named != program.sizes.end() ? named->second : dims.show(dim);
  }
  return "[" + out + "]";
}

std::string place_of(const Program& program, BlockId id) {
  if (!program.request.files) return "";
  for (NodeId step : own_steps(program, id)) {
    const graph::Node& node = program.joined.steps[step].node;
    if (!node.span.valid()) continue;
    std::string path = program.request.files->path(node.span.file);
    if (starts_with(path, "library/")) continue;
    path = path.substr(path.rfind('/') + 1);
    return fmt::format("{}:{}", path,
                       program.request.files->line_column(node.span.file, node.span.begin).line);
  }
  return "";
}

}  // namespace axon::emit
