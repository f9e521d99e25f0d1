#include "ptx/where.hpp"

#include <cxxabi.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <memory>

#include "core/values/error.hpp"

namespace trigram::ptx {

namespace {

std::string in_braces(std::uint64_t x, std::uint64_t y, std::uint64_t z) {
  return "(" + number_text(x) + "," + number_text(y) + "," + number_text(z) + ")";
}

std::string place_text(const Place& place) {
  const std::string ptx = "line " + number_text(place.line) + " of the PTX";
  if (place.source_file.empty()) return ptx;
  return place.source_file + ":" + number_text(place.source_line) + " (" + ptx + ")";
}

std::string thread_text(Dimensions block, std::uint64_t thread) {
  return in_braces(thread % block.x, thread / block.x % block.y, thread / block.x / block.y);
}

}  // namespace

std::string in_words(const Where& where) {
  return "'" + where.instruction.text + "' of kernel " + readable(where.kernel.name) + ", " +
         place_text(where.instruction.place) + ", in block " + in_braces(where.block.x, where.block.y, where.block.z) +
         ", thread " + thread_text(where.threads, where.thread);
}

std::string readable(const std::string& name) {
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, nullptr),
                                                         &std::free);
  return name.starts_with("_Z") && text != nullptr ? text.get() : name;
}

std::string hexadecimal(std::uint64_t number) {
  char text[16];
  return "0x" + std::string(text, std::to_chars(text, text + sizeof text, number, 16).ptr);
}

const char* name_of(Space space) {
  constexpr std::array<const char*, 5> names = {"generic", "global", "shared", "local", "parameter"};
  return names[static_cast<std::size_t>(space)];
}

}  // namespace trigram::ptx
