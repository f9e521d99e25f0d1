#include "backends/threads/wait.hpp"

#include "core/values/error.hpp"
#include "processes/interruption.hpp"

namespace trigram::threads {

void Wait::look(double waited) const {
  constexpr double grace = 1;  // peers may still complete it after another lane of this rank has failed
  require_no_interruption();
  if (ending.over()) ending.throw_on(rank);
  if (failure.leaving() || (failure.raised() && waited > grace)) failure.rethrow();
}

void Wait::give_up(const std::string& what) const {
  throw BackendError(operation() + " has waited " + number_text(seconds) + " s for " + what);
}

}  // namespace trigram::threads
