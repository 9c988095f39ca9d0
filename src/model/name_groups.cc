// Groups names component by component: those that agree but for one number become one.
#include "model/name_groups.h"

#include <algorithm>
#include <unordered_map>

#include "support/text.h"

namespace axon::model {
namespace {

struct Entry {
  std::vector<std::string> parts;  // of the text, at dots of the names
  std::vector<size_t> numbers;     // components that were numbers
  std::vector<size_t> names;       // of the list
};

bool is_number(std::string_view text) {
  return !text.empty() && text.size() < 10 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

Entry entry_of(const std::string& name, size_t index) {
  Entry out;
  for (std::string_view part : split(name, '.')) {
    if (is_number(part)) out.numbers.push_back(out.parts.size());
    out.parts.emplace_back(part);
  }
  out.names.push_back(index);
  return out;
}

// `{0..5,7}` of the numbers of components; one alone is itself.
std::string range_of(std::vector<int64_t> numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  std::string out;
  for (size_t i = 0; i < numbers.size();) {
    size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (!out.empty()) out += ',';
    out += std::to_string(numbers[i]);
    if (last > i) out += (last == i + 1 ? "," : "..") + std::to_string(numbers[last]);
    i = last + 1;
  }
  return "{" + out + "}";
}

// Joins the entries that are alike but for their `k`-th number.
std::vector<Entry> joined(std::vector<Entry> entries, size_t k) {
  std::vector<Entry> out;
  std::vector<std::vector<int64_t>> numbers;  // by entry of `out`
  std::unordered_map<std::string, size_t> by_rest;
  for (Entry& entry : entries) {
    std::string rest;
    int64_t number = -1;
    for (size_t i = 0; i < entry.parts.size(); ++i) {
      bool here = k < entry.numbers.size() && entry.numbers[k] == i;
      if (here) number = parse_int(entry.parts[i]).value_or(-1);
      rest += (here ? std::string("\n") : entry.parts[i]) + ".";
    }
    auto [it, fresh] = by_rest.emplace(std::move(rest), out.size());
    if (fresh) {
      out.push_back(std::move(entry));
      numbers.push_back({number});
      continue;
    }
    Entry& known = out[it->second];
    known.names.insert(known.names.end(), entry.names.begin(), entry.names.end());
    numbers[it->second].push_back(number);
  }
  for (size_t i = 0; i < out.size(); ++i) {
    if (numbers[i].size() > 1 && k < out[i].numbers.size())
      out[i].parts[out[i].numbers[k]] = range_of(std::move(numbers[i]));
  }
  return out;
}

}  // namespace

std::vector<NameGroup> group_names(const std::vector<std::string>& names) {
  std::vector<Entry> entries;
  size_t most = 0;
  for (size_t i = 0; i < names.size(); ++i) {
    entries.push_back(entry_of(names[i], i));
    most = std::max(most, entries.back().numbers.size());
  }
  for (size_t k = 0; k < most; ++k) entries = joined(std::move(entries), k);
  std::vector<NameGroup> out;
  for (const Entry& entry : entries) {
    NameGroup group;
    group.text = join(entry.parts, ".");
    for (size_t i : entry.names) group.names.push_back(names[i]);
    out.push_back(std::move(group));
  }
  return out;
}

std::vector<std::string> near_names(std::string_view key, const std::vector<std::string>& names) {
  auto last = [](std::string_view name) { return name.substr(name.rfind('.') + 1); };
  struct Candidate {
    int distance;
    const std::string* name;
  };
  std::vector<Candidate> candidates;
  int limit = std::max(2, static_cast<int>(key.size()) / 2);
  for (const std::string& name : names) {
    // The last component says what kind of tensor it is, so a match there weighs more.
    int distance = edit_distance(key, name) + (last(name) == last(key) ? 0 : 3);
    if (distance <= limit) candidates.push_back({distance, &name});
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const auto& a, const auto& b) { return a.distance < b.distance; });
  std::vector<std::string> out;
  for (size_t i = 0; i < candidates.size() && i < 3; ++i) out.push_back(*candidates[i].name);
  return out;
}

}  // namespace axon::model
