// The stack is mapped, this thread changes to it for one call, and it is unmapped again.
#include "support/deep_stack.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace axon {
namespace {

constexpr size_t kMostBytes = size_t{1} << 30, kLeastBytes = size_t{1} << 25;

// A mapping with a page below it that faults.
struct Stack {
  void* base = nullptr;
  size_t bytes = 0;

  Stack() {
    for (size_t wanted = kMostBytes; wanted >= kLeastBytes && !base; wanted /= 2) {
      void* at = ::mmap(nullptr, wanted, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
      if (at == MAP_FAILED) continue;
      base = at;
      bytes = wanted;
    }
    if (!base) return;
    ::mprotect(base, static_cast<size_t>(::sysconf(_SC_PAGESIZE)), PROT_NONE);
    // A page of the usual size is all that shallow programs touch.
    ::madvise(base, bytes, MADV_NOHUGEPAGE);
  }
  ~Stack() {
    if (base) ::munmap(base, bytes);
  }
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;
};

struct Call {
  function_ref<void()> body;
  const Stack& stack;
#if defined(__SANITIZE_ADDRESS__)
  // The sanitizer is told of both changes: which stack there is after them.
  void* outer_frames = nullptr;
  const void* outer_base = nullptr;
  size_t outer_bytes = 0;
  void entering() { __sanitizer_start_switch_fiber(&outer_frames, stack.base, stack.bytes); }
  void entered() { __sanitizer_finish_switch_fiber(nullptr, &outer_base, &outer_bytes); }
  void leaving() { __sanitizer_start_switch_fiber(nullptr, outer_base, outer_bytes); }
  void left() { __sanitizer_finish_switch_fiber(outer_frames, nullptr, nullptr); }
#else
  void entering() {}
  void entered() {}
  void leaving() {}
  void left() {}
#endif
};

void enter(Call* call) {
  call->entered();
  call->body();
  call->leaving();
}

#if defined(__x86_64__) || defined(__aarch64__)
constexpr bool kKnownMachine = true;
#else
constexpr bool kKnownMachine = false;
#endif

// enter(call) with the stack that ends at `top`.
void enter_at(void* top, Call* call) {
#if defined(__x86_64__)
  asm volatile(
      "movq %%rsp, %%rbx\n\t"
      "movq %[top], %%rsp\n\t"
      "call *%[enter]\n\t"
      "movq %%rbx, %%rsp"
      : "+D"(call)
      : [top] "r"(top), [enter] "r"(&enter)
      : "rax", "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2", "xmm3",
        "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",
        "xmm15", "cc", "memory");
#elif defined(__aarch64__)
  asm volatile(
      "mov x19, sp\n\t"
      "mov sp, %[top]\n\t"
      "mov x0, %[call]\n\t"
      "blr %[enter]\n\t"
      "mov sp, x19"
      :
      : [top] "r"(top), [enter] "r"(&enter), [call] "r"(call)
      : "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13",
        "x14", "x15", "x16", "x17", "x19", "x30", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7",
        "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20",
        "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31", "cc",
        "memory");
#endif
}

}  // namespace

void on_deep_stack(function_ref<void()> body) {
  Stack stack;
  if (!kKnownMachine || !stack.base) return body();
  Call call{body, stack};
  call.entering();
  enter_at(static_cast<char*>(stack.base) + stack.bytes, &call);
  call.left();
}

}  // namespace axon
