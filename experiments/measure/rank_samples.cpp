#include "experiments/measure/rank_samples.hpp"

#include <cstdint>
#include <utility>

#include "core/values/packing.hpp"

namespace trigram {

std::vector<std::byte> measure_rank(RankRuntime& runtime, const ClusterSamples& samples,
                                    const std::string& codec_names) {
  const ProbePlan& plan = samples.plan;
  const std::vector<double> network = probe_network(runtime, samples.patterns, plan);
  const DeviceTimes device = probe_device(runtime, plan.rounds, plan.phantom);
  Packer packer;
  packer.put_all(std::span(network));
  packer.put_all(std::span(device.seconds));
  packer.put(static_cast<std::uint64_t>(device.samples.size()));
  for (const DeviceSample& sample : device.samples) {
    packer.put_text(sample.name);
    packer.put(sample.limit);
    packer.put(sample.amount);
  }
  const auto operations = codec_operations(std::string(runtime.lane(0).device->kind()), codec_names);
  packer.put(static_cast<std::uint64_t>(operations.size()));
  for (const CodecOperation& operation : operations) {
    packer.put_text(operation.codec);
    packer.put_text(operation.step);
  }
  packer.put_all(std::span<const PostedTimes>(probe_posted(runtime, samples.node_of_rank, plan.rounds)));
  packer.put_all(
      std::span<const ContentionTimes>(probe_contention(runtime, samples.node_of_rank, plan.rounds, plan.phantom)));
  packer.put_all(std::span<const double>(probe_codecs(runtime, operations, plan.rounds, plan.phantom)));
  return std::move(packer).bytes();
}

void add_rank(std::span<const std::byte> bytes, ClusterSamples& all) {
  Unpacker unpacker(bytes);
  all.network.push_back(unpacker.take_all<double>());
  DeviceTimes& device = all.device.emplace_back();
  device.seconds = unpacker.take_all<double>();
  for (auto left = unpacker.take<std::uint64_t>(); left > 0; --left) {
    DeviceSample& sample = device.samples.emplace_back();
    sample.name = unpacker.take_text();
    sample.limit = unpacker.take<DeviceLimit>();
    sample.amount = unpacker.take<double>();
  }
  all.operations.clear();  // the same on every rank
  for (auto left = unpacker.take<std::uint64_t>(); left > 0; --left) {
    CodecOperation& operation = all.operations.emplace_back();
    operation.codec = unpacker.take_text();
    operation.step = unpacker.take_text();
  }
  all.posted.push_back(unpacker.take_all<PostedTimes>());
  all.contention.push_back(unpacker.take_all<ContentionTimes>());
  all.codecs.push_back(unpacker.take_all<double>());
}

namespace {

template <class T>
void append(std::vector<std::vector<T>>& all, const std::vector<std::vector<T>>& more) {
  all.resize(more.size());
  for (std::size_t rank = 0; rank < more.size(); ++rank)
    all[rank].insert(all[rank].end(), more[rank].begin(), more[rank].end());
}

/// Rounds of one more set behind those that there are, size by size.
void append_by_size(ClusterSamples& all, const ClusterSamples& set) {
  const std::size_t sizes = all.plan.sizes.size();
  for (std::size_t rank = 0; rank < all.network.size(); ++rank) {
    const std::vector<double> before = std::exchange(all.network[rank], {});
    for (std::size_t size = 0; size < sizes; ++size) {
      for (const std::vector<double>* times : {&before, &set.network[rank]}) {
        const auto rounds = static_cast<std::ptrdiff_t>(times->size() / sizes);
        const auto first = times->begin() + static_cast<std::ptrdiff_t>(size) * rounds;
        all.network[rank].insert(all.network[rank].end(), first, first + rounds);
      }
    }
  }
}

}  // namespace

ClusterSamples pooled(const std::vector<ClusterSamples>& sets) {
  ClusterSamples all = sets.front();
  for (std::size_t i = 1; i < sets.size(); ++i) {
    const ClusterSamples& set = sets[i];
    all.plan.rounds += set.plan.rounds;
    append_by_size(all, set);
    append(all.codecs, set.codecs);
    append(all.posted, set.posted);
    append(all.contention, set.contention);
    for (std::size_t rank = 0; rank < set.device.size(); ++rank) {
      std::vector<double>& seconds = all.device[rank].seconds;
      seconds.insert(seconds.end(), set.device[rank].seconds.begin(), set.device[rank].seconds.end());
    }
  }
  return all;
}

}  // namespace trigram
