// Running and comparing.
#include "compare.h"

#include <cmath>
#include <cstdlib>

#include "graph/text.h"
#include "opt/passes.h"
#include "support/text.h"

namespace axon::driver::ways {
namespace {

using graph::EvalValue;

// What f32 and the half types leave of the values that these programs have, which are about 1.
class Relative : public fuzz::Tolerance {
 public:
  explicit Relative(const Outcome& expected) : expected_(expected) {}
  double of(const std::string& name, int64_t, double value) const override {
    DType dtype = expected_.leaves.at(name).dtype;
    if (!is_float(dtype)) return 0;
    double tolerance = dtype == DType::F16 ? 2e-3 : dtype == DType::BF16 ? 1.6e-2 : 2e-5;
    return tolerance * (1 + std::fabs(value));
  }

 private:
  const Outcome& expected_;
};

}  // namespace

Case read_case(const std::string& name, const std::string& text) {
  Case out{name, text, false, {}, {}, {}};
  out.config.kind = model::ConfigValue::Kind::Map;
  uint64_t state = 7;
  auto sizes = [](std::string_view words) {
    std::vector<int64_t> shape;
    if (words == "scalar") return shape;
    for (std::string_view extent : split(words, ',')) shape.push_back(parse_int(extent).value());
    return shape;
  };
  for (std::string_view line : split(text, '\n')) {
    if (!starts_with(line, "-- ")) continue;
    auto words = split(line.substr(3), ' ');
    if (words[0] == "general" && words.size() == 1) out.general = true;
    if (words[0] == "fails" && words.size() == 2) out.fails = words[1];
    if (words[0] == "config" && words.size() == 3) {
      auto whole = parse_int(words[2]);
      out.config.set(std::string(words[1]),
                     whole ? model::ConfigValue::of(*whole)
                           : model::ConfigValue::of(parse_double(words[2]).value()));
    }
    if (words[0] == "param" && words.size() == 3)
      out.params.emplace_back(words[1], random_tensor(DType::F32, sizes(words[2]), state));
    if (words[0] != "input" || words.size() < 3) continue;
    std::string input(words[1]);
    if (auto dtype = parse_dtype(words[2]); dtype && words.size() == 4)
      out.inputs.emplace_back(input, EvalValue::of(random_tensor(*dtype, sizes(words[3]), state)));
    else if (words[2] == "true" || words[2] == "false")
      out.inputs.emplace_back(input, EvalValue::of(words[2] == "true"));
    else if (auto integer = parse_int(words[2]))
      out.inputs.emplace_back(input, EvalValue::of(*integer));
    else
      out.inputs.emplace_back(input, EvalValue::of(parse_double(words[2]).value()));
  }
  return out;
}

Outcome evaluated(const graph::Graph& graph, const TypeTable& types, const Case& c) {
  return fuzz::evaluated(graph, types, {c.inputs, c.params, c.given_config()});
}

Outcome native(const runtime::Program& program, const Case& c, int threads) {
  runtime::ModelOptions options;
  options.threads = threads;
  return fuzz::NativeRun(program, c.params, options).run(c.inputs);
}

std::string difference(const Outcome& a, const Outcome& b, bool wide) {
  return fuzz::difference(a, b, wide, Relative(a));
}

void compare(const graph::Graph& graph, TypeTable& types, const Case& c) {
  SCOPED_TRACE(c.name);
  Outcome expected = evaluated(graph, types, c);
  if (!c.fails.empty()) {
    EXPECT_EQ(expected.error.substr(0, expected.error.find(' ')), c.fails);
  }
  model::ParamIndex params(fuzz::infos(c.params));
  opt::Answers answers{&params, c.given_config()};
  for (int way = 0; way < 3; ++way) {  // general; straight without and with passes and fusions
    DiagSink sink;
    plan::PlanOptions options;
    options.general = way == 0    ? plan::PlanOptions::General::Always
                      : c.general ? plan::PlanOptions::General::Fallback
                                  : plan::PlanOptions::General::Never;
    options.optimise = way == 2;
    graph::Graph passed = graph;
    if (way == 2) {
      opt::PassOptions passes;
      passes.verify = true;
      opt::run_passes(passed, types, answers, passes, sink,
                      [](const opt::PassRun&, const graph::Graph&) {});
    }
    auto program = plan::plan(passed, types, answers, options, sink);
    std::string why;
    for (const Diagnostic& d : sink.all()) {
      why += std::string(diag_info(d.id).code) + " " + message_of(d) + "\n";
    }
    if (!program) {
      // What is certain to fail may be found out when planning.
      EXPECT_EQ(why.substr(0, why.find(' ')), expected.error.substr(0, expected.error.find(' ')))
          << why;
      continue;
    }
    EXPECT_EQ(program->general_instructions() > 0, way == 0 || c.general) << "way " << way;
    for (int threads : {1, 2}) {
      EXPECT_EQ(difference(expected, native(*program, c, threads), way != 0), "")
          << "way " << way << "\n"
          << (std::getenv("AXON_SHOW") ? graph::write_graph(graph, types) + show(*program) : "");
    }
  }
}

void compare(const Case& c) {
  SCOPED_TRACE(c.name);
  FrontendOptions options;
  options.path = c.name;
  options.text = c.text;
  Frontend front = run_frontend(options);
  for (const Diagnostic& d : front.session->sink.all())
    if (front.session->sink.severity(d) == Severity::Error)
      ADD_FAILURE() << diag_info(d.id).code << " " << message_of(d);
  if (!front.graph) return;
  compare(*front.graph, front.session->types, c);
}

}  // namespace axon::driver::ways
