#include "python/session/gradient_state.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/error.hpp"

namespace trigram {
namespace {

bool has_numbers(const Buffer& x) { return x.dtype() == DType::f32 && !x.is_phantom() && x.count() > 0; }

}  // namespace

void RescaledState::visit(const std::string&, Buffer x) {
  if (has_numbers(x)) device_.scale(x, factor_);
}

void KeptState::begin(Way way) {
  way_ = way;
  if (way == Way::keep) bytes_.clear();
}

void KeptState::visit(const std::string& name, Buffer x) {
  if (x.is_phantom() || x.count() == 0) return;
  auto kept = buffers_.find(name);
  if (way_ == Way::give_back) {
    ensure(kept != buffers_.end(), "there is ", name, " now, of which nothing was kept before the step");
    return device_.copy(kept->second, x);
  }
  if (kept == buffers_.end()) kept = buffers_.emplace(name, device_.allocate(x.shape())).first;
  device_.copy(x, kept->second);
}

void KeptState::visit(const std::string& name, std::span<std::byte> x) {
  if (way_ == Way::keep) {
    bytes_[name].assign(x.begin(), x.end());
  } else {
    std::ranges::copy(bytes_.at(name), x.begin());
  }
}

void KeptState::visit(const std::string& name, const Pack& pack, const Unpack& unpack) {
  if (way_ == Way::keep) {
    bytes_[name] = pack();
  } else {
    unpack(bytes_.at(name));
  }
}

void FiniteState::visit(const std::string&, Buffer x) {
  if (!finite_ || !has_numbers(x)) return;
  std::vector<float> host(static_cast<std::size_t>(x.count()));
  device_.download(x, std::as_writable_bytes(std::span(host)));
  finite_ = std::ranges::all_of(host, [](float number) { return std::isfinite(number); });
}

}  // namespace trigram
