// What nccl-tests measures, on a Communicator. Alpha-beta times count what is sent in each round; reductions are free.
#include "experiments/measure/bench_op.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/registry/registry.hpp"

namespace trigram {
namespace {

double one(int) { return 1; }
double share(int n) { return (n - 1.0) / n; }
double twice_share(int n) { return 2 * share(n); }

double log2_rounds(int ranks) { return std::ceil(std::log2(ranks)); }

/// Every round waits for the largest chunk of floats, which travels through all of them.
double ring_phase(const BenchGroup& g, const MessageTime& m, double bytes) {
  constexpr double element = 4;
  const double chunk = element * std::ceil(bytes / element / g.ranks);
  return (g.ranks - 1) * (m.alpha + chunk * m.beta);
}
double posted_together(const BenchGroup& g, const MessageTime& m, double bytes) {
  return g.ranks == 1 ? 0 : m.alpha + share(g.ranks) * bytes * m.beta;
}
double tree(const BenchGroup& g, const MessageTime& m, double bytes) {
  return log2_rounds(g.ranks) * (m.alpha + bytes * m.beta);
}
double single_message(const BenchGroup& g, const MessageTime& m, double bytes) {
  return g.ranks == 1 ? 0 : m.alpha + bytes * m.beta;
}

/// The forms below hold for a power of two.
template <double (*form)(const BenchGroup&, const MessageTime&, double)>
double power_of_two(const BenchGroup& g, const MessageTime& m, double bytes) {
  return (g.ranks & (g.ranks - 1)) == 0 ? form(g, m, bytes) : std::numeric_limits<double>::quiet_NaN();
}
double rabenseifner(const BenchGroup& g, const MessageTime& m, double bytes) {
  return 2 * log2_rounds(g.ranks) * m.alpha + twice_share(g.ranks) * bytes * m.beta;
}

struct AllReduceForm {
  std::string formula;
  double (*seconds)(const BenchGroup&, const MessageTime&, double);
};

double ring(const BenchGroup& g, const MessageTime& m, double bytes) { return 2 * ring_phase(g, m, bytes); }

/// Chunks that flow pay for bytes on average, and no rounding of chunks; the longer of bytes and latencies hides the
/// other.
double pipelined_ring(const BenchGroup& g, const MessageTime& m, double bytes) {
  if (g.ranks == 1) return 0;
  return std::max(m.alpha + twice_share(g.ranks) * bytes * m.beta,
                  2 * (g.ranks - 1) * m.alpha + bytes / g.ranks * m.beta);
}
double double_binary_tree(const BenchGroup& g, const MessageTime& m, double bytes) {
  return g.ranks < 4 ? std::numeric_limits<double>::quiet_NaN()
                     : 2 * log2_rounds(g.ranks) * m.alpha + 2 * bytes * m.beta;
}

const std::map<std::string, AllReduceForm>& all_reduce_forms() {
  static const std::string pipelined_ring_formula = "max(alpha + 2(p-1)/p M beta, 2(p-1) alpha + M/p beta)";
  static const std::map<std::string, AllReduceForm> forms = {
      {"ring", {"2(p-1) alpha + 2(p-1)/p M beta", ring}},
      {"pipelined_ring", {pipelined_ring_formula, pipelined_ring}},
      {"multi_rail_ring", {pipelined_ring_formula, pipelined_ring}},
      {"double_binary_tree", {"2 lg p alpha + 2 M beta, p a power of two from 4", power_of_two<double_binary_tree>}},
      {"recursive_doubling", {"lg p (alpha + M beta), p a power of two", power_of_two<tree>}},
      {"rabenseifner", {"2 lg p alpha + 2(p-1)/p M beta, p a power of two", power_of_two<rabenseifner>}},
      {"binomial", {"2 ceil(lg p) (alpha + M beta)", [](const BenchGroup& g, const MessageTime& m, double b) {
                      return 2 * tree(g, m, b);
                    }}}};
  return forms;
}

double all_reduce_seconds(const BenchGroup& group, const MessageTime& message, double bytes) {
  const auto form = all_reduce_forms().find(Spec::parse(group.all_reduce).name);
  return form == all_reduce_forms().end() ? std::numeric_limits<double>::quiet_NaN()
                                          : form->second.seconds(group, message, bytes);
}

/// x cut into one part a rank.
std::vector<Buffer> parts(Communicator& comm, Buffer x) {
  std::vector<Buffer> all;
  for (int i = 0; i < comm.size(); ++i) all.push_back(x.chunk(i, comm.size()));
  return all;
}

/// As many elements for each rank, as nccl-tests does: what a rank sends to another is as long as what it receives
/// there.
std::vector<Buffer> equal_parts(Communicator& comm, Buffer x) {
  const std::int64_t each = x.shape().count / comm.size();
  std::vector<Buffer> all;
  for (int i = 0; i < comm.size(); ++i) all.push_back(x.slice(i * each, each));
  return all;
}

void exchange_in_ring(Communicator& comm, Buffer x, Buffer spare) {
  const int n = comm.size();
  if (n == 1) return;
  comm.exchange(
      {Transfer::send_to((comm.rank() + 1) % n, x), Transfer::receive_from((comm.rank() + n - 1) % n, spare)});
}

}  // namespace

const std::vector<BenchOp>& bench_ops() {
  static const std::string posted = "alpha + (p-1)/p M beta, messages posted together";
  static const std::string binomial = "ceil(lg p) (alpha + M beta)";
  static const std::string half_ring = "(p-1) alpha + (p-1)/p M beta";
  static const std::vector<BenchOp> ops = {
      {"all_reduce", false, twice_share, [](Communicator& c, Buffer x, Buffer) { c.all_reduce(x, ReduceOp::sum); }, "",
       all_reduce_seconds},
      {"reduce_scatter", true, share, [](Communicator& c, Buffer x, Buffer) { c.reduce_scatter(x, ReduceOp::sum); },
       half_ring, ring_phase},
      {"all_gather", true, share, [](Communicator& c, Buffer x, Buffer) { c.all_gather(x); }, half_ring, ring_phase},
      {"all_to_all", true, share,
       [](Communicator& c, Buffer x, Buffer spare) { c.all_to_all(equal_parts(c, x), equal_parts(c, spare)); }, posted,
       posted_together},
      {"broadcast", false, one, [](Communicator& c, Buffer x, Buffer) { c.broadcast(x, 0); }, binomial, tree},
      {"reduce", false, one, [](Communicator& c, Buffer x, Buffer) { c.reduce(x, ReduceOp::sum, 0); }, binomial, tree},
      {"gather", true, share,
       [](Communicator& c, Buffer x, Buffer spare) { c.gather(x.chunk(c.rank(), c.size()), parts(c, spare), 0); },
       posted, posted_together},
      {"scatter", true, share,
       [](Communicator& c, Buffer x, Buffer spare) { c.scatter(parts(c, x), spare.chunk(c.rank(), c.size()), 0); },
       posted, posted_together},
      {"barrier", false, one, [](Communicator& c, Buffer, Buffer) { c.barrier(); }, "ceil(lg p) alpha",
       [](const BenchGroup& g, const MessageTime& m, double) { return log2_rounds(g.ranks) * m.alpha; }, false},
      {"exchange", false, one, exchange_in_ring, "alpha + M beta", single_message}};
  return ops;
}

const BenchOp& find_bench_op(const std::string& name) {
  std::vector<std::string> names;
  for (const BenchOp& op : bench_ops()) {
    if (op.name == name) return op;
    names.push_back(op.name);
  }
  throw_unknown_name("operation", name, names);
}

std::string formula_of(const BenchOp& op, const BenchGroup& group) {
  if (!op.formula.empty()) return op.formula;
  const auto form = all_reduce_forms().find(Spec::parse(group.all_reduce).name);
  return form == all_reduce_forms().end() ? "" : form->second.formula;
}

}  // namespace trigram
