// Elements of a device's memory as vectors of the host, and back.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <vector>

#include "core/device/device.hpp"

namespace trigram {

/// The element type that a Buffer calls T.
template <class T>
constexpr DType dtype_of() {
  if constexpr (std::same_as<T, float>) return DType::f32;
  if constexpr (std::same_as<T, std::uint8_t>) return DType::u8;
  if constexpr (std::same_as<T, std::int32_t>) return DType::i32;
  if constexpr (std::same_as<T, std::int64_t>) return DType::i64;
}

/// New memory of the device with these values, as elements of `dtype`, which are as wide as T.
template <class T>
OwnedBuffer on_device(Device& device, const std::vector<T>& values, DType dtype = dtype_of<T>()) {
  OwnedBuffer buffer = device.allocate(Shape::of(static_cast<std::int64_t>(values.size()), dtype));
  if (!values.empty()) device.upload(std::as_bytes(std::span(values)), buffer);
  return buffer;
}

/// The elements of a buffer with real data, each as wide as T.
template <class T>
std::vector<T> on_host(Device& device, Buffer buffer) {
  std::vector<T> values(static_cast<std::size_t>(buffer.count()));
  if (!values.empty()) device.download(buffer, std::as_writable_bytes(std::span(values)));
  return values;
}

}  // namespace trigram
