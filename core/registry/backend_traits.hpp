// What the program knows of a backend by its name, before it makes one: its flags, and how it describes its place.
#pragma once

#include <string>
#include <vector>

namespace trigram {

/// A parameter that is a flag of every subcommand with ranks too.
struct BackendFlag {
  std::string name;       ///< "ranks-per-node"
  std::string parameter;  ///< "ranks_per_node"
  std::string description;
  bool of_one_process = false;  ///< ranks that are processes may be given different values
};

/// A parameter and the value under which a backend sends and counts every message by itself.
struct OwnMessages {
  std::string parameter, value;
  bool same_bits = true;  ///< whether results then keep their bits
};

/// Of one backend. Its file registers them beside the backend itself.
struct BackendTraits {
  bool takes_cluster = false;  ///< models a place that somebody must describe
  std::vector<BackendFlag> flags = {};
  std::vector<OwnMessages> own_messages = {};

  /// A static object of this type in the backend's file. Throws Error for a name that is there already.
  struct Registration {
    Registration(const std::string& backend, BackendTraits traits);
  };

  /// Those of a backend; none of a name that registered none.
  static const BackendTraits& of(const std::string& backend);
};

/// The flags of all backends of this build, each name once. Backends that share a name mean the same by it.
std::vector<BackendFlag> backend_flags();

}  // namespace trigram
