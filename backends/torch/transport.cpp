#include "backends/torch/transport.hpp"

#include "backends/torch/meeting.hpp"
#include "core/training/carried_error.hpp"

namespace trigram::torch {

TorchTransport::TorchTransport(const Network& network, const Place& place, double timeout)
    : connections_(network, timeout),
      rendezvous_(meet_beside(connections_, place, place.meeting_may_take)),
      endings_(*rendezvous_),
      point_to_point_(connections_, *rendezvous_, failure(), endings_, place),
      mail_(point_to_point_, connections_, place.ranks()) {}

void TorchTransport::connect(int lanes) {
  connections_.connect(lanes);
  mail_.use_lane(lanes);
  watch_ = std::make_unique<FailureWatch>(point_to_point_, *rendezvous_, failure());
}

std::unique_ptr<Communicator> TorchTransport::communicator(int lane, const RankPartition& partition,
                                                           const std::shared_ptr<LaneContext>& context) {
  if (line_ == nullptr || line_->index != lane) {
    const LaneTags tags(/*keep_sizes_apart=*/!connections_.tells_unequal_sizes());
    line_ = std::make_shared<LaneLine>(LaneLine{lane, point_to_point_, context, tags});
  }
  const std::int64_t number = line_->tags.groups();
  line_->tags.use_groups(number + 1);
  return std::make_unique<TorchCommunicator>(partition.name, partition.group_of(point_to_point_.rank()), number, line_);
}

void TorchTransport::fail(const std::exception_ptr& error) noexcept {
  rendezvous_->publish({point_to_point_.rank(), CarriedError::of(error).text()});
  point_to_point_.end_all();
  mail_.end(error);
}

}  // namespace trigram::torch
