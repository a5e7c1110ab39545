// How a program says which GPU each of its processes takes.
#pragma once

#include "program/sources.hpp"
#include "rules/finding.hpp"

#include <optional>
#include <set>
#include <string>

namespace stepzero::rules::launch {

// `torch.cuda.set_device(rank)` with the rank among all processes of the job, which on a second node is no
// device. Only where nothing else is assigned to the name.
std::optional<Location> device_by_global_rank(
    const program::Sources& sources, const std::string& path, std::set<std::string>& read);
// Does the program use the GPU over NCCL, without a word on which one?
bool takes_any_gpu(const program::Sources& sources, const std::string& path, std::set<std::string>& read);
// Does it take its local rank from an argument of the command line alone?
bool needs_local_rank_argument(
    const program::Sources& sources, const std::string& path, std::set<std::string>& read);

}  // namespace stepzero::rules::launch
