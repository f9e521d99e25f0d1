// A rank's communicator in the simulator: single messages, or a collective at once where it has such a form.
#pragma once

#include "backends/sim/communicator/fluid.hpp"
#include "backends/sim/communicator/pipelined.hpp"

namespace trigram::sim {

/// One rank of a group. All-reduces that are pipelines are streams side by side; with `fluid`, other collectives are
/// sets of concurrent flows. All else is messages, each a flow of SimGrid.
class SimCommunicator final : public Communicator {
 public:
  SimCommunicator(std::shared_ptr<Group> group, int rank, Device& device, bool fluid);

  int rank() const override { return member_.rank; }
  int size() const override { return member_.size(); }
  Placement place() const override;
  Device& device() override { return member_.device; }
  void exchange(std::span<const Transfer> transfers) override { messages_.exchange(transfers); }
  std::vector<int> exchange_with_those_there(std::span<const Transfer> transfers) override {
    return messages_.exchange_with_those_there(transfers);
  }
  bool with_all_there(const std::function<void()>& collectives) override;
  std::vector<std::int64_t> all_gather_number(std::int64_t value) override;
  std::unique_ptr<Communicator> regroup(const GroupPart& part) override;

  bool performs(const CollectiveCall& call) override { return note_form(call) != Form::messages; }
  void perform(const CollectiveCall& call) override;
  std::optional<std::int64_t> sent_to_other_nodes() const override;

 private:
  enum class Form : std::uint8_t { messages, fluid, pipelined };
  /// The form that the call has here, which the simulation notes for its facts.
  Form note_form(const CollectiveCall& call) const;
  bool is_pipelined(const CollectiveCall& call) const;

  const GroupRank member_;
  Messages messages_;
  const StandIns stand_ins_;
  const FluidCollectives fluid_collectives_;
  const PipelinedCollectives pipelined_collectives_;
  const bool fluid_;
};

}  // namespace trigram::sim
