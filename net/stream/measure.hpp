// Rate and latency of this host's TCP, measured when the plugin starts, which NCCL gets as properties.
#pragma once

#include "net/connection/interfaces.hpp"

namespace trigram::net {

/// Microseconds that a small message takes one way through this host's own stack: the least that any path takes.
double measured_latency_us(const Interface& interface);
/// Mbit/s of one connection of this host to itself, which is what a loopback interface gives.
double measured_speed_mbps(const Interface& interface);

}  // namespace trigram::net
