// Where ranks meet beside torch.distributed, which has no signs of life.
#pragma once

#include <memory>

#include "backends/torch/connections.hpp"
#include "backends/torch/place.hpp"
#include "meeting/rendezvous.hpp"

namespace trigram::torch {

/// At a port of rank 0's host, which it tells when it listens there. Collective. Throws UsageError, on all ranks, where
/// rank 0 cannot listen.
std::unique_ptr<Rendezvous> meet_beside(const Connections& connections, const Place& place, double seconds);

}  // namespace trigram::torch
