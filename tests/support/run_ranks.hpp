// One body on every rank of any backend, and back with typed results.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/device/on_host.hpp"
#include "core/training/backend.hpp"
#include "core/values/packing.hpp"

namespace trigram {

/// The backends that every communicator test runs on: threads, and the simulator in both fidelities where it is built.
std::vector<std::string> tested_backends();

/// Runs `body` on every rank; what each returns, by rank. Ranks may be other processes: expectations belong after the
/// run, on what the bodies returned.
template <class T>
std::vector<std::vector<T>> run_ranks(const std::string& backend, const World& world,
                                      const std::function<std::vector<T>(RankRuntime&)>& body) {
  const Outcome outcome = Backends::make(backend)->run(world, [&](RankRuntime& runtime) {
    const std::vector<T> values = body(runtime);
    Packer packer;
    packer.put_all(std::span(values));
    return std::move(packer).bytes();
  });
  std::vector<std::vector<T>> results;
  for (const std::vector<std::byte>& bytes : outcome.results) results.push_back(Unpacker(bytes).take_all<T>());
  return results;
}

/// The same on so many ranks with everything else as it is by default.
template <class T>
std::vector<std::vector<T>> run_ranks(const std::string& backend, int ranks,
                                      const std::function<std::vector<T>(RankRuntime&)>& body) {
  World world;
  world.ranks = ranks;
  return run_ranks<T>(backend, world, body);
}

}  // namespace trigram
