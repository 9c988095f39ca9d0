// Prompts: from options, files, pipes or chat messages to token ids.
#pragma once

#include <string>
#include <vector>

#include "cli/model_setup.h"
#include "runtime/text/template.h"

namespace axon::cli {

struct Prompt {
  std::string text;  // as given
  std::vector<int64_t> ids;
  bool templated = false;
};

// The checkpoint's chat template, or the file's; empty when there is none. With tools it is the one
// for their use, where the checkpoint has one.
Result<std::string> chat_template(const LoadedModel& loaded, const std::string& file,
                                  bool tools = false);
Error no_template(std::string hint);  // TMPL-MISSING
// The text of a chat as the template writes it. Errors: TMPL-*.
Result<std::string> chat_text(const LoadedModel& loaded, const std::string& source,
                              text::ChatTemplateInput input);
// Ids of a rendered chat. Errors: TMPL-*, TOK-*.
Result<std::vector<int64_t>> chat_ids(const LoadedModel& loaded, const std::string& source,
                                      const std::vector<text::ChatMessage>& messages,
                                      bool add_generation_prompt);
Result<std::vector<int64_t>> text_ids(const LoadedModel& loaded, const std::string& text,
                                      bool special);
// What a file of texts holds; `-` is standard input. Errors: FILE-READ, RUN-INTERRUPTED.
Result<std::string> read_given(const std::string& path);
// The prompt of `run`: from the option, a file, a pipe, or ids.
Result<Prompt> run_prompt(const LoadedModel& loaded, const RunOptions& options);
// One given text as `run` would take it (template, system message).
Result<Prompt> prompt_of_text(const LoadedModel& loaded, const RunOptions& options,
                              std::string text);

}  // namespace axon::cli
