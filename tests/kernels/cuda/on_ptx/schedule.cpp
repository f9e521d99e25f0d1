// How all suites' kernels are run, as KERNELS_ON_PTX_SCHEDULE says: an order of blocks and warps, a reconvergence of
// lanes, a side on which approximations err, and a seed, as "last_ahead late upper 7"; what is left out is the first of
// its kind, or 0.
#include <cstdlib>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>

#include "ptx/runtime/nvcc/kernels.hpp"

namespace trigram::on_ptx {
namespace {

using ptx::Approximation;
using ptx::Order;
using ptx::Reconvergence;

ptx::Schedule schedule_of(const std::string& text) {
  static const std::map<std::string, Order> orders{
      {"shuffled", Order::shuffled}, {"first_ahead", Order::first_ahead}, {"last_ahead", Order::last_ahead}};
  static const std::map<std::string, Reconvergence> reconvergences{{"early", Reconvergence::early},
                                                                   {"late", Reconvergence::late}};
  static const std::map<std::string, Approximation> approximations{{"lower", Approximation::lower},
                                                                   {"upper", Approximation::upper}};
  ptx::Schedule schedule;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const auto take = [&word](const auto& names, auto& value) {
      const auto found = names.find(word);
      if (found != names.end()) value = found->second;
      return found != names.end();
    };
    if (take(orders, schedule.order) || take(reconvergences, schedule.reconvergence) ||
        take(approximations, schedule.approximation))
      continue;
    std::size_t read = 0;
    schedule.seed = std::stoull(word, &read);
    if (read != word.size()) throw std::invalid_argument("no schedule has '" + word + "'");
  }
  return schedule;
}

const bool is_scheduled = [] {
  const char* const named = std::getenv("KERNELS_ON_PTX_SCHEDULE");
  if (named != nullptr) cuda_on_host::run_kernels_by(schedule_of(named));
  return named != nullptr;
}();

}  // namespace
}  // namespace trigram::on_ptx
