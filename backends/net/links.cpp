#include "backends/net/links.hpp"

#include <algorithm>
#include <string>

#include "backends/net/flight.hpp"
#include "backends/net/plugin_log.hpp"
#include "core/error.hpp"
#include "processes/clock.hpp"
#include "processes/interruption.hpp"

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
      for (CommEnd& end : lane.ends(receiving)) close(end, receiving);
    }
  }
}

void Links::close(CommEnd& end, bool receiving) const {
  const std::lock_guard lock(end.mutex);
  if (end.comm == nullptr) return;
  receiving ? plugin_.close_receive(end.comm) : plugin_.close_send(end.comm);
  end.comm = nullptr;
}

Links::Lane& Links::lane(int index) {
  const std::lock_guard lock(mutex_);
  return lanes_.at(static_cast<std::size_t>(index));
}

/// A plugin connects and accepts by and by, and needs that everybody does both.
void Links::connect(int lanes) {
  const int ranks = rendezvous_.ranks(), rank = rendezvous_.rank();
  const int first = static_cast<int>(lanes_.size());
  const Listening listening(plugin_, lanes - first, ranks, rank);
  Rendezvous::Parts handles = rendezvous_.all_gather(listening.handles(), {seconds_});
  std::deque<Lane> made;
  for (int i = first; i < lanes; ++i) made.emplace_back(ranks);
  const double begun = seconds_now();
  Nap nap;
  for (bool all_there = false; !all_there; nap.take()) {
    all_there = true;
    for (int i = 0; i < lanes - first; ++i) {
      for (int peer = 0; peer < ranks; ++peer) {
        if (peer == rank) continue;
        const auto at = static_cast<std::size_t>(peer);
        const auto place = [&](int of) { return static_cast<std::size_t>(i * ranks + of); };
        Lane& lane = made[static_cast<std::size_t>(i)];
        void*& sends = lane.sends[at].comm;
        void*& receives = lane.receives[at].comm;
        if (sends == nullptr) need(plugin_.connect(handles[at].data() + place(rank) * handle_bytes, &sends), "connect");
        if (receives == nullptr) need(plugin_.accept(listening.listener(place(peer)), &receives), "accept");
        all_there = all_there && sends != nullptr && receives != nullptr;
        if (seconds_ > 0 && seconds_now() - begun > seconds_)
          throw BackendError("rank " + std::to_string(rank) + " has waited " + number_text(seconds_) +
                             " s for connections of rank " + std::to_string(peer));
      }
    }
    require_no_interruption();
  }
  const std::lock_guard lock(mutex_);
  std::ranges::move(made, std::back_inserter(lanes_));
}

torch::Trouble Links::carry(int index, std::span<const torch::Message> messages, double seconds) {
  Lane& of = lane(index);
  Flight flight(plugin_, messages, [&of](const torch::Message& message) -> CommEnd& {
    return of.ends(message.receives != 0)[static_cast<std::size_t>(message.peer)];
  });
  const double begun = seconds_now();
  for (Nap nap; !flight.moved(); nap.take()) {
    require_no_interruption();
    if (ended_) return flight.ends_with("the connections were ended");
    if (seconds > 0 && seconds_now() - begun > seconds) return flight.ends_with("the time is over");
  }
  return flight.trouble();
}

}  // namespace trigram::net_backend
