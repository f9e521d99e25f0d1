// Tensors of a decoder.
#include "experiments/workloads/networks/decoder_parameters.hpp"

#include <cmath>

#include "core/step/workload.hpp"
#include "core/values/random.hpp"
#include "experiments/workloads/data/distributions.hpp"

namespace trigram {
namespace {

/// How a tensor begins.
struct Beginning {
  double deviation = 0;
  float mean = 0;
};

/// The tensors in their order, each told to `tell(name, dimensions, layer, decays, beginning)`.
template <class Tell>
void over_tensors(const DecoderSizes& sizes, const Tell& tell) {
  constexpr double embedded = 0.25, undecided = 0.25;
  const auto deviation = [](std::int64_t in) { return 1 / std::sqrt(static_cast<double>(in)); };
  const auto normalised = [&](const std::string& name, int layer) {
    tell(name + ".gain", Dimensions{sizes.width}, layer, false, Beginning{0, 1});
    tell(name + ".shift", Dimensions{sizes.width}, layer, false, Beginning{});
  };
  const auto linear = [&](const std::string& name, std::int64_t in, std::int64_t out, int layer, double factor = 1) {
    tell(name + ".weight", Dimensions{in, out}, layer, true, Beginning{factor * deviation(in)});
    tell(name + ".bias", Dimensions{out}, layer, false, Beginning{});
  };
  tell("characters", Dimensions{sizes.characters, sizes.width}, 0, false, Beginning{embedded});
  tell("positions", Dimensions{sizes.context, sizes.width}, 0, false, Beginning{embedded});
  int layer = 1;
  for (std::int64_t block = 0; block < sizes.blocks; ++block, layer += 2) {
    const std::string attention = "attention" + std::to_string(block), feed = "feed_forward" + std::to_string(block);
    const double added = deviation(2 * sizes.blocks);
    normalised(attention, layer);
    linear(attention + ".projected", sizes.width, 3 * sizes.width, layer);
    linear(attention + ".out", sizes.width, sizes.width, layer, added);
    normalised(feed, layer + 1);
    linear(feed + ".up", sizes.width, sizes.hidden(), layer + 1);
    linear(feed + ".down", sizes.hidden(), sizes.width, layer + 1, added);
  }
  normalised("head", layer);
  linear("head", sizes.width, sizes.characters, layer, undecided);
}

}  // namespace

double DecoderSizes::elements() const {
  const auto in = static_cast<double>(width), all = static_cast<double>(characters);
  const double of_a_block = 12 * in * in + 13 * in;
  return static_cast<double>(blocks) * of_a_block + (2 * all + static_cast<double>(context) + 2) * in + all;
}

std::vector<Parameter> decoder_parameters(const DecoderSizes& sizes) {
  std::vector<Parameter> parameters;
  over_tensors(sizes, [&](const std::string& name, const Dimensions& dimensions, int layer, bool decays, Beginning) {
    parameters.push_back(whole_parameter(name, dimensions, layer, decays));
  });
  return parameters;
}

std::vector<std::vector<float>> initial_decoder(const DecoderSizes& sizes, std::uint64_t seed) {
  std::vector<std::vector<float>> values;
  over_tensors(sizes, [&](const std::string&, const Dimensions& dimensions, int, bool, Beginning begins) {
    const Philox stream({.seed = seed, .bucket = static_cast<int>(values.size()), .phase = Phase::weights});
    std::int64_t count = 1;
    for (const std::int64_t length : dimensions) count *= length;
    std::vector<float>& tensor = values.emplace_back(static_cast<std::size_t>(count), begins.mean);
    if (begins.deviation == 0) return;
    for (std::size_t i = 0; i < tensor.size(); ++i)
      tensor[i] = static_cast<float>(begins.deviation * normal(stream, i));
  });
  return values;
}

}  // namespace trigram
