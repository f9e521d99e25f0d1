// One stack to run on, which sanitizers are told about.
#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <functional>

namespace cuda_on_host {

/// Code that can be left and entered again. Belongs to one OS thread.
class Fiber {
 public:
  /// `body` is entered at the first `enter` and must never return: it leaves by `leave`.
  explicit Fiber(std::function<void()> body);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// From outside: runs the fiber until it leaves.
  void enter();
  /// From inside: returns to who entered.
  void leave();

 private:
  static void begin(boost::context::detail::transfer_t entered);

  std::function<void()> body_;
  void* stack_;
  boost::context::detail::fcontext_t inside_ = nullptr, outside_ = nullptr;  ///< where each goes on
  void* inside_fake_ = nullptr;                                              ///< AddressSanitizer's shadow stacks
  void* outside_fake_ = nullptr;
  const void* outside_stack_ = nullptr;
  std::size_t outside_size_ = 0;
  void* inside_thread_ = nullptr;  ///< ThreadSanitizer's
  void* outside_thread_ = nullptr;
};

}  // namespace cuda_on_host
