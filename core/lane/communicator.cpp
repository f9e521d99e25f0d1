#include "core/lane/communicator.hpp"

#include <algorithm>
#include <bit>
#include <set>

#include "core/device/on_host.hpp"

namespace trigram {
namespace {

/// A color and a key as one number, so that one gathering has both.
std::int64_t packed(int color, int key) {
  return std::int64_t{color} * (std::int64_t{1} << 32) + std::bit_cast<std::uint32_t>(key);
}
int color_in(std::int64_t number) { return static_cast<int>(number >> 32); }
int key_in(std::int64_t number) { return std::bit_cast<int>(static_cast<std::uint32_t>(number)); }

}  // namespace

void Communicator::perform(const CollectiveCall& call) { kind_of(call.collective).by_exchange(*this, call); }

std::unique_ptr<Communicator> Communicator::split(int color, int key) {
  const std::vector<std::int64_t> all = all_gather_number(packed(color, key));
  GroupPart part;
  std::set<int> colors;
  for (int rank = 0; rank < size(); ++rank) {
    const int its_color = color_in(all[static_cast<std::size_t>(rank)]);
    colors.insert(its_color);
    if (its_color == color) part.members.push_back(rank);
  }
  std::ranges::stable_sort(part.members, {}, [&](int rank) { return key_in(all[static_cast<std::size_t>(rank)]); });
  part.index = static_cast<int>(std::distance(colors.begin(), colors.find(color)));
  std::unique_ptr<Communicator> made = regroup(part);
  made->use_all_reduce(all_reduce_algorithm());
  return made;
}

std::vector<std::int64_t> Communicator::all_gather_number(std::int64_t value) {
  const OwnedBuffer all = on_device(device(), std::vector(static_cast<std::size_t>(size()), value));
  kind_of(Collective::all_gather).by_exchange(*this, {.collective = Collective::all_gather, .x = all.view()});
  return on_host<std::int64_t>(device(), all);
}

Buffer Communicator::scratch(const Shape& shape) {
  if (shape.phantom) return {nullptr, shape};
  const std::int64_t bytes = shape.count * size_of(shape.dtype);
  if (scratch_.view().bytes() < bytes) scratch_ = device().allocate(Shape::of(bytes, DType::u8));
  return {scratch_.view().raw(), shape};
}

}  // namespace trigram
