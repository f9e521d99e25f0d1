#include "ptx/runtime/nvcc/kernels.hpp"

#include <mutex>
#include <optional>
#include <utility>

#include "core/values/error.hpp"
#include "ptx/runtime/nvcc/fat_binary.hpp"

namespace cuda_on_host {

class Object {
 public:
  using Rewrite = std::function<std::string(const std::string&)>;

  explicit Object(const void* fat_binary) : fat_binary_(fat_binary) {}

  const trigram::ptx::Kernel& kernel(const std::string& name, int capability, const Rewrite& rewrite) {
    if (!module_) {
      const std::string text = ptx_of(fat_binary_, capability);
      module_ = trigram::ptx::Module::read(rewrite ? rewrite(text) : text, "the PTX of " + name);
    }
    return module_->kernel(name);
  }

 private:
  const void* fat_binary_;
  std::optional<trigram::ptx::Module> module_;
};

namespace {

struct Registered {
  Object* object;
  std::string name;
  const trigram::ptx::Kernel* kernel = nullptr;
  std::int64_t launches = 0, taken = 0;
};

struct Kernels {
  std::mutex mutex;  ///< guards what follows
  std::map<const void*, Registered> registered;
  trigram::ptx::Schedule schedule;
  int capability = 0;
  Object::Rewrite rewrite;
};
Kernels& kernels() {
  static auto* const the = new Kernels;  // objects register before main, and leave after it
  return *the;
}

/// Reads its object's code where nobody has yet. The lock is held.
void read(Registered& one) {
  if (one.kernel == nullptr) one.kernel = &one.object->kernel(one.name, kernels().capability, kernels().rewrite);
}

}  // namespace

Object* add_object(const void* fat_binary) { return new Object(fat_binary); }

void add_kernel(Object* object, const void* function, const std::string& name) {
  const std::lock_guard lock(kernels().mutex);
  kernels().registered.emplace(function, Registered{object, name});
}

const trigram::ptx::Kernel& launched_kernel(const void* function) {
  const std::lock_guard lock(kernels().mutex);
  const auto found = kernels().registered.find(function);
  trigram::require(found != kernels().registered.end(),
                   "a function is launched as a kernel, and no object registers it");
  Registered& one = found->second;
  ++one.launches;
  read(one);
  return *one.kernel;
}

void read_ptx_for(int capability) {
  const std::lock_guard lock(kernels().mutex);
  kernels().capability = capability;
}

void read_all_kernels() {
  const std::lock_guard lock(kernels().mutex);
  for (auto& [function, one] : kernels().registered) read(one);
}

std::map<std::string, std::int64_t> launches_by_kernel() {
  const std::lock_guard lock(kernels().mutex);
  std::map<std::string, std::int64_t> launches;
  for (const auto& [function, one] : kernels().registered) launches[one.name] += one.launches;
  return launches;
}

std::vector<const trigram::ptx::Kernel*> take_launched_kernels() {
  const std::lock_guard lock(kernels().mutex);
  std::vector<const trigram::ptx::Kernel*> launched;
  for (auto& [function, one] : kernels().registered) {
    if (one.launches > one.taken && one.kernel != nullptr) launched.push_back(one.kernel);
    one.taken = one.launches;
  }
  return launched;
}

void run_kernels_by(const trigram::ptx::Schedule& schedule) {
  const std::lock_guard lock(kernels().mutex);
  kernels().schedule = schedule;
}

trigram::ptx::Schedule next_schedule() {
  const std::lock_guard lock(kernels().mutex);
  ++kernels().schedule.seed;
  return kernels().schedule;
}

void rewrite_ptx_by(std::function<std::string(const std::string&)> rewrite) {
  const std::lock_guard lock(kernels().mutex);
  kernels().rewrite = std::move(rewrite);
}

}  // namespace cuda_on_host
