// checkpoint/not-atomic: a checkpoint is written over the one that resuming reads.
#include "rules/checkpoint/files.hpp"
#include "rules/rule.hpp"
#include "rules/source.hpp"
#include "rules/training/absent.hpp"

#include <algorithm>

namespace stepzero::rules::checkpoint::not_atomic {

using namespace interpreter;
using namespace syntax;
using values::Kind;

namespace {

// Is a module imported by its own name somewhere in the file? Else where an import of it would stand.
struct Imported {
  bool known = false;
  std::optional<TextEdit> edit;
};
Imported import_of(const Record& record, std::string_view module) {
  Imported found;
  std::optional<Span> first;
  for (const ChunkOf& chunk : record.chunks) {
    if (!chunk.statement() || chunk.path != record.path) continue;
    const Stmt& stmt = *chunk.chunk->stmt;
    const bool plain = stmt.kind == StmtKind::import, from = stmt.kind == StmtKind::import_from;
    if (!plain && !from) continue;
    const Span span = chunk.absolute(stmt.span);
    const std::string_view text = chunk.module->text->slice(span);
    if (plain &&
        (text == "import " + std::string(module) ||
            text.find(" " + std::string(module) + ",") != std::string_view::npos ||
            text.ends_with(", " + std::string(module))))
      found.known = true;
    if (text.find("__future__") == std::string_view::npos && (!first || span.begin < first->begin))
      first = span;
  }
  if (!found.known && first)
    found.edit = TextEdit{
        {record.path, {first->begin, first->begin}}, "import " + std::string(module) + "\n"};
  return found;
}

// The name of a temporary file beside the file, as a person would write it.
std::string beside(const Expr& file, const std::string& text) {
  const char quote = text.empty() ? ' ' : text.back();
  const bool quoted = (file.kind == ExprKind::string || file.kind == ExprKind::format) &&
      (quote == '"' || quote == '\'');
  // One literal in plain quotes.
  if (quoted && std::count(text.begin(), text.end(), quote) == 2)
    return text.substr(0, text.size() - 1) + ".tmp" + quote;
  if (text.find_first_of("\"'{}\\") == std::string::npos) return "f\"{" + text + "}.tmp\"";
  return "str(" + text + ") + \".tmp\"";
}

// Is the name made in the loop of the save, or nobody sees where? Then each iteration may have one of its
// own.
bool varies(const FileUse& save, const Path& path) {
  if (!path.value.is(Kind::unknown)) return false;
  const auto* name = path.value.as<values::Unknown>();
  if (!name->unseen && !name->name.empty()) return false;
  const LoopEvent& loop = *save.loops.back();
  const Place born = name->born;
  if (!born || !loop.stmt || born.chunk != loop.place.chunk) return true;
  return loop.stmt->span.holds(born.span);
}

void mend(const Record& record, Finding& finding, const OperationEvent& save) {
  if (!save.expr || !record.in_file(save.place) || save.expr->arguments.size() < 2) return;
  const auto path = enclosing(*record.chunk(save.place).chunk->stmt, save.expr->span);
  const SourceLines source(record, save.place.chunk);
  if (path.empty() || !source.own_line(*path.back().stmt)) return;
  const Stmt& stmt = *path.back().stmt;
  if (stmt.kind != StmtKind::expression || as<ExpressionStmt>(stmt).value != save.expr) return;
  const Expr& file = *save.expr->arguments[1];
  const std::string text(source.text(file));
  if (text.find('\n') != std::string::npos) return;
  const Imported os = import_of(record, "os");
  if (!os.known && !os.edit) return;
  const std::string aside = beside(file, text);
  Fix fix;
  fix.title = "Save to a temporary file, then replace";
  fix.preferred = true;
  if (os.edit) fix.edits.push_back(*os.edit);
  fix.edits.push_back({{source.path(), source.absolute(file.span)}, aside});
  const Span lines = source.lines(stmt, stmt);
  const bool ended = source.slice(lines).ends_with('\n');
  const std::string line = source.indentation(stmt) + "os.replace(" + aside + ", " + text + ")";
  fix.edits.push_back({{source.path(), {lines.end, lines.end}},
      ended ? line + source.line_ending() : source.line_ending() + line});
  finding.fixes.push_back(std::move(fix));
}

void check(const Record& record, Report& report) {
  std::vector<Place> told;
  for (const CheckpointRoot& checkpoint_root : Files::of(record).checkpoint_roots()) {
    if (checkpoint_root.handed_over || checkpoint_root.root->truncated || !checkpoint_root.trains) continue;
    for (const FileUse& save : checkpoint_root.saves) {
      const Path path = path_of(record, save);
      if (save.loops.empty() || !repeats(*save.loops.back()) || is_moved(record, checkpoint_root, save) ||
          !is_fixed(record, path))
        continue;
      const auto resumed = std::find_if(
          checkpoint_root.loads.begin(), checkpoint_root.loads.end(), [&](const FileUse& load) {
            return load.order < save.order && load.loops.size() < save.loops.size() &&
                same_file(path_of(record, load), path) &&
                (path_of(record, load).value == path.value || !varies(save, path));
          });
      if (resumed == checkpoint_root.loads.end() ||
          std::find(told.begin(), told.end(), save.event->place) != told.end())
        continue;
      told.push_back(save.event->place);
      Finding* finding = report.add(Severity::information, save.event->place, save.event->calls,
          "This writes over the only checkpoint: a run that is stopped half-way through leaves a file that cannot be loaded, and the one before is gone. Save to a temporary file and put it in place with `os.replace`.");
      if (!finding) continue;
      report.relate(*finding, resumed->event->place, "resuming reads the file here");
      mend(record, *finding, *save.event);
    }
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "checkpoint/not-atomic",
    .severity = Severity::information,
    .summary = "a checkpoint is written straight onto the file that resuming reads",
    .why =
        "Saving takes seconds to minutes, and jobs are stopped at any moment: by their time limit, by preemption, by a full disk. torch.save truncates the file first. "
        "Stopped half-way it leaves a file on which torch.load raises, and the checkpoint before it is gone: the whole training is lost. os.replace is atomic: "
        "the name refers to the old file until the new one is complete.",
    .wrong = "torch.save(state, \"last.pt\")\n",
    .right = "torch.save(state, \"last.pt.tmp\")\n"
             "os.replace(\"last.pt.tmp\", \"last.pt\")\n",
    .silent =
        "Names that differ by step or epoch; files that the same run does not resume from; a single save at the end.",
    .fix = "Saves beside the file and replaces it with os.replace.",
    .fix_kind = FixKind::always_right,
    .check = check,
});

}  // namespace stepzero::rules::checkpoint::not_atomic
