#include "ptx/runtime/repeated_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

namespace cuda_on_host {
namespace {

/// Of each end, and of what is repeated.
constexpr std::size_t piece = std::size_t{64} << 20U;

std::size_t rounded_up(std::size_t bytes) { return (bytes + piece - 1) / piece * piece; }

/// Maps pieces of a file that has four: its first, then its second again and again, and at the end its third and
/// fourth, since a last piece may have few bytes.
bool map_pieces(char* begin, std::size_t bytes, int file) {
  for (std::size_t at = 0; at < bytes; at += piece) {
    const std::size_t left = (bytes - at) / piece;
    const std::size_t of_file = at == 0 ? 0 : left > 2 ? piece : (4 - left) * piece;
    if (mmap(begin + at, piece, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, static_cast<off_t>(of_file)) ==
        MAP_FAILED)
      return false;
  }
  return true;
}

}  // namespace

void* map_repeated(std::size_t bytes) {
  const std::size_t room = std::max(rounded_up(bytes), 2 * piece);
  const int file = memfd_create("repeated", MFD_CLOEXEC);
  if (file < 0) return nullptr;
  void* const begin = mmap(nullptr, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  const bool mapped = begin != MAP_FAILED && ftruncate(file, static_cast<off_t>(4 * piece)) == 0 &&
                      map_pieces(static_cast<char*>(begin), room, file);
  close(file);
  if (mapped) return begin;
  if (begin != MAP_FAILED) munmap(begin, room);
  return nullptr;
}

void unmap_repeated(void* address, std::size_t bytes) { munmap(address, std::max(rounded_up(bytes), 2 * piece)); }

}  // namespace cuda_on_host
