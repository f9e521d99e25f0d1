#include "backends/net/links.hpp"

#include <chrono>
#include <string>

#include "backends/net/flight.hpp"
#include "backends/net/plugin_log.hpp"
#include "core/values/error.hpp"
#include "processes/clock.hpp"
#include "processes/interruption.hpp"
#include "processes/nap.hpp"

namespace trigram::net_backend {
namespace {

constexpr std::size_t handle_bytes = net::abi::handle_bytes;

void need(net::abi::Result result, const char* call) {
  if (result != net::abi::Result::success) throw BackendError(failed_call(call, result));
}

}  // namespace

/// What a rank listens at for each of the others, on one lane after the other.
class Links::Listening {
 public:
  Listening(LoadedPlugin& plugin, int lanes, int ranks, int rank) : plugin_(plugin) {
    const auto places = static_cast<std::size_t>(lanes) * static_cast<std::size_t>(ranks);
    handles_.resize(places * handle_bytes);
    listeners_.resize(places);
    for (std::size_t i = 0; i < places; ++i) {
      if (static_cast<int>(i) % ranks != rank) need(plugin_.listen(handle(i), &listeners_[i]), "listen");
    }
  }
  ~Listening() {
    for (void* listener : listeners_) {
      if (listener != nullptr) plugin_.close_listen(listener);
    }
  }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;

  const Bytes& handles() const { return handles_; }
  void* listener(std::size_t place) const { return listeners_[place]; }

 private:
  std::byte* handle(std::size_t place) { return handles_.data() + place * handle_bytes; }

  LoadedPlugin& plugin_;
  Bytes handles_;
  std::vector<void*> listeners_;
};

Links::~Links() {
  for (Lane& lane : lanes_) {
    for (const bool receiving : {false, true}) {
      for (CommEnd& end : lane.ends(receiving)) close(plugin_, end, receiving);
    }
  }
}

Links::Lane& Links::lane(int index) {
  const std::lock_guard lock(mutex_);
  return lanes_.at(static_cast<std::size_t>(index));
}

/// A plugin connects and accepts by and by, and needs that everybody does both. Lanes are ours before they are
/// connected, so that what was opened is closed where one fails.
void Links::connect(int lanes) {
  const int ranks = rendezvous_.ranks(), rank = rendezvous_.rank();
  const int first = static_cast<int>(lanes_.size());
  const Listening listening(plugin_, lanes - first, ranks, rank);
  Rendezvous::Parts handles = rendezvous_.all_gather(listening.handles(), {seconds_});
  {
    const std::lock_guard lock(mutex_);
    for (int i = first; i < lanes; ++i) lanes_.emplace_back(ranks);
  }
  const double begun = seconds_now();
  for (bool all_there = false; !all_there; nap(std::chrono::duration<double>(seconds_now() - begun))) {
    all_there = true;
    for (int i = first; i < lanes; ++i) {
      for (int peer = 0; peer < ranks; ++peer) {
        if (peer == rank) continue;
        const auto at = static_cast<std::size_t>(peer);
        const auto place = [&](int of) { return static_cast<std::size_t>((i - first) * ranks + of); };
        Lane& made = lane(i);
        void*& sends = made.sends[at].comm;
        void*& receives = made.receives[at].comm;
        if (sends == nullptr) need(plugin_.connect(handles[at].data() + place(rank) * handle_bytes, &sends), "connect");
        if (receives == nullptr) need(plugin_.accept(listening.listener(place(peer)), &receives), "accept");
        if (sends != nullptr && receives != nullptr) continue;
        all_there = false;
        if (seconds_ > 0 && seconds_now() - begun > seconds_)
          throw BackendError("rank " + std::to_string(rank) + " has waited " + number_text(seconds_) +
                             " s for connections of rank " + std::to_string(peer));
      }
    }
    require_no_interruption();
  }
}

torch::TransferError Links::carry(int index, std::span<const torch::Message> messages, double seconds) {
  Lane& of = lane(index);
  Flight flight(plugin_, messages, [&of](const torch::Message& message) -> CommEnd& {
    return of.ends(message.receives != 0)[static_cast<std::size_t>(message.peer)];
  });
  const double begun = seconds_now();
  while (!flight.moved()) {
    require_no_interruption();
    const double waited = seconds_now() - begun;
    if (ended_) return flight.ends_with("the connections were ended");
    if (seconds > 0 && waited > seconds) return flight.ends_with("the time is over");
    nap(std::chrono::duration<double>(waited));
  }
  return flight.error();
}

}  // namespace trigram::net_backend
