// checkpoint/map-location: many ranks load a checkpoint onto the GPU that it was saved from.
#include "rules/checkpoint/files.hpp"
#include "rules/rule.hpp"

#include <algorithm>

namespace stepzero::rules::checkpoint::map_location {

using namespace interpreter;
using symbolic::Sharing;
using values::Kind;

namespace {

void check(const Record& record, Report& report) {
  std::vector<Place> told;
  for (const CheckpointRoot& checkpoint_root : Files::of(record).checkpoint_roots()) {
    if (checkpoint_root.handed_over || checkpoint_root.root->truncated || checkpoint_root.parallel.empty() ||
        !checkpoint_root.trains)
      continue;
    for (const FileUse& load : checkpoint_root.loads) {
      const Value where = argument(*load.event, 1);
      if (!where.is(Kind::none)) continue;
      const Path path = path_of(record, load);
      if (!path.value || record.heap.sharing(path.value) != Sharing::uniform) continue;
      const bool restores = std::any_of(
          checkpoint_root.put.begin(), checkpoint_root.put.end(), [&](const FileUse& put) {
            return !put.event->arguments.empty() &&
                loaded_from(checkpoint_root, put.event->arguments[0]).load == &load;
          });
      if (!restores || !among_ranks(checkpoint_root, load) ||
          by_ranks(record, checkpoint_root, load) < Who::some)
        continue;
      if (std::find(told.begin(), told.end(), load.event->place) != told.end()) continue;
      told.push_back(load.event->place);
      Finding* finding = report.add(Severity::information, load.event->place, load.event->calls,
          "Each rank loads these tensors onto the GPU that they were saved from, mostly GPU 0, where all copies lie together. Load with `map_location=\"cpu\"`: `load_state_dict` copies them to where the model is.");
      if (!finding || !load.event->expr || !record.in_file(load.event->place)) continue;
      const auto end = load.event->expr->span.end - 1;
      Fix fix;
      fix.title = "Load to the CPU";
      fix.preferred = true;
      fix.edits.push_back({report.location({load.event->place.chunk, {end, end}}), ", map_location=\"cpu\""});
      finding->fixes.push_back(std::move(fix));
    }
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "checkpoint/map-location",
    .severity = Severity::information,
    .summary = "ranks load a checkpoint without map_location",
    .why =
        "torch.load puts every tensor back on the device that it was saved from. A checkpoint written by rank 0 lies on cuda:0, so all ranks of the node "
        "open a context and a copy of the whole checkpoint there: \"CUDA out of memory\" on GPU 0 at the moment of resuming, while the other GPUs are empty.",
    .wrong = "model.load_state_dict(torch.load(\"model.pt\"))\n",
    .right = "model.load_state_dict(torch.load(\"model.pt\", map_location=\"cpu\"))\n",
    .silent =
        "Programs of one rank; files that each rank has for itself; loading on one rank only; map_location given, whatever it is.",
    .fix = "Adds `map_location=\"cpu\"`.",
    .fix_kind = FixKind::always_right,
    .check = check,
});

}  // namespace stepzero::rules::checkpoint::map_location
