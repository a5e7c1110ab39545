#include "rules/shape/unmoved_batch.hpp"

#include "rules/name_hints.hpp"
#include "rules/shape/batch_names.hpp"
#include "rules/source.hpp"
#include "rules/training/evaluation.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <set>

namespace stepzero::rules {

using namespace interpreter;
using namespace syntax;
using values::code;
using values::Operation;

namespace {

// The name at the front of `batch["x"][0].shape`; empty if there is none.
std::string_view base_of(const Expr* expr) {
  for (;;) switch (expr->kind) {
    case ExprKind::name: return as<NameExpr>(*expr).id.text();
    case ExprKind::attribute: expr = as<AttributeExpr>(*expr).object; break;
    case ExprKind::subscript: expr = as<SubscriptExpr>(*expr).object; break;
    case ExprKind::starred: expr = as<StarredExpr>(*expr).value; break;
    default: return {};
    }
}

// `loader`, `enumerate(loader)`, `tqdm(enumerate(loader), total=n)`: the loader; null if it has no name.
const NameExpr* loader_of(const Expr* iterable) {
  iterable = iterated_in(iterable);
  return iterable->kind == ExprKind::name ? &as<NameExpr>(*iterable) : nullptr;
}

// Is it, in some run, an object of a class of the program, which may move the batches that it gives?
bool gives_its_own(const Record& record, Place loader) {
  return std::ranges::any_of(record.facts, [&](const Fact& fact) {
    return fact.place == loader && fact.value.is(values::Kind::instance) &&
        fact.value.as<values::Instance>()->cls;
  });
}

// What a function does with the device that it is given, and with those of tensors.
struct Uses {
  bool elsewhere = false;  // otherwise than to move the model
  bool moves = false;      // something may be moved in the loop, by whatever
};
Uses uses_of(const Record& record, std::uint32_t chunk, const FunctionStmt& function, const ForStmt& loop,
    std::string_view device, std::string_view model) {
  Uses uses;
  std::size_t read = 0, moves_model = 0;
  for_each_expression(function, [&](const Expr& expr) {
    const bool inside = loop.span.begin <= expr.span.begin && expr.span.end <= loop.span.end;
    if (expr.kind == ExprKind::name) read += as<NameExpr>(expr).id.text() == device;
    if (expr.kind != ExprKind::call) return;
    const auto& call = as<CallExpr>(expr);
    if (call.function->kind != ExprKind::attribute) {
      // What is handed on whole may be moved there.
      if (inside && call.function->kind == ExprKind::name)
        uses.moves = uses.moves || says(as<NameExpr>(*call.function).id.text(), Says::moving);
      return;
    }
    const auto& method = as<AttributeExpr>(*call.function);
    const std::string_view name = method.attribute.text();
    const bool of_model = record.text({chunk, method.object->span}) == model;
    if (says(name, Says::to_given) && of_model && call.arguments.size() == 1 &&
        base_of(call.arguments[0]) == device)
      ++moves_model;
    uses.moves = uses.moves || ((says(name, Says::moving) || may_take_device(call)) && !of_model);
  });
  uses.elsewhere = read > moves_model;
  return uses;
}

// Is it given whole, or as what hides whether it was moved: `model(**batch)`?
const Expr* first_input(const CallExpr& call) {
  if (!call.arguments.empty())
    return call.arguments[0]->kind == ExprKind::starred ? nullptr : call.arguments[0];
  return call.keywords.empty() || call.keywords[0].name.text().empty() ? nullptr : call.keywords[0].value;
}

}  // namespace

void look_for_unmoved_batches(const Record& record, Report& report) {
  std::set<const FunctionStmt*> told;
  visit_operations(record, [&](const OperationEvent& event) {
    if (event.row->operation != Operation::forward || !record.in_file(event.place)) return;
    const auto [function, loop] = batch_loop_around(record, event.place);
    if (!function || !loop || told.contains(function)) return;
    const CallExpr* call = call_of(record, event);
    const Expr* input = call ? first_input(*call) : nullptr;
    const NameExpr* iterated = loader_of(loop->iterable);
    const std::string_view loader = iterated ? iterated->id.text() : std::string_view{};
    const auto is_parameter = [&](std::string_view name) {
      return std::ranges::any_of(
          function->parameters->list, [&](const Parameter& one) { return one.name.text() == name; });
    };
    if (!input || loader.empty() || !says(loader, Says::loader)) return;
    const std::string_view given = base_of(input);
    if (given.empty() || !names_of_batch(*loop, base_of).contains(given)) return;
    const std::string_view model = record.text({event.place.chunk, call->function->span});
    for (const Parameter& parameter : function->parameters->list) {
      const std::string_view device = parameter.name.text();
      if (!says(device, Says::device) || !(is_parameter(model) || is_parameter(base_of(call->function))))
        continue;
      const Uses uses = uses_of(record, event.place.chunk, *function, *loop, device, model);
      if (uses.elsewhere || uses.moves || fails_by_device(record, event.place.chunk, function->span) ||
          gives_its_own(record, {event.place.chunk, iterated->span}))
        continue;
      told.insert(function);
      const std::string name(given), whole(record.text({event.place.chunk, input->span}));
      const std::string moved = whole + ".to(" + std::string(device) + ")";
      report.add(Severity::warning, event.place, event.calls,
          code(name) + " stays where " + code(std::string(loader)) +
              ", by its name a loader, made it, on the CPU: " + code(std::string(function->name.text())) +
              " is given " + code(std::string(device)) + " and moves no batch there, so this fails when " +
              code(std::string(model)) +
              " is on a GPU. Move it: " + code(whole == name ? name + " = " + moved : moved) + ".");
      break;
    }
  });
}

}  // namespace stepzero::rules
