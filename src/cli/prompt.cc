// Prompts: from options, files, pipes or chat messages to token ids.
#include "cli/prompt.h"

#include <unistd.h>

#include <ctime>

#include "cli/output.h"
#include "cli/signals.h"
#include "support/file.h"
#include "support/text.h"

namespace axon::cli {
namespace {

int64_t local_seconds() {
  std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  return static_cast<int64_t>(now) + parts.tm_gmtoff;
}

Error utf8_error(const std::string& what, size_t at) {
  return {"USE-UTF8", what + " is not UTF-8", {}, static_cast<int64_t>(at), {}};
}

}  // namespace

Result<std::string> chat_template(const LoadedModel& loaded, const std::string& file, bool tools) {
  if (!file.empty()) return read_file(file);
  const auto& templates = loaded.compiled.checkpoint->chat_templates;
  for (const formats::ChatTemplate& one : templates) {
    if (tools && one.name == "tool_use") return one.text;
  }
  return templates.empty() ? std::string() : templates.front().text;
}

Error no_template(std::string hint) {
  return {"TMPL-MISSING", "the model has no chat template", {}, -1, std::move(hint)};
}

Result<std::string> chat_text(const LoadedModel& loaded, const std::string& source,
                              text::ChatTemplateInput input) {
  input.special_tokens = loaded.compiled.checkpoint->special_tokens;
  input.now = local_seconds();
  AXON_TRY(text::RenderedChat chat, text::render_chat(source, input));
  return chat.text;
}

Result<std::vector<int64_t>> text_ids(const LoadedModel& loaded, const std::string& text,
                                      bool special) {
  size_t bad = find_invalid_utf8(text);
  if (bad != std::string::npos) return utf8_error("the text", bad);
  AXON_TRY(std::vector<int32_t> ids,
           loaded.tokenizer->encode(
               text, special ? text::SpecialTokens::Add : text::SpecialTokens::Omit));
  return std::vector<int64_t>(ids.begin(), ids.end());
}

Result<std::vector<int64_t>> chat_ids(const LoadedModel& loaded, const std::string& source,
                                      const std::vector<text::ChatMessage>& messages,
                                      bool add_generation_prompt) {
  text::ChatTemplateInput input;
  input.messages = messages;
  input.add_generation_prompt = add_generation_prompt;
  AXON_TRY(std::string text, chat_text(loaded, source, std::move(input)));
  return text_ids(loaded, text, false);  // templates write the special tokens themselves
}

Result<Prompt> prompt_of_text(const LoadedModel& loaded, const RunOptions& options,
                              std::string text) {
  Prompt prompt;
  size_t bad = find_invalid_utf8(text);
  if (bad != std::string::npos) return utf8_error("the prompt", bad);
  if (text.empty())
    return Error{"USE-PROMPT", "the prompt is empty", {}, -1, "give text with -p, or pipe it in"};
  AXON_TRY(std::string source, chat_template(loaded, options.chat_template_file));
  prompt.text = text;
  prompt.templated = !options.raw && !source.empty();
  if (prompt.templated) {
    std::vector<text::ChatMessage> messages;
    if (!options.system.empty()) messages.push_back({"system", options.system, {}});
    messages.push_back({"user", std::move(text), {}});
    AXON_TRY(prompt.ids, chat_ids(loaded, source, messages, true));
  } else {
    if (!options.system.empty()) {
      return Error{"TMPL-MISSING",
                   "`--system` needs a chat template, and the model has none",
                   {},
                   -1,
                   "give one with --chat-template FILE"};
    }
    AXON_TRY(prompt.ids, text_ids(loaded, text, true));
  }
  return prompt;
}

Result<std::string> read_given(const std::string& path) {
  if (path != "-") return read_file(path);
  std::string text = read_standard_input();
  if (interrupt_status() != 0) return Error{"RUN-INTERRUPTED", "interrupted", {}, -1, {}};
  return text;
}

Result<Prompt> run_prompt(const LoadedModel& loaded, const RunOptions& options) {
  if (!options.prompt_ids.empty()) {
    Prompt prompt;
    AXON_TRY(prompt.ids, parse_ids(options.prompt_ids, "--prompt-ids"));
    return prompt;
  }
  std::string text = options.prompt;
  bool piped = options.prompt_file.empty() &&
               (text == "-" || (!options.prompt_given && !::isatty(STDIN_FILENO)));
  std::string file = piped ? std::string(1, '-') : options.prompt_file;
  if (!file.empty()) {
    AXON_TRY(text, read_given(file));
  }
  return prompt_of_text(loaded, options, std::move(text));
}

}  // namespace axon::cli
