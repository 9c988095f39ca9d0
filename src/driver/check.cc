// Compares the parameters that a program reads with those of a checkpoint's header.
#include "driver/check.h"

#include <algorithm>
#include <set>

#include "plan/plan.h"
#include "support/text.h"

namespace axon::driver {
namespace {

// Stored names that a weight of the plan reads, with how often.
void count_reads(const runtime::WeightNode& node, std::vector<std::pair<std::string, int>>& reads) {
  if (node.kind == runtime::WeightNode::Kind::Param) {
    auto known = std::find_if(reads.begin(), reads.end(),
                              [&](const auto& r) { return r.first == node.name; });
    if (known == reads.end())
      reads.emplace_back(node.name, 1);
    else
      ++known->second;
  }
  for (const runtime::WeightNode& part : node.parts) count_reads(part, reads);
}

std::string list_of(const std::vector<std::string>& names, size_t limit = 8) {
  std::vector<std::string> shown(
      names.begin(), names.begin() + static_cast<ptrdiff_t>(std::min(limit, names.size())));
  std::string out = join(shown, ", ");
  if (names.size() > limit) out += ", … " + std::to_string(names.size() - limit) + " more";
  return out;
}

void add_config(const Frontend& frontend, const formats::Checkpoint& checkpoint,
                std::string& text) {
  std::vector<std::string> read, defaulted;
  std::set<std::string> asked;
  for (const sema::ConfigRead& r : frontend.materialized->config_reads) {
    if (!asked.insert(r.key).second) continue;
    auto& to = r.outcome == sema::ConfigRead::Outcome::Read ? read : defaulted;
    to.push_back(r.value.empty() ? r.key : r.key + " = " + r.value);
  }
  std::vector<std::string> ignored;
  for (const auto& [key, value] : checkpoint.config.members) {
    bool used = std::any_of(asked.begin(), asked.end(), [&](const std::string& k) {
      return k == key || starts_with(k, key + ".");
    });
    if (!used) ignored.push_back(key);
  }
  text += "config read:      " + list_of(read, 40) + "\n";
  text += "config defaulted: " + list_of(defaulted, 40) + "\n";
  text += "config ignored:   " + list_of(ignored, 40) + "\n";
}

}  // namespace

CheckReport check_checkpoint(Frontend& frontend, const formats::Checkpoint& checkpoint) {
  CheckReport report;
  add_config(frontend, checkpoint, report.text);
  const model::ParamIndex& params = checkpoint.params->index();
  plan::PlanOptions options;
  options.masked = false;
  options.extend = false;
  options.files = &frontend.session->files;
  opt::Answers answers{&params, &checkpoint.config};
  auto program = plan::plan(*frontend.graph, frontend.session->types, answers, options,
                            frontend.session->sink);
  point_at_program(*frontend.session);
  if (!program) return report;
  std::vector<std::pair<std::string, int>> reads;
  for (const runtime::Weight& weight : program->weights) count_reads(weight.source, reads);
  std::vector<std::string> unused, tied;
  for (const auto& [name, count] : reads) {
    if (count > 1) tied.push_back(name);
  }
  for (const model::TensorInfo& tensor : params.tensors()) {
    bool is_read = std::any_of(reads.begin(), reads.end(),
                               [&](const auto& r) { return r.first == tensor.name; });
    if (!is_read) unused.push_back(tensor.name);
  }
  report.read = reads.size();
  report.unused = unused.size();
  report.tied = tied.size();
  report.text += "tensors read:     " + std::to_string(reads.size()) + "\n";
  report.text += "tensors tied:     " + list_of(tied) + "\n";
  report.text += "tensors extra:    " + list_of(unused) + "\n";
  return report;
}

}  // namespace axon::driver
