// data/worker-copies: each worker of a loader goes through the whole stream. Which loader has which data set
// is read from the run; what its `__iter__` gives, and that nothing in its file asks for the worker, from the
// text: the run iterates a stream as one process, and what is not written anywhere is no event.
#include "rules/classes.hpp"
#include "rules/name_hints.hpp"
#include "rules/rule.hpp"
#include "rules/source.hpp"
#include "rules/training/training.hpp"
#include "syntax/walk.hpp"
#include "values/shape_text.hpp"

#include <algorithm>

namespace stepzero::rules::data::worker_copies {

using values::code;

using namespace interpreter;
using namespace syntax;
using values::Kind;
using values::Operation;

namespace {

constexpr std::string_view stream = "torch.utils.data.IterableDataset", iterate = "__iter__";

// Is it the same whoever goes through it: a file that is opened here, numbers in a row, what the object
// holds?
bool is_the_same(const values::Instance& dataset, const FunctionStmt& method, const Expr& iterable) {
  if (iterable.kind == ExprKind::name) {
    bool opened = false;
    for_each_statement(method, [&](const Stmt& stmt) {
      if (stmt.kind != StmtKind::with) return;
      for (const WithItem& item : as<WithStmt>(stmt).items)
        opened = opened ||
            (item.target && item.target->kind == ExprKind::name &&
                as<NameExpr>(*item.target).id == as<NameExpr>(iterable).id &&
                item.context->kind == ExprKind::call &&
                as<CallExpr>(*item.context).function->kind == ExprKind::name &&
                says(as<NameExpr>(*as<CallExpr>(*item.context).function).id.text(), Says::opening));
    });
    return opened;
  }
  if (iterable.kind == ExprKind::call) {
    const auto& call = as<CallExpr>(iterable);
    if (call.function->kind != ExprKind::name) return false;
    const std::string_view name = as<NameExpr>(*call.function).id.text();
    if (says(name, Says::counting) || says(name, Says::opening)) return true;
    return (says(name, Says::passing_on) || says(name, Says::keeping_order)) && !call.arguments.empty() &&
        std::ranges::all_of(
            call.arguments, [&](const Expr* each) { return is_the_same(dataset, method, *each); });
  }
  if (iterable.kind != ExprKind::attribute) return false;
  const values::Slot* slot = dataset.attributes.find(as<AttributeExpr>(iterable).attribute);
  return slot &&
      (slot->value.is(Kind::list) || slot->value.is(Kind::tuple) || slot->value.is(Kind::tensor) ||
          slot->value.is(Kind::range));
}

// Does it give all of something, once, in an order that is no chance?
bool gives_all(const values::Instance& dataset, const FunctionStmt& method) {
  bool all = false, other = false;
  for (const Stmt* stmt : method.body)
    for_each_statement(*stmt, [&](const Stmt& each) {
      if (each.kind == StmtKind::while_) other = true;
      if (each.kind == StmtKind::for_) all = all || is_the_same(dataset, method, *as<ForStmt>(each).iterable);
      if (each.kind == StmtKind::return_ && as<ReturnStmt>(each).value &&
          as<ReturnStmt>(each).value->kind == ExprKind::call)
        all = all || is_the_same(dataset, method, *as<ReturnStmt>(each).value);
    });
  return all && !other;
}

// Says anything in the files of the classes that it knows of workers, or draws at random?
bool knows_workers(const Record& record, const values::Class& cls, const FunctionStmt& method) {
  bool asked = false;
  for (const values::Class* each : cls.order)
    for (const ChunkOf& chunk : record.chunks)
      if (chunk.path == record.chunks[each->chunk].path && chunk.statement())
        for_each_expression(*chunk.statement(),
            [&](const Expr& expr) { asked = asked || says(last_name(expr), Says::asking_workers); });
  if (asked) return true;
  return names(method, Says::random_or_workers);
}

void check(const Record& record, Report& report) {
  Once once;
  visit_operations(record, with_operation(Operation::loader_made), [&](const OperationEvent& made) {
    const Value given = argument(made, "dataset"), prepared = argument(made, "worker_init_fn");
    const auto workers = record.number(argument(made, "num_workers"));
    if (!workers || *workers < 2 || !given.is(Kind::instance) || (prepared && !prepared.is(Kind::none)))
      return;
    const auto& dataset = *given.as<values::Instance>();
    if (!dataset.cls || dataset.cls->open || !dataset.cls->native || dataset.cls->native->path != stream)
      return;
    const FunctionStmt* method = method_of(*dataset.cls, iterate);
    if (!method || !gives_all(dataset, *method) || knows_workers(record, *dataset.cls, *method) ||
        !once(made.place))
      return;
    const std::string name(dataset.cls->name.text());
    Finding* finding = report.add(Severity::warning, made.place, made.calls,
        "Each of the " + std::to_string(*workers) + " workers goes through all of " + code(name) +
            ": every sample comes " + std::to_string(*workers) +
            " times. Call `torch.utils.data.get_worker_info()` in `__iter__`, and give each worker its share.");
    if (finding) report.relate(*finding, {dataset.cls->chunk, method->name_span}, "this gives all samples");
  });
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "data/worker-copies",
    .severity = Severity::warning,
    .summary = "each worker of a loader goes through a whole IterableDataset",
    .why =
        "A loader shares the indices of a Dataset among its workers, but it cannot share a stream: each worker has its own copy of an IterableDataset and calls its `__iter__`. With four workers every sample comes four times, and an epoch is four times as long.",
    .wrong = "class Lines(IterableDataset):\n"
             "    def __iter__(self):\n"
             "        with open(self.path) as file:\n"
             "            for line in file:\n"
             "                yield parse(line)\n"
             "\n"
             "loader = DataLoader(Lines(path), batch_size=32, num_workers=4)\n",
    .right = "class Lines(IterableDataset):\n"
             "    def __iter__(self):\n"
             "        info = get_worker_info()\n"
             "        with open(self.path) as file:\n"
             "            for i, line in enumerate(file):\n"
             "                if info is None or i % info.num_workers == info.id:\n"
             "                    yield parse(line)\n"
             "\n"
             "loader = DataLoader(Lines(path), batch_size=32, num_workers=4)\n",
    .silent =
        "Files that speak of `get_worker_info`; loaders with a `worker_init_fn`; streams without an end, random ones, and those that go through something of which nothing is known; fewer than two workers.",
    .fix = "None: how the stream is shared depends on what it reads.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::data::worker_copies
