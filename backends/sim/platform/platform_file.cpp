#include "backends/sim/platform/platform_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <new>
#include <regex>
#include <simgrid/s4u.hpp>
#include <sstream>
#include <string_view>

#include "backends/sim/engine/engine.hpp"
#include "backends/sim/platform/routes.hpp"
#include "core/values/error.hpp"
#include "core/values/packing.hpp"
#include "core/values/quoted.hpp"
#include "processes/child_process.hpp"

namespace trigram::sim {

namespace {

namespace sg = simgrid::s4u;

/// What outlives the process that reads: the part that it looked at last, and SimGrid's last words.
class Witness {
 public:
  Witness()
      : part_(static_cast<char*>(mmap(nullptr, part_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))),
        words_(memfd_create("words", MFD_CLOEXEC)) {
    if (part_ == MAP_FAILED || words_ < 0)
      throw BackendError("cannot share memory with a process that reads a platform");
  }
  ~Witness() {
    munmap(part_, part_bytes);
    close(words_);
  }
  Witness(const Witness&) = delete;
  Witness& operator=(const Witness&) = delete;

  void look_at(const std::string& part) const { std::snprintf(part_, part_bytes, "%s", part.c_str()); }
  void take_standard_error() const { dup2(words_, STDERR_FILENO); }

  std::string part() const { return part_; }
  /// The first line of them; empty where there is none.
  std::string words() const {
    std::array<char, 4096> text{};
    const ssize_t size = pread(words_, text.data(), text.size(), 0);
    std::string_view line(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
    line = line.substr(0, line.find('\n'));
    const std::size_t place = line.rfind("] ");  // where in SimGrid it was said
    return std::string(place == std::string_view::npos ? line : line.substr(place + 2));
  }

 private:
  static constexpr std::size_t part_bytes = 512;
  char* part_;
  int words_;
};

void check_number(double value, bool zero_is_fine, const char* what, const std::string& part) {
  require(std::isfinite(value) && (zero_is_fine ? value >= 0 : value > 0), part, " has a ", what, " of ", value,
          zero_is_fine ? "; it must be finite, and 0 or more" : "; it must be finite, and above 0");
}

void check_links(const Witness& witness) {
  for (const sg::Link* link : sg::Engine::get_instance()->get_all_links()) {
    const std::string part = "link " + in_quotes(link->get_name());
    witness.look_at(part);
    require(link->get_sharing_policy() != sg::Link::SharingPolicy::WIFI, part,
            " is a wifi link, whose rates depend on who sends; describe it by bandwidth and latency");
    check_number(link->get_bandwidth(), false, "bandwidth", part);
    check_number(link->get_latency(), true, "latency", part);
  }
}

void check_hosts(const std::vector<sg::Host*>& hosts, const Witness& witness) {
  require(!hosts.empty(), "it has no host");
  for (const sg::Host* host : hosts) {
    const std::string part = "host " + in_quotes(host->get_name());
    witness.look_at(part);
    for (unsigned long state = 0; state < host->get_pstate_count(); ++state)
      check_number(host->get_pstate_speed(state), false, "speed", part);
  }
}

void check_routes(const std::vector<sg::Host*>& hosts, const Witness& witness) {
  each_pair(hosts, [&](const sg::Host* from, const sg::Host* to) {
    const std::string part = "the route from " + in_quotes(from->get_name()) + " to " + in_quotes(to->get_name());
    witness.look_at(part);
    double latency = 0;
    require(!route(from, to, &latency).empty(), part, " has no links");
  });
}

/// Hosts that a cluster's `radical` names, as 5 of "0-3,7"; what is malformed there is SimGrid's to refuse.
double hosts_of_radical(const std::string& radical) {
  double hosts = 0;
  std::istringstream parts(radical);
  for (std::string part; std::getline(parts, part, ',');) {
    double first = 0, last = 0;
    const int numbers = std::sscanf(part.c_str(), "%lf-%lf", &first, &last);
    if (numbers > 0) hosts += numbers == 1 ? 1 : std::max(0.0, last - first + 1);
  }
  return hosts;
}

/// SimGrid makes what a line asks for, however much that is, and takes its time.
void require_few_hosts(const std::string& path) {
  constexpr double most = 1 << 17;
  std::ifstream file(path);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const std::regex radical(R"(\bradical\s*=\s*["']([^"']*)["'])");
  double hosts = 0;
  for (std::sregex_iterator at(text.begin(), text.end(), radical), end; at != end; ++at)
    hosts += hosts_of_radical((*at)[1]);
  require(hosts <= most, "the radicals of its clusters name ", hosts, " hosts; at most ", most, " can be read");
}

/// A file of one line can ask for any number of hosts.
void limit_this_process() {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  constexpr rlim_t memory = rlim_t{768} << 20, seconds = 4;
  const rlimit space{memory, memory}, time{seconds, seconds}, no_core{0, 0};
  setrlimit(RLIMIT_AS, &space);
  setrlimit(RLIMIT_CPU, &time);
  setrlimit(RLIMIT_CORE, &no_core);
#endif
}

std::vector<std::byte> count_hosts(const std::string& path, const Witness& witness) {
  witness.take_standard_error();
  witness.look_at("its text");
  limit_this_process();
  require_few_hosts(path);
  start_engine(0);
  sg::Engine& engine = *sg::Engine::get_instance();
  engine.load_platform(path);
  engine.get_netzone_root()->seal();
  const std::vector<sg::Host*> hosts = engine.get_all_hosts();
  check_hosts(hosts, witness);
  check_links(witness);
  check_routes(hosts, witness);
  Packer packer;
  packer.put(static_cast<int>(hosts.size()));
  return std::move(packer).bytes();
}

/// SimGrid's words, in one line. Of a number that C++ cannot convert these are the function's name, as "stoi".
std::string in_words(const std::string& what) {
  static const std::regex conversion("sto[a-z]+");
  return std::regex_match(what, conversion) ? "a number in it is too large, or is none"
                                            : what.substr(0, what.find('\n'));
}

}  // namespace

int hosts_of_platform_file(const std::string& path) {
  const Witness witness;
  const std::string file = "platform file " + in_quotes(path) + ": ";
  try {
    const std::vector<std::byte> bytes = run_in_child("the reader", [&] {
      try {
        return count_hosts(path, witness);
      } catch (const std::bad_alloc&) {
        throw UsageError("SimGrid needs more memory for " + witness.part() + " than a platform may take");
      }
    });
    return Unpacker(bytes).take<int>();
  } catch (const UsageError& error) {
    throw UsageError(file + error.what());
  } catch (const std::exception& error) {
    const std::string words = witness.words();
    throw UsageError(file + "SimGrid cannot use " + witness.part() + ": " +
                     shown(words.empty() ? in_words(error.what()) : words));
  }
}

}  // namespace trigram::sim
