// The decoder beside PyTorch's own layers: tests/vectors/decoder.py wrote what they give.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/device/on_host.hpp"
#include "experiments/workloads/networks/decoder.hpp"
#include "tests/experiments/workloads_rig.hpp"
#include "tests/support/source_tree.hpp"

namespace trigram::testing::workloads_decoder_test {
namespace {

using nlohmann::json;
using Numbers = std::vector<float>;

/// Both in f32, of values of order one.
void expect_near(const Numbers& got, const std::vector<double>& wanted, const std::string& what) {
  ASSERT_EQ(got.size(), wanted.size()) << what;
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], wanted[i], 1e-5) << what << " " << i;
}

/// PyTorch's decoder, in memory of a device.
struct Published {
  json file = json::parse(std::ifstream(source_tree() / "tests/vectors/decoder.json"));
  DecoderSizes sizes{size("blocks"), size("width"), size("heads"), size("context"), size("characters")};
  MeteredRank rank{0, 1};
  Device& device = rank.device();
  std::vector<OwnedBuffer> memory;
  std::vector<Buffer> weights;
  std::vector<ParameterView> views;

  Published() {
    for (const json& tensor : file.at("weights")) {
      weights.push_back(held(tensor.get<Numbers>(), DType::f32));
      views.push_back({weights.back(), held(Numbers(tensor.size()), DType::f32)});
    }
  }
  std::int64_t size(const char* name) const { return file.at("sizes").at(name).get<std::int64_t>(); }
  template <class T>
  Buffer held(const std::vector<T>& values, DType dtype) {
    memory.push_back(on_device(device, values, dtype));
    return memory.back();
  }
  Numbers host(const Buffer& x) { return on_host<float>(device, x); }
};

TEST(Decoder, IsPyTorchs) {
  Published torch;
  const std::vector<Parameter> parameters = decoder_parameters(torch.sizes);
  ASSERT_EQ(parameters.size(), torch.weights.size());
  double elements = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    ASSERT_EQ(parameters[i].count, torch.weights[i].count()) << parameters[i].name;
    elements += static_cast<double>(parameters[i].count);
  }
  EXPECT_EQ(torch.sizes.elements(), elements);

  const std::int64_t rows = torch.size("sequences") * torch.sizes.context;
  Decoder decoder(torch.device, torch.sizes, torch.size("sequences"), true);
  const auto characters = torch.file.at("characters").get<std::vector<std::int32_t>>();
  torch.device.upload(std::as_bytes(std::span(characters)), decoder.characters());
  decoder.forward(torch.device, torch.weights);
  const Buffer logits = decoder.logits();
  expect_near(torch.host(logits), torch.file.at("logits").get<std::vector<double>>(), "logits");

  const Buffer next = torch.held(torch.file.at("next").get<std::vector<std::int32_t>>(), DType::i32);
  const Buffer loss = torch.held(Numbers(1), DType::f32);
  AppliedOperation(torch.device, "cross_entropy:scale=" + number_text(1 / static_cast<double>(rows)),
                   {{{rows, torch.sizes.characters}}, {{rows}, DType::i32}})
      .forward(torch.device, {.inputs = {logits, next}, .outputs = {loss}, .saved = {logits}});
  EXPECT_NEAR(torch.host(loss)[0], torch.file.at("loss").get<double>(), 1e-5);
  for (int layer = torch.sizes.layers() - 1; layer >= 0; --layer) decoder.backward(torch.device, layer, torch.views);
  for (std::size_t i = 0; i < parameters.size(); ++i)
    expect_near(torch.host(torch.views[i].gradients), torch.file.at("gradients")[i].get<std::vector<double>>(),
                "gradient of " + parameters[i].name);
}

}  // namespace
}  // namespace trigram::testing::workloads_decoder_test
