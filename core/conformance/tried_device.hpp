// Devices that `trigram check --device` tries products on by themselves, without a backend.
#pragma once

#include <memory>
#include <string>

#include "core/device/device.hpp"
#include "core/registry/registry.hpp"

namespace trigram {

/// A kind of device in this process, and what it can tell of what ran there.
class TriedDevice {
 public:
  static constexpr const char* registry_kind = "device";
  virtual ~TriedDevice() = default;

  /// The device of a lane; it is gone before this is.
  virtual std::unique_ptr<Device> make(Timeline& timeline) = 0;

  /// In how many ways it can order what it is free to order, as threads that nothing makes wait; results are the same
  /// in all of them.
  virtual int orders() const { return 1; }
  /// Goes by one of them from now on, and says which in a few words, as "the last block and warp first".
  virtual std::string take_order(int /*which*/) { return "its only order"; }

  /// What was done wrong first since it was last asked, as "memcheck: ..."; empty where nothing was. The device works
  /// again afterwards.
  virtual std::string take_fault() { return {}; }

  /// What ran since it was last asked.
  struct Ran {
    /// It multiplied matrices or took exponentials, so that last bits may be other devices' or not.
    bool may_round_otherwise = false;
    /// Places of sources whose products are added without being rounded first, as "a.cu:33, a.cu:40"; or empty.
    std::string fused_multiply_adds = {};
  };
  virtual Ran take_ran() { return {}; }
};

using TriedDevices = Registry<TriedDevice>;

/// The one that all others are compared with.
inline constexpr const char* reference_device = "cpu";

}  // namespace trigram
