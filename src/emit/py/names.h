// The name plan: source names are kept where Python allows it.
//
// Keywords and names that the file needs otherwise get a `_` behind them; a name that is taken gets
// the next number, in order of asking. One plan per scope: a function's plan starts as a copy of
// the file's, so that locals never hide what the function calls.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace axon::emit::py {

class NamePlan {
 public:
  // Names that nothing of this scope may get: imports, helpers, builtins in use.
  void reserve(std::string_view name) { taken_.insert(std::string(name)); }
  // A new name as close to `wanted` as possible; it is taken from now on.
  std::string unique(std::string_view wanted);
  bool taken(std::string_view name) const { return taken_.count(std::string(name)) != 0; }

 private:
  std::set<std::string> taken_;
};

bool is_keyword(std::string_view name);
// A valid identifier: other characters become `_`, a leading digit gets one before it.
std::string identifier(std::string_view text);
// `self_attn` → `SelfAttn`.
std::string class_name(std::string_view text);

}  // namespace axon::emit::py
