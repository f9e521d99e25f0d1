// Sets of bytes of an address space.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>

namespace trigram::ptx {

/// Which bytes of a page are in a set, a bit each.
struct BytesOfPage {
  static constexpr std::uint64_t bytes = 4096, bits = 64;
  std::array<std::uint64_t, bytes / bits> words{};
};

/// Any bytes of all that 64 bits address. Pages that are in it whole, as those of large allocations, take no bits.
class ByteSet {
 public:
  void insert(std::uint64_t address, std::uint64_t bytes);
  void erase(std::uint64_t address, std::uint64_t bytes);
  void erase(const ByteSet& others);

  /// The first byte from the address on, among so many, that is in the set.
  std::optional<std::uint64_t> first_in(std::uint64_t address, std::uint64_t bytes) const;
  /// One that is in both.
  std::optional<std::uint64_t> common(const ByteSet& other) const;

  bool empty() const { return pages_.empty(); }

 private:
  /// Null for a page of which all is in the set.
  using Page = std::unique_ptr<BytesOfPage>;

  std::unordered_map<std::uint64_t, Page> pages_;
};

}  // namespace trigram::ptx
