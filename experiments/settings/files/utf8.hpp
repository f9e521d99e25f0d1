// Text that result files can hold.
#pragma once

#include <string>

namespace trigram {

/// Throws UsageError unless `text` is UTF-8, as everything in run.json and study.json must be; `place` says where it
/// stands: "word 3 of the command line", "a.cfg:2".
void require_utf8(const std::string& text, const std::string& place);

}  // namespace trigram
