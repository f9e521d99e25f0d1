#include "experiments/workloads/python_peer/peer_call.hpp"

#include <cstddef>
#include <span>
#include <vector>

#include "core/foreign/foreign_messages.hpp"
#include "core/values/error.hpp"

namespace trigram {

namespace {

std::vector<Shape> shapes_of(const nlohmann::json& asked) {
  const DType dtype = dtype_of(asked.at("dtype"));
  const auto counts = asked.at("counts").get<std::vector<std::int64_t>>();
  const auto modelled = asked.at("modelled_counts").get<std::vector<std::int64_t>>();
  ensure(modelled.size() == counts.size(), "Python sent ", counts.size(), " tensors and sizes of ", modelled.size());
  std::vector<Shape> shapes;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    ensure(counts[i] >= 0 && modelled[i] >= 0, "Python sent a tensor of ", counts[i], " elements that costs ",
           modelled[i]);
    shapes.push_back({counts[i], dtype, modelled[i], false});
  }
  return shapes;
}

}  // namespace

void perform_for_peer(Device& device, const nlohmann::json& asked, std::string& bytes,
                      const std::function<void(const GroupCall&)>& perform) {
  GroupCall wanted = group_call_of(asked);
  std::vector<OwnedBuffer> tensors;
  std::size_t begin = 0;
  for (const Shape& shape : shapes_of(asked)) {
    tensors.push_back(device.allocate_unfilled(shape));
    const auto length = static_cast<std::size_t>(tensors.back().view().bytes());
    ensure(length <= bytes.size() - begin, "Python sent ", bytes.size(), " bytes, fewer than its tensors have");
    device.upload(std::as_bytes(std::span(bytes)).subspan(begin, length), tensors.back());
    begin += length;
    wanted.buffers.push_back(tensors.back());
  }
  perform(wanted);
  begin = 0;
  for (const OwnedBuffer& tensor : tensors) {
    const auto length = static_cast<std::size_t>(tensor.view().bytes());
    device.download(tensor, std::as_writable_bytes(std::span(bytes)).subspan(begin, length));
    begin += length;
  }
}

void perform_for_peer(Communicator& comm, const nlohmann::json& asked, std::string& bytes) {
  perform_for_peer(comm.device(), asked, bytes, [&](const GroupCall& call) {
    check(comm, call);
    perform(comm, call);
  });
}

}  // namespace trigram
