// Names of the literature for weights that are mixed with those of neighbours.
#include "core/step/algorithm.hpp"

namespace trigram {
namespace {

const Algorithms::Composition d_psgd(
    "d_psgd", "decentralized:mix=before",
    {"mix weights with neighbours while gradients are computed",
     "Lian et al., Can decentralized algorithms outperform centralized algorithms?, NeurIPS 2017, arXiv:1705.09056",
     "Networks of high latency, and data alike on all ranks.",
     "Data that differ between ranks: they then stay apart by what the learning rate leaves them."});

const Algorithms::Composition adapt_then_combine(
    "adapt_then_combine", "decentralized:mix=after",
    {"step, then mix weights with neighbours",
     "Chen & Sayed, Diffusion adaptation strategies for distributed optimization and learning over networks, IEEE "
     "Trans. "
     "Signal Process. 2012, arXiv:1111.0034",
     "As d_psgd, with larger learning rates: it is stable for all that SGD is stable for.",
     "Where d_psgd's exchange would hide behind forward as well."});

const Algorithms::Composition dcd_psgd(
    "dcd_psgd", "low_precision_decentralized:topology=ring",
    {"gossip encoded differences of weights",
     "Tang et al., Communication compression for decentralized training, NeurIPS 2018, arXiv:1803.06443",
     "Gossip on slow networks with a fine codec, as eight bits.",
     "Coarse codecs, whose error grows with what ring neighbours differ by."});

const Algorithms::Composition overlap_sgp(
    "overlap_sgp", "sgp:mix=before",
    {"push weights along a directed graph while gradients are computed",
     "Assran et al., Stochastic gradient push for distributed deep learning, ICML 2019, arXiv:1811.10792",
     "Slow networks, one message a step of which hides behind a whole step of computing (the paper's τ = 1).",
     "One slow rank: ranks still wait for the message of the step before."});

const Algorithms::Composition gossip_pga(
    "gossip_pga", "decentralized:mix=after,average_every=6",
    {"gossip, and an average of all ranks every few steps",
     "Chen et al., Accelerating gossip SGD with periodic global averaging, ICML 2021, arXiv:2105.09080",
     "Many ranks on sparse graphs, on which gossip alone mixes slowly.",
     "Networks whose all-reduce is what gossip shall avoid, as of very high latency."});

const Algorithms::Composition matcha(
    "matcha", "decentralized:mix=after,topology=matcha",
    {"gossip along random matchings of a ring",
     "Wang et al., MATCHA: speeding up decentralized SGD via matching decomposition sampling, 2019, arXiv:1905.09435",
     "Networks on which each message costs time of its own, half of which a budget of 1/2 saves.",
     "Where both neighbours of a ring are reached at once, at no more time than one."});

}  // namespace
}  // namespace trigram
