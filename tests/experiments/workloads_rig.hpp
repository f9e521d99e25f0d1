// One rank without a network: enough of a world to train a workload in a test.
#pragma once

#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/conformance/lone_rank.hpp"
#include "core/device/on_host.hpp"
#include "core/step/workload.hpp"
#include "core/values/error.hpp"
#include "kernels/cpu/kernels.hpp"

namespace trigram::testing {

/// Computes on the CPU and adds up what it is charged.
class MeteredDevice : public Device {
 public:
  explicit MeteredDevice(Timeline& timeline) : Device(cpu_kernels(), timeline) {}
  double seconds = 0;
  KernelCost work;

 private:
  void spend(const KernelCost& cost) override {
    work.flops += cost.flops;
    work.bytes += cost.bytes;
  }
  void spend_seconds(double spent) override { seconds += spent; }
};

/// A rank that is alone with such a device.
class MeteredRank : public LoneRank {
 public:
  MeteredRank(int rank, int size)
      : LoneRank(rank, size, [](Timeline& timeline) { return std::make_unique<MeteredDevice>(timeline); }) {}
  MeteredDevice& device() { return static_cast<MeteredDevice&>(*lane(0).device); }
};

/// A workload opened, bucketed and set up on one rank.
class Rig {
 public:
  explicit Rig(const std::string& spec, const Shard& shard = {}, const BucketOptions& options = {})
      : runtime(shard.rank, shard.world), worker(runtime, 0, {}), workload(Workloads::make(spec)) {
    workload->open(shard);
    parameters = workload->parameters();
    store = std::make_unique<BucketStore>(runtime.device(), parameters,
                                          plan_buckets(parameters, options, workload->phantom()));
    workload->setup(worker, store->parameters());
    runtime.device().seconds = 0;
    runtime.device().work = {};
  }

  /// Forward and backward of one step; returns this rank's loss.
  float compute(std::int64_t step) {
    worker.step = step;
    workload->forward(worker);
    for (int layer = workload->layers() - 1; layer >= 0; --layer) workload->backward(worker, layer);
    return workload->phantom() ? 0 : host(workload->loss()).front();
  }

  /// One step of plain SGD.
  void train(std::int64_t step, float learning_rate) {
    compute(step);
    for (Bucket& bucket : store->buckets()) runtime.device().axpby(-learning_rate, bucket.gradients, 1, bucket.weights);
  }

  std::vector<float> host(Buffer x) { return on_host<float>(runtime.device(), x); }

  Workload::HostWeights weights() {
    Workload::HostWeights all;
    for (const ParameterView& view : store->parameters()) all.push_back(host(view.weights));
    return all;
  }

  /// Gradients of all parameters, end to end.
  std::vector<float> gradients() {
    std::vector<float> all;
    for (const ParameterView& view : store->parameters()) {
      const std::vector<float> one = host(view.gradients);
      all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  }

  MeteredRank runtime;
  Worker worker;
  std::unique_ptr<Workload> workload;
  std::vector<Parameter> parameters;
  std::unique_ptr<BucketStore> store;
};

}  // namespace trigram::testing
