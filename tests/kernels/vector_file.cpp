#include "tests/kernels/vector_file.hpp"

#include "tests/support/source_tree.hpp"

namespace trigram {

std::filesystem::path vector_file(const std::string& name) {
  const std::filesystem::path here = source_tree() / "tests" / "vectors" / name;
  if (std::filesystem::exists(here)) return here;
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / "vectors" / name;
}

}  // namespace trigram
