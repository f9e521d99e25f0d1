// The one way to block an actor: SimGrid switches stacks inside a thread, C++ keeps its exception state per thread.
#pragma once

#include <cxxabi.h>

#include <exception>
#include <set>
#include <simgrid/Exception.hpp>
#include <simgrid/s4u/Actor.hpp>
#include <utility>
#include <vector>

namespace __cxxabiv1 {  // NOLINT: the ABI's own type, which its header leaves incomplete
struct __cxa_eh_globals {
  void* caughtExceptions;
  unsigned int uncaughtExceptions;
};
}  // namespace __cxxabiv1

namespace trigram::sim {

/// Actors that were told to end. A destructor cannot let that through, and returns to code that goes on.
inline std::set<aid_t>& killed() {
  static std::set<aid_t> actors;
  return actors;
}

/// What an actor has changed, for others to see before time passes, which it does where somebody blocks.
class Unsettled {
 public:
  virtual void settle() = 0;

 protected:
  ~Unsettled() = default;
};

inline std::vector<Unsettled*>& unsettled() {
  static std::vector<Unsettled*> all;
  return all;
}

inline void settle_all() {
  while (!unsettled().empty()) {
    Unsettled* one = unsettled().back();
    unsettled().pop_back();
    one->settle();
  }
}

/// Runs `operation`, which may switch to other actors, with an exception state of its own; so an actor that blocks
/// inside a catch clause neither sees nor disturbs the exceptions of others. Every blocking call goes through here. An
/// actor that was killed makes no further one: it is told to end again, until it does.
template <class Operation>
void blocking(Operation&& operation) {
  if (!killed().empty() && killed().contains(simgrid::s4u::this_actor::get_pid()))
    throw simgrid::ForcefulKillException();
  if (!unsettled().empty()) settle_all();
  __cxxabiv1::__cxa_eh_globals* globals = __cxxabiv1::__cxa_get_globals();
  const __cxxabiv1::__cxa_eh_globals mine = *globals;
  *globals = {};
  std::exception_ptr error;
  try {
    std::forward<Operation>(operation)();
  } catch (const simgrid::ForcefulKillException&) {
    killed().insert(simgrid::s4u::this_actor::get_pid());
    error = std::current_exception();
  } catch (...) {
    error = std::current_exception();
  }
  globals = __cxxabiv1::__cxa_get_globals();
  *globals = mine;
  if (error) std::rethrow_exception(error);
}

}  // namespace trigram::sim
