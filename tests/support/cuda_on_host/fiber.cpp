// Fibers by ucontext, announced to AddressSanitizer and ThreadSanitizer.
#include "tests/support/cuda_on_host/fiber.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <new>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace cuda_on_host {
namespace {

constexpr std::size_t stack_bytes = 256 * 1024;

}  // namespace

Fiber::Fiber(std::function<void()> body)
    : body_(std::move(body)),
      stack_(mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
  if (stack_ == MAP_FAILED) throw std::bad_alloc();
#if defined(__SANITIZE_ADDRESS__)
  ASAN_UNPOISON_MEMORY_REGION(stack_, stack_bytes);
#endif
#if defined(__SANITIZE_THREAD__)
  inside_thread_ = __tsan_create_fiber(0);
#endif
  getcontext(&inside_);
  inside_.uc_stack.ss_sp = stack_;
  inside_.uc_stack.ss_size = stack_bytes;
  inside_.uc_link = nullptr;
  const auto self = reinterpret_cast<std::uintptr_t>(this);
  makecontext(&inside_, reinterpret_cast<void (*)()>(&Fiber::begin), 2, static_cast<unsigned>(self >> 32U),
              static_cast<unsigned>(self));
}

Fiber::~Fiber() {
#if defined(__SANITIZE_THREAD__)
  __tsan_destroy_fiber(inside_thread_);
#endif
#if defined(__SANITIZE_ADDRESS__)
  ASAN_UNPOISON_MEMORY_REGION(stack_, stack_bytes);
#endif
  munmap(stack_, stack_bytes);
}

void Fiber::begin(unsigned upper, unsigned lower) {
  auto* self = reinterpret_cast<Fiber*>(static_cast<std::uintptr_t>(upper) << 32U | lower);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(nullptr, &self->outside_stack_, &self->outside_size_);
#endif
  self->body_();
}

void Fiber::enter() {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&outside_fake_, stack_, stack_bytes);
#endif
#if defined(__SANITIZE_THREAD__)
  outside_thread_ = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(inside_thread_, 0);
#endif
  swapcontext(&outside_, &inside_);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(outside_fake_, nullptr, nullptr);
#endif
}

void Fiber::leave() {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&inside_fake_, outside_stack_, outside_size_);
#endif
#if defined(__SANITIZE_THREAD__)
  __tsan_switch_to_fiber(outside_thread_, 0);
#endif
  swapcontext(&inside_, &outside_);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(inside_fake_, &outside_stack_, &outside_size_);
#endif
}

}  // namespace cuda_on_host
