// The IDX format of MNIST and its successors: a magic number, big-endian sizes, bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trigram {

/// An array of unsigned bytes.
struct IdxArray {
  std::vector<std::int64_t> sizes;
  std::vector<std::uint8_t> values;
};

/// Reads an IDX file of unsigned bytes (type 0x08) with `dimensions` dimensions, gzip or plain. Throws UsageError with
/// the file and the byte where it differs from that: magic number, sizes, or length.
IdxArray read_idx(const std::string& path, int dimensions);

}  // namespace trigram
