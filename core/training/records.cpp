#include "core/training/records.hpp"

#include "core/values/packing.hpp"

namespace trigram {

void put(Packer& packer, const Records& records) {
  packer.put(static_cast<std::uint64_t>(records.size()));
  for (const auto& [column, value] : records) {
    packer.put_text(column);
    packer.put(value);
  }
}

Records take_records(Unpacker& unpacker) {
  Records records;
  for (auto left = unpacker.take<std::uint64_t>(); left > 0; --left) {
    std::string column = unpacker.take_text();
    records.emplace(std::move(column), unpacker.take<double>());
  }
  return records;
}

}  // namespace trigram
