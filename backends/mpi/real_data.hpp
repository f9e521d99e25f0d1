// Only real bytes travel on a real network.
#pragma once

#include <string>

#include "core/buffer.hpp"
#include "core/error.hpp"

namespace trigram::mpi {

/// Throws UsageError for a phantom buffer.
inline void require_data(const Buffer& buffer) {
  require(!buffer.is_phantom(), "a phantom buffer of " + std::to_string(buffer.modelled_bytes()) +
                                    " bytes has no data that backend 'mpi' could send; profiles run on backend 'sim'");
}

}  // namespace trigram::mpi
