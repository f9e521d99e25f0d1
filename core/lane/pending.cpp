#include "core/lane/pending.hpp"

#include <exception>
#include <utility>

namespace trigram {

void Pending::wait() {
  if (const auto state = std::exchange(state_, nullptr)) state->wait();
}

Pending& Pending::operator=(Pending&& other) noexcept {
  if (this != &other) {
    Pending before(std::exchange(state_, std::exchange(other.state_, nullptr)));
  }
  return *this;
}

Pending::~Pending() {
  try {
    wait();
  } catch (...) {  // also what ends a simulated rank, which its next call throws again
    state_ = nullptr;
  }
}

}  // namespace trigram
