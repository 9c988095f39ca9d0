// Items of a block as statements.
#include "emit/torch/forward.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "emit/py/print.h"
#include "emit/py/template.h"
#include "emit/torch/rows.h"
#include "emit/torch/scope.h"
#include "support/check.h"
#include "support/text.h"

namespace axon::emit::torch {
namespace {

using graph::Node;
using graph::NodeId;
using graph::Operand;
using graph::OperandKind;
using graph::ValueId;
using py::expand;
using py::Expr;
using py::Stmt;

class Forward : public RowContext {
 public:
  Forward(Program& program, BlockId id)
      : p_(program),
        id_(id),
        block_(program.block(id)),
        needs_(program.needs[id]),
        dims_(program.types.dims()),
        scope_(program.joined, program.types, program.names) {}

  Result<Stmt> write() {
    count_uses();
    if (!p_.is_root(id_) && block_.outputs.size() == 1) scope_.keep_waiting(block_.outputs[0]);
    if (p_.is_root(id_) && p_.joined.outputs.size() == 1 && !p_.calls.cached) {
      if (const auto* ref = p_.joined.outputs[0].second.get<graph::Ref>())
        scope_.keep_waiting(ref->value);
    }
    std::vector<py::Param> params = parameters();
    std::vector<Stmt> body;
    body.push_back(py::docstring(doc()));
    scope_.redirect(&body);
    if (p_.is_root(id_)) begin();
    bind_sizes();
    AXON_TRY_VOID(items(block_.items));
    std::optional<Expr> result = finish();
    Stmt out = py::def("forward", std::move(params), std::move(result), std::move(body));
    return out;
  }

  // ---- rows ----------------------------------------------------------------------------------

  Expr value(const Operand& operand) override {
    switch (operand.kind()) {
      case OperandKind::Ref: {
        Built built = scope_.use(operand.as<graph::Ref>().value);
        reads_.insert(reads_.end(), built.reads.begin(), built.reads.end());
        return built.expr;
      }
      case OperandKind::Dim:
        return dim(operand.as<graph::DimRef>().dim);
      case OperandKind::Bool:
        return py::atom(operand.as<graph::LitBool>().value ? "True" : "False");
      case OperandKind::Int:
        return py::integer(operand.as<graph::LitInt>().value);
      case OperandKind::Float:
        return py::real(operand.as<graph::LitFloat>().value);
      case OperandKind::String:
        return py::text(names().text(operand.as<graph::LitString>().value));
      default:
        return py::atom("None");
    }
  }

  Expr dim(DimId dim) override { return dim_tree(dims_.tree(dim)); }

  Expr param(const std::string& path) override {
    auto foreign = foreign_.find(path);
    if (foreign != foreign_.end()) return py::atom(foreign->second);
    std::string_view rest = path;
    if (!block_.path.empty()) rest.remove_prefix(block_.path.size() + 1);
    return reach(py::atom("self"), split(rest, '.'));
  }

  std::vector<Expr> items(const Operand& operand) override {
    const auto* ref = operand.get<graph::Ref>();
    const Node* list = ref ? p_.joined.producer(ref->value) : nullptr;
    AXON_CHECK(list && list->op == Op::CoreList, "a shape is a list of sizes");
    std::vector<Expr> out;
    for (const Operand& item : list->inputs) out.push_back(value(item));
    return out;
  }

  std::vector<DimId> shape(const Operand& operand) override {
    const auto* ref = operand.get<graph::Ref>();
    return ref ? p_.types.dims_of(p_.joined.values[ref->value].type) : std::vector<DimId>{};
  }

  std::optional<Expr> places(DimId from, DimId to) override {
    DimId past = dims_.of(p_.calls.past);
    if (!p_.calls.cached || from != past || to != dims_.add(past, dims_.of(p_.calls.tokens)))
      return std::nullopt;
    return py::atom("slots");
  }

  void helper(std::string_view prelude) override { p_.prelude.use(prelude); }
  bool all_signed() override { return !p_.signed_sines.empty(); }
  bool is_signed(ValueId value) override { return p_.signed_sines.count(value.index) != 0; }
  const Interner& names() override { return dims_.names(); }
  DimTable& dims() override { return dims_; }

 private:
  // ---- sizes ---------------------------------------------------------------------------------

  Expr dim_tree(const DimTable::Tree& tree) {
    using Kind = DimTable::Tree::Kind;
    switch (tree.kind) {
      case Kind::Integer:
        return py::integer(tree.value);
      case Kind::Symbol:
        return symbol(tree.symbol);
      default:
        break;
    }
    Expr out = dim_tree(tree.operands[0]);
    for (size_t i = 1; i < tree.operands.size(); ++i) {
      Expr next = dim_tree(tree.operands[i]);
      if (tree.kind == Kind::Min || tree.kind == Kind::Max) {
        out = py::call(py::atom(tree.kind == Kind::Min ? "min" : "max"), {out, next});
        continue;
      }
      std::string_view op = tree.kind == Kind::Add   ? "+"
                            : tree.kind == Kind::Sub ? "-"
                            : tree.kind == Kind::Mul ? "*"
                            : tree.kind == Kind::Div ? "//"
                                                     : "%";
      out = py::binary(std::move(out), op, std::move(next));
    }
    return out;
  }

  Expr symbol(SymbolId id) {
    if (id == p_.calls.past) return expand("slots[0]");
    if (p_.calls.cached && id == p_.calls.capacity) return py::atom("key_count");
    auto it = sizes_.find(id);
    return py::atom(it == sizes_.end() ? std::string(names().text(dims_.symbol(id).name))
                                       : it->second);
  }

  // Sizes that the statements mention, from the shapes of arguments: `B, S, _ = x.shape`.
  void bind_sizes() {
    std::vector<SymbolId> wanted = mentioned_sizes();
    std::vector<Told> told = told_sizes(p_, id_);
    std::vector<ValueId> done;
    for (const Told& first : told) {
      bool needed = std::find(wanted.begin(), wanted.end(), first.symbol) != wanted.end();
      if (!needed || std::find(done.begin(), done.end(), first.value) != done.end()) continue;
      done.push_back(first.value);
      size_t rank = p_.types.dims_of(p_.joined.values[first.value].type).size();
      std::vector<Expr> targets(rank, py::atom("_"));
      size_t count = 0, axis = 0;
      for (const Told& t : told) {
        if (t.value != first.value ||
            std::find(wanted.begin(), wanted.end(), t.symbol) == wanted.end())
          continue;
        std::string name = scope_.fresh(names().text(dims_.symbol(t.symbol).name));
        sizes_[t.symbol] = name;
        targets[t.axis] = py::atom(name);
        axis = t.axis;
        ++count;
      }
      Expr shape = py::attribute(py::atom(*scope_.name_of(first.value)), "shape");
      if (count == 1)
        scope_.statement(
            py::assign(targets[axis], py::index(shape, {py::integer(static_cast<int64_t>(axis))})));
      else
        scope_.statement(py::assign(py::tuple(std::move(targets)), std::move(shape)));
    }
  }

  // Whether an operation's expression spells its sizes out.
  std::vector<SymbolId> mentioned_sizes() {
    std::vector<SymbolId> out;
    auto add = [&](SymbolId s) {
      if (std::find(out.begin(), out.end(), s) == out.end()) out.push_back(s);
    };
    auto add_operand = [&](auto&& self, const Operand& operand) -> void {
      if (const auto* d = operand.get<graph::DimRef>()) {
        for (SymbolId s : dims_.symbols(d->dim)) add(s);
      }
      const auto* ref = operand.get<graph::Ref>();
      const Node* list = ref ? p_.joined.producer(ref->value) : nullptr;
      if (!list || list->op != Op::CoreList) return;
      for (const Operand& item : list->inputs) self(self, item);
    };
    for (NodeId id : own_steps(p_, id_)) {
      const Step& step = p_.joined.steps[id];
      if (step.kind != Step::Kind::Node || step.node.op == Op::FusedAttention) continue;
      if (step.node.op == Op::Slice && slice_of_slots(step.node)) continue;
      for (const Operand& input : step.node.inputs) add_operand(add_operand, input);
    }
    for (BlockId called : called_blocks(p_, id_)) {
      for (SymbolId s : p_.needs[called].symbols) add(s);
    }
    return out;
  }

  bool slice_of_slots(const Node& node) {
    const auto *a = node.inputs[2].get<graph::DimRef>(), *b = node.inputs[3].get<graph::DimRef>();
    return a && b && places(a->dim, b->dim).has_value();
  }

  // ---- the function's edges ------------------------------------------------------------------

  bool cached_root() const { return p_.is_root(id_) && p_.calls.cached; }

  std::vector<py::Param> parameters() {
    std::vector<py::Param> out = {{"self", {}, {}}};
    if (p_.is_root(id_)) return root_parameters(std::move(out));
    for (ValueId value : block_.inputs)
      out.push_back({scope_.parameter(value), annotation(p_, value), {}});
    for (SymbolId s : needs_.symbols) {
      std::string name = symbol(s).text;
      out.push_back({scope_.fresh(name), py::atom("int"), {}});
    }
    for (const std::string& path : needs_.params) {
      std::vector<std::string_view> parts = split(path, '.');
      std::string name(parts.back());
      if (parts.size() > 1) name = std::string(parts[parts.size() - 2]) + "_" + name;
      foreign_[path] = scope_.fresh(name);
      out.push_back({foreign_[path], py::atom("Tensor"), {}});
    }
    if (needs_.slots) out.push_back({"slots", py::atom("Tensor"), {}});
    if (needs_.stores == Needs::Stores::One) out.push_back({"past", expand("Store | None"), {}});
    if (needs_.stores == Needs::Stores::Many)
      out.push_back({"stores", expand("Sequence[Store | None]"), {}});
    if (needs_.last) out.push_back({"last", expand("int | None"), {}});
    for (const char* name : {"slots", "past", "stores", "last", "key_count"}) reserve(name);
    return out;
  }

  void reserve(const char* name) { scope_.fresh(name); }

  std::vector<py::Param> root_parameters(std::vector<py::Param> out) {
    for (const JoinedInput& input : p_.joined.inputs) {
      py::Param param;
      param.name = scope_.parameter(input.value);
      param.annotation = expand(input.optional ? "Tensor | None" : "Tensor");
      if (input.optional) param.value = py::atom("None");
      out.push_back(std::move(param));
    }
    if (!p_.calls.cached) return out;
    past_ = input_name(p_, p_.calls.roles.cache);
    out.push_back({past_, expand("Cache | None"), py::atom("None")});
    if (p_.calls.roles.use_cache >= 0)
      out.push_back(
          {input_name(p_, p_.calls.roles.use_cache), py::atom("bool"), py::atom("False")});
    if (p_.calls.roles.capacity >= 0)
      out.push_back(
          {input_name(p_, p_.calls.roles.capacity), expand("int | None"), py::atom("None")});
    if (needs_.last) out.push_back({"last", expand("int | None"), py::atom("None")});
    for (const char* name : {"slots", "stores", "last", "key_count"}) reserve(name);
    return out;
  }

  // What a call begins with: its cache, its positions, its padding mask.
  void begin() {
    int role = p_.calls.roles.mask;
    std::string mask = role >= 0 ? input_name(p_, role) : "";
    if (p_.calls.cached) {
      std::string first = *scope_.name_of(p_.joined.inputs[0].value);
      const opt::Roles& roles = p_.calls.roles;
      if (roles.use_cache >= 0 && roles.capacity >= 0) {
        scope_.statement(py::if_(
            expand("{0} and {1} is None",
                   {py::atom(input_name(p_, roles.use_cache)), py::atom(past_)}),
            {py::assign(py::atom(past_),
                        expand("self.init_cache({0}.shape[0], {1})",
                               {py::atom(first), py::atom(input_name(p_, roles.capacity))}))}));
      }
      scope_.statement(
          py::assign(expand("slots, key_count"),
                     expand("call_span({0}, {1})", {py::atom(past_), py::atom(first)})));
      if (needs_.stores == Needs::Stores::Many) {
        scope_.statement(py::assign(
            py::atom("stores"),
            expand("[None] * {0} if {1} is None else {1}.layers",
                   {py::integer(static_cast<int64_t>(p_.joined.stores.size())), py::atom(past_)})));
        scope_out_annotation("Sequence[Store | None]");
      }
    }
    if (mask.empty()) return;
    Expr fitted = p_.calls.cached ? expand("fit_mask({0}, key_count)", {py::atom(mask)})
                                  : expand("{0}.bool()", {py::atom(mask)});
    scope_.statement(py::if_(expand("{0} is not None", {py::atom(mask)}),
                             {py::assign(py::atom(mask), std::move(fitted))}));
  }

  void scope_out_annotation(std::string_view type) {
    std::vector<Stmt>* out = scope_.redirect(nullptr);
    out->back().annotation = expand(type);
    scope_.redirect(out);
  }

  std::optional<Expr> finish() {
    if (!p_.is_root(id_)) {
      std::vector<Expr> results, types;
      for (ValueId value : block_.outputs) {
        results.push_back(scope_.use(value).expr);
        types.push_back(annotation(p_, value));
      }
      scope_.statement(py::return_(py::one_or_tuple(std::move(results))));
      if (types.size() == 1) return types[0];
      return py::index(py::atom("tuple"), std::move(types));
    }
    std::vector<Expr> results;
    for (const auto& [name, operand] : p_.joined.outputs) {
      const auto* ref = operand.get<graph::Ref>();
      if (ref && p_.calls.cached) scope_.settle({ref->value});  // before the cache moves on
      results.push_back(value(operand));
    }
    if (p_.calls.cached) {
      scope_.statement(
          py::if_(expand("{0} is not None", {py::atom(past_)}),
                  {py::evaluate(expand("{0}.advance({1})", {py::atom(past_), slot_count()}))}));
      results.push_back(py::atom(past_));
    }
    if (results.size() == 1) {
      scope_.statement(py::return_(std::move(results[0])));
      return expand("Tensor");
    }
    scope_.statement(py::return_(py::call(py::atom(output_name(p_)), std::move(results))));
    return py::atom(output_name(p_));
  }

  Expr slot_count() const { return expand("slots.shape[0]"); }

  std::string doc() const {
    std::string out;
    if (p_.is_root(id_)) {
      for (const JoinedInput& input : p_.joined.inputs) {
        if (!out.empty()) out += ", ";
        std::string shape = shape_text(p_, p_.joined.values[input.value].type);
        if (p_.calls.cached && static_cast<int>(input.input) == p_.calls.roles.mask)
          shape = "[B, K]";
        out += *scope_.name_of(input.value) + " " + shape;
      }
      out += " -> ";
      std::string results;
      for (const auto& [name, operand] : p_.joined.outputs) {
        const auto* ref = operand.get<graph::Ref>();
        if (!ref) continue;
        if (!results.empty()) results += ", ";
        results += std::string(dims_.names().text(name)) + " " +
                   shape_text(p_, p_.joined.values[ref->value].type);
      }
      return wrapped(out + results + ".");
    }
    for (ValueId value : block_.inputs) {
      if (p_.joined.values[value].optional || !p_.types.is_tensor(p_.joined.values[value].type))
        continue;
      if (!out.empty()) out += ", ";
      out += *scope_.name_of(value) + " " + shape_text(p_, p_.joined.values[value].type);
    }
    std::string results;
    for (ValueId value : block_.outputs) {
      if (!results.empty()) results += ", ";
      results += shape_text(p_, p_.joined.values[value].type);
    }
    return wrapped(out + " -> " + results + ".");
  }

  // Breaks behind commas and arrows so that docstrings keep to the line.
  static std::string wrapped(const std::string& text) {
    constexpr size_t kWidth = 74;
    if (text.size() <= kWidth) return text;
    std::string out, line;
    size_t depth = 0;
    std::string word;
    auto flush = [&] {
      if (line.size() + word.size() > kWidth && !line.empty()) {
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

  // ---- uses ----------------------------------------------------------------------------------

  void count_uses() {
    count_items(block_.items);
    if (p_.is_root(id_)) {
      for (const auto& [name, operand] : p_.joined.outputs) {
        if (const auto* ref = operand.get<graph::Ref>()) scope_.add_use(ref->value);
      }
      return;
    }
    for (ValueId value : block_.outputs) scope_.add_use(value);
  }

  void count_items(const std::vector<Item>& all) {
    for (const Item& item : all) {
      if (item.kind == Item::Kind::Step) {
        const Node& node = p_.joined.steps[item.step].node;
        for (ValueId value : reads_of(p_.joined, node)) scope_.add_use(value);
        // Rows that mention an operand twice.
        if (node.op == Op::FusedAttention) {
          if (const auto* keep = node.inputs[5].get<graph::Ref>()) scope_.add_use(keep->value);
        }
      } else if (item.kind == Item::Kind::Call) {
        for (ValueId value : p_.block(item.block).inputs) scope_.add_use(value);
      } else {
        const LoopBlock& loop = p_.outline.loops[static_cast<size_t>(item.loop)];
        count_items(loop.items);
        for (const LoopBlock::Carry& carry : loop.carries) {
          scope_.add_use(carry.before);
          scope_.add_use(carry.result);
        }
      }
    }
  }

  // ---- items ---------------------------------------------------------------------------------

  Result<void> items(const std::vector<Item>& all) {
    find_branches(all);
    for (const Item& item : all) {
      if (item.kind == Item::Kind::Step && branch_only_.count(item.step)) continue;
      AXON_TRY_VOID(put(item));
    }
    return {};
  }

  Result<void> put(const Item& item) {
    if (item.kind == Item::Kind::Step) return step(item.step);
    if (item.kind == Item::Kind::Loop) return loop(item.loop);
    return call(item.block);
  }

  Error no_row(const Node& node) const {
    std::string where;
    if (p_.request.files && node.span.valid())
      where = fmt::format(", used at {}:{}", p_.request.files->path(node.span.file),
                          p_.request.files->line_column(node.span.file, node.span.begin).line);
    Error error = unsupported(fmt::format("`{}` for target `torch`{}", spelling(node.op), where),
                              "the target has no such operation yet");
    error.hint = "run the program natively, or write it with other operations";
    return error;
  }

  Result<void> step(NodeId id) {
    const Step& step = p_.joined.steps[id];
    switch (step.kind) {
      case Step::Kind::Choice:
        return choice(id);
      case Step::Kind::Write:
        return write_stores(step);
      case Step::Kind::Keep:
        keep(step);
        return {};
      case Step::Kind::Node:
        break;
    }
    reads_.clear();
    if (id == p_.head && needs_.last) narrow(step.node.inputs[1]);
    if (!is_slots(step.node)) make_room(reads_of(p_.joined, step.node));
    std::optional<Expr> expr = is_slots(step.node) ? slots_of(step.node) : row(step.node, *this);
    if (!expr) return no_row(step.node);
    Built built{std::move(*expr), std::move(reads_)};
    reads_.clear();
    if (step.node.outputs.size() == 1)
      scope_.define(step.node.outputs[0], std::move(built));
    else
      scope_.define_all(step.node.outputs, std::move(built));
    return {};
  }

  // Operands that would make a long line get names, the longest first.
  void make_room(const std::vector<ValueId>& operands) {
    constexpr size_t kRoom = 56;
    for (;;) {
      size_t sum = 0, longest = 0;
      ValueId worst;
      for (ValueId value : operands) {
        size_t width = scope_.pending_width(value);
        const std::string* name = scope_.name_of(value);
        sum += 2 + (width ? width : name ? name->size() : 0);
        if (width > longest) longest = width, worst = value;
      }
      if (sum <= kRoom || longest == 0 || operands.size() == 1) return;
      scope_.settle({worst});
    }
  }

  // The positions after the past, counted anew by the program: `arange(S).reshape(1, S) + P`.
  bool is_slots(const Node& node) {
    if (node.op != Op::CoreBinaryAdd || !p_.calls.cached) return false;
    const auto* past = node.inputs[1].get<graph::DimRef>();
    const auto* ref = node.inputs[0].get<graph::Ref>();
    if (!past || past->dim != dims_.of(p_.calls.past) || !ref) return false;
    const Node* shaped = p_.joined.producer(ref->value);
    if (!shaped || shaped->op != Op::Reshape || scope_.pending_width(ref->value) == 0) return false;
    const Node* range = p_.joined.producer(shaped->inputs[0].as<graph::Ref>().value);
    if (!range || range->op != Op::Arange) return false;
    const auto* from = range->inputs[1].get<graph::LitInt>();
    const auto* end = range->inputs[2].get<graph::DimRef>();
    return from && from->value == 0 && end && end->dim == dims_.of(p_.calls.tokens);
  }

  Expr slots_of(const Node& node) {
    ValueId counted = node.inputs[0].as<graph::Ref>().value;
    scope_.spend(scope_.use(counted));
    return py::call(expand("slots.reshape"), items(p_.joined.producer(counted)->inputs[1]));
  }

  // Only the last positions go on: `if last is not None: x = x[:, -last:]`.
  void narrow(const Operand& operand) {
    ValueId value = operand.as<graph::Ref>().value;
    scope_.settle({value});
    Expr name = py::atom(*scope_.name_of(value));
    scope_.statement(
        py::if_(expand("last is not None"), {py::assign(name, expand("{0}[:, -last:]", {name}))}));
  }

  void keep(const Step& step) {
    const Node& node = step.node;
    const auto* padding = node.inputs[0].get<graph::Ref>();
    bool causal = node.attrs[0].value.as<graph::LitBool>().value;
    bool windowed = node.attrs[3].value.kind() != OperandKind::Null;
    reads_.clear();
    if (!causal && !windowed) {
      bool optional = false;
      for (const JoinedInput& input : p_.joined.inputs)
        optional |= input.value == padding->value && input.optional;
      Expr mask = value(node.inputs[0]);
      Expr seen = expand("{0}[:, None, None, :]", {mask});
      if (optional) seen = expand("None if {0} is None else {1}", {mask, seen});
      scope_.define(node.outputs[0], {std::move(seen), std::move(reads_)}, false);
      return;
    }
    p_.prelude.use("torch/causal_keep");
    std::vector<Expr> args = {py::atom("slots"), py::atom("key_count"), value(node.inputs[0])};
    if (windowed) args.push_back(py::keyword("window", value(node.attrs[3].value)));
    scope_.define(node.outputs[0],
                  {py::call(py::atom("causal_keep"), std::move(args)), std::move(reads_)}, false);
    reads_.clear();
  }

  Result<void> write_stores(const Step& step) {
    std::vector<ValueId> news;
    std::vector<Expr> args = {py::atom("slots")}, targets;
    for (const Operand& input : step.node.inputs) news.push_back(input.as<graph::Ref>().value);
    scope_.settle(news);
    Expr store = py::atom("past");
    if (needs_.stores == Needs::Stores::Many) {
      store = py::index(py::atom("stores"), {py::integer(step.store)});
      scope_.statement(py::assign(py::atom("past"), store));
      store = py::atom("past");
    }
    // Without a cache the new values are all there are: the names stay.
    for (size_t i = 0; i < news.size(); ++i) {
      Built built = scope_.use(news[i]);
      scope_.spend(built);
      if (scope_.uses(news[i]) > 0)
        return unsupported("the cache", "what is written is used otherwise too");
      scope_.bind(step.node.outputs[i], built.expr.text);
      args.push_back(built.expr);
      targets.push_back(built.expr);
    }
    Expr update = py::call(expand("{0}.update", {store}), std::move(args));
    if (targets.size() == 1) targets = {py::tuple(std::move(targets))};
    Stmt assign = py::assign(py::one_or_tuple(std::move(targets)), std::move(update));
    scope_.statement(py::if_(expand("past is not None"), {std::move(assign)}));
    return {};
  }

  // ---- choices -------------------------------------------------------------------------------

  // Steps that only one side of a choice needs are written within it.
  void find_branches(const std::vector<Item>& all) {
    std::unordered_map<ValueId, std::vector<std::pair<NodeId, int>>, IdHash> readers;
    auto other_use = [&](ValueId value) { readers[value].emplace_back(NodeId{}, 0); };
    for (const Item& item : all) {
      if (item.kind == Item::Kind::Step) {
        const Step& step = p_.joined.steps[item.step];
        if (step.kind == Step::Kind::Choice) {
          for (int side = 0; side < 3; ++side) {
            if (const auto* ref = step.node.inputs[static_cast<size_t>(side)].get<graph::Ref>())
              readers[ref->value].emplace_back(item.step, side);
          }
          continue;
        }
        for (ValueId value : reads_of(p_.joined, step.node))
          readers[value].emplace_back(item.step, -1);
      } else if (item.kind == Item::Kind::Call) {
        for (ValueId value : p_.block(item.block).inputs) other_use(value);
      } else {
        std::vector<NodeId> steps;
        const LoopBlock& loop = p_.outline.loops[static_cast<size_t>(item.loop)];
        for (const Item& inner : loop.items) {
          if (inner.kind == Item::Kind::Step)
            for (ValueId value : reads_of(p_.joined, p_.joined.steps[inner.step].node))
              other_use(value);
          if (inner.kind == Item::Kind::Call)
            for (ValueId value : p_.block(inner.block).inputs) other_use(value);
        }
        for (const LoopBlock::Carry& carry : loop.carries) other_use(carry.before);
      }
    }
    for (ValueId value : block_.outputs) other_use(value);
    for (const auto& [name, operand] : p_.joined.outputs) {
      if (const auto* ref = operand.get<graph::Ref>()) other_use(ref->value);
    }
    for (auto it = all.rbegin(); it != all.rend(); ++it) {
      if (it->kind != Item::Kind::Step) continue;
      const Step& step = p_.joined.steps[it->step];
      if (step.kind != Step::Kind::Node) continue;
      std::optional<std::pair<NodeId, int>> side;
      bool only = true;
      for (ValueId value : step.node.outputs) {
        for (auto [reader, place] : readers[value]) {
          std::pair<NodeId, int> here{reader, place};
          if (place < 0) {  // a step: where it goes, this goes
            auto known = branch_of_.find(reader);
            only &= known != branch_of_.end();
            if (known != branch_of_.end()) here = known->second;
          } else {
            only &= reader.valid() && place > 0;
          }
          only &= !side || *side == here;
          side = here;
        }
      }
      if (!only || !side) continue;
      branch_of_[it->step] = *side;
      branch_only_.insert(it->step);
    }
  }

  Result<void> choice(NodeId id) {
    const Node& node = p_.joined.steps[id].node;
    ValueId input = node.inputs[0].as<graph::Ref>().value, made = node.outputs[0];
    std::string name;
    std::vector<Stmt> bodies[2];
    Expr condition = py::atom(*scope_.name_of(input));
    // What both sides read stands before the branches.
    std::vector<ValueId> shared;
    for (NodeId step : p_.joined.order) {
      auto known = branch_of_.find(step);
      if (known == branch_of_.end() || known->second.first != id) continue;
      for (ValueId value : reads_of(p_.joined, p_.joined.steps[step].node)) {
        NodeId producer = p_.joined.values[value].producer;
        if (!producer.valid() || !branch_only_.count(producer)) shared.push_back(value);
      }
    }
    scope_.settle(shared);
    const auto* given = node.inputs[1].get<graph::Ref>();
    bool is_input = given && given->value == input;
    for (int side = 2; side >= 1; --side) {
      std::vector<Stmt>& body = bodies[side - 1];
      std::vector<Stmt>* outer = scope_.redirect(&body);
      const auto* result_ref = node.inputs[static_cast<size_t>(side)].get<graph::Ref>();
      if (result_ref) scope_.keep_waiting(result_ref->value);
      for (NodeId step : p_.joined.order) {
        auto known = branch_of_.find(step);
        if (known != branch_of_.end() && known->second == std::pair<NodeId, int>{id, side})
          AXON_TRY_VOID(this->step(step));
      }
      reads_.clear();
      Expr result = value(node.inputs[static_cast<size_t>(side)]);
      scope_.spend({result, reads_});
      if (name.empty()) {
        name = is_input && scope_.uses(input) <= 2 ? condition.text : scope_.name_for(made);
        scope_.fresh(name);
      }
      if (result != py::atom(name)) body.push_back(py::assign(py::atom(name), std::move(result)));
      scope_.redirect(outer);
    }
    scope_.add_use(input, -1);
    scope_.bind(made, name);
    if (bodies[0].empty()) {
      scope_.statement(py::if_(expand("{0} is None", {condition}), std::move(bodies[1])));
    } else {
      scope_.statement(
          py::if_(expand("{0} is None", {condition}), std::move(bodies[1]), std::move(bodies[0])));
    }
    return {};
  }

  // ---- calls and loops -----------------------------------------------------------------------

  static Expr reach(Expr from, const std::vector<std::string_view>& segments) {
    for (std::string_view segment : segments) {
      if (segment[0] >= '0' && segment[0] <= '9')
        from = py::index(std::move(from), {py::atom(segment)});
      else
        from = py::attribute(std::move(from), segment);
    }
    return from;
  }

  // The module of a called block, seen from here.
  Expr module_of(BlockId called) const {
    std::vector<std::string> segments = p_.outline.relative(id_, called);
    Expr from = py::atom("self");
    std::vector<std::string_view> rest;
    for (const std::string& segment : segments) {
      if (segment[0] == '{') {
        from = py::atom(element_);
        rest.clear();
      } else {
        rest.push_back(segment);
      }
    }
    return reach(std::move(from), rest);
  }

  Result<void> call(BlockId called) {
    const Block& block = p_.block(called);
    const Needs& needs = p_.needs[called];
    reads_.clear();
    bool framework = block.kind == Block::Kind::Layer && !p_.classes.count(called);
    if (framework && needs.last) {
      Operand x;
      x.data = graph::Ref{block.inputs[0]};
      narrow(x);
    }
    std::vector<Expr> args;
    make_room(block.inputs);
    for (ValueId value : block.inputs) {
      Operand operand;
      operand.data = graph::Ref{value};
      args.push_back(this->value(operand));
    }
    if (!framework) add_extras(args, called, needs);
    Built built{py::call(module_of(called), std::move(args)), std::move(reads_)};
    reads_.clear();
    if (block.outputs.size() == 1)
      scope_.define(block.outputs[0], std::move(built));
    else if (!block.outputs.empty())
      scope_.define_all(block.outputs, std::move(built));
    else
      scope_.statement(py::evaluate(std::move(built.expr)));
    return {};
  }

  void add_extras(std::vector<Expr>& args, BlockId called, const Needs& needs) {
    for (SymbolId s : needs.symbols) args.push_back(symbol(s));
    for (const std::string& path : needs.params) args.push_back(param(path));
    if (needs.slots) args.push_back(py::atom("slots"));
    if (needs.stores == Needs::Stores::Many) args.push_back(py::atom("stores"));
    if (needs.stores == Needs::Stores::One) {
      bool many = needs_.stores == Needs::Stores::Many && !in_store_loop_;
      args.push_back(many ? expand("stores[{0}]", {py::integer(store_within(called))})
                          : py::atom("past"));
    }
    if (needs.last) args.push_back(py::atom("last"));
  }

  int32_t store_within(BlockId id) const {
    for (NodeId step : own_steps(p_, id)) {
      if (p_.joined.steps[step].kind == Step::Kind::Write) return p_.joined.steps[step].store;
    }
    for (BlockId called : called_blocks(p_, id)) {
      int32_t store = store_within(called);
      if (store >= 0) return store;
    }
    return -1;
  }

  void outer_values(const std::vector<Item>& all, std::vector<ValueId>& out) const {
    for (const Item& item : all) {
      std::vector<ValueId> reads;
      if (item.kind == Item::Kind::Step)
        reads = reads_of(p_.joined, p_.joined.steps[item.step].node);
      if (item.kind == Item::Kind::Call) reads = p_.block(item.block).inputs;
      out.insert(out.end(), reads.begin(), reads.end());
    }
  }

  Result<void> loop(int32_t index) {
    const LoopBlock& loop = p_.outline.loops[static_cast<size_t>(index)];
    std::vector<ValueId> outer;
    outer_values(loop.items, outer);
    scope_.settle(outer);
    for (ValueId value : outer) scope_.add_use(value);  // they live through all rounds
    std::vector<std::string> carried;
    for (const LoopBlock::Carry& carry : loop.carries) carried.push_back(enter(carry));
    std::vector<Stmt> body;
    std::string segment = loop.list.valid() ? p_.block(loop.list).segment : "round";
    element_ = scope_.fresh(singular(segment));
    bind_settings(index);
    std::vector<Stmt>* around = scope_.redirect(&body);
    bool stores = loop.first_store >= 0;
    in_store_loop_ = stores;
    AXON_TRY_VOID(items(loop.items));
    in_store_loop_ = false;
    for (size_t i = 0; i < loop.carries.size(); ++i) leave(loop.carries[i], carried[i]);
    scope_.redirect(around);
    for (ValueId value : outer) scope_.add_use(value, -1);
    if (!loop.list.valid()) return unsupported("a loop", "its rounds have no parameters");
    std::vector<std::string_view> path;
    std::vector<std::string> relative = p_.outline.relative(id_, loop.list);
    for (const std::string& part : relative) path.push_back(part);
    Expr list = reach(py::atom("self"), path);
    Expr target = py::atom(element_);
    if (stores) {
      bool all = static_cast<size_t>(loop.count) == p_.joined.stores.size();
      Expr range = all ? py::atom("stores")
                       : expand("stores[{0}:{1}]",
                                {py::integer(loop.first_store),
                                 py::integer(loop.first_store + static_cast<int64_t>(loop.count))});
      target = py::tuple({std::move(target), py::atom("past")});
      list = py::call(py::atom("zip"), {std::move(list), std::move(range)});
    }
    add_settings(index, target, list);
    scope_.statement(py::for_(std::move(target), std::move(list), std::move(body)));
    return {};
  }

  void bind_settings(int32_t index) {
    for (const Setting& setting : p_.joined.settings) {
      if (setting.loop == index) scope_.bind(setting.value, scope_.name_for(setting.value));
    }
  }

  // Numbers of each round go beside its element: `for layer, scale in zip(self.layers, (…))`.
  void add_settings(int32_t index, Expr& target, Expr& list) {
    for (const Setting& setting : p_.joined.settings) {
      if (setting.loop != index) continue;
      std::vector<Expr> numbers;
      for (const Operand& number : setting.by_round) numbers.push_back(value(number));
      if (target.kind != Expr::Kind::Tuple) {
        target = py::tuple({std::move(target)});
        list = py::call(py::atom("zip"), {std::move(list)});
      }
      target.items.push_back(py::atom(*scope_.name_of(setting.value)));
      list.items.push_back(py::tuple(std::move(numbers)));
    }
  }

  static std::string singular(const std::string& text) {
    return text.size() > 2 && text.back() == 's' ? text.substr(0, text.size() - 1) : text;
  }

  // A carried value has one name before, within and after the loop.
  std::string enter(const LoopBlock::Carry& carry) {
    Built built = scope_.use(carry.before);
    scope_.spend(built);
    std::string name;
    if (built.expr.kind == Expr::Kind::Atom && scope_.uses(carry.before) <= 0 &&
        scope_.name_of(carry.before)) {
      name = built.expr.text;
    } else {
      name = scope_.name_for(carry.out);
      scope_.statement(py::assign(py::atom(name), std::move(built.expr)));
    }
    scope_.bind(carry.in, name);
    return name;
  }

  void leave(const LoopBlock::Carry& carry, const std::string& name) {
    Built built = scope_.use(carry.result);
    scope_.spend(built);
    if (built.expr != py::atom(name))
      scope_.statement(py::assign(py::atom(name), std::move(built.expr)));
    scope_.bind(carry.out, name);
  }

  Program& p_;
  BlockId id_;
  const Block& block_;
  const Needs& needs_;
  DimTable& dims_;
  Scope scope_;
  std::vector<ValueId> reads_;  // of the expression being made
  std::unordered_map<SymbolId, std::string, IdHash> sizes_;
  std::map<std::string, std::string> foreign_;
  std::unordered_map<NodeId, std::pair<NodeId, int>, IdHash> branch_of_;
  std::unordered_set<NodeId, IdHash> branch_only_;
  std::string past_, element_;
  bool in_store_loop_ = false;
};

}  // namespace

Result<Stmt> write_forward(Program& program, BlockId id) { return Forward(program, id).write(); }

std::optional<Expr> layer_constructor(Program& program, BlockId id) {
  const Block& block = program.block(id);
  Forward context(program, id);
  return layer(program.joined.steps[block.items[0].step].node, block.params, context);
}

Expr annotation(const Program& program, ValueId value) {
  bool optional = program.joined.values[value].optional;
  for (const JoinedInput& input : program.joined.inputs)
    optional |= input.value == value && input.optional;
  TypeKind kind = program.types.kind(program.joined.values[value].type);
  if (kind == TypeKind::Int || kind == TypeKind::Float)
    return py::atom(kind == TypeKind::Int ? "int" : "float");
  return expand(optional ? "Tensor | None" : "Tensor");
}

std::string output_name(const Program& program) {
  return py::class_name(program.request.program) + "Output";
}

std::string input_name(const Program& program, int role) {
  if (role < 0) return "";
  const graph::Module& main = (*program.request.graph)[program.request.graph->main];
  return std::string(
      program.types.dims().names().text(main.values[main.inputs[static_cast<size_t>(role)]].name));
}

}  // namespace axon::emit::torch
