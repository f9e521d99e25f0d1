// How many bytes what is kept has on the wire.
#pragma once

#include <cstdint>

#include "core/step/state.hpp"

namespace trigram {

/// Adds up what is listed, by modelled sizes; what is only packed for a file does not travel.
class StateSize final : public State {
 public:
  std::int64_t bytes() const { return bytes_; }

 private:
  void visit(const Item&, Buffer x) override { bytes_ += x.modelled_bytes(); }
  void visit(const Item&, std::span<std::byte> x) override { bytes_ += static_cast<std::int64_t>(x.size()); }
  void visit(const Item&, const Pack&, const Unpack&) override {}

  std::int64_t bytes_ = 0;
};

}  // namespace trigram
