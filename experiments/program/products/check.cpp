// trigram check: holds an algorithm, a codec, a topology or an operation to what it declares.
#include <algorithm>
#include <iostream>

#include "core/conformance/algorithm_check.hpp"
#include "core/conformance/codec_check.hpp"
#include "core/conformance/operation_check.hpp"
#include "core/conformance/topology_check.hpp"
#include "core/device/codec.hpp"
#include "core/registry/backend_traits.hpp"
#include "core/step/operation.hpp"
#include "core/topologies/topology.hpp"
#include "core/values/cost_text.hpp"
#include "core/values/error.hpp"
#include "experiments/program/flags/command_line.hpp"
#include "experiments/program/products/catalogue.hpp"
#include "experiments/program/products/check_findings.hpp"
#include "experiments/program/products/check_kinds.hpp"
#include "experiments/program/products/check_on_device.hpp"
#include "experiments/program/tables/tables.hpp"
#include "experiments/settings/backend_choice.hpp"
#include "experiments/settings/job.hpp"
#include "experiments/settings/places.hpp"

namespace trigram {
namespace {

struct CheckFlags {
  explicit CheckFlags(Params& flags)
      : place(flags),
        kind(flags.get("kind", "", "algorithm, codec, topology or operation; needed where several have the name")),
        device(flags.get("device", "",
                         "tries a codec, operation or optimizer on this device beside 'cpu', bit for bit, in place of "
                         "a backend: 'ptx' is what nvcc makes of kernels for GPUs, interpreted without one")) {}

  PlaceFlags place;
  std::string kind, device;
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

struct CheckedKind {
  NamedKind named;
  Findings (*check)(const std::string& spec, const BackendChoice& place, Backend& backend);
};
constexpr CheckedKind checked_kinds[] = {{{Algorithm::registry_kind, Algorithms::names}, check_algorithm},
                                         {{Codec::registry_kind, names_on_devices<Codec>}, check_codec},
                                         {{Operation::registry_kind, names_on_devices<Operation>}, check_operation},
                                         {{Topology::registry_kind, Topologies::names}, check_topology}};

const CheckedKind& checked_kind_of(const CheckFlags& config) {
  std::vector<NamedKind> named;
  for (const CheckedKind& kind : checked_kinds) named.push_back(kind.named);
  return checked_kinds[kind_of(named, config.kind, Spec::parse(config.spec).name)];
}

/// A device is tried by itself, wherever ranks would run.
void require_no_place(const Settings& given) {
  for (const auto& [flag, value] : given) {
    require(flag == "device" || flag == "kind", "trigram check: --device tries a product without ranks; leave out --",
            flag);
  }
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
  if (!flags.device.empty()) {
    require_no_place(given);
    return check_on_device(flags.device, flags.kind, spec);
  }
  const CheckedKind& kind = checked_kind_of(flags);
  const BackendChoice place("trigram check", flags.place);
  const auto backend = place.make();
  require_ranks_of(*backend, "trigram check", place);
  const Findings findings = kind.check(spec, place, *backend);
  if (backend->process_rank() == 0) {
    std::cout << aligned(findings.rows) << findings.violations << kind.named.name << " " << spec
              << (findings.violations.empty() ? " holds what it declares\n" : " does not hold what it declares\n");
    if (kind.named.name == Algorithm::registry_kind)
      std::cout << missing_in_catalogue(shipped_folder("skeletons").parent_path().parent_path(),
                                        Spec::parse(spec).name);
  }
  return findings.violations.empty() ? 0 : 1;
}

}  // namespace

const Subcommand check_subcommand = {"check", "hold an algorithm, a codec, ... to what it declares", check, true};

}  // namespace trigram
