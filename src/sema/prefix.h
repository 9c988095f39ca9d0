// Which definitions depend on the prefix of their caller, and which paths are configuration keys
// (language.md 8.1, 8.2, 10.7).
#pragma once

#include <vector>

#include "sema/stages.h"

namespace axon::sema {

// What a definition's relative paths start from.
enum class PrefixKind : uint8_t {
  Empty,      // MAIN, global bindings, leading Path parameters
  PathParam,  // the value of the first path parameter
  Caller,     // whatever the caller's is
};
PrefixKind prefix_kind(const syntax::Definition& def, const Program& program,
                       const syntax::Ast& ast, const Interner& names);

class PrefixFacts {
 public:
  PrefixFacts(const Program& program, Session& session);
  // The definition takes its prefix as a hidden parameter.
  bool hidden(NameId def) const;
  // Argument `index` of calls of `callee` is only ever used as a key of the configuration.
  bool config_key(NameId callee, size_t index) const;

 private:
  void find_config_keys(Session& session);
  void find_hidden(Session& session);

  const Program& program_;
  const Interner& names_;
  std::vector<std::vector<bool>> config_keys_;  // by definition, by formal
  std::vector<bool> hidden_;
};

}  // namespace axon::sema
