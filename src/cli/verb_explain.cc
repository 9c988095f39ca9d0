// `axon explain`: the section of docs/errors.md about a code, as text for a terminal.
#include "cli/json.h"
#include "cli/output.h"
#include "cli/report.h"
#include "cli/verbs.h"
#include "source/diag.h"
#include "support/embedded.h"
#include "support/text.h"

namespace axon::cli {
namespace {

// What stands below the heading `## CODE`.
std::string_view section_of(std::string_view page, std::string_view code) {
  std::string heading = "\n## " + std::string(code) + "\n";
  size_t begin = page.find(heading);
  if (begin == page.npos) return {};
  begin += heading.size();
  size_t end = page.find("\n## ", begin);
  return page.substr(begin, end == page.npos ? page.npos : end - begin);
}

// Paragraphs are broken at this column.
constexpr size_t kWidth = 100;

std::string wrapped(std::string_view line) {
  std::string out;
  size_t column = 0;
  for (std::string_view word : split(line, ' ')) {
    if (column > 0 && column + 1 + word.size() > kWidth) {
      out += '\n';
      column = 0;
    } else if (column > 0) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out;
}

std::string without_emphasis(std::string_view line) {
  std::string out;
  for (char c : line) {
    if (c != '*') out += c;
  }
  return out;
}

// Fenced blocks become indented ones.
std::string plain(std::string_view section) {
  std::string out;
  bool in_block = false;
  for (std::string_view line : split(trim(section), '\n')) {
    if (starts_with(line, "```")) {
      in_block = !in_block;
    } else if (in_block) {
      out += line.empty() ? "\n" : "    " + std::string(line) + "\n";
    } else {
      out += wrapped(without_emphasis(line)) + "\n";
    }
  }
  return out;
}

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return out;
}

int report_unknown(const Options& options) {
  std::vector<std::string> codes;
  for (size_t i = 0; i < diag_count(); ++i)
    codes.emplace_back(diag_info(static_cast<Diag>(i)).code);
  std::vector<std::string> near = closest(upper(options.explain_code), codes, 3);
  Error error{"USE-CODE", "no diagnostic is called `" + options.explain_code + "`", {}, -1, {}};
  if (!near.empty()) error.hint = "did you mean `" + join(near, "`, `") + "`?";
  return report_error(error, options.common);
}

}  // namespace

int verb_explain(const Options& options) {
  const DiagInfo* info = find_diag(upper(options.explain_code));
  if (!info) return report_unknown(options);
  std::string_view page = embedded::errors().begin()->text;
  std::string text = plain(section_of(page, info->code));
  if (options.common.json) {
    bool error = info->severity == Severity::Error;
    put(explanation_json(
            {std::string(info->code), error ? "error" : "warning", text, info->exit_status}) +
        "\n");
  } else {
    put(std::string(info->code) + "\n\n" + text);
  }
  return 0;
}

}  // namespace axon::cli
