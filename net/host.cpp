#include "net/host.hpp"

#include <algorithm>
#include <cmath>

#include "net/log.hpp"
#include "net/service.hpp"
#include "net/stream/measure.hpp"
#include "net/stream/own_thread.hpp"

namespace trigram::net {
namespace {

constexpr int speed_of_nccl = 10000;  // Mbit/s, what NCCL's own sockets say of an interface that says nothing

/// Mbit/s of one interface.
int speed_of(const Interface& interface) {
  if (interface.speed > 0) return interface.speed;
  if (interface.name == "lo") return static_cast<int>(measured_speed_mbps(interface));
  warn("the driver of " + interface.name + " does not say how fast it is; NCCL is told " +
       std::to_string(speed_of_nccl) + " Mbit/s, as by its own sockets. TRIGRAM_NET_SPEED, in Mbit/s, says better");
  return speed_of_nccl;
}

}  // namespace

Host& Host::instance() {
  Service::instance();  // which outlives it
  static Host host;
  return host;
}

void Host::use() {
  const std::lock_guard lock(mutex_);
  if (uses_ == 0) look();
  ++uses_;
}

void Host::reside() {
  const std::lock_guard lock(mutex_);
  if (!resident_ && uses_ == 0) look();
  resident_ = true;
}

bool Host::leave() {
  const std::lock_guard lock(mutex_);
  if (uses_ == 0) return false;
  if (--uses_ > 0) return false;
  connecting_.clear();
  return true;
}

bool Host::in_use() {
  const std::lock_guard lock(mutex_);
  return resident_ || uses_ > 0;
}

void Host::look() {
  settings_ = settings_of_environment();
  interfaces_ = usable_interfaces(settings_);
  latency_us_ = measured_latency_us(interfaces_.front());
  speed_ = settings_.speed;
  if (speed_ == 0) {
    for (const auto& interface : interfaces_) speed_ += speed_of(interface);
  }
  const auto fastest = std::max_element(interfaces_.begin(), interfaces_.end(),
                                        [](const auto& one, const auto& other) { return one.speed < other.speed; });
  pci_path_ = fastest->pci_path;
  staff();
  Service::instance().write_metrics_to(settings_.metrics);
  info("uses " + describe());
}

/// Interfaces in turn have them near.
void Host::staff() {
  const auto usable = usable_processors();
  threads_ = static_cast<std::size_t>(movers_for(settings_, interfaces_, usable.size()));
  while (movers_.size() < threads_) {
    movers_.emplace_back(processors_near(interfaces_[movers_.size() % interfaces_.size()], usable));
  }
}

Mover* Host::next_mover() {
  const std::lock_guard lock(mutex_);
  return threads_ > 0 ? &movers_[turn_++ % threads_] : nullptr;
}

std::string Host::describe() const {
  std::string text;
  for (const auto& interface : interfaces_) {
    text += (text.empty() ? "" : ", ") + interface.name + " (" + interface.address.text() + ", " +
            (interface.speed > 0 ? std::to_string(interface.speed) + " Mbit/s" : "speed unknown") + ")";
  }
  return text + "; " + std::to_string(threads_) + " threads beside callers; NCCL is told " + std::to_string(speed_) +
         " Mbit/s and " + std::to_string(std::lround(latency_us_)) + " us";
}

Device Host::device() {
  const std::lock_guard lock(mutex_);
  return {name_.data(), pci_path_.empty() ? nullptr : pci_path_.data(), speed_, static_cast<float>(latency_us_)};
}

Settings Host::settings() {
  const std::lock_guard lock(mutex_);
  return settings_;
}

std::vector<Interface> Host::interfaces() {
  const std::lock_guard lock(mutex_);
  return interfaces_;
}

std::shared_ptr<SendComm> Host::connecting(const void* place, const Handle& handle) {
  const std::lock_guard lock(mutex_);
  auto& comm = connecting_[{place, handle.asks}];
  if (!comm) comm = std::make_shared<SendComm>(handle, interfaces_, settings_);
  return comm;
}

void Host::end_connecting(const void* place, const Handle& handle) {
  const std::lock_guard lock(mutex_);
  connecting_.erase({place, handle.asks});
}

}  // namespace trigram::net
