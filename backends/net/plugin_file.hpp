// Where the net plugin of this build lies.
#pragma once

#include <string>

namespace trigram::net_backend {

/// A file of the build or where it is installed; else its name alone, for the loader to find.
std::string own_plugin();

}  // namespace trigram::net_backend
