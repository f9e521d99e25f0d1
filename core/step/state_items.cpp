#include "core/step/state_items.hpp"

namespace trigram {

std::string_view name_of(Fate fate) {
  switch (fate) {
    case Fate::alike:
      return "alike";
    case Fate::own:
      return "own";
    case Fate::averaged:
      return "averaged";
    case Fate::balanced:
      return "balanced";
    case Fate::cut:
      return "cut";
    case Fate::joint:
      return "joint";
    case Fate::anew:
      return "anew";
  }
  return "unknown";
}

void put_head(Packer& packer, const StateItem& item) {
  packer.put_text(item.name);
  packer.put(item.fate);
  packer.put(item.kind);
  packer.put(item.dtype);
  packer.put(item.extent.begin);
  packer.put(item.extent.whole);
}

void put_item(Packer& packer, const StateItem& item) {
  put_head(packer, item);
  packer.put_all(std::span<const std::byte>(item.bytes));
}

StateItem take_item(Unpacker& unpacker) {
  StateItem item;
  item.name = unpacker.take_text();
  item.fate = unpacker.take<Fate>();
  item.kind = unpacker.take<StateItem::Kind>();
  item.dtype = unpacker.take<DType>();
  item.extent.begin = unpacker.take<std::int64_t>();
  item.extent.whole = unpacker.take<std::int64_t>();
  item.bytes = unpacker.take_all<std::byte>();
  return item;
}

std::vector<StateItem> items_of(const std::vector<std::byte>& state) {
  std::vector<StateItem> items;
  Unpacker unpacker(state);
  while (!unpacker.empty()) items.push_back(take_item(unpacker));
  return items;
}

}  // namespace trigram
