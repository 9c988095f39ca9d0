// What a trace shows of a flat module: values by the parameter paths at which they are computed.
#include "plan/trace.h"

#include <fmt/format.h>

#include <map>

#include "support/text.h"

namespace axon::plan {
namespace {

// Paths of flat modules are literal.
std::string path_text(const graph::Path& path, const Interner& names) {
  std::string out;
  for (const graph::PathPiece& piece : path.pieces) {
    if (!out.empty() && !piece.joined) out += '.';
    out += names.text(piece.text);
  }
  return out;
}

// The node's place in the program: where the program calls the library, if it is of the library.
std::string place_of(const graph::Node& node, const FileTable& files) {
  const Span place = program_place(node.span, node.more_spans, files);
  if (!place.valid()) return {};
  return fmt::format("@{}:{}", files.path(place.file),
                     files.line_column(place.file, place.begin).line);
}

}  // namespace

Span program_place(Span span, const std::vector<Span>& calls, const FileTable& files) {
  auto inside = [&] { return span.valid() && starts_with(files.path(span.file), "library/"); };
  for (size_t i = 0; i < calls.size() && inside(); ++i) span = calls[i];
  return span;
}

std::vector<std::pair<std::string, graph::ValueId>> trace_scopes(opt::Specialised& flat,
                                                                 const TypeTable& types,
                                                                 const FileTable* files) {
  graph::Module& module = flat.module();
  std::map<std::string, size_t> last;  // by scope: the position of its last float tensor
  for (size_t i = 0; i < module.order.size(); ++i) {
    const graph::Node& node = module.nodes[module.order[i]];
    if (node.scope.pieces.empty() || node.outputs.size() != 1) continue;
    const graph::Value& value = module.values[node.outputs[0]];
    if (value.dtype != DType::F32 || !types.is_tensor(value.type)) continue;
    last[path_text(node.scope, types.dims().names())] = i;
  }
  std::map<size_t, std::string> in_order;
  for (auto& [scope, position] : last) in_order.emplace(position, scope);
  std::vector<std::pair<std::string, graph::ValueId>> out;
  for (const auto& [position, scope] : in_order) {
    const graph::Node& node = module.nodes[module.order[position]];
    std::string name = fmt::format("trace.{}.{}", position, scope);
    if (files) name += place_of(node, *files);
    module.outputs.push_back({graph::Ref{node.outputs[0]}, module.values[node.outputs[0]].type});
    out.emplace_back(std::move(name), node.outputs[0]);
  }
  return out;
}

}  // namespace axon::plan
