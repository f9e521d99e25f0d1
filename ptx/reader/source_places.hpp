// Where in the source nvcc was when it wrote an instruction.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "ptx/instruction.hpp"

namespace trigram::ptx {

/// Reads `.file 1 "name"` into the names of files by their numbers.
void read_file_name(std::string_view text, std::map<std::uint64_t, std::string>& files);

/// Follows .loc directives: each holds for all instructions up to the next.
class SourcePlaces {
 public:
  explicit SourcePlaces(const std::map<std::uint64_t, std::string>& files) : files_(files) {}

  /// Takes a directive of .loc; others are let pass.
  void take(std::string_view directive);

  /// The place of an instruction on this line of the PTX.
  Place at(std::uint32_t line) const;

 private:
  const std::map<std::uint64_t, std::string>& files_;
  std::string file_;
  std::uint32_t line_ = 0;
};

}  // namespace trigram::ptx
