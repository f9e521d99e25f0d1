// Names of the literature for gradients that travel in few bits or few elements.
#include "core/step/algorithm.hpp"

namespace trigram {
namespace {

const Algorithms::Composition ef_sgd(
    "ef_sgd", "bytegrad:codec=one_bit,error_feedback=on,exchange=all_gather",
    {"average signs with one scale, and send later what they left out",
     "Karimireddy et al., Error feedback fixes SignSGD, ICML 2019, arXiv:1901.09847",
     "Few ranks on a slow network: a bit an element, and what a step loses is sent by the next ones.",
     "Many ranks: each receives a frame of every other one, which dist_ef_sgd avoids."});

const Algorithms::Composition dist_ef_sgd(
    "dist_ef_sgd", "bytegrad:codec=one_bit,error_feedback=on",
    {"average signs by servers that keep residuals as workers do",
     "Zheng et al., Communication-efficient distributed blockwise momentum SGD with error-feedback, NeurIPS 2019, "
     "arXiv:1905.10936",
     "Many ranks on a slow network: bytes do not grow with their number.",
     "Fast networks, where encoding twice takes longer than sending."});

const Algorithms::Composition one_bit_sgd(
    "one_bit_sgd", "bytegrad:codec=two_means,error_feedback=on,exchange=all_gather",
    {"average signs with a mean for each, and send later what they left out",
     "Seide et al., 1-bit stochastic gradient descent, Interspeech 2014",
     "As ef_sgd, where gradients are skewed: the two sides of 0 have values of their own.",
     "Many ranks: each receives a frame of every other one."});

const Algorithms::Composition signsgd_majority(
    "signsgd_majority", "bytegrad:codec=sign",
    {"step by the sign that most ranks' gradients have",
     "Bernstein et al., signSGD with majority vote is communication efficient and fault tolerant, ICLR 2019, "
     "arXiv:1810.05291",
     "The slowest networks, and gradients that few ranks may spoil; with a small learning rate, as every step is as "
     "long.",
     "Few ranks with noisy gradients, and sizes of gradients that matter."});

const Algorithms::Composition natural(
    "natural", "bytegrad:codec=natural",
    {"average gradients that were rounded at random to powers of two",
     "Horváth et al., Natural compression for distributed deep learning, MSML 2022, arXiv:1905.10988",
     "Nine bits an element without bias, whatever the range of a gradient, and nothing to choose.",
     "Where gradients of a bucket are of one size, qsgd errs less."});

const Algorithms::Composition ef21(
    "ef21", "diana:codec=top_k,memory_rate=1",
    {"average encoded changes of gradients, and step along what they add up to",
     "Richtárik et al., EF21, NeurIPS 2021, arXiv:2106.05203",
     "Coarse codecs on data that differ between ranks, with large batches: it converges without bounds on gradients.",
     "Small batches: its estimates run after the noise, where top_k_sgd's residuals average it."});

const Algorithms::Composition terngrad(
    "terngrad", "qsgd:levels=1,bucket_size=0,exchange=all_gather",
    {"average gradients of three values, −s, 0 and s, without bias (no clipping)",
     "Wen et al., TernGrad, NeurIPS 2017, arXiv:1705.07878",
     "Two bits an element and no residual to keep, with small learning rates.",
     "Gradients with outliers, whose size is everybody's scale: the paper clips them, which is left out here."});

const Algorithms::Composition top_k_sgd(
    "top_k_sgd", "bytegrad:codec=top_k,error_feedback=on,exchange=all_gather",
    {"send the largest elements of gradients, and add the others to the next ones",
     "Stich et al., Sparsified SGD with memory, NeurIPS 2018, arXiv:1809.07599",
     "Slow networks and few ranks: a hundredth of the elements travels.",
     "Many ranks, each of which sends other elements to all, and short trainings, in which much is still held back."});

const Algorithms::Composition random_k_sgd(
    "random_k_sgd", "bytegrad:codec=(random_k:fraction=0.1,scaled=off),error_feedback=on,exchange=all_gather",
    {"send the same random elements of gradients on every rank, and add the others to the next ones",
     "Stich et al., Sparsified SGD with memory, NeurIPS 2018, arXiv:1809.07599",
     "Where finding the largest elements takes too long.",
     "Where gradients have few large elements, which top_k_sgd finds."});

const Algorithms::Composition qadam("qadam", "one_bit_adam:codec=minmax_uint8,error_feedback=off",
                                    {"Adam that averages its first moment in 8 bits after a warm-up",
                                     "Gan et al., Bagua, VLDB 2022, arXiv:2107.01499",
                                     "Adam on networks of middling speed, without residuals in memory.",
                                     "The slowest networks, where one_bit_adam sends an eighth of it."});

}  // namespace
}  // namespace trigram
