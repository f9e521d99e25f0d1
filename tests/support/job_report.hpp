// GoogleTest in every process of a job: rank 0 reports, the others speak up only when something fails.
#pragma once

namespace trigram::testing {

/// Whether the command line, as GoogleTest has left it, asks for the tests that are skipped; then they were printed.
bool printed_unsupported(int count, char** words);

/// From now on this process reports as that rank of its job.
void report_as_rank(int rank);

}  // namespace trigram::testing
