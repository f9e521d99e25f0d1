// What this host's TCP does, measured when the plugin starts, for what NCCL is told of it.
#pragma once

#include "net/interfaces.hpp"

namespace trigram::net {

/// Microseconds that a small message takes one way through this host's own stack: the least that any path takes.
double measured_latency_us(const Interface& interface);
/// Mbit/s of one connection of this host to itself, which is what a loopback interface gives.
double measured_speed_mbps(const Interface& interface);

}  // namespace trigram::net
