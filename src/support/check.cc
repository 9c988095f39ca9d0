// Reports a broken invariant and ends the process.
#include "support/check.h"

#include <cstdio>
#include <cstdlib>

namespace axon {

void check_failed(const char* condition, const char* why, const char* file, int line) {
  std::fflush(stdout);
  std::fprintf(stderr,
               "axon: internal error: %s (%s) at %s:%d\n"
               "This is a bug in axon; please report it with the command that led here.\n",
               why, condition, file, line);
  std::fflush(stderr);
  std::_Exit(70);
}

}  // namespace axon
