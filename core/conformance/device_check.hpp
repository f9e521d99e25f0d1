// Holds a product on one device to the same product on the reference.
//   bits       frames, decoded vectors, weights and states are those of the reference, NaN apart from its payload;
//              operations may differ in last bits where matrices are multiplied or exponentials taken
//   order      they do not depend on the order in which the device runs what it is free to order
//   memcheck, synccheck, ...  what the device itself finds wrong
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/conformance/finding.hpp"
#include "core/conformance/tried_device.hpp"

namespace trigram {

/// What came of one trial on both devices.
struct ComparedTrial {
  std::string trial;      ///< "33 elements", "[37, 7], [7]"
  double difference = 0;  ///< the largest of values, as a share of the largest of their tensor
  std::vector<Violation> violations;
};

/// Vectors that hurt, with NaN, infinities and tiny values among them, of 0 to some thousand elements, at odd
/// addresses; encoded, decoded, added, by a server and as chunks of one vector. After a violation no more is tried.
/// Throws UsageError where one of the devices has no such codec, or for a bad parameter.
std::vector<ComparedTrial> compare_codec(const std::string& spec, TriedDevice& tested, TriedDevice& reference);

/// The operation's own trials: forward, in place where it says so, and gradients.
std::vector<ComparedTrial> compare_operation(const std::string& spec, TriedDevice& tested, TriedDevice& reference);

/// A few steps of buckets whose parameters decay or not, whole and in parts.
std::vector<ComparedTrial> compare_optimizer(const std::string& spec, TriedDevice& tested, TriedDevice& reference);

}  // namespace trigram
