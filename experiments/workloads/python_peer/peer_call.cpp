#include "experiments/workloads/python_peer/peer_call.hpp"

#include <cstddef>
#include <span>
#include <vector>

#include "core/error.hpp"
#include "core/outside_words.hpp"

namespace trigram {

void perform_for_peer(Communicator& comm, const nlohmann::json& asked, std::string& bytes) {
  GroupCall wanted = group_call_of(asked);
  const DType dtype = dtype_of(asked.at("dtype"));
  std::vector<OwnedBuffer> tensors;
  std::size_t begin = 0;
  for (const auto count : asked.at("counts").get<std::vector<std::int64_t>>()) {
    const auto length = static_cast<std::size_t>(count * size_of(dtype));
    ensure(count >= 0 && length <= bytes.size() - begin, "Python sent ", bytes.size(),
           " bytes, fewer than its tensors have");
    tensors.push_back(comm.device().allocate_unfilled(Shape::of(count, dtype)));
    comm.device().upload(std::as_bytes(std::span(bytes)).subspan(begin, length), tensors.back());
    begin += length;
    wanted.buffers.push_back(tensors.back());
  }
  check(comm, wanted);
  perform(comm, wanted);
  begin = 0;
  for (const OwnedBuffer& tensor : tensors) {
    const auto length = static_cast<std::size_t>(tensor.view().bytes());
    comm.device().download(tensor, std::as_writable_bytes(std::span(bytes)).subspan(begin, length));
    begin += length;
  }
}

}  // namespace trigram
