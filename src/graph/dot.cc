// A Graph as a drawing: the language of Graphviz.
#include "graph/dot.h"

#include <unordered_map>
#include <vector>

#include "graph/text.h"

namespace axon::graph {
namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') out += "\\n";
    if (c != '\n') out += c;
  }
  return out + "\"";
}

class DotWriter {
 public:
  DotWriter(const Graph& graph, const TypeTable& types)
      : graph_(graph), types_(types), names_(types.dims().names()) {}

  std::string run() {
    out_ = "digraph graph_ir {\n  node [shape=box];\n";
    for (size_t m = 0; m < graph_.modules.size(); ++m) module(m);
    return out_ + "}\n";
  }

 private:
  std::string text(NameId name) const { return std::string(names_.text(name)); }

  void box(const std::string& id, const std::string& label, const char* shape = nullptr) {
    out_ += "    " + id + " [label=" + quoted(label);
    if (shape) out_ += std::string(", shape=") + shape;
    out_ += "];\n";
  }

  void arrow(const std::string& from, const std::string& to, ValueId value) {
    out_ += "    " + from + " -> " + to + " [label=" + quoted(text(module_->values[value].name)) +
            "];\n";
  }

  // An arrow from what makes a value that an operand reads; other operands stand in the label.
  void operand(const Operand& operand, const std::string& to, std::string* label) {
    if (const Ref* ref = operand.get<Ref>()) {
      auto from = makers_.find(ref->value);
      if (!label && from != makers_.end()) arrow(from->second, to, ref->value);
      return;
    }
    if (const Nested* nested = operand.get<Nested>(); nested && !label) {
      for (const Operand& inner : module_->nested[nested->expr].inputs)
        this->operand(inner, to, label);
    }
    if (label) *label += "\n" + show_operand(graph_, *module_, operand, types_);
  }

  void node(const Node& node, const std::string& id) {
    std::string label(axon::spelling(node.op));
    if (node.callee.valid()) label += " " + text(graph_[node.callee].name);
    if (node.repeat >= 0)
      label += " " + text(graph_[module_->repeats[static_cast<size_t>(node.repeat)].callee].name);
    for (const Operand& input : node.inputs) operand(input, id, &label);
    if (node.type.valid()) label += "\n" + types_.show(node.type);
    box(id, label);
    for (const Operand& input : node.inputs) operand(input, id, nullptr);
    for (ValueId value : node.outputs) makers_[value] = id;
  }

  void module(size_t index) {
    module_ = &graph_.modules[index];
    makers_.clear();
    const std::string prefix = "m" + std::to_string(index);
    out_ += "  subgraph cluster_" + prefix + " {\n    label=" + quoted(text(module_->name)) + ";\n";
    for (size_t i = 0; i < module_->inputs.size(); ++i) {
      const Value& value = module_->values[module_->inputs[i]];
      const std::string id = prefix + "_in" + std::to_string(i);
      box(id, text(value.name) + "\n" + types_.show(value.type), "ellipse");
      makers_[module_->inputs[i]] = id;
    }
    for (size_t i = 0; i < module_->order.size(); ++i)
      node(module_->nodes[module_->order[i]], prefix + "_" + std::to_string(i));
    for (size_t i = 0; i < module_->outputs.size(); ++i) {
      const std::string id = prefix + "_out" + std::to_string(i);
      std::string label = "result";
      if (i < module_->output_names.size()) label += " " + text(module_->output_names[i]);
      operand(module_->outputs[i], id, &label);
      box(id, label, "ellipse");
      operand(module_->outputs[i], id, nullptr);
    }
    out_ += "  }\n";
  }

  const Graph& graph_;
  const TypeTable& types_;
  const Interner& names_;
  const Module* module_ = nullptr;
  std::unordered_map<ValueId, std::string, IdHash> makers_;  // boxes that values come from
  std::string out_;
};

}  // namespace

std::string write_dot(const Graph& graph, const TypeTable& types) {
  return DotWriter(graph, types).run();
}

}  // namespace axon::graph
