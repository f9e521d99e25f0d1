#include "python/session/gradient_state.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/device/on_host.hpp"
#include "core/values/error.hpp"

namespace trigram {
namespace {

bool has_numbers(const Buffer& x) { return x.dtype() == DType::f32 && !x.is_phantom() && x.count() > 0; }

}  // namespace

void RescaledState::visit(const Item&, Buffer x) {
  if (has_numbers(x)) device_.scale(x, factor_);
}

void KeptState::begin(Way way) {
  way_ = way;
  next_buffer_ = next_bytes_ = 0;
}

void KeptState::visit(const Item& item, Buffer x) {
  if (x.is_phantom() || x.count() == 0) return;
  const std::size_t place = next_buffer_++;
  if (way_ == Way::give_back) {
    ensure(place < buffers_.size(), "there is ", item.name, " now, of which nothing was kept before the step");
    return device_.copy(buffers_[place], x);
  }
  if (place == buffers_.size()) buffers_.push_back(device_.allocate(x.shape()));
  device_.copy(x, buffers_[place]);
}

std::vector<std::byte>& KeptState::next_bytes(const std::string& name) {
  if (way_ == Way::keep && next_bytes_ == bytes_.size()) bytes_.emplace_back();
  ensure(next_bytes_ < bytes_.size(), "there is ", name, " now, of which nothing was kept before the step");
  return bytes_[next_bytes_++];
}

void KeptState::visit(const Item& item, std::span<std::byte> x) {
  std::vector<std::byte>& kept = next_bytes(item.name);
  if (way_ == Way::keep) {
    kept.assign(x.begin(), x.end());
  } else {
    ensure(kept.size() == x.size(), item.name, " has another size than before the step");
    std::ranges::copy(kept, x.begin());
  }
}

void KeptState::visit(const Item& item, const Pack& pack, const Unpack& unpack) {
  std::vector<std::byte>& kept = next_bytes(item.name);
  if (way_ == Way::keep) {
    kept = pack();
  } else {
    unpack(kept);
  }
}

void FiniteState::visit(const Item&, Buffer x) {
  if (!finite_ || !has_numbers(x)) return;
  finite_ = std::ranges::all_of(on_host<float>(device_, x), [](float number) { return std::isfinite(number); });
}

}  // namespace trigram
