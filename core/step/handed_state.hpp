// Reads what a rank of a new world goes on from.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/step/state.hpp"
#include "core/step/state_items.hpp"

namespace trigram {

/// Finds each item by its name, since lists of other worlds have other items, and takes its part of what is whole. What
/// is not there stays as `setup` made it. Throws UsageError for a part that was cut in another way.
class HandedState final : public State {
 public:
  HandedState(Device& device, const std::vector<std::byte>& state);

 private:
  void visit(const Item& item, Buffer x) override;
  void visit(const Item& item, std::span<std::byte> x) override;
  void visit(const Item& item, const Pack& pack, const Unpack& unpack) override;
  OwnedBuffer make_room(const Item& item, const Shape& shape) override;
  /// The next one of that name; null where there is none.
  const StateItem* next(const std::string& name);

  struct Named {
    std::vector<StateItem> items;
    std::size_t next = 0;
  };
  Device& device_;
  std::map<std::string, Named> named_;
};

}  // namespace trigram
