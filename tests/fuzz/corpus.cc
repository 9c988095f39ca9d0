// Reading the tree's texts and making others from them.
#include "fuzz/corpus.h"

#include <algorithm>
#include <filesystem>

#include "fuzz/mutate.h"
#include "fuzz/subject.h"
#include "support/file.h"
#include "support/text.h"

namespace axon::fuzz {
namespace {

// Longer ones take time and find nothing that shorter ones do not.
constexpr size_t kLongest = 6000;
constexpr size_t kLongestStage = 20000;

// Cases hold several texts behind lines that begin with `==` or `---`, and between them what is
// asked of these; what stands before the first is prose.
void add_sections(const std::string& text, std::vector<std::string>& out) {
  std::string section;
  bool inside = false;
  for (std::string_view line : split(text, '\n')) {
    if (starts_with(line, ">>")) continue;
    if (starts_with(line, "==") || starts_with(line, "---")) {
      if (inside) out.push_back(std::move(section));
      section.clear();
      inside = true;
    } else if (inside) {
      section += line;
      section += '\n';
    }
  }
  if (inside) out.push_back(std::move(section));
}

}  // namespace

std::vector<std::string> read_corpus(const std::vector<std::string>& folders) {
  std::vector<std::string> paths, out;
  for (const std::string& folder : folders) {
    if (!is_directory(folder)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      std::string extension = entry.path().extension().string();
      if (extension == ".axon" || extension == ".case" || extension == ".txt")
        paths.push_back(entry.path().string());
    }
  }
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths) {
    auto text = read_file(path);
    if (text && ends_with(path, ".axon")) out.push_back(*text);
    if (text && !ends_with(path, ".axon")) add_sections(*text, out);
  }
  return out;
}

namespace {

std::vector<std::string> short_texts() {
  std::vector<std::string> out = read_corpus({"stdlib", "zoo", "tests"});
  std::erase_if(out, [](const std::string& t) { return t.empty() || t.size() > kLongest; });
  return out;
}

}  // namespace

Corpus::Corpus() : texts_(short_texts()) {}

std::string Corpus::pick(Random& random) {
  const std::string& text = texts_.pick(random);
  if (!random.chance(12)) return text;
  Subject subject = read_subject("text", text);
  driver::Frontend f = run_frontend(subject.options);
  if (!f.ok() || !f.graph) return text;
  driver::Stage stage = random.pick(stages());
  if (!has_stage(f, stage)) return text;
  std::string staged = dump_stage(f, stage);
  return staged.size() > kLongestStage ? text : staged;
}

std::string Corpus::mutant(Random& random) {
  std::string base = pick(random);
  return random.chance(35) ? mutate_bytes(base, texts_, random)
                           : mutate_tokens(base, texts_, random);
}

}  // namespace axon::fuzz
