#include "net/stream/own_thread.hpp"

#include <pthread.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <numeric>
#include <sstream>

namespace trigram::net {

std::thread own_thread(const std::function<void()>& work) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  std::thread thread(work);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

std::vector<int> usable_processors() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  pthread_getaffinity_np(pthread_self(), sizeof allowed, &allowed);
  std::vector<int> processors;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(static_cast<std::size_t>(i), &allowed)) processors.push_back(i);
  }
  return processors;
}

std::vector<int> processors_of(const std::string& list) {
  std::vector<int> processors;
  std::istringstream parts(list);
  for (std::string part; std::getline(parts, part, ',');) {
    int first = 0;
    int last = 0;
    char dash = 0;
    std::istringstream text(part);
    if (!(text >> first)) continue;
    if (!(text >> dash >> last)) last = first;
    for (int i = first; i <= last; ++i) processors.push_back(i);
  }
  return processors;
}

std::vector<int> processors_near(const Interface& interface, const std::vector<int>& usable) {
  std::string list;
  std::ifstream("/sys/class/net/" + interface.name + "/device/local_cpulist") >> list;
  std::vector<int> near;
  std::ranges::set_intersection(processors_of(list), usable, std::back_inserter(near));
  return near;
}

int movers_for(const Settings& settings, const std::vector<Interface>& interfaces, std::size_t processors) {
  constexpr int carried_by_one = 25000;  // Mbit/s
  if (settings.threads >= 0) return settings.threads;
  const int speed = std::accumulate(interfaces.begin(), interfaces.end(), 0,
                                    [](int sum, const Interface& one) { return sum + one.speed; });
  return std::min(speed / carried_by_one, static_cast<int>(processors / 4));
}

}  // namespace trigram::net
