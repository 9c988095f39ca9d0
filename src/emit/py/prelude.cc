// Reads prelude files: what they import, what they need, what they define.
#include "emit/py/prelude.h"

#include <algorithm>
#include <map>

#include "support/check.h"
#include "support/text.h"

namespace axon::emit::py {
namespace {

constexpr std::string_view kStandard[] = {"__future__", "collections", "dataclasses", "functools",
                                          "json",       "math",        "os",          "pathlib",
                                          "re",         "typing",      "warnings"};

// The module that an import line names.
std::string_view module_of(std::string_view line) {
  line.remove_prefix(line.find(' ') + 1);
  return line.substr(0, line.find_first_of(" ."));
}

bool is_standard(std::string_view line) {
  std::string_view name = module_of(line);
  return std::find(std::begin(kStandard), std::end(kStandard), name) != std::end(kStandard);
}

// What a line at the left margin defines or assigns; empty for other lines.
std::string_view bound_name(std::string_view line) {
  for (std::string_view head : {"def ", "class "}) {
    if (!starts_with(line, head)) continue;
    line.remove_prefix(head.size());
    return line.substr(0, line.find_first_of("(:"));
  }
  size_t end = line.find(" = ");
  bool assigns = end != std::string_view::npos && end > 0 && line[0] != ' ' &&
                 line.substr(0, end).find_first_of(" ([\"") == std::string_view::npos;
  return assigns ? line.substr(0, end) : std::string_view();
}

// Lines that import from one module become one line with its names sorted.
std::set<std::string> merge(const std::set<std::string>& lines) {
  std::set<std::string> out;
  std::map<std::string, std::set<std::string>> from;
  for (const std::string& line : lines) {
    size_t split_at = line.find(" import ");
    if (!starts_with(line, "from ")) {
      out.insert(line);
      continue;
    }
    for (std::string_view name : axon::split(std::string_view(line).substr(split_at + 8), ','))
      from[line.substr(0, split_at + 8)].insert(std::string(trim(name)));
  }
  for (const auto& [head, names] : from)
    out.insert(head + join(std::vector<std::string>(names.begin(), names.end()), ", "));
  return out;
}

}  // namespace

void Prelude::use(std::string_view path) {
  if (!used_.insert(std::string(path)).second) return;
  auto file = std::find_if(files_.begin(), files_.end(),
                           [&](const PreludeFile& f) { return f.path == path; });
  AXON_CHECK(file != files_.end(), "a prelude file that is not there");
  std::string folder(path.substr(0, path.rfind('/') + 1));
  std::string_view text = file->text;
  bool head = true;
  std::string body;
  for (std::string_view line : axon::split(text, '\n')) {
    if (starts_with(line, "# requires: ")) {
      use(folder + std::string(line.substr(12)));
      continue;
    }
    if (starts_with(line, "from .")) {
      std::string_view name = line.substr(6);
      use(folder + std::string(name.substr(0, name.find(' '))));
      continue;
    }
    bool is_import = starts_with(line, "import ") || starts_with(line, "from ");
    if (is_import) {
      imports_.insert(std::string(line));
      continue;
    }
    if (head && (line.empty() || starts_with(line, "\"\"\""))) continue;
    head = false;
    if (std::string_view name = bound_name(line); !name.empty()) names_.emplace_back(name);
    body += std::string(line) + "\n";
  }
  while (ends_with(body, "\n\n")) body.pop_back();
  Stmt block;
  block.kind = Stmt::Kind::Verbatim;
  block.text = std::move(body);
  definitions_.push_back(std::move(block));
}

std::vector<std::string> Prelude::every_name() const {
  std::vector<std::string> out;
  for (const PreludeFile& file : files_) {
    for (std::string_view line : axon::split(file.text, '\n')) {
      if (std::string_view name = bound_name(line); !name.empty()) out.emplace_back(name);
    }
  }
  return out;
}

std::vector<Stmt> import_statements(const std::set<std::string>& lines) {
  std::vector<Stmt> out;
  std::set<std::string> merged = merge(lines);
  auto put = [&](bool standard) {
    std::vector<std::string> chosen;
    for (const std::string& line : merged) {
      if (is_standard(line) == standard) chosen.push_back(line);
    }
    auto key = [](const std::string& line) {
      return std::make_pair(starts_with(line, "from "), line);
    };
    std::sort(chosen.begin(), chosen.end(),
              [&](const std::string& a, const std::string& b) { return key(a) < key(b); });
    for (const std::string& line : chosen) {
      Stmt s;
      s.kind = Stmt::Kind::Import;
      s.text = line;
      out.push_back(std::move(s));
    }
    return !chosen.empty();
  };
  bool any = put(true);
  size_t cut = out.size();
  if (put(false) && any) out.insert(out.begin() + static_cast<long>(cut), blank());
  return out;
}

}  // namespace axon::emit::py
