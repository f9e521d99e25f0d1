// Quotients of whole numbers, towards zero: x ← x / divisor.
#include "kernels/elementwise.hpp"

namespace trigram {
namespace {

struct WholeQuotient {
  static constexpr double flops = 1;
  std::int64_t divisor;

  TRIGRAM_RULE void operator()(std::int64_t& x) const { x = x / divisor; }
};

const Elementwise<WholeQuotient>::Registration registration("divide_whole", "whole numbers divided by another");

}  // namespace
}  // namespace trigram
