#include "core/values/cost_text.hpp"

#include <ostream>

namespace trigram {
namespace {

std::string counted(std::int64_t number, const char* thing) {
  return std::to_string(number) + " " + thing + (number == 1 ? "" : "s");
}

}  // namespace

std::string text_of(const Cost& cost) { return counted(cost.rounds, "round") + ", " + counted(cost.bytes, "byte"); }

std::ostream& operator<<(std::ostream& out, const Cost& cost) { return out << text_of(cost); }

}  // namespace trigram
