// checkpoint/unwaited-file: one rank writes a file, and all of them read it before anything has made the
// others wait.
#include "rules/checkpoint/files.hpp"
#include "rules/rule.hpp"
#include "rules/source.hpp"

#include <algorithm>

namespace stepzero::rules::checkpoint::unwaited_file {

using namespace interpreter;
using values::Operation;

namespace {

// Does a loop of the program wait until a file is there?
bool polls(const Record& record) {
  bool found = false;
  for (std::uint32_t i = 1; i < record.chunks.size() && !found; ++i)
    if (const syntax::Stmt* root = record.chunks[i].statement())
      for_each_statement(*root, [&](const syntax::Stmt& stmt) {
        found = found ||
            (stmt.kind == syntax::StmtKind::while_ &&
                record.text({i, syntax::as<syntax::WhileStmt>(stmt).test->span}).find("exist") !=
                    std::string_view::npos);
      });
  return found;
}

// Whoever comes past it has met the others, or may have.
bool may_wait(const OperationEvent& event) {
  return event.row->collective || event.row->message ||
      event.row->operation == Operation::unseen_communication || event.row->operation == Operation::unseen;
}

void look_at(
    const Record& record, const CheckpointRoot& checkpoint_root, Report& report, Once& once, bool polled) {
  std::vector<const FileUse*> written;  // by one rank, since the last time that the ranks met
  const auto use_of = [](const std::vector<FileUse>& uses, const OperationEvent& event) -> const FileUse* {
    const auto found = std::ranges::find(uses, &event, &FileUse::event);
    return found == uses.end() ? nullptr : &*found;
  };
  visit(checkpoint_root.root->block, [&](const Event& each) {
    if (each.kind != EventKind::operation) return;
    const auto& event = static_cast<const OperationEvent&>(each);
    if (const FileUse* save = use_of(checkpoint_root.saves, event)) {
      if (by_ranks(record, checkpoint_root, *save) == Who::one) written.push_back(save);
      return;
    }
    const FileUse* load = use_of(checkpoint_root.loads, event);
    if (!load) {
      if (may_wait(event)) written.clear();
      return;
    }
    if (load->guarded || by_ranks(record, checkpoint_root, *load) != Who::both) return;
    const Path path = path_of(record, *load);
    const auto found = std::ranges::find_if(written,
        [&](const FileUse* save) { return same_file(path, final_path(record, checkpoint_root, *save)); });
    if (found == written.end() || polled || !once(event.place)) return;
    Finding* finding = report.add(Severity::warning, event.place, event.calls,
        "All ranks read this file, and one of them writes it just before: the others do not wait, and find no file, an old one or half of one. "
        "Call `dist.barrier()` on every rank after the file is written.");
    if (finding) report.relate(*finding, (*found)->event->place, "one rank writes it here");
  });
}

void check(const Record& record, Report& report) {
  Once once;
  std::optional<bool> polled;
  for (const CheckpointRoot& checkpoint_root : Files::of(record).checkpoint_roots()) {
    if (checkpoint_root.handed_over || checkpoint_root.root->truncated || checkpoint_root.saves.empty() ||
        checkpoint_root.loads.empty())
      continue;
    if (!polled) polled = polls(record);
    look_at(record, checkpoint_root, report, once, *polled);
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "checkpoint/unwaited-file",
    .severity = Severity::warning,
    .summary = "all ranks read what one rank has just written, and nothing made them wait",
    .why =
        "Processes run at their own speed. While rank 0 still prepares the data or writes the best weights, the others have come to the line that reads the file: it is not "
        "there, or it is the one of the last run, and then the ranks train on different data without a word.",
    .wrong = "if rank == 0:\n"
             "    torch.save(tokens, \"tokens.pt\")\n"
             "tokens = torch.load(\"tokens.pt\")\n",
    .right = "if rank == 0:\n"
             "    torch.save(tokens, \"tokens.pt\")\n"
             "dist.barrier()\n"
             "tokens = torch.load(\"tokens.pt\")\n",
    .silent =
        "A collective, a message or code that is not seen between the two; files that every rank writes for itself; loops that wait until the file exists; files whose names are not known to be one.",
    .fix = "None: where all ranks come by, the program has to say.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::checkpoint::unwaited_file
