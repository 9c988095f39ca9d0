// Every primitive natively: what PyTorch says of it (tests/graph/fixtures), on general instructions
// and as a straight line.
#include <cmath>
#include <set>

#include "../graph/fixture.h"
#include "compare.h"
#include "graph/builder.h"
#include "support/file.h"

namespace axon::driver::ways {
namespace {

using graph::EvalValue;
using graph::testing::OpCase;
using Kind = EvalValue::Kind;

// A program that applies one operation: tensors are inputs, everything else is written out.
class OneOp {
 public:
  explicit OneOp(const OpCase& c) : builder_(graph_, add_main(), types_) {
    for (size_t i = 0; i < c.args.size(); ++i) find_inputs(c.args[i]);
    std::vector<graph::Operand> operands;
    for (const EvalValue& arg : c.args) operands.push_back(operand(arg));
    bool infix = op_info(c.op).op_class == OpClass::Core;
    EXPECT_TRUE(!infix || operands.size() == 2);
    graph::ValueId y = builder_.add(c.op, std::move(operands), types_.any(), "y");
    builder_.output(builder_(y), "y");
    builder_.finish();
    graph_.main = builder_.id();
    case_.name = std::string(spelling(c.op)) + ":" + std::to_string(c.line);
    case_.params = c.tensors;
  }
  graph::Graph& graph() { return graph_; }
  TypeTable& types() { return types_; }
  const Case& given() const { return case_; }

 private:
  graph::ModuleId add_main() { return graph::add_module(graph_, names_.intern("main")); }

  // Inputs are the first values of a module.
  void find_inputs(const EvalValue& v) {
    for (const EvalValue& item : v.items) find_inputs(item);
    if (!v.is_tensor()) return;
    std::vector<DimId> dims;
    for (int64_t extent : v.tensor->shape) dims.push_back(dims_.integer(extent));
    TypeId type = dims.empty() ? types_.tensor() : types_.tensor_of(dims);
    std::string name = "x" + std::to_string(inputs_.size());
    inputs_.push_back(builder_.input(name, type, v.tensor->dtype));
    case_.inputs.emplace_back(name, v);
  }

  graph::Operand operand(const EvalValue& v) {
    switch (v.kind) {
      case Kind::Null:
        return graph::lit_null(types_);
      case Kind::Bool:
        return graph::lit_bool(v.boolean, types_);
      case Kind::Int:
        return graph::lit_int(v.integer, types_);
      case Kind::Float:
        return graph::lit_float(v.number, types_);
      case Kind::String:
        return graph::lit_string(names_.intern(v.text), types_);
      case Kind::Path: {
        graph::Path path;
        path.absolute = v.absolute;
        for (std::string_view segment : split(v.text, '.'))
          path.pieces.push_back({names_.intern(segment)});
        return graph::path_operand(std::move(path), types_);
      }
      case Kind::Tensor:
        return builder_(inputs_[next_++]);
      case Kind::List:
      case Kind::Tuple:
        break;
    }
    std::vector<graph::Operand> items;
    for (const EvalValue& item : v.items) items.push_back(operand(item));
    bool list = v.kind == Kind::List;
    TypeId type = list ? types_.list(types_.any()) : types_.any();
    return builder_(builder_.add(list ? Op::CoreList : Op::CoreTuple, std::move(items), type));
  }

  Interner names_;
  DimTable dims_{names_};
  TypeTable types_{dims_};
  graph::Graph graph_;
  graph::Builder builder_;
  std::vector<graph::ValueId> inputs_;
  size_t next_ = 0;
  Case case_;
};

bool has_scalars(const EvalValue& v) {
  if (v.is_tensor()) return false;
  bool found = v.items.empty() && v.kind != Kind::List && v.kind != Kind::Tuple;
  for (const EvalValue& item : v.items) found = found || has_scalars(item);
  return found;
}

// Parameters are computed with in f32; those of other element types are the evaluator's matter.
bool plain_params(const OpCase& c) {
  for (const auto& [name, tensor] : c.tensors) {
    if (tensor.dtype != DType::F32 && tensor.dtype != DType::I64) return false;
  }
  return true;
}

struct Tally {
  std::set<std::string> straight, general_only;
  int cases = 0;
};

void check(const OpCase& c, Tally& tally) {
  OneOp program(c);
  SCOPED_TRACE(program.given().name);
  Outcome expected = outcome_of(c.out, c.error);
  std::vector<model::TensorInfo> infos;
  for (const auto& [name, tensor] : c.tensors)
    infos.push_back({name, tensor.real() ? Storage::F32 : Storage::I64, tensor.shape});
  model::ParamIndex params(infos);
  for (auto way : {plan::PlanOptions::General::Always, plan::PlanOptions::General::Never}) {
    DiagSink sink;
    plan::PlanOptions options;
    options.general = way;
    bool straight = way == plan::PlanOptions::General::Never;
    if (straight && (has_scalars(c.out) || !c.error.empty())) continue;
    auto built = plan::plan(program.graph(), program.types(), {&params, nullptr}, options, sink);
    std::string name(spelling(c.op));
    if (!built && straight) {
      tally.general_only.insert(name);
      continue;
    }
    ASSERT_TRUE(built) << message_of(sink.all()[0]);
    if (straight) tally.straight.insert(name);
    EXPECT_EQ(difference(expected, native(*built, program.given()), straight), "")
        << (straight ? "straight" : "general");
    ++tally.cases;
  }
}

TEST(NativeOps, EqualPyTorch) {
  Tally tally;
  for (const char* file : {"elementwise", "scalars", "layout", "reductions", "layers", "more"}) {
    auto text = read_file(std::string("tests/graph/fixtures/") + file + ".txt");
    ASSERT_TRUE(text.ok());
    for (const OpCase& c : graph::testing::read_cases(*text)) {
      SCOPED_TRACE(std::string(file) + ".txt:" + std::to_string(c.line));
      bool config = spelling(c.op).substr(0, 7) == "config_";  // decided before planning
      if (!config && plain_params(c)) check(c, tally);
    }
  }
  EXPECT_GT(tally.cases, 1000);
  // What no straight line says at all: results whose sizes or kinds are decided by data.
  std::string never;
  for (const std::string& name : tally.general_only) {
    if (tally.straight.count(name) == 0) never += name + " ";
  }
  EXPECT_EQ(never, "where_indices ");
}

}  // namespace
}  // namespace axon::driver::ways
