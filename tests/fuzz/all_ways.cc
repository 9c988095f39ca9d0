// The ways, and the comparison of each with the evaluator.
#include "fuzz/all_ways.h"

#include <cstdlib>

#include "driver/optimise.h"
#include "fuzz/rounding.h"
#include "fuzz/subject.h"
#include "plan/plan.h"

namespace axon::fuzz {
namespace {

using General = plan::PlanOptions::General;

struct Way {
  const char* name;
  bool passes;  // after the structured passes
  General general;
  bool optimise, classes;
  const char* isa;  // empty: the best
  int threads;
};
constexpr Way kWays[] = {
    {"general instructions", false, General::Always, false, true, "ref", 1},
    {"straight, unrolled, reference kernels", false, General::Fallback, false, false, "ref", 1},
    {"straight, fast kernels", false, General::Fallback, false, true, "", 1},
    {"straight, fused, fast kernels, two threads", false, General::Fallback, true, true, "", 2},
    {"passes, then general instructions", true, General::Always, false, true, "", 1},
    {"passes, then fused, fast kernels", true, General::Fallback, true, true, "", 1},
};

// What the evaluator says of each input, and what rounding may change of that.
struct Expected {
  const Given& given;
  bool refused;  // by the entry
  Outcome outcome;
  DerivedTolerance tolerance;
};

std::string show(const Given& given) {
  std::string out;
  for (const auto& [name, value] : given.inputs) out += name + " = " + graph::show(value) + "\n";
  return out;
}

std::string first_code(const DiagSink& sink) {
  for (const Diagnostic& d : sink.all()) {
    if (sink.severity(d) == Severity::Error) return std::string(diag_info(d.id).code);
  }
  return "";
}

// What is certain to fail may be found out before, and what nothing needs may be left out together
// with its failure: after a change of the program only results must be the same.
std::string compare(const char* way, const Expected& e, const Outcome& got, bool changed, bool wide,
                    Counts& counts) {
  if (e.tolerance.hopeless() || (changed && !e.outcome.error.empty() && !e.refused)) return "";
  ++counts.compared;
  std::string wrong = difference(e.outcome, got, wide, e.tolerance);
  if (wrong.empty()) return "";
  return std::string(way) + ": " + wrong + (got.error.empty() ? "" : " (" + got.error + ")") +
         "\n" + show(e.given);
}

// A plan is refused only where every run fails.
std::string refused(const Way& way, const DiagSink& sink, const std::vector<Expected>& expected) {
  std::string code = first_code(sink);
  if (code == "PLAN-UNSUPPORTED") return "";  // it says so, and runs nothing
  for (const Expected& e : expected) {
    if (!e.outcome.error.empty() || e.tolerance.hopeless()) continue;
    return std::string(way.name) + ": no plan, " + code + ", where the evaluator says `" +
           e.outcome.error + "`\n" + (sink.all().empty() ? "" : message_of(sink.all()[0])) + "\n" +
           show(e.given);
  }
  return "";
}

}  // namespace

std::string try_all_ways(driver::Frontend& f, const model::ParamIndex& params,
                         const std::vector<Given>& given, Counts& counts) {
  TypeTable& types = f.session->types;
  std::vector<Expected> expected;
  for (const Given& g : given) {
    Outcome outcome = evaluated(*f.graph, types, g);
    expected.push_back({g, g.refused, outcome, DerivedTolerance(*f.graph, types, g, outcome, 1)});
    counts.unstable += expected.back().tolerance.unstable_leaves();
    counts.unstable += expected.back().tolerance.hopeless() ? 1 : 0;
  }
  const model::ConfigValue* config = given[0].config;
  opt::Answers answers{&params, config};
  bool passed = false, straight = false;
  for (const Way& way : kWays) {
    if (way.passes && !passed) {
      passed = true;
      driver::PassRequest request;
      request.options.verify = true;
      driver::PassReport report;
      if (!run_structured_passes(f, {config, &params}, request, report))
        return "passes: " + errors(f);
      for (const Expected& e : expected) {
        std::string wrong = compare("passes, then evaluated", e,
                                    evaluated(*f.graph, types, e.given), true, false, counts);
        if (!wrong.empty()) return wrong;
      }
    }
    DiagSink sink;
    plan::PlanOptions options;
    options.general = way.general;
    options.optimise = way.optimise;
    options.classes = way.classes;
    auto program = plan::plan(*f.graph, types, answers, options, sink);
    if (!program) {
      if (std::string wrong = refused(way, sink, expected); !wrong.empty()) return wrong;
      continue;
    }
    bool general = program->general_instructions() > 0;
    straight = straight || !general;
    if (general && way.general != General::Always) continue;  // has had its turn
    runtime::ModelOptions model;
    model.isa = way.isa;
    model.threads = way.threads;
    counts.begin_run();
    NativeRun run(*program, given[0].params, model);
    for (const Expected& e : expected) {
      std::string wrong =
          compare(way.name, e, run.run(e.given.inputs), way.passes || !general, !general, counts);
      if (!wrong.empty()) return wrong + (std::getenv("AXON_SHOW") ? show(*program) : "");
    }
  }
  counts.straight += straight ? 1 : 0;
  return "";
}

}  // namespace axon::fuzz
