// Stores that other threads do not see yet.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ptx/execution/lanes.hpp"
#include "ptx/execution/schedule.hpp"

namespace trigram::ptx {

/// A word of memory on the host of which a thread has stored some bytes.
struct StoredWord {
  std::array<std::byte, 8> bytes{};
  /// A bit for each byte that is stored.
  std::uint8_t which = 0;

  void put(std::byte* word) const;
};

/// What the lanes of a warp have stored in global and shared memory, and the others are not yet to see: each lane sees
/// its own stores, and all see them once a barrier or a fence orders them. Only addresses' order is kept, as PTX keeps
/// it: two words of one lane may become visible in either order.
class StoreBuffer {
 public:
  explicit StoreBuffer(Stores stores, std::uint64_t seed) : stores_(stores), random_(seed) {}

  /// Where what these lanes read at `places` lies as they see it, until the next call.
  std::array<std::byte*, lanes_of_warp> seen(std::uint32_t lanes, const std::array<std::byte*, lanes_of_warp>& places,
                                             std::size_t bytes);

  /// Where these lanes are to write what they store at `places`; kept() takes it from there.
  std::array<std::byte*, lanes_of_warp> begin(std::uint32_t lanes, const std::array<std::byte*, lanes_of_warp>& places,
                                              std::size_t bytes);
  void keep();

  /// Makes the stores of these lanes visible to all.
  void drain(std::uint32_t lanes);

  /// The same for what lies in shared memory; the rest is moved to what is seen by nobody before the kernel ends.
  using Unseen = std::vector<std::pair<std::byte*, StoredWord>>;
  void end_block(const std::vector<std::byte>& shared, Unseen& unseen);

 private:
  static constexpr std::size_t most_bytes = 32;
  bool draws_one_in(std::uint64_t number);
  std::array<std::byte*, lanes_of_warp> staged();
  void store(std::uint32_t lane, const std::byte* from);

  Stores stores_;
  std::uint64_t random_;
  std::array<std::unordered_map<std::byte*, StoredWord>, lanes_of_warp> words_;
  /// Of the store that has begun.
  std::uint32_t lanes_ = 0;
  std::array<std::byte*, lanes_of_warp> places_{};
  std::size_t bytes_ = 0;
  alignas(most_bytes) std::array<std::byte, most_bytes * lanes_of_warp> staging_{};
};

}  // namespace trigram::ptx
