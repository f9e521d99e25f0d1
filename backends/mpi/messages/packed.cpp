#include "backends/mpi/messages/packed.hpp"

#include <limits>
#include <string>

#include "core/lane/real_data.hpp"
#include "core/values/error.hpp"

namespace trigram::mpi {
namespace {

void require_countable(std::int64_t bytes) {
  require(bytes <= std::numeric_limits<int>::max(), "MPI's collectives cannot count ", bytes,
          " bytes; use collectives=own, which can");
}

}  // namespace

int countable_bytes(const Buffer& buffer) {
  require_data(buffer, "mpi");
  require_countable(buffer.bytes());
  return static_cast<int>(buffer.bytes());
}

Packed::Packed(Device& device, std::span<const Buffer> parts) : device_(device), parts_(parts) {
  std::int64_t total = 0;
  for (const Buffer& part : parts) {
    counts_.push_back(countable_bytes(part));
    places_.push_back(static_cast<int>(total));
    total += part.bytes();
    require_countable(total);
  }
  memory_ = device.allocate_unfilled(Shape::of(total, DType::u8));
}

void Packed::copy_in(int part) const {
  const auto place = static_cast<std::size_t>(part);
  if (counts_[place] > 0) device_.copy(parts_[place].as(DType::u8), slot(place));
}

void Packed::copy_in() const {
  for (int part = 0; part < static_cast<int>(parts_.size()); ++part) copy_in(part);
}

void Packed::copy_out() const {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (counts_[i] > 0) device_.copy(slot(i), parts_[i].as(DType::u8));
  }
}

Buffer Packed::slot(std::size_t part) const { return memory_.view().slice(places_[part], counts_[part]); }

}  // namespace trigram::mpi
