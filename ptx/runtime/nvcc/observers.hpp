// Who is told what kernels do while they run on the runtime.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "ptx/observer.hpp"

namespace cuda_on_host {

/// Makes what observes one launch on a device, and lives until that has ended; null, where nothing is to be told of it.
using MakeObserver = std::function<std::unique_ptr<trigram::ptx::Observer>(const trigram::ptx::Kernel&, int device)>;

/// Each launch that begins from now on has one more observer. It is told on the thread that runs the launch, which may
/// be one of several. `name` is for observe_no_longer.
void observe_launches(const std::string& name, MakeObserver make);
void observe_no_longer(const std::string& name);

/// The observer of a launch that is about to begin: all that were asked for, in the order of their names; null where
/// none was.
std::unique_ptr<trigram::ptx::Observer> observer_of(const trigram::ptx::Kernel& kernel, int device);

}  // namespace cuda_on_host
