// The arithmetic inside collectives.
#include "core/collectives/reduction.hpp"

#include <cstddef>
#include <vector>

namespace trigram {

namespace {

/// Integer means are rare and small (counts, sizes), so they pass by the host and need no kernel.
template <class Integer>
void divide_on_host(Device& device, Buffer x, int divisor) {
  std::vector<Integer> values(static_cast<std::size_t>(x.count()));
  device.download(x, std::as_writable_bytes(std::span(values)));
  for (Integer& value : values) value = static_cast<Integer>(value / divisor);
  device.upload(std::as_bytes(std::span(values)), x);
}

void divide(Device& device, Buffer x, int divisor) {
  switch (x.dtype()) {
    case DType::f32:
    case DType::f16:
    case DType::bf16:
      device.scale(x, 1.0F / static_cast<float>(divisor));
      return;
    case DType::u8:
      divide_on_host<std::uint8_t>(device, x, divisor);
      return;
    case DType::i32:
      divide_on_host<std::int32_t>(device, x, divisor);
      return;
    case DType::i64:
      divide_on_host<std::int64_t>(device, x, divisor);
      return;
  }
}

}  // namespace

void combine(Communicator& comm, ReduceOp op, Buffer incoming, Buffer held) {
  const Device::Uncharged uncharged(comm.device());
  comm.device().reduce(op == ReduceOp::mean ? ReduceOp::sum : op, incoming, held);
}

void finish_mean(Communicator& comm, ReduceOp op, Buffer x) {
  if (op != ReduceOp::mean || comm.size() == 1 || x.count() == 0 || x.is_phantom()) return;
  const Device::Uncharged uncharged(comm.device());
  divide(comm.device(), x, comm.size());
}

void copy_own(Communicator& comm, Buffer from, Buffer to) {
  const Device::Uncharged uncharged(comm.device());
  comm.device().copy(from, to);
}

Buffer shaped_like(Buffer memory, Buffer x) { return memory.slice(0, x.count(), x.modelled_count()); }

}  // namespace trigram
