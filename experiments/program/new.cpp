// trigram new: begins a product with the file that CONTRIBUTING's recipe shows. Each folder of experiments/skeletons is
// a kind, with one file in the folders that it has in the source tree; so a new kind is a new folder there, and a line
// in product_kinds.cpp, where names are looked up.
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>

#include "core/error.hpp"
#include "core/quoted.hpp"
#include "core/registry.hpp"
#include "experiments/program/command_line.hpp"
#include "experiments/program/product_kinds.hpp"
#include "experiments/settings/places.hpp"
#include "experiments/settings/text_file.hpp"

namespace trigram {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_name = 64;

std::vector<std::string> kinds() {
  std::vector<std::string> all;
  for (const fs::directory_entry& entry : fs::directory_iterator(shipped_folder("skeletons"))) {
    if (entry.is_directory()) all.push_back(entry.path().filename().string());
  }
  std::sort(all.begin(), all.end());
  return all;
}

/// The one file of a kind.
fs::path skeleton_of(const std::string& kind) {
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(shipped_folder("skeletons") / kind)) {
    if (entry.is_regular_file()) return entry.path();
  }
  throw Error("the skeletons that come with trigram have no file for " + kind);
}

bool is_letter(char c) { return c >= 'a' && c <= 'z'; }
bool is_letter_or_digit(char c) { return is_letter(c) || (c >= '0' && c <= '9'); }

void require_name(const std::string& name) {
  bool right = !name.empty() && name.size() <= longest_name && is_letter(name.front()) && name.back() != '_';
  for (std::size_t i = 1; right && i < name.size(); ++i)
    right = is_letter_or_digit(name[i]) || (name[i] == '_' && name[i - 1] != '_');
  require(right, "trigram new: ", Quoted(name), " cannot be a name; write at most ", longest_name,
          " lower-case letters and digits, a letter first, with single underscores between them, as in damped_average");
}

/// "DampedAverage" for damped_average.
std::string class_name(const std::string& name) {
  std::string text;
  bool begins = true;
  for (const char c : name) {
    if (c != '_') text += begins ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    begins = c == '_';
  }
  return text;
}

std::string replaced(std::string text, const std::string& old, const std::string& by) {
  for (std::size_t at = text.find(old); at != std::string::npos; at = text.find(old, at + by.size()))
    text.replace(at, old.size(), by);
  return text;
}

bool has_word(const std::string& text, const std::string& word) {
  const auto of_a_word = [&](std::size_t at) {
    return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
  };
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    if (!of_a_word(at - 1) && !of_a_word(at + word.size())) return true;
  }
  return false;
}

/// The skeleton with the new name in place of its own.
std::string begun(const fs::path& skeleton, const std::string& name) {
  const std::optional<std::string> text = read_text(skeleton);
  require(text.has_value(), "trigram new: ", skeleton.string(), " cannot be read: ", std::strerror(errno));
  const std::string own = skeleton.stem().string();
  require(name == own || !has_word(*text, class_name(name)), "trigram new: the class of ", Quoted(name), " would be ",
          class_name(name), ", a name that its file needs for something else; choose another");
  return replaced(replaced(*text, own, name), class_name(own), class_name(name));
}

/// Who is called like that already, as "algorithm 'qsgd'"; empty where nobody is.
std::string taken_by(const std::string& kind, const std::string& name) {
  for (const std::string& other : names_of_kind(kind)) {
    if (other.substr(other.find('/') + 1) == name) return kind + " " + in_quotes(other);
  }
  return {};
}

/// Where the source tree has files of that kind, where the current folder has that folder; else in the current folder.
fs::path place_of(const fs::path& skeleton, const std::string& kind, const std::string& name) {
  const fs::path home = fs::relative(skeleton, shipped_folder("skeletons") / kind).parent_path();
  const std::string file = name + skeleton.extension().string();
  return fs::is_directory(home) ? home / file : fs::path(file);
}

void write_new(const fs::path& path, const std::string& text) {
  std::FILE* file = std::fopen(path.c_str(), "wx");
  require(file != nullptr || errno != EEXIST, "trigram new: ", path.string(),
          " is there already; choose another name, or move it away");
  require(file != nullptr, "trigram new: ", path.string(), " cannot be written: ", std::strerror(errno));
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (std::fclose(file) == 0 && written) return;
  const std::string reason = std::strerror(errno);
  fs::remove(path);
  throw Error("trigram new: " + path.string() + " cannot be written: " + reason);
}

int begin_product(const Arguments& arguments) {
  const std::vector<std::string> all = kinds();
  std::string synopsis = "Begins a product with the file that CONTRIBUTING.md shows, under its new name.\nKIND is ";
  for (const std::string& kind : all) synopsis += (kind == all.front() ? "" : ", ") + kind;
  synopsis += ".\nWhere the current folder has the folder of that kind, as the source tree has, it is written there.";
  const CommandLine command_line{"new", synopsis, "trigram new algorithm my_average", {}, "KIND NAME"};
  if (command_line.helped(arguments)) return 0;
  const Settings given = command_line.parse(arguments);
  require(given.contains("KIND") && given.contains("NAME"),
          "trigram new: say KIND and NAME, as in: ", command_line.example);
  const std::string kind = given.at("KIND"), name = given.at("NAME");
  if (std::find(all.begin(), all.end(), kind) == all.end()) throw_unknown_name("kind", kind, all);
  require_name(name);
  const std::string other = taken_by(kind, name);
  require(other.empty(), "trigram new: there is ", other, " already; choose another name");
  const fs::path skeleton = skeleton_of(kind);
  const fs::path place = place_of(skeleton, kind, name);
  write_new(place, begun(skeleton, name));
  std::cout << place.string() << ": begun; lines with \"Change:\" say what to make your own\n";
  return 0;
}

}  // namespace

const Subcommand new_subcommand = {"new", "begin an algorithm, a codec, a topology, ... with a file", begin_product};

}  // namespace trigram
