// Streams of the double run beside the host from the start, as on a GPU.
#include "ptx/runtime/control.hpp"

namespace {

const bool later = (cuda_on_host::run_streams_later(), true);

}  // namespace
