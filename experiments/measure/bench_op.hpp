// The operations of trigram bench, counted as nccl-tests counts them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/lane/communicator.hpp"

namespace trigram {

/// Time of a message between two ranks: alpha + bytes · beta.
struct MessageTime {
  double alpha = 0;  ///< seconds
  double beta = 0;   ///< seconds a byte
};

/// A group and how it all-reduces, as closed forms need them.
struct BenchGroup {
  int ranks = 1;
  std::string all_reduce = "ring";
};

/// One operation. `bytes` is nccl-tests' size: the largest buffer of a rank.
struct BenchOp {
  std::string name;
  bool cut;              ///< the buffer is cut in one part a rank: count is that of a part
  double (*bus)(int n);  ///< busbw / algbw
  void (*run)(Communicator& comm, Buffer x, Buffer spare);  ///< `spare` is as large as x: where what arrives may go
  std::string formula;                                      ///< with M bytes, p ranks
  double (*seconds)(const BenchGroup& group, const MessageTime& message, double bytes);
  bool sized = true;  ///< false where no buffer takes part
};

/// Every operation; find throws UsageError with the names.
const std::vector<BenchOp>& bench_ops();
const BenchOp& find_bench_op(const std::string& name);

/// The formula as text and in seconds, of the run's all-reduce where the operation is that.
std::string formula_of(const BenchOp& op, const BenchGroup& group);

}  // namespace trigram
