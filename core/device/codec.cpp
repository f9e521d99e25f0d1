#include "core/device/codec.hpp"

#include <array>

#include "core/registry/by_device.hpp"
#include "core/values/error.hpp"

namespace trigram {

Shape Codec::encoded_shape(const Shape& vector) const {
  return {vector.phantom ? encoded_bytes(vector.modelled_count) : encoded_bytes(vector.count), DType::u8,
          encoded_bytes(vector.modelled_count), vector.phantom};
}

namespace {

void check(const Codec& codec, const char* operation, const Buffer& vector, const Buffer& frame) {
  const Shape expected = codec.encoded_shape(vector.shape());
  ensure(vector.dtype() == DType::f32 && frame.dtype() == DType::u8, operation,
         ": a codec turns f32 into u8 frames, got ", name_of(vector.dtype()), " and ", name_of(frame.dtype()));
  ensure(frame.count() == expected.count && frame.modelled_count() == expected.modelled_count, operation,
         ": the frame has ", frame.count(), " bytes, this vector needs ", expected.count);
}

}  // namespace

void Codec::encode(Device& device, Buffer in, Buffer out, const Key& key) const {
  check(*this, "encode", in, out);
  const Timeline::Scope scope(device.timeline(), Activity::encode, "encode");
  charge(device, CodecStep::encode, in.modelled_count());
  if (!in.is_phantom() && in.count() > 0) encode_frame(device.kernels(), in, out, key);
}

void Codec::decode(Device& device, Buffer in, Buffer out, const Key& key) const {
  check(*this, "decode", out, in);
  const Timeline::Scope scope(device.timeline(), Activity::decode, "decode");
  charge(device, CodecStep::decode, out.modelled_count());
  if (!in.is_phantom() && out.count() > 0) decode_frame(device.kernels(), in, out, key);
}

void Codec::decode_add(Device& device, Buffer in, float weight, Buffer out, const Key& key) const {
  check(*this, "decode_add", out, in);
  const Timeline::Scope scope(device.timeline(), Activity::decode, "decode_add");
  charge(device, CodecStep::decode_add, out.modelled_count());
  if (!in.is_phantom() && out.count() > 0) decode_add_frame(device.kernels(), in, weight, out, key);
}

namespace {

/// Checks and charges all parts; those with something to compute.
std::vector<CodecPart> to_compute(const Codec& codec, const char* operation, CodecStep step, Device& device,
                                  std::span<const CodecPart> parts) {
  std::vector<CodecPart> real;
  real.reserve(parts.size());
  for (const CodecPart& part : parts) {
    check(codec, operation, part.vector, part.frame);
    codec.charge(device, step, part.vector.modelled_count());
    if (!part.vector.is_phantom() && part.vector.count() > 0) real.push_back(part);
  }
  return real;
}

}  // namespace

void Codec::encode_all(Device& device, std::span<const CodecPart> parts) const {
  const Timeline::Scope scope(device.timeline(), Activity::encode, "encode");
  encode_frames(device.kernels(), to_compute(*this, "encode", CodecStep::encode, device, parts));
}

void Codec::decode_all(Device& device, std::span<const CodecPart> parts) const {
  const Timeline::Scope scope(device.timeline(), Activity::decode, "decode");
  decode_frames(device.kernels(), to_compute(*this, "decode", CodecStep::decode, device, parts));
}

void Codec::decode_add_all(Device& device, std::span<const CodecPart> parts, float weight) const {
  const Timeline::Scope scope(device.timeline(), Activity::decode, "decode_add");
  decode_add_frames(device.kernels(), to_compute(*this, "decode_add", CodecStep::decode_add, device, parts), weight);
}

void Codec::encode_frames(Kernels& kernels, std::span<const CodecPart> parts) const {
  for (const CodecPart& part : parts) encode_frame(kernels, part.vector, part.frame, part.key);
}

void Codec::decode_frames(Kernels& kernels, std::span<const CodecPart> parts) const {
  for (const CodecPart& part : parts) decode_frame(kernels, part.frame, part.vector, part.key);
}

void Codec::decode_add_frames(Kernels& kernels, std::span<const CodecPart> parts, float weight) const {
  for (const CodecPart& part : parts) decode_add_frame(kernels, part.frame, weight, part.vector, part.key);
}

void Codec::decode_reduce_encode(Device& device, std::span<const KeyedFrame> frames, float scale, Buffer sum,
                                 Buffer out, const Key& key) const {
  check(*this, "decode_reduce_encode", sum, out);
  const std::int64_t count = sum.modelled_count();
  double decoded = 3 * static_cast<double>(sum.modelled_bytes());  // filled with zeros, and scaled
  const double added = traffic(count).decode_add;
  for (const KeyedFrame& part : frames) {
    const bool like_out = part.frame.count() == out.count() && part.frame.modelled_count() == out.modelled_count() &&
                          part.frame.dtype() == out.dtype();
    if (!like_out) check(*this, "decode_reduce_encode", sum, part.frame);
    decoded += added;
  }
  {
    const Timeline::Scope scope(device.timeline(), Activity::decode, "decode_reduce");
    device.charge({0, decoded}, {name_, CodecStep::decode_add, static_cast<std::int64_t>(frames.size()) * count});
    if (!sum.is_phantom() && sum.count() > 0) {
      decode_reduce_encode_frame(device.kernels(), frames, scale, sum, out, key);
    }
  }
  const Timeline::Scope scope(device.timeline(), Activity::encode, "encode_server");
  charge(device, CodecStep::encode, count);
}

void Codec::decode_reduce_encode_frame(Kernels& kernels, std::span<const KeyedFrame> frames, float scale, Buffer sum,
                                       Buffer out, const Key& key) const {
  kernels.fill(sum, 0);
  for (const KeyedFrame& part : frames) decode_add_frame(kernels, part.frame, 1.0F, sum, part.key);
  DeviceRules::of(kernels.kind()).scale.run(kernels, std::array<double, 1>{scale}, std::array{sum});
  encode_frame(kernels, sum, out, key);
}

std::unique_ptr<Codec> make_codec_model(const std::string& spec) { return make_on_any<Codec>(spec); }

std::unique_ptr<Codec> make_codec_model(const std::string& name, Params& params) {
  return make_on_any<Codec>(name, params);
}

void require_stable_under_feedback(const Codec& codec, const std::string& spec, std::int64_t count) {
  const CodecProperties properties = codec.properties(count);
  require(!properties.unbiased || properties.contraction || properties.bound < 1,
          "codec '" + spec + "' has a variance bound of " + number_text(properties.bound) + " for " +
              std::to_string(count) + " elements; where its error is fed back it must stay under 1, or it diverges: " +
              "use more levels, smaller buckets or a contraction");
}

// Here, since a device knows of no codec.
std::unique_ptr<Codec> Device::make_codec(std::string_view spec) {
  std::unique_ptr<Codec> codec = make_on<Codec>(kind(), spec);
  codec->name_ = Spec::parse(spec).name;
  return codec;
}

}  // namespace trigram
