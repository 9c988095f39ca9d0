// Chat templates: a sandboxed renderer of the Jinja dialect that checkpoints carry. No I/O, no
// attributes of the host; bounded in steps, depth and output. Text is UTF-8, counted in code
// points.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "support/result.h"

namespace axon::text {

struct TemplateLimits {
  int64_t steps = 5'000'000;  // expressions and statements evaluated
  int depth = 200;            // nested calls and blocks
  size_t output = 16u << 20;  // bytes of output, and of values held by the run
};

// What a template sees as a message: a role and a text, or more than that as `json`.
struct ChatMessage {
  std::string role;
  std::string content;
  // When not empty: the whole message as a JSON object, e.g. with tool calls or with a content in
  // parts; used instead of the two above. Keys that are null count as missing.
  std::string json;
};

struct ChatTemplateInput {
  std::vector<ChatMessage> messages;
  std::string tools_json;      // a JSON list, or empty
  std::string documents_json;  // a JSON list, or empty
  bool add_generation_prompt = true;
  bool continue_final_message = false;  // ends behind the last message's content
  std::vector<std::pair<std::string, std::string>> special_tokens;  // bos_token, eos_token, …
  std::string extra_json;  // further variables as a JSON object, or empty
  // The clock of `strftime_now`: seconds since 1970 as local time; injected so that tests repeat.
  int64_t now = 0;
  TemplateLimits limits;
};

struct RenderedChat {
  std::string text;
  // Byte ranges written inside `generation` blocks.
  std::vector<std::pair<size_t, size_t>> generated;
};

// Parses and renders. Errors: TMPL-SYNTAX, TMPL-RUN, TMPL-RAISE (the template called
// raise_exception), TMPL-LIMIT; `offset` is the byte in the template, the message names the line.
Result<RenderedChat> render_chat(const std::string& source, const ChatTemplateInput& input);

// Renders with plain JSON variables (tests, and other templates than chats).
Result<std::string> render_template(const std::string& source, const std::string& variables_json,
                                    int64_t now, const TemplateLimits& limits = {});

// Parses only. Errors: TMPL-SYNTAX.
Result<void> check_template(const std::string& source);

}  // namespace axon::text
