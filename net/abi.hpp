// Types of NCCL's plugin interface for networks, declared from its published layout; NCCL's packages ship no header of
// it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace trigram::net::abi {

/// ncclResult_t.
enum class Result : int {
  success = 0,
  system_error = 2,
  internal_error = 3,
  invalid_argument = 4,
  invalid_usage = 5,
  remote_error = 6,
};

/// ncclDebugLogLevel, of which these two are used, and the bit of the subsystem NET.
enum class LogLevel : int { warn = 2, info = 3 };
constexpr unsigned long subsystem_net = 0x10;

using DebugLogger = void (*)(LogLevel level, unsigned long flags, const char* file, int line, const char* format, ...);
using ProfilerCallback = Result (*)(void** event, int type, void* parent, std::int64_t plugin, void* data);

constexpr int pointer_host = 1;            ///< NCCL_PTR_HOST
constexpr std::size_t handle_bytes = 128;  ///< NCCL_NET_HANDLE_MAXSIZE
constexpr int max_requests = 32;           ///< NCCL_NET_MAX_REQUESTS, that one communicator may have in flight
constexpr std::size_t max_message = std::size_t{1} << 40;

template <int Devices>
struct VirtualDevice {
  int count;
  int devices[Devices];
};

/// ncclNetCommConfig.
struct CommConfig {
  int traffic_class;
};

struct PropertiesV8 {
  char* name;
  char* pci_path;
  std::uint64_t guid;
  int pointer_support;
  int registration_is_global;
  int speed;  ///< Mbit/s
  int port;
  float latency;  ///< microseconds
  int max_comms;
  int max_receives;
  int device_type;
  int device_version;
};

template <int Devices>
struct PropertiesSince9 {
  char* name;
  char* pci_path;
  std::uint64_t guid;
  int pointer_support;
  int registration_is_global;
  int force_flush;
  int speed;  ///< Mbit/s
  int port;
  float latency;  ///< microseconds
  int max_comms;
  int max_receives;
  int device_type;
  int device_version;
  VirtualDevice<Devices> virtual_device;
  std::size_t max_p2p_bytes;
  std::size_t max_collective_bytes;
};

using PropertiesV9 = PropertiesSince9<4>;
using PropertiesV10 = PropertiesV9;

struct PropertiesV11 : PropertiesV10 {
  int max_multi_request;
};

struct PropertiesV12 : PropertiesSince9<8> {
  int max_multi_request;
  std::int16_t rail;
  std::int16_t plane;
};

struct FlowAttributes {
  std::int32_t max_concurrent_peers;
  std::int32_t min_concurrent_peers;
  std::int32_t max_flows_per_peer;
  std::int32_t min_flows_per_peer;
};

/// What NCCL says before a collective.
struct NetAttributes {
  FlowAttributes send;
  FlowAttributes receive;
  std::uint32_t operation;
  std::uint32_t algorithm;
  std::uint32_t protocol;
};

}  // namespace trigram::net::abi
