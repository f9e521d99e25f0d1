// Where the tensors of a small model go among those of a large network.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/step/bucket.hpp"

namespace trigram {

/// For each of the model's tensors, the index of the profile's tensor that it becomes: in order, none shared. Of all
/// such choices the one with the fewest matrices among vectors and vectors among matrices, and of those the one in
/// which tensors move least: the distance of two is that of their middles, as shares of all elements. Throws UsageError
/// where the model has more tensors than the profile; `whose` names both, "mlp 64-32-10 on digits on vgg16's clock".
std::vector<std::size_t> tensor_places(const std::vector<Parameter>& model, const std::vector<Parameter>& profile,
                                       const std::string& whose);

}  // namespace trigram
