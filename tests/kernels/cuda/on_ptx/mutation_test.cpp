// Mutations of kernels by what they make of lines, and the one that KERNELS_ON_PTX_MUTATION names for all suites.
#include "tests/kernels/cuda/on_ptx/mutation.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>

#include "ptx/runtime/nvcc/kernels.hpp"

namespace trigram::on_ptx {
namespace {

const bool mutates = [] {
  const char* const named = std::getenv("KERNELS_ON_PTX_MUTATION");
  if (named == nullptr) return false;
  cuda_on_host::rewrite_ptx_by(
      [mutation = mutation_of(named)](const std::string& ptx) { return mutated(ptx, mutation); });
  return true;
}();

TEST(MutationOfPtx, ChangesWhatItSays) {
  EXPECT_EQ(mutated("\tbar.sync \t0;\n", {"no_barriers"}), "\n");
  EXPECT_EQ(mutated("\tsetp.gt.f32 \t%p1, %f1, %f2;\n", {"turned_comparisons"}), "\tsetp.ge.f32 \t%p1, %f1, %f2;\n");
  EXPECT_EQ(mutated("\tshfl.sync.bfly.b32 \t%r2|%p1, %r1, 16, 31, -1;\n", {"swapped_shuffles"}),
            "\tshfl.sync.down.b32 \t%r2|%p1, %r1, 16, 31, -1;\n");
  EXPECT_EQ(mutated("\tshfl.sync.bfly.b32 \t%r2|%p1, %r1, 16, 31, -1;\n", {"shifted_lanes"}),
            "\tshfl.sync.bfly.b32 \t%r2|%p1, %r1, 17, 31, -1;\n");
  EXPECT_EQ(
      mutated("\tshfl.sync.idx.b32 \t%r2|%p1, %r1, %r3, 31, -1;\n", {"shifted_lanes"}),
      "{ .reg .b32 %shifted; add.s32 %shifted, %r3, 1; \tshfl.sync.idx.b32 \t%r2|%p1, %r1, %shifted, 31, -1; }\n");
  EXPECT_EQ(mutated("\tmul.rn.f32 \t%f3, %f1, %f2;\n\tadd.rn.f32 \t%f5, %f4, %f3;\n", {"contracted"}),
            "\tmul.rn.f32 \t%f3, %f1, %f2;\n\tfma.rn.f32 %f5, %f1, %f2, %f4;\n");
}

constexpr const char* two_kernels =
    ".file 1 \"first.cu\"\n.file 2 \"second.hpp\"\n.file 3 \"/usr/include/shuffles.hpp\"\n"
    ".entry first(\n\t.loc 1 7 3\n\tbar.sync \t0;\n\t.loc 2 9 3, function_name L, inlined_at 1 4 2\n\t.loc 3 1 "
    "1\n\tbar.sync \t0;\n"
    ".entry second(\n\t.loc 2 5 1\n\t.loc 1 0 1\n\t@%p1 bar.sync \t0;\n";

TEST(MutationOfPtx, ChangesOnePlaceOfOneKernel) {
  const std::string two = ".entry first(\n\tbar.sync \t0;\n\tbar.sync \t0;\n.entry second(\n\tbar.sync \t0;\n";
  EXPECT_EQ(mutated(two, mutation_of("no_barriers first( 1")),
            ".entry first(\n\tbar.sync \t0;\n\n.entry second(\n\tbar.sync \t0;\n");
  EXPECT_EQ(mutated(two, mutation_of("no_barriers second")),
            ".entry first(\n\tbar.sync \t0;\n\tbar.sync \t0;\n.entry second(\n\n");
  EXPECT_THROW(mutation_of("more_barriers"), std::invalid_argument);
}

TEST(MutationOfPtx, NamesEachPlaceWithItsLineOfTheSource) {
  const std::vector<Place> places = places_in(two_kernels);
  ASSERT_EQ(places.size(), 3U);
  EXPECT_EQ(places[1].mutation.name, "no_barriers");
  EXPECT_EQ(places[1].mutation.kernel, "first(");
  EXPECT_EQ(places[1].mutation.place, 1);
  EXPECT_EQ(places[1].instruction, "bar.sync");
  EXPECT_EQ(places[1].file, "second.hpp");
  EXPECT_EQ(places[1].line, 9);
  EXPECT_EQ(places[2].mutation.kernel, "second(");
  EXPECT_EQ(places[2].mutation.place, 0);
  EXPECT_EQ(places[2].instruction, "bar.sync");
  EXPECT_EQ(places[2].line, 5) << "no line of its own";
}

}  // namespace
}  // namespace trigram::on_ptx
