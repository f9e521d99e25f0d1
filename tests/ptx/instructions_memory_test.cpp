// Loads, stores and addresses, as the PTX ISA defines them.
#include <gtest/gtest.h>

#include <array>
#include <numeric>

#include "ptx/fault.hpp"
#include "tests/ptx/one_instruction.hpp"

namespace trigram::ptx {
namespace {

/// Bytes 0x80, 0x81, ... that rows read and write by %rd8.
struct Bytes {
  Bytes() { std::iota(values.begin(), values.end(), std::uint8_t{0x80}); }
  std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(values.data()); }

  alignas(16) std::array<std::uint8_t, 64> values{};
};

void expect_over_bytes(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    Bytes bytes;
    const Outcome seen =
        run(row.body, std::span(&row.inputs, 1), std::as_writable_bytes(std::span(bytes.values))).front();
    EXPECT_TRUE(agrees(seen.first, row.results[0], row.body, 0)) << row.body << " gives " << hexadecimal(seen.first);
    if (row.results.size() < 2) continue;
    EXPECT_TRUE(agrees(seen.second, row.results[1], row.body, 9))
        << row.body << " gives, as second, " << hexadecimal(seen.second);
  }
}

TEST(PtxMemory, LoadsExtendByTheirType) {
  expect_over_bytes({
      {"ld.global.u8 %rs0, [%rd8+3];", {}, {0x83}},
      {"ld.global.u8 %r0, [%rd8+3];", {}, {0x83}},
      {"ld.global.u8 %rd0, [%rd8+3];", {}, {0x83}},
      {"ld.global.b8 %rs0, [%rd8+3];", {}, {0x83}},
      {"ld.global.s8 %rs0, [%rd8+3];", {}, {0xff83}},
      {"ld.global.s8 %r0, [%rd8+3];", {}, {0xffffff83}},
      {"ld.global.s8 %rd0, [%rd8+3];", {}, {0xffffffffffffff83}},
      {"ld.global.u16 %rs0, [%rd8+2];", {}, {0x8382}},
      {"ld.global.u16 %r0, [%rd8+2];", {}, {0x8382}},
      {"ld.global.s16 %r0, [%rd8+2];", {}, {0xffff8382}},
      {"ld.global.s16 %rd0, [%rd8+2];", {}, {0xffffffffffff8382}},
      {"ld.global.u32 %r0, [%rd8+4];", {}, {0x87868584}},
      {"ld.global.u32 %rd0, [%rd8+4];", {}, {0x87868584}},
      {"ld.global.s32 %rd0, [%rd8+4];", {}, {0xffffffff87868584}},
      {"ld.global.b32 %f0, [%rd8+4];", {}, {0x87868584}},
      {"ld.global.f32 %f0, [%rd8+4];", {}, {0x87868584}},
      {"ld.global.u64 %rd0, [%rd8+8];", {}, {0x8f8e8d8c8b8a8988}},
      {"ld.global.f64 %fd0, [%rd8+8];", {}, {0x8f8e8d8c8b8a8988}},
      {"ld.global.nc.u32 %r0, [%rd8];", {}, {0x83828180}},
      {"ld.volatile.global.u32 %r0, [%rd8];", {}, {0x83828180}},
  });
}

TEST(PtxMemory, VectorsLieInARow) {
  expect_over_bytes({
      {"ld.global.v2.u8 {%rs0, %rs9}, [%rd8+2];", {}, {0x82, 0x83}},
      {"ld.global.v4.u8 {%rs0, %rs5, %rs6, %rs9}, [%rd8+4];", {}, {0x84, 0x87}},
      {"ld.global.v4.u8 {%r5, %r0, %r9, %r6}, [%rd8+4];", {}, {0x85, 0x86}},
      {"ld.global.v2.u16 {%rs0, %rs9}, [%rd8+4];", {}, {0x8584, 0x8786}},
      {"ld.global.v4.u16 {%rs0, %rs5, %rs6, %rs9}, [%rd8+8];", {}, {0x8988, 0x8f8e}},
      {"ld.global.v2.u32 {%r0, %r9}, [%rd8+8];", {}, {0x8b8a8988, 0x8f8e8d8c}},
      {"ld.global.v4.u32 {%r0, %r5, %r6, %r9}, [%rd8+16];", {}, {0x93929190, 0x9f9e9d9c}},
      {"ld.global.v4.u32 {%r5, %r0, %r9, %r6}, [%rd8+16];", {}, {0x97969594, 0x9b9a9998}},
      {"ld.global.v2.f32 {%f0, %f9}, [%rd8+8];", {}, {0x8b8a8988, 0x8f8e8d8c}},
      {"ld.global.v4.f32 {%f5, %f0, %f9, %f6}, [%rd8+16];", {}, {0x97969594, 0x9b9a9998}},
      {"ld.global.v2.u64 {%rd0, %rd9}, [%rd8+16];", {}, {0x9796959493929190, 0x9f9e9d9c9b9a9998}},
      {"ld.global.v2.f64 {%fd0, %fd9}, [%rd8+16];", {}, {0x9796959493929190, 0x9f9e9d9c9b9a9998}},
      {"ld.global.v2.s8 {%r0, %r9}, [%rd8+2];", {}, {0xffffff82, 0xffffff83}},
      {"ld.global.nc.v4.u32 {%r0, %r5, %r6, %r9}, [%rd8+16];", {}, {0x93929190, 0x9f9e9d9c}},
      // An address in the destination is read before it is written.
      {"mov.u64 %rd0, %rd8; ld.global.v2.u64 {%rd0, %rd9}, [%rd0];", {}, {0x8786858483828180, 0x8f8e8d8c8b8a8988}},
  });
}

TEST(PtxMemory, StoresWriteTheirWidth) {
  expect_over_bytes({
      {"st.global.u8 [%rd8+3], %rs1; ld.global.u64 %rd0, [%rd8];", {0x1234}, {0x8786858434828180}},
      {"st.global.u8 [%rd8+3], %r1; ld.global.u64 %rd0, [%rd8];", {0x12345678}, {0x8786858478828180}},
      {"st.global.u16 [%rd8+2], %rs1; ld.global.u64 %rd0, [%rd8];", {0x1234}, {0x8786858412348180}},
      {"st.global.u16 [%rd8+2], %r1; ld.global.u64 %rd0, [%rd8];", {0x12345678}, {0x8786858456788180}},
      {"st.global.u32 [%rd8+4], %r1; ld.global.u64 %rd0, [%rd8];", {0x12345678}, {0x1234567883828180}},
      {"st.global.u32 [%rd8+4], %rd1; ld.global.u64 %rd0, [%rd8];", {0x123456789a}, {0x3456789a83828180}},
      {"st.global.f32 [%rd8], %f1; ld.global.u64 %rd0, [%rd8];", {1.0F}, {0x878685843f800000}},
      {"st.global.u64 [%rd8], %rd1; ld.global.u64 %rd0, [%rd8];", {0x123456789abcdef0}, {0x123456789abcdef0}},
      {"st.global.f64 [%rd8], %fd1; ld.global.u64 %rd0, [%rd8];", {-2.0}, {0xc000000000000000}},
      {"st.volatile.global.u32 [%rd8], %r1; ld.global.u32 %r0, [%rd8];", {7}, {7}},
      {"st.global.u32 [%rd8], 7; ld.global.u32 %r0, [%rd8];", {}, {7}},
      {"st.global.v2.u8 [%rd8+2], {%rs1, %rs2}; ld.global.u32 %r0, [%rd8];", {0x111, 0x222}, {0x22118180}},
      {"st.global.v4.u8 [%rd8], {%r1, %r2, %r3, %r4}; ld.global.u32 %r0, [%rd8];", {1, 2, 3, 4}, {0x04030201}},
      {"st.global.v4.u16 [%rd8], {%rs1, %rs2, %rs3, %rs4}; ld.global.u64 %rd0, [%rd8];",
       {1, 2, 3, 4},
       {0x4000300020001}},
      {"st.global.v2.u32 [%rd8], {%r1, %r2}; ld.global.u64 %rd0, [%rd8];", {1, 2}, {0x200000001}},
      {"st.global.v4.u32 [%rd8], {%r1, %r2, %r3, %r4}; ld.global.v2.u64 {%rd0, %rd9}, [%rd8];",
       {1, 2, 3, 4},
       {0x200000001, 0x400000003}},
      {"st.global.v4.f32 [%rd8], {%f1, %f2, %f1, %f2}; ld.global.u64 %rd0, [%rd8+8];",
       {1.0F, 2.0F},
       {0x400000003f800000}},
      {"st.global.v2.u64 [%rd8+16], {%rd1, %rd2}; ld.global.v2.u64 {%rd9, %rd0}, [%rd8+16];", {1, 2}, {2, 1}},
  });
}

TEST(PtxMemory, ParametersAreReadByNameAndByRegister) {
  const std::vector<Inputs> lane(1);
  Bytes bytes;
  const auto first_of = [&](const std::string& body) {
    return run(body, lane, std::as_writable_bytes(std::span(bytes.values))).front();
  };
  const std::uint64_t address = bytes.address();
  EXPECT_EQ(first_of("ld.param.u64 %rd0, [data];").first, address);
  EXPECT_EQ(first_of("ld.param.u32 %r0, [data+4];").first, address >> 32U);
  EXPECT_EQ(first_of("ld.param.s32 %rd0, [data];").first,
            static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(address & 0xffffffffU)}));
  EXPECT_EQ(first_of("ld.param.f32 %f0, [data];").first, address & 0xffffffffU);
  EXPECT_EQ(first_of("ld.param.f64 %fd0, [data];").first, address);
  EXPECT_EQ(first_of("ld.param.u16 %rs0, [data+2];").first, address >> 16U & 0xffffU);
  EXPECT_EQ(first_of("ld.param.u8 %rs0, [data+1];").first, address >> 8U & 0xffU);
  EXPECT_EQ(first_of("ld.param.s8 %r0, [data];").first,
            static_cast<std::uint32_t>(static_cast<std::int8_t>(address & 0xffU)));
  EXPECT_EQ(first_of("mov.b64 %rd5, inputs; ld.param.u64 %rd0, [%rd5+16];").first, address);
  EXPECT_EQ(first_of("mov.b64 %rd5, data; ld.param.u8 %rs0, [%rd5+1];").first, address >> 8U & 0xffU);
  EXPECT_EQ(first_of("mov.b64 %rd5, data; mov.u64 %rd6, %rd5; ld.param.u32 %r0, [%rd6+4];").first, address >> 32U);
  EXPECT_EQ(first_of("ld.param.v2.u32 {%r0, %r9}, [data];"), (Outcome{address & 0xffffffffU, address >> 32U}));
  EXPECT_EQ(first_of("ld.param.v2.f32 {%f0, %f9}, [data];"), (Outcome{address & 0xffffffffU, address >> 32U}));
  EXPECT_EQ(first_of("ld.param.v2.u8 {%rs0, %rs9}, [data];"), (Outcome{address & 0xffU, address >> 8U & 0xffU}));
  EXPECT_EQ(first_of("ld.param.v4.u8 {%rs5, %rs0, %rs9, %rs6}, [data];"),
            (Outcome{address >> 8U & 0xffU, address >> 16U & 0xffU}));
}

TEST(PtxMemory, SharedArraysAreABlocks) {
  const std::string tile = ".shared .align 16 .b8 tile[64];\n";
  expect_rows({
      {tile + "st.shared.u32 [tile+4], %r1; ld.shared.u8 %r0, [tile+5];", {0x12345678}, {0x56}},
      {tile + "mov.u32 %r5, tile; st.shared.u64 [%r5+8], %rd1; ld.shared.u32 %r0, [tile+12];",
       {0x123456789abcdef0},
       {0x12345678}},
      {tile + "mov.u32 %r5, tile+4; st.shared.f32 [%r5], %f1; ld.shared.f32 %f0, [tile+4];", {1.5F}, {1.5F}},
      {tile + "st.shared.f64 [tile], %fd1; ld.shared.f64 %fd0, [tile];", {1.5}, {1.5}},
      {tile + "st.shared.u8 [tile+1], %rs1; ld.shared.u8 %rs0, [tile+1];", {0x1234}, {0x34}},
      {tile + "st.shared.v2.u8 [tile+2], {%rs1, %rs2}; ld.shared.u16 %rs0, [tile+2];", {1, 2}, {0x201}},
      {tile + "st.shared.v4.u32 [tile+16], {%r1, %r2, %r3, %r4}; ld.shared.v2.u64 {%rd0, %rd9}, [tile+16];",
       {1, 2, 3, 4},
       {0x200000001, 0x400000003}},
      {tile + "st.shared.u64 [tile], %rd1; ld.shared.u64 %rd0, [tile];", {-5}, {-5}},
  });
  const std::vector<Inputs> lanes = [] {
    std::vector<Inputs> made;
    for (int lane = 0; lane < 64; ++lane) made.push_back({1000 + lane});
    return made;
  }();
  const std::vector<Outcome> outcomes =
      run(".shared .align 4 .b8 row[256];\nmov.u32 %r5, %tid.x; shl.b32 %r6, %r5, 2; mov.u32 %r7, row;\n"
          "add.s32 %r6, %r7, %r6; st.shared.u32 [%r6], %r1; bar.sync 0;\n"
          "xor.b32 %r5, %r5, 63; shl.b32 %r6, %r5, 2; add.s32 %r6, %r7, %r6; ld.shared.u32 %r0, [%r6];",
          lanes);
  for (std::size_t lane = 0; lane < 64; ++lane) EXPECT_EQ(outcomes[lane].first, 1063 - lane);
}

TEST(PtxMemory, LocalArraysAreAThreads) {
  const std::string depot =
      ".local .align 16 .b8 __local_depot0[64];\nmov.u64 %rd5, __local_depot0; add.u64 %rd6, %rd5, 16;\n";
  const std::string v4 = depot + "st.local.v4.u32 [%rd6], {%r1, %r2, %r3, %r4}; ";
  expect_rows({
      {v4 + "ld.local.u32 %r0, [%rd5+20];", {1, 2, 3, 4}, {2}},
      {v4 + "ld.local.u64 %rd0, [%rd6+8];", {1, 2, 3, 4}, {0x400000003}},
      {depot + "st.local.v2.u32 [%rd5], {%r1, %r1}; ld.local.f64 %fd0, [%rd5];", {0x3ff00000}, {0x3ff000003ff00000}},
      {depot + "st.local.f64 [%rd5+8], %fd1; ld.local.f64 %fd0, [%rd6+-8];", {2.5}, {2.5}},
      {depot + "st.local.u64 [%rd5], %rd1; ld.local.u32 %r0, [%rd5+4];", {0x100000002}, {1}},
  });
  std::vector<Inputs> lanes;
  for (int lane = 0; lane < 32; ++lane) lanes.push_back({lane});
  const std::vector<Outcome> outcomes =
      run(depot + "st.local.u32 [%rd5], %r1; bar.warp.sync -1; ld.local.u32 %r0, [%rd5];", lanes);
  for (std::size_t lane = 0; lane < 32; ++lane) EXPECT_EQ(outcomes[lane].first, lane);
}

TEST(PtxMemory, AddressesAreOfTheirSpace) {
  expect_over_bytes({
      {"cvta.to.global.u64 %rd5, %rd8; ld.global.u8 %r0, [%rd5];", {}, {0x80}},
      {"add.s64 %rd5, %rd8, 40; ld.global.u8 %r0, [%rd5+-8];", {}, {0xa0}},
      {"ld.u32 %r0, [%rd8+4];", {}, {0x87868584}},
  });
}

/// What a launch of this body says when it is stopped.
std::string fault_of(const std::string& body) {
  Bytes bytes;
  const std::vector<Inputs> lane(1);
  try {
    run(body, lane, std::as_writable_bytes(std::span(bytes.values)));
  } catch (const Fault& fault) {
    return fault.what();
  }
  return "";
}

TEST(PtxMemory, AddressesNotOfTheirAlignmentAreFaults) {
  for (const std::string body :
       {"ld.global.u32 %r0, [%rd8+2];", "ld.global.u16 %rs0, [%rd8+1];", "ld.global.u64 %rd0, [%rd8+4];",
        "ld.global.v2.u32 {%r0, %r9}, [%rd8+4];", "ld.global.v4.f32 {%f0, %f5, %f6, %f9}, [%rd8+8];",
        "st.global.u32 [%rd8+1], 7;", "st.global.v4.u32 [%rd8+4], {%r0, %r0, %r0, %r0};",
        ".shared .align 16 .b8 tile[64];\nld.shared.u32 %r0, [tile+2];",
        ".local .align 16 .b8 depot[64];\nmov.u64 %rd5, depot; ld.local.u64 %rd0, [%rd5+4];"}) {
    const std::string access = body.substr(body.find("ld.") == std::string::npos ? 0 : body.find("ld."), 12);
    EXPECT_NE(fault_of(body).find(access), std::string::npos) << body << ": " << fault_of(body);
  }
}

TEST(PtxMemory, ArraysHaveAnEnd) {
  const std::string tile = ".shared .align 16 .b8 tile[64];\n",
                    depot = ".local .align 16 .b8 depot[64];\nmov.u64 %rd5, depot; ";
  for (const std::string& body : {tile + "ld.shared.u32 %r0, [tile+64];", tile + "st.shared.u8 [tile+64], %rs0;",
                                  tile + "mov.u32 %r5, tile; ld.shared.u32 %r0, [%r5+-4];",
                                  tile + "ld.shared.v4.u32 {%r0, %r5, %r6, %r9}, [tile+64];",
                                  depot + "ld.local.u32 %r0, [%rd5+64];", depot + "st.local.u64 [%rd5+-8], %rd5;"}) {
    EXPECT_NE(fault_of(body), "") << body;
  }
}

}  // namespace
}  // namespace trigram::ptx
