#include "ptx/instructions/located.hpp"

#include <string>

#include "core/values/error.hpp"
#include "ptx/observer.hpp"
#include "ptx/store_buffer.hpp"

namespace trigram::ptx {

namespace {

/// One access of one instruction by one warp.
struct Request {
  Lanes& lanes;
  const Instruction& instruction;
  const Accessed& accessed;
};

[[noreturn]] void refuse(const Request& request, std::uint32_t lane, std::uint64_t address, Space space,
                         const std::string& why) {
  const Accessed& a = request.accessed;
  request.lanes.fault(request.instruction, lane, "memcheck",
                      std::string("invalid ") + name_of(space) +
                          (a.access == Access::read ? " read of " : " write of ") + number_text(a.bytes) +
                          " bytes at address " + hexadecimal(address) + ", " + why);
}

[[noreturn]] void refuse_misaligned(const Request& request, std::uint32_t lane, std::uint64_t address) {
  const Space named = request.accessed.space, space = named == Space::generic ? space_of(address) : named;
  const std::string lies = space == Space::global ? request.lanes.block->memory.what_lies_at(address) : "";
  refuse(request, lane, address, named, "which is misaligned" + (lies.empty() ? lies : " (" + lies + ")"));
}

/// An address in a register of 32 bits wraps there.
Addresses addresses_of(const Request& request) {
  const Operand& base = request.accessed.address;
  const std::int64_t offset = request.instruction.offset;
  Addresses addresses;
  if (base.bytes == 4) {
    const auto* from = request.lanes.values<std::uint32_t>(base);
    for (std::size_t lane = 0; lane < lanes_of_warp; ++lane)
      addresses[lane] = from[lane] + static_cast<std::uint32_t>(offset);
  } else {
    const auto* from = request.lanes.values<std::uint64_t>(base);
    for (std::size_t lane = 0; lane < lanes_of_warp; ++lane)
      addresses[lane] = from[lane] + static_cast<std::uint64_t>(offset);
  }
  return addresses;
}

void require_aligned(const Request& request, const Addresses& addresses) {
  over(request.lanes.active, [&](std::uint32_t lane) {
    if (addresses[lane] % request.accessed.bytes != 0) [[unlikely]]
      refuse_misaligned(request, lane, addresses[lane]);
  });
}

std::byte* in_global(const Request& request, std::uint32_t lane, std::uint64_t address) {
  if (space_of(address) != Space::global)
    refuse(request, lane, address, Space::global, "which lies in another state space");
  try {
    return request.lanes.block->memory.at(address, request.accessed.bytes, request.accessed.access);
  } catch (const InvalidAddress& error) {
    refuse(request, lane, address, Space::global, error.what());
  }
}

std::byte* within(const Request& request, std::uint32_t lane, std::uint64_t address, Space space, std::byte* memory,
                  std::size_t size) {
  if (address > size || size - address < request.accessed.bytes) [[unlikely]]
    refuse(request, lane, address, space, "which is out of bounds of " + number_text(size) + " bytes");
  return memory + address;
}

std::byte* in_parameters(const Request& request, std::uint32_t lane, std::uint64_t address) {
  if (request.accessed.access == Access::write)
    refuse(request, lane, address, Space::parameters, "which no kernel may write");
  const auto parameters = request.lanes.block->launch.parameters;
  // They are read only, as has just been made sure.
  return within(request, lane, address, Space::parameters, const_cast<std::byte*>(parameters.data()),
                parameters.size());
}

std::byte* in_space(const Request& request, std::uint32_t lane, std::uint64_t address, Space space) {
  Lanes& lanes = request.lanes;
  switch (space) {
    case Space::shared:
      return within(request, lane, address, space, lanes.block->shared.data(), lanes.block->shared.size());
    case Space::local: {
      const std::size_t size = lanes.block->kernel.local_bytes;
      return within(request, lane, address, space, lanes.local + lane * size, size);
    }
    case Space::parameters:
      return in_parameters(request, lane, address);
    case Space::global:
      return in_global(request, lane, address);
    default: {
      const Space found = space_of(address);
      return in_space(request, lane, address - window_of(found), found);
    }
  }
}

bool follow_one_another(const Addresses& addresses, std::uint64_t bytes) {
  bool all = true;
  for (std::size_t lane = 0; lane < lanes_of_warp; ++lane) all &= addresses[lane] == addresses[0] + lane * bytes;
  return all;
}

/// Finds all lanes' bytes at once where they are a row that may be accessed as a whole.
bool locate_row(const Request& request, const Addresses& addresses, Located& located) {
  const std::uint32_t bytes = request.accessed.bytes;
  if (request.lanes.active != all_lanes || !follow_one_another(addresses, bytes)) return false;
  try {
    std::byte* row = request.lanes.block->memory.at(addresses[0], bytes * lanes_of_warp, request.accessed.access);
    for (std::size_t lane = 0; lane < lanes_of_warp; ++lane) located[lane] = row + lane * bytes;
    return true;
  } catch (const InvalidAddress&) {
    return false;
  }
}

/// Tells of the lanes that access one space after another.
void tell(const Request& request, const Addresses& addresses) {
  const Accessed& a = request.accessed;
  Observer& observer = *request.lanes.block->observer;
  const auto tell_of = [&](Space space, std::uint32_t lanes, const Addresses& in_space) {
    if (lanes != 0) observer.accesses(request.lanes, {request.instruction, space, a.access, lanes, a.bytes, in_space});
  };
  if (a.space != Space::generic) return tell_of(a.space, request.lanes.active, addresses);
  for (const Space space : {Space::global, Space::shared, Space::local, Space::parameters}) {
    std::uint32_t lanes = 0;
    Addresses within = addresses;
    over(request.lanes.active, [&](std::uint32_t lane) {
      lanes |= std::uint32_t{space_of(addresses[lane]) == space} << lane;
      within[lane] -= window_of(space);
    });
    tell_of(space, lanes, within);
  }
}

/// Finds each lane's bytes on the host.
Located locate_all(const Request& request, const Addresses& addresses) {
  const Space space = request.accessed.space;
  Located located;
  const bool may_be_global = space == Space::global || space == Space::generic;
  if (may_be_global && space_of(addresses[0]) == Space::global && locate_row(request, addresses, located))
    return located;
  over(request.lanes.active,
       [&](std::uint32_t lane) { located[lane] = in_space(request, lane, addresses[lane], space); });
  return located;
}

}  // namespace

Located locate(Lanes& lanes, const Instruction& instruction, const Accessed& accessed) {
  const Request request{lanes, instruction, accessed};
  const Addresses addresses = addresses_of(request);
  require_aligned(request, addresses);
  Located located = locate_all(request, addresses);
  if (lanes.block->observer != nullptr) [[unlikely]]
    tell(request, addresses);
  if (lanes.stores != nullptr) [[unlikely]]
    located = accessed.access == Access::read ? lanes.stores->seen(lanes.active, located, accessed.bytes)
                                              : lanes.stores->begin(lanes.active, located, accessed.bytes);
  return located;
}

}  // namespace trigram::ptx
