// Whole graphs through the reference evaluator: calls, loops, laziness, dims, paths, entry checks.
#include "graph/evaluate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "graph/text.h"
#include "graph/verify.h"

namespace axon::graph {
namespace {

struct Tables {
  Interner names;
  DimTable dims{names};
  TypeTable types{dims};
};

EvalValue vec(std::vector<float> values, std::vector<int64_t> shape = {}) {
  EvalTensor out = EvalTensor::make(
      DType::F32, shape.empty() ? std::vector{static_cast<int64_t>(values.size())} : shape);
  out.reals = std::move(values);
  return EvalValue::of(std::move(out));
}

std::string text_of(const EvalValue& v) {
  if (!v.is_tensor() && v.items.empty()) return show(v);
  std::string out = v.is_tensor() ? show_shape(v.tensor->shape) : "(";
  for (size_t i = 0; i < v.items.size(); ++i) out += (i > 0 ? ", " : "") + text_of(v.items[i]);
  if (!v.is_tensor()) return out + ")";
  for (int64_t i = 0; i < v.tensor->count(); ++i) out += " " + std::to_string(v.tensor->get_int(i));
  return out;
}

// Runs a graph given without its first lines; the answer is "name=value …" or the error's code.
std::string run(std::string_view body, const NamedValues& inputs, MemoryParams* params = nullptr,
                const model::ConfigValue* config = nullptr) {
  Tables t;
  auto graph = read_graph("graph-ir 1\nmain $f\n" + std::string(body), t.types);
  if (!graph) return graph.error().message;
  for (const Fault& f : find_faults(*graph, t.types)) ADD_FAILURE() << f.message;
  EvalOptions options;
  options.params = params;
  options.config = config;
  auto out = evaluate(*graph, t.types, inputs, options);
  if (!out) return out.error().code + " " + out.error().message;
  std::string text;
  for (const auto& [name, value] : *out)
    text += (text.empty() ? "" : " ") + name + "=" + text_of(value);
  return text;
}

TEST(Evaluate, CallsBindDimsFromShapes) {
  constexpr std::string_view kText = R"(
module $half(%x: Tensor[2*N+1,M]) -> Dim {
  return <N*10+M>
}
module $f(%x: Tensor[R,C]) -> (Dim, Dim, Dim) {
  %n = core.call $half %x : Dim
  return <R> as r, <C> as c, %n as n
}
)";
  EXPECT_EQ(run(kText, {{"x", vec({1, 2, 3, 4, 5, 6, 7, 8, 9, 0}, {5, 2})}}), "r=5 c=2 n=22");
  EXPECT_EQ(run(kText, {{"x", vec({1, 2}, {2, 1})}}),
            "RUN-DIM dimension `N` has no whole value for which `2*N+1` is 2");
}

TEST(Evaluate, SolvesProductsQuotientsAndLaterBindings) {
  EXPECT_EQ(run("module $f(%x: Tensor[H*D], %y: Tensor[H]) -> Dim {\n  return <D> as d\n}\n",
                {{"x", vec({1, 2, 3, 4, 5, 6})}, {"y", vec({1, 2})}}),
            "d=3");
  EXPECT_EQ(run("module $f(%x: Tensor[n^,4], %n: Dim) -> Dim {\n  return <n^*2> as d\n}\n",
                {{"x", vec({1, 2, 3, 4}, {1, 4})}, {"n", EvalValue::of(int64_t{1})}}),
            "d=2");
  EXPECT_EQ(run("module $f(%x: ?List[(Tensor[A], Tensor[B])]) -> Dim {\n  return <A+B> as d\n}\n",
                {{"x", EvalValue::list({EvalValue::tuple({vec({1}), vec({1, 2})})})}}),
            "d=3");
}

TEST(Evaluate, DimOfAnIntermediateType) {
  constexpr std::string_view kText = R"(
module $f(%x: Tensor[N]) -> Dim {
  %y = concat %x, %x : Tensor[E]
  return <E+N> as e
}
)";
  EXPECT_EQ(run(kText, {{"x", vec({1, 2})}}), "e=6");
}

TEST(Evaluate, EntryChecks) {
  constexpr std::string_view kText = R"(
module $f(%x: Tensor[N,3], %y: Tensor[N], %m?: ?Tensor[N]) -> Dim {
  default %m = null
  constraint <N> <= 3
  constraint <N> == 1 if %m is not null
  return <N> as n
}
)";
  EvalValue x = vec({1, 2, 3, 4, 5, 6}, {2, 3}), y = vec({1, 2});
  EXPECT_EQ(run(kText, {{"x", x}, {"y", y}, {"unknown", y}}), "n=2");
  EXPECT_EQ(run(kText, {{"x", x}}), "RUN-INPUT input `y` is missing");
  EXPECT_EQ(run(kText, {{"x", x}, {"y", EvalValue::null()}}), "RUN-INPUT input `y` is null");
  EXPECT_EQ(run(kText, {{"x", y}, {"y", y}}), "RUN-RANK input `x` has 1 axes, needs 2");
  EXPECT_EQ(run(kText, {{"x", x}, {"y", vec({1})}}), "RUN-SHAPE axis 0 of `y` is 1, but `N` is 2");
  EXPECT_EQ(run(kText, {{"x", vec({1, 2}, {1, 2})}, {"y", vec({1})}}),
            "RUN-SHAPE axis 1 of `x` is 2, but `3` is 3");
  EXPECT_EQ(run(kText, {{"x", x}, {"y", y}, {"m", y}}), "RUN-SHAPE <N> is 2, but 1 is 1");
}

TEST(Evaluate, LoopsThreadCarries) {
  constexpr std::string_view kText = R"(
module $step(%i: Int, %a: Int, %l: List[Int], %k: Int) -> (Int, List[Int]) {
  %s = core.binary.+ %a, %k : Int
  %m = list_append %l, %i : List[Int]
  return %s, %m
}
module $f(%from: Int, %to: Int, %by: Int) -> (Int, List[Int], Int) {
  %e = list_init : List[Int]
  %a: Int, %l: List[Int] = core.repeat %from, %to, %by, 0, %e, 5 loop($step; var i; carry a l; args iter carry:0 carry:1 input:5) : (Int, List[Int])
  %n = list_length %l : Dim
  return %a as a, %l as l, %n as n
}
)";
  auto of = [](int64_t v) { return EvalValue::of(v); };
  EXPECT_EQ(run(kText, {{"from", of(2)}, {"to", of(7)}, {"by", of(2)}}), "a=15 l=(2, 4, 6) n=3");
  EXPECT_EQ(run(kText, {{"from", of(3)}, {"to", of(0)}, {"by", of(-1)}}), "a=15 l=(3, 2, 1) n=3");
  EXPECT_EQ(run(kText, {{"from", of(3)}, {"to", of(3)}, {"by", of(1)}}), "a=0 l=a list of 0 n=0");
  EXPECT_EQ(run(kText, {{"from", of(3)}, {"to", of(3)}, {"by", of(0)}}), "RUN-STEP loop step is 0");
}

TEST(Evaluate, OnlyTheChosenBranchRuns) {
  constexpr std::string_view kText = R"(
module $f(%x: Tensor[N], %c?: ?Bool) -> Tensor[N] {
  %y = core.select %c, (params_param @@absent : Tensor[N]), (core.binary.+ %x, 1 : Tensor[N]) : Tensor[N]
  return %y as y
}
)";
  std::string text(kText);
  text.replace(text.find("@@absent"), 8, "@@'absent'");
  EXPECT_EQ(run(text, {{"x", vec({1, 2})}, {"c", EvalValue::of(false)}}), "y=[2] 2 3");
  EXPECT_EQ(run(text, {{"x", vec({1, 2})}}), "y=[2] 2 3");
  EXPECT_EQ(run(text, {{"x", vec({1, 2})}, {"c", EvalValue::of(true)}}),
            "RUN-PARAM checkpoint has no tensor `absent`");
}

TEST(Evaluate, PathsPlaceholdersAndGlobals) {
  constexpr std::string_view kText = R"(
global $root() -> String {
  %r = config_str @@'top', "" : String
  return %r
}
module $read(%p: Path, %i: Int) -> Tensor {
  %w = params_param @@'{p}.l{i}.{d=<1+1>}.w' : Tensor
  return %w
}
module $f(%i: Int) -> Tensor {
  %w = core.call $read @@'{r=$root}.h', %i : Tensor
  return %w as w
}
)";
  MemoryParams params;
  params.set("h.l3.2.w", *vec({7}).tensor);
  params.set("enc.dec.h.l3.2.w", *vec({8}).tensor);
  NamedValues inputs = {{"i", EvalValue::of(int64_t{3})}};
  EXPECT_EQ(run(kText, inputs, &params), "w=[1] 7");
  model::ConfigValue config;
  config.kind = model::ConfigValue::Kind::Map;
  config.set("top", model::ConfigValue::of(std::string("enc.dec")));
  EXPECT_EQ(run(kText, inputs, &params, &config), "w=[1] 8");
  EXPECT_EQ(run("module $f(%i: Float) -> Tensor {\n  %w = params_param @@'{i}' : Tensor\n  return "
                "%w as w\n}\n",
                {{"i", EvalValue::of(0.5)}}),
            "RUN-PLACEHOLDER placeholder `{i}` is 0.5");
}

TEST(Evaluate, RigidDimsReadTheirGlobal) {
  EXPECT_EQ(run("global $W() -> Dim {\n  return 3\n}\nmodule $f(%x: Tensor[W!]) -> Dim {\n  return "
                "<W!*2> as w\n}\n",
                {{"x", vec({1, 2, 3})}}),
            "w=6");
}

TEST(Evaluate, IntegersWidenWhereTheyEnter) {
  constexpr std::string_view kText = R"(
module $half(%x: Float) -> Float {
  %y = core.binary./ %x, 2 : Float
  return %y
}
module $f(%n: Int) -> (Float, Float, (Float, Int)) {
  %a = core.call $half %n : Float
  %b = core.ascribe %n : Float
  %c = core.tuple %n, %n : (Float, Int)
  return %a as a, %b as b, %c as c
}
)";
  EXPECT_EQ(run(kText, {{"n", EvalValue::of(int64_t{3})}}), "a=1.5 b=3.0 c=(3.0, 3)");
}

TEST(Evaluate, AscriptionsAssert) {
  constexpr std::string_view kText =
      "module $f(%x?: ?Tensor[N]) -> Tensor {\n  %y = core.ascribe %x : Tensor[A,B]\n  return %y "
      "as y\n}\n";
  EXPECT_EQ(run(kText, {}), "RUN-NULL an ascription to Tensor[A,B] got null");
  EXPECT_EQ(run(kText, {{"x", vec({1})}}),
            "RUN-SHAPE an ascribed value is [1], but its type is Tensor[A,B]");
}

TEST(Evaluate, DestructuringCounts) {
  constexpr std::string_view kText =
      "module $f(%l: List[Int]) -> Int {\n  %a: Int, %b: Int = core.alias %l : List[Int]\n"
      "  return %b as b\n}\n";
  auto list = [](int64_t n) {
    std::vector<EvalValue> items;
    for (int64_t i = 0; i < n; ++i) items.push_back(EvalValue::of(i));
    return EvalValue::list(std::move(items));
  };
  EXPECT_EQ(run(kText, {{"l", list(2)}}), "b=1");
  EXPECT_EQ(run(kText, {{"l", list(3)}}), "RUN-DESTRUCTURE 2 names are bound to 3 items");
}

TEST(Evaluate, ConfigReadsConvertAndDefault) {
  using model::ConfigValue;
  ConfigValue inner, config;
  inner.kind = config.kind = ConfigValue::Kind::Map;
  inner.set("n", ConfigValue::of(int64_t{4}));
  inner.set("z", ConfigValue::null());
  inner.set("s", ConfigValue::of(std::string("12")));
  inner.set("b", ConfigValue::of(std::string("True")));
  inner.set("m", ConfigValue::of(int64_t{-3}));
  config.set("a", inner);
  EvalOptions options;
  options.config = &config;
  auto ask = [&](Op op, const char* key, EvalValue fallback) {
    std::vector<EvalValue> args = {EvalValue::path(key)};
    if (op != Op::ConfigHas && op != Op::ConfigHasValue) args.push_back(std::move(fallback));
    auto out = evaluate_op(op, args, options);
    return out ? show(*out) : out.error().code;
  };
  EvalValue none, nine = EvalValue::of(int64_t{9});
  EXPECT_EQ(ask(Op::ConfigInt, "a.n", none), "4");
  EXPECT_EQ(ask(Op::ConfigInt, "a.s", none), "12");
  EXPECT_EQ(ask(Op::ConfigInt, "a.z", nine), "9");
  EXPECT_EQ(ask(Op::ConfigInt, "a.q", none), "RUN-CONFIG");
  EXPECT_EQ(ask(Op::ConfigInt, "a.m", none), "-3");
  EXPECT_EQ(ask(Op::ConfigDim, "a.m", none), "RUN-CONFIG-TYPE");
  EXPECT_EQ(ask(Op::ConfigDim, "a.n", none), "4");
  EXPECT_EQ(ask(Op::ConfigFloat, "a.n", none), "4.0");
  EXPECT_EQ(ask(Op::ConfigBool, "a.b", none), "true");
  EXPECT_EQ(ask(Op::ConfigBool, "a.n", none), "RUN-CONFIG-TYPE");
  EXPECT_EQ(ask(Op::ConfigStr, "a.n", none), "RUN-CONFIG-TYPE");
  EXPECT_EQ(ask(Op::ConfigInt, "a.n.x", none), "RUN-CONFIG-TYPE");
  EXPECT_EQ(ask(Op::ConfigValue, "a.q", none), "null");
  EXPECT_EQ(ask(Op::ConfigHas, "a.z", none), "true");
  EXPECT_EQ(ask(Op::ConfigHasValue, "a.z", none), "false");
  EXPECT_EQ(ask(Op::ConfigHas, "a.q", none), "false");
}

// Each fused row beside the primitives it stands for.
TEST(Evaluate, FusedRowsEqualTheirExpansions) {
  constexpr std::string_view kText = R"(
module $f(%x: Tensor[1,2,2,4], %q: Tensor[1,4,2,4], %s: Tensor[1,1,2,4], %m: Tensor[1,2]) -> Any {
  %l = linear_act_residual %x, @@'w', @@'b', %x, %x {activation="silu", transpose=true} : Tensor[1,2,2,4]
  %l1 = linear @@'', %x, null, true, true, null, @@'w', @@'b' : Tensor[1,2,2,4]
  %l2 = activations_silu %l1 : Tensor[1,2,2,4]
  %l3 = core.binary.* %l2, %x : Tensor[1,2,2,4]
  %l4 = core.binary.+ %l3, %x : Tensor[1,2,2,4]
  %n = rms_norm %x, @@'g' {eps=0.01, unit_offset=true} : Tensor[1,2,2,4]
  %n1 = rmsnorm %x, 0.01 : Tensor[1,2,2,4]
  %n2 = params_param @@'g' : Tensor[4]
  %n3 = core.binary.* %n1, %n2 : Tensor[1,2,2,4]
  %n4 = core.binary.+ %n3, %n1 : Tensor[1,2,2,4]
  %y = layer_norm %x, @@'g', @@'b' {eps=0.01} : Tensor[1,2,2,4]
  %y1 = layernorm @@'', %x, 0.01, null, @@'g', true, @@'b' : Tensor[1,2,2,4]
  %r = rope %x, %s, %s {interleaved=false, rotary_dim=4} : Tensor[1,2,2,4]
  %r1: Tensor, %r2: Tensor = chunk %x, -1, 2 : (Tensor, Tensor)
  %r3 = core.binary.* %r2, -1 : Tensor
  %r4 = concat %r3, %r1, -1 : Tensor
  %r5 = core.binary.* %r4, %s : Tensor
  %r6 = core.binary.* %x, %s : Tensor
  %r7 = core.binary.+ %r6, %r5 : Tensor
  %a = attention %q, %x, %x, %m, null, null, null {scale=0.5, causal=true, offset=0, length=null, window=null, softcap=null} : Tensor
  %k = repeat %x, 2, 1 : Tensor
  %t = transpose %k, 2, 3 : Tensor
  %a1 = matmul %q, %t : Tensor
  %a2 = core.binary.* %a1, 0.5 : Tensor
  %i = arange %m, 0, 2 : Tensor
  %j = unsqueeze %i, 1 : Tensor
  %c = le %i, %j : Tensor
  %d = core.binary.and %c, %m : Tensor
  %a3 = where %d, %a2, -1e30 : Tensor
  %a4 = softmax %a3, -1 : Tensor
  %a5 = matmul %a4, %k : Tensor
  %all = core.list %l, %l4, %n, %n4, %y, %y1, %r, %r7, %a, %a5 : List[Any]
  return %all as all
}
)";
  Tables t;
  auto graph = read_graph("graph-ir 1\nmain $f\n" + std::string(kText), t.types);
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  auto ramp = [](std::vector<int64_t> shape, float step) {
    std::vector<float> values(static_cast<size_t>(count_of(shape)));
    for (size_t i = 0; i < values.size(); ++i) values[i] = std::sin(step * static_cast<float>(i));
    return vec(values, shape);
  };
  MemoryParams params;
  params.set("w", *ramp({4, 4}, 0.7f).tensor);
  params.set("b", *ramp({4}, 1.3f).tensor);
  params.set("g", *ramp({4}, 0.3f).tensor);
  EvalOptions options;
  options.params = &params;
  auto out = evaluate(*graph, t.types,
                      {{"x", ramp({1, 2, 2, 4}, 0.9f)},
                       {"q", ramp({1, 4, 2, 4}, 0.4f)},
                       {"s", ramp({1, 1, 2, 4}, 0.2f)},
                       {"m", vec({1, 1}, {1, 2})}},
                      options);
  ASSERT_TRUE(out.ok()) << out.error().message << out.error().hint;
  const auto& all = (*out)[0].second.items;
  for (size_t i = 0; i < all.size(); i += 2) {
    ASSERT_EQ(all[i].tensor->shape, all[i + 1].tensor->shape) << i;
    for (int64_t k = 0; k < all[i].tensor->count(); ++k) {
      EXPECT_NEAR(all[i].tensor->get(k), all[i + 1].tensor->get(k), 1e-6) << i;
    }
  }
}

// A query row without a kept key gives zeros; a window, a length and sinks shorten the sums.
TEST(Evaluate, AttentionMasks) {
  auto attend = [](std::string attributes, std::string sinks, EvalValue keep) {
    Tables t;
    std::string text =
        "graph-ir 1\nmain $f\nmodule $f(%q: Tensor[1,1,3,1], %m: Tensor[1,3], %s: Tensor[1]) -> "
        "Tensor {\n"
        "  %a = attention %q, %q, %q, %m, null, null, " +
        sinks + " {scale=0.0, " + attributes +
        ", softcap=2.0} : Tensor\n"
        "  return %a as a\n}\n";
    auto graph = read_graph(text, t.types);
    EXPECT_TRUE(graph.ok()) << graph.error().message;
    auto out = evaluate(*graph, t.types,
                        {{"q", vec({2, 4, 12}, {1, 1, 3, 1})}, {"m", keep}, {"s", vec({0})}}, {});
    EXPECT_TRUE(out.ok()) << out.error().message;
    return text_of((*out)[0].second);
  };
  EvalValue all = vec({1, 1, 1}, {1, 3});
  std::string free = "causal=false, offset=null, length=null, window=null";
  EXPECT_EQ(attend(free, "null", all), "[1,1,3,1] 6 6 6");
  EXPECT_EQ(attend("causal=true, offset=0, length=null, window=null", "null", all),
            "[1,1,3,1] 2 3 6");
  EXPECT_EQ(attend("causal=true, offset=0, length=null, window=2", "null", all), "[1,1,3,1] 2 3 8");
  EXPECT_EQ(attend("causal=false, offset=null, length=2, window=null", "null", all),
            "[1,1,3,1] 3 3 3");
  EXPECT_EQ(attend(free, "null", vec({0, 0, 0}, {1, 3})), "[1,1,3,1] 0 0 0");
  EXPECT_EQ(
      attend("causal=true, offset=0, length=null, window=null", "null", vec({0, 1, 1}, {1, 3})),
      "[1,1,3,1] 0 4 8");
  EXPECT_EQ(attend(free, "%s", vec({0, 1, 1}, {1, 3})), "[1,1,3,1] 5 5 5");
}

TEST(Evaluate, ErrorsSayWhere) {
  Tables t;
  auto graph = read_graph(
      "graph-ir 1\nmain $f\nmodule $f(%x: Int) -> Int {\n"
      "  %y = core.binary./ %x, 0 : Int\n  return %y as y\n}\n",
      t.types);
  ASSERT_TRUE(graph.ok());
  auto out = evaluate(*graph, t.types, {{"x", EvalValue::of(int64_t{1})}}, {});
  ASSERT_FALSE(out.ok());
  EXPECT_EQ(out.error().code, "RUN-DIV-ZERO");
  EXPECT_EQ(out.error().hint, "at `y`, core.binary./ in `f`");
}

// Tensors of a checkpoint in several storage forms, found by the key rules.
class BytesSource : public model::ParamSource {
 public:
  BytesSource()
      : index_({{"e.0.w", Storage::F32, {2}},
                {"e.1.w", Storage::F32, {2}},
                {"h", Storage::F16, {2}},
                {"q", Storage::Q8_0, {32}}}) {}
  const model::ParamIndex& index() const override { return index_; }
  Result<model::RawTensor> tensor(std::string_view name) override {
    const model::TensorInfo* info = index_.find(name);
    const uint8_t* data =
        name == "h" ? half_ : reinterpret_cast<const uint8_t*>(name == "e.0.w" ? zero_ : one_);
    return model::RawTensor{info, data, name == "h" ? 4u : 8u};
  }
  void release(std::string_view) override {}

 private:
  model::ParamIndex index_;
  float zero_[2] = {1, 2}, one_[2] = {3, 4};
  uint8_t half_[4] = {0x00, 0x3e, 0x01, 0x80};  // 1.5, -2^-24
};

TEST(Evaluate, CheckpointParameters) {
  BytesSource source;
  CheckpointParams params(source);
  auto bank = params.find("e.w");
  ASSERT_TRUE(bank.ok() && bank->has_value());
  EXPECT_EQ((*bank)->shape, (std::vector<int64_t>{2, 2}));
  EXPECT_EQ((*bank)->reals, (std::vector<float>{1, 2, 3, 4}));
  auto half = params.find("h");
  ASSERT_TRUE(half.ok() && half->has_value());
  EXPECT_EQ((*half)->reals, (std::vector<float>{1.5f, -0x1p-24f}));
  EXPECT_TRUE(params.find("none").ok());
  EXPECT_EQ(params.find("q").error().code, "RUN-PARAM-DTYPE");
  EXPECT_TRUE(params.has_root("e"));
}

TEST(Evaluate, ElementTypesHaveNames) {
  constexpr std::string_view kText =
      "module $f(%x: Tensor[N]) -> Tensor[N] {\n  %y = cast %x, \"float99\" : Tensor[N]\n"
      "  return %y as y\n}\n";
  EXPECT_EQ(run(kText, {{"x", vec({1})}}), "RUN-DTYPE `float99` is not an element type");
}

}  // namespace
}  // namespace axon::graph
