// Python's exceptions, as classes that derive from each other.
#pragma once

#include <string_view>

namespace stepzero::interpreter {

// The exception that one of Python's derives from; empty of BaseException, and of what is none.
std::string_view base_of(std::string_view exception);
bool is_exception(std::string_view name);

}  // namespace stepzero::interpreter
