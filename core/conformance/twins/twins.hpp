// Runs the same work on a device and on the reference, and compares what comes of it.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/conformance/finding.hpp"
#include "core/conformance/tried_device.hpp"

namespace trigram {

/// Bytes that a trial gave.
struct Result {
  std::string name;  ///< "the frame", "gradient of weights"
  std::vector<std::byte> bytes;
  bool is_f32 = true;  ///< else single bytes
};
using Results = std::vector<Result>;

/// Works on a device and brings its results to the host. It may be called any number of times.
using TwinWork = std::function<Results(TriedDevice& on)>;

/// How much alike two devices' results are.
enum class Alike : std::uint8_t {
  bits,       ///< each is the same, where all NaN of f32 are one
  last_bits,  ///< as bits; where the device has rounded otherwise (TriedDevice::Ran), up to a few roundings
};

/// Two devices that do the same.
class Twins {
 public:
  /// `product` is what messages call it: "upper_half".
  Twins(std::string product, TriedDevice& tested, TriedDevice& reference)
      : product_(std::move(product)), tested_(tested), reference_(reference) {}

  /// Runs a trial on the reference, and in each order on the tested device; `where` is what messages begin with. One
  /// violation at most: what the device found wrong ("memcheck", "synccheck"), an exception ("error"), results that
  /// depend on the order ("order"), or that are not those of the reference ("bits").
  std::vector<Violation> compare(const std::string& where, const TwinWork& work, Alike alike);

  /// The largest difference of f32 so far, as a share of the largest size in its result; 0 where all were alike.
  double difference() const { return difference_; }

 private:
  struct Run;
  Run run(const std::string& where, const TwinWork& work, int order);
  static std::string order_difference(const Run& first, const Run& other);
  std::string first_difference(const Results& found, const Results& expected, bool in_last_bits);
  std::string reference_name() const { return std::string(reference_device) + "/" + product_; }
  std::string hint_of(const TriedDevice::Ran& ran) const;

  std::string product_;
  TriedDevice& tested_;
  TriedDevice& reference_;
  double difference_ = 0;
};

/// The host's copy of a buffer.
Result result_of(Device& device, std::string name, const Buffer& buffer);

}  // namespace trigram
