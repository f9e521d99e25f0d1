// The kernels of this process's objects, by the functions that stand for them on the host.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "ptx/execution/schedule.hpp"
#include "ptx/module.hpp"

namespace cuda_on_host {

/// One object's code, read when one of its kernels is first launched.
class Object;

/// `fat_binary` is what nvcc registers.
Object* add_object(const void* fat_binary);
void add_kernel(Object* object, const void* function, const std::string& name);

/// Counts the launch of the kernel that this function stands for, and returns it. Throws UsageError where none does, or
/// where the interpreter does not know what is in its object.
const trigram::ptx::Kernel& launched_kernel(const void* function);

/// Which PTX is read of an object that has it for several compute capabilities, as 90; the first for 0, as at first.
void read_ptx_for(int capability);
/// Reads the code of all objects, launched or not. Throws UsageError for what the interpreter does not know.
void read_all_kernels();

/// How often each kernel was launched, by its name in PTX; those that never were, too.
std::map<std::string, std::int64_t> launches_by_kernel();

/// The kernels that were launched since this was last called, each once.
std::vector<const trigram::ptx::Kernel*> take_launched_kernels();

/// How kernels are run from now on; a launch's seed is this one's and the number of the launch.
void run_kernels_by(const trigram::ptx::Schedule& schedule);
/// Of the next launch.
trigram::ptx::Schedule next_schedule();

/// What is done to the PTX of each object before it is read, so that tests can have kernels that count otherwise.
void rewrite_ptx_by(std::function<std::string(const std::string&)> rewrite);

}  // namespace cuda_on_host
