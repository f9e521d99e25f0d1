// Products that name themselves: one registry for each kind, filled by the products' own files.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "core/params.hpp"

namespace trigram {

/// What `trigram list` says about a product besides its parameters.
struct Description {
  std::string summary;     ///< one line
  std::string paper = "";  ///< "Alistarh et al., QSGD, NeurIPS 2017, arXiv:1610.02132"; empty where there is none
};

/// "unknown algorithm 'qsdg' (did you mean 'qsgd'?); this build has: all_reduce, …" as a UsageError.
[[noreturn]] void throw_unknown_name(std::string_view kind, std::string_view name,
                                     const std::vector<std::string>& known);

/// "algorithm 'qsgd'", as messages about its parameters begin.
std::string name_of_owner(std::string_view kind, std::string_view name);

/// The products of one interface. A product is registered by a static `Registration` in its own source file and
/// made from the one syntax "name:key=value,…". `Interface::registry_kind` is the word messages use.
template <class Interface>
class Registry {
 public:
  using Factory = std::function<std::unique_ptr<Interface>(Params&)>;

  /// A static object of this type in the product's file registers it. Throws Error on a name taken already.
  struct Registration {
    Registration(std::string name, Description description, Factory factory) {
      ensure(products().emplace(name, Product{std::move(description), std::move(factory)}).second,
             std::string(Interface::registry_kind) + " '" + name + "' is registered twice");
    }
  };

  /// Makes a product. Throws UsageError for an unknown name or key, or a value of the wrong type.
  static std::unique_ptr<Interface> make(std::string_view text) {
    const Spec spec = Spec::parse(text);
    Params params(owner(spec.name), spec.parameters);
    return make(spec.name, params);
  }

  /// The same with parameters gathered elsewhere, as from a file.
  static std::unique_ptr<Interface> make(const std::string& name, Params& params) {
    std::unique_ptr<Interface> product = find(name).factory(params);
    params.reject_unknown();
    return product;
  }

  static std::vector<std::string> names() {
    std::vector<std::string> all;
    for (const auto& [name, product] : products()) all.push_back(name);
    return all;
  }

  static bool has(const std::string& name) { return products().contains(name); }
  static const Description& describe(const std::string& name) { return find(name).description; }

  /// The parameters that the product declares, found by making one with none given.
  static std::vector<Params::Declared> parameters(const std::string& name) {
    Params params(owner(name), "");
    find(name).factory(params);
    return params.declared();
  }

 private:
  struct Product {
    Description description;
    Factory factory;
  };

  static std::string owner(const std::string& name) { return name_of_owner(Interface::registry_kind, name); }

  static const Product& find(const std::string& name) {
    const auto found = products().find(name);
    if (found == products().end()) throw_unknown_name(Interface::registry_kind, name, names());
    return found->second;
  }

  static std::map<std::string, Product>& products() {
    static std::map<std::string, Product> all;
    return all;
  }
};

}  // namespace trigram
