// What the plugin does, whatever version of NCCL's interface asks for it.
#pragma once

#include <cstdint>

#include "net/abi.hpp"
#include "net/device.hpp"

namespace trigram::net {

/// Functions of the tables, which throw nothing: failures are warned of and returned as NCCL's codes.
namespace plugin {

/// Once a communicator. The first one reads the environment and chooses interfaces.
abi::Result init(abi::DebugLogger logger) noexcept;
/// Where no finalize follows.
abi::Result init_for_good(abi::DebugLogger logger) noexcept;
/// Ends what one init began; after the last one the table of paths is logged.
abi::Result finalize() noexcept;
abi::Result devices(int* count) noexcept;
abi::Result device(int index, Device* device) noexcept;
abi::Result listen(int device, void* handle, void** listener) noexcept;
abi::Result connect(int device, void* handle, void** comm) noexcept;
abi::Result accept(void* listener, void** comm) noexcept;
abi::Result register_memory(void* comm, void* data, std::size_t size, int type, void** memory) noexcept;
abi::Result deregister_memory(void* comm, void* memory) noexcept;
abi::Result isend(void* comm, void* data, std::size_t size, int tag, void** request) noexcept;
abi::Result irecv(void* comm, int count, void** data, const std::size_t* sizes, const int* tags,
                  void** request) noexcept;
abi::Result iflush(void* comm, int count, void** data, int* sizes, void** memory, void** request) noexcept;
abi::Result test(void* request, int* done, int* sizes) noexcept;
abi::Result close_send(void* comm) noexcept;
abi::Result close_receive(void* comm) noexcept;
abi::Result close_listen(void* listener) noexcept;

}  // namespace plugin
}  // namespace trigram::net
