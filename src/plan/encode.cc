// The encoder of a program with a decoder: what inputs that stay decide alone is a phase of its
// own, `encode`, and its results are states that the other phases read.
#include <fmt/format.h>

#include <algorithm>

#include "plan/planner.h"

namespace axon::plan {

// Calls with and without padding share states of one form: a session runs either.
bool Planner::make_fixed_states(const opt::EarlyPart& part, std::vector<runtime::StateId>& states) {
  std::vector<bool> taken(fixed_states_.size());
  const graph::Module& module = part.flat.module();
  for (graph::ValueId v : part.handed) {
    const graph::Value& facts = module.values[v];
    std::vector<DimId> dims = context_.types.dims_of(facts.type);
    size_t found = 0;
    while (found < taken.size() &&
           (taken[found] || fixed_states_[found].first != dims ||
            program_.states[fixed_states_[found].second].dtype != facts.dtype))
      ++found;
    if (found == taken.size()) {
      runtime::State state;
      state.name = fmt::format("encoded.{}", found);
      state.kind = runtime::State::Kind::Fixed;
      state.dtype = facts.dtype;
      state.shape = context_.symbols.exprs(dims);
      auto row = std::find(dims.begin(), dims.end(), ids_dims_[0]);
      if (row == dims.end())
        return fail(fmt::format("what the encoder leaves in `{}`", context_.names.text(facts.name)),
                    "it has no axis for the rows of a batch");
      state.row_axis = static_cast<int32_t>(row - dims.begin());
      fixed_states_.emplace_back(std::move(dims), program_.states.add(std::move(state)));
      taken.push_back(false);
    }
    taken[found] = true;
    states.push_back(fixed_states_[found].second);
  }
  return true;
}

bool Planner::plan_encoder(const Call& call, const opt::EarlyPart& part) {
  Encoder made;
  made.text = part.text;
  if (!make_fixed_states(part, made.states)) return false;
  Call own;
  own.phase.name = "encode";
  own.phase.masked = call.masked;
  LowerRequest request;
  request.module = &part.flat.module();
  request.loops = &part.flat.loops;
  for (const runtime::Input& input : call.phase.inputs) {
    for (const opt::FlatInput& flat : part.flat.inputs) {
      if (input.name != context_.names.text(flat.name)) continue;
      request.inputs.emplace_back(flat.value, static_cast<int32_t>(own.phase.inputs.size()));
      own.phase.inputs.push_back(input);
    }
  }
  for (size_t i = 0; i < part.handed.size(); ++i)
    request.states.push_back({made.states[i], {}, part.handed[i]});
  add_checks(own, part.flat);
  if (!Lowering(context_, request, own.phase).run()) return false;
  program_.phases.push_back(std::move(own.phase));
  encoders_[call.masked] = std::move(made);
  return true;
}

// Leaves in `flat` what the call does besides, and plans the encoder where it is not there yet.
bool Planner::split_encoder(Call& call, opt::Specialised& flat) {
  std::vector<bool> stays;
  for (size_t i = 0; i < main_.inputs.size(); ++i)
    stays.push_back(roles_.stays(static_cast<int>(i)));
  opt::EarlyPart part = opt::split_early(flat, context_.types, stays);
  std::optional<Encoder>& encoder = encoders_[call.masked];
  if (!encoder && !plan_encoder(call, part)) return false;
  if (encoder->text != part.text)
    return fail("calls with a cache", "what they take from the encoder changes from call to call");
  for (size_t i = 0; i < part.handed.size(); ++i)
    call.encoded.emplace_back(part.handed[i], encoder->states[i]);
  std::erase_if(call.phase.inputs, [&](const runtime::Input& input) {
    return std::none_of(flat.inputs.begin(), flat.inputs.end(),
                        [&](const opt::FlatInput& own) {
                          return input.name == context_.names.text(own.name);
                        }) &&
           !input.is_scalar;
  });
  return true;
}

}  // namespace axon::plan
