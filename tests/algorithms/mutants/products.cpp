// A topology and codecs that are wrong in one thing each, which their checks must find.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/device/codec.hpp"
#include "core/topologies/topology.hpp"

namespace trigram {
namespace {

/// A directed ring with one thing wrong.
class WrongRing final : public Topology {
 public:
  explicit WrongRing(Params& params)
      : wrong_(params.get("wrong", "nothing", "peers, weights, columns, mixing or schedule")),
        declares_(params.get("declares", "doubly", "doubly or row")) {}
  Stochasticity stochasticity() const override {
    return declares_ == "row" ? Stochasticity::row : Stochasticity::doubly;
  }
  void resize(const Vertices& vertices) override { size_ = vertices.count; }
  int size() const override { return size_; }
  std::vector<int> sends_to(int vertex, std::int64_t) const override {
    if (size_ == 1 || wrong_ == "mixing") return {};
    return {wrong_ == "peers" && vertex == 0 ? 2 : (vertex + 1) % size_};
  }
  Row row(int vertex, std::int64_t step) const override {
    if (size_ == 1 || wrong_ == "mixing") return {{vertex, 1.0}};
    const bool odd_one = (wrong_ == "weights" || wrong_ == "columns") && vertex == 1;
    const double own = odd_one ? 0.75 : wrong_ == "schedule" ? own_at(step) : 0.5;
    return {{vertex, own}, {(vertex + size_ - 1) % size_, wrong_ == "weights" ? 0.5 : 1 - own}};
  }
  bool directed() const override { return size_ > 2; }
  std::int64_t period() const override { return 1; }

 private:
  static double own_at(std::int64_t step) { return step % 2 == 0 ? 0.5 : 0.25; }

  std::string wrong_;
  std::string declares_;
  int size_ = 1;
};

/// f32 as they are, with one thing wrong.
class WrongCodec final : public Codec {
 public:
  explicit WrongCodec(Params& params)
      : wrong_(params.get("wrong", "nothing", "frames, nan, decoding, bound or unbiased")) {}
  std::int64_t encoded_bytes(std::int64_t count) const override { return 4 * count; }
  CodecProperties properties(std::int64_t) const override {
    if (wrong_ == "unbiased") return {.unbiased = true, .bound = 1};
    return {.contraction = true};
  }
  CodecTraffic traffic(std::int64_t count) const override { return CodecTraffic::dense(0, 0, count); }

 protected:
  void encode_frame(Kernels&, Buffer in, Buffer out, const Key&) const override {
    const bool halves = wrong_ == "bound" || wrong_ == "unbiased";
    for (std::int64_t i = 0; i < in.count(); ++i) {
      float value = halves ? in.data<float>()[i] / 2 : in.data<float>()[i];
      if (wrong_ == "frames") value += static_cast<float>(++calls_);
      if (wrong_ != "nan" && std::isnan(value)) value = std::numeric_limits<float>::quiet_NaN();
      std::memcpy(out.data<std::uint8_t>() + 4 * i, &value, sizeof value);
    }
  }
  void decode_frame(Kernels&, Buffer in, Buffer out, const Key&) const override {
    if (in.count() > 0) std::memcpy(out.data<float>(), in.data<std::uint8_t>(), static_cast<std::size_t>(in.count()));
  }
  void decode_add_frame(Kernels&, Buffer in, float weight, Buffer out, const Key&) const override {
    for (std::int64_t i = 0; i < out.count(); ++i) {
      float value = 0;
      std::memcpy(&value, in.data<std::uint8_t>() + 4 * i, sizeof value);
      out.data<float>()[i] += (wrong_ == "decoding" ? 1.0F : weight) * value;
    }
  }

 private:
  std::string wrong_;
  mutable std::int64_t calls_ = 0;
};

/// Four bits an element: blocks of 32 with a step that is a power of two, the largest magnitude from 4 to 8 of them. Of
/// one element of 4 steps and 31 of half a step, 31/95 is lost. A step as f32 a block, then a byte an element.
class FourBits final : public Codec {
 public:
  explicit FourBits(Params& params) : bound_(params.get("declares", 31.0 / 95, "the bound")) {}
  std::int64_t encoded_bytes(std::int64_t count) const override { return 4 * ((count + block - 1) / block) + count; }
  CodecProperties properties(std::int64_t) const override { return {.contraction = true, .bound = bound_}; }
  CodecTraffic traffic(std::int64_t count) const override { return CodecTraffic::dense(0, 0, count); }

 protected:
  void encode_frame(Kernels&, Buffer in, Buffer out, const Key&) const override {
    std::uint8_t* frame = out.data<std::uint8_t>();
    for (std::int64_t begin = 0; begin < in.count(); begin += block) {
      const std::int64_t end = std::min(begin + block, in.count());
      float largest = 0;
      for (std::int64_t i = begin; i < end; ++i) largest = std::max(largest, std::abs(in.data<float>()[i]));
      const float step = largest == 0 ? 1 : std::ldexp(1.0F, std::ilogb(largest) - 2);
      std::memcpy(frame, &step, sizeof step);
      frame += sizeof step;
      for (std::int64_t i = begin; i < end; ++i)
        *frame++ = static_cast<std::uint8_t>(8 + std::clamp(std::rint(in.data<float>()[i] / step), -8.0F, 7.0F));
    }
  }
  void decode_frame(Kernels&, Buffer in, Buffer out, const Key&) const override {
    each(in, out, [](float& to, float value) { to = value; });
  }
  void decode_add_frame(Kernels&, Buffer in, float weight, Buffer out, const Key&) const override {
    each(in, out, [=](float& to, float value) { to += weight * value; });
  }

 private:
  static constexpr std::int64_t block = 32;

  template <class Sink>
  static void each(Buffer in, Buffer out, const Sink& sink) {
    const std::uint8_t* frame = in.data<std::uint8_t>();
    float step = 1;
    for (std::int64_t i = 0; i < out.count(); ++i) {
      if (i % block == 0) {
        std::memcpy(&step, frame, sizeof step);
        frame += sizeof step;
      }
      sink(out.data<float>()[i], step * static_cast<float>(*frame++ - 8));
    }
  }

  double bound_;
};

const Topologies::Registration wrong_ring("mutant_ring", {"a ring with one thing wrong"},
                                          [](Params& params) { return std::make_unique<WrongRing>(params); });
const Codecs::Registration wrong_codec("cpu/mutant_identity", {"f32 with one thing wrong"},
                                       [](Params& params) { return std::make_unique<WrongCodec>(params); });
const Codecs::Registration four_bits("cpu/mutant_four_bits", {"four bits that may declare too little"},
                                     [](Params& params) { return std::make_unique<FourBits>(params); });

}  // namespace
}  // namespace trigram
