// Fibers by Boost.Context, announced to AddressSanitizer and ThreadSanitizer. Its bare switches, since those of
// ucontext call the kernel each time, and `boost::context::fiber` unwinds the stack of what is given up, by an
// exception that a kernel's caller would catch.
#include "tests/support/cuda_on_host/fiber.hpp"

#include <sys/mman.h>

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

using boost::context::detail::jump_fcontext, boost::context::detail::make_fcontext, boost::context::detail::transfer_t;

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
  inside_ = make_fcontext(static_cast<std::byte*>(stack_) + stack_bytes, stack_bytes, &Fiber::begin);
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

void Fiber::begin(transfer_t entered) {
  auto* self = static_cast<Fiber*>(entered.data);
  self->outside_ = entered.fctx;
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
  inside_ = jump_fcontext(inside_, this).fctx;
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
  outside_ = jump_fcontext(outside_, nullptr).fctx;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(inside_fake_, &outside_stack_, &outside_size_);
#endif
}

}  // namespace cuda_on_host
