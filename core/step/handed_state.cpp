#include "core/step/handed_state.hpp"

#include <algorithm>
#include <utility>

#include "core/values/error.hpp"
#include "core/values/quoted.hpp"

namespace trigram {

HandedState::HandedState(Device& device, const std::vector<std::byte>& state) : device_(device) {
  for (StateItem& item : items_of(state)) named_[item.name].items.push_back(std::move(item));
}

const StateItem* HandedState::next(const std::string& name) {
  const auto found = named_.find(name);
  if (found == named_.end() || found->second.next == found->second.items.size()) return nullptr;
  return &found->second.items[found->second.next++];
}

OwnedBuffer HandedState::make_room(const Item& item, const Shape& shape) {
  const auto found = named_.find(item.name);
  if (found == named_.end() || found->second.next == found->second.items.size()) return {};
  return found->second.items[found->second.next].bytes.empty() ? OwnedBuffer() : device_.allocate(shape);
}

void HandedState::visit(const Item& item, Buffer x) {
  const StateItem* held = next(item.name);
  if (held == nullptr || held->bytes.empty() || x.bytes() == 0) return;
  const std::int64_t element = size_of(x.dtype()), whole = item.extent.whole > 0 ? item.extent.whole : x.count();
  const std::int64_t first = item.extent.begin - held->extent.begin;
  const auto count = static_cast<std::int64_t>(held->bytes.size()) / element;
  require(
      held->dtype == x.dtype() && held->extent.whole == whole && first >= 0 && first + x.count() <= count,
      "the checkpoint holds ", count, " of ", held->extent.whole, " elements of ", [&] { return in_quotes(item.name); },
      ", and here they are ", x.count(), " of ", whole,
      ", which were not cut like that; go on with as many ranks, on nodes of the same size");
  device_.upload(
      std::span(held->bytes).subspan(static_cast<std::size_t>(first * element), static_cast<std::size_t>(x.bytes())),
      x);
}

void HandedState::visit(const Item& item, std::span<std::byte> x) {
  const StateItem* held = next(item.name);
  if (held == nullptr) return;
  require(
      held->bytes.size() == x.size(), "the checkpoint holds ", held->bytes.size(), " bytes of ",
      [&] { return in_quotes(item.name); }, ", but here it has ", x.size(),
      " bytes; go on with the program and the settings that wrote it");
  std::copy(held->bytes.begin(), held->bytes.end(), x.begin());
}

void HandedState::visit(const Item& item, const Pack&, const Unpack& unpack) {
  if (const StateItem* held = next(item.name)) unpack(held->bytes);
}

}  // namespace trigram
