// How others send: written again to be compared with, over the same paths.
#pragma once

#include <memory>
#include <string>

#include "tests/net/loaded_plugin.hpp"

namespace trigram::tests {

/// One connection over the first path ("one_socket"); equal parts of each message by so many threads with so many
/// connections each ("nccl:2x4", "nccl:0x1" where the caller's thread moves all); parts of 1 MiB or more in turn, a
/// thread a connection ("bagua:2"). Connections are spread over all paths. ":hurried" behind a name has the plugin's
/// control of congestion within a host. Nothing for another name.
std::unique_ptr<LoadedPlugin> rival_of(const std::string& what);

}  // namespace trigram::tests
