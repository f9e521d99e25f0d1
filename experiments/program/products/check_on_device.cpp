#include "experiments/program/products/check_on_device.hpp"

#include <functional>
#include <iostream>
#include <span>

#include "core/conformance/codec_check.hpp"
#include "core/conformance/device_check.hpp"
#include "core/conformance/operation_check.hpp"
#include "core/device/codec.hpp"
#include "core/step/operation.hpp"
#include "core/step/optimizer.hpp"
#include "core/values/error.hpp"
#include "experiments/program/products/check_findings.hpp"
#include "experiments/program/products/check_kinds.hpp"
#include "experiments/program/tables/tables.hpp"

namespace trigram {
namespace {

using Compare = std::vector<ComparedTrial> (*)(const std::string& spec, TriedDevice& tested, TriedDevice& reference);

/// What is tried on a device by itself.
struct DeviceKind {
  NamedKind named;
  /// Whether a product is there for a kind of device: "cuda/fp16".
  bool (*is_there)(const std::string& name);
  Compare compare;
  /// Holds it to what it declares, where it declares anything.
  void (*hold)(Findings& findings, const std::string& spec, Device& device);
};

void hold_codec(Findings& findings, const std::string& spec, Device& device) {
  for (const TriedCodec& tried : try_codec(spec, device)) {
    findings.add({spec, number_text(tried.count) + " elements",
                  "error " + short_number(tried.error) + " of " + short_number(tried.bound)},
                 "", tried.violations);
  }
}

void hold_operation(Findings& findings, const std::string& spec, Device& device) {
  for (const TriedOperation& tried : try_operation(spec, device))
    findings.add({spec, tried.inputs, "gradients " + short_number(tried.error)}, "", tried.violations);
}

const DeviceKind device_kinds[] = {
    {{Codec::registry_kind, names_on_devices<Codec>}, Codecs::has, compare_codec, hold_codec},
    {{Operation::registry_kind, names_on_devices<Operation>}, Operations::has, compare_operation, hold_operation},
    // It works through operations of devices, and has no kernels of its own.
    {{Optimizer::registry_kind, Optimizers::names},
     [](const std::string&) { return true; },
     compare_optimizer,
     [](Findings&, const std::string&, Device&) {}}};

const DeviceKind& device_kind_of(const std::string& kind, const std::string& product) {
  std::vector<NamedKind> named;
  for (const DeviceKind& one : device_kinds) named.push_back(one.named);
  return device_kinds[kind_of(named, kind, product)];
}

std::unique_ptr<TriedDevice> device_called(const std::string& name) {
  require(TriedDevices::has(name) || name != "ptx",
          "trigram check: this program has no device 'ptx', whose kernels nvcc compiles; in Trigram's tree, ./trigram "
          "check NAME --device ptx builds the one that has it, where nvcc is, and runs it");
  return TriedDevices::make(name);
}

void require_kernels(const DeviceKind& kind, const std::string& product, std::string_view of_device) {
  const std::string there = std::string(of_device) + "/" + product;
  const std::string what = of_device == "cpu" ? "" : std::string(of_device) + "-";
  require(kind.is_there(there), "trigram check: ", kind.named.name, " '", product, "' is not there as ", there,
          "; ./trigram new ", what, kind.named.name, " ", product, " begins one where it knows that kind");
}

Findings compared(TriedDevice& tested, TriedDevice& reference, const DeviceKind& kind, const std::string& spec) {
  Findings findings{{{kind.named.name, "trial", "beside the reference", ""}}, ""};
  for (const ComparedTrial& one : kind.compare(spec, tested, reference)) {
    const std::string apart = one.difference == 0 ? "the same bits" : "within " + short_number(one.difference);
    findings.add({spec, one.trial, one.violations.empty() ? apart : "-"}, "", one.violations);
  }
  return findings;
}

Findings held(TriedDevice& tested, const DeviceKind& kind, const std::string& spec) {
  Findings findings{{{kind.named.name, "trial", "what it declares", ""}}, ""};
  Timeline timeline([] { return 0.0; }, false);
  const std::unique_ptr<Device> device = tested.make(timeline);
  kind.hold(findings, spec, *device);
  return findings;
}

/// Prints all rows and what does not hold; whether all holds.
bool print(const Findings& findings) {
  if (findings.rows.size() > 1) std::cout << aligned(findings.rows) << findings.violations;
  return findings.violations.empty();
}

}  // namespace

int check_on_device(const std::string& device, const std::string& kind_asked, const std::string& spec) {
  const std::string product = Spec::parse(spec).name;
  const std::unique_ptr<TriedDevice> tested = device_called(device), reference = TriedDevices::make(reference_device);
  const DeviceKind& kind = device_kind_of(kind_asked, product);
  Timeline timeline([] { return 0.0; }, false);
  require_kernels(kind, product, reference->make(timeline)->kind());
  require_kernels(kind, product, tested->make(timeline)->kind());
  const std::string here = std::string(kind.named.name) + " " + spec + " on " + device;
  if (!print(compared(*tested, *reference, kind, spec))) {
    std::cout << here << " does not do what it does on " << reference_device << "\n";
    return 1;
  }
  const bool holds = print(held(*tested, kind, spec));
  std::cout << here << " does what it does on " << reference_device
            << (holds ? ", and holds what it declares\n" : ", but does not hold what it declares\n");
  return holds ? 0 : 1;
}

}  // namespace trigram
