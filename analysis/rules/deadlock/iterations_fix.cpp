// Fixes of loops that make different numbers of iterations on different ranks.
#include "rules/deadlock/fixes.hpp"

#include <algorithm>

namespace stepzero::rules {

using namespace syntax;

namespace {

// A loader that is gone through at a place of the file.
const OperationEvent* reading_at(const Record& record, const std::string& path, Span absolute) {
  const OperationEvent* found = nullptr;
  visit_roots(record, [&](const Event& event) {
    if (event.kind != interpreter::EventKind::operation || !event.place ||
        record.chunk(event.place).path != path || !absolute.holds(record.span(event.place)))
      return;
    const auto& operation = static_cast<const OperationEvent&>(event);
    if (operation.row->operation == values::Operation::loader_made &&
        operation.row->kind == values::RowKind::method && operation.self.is(values::Kind::instance))
      found = &operation;
  });
  return found;
}

}  // namespace

std::vector<Fix> drop_last_batch(const Report& report, const Mismatch& mismatch) {
  const Record& record = report.record();
  if (!mismatch.place || !record.in_file(mismatch.place)) return {};
  const ForStmt* loop = nullptr;
  for (const Enclosing& level : enclosing(*record.chunk(mismatch.place).chunk->stmt, mismatch.place.span))
    if (level.stmt->kind == StmtKind::for_) loop = &as<ForStmt>(*level.stmt);
  if (!loop) return {};
  const SourceLines source(record, mismatch.place.chunk);
  const Span iterable = source.absolute(loop->iterable->span);
  const OperationEvent* reading = reading_at(record, source.path(), iterable);
  if (!reading) return {};
  // How many batches does each rank get without the last one?
  std::optional<std::int64_t> batches;
  for (int rank = 0; rank < mismatch.world; ++rank) {
    const Record* const own = report.ranks().run(rank, mismatch.world);
    const OperationEvent* theirs = own ? reading_at(*own, source.path(), iterable) : nullptr;
    if (!theirs || theirs->arguments.empty()) return {};
    const auto samples = own->number(theirs->arguments[0]),
               size = own->number(
                   theirs->self.as<values::Instance>()->attributes.value(values::Name("batch_size")));
    if (!samples || !size || *size <= 0 || *samples < *size || (batches && *batches != *samples / *size))
      return {};
    batches = *samples / *size;
  }
  const OperationEvent* made = nullptr;
  visit_operations(
      record, with_operation(values::Operation::loader_made), [&](const OperationEvent& operation) {
        if (operation.row->kind == values::RowKind::class_ && operation.result == reading->self)
          made = &operation;
      });
  if (!made || !made->expr || !record.in_file(made->place)) return {};
  for (const Keyword& keyword : made->expr->keywords)
    if (keyword.name.empty() || keyword.name.text() == "drop_last") return {};
  for (const Expr* argument : made->expr->arguments)
    if (argument->kind == ExprKind::starred) return {};
  const SourceLines there(record, made->place.chunk);
  const std::uint32_t end = there.absolute(made->expr->span).end - 1;
  Fix fix;
  fix.title = "Drop the last batch, which not all ranks have";
  fix.edits.push_back({{there.path(), {end, end}},
      there.slice({end - 1, end}) == "," ? " drop_last=True" : ", drop_last=True"});
  return {fix};
}

std::vector<Fix> join_loop(const Report& report, const Mismatch& mismatch) {
  const Record& record = report.record();
  if (!mismatch.place || !record.in_file(mismatch.place)) return {};
  const ForStmt* loop = nullptr;
  for (const Enclosing& level : enclosing(*record.chunk(mismatch.place).chunk->stmt, mismatch.place.span))
    if (level.stmt->kind == StmtKind::for_) loop = &as<ForStmt>(*level.stmt);
  const SourceLines source(record, mismatch.place.chunk);
  if (!loop || !source.own_line(*loop)) return {};
  // Join plays the communication of one wrapper for the ranks that have ended, and no other.
  const OperationEvent* forward = nullptr;
  bool others = false;
  visit_roots(record, [&](const Event& each) {
    if (each.kind != interpreter::EventKind::operation || each.place.chunk != mismatch.place.chunk ||
        !loop->span.holds(each.place.span))
      return;
    const auto& operation = static_cast<const OperationEvent&>(each);
    const auto* native =
        operation.self.is(values::Kind::instance) ? operation.self.as<values::Instance>()->native : nullptr;
    if (operation.row->operation == values::Operation::parallel_forward && operation.expr && native &&
        native->row && native->row->backward) {
      others = others || (forward && !(forward->self == operation.self));
      forward = &operation;
    } else {
      others = others || operation.row->operation == values::Operation::message || operation.row->collective;
    }
  });
  if (others || !forward) return {};
  const Expr& module = *forward->expr->function;
  if (module.kind != ExprKind::name && module.kind != ExprKind::attribute) return {};
  const Span lines = source.lines(*loop, *loop);
  const std::string outer = source.indentation(*loop);
  const std::string step = source.step(*loop, *loop->body.front());
  Fix fix;
  fix.title = "Let the ranks without batches join the others";
  fix.edits.push_back({{source.path(), lines},
      outer + "with " + std::string(source.text(module)) + ".join():" + source.line_ending() +
          reindent(source.slice(lines), outer, outer + step)});
  return {fix};
}

std::vector<Fix> as_many_iterations(const Report& report, const Mismatch& mismatch) {
  std::vector<Fix> fixes = join_loop(report, mismatch);
  for (Fix& fix : drop_last_batch(report, mismatch)) fixes.push_back(std::move(fix));
  if (const auto* parting = mismatch.as<Parting>(); parting && parting->exit)
    for (Fix& fix : agree_first(report, mismatch)) fixes.push_back(std::move(fix));
  return fixes;
}

}  // namespace stepzero::rules
