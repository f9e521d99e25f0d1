// Kernels of a few lines, and what they leave in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ptx/execution/launch.hpp"

namespace trigram::ptx {

/// A module with the kernel `tried(.param .u64 words)`, in which %rd1 is the address of the words, %rd2 that of this
/// thread's own in its block, and %r1 the number of this thread in x.
/// File 1 of its places is tried.cu.
std::string small_module(const std::string& body);

/// A body with the first of these parts, which it has, in another way; and one without the last of them.
std::string with(std::string body, const std::string& part, const std::string& other);
std::string without(std::string body, const std::string& part);

/// What lies on the host from an address on, of which kernels may use just so many bytes.
class BoundedMemory : public Memory {
 public:
  explicit BoundedMemory(std::vector<std::uint32_t>& words) : words_(words) {}
  std::byte* at(std::uint64_t address, std::size_t bytes, Access access) override;

 private:
  std::vector<std::uint32_t>& words_;
};

/// Runs the body over these words.
void run_over(std::vector<std::uint32_t>& words, const std::string& body, Dimensions block, Schedule schedule = {},
              Dimensions grid = {}, Observer* observer = nullptr);

/// Runs the body over so many words that are 0 before, and returns them.
std::vector<std::uint32_t> words_after(const std::string& body, Dimensions block, std::size_t words,
                                       Schedule schedule = {}, Dimensions grid = {}, Observer* observer = nullptr);

/// The message of the Fault that the body raises; empty where it raises none.
std::string fault_of(const std::string& body, Dimensions block = {32}, Schedule schedule = {});

}  // namespace trigram::ptx
