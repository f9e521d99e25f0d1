#include "meeting/store/store_rendezvous.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include "core/values/error.hpp"

namespace trigram {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::chrono::microseconds first_pause{100};
constexpr std::chrono::microseconds longest_pause{10000};
constexpr double farewell_seconds = 30;
constexpr const char* doubles_key = "doubles";

/// "rank 2", "rank 2 and rank 5", "rank 2, rank 5 and 7 more".
std::string list_of(const std::vector<int>& ranks) {
  constexpr std::size_t shown = 6;
  std::string text;
  for (std::size_t i = 0; i < std::min(shown, ranks.size()); ++i) {
    const bool last = i + 1 == ranks.size();
    text += (i == 0 ? "" : last ? " and " : ", ") + ("rank " + std::to_string(ranks[i]));
  }
  if (ranks.size() > shown) text += " and " + std::to_string(ranks.size() - shown) + " more";
  return text;
}

std::string this_process() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  return "process " + std::to_string(getpid()) + " on " + host.data();
}

/// Sleeps longer and longer.
class Pauses {
 public:
  void next() {
    std::this_thread::sleep_for(pause_);
    pause_ = std::min(longest_pause, pause_ * 3 / 2);
  }

 private:
  std::chrono::microseconds pause_ = first_pause;
};

}  // namespace

StoreRendezvous::StoreRendezvous(std::unique_ptr<Store> store, const Member& member, Patience patience,
                                 HeartbeatTimes times)
    : store_(std::move(store)), member_(member) {
  introduce();
  heartbeat_ = std::make_unique<Heartbeat>(store_->another(), member.rank, member.ranks, times);
  try {
    hear_the_others(patience);
  } catch (const std::exception& error) {
    publish({rank(), error.what()});
    leave();
    throw;
  }
}

StoreRendezvous::~StoreRendezvous() { leave(); }

/// "4 process 17 on node0": how many ranks this process believes in, and who it is. Whoever comes to a place that is
/// taken may be of another job: it goes without a sign to this one but a note for those who wait for somebody.
void StoreRendezvous::introduce() {
  const std::string key = "hello/" + std::to_string(rank());
  if (store_->claim(key, bytes_of(std::to_string(ranks()) + " " + this_process()))) return;
  const std::string other = text_of(store_->get(key).value_or(Bytes()));
  const std::string reason = "two processes call themselves rank " + std::to_string(rank()) + " at " + store_->place() +
                             ": " + this_process() + " and " + other.substr(other.find(' ') + 1);
  store_->claim(doubles_key, bytes_of(reason));
  throw UsageError(reason + "; give each a number of its own, and each job a place or a name (TRIGRAM_JOB) of its own");
}

void StoreRendezvous::hear_the_others(Patience patience) {
  const Parts hellos = wait_for_all("hello/", patience, "for");
  for (int other = 0; other < ranks(); ++other) compare(other, hellos[static_cast<std::size_t>(other)]);
}

void StoreRendezvous::compare(int other, const Bytes& hello) {
  const int believed = std::atoi(text_of(hello).c_str());
  if (believed == ranks()) return;
  refuse("rank " + std::to_string(rank()) + " was started as one of " + std::to_string(ranks()) + ", but rank " +
         std::to_string(other) + " as one of " + std::to_string(believed) + "; start all of them with one number");
}

void StoreRendezvous::refuse(const std::string& reason) {
  publish({rank(), reason});
  throw UsageError(reason);
}

std::string StoreRendezvous::key_of(std::int64_t sequence, int rank) const {
  return "gather/" + std::to_string(sequence) + "/" + std::to_string(rank);
}

void StoreRendezvous::bring(const Bytes& own) { store_->put(key_of(++sequence_, rank()), own); }

StoreRendezvous::Parts StoreRendezvous::all_gather(const Bytes& own, Patience patience) {
  bring(own);
  Parts parts = wait_for_all("gather/" + std::to_string(sequence_) + "/", patience, "in a gather for");
  tidy();
  return parts;
}

StoreRendezvous::Parts StoreRendezvous::gather(const Bytes& own, Patience patience) {
  bring(own);
  if (rank() != 0) return {};
  return wait_for_all("gather/" + std::to_string(sequence_) + "/", patience, "in a gather for");
}

void StoreRendezvous::note(const std::string& name, const std::string& text) {
  store_->put("note/" + name, bytes_of(text));
}

std::optional<std::string> StoreRendezvous::noted(const std::string& name) {
  const std::optional<Bytes> text = store_->get("note/" + name);
  return text ? std::optional<std::string>(text_of(*text)) : std::nullopt;
}

/// Whoever brings something to gather n has got all that it wanted of the gathers before.
void StoreRendezvous::tidy() {
  while (tidied_ + 1 < sequence_) store_->erase(key_of(++tidied_, rank()));
}

StoreRendezvous::Parts StoreRendezvous::wait_for_all(const std::string& prefix, Patience patience,
                                                     const std::string& what) {
  std::vector<std::optional<Bytes>> found(static_cast<std::size_t>(ranks()));
  const Steady::time_point begin = Steady::now();
  Pauses pauses;
  while (true) {
    std::vector<int> missing;
    for (int other = 0; other < ranks(); ++other) {
      std::optional<Bytes>& value = found[static_cast<std::size_t>(other)];
      if (!value) value = store_->get(prefix + std::to_string(other));
      if (!value) missing.push_back(other);
    }
    if (missing.empty()) break;
    if (const std::optional<JobFailure> failed = failure()) {
      throw BackendError("rank " + std::to_string(rank()) + " gives up since rank " + std::to_string(failed->rank) +
                         " failed: " + failed->reason);
    }
    const double waited = std::chrono::duration<double>(Steady::now() - begin).count();
    if (patience.seconds > 0 && waited > patience.seconds) {
      throw BackendError("rank " + std::to_string(rank()) + " of " + std::to_string(ranks()) + " has waited " +
                         std::to_string(static_cast<int>(waited)) + " s at " + store_->place() + " " + what + " " +
                         list_of(missing) + ", which did not come" + (sequence_ == 0 ? hints() : ""));
    }
    pauses.next();
  }
  Parts parts;
  for (std::optional<Bytes>& value : found) parts.push_back(std::move(*value));
  return parts;
}

/// What else could be the reason when somebody is missed at the start, each with a semicolon before it.
std::string StoreRendezvous::hints() {
  const std::string doubles = text_of(store_->get(doubles_key).value_or(Bytes()));
  const std::string hint = store_->hint();
  return (doubles.empty() ? "" : "; " + doubles) + (hint.empty() ? "" : "; " + hint);
}

void StoreRendezvous::leave() noexcept {
  if (left_) return;
  left_ = true;
  try {
    if (!failure()) {
      if (rank() != 0) heartbeat_->stop();  // nothing is written after the last word: rank 0 tidies up
      store_->put("bye/" + std::to_string(rank()), {});
      if (rank() == 0) wait_for_all("bye/", {farewell_seconds}, "to end with");
    }
  } catch (const std::exception& error) {
    heartbeat_->publish({rank(), error.what()});
  }
  const bool failed = failure().has_value();
  heartbeat_->stop();
  try {
    if (rank() == 0) store_->close(failed);
  } catch (const std::exception&) {
    left_ = true;  // what could not be tidied up stays
  }
}

}  // namespace trigram
