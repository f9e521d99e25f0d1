#include "core/step/state.hpp"

#include <algorithm>
#include <utility>

#include "core/step/state_items.hpp"
#include "core/values/error.hpp"
#include "core/values/quoted.hpp"

namespace trigram {
namespace {

std::string length_of(std::size_t bytes) { return std::to_string(bytes) + " bytes"; }

void require_length(const std::string& name, std::size_t held, std::size_t wanted) {
  require(held == wanted, "the checkpoint holds " + length_of(held) + " of " + in_quotes(name) + ", but here it has " +
                              length_of(wanted) + "; go on with the program and the settings that wrote it");
}

}  // namespace

void StateWriter::visit(const Item& item, Buffer x) {
  const auto bytes = static_cast<std::size_t>(x.bytes());
  const Extent all{0, bytes == 0 ? 0 : x.count()};
  put_head(packer_, {item.name, item.fate, StateItem::Kind::elements, x.dtype(),
                     item.extent.whole > 0 && bytes > 0 ? item.extent : all});
  const std::span<std::byte> room = packer_.put_room(bytes);
  if (bytes > 0) device_.download(x, room);
}

void StateWriter::visit(const Item& item, std::span<std::byte> x) {
  put_item(packer_, {.name = item.name, .fate = item.fate, .bytes = {x.begin(), x.end()}});
}

void StateWriter::visit(const Item& item, const Pack& pack, const Unpack&) {
  put_item(packer_, {.name = item.name, .fate = item.fate, .bytes = pack()});
}

std::vector<std::byte> StateReader::take(const std::string& name) {
  StateItem held = take_item(unpacker_);
  require(held.name == name, "the checkpoint holds " + in_quotes(held.name) + " where " + in_quotes(name) +
                                 " is wanted; go on with the program and the settings that wrote it");
  return std::move(held.bytes);
}

OwnedBuffer StateReader::make_room(const Item&, const Shape& shape) {
  Unpacker ahead = unpacker_;
  return take_item(ahead).bytes.empty() ? OwnedBuffer() : device_.allocate(shape);
}

void StateReader::visit(const Item& item, Buffer x) {
  const std::vector<std::byte> held = take(item.name);
  require_length(item.name, held.size(), static_cast<std::size_t>(x.bytes()));
  if (!held.empty()) device_.upload(held, x);
}

void StateReader::visit(const Item& item, std::span<std::byte> x) {
  const std::vector<std::byte> held = take(item.name);
  require_length(item.name, held.size(), x.size());
  std::copy(held.begin(), held.end(), x.begin());
}

void StateReader::visit(const Item& item, const Pack&, const Unpack& unpack) { unpack(take(item.name)); }

}  // namespace trigram
