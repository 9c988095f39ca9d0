// Chat templates against the renderer of Transformers (tests/templates/cases.txt), and the limits.
#include "runtime/text/template.h"

#include <gtest/gtest.h>

#include "support/file.h"
#include "support/text.h"

namespace axon::text {
namespace {

constexpr int64_t kClock = 1720096496;  // 2024-07-04 12:34:56

// The part of `text` between two marks.
std::string between(const std::string& text, const std::string& from, const std::string& to) {
  size_t begin = text.find(from) + from.size();
  size_t end = to.empty() ? text.size() : text.find(to, begin);
  return text.substr(begin, end - begin);
}

TEST(Template, EqualsTransformers) {
  auto file = read_file(std::string(AXON_SOURCE_DIR) + "/tests/templates/cases.txt");
  ASSERT_TRUE(file) << file.error().message;
  size_t count = 0;
  for (size_t at = file->find("=== "); at != file->npos;) {
    size_t next = file->find("\n=== ", at);
    std::string one = file->substr(at, next == file->npos ? next : next + 1 - at);
    at = next == file->npos ? next : next + 1;
    SCOPED_TRACE(one.substr(4, one.find('\n') - 4));
    std::string expected = between(one, "\n--- expected\n", "");
    expected.pop_back();
    auto result = render_template(between(one, "\n--- template\n", "\n--- expected\n"),
                                  between(one, "\n--- variables\n", "\n--- template\n"), kClock);
    if (expected == "!") {
      EXPECT_FALSE(result) << "rendered: " << *result;
    } else {
      EXPECT_TRUE(result) << result.error().message;
      EXPECT_EQ(result ? *result : std::string(), expected);
    }
    ++count;
  }
  EXPECT_GE(count, 60u);
}

TEST(Template, Errors) {
  auto code = [](const std::string& source) {
    auto result = render_template(source, "{}", 0);
    return result ? "rendered " + *result
                  : result.error().code + "@" + std::to_string(result.error().offset);
  };
  EXPECT_EQ(code("ab {{ 1 + }}"), "TMPL-SYNTAX@10");
  EXPECT_EQ(code("{{ raise_exception('no') }}"), "TMPL-RAISE@18");
  EXPECT_EQ(code("{% if x %}"), "TMPL-SYNTAX@10");
  EXPECT_EQ(code("{{ missing.x }}"), "TMPL-RUN@10");
  auto message = render_template("a\n{{ x|uper }}", "{}", 0);
  ASSERT_FALSE(message);
  EXPECT_EQ(message.error().message,
            "chat template, line 2: filter `uper` is not known; did you mean `upper`?");
}

TEST(Template, Limits) {
  TemplateLimits limits;
  limits.steps = 10000;
  limits.output = 1000;
  auto code = [&](const std::string& source) {
    auto result = render_template(source, "{}", 0, limits);
    return result ? "rendered" : result.error().code;
  };
  EXPECT_EQ(code("{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}"),
            "TMPL-LIMIT");
  EXPECT_EQ(code("{% for i in range(2000) %}x{% endfor %}"), "TMPL-LIMIT");
  EXPECT_EQ(code("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}"), "TMPL-LIMIT");
  EXPECT_EQ(code("{{ 'a' * 999999999999 }}"), "TMPL-LIMIT");
  EXPECT_EQ(code(std::string(500, '(')), "rendered");
  EXPECT_EQ(code("{{ " + std::string(5000, '(') + "1" + std::string(5000, ')') + " }}"),
            "TMPL-SYNTAX");
  EXPECT_EQ(code("{{ " + std::string(5000, '-') + "1 }}"), "TMPL-SYNTAX");
}

TEST(Template, ChatInput) {
  std::string source =
      "{{ bos_token }}{% for m in messages %}<{{ m.role }}>{{ m.content }}{% if m.name %}({{ "
      "m.name }}){% endif %}</>\n"
      "{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}";
  ChatTemplateInput input;
  input.messages = {
      {"user", "hi", R"({"role": "user", "content": "hi", "name": "ann", "tool_calls": null})"},
      {"assistant", "well, ", ""}};
  input.special_tokens = {{"bos_token", "<s>"}};
  auto with_prompt = render_chat(source, input);
  ASSERT_TRUE(with_prompt) << with_prompt.error().message;
  EXPECT_EQ(with_prompt->text, "<s><user>hi(ann)</>\n<assistant>well, </>\n<assistant>");
  input.continue_final_message = true;
  auto continued = render_chat(source, input);
  ASSERT_TRUE(continued) << continued.error().message;
  EXPECT_EQ(continued->text, "<s><user>hi(ann)</>\n<assistant>well, ");
}

// Every prefix of a template ends in a result or an error, never in a crash.
TEST(Template, TruncatedSources) {
  auto file = read_file(std::string(AXON_SOURCE_DIR) + "/tests/templates/cases.txt");
  ASSERT_TRUE(file);
  TemplateLimits limits;
  limits.steps = 2000;
  size_t ended = 0;
  for (size_t length = 0; length < file->size(); length += 61) {
    auto result = render_template(file->substr(0, length), "{}", 0, limits);
    ended += result.ok() || !result.error().code.empty();
  }
  EXPECT_EQ(ended, (file->size() + 60) / 61);
}

}  // namespace
}  // namespace axon::text
