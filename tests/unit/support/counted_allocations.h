// Counts allocations of a test program by replacing operator new; included by one of its files.
#pragma once

#include <cstdlib>
#include <new>

namespace {
size_t g_allocations = 0;
}

[[gnu::noinline]] void* operator new(size_t size) {
  ++g_allocations;
  if (void* memory = std::malloc(size > 0 ? size : 1)) return memory;
  throw std::bad_alloc();
}
// Libraries use this form, std::stable_sort too; the standard's own would not end in this malloc.
[[gnu::noinline]] void* operator new(size_t size, const std::nothrow_t&) noexcept {
  ++g_allocations;
  return std::malloc(size > 0 ? size : 1);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }
