// Values as bytes, one after the other, for another process of the same program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/values/error.hpp"

namespace trigram {

/// Writes values one after the other; what has a length is preceded by it.
class Packer {
 public:
  Packer() = default;
  /// In the memory of what was packed before.
  explicit Packer(std::vector<std::byte> memory) : bytes_(std::move(memory)) { bytes_.clear(); }

  template <class T>
  requires std::is_trivially_copyable_v<T>
  void put(const T& value) { append(&value, sizeof value); }
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void put_all(std::span<const T> values) {
    put(static_cast<std::uint64_t>(values.size()));
    append(values.data(), values.size_bytes());
  }
  /// As put_all of `size` bytes, which the caller writes there before it puts anything else.
  std::span<std::byte> put_room(std::size_t size) {
    put(static_cast<std::uint64_t>(size));
    bytes_.resize(bytes_.size() + size);
    return std::span(bytes_).last(size);
  }
  void put_text(std::string_view text) { put_all(std::span(text.data(), text.size())); }

  /// All that was put.
  std::vector<std::byte> bytes() && { return std::move(bytes_); }

 private:
  void append(const void* data, std::size_t size) {
    const auto* begin = static_cast<const std::byte*>(data);
    bytes_.insert(bytes_.end(), begin, begin + size);
  }

  std::vector<std::byte> bytes_;
};

/// Reads them again in the same order. Every call throws Error where the bytes end too early.
class Unpacker {
 public:
  explicit Unpacker(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <class T>
  requires std::is_trivially_copyable_v<T> T take() {
    T value;
    copy_to(&value, sizeof value);
    return value;
  }
  template <class T>
  requires std::is_trivially_copyable_v<T> std::vector<T> take_all() {
    const auto count = take<std::uint64_t>();
    ensure(count <= rest_.size() / sizeof(T), "packed values end too early");
    std::vector<T> values(count);
    copy_to(values.data(), count * sizeof(T));
    return values;
  }
  std::string take_text() {
    const std::vector<char> text = take_all<char>();
    return {text.begin(), text.end()};
  }
  /// Whether all has been taken.
  bool empty() const { return rest_.empty(); }

 private:
  void copy_to(void* address, std::size_t size) {
    ensure(size <= rest_.size(), "packed values end too early");
    if (size > 0) std::memcpy(address, rest_.data(), size);
    rest_ = rest_.subspan(size);
  }

  std::span<const std::byte> rest_;
};

}  // namespace trigram
