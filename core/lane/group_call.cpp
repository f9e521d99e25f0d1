#include "core/lane/group_call.hpp"

#include <functional>
#include <map>
#include <span>

#include "core/values/error.hpp"
#include "core/values/quoted.hpp"

namespace trigram {
namespace {

using Action = std::function<void(Communicator&, const GroupCall&)>;

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

void all_to_all(Communicator& comm, const GroupCall& call) {
  const std::span<const Buffer> sent = one_a_rank(comm, call, 0);
  comm.all_to_all(sent, one_a_rank(comm, call, sent.size()));
}

/// The own part comes first; the parts of all behind it, on the root.
void gather(Communicator& comm, const GroupCall& call) {
  const bool root = comm.rank() == call.peer;
  comm.gather(call.buffers.at(0), root ? one_a_rank(comm, call, 1) : std::span<const Buffer>(), call.peer);
}

void scatter(Communicator& comm, const GroupCall& call) {
  const bool root = comm.rank() == call.peer;
  comm.scatter(root ? one_a_rank(comm, call, 1) : std::span<const Buffer>(), call.buffers.at(0), call.peer);
}

void exchange(Communicator& comm, const GroupCall& call) {
  std::vector<Transfer> transfers;
  for (std::size_t i = 0; i < call.buffers.size(); ++i) {
    const auto direction = i < call.sent ? Transfer::Direction::send : Transfer::Direction::receive;
    transfers.push_back({direction, call.peers[i], call.buffers[i]});
  }
  comm.exchange(transfers);
}

const std::map<std::string, Action>& actions() {
  static const std::map<std::string, Action> all{
      {"all_reduce", [](Communicator& comm, const GroupCall& call) { comm.all_reduce(only(call), call.op); }},
      {"reduce_scatter", [](Communicator& comm, const GroupCall& call) { comm.reduce_scatter(only(call), call.op); }},
      {"all_gather", [](Communicator& comm, const GroupCall& call) { comm.all_gather(only(call)); }},
      {"all_gather_parts",
       [](Communicator& comm, const GroupCall& call) { comm.all_gather(one_a_rank(comm, call, 0)); }},
      {"all_to_all", all_to_all},
      {"broadcast", [](Communicator& comm, const GroupCall& call) { comm.broadcast(only(call), call.peer); }},
      {"reduce", [](Communicator& comm, const GroupCall& call) { comm.reduce(only(call), call.op, call.peer); }},
      {"gather", gather},
      {"scatter", scatter},
      {"barrier", [](Communicator& comm, const GroupCall&) { comm.barrier(); }},
      {"send",
       [](Communicator& comm, const GroupCall& call) { comm.exchange({Transfer::send_to(call.peer, only(call))}); }},
      {"receive", [](Communicator& comm,
                     const GroupCall& call) { comm.exchange({Transfer::receive_from(call.peer, only(call))}); }},
      {"exchange", exchange}};
  return all;
}

void require_rank(const Communicator& comm, const GroupCall& call, int peer) {
  require(peer >= 0 && peer < comm.size(), call.collective, ": there is no rank ", peer, " among ", comm.size());
}

}  // namespace

ReduceOp reduce_op_of(const std::string& name) {
  static const std::map<std::string, ReduceOp> all{
      {"sum", ReduceOp::sum}, {"mean", ReduceOp::mean}, {"min", ReduceOp::min}, {"max", ReduceOp::max}};
  const auto found = all.find(name);
  require(found != all.end(), "op ", Quoted(name), " is none of those that ranks reduce by: sum, mean, min, max");
  return found->second;
}

DType dtype_of(const std::string& name) {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16, DType::u8, DType::i32, DType::i64}) {
    if (name == name_of(dtype)) return dtype;
  }
  throw UsageError("'" + name + "' is none of the types that ranks send");
}

void check(const Communicator& comm, const GroupCall& call) {
  ensure(actions().contains(call.collective), "no collective is called ", [&] { return in_quotes(call.collective); });
  require_rank(comm, call, call.peer);
  ensure(call.peers.empty() || call.peers.size() == call.buffers.size(), call.collective, " has ", call.buffers.size(),
         " buffers and names ", call.peers.size(), " ranks");
  ensure(call.collective != "exchange" || call.peers.size() == call.buffers.size(),
         "exchange names a rank for each of its buffers");
  ensure(call.sent <= call.buffers.size(), call.collective, " sends ", call.sent, " of ", call.buffers.size(),
         " buffers");
  ensure((call.collective != "gather" && call.collective != "scatter") || !call.buffers.empty(), call.collective,
         " has no buffer");
  for (const int peer : call.peers) require_rank(comm, call, peer);
}

void perform(Communicator& comm, const GroupCall& call) { actions().at(call.collective)(comm, call); }

}  // namespace trigram
