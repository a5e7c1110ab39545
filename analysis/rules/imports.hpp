// By which names a file knows the modules that it imports. Knows no rule.
#pragma once

#include "syntax/document.hpp"

#include <initializer_list>
#include <string>
#include <string_view>

namespace stepzero::rules {

// The name that a top-level import of the file gives a module: "dist" for {"torch", "distributed"}. Empty if
// none does.
std::string name_of_module(const syntax::Module& module, std::initializer_list<std::string_view> dotted);

}  // namespace stepzero::rules
