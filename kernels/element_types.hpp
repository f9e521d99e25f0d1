// From a DType at run time to an element type at compile time.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include "core/values/buffer.hpp"
#include "core/values/error.hpp"
#include "kernels/scalar.hpp"

namespace trigram {

/// Calls body(std::type_identity<T>()) with the element type of a floating dtype.
template <class Body>
void with_floating(DType dtype, const Body& body) {
  switch (dtype) {
    case DType::f32:
      return body(std::type_identity<float>());
    case DType::f16:
      return body(std::type_identity<scalar::F16>());
    case DType::bf16:
      return body(std::type_identity<scalar::BF16>());
    default:
      throw Error("no floating-point type: " + std::string(name_of(dtype)));
  }
}

/// Calls body(std::type_identity<T>()) with the element type of a dtype of whole numbers.
template <class Body>
void with_whole(DType dtype, const Body& body) {
  switch (dtype) {
    case DType::u8:
      return body(std::type_identity<std::uint8_t>());
    case DType::i32:
      return body(std::type_identity<std::int32_t>());
    case DType::i64:
      return body(std::type_identity<std::int64_t>());
    default:
      throw Error("no type of whole numbers: " + std::string(name_of(dtype)));
  }
}

/// Calls body(std::type_identity<T>()) with the element type of any dtype.
template <class Body>
void with_any(DType dtype, const Body& body) {
  is_floating(dtype) ? with_floating(dtype, body) : with_whole(dtype, body);
}

}  // namespace trigram
