// One simulation, one process: SimGrid's engine is global state that cannot be made twice.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace trigram::sim {

/// Runs `work` in a forked child and returns its bytes. What it throws is thrown here with its type (Error,
/// UsageError, BackendError) and text; a crash is a BackendError that names the signal. The child dies with its
/// parent. Call it from a process with one thread.
std::vector<std::byte> run_in_child(const std::function<std::vector<std::byte>()>& work);

}  // namespace trigram::sim
