// Finds the steps of each bank: from the chosen matrices outwards.
#include "emit/outline/experts.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "emit/outline/outline.h"
#include "support/text.h"

namespace axon::emit {
namespace {

using graph::Node;
using graph::NodeId;
using graph::Operand;
using graph::ValueId;

// Slots of the primitive `expert_linear`.
constexpr size_t kX = 1, kChosen = 2, kWeight = 6, kBias = 7;

constexpr const char* kVariable = "expert";

// How a requested bank is stored: `a.experts.w1` as `a.experts.0.w1`, `a.experts.1.w1`, …
struct Parts {
  size_t count = 0;
  size_t segment = 0;  // of the number
};

class Banks {
 public:
  Banks(Joined& joined, const model::ParamIndex& params, TypeTable& types)
      : j_(joined), params_(params), types_(types), names_(types.dims().names()) {}

  void run() {
    std::vector<ValueId> seen;
    std::vector<NodeId> order = j_.order;
    for (NodeId id : order) {
      const Node& node = j_.steps[id].node;
      const auto* chosen =
          node.op == Op::ExpertLinear ? node.inputs[kChosen].get<graph::Ref>() : nullptr;
      if (!chosen || std::count(seen.begin(), seen.end(), chosen->value)) continue;
      seen.push_back(chosen->value);
      bank(chosen->value);
    }
  }

 private:
  using Set = std::unordered_set<NodeId, IdHash>;

  const Node& node(NodeId id) const { return j_.steps[id].node; }

  void bank(ValueId chosen) {
    std::vector<NodeId> matrices;
    for (NodeId id : j_.order) {
      const auto* by =
          node(id).op == Op::ExpertLinear ? node(id).inputs[kChosen].get<graph::Ref>() : nullptr;
      if (by && by->value == chosen) matrices.push_back(id);
    }
    std::optional<Parts> parts;
    std::string list;
    for (NodeId id : matrices) {
      for (const std::string& path : params_of(node(id), names_)) {
        auto own = parts_of(path);
        if (!own || (parts && (own->count != parts->count || own->segment != parts->segment)))
          return;
        parts = own;
        std::string prefix = before(path, own->segment);
        if (!list.empty() && list != prefix) return;
        list = prefix;
      }
    }
    std::vector<NodeId> region = between(matrices);
    if (!parts || list.find(fmt::format("{{{}}}", kVariable)) != std::string::npos) return;
    if (!is_closed(region, chosen)) return;
    int32_t index = static_cast<int32_t>(j_.banks.size());
    j_.banks.push_back({kVariable, list, parts->count, chosen});
    for (NodeId id : region) rewrite(id, index, parts->segment);
  }

  // The first `segments` of a path.
  static std::string before(const std::string& path, size_t segments) {
    std::vector<std::string> all;
    for (std::string_view part : split(path, '.')) {
      if (all.size() < segments) all.emplace_back(part);
    }
    return join(all, ".");
  }

  std::optional<Parts> parts_of(const std::string& path) const {
    std::string key = path;
    for (size_t open; (open = key.find('{')) != std::string::npos;) {
      key.erase(open + 1, key.find('}') - open);
      key[open] = '0';
    }
    auto found = params_.resolve(key);
    if (!found || found->kind != model::Resolved::Kind::Stack) return std::nullopt;
    size_t segments = split(key, '.').size();
    for (size_t at = 1; at < segments; ++at) {
      bool fits = true;
      for (size_t n = 0; fits && n < found->parts.size(); ++n)
        fits = found->parts[n].name == numbered(key, at, std::to_string(n));
      if (fits) return Parts{found->parts.size(), at};
    }
    return std::nullopt;
  }

  static std::string numbered(const std::string& path, size_t at, const std::string& segment) {
    std::vector<std::string> all;
    for (std::string_view part : split(path, '.')) all.emplace_back(part);
    all.insert(all.begin() + static_cast<long>(at), segment);
    return join(all, ".");
  }

  // The matrices and the steps on the ways from one to another, in order.
  std::vector<NodeId> between(const std::vector<NodeId>& matrices) const {
    Set after(matrices.begin(), matrices.end()), before(matrices.begin(), matrices.end());
    for (NodeId id : j_.order) {
      for (ValueId value : reads_of(j_, node(id))) {
        if (after.count(j_.values[value].producer)) after.insert(id);
      }
    }
    for (auto it = j_.order.rbegin(); it != j_.order.rend(); ++it) {
      if (!before.count(*it)) continue;
      for (ValueId value : reads_of(j_, node(*it))) {
        NodeId producer = j_.values[value].producer;
        if (producer.valid() && after.count(producer)) before.insert(producer);
      }
    }
    std::vector<NodeId> out;
    for (NodeId id : j_.order) {
      if (after.count(id) && before.count(id)) out.push_back(id);
    }
    return out;
  }

  // One tensor enters and one leaves, and what happens within happens to each row alone.
  bool is_closed(const std::vector<NodeId>& region, ValueId chosen) const {
    Set set(region.begin(), region.end());
    std::unordered_set<ValueId, IdHash> enter, leave;
    for (NodeId id : region) {
      const Op op = node(id).op;
      if (op == Op::Reshape || op == Op::Expand || op == Op::Permute || op == Op::Transpose ||
          op == Op::Unsqueeze || j_.steps[id].kind != Step::Kind::Node)
        return false;
      for (ValueId value : reads_of(j_, node(id))) {
        NodeId producer = j_.values[value].producer;
        if (value != chosen && (!producer.valid() || !set.count(producer))) enter.insert(value);
      }
    }
    for (NodeId id : j_.order) {
      if (set.count(id)) continue;
      for_each_read(node(id), [&](ValueId value) {
        NodeId producer = j_.values[value].producer;
        if (producer.valid() && set.count(producer)) leave.insert(value);
      });
    }
    return enter.size() == 1 && leave.size() == 1;
  }

  void rewrite(NodeId id, int32_t bank, size_t segment) {
    Step& step = j_.steps[id];
    step.bank = bank;
    const std::string item = fmt::format("{{{}}}", kVariable);
    Node& n = step.node;
    const std::string list = fmt::format("{}.{}", j_.banks.back().path, item);
    if (n.op != Op::ExpertLinear) {
      n.scope = path_of(list, n);
      return;
    }
    Operand weight, bias;
    weight.data =
        path_of(numbered(dotted(n.inputs[kWeight].as<graph::Path>(), names_), segment, item), n);
    bias.data =
        path_of(numbered(dotted(n.inputs[kBias].as<graph::Path>(), names_), segment, item), n);
    std::string owner = numbered(params_of(n, names_)[0], segment, item);
    n.scope = path_of(owner.substr(0, owner.rfind('.')), n);
    n.op = Op::Linear;
    n.inputs = {n.inputs[0], n.inputs[kX],      n.inputs[3],       n.inputs[4],
                n.inputs[5], n.inputs[kChosen], std::move(weight), std::move(bias)};
  }

  // Placeholders are those of the step's own paths, but for that of the bank.
  graph::Path path_of(const std::string& text, const Node& of) {
    graph::Path out;
    for (std::string_view segment : split(text, '.')) {
      graph::PathPiece piece;
      piece.placeholder = segment[0] == '{';
      if (piece.placeholder) segment = segment.substr(1, segment.size() - 2);
      piece.text = types_.dims().names().intern(segment);
      for (const graph::PathPiece& known : of.scope.pieces) {
        if (piece.placeholder && known.placeholder && known.text == piece.text) piece = known;
      }
      piece.joined = false;
      out.pieces.push_back(piece);
    }
    return out;
  }

  Joined& j_;
  const model::ParamIndex& params_;
  TypeTable& types_;
  const Interner& names_;
};

}  // namespace

void make_banks(Joined& joined, const model::ParamIndex& params, TypeTable& types) {
  Banks(joined, params, types).run();
}

}  // namespace axon::emit
