#include "core/lane/group_call.hpp"

#include <map>
#include <optional>
#include <span>

#include "core/values/error.hpp"
#include "core/values/quoted.hpp"

namespace trigram {
namespace {

constexpr const char* with_those_there = "exchange_with_those_there";

const Buffer& only(const GroupCall& call) {
  ensure(call.buffers.size() == 1, call.collective, " takes one buffer, not ", call.buffers.size());
  return call.buffers.front();
}

/// One for each rank of the group, from `begin` on.
std::span<const Buffer> one_a_rank(const Communicator& comm, const GroupCall& call, std::size_t begin) {
  const auto size = static_cast<std::size_t>(comm.size());
  ensure(call.buffers.size() >= begin + size, call.collective, " takes a buffer for each of ", size, " ranks");
  return std::span(call.buffers).subspan(begin, size);
}

/// What a name stands for beside the collectives' own.
struct Named {
  std::optional<Collective> collective;  ///< none: messages to or from ranks that the call names
  bool of_parts = false;
};

const std::map<std::string, Named>& names() {
  static const std::map<std::string, Named> all = [] {
    std::map<std::string, Named> named{{"all_gather_parts", {Collective::all_gather, true}},
                                       {"send", {}},
                                       {"receive", {}},
                                       {"exchange", {}},
                                       {with_those_there, {}}};
    for (int i = 0; i < collective_count; ++i)
      named[name_of(static_cast<Collective>(i))] = {static_cast<Collective>(i)};
    return named;
  }();
  return all;
}

CollectiveCall as_collective(const Communicator& comm, const GroupCall& call, const Named& named) {
  CollectiveCall made{.collective = *named.collective, .op = call.op, .root = call.peer};
  if (named.of_parts) {
    made.parts = one_a_rank(comm, call, 0);
    return made;
  }
  switch (kind_of(*named.collective).takes) {
    case CollectiveKind::Takes::nothing:
      break;
    case CollectiveKind::Takes::vector:
      made.x = only(call);
      break;
    case CollectiveKind::Takes::sent_and_received:
      made.parts = one_a_rank(comm, call, 0);
      made.received = one_a_rank(comm, call, made.parts.size());
      break;
    case CollectiveKind::Takes::own_and_all_on_root:
      made.x = call.buffers.at(0);
      if (comm.rank() == call.peer) made.parts = one_a_rank(comm, call, 1);
      break;
  }
  return made;
}

/// "send" and "receive" are an exchange with one peer.
std::vector<Transfer> as_transfers(const GroupCall& call) {
  if (call.collective == "send") return {Transfer::send_to(call.peer, only(call))};
  if (call.collective == "receive") return {Transfer::receive_from(call.peer, only(call))};
  std::vector<Transfer> transfers;
  for (std::size_t i = 0; i < call.buffers.size(); ++i) {
    const auto direction = i < call.sent ? Transfer::Direction::send : Transfer::Direction::receive;
    transfers.push_back({direction, call.peers[i], call.buffers[i]});
  }
  return transfers;
}

void require_rank(const Communicator& comm, const GroupCall& call, int peer) {
  require(peer >= 0 && peer < comm.size(), call.collective, ": there is no rank ", peer, " among ", comm.size());
}

}  // namespace

ReduceOp reduce_op_of(const std::string& name) {
  static const std::map<std::string, ReduceOp> all{
      {"sum", ReduceOp::sum}, {"mean", ReduceOp::mean}, {"min", ReduceOp::min}, {"max", ReduceOp::max}};
  const auto found = all.find(name);
  require(found != all.end(), "unknown reduction ", Quoted(name), "; use sum, mean, min or max");
  return found->second;
}

DType dtype_of(const std::string& name) {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16, DType::u8, DType::i32, DType::i64}) {
    if (name == name_of(dtype)) return dtype;
  }
  throw UsageError("'" + name + "' is none of the types that ranks send");
}

void check(const Communicator& comm, const GroupCall& call) {
  ensure(names().contains(call.collective), "no collective is called ", [&] { return in_quotes(call.collective); });
  require_rank(comm, call, call.peer);
  ensure(call.peers.empty() || call.peers.size() == call.buffers.size(), call.collective, " has ", call.buffers.size(),
         " buffers and names ", call.peers.size(), " ranks");
  const bool is_exchange = call.collective == "exchange" || call.collective == with_those_there;
  ensure(!is_exchange || call.peers.size() == call.buffers.size(), call.collective,
         " names a rank for each of its buffers");
  ensure(call.sent <= call.buffers.size(), call.collective, " sends ", call.sent, " of ", call.buffers.size(),
         " buffers");
  ensure((call.collective != "gather" && call.collective != "scatter") || !call.buffers.empty(), call.collective,
         " has no buffer");
  for (const int peer : call.peers) require_rank(comm, call, peer);
}

std::vector<int> perform(Communicator& comm, const GroupCall& call) {
  const Named& named = names().at(call.collective);
  if (call.collective == with_those_there) return comm.exchange_with_those_there(as_transfers(call));
  named.collective ? comm.perform(as_collective(comm, call, named)) : comm.exchange(as_transfers(call));
  return {};
}

}  // namespace trigram
