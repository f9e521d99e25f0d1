#include "core/step/state.hpp"

#include <algorithm>
#include <utility>

#include "core/values/error.hpp"
#include "core/values/packing.hpp"
#include "core/values/quoted.hpp"

namespace trigram {
namespace {

std::string length_of(std::size_t bytes) { return std::to_string(bytes) + " bytes"; }

void require_length(const std::string& name, std::size_t held, std::size_t wanted) {
  require(held == wanted, "the checkpoint holds " + length_of(held) + " of " + in_quotes(name) + ", but here it has " +
                              length_of(wanted) + "; go on with the program and the settings that wrote it");
}

}  // namespace

void StateWriter::visit(const std::string& name, Buffer x) {
  std::vector<std::byte> host(static_cast<std::size_t>(x.bytes()));
  if (!host.empty()) device_.download(x, host);
  visit(name, std::span(host));
}

void StateWriter::visit(const std::string& name, std::span<std::byte> x) {
  packer_.put_text(name);
  packer_.put_all(std::span<const std::byte>(x));
}

void StateWriter::visit(const std::string& name, const Pack& pack, const Unpack&) {
  std::vector<std::byte> bytes = pack();
  visit(name, std::span(bytes));
}

std::vector<std::byte> StateReader::take(const std::string& name) {
  const std::string held = unpacker_.take_text();
  require(held == name, "the checkpoint holds " + in_quotes(held) + " where " + in_quotes(name) +
                            " is wanted; go on with the program and the settings that wrote it");
  return unpacker_.take_all<std::byte>();
}

void StateReader::visit(const std::string& name, Buffer x) {
  const std::vector<std::byte> held = take(name);
  require_length(name, held.size(), static_cast<std::size_t>(x.bytes()));
  if (!held.empty()) device_.upload(held, x);
}

void StateReader::visit(const std::string& name, std::span<std::byte> x) {
  const std::vector<std::byte> held = take(name);
  require_length(name, held.size(), x.size());
  std::copy(held.begin(), held.end(), x.begin());
}

void StateReader::visit(const std::string& name, const Pack&, const Unpack& unpack) { unpack(take(name)); }

}  // namespace trigram
