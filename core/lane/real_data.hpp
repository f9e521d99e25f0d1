// Only real bytes travel on a real network.
#pragma once

#include "core/values/buffer.hpp"
#include "core/values/error.hpp"

namespace trigram {

/// Throws UsageError for a phantom buffer, naming the backend that was to send it.
inline void require_data(const Buffer& buffer, const char* backend) {
  require(!buffer.is_phantom(), "a phantom buffer of ", buffer.modelled_bytes(), " bytes has no data that backend '",
          backend, "' could send; profiles run on backend 'sim'");
}

}  // namespace trigram
