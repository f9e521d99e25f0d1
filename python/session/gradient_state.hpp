// What methods that see gradients alone keep from step to step: all of it is in the unit of the gradients.
#pragma once

#include <span>
#include <string>

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
