#include "backends/gpu/epoch/entered_epoch.hpp"

#include <utility>

#include "core/training/carried_error.hpp"

namespace trigram::gpu {

EnteredEpoch::EnteredEpoch(MetRanks ranks, int device, double timeout, const MakeRank& make)
    : way_out_(std::make_shared<WayOut>()), rendezvous_(std::move(ranks.rendezvous)) {
  const auto say_nothing = [](const std::string& /*reason*/) {};  // the error that ends the step says it
  try {
    process_ = std::make_unique<RankProcess>(*rendezvous_, std::move(ranks.locations), timeout, say_nothing, Calls::ask,
                                             device, way_out_);
    rank_ = make(*process_);
  } catch (...) {
    const CarriedError error = CarriedError::of(std::current_exception());
    if (!rendezvous_->failure()) rendezvous_->publish({rendezvous_->rank(), error.text()});
    throw;
  }
}

/// Lanes give their memory back on streams that are the process', whose watchdog looks at the rendezvous.
EnteredEpoch::~EnteredEpoch() {
  rank_.reset();
  process_.reset();
  rendezvous_.reset();
}

std::function<void(const std::string&)> EnteredEpoch::way_out() {
  return [way_out = way_out_](const std::string& reason) { way_out->ask(reason); };
}

}  // namespace trigram::gpu
