#include "core/training/rank_progress.hpp"

namespace trigram {

RankProgress RankProgress::of(Worker& worker) {
  RankRuntime& runtime = worker.runtime();
  RankProgress progress;
  progress.time = worker.now();
  progress.busy = runtime.take_busy_seconds();
  for (int i = 0; i < runtime.lanes(); ++i) runtime.lane(i).timeline.settle();
  progress.compute = runtime.lane(0).timeline.busy(Activity::compute);
  for (int i = 0; i < runtime.lanes(); ++i) {
    const Lane& lane = runtime.lane(i);
    progress.encode += lane.timeline.busy(Activity::encode);
    progress.wire += lane.timeline.busy(Activity::wire);
    progress.decode += lane.timeline.busy(Activity::decode);
    progress.sent += lane.meter.total();
    progress.to_other_nodes += lane.meter.to_other_nodes();
  }
  return progress;
}

}  // namespace trigram
