// Which files hold tests, by how pytest and programs name them.
#pragma once

#include <string_view>

namespace stepzero::program {

bool is_of_tests(std::string_view path);

}  // namespace stepzero::program
