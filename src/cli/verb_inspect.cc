// `axon inspect` and `axon list`: what checkpoints hold, from their headers.
#include <dirent.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>

#include "cli/json.h"
#include "cli/model_setup.h"
#include "cli/output.h"
#include "cli/report.h"
#include "cli/verbs.h"
#include "support/file.h"
#include "support/text.h"

namespace axon::cli {
namespace {

std::string show_shape(const std::vector<int64_t>& shape) {
  std::vector<std::string> parts;
  for (int64_t extent : shape) parts.push_back(std::to_string(extent));
  return "[" + join(parts, ",") + "]";
}

int64_t stored_bytes(const model::TensorInfo& t) {
  int64_t count = 1;
  for (int64_t extent : t.shape) count *= extent;
  const StorageInfo& info = storage_info(t.storage);
  return count / info.block * info.block_bytes;
}

std::string show_bytes(int64_t bytes) {
  if (bytes >= int64_t{1} << 30)
    return fmt::format("{:.2f} GiB", static_cast<double>(bytes) / (1 << 30));
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
}

InspectReport inspect(const Options& options, const formats::Checkpoint& checkpoint) {
  InspectReport r;
  r.model = checkpoint.path;
  r.kind = checkpoint.kind == formats::CheckpointKind::Gguf ? "gguf" : "safetensors";
  r.architectures = checkpoint.architectures;
  r.notes = checkpoint.notes;
  r.config = checkpoint.config.show();
  r.eos_ids = checkpoint.generation.eos_ids;
  r.chat_template = !checkpoint.chat_templates.empty();
  auto program = driver::find_program(request_of(options.model), &checkpoint);
  r.program = program ? program->name : "(none fits)";
  r.task = program ? program->task : "";
  auto tokenizer = make_tokenizer(checkpoint);
  r.tokenizer =
      tokenizer ? fmt::format("{} tokens", tokenizer->end_id()) : tokenizer.error().message;
  for (const model::TensorInfo& t : checkpoint.params->index().tensors()) {
    int64_t count = 1;
    for (int64_t extent : t.shape) count *= extent;
    r.parameters += count;
    r.bytes += stored_bytes(t);
    r.tensors.push_back({t.name, std::string(storage_info(t.storage).name), t.shape});
  }
  return r;
}

std::string show(const InspectReport& r, bool verbose) {
  std::string out = fmt::format(
      "model          {}\nkind           {}\narchitectures  {}\nprogram        {}\ntask           "
      "{}\n"
      "tokenizer      {}\nchat template  {}\nparameters     {}\nweights        {}\n",
      r.model, r.kind, join(r.architectures, ", "), r.program, r.task, r.tokenizer,
      r.chat_template ? "yes" : "no", r.parameters, show_bytes(r.bytes));
  for (const std::string& text : r.notes) out += "note           " + text + "\n";
  out += "config         " + r.config + "\n";
  size_t shown = verbose ? r.tensors.size() : std::min<size_t>(r.tensors.size(), 12);
  for (size_t i = 0; i < shown; ++i) {
    out += fmt::format("  {:<60} {:<6} {}\n", r.tensors[i].name, r.tensors[i].storage,
                       show_shape(r.tensors[i].shape));
  }
  if (shown < r.tensors.size())
    out += fmt::format("  … {} more tensors (-v lists them)\n", r.tensors.size() - shown);
  return out;
}

std::vector<std::string> entries(const std::string& folder) {
  std::vector<std::string> out;
  DIR* dir = ::opendir(folder.c_str());
  if (!dir) return out;
  while (const dirent* entry = ::readdir(dir)) {
    std::string name = entry->d_name;
    if (name != "." && name != "..") out.push_back(path_join(folder, name));
  }
  ::closedir(dir);
  std::sort(out.begin(), out.end());
  return out;
}

// Folders of the hub cache, and what lies in the folders of AXON_MODELS.
std::vector<std::string> candidates() {
  std::vector<std::string> out;
  auto env = [](const char* name) {
    const char* v = std::getenv(name);
    return std::string(v ? v : "");
  };
  std::string hub = env("HF_HUB_CACHE");
  if (hub.empty() && !env("HF_HOME").empty()) hub = path_join(env("HF_HOME"), "hub");
  if (hub.empty()) hub = path_join(env("HOME"), ".cache/huggingface/hub");
  for (const std::string& model : entries(hub)) {
    for (const std::string& snapshot : entries(path_join(model, "snapshots")))
      out.push_back(snapshot);
  }
  std::string models = env("AXON_MODELS");
  for (std::string_view folder : split(models, ':')) {
    if (folder.empty()) continue;
    for (const std::string& entry : entries(std::string(folder))) out.push_back(entry);
  }
  return out;
}

}  // namespace

int verb_inspect(const Options& options) {
  auto checkpoint = formats::open_checkpoint(options.model.model);
  if (!checkpoint) return report_error(checkpoint.error(), options.common);
  InspectReport report = inspect(options, *checkpoint);
  put(options.common.json ? inspect_json(report) + "\n" : show(report, options.common.verbose > 0));
  return 0;
}

int verb_list(const Options& options) {
  std::vector<FoundModel> models;
  for (const std::string& path : candidates()) {
    bool maybe = is_directory(path) || ends_with(path, ".gguf") || ends_with(path, ".safetensors");
    if (!maybe) continue;
    auto checkpoint = formats::open_checkpoint(path);
    if (!checkpoint) continue;
    FoundModel found;
    found.path = path;
    found.architectures = join(checkpoint->architectures, ", ");
    auto program = driver::find_program({}, &*checkpoint);
    found.program = program ? program->name : "";
    for (const model::TensorInfo& t : checkpoint->params->index().tensors())
      found.bytes += stored_bytes(t);
    models.push_back(found);
  }
  if (options.common.json) {
    put(list_json(models) + "\n");
    return 0;
  }
  std::string text;
  for (const FoundModel& m : models) {
    text += fmt::format("{:<10} {:>12}  {}\n", m.program.empty() ? "-" : m.program,
                        show_bytes(m.bytes), m.path);
  }
  if (models.empty() && !options.common.quiet)
    note("axon: no checkpoint in the Hugging Face cache or in the folders of AXON_MODELS\n");
  put(text);
  return 0;
}

}  // namespace axon::cli
