// The backends that this program was linked with.
#include <iostream>

#include "core/training/backend.hpp"

int main() {
  for (const std::string& name : trigram::Backends::names()) std::cout << name << "\n";
}
