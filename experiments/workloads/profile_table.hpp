// Tables of layers: what a network costs without computing it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/step/bucket.hpp"
#include "core/values/uncertain_value.hpp"

namespace trigram {

/// One layer: its tensors and what one sample costs.
struct ProfileLayer {
  std::string name;
  double forward_flops = 0;
  double backward_flops = 0;
  double activations = 0;      ///< elements that it puts out for one sample
  double forward_seconds = 0;  ///< measured, of the table's whole batch; 0 where only FLOPs are known
  double backward_seconds = 0;
};

/// A network as a table. A file is lines "# key: value" (summary, source, batch, and compute: measured seconds of a
/// step's forward and backward together, as "0.53s"; rest: those of a step in neither, as the optimizer's update, data
/// and the host, of which the update is then a part; both may have a range, "0.53s in 0.5s..0.6s"), a line of column
/// names, then one line a tensor:
///   layer,tensor,parameters,decays  and  forward_flops [backward_flops] [activations]  or  forward_ms,backward_ms
/// and, for methods that need to know a matrix from a vector, dimensions, as 64x3x7x7, whose product is `parameters`.
/// Rows of one layer follow each other, and their costs add up; an empty field is 0, and no dimensions. Backward FLOPs
/// are twice the forward ones where the column is missing. Where layers have measured times, compute is what they take
/// together: they are as long to each other as their columns say.
struct ProfileTable {
  std::string file;  ///< where it was read
  std::string name;  ///< the file's, without its ending
  std::string summary;
  std::string source;
  std::int64_t batch = 1;  ///< samples a GPU that measured times are for
  std::optional<double> compute_seconds;
  std::optional<double> rest_seconds;            ///< of a step, neither forward nor backward, whatever the batch
  std::map<std::string, UncertainValue> ranges;  ///< of "compute" and "rest", where they have one
  std::vector<ProfileLayer> layers;
  std::vector<Parameter> parameters;  ///< in forward order, count 0

  std::int64_t total_parameters() const;
  bool has_measured_layers() const;
  /// Of the table's whole batch, by its columns.
  double seconds_of_layers() const;
};

/// Reads a table. Throws UsageError with file and line for unknown keys or columns, fields that are no numbers,
/// dimensions of another number of parameters, layers that are torn apart, or a table without parameters.
ProfileTable read_profile_table(const std::string& path);

/// The same, read once for all ranks of a process that hold it. Any thread may call.
std::shared_ptr<const ProfileTable> shared_profile_table(const std::string& path);

}  // namespace trigram
