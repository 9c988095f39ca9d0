// What steps read: values, and parameters by their paths.
#include <algorithm>

#include "emit/outline/outline.h"

namespace axon::emit {
namespace {

bool is_true(const graph::Operand& operand) {
  const auto* flag = operand.get<graph::LitBool>();
  return flag && flag->value;
}

void add_reads(const Joined& joined, const graph::Node& node, std::vector<graph::ValueId>& out) {
  for_each_read(node, [&](graph::ValueId value) {
    const graph::Node* producer = joined.producer(value);
    if (producer && producer->op == Op::CoreList)
      add_reads(joined, *producer, out);
    else
      out.push_back(value);
  });
}

}  // namespace

std::vector<graph::ValueId> reads_of(const Joined& joined, const graph::Node& node) {
  std::vector<graph::ValueId> out;
  add_reads(joined, node, out);
  return out;
}

std::vector<graph::ValueId> setting_reads(const Joined& joined, int32_t loop) {
  std::vector<graph::ValueId> out;
  for (const Setting& setting : joined.settings) {
    if (setting.loop != loop) continue;
    for (const graph::Operand& operand : setting.by_round) {
      const auto* ref = operand.get<graph::Ref>();
      if (ref && std::find(out.begin(), out.end(), ref->value) == out.end())
        out.push_back(ref->value);
    }
  }
  return out;
}

std::string dotted(const graph::Path& path, const Interner& names) {
  std::string out;
  for (const graph::PathPiece& piece : path.pieces) {
    if (!piece.joined && !out.empty()) out += '.';
    if (piece.placeholder)
      out += "{" + std::string(names.text(piece.text)) + "}";
    else
      out += names.text(piece.text);
  }
  return out;
}

std::vector<std::string> params_of(const graph::Node& node, const Interner& names) {
  auto path = [&](size_t i) { return dotted(node.inputs[i].as<graph::Path>(), names); };
  switch (node.op) {
    case Op::Linear:
      return is_true(node.inputs[3]) ? std::vector<std::string>{path(6), path(7)}
                                     : std::vector<std::string>{path(6)};
    case Op::ExpertLinear:
      return is_true(node.inputs[4]) ? std::vector<std::string>{path(6), path(7)}
                                     : std::vector<std::string>{path(6)};
    case Op::Layernorm:
      return is_true(node.inputs[5]) ? std::vector<std::string>{path(4), path(6)}
                                     : std::vector<std::string>{path(4)};
    case Op::Embedding:
      return {path(0) + ".weight"};
    default: {
      std::vector<std::string> out;
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        if (node.inputs[i].kind() == graph::OperandKind::Path) out.push_back(path(i));
      }
      return out;
    }
  }
}

}  // namespace axon::emit
