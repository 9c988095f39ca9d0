// Input trees of MAIN for the calls that emitted code covers.
#include "emit/outline/calls.h"

#include <fmt/format.h>

#include <algorithm>

namespace axon::emit {
namespace {

using opt::Tree;
using opt::TreeId;

class Maker {
 public:
  Maker(const graph::Graph& graph, TypeTable& types, const opt::Answers& answers,
        const opt::FusionSet& fusions, DiagSink& sink)
      : graph_(graph),
        main_(graph[graph.main]),
        types_(types),
        dims_(types.dims()),
        answers_(answers),
        fusions_(fusions),
        sink_(sink) {}

  Result<Calls> run() {
    Calls& c = calls_;
    c.answers = answers_;
    c.roles = opt::find_roles(main_, dims_.names());
    c.cached = c.roles.cached();
    if (!axes()) return error_;
    if (c.cached && !cache_tree()) return error_;
    for (size_t i = 0; i < main_.inputs.size(); ++i) {
      if (may_be_left_out(i)) c.optional.push_back(i);
    }
    c.all = specialised(main_.inputs.size());
    if (!c.all) return error_;
    for (size_t left_out : c.optional) {
      auto flat = specialised(left_out);
      if (!flat) return error_;
      c.without.push_back(std::move(*flat));
    }
    return std::move(calls_);
  }

 private:
  bool fail(std::string_view what, std::string_view why) {
    error_ = unsupported(what, why);
    return false;
  }

  DimId symbol(SymbolId& out, std::string_view name, SymbolKind kind) {
    out = dims_.symbol(dims_.names().intern(name), kind);
    return dims_.of(out);
  }

  bool axes() {
    size_t ids = static_cast<size_t>(std::max(calls_.roles.ids, 0));
    if (main_.inputs.empty()) return fail("this program", "it has no input");
    TypeId type = types_.strip_optional(main_.values[main_.inputs[ids]].type);
    std::vector<DimId> dims = types_.dims_of(type);
    if (dims.size() < 2 || !dims_.as_symbol(dims[0]) || !dims_.as_symbol(dims[1]))
      return fail("this program", "its first input is no `[batch, tokens]`");
    calls_.batch = *dims_.as_symbol(dims[0]);
    calls_.tokens = *dims_.as_symbol(dims[1]);
    symbol(calls_.capacity, "C", SymbolKind::Variable);
    symbol(calls_.past, "P", SymbolKind::Data);
    return true;
  }

  bool may_be_left_out(size_t i) const {
    const graph::Value& value = main_.values[main_.inputs[i]];
    int role = static_cast<int>(i);
    const opt::Roles& r = calls_.roles;
    if (role == r.ids || role == r.cache || role == r.capacity || role == r.use_cache) return false;
    return value.optional;
  }

  // The tree that a call extends: what the first call leaves, with its lengths as `P`.
  bool cache_tree() {
    extending_ = false;
    auto start = flat_call(main_.inputs.size());
    if (!start) return false;
    TreeId after = start->outputs[static_cast<size_t>(calls_.roles.new_cache)];
    cache_ = with_past(after);
    find_limit();
    extending_ = true;
    auto next = flat_call(main_.inputs.size());
    if (!next) return false;
    TreeId again = next->outputs[static_cast<size_t>(calls_.roles.new_cache)];
    if (opt::same_structure(calls_.forest, cache_, again)) return true;
    return fail("calls with a cache", "the cache changes its form from call to call");
  }

  // The size that the capacity's axis has in a call without one.
  void find_limit() {
    if (calls_.roles.capacity < 0) return;
    without_capacity_ = true;  // nor a padding mask, whose width would be the capacity
    auto flat = flat_call(calls_.roles.mask < 0 ? main_.inputs.size()
                                                : static_cast<size_t>(calls_.roles.mask));
    without_capacity_ = false;
    if (!flat) return;
    std::vector<opt::Leaf> stores = opt::leaves(calls_.forest, cache_);
    TreeId cache = flat->outputs[static_cast<size_t>(calls_.roles.new_cache)];
    std::vector<opt::Leaf> sized = opt::leaves(calls_.forest, cache);
    for (size_t i = 0; i < stores.size() && i < sized.size(); ++i) {
      const Tree &store = calls_.forest[stores[i].tree], &now = calls_.forest[sized[i].tree];
      for (size_t axis = 0; axis < store.dims.size() && axis < now.dims.size(); ++axis) {
        if (dims_.as_symbol(store.dims[axis]) == calls_.capacity)
          calls_.limit = dims_.as_integer(now.dims[axis]).value_or(0);
      }
    }
  }

  TreeId with_past(TreeId id) {
    const Tree tree = calls_.forest[id];
    if (tree.kind == Tree::Kind::Int && dims_.mentions(tree.dim, calls_.tokens))
      return calls_.forest.integer(dims_.of(calls_.past));
    if (tree.kind != Tree::Kind::List && tree.kind != Tree::Kind::Tuple) return id;
    std::vector<TreeId> items;
    for (TreeId item : tree.items) items.push_back(with_past(item));
    return tree.kind == Tree::Kind::List ? calls_.forest.list(std::move(items))
                                         : calls_.forest.tuple(std::move(items));
  }

  std::optional<opt::Specialised> flat_call(size_t left_out) {
    std::vector<TreeId> inputs;
    for (size_t i = 0; i < main_.inputs.size(); ++i) {
      inputs.push_back(input(i, left_out));
      if (!inputs.back().valid()) return std::nullopt;
    }
    return opt::specialise(graph_, types_, calls_.forest, inputs, answers_, {}, sink_);
  }

  std::optional<opt::Specialised> specialised(size_t left_out) {
    auto flat = flat_call(left_out);
    if (!flat) return std::nullopt;
    auto lower = [&](SymbolId s) -> std::optional<int64_t> {
      return dims_.symbol(s).kind == SymbolKind::Data ? 0 : 1;
    };
    opt::run_fuse(flat->graph, types_, fusions_, lower);
    return flat;
  }

  TreeId input(size_t i, size_t left_out) {
    const graph::Value& value = main_.values[main_.inputs[i]];
    opt::Forest& forest = calls_.forest;
    const opt::Roles& r = calls_.roles;
    int role = static_cast<int>(i);
    if (role == r.cache) return extending_ ? cache_ : forest.null();
    if (role == r.use_cache) return forest.boolean(calls_.cached);
    if (role == r.capacity && without_capacity_) return forest.null();
    if (role == r.capacity)
      return forest.integer(dims_.of(calls_.cached ? calls_.capacity : calls_.tokens));
    if (i == left_out) return forest.null();
    return tree_of(types_.strip_optional(value.type), value, role == r.mask);
  }

  // Integers are int64 and masks boolean; what has more than two axes is floating.
  TreeId tree_of(TypeId type, const graph::Value& value, bool mask) {
    const TypeData data = types_.get(type);
    opt::Forest& forest = calls_.forest;
    if (std::vector<DimId> dims = types_.dims_of(type); !dims.empty()) {
      for (DimId& dim : dims) dim = with_values(dim);
      if (mask && dims.size() == 2)
        dims[1] = dims_.of(calls_.cached ? calls_.capacity : calls_.tokens);
      DType dtype = mask ? DType::Bool : dims.size() <= 2 ? DType::I64 : DType::F32;
      return forest.tensor(std::move(dims), value.dtype == DType::Unknown ? dtype : value.dtype);
    }
    if (data.kind == TypeKind::Tuple && mask) {
      // A mask as a buffer and the number of its columns in use: those of the past and of this
      // call.
      TreeId buffer = tree_of(data.items[0], value, true);
      DimId used = dims_.of(calls_.tokens);
      if (extending_) used = dims_.value_add(used, dims_.of(calls_.past));
      return forest.tuple({buffer, forest.integer(used)});
    }
    fail(fmt::format("input `{}`", dims_.names().text(value.name)),
         fmt::format("its type `{}` cannot be given by a caller", types_.show(type)));
    return {};
  }

  DimId with_values(DimId dim) {
    return dims_.substitute(dim, [&](SymbolId s) {
      const Symbol& facts = dims_.symbol(s);
      return facts.value ? dims_.integer(*facts.value) : DimId{};
    });
  }

  const graph::Graph& graph_;
  const graph::Module& main_;
  TypeTable& types_;
  DimTable& dims_;
  const opt::Answers& answers_;
  const opt::FusionSet& fusions_;
  DiagSink& sink_;
  Calls calls_;
  TreeId cache_;
  bool extending_ = false, without_capacity_ = false;
  Error error_ = unsupported("this program", "see the messages above");
};

}  // namespace

Error unsupported(std::string_view what, std::string_view why) {
  return {"BACK-UNSUPPORTED", fmt::format("cannot write {}: {}", what, why), {}, -1, {}};
}

Result<Calls> specialise_calls(const graph::Graph& graph, TypeTable& types,
                               const opt::Answers& answers, const opt::FusionSet& fusions,
                               DiagSink& sink) {
  Result<Calls> made = Maker(graph, types, answers, fusions, sink).run();
  for (Diagnostic& d : sink.all()) {
    if (d.id == Diag::PlanUnsupported)
      d.note(Note::NoteHere, {}, {"emitted code has what the checkpoint decides; run it natively"});
  }
  return made;
}

}  // namespace axon::emit
