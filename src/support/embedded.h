// Text files that the build compiled into the binary (library, zoo, loader tables).
#pragma once

#include <cstddef>
#include <string_view>

namespace axon::embedded {

struct File {
  std::string_view path;  // relative to its root, with `/`
  std::string_view text;
};

struct Files {
  const File* files = nullptr;
  size_t count = 0;
  const File* begin() const { return files; }
  const File* end() const { return files + count; }
};

Files library();  // stdlib/
Files zoo();      // zoo/
Files errors();   // docs/errors.md
Files prelude();  // prelude/
Files verify();   // verify/

}  // namespace axon::embedded
