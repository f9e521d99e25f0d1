// trigram check --device: tries kernels by themselves, beside the reference.
#pragma once

#include <string>

namespace trigram {

/// Tries a codec, an operation or an optimizer on a device of TriedDevices, prints what was found, and returns the exit
/// code. Throws UsageError for an unknown device, kind or name, and for kernels that are not there.
int check_on_device(const std::string& device, const std::string& kind, const std::string& spec);

}  // namespace trigram
