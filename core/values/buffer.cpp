#include "core/values/buffer.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "core/values/error.hpp"

namespace trigram {

std::int64_t size_of(DType dtype) {
  switch (dtype) {
    case DType::f32:
    case DType::i32:
      return 4;
    case DType::f16:
    case DType::bf16:
      return 2;
    case DType::u8:
      return 1;
    case DType::i64:
      return 8;
  }
  throw Error("size_of: not a DType");
}

std::string_view name_of(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return "f32";
    case DType::f16:
      return "f16";
    case DType::bf16:
      return "bf16";
    case DType::u8:
      return "u8";
    case DType::i32:
      return "i32";
    case DType::i64:
      return "i64";
  }
  throw Error("name_of: not a DType");
}

bool is_floating(DType dtype) { return dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16; }

std::int64_t part_begin(std::int64_t count, int parts, int index) {
  return count / parts * index + std::min<std::int64_t>(index, count % parts);
}

std::int64_t part_count(std::int64_t count, int parts, int index) {
  return part_begin(count, parts, index + 1) - part_begin(count, parts, index);
}

namespace {

struct Piece {
  std::int64_t begin, count;
};

// Called for each of many parts: two divisions in all.
Piece part_of(std::int64_t count, int parts, int index) {
  const std::int64_t each = count / parts;
  const std::int64_t left = count - each * parts;
  return {each * index + std::min<std::int64_t>(index, left), each + (index < left ? 1 : 0)};
}

Piece chunk_of(std::int64_t count, int parts, int index) {
  if (count < long_chunk * parts) return part_of(count, parts, index);
  const Piece grains = part_of((count + chunk_grain - 1) / chunk_grain, parts, index);
  const std::int64_t begin = grains.begin * chunk_grain;
  return {begin, std::min(grains.count * chunk_grain, count - begin)};
}

__extension__ using int128 = __int128;

std::int64_t proportional(std::int64_t position, std::int64_t modelled, std::int64_t count) {
  if (modelled == count) return position;
  return static_cast<std::int64_t>(static_cast<int128>(position) * modelled / count);
}

}  // namespace

std::int64_t chunk_begin(std::int64_t count, int parts, int index) {
  return index == parts ? count : chunk_of(count, parts, index).begin;
}

std::int64_t chunk_count(std::int64_t count, int parts, int index) { return chunk_of(count, parts, index).count; }

Buffer Buffer::slice(std::int64_t offset, std::int64_t count) const {
  if (shape_.count == 0) return slice(offset, count, 0);
  return slice(offset, count,
               proportional(offset + count, shape_.modelled_count, shape_.count) -
                   proportional(offset, shape_.modelled_count, shape_.count));
}

Buffer Buffer::slice(std::int64_t offset, std::int64_t count, std::int64_t modelled_count) const {
  ensure(offset >= 0 && count >= 0 && offset + count <= shape_.count, "slice [", offset, ", ", offset + count,
         ") leaves a buffer of ", shape_.count, " elements");
  void* address = address_ == nullptr ? nullptr : static_cast<char*>(address_) + offset * size_of(shape_.dtype);
  return {address, {count, shape_.dtype, modelled_count, shape_.phantom}};
}

Buffer Buffer::chunk(int index, int parts) const {
  const Piece real = chunk_of(shape_.count, parts, index);
  const bool alike = shape_.modelled_count == shape_.count;
  return slice(real.begin, real.count, alike ? real.count : chunk_of(shape_.modelled_count, parts, index).count);
}

Buffer Buffer::as(DType dtype) const {
  const std::int64_t size = size_of(dtype);
  const std::int64_t real = shape_.count * size_of(shape_.dtype);
  ensure(real % size == 0 && modelled_bytes() % size == 0, real, " bytes are no whole number of ", name_of(dtype));
  return {address_, {real / size, dtype, modelled_bytes() / size, shape_.phantom}};
}

void* Buffer::raw() const {
  ensure(!shape_.phantom,
         "a phantom buffer has no data to look at; whoever works on any device leaves memory to Device");
  return address_;
}

void* Buffer::checked_address(std::size_t element_size) const {
  ensure(static_cast<std::int64_t>(element_size) == size_of(shape_.dtype), "a buffer of ", name_of(shape_.dtype),
         " was read as elements of ", element_size, " bytes");
  return raw();
}

}  // namespace trigram
