// `axon verify`: a checkpoint's program, native and emitted, compared with Transformers.
#include "cli/model_setup.h"
#include "cli/output.h"
#include "cli/python.h"
#include "cli/report.h"
#include "cli/signals.h"
#include "cli/verbs.h"
#include "support/file.h"
#include "support/text.h"

namespace axon::cli {
namespace {

Error usage(std::string message, std::string hint) {
  return {"USE-OPTION", std::move(message), {}, -1, std::move(hint)};
}

// The scripts report why they cannot begin in three lines: code, message, way out.
std::optional<Error> read_refusal(const std::string& path) {
  if (!file_exists(path)) return {};
  auto text = read_file(path);
  if (!text) return text.error();
  std::vector<std::string_view> lines = split(*text, '\n');
  lines.resize(3);
  return Error{std::string(lines[0]), std::string(lines[1]), {}, -1, std::string(lines[2])};
}

Result<void> check_options(const VerifyOptions& verify) {
  if (verify.model.empty() == verify.tiny.empty())
    return usage("`verify` takes a checkpoint, or a family with `--tiny`, and one of them",
                 "`axon verify DIR` or `axon verify --tiny llama`");
  if (!verify.keep.empty() && verify.tiny.empty()) return usage("`--keep` goes with `--tiny`", {});
  if (!verify.prompt.empty() && !verify.tiny.empty())
    return usage("`-p` goes with a checkpoint", "tiny ones have no words: use --prompt-ids");
  return {};
}

// What the scripts are told of the checkpoint. Its files and program are looked at first, so that
// what is wrong with them is said as other verbs do.
Result<void> add_model(const Options& options, std::vector<std::string>& words) {
  const VerifyOptions& verify = options.verify;
  std::string ids = verify.prompt_ids;
  if (!verify.model.empty()) {
    AXON_TRY(formats::Checkpoint checkpoint, formats::open_checkpoint(verify.model));
    if (checkpoint.kind != formats::CheckpointKind::Directory || checkpoint.gguf)
      return Error{"USE-VALUE",
                   "`" + verify.model + "` is no directory that Transformers reads",
                   {},
                   -1,
                   "give one with config.json and safetensors files"};
    AXON_TRY_VOID(driver::find_program(request_of(options.model), &checkpoint));
    if (!verify.prompt.empty()) {
      AXON_TRY(text::Tokenizer tokenizer, make_tokenizer(checkpoint));
      AXON_TRY(std::vector<int32_t> found,
               tokenizer.encode(verify.prompt, text::SpecialTokens::Add));
      std::vector<std::string> parts;
      for (int32_t id : found) parts.push_back(std::to_string(id));
      ids = join(parts, ",");
    }
    words.push_back(checkpoint.path);
  }
  for (std::string_view part : split(ids, ';')) {
    if (!ids.empty()) AXON_TRY_VOID(parse_ids(std::string(part), "--prompt-ids"));
  }
  if (!ids.empty()) words.insert(words.end(), {"--prompt-ids", ids});
  return {};
}

Result<int> run_scripts(const Options& options, std::vector<std::string> model,
                        const std::string& python) {
  const VerifyOptions& verify = options.verify;
  AXON_TRY(ScratchFolder scratch, ScratchFolder::create());
  AXON_TRY_VOID(unpack(embedded::verify(), scratch.path()));
  const std::string refusal = path_join(scratch.path(), "refusal");
  std::vector<std::string> words{python,
                                 "-B",
                                 scratch.path(),
                                 "--axon",
                                 real_path("/proc/self/exe"),
                                 "--error",
                                 refusal,
                                 "--tokens",
                                 std::to_string(verify.tokens),
                                 "--targets",
                                 join(verify.targets, ",")};
  words.insert(words.end(), model.begin(), model.end());
  if (!verify.tiny.empty()) words.insert(words.end(), {"--tiny", verify.tiny});
  if (!verify.keep.empty()) words.insert(words.end(), {"--keep", verify.keep});
  if (!options.model.program.empty())
    words.push_back("--option=--program=" + options.model.program);
  if (!options.model.main.empty()) words.push_back("--option=--main=" + options.model.main);
  for (const std::string& name : options.model.overlays)
    words.push_back("--option=--overlay=" + name);
  if (verify.trace) words.push_back("--trace");
  if (verify.float64) words.push_back("--float64");
  if (options.common.json) words.push_back("--json");
  if (options.common.quiet) words.push_back("--quiet");
  AXON_TRY(int status, run_child(words));
  if (interrupt_status() != 0) return Error{"RUN-INTERRUPTED", "interrupted", {}, -1, {}};
  if (auto refused = read_refusal(refusal)) return *refused;
  return status;
}

}  // namespace

int verb_verify(const Options& options) {
  std::vector<std::string> model;
  auto status = [&]() -> Result<int> {
    AXON_TRY_VOID(check_options(options.verify));
    AXON_TRY_VOID(add_model(options, model));
    AXON_TRY(std::string python, find_python(options.verify.python));
    return run_scripts(options, std::move(model), python);
  }();
  if (!status) return report_error(status.error(), options.common);
  return *status == 0 || *status == 1 ? *status : 70;
}

}  // namespace axon::cli
