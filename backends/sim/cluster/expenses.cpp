// Reads watts, joules and prices of a cluster.
#include "backends/sim/cluster/expenses.hpp"

#include "core/values/error.hpp"

namespace trigram::sim {
namespace {

Expense read_energy(Params& params) {
  const double busy = params.get("gpu_busy_power", "0", Unit::watts, "of a GPU that has a kernel to run");
  const double idle = params.get("gpu_idle_power", "0", Unit::watts, "of a GPU that has none");
  const double byte = params.get("nic_energy", "0", Unit::joules_per_byte,
                                 "of a byte to another node, at both NICs and on the way between them");
  const bool whole = params.has("gpu_busy_power") && params.has("gpu_idle_power");
  for (const char* key : {"gpu_busy_power", "gpu_idle_power", "nic_energy"}) {
    require(whole || !params.has(key), params.owner(), ": '", key,
            "' alone counts some of the joules; give 'gpu_busy_power' and 'gpu_idle_power', since GPUs take power "
            "while they wait too, or none of them");
  }
  require(idle <= busy, params.owner(), ": 'gpu_idle_power' of ", idle, " W is more than 'gpu_busy_power' of ", busy,
          " W; give at most as much");
  return {busy, idle, byte};
}

Expense read_money(Params& params) {
  const double gpu = params.get("gpu_price", "0", Unit::dollars_per_second,
                                "of a GPU from the start of a run to its end, busy or not");
  const double byte = params.get("transfer_price", "0", Unit::dollars_per_byte,
                                 "of a byte to another node, where each node is a site of its own");
  return {gpu, gpu, byte};
}

}  // namespace

Expenses read_expenses(Params& params) {
  Expenses all{{"energy_J", read_energy(params)}, {"money_USD", read_money(params)}};
  std::erase_if(all, [](const auto& expense) {
    const auto& [name, of] = expense;
    return of.busy_gpu_s == 0 && of.byte == 0;
  });
  return all;
}

}  // namespace trigram::sim
