// What NCCL thinks an all-reduce takes, by which it chooses one: its tuning model of version 2.28
// (src/graph/tuning.cc), from the links of a cluster in place of the topology that NCCL finds.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "core/collectives/pipelined_ring.hpp"
#include "core/lane/all_reduce.hpp"

namespace trigram {

enum class NcclAlgorithm : std::uint8_t { tree, ring, nvls, nvls_tree };
enum class NcclProtocol : std::uint8_t { ll, ll128, simple };
inline constexpr std::array nccl_algorithms{NcclAlgorithm::tree, NcclAlgorithm::ring, NcclAlgorithm::nvls,
                                            NcclAlgorithm::nvls_tree};
inline constexpr std::array nccl_protocols{NcclProtocol::ll, NcclProtocol::ll128, NcclProtocol::simple};

struct NcclChoice {
  NcclAlgorithm algorithm = NcclAlgorithm::ring;
  NcclProtocol protocol = NcclProtocol::simple;
  friend bool operator==(const NcclChoice&, const NcclChoice&) = default;
};

/// GPUs whose constants differ.
enum class NcclGpu : std::uint8_t { volta, ampere, hopper, blackwell };

/// A group of ranks on equal nodes (of about as many ranks, where they are not) whose links are known.
///
/// What NCCL finds by looking is here told from links: the generation by the NVLink of a node (150, 300, 450, 900 GB/s
/// of its data sheet; what PCIe 5.0 can carry is PCIe, between GPUs like Ampere); what NVLink and PCIe give by NCCL's
/// own figures (20 of 25 GB/s a link, 12 of 16); a channel for each NIC, for each 100 Gb/s of one that a node shares,
/// which stands for several, or for each 20 GB/s of NVLink (30 from Hopper on) inside one node; NICs near their GPUs,
/// so that LL128 is allowed, where there is one for each; NVSwitch that adds (NVLS) from Hopper on, where more than
/// four GPUs share a node.
class NcclModel {
 public:
  /// Of an all-reduce, whose rings go around twice; or of a reduce-scatter or an all-gather, which are rings alone (but
  /// for what NCCL has for one GPU a node), of the vector of all ranks together; or of a broadcast or a reduce.
  NcclModel(const Links& links, int ranks, int nodes, Laps laps = Laps::two);

  /// NCCL's estimate in seconds; infinite for what it does not consider.
  double seconds(NcclChoice choice, std::int64_t bytes) const;
  /// The least of them.
  NcclChoice choose(std::int64_t bytes) const;

  bool only_rings() const { return laps_ < 2; }
  /// Rings or pairs of trees that share the vector, each with a NIC of its own.
  int rails() const { return rails_; }
  /// Channels that carry a vector: twice those that NCCL's search found, which its model counts, and fewer of what
  /// would give the threads of each too little.
  int channels(NcclChoice choice, std::int64_t bytes) const;
  NcclGpu gpu() const { return gpu_; }

  /// Bytes that links carry for each of the vector's: flags beside data (LL 4 of 8, LL128 120 of 128), and what trees
  /// leave idle. (What NCCL found them to reach besides, by size, is in its estimate alone: that is how long the first
  /// chunks take through all stages, which its model does not know, and `filling` does.)
  double wire(NcclChoice choice) const;
  /// The same of links between nodes, on which what a switch inside a node reaches takes nothing.
  double wire_between_nodes(NcclChoice choice) const;
  /// Bytes of the vector a second that kernels reach at most, whatever links carry; infinite where nothing is known.
  double fastest(NcclChoice choice) const;
  /// Seconds before the first message.
  double begin(NcclChoice choice) const;
  /// Seconds of a hop over NVLink or PCIe.
  double hop_in_node(NcclChoice choice) const;
  /// Seconds of a hop beyond those of a short message between nodes, which is what LL sends.
  double hop_between_nodes(NcclChoice choice) const;
  /// Seconds of a hop between nodes that NCCL adds to all of these, where that takes a short message `latency`: with
  /// Simple a NIC that writes to its GPU is asked once more whether all has arrived (the flush of GPUDirect RDMA),
  /// which NCCL's model counts as one more latency.
  double flush(NcclChoice choice, double latency) const;
  /// How often each channel goes around a ring, with the largest chunks that its buffers hold; 1 of all else.
  int loops(NcclChoice choice, std::int64_t bytes) const;
  /// Parts of a ring's chunk, each of which is sent on when it is there: of 32 KiB, and at most two, with Simple; what
  /// the threads of a channel hold at once of the others.
  double slices(NcclChoice choice, std::int64_t bytes) const;
  /// By how much NCCL found all latencies of large rings over nodes to be longer.
  double plateau(NcclChoice choice, std::int64_t bytes) const;
  /// Seconds in which not all stages work: a chunk of each channel goes through all of them, and each passes it on when
  /// it has it whole.
  double filling(NcclChoice choice, std::int64_t bytes) const;

 private:
  bool considers(NcclChoice choice) const;
  double latency(NcclChoice choice) const;
  /// Hops of a ring inside nodes or between them: n - 1 each time around.
  int times_around() const { return laps_ == 0 ? 1 : laps_; }
  double bandwidth(NcclChoice choice, std::int64_t bytes) const;
  void find_channels(const Links& links);
  /// Of bus to algorithm bandwidth.
  double ratio(NcclAlgorithm algorithm) const;
  double ll_most() const;
  /// Bytes of a chunk of one channel of a tree or a chain, and of one head with NVLS.
  double chunk_of(NcclChoice choice, std::int64_t bytes) const;
  /// Bytes that one rank sends at once in one channel of a ring.
  double ring_chunk(NcclChoice choice, std::int64_t bytes) const;

  int laps_;  ///< 0 of a chain
  int ranks_, nodes_, rails_ = 1;
  int channels_ = 1;         ///< that the search finds
  int stated_channels_ = 0;  ///< that carry a vector, where links say so
  bool nvlink_ = true, near_nics_ = true;
  NcclGpu gpu_ = NcclGpu::volta;
  double in_node_ = 0;       ///< bytes/s of a GPU inside its node, as NCCL counts them
  double nics_ = 0;          ///< bytes/s of all NICs of a node
  double ring_channel_ = 0;  ///< bytes/s of a channel
  double tree_channel_ = 0;  ///< the same of trees, whose two nodes see twice the NIC
};

}  // namespace trigram
