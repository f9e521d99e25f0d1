#include "backends/process/entered_process.hpp"

#include <utility>

namespace trigram {

EnteredProcess::EnteredProcess(std::unique_ptr<ProcessRuntime> runtime, std::string facts, Loop loop)
    : runtime_(std::move(runtime)), facts_(std::move(facts)), loop_(loop) {
  try {
    runtime_->begin();
  } catch (...) {
    fail(std::current_exception());
    throw;
  }
}

EnteredProcess::~EnteredProcess() {
  if (ended_) return;
  loop_ = Loop::callers;  // whoever made it is gone
  fail(std::make_exception_ptr(
      Error("rank " + std::to_string(runtime_->rank()) + " neither left its world nor failed")));
  runtime_->stop_lanes();
}

Outcome EnteredProcess::leave(const std::vector<std::byte>& result) {
  const double ended = runtime_->end();
  Outcome outcome;
  outcome.results = runtime_->exchange_results(result);
  outcome.seconds = runtime_->max_seconds(ended);
  outcome.facts = facts_;
  ended_ = true;
  return outcome;
}

void EnteredProcess::fail(std::exception_ptr error) noexcept {
  runtime_->fail(error);
  ended_ = true;
  if (loop_ == Loop::callers) runtime_->mark_lost();
}

}  // namespace trigram
