#include "python/session/tensor_group.hpp"

#include <utility>

#include "core/lane/all_reduce.hpp"
#include "core/values/error.hpp"
#include "python/session/turn.hpp"

namespace trigram {

TensorGroup::TensorGroup(Params flags) {
  World world;
  world.all_reduce = flags.get("all-reduce", "ring", "the algorithm behind all_reduce");
  backend_ = Backends::make(flags.get("backend", "mpi", "where ranks run, as mpi:timeout=60s"));
  std::optional<int> device;
  if (flags.has("device")) device = flags.get("device", 0, "CUDA device of the tensors' memory", {0, 1 << 20});
  flags.reject_unknown();
  AllReduces::make(world.all_reduce);
  backend_->use_device(device);
  world.ranks = backend_->default_ranks();
  world.configuration = flags.values();
  world.configuration.erase("device");  // each rank has its own
  entered_ = backend_->enter(world);
  worker_.emplace(entered_->runtime(), 0, Relaxation{});
  RankRuntime& runtime = entered_->runtime();
  groups_.push_back({runtime.lane(0).comm.get(), runtime.lane(runtime.layout().background()).comm.get()});
}

TensorGroup::~TensorGroup() {
  if (entered_ != nullptr) fail(std::make_exception_ptr(Error("the process ended before it had left its group")));
}

const TensorGroup::Communicators& TensorGroup::of(int group) const {
  ensure(group >= 0 && group < static_cast<int>(groups_.size()), "there is no group ", group);
  return groups_[static_cast<std::size_t>(group)];
}

template <class Body>
void TensorGroup::guarded(const Body& body) {
  ensure(entered_ != nullptr, "the communicator has ended; nothing can follow");
  try {
    body();
  } catch (const UsageError&) {
    throw;  // before anything was sent
  } catch (const std::exception&) {
    fail(std::current_exception());
    throw;
  }
}

template <class Body>
void TensorGroup::guarded_turn(const Body& body) {
  guarded([&] { in_turn(entered_->runtime(), body); });
}

void TensorGroup::fail(std::exception_ptr error) noexcept {
  entered_->fail(std::move(error));
  entered_->runtime().stop_lanes();
  begun_.clear();
  groups_.clear();
  worker_.reset();
  entered_.reset();
}

void TensorGroup::follow(void* stream) {
  ensure(entered_ != nullptr, "the communicator has ended; nothing can follow");
  entered_->follow(stream);
}

int TensorGroup::split(int group, int color, int key) {
  guarded_turn([&] {
    for (auto& [number, pending] : begun_) pending.wait();  // whose communicators are to be split
    Communicators made;
    made.own_now = of(group).now->split(color, key);
    made.own_beside = of(group).beside->split(color, key);
    made.now = made.own_now.get();
    made.beside = made.own_beside.get();
    groups_.push_back(std::move(made));
  });
  return static_cast<int>(groups_.size()) - 1;
}

void TensorGroup::call(int group, const GroupCall& call) {
  guarded_turn([&] {
    trigram::check(*of(group).now, call);
    perform(*of(group).now, call);
  });
}

std::int64_t TensorGroup::together(int group, const Exchange& exchange) {
  std::int64_t sent = 0;
  guarded_turn([&] {
    const Meter& meter = entered_->runtime().lane(0).meter;
    const std::int64_t before = meter.total().bytes;
    exchange(*worker_, *of(group).now);
    sent = meter.total().bytes - before;
  });
  return sent;
}

const Codec& TensorGroup::codec(const std::string& spec) {
  std::unique_ptr<Codec>& known = codecs_[spec];
  guarded([&] {
    if (known == nullptr) known = worker_->device.make_codec(spec);
  });
  return *known;
}

std::int64_t TensorGroup::begin(int group, GroupCall call) {
  guarded_turn([&] {
    Communicator& comm = *of(group).beside;
    trigram::check(comm, call);
    begun_.emplace(next_, worker_->start(worker_->background_lane(),
                                         [&comm, own = std::move(call)](Worker&) { perform(comm, own); }));
  });
  return next_++;
}

bool TensorGroup::done(std::int64_t begun) {
  const auto found = begun_.find(begun);
  return found == begun_.end() || found->second.done();
}

void TensorGroup::wait(std::int64_t begun) {
  guarded_turn([&] {
    const auto found = begun_.find(begun);
    if (found == begun_.end()) return;
    Pending pending = std::move(found->second);
    begun_.erase(found);
    pending.wait();
  });
}

void TensorGroup::leave() {
  guarded([&] {
    in_turn(entered_->runtime(), [&] {
      for (auto& [number, pending] : begun_) pending.wait();
      begun_.clear();
    });
    entered_->leave({});
    groups_.clear();
    worker_.reset();
    entered_.reset();
  });
}

}  // namespace trigram
