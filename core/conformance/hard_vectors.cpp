#include "core/conformance/hard_vectors.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/values/error.hpp"

namespace trigram {
namespace {

float just_below(float value) { return std::nextafter(value, 0.0F); }

/// What a scale may be parted into: levels of a few bits, whole and halved, with and without one for the sign.
std::vector<int> parts_of_scales() {
  std::vector<int> parts;
  for (int part = 2; part <= 16; ++part) parts.push_back(part);
  for (int power = 32; power <= 512; power *= 2) parts.insert(parts.end(), {power - 2, power - 1, power});
  return parts;
}

/// Blocks that codecs scale by themselves, and all elements.
std::vector<std::int64_t> blocks(std::int64_t count) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t size = 16; size < count; size *= 2) {
    if (size <= 1024) sizes.push_back(size);
  }
  sizes.push_back(count);
  return sizes;
}

class HardVectors {
 public:
  explicit HardVectors(std::int64_t count) : count_(count) {}

  std::vector<HardVector> all() && {
    single();
    alike();
    falling();
    for (const std::int64_t size : blocks(count_)) large_and_small(size);
    return std::move(all_);
  }

 private:
  void add(const std::string& name, const std::function<float(std::int64_t)>& value) {
    HardVector& one = all_.emplace_back(HardVector{name, {}});
    for (std::int64_t i = 0; i < count_; ++i) one.values.push_back(value(i));
  }

  void single() {
    for (const std::int64_t place : {std::int64_t{0}, count_ / 2, count_ - 1}) {
      for (const float value : {1.0F, -1.0F, just_below(1.0F)}) {
        add("one of " + number_text(value) + ", then zeros", [=](std::int64_t i) { return i == place ? value : 0.0F; });
      }
    }
  }

  void alike() {
    for (int power = 1; power <= 12; ++power) {
      const float value = (1.0F + std::ldexp(1.0F, -power)) / 2;
      add("all " + number_text(value), [=](std::int64_t) { return value; });
      add("all " + number_text(value) + " with signs in turn",
          [=](std::int64_t i) { return i % 2 == 0 ? value : -value; });
    }
    for (const float value : {1.0F, just_below(1.0F), 2.0F / 3}) {
      add("all " + number_text(value), [=](std::int64_t) { return value; });
    }
  }

  void falling() {
    for (const float ratio : {0.5F, 0.75F, 0.9F, 0.99F}) {
      add("falling by " + number_text(ratio),
          [=](std::int64_t i) { return std::pow(ratio, static_cast<float>(i % 100)); });
    }
    add("powers of two", [](std::int64_t i) { return std::ldexp(1.0F, static_cast<int>(-(i % 24))); });
    add("just below powers of two",
        [](std::int64_t i) { return just_below(std::ldexp(1.0F, static_cast<int>(-(i % 24)))); });
  }

  /// In the first `size` elements; the others are zero.
  void large_and_small(std::int64_t size) {
    for (const int part : parts_of_scales()) {
      const float small = 1.0F / static_cast<float>(part);
      const std::string rest = std::to_string(size - 1) + " of " + number_text(small);
      add("one of 1, then " + rest, [=](std::int64_t i) { return i == 0 ? 1.0F : i < size ? small : 0.0F; });
      add("one of 1, one of -1, then " + rest, [=](std::int64_t i) {
        return i == 0 ? 1.0F : i == 1 ? -1.0F : i < size ? small : 0.0F;
      });
      if (size < count_) continue;
      add("one of just below 1, then " + rest, [=](std::int64_t i) { return i == 0 ? just_below(1.0F) : small; });
    }
  }

  std::int64_t count_;
  std::vector<HardVector> all_;
};

}  // namespace

std::vector<HardVector> hard_vectors(std::int64_t count) { return HardVectors(count).all(); }

HardVector changed(const HardVector& from, const Philox& random, std::uint64_t draw) {
  constexpr std::uint64_t numbers = 4;
  const auto uniform = [&](std::uint64_t index) { return random.uniform(numbers * draw + index); };
  const auto size = static_cast<float>(from.values.size());
  const auto place = [&](std::uint64_t index) {
    return std::min(static_cast<std::size_t>(uniform(index) * size), from.values.size() - 1);
  };
  HardVector next = from;
  const float kind = uniform(0);
  float& value = next.values[place(1)];
  if (kind < 0.25F) {
    value = from.values[place(2)];
  } else if (kind < 0.75F) {
    value *= 0.75F + 0.5F * uniform(2);
  } else {
    value = 2 * uniform(2) - 1;
  }
  float largest = 0;
  for (const float one : next.values) largest = std::max(largest, std::abs(one));
  return largest >= 0.5F && largest <= 1 ? next : from;
}

}  // namespace trigram
