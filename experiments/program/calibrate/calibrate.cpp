// trigram calibrate: measures a backend, or takes a table of measurements, and writes the cluster file with which the
// simulator stands for it.
#include <unistd.h>

#include <cmath>
#include <iostream>

#include "core/values/error.hpp"
#include "core/values/quoted.hpp"
#include "experiments/measure/rank_samples.hpp"
#include "experiments/program/calibrate/calibrate_from.hpp"
#include "experiments/program/calibrate/calibrate_quick.hpp"
#include "experiments/program/calibrate/fit_apart.hpp"
#include "experiments/program/flags/command_line.hpp"
#include "experiments/program/studies/study_executor.hpp"
#include "experiments/program/tables/tables.hpp"
#include "experiments/record/report_file.hpp"
#include "experiments/settings/backend_choice.hpp"
#include "experiments/settings/grid.hpp"
#include "experiments/settings/job.hpp"
#include "experiments/settings/launcher.hpp"

namespace trigram {
namespace {

struct CalibrateFlags {
  explicit CalibrateFlags(Params& flags);

  PlaceFlags place;
  ProbePlan plan;
  std::string out;
  std::string from, fit;
  int jobs;
  FitApartFlags apart;
  std::string codecs;
  bool quick;
  double seconds;
};

/// An empty message, then sizes by a factor.
std::vector<std::int64_t> message_sizes(double low, double high, double factor) {
  require(low >= 1 && high > low, "trigram calibrate: sizes from " + format_quantity(low, Unit::bytes) + " to " +
                                      format_quantity(high, Unit::bytes) +
                                      " fit no line (latency + bytes / bandwidth); give min-size of at least 1B, and "
                                      "max-size above it");
  require(factor > 1,
          "trigram calibrate: factor=" + number_text(factor) + " would never reach max-size; give more than 1");
  require_few_sizes(low, high, factor, "trigram calibrate");
  std::vector<std::int64_t> sizes = {0};
  for (double size = low; size <= high; size *= factor) sizes.push_back(static_cast<std::int64_t>(size));
  return sizes;
}

CalibrateFlags::CalibrateFlags(Params& flags) : place(flags), apart(flags) {
  const double low = flags.get("min-size", "16KiB", Unit::message_bytes,
                               "smallest message, beside the empty one; 8 is 8B and 8M is 8MiB");
  const double high = flags.get("max-size", "4MiB", Unit::message_bytes, "largest message");
  plan.sizes = message_sizes(low, high,
                             flags.get("factor", 2.0, "from one size to the next; 2: sizes as collectives send them"));
  plan.rounds =
      flags.get("rounds", 7, "times that each size is measured, turn by turn; medians are taken", {1, 100'000});
  out = flags.get("out", "", "the cluster file; empty: on the screen only");
  codecs = flags.get("codecs", "all",
                     "codecs whose speed is measured, apart by blanks; all: those of the device; empty: none");
  require_codecs(codecs);
  quick = flags.get("quick", false,
                    "the probes that decide, in sets until time is up, so that values have ranges; then others, of "
                    "which the file says how far off it predicts them");
  seconds = flags.get("seconds", 100.0, "with --quick: seconds that it may take", {5, 3600});
  for (const char* decided : {"min-size", "max-size", "factor", "rounds", "codecs"})
    require(!quick || !flags.has(decided), flags.owner(), ": --quick decides --", decided, " itself; leave it out");
  require(quick || !flags.has("seconds"), flags.owner(), ": --seconds is of --quick; give both or neither");
  from = flags.get("from", "",
                   "a CSV table of your own times, to which --fit is fitted; nothing is measured then (its columns: "
                   "seconds, source, op and size of a bench, flags of trigram run, cluster.KEY)");
  fit =
      flags.get("fit", "",
                "with --from: parameters of --cluster to find, as nic_efficiency,nic_window=64KiB:16MiB; without ends "
                "between those of their physical range");
  jobs = flags.get("jobs", 0, "with --from: simulations at a time; 0: one a core", {0, 1024});
  require(from.empty() == fit.empty(), flags.owner(),
          ": --from TABLE and --fit PARAMETERS need each other; give both or neither");
  require(from.empty() || !quick, flags.owner(), ": --from measures nothing, and --quick does; leave one out");
  require(!from.empty() || (!apart.plan && apart.executor.empty()), flags.owner(),
          ": --plan and --executor are of --from, which simulates; nobody else measures this machine");
}

CommandLine calibrate_command_line() {
  return {
      "calibrate",
      "Measures messages and device operations, or fits parameters to a table of measured times, and writes a cluster "
      "file for backend sim; backend mpi is started by mpirun.",
      "trigram calibrate --backend mpi --out mine.cfg", declared_flags<CalibrateFlags>("trigram calibrate")};
}

std::string table(const MeasuredPoints& measured, const std::string& amount) {
  constexpr double microseconds = 1e6, hundred = 100;
  std::vector<std::vector<std::string>> rows = {
      {measured.name, amount, "time (us)", "spread (%)", "fitted (us)", "residual (%)"}};
  for (const MeasuredPoint& point : measured.points) {
    rows.push_back({point.name, short_number(point.median.amount), short_number(point.median.seconds * microseconds),
                    short_number(hundred * point.spread), short_number(point.fitted * microseconds),
                    short_number(hundred * point.residual())});
  }
  return aligned(rows);
}

std::string table(const MeasuredLine& fit, const std::string& amount, Unit unit) {
  return table(fit, amount) + "alpha " + format_quantity(fit.line.alpha, Unit::seconds) + ", 1/beta " +
         (fit.line.beta > 0 ? format_quantity(1 / fit.line.beta, unit) : "beyond measure") + "\n\n";
}

std::string words_of(const MessageTerms& terms) {
  std::string text = "latency " + format_quantity(terms.latency, Unit::seconds);
  if (terms.overhead > 0) text += " and " + format_quantity(terms.overhead, Unit::seconds) + " of the host";
  text += ", bandwidth " + (std::isfinite(terms.bandwidth) ? format_quantity(terms.bandwidth, Unit::bytes_per_second)
                                                           : "beyond measure");
  if (terms.window > 0) text += ", by windows of " + format_quantity(terms.window, Unit::bytes);
  if (terms.connections > 1) text += " of " + std::to_string(terms.connections) + " connections";
  if (terms.burst > 0)
    text += ", by bursts of " + format_quantity(terms.burst, Unit::bytes) + " at " +
            format_quantity(terms.line_rate, Unit::bytes_per_second);
  if (terms.chunk > 0)
    text += ", by two paths of 1 : " + short_number(terms.slower) + " in chunks of " +
            format_quantity(terms.chunk, Unit::bytes);
  if (terms.handshake > 0)
    text += ", beyond " + format_quantity(terms.handshake_size, Unit::bytes) + " " +
            format_quantity(terms.handshake, Unit::seconds) + " more";
  return text;
}

std::string codec_table(const std::vector<MeasuredLine>& codecs) {
  if (codecs.empty()) return "";
  constexpr double microseconds = 1e6, nanoseconds = 1e9, hundred = 100;
  std::vector<std::vector<std::string>> rows = {{"codec/step", "call (us)", "element (ns)", "worst residual (%)"}};
  for (const MeasuredLine& fit : codecs)
    rows.push_back({fit.name, short_number(microseconds * fit.line.alpha), short_number(nanoseconds * fit.line.beta),
                    short_number(hundred * fit.worst_residual())});
  return aligned(rows) + "\n";
}

std::string tables(const MeasuredCluster& cluster) {
  std::string text =
      "messages by the simulator's rules, others as seconds = alpha + beta x, by least squares of relative residuals; "
      "times are medians of all rounds\n\n";
  for (const MeasuredMessages& messages : cluster.network)
    text += table(messages, "size (B)") + words_of(messages.terms) + "\n\n";
  return text + table(cluster.memory, "bytes", Unit::bytes_per_second) +
         table(cluster.arithmetic, "flops", Unit::flops) + codec_table(cluster.codecs);
}

int fit_to_table(const CalibrateFlags& config, const Settings& given, const std::vector<std::string>& slurm) {
  if (config.apart.cells.empty()) {
    require_started_alone("trigram calibrate --from");
  } else {
    count_as_started_alone();  // each of several has simulations of its own
  }
  require(Spec::parse(config.place.backend).name == "sim",
          "trigram calibrate: --from simulates what was measured; "
          "--backend ",
          shown(config.place.backend), " does not, leave it out");
  const int jobs = config.jobs > 0 ? config.jobs : static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  return fit_apart(config.apart, {config.from, config.place.cluster, config.fit, config.out, {jobs}}, given, slurm);
}

int calibrate(const Arguments& arguments) {
  const CommandLine words = calibrate_command_line();
  if (words.helped(arguments)) return 0;
  const auto [ours, slurm] = without_slurm_flags(arguments);
  const Settings given = words.parse(ours);
  Params flags = as_params("trigram calibrate", given);
  CalibrateFlags config(flags);
  flags.reject_unknown();
  if (!config.from.empty() || !config.apart.cells.empty()) return fit_to_table(config, given, slurm);
  require_no_flags_of_slurm("trigram calibrate", config.apart.dry_run, slurm);
  const BackendChoice place(flags.owner(), config.place);
  const auto backend = place.make();
  require_ranks_of(*backend, "trigram calibrate", place);
  World world;
  world.ranks = place.ranks_on(*backend);
  require(!config.quick || world.ranks > 1, flags.owner(),
          ": one rank sends nothing that --quick could measure; start two or more, as by mpirun -n 2");
  world.configuration = same_on_all_ranks("calibrate", with_defaults(flags), place);
  ClusterSamples samples{backend->nodes(world.ranks), {}, config.plan, {}, {}, {}, {}, {}, {}};
  samples.patterns = network_patterns(samples.node_of_rank);
  samples.plan.phantom = backend->simulated();
  const bool reports = backend->process_rank() == 0;
  if (reports && !config.out.empty()) require_writable_file(config.out);
  if (config.quick) {
    calibrate_quickly({config.place.where(), config.out, config.seconds}, samples, *backend, world);
    return 0;
  }
  const Outcome outcome =
      backend->run(world, [&](RankRuntime& runtime) { return measure_rank(runtime, samples, config.codecs); });
  if (!reports) return 0;

  for (const auto& bytes : outcome.results) add_rank(bytes, samples);
  const MeasuredCluster cluster(samples);
  const std::string file = cluster_file(cluster, "Measured by trigram calibrate on " + config.place.where() + ": " +
                                                     std::to_string(world.ranks) + " ranks on " +
                                                     std::to_string(cluster.ranks_of_node.size()) + " nodes.");
  std::cout << tables(cluster) << file;
  if (!config.out.empty()) write_file(config.out, file);
  return 0;
}

}  // namespace

const Subcommand calibrate_subcommand = {"calibrate", "measure a backend and write its cluster file", calibrate, true};

}  // namespace trigram
