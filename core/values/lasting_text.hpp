// Texts that live as long as the process: few of them stand for millions of spans.
#pragma once

#include <string>

namespace trigram {

/// The same text, at the same place for each call with an equal one. Any thread may call.
const char* lasting_text(const std::string& text);

}  // namespace trigram
