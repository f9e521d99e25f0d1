#include "ptx/meter/memory_traffic.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace trigram::ptx {

namespace {

/// Where each active lane's bytes begin, ascending.
std::vector<std::uint64_t> begins(const WarpAccess& access) {
  std::vector<std::uint64_t> all;
  all.reserve(lanes_of_warp);
  over(access.lanes, [&](std::uint32_t lane) { all.push_back(access.addresses[lane]); });
  std::ranges::sort(all);
  return all;
}

/// Of the lanes of one group: the most words that lie in one bank.
std::uint32_t most_in_a_bank(const WarpAccess& access, std::uint32_t lanes) {
  std::array<std::vector<std::uint64_t>, banks> words;
  std::uint32_t most = 0;
  over(lanes, [&](std::uint32_t lane) {
    const std::uint64_t first = access.addresses[lane] / bank_bytes;
    const std::uint64_t last = (access.addresses[lane] + access.bytes - 1) / bank_bytes;
    for (std::uint64_t word = first; word <= last; ++word) {
      std::vector<std::uint64_t>& in_bank = words[word % banks];
      if (std::ranges::find(in_bank, word) == in_bank.end()) in_bank.push_back(word);
      most = std::max(most, static_cast<std::uint32_t>(in_bank.size()));
    }
  });
  return most;
}

}  // namespace

Sectors sectors_of(const WarpAccess& access) {
  Sectors sectors;
  std::uint64_t before = ~std::uint64_t{0};
  for (const std::uint64_t begin : begins(access)) {
    // Aligned to their size, two lanes' bytes are the same or none.
    if (begin != before) sectors.useful_bytes += access.bytes;
    before = begin;
    for (std::uint64_t sector = begin / sector_bytes; sector <= (begin + access.bytes - 1) / sector_bytes; ++sector) {
      if (sectors.touched.empty() || sectors.touched.back() < sector) sectors.touched.push_back(sector);
    }
  }
  return sectors;
}

Wavefronts wavefronts_of(const WarpAccess& access) {
  const std::uint32_t groups = std::max(access.bytes / bank_bytes, 1U), size = lanes_of_warp / groups;
  Wavefronts wavefronts;
  for (std::uint32_t group = 0; group < groups; ++group) {
    const std::uint32_t of_group = all_lanes >> (lanes_of_warp - size) << (group * size);
    const std::uint32_t lanes = access.lanes & of_group;
    if (lanes == 0) continue;
    ++wavefronts.needed;
    wavefronts.taken += most_in_a_bank(access, lanes);
  }
  return wavefronts;
}

}  // namespace trigram::ptx
