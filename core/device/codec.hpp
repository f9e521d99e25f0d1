// Fewer bytes for the same vector. A codec never communicates; a method that must is an Algorithm.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "core/device/device.hpp"
#include "core/registry/registry.hpp"
#include "core/values/buffer.hpp"
#include "core/values/key.hpp"

namespace trigram {

/// What theory may rely on for vectors of a given size d.
struct CodecProperties {
  bool unbiased = false;        ///< E C(x) = x
  bool contraction = false;     ///< E‖C(x) − x‖² ≤ bound·‖x‖² with bound < 1
  bool shared_indices = false;  ///< all ranks keep the same coordinates: frames may be all-reduced
  double bound = 0;  ///< E‖C(x) − x‖² ≤ bound·‖x‖²: the ω of unbiased codecs, 1 − δ of δ-contractions
};

/// Bytes of device memory that one operation touches for `count` elements, for the roofline of the modelled GPU.
struct CodecTraffic {
  double encode = 0;
  double decode = 0;
  double decode_add = 0;

  double of(CodecStep step) const {
    return step == CodecStep::encode ? encode : step == CodecStep::decode ? decode : decode_add;
  }
  /// Of a codec that decodes every element: it reads a frame of `frame` bytes and writes the vector of `count`
  /// elements, or adds to it; encoding touches `encode` bytes.
  static CodecTraffic dense(std::int64_t encode, std::int64_t frame, std::int64_t count) {
    return {static_cast<double>(encode), static_cast<double>(frame + 4 * count),
            static_cast<double>(frame + 8 * count)};
  }
};

/// A frame with the key under which it was encoded.
struct KeyedFrame {
  Buffer frame;
  Key key;
};

/// One of several vectors that are encoded or decoded together.
struct CodecPart {
  Buffer vector;
  Buffer frame;
  Key key;
};

/// Encodes f32 vectors into frames of u8. Products are registered once per kind of device
/// ("cpu/minmax_uint8") and must give the same bits on every kind: all NaNs encode alike, whatever their sign and
/// payload.
class Codec {
 public:
  static constexpr const char* registry_kind = "codec";
  virtual ~Codec() = default;

  /// Exact size of a frame in bytes: a function of the count alone, never of the data. 0 for 0.
  virtual std::int64_t encoded_bytes(std::int64_t count) const = 0;
  virtual CodecProperties properties(std::int64_t count) const = 0;
  virtual CodecTraffic traffic(std::int64_t count) const = 0;

  /// The name by which Device::make_codec found it; empty of one that was made otherwise.
  const std::string& name() const { return name_; }
  /// Spends what `step` on a vector of so many elements costs on `device`.
  void charge(Device& device, CodecStep step, std::int64_t count) const {
    device.charge({0, traffic(count).of(step)}, {name_, step, count});
  }

  /// The u8 shape of a frame for a vector of that shape, its modelled size from the vector's modelled count.
  Shape encoded_shape(const Shape& vector) const;

  /// Writes the frame of `in` (f32) to `out` (u8, encoded_shape). Charges and records the time on `device`. `key` seeds
  /// the random numbers of a stochastic codec; decode needs the same key.
  void encode(Device& device, Buffer in, Buffer out, const Key& key) const;
  /// Overwrites `out` (f32) with the vector of the frame `in`.
  void decode(Device& device, Buffer in, Buffer out, const Key& key) const;
  /// out += weight · (the vector of the frame `in`), in one pass.
  void decode_add(Device& device, Buffer in, float weight, Buffer out, const Key& key) const;
  /// Each part by itself, in as few launches as one of them where a device can.
  void encode_all(Device& device, std::span<const CodecPart> parts) const;
  void decode_all(Device& device, std::span<const CodecPart> parts) const;
  void decode_add_all(Device& device, std::span<const CodecPart> parts, float weight) const;
  /// What the owner of a chunk does in C_LP_S (scatter-reduce): `out` = the frame, under `key`, of scale·Σ frames,
  /// decoded and added in the order given. `sum` (f32) is scratch: its content is undefined afterwards. Costs what
  /// decoding, adding and encoding cost one by one.
  void decode_reduce_encode(Device& device, std::span<const KeyedFrame> frames, float scale, Buffer sum, Buffer out,
                            const Key& key) const;

 protected:
  virtual void encode_frame(Kernels& kernels, Buffer in, Buffer out, const Key& key) const = 0;
  virtual void decode_frame(Kernels& kernels, Buffer in, Buffer out, const Key& key) const = 0;
  virtual void decode_add_frame(Kernels& kernels, Buffer in, float weight, Buffer out, const Key& key) const = 0;
  /// To be overridden where one launch does all parts. None of them is empty.
  virtual void encode_frames(Kernels& kernels, std::span<const CodecPart> parts) const;
  virtual void decode_frames(Kernels& kernels, std::span<const CodecPart> parts) const;
  virtual void decode_add_frames(Kernels& kernels, std::span<const CodecPart> parts, float weight) const;
  /// To be overridden where one pass does it all with the same bits.
  virtual void decode_reduce_encode_frame(Kernels& kernels, std::span<const KeyedFrame> frames, float scale, Buffer sum,
                                          Buffer out, const Key& key) const;

 private:
  friend class Device;
  std::string name_;
};

using Codecs = Registry<Codec>;

/// The codec of any kind of device, for what is the same on all: sizes and properties, before any device exists.
std::unique_ptr<Codec> make_codec_model(const std::string& spec);
/// The same for codec `name` with `params`: its constructor reads its parameters from those that were not read before.
std::unique_ptr<Codec> make_codec_model(const std::string& name, Params& params);

/// Throws UsageError when `codec`, being unbiased with a bound of 1 or more for some count, would diverge where its own
/// error is fed back (residuals, compressed differences).
void require_stable_under_feedback(const Codec& codec, const std::string& spec, std::int64_t count);

}  // namespace trigram
