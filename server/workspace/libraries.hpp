// Where installed Python libraries lie. Knows the layouts of virtual environments and of Debian, and starts
// no Python.
#pragma once

#include <string>
#include <vector>

namespace stepzero::server {

// The site-packages folders that a program in these folders would see, in the order of their precedence:
// those that the settings name, those of the active virtual environment (VIRTUAL_ENV, CONDA_PREFIX), of one
// that lies in a root or above it, and of the system. Only what exists.
const std::vector<std::string>& library_folders(
    const std::vector<std::string>& roots, const std::vector<std::string>& named = {});

// Where packages lie in a folder that the settings name: in it, or in its lib/python3.x/site-packages if it
// is an environment. Empty if there is no such folder.
std::vector<std::string> installed_packages(const std::string& folder);

}  // namespace stepzero::server
