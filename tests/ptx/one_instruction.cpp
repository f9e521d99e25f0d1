#include "tests/ptx/one_instruction.hpp"

#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <sstream>

#include "ptx/execution/launch.hpp"

namespace trigram::ptx {
namespace {

/// How registers of one of nvcc's names are declared, loaded and stored.
struct Family {
  std::string type;
  int bits;
};

const std::map<std::string, Family> families = {{"p", {"pred", 1}},  {"rs", {"u16", 16}}, {"r", {"u32", 32}},
                                                {"rd", {"u64", 64}}, {"f", {"f32", 32}},  {"fd", {"f64", 64}}};

/// The family of each register's number that a body names; of two families, the one that is named first.
std::map<int, std::string> registers_of(const std::string& body) {
  static const std::regex named("%(p|rs|rd|r|fd|f)([0-9])\\b");
  std::map<int, std::string> registers;
  for (std::sregex_iterator match(body.begin(), body.end(), named), end; match != end; ++match) {
    registers.try_emplace(std::stoi((*match)[2]), (*match)[1]);
  }
  return registers;
}

constexpr int second_result = 9, inputs_of_lane = 7;

std::string load(int number, const std::string& family) {
  const std::string place = "[%from+" + std::to_string(8 * (number - 1)) + "];\n";
  const std::string name = "%" + family + std::to_string(number);
  if (family == "p") return "ld.global.u32 %word, " + place + "setp.ne.u32 " + name + ", %word, 0;\n";
  return "ld.global." + families.at(family).type + " " + name + ", " + place;
}

std::string store(int number, const std::string& family) {
  const std::string place = number == second_result ? "[%to+8]" : "[%to]";
  const std::string name = "%" + family + std::to_string(number);
  if (family == "p") return "selp.u32 %word, 1, 0, " + name + ";\nst.global.u32 " + place + ", %word;\n";
  return "st.global." + families.at(family).type + " " + place + ", " + name + ";\n";
}

/// The whole module of a body.
std::string module_of(const std::string& body, std::size_t inputs) {
  std::string loads, stores;
  for (const auto& [number, family] : registers_of(body)) {
    if (number >= 1 && static_cast<std::size_t>(number) <= inputs) loads += load(number, family);
    if (number == 0 || number == second_result) stores += store(number, family);
  }
  return ".version 9.0\n.target sm_90\n.address_size 64\n"
         ".visible .entry one_instruction(.param .u64 inputs, .param .u64 results, .param .u64 data)\n{\n"
         ".reg .pred %p<10>;\n.reg .b16 %rs<10>;\n.reg .b32 %r<10>;\n.reg .b64 %rd<10>;\n.reg .f32 %f<10>;\n"
         ".reg .f64 %fd<10>;\n.reg .b32 %word;\n.reg .b64 %from;\n.reg .b64 %to;\n.reg .b64 %step;\n"
         "ld.param.u64 %from, [inputs];\nld.param.u64 %to, [results];\nld.param.u64 %rd8, [data];\n"
         "mov.u32 %word, %tid.x;\nmul.wide.u32 %step, %word, 56;\nadd.s64 %from, %from, %step;\n"
         "mul.wide.u32 %step, %word, 16;\nadd.s64 %to, %to, %step;\n"
         "setp.eq.u32 %p0, %word, %word;\nmov.u16 %rs0, 0x5555;\nmov.u32 %r0, 0x55555555;\n"
         "mov.u64 %rd0, 0x5555555555555555;\nmov.f32 %f0, 0f55555555;\nmov.f64 %fd0, 0d5555555555555555;\n" +
         loads + body + "\n" + stores + "ret;\n}\n";
}

std::string said(const Row& row) {
  std::ostringstream words;
  words << row.body << " of";
  for (const Bits& input : row.inputs) words << " " << hexadecimal(input.value);
  return words.str();
}

}  // namespace

std::vector<Outcome> run(const std::string& body, std::span<const Inputs> lanes, std::span<std::byte> data,
                         Schedule schedule) {
  std::vector<std::uint64_t> inputs(lanes.size() * inputs_of_lane);
  std::size_t most = 0;
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    most = std::max(most, lanes[lane].size());
    for (std::size_t i = 0; i < lanes[lane].size(); ++i) inputs[lane * inputs_of_lane + i] = lanes[lane][i].value;
  }
  std::vector<Outcome> results(lanes.size());
  const std::array<const void*, 3> parameters = {inputs.data(), results.data(), data.data()};
  const Module module = Module::read(module_of(body, most), "a test");
  HostMemory memory;
  launch(module.kernel("one_instruction"),
         {.grid = {},
          .block = {.x = static_cast<std::uint32_t>(lanes.size())},
          .dynamic_shared_bytes = 0,
          .parameters = std::as_bytes(std::span(parameters))},
         memory, schedule);
  return results;
}

Outcome run(const std::string& body, const Inputs& inputs, Schedule schedule) {
  return run(body, std::span(&inputs, 1), {}, schedule).front();
}

bool agrees(std::uint64_t bits, const Bits& expected, const std::string& body, int number) {
  const int width = families.at(registers_of(body).at(number)).bits;
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - width);
  if (expected.infinity != 0) return (bits & mask >> 1U) > expected.infinity;
  return bits == (expected.value & mask);
}

void expect_rows(std::initializer_list<Row> rows) {
  for (const Row& row : rows) {
    try {
      const Outcome seen = run(row.body, row.inputs);
      EXPECT_TRUE(agrees(seen.first, row.results.at(0), row.body, 0))
          << said(row) << " gives " << hexadecimal(seen.first) << ", not " << hexadecimal(row.results[0].value);
      if (row.results.size() < 2) continue;
      EXPECT_TRUE(agrees(seen.second, row.results[1], row.body, second_result))
          << said(row) << " gives, as second, " << hexadecimal(seen.second) << ", not "
          << hexadecimal(row.results[1].value);
    } catch (const std::exception& refusal) {
      ADD_FAILURE() << said(row) << ": " << refusal.what();
    }
  }
}

}  // namespace trigram::ptx
