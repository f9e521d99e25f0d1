// A world of which only one rank exists.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/lane/worker.hpp"
#include "core/values/error.hpp"

namespace trigram {

/// What becomes of the messages of a rank that is alone.
enum class Messages { are_an_error, are_lost };

/// A group whose other ranks are missing.
class LoneCommunicator final : public Communicator {
 public:
  LoneCommunicator(int rank, int size, Device& device, Messages messages)
      : rank_(rank), size_(size), device_(device), messages_(messages) {}
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  Device& device() override { return device_; }
  void exchange(std::span<const Transfer>) override { ensure(messages_ == Messages::are_lost, "this rank is alone"); }
  std::unique_ptr<Communicator> regroup(const GroupPart&) override { throw Error("this rank is alone"); }

 private:
  int rank_, size_;
  Device& device_;
  Messages messages_;
};

/// A rank whose lanes are all one, whatever world it says it is in.
class LoneRank : public RankRuntime {
 public:
  using MakeDevice = std::function<std::unique_ptr<Device>(Timeline&)>;

  LoneRank(int rank, int size, const MakeDevice& make_device, Messages messages = Messages::are_an_error)
      : RankRuntime(rank, std::make_shared<RankMap>(size), World().layout()), lane_(0, {}, [] { return 0.0; }) {
    lane_.device = make_device(lane_.timeline);
    lane_.join_groups({}, map(), rank, [&](std::size_t) {
      return std::make_unique<LoneCommunicator>(rank, size, *lane_.device, messages);
    });
  }
  Lane& lane(int) override { return lane_; }
  double now() const override { return 0; }
  Pending launch(int, std::function<void()> task) override {
    task();
    return {};
  }
  std::int64_t agree(std::int64_t value, ReduceOp) override { return value; }
  void collect(std::int64_t, std::vector<std::byte>, const std::function<void(Parts)>&) override {}

 private:
  Lane lane_;
};

}  // namespace trigram
