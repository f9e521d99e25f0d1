#include "ptx/device/readable.hpp"

#include <cstddef>
#include <regex>

namespace trigram::ptx {

namespace {

/// Without the parameters of a function, whose list ends the text.
std::string without_parameters(const std::string& text) {
  if (text.empty() || text.back() != ')') return text;
  int depth = 0;
  for (std::size_t i = text.size(); i-- > 0;) {
    if (text[i] == ')') ++depth;
    if (text[i] == '(' && --depth == 0) return text.substr(0, i);
  }
  return text;
}

}  // namespace

std::string source_text(const Place& place) {
  if (place.source_file.empty()) return "line " + std::to_string(place.line) + " of the PTX";
  return place.source_file.substr(place.source_file.find_last_of('/') + 1) + ":" + std::to_string(place.source_line);
}

std::string readable_name(const std::string& declared) {
  static const std::regex namespaces(R"(trigram::|cuda::|\(anonymous namespace\)::|_NV_ANON_NAMESPACE::|^void )");
  return std::regex_replace(without_parameters(declared), namespaces, "");
}

std::string with_readable_names(const std::string& text_given) {
  static const std::regex folders(R"([^\s,]*/([\w.]+:\d+))");
  const std::string text = std::regex_replace(text_given, folders, "$1");
  static const std::regex names(
      R"((of |, and |orders )kernel (.+?)(?=, [\w.]+:\d+ \(line|, line \d| on stream \d| on the default stream))");
  std::string readable;
  auto last = text.cbegin();
  for (std::sregex_iterator found(text.begin(), text.end(), names), end; found != end; ++found) {
    readable.append(last, found->prefix().second);
    readable += found->str(1) + "kernel " + readable_name(found->str(2));
    last = found->suffix().first;
  }
  return readable.append(last, text.cend());
}

}  // namespace trigram::ptx
