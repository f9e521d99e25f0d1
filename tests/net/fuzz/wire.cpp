// What a hostile peer may say to either end of a connection, to a listener, and in a handle: each input is a script of
// what it says and of what our end does meanwhile. libFuzzer writes inputs; replay.cpp feeds the same function without
// it.
#include "tests/net/fuzz/wire.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "net/connection/handle.hpp"
#include "net/connection/hello.hpp"
#include "net/connection/listener.hpp"
#include "net/recv_comm.hpp"
#include "net/send_comm.hpp"
#include "net/stream/frame.hpp"

namespace trigram::tests {
namespace {

using namespace net;
using namespace std::chrono_literals;

/// The input, read from its front; zeros behind its end.
class Script {
 public:
  explicit Script(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  bool over() const { return at_ >= bytes_.size(); }
  std::uint8_t byte() { return over() ? 0 : bytes_[at_++]; }
  std::uint32_t word() { return byte() | std::uint32_t{byte()} << 8U; }
  /// At most so many of the bytes that are left.
  std::span<const std::uint8_t> some(std::size_t most) {
    const auto part = bytes_.subspan(at_, std::min(most, bytes_.size() - at_));
    at_ += part.size();
    return part;
  }

 private:
  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
};

/// What this harness needs of the system, else it says which of it failed.
void must(bool holds) {
  if (holds) return;
  std::perror("the harness itself");
  std::abort();
}

/// Connects, also where the fuzzer's alarm interrupts it.
void connect_to(const Address& address, int descriptor) {
  int result = -1;
  do result = connect(descriptor, address.raw(), address.length());
  while (result != 0 && errno == EINTR);
  must(result == 0 || errno == EISCONN);
}

/// The hostile end of a connection.
class Peer {
 public:
  /// Its end is a reset, so that thousands a second do not use up the ports of the machine.
  explicit Peer(int descriptor) : descriptor_(descriptor) {
    const linger at_once{1, 0};
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  }
  ~Peer() { hang_up(); }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  void say(std::span<const std::uint8_t> bytes) const {
    if (!bytes.empty()) static_cast<void>(send(descriptor_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL));
  }

  /// A frame that is nearly one of ours, and what it says that follows.
  void say_frame(Script& script) const {
    Frame frame;
    frame.kind = static_cast<FrameKind>(script.byte() % 7);
    frame.tag = script.byte() % 4;
    frame.chunk = 1U << (script.byte() % 20);
    frame.length = script.word();
    frame.index = script.byte() % 40;
    frame.offset = std::uint64_t{script.byte()} % 5 * frame.chunk;
    frame.size = script.word() + std::uint64_t{script.byte()} % 3 * frame.chunk;
    std::array<std::byte, frame_bytes> head{};
    write_frame(frame, head);
    say({reinterpret_cast<const std::uint8_t*>(head.data()), head.size()});
    if (frame.kind == FrameKind::data) say(std::vector<std::uint8_t>(frame.length, 7));
  }

  void hang_up() {
    if (descriptor_ >= 0) close(std::exchange(descriptor_, -1));
  }

 private:
  int descriptor_;
};

/// A pair of which one end is ours.
std::pair<Socket, int> connection() {
  std::array<int, 2> ends{};
  must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()) == 0);
  return {Socket(ends[0]), ends[1]};
}

/// A receive or a send of ours.
struct Posted {
  std::unique_ptr<std::byte[]> memory;
  std::size_t size = 0;
  Request* request = nullptr;
};

/// False once the communicator has failed, as it may at any time.
bool test_all(Comm& comm, std::vector<Posted>& posted) try {
  for (Posted& one : posted) {
    int done = 0;
    std::array<int, max_grouped> sizes{};
    if (one.request) comm.test(*one.request, &done, sizes.data());
    if (!done) continue;
    must(sizes[0] >= 0 && static_cast<std::size_t>(sizes[0]) <= one.size);
    one.request = nullptr;
  }
  return true;
} catch (const Error&) {
  return false;
}

void play(Script& script, Peer& peer, Comm& comm, const std::function<Request*(Posted&, int tag)>& post) {
  std::vector<Posted> posted;
  auto now = net::Clock::now();
  for (bool lives = true; lives && !script.over();) {
    const std::uint8_t act = script.byte();
    if (act % 8 < 3) {
      peer.say_frame(script);
    } else if (act % 8 == 3) {
      peer.say(script.some(act / 4 + 1U));
    } else if (act % 8 == 4) {
      const std::size_t size = script.word() * std::size_t{1 + script.byte() % 4U};
      Posted one{std::make_unique<std::byte[]>(size), size};
      try {
        one.request = post(one, script.byte() % 4);
      } catch (const Error&) {
        lives = false;
      }
      if (one.request) posted.push_back(std::move(one));
    } else if (act % 8 == 5) {
      now += std::chrono::milliseconds(script.word() % 2048);
      lives = comm.tick(now);
    } else if (act == 254) {
      peer.hang_up();
    } else {
      lives = test_all(comm, posted);
    }
  }
  test_all(comm, posted);
  comm.close();
}

void to_a_receiver(Script& script) {
  RecvComm comm(1, {}, nullptr);
  auto [ours, theirs] = connection();
  Peer peer(theirs);
  comm.adopt(0, std::move(ours));
  play(script, peer, comm, [&](Posted& one, int tag) {
    void* data = one.memory.get();
    return comm.irecv(1, &data, &one.size, &tag);
  });
}

Interface loopback() {
  Interface lo{"lo", {}, 8, 0, {}};
  lo.address.storage.ss_family = AF_INET;
  const std::array<std::uint8_t, 4> host{127, 0, 0, 1};
  std::ranges::copy(host, lo.address.host().begin());
  return lo;
}

void to_a_sender(Script& script) {
  const Interface lo = loopback();
  Handle handle{random_token(), random_token(), {lo.address}};
  const Socket listening = Socket::listening(handle.addresses.front());
  Settings settings;
  settings.streams = 1;
  SendComm comm(handle, {lo}, settings);
  comm.connected();
  int theirs = -1;
  while (theirs < 0) theirs = accept(listening.descriptor(), nullptr, nullptr);
  Peer peer(theirs);
  peer.say(handle.answers);
  try {
    while (!comm.connected()) continue;
  } catch (const Error&) {
    return;  // this process was stopped for so long that ours gave up
  }
  play(script, peer, comm, [&](Posted& one, int tag) { return comm.isend(one.memory.get(), one.size, tag); });
}

void to_a_listener(Script& script) {
  const Interface lo = loopback();
  const auto listener = std::make_shared<Listener>(std::vector<Interface>{lo}, Settings{});
  const Address address = listener->handle().addresses.front();
  std::vector<std::unique_ptr<Peer>> peers;
  std::vector<std::shared_ptr<RecvComm>> accepted;
  auto now = net::Clock::now();
  constexpr std::size_t most_peers = 12;
  while (!script.over() && peers.size() < most_peers) {
    const int theirs = socket(AF_INET, SOCK_STREAM, 0);
    connect_to(address, theirs);
    peers.push_back(std::make_unique<Peer>(theirs));
    const std::uint8_t act = script.byte();
    std::array<std::byte, hello_bytes> hello{};
    write_hello(
        {act % 4 ? listener->handle().asks : Token{}, Token{script.byte()}, script.byte() % 4, script.byte() % 5},
        hello);
    if (act % 3) peers.back()->say({reinterpret_cast<const std::uint8_t*>(hello.data()), hello.size()});
    peers.back()->say(script.some(act / 4));
    if (act >= 128) peers.back()->hang_up();
    now += 100ms;
    listener->tick(now);
    if (auto comm = listener->accept()) accepted.push_back(std::move(comm));
  }
  for (const auto& comm : accepted) comm->close();
  listener->close();
}

/// What is read can be written and read again.
void in_bytes(Script& script) {
  std::array<std::byte, abi::handle_bytes> bytes{};
  const auto given = script.some(bytes.size());
  std::ranges::copy(std::as_bytes(given), bytes.begin());
  if (const auto handle = read_handle(bytes)) {
    std::array<std::byte, abi::handle_bytes> again{};
    write_handle(*handle, again);
    must(read_handle(again)->addresses.size() == handle->addresses.size());
  }
  if (const auto frame = read_frame(ConstFrameBytes(bytes.data(), frame_bytes))) {
    must(frame->length <= frame->size || frame->kind != FrameKind::data);
    must(frame->offset + frame->length <= frame->size || frame->kind != FrameKind::data);
  }
  if (const auto hello = read_hello(std::span<const std::byte, hello_bytes>(bytes.data(), hello_bytes)))
    must(hello->stream >= 0 && hello->stream < hello->streams && hello->streams <= max_streams);
}

}  // namespace

void hear(std::span<const std::uint8_t> input) {
  constexpr std::array ends{to_a_receiver, to_a_sender, to_a_receiver, to_a_listener, to_a_receiver, in_bytes};
  Script script(input);
  ends[script.byte() % ends.size()](script);
}

}  // namespace trigram::tests
