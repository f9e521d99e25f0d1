// What methods that see gradients alone keep from step to step: all of it is in the unit of the gradients.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/step/state.hpp"

namespace trigram {

/// Multiplies every f32 of it, as where the loss that gradients are of is scaled anew. By a power of two nothing is
/// rounded.
class RescaledState final : public State {
 public:
  RescaledState(Device& device, float factor) : device_(device), factor_(factor) {}

 private:
  void visit(const Item& item, Buffer x) override;
  void visit(const Item&, std::span<std::byte>) override {}
  void visit(const Item&, const Pack&, const Unpack&) override {}

  Device& device_;
  float factor_;
};

/// Copies of it, where it lies. They go before their device does.
class KeptState final : public State {
 public:
  enum class Way : unsigned char { keep, give_back };
  explicit KeptState(Device& device) : device_(device) {}
  /// What is listed next, from its begin, is kept, or becomes what it was when it was kept.
  void begin(Way way);

 private:
  void visit(const Item& item, Buffer x) override;
  void visit(const Item& item, std::span<std::byte> x) override;
  void visit(const Item& item, const Pack& pack, const Unpack& unpack) override;
  std::vector<std::byte>& next_bytes(const std::string& name);

  Device& device_;
  Way way_ = Way::keep;
  /// In the order in which they are listed: names need not differ.
  std::vector<OwnedBuffer> buffers_;
  std::vector<std::vector<std::byte>> bytes_;
  std::size_t next_buffer_ = 0, next_bytes_ = 0;
};

/// Whether every f32 of it is finite.
class FiniteState final : public State {
 public:
  explicit FiniteState(Device& device) : device_(device) {}
  bool finite() const { return finite_; }

 private:
  void visit(const Item& item, Buffer x) override;
  void visit(const Item&, std::span<std::byte>) override {}
  void visit(const Item&, const Pack&, const Unpack&) override {}

  Device& device_;
  bool finite_ = true;
};

}  // namespace trigram
