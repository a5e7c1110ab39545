// Scripts within YAML and JSON: steps of a workflow, and the launches that an editor's launch.json describes.
#pragma once

#include "documents/document.hpp"

#include <string>
#include <string_view>

namespace stepzero::documents {

// As long as the text, of blanks: what is put there stands where it stood.
std::string blanked(std::string_view text);
// The texts under `run:` of the steps, as they stand there; empty if there are none.
std::string steps_of_workflow(std::string_view text, const Node& root);
// `env:` of the workflow, of a job and of a step, for the commands that see it.
void variables_of_workflow(const Node& root, Script& into);
// {"type": "debugpy", "program": …, "args": […], "env": {…}}
void configured_launches(const Node& root, Script& into);

}  // namespace stepzero::documents
