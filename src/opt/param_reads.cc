// Groups failing reads by place and kind, and says what each group lacks.
#include "opt/param_reads.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "model/name_groups.h"
#include "support/text.h"

namespace axon::opt {
namespace {

using Outcome = ParamRead::Outcome;

bool same_place(const ParamRead& a, const ParamRead& b) {
  return a.span == b.span && std::equal(a.notes.begin(), a.notes.end(), b.notes.begin(),
                                        b.notes.end(), [](const DiagNote& x, const DiagNote& y) {
                                          return x.id == y.id && x.span == y.span;
                                        });
}

bool alike(const ParamRead& a, const ParamRead& b) {
  return a.outcome == b.outcome && a.found == b.found && a.wants == b.wants && same_place(a, b);
}

// Stored names that nothing reads: what a missing name may have meant.
std::vector<std::string> unread(const ParamReads& reads, const model::ParamIndex& params) {
  std::set<std::string_view> asked;
  for (const ParamRead& read : reads.all) asked.insert(read.key);
  std::vector<std::string> out;
  for (const model::TensorInfo& tensor : params.tensors()) {
    if (!asked.count(tensor.name)) out.push_back(tensor.name);
  }
  return out;
}

void report_missing(const ParamRead& read, const model::NameGroup& group,
                    const std::vector<std::string>& candidates, DiagSink& sink) {
  Diagnostic& d = sink.report(Diag::RunParam, read.span, {group.text});
  d.notes = read.notes;
  if (!read.wants.empty()) d.note(Note::NoteReadShape, {}, {read.wants});
  std::vector<std::string> near = model::near_names(group.names[0], candidates);
  if (!near.empty()) d.note(Note::NoteDidYouMean, {}, {"`" + join(near, "`, `") + "`"});
}

}  // namespace

bool ParamReads::fails() const {
  return std::any_of(all.begin(), all.end(), [](const ParamRead& r) { return r.fails(); });
}

void report_reads(const ParamReads& reads, const model::ParamIndex* params, DiagSink& sink) {
  std::vector<std::vector<const ParamRead*>> buckets;
  std::vector<std::unordered_set<std::string_view>> known;  // keys of each bucket
  for (const ParamRead& read : reads.all) {
    if (read.outcome == Outcome::Found) continue;
    auto bucket = std::find_if(buckets.begin(), buckets.end(),
                               [&](const auto& b) { return alike(*b[0], read); });
    if (bucket == buckets.end()) {
      bucket = buckets.emplace(buckets.end());
      known.emplace_back();
    }
    if (known[static_cast<size_t>(bucket - buckets.begin())].insert(read.key).second)
      bucket->push_back(&read);
  }
  std::vector<std::string> candidates;
  if (params && !buckets.empty()) candidates = unread(reads, *params);
  for (const auto& bucket : buckets) {
    const ParamRead& first = *bucket[0];
    std::vector<std::string> names;
    for (const ParamRead* read : bucket) names.push_back(read->key);
    for (const model::NameGroup& group : model::group_names(names)) {
      if (first.outcome == Outcome::Missing) {
        report_missing(first, group, candidates, sink);
        continue;
      }
      if (first.outcome == Outcome::NoBias) {
        sink.report(Diag::WBiasMissing, first.span, {group.text}).notes = first.notes;
        continue;
      }
      Diag id = first.outcome == Outcome::Shape ? Diag::RunParamShape : Diag::RunParamDtype;
      sink.report(id, first.span, {group.text, first.found, first.wants}).notes = first.notes;
    }
  }
}

}  // namespace axon::opt
