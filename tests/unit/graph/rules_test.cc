// Typing rules of primitives against what the primitives give: sizes and element types that a rule
// promises are those of PyTorch's results (tests/graph/fixtures).
#include <algorithm>
#include <cstdio>

#include "fixture.h"
#include "ops/dtype_rules.h"
#include "ops/type_rules.h"
#include "support/file.h"

namespace axon::graph {
namespace {

using testing::OpCase;
using Kind = EvalValue::Kind;
using ops::Known;
using ops::RuleArg;

class Checker {
 public:
  // Empty when the rule's result admits what came out.
  std::string check(const OpCase& c) {
    std::vector<RuleArg> args;
    for (const EvalValue& v : c.args) args.push_back(argument(v));
    ops::RuleResult result = ops::type_rule(c.op, args, unifier_);
    // A null where a value is needed is refused however it is used.
    bool null =
        std::any_of(c.args.begin(), c.args.end(), [](const auto& v) { return v.is_null(); });
    if (result.error && null) return "";
    // So are alternatives of different kinds under a scalar condition.
    if (result.error && c.op == Op::Where && !c.args[0].is_tensor()) return "";
    if (result.error) return "rejected: " + result.error->text;
    TypeId type = unifier_.resolve(result.type);
    std::string why = admits(type, c.out);
    return why.empty() ? elements(c) : types_.show(type) + ": " + why;
  }

 private:
  TypeId tensor(const EvalValue& v) {
    std::vector<DimId> dims;
    for (int64_t extent : v.tensor->shape) dims.push_back(dims_.integer(extent));
    return types_.tensor_of(dims);
  }

  RuleArg argument(const EvalValue& v) {
    switch (v.kind) {
      case Kind::Null:
        return {types_.null(), Known::null()};
      case Kind::Bool:
        return {types_.bool_(), Known::of(v.boolean)};
      case Kind::Int:
        return {types_.int_(), Known::of(dims_.integer(v.integer))};
      case Kind::Float:
        return {types_.float_(), Known::not_null()};
      case Kind::String:
        return {types_.string(), Known::string(names_.intern(v.text))};
      case Kind::Path:
        return {types_.path(), Known::not_null()};
      case Kind::Tensor:
        return {tensor(v), Known::not_null()};
      case Kind::List:
      case Kind::Tuple:
        break;
    }
    std::vector<Known> known;
    std::vector<TypeId> items;
    bool alike = true;
    for (const EvalValue& item : v.items) {
      RuleArg arg = argument(item);
      known.push_back(arg.known);
      items.push_back(arg.type);
      alike = alike && arg.type == items[0];
    }
    bool numbers = !items.empty() && alike && items[0] == types_.int_();
    TypeId type = v.kind == Kind::Tuple && items.size() > 1 ? types_.tuple(items)
                  : numbers                                 ? types_.list(types_.dim())
                  : !items.empty() && alike                 ? types_.list(items[0])
                                                            : types_.list(types_.any());
    return {type, Known::list(std::move(known))};
  }

  std::string admits(TypeId id, const EvalValue& v) {
    const TypeData type = types_.get(id);
    switch (type.kind) {
      case TypeKind::Optional:
        return v.is_null() ? "" : admits(type.items[0], v);
      case TypeKind::Tensor:
        return v.is_tensor() ? shape(type, v.tensor->shape) : "no tensor but " + show(v);
      case TypeKind::List:
      case TypeKind::Tuple: {
        if (v.kind != Kind::List && v.kind != Kind::Tuple) return "no list but " + show(v);
        bool tuple = type.kind == TypeKind::Tuple;
        if (tuple && type.items.size() != v.items.size()) return "another number of items";
        for (size_t i = 0; i < v.items.size(); ++i) {
          std::string why = admits(type.items[tuple ? i : 0], v.items[i]);
          if (!why.empty()) return why;
        }
        return "";
      }
      case TypeKind::Int:
      case TypeKind::Dim:
        return v.kind == Kind::Int ? "" : show(v);
      case TypeKind::Float:
        return v.is_number() ? "" : show(v);
      case TypeKind::Bool:
        return v.kind == Kind::Bool ? "" : show(v);
      case TypeKind::Error:
        return "the error type";
      default:
        return "";
    }
  }

  // The element type that is promised, of each output.
  std::string elements(const OpCase& c) {
    std::vector<ops::DTypeArg> args;
    for (const EvalValue& v : c.args) {
      RuleArg arg = argument(v);
      args.push_back(
          {types_.kind(arg.type), v.is_tensor() ? v.tensor->dtype : DType::Unknown, arg.known});
    }
    DType parameter = c.tensors.empty() ? DType::Unknown : c.tensors[0].second.dtype;
    bool several = c.out.kind == Kind::Tuple;
    for (size_t i = 0; i < (several ? c.out.items.size() : 1); ++i) {
      const EvalValue& out = several ? c.out.items[i] : c.out;
      DType promised = ops::dtype_rule(c.op, args, names_, parameter, static_cast<int>(i));
      if (out.is_tensor() && promised != DType::Unknown && promised != out.tensor->dtype)
        return std::string(axon::spelling(promised)) + " promised, found " + show(out);
    }
    return "";
  }

  std::string shape(const TypeData& type, const std::vector<int64_t>& found) {
    if (!type.known_rank) return "";
    bool run = false;
    for (const Axis& axis : type.axes) run = run || axis.is_run();
    if (run) return "";
    if (type.axes.size() != found.size()) return "rank of " + show_shape(found);
    for (size_t i = 0; i < found.size(); ++i) {
      auto size = unifier_.value(type.axes[i].dim);
      if (size && *size != found[i]) return show_shape(found);
    }
    return "";
  }

  Interner names_;
  DimTable dims_{names_};
  TypeTable types_{dims_};
  Unifier unifier_{types_};
};

TEST(Rules, PromiseWhatPyTorchGives) {
  int checked = 0;
  for (const char* file : {"elementwise", "layout", "reductions", "layers", "more"}) {
    std::string path = std::string("tests/graph/fixtures/") + file + ".txt";
    auto text = read_file(path);
    ASSERT_TRUE(text.ok());
    for (const OpCase& c : graph::testing::read_cases(*text)) {
      if (!c.error.empty() || c.out.is_null()) continue;
      std::string found = Checker().check(c);
      // Types ask for equal pieces; PyTorch gives a shorter or no last one.
      long whole = 0, parts = 1;
      bool uneven =
          c.op == Op::Chunk &&
          std::sscanf(found.c_str(), "rejected: %ld does not divide into %ld equal pieces", &whole,
                      &parts) == 2 &&
          whole % parts != 0;
      EXPECT_EQ(uneven ? "" : found, "") << path << ":" << c.line << " " << spelling(c.op);
      ++checked;
    }
  }
  EXPECT_GT(checked, 1000);
}

}  // namespace
}  // namespace axon::graph
