// data/worker-copies: each worker of a loader goes through the whole stream. Which loader has which data set
// is read from the run; what its `__iter__` gives, and that nothing in its file asks for the worker, from the
// text: the run iterates a stream as one process, and what is not written anywhere is no event.
#include "rules/classes.hpp"
#include "rules/name_hints.hpp"
#include "rules/rule.hpp"
#include "rules/source.hpp"
#include "rules/training/loaders.hpp"
#include "syntax/walk.hpp"
#include "values/limits.hpp"
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
// holds, a part of these that is no worker's own?
class Stream {
public:
  Stream(const values::Instance& dataset, const FunctionStmt& method) : dataset_(dataset), method_(method) {}

  bool is_the_same(const Expr& from, int depth = 0) const {
    if (depth > values::deepest_data) return false;
    switch (from.kind) {
    case ExprKind::name: return is_opened(as<NameExpr>(from).id) || is_named_so(as<NameExpr>(from).id, depth);
    case ExprKind::call: return is_given_by(as<CallExpr>(from), depth);
    case ExprKind::subscript: return is_the_same(*as<SubscriptExpr>(from).object, depth + 1);
    // What is made of each, in their order.
    case ExprKind::comprehension:
      return is_the_same(*as<ComprehensionExpr>(from).generators[0].iterable, depth + 1);
    case ExprKind::attribute: {
      const auto& attribute = as<AttributeExpr>(from);
      const values::Slot* slot =
          attribute.object->kind == ExprKind::name ? dataset_.attributes.find(attribute.attribute) : nullptr;
      return slot &&
          (slot->value.is(Kind::list) || slot->value.is(Kind::tuple) || slot->value.is(Kind::tensor) ||
              slot->value.is(Kind::range) || slot->value.is(Kind::dict));
    }
    default: return false;
    }
  }

private:
  const values::Instance& dataset_;
  const FunctionStmt& method_;

  static bool opens(const Expr& expr) {
    return expr.kind == ExprKind::call && says(last_name(*as<CallExpr>(expr).function), Says::opening);
  }
  // `with open(path) as file`
  bool is_opened(Name name) const {
    bool opened = false;
    for_each_statement(method_, [&](const Stmt& stmt) {
      if (stmt.kind != StmtKind::with) return;
      for (const WithItem& item : as<WithStmt>(stmt).items)
        opened = opened ||
            (item.target && item.target->kind == ExprKind::name && as<NameExpr>(*item.target).id == name &&
                opens(*item.context));
    });
    return opened;
  }
  // `rows = csv.reader(file)`, and no other of that name.
  bool is_named_so(Name name, int depth) const {
    const Expr* value = nullptr;
    int times = 0;
    for_each_statement(method_, [&](const Stmt& stmt) {
      if (stmt.kind != StmtKind::assign) return;
      for (const Expr* target : as<AssignStmt>(stmt).targets)
        if (target->kind == ExprKind::name && as<NameExpr>(*target).id == name)
          value = as<AssignStmt>(stmt).value, ++times;
    });
    return times == 1 && is_the_same(*value, depth + 1);
  }
  bool is_given_by(const CallExpr& call, int depth) const {
    const std::string_view name = last_name(*call.function);
    if (opens(call)) return true;
    const bool is_name = call.function->kind == ExprKind::name;
    if (is_name && says(name, Says::counting)) return true;
    const bool rows = says(name, Says::giving_rows), on = says(name, Says::passing_on);
    // A method gives what its object has: `file.readlines()`.
    if (call.arguments.empty())
      return rows && !is_name && is_the_same(*as<AttributeExpr>(*call.function).object, depth + 1);
    if (rows || on) return is_the_same(*call.arguments[0], depth + 1);
    return says(name, Says::keeping_order) &&
        std::ranges::all_of(call.arguments, [&](const Expr* each) { return is_the_same(*each, depth + 1); });
  }
};

// Does it give all of something, once, in an order that is no chance?
bool gives_all(const values::Instance& dataset, const FunctionStmt& method) {
  const Stream stream_of(dataset, method);
  bool all = false, other = false;
  for (const Stmt* stmt : method.body) {
    for_each_statement(*stmt, [&](const Stmt& each) {
      if (each.kind == StmtKind::while_) other = true;
      if (each.kind == StmtKind::for_) all = all || stream_of.is_the_same(*as<ForStmt>(each).iterable);
      if (each.kind == StmtKind::return_ && as<ReturnStmt>(each).value &&
          as<ReturnStmt>(each).value->kind == ExprKind::call)
        all = all || stream_of.is_the_same(*as<ReturnStmt>(each).value);
    });
    for_each_expression(*stmt, [&](const Expr& each) {
      if (each.kind == ExprKind::yield_from)
        all = all || stream_of.is_the_same(*as<YieldFromExpr>(each).value);
    });
  }
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
    const auto workers = workers_of(record, made);
    if (!workers || workers->count < 2 || !given.is(Kind::instance) || (prepared && !prepared.is(Kind::none)))
      return;
    const auto& dataset = *given.as<values::Instance>();
    if (!dataset.cls || dataset.cls->open || !dataset.cls->native || dataset.cls->native->path != stream)
      return;
    const FunctionStmt* method = method_of(*dataset.cls, iterate);
    if (!method || !gives_all(dataset, *method) || knows_workers(record, *dataset.cls, *method) ||
        !once(made.place))
      return;
    const std::string name(dataset.cls->name.text()), times = std::to_string(workers->count);
    const bool of_rank = names(*method, Says::processes);
    Finding* finding = report.add(Severity::warning, made.place, made.calls,
        std::string(workers->by_default ? "By default each" : "Each") + " of the " + times +
            " workers goes through all of " +
            (of_rank ? "what " + code(name) + " gives to its rank" : code(name)) + ": every sample comes " +
            times +
            " times. Call `torch.utils.data.get_worker_info()` in `__iter__`, and give each worker its share.");
    if (finding)
      report.relate(*finding, {dataset.cls->chunk, method->name_span},
          of_rank ? "this tells ranks apart, and no workers" : "this gives all samples");
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
        "Files that call `get_worker_info`; loaders with a `worker_init_fn`; streams without an end, random ones, and those that go through something of which nothing is known; fewer than two workers.",
    .fix = "None: how the stream is shared depends on what it reads.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::data::worker_copies
