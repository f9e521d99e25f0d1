// Quotients as kernels have them, as plain C++.
#include "kernels/cuda/quotient.hpp"
#include "tests/kernels/cuda/quotients.hpp"

namespace trigram {

std::vector<float> moderate_quotients(const std::vector<float>& x, const std::vector<float>& divisors) {
  std::vector<float> quotients;
  for (std::size_t i = 0; i < x.size(); ++i)
    quotients.push_back(cuda::Quotient{divisors[i], 1.0F / divisors[i], true}.of_moderate(x[i]));
  return quotients;
}

}  // namespace trigram
