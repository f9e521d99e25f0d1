// Names of the literature for ranks that train alone and average now and then.
#include "core/step/algorithm.hpp"

namespace trigram {
namespace {

const Algorithms::Composition post_local_sgd(
    "post_local_sgd", "local_sgd:every=8,warmup=100",
    {"average weights in every step at first, every few steps then",
     "Lin et al., Don't use large mini-batches, use local SGD, ICLR 2020, arXiv:1808.07217",
     "Local SGD that must not lose accuracy: most of what rare averages cost is lost in the first steps.",
     "Networks on which the first steps alone take too long."});

const Algorithms::Composition slow_mo("slow_mo", "diloco:every=12,outer=(momentum:momentum=0.6),outer_lr=1",
                                      {"local SGD, with momentum on what ranks learned together",
                                       "Wang et al., SlowMo, ICLR 2020, arXiv:1910.00643",
                                       "Local SGD that loses accuracy by its rare averages.",
                                       "Learning rates that change much within the momentum's memory: its velocity is "
                                       "kept in weights, not in gradients."});

const Algorithms::Composition bmuf(
    "bmuf", "diloco:every=16,outer=(nesterov:momentum=0.75),outer_lr=1",
    {"average models of blocks of steps, filtered by Nesterov's block momentum",
     "Chen & Huo, Scalable training of deep learning machines by incremental block training with intra-block parallel "
     "optimization and blockwise model-update filtering, ICASSP 2016",
     "Many ranks and long blocks, with a block momentum of 1 − 1/n.",
     "Few steps in all: the first blocks only fill the momentum."});

}  // namespace
}  // namespace trigram
