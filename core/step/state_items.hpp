// A state that was written, item by item.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/step/fate.hpp"
#include "core/values/buffer.hpp"
#include "core/values/packing.hpp"

namespace trigram {

/// One item of what a StateWriter has written.
struct StateItem {
  /// Memory of elements, or bytes of whatever a product keeps there.
  enum class Kind : std::uint8_t { elements, bytes };

  std::string name = {};
  Fate fate = Fate::alike;
  Kind kind = Kind::bytes;
  DType dtype = DType::u8;
  Extent extent = {};  ///< of elements
  std::vector<std::byte> bytes = {};
};

void put_item(Packer& packer, const StateItem& item);
/// All of an item but its bytes, which are put next.
void put_head(Packer& packer, const StateItem& item);
StateItem take_item(Unpacker& unpacker);

/// All of them, in the order of their list.
std::vector<StateItem> items_of(const std::vector<std::byte>& state);

}  // namespace trigram
