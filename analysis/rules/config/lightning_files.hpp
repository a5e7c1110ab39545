// Configurations of Lightning's Trainer: those of LightningCLI, and tables that Hydra makes a Trainer of.
#pragma once

#include "rules/documents/check.hpp"

#include <vector>

namespace stepzero::rules::lightning {

// The tables of a file that hold arguments of the Trainer; none if it is no such file. `of_cli`: LightningCLI
// is known to read it.
std::vector<const Node*> trainer_tables(const Node& root, bool of_cli = false);

}  // namespace stepzero::rules::lightning
