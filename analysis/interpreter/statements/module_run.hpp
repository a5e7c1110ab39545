// A module that was imported: its object, its text, and the names that it binds once somebody asks for them.
#pragma once

#include "program/imports.hpp"
#include "syntax/ast.hpp"
#include "values/value.hpp"

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace stepzero::interpreter {

// A name of an installed library's module that is bound once somebody asks for it. Empty: the module itself.
struct LazyName {
  program::Target target;
  syntax::Name name;
};
struct ModuleRun {
  values::ModuleObject* object = nullptr;
  std::string path;
  bool is_package = false;
  bool is_installed = false;
  bool is_namespace = false;                     // a folder without a file
  bool is_read = false;                          // its text was asked for
  std::shared_ptr<const syntax::Module> syntax;  // null before that, and where there is none
  std::unordered_map<syntax::Name, LazyName> lazy;
  std::vector<program::Target> stars;  // `from … import *`, in order
  bool fills_registry = false;         // it is run for what its decorators enter
  std::vector<syntax::Name> exported;  // its `__all__`, as far as the text shows it
  bool looked_for_exports = false;
};

}  // namespace stepzero::interpreter
