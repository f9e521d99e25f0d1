#include "tests/support/nccl_on_host/comm.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace {

/// Two ranks of one host on one GPU are refused, as by NCCL; NCCL_HOSTID says what a host is.
std::string seat_here() {
  const char* host = std::getenv("NCCL_HOSTID");
  int device = 0;
  cudaGetDevice(&device);
  return std::string("CUDA device ") + std::to_string(device) + " of " + (host == nullptr ? "this host" : host);
}

}  // namespace

ncclComm::ncclComm(std::string name, int rank, int ranks) : name_(std::move(name)), rank_(rank), ranks_(ranks) {
  connecting_ = std::thread([this, seat = seat_here()] {
    try {
      mesh_ = std::make_unique<nccl_on_host::Mesh>(name_, rank_, ranks_, seat, aborted_);
      state_ = ncclSuccess;
    } catch (const nccl_on_host::DuplicateGpu& error) {
      fail(ncclInvalidUsage, error.what());
    } catch (const std::exception& error) {
      fail(ncclRemoteError, error.what());
    }
  });
}

ncclComm::ncclComm(ncclComm& parent, int color, int key) {
  const int number = parent.splits_++;
  connecting_ = std::thread([this, &parent, color, key, number, seat = seat_here()] {
    try {
      const int own[2] = {color, key};
      std::vector<std::pair<int, int>> members;
      const auto all = parent.all_gather(*parent.mesh_, own, sizeof own);
      for (int member = 0; member < parent.ranks(); ++member) {
        int theirs[2];
        std::memcpy(theirs, all[static_cast<std::size_t>(member)].data(), sizeof theirs);
        if (theirs[0] == color) members.emplace_back(theirs[1], member);
      }
      std::sort(members.begin(), members.end());
      name_ = parent.name_ + "." + std::to_string(number) + "c" + std::to_string(color);
      const auto place = std::find(members.begin(), members.end(), std::pair(key, parent.rank_));
      rank_ = static_cast<int>(place - members.begin());
      ranks_ = static_cast<int>(members.size());
      mesh_ = std::make_unique<nccl_on_host::Mesh>(name_, rank_, ranks_, seat, aborted_);
      state_ = ncclSuccess;
    } catch (const std::exception& error) {
      fail(ncclRemoteError, error.what());
    }
  });
}

ncclComm::~ncclComm() {
  aborted_ = true;
  connecting_.join();
}

void ncclComm::fail(ncclResult_t result, const std::string& why) {
  last_error_ = why;
  state_ = result;
}

void ncclComm::order(cudaStream_t stream, std::function<void(nccl_on_host::Mesh&)> work) {
  struct Call {
    ncclComm* comm;
    std::function<void(nccl_on_host::Mesh&)> work;
  };
  const auto run = [](void* data) {
    const std::unique_ptr<Call> call(static_cast<Call*>(data));
    if (call->comm->state_ != ncclSuccess) return;
    try {
      call->work(*call->comm->mesh_);
    } catch (const std::exception& error) {
      call->comm->fail(ncclRemoteError, error.what());
    }
  };
  cudaLaunchHostFunc(stream, run, new Call{this, std::move(work)});
}

std::vector<std::vector<std::byte>> ncclComm::all_gather(nccl_on_host::Mesh& mesh, const void* own,
                                                         std::size_t bytes) const {
  std::vector<std::byte> copy(bytes);
  if (bytes > 0) std::memcpy(copy.data(), own, bytes);
  std::vector<std::vector<std::byte>> all(static_cast<std::size_t>(ranks_), copy);
  std::vector<nccl_on_host::Message> messages;
  for (int peer = 0; peer < ranks_; ++peer) {
    if (peer == rank_) continue;
    messages.push_back({false, peer, copy.data(), bytes});
    messages.push_back({true, peer, all[static_cast<std::size_t>(peer)].data(), bytes});
  }
  mesh.move(messages);
  return all;
}
