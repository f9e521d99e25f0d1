// A typed view of memory on some Device, with the size that cost models use where it differs.
#pragma once

#include <cstdint>
#include <string_view>

namespace trigram {

/// Element types that travel and are reduced.
enum class DType : std::uint8_t { f32, f16, bf16, u8, i32, i64 };

/// Size of one element in bytes.
std::int64_t size_of(DType dtype);

/// "f32", "f16", "bf16", "u8", "i32", "i64".
std::string_view name_of(DType dtype);
/// Whether its elements are f32, f16 or bf16, and no whole numbers.
bool is_floating(DType dtype);

/// Where part `index` of `parts` begins when `count` elements are cut evenly: the first `count % parts`
/// parts hold one element more than the others. `index` may be `parts`, which gives `count`.
std::int64_t part_begin(std::int64_t count, int parts, int index);

/// Number of elements of part `index` in the same cut.
std::int64_t part_count(std::int64_t count, int parts, int index);

/// Where chunk `index` of `parts` begins, the cut of vectors that collectives and primitives share. As part_begin cuts,
/// but where chunks have `long_chunk` elements or more, by grains of `chunk_grain`: they begin then where kernels and
/// networks move 16 bytes at a time. The last has the grain that is not whole; the first is the longest, by less than a
/// grain above the mean.
inline constexpr std::int64_t chunk_grain = 64, long_chunk = 4096;
std::int64_t chunk_begin(std::int64_t count, int parts, int index);

/// Number of elements of chunk `index` in the same cut.
std::int64_t chunk_count(std::int64_t count, int parts, int index);

/// What a buffer looks like without its memory.
struct Shape {
  std::int64_t count = 0;  ///< elements that exist
  DType dtype = DType::f32;
  std::int64_t modelled_count = 0;  ///< elements that cost, wire size and metering use
  bool phantom = false;             ///< has a size and no data

  static Shape of(std::int64_t count, DType dtype) { return {count, dtype, count, false}; }
};

/// A view: it does not own. Algorithms pass Buffers around and never look inside; only kernels and
/// backends call `data`. A phantom buffer costs time and moves no byte.
class Buffer {
 public:
  Buffer() = default;
  Buffer(void* address, const Shape& shape) : address_(address), shape_(shape) {}

  std::int64_t count() const { return shape_.count; }
  DType dtype() const { return shape_.dtype; }
  std::int64_t modelled_count() const { return shape_.modelled_count; }
  bool is_phantom() const { return shape_.phantom; }
  bool empty() const { return shape_.modelled_count == 0 && shape_.count == 0; }
  const Shape& shape() const { return shape_; }

  /// Bytes of memory behind the view; 0 for a phantom.
  std::int64_t bytes() const { return shape_.phantom ? 0 : shape_.count * size_of(shape_.dtype); }
  /// Bytes that the wire and the cost model see.
  std::int64_t modelled_bytes() const { return shape_.modelled_count * size_of(shape_.dtype); }

  /// Elements [offset, offset + count); the modelled size is cut in the same proportion.
  /// Throws Error when the range leaves the buffer.
  Buffer slice(std::int64_t offset, std::int64_t count) const;

  /// The same with the modelled count given, for packed frames whose sizes are not proportional.
  Buffer slice(std::int64_t offset, std::int64_t count, std::int64_t modelled_count) const;

  /// Chunk `index` of the cut into `parts` (see chunk_begin), real and modelled sizes cut by the same rule.
  Buffer chunk(int index, int parts) const;

  /// The same bytes as elements of another type; both sizes must divide. Throws Error otherwise.
  Buffer as(DType dtype) const;

  /// The first element, for kernels and backends. Throws Error on a phantom or on another type's size.
  template <class T>
  T* data() const {
    return static_cast<T*>(checked_address(sizeof(T)));
  }

  /// The memory as bytes, for kernels and backends. Throws Error on a phantom.
  void* raw() const;

 private:
  void* checked_address(std::size_t element_size) const;

  void* address_ = nullptr;
  Shape shape_;
};

/// Where a part lies in a whole, in elements.
struct Extent {
  std::int64_t begin = 0;
  std::int64_t whole = 0;  ///< elements of the whole; 0: the part is all of it

  friend bool operator==(const Extent&, const Extent&) = default;
};
/// Of a view that was cut from `whole`; that of nothing where either has no memory.
Extent extent_in(const Buffer& whole, const Buffer& part);

}  // namespace trigram
