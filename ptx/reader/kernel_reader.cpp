#include "ptx/reader/kernel_reader.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "core/values/error.hpp"
#include "ptx/instructions/decode.hpp"
#include "ptx/reader/heading.hpp"
#include "ptx/reader/scope.hpp"
#include "ptx/reader/source_places.hpp"
#include "ptx/reader/texts.hpp"

namespace trigram::ptx {

namespace {

class KernelReader {
 public:
  KernelReader(const Surroundings& surroundings, const Pieces& source)
      : surroundings_(surroundings), source_(source), places_(surroundings.files) {}

  Kernel read(std::span<const Piece> pieces) {
    reading(pieces.front(), [&] {
      kernel_.name = name_in_heading(pieces.front().text);
      read_heading(pieces.front().text, kernel_, scope_);
    });
    declare_shared(pieces);
    for (const Piece& piece : pieces.subspan(1)) reading(piece, [&] { take(piece); });
    end_code();
    resolve_labels();
    return std::move(kernel_);
  }

 private:
  /// Says of an error where it is.
  template <class Read>
  void reading(const Piece& piece, Read read) const {
    try {
      read();
    } catch (const UsageError& error) {
      fail_with<UsageError>(source_.at_line(piece.line), ": kernel ", kernel_.name, ": cannot read '", piece.text,
                            "': ", error.what());
    }
  }

  /// Before the code is read, since what a launch adds lies after all that the kernel has.
  void declare_shared(std::span<const Piece> pieces) {
    std::vector<Declaration> of_launch;
    const auto place = [&](const Declaration& declared) {
      declared.sized_by_launch ? of_launch.push_back(declared) : declare_variable(declared, kernel_.shared_bytes);
    };
    for (const Declaration& declared : surroundings_.shared) {
      const auto names_it = [&](const Piece& piece) { return piece.text.find(declared.name) != std::string::npos; };
      if (std::ranges::any_of(pieces, names_it)) place(declared);
    }
    for (const Piece& piece : pieces) {
      if (const auto text = after(piece, ".shared ")) reading(piece, [&] { place(read_declaration(*text)); });
    }
    for (const Declaration& declared : of_launch) declare_variable(declared, kernel_.shared_bytes);
  }

  static std::optional<std::string_view> after(const Piece& piece, std::string_view word) {
    if (piece.kind != Piece::Kind::statement || !piece.text.starts_with(word)) return std::nullopt;
    return std::string_view(piece.text).substr(word.size());
  }

  void declare_variable(const Declaration& declared, std::uint32_t& bytes) {
    const std::uint32_t offset = aligned(bytes, declared.alignment);
    bytes = offset + declared.size;
    scope_.declare_address(declared.name, offset);
  }

  void take(const Piece& piece) {
    switch (piece.kind) {
      case Piece::Kind::open:
        return scope_.open();
      case Piece::Kind::close:
        return scope_.close();
      case Piece::Kind::line_directive:
        return places_.take(piece.text);
      case Piece::Kind::label:
        require(labels_.emplace(piece.text, kernel_.code.size()).second, "the label stands twice");
        return;
      default:
        take_statement(piece);
    }
  }

  void take_statement(const Piece& piece) {
    if (piece.text.empty() || after(piece, ".shared ") || after(piece, ".pragma ")) return;
    if (const auto text = after(piece, ".reg ")) return scope_.declare_registers(*text);
    if (const auto text = after(piece, ".local "))
      return declare_variable(read_declaration(*text), kernel_.local_bytes);
    require(!piece.text.starts_with('.'), "the interpreter does not know this directive");
    Decoding decoding(piece.text, scope_);
    Instruction instruction = decode(decoding);
    if (instruction.flow == Flow::branch) branches_.push_back({kernel_.code.size(), decoding.label(), &piece});
    instruction.place = places_.at(piece.line);
    kernel_.code.push_back(std::move(instruction));
  }

  /// The end of the text ends a thread, too.
  void end_code() {
    Instruction end;
    end.flow = Flow::exit;
    end.text = "the end of the kernel";
    if (!kernel_.code.empty()) end.place = kernel_.code.back().place;
    kernel_.code.push_back(std::move(end));
  }

  void resolve_labels() {
    for (const Branch& branch : branches_) {
      reading(*branch.piece, [&] {
        const auto found = labels_.find(branch.label);
        require(found != labels_.end(), "there is no label ", branch.label);
        kernel_.code[branch.at].target = static_cast<std::uint32_t>(found->second);
      });
    }
  }

  struct Branch {
    std::size_t at;
    std::string label;
    const Piece* piece;
  };

  const Surroundings& surroundings_;
  const Pieces& source_;
  Kernel kernel_;
  Registers registers_{kernel_};
  Scope scope_{registers_};
  SourcePlaces places_;
  std::map<std::string, std::size_t> labels_;
  std::vector<Branch> branches_;
};

}  // namespace

Kernel read_kernel(std::span<const Piece> pieces, const Surroundings& surroundings, const Pieces& source) {
  return KernelReader(surroundings, source).read(pieces);
}

}  // namespace trigram::ptx
