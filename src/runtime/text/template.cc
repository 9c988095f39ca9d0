// Renders chat templates: prepares the source and the variables, then runs.
#include "runtime/text/template.h"

#include <utf8proc.h>

#include "runtime/text/template_eval.h"
#include "support/text.h"

namespace axon::text {
namespace tmpl {

// `title` follows Python (a letter after a non-letter), `f` the filter (after blanks and brackets).
std::string change_case(const std::string& text, char how) {
  std::string out;
  bool start = true;
  for (size_t pos = 0; pos < text.size();) {
    int32_t c = static_cast<int32_t>(next_code_point(text, pos));
    bool upper = how == 'u' || (how != 'l' && start);
    if (c == 0xDF && upper) {
      out += how == 'u' ? "SS" : "Ss";  // the one common letter whose upper case is two letters
    } else {
      append_utf8(out, static_cast<uint32_t>(upper ? utf8proc_toupper(c) : utf8proc_tolower(c)));
    }
    bool letter = utf8proc_toupper(c) != c || utf8proc_tolower(c) != c;
    if (how == 'c') start = false;
    if (how == 't') start = !letter;
    if (how == 'f')
      start = c == ' ' || (c >= '\t' && c <= '\r') || c == '-' || c == '(' || c == '{' ||
              c == '[' || c == '<';
  }
  return out;
}

}  // namespace tmpl

namespace {

using tmpl::Heap;
using tmpl::Kind;
using tmpl::Value;

// Line ends become `\n`, and one newline at the end is dropped.
std::string prepare_source(const std::string& source) {
  std::string out;
  out.reserve(source.size());
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r') {
      if (i + 1 < source.size() && source[i + 1] == '\n') continue;
      out += '\n';
    } else {
      out += source[i];
    }
  }
  if (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

Result<Value> message_value(Heap& heap, const ChatMessage& message) {
  Value dict = heap.dict({});
  heap.set(dict, "role", heap.string(message.role));
  if (message.content_json.empty()) {
    heap.set(dict, "content", heap.string(message.content));
  } else {
    AXON_TRY(Value content, tmpl::from_json(heap, message.content_json));
    heap.set(dict, "content", content);
  }
  if (!message.extra_json.empty()) {
    AXON_TRY(Value extra, tmpl::from_json(heap, message.extra_json));
    if (extra.kind != Kind::Dict)
      return Error{"FILE-JSON", "a message's further keys are not an object", {}, -1, {}};
    for (const auto& [key, value] : tmpl::Pairs(heap.pairs(extra)))
      heap.set(dict, heap.text(key), value);
  }
  return dict;
}

Result<void> set_json(tmpl::Evaluator& run, const char* name, const std::string& json) {
  if (json.empty()) {
    run.set_global(name, Value{Kind::None});
    return {};
  }
  AXON_TRY(Value value, tmpl::from_json(run.heap(), json));
  run.set_global(name, value);
  return {};
}

Result<void> set_variables(tmpl::Evaluator& run, const ChatTemplateInput& input) {
  Heap& heap = run.heap();
  tmpl::Items messages;
  for (const ChatMessage& message : input.messages) {
    AXON_TRY(Value value, message_value(heap, message));
    messages.push_back(value);
  }
  for (const auto& [name, text] : input.special_tokens) run.set_global(name, heap.string(text));
  run.set_global("messages", heap.list(std::move(messages)));
  AXON_TRY_VOID(set_json(run, "tools", input.tools_json));
  AXON_TRY_VOID(set_json(run, "documents", input.documents_json));
  run.set_global("add_generation_prompt",
                 heap.boolean(input.add_generation_prompt && !input.continue_final_message));
  if (!input.extra_json.empty()) {
    AXON_TRY(Value extra, tmpl::from_json(heap, input.extra_json));
    if (extra.kind != Kind::Dict)
      return Error{"FILE-JSON", "template variables are not an object", {}, -1, {}};
    for (const auto& [key, value] : heap.pairs(extra)) run.set_global(heap.text(key), value);
  }
  return {};
}

// Cuts the text after the last message's content, so that the model goes on with it.
Result<void> cut_after_final(RenderedChat& chat, const ChatTemplateInput& input) {
  std::string content = input.messages.empty() ? std::string() : input.messages.back().content;
  std::string stripped = tmpl::strip_text(content, nullptr, true, true);
  size_t found = stripped.empty() ? std::string::npos : chat.text.rfind(stripped);
  if (found == std::string::npos) {
    return Error{"TMPL-RUN",
                 "the last message is not part of the rendered chat and cannot be continued",
                 {},
                 -1,
                 {}};
  }
  // A template that keeps the content as written keeps its trailing blanks too.
  bool as_written = chat.text.compare(found, content.size() - content.find(stripped), content,
                                      content.find(stripped)) == 0;
  size_t end = found + (as_written ? content.size() - content.find(stripped) : stripped.size());
  chat.text.resize(end);
  while (!chat.generated.empty() && chat.generated.back().first >= end) chat.generated.pop_back();
  if (!chat.generated.empty())
    chat.generated.back().second = std::min(chat.generated.back().second, end);
  return {};
}

}  // namespace

Result<RenderedChat> render_chat(const std::string& source, const ChatTemplateInput& input) {
  std::string text = prepare_source(source);
  AXON_TRY(tmpl::Template parsed, tmpl::parse_template(text));
  Heap heap;
  tmpl::Evaluator run(parsed, text, heap, input.limits, input.now);
  AXON_TRY_VOID(set_variables(run, input));
  AXON_TRY(RenderedChat chat, run.run());
  if (input.continue_final_message) AXON_TRY_VOID(cut_after_final(chat, input));
  return chat;
}

Result<std::string> render_template(const std::string& source, const std::string& variables_json,
                                    int64_t now, const TemplateLimits& limits) {
  ChatTemplateInput input;
  std::string text = prepare_source(source);
  AXON_TRY(tmpl::Template parsed, tmpl::parse_template(text));
  Heap heap;
  tmpl::Evaluator run(parsed, text, heap, limits, now);
  if (!variables_json.empty()) {
    AXON_TRY(Value variables, tmpl::from_json(heap, variables_json));
    for (const auto& [key, value] : heap.pairs(variables)) run.set_global(heap.text(key), value);
  }
  AXON_TRY(RenderedChat rendered, run.run());
  return rendered.text;
}

Result<void> check_template(const std::string& source) {
  std::string text = prepare_source(source);
  auto parsed = tmpl::parse_template(text);
  if (!parsed) return parsed.error();
  return {};
}

}  // namespace axon::text
