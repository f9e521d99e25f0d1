// Which ranks are on one machine, and which of them share a GPU.
#pragma once

#include <string>
#include <vector>

#include "meeting/member.hpp"
#include "meeting/store/store.hpp"

namespace trigram::gpu {

/// What a rank tells the others about its place.
struct RankLocation {
  std::string host;         ///< what people call the machine
  std::string boot;         ///< different for machines of one name
  std::string device;       ///< the GPU's UUID; empty before it was chosen
  std::string device_name;  ///< "NVIDIA H200"

  /// Of this machine, without a device.
  static RankLocation here();
  Bytes packed() const;
  static RankLocation from(const Bytes& bytes);
};

/// Equal numbers for locations on one machine, without gaps, in the order of each machine's first rank.
std::vector<int> number_hosts(const std::vector<RankLocation>& locations);

/// This rank's place among those of its machine, by `node_of_rank`.
int place_on_host(const std::vector<int>& node_of_rank, int rank);

/// Which of the machine's `devices` a rank takes: the one of its place, from the start again where ranks are more.
int device_for(int place, int devices);

/// For each group of ranks that share one GPU: "ranks 0, 1 share GPU-… (NVIDIA H200) of node0". Empty where none do.
std::vector<std::string> shared_devices(const std::vector<RankLocation>& locations);

/// Of ranks that come and go, since what NCCL needs for two on one GPU has to be set before its first call. Throws
/// UsageError where the GPU of `rank` is that of a lower one; BackendError where that is said of another rank.
void require_devices_of_their_own(const std::vector<RankLocation>& locations, int rank);

/// The GPUs of all ranks, each once: "2 x NVIDIA H200", "NVIDIA H200 for 2 ranks".
std::string devices_text(const std::vector<RankLocation>& locations);

/// The version of NVIDIA's driver, as /proc/driver/nvidia/version has it: "580.65.06". Empty where there is none.
std::string driver_in(const std::string& proc_text);

/// The variables that NCCL must find before its first call in this process. With several ranks on one GPU each process
/// claims to be a host of its own, since NCCL refuses two ranks of one host on one GPU; they then talk over sockets.
Environment nccl_environment(const std::vector<RankLocation>& locations, int rank);

/// Throws UsageError, naming it, for a setting of the user's with which lanes could wait for each other for ever.
void refuse_settings_that_deadlock();

/// The variables that CUDA must find before its first call: kernels are loaded at once, since loading one later may
/// wait for a device on which a peer is waited for, and streams do not share queues.
Environment cuda_environment();

/// Sets those that the user has not set. Returns what was set.
Environment set_missing(const Environment& wanted);

}  // namespace trigram::gpu
