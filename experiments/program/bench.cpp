// trigram bench: collectives in the columns of nccl-tests, beside their closed form.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>

#include "core/lane/all_reduce.hpp"
#include "core/lane/hierarchy.hpp"
#include "core/training/backend.hpp"
#include "core/values/error.hpp"
#include "core/values/packing.hpp"
#include "experiments/fit/interpolated_times.hpp"
#include "experiments/measure/bench_time.hpp"
#include "experiments/measure/median.hpp"
#include "experiments/measure/probes/message_probe.hpp"
#include "experiments/program/flags/command_line.hpp"
#include "experiments/program/flags/uncertainty.hpp"
#include "experiments/program/tables/tables.hpp"
#include "experiments/record/regime.hpp"
#include "experiments/record/report_file.hpp"
#include "experiments/record/warnings.hpp"
#include "experiments/settings/backend_choice.hpp"
#include "experiments/settings/grid.hpp"
#include "experiments/settings/job.hpp"
#include "experiments/settings/run_config.hpp"
#include "experiments/settings/system.hpp"

namespace trigram {
namespace {

struct BenchFlags {
  explicit BenchFlags(Params& flags);

  PlaceFlags place;
  std::string system;  ///< whose defaults other flags have
  std::string op;
  World world;
  Hierarchy hierarchy = Hierarchy::none;
  std::vector<std::int64_t> sizes;
  int iterations = 1;
  std::string out;
  UncertaintyFlags uncertainty;
};

std::vector<std::int64_t> buffer_sizes(double low, double high, double factor) {
  require(low >= 4 && high >= low, "trigram bench: no sizes from " + format_quantity(low, Unit::bytes) + " to " +
                                       format_quantity(high, Unit::bytes) +
                                       "; give min-size of at least 4B, and max-size no smaller");
  require(factor > 1, "trigram bench: factor=" + number_text(factor) + " would never reach max-size; give more than 1");
  require_few_sizes(low, high, factor, "trigram bench");
  std::vector<std::int64_t> sizes;
  for (double size = low; size <= high; size *= factor) sizes.push_back(static_cast<std::int64_t>(size) / 4 * 4);
  return sizes;
}

BenchFlags::BenchFlags(Params& flags)
    : place(flags),
      uncertainty(flags, 64,
                  "draws from the ranges that files of clusters and systems state (25us in 15us..60us), to give a "
                  "median and ranges that hold: each simulated where it is given; else 64, which two simulations of "
                  "each size tell; 0: none") {
  system = flags.get("system", "", "a published system whose collectives are the default (trigram list systems)");
  op = flags.get(
      "op", "all_reduce",
      "all_reduce, reduce_scatter, all_gather, all_to_all, broadcast, reduce, gather, scatter, barrier or exchange");
  world.all_reduce = flags.get("all-reduce", "ring", "the algorithm behind all_reduce");
  hierarchy = parse_hierarchy(flags.get(
      "hierarchy", "none", "how all_reduce is spread over nodes: none, leader or all_nics; other operations are flat"));
  world.hierarchy_chunks = read_hierarchy_chunks(flags);
  if (op != "all_reduce") {
    hierarchy = Hierarchy::none;
    world.hierarchy_chunks = 1;
  }
  const double low =
      flags.get("min-size", "4KiB", Unit::message_bytes, "first size; as nccl-tests has it, 8 is 8B and 8M is 8MiB");
  const double high = flags.get("max-size", "64MiB", Unit::message_bytes, "last size");
  sizes = buffer_sizes(low, high, flags.get("factor", 2.0, "from one size to the next"));
  iterations =
      flags.get("iterations", 1, "times that each size is measured, turn by turn; the median is printed", {1, 100'000});
  out = flags.get("out", "", "a CSV file beside the screen");
}

CommandLine bench_command_line() {
  return {"bench", "Times a collective at growing sizes, beside its alpha-beta closed form on homogeneous clusters.",
          "trigram bench --op all_gather --cluster two_by_four --max-size 1GiB --factor 4",
          declared_flags<BenchFlags>("trigram bench")};
}

/// A rank's seconds of every size in every iteration.
using Seconds = std::vector<double>;

template <class Number>
std::vector<std::byte> pack(const std::vector<Number>& numbers) {
  Packer packer;
  packer.put_all(std::span(numbers));
  return std::move(packer).bytes();
}

/// Models of time need sizes only; real ranks send real bytes, and their first iteration, which opens connections, is
/// not counted.
Seconds measure(RankRuntime& runtime, const BenchFlags& config, const BenchOp& op, bool simulated) {
  Device& device = runtime.lane(0).comm->device();
  const std::int64_t most = config.sizes.back() / 4;
  const OwnedBuffer memory = device.allocate({most, DType::f32, most, simulated});
  const OwnedBuffer spare = device.allocate({most, DType::f32, most, simulated});
  Seconds measured;
  for (int i = simulated ? 0 : -1; i < config.iterations; ++i) {
    for (const std::int64_t size : config.sizes) {
      const double seconds = seconds_of(runtime, {op, config.hierarchy, size / 4}, memory.view(), spare.view());
      if (i >= 0) measured.push_back(seconds);
    }
  }
  return measured;
}

/// Of one size, in ascending order: of every iteration, the time of the rank that took longest.
std::vector<double> seconds_of(const std::vector<Seconds>& ranks, const BenchFlags& config, std::size_t size) {
  std::vector<double> all;
  for (std::size_t i = size; i < ranks.front().size(); i += config.sizes.size()) {
    double longest = 0;
    for (const Seconds& rank : ranks) longest = std::max(longest, rank[i]);
    all.push_back(longest);
  }
  std::sort(all.begin(), all.end());
  return all;
}

using Cells = std::vector<std::vector<std::string>>;

/// How far off the times of a calibrated cluster may be.
struct SizeBars {
  ErrorBars bars;
  double smallest = 0;  ///< seconds of one element

  bool known() const { return !bars.text().empty(); }
  double error_at(double seconds) const {
    const std::optional<ErrorBar> bar = bars.of(regime_of(seconds, smallest));
    return bar ? bar->error : std::nan("");
  }
};

/// What is drawn for each size, on a cluster with ranges.
std::vector<UncertainQuestion> questions_of(const Settings& given, const BenchFlags& config) {
  Settings run = with_cluster(given);
  for (const char* flag :
       {"op", "min-size", "max-size", "factor", "iterations", "out", "uncertainty", "uncertainty-seed"})
    run.erase(flag);
  std::vector<UncertainQuestion> questions;
  for (const std::int64_t size : config.sizes)
    questions.push_back({run, config.op, std::to_string(std::max<std::int64_t>(size, 4)) + "B"});
  return questions;
}

/// All draws, told by a few simulations of each size.
std::vector<UncertainTime> told_times(const std::vector<UncertainQuestion>& questions, const BenchFlags& config,
                                      const std::vector<Seconds>& ranks, const SizeBars& bars, const Draws& draws) {
  constexpr int simulations = 2;
  std::vector<MadeRun> sizes;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const double seconds = median(seconds_of(ranks, config, i));
    sizes.push_back({questions[i],
                     config.op,
                     {static_cast<double>(i)},
                     seconds,
                     bars.error_at(seconds),
                     1,
                     std::nan(""),
                     simulations});
  }
  return interpolated_times(sizes, draws).times;
}

/// The ends of the ranges that draws give each size, in microseconds; nothing by itself where no range is stated.
void add_ranges(const Settings& given, const BenchFlags& config, const std::vector<Seconds>& ranks,
                const SizeBars& bars, Cells& rows) {
  constexpr int jobs = 2;
  const std::vector<UncertainQuestion> questions = questions_of(given, config);
  if (!config.uncertainty.given && uncertain_parameters(questions.front().run).empty()) return;
  const Draws draws = config.uncertainty.with(jobs);
  const std::vector<UncertainTime> times =
      config.uncertainty.given ? uncertain_times(questions, draws) : told_times(questions, config, ranks, bars, draws);
  constexpr double microseconds = 1e6;
  for (const char* name : {"median (us)", "68 % from", "68 % to", "95 % from", "95 % to", "decided by"})
    rows[0].push_back(name);
  for (std::size_t i = 0; i < times.size(); ++i) {
    const Spread& of = times[i].seconds;
    for (const double seconds : {of.median, of.of_68.least, of.of_68.most, of.of_95.least, of.of_95.most})
      rows[i + 1].push_back(short_number(seconds * microseconds));
    rows[i + 1].push_back(times[i].shares.front().first);
  }
}

/// What a library chooses for each size, where the operation is its own.
class Choices {
 public:
  Choices(const Backend& backend, const BenchFlags& config, const BenchOp& op) : ranks_(config.world.ranks) {
    if (!backend.simulated() || config.hierarchy != Hierarchy::none) return;
    const std::vector<int> nodes = backend.nodes(ranks_);
    nodes_ = static_cast<int>(std::set<int>(nodes.begin(), nodes.end()).size());
    how_ = &all_reduce_named(backend.all_reduce_here(config.world.all_reduce));
    for (const Collective one : {Collective::all_reduce, Collective::reduce_scatter, Collective::all_gather,
                                 Collective::broadcast, Collective::reduce}) {
      if (op.name == name_of(one) && (one == Collective::all_reduce || how_->chooses(one))) collective_ = one;
    }
  }

  /// "ring/simple/12"; empty where nothing is chosen.
  std::string of(std::int64_t bytes) const {
    return collective_ ? how_->choice(*collective_, ranks_, nodes_, bytes) : std::string();
  }
  bool any() const { return !of(1).empty(); }

 private:
  int ranks_, nodes_ = 1;
  const AllReduce* how_ = nullptr;
  std::optional<Collective> collective_;
};

Cells table(const BenchFlags& config, const BenchOp& op, const std::vector<Seconds>& ranks,
            const std::optional<MessageTime>& message, const SizeBars& bars, const Choices& choices) {
  constexpr double giga = 1e9, microseconds = 1e6, hundred = 100;
  const int n = config.world.ranks;
  Cells rows = {{"size (B)", "count", "type", "time (us)", "algbw (GB/s)", "busbw (GB/s)", "formula (us)", "error (%)",
                 "spread (%)"}};
  if (bars.known()) rows[0].push_back("error bar (%)");
  if (choices.any()) rows[0].push_back("algorithm/protocol/channels");
  for (std::size_t i = 0; i < config.sizes.size(); ++i) {
    const auto bytes = static_cast<double>(config.sizes[i]);
    const std::vector<double> all = seconds_of(ranks, config, i);
    const double seconds = median(all);
    const double algbw = seconds > 0 ? bytes / seconds / giga : std::nan("");
    const double formula = message ? op.seconds({n, config.world.all_reduce}, *message, bytes) : std::nan("");
    const std::int64_t count = config.sizes[i] / 4 / (op.cut ? n : 1);
    rows.push_back({std::to_string(config.sizes[i]), std::to_string(count), "float",
                    short_number(seconds * microseconds), short_number(algbw), short_number(algbw * op.bus(n)),
                    short_number(formula * microseconds), short_number(hundred * (seconds - formula) / formula),
                    short_number(hundred * (all.back() - all.front()) / seconds)});
    if (bars.known()) rows.back().push_back(short_number(hundred * bars.error_at(seconds)));
    if (choices.any()) rows.back().push_back(choices.of(config.sizes[i]));
  }
  return rows;
}

std::string header(const BenchFlags& config, const BenchOp& op, const std::optional<MessageTime>& message,
                   bool simulated, bool chosen) {
  constexpr double giga = 1e9, microseconds = 1e6;
  std::string text = "# " + op.name + " on " + std::to_string(config.world.ranks) + " ranks of " +
                     config.place.where() + ", backend " + config.place.backend + "\n";
  const std::string formula = formula_of(op, {config.world.ranks, config.world.all_reduce});
  if (!simulated) return text + "# medians of " + std::to_string(config.iterations) + " iterations\n";
  if (config.hierarchy != Hierarchy::none) return text + "# no closed form: a hierarchy has phases of its own\n";
  if (formula.empty() || chosen) return text + "# no closed form: what is chosen depends on the size\n";
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

/// In a simulation of their own, so that what is said of links is about the operation alone.
std::optional<MessageTime> time_of_messages(Backend& backend, const World& world) {
  const Outcome outcome = backend.run(world, [](RankRuntime& runtime) { return pack(probe_messages(runtime)); });
  std::vector<MessageTime> all;
  for (const auto& bytes : outcome.results) {
    const auto some = Unpacker(bytes).take_all<MessageTime>();
    all.insert(all.end(), some.begin(), some.end());
  }
  return common(all);
}

/// The smallest time in a simulation of its own, where there are bars.
SizeBars bars_of(const BackendChoice& place, Backend& backend, const BenchFlags& config, const BenchOp& op) {
  SizeBars bars{place.error_bars};
  if (!bars.known()) return bars;
  const Outcome outcome = backend.run(config.world, [&](RankRuntime& runtime) {
    return pack(std::vector<double>{phantom_seconds(runtime, {op, config.hierarchy, op.sized ? 1 : 0})});
  });
  for (const auto& bytes : outcome.results)
    bars.smallest = std::max(bars.smallest, Unpacker(bytes).take_all<double>().front());
  return bars;
}

int bench(const Arguments& arguments) {
  const CommandLine words = bench_command_line();
  if (words.helped(arguments)) return 0;
  const Settings given = resolved(with_system(words.parse(arguments), words.flags), defaults_of(words.flags));
  Params flags = as_params("trigram bench", given);
  BenchFlags config(flags);
  const BenchOp& op = find_bench_op(config.op);
  if (!op.sized) config.sizes = {0};
  const BackendChoice place(flags.owner(), config.place);
  const auto backend = place.make();
  require_ranks_of(*backend, "trigram bench", place);
  backend->all_reduce_here(config.world.all_reduce);
  backend->require_chunks(config.world, config.hierarchy);
  config.world.ranks = place.ranks_on(*backend);
  const std::vector<int> nodes = backend->nodes(config.world.ranks);
  if (config.hierarchy == Hierarchy::all_nics) require_equal_nodes(nodes, "");
  config.world.configuration = same_on_all_ranks("bench", with_defaults(flags), place);
  const bool reports = backend->process_rank() == 0;
  if (reports && !config.out.empty()) require_writable_file(config.out);
  const bool simulated = backend->simulated();
  require(
      !config.uncertainty.given || config.uncertainty.draws == 0 || simulated,
      "trigram bench: --uncertainty draws from what a simulated cluster states; use --backend sim, or leave it out");
  const Outcome outcome =
      backend->run(config.world, [&](RankRuntime& runtime) { return pack(measure(runtime, config, op, simulated)); });
  if (!reports) return 0;

  std::vector<Seconds> ranks;
  for (const auto& bytes : outcome.results) ranks.push_back(Unpacker(bytes).take_all<double>());
  const Choices choices(*backend, config, op);
  const bool has_form = simulated && config.hierarchy == Hierarchy::none && !choices.any();
  const std::optional<MessageTime> message = has_form ? time_of_messages(*backend, config.world) : std::nullopt;
  print_warnings(warnings_of(nlohmann::json::parse(outcome.facts)));
  const SizeBars bars = bars_of(place, *backend, config, op);
  Cells rows = table(config, op, ranks, message, bars, choices);
  if (simulated && config.uncertainty.draws > 0) add_ranges(given, config, ranks, bars, rows);
  std::cout << header(config, op, message, simulated, choices.any()) << aligned(rows);
  if (!config.out.empty()) write_file(config.out, csv(rows));
  return 0;
}

}  // namespace

const Subcommand bench_subcommand = {"bench", "time collectives in nccl-tests' columns", bench, true};

}  // namespace trigram
