#include "tests/kernels/cuda/on_ptx/mutation.hpp"

#include <cstdio>
#include <map>
#include <optional>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace trigram::on_ptx {
namespace {

/// What products hold, by the register that they are in.
using Products = std::map<std::string, std::string>;
/// Makes a line wrong where it is one that can be.
using Change = bool (*)(std::string& line, Products& products);

bool replaced(std::string& line, const std::string& from, const std::string& to) {
  const auto found = line.find(from);
  if (found == std::string::npos) return false;
  line.replace(found, from.size(), to);
  return true;
}

bool without_barrier(std::string& line, Products&) {
  if (line.find("bar.sync") == std::string::npos) return false;
  line.clear();
  return true;
}

bool turned(std::string& line, Products&) {
  return replaced(line, "setp.gt.", "setp.ge.") || replaced(line, "setp.lt.", "setp.le.") ||
         replaced(line, "setp.ge.", "setp.gt.") || replaced(line, "setp.le.", "setp.lt.");
}

bool swapped(std::string& line, Products&) {
  return replaced(line, "shfl.sync.bfly", "shfl.sync.down") || replaced(line, "shfl.sync.down", "shfl.sync.bfly") ||
         replaced(line, "shfl.sync.up", "shfl.sync.down") || replaced(line, "shfl.sync.idx", "shfl.sync.bfly");
}

bool shifted(std::string& line, Products&) {
  static const std::regex shuffle(R"((\s*shfl\.sync\.\w+\.b32\s+[^,]+, [^,]+, )([^,]+)(,.*;)\s*)");
  std::smatch found;
  if (!std::regex_match(line, found, shuffle)) return false;
  const std::string lane = found[2];
  if (lane.front() == '%') {
    line = "{ .reg .b32 %shifted; add.s32 %shifted, " + lane + ", 1; " + found[1].str() + "%shifted" + found[3].str() +
           " }";
  } else {
    line = found[1].str() + std::to_string(std::stoi(lane) + 1) + found[3].str();
  }
  return true;
}

bool contracted(std::string& line, Products& products) {
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
                                            {"shifted_lanes", shifted},
                                            {"contracted", contracted}};

/// Counts, line by line, where one change could be made.
class Places {
 public:
  explicit Places(Change change) : change_(change) {}

  /// What the line becomes where it is such a place.
  std::optional<std::string> wrong(const std::string& line) {
    if (line.find(".entry ") != std::string::npos) {
      kernel = line;
      place = -1;
      products_.clear();
    }
    std::string changed = line;
    if (!change_(changed, products_)) return {};
    ++place;
    return changed;
  }

  std::string kernel;  ///< the heading of the kernel that the line is in
  int place = -1;      ///< of the last such line in it

 private:
  Change change_;
  Products products_;
};

/// The name in a kernel's heading, with the bracket that ends it, so that no other name begins alike.
std::string name_in(const std::string& heading) {
  const auto begin = heading.find(".entry ") + 7;
  return heading.substr(begin, heading.find('(') + 1 - begin);
}

/// The first word of a line behind what it depends on, as "setp.gt.f32".
std::string instruction_of(const std::string& line) {
  std::istringstream words(line);
  std::string word;
  words >> word;
  if (word.starts_with('@')) words >> word;
  return word;
}

/// The files that `.file` numbers.
std::map<int, std::string> files_of(const std::string& ptx) {
  static const std::regex directive(R"re(\.file\s+(\d+)\s+"([^"]+)")re");
  std::map<int, std::string> files;
  for (auto found = std::sregex_iterator(ptx.begin(), ptx.end(), directive); found != std::sregex_iterator(); ++found)
    files[std::stoi((*found)[1])] = (*found)[2];
  return files;
}

/// The file and line that `.loc` names; none of a header of the toolkit or the compiler, and none where it names line
/// 0, as of what nvcc makes of a loop that it unrolls: that code is in the line before.
std::optional<std::pair<std::string, int>> location(const std::string& line, const std::map<int, std::string>& files) {
  int file = 0, row = 0;
  if (std::sscanf(line.c_str(), " .loc %d %d", &file, &row) != 2 || row == 0) return {};
  const auto known = files.find(file);
  if (known == files.end() || known->second.find("/include/") != std::string::npos) return {};
  return std::pair(known->second, row);
}

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
  Places places(changes.at(mutation.name));
  std::istringstream lines(ptx);
  std::ostringstream result;
  for (std::string line; std::getline(lines, line);) {
    const auto wrong = places.wrong(line);
    const bool here = wrong && places.kernel.find(mutation.kernel) != std::string::npos &&
                      (mutation.place < 0 || mutation.place == places.place);
    result << (here ? *wrong : line) << '\n';
  }
  return result.str();
}

std::vector<Place> places_in(const std::string& ptx) {
  const std::map<int, std::string> files = files_of(ptx);
  std::vector<Place> all;
  for (const auto& [name, change] : changes) {
    Places places(change);
    std::istringstream lines(ptx);
    std::string source;
    int row = 0;
    for (std::string line; std::getline(lines, line);) {
      if (const auto at = location(line, files)) std::tie(source, row) = *at;
      if (places.wrong(line))
        all.push_back({{name, name_in(places.kernel), places.place}, instruction_of(line), source, row});
    }
  }
  return all;
}

}  // namespace trigram::on_ptx
