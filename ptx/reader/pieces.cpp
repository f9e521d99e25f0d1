#include "ptx/reader/pieces.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "core/values/error.hpp"

namespace trigram::ptx {

namespace {

constexpr std::array<std::string_view, 5> line_directives = {".version", ".target", ".address_size", ".file", ".loc"};

bool is_blank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

bool is_of_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%'; }

bool heads_a_body(std::string_view text) {
  return text.find(".entry") != std::string_view::npos || text.find(".func") != std::string_view::npos;
}

void trim_end(std::string& text) {
  while (!text.empty() && is_blank(text.back())) text.pop_back();
}

}  // namespace

Pieces::Pieces(std::string_view text, std::string_view name) : text_(text), name_(name) {}

Piece Pieces::next() {
  while (skip_blank() && starts_with(".section")) skip_past("}");
  Piece piece{.line = line_};
  if (at_ == text_.size()) return piece;
  if (starts_with("{") || starts_with("}")) {
    piece.kind = take() == '{' ? Piece::Kind::open : Piece::Kind::close;
    return piece;
  }
  if (std::ranges::any_of(line_directives, [&](std::string_view word) { return begins_with_word(word); })) {
    piece.kind = Piece::Kind::line_directive;
    piece.text = take_line();
    return piece;
  }
  return take_statement();
}

std::string Pieces::at_line(std::uint32_t line) const { return std::string(name_) + ":" + std::to_string(line); }

/// Not `.local` for `.loc`.
bool Pieces::begins_with_word(std::string_view word) const {
  return starts_with(word) && at_ + word.size() < text_.size() && is_blank(text_[at_ + word.size()]);
}

/// Returns whether something follows.
bool Pieces::skip_blank() {
  while (at_ < text_.size()) {
    if (starts_with("//")) {
      take_line();
    } else if (starts_with("/*")) {
      skip_past("*/");
    } else if (is_blank(text_[at_])) {
      take();
    } else {
      return true;
    }
  }
  return false;
}

void Pieces::skip_past(std::string_view end) {
  const std::uint32_t begun = line_;
  while (at_ < text_.size() && !starts_with(end)) take();
  require(at_ < text_.size(), at_line(begun), ": nothing ends what begins here by ", end);
  for (std::size_t i = 0; i < end.size(); ++i) take();
}

std::string Pieces::take_line() {
  std::string line;
  while (at_ < text_.size() && text_[at_] != '\n') line += take();
  trim_end(line);
  return line;
}

Piece Pieces::take_statement() {
  Piece piece{.kind = Piece::Kind::statement, .line = line_};
  while (skip_blank()) {
    const char c = text_[at_];
    if (c == '{' && heads_a_body(piece.text)) {
      piece.kind = Piece::Kind::heading;
      trim_end(piece.text);
      return piece;
    }
    take();
    if (c == ';') return piece;
    if (c == ':' && std::ranges::all_of(piece.text, is_of_name)) {
      piece.kind = Piece::Kind::label;
      return piece;
    }
    piece.text += c;
    if (at_ < text_.size() && (is_blank(text_[at_]) || starts_with("/"))) {
      skip_blank();
      if (!starts_with(";") && !starts_with(":")) piece.text += ' ';
    }
  }
  throw UsageError(at_line(piece.line) + ": no semicolon ends '" + piece.text + "'");
}

char Pieces::take() {
  line_ += text_[at_] == '\n';
  return text_[at_++];
}

}  // namespace trigram::ptx
