// One body on every rank of any backend, and back with typed results.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/training/backend.hpp"
#include "core/values/packing.hpp"

namespace trigram {

/// The backends that every communicator test runs on: threads, and the simulator in both fidelities where it is built.
std::vector<std::string> tested_backends();

/// The element type that a Buffer calls T.
template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, float>) return DType::f32;
  if constexpr (std::is_same_v<T, std::uint8_t>) return DType::u8;
  if constexpr (std::is_same_v<T, std::int32_t>) return DType::i32;
  if constexpr (std::is_same_v<T, std::int64_t>) return DType::i64;
}

/// Device memory with these values.
template <class T>
OwnedBuffer on_device(Device& device, const std::vector<T>& values) {
  OwnedBuffer buffer = device.allocate(Shape::of(static_cast<std::int64_t>(values.size()), dtype_of<T>()));
  device.upload(std::as_bytes(std::span(values)), buffer);
  return buffer;
}

/// The values of device memory.
template <class T>
std::vector<T> on_host(Device& device, Buffer buffer) {
  std::vector<T> values(static_cast<std::size_t>(buffer.count()));
  device.download(buffer, std::as_writable_bytes(std::span(values)));
  return values;
}

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
