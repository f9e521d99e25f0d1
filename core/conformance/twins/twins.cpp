#include "core/conformance/twins/twins.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <exception>

#include "core/values/error.hpp"

namespace trigram {
namespace {

/// What matrix products in another order and other exponentials may differ by, of the largest size in a tensor.
constexpr double share_of_last_bits = 1e-5;

std::vector<float> floats_of(const Result& result) {
  std::vector<float> values(result.bytes.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), result.bytes.data(), values.size() * sizeof(float));
  return values;
}

std::string hexadecimal(std::uint32_t bits, int digits) {
  char text[16];
  std::string number(text, std::to_chars(text, text + sizeof text, bits, 16).ptr);
  return "0x" +
         std::string(std::max<std::size_t>(static_cast<std::size_t>(digits), number.size()) - number.size(), '0') +
         number;
}

std::string text_of(float value) {
  return number_text(value) + " (" + hexadecimal(std::bit_cast<std::uint32_t>(value), 8) + ")";
}

bool same(float a, float b) {
  return (std::isnan(a) && std::isnan(b)) || std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

/// How far two values are apart, as a share of `largest`.
double distance(float a, float b, double largest) {
  if (same(a, b)) return 0;
  const double apart = std::abs(static_cast<double>(a) - static_cast<double>(b));
  return std::isfinite(apart) ? apart / std::max(largest, 1e-30) : INFINITY;
}

double largest_size(const std::vector<float>& values) {
  double largest = 0;
  for (const float value : values) {
    if (std::isfinite(value)) largest = std::max(largest, std::abs(static_cast<double>(value)));
  }
  return largest;
}

std::string first_byte(const Result& found, const Result& expected, const std::string& reference) {
  for (std::size_t i = 0; i < expected.bytes.size(); ++i) {
    if (found.bytes[i] == expected.bytes[i]) continue;
    return "byte " + number_text(i) + " of " + found.name + " is " +
           hexadecimal(std::to_integer<std::uint32_t>(found.bytes[i]), 2) + ", that of " + reference + " " +
           hexadecimal(std::to_integer<std::uint32_t>(expected.bytes[i]), 2);
  }
  return {};
}

}  // namespace

Result result_of(Device& device, std::string name, const Buffer& buffer) {
  Result result{std::move(name), std::vector<std::byte>(static_cast<std::size_t>(buffer.bytes())),
                buffer.dtype() == DType::f32};
  device.download(buffer, result.bytes);
  return result;
}

/// The first result that is not the reference's, in words; empty where all are.
std::string Twins::first_difference(const Results& found, const Results& expected, bool in_last_bits) {
  for (std::size_t r = 0; r < expected.size(); ++r) {
    if (!found[r].is_f32) {
      const std::string text = first_byte(found[r], expected[r], reference_name());
      if (!text.empty()) return text;
      continue;
    }
    const std::vector<float> here = floats_of(found[r]), there = floats_of(expected[r]);
    const double largest = largest_size(there);
    for (std::size_t i = 0; i < there.size(); ++i) {
      const double apart = distance(here[i], there[i], largest);
      difference_ = std::max(difference_, apart);
      if (apart <= (in_last_bits ? share_of_last_bits : 0)) continue;
      return "element " + number_text(i) + " of " + found[r].name + " is " + text_of(here[i]) + ", that of " +
             reference_name() + " " + text_of(there[i]);
    }
  }
  return {};
}

std::string Twins::hint_of(const TriedDevice::Ran& ran) const {
  if (ran.fused_multiply_adds.empty()) return {};
  return "; kernels that ran add products without rounding them first (fused multiply-adds) at " +
         ran.fused_multiply_adds;
}

/// One run in one order.
struct Twins::Run {
  std::string order;
  Results results;
  TriedDevice::Ran ran;
  std::vector<Violation> violations;  ///< why there are no results; one at most
};

Twins::Run Twins::run(const std::string& where, const TwinWork& work, int order) {
  Run run;
  run.order = tested_.take_order(order);
  tested_.take_ran();
  std::string failure;
  try {
    run.results = work(tested_);
  } catch (const std::exception& error) {
    failure = error.what();
  }
  run.ran = tested_.take_ran();
  // An exception is what became of a fault, where there is one.
  if (const std::string fault = tested_.take_fault(); !fault.empty()) {
    const std::size_t end = std::min(fault.find(": "), fault.size());
    run.violations = {{fault.substr(0, end), where + ": " + fault.substr(std::min(end + 2, fault.size()))}};
  } else if (!failure.empty()) {
    run.violations = {{"error", where + ": " + failure}};
  }
  return run;
}

std::vector<Violation> Twins::compare(const std::string& where, const TwinWork& work, Alike alike) {
  const Results expected = work(reference_);
  std::vector<Run> runs;
  for (int order = 0; order < tested_.orders(); ++order) {
    runs.push_back(run(where, work, order));
    if (!runs.back().violations.empty()) return runs.back().violations;
  }
  const Run& first = runs.front();
  const bool in_last_bits = alike == Alike::last_bits && first.ran.may_round_otherwise;
  for (const Run& other : runs) {
    const std::string apart = order_difference(first, other);
    if (!apart.empty()) return {{"order", where + ": " + apart}};
  }
  const std::string apart = first_difference(first.results, expected, in_last_bits);
  if (apart.empty()) return {};
  return {{"bits", where + ": " + apart + hint_of(first.ran)}};
}

/// In words, where results are not the same in both orders.
std::string Twins::order_difference(const Run& first, const Run& other) {
  for (std::size_t r = 0; r < first.results.size(); ++r) {
    if (first.results[r].bytes == other.results[r].bytes) continue;
    return first.results[r].name + " is another with " + other.order + " than with " + first.order +
           "; what a thread reads that others of its block wrote needs __syncthreads() in between, in a warp "
           "__syncwarp()";
  }
  return {};
}

}  // namespace trigram
