#include "backends/net/flight.hpp"

#include <algorithm>
#include <set>

#include "backends/net/plugin_log.hpp"

namespace trigram::net_backend {
namespace {

using net::abi::Result;

/// Where a message of no bytes lies.
std::byte nothing;

void* memory_of(const torch::Message& message) {
  return message.bytes == 0 ? &nothing : reinterpret_cast<void*>(static_cast<std::uintptr_t>(message.address));
}

}  // namespace

void close(LoadedPlugin& plugin, CommEnd& end, bool receives) {
  const std::lock_guard lock(end.mutex);
  if (end.comm == nullptr) return;
  receives ? plugin.close_receive(end.comm) : plugin.close_send(end.comm);
  end.comm = nullptr;
}

Flight::Flight(LoadedPlugin& plugin, std::span<const torch::Message> messages,
               const std::function<CommEnd&(const torch::Message&)>& end_of)
    : plugin_(plugin) {
  for (const torch::Message& message : messages) parts_.push_back({&message, &end_of(message)});
}

Flight::~Flight() {
  for (const Part& part : parts_) {
    if (!part.over && part.request != nullptr) close(plugin_, *part.end, part.message->receives != 0);
  }
}

/// A connection takes so many requests at once; those behind one that finds no room wait too, to keep their order.
bool Flight::moved() {
  std::set<const CommEnd*> full;
  bool all_over = true;
  for (Part& part : parts_) {
    if (part.over) continue;
    if (part.request == nullptr && !full.contains(part.end)) {
      post(part);
      if (part.request == nullptr) full.insert(part.end);
    }
    if (part.request != nullptr) test(part);
    if (!error_.text.empty()) return true;
    all_over = all_over && part.over;
  }
  return all_over;
}

void Flight::post(Part& part) {
  const std::lock_guard lock(part.end->mutex);
  if (part.end->comm == nullptr) return fail(part, "its connection was closed after an earlier failure");
  const auto bytes = static_cast<std::size_t>(part.message->bytes);
  const int tag = static_cast<int>(part.message->tag);
  void* memory = memory_of(*part.message);
  if (part.message->receives != 0) {
    const Result result = plugin_.irecv(part.end->comm, {memory}, {bytes}, {tag}, &part.request);
    if (result != Result::success) fail(part, failed_call("irecv", result));
  } else {
    const Result result = plugin_.isend(part.end->comm, memory, bytes, tag, &part.request);
    if (result != Result::success) fail(part, failed_call("isend", result));
  }
}

void Flight::test(Part& part) {
  const std::lock_guard lock(part.end->mutex);
  if (part.end->comm == nullptr) return fail(part, "its connection was closed after a failure of another message");
  int done = 0, size = 0;
  const Result result = plugin_.test(part.request, &done, &size);
  if (result != Result::success) return fail(part, failed_call("test", result));
  if (done == 0) return;
  part.over = true;
  const bool other = part.message->receives != 0 && size != std::min<std::int64_t>(part.message->bytes, 0x7fffffff);
  if (other) fail(part, std::to_string(size) + " bytes arrived; both ends must name the same size");
}

void Flight::fail(const Part& part, const std::string& reason) {
  error_ = {static_cast<int>(&part - parts_.data()), reason};
}

torch::TransferError Flight::ends_with(const std::string& reason) const {
  const auto open = std::ranges::find_if(parts_, [](const Part& part) { return !part.over; });
  return {static_cast<int>(open - parts_.begin()), reason};
}

}  // namespace trigram::net_backend
