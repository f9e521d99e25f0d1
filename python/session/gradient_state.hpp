// What methods that see gradients alone keep from step to step: all of it is in the unit of the gradients.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/state.hpp"

namespace trigram {

/// Multiplies every f32 of it, as where the loss that gradients are of is scaled anew. By a power of two nothing is
/// rounded.
class RescaledState final : public State {
 public:
  RescaledState(Device& device, float factor) : device_(device), factor_(factor) {}

 private:
  void visit(const std::string& name, Buffer x) override;
  void visit(const std::string&, std::span<std::byte>) override {}
  void visit(const std::string&, const Pack&, const Unpack&) override {}

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
  void visit(const std::string& name, Buffer x) override;
  void visit(const std::string& name, std::span<std::byte> x) override;
  void visit(const std::string& name, const Pack& pack, const Unpack& unpack) override;

  Device& device_;
  Way way_ = Way::keep;
  std::map<std::string, OwnedBuffer> buffers_;
  std::map<std::string, std::vector<std::byte>> bytes_;
};

/// Whether every f32 of it is finite.
class FiniteState final : public State {
 public:
  explicit FiniteState(Device& device) : device_(device) {}
  bool finite() const { return finite_; }

 private:
  void visit(const std::string& name, Buffer x) override;
  void visit(const std::string&, std::span<std::byte>) override {}
  void visit(const std::string&, const Pack&, const Unpack&) override {}

  Device& device_;
  bool finite_ = true;
};

}  // namespace trigram
