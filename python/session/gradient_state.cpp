#include "python/session/gradient_state.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace trigram {
namespace {

bool has_numbers(const Buffer& x) { return x.dtype() == DType::f32 && !x.is_phantom() && x.count() > 0; }

}  // namespace

void RescaledState::visit(const std::string&, Buffer x) {
  if (has_numbers(x)) device_.scale(x, factor_);
}

void FiniteState::visit(const std::string&, Buffer x) {
  if (!finite_ || !has_numbers(x)) return;
  std::vector<float> host(static_cast<std::size_t>(x.count()));
  device_.download(x, std::as_writable_bytes(std::span(host)));
  finite_ = std::ranges::all_of(host, [](float number) { return std::isfinite(number); });
}

}  // namespace trigram
