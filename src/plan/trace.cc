// What a trace shows of a flat module: values by the parameter paths at which they are computed.
#include "plan/trace.h"

#include <fmt/format.h>

#include <map>

#include "graph/text.h"

namespace axon::plan {

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
    last[graph::show_path(flat.graph, module, node.scope, types)] = i;
  }
  std::map<size_t, std::string> in_order;
  for (auto& [scope, position] : last) in_order.emplace(position, scope);
  std::vector<std::pair<std::string, graph::ValueId>> out;
  for (const auto& [position, scope] : in_order) {
    const graph::Node& node = module.nodes[module.order[position]];
    std::string name = fmt::format("trace.{}.{}", position, scope);
    if (files && node.span.valid()) {
      name += fmt::format("@{}:{}", files->path(node.span.file),
                          files->line_column(node.span.file, node.span.begin).line);
    }
    module.outputs.push_back({graph::Ref{node.outputs[0]}, module.values[node.outputs[0]].type});
    out.emplace_back(std::move(name), node.outputs[0]);
  }
  return out;
}

}  // namespace axon::plan
