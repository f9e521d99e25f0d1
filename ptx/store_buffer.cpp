#include "ptx/store_buffer.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

namespace trigram::ptx {

namespace {

constexpr std::size_t word_bytes = 8;

std::size_t offset_in_word(const std::byte* place) { return reinterpret_cast<std::uintptr_t>(place) % word_bytes; }

}  // namespace

void StoredWord::put(std::byte* word) const {
  for (std::size_t byte = 0; byte < word_bytes; ++byte) {
    if ((which >> byte & 1) != 0) word[byte] = bytes[byte];
  }
}

/// A pseudorandom number, by Marsaglia's xorshift: buffers are many, and begin often.
bool StoreBuffer::draws_one_in(std::uint64_t number) {
  random_ ^= random_ << 13U;
  random_ ^= random_ >> 7U;
  random_ ^= random_ << 17U;
  return random_ % number == 0;
}

std::array<std::byte*, lanes_of_warp> StoreBuffer::staged() {
  std::array<std::byte*, lanes_of_warp> places;
  for (std::size_t lane = 0; lane < lanes_of_warp; ++lane) places[lane] = &staging_[lane * most_bytes];
  return places;
}

std::array<std::byte*, lanes_of_warp> StoreBuffer::seen(std::uint32_t lanes,
                                                        const std::array<std::byte*, lanes_of_warp>& places,
                                                        std::size_t bytes) {
  const auto staged_places = staged();
  over(lanes, [&](std::uint32_t lane) {
    for (std::size_t at = 0, taken = 0; at < bytes; at += taken) {
      std::byte* const place = places[lane] + at;
      const std::size_t offset = offset_in_word(place);
      taken = std::min(bytes - at, word_bytes - offset);
      std::byte word[word_bytes];
      std::memcpy(word + offset, place, taken);
      const auto stored = words_[lane].find(place - offset);
      if (stored != words_[lane].end()) stored->second.put(word);
      std::memcpy(staged_places[lane] + at, word + offset, taken);
    }
  });
  return staged_places;
}

std::array<std::byte*, lanes_of_warp> StoreBuffer::begin(std::uint32_t lanes,
                                                         const std::array<std::byte*, lanes_of_warp>& places,
                                                         std::size_t bytes) {
  lanes_ = lanes;
  places_ = places;
  bytes_ = bytes;
  return staged();
}

void StoreBuffer::keep() {
  const auto from = staged();
  over(lanes_, [&](std::uint32_t lane) { store(lane, from[lane]); });
  constexpr std::uint64_t few = 8;
  if (stores_ == Stores::shuffled && draws_one_in(few)) drain(static_cast<std::uint32_t>(random_ >> lanes_of_warp));
}

void StoreBuffer::store(std::uint32_t lane, const std::byte* from) {
  for (std::size_t at = 0, taken = 0; at < bytes_; at += taken) {
    std::byte* const place = places_[lane] + at;
    const std::size_t offset = offset_in_word(place);
    taken = std::min(bytes_ - at, word_bytes - offset);
    StoredWord& word = words_[lane][place - offset];
    std::memcpy(&word.bytes[offset], from + at, taken);
    word.which |= static_cast<std::uint8_t>(((1U << taken) - 1) << offset);
  }
}

void StoreBuffer::drain(std::uint32_t lanes) {
  over(lanes, [&](std::uint32_t lane) {
    for (const auto& [place, word] : words_[lane]) word.put(place);
    words_[lane].clear();
  });
}

void StoreBuffer::end_block(const std::vector<std::byte>& shared, Unseen& unseen) {
  const std::byte *begin = shared.data(), *end = begin + shared.size();
  const auto is_shared = [&](const std::byte* place) {
    return std::greater_equal<>()(place, begin) && std::less<>()(place, end);
  };
  for (auto& words : words_) {
    for (const auto& [place, word] : words) {
      if (!is_shared(place)) unseen.emplace_back(place, word);
    }
    words.clear();
  }
}

}  // namespace trigram::ptx
