// Compares what a program reads with the headers of a checkpoint.
#include "driver/check.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

#include "model/buffers.h"
#include "model/name_groups.h"
#include "plan/plan.h"
#include "support/text.h"

namespace axon::driver {
namespace {

using Outcome = opt::ParamRead::Outcome;

// Stored tensors that serve a key.
void add_stored(const model::Resolved& resolved, std::vector<std::string>& names) {
  if (resolved.kind == model::Resolved::Kind::Exact) names.push_back(resolved.name);
  for (const model::Resolved& part : resolved.parts) add_stored(part, names);
}

void add_ignored(const model::ConfigValue& map, const std::string& prefix,
                 const std::set<std::string>& asked, CheckReport& report) {
  for (const auto& [name, value] : map.members) {
    std::string key = prefix + name;
    if (asked.count(key)) continue;
    auto inside = asked.lower_bound(key + ".");
    if (inside == asked.end() || !starts_with(*inside, key + "."))
      report.config_ignored.push_back(key);
    else if (value.kind == model::ConfigValue::Kind::Map)
      add_ignored(value, key + ".", asked, report);
  }
}

void add_config(const sema::Materialized& program, const model::ConfigValue& config,
                CheckReport& report) {
  std::set<std::string> asked;
  for (const sema::ConfigRead& read : program.config_reads) {
    if (!asked.insert(read.key).second) continue;
    if (read.outcome == sema::ConfigRead::Outcome::Read)
      report.config_read.emplace_back(read.key, read.value);
    else if (read.outcome == sema::ConfigRead::Outcome::Defaulted)
      report.config_defaulted.push_back(read.key);
    else
      report.config_missing.push_back(read.key);
  }
  add_ignored(config, "", asked, report);
}

// Stored name → call → reads.
using ReadCounts = std::map<std::string, std::map<int32_t, int>>;

ReadCounts count_reads(const opt::ParamReads& reads, const model::ParamIndex& params) {
  ReadCounts counts;
  for (const opt::ParamRead& read : reads.all) {
    std::optional<model::Resolved> resolved = params.resolve(read.key);
    std::vector<std::string> names;
    if (resolved) add_stored(*resolved, names);
    for (const std::string& name : names) ++counts[name][read.call];
  }
  return counts;
}

void add_tensors(const opt::ParamReads& reads, const model::ParamIndex& params,
                 CheckReport& report) {
  std::unordered_set<std::string_view> named;
  for (const opt::ParamRead& read : reads.all) {
    if (!read.fails() || !named.insert(read.key).second) continue;
    (read.outcome == Outcome::Missing ? report.missing : report.misfit).push_back(read.key);
  }
  const ReadCounts counts = count_reads(reads, params);
  for (const model::TensorInfo& tensor : params.tensors()) {
    auto found = counts.find(tensor.name);
    if (found == counts.end()) continue;
    report.read.push_back(tensor.name);
    int most = 0;
    for (const auto& [call, count] : found->second) most = std::max(most, count);
    if (most > 1) report.tied.emplace_back(tensor.name, most);
  }
  if (!reads.stopped) report.extra = unread_tensors(reads, params);
  report.compared = true;
  report.complete = !reads.stopped;
}

// Names in groups, with how many a group has.
std::string list_of(const std::vector<std::string>& names) {
  std::vector<std::string> out;
  for (const model::NameGroup& group : model::group_names(names)) {
    bool several = group.names.size() > 1;
    out.push_back(group.text +
                  (several ? " (" + std::to_string(group.names.size()) + " tensors)" : ""));
  }
  return join(out, ", ");
}

// Keys that the configuration lacks, with what it has under a name that is near and nothing reads.
std::string lacking(const std::vector<std::string>& keys, const std::vector<std::string>& ignored) {
  std::vector<std::string> out;
  for (const std::string& key : keys) {
    out.push_back(key);
    for (const std::string& near : closest(key, ignored, 1))
      out.back() += " (did you mean `" + near + "`?)";
  }
  return join(out, ", ");
}

}  // namespace

std::vector<std::string> unread_tensors(const opt::ParamReads& reads,
                                        const model::ParamIndex& params) {
  std::unordered_set<std::string_view> asked;
  for (const opt::ParamRead& read : reads.all) asked.insert(read.key);
  std::vector<std::string> out;
  for (const model::TensorInfo& tensor : params.tensors()) {
    if (!asked.count(tensor.name)) out.push_back(tensor.name);
  }
  if (out.empty()) return out;
  const ReadCounts counts = count_reads(reads, params);  // some serve keys of other names
  std::erase_if(out, [&](const std::string& name) { return counts.count(name) != 0; });
  return out;
}

std::string unread_warning(const opt::ParamReads& reads, const model::ParamIndex& params) {
  constexpr size_t kShown = 3;
  // Which tensors it reads is not known before it runs; or it is no model of this checkpoint.
  if (reads.stopped || reads.all.empty()) return {};
  std::vector<std::string> names = unread_tensors(reads, params);
  std::erase_if(names, [&](const std::string& name) {
    const model::TensorInfo* tensor = params.find(name);
    return tensor && model::is_saved_buffer(*tensor);
  });
  if (names.empty()) return {};
  std::vector<std::string> shown;
  for (const model::NameGroup& group : model::group_names(names)) {
    shown.push_back(group.text);
    if (shown.size() == kShown) break;
  }
  const size_t groups = model::group_names(names).size();
  std::string text = format_message(diag_info(Diag::WParamExtra).format, {join(shown, "`, `")});
  if (groups > kShown)
    text += " and others; `axon check` lists all " + std::to_string(names.size());
  return text;
}

CheckReport check_checkpoint(Frontend& frontend, const formats::Checkpoint& checkpoint,
                             const ModelRequest& request) {
  CheckReport report;
  if (frontend.materialized) add_config(*frontend.materialized, checkpoint.config, report);
  if (!frontend.ok() || !frontend.graph) return report;
  const model::ParamIndex& params = checkpoint.params->index();
  opt::ParamReads reads;
  plan_model(frontend, checkpoint, request, &reads);
  bool other_error = frontend.session->sink.has_errors() && !reads.fails();
  reads.stopped |= other_error;
  add_tensors(reads, params, report);
  if (!request.strict) return report;
  for (const model::NameGroup& group : model::group_names(report.extra))
    frontend.session->sink.report(Diag::WParamExtra, {}, {group.text});
  return report;
}

std::string show(const CheckReport& report) {
  std::vector<std::string> read, tied;
  for (const auto& [key, value] : report.config_read)
    read.push_back(value.empty() ? key : key + " = " + value);
  for (const auto& [name, count] : report.tied)
    tied.push_back(name + " (read " + std::to_string(count) + " times)");
  std::string out;
  auto line = [&](std::string_view title, const std::string& text) {
    out += title;
    out += text.empty() ? "none\n" : text + "\n";
  };
  line("config read:      ", join(read, ", "));
  line("config defaulted: ", lacking(report.config_defaulted, report.config_ignored));
  if (!report.config_missing.empty())
    line("config missing:   ", lacking(report.config_missing, report.config_ignored));
  line("config ignored:   ", join(report.config_ignored, ", "));
  if (!report.compared) return out;
  line("tensors read:     ", std::to_string(report.read.size()));
  line("tensors missing:  ", list_of(report.missing));
  line("tensors misfit:   ", list_of(report.misfit));
  line("tensors tied:     ", join(tied, ", "));
  line("tensors extra:    ",
       report.complete ? list_of(report.extra) : "not known: the search ended early");
  return out;
}

}  // namespace axon::driver
