// Products that name themselves: one registry for each kind, filled by the products' own files.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/registry/params.hpp"
#include "core/values/error.hpp"

namespace trigram {

/// What `trigram list` says about a product besides its parameters.
struct Description {
  std::string summary;        ///< one line
  std::string paper = "";     ///< "Alistarh et al., QSGD, NeurIPS 2017, arXiv:1610.02132"; empty where there is none
  std::string when = "";      ///< when to use it, in one sentence
  std::string when_not = "";  ///< when not
};

/// "unknown algorithm 'qsdg' (did you mean 'qsgd'?); this build has: all_reduce, …" as a UsageError.
[[noreturn]] void throw_unknown_name(std::string_view kind, std::string_view name,
                                     const std::vector<std::string>& known);

/// "algorithm 'qsgd'", as error messages about its parameters begin.
std::string name_of_owner(std::string_view kind, std::string_view name);

/// The products of one interface. A product is registered by a static `Registration` in its own source file and
/// made from the one syntax "name:key=value,…". `Interface::registry_kind` is the word that error messages use.
template <class Interface>
class Registry {
 public:
  using Factory = std::function<std::unique_ptr<Interface>(Params&)>;

  /// A static object of this type in the product's file registers it. Throws Error on a name taken already.
  struct Registration {
    Registration(std::string name, Description description, Factory factory) {
      add(std::move(name), {std::move(description), std::move(factory), ""});
    }
  };

  /// An alias with preset parameters, as for a name of the literature: a static object of this type makes `name` stand
  /// for `spec`. It is made, listed and refused as any other product. Parameters that a user gives win over those of
  /// `spec`. Throws Error on a name taken already.
  struct Composition {
    Composition(std::string name, const std::string& spec, Description description) {
      add(std::move(name), {std::move(description),
                            [parts = Spec::parse(spec)](Params& params) {
                              params.presume(parts.parameters);
                              return find(parts.name).factory(params);
                            },
                            spec});
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

  /// Those that are no compositions.
  static std::vector<std::string> own_names() {
    std::vector<std::string> all;
    for (const auto& [name, product] : products()) {
      if (product.stands_for.empty()) all.push_back(name);
    }
    return all;
  }

  /// What a composition stands for; empty of any other name.
  static const std::string& stands_for(const std::string& name) { return find(name).stands_for; }

  /// The same product without a composition's name, with all parameters that it stands for and those given besides.
  static std::string expanded(std::string_view text) {
    Spec spec = Spec::parse(text);
    while (!stands_for(spec.name).empty()) {
      const Spec inner = Spec::parse(stands_for(spec.name));
      Params params(owner(spec.name), spec.parameters);
      params.presume(inner.parameters);
      spec = {inner.name, params.text()};
    }
    return spec.name + (spec.parameters.empty() ? "" : ":" + spec.parameters);
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
    std::string stands_for;  ///< empty of what is no composition
  };

  static void add(std::string name, Product product) {
    ensure(products().emplace(name, std::move(product)).second,
           std::string(Interface::registry_kind) + " '" + name + "' is registered twice");
  }

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
