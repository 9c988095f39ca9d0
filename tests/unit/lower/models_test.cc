// Tiny models of the zoo, through every front-end stage and the reference evaluator, against what
// Transformers computes (tests/graph/make_models.py).
#include <gtest/gtest.h>

#include "../graph/fixture.h"
#include "graph/evaluate.h"
#include "support/file.h"
#include "zoo.h"

namespace axon::lower {
namespace {

using graph::EvalTensor;
using graph::EvalValue;
using graph::NamedValues;
using model::ConfigValue;

struct Model {
  ConfigValue config;
  graph::MemoryParams params;
  NamedValues inputs, results;
};

void set_nested(ConfigValue& map, std::string_view key, ConfigValue value) {
  map.kind = ConfigValue::Kind::Map;
  size_t dot = key.find('.');
  if (dot == key.npos) return map.set(std::string(key), std::move(value));
  const ConfigValue* old = map.member(key.substr(0, dot));
  ConfigValue inner = old ? *old : ConfigValue();
  set_nested(inner, key.substr(dot + 1), std::move(value));
  map.set(std::string(key.substr(0, dot)), std::move(inner));
}

ConfigValue config_value(std::string_view text) {
  auto [kind, word] = graph::testing::cut(text);
  if (kind == "bool") return ConfigValue::of(word == "1");
  if (kind == "int") return ConfigValue::of(parse_int(word).value());
  if (kind == "float") return ConfigValue::of(parse_double(word).value());
  return ConfigValue::of(std::string(word));
}

void read_model(std::string_view name, Model& out) {
  auto text = read_file(std::string(AXON_SOURCE_DIR "/tests/graph/fixtures/model_") +
                        std::string(name) + ".txt");
  ASSERT_TRUE(text.ok());
  for (std::string_view line : split(*text, '\n')) {
    auto [word, rest] = graph::testing::cut(line);
    auto [key, value] = graph::testing::cut(rest);
    if (word.empty()) continue;
    if (word == "config") {
      set_nested(out.config, key, config_value(value));
      continue;
    }
    EvalValue tensor = graph::testing::read_tensor(graph::testing::cut(value).second);
    if (word == "param") out.params.set(std::string(key), *tensor.tensor);
    if (word == "input") out.inputs.emplace_back(key, tensor);
    if (word == "result") out.results.emplace_back(key, tensor);
  }
}

const EvalValue& named(const NamedValues& values, std::string_view name) {
  for (const auto& [key, value] : values) {
    if (key == name) return value;
  }
  ADD_FAILURE() << "no value `" << name << "`";
  return values[0].second;
}

// Columns [from, to) of axis 1.
EvalValue columns(const EvalValue& value, int64_t from, int64_t to) {
  auto out = graph::evaluate_op(
      Op::Slice, {value, EvalValue::of(int64_t{1}), EvalValue::of(from), EvalValue::of(to)}, {});
  EXPECT_TRUE(out.ok());
  return *out;
}

void expect_near(const EvalValue& got, const EvalValue& want, std::string_view what) {
  ASSERT_TRUE(got.is_tensor()) << what;
  ASSERT_EQ(got.tensor->shape, want.tensor->shape) << what;
  for (int64_t i = 0; i < want.tensor->count(); ++i) {
    ASSERT_NEAR(got.tensor->get(i), want.tensor->get(i), 1e-5) << what << " at " << i;
  }
}

struct Variant {
  std::string_view name, main, overlay;
};
void PrintTo(const Variant& v, std::ostream* out) {
  *out << v.name << " " << v.main << " " << v.overlay;
}
class Models : public ::testing::TestWithParam<Variant> {
 protected:
  void SetUp() override {
    read_model(GetParam().name, model_);
    lowered_ = lower_zoo(GetParam().name, GetParam().overlay, GetParam().main, session_);
    ASSERT_EQ(errors_of(session_), "");
  }
  NamedValues run(const NamedValues& inputs) {
    graph::EvalOptions options;
    options.params = &model_.params;
    options.config = &model_.config;
    auto out = graph::evaluate(lowered_, session_.types, inputs, options);
    EXPECT_TRUE(out.ok()) << out.error().code << " " << out.error().message << " "
                          << out.error().hint;
    return out ? *out : NamedValues{{"", EvalValue()}};
  }
  Model model_;
  sema::Session session_;
  graph::Graph lowered_;
};

TEST_P(Models, GiveTheSameNumbers) {
  NamedValues out = run(model_.inputs);
  for (const auto& [name, want] : model_.results) expect_near(named(out, name), want, name);
}

class Decoders : public Models {};

// Three tokens, then the others one by one, with the cache handed on.
TEST_P(Decoders, CachedStepsEqualTheWhole) {
  const EvalValue& ids = named(model_.inputs, "input_ids");
  const EvalValue& want = named(model_.results, "logits");
  EvalValue cache, capacity = EvalValue::of(int64_t{8});
  int64_t done = 0;
  for (int64_t next : {3, 4, 5}) {
    NamedValues out = run({{"input_ids", columns(ids, done, next)},
                           {"past_kv", cache},
                           {"use_cache", EvalValue::of(true)},
                           {"capacity", capacity}});
    expect_near(named(out, "logits"), columns(want, done, next),
                "logits after " + std::to_string(done));
    cache = named(out, "new_kv");
    ASSERT_FALSE(cache.is_null());
    done = next;
  }
}

std::string title(const ::testing::TestParamInfo<Variant>& info) {
  return std::string(info.param.name) + "_" +
         (info.param.overlay.empty() ? "base" : std::string(info.param.overlay));
}

INSTANTIATE_TEST_SUITE_P(Zoo, Models,
                         ::testing::Values(Variant{"llama", "", ""}, Variant{"llama", "", "static"},
                                           Variant{"gpt2", "", ""}, Variant{"gpt2", "", "static"},
                                           Variant{"bert", "bert_model", ""}),
                         title);
INSTANTIATE_TEST_SUITE_P(Zoo, Decoders,
                         ::testing::Values(Variant{"llama", "", ""}, Variant{"llama", "", "static"},
                                           Variant{"gpt2", "", ""}, Variant{"gpt2", "", "static"}),
                         title);

}  // namespace
}  // namespace axon::lower
