// The properties of the network that NCCL asks for.
#pragma once

namespace trigram::net {

/// NCCL's "Trigram": the name of the network in logs and for NCCL_NET.
constexpr const char* plugin_name = "Trigram";

/// What NCCL is told of the one device, which stands for all interfaces together.
struct Device {
  char* name = nullptr;
  char* pci_path = nullptr;  ///< null: unknown
  int speed = 0;             ///< Mbit/s
  float latency = 0;         ///< microseconds
};

}  // namespace trigram::net
