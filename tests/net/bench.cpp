// How fast a net plugin carries messages, or its rivals' designs, between two processes: one line of JSON.
//
//   net_bench --plugin WHAT [--from NAMESPACE] [--to NAMESPACE] [--bytes N] [--in-flight N] [--warm-up S] [--seconds S]
//   net_bench --plugin WHAT --round-trips N [--from NAMESPACE] [--to NAMESPACE] [--bytes N]
//   net_bench --plugin WHAT --communicators N [--bytes N] [--in-flight N]
//
// WHAT is as in loaded_plugin.hpp, or for round trips also "bare", a socket without any plugin, and
// "bare_each_way", two of them, or "bare_each_way:hurried", with the plugin's control of congestion.
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <numeric>
#include <stdexcept>

#include "tests/net/bare_socket.hpp"
#include "tests/net/loaded_plugin.hpp"
#include "tests/net/two_processes.hpp"

namespace trigram::tests {
namespace {

using Clock = std::chrono::steady_clock;
using Flags = std::map<std::string, std::string>;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

void need(Result result, const char* what) {
  if (result != Result::success)
    throw std::runtime_error(std::string(what) + " ended with code " + std::to_string(static_cast<int>(result)));
}

double number(const Flags& flags, const char* name, double otherwise) {
  const auto found = flags.find(name);
  return found == flags.end() ? otherwise : std::atof(found->second.c_str());
}

std::string text(const Flags& flags, const char* name) {
  const auto found = flags.find(name);
  return found == flags.end() ? "" : found->second;
}

/// Where a process sends and receives.
struct Ends {
  std::unique_ptr<LoadedPlugin> plugin;
  void* send = nullptr;
  void* receive = nullptr;
};

/// Each connects to the other one.
Ends meet(const Flags& flags, const Pipes& pipes) {
  Ends ends{load_plugin(text(flags, "--plugin"))};
  need(ends.plugin->init(), "init");
  if (ends.plugin->said().devices < 1) throw std::runtime_error("the plugin has no device");
  std::array<std::byte, net::abi::handle_bytes> own{};
  std::array<std::byte, net::abi::handle_bytes> peers{};
  void* listener = nullptr;
  need(ends.plugin->listen(own.data(), &listener), "listen");
  pipes.write(own.data(), own.size());
  pipes.read(peers.data(), peers.size());
  while (!ends.send || !ends.receive) {
    if (!ends.send) need(ends.plugin->connect(peers.data(), &ends.send), "connect");
    if (!ends.receive) need(ends.plugin->accept(listener, &ends.receive), "accept");
  }
  need(ends.plugin->close_listen(listener), "close");
  return ends;
}

/// As NCCL's thread does, which lets others run where nothing is over.
bool is_over(Ends& ends, void* request, int* size) {
  int done = 0;
  need(ends.plugin->test(request, &done, size), "test");
  if (!done) sched_yield();
  return done != 0;
}

void part(Ends& ends) {
  need(ends.plugin->close_send(ends.send), "close");
  need(ends.plugin->close_receive(ends.receive), "close");
  need(ends.plugin->finalize(), "finalize");
}

/// Places for messages that are under way at once.
struct Slots {
  explicit Slots(const Flags& flags)
      : bytes(static_cast<std::size_t>(number(flags, "--bytes", 1 << 20))),
        requests(static_cast<std::size_t>(number(flags, "--in-flight", 32))),
        memory(requests.size(), std::vector<std::byte>(bytes, std::byte{42})) {}

  std::size_t bytes;
  std::vector<void*> requests;
  std::vector<std::vector<std::byte>> memory;
};

double duration_of(const Flags& flags) { return number(flags, "--warm-up", 1) + number(flags, "--seconds", 3); }

/// Messages one after the other, until the other process has measured long enough; what is under way then is left.
void send_all(const Flags& flags, Ends& ends, Slots& slots) {
  const double duration = duration_of(flags) + 0.2;
  const auto begin = Clock::now();
  for (std::size_t next = 0; seconds_since(begin) < duration; next = (next + 1) % slots.requests.size()) {
    auto& request = slots.requests[next];
    while (request && !is_over(ends, request, nullptr) && seconds_since(begin) < duration) continue;
    for (request = nullptr; !request && seconds_since(begin) < duration;) {
      need(ends.plugin->isend(ends.send, slots.memory[next].data(), slots.bytes, 7, &request), "isend");
    }
  }
}

struct Received {
  double begun = 0;            ///< on the system's monotonic clock
  std::vector<double> tenths;  ///< bytes in each tenth of a second
  double processor = 0;
  double first = -1, last = 0;  ///< after warming up, seconds when a message was whole
  double bytes = 0;             ///< between them

  /// Adds a message that is whole now. Those that were whole before the first, and waited for it, are of the time
  /// before: behind a slow path they come in bursts.
  void add(double seconds, double warm_up, double size) {
    constexpr double burst = 1e-3;
    const auto tenth = static_cast<std::size_t>(10 * seconds);
    if (tenth < tenths.size()) tenths[tenth] += size;
    if (seconds < warm_up) return;
    if (first < 0) {
      first = seconds;
    } else if (seconds - first > burst) {
      bytes += size;
    }
    last = seconds;
  }
  double mbps() const { return last > first ? 8e-6 * bytes / (last - first) : 0; }
};

Received receive_all(const Flags& flags, Ends& ends, Slots& slots) {
  const auto post = [&](std::size_t i) {
    while (!slots.requests[i]) {
      need(ends.plugin->irecv(ends.receive, {slots.memory[i].data()}, {slots.bytes}, {7}, &slots.requests[i]), "irecv");
    }
  };
  for (std::size_t i = 0; i < slots.requests.size(); ++i) post(i);
  const double duration = duration_of(flags);
  const auto begin = Clock::now();
  Received received{std::chrono::duration<double>(begin.time_since_epoch()).count(),
                    std::vector<double>(static_cast<std::size_t>(10 * duration)), 0};
  for (std::size_t next = 0; seconds_since(begin) < duration;) {
    int size = 0;
    if (!is_over(ends, slots.requests[next], &size)) continue;
    received.add(seconds_since(begin), number(flags, "--warm-up", 1), size);
    slots.requests[next] = nullptr;
    post(next);
    next = (next + 1) % slots.requests.size();
  }
  received.processor = processor_seconds();
  return received;
}

int bench_rate(const Flags& flags) {
  const auto receiver = [&](const Pipes& pipes) {
    Ends ends = meet(flags, pipes);
    Slots slots(flags);  // which messages that are under way need to the end
    const Received received = receive_all(flags, ends, slots);
    double processor_of_sender = 0;
    pipes.read(&processor_of_sender, sizeof processor_of_sender);
    const auto& tenths = received.tenths;
    const double all = std::accumulate(tenths.begin(), tenths.end(), 0.0);
    std::printf(
        "{\"plugin\": \"%s\", \"mbps\": %.1f, \"sender_core_s_per_GB\": %.3f, \"receiver_core_s_per_GB\": %.3f, "
        "\"begun\": "
        "%.3f, \"tenths_mbps\": [",
        text(flags, "--plugin").c_str(), received.mbps(), processor_of_sender / all * 1e9,
        received.processor / all * 1e9, received.begun);
    for (std::size_t i = 0; i < tenths.size(); ++i) std::printf(i ? ", %.0f" : "%.0f", 80e-6 * tenths[i]);
    std::printf("]}\n");
    std::fflush(stdout);
    _exit(0);
  };
  const auto sender = [&](const Pipes& pipes) {
    Ends ends = meet(flags, pipes);
    Slots slots(flags);
    send_all(flags, ends, slots);
    const double processor = processor_seconds();
    pipes.write(&processor, sizeof processor);
    _exit(0);
  };
  return run_two(receiver, text(flags, "--to"), sender, text(flags, "--from"));
}

/// One message and its answer.
void bounce(Ends& ends, std::vector<std::byte>& memory, bool first) {
  void* request = nullptr;
  int done = 0;
  const auto send = [&] {
    while (!request) need(ends.plugin->isend(ends.send, memory.data(), memory.size(), 1, &request), "isend");
    for (done = 0; !done;) need(ends.plugin->test(request, &done, nullptr), "test");
    request = nullptr;
  };
  if (first) send();
  while (!request) need(ends.plugin->irecv(ends.receive, {memory.data()}, {memory.size()}, {1}, &request), "irecv");
  for (done = 0; !done;) need(ends.plugin->test(request, &done, nullptr), "test");
  request = nullptr;
  if (!first) send();
}

int bench_round_trips(const Flags& flags) {
  const auto count = static_cast<std::size_t>(number(flags, "--round-trips", 1000));
  const auto bytes = static_cast<std::size_t>(number(flags, "--bytes", 8));
  const auto report = [&](std::vector<double> times) {
    std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
    std::printf("{\"plugin\": \"%s\", \"bytes\": %zu, \"half_round_trip_us\": %.2f}\n", text(flags, "--plugin").c_str(),
                bytes, 5e5 * times[times.size() / 2]);
  };
  const auto role = [&](bool first) {
    return [&, first](const Pipes& pipes) {
      std::vector<std::byte> memory(bytes);
      std::vector<double> times;
      const std::string what = text(flags, "--plugin");
      const bool bare = what.starts_with("bare");
      BareSocket socket;
      Ends ends;
      if (bare) {
        socket = BareSocket(pipes, first, what.starts_with("bare_each_way"), what.ends_with(":hurried"));
      } else {
        ends = meet(flags, pipes);
      }
      for (std::size_t i = 0; i < count + 100; ++i) {
        const auto begin = Clock::now();
        if (bare) {
          socket.bounce(memory, first);
        } else {
          bounce(ends, memory, first);
        }
        if (i >= 100) times.push_back(seconds_since(begin));
      }
      if (first) report(times);
      if (!bare) part(ends);
    };
  };
  return run_two(role(true), text(flags, "--to"), role(false), text(flags, "--from"));
}

/// KiB of this process that lie in memory.
long resident_kib() {
  long pages = 0, resident = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (!file || std::fscanf(file, "%ld %ld", &pages, &resident) != 2)
    throw std::runtime_error("/proc/self/statm is none");
  std::fclose(file);
  return resident * sysconf(_SC_PAGESIZE) / 1024;
}

/// So many messages from one process to the other, all under way at once.
void fill(Ends& ends, Slots& slots, bool first) {
  for (std::size_t i = 0; i < slots.requests.size(); ++i) {
    auto& request = slots.requests[i];
    void* data = slots.memory[i].data();
    while (!request) {
      first ? need(ends.plugin->isend(ends.send, data, slots.bytes, 7, &request), "isend")
            : need(ends.plugin->irecv(ends.receive, {data}, {slots.bytes}, {7}, &request), "irecv");
    }
  }
  for (auto& request : slots.requests) {
    while (!is_over(ends, request, nullptr)) continue;
    request = nullptr;
  }
}

/// What each communicator adds, a first one not counted: it has been full of messages.
int bench_memory(const Flags& flags) {
  const auto count = static_cast<std::size_t>(number(flags, "--communicators", 32));
  const auto role = [&](bool first) {
    return [&, first](const Pipes& pipes) {
      Slots slots(flags);
      std::vector<Ends> all;
      long before = 0;
      for (std::size_t i = 0; i <= count; ++i) {
        all.push_back(meet(flags, pipes));
        fill(all.back(), slots, first);
        fill(all.back(), slots, !first);
        if (i == 0) before = resident_kib();
      }
      const long each = (resident_kib() - before) / static_cast<long>(2 * count);
      if (first) std::printf("{\"kib_a_communicator\": %ld}\n", each);
      for (Ends& one : all) part(one);
    };
  };
  return run_two(role(true), text(flags, "--to"), role(false), text(flags, "--from"));
}

int run(int argc, char** argv) {
  Flags flags;
  for (int i = 1; i + 1 < argc; i += 2) flags[argv[i]] = argv[i + 1];
  if (argc % 2 == 0 || !flags.contains("--plugin")) {
    std::fprintf(stderr,
                 "usage: net_bench --plugin FILE[:VERSION]|one_socket|nccl:THREADSxSOCKETS|bagua:STREAMS [--from "
                 "NAMESPACE] [--to NAMESPACE]\n"
                 "  [--bytes N] [--in-flight N] [--warm-up S] [--seconds S] | --round-trips N | --communicators N\n");
    return 2;
  }
  if (flags.contains("--communicators")) return bench_memory(flags);
  return flags.contains("--round-trips") ? bench_round_trips(flags) : bench_rate(flags);
}

}  // namespace
}  // namespace trigram::tests

int main(int argc, char** argv) { return trigram::tests::run(argc, argv); }
