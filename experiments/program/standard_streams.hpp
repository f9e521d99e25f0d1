// Standard input and output of the program, which may be closed or full.
#pragma once

namespace trigram {

/// Makes sure that no result file can become standard input, output or error: those that are closed are opened so that
/// using them fails.
void occupy_standard_streams();

/// Throws Error unless everything that was printed has reached standard output.
void require_printed();

}  // namespace trigram
