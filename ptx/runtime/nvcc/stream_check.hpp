// Finds work of two streams that touches the same bytes, and that nothing orders.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <string>

#include "ptx/checks/byte_set.hpp"
#include "ptx/checks/findings.hpp"
#include "ptx/observer.hpp"
#include "ptx/runtime/memory_watch.hpp"
#include "ptx/runtime/stream_order.hpp"

namespace cuda_on_host {

/// Compares what each kernel and each call reads and writes with what others did that do not precede it: where one
/// writes bytes that the other reads or writes, an event is missing between their streams. It goes by bytes and not by
/// allocations, so that a caching allocator may give parts of one to several streams. Allocating on a stream and
/// freeing there count as writing all of it.
class StreamCheck : public MemoryWatch, public std::enable_shared_from_this<StreamCheck> {
 public:
  explicit StreamCheck(trigram::ptx::Findings& findings) : findings_(findings) {}

  /// Of one launch.
  std::unique_ptr<trigram::ptx::Observer> observer();

  void allocated(const void* address, std::size_t bytes) override;
  void freed(const void* address, std::size_t bytes) override;
  void reads(const void* from, std::size_t bytes, const char* call) override;
  void writes(const void* to, std::size_t bytes, const char* call) override;
  void copies(const void* to, const void* from, std::size_t bytes, const char* call) override;

  /// What one piece of work has done.
  struct Use {
    StreamWork work;
    /// "kernel k" or "cudaMemcpyAsync".
    std::string what;
    trigram::ptx::ByteSet reads, writes;
  };
  void add(Use use);

 private:
  void use(const char* call, const void* read, std::size_t read_bytes, const void* written, std::size_t written_bytes);
  void forget(const void* address, std::size_t bytes);
  void compare(const Use& earlier, const Use& now);

  trigram::ptx::Findings& findings_;
  std::mutex mutex_;     ///< guards what follows
  std::list<Use> past_;  ///< what later work can still meet
};

}  // namespace cuda_on_host
