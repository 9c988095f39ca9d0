// Groups of linear layers by what they read, and names of their results.
#include "emit/torch/joints.h"

#include <algorithm>
#include <map>
#include <set>

#include "emit/write/scope.h"
#include "support/text.h"

namespace axon::emit::torch {
namespace {

using graph::ValueId;

class Finder {
 public:
  Finder(Program& program, Joined& joined)
      : p_(program), joined_(joined), names_(program.types.dims().names()) {}

  void run() {
    for (graph::NodeId id : joined_.order) {
      const graph::Node& node = joined_.steps[id].node;
      for (const std::string& path : params_of(node, names_)) reads_[form(path)].push_back(path);
      if (node.op == Op::CoreList) continue;
      for (ValueId value : reads_of(joined_, node)) readers_[value].push_back(id);
    }
    for (size_t i = 0; i < p_.outline.blocks.size(); ++i)
      count_calls(p_.outline.blocks[p_.outline.blocks.id_at(i)].items);
    for (size_t i = 0; i < p_.outline.blocks.size(); ++i) {
      BlockId id = p_.outline.blocks.id_at(i);
      if (p_.block(id).kind == Block::Kind::Class) group(id, p_.block(id).items);
    }
  }

 private:
  static bool is_numbered(std::string_view segment) {
    return segment[0] == '{' || (segment[0] >= '0' && segment[0] <= '9');
  }

  // The path without its numbers: paths of one form may name the same parameter.
  static std::string form(const std::string& path) {
    std::string out;
    for (std::string_view segment : split(path, '.'))
      out += (is_numbered(segment) ? std::string("#") : std::string(segment)) + ".";
    return out;
  }

  static bool may_meet(const std::string& a, const std::string& b) {
    std::vector<std::string_view> x = split(a, '.'), y = split(b, '.');
    for (size_t i = 0; i < x.size(); ++i) {
      if (x[i] != y[i] && x[i][0] != '{' && y[i][0] != '{') return false;
    }
    return true;
  }

  bool is_read_once(const std::string& path) const {
    const std::vector<std::string>& all = reads_.at(form(path));
    return std::count_if(all.begin(), all.end(),
                         [&](const std::string& other) { return may_meet(path, other); }) == 1;
  }

  void count_calls(const std::vector<Item>& items) {
    for (const Item& item : items) {
      if (item.kind == Item::Kind::Call) ++calls_[item.block];
      if (item.kind == Item::Kind::Loop && loops_.insert(item.loop).second)
        count_calls(p_.outline.loops[static_cast<size_t>(item.loop)].items);
    }
  }

  const graph::Node& node_of(BlockId layer) const {
    return joined_.steps[p_.block(layer).items[0].step].node;
  }

  // Whether a called block is a layer of the framework that may be one of several.
  bool may_join(BlockId top, BlockId called) {
    const Block& block = p_.block(called);
    if (block.kind != Block::Kind::Layer || block.bank >= 0 || calls_[called] != 1) return false;
    const graph::Node& node = node_of(called);
    auto is_false = [&](size_t slot) {
      const auto* flag = node.inputs[slot].get<graph::LitBool>();
      return !flag || !flag->value;
    };
    bool plain =
        node.op == Op::Linear && is_false(4) && node.inputs[5].kind() == graph::OperandKind::Null &&
        block.items[0].step != p_.head && block.inputs.size() == 1 && block.outputs.size() == 1;
    if (!plain) return false;
    for (const BlockParam& param : block.params) {
      bool known = (param.name == "weight" && param.shape.size() == 2) || param.name == "bias";
      if (!known || !is_read_once(param.path)) return false;
    }
    for (const std::string& segment : p_.outline.relative(top, called)) {
      if (py::identifier(segment) != segment || py::is_keyword(segment)) return false;
    }
    for (BlockId up = called; up != top && up.valid(); up = p_.block(up).parent) {
      if (p_.block(up).only >= 0) return false;
    }
    return true;
  }

  void group(BlockId top, const std::vector<Item>& items) {
    std::vector<Joint> found;
    for (const Item& item : items) {
      if (item.kind == Item::Kind::Loop)
        group(top, p_.outline.loops[static_cast<size_t>(item.loop)].items);
      if (item.kind != Item::Kind::Call || !may_join(top, item.block)) continue;
      const Block& block = p_.block(item.block);
      auto same = std::find_if(found.begin(), found.end(), [&](const Joint& joint) {
        const Block& first = p_.block(joint.layers[0]);
        return first.inputs == block.inputs && first.params.size() == block.params.size();
      });
      if (same == found.end())
        found.push_back({top, {item.block}});
      else
        same->layers.push_back(item.block);
    }
    for (Joint& joint : found) {
      if (joint.layers.size() < 2) continue;
      name_results(joint);
      p_.joints.push_back(std::move(joint));
    }
  }

  std::string base_name(ValueId value) const {
    return Scope::base_name(names_.text(joined_.values[value].name));
  }

  // The value, or what one operation after another makes of it alone.
  ValueId ahead(ValueId value, int operations) const {
    for (; operations > 0; --operations) {
      auto readers = readers_.find(value);
      if (readers == readers_.end() || readers->second.size() != 1) return value;
      const graph::Node& next = joined_.steps[readers->second[0]].node;
      if (next.outputs.size() != 1 || reads_of(joined_, next).size() != 1) return value;
      value = next.outputs[0];
    }
    return value;
  }

  // Where the program's own names do not tell the results apart, the layers' do.
  void name_results(const Joint& joint) {
    std::vector<std::string> names;
    const std::string read = base_name(p_.block(joint.layers[0]).inputs[0]);
    bool clear = false;
    for (int operations = 0; operations < 4 && !clear; ++operations) {
      std::set<std::string> seen;
      names.clear();
      for (BlockId layer : joint.layers)
        names.push_back(base_name(ahead(p_.block(layer).outputs[0], operations)));
      seen.insert(names.begin(), names.end());
      clear = seen.size() == names.size() && seen.count("y") == 0 && seen.count(read) == 0;
    }
    for (size_t i = 0; i < names.size(); ++i) {
      const Block& layer = p_.block(joint.layers[i]);
      joined_.values[layer.outputs[0]].name =
          p_.types.dims().names().intern(clear ? names[i] : layer.segment);
    }
  }

  Program& p_;
  Joined& joined_;
  const Interner& names_;
  std::map<std::string, std::vector<std::string>> reads_;  // paths by their form
  std::unordered_map<ValueId, std::vector<graph::NodeId>, IdHash> readers_;
  std::unordered_map<BlockId, int, IdHash> calls_;
  std::set<int32_t> loops_;
};

}  // namespace

void find_joints(Program& program, Joined& joined) { Finder(program, joined).run(); }

}  // namespace axon::emit::torch
