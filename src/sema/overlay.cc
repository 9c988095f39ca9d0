// Merging of overlay files.
#include "sema/overlay.h"

#include <algorithm>

namespace axon::sema {

using namespace syntax;

namespace {

// Replaces the item of the same name, or appends.
template <class T>
void put_named(std::vector<T>& items, T item) {
  auto same =
      std::find_if(items.begin(), items.end(), [&](const T& old) { return old.name == item.name; });
  if (same != items.end()) {
    *same = std::move(item);
  } else {
    items.push_back(std::move(item));
  }
}

// A later member list takes the place of all earlier ones of the namespace.
void merge_imports(std::vector<Import>& base, const std::vector<Import>& over) {
  for (const Import& import : over) {
    if (!import.has_members) continue;
    base.erase(std::remove_if(base.begin(), base.end(),
                              [&](const Import& old) {
                                return old.module == import.module && old.has_members;
                              }),
               base.end());
  }
  for (const Import& import : over) {
    bool known =
        !import.has_members && std::any_of(base.begin(), base.end(), [&](const Import& old) {
          return old.module == import.module && !old.has_members;
        });
    if (!known) base.push_back(import);
  }
}

}  // namespace

void merge_overlay(Module& base, Module over) {
  merge_imports(base.imports, over.imports);
  base.has_export |= over.has_export;
  for (ImportMember& member : over.exports) put_named(base.exports, std::move(member));
  for (TypeAlias& alias : over.aliases) put_named(base.aliases, std::move(alias));
  for (Definition& def : over.definitions) put_named(base.definitions, std::move(def));
  for (Pragma& pragma : over.pragmas) put_named(base.pragmas, std::move(pragma));
}

}  // namespace axon::sema
