// How values of other people enter messages: printable, and short enough to be read.
#pragma once

#include <string>
#include <string_view>

namespace trigram {

/// Control characters and bytes that are no UTF-8 as escapes: "\n", "\x1b". What is printable stays.
std::string printable(std::string_view text);

/// A value between quotes, printable; of a long one, its begin and its length.
std::string in_quotes(std::string_view value);

/// The same as a part of a message that is made only where it is wanted (require, ensure).
struct Quoted {
  std::string_view value;
  std::string operator()() const { return in_quotes(value); }
};

/// The same without quotes, for what a message shows as key=value.
std::string shown(std::string_view value);

}  // namespace trigram
