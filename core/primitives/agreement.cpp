#include "core/primitives/agreement.hpp"

#include "core/lane/all_reduce.hpp"
#include "core/values/error.hpp"

namespace trigram {

Agreement::Agreement(ReduceOp op) : op_(op) {
  ensure(op != ReduceOp::mean, "an Agreement has no mean, since it is of integers; use sum, min or max");
}

void Agreement::setup(Worker& worker) { number_ = worker.device.allocate(Shape::of(1, DType::i32)); }

void Agreement::start(Worker& worker, std::int32_t number) {
  ensure(!running_, "an agreement was started in step ", worker.step,
         " while the one before is under way; wait for that first");
  worker.device.fill(number_, number);
  pending_ = worker.start(worker.background_lane(), [this](Worker& lane) {
    all_there_ = lane.comm.with_all_there([&] { lane.comm.all_reduce(number_, op_); });
  });
  running_ = true;
}

void Agreement::wait() {
  pending_.wait();
  running_ = false;
}

std::int32_t Agreement::outcome(Worker& worker) {
  wait();
  std::int32_t number = 0;
  worker.device.download(number_, std::as_writable_bytes(std::span(&number, 1)));
  return number;
}

Cost agreement_cost(const CostQuery& query) {
  return all_reduce_named(query.all_reduce).cost_at(query.place, 1, size_of(DType::i32));
}

}  // namespace trigram
