// Operations of the Device, measured on all ranks at the same time, since ranks may share cores or a GPU.
#pragma once

#include <string>
#include <vector>

#include "core/lane/worker.hpp"

namespace trigram {

/// What an operation is limited by, in the cost model of the simulator.
enum class DeviceLimit : std::uint8_t { memory, arithmetic };

/// One operation at one size, as it is charged: bytes touched, or floating-point operations.
struct DeviceSample {
  std::string name;  ///< "axpby", "gemm"
  DeviceLimit limit = DeviceLimit::memory;
  double amount = 0;
};

/// What a rank measured.
struct DeviceTimes {
  std::vector<DeviceSample> samples;  ///< the same on every rank
  std::vector<double> seconds;        ///< in the order round, sample
};

/// Every sample `rounds` times, turn by turn. `phantom` where time is a model's.
DeviceTimes probe_device(RankRuntime& runtime, int rounds, bool phantom);

}  // namespace trigram
