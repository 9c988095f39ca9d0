// Store<Id, T>: an append-only vector whose elements are named by ids.
#pragma once

#include <utility>
#include <vector>

#include "support/check.h"

namespace axon {

template <class Id, class T>
class Store {
 public:
  Id add(T value) {
    items_.push_back(std::move(value));
    return Id{static_cast<int32_t>(items_.size() - 1)};
  }
  T& operator[](Id id) {
    AXON_CHECK(static_cast<size_t>(id.index) < items_.size(), "id out of its store");
    return items_[static_cast<size_t>(id.index)];
  }
  const T& operator[](Id id) const {
    AXON_CHECK(static_cast<size_t>(id.index) < items_.size(), "id out of its store");
    return items_[static_cast<size_t>(id.index)];
  }
  size_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }
  void reserve(size_t n) { items_.reserve(n); }
  auto begin() { return items_.begin(); }
  auto end() { return items_.end(); }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }
  // The ids 0 … size-1 in order, by index.
  Id id_at(size_t index) const { return Id{static_cast<int32_t>(index)}; }

 private:
  std::vector<T> items_;
};

}  // namespace axon
