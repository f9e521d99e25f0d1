// AddressSanitizer and exceptions of simulated ranks: it must forget what it noted of the frames that one leaves, and
// knows the stacks of threads alone. A rank's stack is memory of the heap to it, whose bounds it can tell.
#if defined(__SANITIZE_ADDRESS__)
#include <dlfcn.h>
#include <sanitizer/asan_interface.h>

#include <cstddef>
#include <string_view>

extern "C" {

/// In place of the sanitizer's own, which it and all code that it has instrumented call before an exception leaves.
__attribute__((no_sanitize("address"), visibility("default"))) void __asan_handle_no_return() {
  char name[1] = {};
  void* begin = nullptr;
  std::size_t size = 0;
  void* const frame = __builtin_frame_address(0);
  const std::string_view kind = __asan_locate_address(frame, name, sizeof name, &begin, &size);
  if (kind == "heap") {
    char* const from = static_cast<char*>(frame);
    __asan_unpoison_memory_region(from, static_cast<std::size_t>(static_cast<char*>(begin) + size - from));
    return;
  }
  static void (*const of_threads)() = reinterpret_cast<void (*)()>(dlsym(RTLD_NEXT, "__asan_handle_no_return"));
  of_threads();
}
}
#endif
