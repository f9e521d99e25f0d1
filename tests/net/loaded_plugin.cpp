#include "tests/net/loaded_plugin.hpp"

#include <dlfcn.h>

#include <stdexcept>

#include "net/vtables.hpp"
#include "tests/net/rivals.hpp"

namespace trigram::tests {
namespace {

using namespace net::abi;

/// How versions differ: `Net` is a table of functions.
template <typename Net>
class Versioned : public LoadedPlugin {
 public:
  explicit Versioned(const Net* net) : net_(net) {}

  Result init() override {
    if constexpr (requires { net_->finalize; }) {
      CommConfig config{-1};
      return net_->init(&context_, 1, &config, log_of_tests, nullptr);
    } else if constexpr (std::is_same_v<Net, NetV10>) {
      return net_->init(log_of_tests, nullptr);
    } else {
      return net_->init(log_of_tests);
    }
  }

  Result finalize() override {
    if constexpr (requires { net_->finalize; }) return net_->finalize(context_);
    return Result::success;
  }

  Said said() override {
    Said said;
    if (net_->devices(&said.devices) != Result::success || said.devices < 1) return said;
    fill(said, net_->properties);
    return said;
  }

  Result listen(void* handle, void** listener) override {
    if constexpr (requires { net_->finalize; }) {
      return net_->listen(context_, 0, handle, listener);
    } else {
      return net_->listen(0, handle, listener);
    }
  }

  Result connect(void* handle, void** comm) override {
    void* device_comm = nullptr;
    if constexpr (requires { net_->finalize; }) {
      return net_->connect(context_, 0, handle, comm, &device_comm);
    } else if constexpr (std::is_same_v<Net, NetV10>) {
      CommConfig config{-1};
      return net_->connect(0, &config, handle, comm, &device_comm);
    } else {
      return net_->connect(0, handle, comm, &device_comm);
    }
  }

  Result accept(void* listener, void** comm) override {
    void* device_comm = nullptr;
    return net_->accept(listener, comm, &device_comm);
  }

  Result isend(void* comm, void* data, std::size_t size, int tag, void** request) override {
    if constexpr (std::is_same_v<Net, NetV8>) {
      return transfers().isend(comm, data, static_cast<int>(size), tag, nullptr, request);
    } else if constexpr (std::is_same_v<Net, NetV9>) {
      return transfers().isend(comm, data, size, tag, nullptr, request);
    } else {
      return transfers().isend(comm, data, size, tag, nullptr, nullptr, request);
    }
  }

  Result irecv(void* comm, std::vector<void*> data, std::vector<std::size_t> sizes, std::vector<int> tags,
               void** request) override {
    const int count = static_cast<int>(data.size());
    std::vector<void*> memory(data.size());
    if constexpr (std::is_same_v<Net, NetV8>) {
      std::vector<int> narrow(sizes.begin(), sizes.end());
      return transfers().irecv(comm, count, data.data(), narrow.data(), tags.data(), memory.data(), request);
    } else if constexpr (std::is_same_v<Net, NetV9>) {
      return transfers().irecv(comm, count, data.data(), sizes.data(), tags.data(), memory.data(), request);
    } else {
      std::vector<void*> profiler(data.size());
      return transfers().irecv(comm, count, data.data(), sizes.data(), tags.data(), memory.data(), profiler.data(),
                               request);
    }
  }

  Result iflush(void* comm, void* data, int size, void** request) override {
    void* memory = nullptr;
    return transfers().iflush(comm, 1, &data, &size, &memory, request);
  }

  Result test(void* request, int* done, int* sizes) override { return transfers().test(request, done, sizes); }
  Result close_send(void* comm) override { return transfers().close_send(comm); }
  Result close_receive(void* comm) override { return transfers().close_receive(comm); }
  Result close_listen(void* listener) override { return transfers().close_listen(listener); }
  Result register_memory(void* comm, void* data, std::size_t size, int type) override {
    void* memory = nullptr;
    return transfers().register_memory(comm, data, size, type, &memory);
  }

 private:
  const auto& transfers() const { return net_->transfers; }

  template <typename Properties>
  static void fill(Said& said, Result (*ask)(int, Properties*)) {
    Properties properties{};
    if (ask(0, &properties) != Result::success) return;
    said.name = properties.name ? properties.name : "";
    said.pointer_support = properties.pointer_support;
    said.speed = properties.speed;
    said.latency = properties.latency;
    said.max_receives = properties.max_receives;
  }

  const Net* net_;
  void* context_ = nullptr;
};

std::unique_ptr<LoadedPlugin> of_library(void* library, const std::string& what, int wanted) {
  for (int version = 12; version >= 8; --version) {
    if (wanted != 0 && version != wanted) continue;
    const std::string symbol = "ncclNetPlugin_v" + std::to_string(version);
    const void* table = dlsym(library, symbol.c_str());
    if (!table) continue;
    if (version == 12) return std::make_unique<Versioned<NetV12>>(static_cast<const NetV12*>(table));
    if (version == 11) return std::make_unique<Versioned<NetV11>>(static_cast<const NetV11*>(table));
    if (version == 10) return std::make_unique<Versioned<NetV10>>(static_cast<const NetV10*>(table));
    if (version == 9) return std::make_unique<Versioned<NetV9>>(static_cast<const NetV9*>(table));
    return std::make_unique<Versioned<NetV8>>(static_cast<const NetV8*>(table));
  }
  throw std::runtime_error(what + " exports no table of functions from ncclNetPlugin_v8 to ncclNetPlugin_v12");
}

}  // namespace

std::unique_ptr<LoadedPlugin> load_plugin(const std::string& what) {
  if (auto rival = rival_of(what)) return rival;
  const auto colon = what.rfind(':');
  const std::string file = what.substr(0, colon);
  const int version = colon == std::string::npos ? 0 : std::stoi(what.substr(colon + 1));
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) throw std::runtime_error(dlerror());
  return of_library(library, file, version);
}

}  // namespace trigram::tests
