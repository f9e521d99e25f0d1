#include "experiments/measure/probes/contention_probe.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/device/codec.hpp"
#include "experiments/measure/probes/network_probe.hpp"

namespace trigram {
namespace {

constexpr std::int64_t matrix_side = 256;   ///< of the matrices
constexpr int products = 8;                 ///< of a sample
constexpr std::int64_t gathered = 1 << 18;  ///< that are gathered or encoded
constexpr std::int64_t long_bytes = 1 << 20;
constexpr int messages_of_sample = 16;
/// So many times as long as the sample alone, the other lane is kept busy: a sample may be slower beside it.
constexpr double busy_for = 6;
constexpr double most_repeats = 2000;

class ContentionBench {
 public:
  ContentionBench(RankRuntime& runtime, bool phantom)
      : runtime_(runtime),
        main_(runtime.lane(0)),
        other_(runtime.lane(runtime.layout().of_bucket(0))),
        codec_(main_.device->make_codec("minmax_uint8")) {
    for (OwnedBuffer* buffer : {&a_, &b_, &c_}) {
      *buffer = main_.device->allocate({matrix_side * matrix_side, DType::f32, matrix_side * matrix_side, phantom});
      main_.device->fill(*buffer, 1);
    }
    x_ = main_.device->allocate({gathered, DType::f32, gathered, phantom});
    main_.device->fill(x_, 1);
    frame_ = main_.device->allocate(codec_->encoded_shape(x_.view().shape()));
    out_ = main_.device->allocate({long_bytes, DType::u8, long_bytes, phantom});
    in_ = main_.device->allocate({long_bytes, DType::u8, long_bytes, phantom});
  }

  void measure_kernels(ContentionTimes& times) {
    const auto multiply = [this] {
      for (int i = 0; i < products; ++i)
        main_.device->gemm({.m = matrix_side, .n = matrix_side, .k = matrix_side}, a_, b_, c_);
      main_.device->synchronize();
    };
    multiply();  // brings code and data close
    times.alone = seconds_of(multiply);
    times.beside_collectives = beside([this] { other_.comm->all_gather(x_); }, multiply, times.collectives_outlasted);
    times.beside_codecs =
        beside([this] { codec_->encode(*other_.device, x_, frame_, {}); }, multiply, times.codecs_outlasted);
  }

  void measure_messages(const Pattern::Messages& messages, ContentionTimes& times) {
    const auto empty = [&] {
      for (int i = 0; i < messages_of_sample; ++i) exchange(main_, messages, 0);
      main_.device->synchronize();
    };
    empty();
    bool ignored = false;
    times.idle_link = seconds_of(empty) / messages_of_sample;
    times.busy_link = beside([&] { exchange(other_, messages, long_bytes); }, empty, ignored) / messages_of_sample;
  }

 private:
  template <class Work>
  double seconds_of(const Work& work) {
    main_.comm->barrier();
    main_.device->synchronize();
    const double begin = runtime_.now();
    work();
    return runtime_.now() - begin;
  }

  void exchange(Lane& lane, const Pattern::Messages& messages, std::int64_t bytes) {
    std::vector<Transfer> transfers;
    for (const auto& [from, to] : messages) {
      if (from == lane.comm->rank()) transfers.push_back(Transfer::send_to(to, out_.view().slice(0, bytes)));
      if (to == lane.comm->rank()) transfers.push_back(Transfer::receive_from(from, in_.view().slice(0, bytes)));
    }
    lane.comm->exchange(transfers);
  }

  /// Seconds of `sample` while the other lane repeats `call`, on all ranks as often; `outlasted` by it.
  double beside(const std::function<void()>& call, const std::function<void()>& sample, bool& outlasted) {
    const auto once = [&] {
      call();
      other_.device->synchronize();
    };
    once();
    const double wanted =
        busy_for * runtime_.max_seconds(seconds_of(sample)) / std::max(1e-9, runtime_.max_seconds(seconds_of(once)));
    const auto calls = static_cast<int>(std::clamp(std::ceil(wanted), 2.0, most_repeats));
    main_.comm->barrier();
    Pending others = runtime_.launch(other_.index, [&] {
      for (int i = 0; i < calls; ++i) call();
    });
    const double begin = runtime_.now();
    sample();
    const double seconds = runtime_.now() - begin;
    outlasted = !others.done();
    others.wait();
    main_.device->synchronize();
    return seconds;
  }

  RankRuntime& runtime_;
  Lane& main_;
  Lane& other_;
  std::unique_ptr<Codec> codec_;
  OwnedBuffer a_, b_, c_, x_, frame_, out_, in_;
};

}  // namespace

std::vector<ContentionTimes> probe_contention(RankRuntime& runtime, const std::vector<int>& node_of_rank, int rounds,
                                              bool phantom) {
  ContentionBench probe(runtime, phantom);
  std::vector<ContentionTimes> all;
  for (int round = 0; round < rounds; ++round) {
    ContentionTimes& times = all.emplace_back();
    probe.measure_kernels(times);
    for (const Pattern& pattern : network_patterns(node_of_rank)) {
      if (pattern.kind == Pattern::Kind::nodes_at_once) probe.measure_messages(pattern.turns.front(), times);
    }
  }
  return all;
}

}  // namespace trigram
