// Several observers of one launch.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "ptx/observer.hpp"

namespace trigram::ptx {

/// Tells each of them, in their order.
class Observers : public Observer {
 public:
  explicit Observers(std::vector<std::unique_ptr<Observer>> all) : all_(std::move(all)) {}

  void kernel_begins(const Kernel& kernel, const Launch& launch) override {
    for (const auto& one : all_) one->kernel_begins(kernel, launch);
  }
  void kernel_ends() override {
    for (const auto& one : all_) one->kernel_ends();
  }
  void block_begins(const BlockState& block) override {
    for (const auto& one : all_) one->block_begins(block);
  }
  void block_ends(const BlockState& block) override {
    for (const auto& one : all_) one->block_ends(block);
  }
  void issues(const Lanes& warp, const Instruction& instruction, Arrival arrival) override {
    for (const auto& one : all_) one->issues(warp, instruction, arrival);
  }
  void accesses(const Lanes& warp, const WarpAccess& access) override {
    for (const auto& one : all_) one->accesses(warp, access);
  }
  void block_synchronizes(const BlockState& block) override {
    for (const auto& one : all_) one->block_synchronizes(block);
  }
  void warp_synchronizes(const Lanes& warp, const Instruction& instruction, std::uint32_t lanes) override {
    for (const auto& one : all_) one->warp_synchronizes(warp, instruction, lanes);
  }

 private:
  std::vector<std::unique_ptr<Observer>> all_;
};

}  // namespace trigram::ptx
