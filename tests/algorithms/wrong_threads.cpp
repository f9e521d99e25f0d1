// The backend "wrong_threads": that of threads, which does one thing wrong, so that suites can be seen to find it.
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "core/lane/service.hpp"
#include "core/training/backend.hpp"
#include "core/values/error.hpp"
#include "core/values/quoted.hpp"

namespace trigram::testing::wrong_threads {
namespace {

bool is_receive(const Transfer& transfer) { return transfer.direction == Transfer::Direction::receive; }

/// Faults that a transport can have, each in what it makes of one exchange.
class WrongCommunicator final : public Communicator {
 public:
  WrongCommunicator(std::unique_ptr<Communicator> right, std::string mutation)
      : right_(std::move(right)), mutation_(std::move(mutation)) {
    use_all_reduce(right_->all_reduce_algorithm());
  }

  int rank() const override { return right_->rank(); }
  int size() const override { return right_->size(); }
  Device& device() override { return right_->device(); }
  std::vector<std::int64_t> all_gather_number(std::int64_t value) override { return right_->all_gather_number(value); }
  std::unique_ptr<Communicator> regroup(const GroupPart& part) override { return right_->regroup(part); }

  using Communicator::exchange;
  void exchange(std::span<const Transfer> transfers) override {
    std::vector<Transfer> all(transfers.begin(), transfers.end());
    if (mutation_ == "loses_a_message" || mutation_ == "repeats_a_message") spoil_the_fourth(all);
    if (mutation_ == "swaps_messages") swap_two(all);
    if (mutation_ != "cuts_messages") return right_->exchange(all);
    std::map<std::byte*, std::byte> last_bytes;
    for (const Transfer& transfer : all) {
      auto* bytes = static_cast<std::byte*>(transfer.buffer.raw());
      if (!is_receive(transfer) || transfer.buffer.bytes() == 0) continue;
      last_bytes.emplace(bytes + transfer.buffer.bytes() - 1, bytes[transfer.buffer.bytes() - 1]);
    }
    right_->exchange(all);
    for (const auto& [place, byte] : last_bytes) *place = byte;
  }

 private:
  /// The fourth message that rank 1 of the group sends never comes, or comes twice.
  void spoil_the_fourth(std::vector<Transfer>& all) {
    constexpr int spoilt = 4;
    if (rank() != 1) return;
    const auto fourth =
        std::ranges::find_if(all, [this](const Transfer& one) { return !is_receive(one) && ++sent_ == spoilt; });
    if (fourth == all.end()) return;
    if (mutation_ == "loses_a_message") {
      all.erase(fourth);
    } else {
      all.insert(fourth, Transfer(*fourth));
    }
  }

  /// Of an exchange with several peers, the first two of a size lie in each other's buffers.
  static void swap_two(std::vector<Transfer>& all) {
    const auto first = std::ranges::find_if(all, is_receive);
    const auto second = std::find_if(first == all.end() ? first : first + 1, all.end(), is_receive);
    if (second != all.end() && first->buffer.bytes() == second->buffer.bytes())
      std::swap(first->buffer, second->buffer);
  }

  std::unique_ptr<Communicator> right_;
  std::string mutation_;
  std::int64_t sent_ = 0;
};

/// A question that is put a second time, and whose reply then goes to nobody.
class Repeated final : public Request {
 public:
  Repeated(const Request& first, OwnedBuffer bytes) : Request(first.asker, first.subject, std::move(bytes)) {}
  void reply(Buffer) override {}
};

class RepeatingRequests final : public Requests {
 public:
  explicit RepeatingRequests(RankRuntime& right) : right_(right) {}

  void open(bool serves) override { right_.requests().open(serves); }
  void ask(int lane, std::span<const Ask> asks) override { right_.requests().ask(lane, asks); }
  std::unique_ptr<Request> next() override {
    if (again_ != nullptr) return std::move(again_);
    std::unique_ptr<Request> request = right_.requests().next();
    if (request == nullptr) return nullptr;
    Device& device = *right_.lane(right_.layout().background()).device;
    OwnedBuffer bytes = device.allocate(request->content.view().shape());
    device.copy(request->content, bytes);
    again_ = std::make_unique<Repeated>(*request, std::move(bytes));
    return request;
  }
  void leave() override { right_.requests().leave(); }
  void exclusively(const std::function<void()>& body) override { right_.requests().exclusively(body); }

 private:
  RankRuntime& right_;
  std::unique_ptr<Request> again_;
};

/// One whose questions are put twice.
class RepeatingRuntime final : public RankRuntime {
 public:
  explicit RepeatingRuntime(RankRuntime& right)
      : RankRuntime(right.rank(), std::make_shared<RankMap>(right.map()), right.layout()),
        right_(right),
        requests_(right) {}

  Lane& lane(int index) override { return right_.lane(index); }
  double now() const override { return right_.now(); }
  Pending launch(int lane, std::function<void()> body) override { return right_.launch(lane, std::move(body)); }
  std::int64_t agree(std::int64_t value, ReduceOp op) override { return right_.agree(value, op); }
  void barrier() override { right_.barrier(); }
  Requests& requests() override { return requests_; }
  void stop_lanes() override { right_.stop_lanes(); }
  void collect(std::int64_t key, std::vector<std::byte> part, const std::function<void(Parts)>& complete) override {
    right_.collect(key, std::move(part), complete);
  }

 private:
  RankRuntime& right_;
  RepeatingRequests requests_;
};

void make_wrong(RankRuntime& runtime, const std::string& mutation) {
  for (int index = 0; index < runtime.lanes(); ++index) {
    Lane& lane = runtime.lane(index);
    for (std::unique_ptr<Communicator>* comm : {&lane.comm, &lane.node, &lane.leaders})
      *comm = std::make_unique<WrongCommunicator>(std::move(*comm), mutation);
  }
}

class WrongThreads final : public Backend {
 public:
  explicit WrongThreads(Params& params)
      : mutation_(params.get("mutation", "none", "what it does wrong")),
        right_(
            Backends::make("threads:timeout=" + params.get("timeout", "200ms", "of an exchange") +
                           ",ranks_per_node=" + std::to_string(params.get("ranks_per_node", 2, "ranks of a node")))) {}

  std::vector<int> nodes(int ranks) const override {
    std::vector<int> node_of_rank = right_->nodes(ranks);
    if (mutation_ == "mixes_up_nodes") std::ranges::rotate(node_of_rank, node_of_rank.begin() + 1);
    return node_of_rank;
  }
  int default_ranks() const override { return right_->default_ranks(); }
  bool simulated() const override { return false; }

  Outcome run(const World& world, const RankBody& body) override {
    World asked = world;
    if (mutation_ == "takes_another_all_reduce") asked.all_reduce = "recursive_doubling";
    return right_->run(asked, [&](RankRuntime& runtime) {
      if (mutation_ == "serves_twice") {
        RepeatingRuntime repeating(runtime);
        return body(repeating);
      }
      make_wrong(runtime, mutation_);
      return body(runtime);
    });
  }

 private:
  std::string mutation_;
  std::unique_ptr<Backend> right_;
};

const Backends::Registration registration("wrong_threads", {"threads that do one thing wrong, for tests"},
                                          [](Params& params) { return std::make_unique<WrongThreads>(params); });

}  // namespace
}  // namespace trigram::testing::wrong_threads
