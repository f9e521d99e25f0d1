#include "tests/net/rivals.hpp"

#include <sys/uio.h>

#include <cstdio>
#include <map>
#include <optional>
#include <thread>

#include "net/connection/handle.hpp"
#include "net/connection/interfaces.hpp"
#include "net/stream/path.hpp"
#include "tests/net/dealt_sockets.hpp"

namespace trigram::tests {
namespace {

using namespace net;

/// The listening end, with those connections of a peer that have come.
struct RivalListener {
  std::vector<Socket> sockets;
  std::map<std::uint32_t, Socket> come;
};

/// Waits, which NCCL's own would not: both ends are processes of their own here.
void move_word(const Socket& socket, std::uint32_t& word, bool sends) {
  std::size_t bytes = 0;
  while (bytes < sizeof word) {
    iovec part{reinterpret_cast<std::byte*>(&word) + bytes, sizeof word - bytes};
    const Moved moved = sends ? socket.send({&part, 1}, bytes) : socket.receive({&part, 1}, bytes);
    if (moved != Moved::some && moved != Moved::nothing_yet) return;
  }
}

class Rival final : public LoadedPlugin {
 public:
  explicit Rival(const Dealing& dealing) : dealing_(dealing) {}

  Result init() override { return Result::success; }
  Result finalize() override { return Result::success; }
  Said said() override { return {"rival", 1, abi::pointer_host, 10000, 20, 1}; }

  Result listen(void* bytes, void** listener) override {
    auto made = std::make_unique<RivalListener>();
    Handle handle{random_token(), random_token(), {}};
    for (const auto& interface : interfaces()) {
      Address address = interface.address;
      made->sockets.push_back(Socket::listening(address));
      handle.addresses.push_back(address);
    }
    write_handle(handle, HandleBytes(static_cast<std::byte*>(bytes), abi::handle_bytes));
    *listener = made.release();
    return Result::success;
  }

  Result connect(void* bytes, void** comm) override {
    const auto handle = read_handle(HandleBytes(static_cast<std::byte*>(bytes), abi::handle_bytes));
    const auto paths = paths_to(interfaces(), handle->addresses);
    std::vector<Socket> sockets;
    for (std::uint32_t i = 0; i <= connections(); ++i) {
      const auto& path = paths[i == 0 ? 0 : (i - 1) % paths.size()];
      Socket socket = Socket::connecting(path.from, path.to);
      while (socket.connected() == Moved::nothing_yet) std::this_thread::yield();
      move_word(socket, i, true);
      sockets.push_back(std::move(socket));
    }
    *comm = made(true, std::move(sockets));
    return Result::success;
  }

  Result accept(void* listener, void** comm) override {
    auto& here = *static_cast<RivalListener*>(listener);
    *comm = nullptr;
    for (const auto& socket : here.sockets) {
      for (Socket come = socket.accept(); come.open(); come = socket.accept()) {
        std::uint32_t number = 0;
        move_word(come, number, false);
        here.come[number] = std::move(come);
      }
    }
    if (here.come.size() <= connections()) return Result::success;
    std::vector<Socket> sockets;
    for (auto& [number, socket] : here.come) sockets.push_back(std::move(socket));
    here.come.clear();
    *comm = made(false, std::move(sockets));
    return Result::success;
  }

  Result isend(void* comm, void* data, std::size_t size, int, void** request) override {
    *request = static_cast<DealtSockets*>(comm)->post(data, size);
    if (*request) owners_[*request] = static_cast<DealtSockets*>(comm);
    return Result::success;
  }

  Result irecv(void* comm, std::vector<void*> data, std::vector<std::size_t> sizes, std::vector<int>,
               void** request) override {
    return data.size() == 1 ? isend(comm, data[0], sizes[0], 0, request) : Result::invalid_usage;
  }

  Result iflush(void*, void*, int, void** request) override {
    *request = nullptr;
    return Result::success;
  }

  Result test(void* request, int* done, int* sizes) override {
    auto& asked = *static_cast<DealtRequest*>(request);
    bool over = false;
    if (!owners_.at(request)->test(asked, over)) return Result::remote_error;
    *done = over;
    if (over && sizes) *sizes = static_cast<int>(asked.size);
    return Result::success;
  }

  Result close_send(void* comm) override {
    delete static_cast<DealtSockets*>(comm);
    return Result::success;
  }
  Result close_receive(void* comm) override { return close_send(comm); }
  Result close_listen(void* listener) override {
    delete static_cast<RivalListener*>(listener);
    return Result::success;
  }
  Result register_memory(void*, void*, std::size_t, int type) override {
    return type == abi::pointer_host ? Result::success : Result::invalid_argument;
  }

 private:
  static std::vector<Interface> interfaces() { return usable_interfaces(settings_of_environment()); }
  std::uint32_t connections() const { return static_cast<std::uint32_t>(dealing_.connections()); }

  DealtSockets* made(bool sends, std::vector<Socket> sockets) const {
    for (const auto& socket : sockets) {
      socket.prepare(1 << 30, 30);
      if (dealing_.hurries) socket.hurry_within_host();
    }
    Socket control = std::move(sockets.front());
    sockets.erase(sockets.begin());
    return new DealtSockets(sends, dealing_, std::move(control), std::move(sockets));
  }

  Dealing dealing_;
  std::map<void*, DealtSockets*> owners_;
};

std::optional<Dealing> dealing_of(const std::string& what) {
  Dealing dealing;
  dealing.hurries = what.ends_with(":hurried");
  if (what == "one_socket") return dealing;
  if (std::sscanf(what.c_str(), "nccl:%dx%d", &dealing.threads, &dealing.sockets) == 2) return dealing;
  if (std::sscanf(what.c_str(), "bagua:%d", &dealing.threads) == 1) {
    dealing.least = 1 << 20;
    return dealing;
  }
  return std::nullopt;
}

}  // namespace

std::unique_ptr<LoadedPlugin> rival_of(const std::string& what) {
  const auto dealing = dealing_of(what);
  return dealing ? std::make_unique<Rival>(*dealing) : nullptr;
}

}  // namespace trigram::tests
