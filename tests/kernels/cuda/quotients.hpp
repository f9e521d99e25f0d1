// Quotients as kernels have them, on the host or where kernels run: an executable links one of both.
#pragma once

#include <vector>

namespace trigram {

/// x[i]/divisors[i] for each i, all of moderate size, by cuda::Quotient.
std::vector<float> moderate_quotients(const std::vector<float>& x, const std::vector<float>& divisors);

}  // namespace trigram
