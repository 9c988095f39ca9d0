// Interner: equal text gets the same NameId; the text never moves.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "support/ids.h"

namespace axon {

AXON_ID(NameId);

class Interner {
 public:
  Interner() = default;
  Interner(const Interner&) = delete;
  Interner& operator=(const Interner&) = delete;

  NameId intern(std::string_view text);
  // The id of a text that was interned before, or an invalid id.
  NameId find(std::string_view text) const;
  std::string_view text(NameId id) const { return texts_[static_cast<size_t>(id.index)]; }
  size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;
  std::unordered_map<std::string_view, NameId> ids_;
};

}  // namespace axon
