#include "ptx/module.hpp"

#include <cstdint>
#include <span>
#include <utility>

#include "core/values/error.hpp"
#include "ptx/reader/kernel_reader.hpp"
#include "ptx/reader/pieces.hpp"
#include "ptx/reader/source_places.hpp"

namespace trigram::ptx {

namespace {

std::vector<Piece> all_pieces(Pieces& source) {
  std::vector<Piece> pieces;
  do pieces.push_back(source.next());
  while (pieces.back().kind != Piece::Kind::end);
  pieces.pop_back();
  return pieces;
}

/// The heading that comes first, and all up to the brace that closes its body.
std::span<const Piece> with_body(std::span<const Piece> pieces, const Pieces& source) {
  int depth = 0;
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    depth += pieces[i].kind == Piece::Kind::open;
    depth -= pieces[i].kind == Piece::Kind::close;
    if (depth == 0) return pieces.subspan(0, i + 1);
  }
  throw UsageError(source.at_line(pieces.front().line) + ": nothing closes the body that begins here");
}

/// What is said once for the whole file, in a directive that ends with its line.
void take_directive(const std::string& text, Surroundings& surroundings) {
  if (text.starts_with(".file")) read_file_name(text, surroundings.files);
  if (text.starts_with(".address_size")) require(text.ends_with(" 64"), "the interpreter knows addresses of 64 bits");
}

void take_variable(const std::string& text, Surroundings& surroundings) {
  const std::size_t shared = text.find(".shared ");
  const bool is_known = shared == 0 || text.starts_with(".extern .shared ") || text.starts_with(".visible .shared ");
  require(is_known, "the interpreter knows shared variables outside of kernels, and no others");
  surroundings.shared.push_back(read_declaration(std::string_view(text).substr(shared + 8)));
}

void take_outside(const Piece& piece, Surroundings& surroundings, const Pieces& source) {
  try {
    if (piece.kind == Piece::Kind::line_directive) return take_directive(piece.text, surroundings);
    require(piece.kind == Piece::Kind::statement, "it stands outside of all kernels");
    if (!piece.text.starts_with(".pragma")) take_variable(piece.text, surroundings);
  } catch (const UsageError& error) {
    fail_with<UsageError>(source.at_line(piece.line), ": cannot read '", piece.text, "': ", error.what());
  }
}

}  // namespace

Module Module::read(std::string_view text, std::string name) {
  Module module;
  module.name_ = std::move(name);
  Pieces source(text, module.name_);
  const std::vector<Piece> pieces = all_pieces(source);
  Surroundings surroundings;
  std::vector<std::span<const Piece>> kernels;
  for (std::span<const Piece> rest = pieces; !rest.empty();) {
    std::size_t taken = 1;
    if (rest.front().kind == Piece::Kind::heading) {
      kernels.push_back(with_body(rest, source));
      taken = kernels.back().size();
    } else {
      take_outside(rest.front(), surroundings, source);
    }
    rest = rest.subspan(taken);
  }
  for (const auto kernel_pieces : kernels) {
    Kernel kernel = read_kernel(kernel_pieces, surroundings, source);
    std::string kernel_name = kernel.name;
    module.kernels_.emplace(std::move(kernel_name), std::move(kernel));
  }
  return module;
}

const Kernel& Module::kernel(const std::string& name) const {
  const auto found = kernels_.find(name);
  require(found != kernels_.end(), name_, " has no kernel ", name);
  return found->second;
}

}  // namespace trigram::ptx
