// Names of the literature for ranks that only hold weights; how far ranks may be apart is what they differ in.
#include "core/step/algorithm.hpp"

namespace trigram {
namespace {

const Algorithms::Composition bulk_synchronous_server(
    "bulk_synchronous_server", "parameter_server:staleness=0",
    {"servers that answer when all ranks have sent the step's update",
     "Li et al., Scaling distributed machine learning with the parameter server, OSDI 2014",
     "Hosts with fast NICs and no GPU to spare as servers.", "Ranks of unequal speed: all wait for the slowest."});

const Algorithms::Composition downpour_sgd(
    "downpour_sgd", "parameter_server:staleness=1000000000",
    {"servers that answer at once, however far ranks are apart",
     "Dean et al., Large scale distributed deep networks, NeurIPS 2012",
     "Ranks of very unequal speed, none of which may slow the others.",
     "Large learning rates: nothing bounds how old the weights are that a gradient was computed at."});

}  // namespace
}  // namespace trigram
