// Use lists and last uses, computed backwards.
#include "plan/uses.h"

#include <algorithm>

#include "graph/builder.h"

namespace axon::plan {

bool is_view(Op op) {
  switch (op) {
    case Op::Reshape:
    case Op::Permute:
    case Op::Transpose:
    case Op::Unsqueeze:
    case Op::Expand:
    case Op::Slice:
    case Op::Split:
    case Op::Chunk:
    case Op::Repeat_:
    case Op::CoreList:
      return true;
    default:
      return false;
  }
}

// Up to the loop's last node.
void Uses::add_rounds(const opt::FlatLoop& loop) {
  size_t end = 0;
  for (const opt::LoopClass& cls : loop.classes) {
    for (graph::NodeId node : cls.nodes) end = std::max(end, position(node));
  }
  for (const opt::LoopRound& round : loop.rounds) {
    for (auto [from, to] : round.replaced) {
      size_t& last = last_[static_cast<size_t>(to.index)];
      last = std::max(last, end);
    }
  }
}

Uses::Uses(const graph::Module& module, const std::vector<opt::FlatLoop>* loops)
    : users_(module.values.size()),
      outputs_(module.values.size()),
      position_(module.nodes.size()),
      last_(module.values.size()) {
  for (size_t i = 0; i < module.order.size(); ++i) {
    const graph::Node& node = module.nodes[module.order[i]];
    position_[static_cast<size_t>(module.order[i].index)] = i;
    auto add = [&](const graph::Operand& operand) {
      graph::for_each_value(module, operand, [&](graph::ValueId v) {
        auto& users = users_[static_cast<size_t>(v.index)];
        if (users.empty() || users.back() != module.order[i]) users.push_back(module.order[i]);
      });
    };
    for (const graph::Operand& input : node.inputs) add(input);
    for (const graph::Attr& attr : node.attrs) add(attr.value);
  }
  for (const graph::Operand& output : module.outputs) {
    graph::for_each_value(module, output, [&](graph::ValueId v) {
      outputs_[static_cast<size_t>(v.index)]++;
      last_[static_cast<size_t>(v.index)] = module.order.size();
    });
  }
  if (loops) {
    for (const opt::FlatLoop& loop : *loops) add_rounds(loop);
  }
  for (size_t i = module.order.size(); i-- > 0;) {
    const graph::Node& node = module.nodes[module.order[i]];
    size_t read = i;
    if (is_view(node.op)) {
      for (graph::ValueId out : node.outputs)
        read = std::max(read, last_[static_cast<size_t>(out.index)]);
    }
    for (const graph::Operand& input : node.inputs) {
      graph::for_each_value(module, input, [&](graph::ValueId v) {
        size_t& last = last_[static_cast<size_t>(v.index)];
        last = std::max(last, read);
      });
    }
  }
}

}  // namespace axon::plan
