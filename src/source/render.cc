// Diagnostics as text for a terminal and as JSON lines.
#include "source/render.h"

#include <algorithm>

#include "support/text.h"

namespace axon {
namespace {

struct Colours {
  std::string_view bold, error, warning, note, reset;
};
constexpr Colours kPlain{};
constexpr Colours kColoured{"\033[1m", "\033[1;31m", "\033[1;35m", "\033[1;36m", "\033[0m"};

// A piece of a source line as it is shown: tabs as blanks, other control characters as `?`.
std::string shown(std::string_view text) {
  std::string out;
  for (size_t pos = 0; pos < text.size();) {
    if (text[pos] == '\t') {
      out += "    ";
      ++pos;
      continue;
    }
    uint32_t c = next_code_point(text, pos);
    append_utf8(out, c < 0x20 || c == 0x7F ? '?' : c);
  }
  return out;
}

size_t code_points(std::string_view text) {
  size_t count = 0;
  for (size_t pos = 0; pos < text.size(); ++count) next_code_point(text, pos);
  return count;
}

std::string place(Span span, const FileTable& files) {
  LineColumn at = files.line_column(span.file, span.begin);
  return files.path(span.file) + ":" + std::to_string(at.line) + ":" + std::to_string(at.column);
}

// What of a long line is shown: a window around the marked range.
struct Window {
  size_t begin;
  size_t end;
};

Window window_of(std::string_view line, size_t begin, size_t end) {
  constexpr size_t kWidth = 160;
  constexpr size_t kLead = 40;
  Window window{0, line.size()};
  // No character has more than three bytes behind its first; what is no UTF-8 may have any number.
  auto to_start = [&](size_t& pos) {
    auto is_inside = [&] {
      return pos < line.size() && (static_cast<unsigned char>(line[pos]) & 0xC0) == 0x80;
    };
    for (int i = 0; i < 3 && pos > 0 && is_inside(); ++i) --pos;
  };
  if (line.size() <= kWidth) return window;
  if (begin > kLead && end > kWidth - kLead) window.begin = begin - kLead;
  window.end = std::min(line.size(), window.begin + kWidth);
  to_start(window.begin);
  to_start(window.end);
  return window;
}

// The source line and, below it, a caret and tildes under the range.
std::string excerpt(Span span, const FileTable& files, std::string_view colour,
                    std::string_view reset) {
  LineColumn at = files.line_column(span.file, span.begin);
  std::string_view line = files.line_text(span.file, at.line);
  size_t begin = std::min(static_cast<size_t>(at.column - 1), line.size());
  size_t length = static_cast<size_t>(std::max(span.end - span.begin, 0));
  size_t end = std::min(begin + length, line.size());
  Window window = window_of(line, begin, end);
  end = std::min(end, window.end);
  std::string number = std::to_string(at.line);
  std::string lead = window.begin > 0 ? "..." : "";
  std::string before = lead + shown(line.substr(window.begin, begin - window.begin));
  std::string marked = shown(line.substr(begin, end - begin));
  std::string after =
      shown(line.substr(end, window.end - end)) + (window.end < line.size() ? "..." : "");
  std::string out = "  " + number + " | " + before + marked + after + "\n";
  size_t tildes = std::max<size_t>(code_points(marked), 1) - 1;
  out += "  " + std::string(number.size(), ' ') + " | " + std::string(code_points(before), ' ');
  return out + std::string(colour) + "^" + std::string(tildes, '~') + std::string(reset) + "\n";
}

std::string quoted(std::string_view text) { return "\"" + json_escape(text) + "\""; }

void add_place(std::string& out, Span span, const FileTable& files) {
  if (!span.valid()) {
    out += "\"file\":null,\"line\":null,\"column\":null,\"end_line\":null,\"end_column\":null";
    return;
  }
  LineColumn begin = files.line_column(span.file, span.begin);
  LineColumn end = files.line_column(span.file, span.end);
  out += "\"file\":" + quoted(files.path(span.file)) + ",\"line\":" + std::to_string(begin.line) +
         ",\"column\":" + std::to_string(begin.column) +
         ",\"end_line\":" + std::to_string(end.line) +
         ",\"end_column\":" + std::to_string(end.column);
}

}  // namespace

std::string render_terminal(const Diagnostic& diagnostic, const FileTable& files, Severity severity,
                            bool colour) {
  const Colours& colours = colour ? kColoured : kPlain;
  bool error = severity == Severity::Error;
  std::string_view marker = error ? colours.error : colours.warning;
  std::string reset(colours.reset);
  std::string out;
  if (diagnostic.span.valid())
    out += std::string(colours.bold) + place(diagnostic.span, files) + ":" + reset + " ";
  out += std::string(marker) + (error ? "error" : "warning") + reset + " ";
  out += std::string(diag_info(diagnostic.id).code) + ": ";
  out += std::string(colours.bold) + message_of(diagnostic) + reset + "\n";
  if (diagnostic.span.valid()) out += excerpt(diagnostic.span, files, marker, reset);
  if (!diagnostic.context.empty()) out += "  in " + diagnostic.context + "\n";
  for (const DiagNote& note : diagnostic.notes) {
    out += "  " + std::string(colours.note) + "note" + reset + ": " + message_of(note);
    if (!note.span.valid()) {
      out += "\n";
      continue;
    }
    out += " (" + place(note.span, files) + ")\n";
    if (note.span != diagnostic.span) out += excerpt(note.span, files, colours.note, reset);
  }
  if (!diagnostic.fixes.empty()) {
    out += "  " + std::string(colours.note) + "fix" + reset + ":";
    for (size_t i = 0; i < diagnostic.fixes.size(); ++i) {
      const DiagFix& fix = diagnostic.fixes[i];
      bool insert = fix.span.begin == fix.span.end;
      out += i ? ", then " : " ";
      out += insert ? "insert `" : "write `";
      out += fix.text + "` at " + place(fix.span, files);
    }
    out += "\n";
  }
  return out;
}

std::string render_json(const Diagnostic& diagnostic, const FileTable& files, Severity severity) {
  std::string out = "{\"code\":" + quoted(diag_info(diagnostic.id).code);
  out +=
      std::string(",\"severity\":") + (severity == Severity::Error ? "\"error\"" : "\"warning\"");
  out += ",\"message\":" + quoted(message_of(diagnostic)) + ",";
  add_place(out, diagnostic.span, files);
  if (!diagnostic.context.empty()) out += ",\"context\":" + quoted(diagnostic.context);
  out += ",\"notes\":[";
  for (size_t i = 0; i < diagnostic.notes.size(); ++i) {
    out += (i ? ",{\"message\":" : "{\"message\":") + quoted(message_of(diagnostic.notes[i])) + ",";
    add_place(out, diagnostic.notes[i].span, files);
    out += "}";
  }
  out += "]";
  if (!diagnostic.fixes.empty()) {
    out += ",\"fix\":[";
    for (size_t i = 0; i < diagnostic.fixes.size(); ++i) {
      out += (i ? ",{\"text\":" : "{\"text\":") + quoted(diagnostic.fixes[i].text) + ",";
      add_place(out, diagnostic.fixes[i].span, files);
      out += "}";
    }
    out += "]";
  }
  return out + "}";
}

}  // namespace axon
