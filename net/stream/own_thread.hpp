// Threads of the plugin, in the process of another program.
#pragma once

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "net/connection/interfaces.hpp"
#include "net/settings.hpp"

namespace trigram::net {

/// Signals are for threads of the program that loaded us: this one takes none.
std::thread own_thread(const std::function<void()>& work);

/// Processors that this process may use, in order.
std::vector<int> usable_processors();

/// "0-3,8" as the kernel writes lists of processors.
std::vector<int> processors_of(const std::string& list);

/// Those of them on the NUMA node of an interface; none where the system does not say, or has none of them there.
std::vector<int> processors_near(const Interface& interface, const std::vector<int>& usable);

/// How many threads move large messages beside callers: as many as settings ask for, else one for each 25 Gbit/s that
/// drivers say, which is about what a core copies, but at most one for four processors.
int movers_for(const Settings& settings, const std::vector<Interface>& interfaces, std::size_t processors);

}  // namespace trigram::net
