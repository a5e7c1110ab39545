#include "rules/loop/epoch_samplers.hpp"

#include "rules/name_hints.hpp"
#include "rules/source.hpp"
#include "rules/training/parts.hpp"
#include "values/kept.hpp"
#include "values/limits.hpp"

#include <algorithm>
#include <set>

namespace stepzero::rules::loop {

using namespace interpreter;
using values::Kind;
using values::Operation;

bool is_librarys(Value value) {
  if (!value.is(Kind::instance)) return false;
  const auto* instance = value.as<Instance>();
  const auto* native = instance->native ? instance->native : instance->cls ? instance->cls->native : nullptr;
  return native && native->row && native->row->operation == Operation::sampler_made;
}

namespace {

// PyTorch's name for the method by which a sampler, and whatever does as samplers do, is told its epoch.
constexpr std::string_view setter_name = "set_epoch";

// The method of a class by which it is told its epoch; null: it has none that is seen.
const values::Function* epoch_setter(const Instance& instance) {
  if (!instance.cls) return nullptr;
  for (const values::Class* cls : instance.cls->order)
    if (const auto* slot = cls->body ? cls->body->names.find(syntax::Name(setter_name)) : nullptr)
      return slot->value.is(Kind::function) && slot->value.as<values::Function>()->stmt
          ? slot->value.as<values::Function>()
          : nullptr;
  return nullptr;
}

// A sampler of the program's own that draws its order from the epoch that it is told: `self.epoch = epoch`,
// `g.manual_seed(self.epoch)`.
bool draws_by_epoch(const Record& record, const Instance& instance) {
  const values::Function* setter = epoch_setter(instance);
  if (!setter || setter->stmt->body.empty()) return false;
  std::string_view kept;
  for (const syntax::Stmt* stmt : setter->stmt->body) {
    if (stmt->kind != syntax::StmtKind::assign) continue;
    const auto& assign = syntax::as<syntax::AssignStmt>(*stmt);
    if (assign.targets.size() == 1 && assign.targets[0]->kind == syntax::ExprKind::attribute &&
        assign.value->kind == syntax::ExprKind::name)
      kept = record.text({setter->chunk, assign.targets[0]->span});
  }
  if (kept.empty()) return false;
  std::set<std::string_view> of_epoch;  // names of what is computed from it: `seed = base + self.epoch`
  const auto reads = [&](std::uint32_t chunk, const syntax::Expr& expr) {
    bool any = false;
    for_each_expression(expr, [&](const syntax::Expr& part) {
      any = any || (part.kind == syntax::ExprKind::attribute && record.text({chunk, part.span}) == kept) ||
          (part.kind == syntax::ExprKind::name &&
              of_epoch.contains(syntax::as<syntax::NameExpr>(part).id.text()));
    });
    return any;
  };
  bool draws = false;
  for (const values::Class* cls : instance.cls->order) {
    if (!cls->stmt) continue;
    for_each_statement(*cls->stmt, [&](const syntax::Stmt& stmt) {
      if (stmt.kind != syntax::StmtKind::assign) return;
      const auto& assign = syntax::as<syntax::AssignStmt>(stmt);
      if (assign.value && assign.targets.size() == 1 && assign.targets[0]->kind == syntax::ExprKind::name &&
          reads(cls->chunk, *assign.value))
        of_epoch.insert(syntax::as<syntax::NameExpr>(*assign.targets[0]).id.text());
    });
    for_each_expression(*cls->stmt, [&](const syntax::Expr& expr) {
      if (expr.kind != syntax::ExprKind::call) return;
      const auto& call = syntax::as<syntax::CallExpr>(expr);
      if (!says(last_name(*call.function), Says::seeding)) return;
      for (const syntax::Expr* argument : call.arguments) draws = draws || reads(cls->chunk, *argument);
      for (const auto& keyword : call.keywords) draws = draws || reads(cls->chunk, *keyword.value);
    });
  }
  return draws;
}
bool has_epochs(const Record& record, Value value) {
  return is_librarys(value) || (value.is(Kind::instance) && draws_by_epoch(record, *value.as<Instance>()));
}

}  // namespace

bool may_tell(const Record& record, Value told, const Object* sampler, int depth) {
  constexpr int deepest = 6;  // choices among choices: of deeper ones it may be any
  if (told.object() == sampler) return true;
  if (told.is(Kind::none)) return false;
  if (told.is(Kind::choice) && depth < deepest)
    return may_tell(record, told.as<values::Choice>()->yes, sampler, depth + 1) ||
        may_tell(record, told.as<values::Choice>()->no, sampler, depth + 1);
  if (!told.is(Kind::instance)) return true;
  const auto& instance = *told.as<Instance>();
  if (!is_librarys(told) && !epoch_setter(instance)) return true;
  Parts parts;
  parts.add(told);
  return parts.found.contains(sampler);
}

bool tells_epochs(const Record& record, const TrainingRoot& training_root, const Object* told) {
  const auto* instance = dynamic_cast<const Instance*>(told);
  const bool of_library = instance && is_librarys(Value::of(Kind::instance, instance));
  for (std::uint32_t i = 1; i < record.chunks.size(); ++i) {
    const ChunkOf& chunk = record.chunks[i];
    if (!chunk.statement()) continue;
    bool found = false;
    for_each_expression(*chunk.chunk->stmt, [&](const syntax::Expr& expr) {
      if (found || expr.kind != syntax::ExprKind::call) return;
      const syntax::Expr& called = *syntax::as<syntax::CallExpr>(expr).function;
      if (called.kind != syntax::ExprKind::attribute || last_name(called) != setter_name) return;
      // Where it may be one of several, a class of the program leaves no event of its own method.
      bool known = false, another = of_library;
      for (const TrainingEvent& each : training_root.all) {
        if (each.event->row->operation != Operation::set_epoch || !(each.event->place == Place{i, expr.span}))
          continue;
        known = true;
        another = another && !may_tell(record, each.event->self, told);
      }
      if (known && another) return;
      const auto path = enclosing(*chunk.chunk->stmt, expr.span);
      found = std::ranges::none_of(path, [](const Enclosing& each) {
        return each.stmt->kind == syntax::StmtKind::function &&
            syntax::as<syntax::FunctionStmt>(*each.stmt).name.text() == setter_name;
      });
    });
    if (found) return true;
  }
  return false;
}

std::optional<values::Cond> shuffles(const Record& record, const TrainingEvent* made, Value sampler) {
  Value given;
  if (made && is_librarys(sampler) &&
      !(sampler.as<Instance>()->cls && epoch_setter(*sampler.as<Instance>()))) {
    const auto& arguments = made->event->arguments;
    given = arguments.size() > 3 ? arguments[3] : Value{};
  } else {
    given = attribute(sampler, "shuffle");
  }
  if (!given) return nullptr;
  if (!given.is(Kind::boolean)) return std::nullopt;
  const Answer answer = record.symbols.decide(given.condition());
  if (answer == Answer::yes) return nullptr;
  return answer == Answer::no ? std::nullopt : std::optional(given.condition());
}

namespace {
Sampler find_sampler(const Record& record, Value value, int depth = 0) {
  if (has_epochs(record, value)) return {value, nullptr, false};
  // A batch sampler takes its batches from another.
  if (value.is(Kind::instance) && depth < values::deepest_search)
    if (const Value inner = value.as<Instance>()->attributes.value(syntax::Name("sampler"));
        inner && value.as<Instance>()->native && !value.as<Instance>()->cls)
      return find_sampler(record, inner, depth + 1);
  // Of the program's own it may be any that it keeps.
  if (value.is(Kind::instance) && value.as<Instance>()->cls && depth < values::deepest_search)
    for (const auto& [name, slot] : value.as<Instance>()->attributes.entries()) {
      if (values::is_kept(name.text())) continue;
      if (Sampler found = find_sampler(record, slot->value, depth + 1); found.value) {
        found.inside = true;
        return found;
      }
    }
  if (!value.is(Kind::choice) || depth > values::most_choices) return {};
  const auto* choice = value.as<values::Choice>();
  for (const bool yes : {true, false}) {
    Sampler found = find_sampler(record, yes ? choice->yes : choice->no, depth + 1);
    if (!found.value || !choice->condition) continue;
    const values::Cond side = yes ? choice->condition : record.symbols.logical_not(choice->condition);
    found.when = found.when ? record.symbols.logical_and(found.when, side) : side;
    return found;
  }
  return {};
}
}  // namespace

Sampler sampler_of(const Record& record, const OperationEvent& read) {
  if (!read.self.is(Kind::instance)) return {};
  for (const char* name : {"sampler", "batch_sampler"})
    if (const Sampler found = find_sampler(
            record, read.self.as<Instance>()->attributes.value(syntax::Name(name)));
        found.value)
      return found;
  return {};
}

const Instance* seeded_data(const Record& record, const OperationEvent& read) {
  if (!read.self.is(Kind::instance)) return nullptr;
  const Value data = read.self.as<Instance>()->attributes.value(syntax::Name("dataset"));
  return data.is(Kind::instance) && draws_by_epoch(record, *data.as<Instance>()) ? data.as<Instance>()
                                                                                 : nullptr;
}

}  // namespace stepzero::rules::loop
