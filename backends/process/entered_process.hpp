// A process that has become a rank, until it leaves or fails.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "backends/process/process_runtime.hpp"

namespace trigram {

/// Who drives the rank. `ours`: Backend::run; after a failure this process starts another run, or exits with a status.
/// `callers`: a program that called Backend::enter, and may do neither.
enum class Loop : std::uint8_t { ours, callers };

/// An EnteredRank of one run, on any ProcessRuntime.
class EnteredProcess final : public EnteredRank {
 public:
  /// Begins together with the other ranks; `facts` as in Outcome.
  EnteredProcess(std::unique_ptr<ProcessRuntime> runtime, std::string facts, Loop loop);
  ~EnteredProcess() override;

  RankRuntime& runtime() override { return *runtime_; }
  void follow(void* stream) override { runtime_->follow(stream); }
  void* stream_of(int lane) override { return runtime_->stream_of(lane); }
  void begin_step(std::int64_t begun) override { runtime_->begin_step(begun); }
  void tell_end(std::int64_t steps) override { runtime_->tell_end(steps); }
  Outcome leave(const std::vector<std::byte>& result) override;
  void fail(std::exception_ptr error) noexcept override;

 private:
  std::unique_ptr<ProcessRuntime> runtime_;
  std::string facts_;
  Loop loop_;
  bool ended_ = false;
};

}  // namespace trigram
