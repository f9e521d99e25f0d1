// A link with a delay and losses, in user space, for kernels without netem: delayed_link PORT PORT MILLISECONDS
// LOSS_PERCENT SEED.
//
// What comes in from one interface goes out to the other one, so much later, but for the frames that are lost, which
// the seed decides. Says "ready" when it is.
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <random>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

struct Frame {
  Clock::time_point due;
  std::vector<char> bytes;
};

struct Port {
  int socket;
  std::deque<Frame> leaving;
};

int opened(const char* name) {
  const int port = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK, 0);
  const int yes = 1;
  const int buffer = 64 << 20;
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_ALL);
  address.sll_ifindex = static_cast<int>(if_nametoindex(name));
  if (port < 0 || setsockopt(port, SOL_PACKET, PACKET_IGNORE_OUTGOING, &yes, sizeof yes) != 0 ||
      // Checksums that the kernel has not computed yet pass as such.
      setsockopt(port, SOL_PACKET, PACKET_VNET_HDR, &yes, sizeof yes) != 0 ||
      setsockopt(port, SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof buffer) != 0 ||
      setsockopt(port, SOL_SOCKET, SO_SNDBUFFORCE, &buffer, sizeof buffer) != 0 ||
      bind(port, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    std::perror(name);
    std::exit(1);
  }
  return port;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    std::fprintf(stderr, "usage: delayed_link PORT PORT MILLISECONDS LOSS_PERCENT SEED\n");
    return 2;
  }
  Port ports[2] = {{opened(argv[1]), {}}, {opened(argv[2]), {}}};
  const auto delay =
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double, std::milli>(std::atof(argv[3])));
  std::bernoulli_distribution lost(std::atof(argv[4]) / 100);
  std::mt19937 random(static_cast<unsigned>(std::atoi(argv[5])));
  std::puts("ready");
  std::fflush(stdout);
  std::vector<char> buffer(70000);
  while (true) {
    pollfd wanted[2] = {{ports[0].socket, POLLIN, 0}, {ports[1].socket, POLLIN, 0}};
    const bool waits = !ports[0].leaving.empty() || !ports[1].leaving.empty();
    poll(wanted, 2, waits ? 1 : -1);
    const auto now = Clock::now();
    for (int i = 0; i < 2; ++i) {
      for (ssize_t size = 0; (size = recv(ports[i].socket, buffer.data(), buffer.size(), 0)) > 0;) {
        if (!lost(random)) ports[1 - i].leaving.push_back({now + delay, {buffer.begin(), buffer.begin() + size}});
      }
    }
    for (auto& port : ports) {
      for (; !port.leaving.empty() && port.leaving.front().due <= now; port.leaving.pop_front()) {
        const auto& bytes = port.leaving.front().bytes;
        if (send(port.socket, bytes.data(), bytes.size(), 0) < 0 && errno != ENOBUFS && errno != EAGAIN)
          std::perror("a frame");
      }
    }
  }
}
