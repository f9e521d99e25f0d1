// Cuts PTX into its statements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace trigram::ptx {

/// A stretch of PTX that means something by itself.
struct Piece {
  enum class Kind {
    /// What ends with a semicolon, without it.
    statement,
    /// What precedes the body of an entry or of a function.
    heading,
    /// A directive that ends with its line: .version, .target, .address_size, .file and .loc.
    line_directive,
    label,
    open,
    close,
    end,
  };
  Kind kind = Kind::end;
  /// Without comments, each run of white space as one blank.
  std::string text = {};
  /// On which it begins.
  std::uint32_t line = 0;
};

/// Gives the pieces of a text one after another; sections of debuggers are left out.
class Pieces {
 public:
  /// `name` says in messages where the text is from.
  Pieces(std::string_view text, std::string_view name);

  Piece next();

  /// Where a line of the text is, for messages.
  std::string at_line(std::uint32_t line) const;

 private:
  bool skip_blank();
  void skip_past(std::string_view end);
  std::string take_line();
  Piece take_statement();
  bool starts_with(std::string_view word) const { return text_.substr(at_).starts_with(word); }
  bool begins_with_word(std::string_view word) const;
  char take();

  std::string_view text_;
  std::string_view name_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
};

}  // namespace trigram::ptx
