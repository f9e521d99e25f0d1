// The tables that NCCL looks up, of every version from 8 to 12, on the one plugin.

#include <algorithm>
#include <array>
#include <climits>

#include "net/comm.hpp"
#include "net/plugin.hpp"
#include "net/vtables.hpp"

namespace trigram::net {
namespace {

using abi::Result;

/// What all versions of the properties have.
template <typename Properties>
Result common_properties(int index, Properties* properties) {
  Device device;
  if (const Result result = plugin::device(index, &device); result != Result::success) return result;
  *properties = {};
  properties->name = device.name;
  properties->pci_path = device.pci_path;
  properties->pointer_support = abi::pointer_host;
  properties->speed = device.speed;
  properties->latency = device.latency;
  properties->max_comms = 65536;
  properties->max_receives = max_grouped;
  return Result::success;
}

template <typename Properties>
Result properties_since_9(int index, Properties* properties) {
  if (const Result result = common_properties(index, properties); result != Result::success) return result;
  properties->virtual_device.count = 1;
  properties->virtual_device.devices[0] = index;
  properties->max_p2p_bytes = abi::max_message;
  properties->max_collective_bytes = abi::max_message;
  return Result::success;
}

template <typename Properties>
Result properties_since_11(int index, Properties* properties) {
  if (const Result result = properties_since_9(index, properties); result != Result::success) return result;
  properties->max_multi_request = 1;
  return Result::success;
}

Result properties_12(int index, abi::PropertiesV12* properties) {
  if (const Result result = properties_since_11(index, properties); result != Result::success) return result;
  properties->rail = properties->plane = -1;  // neither is known
  return Result::success;
}

/// NCCL asks for a device's own handle by a pointer that is not null; there is none.
Result connect(int device, void* handle, void** comm, void** device_comm) {
  if (device_comm) *device_comm = nullptr;
  return plugin::connect(device, handle, comm);
}

Result accept(void* listener, void** comm, void** device_comm) {
  if (device_comm) *device_comm = nullptr;
  return plugin::accept(listener, comm);
}

Result isend_8(void* comm, void* data, int size, int tag, void*, void** request) {
  return size < 0 ? Result::invalid_argument : plugin::isend(comm, data, static_cast<std::size_t>(size), tag, request);
}

Result irecv_8(void* comm, int count, void** data, int* sizes, int* tags, void**, void** request) {
  std::array<std::size_t, max_grouped> wide{};
  if (count < 1 || count > max_grouped || std::any_of(sizes, sizes + count, [](int size) { return size < 0; })) {
    return Result::invalid_argument;
  }
  std::copy_n(sizes, count, wide.begin());
  return plugin::irecv(comm, count, data, wide.data(), tags, request);
}

Result isend_9(void* comm, void* data, std::size_t size, int tag, void*, void** request) {
  return plugin::isend(comm, data, size, tag, request);
}

Result irecv_9(void* comm, int count, void** data, std::size_t* sizes, int* tags, void**, void** request) {
  return plugin::irecv(comm, count, data, sizes, tags, request);
}

Result isend_10(void* comm, void* data, std::size_t size, int tag, void*, void*, void** request) {
  return plugin::isend(comm, data, size, tag, request);
}

/// What `request` holds before the call is a hint that NCCL may not look at the sizes; they are there all the same.
Result irecv_10(void* comm, int count, void** data, std::size_t* sizes, int* tags, void**, void**, void** request) {
  return plugin::irecv(comm, count, data, sizes, tags, request);
}

template <typename Isend, typename Irecv>
constexpr abi::Transfers<Isend, Irecv> transfers(Isend isend, Irecv irecv) {
  return {plugin::register_memory,
          nullptr,
          plugin::deregister_memory,
          isend,
          irecv,
          plugin::iflush,
          plugin::test,
          plugin::close_send,
          plugin::close_receive,
          plugin::close_listen,
          nullptr,
          nullptr};
}

Result init_10(abi::DebugLogger logger, abi::ProfilerCallback) { return plugin::init_for_good(logger); }

Result connect_10(int device, abi::CommConfig*, void* handle, void** comm, void** device_comm) {
  return connect(device, handle, comm, device_comm);
}

/// There is nothing to know of one communicator but that it is.
Result init_11(void** context, std::uint64_t, abi::CommConfig*, abi::DebugLogger logger, abi::ProfilerCallback) {
  static int initialized;
  *context = nullptr;
  const Result result = plugin::init(logger);
  if (result == Result::success) *context = &initialized;
  return result;
}

Result listen_11(void*, int device, void* handle, void** listener) { return plugin::listen(device, handle, listener); }

Result connect_11(void*, int device, void* handle, void** comm, void** device_comm) {
  return connect(device, handle, comm, device_comm);
}

/// Also called after an init that failed.
Result finalize_11(void* context) { return context ? plugin::finalize() : Result::success; }

}  // namespace
}  // namespace trigram::net

#define EXPORTED extern "C" __attribute__((visibility("default"))) const

namespace abi = trigram::net::abi;
namespace net = trigram::net;

EXPORTED abi::NetV8 ncclNetPlugin_v8 = {
    net::plugin_name,     net::plugin::init_for_good,
    net::plugin::devices, net::common_properties<abi::PropertiesV8>,
    net::plugin::listen,  net::connect,
    net::accept,          net::transfers<abi::IsendV8, abi::IrecvV8>(net::isend_8, net::irecv_8)};

EXPORTED abi::NetV9 ncclNetPlugin_v9 = {net::plugin_name,
                                        net::plugin::init_for_good,
                                        net::plugin::devices,
                                        net::properties_since_9<abi::PropertiesV9>,
                                        net::plugin::listen,
                                        net::connect,
                                        net::accept,
                                        net::transfers<abi::IsendV9, abi::IrecvV9>(net::isend_9, net::irecv_9),
                                        nullptr};

EXPORTED abi::NetV10 ncclNetPlugin_v10 = {net::plugin_name,
                                          net::init_10,
                                          net::plugin::devices,
                                          net::properties_since_9<abi::PropertiesV10>,
                                          net::plugin::listen,
                                          net::connect_10,
                                          net::accept,
                                          net::transfers<abi::IsendV10, abi::IrecvV10>(net::isend_10, net::irecv_10),
                                          nullptr};

EXPORTED abi::NetV11 ncclNetPlugin_v11 = {net::plugin_name,
                                          net::init_11,
                                          net::plugin::devices,
                                          net::properties_since_11<abi::PropertiesV11>,
                                          net::listen_11,
                                          net::connect_11,
                                          net::accept,
                                          net::transfers<abi::IsendV10, abi::IrecvV10>(net::isend_10, net::irecv_10),
                                          nullptr,
                                          net::finalize_11,
                                          nullptr};

EXPORTED abi::NetV12 ncclNetPlugin_v12 = {net::plugin_name,
                                          net::init_11,
                                          net::plugin::devices,
                                          net::properties_12,
                                          net::listen_11,
                                          net::connect_11,
                                          net::accept,
                                          net::transfers<abi::IsendV10, abi::IrecvV10>(net::isend_10, net::irecv_10),
                                          nullptr,
                                          net::finalize_11,
                                          nullptr};
