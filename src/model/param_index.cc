// Which stored tensors serve a requested parameter key: exact, stacked, joined or sliced.
#include "model/param_index.h"

#include <algorithm>

#include "model/name_groups.h"
#include "support/check.h"
#include "support/text.h"

namespace axon::model {
namespace {

bool all_digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// The components joined by dots, with component `skip` left out.
std::string join_without(const std::vector<std::string_view>& parts, size_t skip) {
  std::string out;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i == skip) continue;
    if (!out.empty()) out += '.';
    out += parts[i];
  }
  return out;
}

Resolved exact(const TensorInfo& tensor) {
  Resolved out;
  out.shape = tensor.shape;
  out.storage = tensor.storage;
  out.name = tensor.name;
  return out;
}

// Items of one bank by number; nothing unless the numbers are 0 … n-1 and the items alike.
std::optional<Resolved> stack(std::vector<std::pair<int64_t, const TensorInfo*>> items) {
  if (items.empty()) return {};
  std::sort(items.begin(), items.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  Resolved out;
  out.kind = Resolved::Kind::Stack;
  out.storage = items[0].second->storage;
  for (size_t i = 0; i < items.size(); ++i) {
    const auto& [number, tensor] = items[i];
    if (number != static_cast<int64_t>(i)) return {};
    if (tensor->shape != items[0].second->shape || tensor->storage != out.storage) return {};
    out.parts.push_back(exact(*tensor));
  }
  out.shape = items[0].second->shape;
  out.shape.insert(out.shape.begin(), static_cast<int64_t>(items.size()));
  return out;
}

std::optional<Resolved> concat_rows(Resolved gate, Resolved up) {
  size_t rank = gate.shape.size();
  if (rank < 2 || up.shape.size() != rank || gate.storage != up.storage) return {};
  for (size_t axis = 0; axis < rank; ++axis) {
    if (axis != rank - 2 && gate.shape[axis] != up.shape[axis]) return {};
  }
  Resolved out;
  out.kind = Resolved::Kind::ConcatRows;
  out.storage = gate.storage;
  out.shape = gate.shape;
  out.shape[rank - 2] += up.shape[rank - 2];
  out.parts = {std::move(gate), std::move(up)};
  return out;
}

// Rules 1-4 of stdlib.md 16 over the names of one index.
class Resolver {
 public:
  Resolver(const ParamIndex& index, const std::vector<std::string>& sorted)
      : index_(index), sorted_(sorted) {}

  // Rules 1-3.
  std::optional<Resolved> whole(const std::string& key) const {
    if (const TensorInfo* tensor = index_.find(key)) return exact(*tensor);
    if (auto bank = bank_of_items(key)) return bank;
    return packed_halves(key);
  }

  // Rule 4.
  std::optional<Resolved> slice_of_bank(const std::string& key) const {
    std::vector<std::string_view> parts = split(key, '.');
    for (size_t i = 0; i < parts.size(); ++i) {
      if (!all_digits(parts[i])) continue;
      const TensorInfo* bank = index_.find(join_without(parts, i));
      auto number = parse_int(parts[i]);
      if (!bank || !number || bank->shape.empty() || *number >= bank->shape[0]) continue;
      Resolved out;
      out.kind = Resolved::Kind::Slice;
      out.shape.assign(bank->shape.begin() + 1, bank->shape.end());
      out.storage = bank->storage;
      out.parts.push_back(exact(*bank));
      out.index = *number;
      return out;
    }
    return {};
  }

 private:
  std::optional<Resolved> bank_of_items(const std::string& key) const {
    for (size_t at = 0; at != key.npos;) {
      if (auto bank = stack(items_at(key, at))) return bank;
      size_t dot = key.find('.', at);
      at = dot == key.npos ? key.npos : dot + 1;
    }
    return stack(items_after(key));
  }

  // Stored names `<key>.<digits>`.
  std::vector<std::pair<int64_t, const TensorInfo*>> items_after(const std::string& key) const {
    std::vector<std::pair<int64_t, const TensorInfo*>> out;
    std::string head = key + ".";
    auto first = std::lower_bound(sorted_.begin(), sorted_.end(), head);
    for (auto name = first; name != sorted_.end() && starts_with(*name, head); ++name) {
      std::string_view rest = std::string_view(*name).substr(head.size());
      auto number = all_digits(rest) ? parse_int(rest) : std::nullopt;
      if (number) out.emplace_back(*number, index_.find(*name));
    }
    return out;
  }

  // Stored names `<key up to at><digits>.<rest>`, where `at` is 0 or just after a dot.
  std::vector<std::pair<int64_t, const TensorInfo*>> items_at(const std::string& key,
                                                              size_t at) const {
    std::string_view head = std::string_view(key).substr(0, at);
    std::string_view tail = std::string_view(key).substr(at);
    std::vector<std::pair<int64_t, const TensorInfo*>> out;
    auto first = std::lower_bound(sorted_.begin(), sorted_.end(), head);
    for (auto name = first; name != sorted_.end() && starts_with(*name, head); ++name) {
      if (name->size() < key.size() + 2 || !ends_with(*name, tail)) continue;
      std::string_view middle = std::string_view(*name).substr(at, name->size() - key.size());
      if (middle.back() != '.' || !all_digits(middle.substr(0, middle.size() - 1))) continue;
      auto number = parse_int(middle.substr(0, middle.size() - 1));
      if (number) out.emplace_back(*number, index_.find(*name));
    }
    return out;
  }

  std::optional<Resolved> packed_halves(const std::string& key) const {
    constexpr std::string_view kBoth = "gate_up";
    size_t at = key.find(kBoth);
    if (at == key.npos) return {};
    std::string gate_key = key, up_key = key;
    gate_key.replace(at, kBoth.size(), "gate");
    up_key.replace(at, kBoth.size(), "up");
    auto gate = whole(gate_key);
    if (!gate) return {};
    auto up = whole(up_key);
    if (!up) return {};
    return concat_rows(std::move(*gate), std::move(*up));
  }

  const ParamIndex& index_;
  const std::vector<std::string>& sorted_;
};

}  // namespace

ParamIndex::ParamIndex(std::vector<TensorInfo> tensors) : tensors_(std::move(tensors)) {
  for (size_t i = 0; i < tensors_.size(); ++i) {
    bool fresh = by_name_.emplace(tensors_[i].name, i).second;
    AXON_CHECK(fresh, "two tensors of one name");
    sorted_names_.push_back(tensors_[i].name);
  }
  std::sort(sorted_names_.begin(), sorted_names_.end());
}

const TensorInfo* ParamIndex::find(std::string_view name) const {
  auto found = by_name_.find(std::string(name));
  return found == by_name_.end() ? nullptr : &tensors_[found->second];
}

std::optional<Resolved> ParamIndex::resolve(std::string_view key) const {
  if (key.empty()) return {};
  Resolver resolver(*this, sorted_names_);
  std::string name(key);
  if (auto whole = resolver.whole(name)) return whole;
  return resolver.slice_of_bank(name);
}

bool ParamIndex::has_root(std::string_view root) const {
  if (root.empty()) return true;
  if (find(root)) return true;
  std::string inside = std::string(root) + ".";
  auto name = std::lower_bound(sorted_names_.begin(), sorted_names_.end(), inside);
  return name != sorted_names_.end() && starts_with(*name, inside);
}

std::vector<std::string> ParamIndex::near_misses(std::string_view key) const {
  return near_names(key, sorted_names_);
}

}  // namespace axon::model
