// Counts rounds and bytes of every exchange, and of every collective that the inner communicator performs itself.
#include "core/lane/metered.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "core/lane/all_reduce.hpp"
#include "core/lane/disjoint.hpp"
#include "core/values/lasting_text.hpp"

namespace trigram {

void Meter::add(const Cost& cost) {
  rounds_.fetch_add(cost.rounds, std::memory_order_relaxed);
  bytes_.fetch_add(cost.bytes, std::memory_order_relaxed);
}

namespace {

/// "0-3,8" of 0, 1, 2, 3 and 8.
std::string list_of(const std::vector<int>& members) {
  std::string text;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const std::size_t first = i;
    while (i + 1 < members.size() && members[i + 1] == members[i] + 1) ++i;
    text += (text.empty() ? "" : ",") + std::to_string(members[first]);
    if (i > first) text += "-" + std::to_string(members[i]);
  }
  return text;
}

class Metered final : public Communicator, private MessageVisitor {
 public:
  Metered(std::unique_ptr<Communicator> inner, Meter& meter, Timeline& timeline, NodeOf node_of,
          std::vector<int> members)
      : inner_(std::move(inner)),
        meter_(meter),
        timeline_(timeline),
        node_of_(std::move(node_of)),
        members_(std::move(members)),
        ranks_(members_.empty() ? "" : lasting_text(list_of(members_))) {
    own_node_ = node_of_(inner_->rank());
    use_all_reduce(inner_->all_reduce_algorithm());
  }

  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }
  Placement place() const override { return inner_->place(); }
  Device& device() override { return inner_->device(); }
  bool performs(const CollectiveCall& call) override { return in_step().performs(call); }
  std::vector<std::int64_t> all_gather_number(std::int64_t value) override { return inner_->all_gather_number(value); }

  std::unique_ptr<Communicator> regroup(const GroupPart& part) override {
    std::vector<int> members;
    if (!members_.empty()) {
      for (const int member : part.members) members.push_back(members_[static_cast<std::size_t>(member)]);
    }
    NodeOf node_of = [whole = node_of_, members = part.members](int rank) {
      return whole(members[static_cast<std::size_t>(rank)]);
    };
    return metered(inner_->regroup(part), meter_, timeline_, std::move(node_of), std::move(members));
  }

  using Communicator::exchange;
  void exchange(std::span<const Transfer> transfers) override {
    counted(transfers, [&] { inner_->exchange(transfers); });
  }
  /// What was to be sent to those who are gone counts too.
  std::vector<int> exchange_with_those_there(std::span<const Transfer> transfers) override {
    std::vector<int> gone;
    counted(transfers, [&] { gone = inner_->exchange_with_those_there(transfers); });
    return gone;
  }

  bool with_all_there(const std::function<void()>& collectives) override { return inner_->with_all_there(collectives); }

  /// Performed by the inner communicator, with its declared cost; or by exchanges, which count themselves.
  void perform(const CollectiveCall& call) override {
    if (running_ == no_collective && size() > 1) inner_->device().charge_host(HostWork::call);
    const CollectiveKind& kind = kind_of(call.collective);
    const Naming naming(*this, kind.name, call);
    Communicator& inner = in_step();
    if (!inner.performs(call)) return Communicator::perform(call);
    const bool chosen = library_chooses(call);
    const Cost cost = chosen ? chosen_cost(call) : kind.cost(*this, call);
    meter_.add(cost);
    const Timeline::Scope wire(timeline_, Activity::wire, running_, cost.bytes, call_);
    inner.perform(call);
    if (chosen || call.collective == Collective::all_reduce) return as_inner_says(cost);
    kind.messages(*this, call, *this);
  }

 private:
  /// Names the exchanges of a collective in the timeline; the outermost collective wins.
  class Naming {
   public:
    Naming(Metered& whole, const char* name, const CollectiveCall& call)
        : whole_(whole), outermost_(whole.running_ == no_collective) {
      if (!outermost_) return;
      whole_.running_ = name;
      whole_.call_ = {size_of(call), whole_.timeline_.count_call(), whole_.ranks_};
    }
    ~Naming() {
      if (!outermost_) return;
      whole_.running_ = no_collective;
      whole_.call_ = {};
    }
    Naming(const Naming&) = delete;
    Naming& operator=(const Naming&) = delete;

   private:
    static std::int64_t size_of(const CollectiveCall& call) {
      std::int64_t bytes = call.parts.empty() ? call.x.modelled_bytes() : 0;
      for (const Buffer& part : call.parts) bytes += part.modelled_bytes();
      return bytes;
    }

    Metered& whole_;
    bool outermost_;
  };

  static constexpr const char* no_collective = "exchange";

  template <class Exchange>
  void counted(std::span<const Transfer> transfers, const Exchange& exchanged) {
    require_disjoint(transfers);
    const Cost cost = cost_of(transfers);
    if (cost.rounds == 0) return exchanged();
    if (running_ == no_collective) inner_->device().charge_host(HostWork::call);
    meter_.add(cost);
    for (const Transfer& transfer : transfers) {
      if (transfer.direction == Transfer::Direction::send) sent(transfer.peer, transfer.buffer.modelled_bytes());
    }
    const Timeline::Scope wire(timeline_, Activity::wire, running_, cost.bytes, call_);
    exchanged();
  }

  /// The inner communicator, told which all-reduce this one was told to use.
  Communicator& in_step() const {
    inner_->use_all_reduce(all_reduce_algorithm());
    return *inner_;
  }

  /// Counts what goes to a rank of the group, if it leaves the node.
  void sent(int peer, std::int64_t bytes) override {
    if (bytes > 0 && node_of_(peer) != own_node_) meter_.add_to_other_nodes(bytes);
  }

  /// What the inner communicator knows to have left the node, or all that went to the next rank.
  void as_inner_says(Cost cost) {
    const std::optional<std::int64_t> known = inner_->sent_to_other_nodes();
    known ? meter_.add_to_other_nodes(std::min(*known, cost.bytes)) : sent((rank() + 1) % size(), cost.bytes);
  }

  /// Whether the library behind the all-reduce chooses how that collective goes too, where it has a root.
  bool library_chooses(const CollectiveCall& call) const {
    const bool rooted = call.collective == Collective::broadcast || call.collective == Collective::reduce;
    return rooted && size() > 1 && all_reduce_algorithm().chooses(call.collective);
  }
  /// What this rank then sends.
  Cost chosen_cost(const CollectiveCall& call) const {
    std::vector<int> nodes(static_cast<std::size_t>(size()));
    for (int peer = 0; peer < size(); ++peer) nodes[static_cast<std::size_t>(peer)] = node_of_(peer);
    return all_reduce_algorithm().cost_from(call.collective, nodes, rank(), call.root, call.x);
  }

  /// One round if any message has another end than this rank, and the bytes sent to others.
  Cost cost_of(std::span<const Transfer> transfers) const {
    Cost cost;
    for (const Transfer& transfer : transfers) {
      if (transfer.peer == rank()) continue;
      cost.rounds = 1;
      if (transfer.direction == Transfer::Direction::send) cost.bytes += transfer.buffer.modelled_bytes();
    }
    return cost;
  }

  std::unique_ptr<Communicator> inner_;
  Meter& meter_;
  Timeline& timeline_;
  NodeOf node_of_;
  int own_node_ = 0;
  std::vector<int> members_;  ///< ranks of the run; empty: not known
  const char* ranks_;         ///< the same as text
  const char* running_ = no_collective;
  SpannedCall call_;  ///< what is running
};

}  // namespace

std::unique_ptr<Communicator> metered(std::unique_ptr<Communicator> inner, Meter& meter, Timeline& timeline,
                                      NodeOf node_of, std::vector<int> members) {
  return std::make_unique<Metered>(std::move(inner), meter, timeline, std::move(node_of), std::move(members));
}

}  // namespace trigram
