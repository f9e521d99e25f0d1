// What a product keeps from one step to the next, item by item: what a checkpoint holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/device/device.hpp"
#include "core/step/fate.hpp"

namespace trigram {

class Packer;
class Unpacker;

/// Visitor of a product's state, as Boost.Serialization's archive: `list_state` passes each item, always in the same
/// order, and a writer saves it or a reader overwrites it. One list does both, so that the two cannot differ. Each
/// item has a fate, which says what becomes of it where ranks leave or join (core/training/handover.hpp).
class State {
 public:
  using Pack = std::function<std::vector<std::byte>()>;
  using Unpack = std::function<void(const std::vector<std::byte>&)>;
  /// What an item is called, what becomes of it, and, of a part, where it lies in the whole.
  struct Item {
    std::string name;
    Fate fate = Fate::alike;
    Extent extent = {};
  };

  virtual ~State() = default;

  /// Device memory; of a phantom only the name is saved.
  State& buffer(std::string_view name, Buffer x, Fate fate = Fate::alike, Extent extent = {}) {
    visit({full(name), fate, extent}, x);
    return *this;
  }
  /// Items "name 0", "name 1", …; the number must be the same on reading.
  State& buffers(std::string_view name, const std::vector<OwnedBuffer>& all, Fate fate = Fate::alike) {
    for (std::size_t i = 0; i < all.size(); ++i) buffer(numbered(name, i), all[i], fate);
    return *this;
  }
  /// The same, of parts.
  State& buffers(std::string_view name, const std::vector<OwnedBuffer>& all, Fate fate,
                 const std::vector<Extent>& extents) {
    for (std::size_t i = 0; i < all.size(); ++i) buffer(numbered(name, i), all[i], fate, extents[i]);
    return *this;
  }
  /// Memory that is there only where something was held under that name, as a rank alone has for what it owes since
  /// others left; else `x` stays empty.
  State& room(std::string_view name, OwnedBuffer& x, const Shape& shape, Fate fate, Extent extent = {}) {
    const Item item{full(name), fate, extent};
    if (x.view().empty() && shape.count > 0) x = make_room(item, shape);
    visit(item, x);
    return *this;
  }
  template <class T>
  State& value(std::string_view name, T& x, Fate fate = Fate::alike) {
    return list_bytes(name, std::span(&x, 1), fate);
  }
  /// An item of several values; the number must be the same on reading.
  template <class T>
  State& values(std::string_view name, std::vector<T>& all, Fate fate = Fate::alike) {
    return list_bytes(name, std::span(all), fate);
  }
  template <class T>
  State& values(std::string_view name, std::vector<std::vector<T>>& all, Fate fate = Fate::alike) {
    for (std::size_t i = 0; i < all.size(); ++i) values(numbered(name, i), all[i], fate);
    return *this;
  }
  /// An item that is bytes only in a checkpoint: a writer saves what `pack` returns, a reader passes it to `unpack`.
  State& packed(std::string_view name, const Pack& pack, const Unpack& unpack, Fate fate = Fate::alike) {
    visit({full(name), fate}, pack, unpack);
    return *this;
  }

  /// The state of a member object, its items prefixed with "name, ".
  template <class Held>
  State& of(std::string_view name, Held& held) {
    const std::size_t before = prefix_.size();
    prefix_ += std::string(name) + ", ";
    held.list_state(*this);
    prefix_.resize(before);
    return *this;
  }
  template <class Held>
  State& of_each(std::string_view name, std::vector<Held>& all) {
    for (std::size_t i = 0; i < all.size(); ++i) of(numbered(name, i), all[i]);
    return *this;
  }

 private:
  virtual void visit(const Item& item, Buffer x) = 0;
  virtual void visit(const Item& item, std::span<std::byte> x) = 0;
  virtual void visit(const Item& item, const Pack& pack, const Unpack& unpack) = 0;
  /// Empty, unless something is read back next.
  virtual OwnedBuffer make_room(const Item&, const Shape&) { return {}; }

  template <class T>
  requires std::is_trivially_copyable_v<T> State& list_bytes(std::string_view name, std::span<T> all, Fate fate) {
    visit({full(name), fate}, std::as_writable_bytes(all));
    return *this;
  }
  static std::string numbered(std::string_view name, std::size_t index) {
    return std::string(name) + " " + std::to_string(index);
  }
  std::string full(std::string_view name) const { return prefix_ + std::string(name); }

  std::string prefix_;
};

/// Writes every item after its name, fate and length.
class StateWriter final : public State {
 public:
  StateWriter(Device& device, Packer& packer) : device_(device), packer_(packer) {}

 private:
  void visit(const Item& item, Buffer x) override;
  void visit(const Item& item, std::span<std::byte> x) override;
  void visit(const Item& item, const Pack& pack, const Unpack& unpack) override;

  Device& device_;
  Packer& packer_;
};

/// Reads them back. Throws UsageError where the next item has another name or length than the product lists.
class StateReader final : public State {
 public:
  StateReader(Device& device, Unpacker& unpacker) : device_(device), unpacker_(unpacker) {}

 private:
  void visit(const Item& item, Buffer x) override;
  void visit(const Item& item, std::span<std::byte> x) override;
  void visit(const Item& item, const Pack& pack, const Unpack& unpack) override;
  OwnedBuffer make_room(const Item& item, const Shape& shape) override;
  std::vector<std::byte> take(const std::string& name);

  Device& device_;
  Unpacker& unpacker_;
};

}  // namespace trigram
