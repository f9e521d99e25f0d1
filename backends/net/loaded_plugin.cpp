#include "backends/net/loaded_plugin.hpp"

#include <dlfcn.h>

#include <array>
#include <stdexcept>

#include "net/vtables.hpp"

namespace trigram::net_backend {
namespace {

using namespace net::abi;

/// How versions differ: `Net` is a table of functions.
template <typename Net>
class Versioned : public LoadedPlugin {
 public:
  Versioned(const Net* net, DebugLogger logger) : net_(net), logger_(logger) {}

  Result init() override {
    if constexpr (requires { net_->finalize; }) {
      CommConfig config{-1};
      return net_->init(&context_, 1, &config, logger_, nullptr);
    } else if constexpr (std::is_same_v<Net, NetV10>) {
      return net_->init(logger_, nullptr);
    } else {
      return net_->init(logger_);
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
  DebugLogger logger_;
  void* context_ = nullptr;
};

template <typename Net>
std::unique_ptr<LoadedPlugin> version_of(const void* table, DebugLogger logger) {
  return std::make_unique<Versioned<Net>>(static_cast<const Net*>(table), logger);
}

struct Version {
  int number;
  std::unique_ptr<LoadedPlugin> (*make)(const void* table, DebugLogger logger);
};

constexpr std::array versions{Version{12, version_of<NetV12>}, Version{11, version_of<NetV11>},
                              Version{10, version_of<NetV10>}, Version{9, version_of<NetV9>},
                              Version{8, version_of<NetV8>}};

}  // namespace

std::unique_ptr<LoadedPlugin> load_plugin(const std::string& what, DebugLogger logger) {
  const auto colon = what.rfind(':');
  const std::string file = what.substr(0, colon);
  const std::string wanted = colon == std::string::npos ? "" : what.substr(colon + 1);
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) throw std::runtime_error(dlerror());
  for (const Version& version : versions) {
    const std::string number = std::to_string(version.number);
    const void* table = dlsym(library, ("ncclNetPlugin_v" + number).c_str());
    if (table && (wanted.empty() || wanted == number)) return version.make(table, logger);
  }
  throw std::runtime_error(
      file + " exports no table of functions " +
      (wanted.empty() ? "from ncclNetPlugin_v8 to ncclNetPlugin_v12" : "ncclNetPlugin_v" + wanted));
}

}  // namespace trigram::net_backend
