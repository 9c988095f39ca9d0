// The state of one run of plan(): phases share the program, its symbols, weights and states.
#pragma once

#include <string>
#include <vector>

#include "opt/binding_time.h"
#include "opt/roles.h"
#include "plan/context.h"
#include "plan/lower.h"
#include "plan/plan.h"

namespace axon::plan {

class Planner {
 public:
  Planner(const graph::Graph& graph, TypeTable& types, const opt::Answers& answers,
          const PlanOptions& options, DiagSink& sink);
  // Nothing after an error. Parameters that are missing or wrong end only the phase that reads
  // them, so that the others name theirs too.
  std::optional<runtime::Program> run();
  // Whether there is a phase for each choice of optional inputs.
  bool has_choices() const {
    return options_.given.empty() && !roles_.cached() && !roles_.encoder && roles_.padding() < 0 &&
           !extra_inputs().empty();
  }

 private:
  enum class Kind : uint8_t { Start, Extend, Score };
  struct Call {
    Kind kind = Kind::Score;
    bool masked = false;
    uint32_t extras = 0;  // which optional inputs beside the mask are given, by their order
    bool exact = false;   // the inputs are those of PlanOptions::given
    bool sized = false;   // the capacity is one of them
    runtime::Phase phase;
    std::vector<opt::TreeId> inputs;
    std::vector<SymbolId> free;  // integers that the caller gives
    std::vector<DimId> sizes;    // axes of the inputs
    std::vector<std::pair<std::string, graph::ValueId>> traced;
    // Tensors of the encoder's part that this call reads, and the states they are in.
    std::vector<std::pair<graph::ValueId, runtime::StateId>> encoded;
  };
  // The encoder's part of calls with and without padding: its text and the states it fills.
  struct Encoder {
    std::string text;
    std::vector<runtime::StateId> states;
  };
  // A place of the cache tree that holds a tensor, and one that holds a length.
  struct StatePlace {
    std::string place;
    runtime::StateId state;
  };
  struct ScalarPlace {
    std::string place;
    int32_t scalar = -1;
  };

  // planner.cc
  bool plan_phases();
  bool plan_phase(Kind kind, bool masked, uint32_t extras = 0, bool exact = false);
  bool plan_extras();
  bool plan_call();
  bool is_extra(size_t input) const;
  bool is_given(size_t input) const;
  // Whether a given name is that input: masks have two names.
  static bool same_input(std::string_view given, std::string_view input);
  std::vector<size_t> extra_inputs() const;
  bool lower_phase(Call& call, const opt::Specialised& flat);
  void add_states(Call& call, const opt::Specialised& flat, LowerRequest& request);
  void add_checks(Call& call, const opt::Specialised& flat);
  bool check_outputs(const std::vector<opt::TreeId>& outputs, const std::vector<NameId>& names);
  std::string text_of(NameId name) const { return std::string(context_.names.text(name)); }
  bool fail(std::string_view what, std::string_view why);

  // encode.cc: what the inputs that stay decide alone
  bool split_encoder(Call& call, opt::Specialised& flat);
  bool plan_encoder(const Call& call, const opt::EarlyPart& part);
  bool make_fixed_states(const opt::EarlyPart& part, std::vector<runtime::StateId>& states);

  // inputs.cc: trees for the inputs of MAIN, and the phase's inputs
  bool make_inputs(Call& call);
  bool check_sizes(const Call& call);
  opt::TreeId input_tree(Call& call, size_t index, TypeId type, const std::string& place);
  opt::TreeId tensor_input(Call& call, size_t index, TypeId type, const std::string& place);
  opt::TreeId scalar_input(Call& call, std::string_view place, SymbolId symbol);
  DimId variable(std::string_view name);

  // states.cc: from the cache tree of `start`
  bool make_states(const opt::Specialised& start);
  opt::TreeId cache_input(opt::TreeId tree, const std::string& place);
  bool check_cache(opt::TreeId tree);
  bool add_updates(Call& call, opt::TreeId tree);
  bool varies(DimId dim) const;
  void bound_lengths(const opt::Specialised& flat);

  const graph::Graph& graph_;
  const graph::Module& main_;
  const opt::Answers& answers_;
  const PlanOptions& options_;
  runtime::Program program_;
  Context context_;
  opt::Forest forest_;
  opt::Roles roles_;
  std::vector<DimId> ids_dims_;  // [B,S]
  DimId capacity_, rows_;
  opt::TreeId cache_;  // the cache after `start`
  opt::ParamReads own_reads_;
  opt::ParamReads& reads_;
  std::vector<StatePlace> states_;
  std::vector<ScalarPlace> scalars_;
  std::optional<Encoder> encoders_[2];  // by masked
  std::vector<std::pair<std::vector<DimId>, runtime::StateId>> fixed_states_;
  std::vector<std::pair<DimId, SymbolId>> lengths_;  // value after `start`, its symbol; by scalar
};

}  // namespace axon::plan
