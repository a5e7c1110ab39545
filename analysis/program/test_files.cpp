#include "program/test_files.hpp"

#include <string>

namespace stepzero::program {

bool is_of_tests(std::string_view path) {
  const std::string_view file = path.substr(path.rfind('/') + 1);
  if (file.starts_with("test_") || file.ends_with("_test.py") || file.ends_with("tests.py")) return true;
  for (const std::string_view folder : {"test/", "tests/", "testing/"})
    if (path.starts_with(folder) || path.find("/" + std::string(folder)) != std::string_view::npos)
      return true;
  return false;
}

}  // namespace stepzero::program
