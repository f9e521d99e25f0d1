#include "core/collectives/nccl_model.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace trigram {
namespace {

constexpr double giga = 1e9, micro = 1e-6;
constexpr double unlimited = std::numeric_limits<double>::infinity();

template <class Enum>
constexpr std::size_t at(Enum value) {
  return static_cast<std::size_t>(value);
}

// Microseconds by algorithm (tree, ring) and protocol (LL, LL128, Simple); of NVLS by algorithm alone.
using ByProtocol = std::array<std::array<double, 3>, 2>;
constexpr ByProtocol base{{{6.8, 14, 8.4}, {6.6, 14, 8.4}}};
constexpr ByProtocol over_nvlink{{{0.6, 1.25, 4.0}, {0.6, 1.9, 3.4}}};
constexpr ByProtocol over_pcie{{{1.0, 1.9, 4.0}, {1.0, 2.5, 5.7}}};
constexpr ByProtocol over_network{{{5.0, 8.5, 14}, {2.7, 4.0, 14}}};
constexpr double nvls_in_node = 25, nvls_tree_over_network = 20.9;
/// What rings over nodes pay at least for a hop inside one; three times as much with Simple.
constexpr double network_overhead = 1;

// GB/s on one node, two nodes, more.
using BySpan = std::array<double, 3>;
constexpr std::array<BySpan, 3> ll_most_of{{{39, 39, 20.4}, {87.7, 22.5, 19}, {141, 45, 35}}};  // Volta, Ampere, Hopper
constexpr std::array<double, 2> ring_ll128_of_channel{20, 36.7};                                // Ampere, Hopper
constexpr std::array<BySpan, 2> tree_ll128_of_channel{{{20, 20, 20}, {36.7, 36.7, 29}}};
constexpr std::array<BySpan, 2> tree_of_channel{{{24, 23.6, 17.8}, {38.7, 41.4, 36}}};
constexpr BySpan nvls_tree_of_channel{0, 57.7, 45.5};  // none on one node
constexpr double nvls_channels = 16;

/// How much of a tree's bandwidth NCCL reaches, by protocol, for 64 B, 128 B, … 256 MiB.
constexpr std::array<std::array<double, 23>, 3> tree_correction{
    {{1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1},
     {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1},
     {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9}}};

/// What the search for channels tries between nodes, in GB/s.
constexpr std::array network_speeds{48.0, 45.0, 42.0, 40.0, 30.0, 24.0, 22.0, 20.0, 17.5,
                                    15.0, 12.0, 6.0,  3.0,  2.4,  1.2,  0.24, 0.12};

double corrected(NcclProtocol protocol, std::int64_t bytes) {
  const auto of = static_cast<std::uint64_t>(bytes) >> 6;
  const std::size_t size = of == 0 ? 0 : static_cast<std::size_t>(std::bit_width(of)) - 1;
  return size < tree_correction[0].size() ? tree_correction[at(protocol)][size] : 1;
}

double whole_log2(int n) { return std::bit_width(static_cast<unsigned>(n)) - 1; }

bool of_nvls(NcclAlgorithm algorithm) {
  return algorithm == NcclAlgorithm::nvls || algorithm == NcclAlgorithm::nvls_tree;
}

NcclGpu gpu_of(double node_bandwidth) {
  if (node_bandwidth >= 900 * giga) return NcclGpu::blackwell;
  if (node_bandwidth >= 450 * giga) return NcclGpu::hopper;
  return node_bandwidth >= 300 * giga ? NcclGpu::ampere : NcclGpu::volta;
}

}  // namespace

NcclModel::NcclModel(const Links& links, int ranks, int nodes, Laps laps)
    : laps_(static_cast<int>(laps)), ranks_(ranks), nodes_(nodes), stated_channels_(links.channels) {
  constexpr double most_of_pcie = 64 * giga, of_nvlink = 20.0 / 25, of_pcie = 12.0 / 16;
  nvlink_ = links.node_bandwidth > most_of_pcie;
  gpu_ = nvlink_ ? gpu_of(links.node_bandwidth) : NcclGpu::ampere;
  in_node_ = links.node_bandwidth * (nvlink_ ? of_nvlink : of_pcie);
  const int of_node = std::max(1, ranks / nodes);
  rails_ = std::clamp(links.nics, 1, of_node);
  near_nics_ = rails_ == of_node;
  find_channels(links);
}

// Channels of the search; those of 25 GB/s and more are cut into two, but for many fast ones.
void NcclModel::find_channels(const Links& links) {
  const bool shares_node = ranks_ > nodes_;
  if (nodes_ == 1) {
    const double wanted = (gpu_ >= NcclGpu::hopper ? 30 : 20) * giga;
    channels_ = std::max(1, static_cast<int>(in_node_ / wanted));
    ring_channel_ = tree_channel_ = std::min(wanted, in_node_);
    rails_ = 1;
    return;
  }

  constexpr double of_port = 12.5 * giga;
  nics_ = rails_ * links.nic_bandwidth;
  const bool shared = links.nics == 1 && shares_node;
  channels_ = shared ? std::max(1, static_cast<int>(std::ceil(links.nic_bandwidth / of_port))) : rails_;
  const double port = nics_ / channels_;
  const auto* found =
      std::find_if(network_speeds.begin(), network_speeds.end(), [&](double speed) { return speed * giga <= port; });
  const double nic = found == network_speeds.end() ? port : *found * giga;
  const double of_gpu = shares_node ? in_node_ / channels_ : unlimited;
  ring_channel_ = std::min(nic, of_gpu);
  tree_channel_ = nodes_ == 2 ? std::min(2 * nic, of_gpu) : ring_channel_;
  const bool many_fast = gpu_ >= NcclGpu::hopper && ring_channel_ < 50 * giga && channels_ > 4;
  if (ring_channel_ < 25 * giga || many_fast) return;
  channels_ *= 2;
  ring_channel_ /= 2;
  tree_channel_ /= 2;
}

double NcclModel::ratio(NcclAlgorithm algorithm) const {
  if (laps_ == 0) return 1;
  return algorithm == NcclAlgorithm::tree ? 0.5 : ranks_ / (1.0 * laps_ * (ranks_ - 1));
}

/// Between nodes the host decides, and most are of the first row.
double NcclModel::ll_most() const {
  if (nodes_ > 1) return ll_most_of[0][nodes_ == 2 ? 1 : 2] * giga;
  return ll_most_of[std::min(at(gpu_), ll_most_of.size() - 1)][0] * giga;
}

bool NcclModel::considers(NcclChoice choice) const {
  const int of_node = ranks_ / nodes_;
  if (only_rings() && choice.algorithm != NcclAlgorithm::ring) return false;
  if (of_nvls(choice.algorithm)) {
    const bool one_node = choice.algorithm == NcclAlgorithm::nvls;
    return choice.protocol == NcclProtocol::simple && gpu_ >= NcclGpu::hopper && of_node > 4 &&
           one_node == (nodes_ == 1);
  }
  if (choice.protocol != NcclProtocol::ll128) return true;
  return (nvlink_ || of_node == 1) && (nodes_ == 1 || near_nics_);
}

double NcclModel::fastest(NcclChoice choice) const {
  const std::size_t span = nodes_ == 1 ? 0 : nodes_ == 2 ? 1 : 2;
  const std::size_t row = gpu_ >= NcclGpu::hopper ? 1 : 0;
  const double tree = channels_ * giga * ratio(choice.algorithm);
  if (of_nvls(choice.algorithm) && nodes_ == 1) return unlimited;
  if (of_nvls(choice.algorithm)) return nvls_channels * nvls_tree_of_channel[span] * giga * ratio(choice.algorithm);
  const bool ring = choice.algorithm == NcclAlgorithm::ring;
  switch (choice.protocol) {
    case NcclProtocol::ll:
      return ll_most() * ratio(choice.algorithm);
    case NcclProtocol::ll128:
      return ring ? channels_ * ring_ll128_of_channel[row] * giga * ratio(choice.algorithm)
                  : tree * tree_ll128_of_channel[row][span];
    case NcclProtocol::simple:
      return ring ? unlimited : tree * tree_of_channel[row][span];
  }
  return unlimited;
}

double NcclModel::wire(NcclChoice choice) const {
  constexpr double of_tree = 0.92, of_ll128 = 0.92, of_hopper_nvls = 0.85, of_blackwell_nvls = 0.74;
  if (of_nvls(choice.algorithm)) return 1 / (gpu_ == NcclGpu::blackwell ? of_blackwell_nvls : of_hopper_nvls);
  const bool ring = choice.algorithm == NcclAlgorithm::ring;
  const double reached = ring ? 1 : of_tree;
  switch (choice.protocol) {
    case NcclProtocol::ll:
      return (ring ? 2 : 3.8) / reached;
    case NcclProtocol::ll128:
      return 1 / (reached * (ring ? of_ll128 : nodes_ == 1 ? 7.0 / 9 : 120.0 / 128));
    case NcclProtocol::simple:
      return 1 / reached;
  }
  return 1;
}

double NcclModel::wire_between_nodes(NcclChoice choice) const { return of_nvls(choice.algorithm) ? 1 : wire(choice); }

double NcclModel::bandwidth(NcclChoice choice, std::int64_t bytes) const {
  const double channel = choice.algorithm == NcclAlgorithm::ring ? ring_channel_ : tree_channel_;
  double bus = channels_ * channel;
  if (of_nvls(choice.algorithm)) {
    const double switched = 2 * in_node_ * (nvls_channels - 1) / nvls_channels;
    bus = nodes_ == 1 ? switched / wire(choice) : std::min(switched / wire(choice), bus);
    return std::min(bus * ratio(choice.algorithm), fastest(choice));
  }
  const double reached = choice.algorithm == NcclAlgorithm::tree ? corrected(choice.protocol, bytes) : 1;
  return std::min(bus / wire(choice) * ratio(choice.algorithm), fastest(choice)) * reached;
}

double NcclModel::begin(NcclChoice choice) const {
  // Through the switch and back; what NCCL counts has two short hops in it.
  if (of_nvls(choice.algorithm)) return (nvls_in_node - 2 * over_nvlink[0][0]) * micro;
  return base[at(choice.algorithm)][at(choice.protocol)] * micro;
}

double NcclModel::hop_in_node(NcclChoice choice) const {
  if (of_nvls(choice.algorithm)) return over_nvlink[0][0] * micro;
  const double hop = (nvlink_ ? over_nvlink : over_pcie)[at(choice.algorithm)][at(choice.protocol)];
  if (nodes_ == 1 || choice.algorithm != NcclAlgorithm::ring) return hop * micro;
  return std::max(hop, network_overhead * (choice.protocol == NcclProtocol::simple ? 3 : 1)) * micro;
}

double NcclModel::hop_between_nodes(NcclChoice choice) const {
  const bool alone = ranks_ == nodes_;
  if (of_nvls(choice.algorithm)) return (nvls_tree_over_network - over_network[0][0]) * micro;
  const auto& of = over_network[alone ? 0 : at(choice.algorithm)];
  return (of[at(choice.protocol)] - of[0]) * micro;
}

double NcclModel::flush(NcclChoice choice, double latency) const {
  const bool direct = near_nics_ && rails_ > 1;
  return direct && choice.protocol == NcclProtocol::simple ? latency : 0;
}

// Twice as many as were found, and again between nodes of GPUs like Hopper (ncclTopoPostset, src/graph/connect.cc);
// each has so many bytes for each of its threads (topoGetAlgoInfo, src/enqueue.cc), and moves at least 16 KiB over
// links.
int NcclModel::channels(NcclChoice choice, std::int64_t bytes) const {
  constexpr int most = 64, doubled_below = 16;
  constexpr double fast = 45 * giga, least_moved = 16384;
  constexpr std::array<double, 3> threads{512, 640, 512}, of_thread{8, 8, 64};
  if (of_nvls(choice.algorithm)) return static_cast<int>(nvls_channels);
  const auto protocol = at(choice.protocol);
  const bool ll = choice.protocol == NcclProtocol::ll;
  double threshold = threads[protocol] * of_thread[protocol];
  if (ll && choice.algorithm == NcclAlgorithm::ring) threshold *= ranks_;
  const double moved_of_byte = (laps_ == 2 ? 2 : 1) * (ll ? 4 : 1);
  int all = stated_channels_ > 0 ? stated_channels_ : std::min(most, 2 * channels_);
  if (stated_channels_ == 0 && gpu_ >= NcclGpu::hopper && nodes_ > 1 && ring_channel_ > fast && all < doubled_below)
    all *= 2;
  const double enough = static_cast<double>(bytes) / std::max(threshold, least_moved / moved_of_byte);
  return static_cast<int>(std::clamp(enough, 1.0, static_cast<double>(all)));
}

// Half of a channel's 4 MiB with Simple (ALLREDUCE_CHUNKSTEPS, src/include/collectives.h), an eighth of what LL and
// LL128 have.
constexpr std::array<double, 3> largest_ring_chunk{32768, 576000, 2097152};

double NcclModel::ring_chunk(NcclChoice choice, std::int64_t bytes) const {
  const double share = static_cast<double>(bytes) / ranks_ / channels(choice, bytes);
  return std::min(share, largest_ring_chunk[at(choice.protocol)]);
}

int NcclModel::loops(NcclChoice choice, std::int64_t bytes) const {
  if (choice.algorithm != NcclAlgorithm::ring || laps_ == 0) return 1;
  const double share = static_cast<double>(bytes) / ranks_ / channels(choice, bytes);
  return std::max(1, static_cast<int>(std::ceil(share / largest_ring_chunk[at(choice.protocol)])));
}

// 512 threads of 8 bytes; 640 of eight times 8, 120 of 128 of them; a 32nd of 1 MiB (src/device/prims_simple.h), and at
// most NCCL_MAX_SLICE_PER_CHUNK.
double NcclModel::slices(NcclChoice choice, std::int64_t bytes) const {
  constexpr std::array<double, 3> at_once{4096, 38400, 32768};
  constexpr double most_of_simple = 2;
  const double parts = std::max(1.0, ring_chunk(choice, bytes) / at_once[at(choice.protocol)]);
  return choice.protocol == NcclProtocol::simple ? std::min(parts, most_of_simple) : parts;
}

double NcclModel::plateau(NcclChoice choice, std::int64_t bytes) const {
  constexpr double from = 64;
  const bool large = static_cast<double>(bytes) >= from * channels_ * ranks_;
  if (only_rings() || nodes_ == 1 || choice != NcclChoice{NcclAlgorithm::ring, NcclProtocol::simple} || !large)
    return 1;
  return gpu_ == NcclGpu::volta ? 1.9 : 1.4;
}

double NcclModel::latency(NcclChoice choice) const {
  const double between = whole_log2(nodes_);
  if (choice.algorithm == NcclAlgorithm::nvls) return nvls_in_node * micro;
  if (choice.algorithm == NcclAlgorithm::nvls_tree)
    return (nvls_in_node + 2 * between * nvls_tree_over_network) * micro;
  const double network = over_network[ranks_ == nodes_ ? 0 : at(choice.algorithm)][at(choice.protocol)] * micro;
  if (choice.algorithm == NcclAlgorithm::tree)
    return begin(choice) + 2 * ((ranks_ / nodes_ - 1) * hop_in_node(choice) + between * network);
  return begin(choice) + times_around() * ((ranks_ - nodes_) * hop_in_node(choice) + (nodes_ - 1) * network);
}

double NcclModel::seconds(NcclChoice choice, std::int64_t bytes) const {
  if (!considers(choice)) return unlimited;
  return latency(choice) * plateau(choice, bytes) + static_cast<double>(bytes) / bandwidth(choice, bytes);
}

NcclChoice NcclModel::choose(std::int64_t bytes) const {
  NcclChoice best;
  double least = unlimited;
  for (const NcclAlgorithm algorithm : nccl_algorithms) {
    for (const NcclProtocol protocol : nccl_protocols) {
      const double time = seconds({algorithm, protocol}, bytes);
      if (time >= least) continue;
      least = time;
      best = {algorithm, protocol};
    }
  }
  return best;
}

// Of Simple an eighth of a channel's 4 MiB (NCCL_BUFFSIZE), of LL what 512 threads hold; that of LL128 and of NVLS
// (128 KiB, NCCL_NVLS_CHUNKSIZE) is cut where there would be few (src/enqueue.cc).
double NcclModel::chunk_of(NcclChoice choice, std::int64_t bytes) const {
  constexpr double simple = 524288, ll = 32768, ll128 = 576000, nvls = 131072;
  const double of_node = static_cast<double>(ranks_) / nodes_, all = static_cast<double>(bytes);
  double chunk = nvls;
  if (of_nvls(choice.algorithm)) {
    for (const auto& [rounds, smaller] : {std::pair{64.0, 65536.0}, {8.0, 32768.0}, {2.0, 16384.0}}) {
      if (all < rounds * nvls_channels * of_node * chunk && chunk > smaller) chunk = smaller;
    }
    return chunk;
  }
  if (choice.protocol != NcclProtocol::ll128) return choice.protocol == NcclProtocol::ll ? ll : simple;
  const double steps = 1 + whole_log2(nodes_) + 0.1 * of_node;
  chunk = ll128;
  const int channels_used = channels(choice, bytes);
  while (all / (channels_used * chunk) < steps * 64 / of_node && chunk > 131072) chunk /= 2;
  while (all / (channels_used * chunk) < steps * 16 / of_node && chunk > 32768) chunk /= 2;
  return chunk;
}

// Up the tree and down, or along the chain, of which one stage is in the time of the bytes; with NVLS into what the
// switch sees, and out of it. Rings have no such time: all ranks send from the first round to the last.
double NcclModel::filling(NcclChoice choice, std::int64_t bytes) const {
  if (choice.algorithm == NcclAlgorithm::ring && laps_ > 0) return 0;
  const double of_node = static_cast<double>(ranks_) / nodes_, all = static_cast<double>(bytes);
  const double chunk = chunk_of(choice, bytes);
  if (of_nvls(choice.algorithm))
    return 2 * std::min(all, nvls_channels * of_node * chunk) * (1 + 1 / of_node) * wire(choice) / in_node_;
  const double chunks = std::min(all, channels(choice, bytes) * chunk);
  const double in_node = of_node > 1 ? chunks / in_node_ : 0, between = nodes_ > 1 ? chunks / nics_ : 0;
  const double once = std::max(in_node, between);
  if (laps_ == 0) return (ranks_ - nodes_) * in_node + (nodes_ - 1) * between - once;
  return 2 * ((of_node - 1) * in_node + whole_log2(nodes_) * between) - once;
}

}  // namespace trigram
