// How a program that is no test of GoogleTest's ends: as `trigram` does.
#pragma once

#include <exception>
#include <iostream>

#include "core/values/error.hpp"

namespace trigram::testing {

/// 0 after `body`; after an error, which it prints, 2 where the user can mend it and else 1.
template <class Body>
int exit_status(const Body& body) {
  try {
    body();
    return 0;
  } catch (const UsageError& error) {
    std::cerr << error.what() << "\n";
    return 2;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}

}  // namespace trigram::testing
