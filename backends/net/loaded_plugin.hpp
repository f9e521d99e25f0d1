// Any net plugin for NCCL, called in one way whatever version of the interface it exports.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "net/abi.hpp"

namespace trigram::net_backend {

using net::abi::Result;

/// What a plugin says of its device.
struct Said {
  std::string name;
  int devices = 0;
  int pointer_support = 0;
  int speed = 0;
  float latency = 0;
  int max_receives = 0;
};

/// One communicator's use of the plugin, from init to finalize.
class LoadedPlugin {
 public:
  virtual ~LoadedPlugin() = default;

  virtual Result init() = 0;
  /// Also after an init that failed, as NCCL does; nothing where the version has none.
  virtual Result finalize() = 0;
  virtual Said said() = 0;
  virtual Result listen(void* handle, void** listener) = 0;
  virtual Result connect(void* handle, void** comm) = 0;
  virtual Result accept(void* listener, void** comm) = 0;
  virtual Result isend(void* comm, void* data, std::size_t size, int tag, void** request) = 0;
  virtual Result irecv(void* comm, std::vector<void*> data, std::vector<std::size_t> sizes, std::vector<int> tags,
                       void** request) = 0;
  virtual Result iflush(void* comm, void* data, int size, void** request) = 0;
  virtual Result test(void* request, int* done, int* sizes) = 0;
  virtual Result close_send(void* comm) = 0;
  virtual Result close_receive(void* comm) = 0;
  virtual Result close_listen(void* listener) = 0;
  /// Whether memory of that kind can be registered.
  virtual Result register_memory(void* comm, void* data, std::size_t size, int type) = 0;
};

/// `what` is a file, whose newest version is taken, or FILE:VERSION; the plugin speaks by `logger`. It stays loaded.
/// Throws std::runtime_error where there is none.
std::unique_ptr<LoadedPlugin> load_plugin(const std::string& what, net::abi::DebugLogger logger);

}  // namespace trigram::net_backend
