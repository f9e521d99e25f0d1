// Global memory as kernels see it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace trigram::ptx {

/// What a kernel does to memory.
enum class Access { read, write };

/// An address that a kernel may not use. The message says what lies there instead; where the kernel came from is added
/// by the interpreter, which throws a Fault.
class InvalidAddress : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Memory that all threads of a grid share, by addresses of the device.
class Memory {
 public:
  virtual ~Memory() = default;

  /// Where `bytes` bytes from `address` lie on the host; they lie there in a row. Throws InvalidAddress unless all of
  /// them may be accessed so. It is called for each access of a lane, and once for those of a whole warp where they
  /// follow one another.
  virtual std::byte* at(std::uint64_t address, std::size_t bytes, Access access) = 0;

  /// What lies at an address, as "byte 8 of 400 bytes at 0x7f0000001000"; empty where nothing is known of it.
  virtual std::string what_lies_at(std::uint64_t) { return {}; }
};

/// The memory of this process: addresses are taken as they are, and a wrong one ends the process.
class HostMemory : public Memory {
 public:
  std::byte* at(std::uint64_t address, std::size_t bytes, Access access) override;
};

}  // namespace trigram::ptx
