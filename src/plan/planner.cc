// The phases of a program.
#include "plan/planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "opt/fuse.h"
#include "plan/general.h"
#include "plan/trace.h"
#include "support/check.h"
#include "support/text.h"

namespace axon::plan {
namespace {

constexpr size_t kMostExtras = 3;

}  // namespace

Planner::Planner(const graph::Graph& graph, TypeTable& types, const opt::Answers& answers,
                 const PlanOptions& options, DiagSink& sink)
    : graph_(graph),
      main_(graph[graph.main]),
      answers_(answers),
      options_(options),
      context_(program_, types, answers, sink),
      roles_(opt::find_roles(main_, types.dims().names())),
      reads_(options.reads ? *options.reads : own_reads_) {
  context_.files = options.files;
}

bool Planner::fail(std::string_view what, std::string_view why) {
  context_.sink.report(Diag::PlanUnsupported, main_.span, {what, why});
  return false;
}

namespace {

void name_program(runtime::Program& program, const graph::Graph& graph, const Interner& names) {
  program.model = std::string(names.text(graph[graph.main].name));
  for (const graph::Pragma& pragma : graph.pragmas) {
    if (names.text(pragma.name) != "task" && names.text(pragma.name) != "TASK") continue;
    program.task = pragma.value;
    std::erase_if(program.task, [](char c) { return c == '"' || c == '[' || c == ']'; });
    program.task = program.task.substr(0, program.task.find(','));
  }
}

}  // namespace

std::optional<runtime::Program> Planner::run() {
  name_program(program_, graph_, context_.names);
  size_t ids = static_cast<size_t>(roles_.ids < 0 ? 0 : roles_.ids);
  if (!main_.inputs.empty()) {
    ids_dims_ =
        context_.types.dims_of(context_.types.strip_optional(main_.values[main_.inputs[ids]].type));
  }
  bool sized = roles_.cached() || roles_.padding() >= 0 || roles_.capacity >= 0;
  if (ids_dims_.size() < 2 && sized)
    return fail("this program", "its first input has fewer than two axes"), std::nullopt;
  ids_dims_.resize(std::max<size_t>(ids_dims_.size(), 2));  // invalid sizes equal no other
  if (roles_.capacity >= 0) capacity_ = variable("C");
  rows_ = variable("R");
  bool planned = plan_phases();
  opt::report_reads(reads_, answers_.params, context_.sink);
  if (!planned || reads_.fails()) return std::nullopt;
  return std::move(program_);
}

bool Planner::plan_phases() {
  bool cached = roles_.cached(), encodes = roles_.encoder;
  for (int masked = 0; masked < 2; ++masked) {
    if (masked ? !options_.masked || roles_.padding() < 0 : !options_.unmasked) continue;
    if ((cached || encodes) && (options_.start || options_.extend) &&
        !plan_phase(Kind::Start, masked))
      return false;
    // What went wrong before this is known; there is no cache to go on from.
    if (cached && options_.extend && !reads_.fails() && !plan_phase(Kind::Extend, masked))
      return false;
    bool score = (!cached && !encodes) || options_.score;
    score = score && options_.given.empty();
    if (score && !plan_phase(Kind::Score, masked)) return false;
    // Optional inputs such as segment ids are null in the phases above; one more takes them all.
    bool more = score && (!cached || encodes) && masked && !extra_inputs().empty();
    if (more && !plan_phase(Kind::Score, masked, ~0u)) return false;
  }
  if (!options_.given.empty()) return plan_call();
  return cached || encodes || roles_.padding() >= 0 || plan_extras();
}

// Without a mask there is a phase for each choice of optional inputs that are given.
bool Planner::plan_extras() {
  size_t count = extra_inputs().size();
  if (count > kMostExtras) {
    return fail(fmt::format("{} optional inputs", count),
                fmt::format("a straight line is made for each choice of at most {}", kMostExtras));
  }
  for (uint32_t choice = 1; choice < (1u << count); ++choice) {
    if (!plan_phase(Kind::Score, false, choice)) return false;
  }
  return true;
}

// The one call whose inputs are known.
bool Planner::plan_call() {
  for (int role : {roles_.cache, roles_.use_cache}) {
    if (!roles_.cached() || role < 0 || !is_given(static_cast<size_t>(role))) continue;
    NameId name = main_.values[main_.inputs[static_cast<size_t>(role)]].name;
    return fail(fmt::format("input `{}`", text_of(name)), "the cache is the caller's");
  }
  int padding = roles_.padding();
  bool masked =
      padding >= 0 && (is_given(static_cast<size_t>(padding)) ||
                       !main_.values[main_.inputs[static_cast<size_t>(padding)]].optional);
  return plan_phase(Kind::Score, masked, 0, true);
}

bool Planner::same_input(std::string_view given, std::string_view input) {
  auto is_mask = [](std::string_view name) {
    return name == "attn_mask" || name == "attention_mask";
  };
  return given == input || (is_mask(given) && is_mask(input));
}

// Whether the caller names the input or a part of it.
bool Planner::is_given(size_t input) const {
  std::string_view name = context_.names.text(main_.values[main_.inputs[input]].name);
  return std::any_of(options_.given.begin(), options_.given.end(), [&](const auto& given) {
    return same_input(given.first, name) || starts_with(given.first, std::string(name) + ".");
  });
}

// Whether an input is an optional one without a role: not a flag, the mask or part of caching.
bool Planner::is_extra(size_t input) const {
  const graph::Value& value = main_.values[main_.inputs[input]];
  int role = static_cast<int>(input);
  if (role == roles_.ids || role == roles_.padding() || role == roles_.cache ||
      role == roles_.capacity)
    return false;
  return value.optional &&
         context_.types.kind(context_.types.strip_optional(value.type)) != TypeKind::Bool;
}

std::vector<size_t> Planner::extra_inputs() const {
  std::vector<size_t> out;
  for (size_t i = 0; i < main_.inputs.size(); ++i) {
    if (is_extra(i)) out.push_back(i);
  }
  return out;
}

bool Planner::plan_phase(Kind kind, bool masked, uint32_t extras, bool exact) {
  static constexpr const char* kNames[] = {"start", "extend", "score"};
  Call call;
  call.kind = kind;
  call.masked = masked;
  call.extras = extras;
  call.exact = exact;
  call.phase.name = kNames[static_cast<size_t>(kind)];
  call.phase.masked = masked;
  if (!make_inputs(call)) return false;
  opt::SpecialiseOptions options;
  options.classes = options_.classes && !options_.trace;
  options.calls = options_.trace;
  options.reads = &reads_;
  options.free = call.free;
  std::optional<opt::Specialised> flat = opt::specialise(
      graph_, context_.types, forest_, call.inputs, answers_, options, context_.sink);
  if (reads_.fails()) return !reads_.stopped;
  if (!flat) return false;
  if (kind != Kind::Score && roles_.cached()) {
    opt::TreeId cache = flat->outputs[static_cast<size_t>(roles_.new_cache)];
    if (!cache_.valid() && !make_states(*flat)) return false;
    if (!check_cache(cache) || !add_updates(call, cache)) return false;
    if (kind == Kind::Extend) bound_lengths(*flat);
  }
  if (options_.trace) {
    call.traced = trace_scopes(*flat, context_.types, options_.files);
  } else if (options_.optimise) {
    auto lower = [&](SymbolId symbol) { return options.least(context_.dims, symbol); };
    opt::run_fuse(flat->graph, context_.types, opt::FusionSet{}, lower);
  }
  if (!check_outputs(flat->outputs, flat->output_names)) return false;
  if (kind != Kind::Score && roles_.encoder && !split_encoder(call, *flat)) return false;
  add_checks(call, *flat);
  if (!lower_phase(call, *flat)) return false;
  program_.phases.push_back(std::move(call.phase));
  return true;
}

// A straight line ends in tensors; numbers and texts are for general instructions.
bool Planner::check_outputs(const std::vector<opt::TreeId>& outputs,
                            const std::vector<NameId>& names) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (static_cast<int>(i) == roles_.new_cache && roles_.cached()) continue;
    for (const opt::Leaf& leaf : opt::leaves(forest_, outputs[i])) {
      opt::Tree::Kind kind = forest_[leaf.tree].kind;
      if (kind == opt::Tree::Kind::Tensor || kind == opt::Tree::Kind::Null) continue;
      if (kind == opt::Tree::Kind::List || kind == opt::Tree::Kind::Tuple) continue;  // empty
      return fail(fmt::format("result `{}`", text_of(names[i])),
                  fmt::format("it is {}", spelling(kind)));
    }
  }
  return true;
}

namespace {

runtime::EntryCheck::Relation relation_of(opt::DimFact::Relation relation) {
  using From = opt::DimFact::Relation;
  using To = runtime::EntryCheck::Relation;
  switch (relation) {
    case From::Eq:
      return To::Eq;
    case From::Le:
      return To::Le;
    case From::Fits:
      return To::Fits;
    case From::NotZero:
      return To::NotZero;
  }
  AXON_UNREACHABLE("a relation");
}

}  // namespace

void Planner::add_checks(Call& call, const opt::Specialised& flat) {
  for (const opt::DimFact& fact : flat.facts) {
    using Relation = runtime::EntryCheck::Relation;
    runtime::EntryCheck check;
    check.relation = relation_of(fact.relation);
    check.left = context_.symbols.expr(fact.left);
    check.right = context_.symbols.expr(fact.right);
    if (fact.or_one) {  // one of the two differences is 0; quotients in them are rounded before
      runtime::Program& program = context_.program;
      using Kind = runtime::IntExpr::Kind;
      runtime::IntId one = program.make(Kind::Sub, check.left, program.constant(1));
      runtime::IntId other = program.make(Kind::Sub, check.left, check.right);
      check.left = program.make(Kind::Mul, one, other);
      check.right = program.constant(0);
    }
    const std::string left = context_.dims.show(fact.left), right = context_.dims.show(fact.right);
    if (check.relation == Relation::NotZero)
      check.what = fmt::format("`{}` is 0", left);
    else if (check.relation == Relation::Fits && left == "0")
      check.what = fmt::format("`0` <= `{}`, a size,", right);
    else
      check.what =
          fmt::format("`{}` {} `{}`{}", left, check.relation == Relation::Eq ? "==" : "<=", right,
                      fact.or_one ? ", or 1" : "");
    if (fact.tensor.valid()) check.what += fmt::format(", a size of `{}`,", text_of(fact.tensor));
    if (options_.files && fact.span.valid()) {
      const Span place = program_place(fact.span, fact.calls, *options_.files);
      check.what += fmt::format(" at {}:{}", options_.files->path(place.file),
                                options_.files->line_column(place.file, place.begin).line);
    }
    call.phase.checks.push_back(std::move(check));
  }
}

// States before and after the call: those of the cache, and what the encoder left.
void Planner::add_states(Call& call, const opt::Specialised& flat, LowerRequest& request) {
  for (auto [value, state] : call.encoded) request.states.push_back({state, value, value});
  std::string cache_name =
      roles_.cache < 0
          ? ""
          : text_of(main_.values[main_.inputs[static_cast<size_t>(roles_.cache)]].name);
  std::unordered_map<NameId, graph::ValueId, IdHash> before;
  for (const opt::FlatInput& input : flat.inputs) {
    if (static_cast<int>(input.input) == roles_.cache) before.emplace(input.name, input.value);
  }
  if (call.kind == Kind::Score || !roles_.cached()) return;
  // Places of states are leaves of the cache tree in order.
  size_t next = 0;
  for (const opt::Leaf& leaf :
       opt::leaves(forest_, flat.outputs[static_cast<size_t>(roles_.new_cache)])) {
    if (forest_[leaf.tree].kind != opt::Tree::Kind::Tensor) continue;
    const StatePlace& place = states_[next++];
    AXON_CHECK(place.place == leaf.place, "states stand at the same places in every phase");
    auto it = before.find(context_.names.intern(cache_name + "." + leaf.place));
    request.states.push_back({place.state, it == before.end() ? graph::ValueId{} : it->second,
                              forest_[leaf.tree].value});
  }
}

bool Planner::lower_phase(Call& call, const opt::Specialised& flat) {
  LowerRequest request;
  request.module = &flat.module();
  request.loops = &flat.loops;
  add_states(call, flat, request);
  for (const opt::FlatInput& input : flat.inputs) {
    if (roles_.cached() && static_cast<int>(input.input) == roles_.cache) continue;
    for (size_t i = 0; i < call.phase.inputs.size(); ++i) {
      if (call.phase.inputs[i].name == context_.names.text(input.name)) {
        request.inputs.emplace_back(input.value, static_cast<int32_t>(i));
      }
    }
  }
  for (size_t i = 0; i < flat.outputs.size(); ++i) {
    if (static_cast<int>(i) == roles_.new_cache && roles_.cached()) continue;
    std::string name = text_of(flat.output_names[i]);
    for (const opt::Leaf& leaf : opt::leaves(forest_, flat.outputs[i])) {
      const opt::Tree& tree = forest_[leaf.tree];
      if (tree.kind != opt::Tree::Kind::Tensor) continue;
      request.outputs.emplace_back(
          leaf.place.empty() ? name : fmt::format("{}.{}", name, leaf.place), tree.value);
      bool head = static_cast<int>(i) == roles_.logits && program_.task == "causal_lm" &&
                  tree.dims.size() == 3 && tree.dims[0] == ids_dims_[0] &&
                  tree.dims[1] == ids_dims_[1];
      if (head) request.head = tree.value;
    }
  }
  for (auto& traced : call.traced) request.outputs.push_back(std::move(traced));
  request.rows = rows_;
  if (request.head.valid()) {
    runtime::Input input;
    input.name = "logit_rows";
    input.shape = context_.symbols.exprs({rows_});
    request.rows_input = static_cast<int32_t>(call.phase.inputs.size());
    call.phase.inputs.push_back(std::move(input));
    call.phase.selects_rows = true;
  }
  return Lowering(context_, request, call.phase).run();
}

namespace {

// One phase that runs MAIN as it is written.
std::optional<runtime::Program> plan_general(const graph::Graph& graph, TypeTable& types,
                                             const opt::Answers& answers,
                                             const PlanOptions& options, std::string note,
                                             DiagSink& sink) {
  runtime::Program program;
  Context context(program, types, answers, sink);
  context.files = options.files;
  name_program(program, graph, types.dims().names());
  runtime::Phase phase;
  phase.name = "call";
  phase.masked = true;
  phase.routine = General(context, graph, answers.config).run();
  if (!phase.routine.valid()) return std::nullopt;
  phase.arena_bytes = program.constant(0);
  if (!note.empty()) phase.notes.push_back("general instructions: " + note);
  program.phases.push_back(std::move(phase));
  return program;
}

}  // namespace

std::optional<runtime::Program> plan(const graph::Graph& graph, TypeTable& types,
                                     const opt::Answers& answers, const PlanOptions& options,
                                     DiagSink& sink) {
  using General = PlanOptions::General;
  auto general = [&](std::string note) {
    if (options.reads) options.reads->stopped = true;  // such programs decide while they run
    return plan_general(graph, types, answers, options, std::move(note), sink);
  };
  if (options.general == General::Always) return general({});
  size_t before = sink.all().size();
  Planner planner(graph, types, answers, options, sink);
  std::optional<runtime::Program> program = planner.run();
  if (program || options.general == General::Never) return program;
  // Of several calls that a plan is for, one without an optional input may be bound to fail.
  const bool several = planner.has_choices();
  std::string note;  // what no straight line can say, if there is nothing else
  for (size_t i = before; i < sink.all().size(); ++i) {
    const Diagnostic& d = sink.all()[i];
    if (sink.severity(d) != Severity::Error) continue;
    if (d.id != Diag::PlanUnsupported && !(several && d.id == Diag::RunNull)) return program;
    if (note.empty()) note = message_of(d);
  }
  if (note.empty()) return program;
  sink.truncate(before);
  return general(std::move(note));
}

}  // namespace axon::plan
