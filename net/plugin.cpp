#include "net/plugin.hpp"

#include <exception>

#include "net/connection/listener.hpp"
#include "net/host.hpp"
#include "net/log.hpp"
#include "net/recv_comm.hpp"
#include "net/service.hpp"
#include "net/statistics.hpp"

namespace trigram::net::plugin {
namespace {

using abi::Result;

/// NCCL is C: nothing may be thrown through it.
template <typename Work>
Result guarded(const char* what, Work&& work) noexcept {
  try {
    work();
    return Result::success;
  } catch (const Error& error) {
    if (!error.said()) warn(std::string(what) + ": " + error.what());
    return error.code();
  } catch (const std::exception& error) {
    warn(std::string(what) + ": " + error.what());
    return Result::internal_error;
  }
}

void need(bool holds, const char* text) {
  if (!holds) throw Error(Result::invalid_argument, text);
}

Handle handle_of(const void* bytes) {
  const auto handle = read_handle(
      std::span<const std::byte, abi::handle_bytes>(static_cast<const std::byte*>(bytes), abi::handle_bytes));
  if (!handle)
    throw Error(Result::invalid_argument, "the handle is none of this plugin's: does the peer use another network?");
  return *handle;
}

/// Threads of ours look after it from now on, and NCCL has it.
void* handed_on(std::shared_ptr<Comm> made) {
  if (Mover* mover = Host::instance().next_mover()) {
    made->moved_by(*mover);
    mover->add(made);
  }
  void* comm = made.get();
  Service::instance().add(std::move(made));
  return comm;
}

void close(void* comm) {
  if (comm) static_cast<Comm*>(comm)->close();
}

}  // namespace

Result init(abi::DebugLogger logger) noexcept {
  return guarded("it is not used, since init failed", [&] {
    set_logger(logger);
    Host::instance().use();
  });
}

Result init_for_good(abi::DebugLogger logger) noexcept {
  return guarded("it is not used, since init failed", [&] {
    set_logger(logger);
    Host::instance().reside();
  });
}

Result finalize() noexcept {
  return guarded("finalize", [] {
    if (!Host::instance().leave()) return;
    Service::instance().drain(2);
    if (const auto table = table_of_paths(); !table.empty()) info("paths of this process\n" + table);
    write_metrics(Host::instance().settings().metrics);
  });
}

Result devices(int* count) noexcept {
  return guarded("devices", [&] { *count = Host::instance().in_use() ? 1 : 0; });
}

Result device(int index, Device* device) noexcept {
  return guarded("properties", [&] {
    need(index == 0, "there is one device, number 0");
    *device = Host::instance().device();
  });
}

Result listen(int device, void* handle, void** listener) noexcept {
  return guarded("listen", [&] {
    need(device == 0, "there is one device, number 0");
    auto& host = Host::instance();
    auto made = std::make_shared<Listener>(host.interfaces(), host.settings());
    write_handle(made->handle(), HandleBytes(static_cast<std::byte*>(handle), abi::handle_bytes));
    *listener = made.get();
    Service::instance().add(std::move(made));
  });
}

Result connect(int device, void* handle, void** comm) noexcept {
  *comm = nullptr;
  return guarded("connect", [&] {
    need(device == 0, "there is one device, number 0");
    const Handle peer = handle_of(handle);
    auto& host = Host::instance();
    auto made = host.connecting(handle, peer);
    try {
      if (!made->connected()) return;
    } catch (...) {
      host.end_connecting(handle, peer);
      throw;
    }
    host.end_connecting(handle, peer);
    *comm = handed_on(std::move(made));
  });
}

Result accept(void* listener, void** comm) noexcept {
  *comm = nullptr;
  return guarded("accept", [&] {
    if (auto made = static_cast<Listener*>(listener)->accept()) *comm = handed_on(std::move(made));
  });
}

Result register_memory(void*, void* data, std::size_t, int type, void** memory) noexcept {
  return guarded("register memory", [&] {
    need(type == abi::pointer_host, "only memory of the host can be registered, as the properties say");
    *memory = data;
  });
}

Result deregister_memory(void*, void*) noexcept { return Result::success; }

Result isend(void* comm, void* data, std::size_t size, int tag, void** request) noexcept {
  *request = nullptr;
  return guarded("isend", [&] {
    need(size <= abi::max_message, "a message of more than 1 TiB");
    *request = static_cast<SendComm*>(static_cast<Comm*>(comm))->isend(data, size, tag);
  });
}

Result irecv(void* comm, int count, void** data, const std::size_t* sizes, const int* tags, void** request) noexcept {
  *request = nullptr;
  return guarded("irecv", [&] {
    need(count >= 1 && count <= max_grouped, "a group has 1 to 8 receives, as the properties say");
    *request = static_cast<RecvComm*>(static_cast<Comm*>(comm))->irecv(count, data, sizes, tags);
  });
}

/// What was received in memory of the host is there.
Result iflush(void*, int, void**, int*, void**, void** request) noexcept {
  *request = nullptr;
  return Result::success;
}

Result test(void* request, int* done, int* sizes) noexcept {
  return guarded("test", [&] {
    auto& asked = *static_cast<Request*>(request);
    asked.comm->test(asked, done, sizes);
  });
}

Result close_send(void* comm) noexcept {
  return guarded("close", [&] { close(comm); });
}

Result close_receive(void* comm) noexcept { return close_send(comm); }

Result close_listen(void* listener) noexcept {
  return guarded("close", [&] {
    if (listener) static_cast<Listener*>(listener)->close();
  });
}

}  // namespace trigram::net::plugin
