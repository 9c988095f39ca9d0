// Emitted modules against their goldens in tests/emit/ (`./dev accept` rewrites).
#include "driver/emit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "driver/optimise.h"
#include "emit/py/print.h"
#include "runtime/formats/json.h"
#include "support/file.h"
#include "support/text.h"

namespace axon::driver {
namespace {

struct Case {
  model::ConfigValue config;
  model::ParamIndex params;
};

Case read_case(const std::string& name) {
  std::string path = "tests/emit/" + name + ".json";
  auto text = read_file(path);
  EXPECT_TRUE(text.ok());
  auto json = formats::parse_json(*text, path);
  EXPECT_TRUE(json.ok());
  std::vector<model::TensorInfo> tensors;
  for (const auto& [tensor, shape] : json->member("tensors")->members) {
    model::TensorInfo info{tensor, Storage::F32, {}};
    for (const model::ConfigValue& size : shape.items) info.shape.push_back(size.integer);
    tensors.push_back(std::move(info));
  }
  return {*json->member("config"), model::ParamIndex(std::move(tensors))};
}

// The program beside the case; else that of the zoo for its architecture.
ProgramText program_of(const std::string& name, const model::ConfigValue& config) {
  ProgramText text;
  if (auto own = read_file("tests/emit/" + name + ".axon")) {
    text.path = name + ".axon";
    text.text = *own;
    text.name = text.main = name;
    return text;
  }
  auto choice = choose_program({config.member("architectures")->items[0].text});
  text.path = choice->program.name + ".axon";
  text.text = std::string(choice->program.text);
  text.name = choice->program.name;
  text.main = choice->entry.main;
  return text;
}

std::string emitted(const std::string& name, const std::string& target, bool optimise,
                    bool scan = false) {
  Case c = read_case(name);
  sema::Answers answers{&c.config, &c.params};
  ProgramText text = program_of(name, c.config);
  Frontend frontend = compile_text(text, ModelRequest{}, answers, Stage::GraphIr);
  EXPECT_TRUE(frontend.ok());
  PassRequest request;
  request.optimise = optimise;
  PassReport report;
  EXPECT_TRUE(run_structured_passes(frontend, answers, request, report));
  EmitOptions options{target, "axon compile " + name, "0", scan};
  auto source = emit_source(frontend, text, answers, options);
  EXPECT_TRUE(source.ok()) << source.error().message;
  return source ? *source : "";
}

// The longest function of a source, in lines.
size_t longest_function(const std::string& source) {
  size_t longest = 0, length = 0;
  for (std::string_view line : split(source, '\n')) {
    std::string_view code = trim(line);
    bool starts = starts_with(code, "def ") || starts_with(code, "class ");
    length = starts ? 1 : length + 1;
    longest = std::max(longest, length);
  }
  return longest;
}

// What follows the header, which has a hash of all that was read.
std::string body(const std::string& source) { return source.substr(source.find("import ")); }

struct Golden {
  const char *name, *target;
};

class Emit : public testing::TestWithParam<Golden> {};

TEST_P(Emit, MatchesItsGolden) {
  std::string name = GetParam().name, target = GetParam().target;
  std::string path = "tests/emit/" + name + "." + target + ".py";
  std::string source = emitted(name, target, true);
  EXPECT_EQ(source, emitted(name, target, true)) << "the same input gives the same bytes";
  EXPECT_LE(longest_function(source), 60u);
  if (std::getenv("AXON_ACCEPT")) {
    ASSERT_TRUE(write_file(path, source).ok());
  }
  auto golden = read_file(path);
  ASSERT_TRUE(golden.ok());
  EXPECT_EQ(body(source), body(*golden));
  EXPECT_NE(source.find("Made again by: axon compile " + name), std::string::npos);
}

// But the hash of what was read.
TEST_P(Emit, PassesChangeNothingThatIsWritten) {
  auto [name, target] = GetParam();
  EXPECT_EQ(body(emitted(name, target, true)), body(emitted(name, target, false)));
}

bool has(const std::string& source, std::string_view part) {
  return source.find(part) != std::string::npos;
}

// Both stacks of layers, and what is made of the encoder's source for each layer of the decoder;
// the table that the first layer alone has lies beside the stack.
TEST(EmitScan, EncoderDecoder) {
  std::string source = emitted("t5", "jax", true, true);
  for (const char* part :
       {"x, _ = lax.scan(step, x, params[\"block\"])",
        "x, stores = lax.scan(step, x, (params[\"block\"], stores, all_k, all_v))",
        "lax.map(step, params[\"block\"])", "params[\"decoder\"][\"relative_attention_bias\"] = ",
        "params[\"decoder\"][\"block\"] = stack(params[\"decoder\"][\"block\"])"})
    EXPECT_TRUE(has(source, part)) << part << " in " << source;
  EXPECT_FALSE(has(source, "list[Array]"));
  EXPECT_LE(longest_function(source), 60u);
}

// Rounds that share their parameters: nothing is stacked.
TEST(EmitScan, SharedLayers) {
  std::string source = emitted("shared", "jax", true, true);
  EXPECT_TRUE(has(source, "x, _ = lax.scan(step, x, length=4)")) << source;
  EXPECT_FALSE(has(source, "stack"));
}

std::string name_of(const testing::TestParamInfo<Golden>& info) {
  return std::string(info.param.name) + "_" + info.param.target;
}

constexpr Golden kTorch[] = {
    {"llama", "torch"},   {"gpt2", "torch"},      {"gpt2_depth", "torch"}, {"bert", "torch"},
    {"mixtral", "torch"}, {"gemma2", "torch"},    {"t5", "torch"},         {"tied", "torch"},
    {"shared", "torch"},  {"entangled", "torch"},
};
constexpr Golden kJax[] = {
    {"llama", "jax"}, {"gpt2", "jax"}, {"bert", "jax"},   {"mixtral", "jax"},
    {"tied", "jax"},  {"t5", "jax"},   {"shared", "jax"}, {"entangled", "jax"},
};
INSTANTIATE_TEST_SUITE_P(Torch, Emit, testing::ValuesIn(kTorch), name_of);
INSTANTIATE_TEST_SUITE_P(Jax, Emit, testing::ValuesIn(kJax), name_of);

}  // namespace
}  // namespace axon::driver
