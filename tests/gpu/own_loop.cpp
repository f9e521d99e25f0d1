#include "tests/gpu/own_loop.hpp"

#include <chrono>
#include <thread>

#include "kernels/cuda/runtime/check.hpp"

namespace trigram::testing {

using cuda::check;

OwnStream::OwnStream() {
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
}
OwnStream::~OwnStream() { static_cast<void>(cudaStreamDestroy(stream_)); }

std::vector<float> OwnStream::read(const float* numbers, std::int64_t count) const {
  std::vector<float> read(static_cast<std::size_t>(count));
  check(cudaMemcpyAsync(read.data(), numbers, read.size() * sizeof(float), cudaMemcpyDeviceToHost, stream_),
        "cudaMemcpyAsync");
  synchronize();
  return read;
}
void OwnStream::synchronize() const { check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }

OwnNumbers::OwnNumbers(std::int64_t count) : count_(count) {
  check(cudaMalloc(&numbers_, static_cast<std::size_t>(count) * sizeof(float)), "cudaMalloc");
}
OwnNumbers::~OwnNumbers() { static_cast<void>(cudaFree(numbers_)); }

const std::vector<Parameter>& own_parameters() {
  static const std::vector<Parameter> all = [] {
    std::vector<Parameter> made;
    for (const std::int64_t count : {3, 130, 5, 64}) {
      Parameter parameter{"p" + std::to_string(made.size()), count};
      parameter.modelled_count = count;
      parameter.dimensions = parameter.modelled_dimensions = {count};
      parameter.layer = static_cast<int>(made.size());
      made.push_back(parameter);
    }
    return made;
  }();
  return all;
}

std::vector<std::int64_t> own_begins() {
  std::vector<std::int64_t> begins{0};
  for (const Parameter& parameter : own_parameters()) begins.push_back(begins.back() + parameter.count);
  return begins;
}

nlohmann::json settings_on_device(const Flags& flags, bool loop_updates) {
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  nlohmann::json parameters = nlohmann::json::array();
  for (const Parameter& one : own_parameters())
    parameters.push_back({{"name", one.name}, {"count", one.count}, {"dimensions", one.dimensions}});
  return {{"flags", flags}, {"parameters", parameters}, {"loop_updates", loop_updates}, {"device", device}};
}

OwnLoop::OwnLoop(const Flags& flags, float weight)
    : elements_(own_begins().back()), weights_(elements_), gradients_(elements_), places_(own_parameters().size()) {
  succeed(trigram_open(settings_on_device(flags).dump().c_str(), &session_));
  const nlohmann::json answer = reply();
  rank_ = answer.at("rank");
  std::int64_t end = 0;
  for (const nlohmann::json& bucket : answer.at("order")) {
    for (const std::size_t parameter : bucket.get<std::vector<std::size_t>>()) {
      places_.at(parameter) = end;
      end += own_parameters()[parameter].count;
    }
  }
  succeed(trigram_follow(session_, stream_.number()));
  MeetingKernels late;
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    late.raise_now();
  });
  late.order_wait(stream_);
  order_fill(weight, weights_.begin(), elements_, stream_);
  adopt();
  later.join();
  stream_.synchronize();
}

void OwnLoop::adopt() {
  std::vector<std::uint64_t> weights, gradients;
  std::vector<std::int64_t> counts;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const auto offset = static_cast<std::uint64_t>(places_[i]) * sizeof(float);
    weights.push_back(weights_.address() + offset);
    gradients.push_back(gradients_.address() + offset);
    counts.push_back(own_parameters()[i].count);
  }
  succeed(trigram_share(session_, weights_.address(), elements_ * static_cast<std::int64_t>(sizeof(float)), 0));
  succeed(trigram_adopt(session_, weights.data(), gradients.data(), counts.data(), static_cast<int>(counts.size())));
}

OwnTensor OwnLoop::tensor(std::size_t parameter, std::int64_t begin) const {
  return {weights_.begin() + places_[parameter], gradients_.begin() + places_[parameter], begin,
          own_parameters()[parameter].count};
}

bool OwnLoop::step(int step, float rate, bool at_once) {
  const std::vector<std::int64_t> begins = own_begins();
  auto held = at_once ? nullptr : std::make_unique<MeetingKernels>();
  if (held != nullptr) held->order_wait(stream_);
  succeed(trigram_begin(session_, rate));
  for (std::size_t i = places_.size(); i-- > 0;) {
    order_gradients({rank_, step}, tensor(i, begins[i]), stream_);
    on_another_thread([&] { return trigram_tensor_ready(session_, static_cast<int>(i)); });
  }
  succeed(trigram_gradients_end(session_));
  order_step(rate, gradients_.begin(), weights_.begin(), elements_, stream_);
  on_another_thread([&] { return trigram_end(session_); });
  if (held == nullptr) return true;
  held->raise_now();
  stream_.synchronize();
  return held->met();
}

std::vector<float> OwnLoop::weights() {
  const std::vector<float> held = stream_.read(weights_.begin(), elements_);
  std::vector<float> all;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const auto begin = held.begin() + places_[i];
    all.insert(all.end(), begin, begin + own_parameters()[i].count);
  }
  return all;
}

void OwnLoop::put_weights(const std::vector<float>& weights) {
  const std::vector<std::int64_t> begins = own_begins();
  for (std::size_t i = 0; i < places_.size(); ++i) {
    check(cudaMemcpy(weights_.begin() + places_[i], weights.data() + begins[i],
                     static_cast<std::size_t>(own_parameters()[i].count) * sizeof(float), cudaMemcpyHostToDevice),
          "cudaMemcpy");
  }
}

}  // namespace trigram::testing
