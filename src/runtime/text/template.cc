// Renders chat templates: prepares the source and the variables, then runs.
#include "runtime/text/template.h"

#include <utf8proc.h>

#include <algorithm>

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

// Names that a message's reasoning goes by; templates read the first.
constexpr const char* kReasoning[] = {"reasoning_content", "thinking", "reasoning"};

// A message's reasoning under the names that templates read, whatever name it came by.
Value with_reasoning(Heap& heap, const Value& message) {
  const Value* reasoning = nullptr;
  for (const char* name : kReasoning) {
    if (!reasoning) reasoning = heap.find(message, name);
  }
  if (!reasoning) return message;
  Value said = *reasoning;
  Value out = heap.dict({});
  heap.set(out, "thinking", said);
  for (const auto& [key, value] : tmpl::Pairs(heap.pairs(message)))
    heap.set(out, heap.text(key), value);
  heap.set(out, "reasoning_content", said);
  return out;
}

Result<Value> message_value(Heap& heap, const ChatMessage& message) {
  Value dict = heap.dict({});
  if (message.json.empty()) {
    heap.set(dict, "role", heap.string(message.role));
    heap.set(dict, "content", heap.string(message.content));
    return dict;
  }
  AXON_TRY(Value given, tmpl::from_json(heap, message.json));
  if (given.kind != Kind::Dict) return Error{"FILE-JSON", "a message is not an object", {}, -1, {}};
  for (const auto& [key, value] : tmpl::Pairs(heap.pairs(given))) {
    if (value.kind != Kind::None) heap.set(dict, heap.text(key), value);
  }
  return with_reasoning(heap, dict);
}

Error cannot_continue(std::string why) { return {"TMPL-RUN", std::move(why), {}, -1, {}}; }

// A text that no message holds, put behind the one to be continued. It ends in a blank, which tells
// whether the template strips what it is given.
constexpr std::string_view kHere = "AXON_GOES_ON_BEHIND_THIS__ ";

// Marks the end of the last message's text. Returns the text without the mark.
Result<std::string> mark_final(Heap& heap, const tmpl::Items& messages, const std::string& source) {
  if (messages.empty()) return cannot_continue("there is no message to continue");
  const Value& last = messages.back();
  const Value* content = heap.find(last, "content");
  if (!content) return cannot_continue("the last message has no content to continue");
  if (source.find("content") == std::string::npos)
    return cannot_continue("the template does not read the content of messages");
  auto marked = [&](const std::string& text) { return heap.string(text + std::string(kHere)); };
  if (content->kind == Kind::String) {
    std::string text = heap.text(*content);
    heap.set(last, "content", marked(text));
    return text;
  }
  if (!tmpl::is_sequence(*content)) return cannot_continue("the last message's content is no text");
  const tmpl::Items parts = heap.items(*content);
  for (size_t i = parts.size(); i > 0; --i) {
    const Value* text = parts[i - 1].kind == Kind::Dict ? heap.find(parts[i - 1], "text") : nullptr;
    if (!text || text->kind != Kind::String) continue;
    std::string found = heap.text(*text);
    heap.set(parts[i - 1], "text", marked(found));
    return found;
  }
  return cannot_continue("the last message has no text to continue");
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

// `final_text` is the last message's, where it is to be continued.
Result<void> set_variables(tmpl::Evaluator& run, const ChatTemplateInput& input,
                           const std::string& source, std::string& final_text) {
  Heap& heap = run.heap();
  tmpl::Items messages;
  for (const ChatMessage& message : input.messages) {
    AXON_TRY(Value value, message_value(heap, message));
    messages.push_back(value);
  }
  if (input.continue_final_message) {
    AXON_TRY(final_text, mark_final(heap, messages, source));
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

// Cuts the text at the mark, so that the model goes on with the message. A template that strips the
// content has taken the mark's blank: then blanks before the mark go too.
Result<void> cut_after_final(RenderedChat& chat, const std::string& final_text) {
  const std::string_view bare = kHere.substr(0, kHere.size() - 1);
  const size_t mark = chat.text.rfind(bare);
  const std::string stripped = tmpl::strip_text(final_text, nullptr, true, true);
  if (mark == std::string::npos || chat.text.find(stripped) == std::string::npos)
    return cannot_continue("the template does not write the last message as it is");
  const bool kept = chat.text.compare(mark, kHere.size(), kHere) == 0;
  chat.text.resize(mark);
  chat.text = tmpl::replace_text(chat.text, std::string(kHere), "", -1);  // written more than once
  chat.text = tmpl::replace_text(chat.text, std::string(bare), "", -1);
  if (!kept) chat.text = tmpl::strip_text(chat.text, nullptr, false, true);
  const size_t end = chat.text.size();
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
  std::string final_text;
  AXON_TRY_VOID(set_variables(run, input, source, final_text));
  AXON_TRY(RenderedChat chat, run.run());
  if (input.continue_final_message) AXON_TRY_VOID(cut_after_final(chat, final_text));
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
