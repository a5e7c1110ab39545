// parallel/own-split: each rank draws the split into training and validation by random numbers of its own.
#include "rules/report.hpp"
#include "rules/rule.hpp"
#include "values/kept.hpp"

#include <set>

namespace stepzero::rules::parallel::own_split {

using namespace interpreter;
using values::Kind;
using values::Operation;
using values::Value;

namespace {

void check(const Record& record, Report& report) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> told;
  for (const auto& root : record.roots) {
    if (root->function) continue;  // who calls it may have seeded before
    visit(root->block, [&](const Event& each) {
      if (each.kind != EventKind::operation) return;
      const auto& event = static_cast<const OperationEvent&>(each);
      if (event.row->operation != Operation::sampler_made || event.arguments.empty() ||
          !event.arguments[0].is(Kind::instance))
        return;
      const auto* part = event.arguments[0].as<values::Instance>();
      const values::Slot* drawn = part->attributes.find(values::Name(values::LoaderState::drawn_alone));
      if (!drawn || !drawn->value || !part->born ||
          !told.insert({part->born.chunk, part->born.span.begin}).second)
        return;
      if (Finding* finding = report.add(Severity::warning, part->born, event.calls,
              "Each rank draws this split with its own random numbers: one rank trains on what another validates on. Pass `random_split` a generator with one seed for all ranks, or give all ranks the same seed before it."))
        report.relate(*finding, event.place, "the ranks share this part");
    });
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "parallel/own-split",
    .severity = Severity::warning,
    .summary = "data that each rank splits at random by itself",
    .why =
        "Each process seeds itself differently unless it is told otherwise. `random_split` on every rank then gives every rank another validation set, "
        "and a DistributedSampler deals out the indices of parts that are not the same: samples are seen twice or never, and the ranks train on what "
        "others validate on.",
    .wrong = "train, val = random_split(data, [0.9, 0.1])\n"
             "sampler = DistributedSampler(train)\n",
    .right = "train, val = random_split(data, [0.9, 0.1], generator=torch.Generator().manual_seed(0))\n"
             "sampler = DistributedSampler(train)\n",
    .silent =
        "Splits with a generator that has one seed; programs that seed all ranks alike before; functions whose callers are not seen; parts that no "
        "DistributedSampler deals out.",
    .fix = "None: which seed is meant, the program has to say.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::parallel::own_split
