// Checks of our own invariants. A failed check is a bug in Axon: it prints and ends with status 70.
#pragma once

namespace axon {

[[noreturn]] void check_failed(const char* condition, const char* why, const char* file, int line);

}  // namespace axon

#define AXON_CHECK(cond, why) \
  ((cond) ? void(0) : ::axon::check_failed(#cond, (why), __FILE__, __LINE__))
#define AXON_UNREACHABLE(why) ::axon::check_failed("unreachable", (why), __FILE__, __LINE__)
