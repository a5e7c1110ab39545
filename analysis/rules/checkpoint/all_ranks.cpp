// checkpoint/all-ranks: every rank writes the same file. Where the run leaves a condition or a path open, the
// words in the program decide whether it may be about the rank: they can only silence the rule.
#include "rules/checkpoint/files.hpp"
#include "rules/name_hints.hpp"
#include "rules/rule.hpp"
#include "rules/source.hpp"
#include "syntax/text.hpp"

#include <algorithm>

namespace stepzero::rules::checkpoint::all_ranks {

using namespace interpreter;
using symbolic::Sharing;
using values::Kind;

namespace {

// Is a function called in the text? What it answers is not said there.
bool calls(std::string_view text) {
  for (auto at = text.find('('); at != std::string_view::npos; at = text.find('(', at + 1))
    if (at > 0 && syntax::is_word(text[at - 1])) return true;
  return false;
}
// A condition of which nothing is known but what the program writes there may well ask for the rank; not if
// it compares numbers, such as epochs, or asks whether there are several ranks, and has no word for one of
// them.
bool may_ask_rank(const Record& record, const Turn& turn) {
  const BranchEvent& branch = *turn.branch;
  const std::string_view text = record.text(branch.place);
  // Where there is one process alone.
  if (says(text, Says::many_ranks) && (!turn.yes || text.find("not ") != std::string_view::npos)) return true;
  // `rank == 0 or not distributed`: where there are ranks, it asks for one.
  using Form = symbolic::Context::Form;
  const auto asks = [&](symbolic::Cond part) {
    return record.symbols.sharing(part) == Sharing::divergent &&
        record.symbols.form(part) == Form::disjunction;
  };
  if (turn.yes && branch.condition &&
      (asks(branch.condition) ||
          (record.symbols.form(branch.condition) == Form::conjunction &&
              std::ranges::any_of(record.symbols.operands(branch.condition), asks))))
    return true;
  // A flag of that name is set for one of them, wherever it was set.
  if (says(text, Says::one_rank)) return true;
  bool open = false;
  record.symbols.parts(
      branch.condition, [](symbolic::Int) {},
      [&](values::Cond part) { open = open || record.symbols.sharing(part) != Sharing::uniform; });
  if (!open) return false;
  const bool elsewhere = text.find_first_of("%<>=") != std::string_view::npos || says(text, Says::many_ranks);
  return !elsewhere || calls(text);
}
// How the program makes the path: where it is a variable, what that is given.
std::string written(const Record& record, const Path& path, const FileUse& save) {
  std::string all;
  const auto& chunk = record.chunk(save.event->place);
  if (!chunk.chunk || path.text.find_first_of("(+/'\"") != std::string::npos) return path.text;
  for_each_statement(*chunk.chunk->stmt, [&](const syntax::Stmt& stmt) {
    if (stmt.kind != syntax::StmtKind::assign) return;
    const auto& assign = syntax::as<syntax::AssignStmt>(stmt);
    if (assign.targets.size() == 1 &&
        record.text({save.event->place.chunk, assign.targets[0]->span}) == path.text)
      all += std::string(record.text({save.event->place.chunk, assign.value->span})) + "\n";
  });
  return all;
}
// A path of which not all is known may be made of the rank, unless the program makes it of something else.
bool may_name_rank(const Record& record, const Path& path, const FileUse& save) {
  if (record.heap.sharing(path.value) == Sharing::uniform && !record.heap.is_unseen(path.value)) return false;
  if (record.heap.sharing(path.value) == Sharing::divergent) return true;
  const std::string text = written(record, path, save);
  return text.find_first_of("'\"") == std::string::npos || says(text, Says::one_rank);
}

// Do the ranks come to the file one after another: does one of them wait before it for the others, who find
// the file made: `if rank != 0: barrier()`?
bool follows_others(const Record& record, const CheckpointRoot& checkpoint_root, const FileUse& save) {
  if (std::ranges::none_of(save.turns,
          [&](const Turn& turn) { return says(record.text(turn.branch->place), Says::asking_existence); }))
    return false;
  bool found = false;
  visit(checkpoint_root.root->block, [&](const Event& event) {
    if (event.kind != EventKind::branch || event.number > save.event->number) return;
    const auto& branch = static_cast<const BranchEvent&>(event);
    if (!branch.condition || record.symbols.sharing(branch.condition) != Sharing::divergent) return;
    for (const Block* side : {&branch.yes, &branch.no})
      visit(*side, [&](const Event& inner) {
        found = found ||
            (inner.kind == EventKind::operation &&
                static_cast<const OperationEvent&>(inner).row->collective &&
                inner.number < save.event->number);
      });
  });
  return found;
}

void check(const Record& record, Report& report) {
  std::vector<Place> told;
  for (const CheckpointRoot& checkpoint_root : Files::of(record).checkpoint_roots()) {
    if (checkpoint_root.handed_over || checkpoint_root.root->truncated || checkpoint_root.parallel.empty())
      continue;
    for (const FileUse& save : checkpoint_root.saves) {
      const Path path = path_of(record, save);
      if (!path.value || path.value.is(Kind::instance) || may_name_rank(record, path, save)) continue;
      // What is sharded lies in another file for each rank, or only rank 0 has it.
      if (std::any_of(save.turns.begin(), save.turns.end(),
              [&](const Turn& turn) { return may_ask_rank(record, turn); }))
        continue;
      if (save.guarded || !among_ranks(checkpoint_root, save) ||
          by_ranks(record, checkpoint_root, save) < Who::some ||
          follows_others(record, checkpoint_root, save))
        continue;
      if (std::find(told.begin(), told.end(), save.event->place) != told.end()) continue;
      told.push_back(save.event->place);
      Finding* finding = report.add(Severity::warning, save.event->place, save.event->calls,
          "Every rank writes this file at the same time, so it may end up as an unreadable mix. Save on rank 0 alone if the ranks hold the same model; where it is sharded, give each rank a file of its own.");
      if (finding) report.relate_calls(*finding, save.event->calls);
    }
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "checkpoint/all-ranks",
    .severity = Severity::warning,
    .summary = "every rank writes the same checkpoint",
    .why =
        "Under DistributedDataParallel all ranks run the same program. Without a condition on the rank they all open one path on a shared file system, truncate it and "
        "write: what lies there afterwards may be a mixture that torch.load refuses. It also writes the checkpoint once per GPU.",
    .wrong = "torch.save(model.module.state_dict(), \"model.pt\")\n",
    .right = "if dist.get_rank() == 0:\n"
             "    torch.save(model.module.state_dict(), \"model.pt\")\n",
    .silent =
        "Files that one rank makes before the others, who wait for it and find them there; files named by the rank; saving under a condition that depends on the rank, or on something that is not known; programs that run on one rank; frameworks "
        "that save by themselves.",
    .fix = "None: which rank saves, and what the others do meanwhile, is the program's choice.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::checkpoint::all_ranks
