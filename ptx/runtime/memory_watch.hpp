// Who is told what calls of the runtime do to memory of devices.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace cuda_on_host {

/// Is told when it is done, on the thread that does it: for what is ordered on a stream, when the stream has come there
/// (stream_order.hpp says which of its work that is).
class MemoryWatch {
 public:
  virtual ~MemoryWatch() = default;

  virtual void allocated(const void*, std::size_t /*bytes*/) {}
  virtual void freed(const void*, std::size_t /*bytes*/) {}
  virtual void reads(const void*, std::size_t /*bytes*/, const char* /*call*/) {}
  virtual void writes(const void*, std::size_t /*bytes*/, const char* /*call*/) {}
  /// Within devices' memory; of other copies, reads or writes tells.
  virtual void copies(const void* /*to*/, const void* /*from*/, std::size_t /*bytes*/, const char* /*call*/) {}
};

/// From now on one more is told; under a name that had one, that one no longer is.
void watch_memory(const std::string& name, std::shared_ptr<MemoryWatch> watch);
void watch_memory_no_longer(const std::string& name);

/// Tells all of them.
MemoryWatch& memory_watches();

}  // namespace cuda_on_host
