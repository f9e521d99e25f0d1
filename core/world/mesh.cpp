#include "core/world/mesh.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "core/values/error.hpp"
#include "core/values/quoted.hpp"

namespace trigram {
namespace {

constexpr std::array<std::string_view, 3> known_axes{Mesh::data, "expert", "tensor"};

bool is_known(std::string_view name) {
  return std::find(known_axes.begin(), known_axes.end(), name) != known_axes.end();
}

bool is_among(const std::vector<Mesh::Axis>& axes, std::string_view name) {
  return std::any_of(axes.begin(), axes.end(), [&](const Mesh::Axis& axis) { return axis.name == name; });
}

/// 0 for what is no number from 1 to `most`.
int read_size(std::string_view text, int most) {
  int size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  return is_number && size >= 1 && size <= most ? size : 0;
}

/// What a user wrote, and all that is wrong with it.
struct Reading {
  int ranks;
  std::vector<Mesh::Axis> axes = {};
  std::string wrong = {};

  void complain(const std::string& what) { wrong += (wrong.empty() ? "" : "; ") + what; }

  void read_axis(std::string_view part) {
    const std::size_t equals = std::min(part.find('='), part.size());
    const std::string_view name = part.substr(0, equals), size = part.substr(std::min(equals + 1, part.size()));
    const Mesh::Axis axis{std::string(name), read_size(size, ranks)};
    if (!is_known(name)) complain("axis " + in_quotes(name) + " is not one of data, expert, tensor");
    if (is_among(axes, name)) complain("axis " + in_quotes(name) + " is there twice");
    if (axis.size == 0)
      complain("axis " + in_quotes(name) + " has " + in_quotes(size) + " ranks, not 1 to " + std::to_string(ranks));
    axes.push_back(axis);
  }

  void read(std::string_view text) {
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      read_axis(text.substr(begin, end - begin));
      begin = end + 1;
    }
  }

  /// What can only be said of axes that are right by themselves.
  void check_together() {
    if (!is_among(axes, Mesh::data)) complain("there is no axis data, along which ranks are replicas");
    double places = 1;
    for (const Mesh::Axis& axis : axes) places *= axis.size;
    if (wrong.empty() && places != ranks)
      complain("it has " + number_text(places) + " places, but there are " + std::to_string(ranks) + " ranks");
  }
};

}  // namespace

Mesh Mesh::parse(const std::string& text, int ranks) {
  if (text.empty()) return Mesh(ranks);
  Reading reading{ranks};
  reading.read(text);
  reading.check_together();
  require(reading.wrong.empty(), "mesh " + in_quotes(text) + ": " + reading.wrong +
                                     "; name axes and their ranks, whose product is the number of all ranks, as " +
                                     "data=" + std::to_string(ranks) + " or data=4,expert=2");
  Mesh mesh;
  mesh.axes_ = std::move(reading.axes);
  return mesh;
}

std::vector<Mesh::Axis>::const_iterator Mesh::find(std::string_view axis) const {
  return std::find_if(axes_.begin(), axes_.end(), [&](const Axis& one) { return one.name == axis; });
}

bool Mesh::has(std::string_view axis) const { return find(axis) != axes_.end(); }

int Mesh::ranks() const {
  int ranks = 1;
  for (const Axis& axis : axes_) ranks *= axis.size;
  return ranks;
}

int Mesh::size(std::string_view axis) const {
  ensure(
      has(axis), "mesh ", [&] { return text(); }, " has no axis ", Quoted(axis));
  return find(axis)->size;
}

int Mesh::stride(std::string_view axis) const {
  size(axis);
  int stride = 1;
  for (auto inner = find(axis) + 1; inner != axes_.end(); ++inner) stride *= inner->size;
  return stride;
}

std::string Mesh::text() const {
  std::string text;
  for (const Axis& axis : axes_) text += (text.empty() ? "" : ",") + axis.name + "=" + std::to_string(axis.size);
  return text;
}

}  // namespace trigram
