// Reads the files of tests/conformance.
#include <algorithm>
#include <filesystem>

#include "conformance_case.h"
#include "support/file.h"
#include "support/text.h"

namespace axon::driver::testing {
namespace {

// Adds a line of a file to the rules read so far.
class RuleReader {
 public:
  RuleReader(std::string file, std::vector<Rule>& rules) : file_(std::move(file)), rules_(rules) {}

  void line(std::string_view text, int number) {
    if (starts_with(text, "== ")) {
      std::string_view rest = text.substr(3);
      size_t blank = rest.find(' ');
      rules_.push_back({std::string(rest.substr(0, blank)),
                        std::string(rest.substr(blank + 1)),
                        file_,
                        {Case{}}});
      target_ = nullptr;
    } else if (text == "---") {
      rules_.back().cases.emplace_back();
      target_ = nullptr;
    } else if (starts_with(text, ">> ")) {
      check(text.substr(3), number);
    } else if (starts_with(text, "..") && (text.size() == 2 || text[2] == ' ')) {
      std::string_view rest = text.size() > 3 ? text.substr(3) : std::string_view();
      now().checks.back().block += std::string(rest) + "\n";
    } else {
      (target_ ? *target_ : now().text) += std::string(text) + "\n";
    }
  }

 private:
  Case& now() { return rules_.back().cases.back(); }

  void check(std::string_view text, int number) {
    size_t blank = std::min(text.find(' '), text.size());
    std::string word(text.substr(0, blank));
    std::string rest(trim(text.substr(blank)));
    if (word == "file") {
      target_ = &now().files[rest];
    } else {
      now().checks.push_back({word, rest, {}, number});
    }
  }

  std::string file_;
  std::vector<Rule>& rules_;
  std::string* target_ = nullptr;
};

}  // namespace

std::vector<Rule> read_rules(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".txt") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  std::vector<Rule> out;
  for (const std::string& file : files) {
    auto text = read_file(file);
    if (!text) continue;
    RuleReader reader(file, out);
    int number = 0;
    for (std::string_view line : split(*text, '\n')) reader.line(line, ++number);
  }
  return out;
}

}  // namespace axon::driver::testing
