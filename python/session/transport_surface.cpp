// The network of the language that loaded this library, for ranks on backend torch.
#include "backends/torch/network.hpp"
#include "python/session/surface.hpp"

/// Of the sessions and groups that this thread opens from now on; without functions, of none.
TRIGRAM_SURFACE void trigram_transport(trigram::torch::Network::Ask ask, trigram::torch::Network::Carry carry,
                                       trigram::torch::Network::CarryEach carry_each) {
  trigram::torch::use_network({ask, carry, carry_each});
}
