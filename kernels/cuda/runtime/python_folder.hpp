// Where pip puts NVIDIA's libraries, of which the loader does not know.
#pragma once

#include <string>

namespace trigram::cuda {

/// The folder `lib` of a package of python3's, such as nvidia.nccl; empty where there is none, and in a process that is
/// Python's itself.
std::string python_folder(const std::string& package);

}  // namespace trigram::cuda
