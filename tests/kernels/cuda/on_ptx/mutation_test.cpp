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
  EXPECT_EQ(mutated("\tmul.rn.f32 \t%f3, %f1, %f2;\n\tadd.rn.f32 \t%f5, %f4, %f3;\n", {"contracted"}),
            "\tmul.rn.f32 \t%f3, %f1, %f2;\n\tfma.rn.f32 %f5, %f1, %f2, %f4;\n");
}

TEST(MutationOfPtx, ChangesOnePlaceOfOneKernel) {
  const std::string two = ".entry first(\n\tbar.sync \t0;\n\tbar.sync \t0;\n.entry second(\n\tbar.sync \t0;\n";
  EXPECT_EQ(mutated(two, mutation_of("no_barriers first 1")),
            ".entry first(\n\tbar.sync \t0;\n\n.entry second(\n\tbar.sync \t0;\n");
  EXPECT_EQ(mutated(two, mutation_of("no_barriers second")),
            ".entry first(\n\tbar.sync \t0;\n\tbar.sync \t0;\n.entry second(\n\n");
  EXPECT_THROW(mutation_of("more_barriers"), std::invalid_argument);
}

}  // namespace
}  // namespace trigram::on_ptx
