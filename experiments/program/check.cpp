// trigram check: holds an algorithm, a codec, a topology or an operation to what it declares.
#include <algorithm>
#include <functional>
#include <iostream>

#include "core/backend_traits.hpp"
#include "core/codec.hpp"
#include "core/conformance/algorithm_check.hpp"
#include "core/conformance/codec_check.hpp"
#include "core/conformance/operation_check.hpp"
#include "core/conformance/topology_check.hpp"
#include "core/cost_text.hpp"
#include "core/error.hpp"
#include "core/operation.hpp"
#include "core/topology.hpp"
#include "experiments/program/catalogue.hpp"
#include "experiments/program/command_line.hpp"
#include "experiments/program/tables.hpp"
#include "experiments/settings/backend_choice.hpp"
#include "experiments/settings/job.hpp"
#include "experiments/settings/places.hpp"

namespace trigram {
namespace {

struct CheckFlags {
  explicit CheckFlags(Params& flags)
      : place(flags),
        kind(flags.get("kind", "", "algorithm, codec, topology or operation; needed where several have the name")) {}

  PlaceFlags place;
  std::string kind;
  std::string spec = "";
};

CommandLine check_command_line() {
  return {
      "check",
      "Tries an algorithm, a codec, a topology or an operation of models and holds it to what it declares: NAME alone\n"
      "as its own trials say, NAME:key=value,... with these parameters. Ends with 1 where something declared does not "
      "hold.",
      "trigram check local_sgd:every=3", declared_flags<CheckFlags>("trigram check"), "PRODUCT"};
}

/// Rows to print, and what does not hold.
struct Findings {
  std::vector<std::vector<std::string>> rows;
  std::string violations;

  void add(std::vector<std::string> cells, const std::string& refusal, const std::vector<Violation>& found) {
    cells.push_back(!refusal.empty() ? "refused" : found.empty() ? "holds" : "does not hold");
    std::string where = cells[0] + ", " + cells[1] + " " + rows.front()[1];
    rows.push_back(std::move(cells));
    if (!found.empty()) violations += where + "\n" + text_of(found, "  ");
  }
};

/// What a parameter of the backend is, given or not.
std::string value_of(const std::string& parameter, const BackendChoice& place) {
  const auto& given = place.parameters.values();
  if (given.contains(parameter)) return given.at(parameter);
  const std::vector<Params::Declared> all = Backends::parameters(place.backend);
  const auto declared = std::ranges::find(all, parameter, &Params::Declared::key);
  return declared == all.end() ? "" : declared->fallback;
}

/// The same place where every message is sent and counted; null where it is one already.
std::unique_ptr<Backend> reference_of(const BackendChoice& place, bool& same_bits) {
  BackendChoice other = place;
  bool differs = false;
  for (const OwnMessages& own : BackendTraits::of(place.backend).own_messages) {
    if (value_of(own.parameter, place) == own.value) continue;
    other.parameters.set(own.parameter, own.value);
    differs = true;
    same_bits = same_bits && own.same_bits;
  }
  return differs ? other.make() : nullptr;
}

/// A launched job has one size; a model has those that have a shape of their own, as far as they fit.
std::vector<int> sizes_on(const BackendChoice& place, const Backend& backend) {
  const int all = place.ranks_on(backend);
  if (place.flags.ranks > 0 || backend.spans_processes()) return {all};
  std::vector<int> sizes;
  for (const int size : {1, 2, 3, 4, 7, 8}) {
    if (size <= all) sizes.push_back(size);
  }
  return sizes;
}

Findings check_algorithm(const std::string& spec_given, const BackendChoice& place, Backend& backend) {
  bool same_bits = true;
  const auto reference = reference_of(place, same_bits);
  Findings findings{{{"trial", "ranks", "steps", "rank 0's first exchange", ""}}, ""};
  for (const std::string& spec : trial_specs(spec_given)) {
    for (const int ranks : sizes_on(place, backend)) {
      const Tried tried = try_algorithm(spec, {backend, reference.get(), same_bits}, ranks);
      findings.add({spec, std::to_string(ranks), std::to_string(tried.steps), text_of(tried.exchange)}, tried.refusal,
                   tried.violations);
    }
  }
  const Spec given = Spec::parse(spec_given);
  if (given.parameters.empty()) findings.violations += text_of(untried_parameters(given.name), "");
  return findings;
}

Findings check_codec(const std::string& spec, const BackendChoice& place, Backend& backend) {
  Findings findings{{{"codec", "elements", "bytes", "error", "declared", ""}}, ""};
  const int ranks = backend.spans_processes() ? place.ranks_on(backend) : 1;
  for (const TriedCodec& tried : try_codec(spec, backend, ranks)) {
    findings.add({spec, std::to_string(tried.count), std::to_string(tried.bytes), short_number(tried.error),
                  short_number(tried.bound)},
                 "", tried.violations);
  }
  return findings;
}

Findings check_operation(const std::string& spec, const BackendChoice& place, Backend& backend) {
  Findings findings{{{"operation", "inputs", "flops", "bytes", "error", ""}}, ""};
  const int ranks = backend.spans_processes() ? place.ranks_on(backend) : 1;
  for (const TriedOperation& tried : try_operation(spec, backend, ranks)) {
    findings.add({spec, tried.inputs, short_number(tried.flops), short_number(tried.bytes), short_number(tried.error)},
                 "", tried.violations);
  }
  return findings;
}

/// On the nodes of the place, as far as its ranks go.
Findings check_topology(const std::string& spec, const BackendChoice& place, Backend& backend) {
  constexpr int largest = 16;
  const int placed = place.ranks_on(backend);
  Findings findings{{{"topology", "vertices", "spectral gap", ""}}, ""};
  for (int size = 1; size <= largest; ++size) {
    const std::vector<int> nodes = size <= placed ? backend.nodes(size) : std::vector<int>{};
    const TriedTopology tried = try_topology(spec, nodes.empty() ? Vertices(size) : Vertices(nodes));
    findings.add({spec, std::to_string(size), tried.refusal.empty() ? short_number(tried.spectral_gap) : "-"},
                 tried.refusal, tried.violations);
  }
  return findings;
}

/// Names without the kind of device that they are for.
template <class Interface>
std::vector<std::string> names_on_devices() {
  std::vector<std::string> names;
  for (const std::string& name : Registry<Interface>::names()) names.push_back(name.substr(name.find('/') + 1));
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

struct CheckedKind {
  const char* name;
  std::vector<std::string> (*names)();
  Findings (*check)(const std::string& spec, const BackendChoice& place, Backend& backend);
};
constexpr CheckedKind checked_kinds[] = {{Algorithm::registry_kind, Algorithms::names, check_algorithm},
                                         {Codec::registry_kind, names_on_devices<Codec>, check_codec},
                                         {Operation::registry_kind, names_on_devices<Operation>, check_operation},
                                         {Topology::registry_kind, Topologies::names, check_topology}};

/// The kind that is asked for, or the only one that has the name.
const CheckedKind& kind_of(const CheckFlags& config) {
  const std::string name = Spec::parse(config.spec).name;
  std::vector<const CheckedKind*> found;
  std::vector<std::string> known, known_kinds;
  for (const CheckedKind& kind : checked_kinds) {
    known_kinds.emplace_back(kind.name);
    if (!config.kind.empty() && config.kind != kind.name) continue;
    const std::vector<std::string> names = kind.names();
    known.insert(known.end(), names.begin(), names.end());
    if (std::find(names.begin(), names.end(), name) != names.end()) found.push_back(&kind);
  }
  if (!config.kind.empty() && std::find(known_kinds.begin(), known_kinds.end(), config.kind) == known_kinds.end())
    throw_unknown_name("kind", config.kind, known_kinds);
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  if (found.empty()) throw_unknown_name(config.kind.empty() ? "product" : config.kind, name, known);
  require(found.size() == 1, "trigram check: '", name, "' is the name of an ", found.front()->name, " and of a ",
          found.back()->name, "; say which by --kind ", found.front()->name, " or --kind ", found.back()->name);
  return *found.front();
}

int check(const Arguments& arguments) {
  const CommandLine words = check_command_line();
  if (words.helped(arguments)) return 0;
  Settings given = words.parse(arguments);
  const auto product = given.find("PRODUCT");
  require(product != given.end(), "trigram check: which product? give a name, as in: ", words.example);
  const std::string spec = product->second;
  given.erase(product);
  Params read = as_params("trigram check", given);
  CheckFlags flags(read);
  flags.spec = spec;
  const CheckedKind& kind = kind_of(flags);
  const BackendChoice place("trigram check", flags.place);
  const auto backend = place.make();
  require_ranks_of(*backend, "trigram check", place);
  const Findings findings = kind.check(spec, place, *backend);
  if (backend->process_rank() == 0) {
    std::cout << aligned(findings.rows) << findings.violations << kind.name << " " << spec
              << (findings.violations.empty() ? " holds what it declares\n" : " does not hold what it declares\n");
    if (kind.name == Algorithm::registry_kind)
      std::cout << missing_in_catalogue(shipped_folder("skeletons").parent_path().parent_path(),
                                        Spec::parse(spec).name);
  }
  return findings.violations.empty() ? 0 : 1;
}

}  // namespace

const Subcommand check_subcommand = {"check", "hold an algorithm, a codec, ... to what it declares", check, true};

}  // namespace trigram
