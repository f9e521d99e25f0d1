#include "experiments/study/study.hpp"

namespace trigram {

std::vector<std::string> line_keys(const Study& study) {
  std::vector<std::string> keys;
  for (std::size_t i = 1; i < study.sweep.size(); ++i) {
    if (study.sweep[i].key != "seed") keys.push_back(study.sweep[i].key);
  }
  return keys;
}

}  // namespace trigram
