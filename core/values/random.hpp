// Random numbers without state: a Key names a stream, an index names a number of it (Salmon et al., "Parallel random
// numbers: as easy as 1, 2, 3", SC 2011). Host and devices draw the same numbers in any order.
#pragma once

#include <Random123/philox.h>

#include <cstdint>
#include <vector>

#include "core/values/key.hpp"

namespace trigram {

/// A stream of random numbers. All fields of the key enter one block of Philox4x64; 128 bits of the result name the
/// stream: 64 are the key of Philox4x32-10 and 64 the upper half of its counter, whose lower half is the number's
/// index. `block`, `uniform` and `bits64` are views of the same bits: draw one kind of number from one stream.
class Philox {
 public:
  /// The four 32-bit words of one block, read as block[0] … block[3].
  using Block = r123::Philox4x32::ctr_type;

  explicit Philox(const Key& key) {
    const r123::Philox4x64::ctr_type place = {
        {static_cast<std::uint64_t>(key.step),
         halves(static_cast<std::uint32_t>(key.rank), static_cast<std::uint32_t>(key.bucket)),
         halves(static_cast<std::uint32_t>(key.chunk), static_cast<std::uint32_t>(key.phase)), 0}};
    const r123::Philox4x64::key_type seed = {{key.seed, 0}};
    const r123::Philox4x64::ctr_type stream = r123::Philox4x64()(place, seed);
    key_ = {{low(stream[0]), high(stream[0])}};
    upper_ = stream[1];
  }

  /// Block `index` < 2^64: words 4·index … 4·index + 3 of the stream.
  Block block(std::uint64_t index) const {
    return r123::Philox4x32()({{low(index), high(index), low(upper_), high(upper_)}}, key_);
  }

  /// Word `index` of the stream.
  std::uint32_t bits(std::uint64_t index) const { return block(index / 4)[index % 4]; }

  /// Words 2·index and 2·index + 1, the first one low.
  std::uint64_t bits64(std::uint64_t index) const {
    const Block words = block(index / 2);
    return index % 2 == 0 ? halves(words[1], words[0]) : halves(words[3], words[2]);
  }

  /// Number `index`, uniform on the multiples of 2^−24 in [0, 1): the upper 24 bits of word `index`.
  float uniform(std::uint64_t index) const { return to_uniform(bits(index)); }
  static float to_uniform(std::uint32_t word) { return static_cast<float>(word >> 8U) * 0x1p-24F; }

  /// A whole number in [0, bound) without bias, for bound > 0 and index < 2^56 (Lemire, "Fast random integer generation
  /// in an interval", 2019). A rejected draw tries again with the attempt in the upper byte of the index.
  std::uint64_t below(std::uint64_t index, std::uint64_t bound) const {
    const std::uint64_t rejected = (0 - bound) % bound;
    for (std::uint64_t attempt = 0;; ++attempt) {
      const Wide product = static_cast<Wide>(bits64(index | attempt << 56U)) * bound;
      if (static_cast<std::uint64_t>(product) >= rejected) return static_cast<std::uint64_t>(product >> 64U);
    }
  }

  /// The key and the upper half of the counter, for kernels that run many blocks side by side.
  std::uint32_t key_word(int index) const { return key_[static_cast<std::size_t>(index)]; }
  std::uint64_t upper_counter() const { return upper_; }

 private:
  __extension__ typedef unsigned __int128 Wide;  // nvcc knows no __extension__ using

  static std::uint32_t low(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
  static std::uint32_t high(std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32U); }
  static std::uint64_t halves(std::uint32_t upper, std::uint32_t lower) {
    return static_cast<std::uint64_t>(upper) << 32U | lower;
  }

  r123::Philox4x32::key_type key_;
  std::uint64_t upper_;
};

/// A uniformly random order of 0 … count − 1 (Fisher and Yates).
std::vector<std::int64_t> random_permutation(const Philox& philox, std::int64_t count);

}  // namespace trigram
