// Collectives of the double: everybody's bytes go everywhere, then each rank adds them in rank order (see nccl.h).
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "tests/support/nccl_on_host/comm.hpp"

using nccl_on_host::Mesh;

namespace {

using Parts = std::vector<std::vector<std::byte>>;

template <class T>
T combined(T a, T b, ncclRedOp_t op) {
  if (op == ncclMax) return std::max(a, b);
  if (op == ncclMin) return std::min(a, b);
  return static_cast<T>(a + b);
}

template <class T>
void reduce_as(const Parts& parts, ncclRedOp_t op, std::size_t count, std::byte* to) {
  for (std::size_t i = 0; i < count; ++i) {
    T sum{};
    for (std::size_t rank = 0; rank < parts.size(); ++rank) {
      T value;
      std::memcpy(&value, parts[rank].data() + i * sizeof(T), sizeof value);
      sum = rank == 0 ? value : combined(sum, value, op);
    }
    if (op == ncclAvg) sum = static_cast<T>(sum / static_cast<T>(parts.size()));
    std::memcpy(to + i * sizeof(T), &sum, sizeof sum);
  }
}

using Reduce = void (*)(const Parts&, ncclRedOp_t, std::size_t, std::byte*);

struct Type {
  std::size_t size;
  Reduce reduce;
};

Type type_of(ncclDataType_t type) {
  switch (type) {
    case ncclUint8:
      return {1, reduce_as<std::uint8_t>};
    case ncclInt32:
      return {4, reduce_as<std::int32_t>};
    case ncclInt64:
      return {8, reduce_as<std::int64_t>};
    case ncclFloat32:
      return {4, reduce_as<float>};
    default:
      return {0, nullptr};
  }
}

/// Everybody brings `brought` elements; `take` gets them on the stream.
template <class Take>
ncclResult_t collective(ncclComm_t comm, cudaStream_t stream, const void* from, std::size_t bytes, Take take) {
  if (!nccl_on_host::outside_of_groups()) return ncclInvalidUsage;
  return comm->order({{stream, [=](Mesh& mesh) { take(comm->all_gather(mesh, from, bytes)); }}});
}

/// The reduction of elements [begin, begin + count) of what everybody brings, to `to`, if it is wanted here.
ncclResult_t reduced(const void* from, void* to, std::size_t brought, std::size_t begin, std::size_t count,
                     ncclDataType_t type, ncclRedOp_t op, bool wanted, ncclComm_t comm, cudaStream_t stream) {
  const Type how = type_of(type);
  if (how.reduce == nullptr) return ncclInvalidArgument;
  return collective(comm, stream, from, brought * how.size, [=](Parts parts) {
    for (std::vector<std::byte>& part : parts) {
      const auto first = part.begin() + static_cast<std::ptrdiff_t>(begin * how.size);
      part = std::vector<std::byte>(first, first + static_cast<std::ptrdiff_t>(count * how.size));
    }
    if (wanted) how.reduce(parts, op, count, static_cast<std::byte*>(to));
  });
}

}  // namespace

ncclResult_t ncclAllReduce(const void* from, void* to, std::size_t count, ncclDataType_t type, ncclRedOp_t op,
                           ncclComm_t comm, cudaStream_t stream) {
  return reduced(from, to, count, 0, count, type, op, true, comm, stream);
}

ncclResult_t ncclReduceScatter(const void* from, void* to, std::size_t count, ncclDataType_t type, ncclRedOp_t op,
                               ncclComm_t comm, cudaStream_t stream) {
  const auto ranks = static_cast<std::size_t>(comm->ranks());
  const auto rank = static_cast<std::size_t>(comm->rank());
  return reduced(from, to, count * ranks, count * rank, count, type, op, true, comm, stream);
}

ncclResult_t ncclReduce(const void* from, void* to, std::size_t count, ncclDataType_t type, ncclRedOp_t op, int root,
                        ncclComm_t comm, cudaStream_t stream) {
  return reduced(from, to, count, 0, count, type, op, comm->rank() == root, comm, stream);
}

ncclResult_t ncclAllGather(const void* from, void* to, std::size_t count, ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t stream) {
  const Type how = type_of(type);
  if (how.reduce == nullptr) return ncclInvalidArgument;
  return collective(comm, stream, from, count * how.size, [=](const Parts& parts) {
    auto* next = static_cast<std::byte*>(to);
    for (const std::vector<std::byte>& part : parts) next = std::copy(part.begin(), part.end(), next);
  });
}

ncclResult_t ncclBroadcast(const void* from, void* to, std::size_t count, ncclDataType_t type, int root,
                           ncclComm_t comm, cudaStream_t stream) {
  const Type how = type_of(type);
  if (how.reduce == nullptr) return ncclInvalidArgument;
  return collective(comm, stream, from, count * how.size, [=](const Parts& parts) {
    std::memcpy(to, parts[static_cast<std::size_t>(root)].data(), count * how.size);
  });
}
