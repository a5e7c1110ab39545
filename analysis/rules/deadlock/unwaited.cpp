// deadlock/unwaited: communication that is started and never waited for. Told of programs that are seen
// wholly, where no possible run of a small world (see match.hpp) waits for it.
#include "rules/deadlock/tell.hpp"
#include "rules/rule.hpp"
#include "rules/source.hpp"

namespace stepzero::rules::deadlock::unwaited {

namespace {

// Waits at once: after a call whose result is dropped, or on a line of its own for the name that holds the
// request.
std::vector<Fix> wait_here(const Report& report, const Mismatch& mismatch) {
  const Record& record = report.record();
  if (!record.in_file(mismatch.place)) return {};
  const auto& chunk = record.chunk(mismatch.place);
  const auto path = enclosing(*chunk.chunk->stmt, mismatch.place.span);
  if (path.empty()) return {};
  const syntax::Stmt& stmt = *path.back().stmt;
  const SourceLines source(record, mismatch.place.chunk);
  Fix fix;
  if (stmt.kind == syntax::StmtKind::expression &&
      syntax::as<syntax::ExpressionStmt>(stmt).value->span == mismatch.place.span) {
    fix.title = "Wait for it here";
    const syntax::Span call = source.absolute(mismatch.place.span);
    fix.edits.push_back({{source.path(), {call.end, call.end}}, ".wait()"});
    return {fix};
  }
  if (stmt.kind != syntax::StmtKind::assign || !source.own_line(stmt)) return {};
  const auto& assign = syntax::as<syntax::AssignStmt>(stmt);
  if (assign.targets.size() != 1 || assign.targets[0]->kind != syntax::ExprKind::name ||
      !(assign.value->span == mismatch.place.span))
    return {};
  const std::string request(syntax::as<syntax::NameExpr>(*assign.targets[0]).id.text());
  const std::uint32_t after = source.lines(stmt, stmt).end;
  if (!source.slice({after - 1, after}).ends_with('\n')) return {};
  fix.title = "Wait for " + request + " here";
  fix.edits.push_back({{source.path(), {after, after}},
      source.indentation(stmt) + request + ".wait()" + source.line_ending()});
  return {fix};
}

void check(const Record&, Report& report) { tell(report, Cause::request, Severity::warning, wait_here); }

}  // namespace

extern constexpr Rule rule = complete({
    .id = "deadlock/unwaited",
    .severity = Severity::warning,
    .summary = "communication that is started and never waited for",
    .why =
        "`isend`, `irecv` and collectives with `async_op=True` return at once, while the tensor is still being sent or filled. Until "
        "`wait()` has returned, what is read from it may be old, and what is written to it may be sent instead.",
    .wrong = "work = dist.all_reduce(total, async_op=True)\n"
             "mean = total.item() / world_size  # may be read before the sum is there\n",
    .right = "work = dist.all_reduce(total, async_op=True)\n"
             "work.wait()\n"
             "mean = total.item() / world_size\n",
    .silent =
        "Requests that are waited for anywhere, also in a list, or whose group comes to a barrier before their tensor is read; functions whose callers are not seen and may get the request; programs with a wait() whose "
        "request is not known, and those that poll.",
    .fix =
        "Waits right after the call. Where to wait is yours to decide: the later, the more work overlaps with the communication.",
    .fix_kind = FixKind::needs_decision,
    .check = check,
});

}  // namespace stepzero::rules::deadlock::unwaited
