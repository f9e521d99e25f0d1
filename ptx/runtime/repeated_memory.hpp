// Memory of many GiB that takes little, for tests of places that do not fit into 32 bits.
#pragma once

#include <cstddef>

namespace cuda_on_host {

/// What begins and ends with memory of its own; between its ends the same piece of memory lies again and again, for
/// those who write the same everywhere but there. Page aligned, or null where there is none.
void* map_repeated(std::size_t bytes);
void unmap_repeated(void* address, std::size_t bytes);

}  // namespace cuda_on_host
