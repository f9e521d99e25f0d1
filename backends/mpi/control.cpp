#include "backends/mpi/control.hpp"

#include <algorithm>
#include <string>

#include "backends/mpi/duplicate.hpp"
#include "core/error.hpp"
#include "kernels/cpu/kernels.hpp"

namespace trigram::mpi {
namespace {

/// Only sent from: MPI and Buffer know no const.
Buffer bytes_of(const std::vector<std::byte>& bytes) {
  return {const_cast<std::byte*>(bytes.data()), Shape::of(static_cast<std::int64_t>(bytes.size()), DType::u8)};
}

std::vector<Buffer> buffers_of(const RankRuntime::Parts& parts) {
  std::vector<Buffer> buffers;
  for (const std::vector<std::byte>& part : parts) buffers.push_back(bytes_of(part));
  return buffers;
}

RankRuntime::Parts sized(const std::vector<std::int64_t>& sizes) {
  RankRuntime::Parts parts;
  for (const std::int64_t size : sizes) parts.emplace_back(static_cast<std::size_t>(size));
  return parts;
}

Buffer of_integers(std::vector<std::int64_t>& values) {
  return {values.data(), Shape::of(static_cast<std::int64_t>(values.size()), DType::i64)};
}

}  // namespace

Control::Control(double timeout, Failure& failure)
    : timeline_([] { return 0.0; }, false),
      device_(cpu_kernels(), timeline_),
      watched_(duplicate_of_world(timeout), "all ranks",
               std::make_shared<LaneContext>("control", timeout, failure, device_)),
      meeting_(duplicate_of_world(timeout), "all ranks",
               std::make_shared<LaneContext>("control", 0, failure, device_)) {}

std::int64_t Control::agree(std::int64_t value, ReduceOp op) {
  std::vector<std::int64_t> values{value};
  watched_.all_reduce(of_integers(values), op);
  return values.front();
}

std::vector<std::int64_t> Control::everybodys(std::int64_t value) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(watched_.size()));
  values[static_cast<std::size_t>(rank())] = value;
  static_cast<Communicator&>(watched_).all_gather(of_integers(values));
  return values;
}

Control::Parts Control::gather(std::int64_t key, const std::vector<std::byte>& part) {
  const std::vector<std::int64_t> keys = everybodys(key);
  ensure(std::ranges::count(keys, key) == watched_.size(), "rank " + std::to_string(rank()) + " collects " +
                                                               std::to_string(key) +
                                                               " while another rank collects something else");
  const std::vector<std::int64_t> sizes = everybodys(static_cast<std::int64_t>(part.size()));
  Parts parts = rank() == 0 ? sized(sizes) : Parts();
  watched_.gather(bytes_of(part), buffers_of(parts), 0);
  return parts;
}

Control::Parts Control::all_gather(const std::vector<std::byte>& part) {
  Parts parts = sized(everybodys(static_cast<std::int64_t>(part.size())));
  parts[static_cast<std::size_t>(rank())] = part;
  static_cast<Communicator&>(watched_).all_gather(buffers_of(parts));
  return parts;
}

}  // namespace trigram::mpi
