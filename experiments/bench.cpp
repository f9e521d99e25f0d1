// trigram bench: collectives in the columns of nccl-tests, beside their closed form.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <iostream>
#include <sstream>

#include "core/all_reduce.hpp"
#include "core/backend.hpp"
#include "core/error.hpp"
#include "core/report.hpp"
#include "experiments/bench_op.hpp"
#include "experiments/cluster.hpp"
#include "experiments/command_line.hpp"
#include "experiments/message_probe.hpp"
#include "experiments/tables.hpp"

namespace trigram {
namespace {

struct BenchConfig {
  explicit BenchConfig(Params& flags);

  std::string backend, cluster_text, op;
  Params cluster;
  World world;
  std::vector<std::int64_t> sizes;
  int iterations = 1;
  std::string out;
};

std::vector<std::int64_t> sizes_between(double low, double high, double factor) {
  require(low >= 4 && high >= low, "trigram bench: sizes from " + format_quantity(low, Unit::bytes) + " to " +
                                       format_quantity(high, Unit::bytes) +
                                       " are none; ask for at least 4B, and min-size up to max-size");
  require(factor > 1, "trigram bench: factor=" + std::to_string(factor) + " never arrives; ask for more than 1");
  std::vector<std::int64_t> sizes;
  for (double size = low; size <= high; size *= factor) sizes.push_back(static_cast<std::int64_t>(size) / 4 * 4);
  return sizes;
}

BenchConfig::BenchConfig(Params& flags) {
  op = flags.get(
      "op", "all_reduce",
      "all_reduce, reduce_scatter, all_gather, all_to_all, broadcast, reduce, gather, scatter, barrier or exchange");
  backend = flags.get("backend", "sim", "where ranks run (trigram list backends)");
  cluster_text = flags.get("cluster", "two_by_four", "NAME or FILE, with :key=value,... in place of its own");
  const std::string fidelity = flags.get("fidelity", "", "exact or fluid; empty: the cluster's own");
  world.ranks = flags.get("ranks", 0, "number of ranks; 0: as many as the cluster has");
  world.all_reduce = flags.get("all-reduce", "ring", "the algorithm behind all_reduce");
  const double low = flags.get("min-size", "4KiB", Unit::bytes, "first size");
  const double high = flags.get("max-size", "64MiB", Unit::bytes, "last size");
  sizes = sizes_between(low, high, flags.get("factor", 2.0, "from one size to the next"));
  iterations = flags.get("iterations", 1, "times that each size is measured; the mean is printed");
  out = flags.get("out", "", "a CSV file beside the screen");
  require(iterations >= 1, "trigram bench: iterations=" + std::to_string(iterations) + " is less than 1");
  require(world.ranks >= 0, "trigram bench: ranks=" + std::to_string(world.ranks) + " is less than 0");
  if (cluster_text.empty()) return;
  cluster = read_cluster(cluster_text);
  if (!fidelity.empty()) cluster.set("fidelity", fidelity);
}

CommandLine command_line() {
  Params flags("trigram bench", "cluster=");
  const BenchConfig unused(flags);
  return {"bench", "Times a collective at growing sizes, beside its alpha-beta closed form on homogeneous clusters.",
          "trigram bench --op all_gather --cluster two_by_four --max-size 1GiB --factor 4", flags.declared()};
}

/// What a rank measured: begin and end of every iteration of every size, then its probes.
struct Measured {
  std::vector<double> spans;
  std::vector<MessageTime> probes;
};

std::vector<std::byte> pack(const Measured& measured) {
  std::vector<double> numbers = measured.spans;
  for (const MessageTime& probe : measured.probes) numbers.insert(numbers.end(), {probe.alpha, probe.beta});
  std::vector<std::byte> bytes(numbers.size() * sizeof(double));
  if (!bytes.empty()) std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

Measured unpack(const std::vector<std::byte>& bytes, std::size_t spans) {
  std::vector<double> numbers(bytes.size() / sizeof(double));
  if (!bytes.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
  Measured measured{{numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(spans)}, {}};
  for (std::size_t i = spans; i + 1 < numbers.size(); i += 2) measured.probes.push_back({numbers[i], numbers[i + 1]});
  return measured;
}

Measured measure(RankRuntime& runtime, const BenchConfig& config, const BenchOp& op) {
  Communicator& comm = *runtime.lane(0).comm;
  Measured measured;
  for (const std::int64_t size : config.sizes) {
    const Buffer x(nullptr, Shape{size / 4, DType::f32, size / 4, true});
    for (int i = 0; i < config.iterations; ++i) {
      comm.barrier();
      measured.spans.push_back(runtime.now());
      op.run(comm, x);
      measured.spans.push_back(runtime.now());
    }
  }
  measured.probes = probe_messages(runtime);
  return measured;
}

/// Mean over iterations of the time from the first rank's begin to the last rank's end.
double seconds_of(const std::vector<Measured>& ranks, std::size_t size, int iterations) {
  double sum = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(iterations); ++i) {
    const std::size_t at = 2 * (size * static_cast<std::size_t>(iterations) + i);
    double begin = ranks.front().spans[at], end = begin;
    for (const Measured& rank : ranks) {
      begin = std::min(begin, rank.spans[at]);
      end = std::max(end, rank.spans[at + 1]);
    }
    sum += end - begin;
  }
  return sum / iterations;
}

using Cells = std::vector<std::vector<std::string>>;

Cells table(const BenchConfig& config, const BenchOp& op, const std::vector<Measured>& ranks,
            const std::optional<MessageTime>& message) {
  constexpr double giga = 1e9, microseconds = 1e6, hundred = 100;
  const int n = config.world.ranks;
  Cells rows = {
      {"size (B)", "count", "type", "time (us)", "algbw (GB/s)", "busbw (GB/s)", "formula (us)", "error (%)"}};
  for (std::size_t i = 0; i < config.sizes.size(); ++i) {
    const auto bytes = static_cast<double>(config.sizes[i]);
    const double seconds = seconds_of(ranks, i, config.iterations);
    const double algbw = seconds > 0 ? bytes / seconds / giga : std::nan("");
    const double formula = message ? op.seconds({n, config.world.all_reduce}, *message, bytes) : std::nan("");
    const std::int64_t count = config.sizes[i] / 4 / (op.cut ? n : 1);
    rows.push_back({std::to_string(config.sizes[i]), std::to_string(count), "float",
                    short_number(seconds * microseconds), short_number(algbw), short_number(algbw * op.bus(n)),
                    short_number(formula * microseconds), short_number(hundred * (seconds - formula) / formula)});
  }
  return rows;
}

std::string header(const BenchConfig& config, const BenchOp& op, const std::optional<MessageTime>& message) {
  constexpr double giga = 1e9, microseconds = 1e6;
  std::string text = "# " + op.name + " on " + std::to_string(config.world.ranks) + " ranks of " + config.cluster_text +
                     ", backend " + config.backend + "\n";
  const std::string formula = formula_of(op, {config.world.ranks, config.world.all_reduce});
  if (!message) return text + "# no closed form: messages between different ranks take different times\n";
  return text + "# closed form: " + formula + "; alpha " + short_number(message->alpha * microseconds) +
         " us, 1/beta " + short_number(1 / message->beta / giga) + " GB/s, from single messages between ranks\n";
}

std::string csv(const Cells& rows) {
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) text += (i == 0 ? "" : ",") + row[i];
    text += "\n";
  }
  return text;
}

int bench(const Arguments& arguments) {
  const CommandLine words = command_line();
  if (words.helped(arguments)) return 0;
  Params flags("trigram bench", "");
  for (const auto& [key, value] : words.parse(arguments)) flags.set(key, value);
  BenchConfig config(flags);
  const BenchOp& op = find_bench_op(config.op);
  if (!op.sized) config.sizes = {0};
  AllReduces::make(config.world.all_reduce);
  const auto backend = Backends::make(config.backend, config.cluster);
  if (config.world.ranks == 0) config.world.ranks = backend->default_ranks();
  backend->nodes(config.world.ranks);
  if (!config.out.empty()) write_file(config.out, "");
  const Outcome outcome =
      backend->run(config.world, [&](RankRuntime& runtime) { return pack(measure(runtime, config, op)); });

  std::vector<Measured> ranks;
  std::vector<MessageTime> probes;
  for (const auto& bytes : outcome.results) {
    ranks.push_back(unpack(bytes, 2 * config.sizes.size() * static_cast<std::size_t>(config.iterations)));
    probes.insert(probes.end(), ranks.back().probes.begin(), ranks.back().probes.end());
  }
  const std::optional<MessageTime> message = common(probes);
  const Cells rows = table(config, op, ranks, message);
  std::cout << header(config, op, message) << aligned(rows);
  if (!config.out.empty()) write_file(config.out, csv(rows));
  return 0;
}

}  // namespace

const Subcommand bench_subcommand = {"bench", "time collectives in nccl-tests' columns", bench};

}  // namespace trigram
