// The place of an error, added to its message by the code that knows the place.
#pragma once

#include "core/values/error.hpp"

namespace trigram {

/// What `body` returns. A UsageError of it names `place` first, text or a callable that gives it:
/// located("study.cfg:3: ", [&] { return parse_number(text); }) says "study.cfg:3: 'x' is not a number".
template <class Place, class Body>
decltype(auto) located(const Place& place, const Body& body) {
  try {
    return body();
  } catch (const UsageError& error) {
    throw UsageError(part_text(place) + error.what());
  }
}

}  // namespace trigram
