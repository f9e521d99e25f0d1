// The backend 'shared_folder': ranks are processes whose messages are files of a folder that all of them see.
// Change: how ranks reach each other. A CMakeLists.txt beside this file, as in backends/mpi, says what libraries it
// needs.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>

#include "backends/process/process_backend.hpp"
#include "backends/process/process_communicator.hpp"
#include "core/lane/real_data.hpp"
#include "core/registry/backend_traits.hpp"
#include "core/registry/registry.hpp"
#include "core/training/carried_error.hpp"
#include "core/values/error.hpp"
#include "processes/clock.hpp"
#include "processes/interruption.hpp"
#include "processes/launcher_variables.hpp"
#include "processes/nap.hpp"

namespace trigram {
namespace {

namespace fs = std::filesystem;

/// What ends a wait beside what it waits for.
struct Limits {
  Failure& failure;       ///< of the rank that waits
  double seconds;         ///< that it may last; 0: forever
  std::string operation;  ///< that waits, for error messages
};

/// Change: the network of one run, as one rank sees it. Several lanes use it at once.
class SharedFolder {
 public:
  SharedFolder(fs::path folder, int rank) : folder_(std::move(folder)), rank_(rank) {
    fs::create_directories(folder_);
    require(fs::create_directory(sender(rank)), "backend 'shared_folder': ", folder_.string(),
            " holds messages of another job; name a folder that is not there yet");
  }

  int rank() const { return rank_; }

  /// Messages of one key between two ranks arrive in their order. A file gets its name when it is whole.
  void send(const std::string& key, int to, std::span<const std::byte> bytes) {
    const fs::path file = named(key, rank_, to, taken(sent_, key, to)), part = file.string() + ".part";
    std::ofstream(part, std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
    fs::rename(part, file);
  }

  /// The next message, where it has come. One lane at a time asks for those of a key.
  std::optional<Bytes> arrived(const std::string& key, int from) {
    const fs::path file = named(key, from, rank_, taken(received_, key, from, 0));
    if (!fs::exists(file)) return std::nullopt;
    taken(received_, key, from);
    const Bytes bytes = bytes_of(content(file));
    fs::remove(file);
    return bytes;
  }

  /// What `look` finds. Throws BackendError when another rank fails or time is over: the operation waited for `what`.
  template <class Look>
  auto until(const Limits& limits, const std::string& what, const Look& look) {
    const double begun = seconds_now();
    while (true) {
      if (auto found = look()) return *found;
      const double waited = seconds_now() - begun;
      require_no_interruption();
      if (fs::exists(failed())) throw BackendError(limits.operation + " ends: " + content(failed()));
      if (limits.failure.raised()) limits.failure.rethrow();
      if (limits.seconds > 0 && waited > limits.seconds)
        throw BackendError(limits.operation + " has waited " + number_text(limits.seconds) + " s for " + what);
      nap(std::chrono::duration<double>(waited));
    }
  }

  Bytes receive(const std::string& key, int from, const Limits& limits) {
    return until(limits, "rank " + std::to_string(from), [&] { return arrived(key, from); });
  }

  /// One message of an exchange. What is sent waits for nobody, so that receives may follow one another.
  void carry(const std::string& key, const Transfer& transfer, int peer, const Limits& limits) {
    require_data(transfer.buffer, "shared_folder");
    const std::span memory(static_cast<std::byte*>(transfer.buffer.raw()),
                           static_cast<std::size_t>(transfer.buffer.bytes()));
    if (transfer.direction == Transfer::Direction::send) return send(key, peer, memory);
    const Bytes bytes = receive(key, peer, limits);
    ensure(bytes.size() == memory.size(), limits.operation, ": rank ", peer, " sends ", bytes.size(), " bytes, and ",
           memory.size(), " are expected");
    std::ranges::copy(bytes, memory.begin());
  }

  /// The first rank that fails is the one of which the others learn.
  void fail(const std::string& reason) noexcept {
    const fs::path part = sender(rank_) / "failed";
    std::ofstream(part) << "rank " << rank_ << " failed: " << reason;
    std::error_code another_was_first;
    fs::create_hard_link(part, failed(), another_was_first);
  }

 private:
  using Numbers = std::map<std::pair<std::string, int>, std::int64_t>;  ///< of messages, by key and peer

  /// The number of the next message, after which `count` more are counted.
  std::int64_t taken(Numbers& numbers, const std::string& key, int peer, int count = 1) {
    const std::lock_guard lock(mutex_);
    std::int64_t& next = numbers[{key, peer}];
    return std::exchange(next, next + count);
  }
  static std::string content(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  fs::path sender(int from) const { return folder_ / ("from_" + std::to_string(from)); }
  fs::path named(const std::string& key, int from, int to, std::int64_t number) const {
    return sender(from) / (key + "_to_" + std::to_string(to) + "_" + std::to_string(number));
  }
  fs::path failed() const { return folder_ / "failed"; }

  fs::path folder_;
  int rank_;
  std::mutex mutex_;
  Numbers sent_, received_;
};

/// A group of ranks, whose messages have a key that no other group has.
class FolderCommunicator final : public ProcessCommunicator {
 public:
  FolderCommunicator(SharedFolder& folder, std::string key, std::string name, std::vector<int> world_ranks,
                     LaneOfGroup lane)
      : ProcessCommunicator(std::move(name), std::move(world_ranks), folder.rank(), std::move(lane)),
        folder_(folder),
        key_(std::move(key)) {}

  void exchange(std::span<const Transfer> transfers) override {
    count_operation();
    require_possible(transfers, "shared_folder");
    const Limits limits{lane()->failure, lane()->timeout, describe("exchange")};
    for (const bool receives : {false, true}) {
      for (const Transfer& transfer : transfers)
        if (is_receive(transfer) == receives) folder_.carry(key_, transfer, world_rank(transfer.peer), limits);
    }
  }

 private:
  std::unique_ptr<Communicator> make_part(std::string name, const std::vector<int>& members, int part) override {
    const std::string key = key_ + "_" + std::to_string(splits_++) + "_" + std::to_string(part);
    return std::make_unique<FolderCommunicator>(folder_, key, std::move(name), world_ranks_of(members), lane());
  }

  SharedFolder& folder_;
  std::string key_;
  int splits_ = 0;
};

/// Change: what a transport is made of: collectives of the host, communicators, and the messages of RPC.
class FolderTransport final : public Transport, private HostGroup, private Mail {
 public:
  FolderTransport(const fs::path& folder, const PlaceInJob& place)
      : folder_(folder, place.rank), ranks_(place.ranks()) {}

  HostGroup& host() override { return *this; }
  Mail& mail() override { return *this; }
  std::unique_ptr<Communicator> communicator(int lane, const RankPartition& partition,
                                             const std::shared_ptr<LaneContext>& context) override {
    const int color = partition.color[static_cast<std::size_t>(rank())];
    std::string key = "lane_" + std::to_string(lane) + "_" + partition.name + "_" + std::to_string(color);
    std::ranges::replace(key, '/', '_');
    return std::make_unique<FolderCommunicator>(folder_, key, partition.name, partition.group_of(rank()), context);
  }
  void fail(const std::exception_ptr& error) noexcept override { folder_.fail(CarriedError::of(error).text()); }

 private:
  int rank() const override { return folder_.rank(); }
  int ranks() const override { return ranks_; }

  Parts all_gather(const Bytes& own, Patience patience) override {
    for (int to = 0; to < ranks_; ++to) folder_.send("all", to, own);
    return from_all("all", patience);
  }
  Parts gather(const Bytes& own, Patience patience) override {
    folder_.send("first", 0, own);
    return rank() == 0 ? from_all("first", patience) : Parts();
  }
  Parts from_all(const std::string& key, Patience patience) {
    Parts parts;
    for (int from = 0; from < ranks_; ++from)
      parts.push_back(folder_.receive(key, from, {failure(), patience.seconds, "rank " + std::to_string(rank())}));
    return parts;
  }

  void open(bool /*serves*/) override {}
  void carry(std::span<const TaggedMessage> messages, const LaneContext& lane, const std::string& operation) override {
    for (const auto direction : {Transfer::Direction::send, Transfer::Direction::receive}) {
      for (const auto& [transfer, tag] : messages) {
        if (transfer.direction != direction) continue;
        folder_.carry("mail_" + std::to_string(tag), transfer, transfer.peer, {lane.failure, lane.timeout, operation});
      }
    }
  }
  std::pair<int, Envelope> take(const LaneContext& lane, double seconds, const std::string& operation,
                                const std::string& what) override {
    return folder_.until({lane.failure, seconds, operation}, what, [&]() -> std::optional<std::pair<int, Envelope>> {
      for (int from = 0; from < ranks_; ++from) {
        const std::optional<Bytes> bytes = folder_.arrived("mail_" + std::to_string(envelope_tag), from);
        if (!bytes) continue;
        Envelope envelope;
        std::memcpy(&envelope, bytes->data(), sizeof envelope);
        return std::pair{from, envelope};
      }
      return std::nullopt;
    });
  }

  SharedFolder folder_;
  int ranks_;
};

class SharedFolderBackend final : public ProcessBackend {
 public:
  explicit SharedFolderBackend(Params& params)
      : ProcessBackend(params, "all"),
        folder_(params.get("folder", "messages", "a folder that all ranks see, and that no job has used")) {
    // Change: where a process learns who it is.
    place_.rank = environment_number("RANK", 0);
    place_.node_of_rank.assign(static_cast<std::size_t>(environment_number("WORLD_SIZE", 1)), 0);
  }

 private:
  const PlaceInJob& place() const override { return place_; }
  std::string how_to_start(int ranks) const override {
    return "WORLD_SIZE says " + std::to_string(place_.ranks()) + "; start " + std::to_string(ranks) +
           " processes, each with its own RANK from 0 and the same WORLD_SIZE";
  }
  std::unique_ptr<Transport> connect() const override {
    return std::make_unique<FolderTransport>(fs::path(folder_) / std::to_string(runs_++), place_);
  }
  std::string facts(const std::vector<int>& node_of_rank) const override {
    return nlohmann::json{{"nodes", node_of_rank.back() + 1}, {"folder", folder_}}.dump();
  }

  std::string folder_;
  PlaceInJob place_;
  mutable int runs_ = 0;  ///< that had this network, each of which has a folder of its own
};

// Change: what `trigram list` says, and which parameters are flags of the program.
const Backends::Registration registration("shared_folder", {"processes whose messages are files of a folder"},
                                          [](Params& params) { return std::make_unique<SharedFolderBackend>(params); });

const BackendTraits::Registration traits("shared_folder",
                                         {.flags = {{"ranks-per-node", "ranks_per_node", "ranks of a node"}}});

}  // namespace
}  // namespace trigram
