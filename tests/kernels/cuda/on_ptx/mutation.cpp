#include "tests/kernels/cuda/on_ptx/mutation.hpp"

#include <map>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace trigram::on_ptx {
namespace {

using Change = bool (*)(std::string& line, std::map<std::string, std::string>& products);

bool replaced(std::string& line, const std::string& from, const std::string& to) {
  const auto found = line.find(from);
  if (found == std::string::npos) return false;
  line.replace(found, from.size(), to);
  return true;
}

bool without_barrier(std::string& line, std::map<std::string, std::string>&) {
  if (line.find("bar.sync") == std::string::npos) return false;
  line.clear();
  return true;
}

bool turned(std::string& line, std::map<std::string, std::string>&) {
  return replaced(line, "setp.gt.", "setp.ge.") || replaced(line, "setp.lt.", "setp.le.") ||
         replaced(line, "setp.ge.", "setp.gt.") || replaced(line, "setp.le.", "setp.lt.");
}

bool swapped(std::string& line, std::map<std::string, std::string>&) {
  return replaced(line, "shfl.sync.bfly", "shfl.sync.down") || replaced(line, "shfl.sync.down", "shfl.sync.bfly");
}

bool contracted(std::string& line, std::map<std::string, std::string>& products) {
  static const std::regex arithmetic(R"((\s*)(mul|add)\.rn\.(f32|f64)\s+(%\w+), (%\w+), (\w+|%\w+);)");
  std::smatch found;
  if (!std::regex_match(line, found, arithmetic)) return false;
  if (found[2] == "mul") {
    products[found[4]] = found[5].str() + ", " + found[6].str();
    return false;
  }
  for (const auto& [product, other] : {std::pair(found[5].str(), found[6].str()), {found[6].str(), found[5].str()}}) {
    const auto factors = products.find(product);
    if (factors == products.end()) continue;
    line = found[1].str() + "fma.rn." + found[3].str() + " " + found[4].str() + ", " + factors->second + ", " + other +
           ";";
    return true;
  }
  return false;
}

const std::map<std::string, Change> changes{{"no_barriers", without_barrier},
                                            {"turned_comparisons", turned},
                                            {"swapped_shuffles", swapped},
                                            {"contracted", contracted}};

}  // namespace

Mutation mutation_of(const std::string& text) {
  std::istringstream words(text);
  Mutation mutation;
  words >> mutation.name >> mutation.kernel >> mutation.place;
  if (words.fail()) mutation.place = -1;
  if (!changes.contains(mutation.name)) throw std::invalid_argument("no mutation is called '" + mutation.name + "'");
  return mutation;
}

std::string mutated(const std::string& ptx, const Mutation& mutation) {
  const Change change = changes.at(mutation.name);
  std::istringstream lines(ptx);
  std::ostringstream result;
  std::map<std::string, std::string> products;
  std::string line, kernel;
  int places = 0;
  while (std::getline(lines, line)) {
    if (line.find(".entry ") != std::string::npos) {
      kernel = line;
      places = 0;
      products.clear();
    }
    std::string wrong = line;
    if (kernel.find(mutation.kernel) != std::string::npos && change(wrong, products)) {
      if (mutation.place < 0 || places == mutation.place) line = wrong;
      ++places;
    }
    result << line << '\n';
  }
  return result.str();
}

}  // namespace trigram::on_ptx
