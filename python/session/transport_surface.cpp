// The network of the language that loaded this library, for ranks on backend torch.
#include "backends/torch/transport.hpp"
#include "python/session/surface.hpp"

/// Of the sessions and groups that this thread opens from now on; without functions, of none.
TRIGRAM_SURFACE void trigram_transport(trigram::torch::Transport::Ask ask, trigram::torch::Transport::Carry carry) {
  trigram::torch::use_transport({ask, carry});
}
