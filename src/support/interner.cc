// Interner: equal text gets the same NameId.
#include "support/interner.h"

namespace axon {

NameId Interner::intern(std::string_view text) {
  auto found = ids_.find(text);
  if (found != ids_.end()) return found->second;
  texts_.emplace_back(text);
  NameId id{static_cast<int32_t>(texts_.size() - 1)};
  ids_.emplace(texts_.back(), id);
  return id;
}

NameId Interner::find(std::string_view text) const {
  auto found = ids_.find(text);
  return found == ids_.end() ? NameId{} : found->second;
}

}  // namespace axon
