// The tables of functions that NCCL looks up by name, ncclNetPlugin_v8 to ncclNetPlugin_v12.
#pragma once

#include "net/abi.hpp"

namespace trigram::net::abi {

/// From registering memory on all versions are alike but for the type of sizes and for handles of profilers.
template <typename Isend, typename Irecv>
struct Transfers {
  Result (*register_memory)(void* comm, void* data, std::size_t size, int type, void** memory);
  Result (*register_dma_buffer)(void* comm, void* data, std::size_t size, int type, std::uint64_t offset,
                                int descriptor, void** memory);
  Result (*deregister_memory)(void* comm, void* memory);
  Isend isend;
  Irecv irecv;
  Result (*iflush)(void* comm, int count, void** data, int* sizes, void** memory, void** request);
  Result (*test)(void* request, int* done, int* sizes);
  Result (*close_send)(void* comm);
  Result (*close_receive)(void* comm);
  Result (*close_listen)(void* comm);
  Result (*device_memory)(void* comm, void* memory, void** device_memory);
  Result (*receive_consumed)(void* comm, int count, void* request);
};

using IsendV8 = Result (*)(void* comm, void* data, int size, int tag, void* memory, void** request);
using IrecvV8 = Result (*)(void* comm, int count, void** data, int* sizes, int* tags, void** memory, void** request);
using IsendV9 = Result (*)(void* comm, void* data, std::size_t size, int tag, void* memory, void** request);
using IrecvV9 = Result (*)(void* comm, int count, void** data, std::size_t* sizes, int* tags, void** memory,
                           void** request);
using IsendV10 = Result (*)(void* comm, void* data, std::size_t size, int tag, void* memory, void* profiler,
                            void** request);
using IrecvV10 = Result (*)(void* comm, int count, void** data, std::size_t* sizes, int* tags, void** memory,
                            void** profiler, void** request);
using MakeDevice = Result (*)(int* device, VirtualDevice<4>* wanted);

struct NetV8 {
  const char* name;
  Result (*init)(DebugLogger logger);
  Result (*devices)(int* count);
  Result (*properties)(int device, PropertiesV8* properties);
  Result (*listen)(int device, void* handle, void** listener);
  Result (*connect)(int device, void* handle, void** comm, void** device_comm);
  Result (*accept)(void* listener, void** comm, void** device_comm);
  Transfers<IsendV8, IrecvV8> transfers;
};

struct NetV9 {
  const char* name;
  Result (*init)(DebugLogger logger);
  Result (*devices)(int* count);
  Result (*properties)(int device, PropertiesV9* properties);
  Result (*listen)(int device, void* handle, void** listener);
  Result (*connect)(int device, void* handle, void** comm, void** device_comm);
  Result (*accept)(void* listener, void** comm, void** device_comm);
  Transfers<IsendV9, IrecvV9> transfers;
  MakeDevice make_virtual_device;
};

struct NetV10 {
  const char* name;
  Result (*init)(DebugLogger logger, ProfilerCallback profiler);
  Result (*devices)(int* count);
  Result (*properties)(int device, PropertiesV10* properties);
  Result (*listen)(int device, void* handle, void** listener);
  Result (*connect)(int device, CommConfig* config, void* handle, void** comm, void** device_comm);
  Result (*accept)(void* listener, void** comm, void** device_comm);
  Transfers<IsendV10, IrecvV10> transfers;
  MakeDevice make_virtual_device;
};

/// With a context for each communicator.
template <typename Properties, int Devices>
struct NetSince11 {
  const char* name;
  Result (*init)(void** context, std::uint64_t comm, CommConfig* config, DebugLogger logger, ProfilerCallback profiler);
  Result (*devices)(int* count);
  Result (*properties)(int device, Properties* properties);
  Result (*listen)(void* context, int device, void* handle, void** listener);
  Result (*connect)(void* context, int device, void* handle, void** comm, void** device_comm);
  Result (*accept)(void* listener, void** comm, void** device_comm);
  Transfers<IsendV10, IrecvV10> transfers;
  Result (*make_virtual_device)(int* device, VirtualDevice<Devices>* wanted);
  Result (*finalize)(void* context);
  Result (*set_attributes)(void* context, NetAttributes* attributes);
};

using NetV11 = NetSince11<PropertiesV11, 4>;
using NetV12 = NetSince11<PropertiesV12, 8>;

}  // namespace trigram::net::abi
