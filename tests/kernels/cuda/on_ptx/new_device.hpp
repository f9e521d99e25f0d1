// A device whose kernels are of one test alone, and know nothing from others.
#pragma once

#include <vector>

#include "kernels/cuda/kernels.hpp"
#include "ptx/runtime/control.hpp"
#include "tests/kernels/test_device.hpp"

namespace trigram::on_ptx {

/// While it lives, the device holds so many blocks at once.
class ResidentBlocks {
 public:
  explicit ResidentBlocks(int count) : before_(cuda_on_host::set_resident_blocks(count)) {}
  ~ResidentBlocks() { cuda_on_host::set_resident_blocks(before_); }
  ResidentBlocks(const ResidentBlocks&) = delete;
  ResidentBlocks& operator=(const ResidentBlocks&) = delete;

 private:
  int before_;
};

class NewDevice final : public Device {
 public:
  NewDevice() : Device(cuda_kernels(nullptr), test_timeline()) {}

  template <class T>
  OwnedBuffer hold(const std::vector<T>& values, DType dtype) {
    return on_device(*this, values, dtype);
  }
  template <class T>
  std::vector<T> values(const Buffer& buffer) {
    return on_host<T>(*this, buffer);
  }
  /// The frame of a vector that begins `offset` elements behind a boundary of memory.
  std::vector<std::uint8_t> encode(const Codec& codec, const std::vector<float>& vector, std::int64_t offset = 0) {
    const auto count = static_cast<std::int64_t>(vector.size());
    const OwnedBuffer room = allocate(Shape::of(offset + count, DType::f32));
    const Buffer in = room.view().slice(offset, count);
    upload(std::as_bytes(std::span(vector)), in);
    const OwnedBuffer frame = allocate(codec.encoded_shape(in.shape()));
    codec.encode(*this, in, frame, {});
    return values<std::uint8_t>(frame);
  }

 private:
  void spend(const KernelCost&) override {}
};

}  // namespace trigram::on_ptx
