#include "rules/loop/given_optimizer.hpp"

#include "rules/loop/absent.hpp"
#include "rules/source.hpp"

#include <algorithm>
#include <array>

namespace stepzero::rules {

using namespace interpreter;
using values::Kind;
using values::Operation;

namespace {

// What leaves an optimizer where it is, and as it is.
constexpr std::array<std::string_view, 7> harmless = {"zero_grad", "step", "param_groups", "state_dict", "load_state_dict", "defaults", "state"};

const syntax::Stmt* function_around(const Record& record, Place place) {
  const syntax::Stmt* found = nullptr;
  for (const Enclosing& each : enclosing(*record.chunk(place).chunk->stmt, place.span))
    if (each.stmt->kind == syntax::StmtKind::function) found = each.stmt;
  return found;
}

// Is everything that the function does with the optimizer one of these? Else others may step it.
bool is_kept(const Record& record, std::uint32_t chunk, const syntax::Stmt& function, std::string_view name) {
  int uses = 0, known = 0;
  for (const syntax::Stmt* stmt : syntax::as<syntax::FunctionStmt>(function).body)
    for_each_expression(*stmt, [&](const syntax::Expr& expr) {
      if (expr.kind != syntax::ExprKind::name && expr.kind != syntax::ExprKind::attribute) return;
      uses += record.text({chunk, expr.span}) == name;
      if (expr.kind != syntax::ExprKind::attribute) return;
      const auto& part = syntax::as<syntax::AttributeExpr>(expr);
      known += record.text({chunk, part.object->span}) == name && std::ranges::find(harmless, part.attribute.text()) != harmless.end();
    });
  return uses > 0 && uses == known;
}

// Does the function read or write gradients by itself? Then they may be of use without a step.
bool works_on_gradients(const syntax::Stmt& function) {
  bool found = false;
  for (const syntax::Stmt* stmt : syntax::as<syntax::FunctionStmt>(function).body)
    for_each_expression(*stmt, [&](const syntax::Expr& expr) {
      if (expr.kind != syntax::ExprKind::attribute) return;
      const std::string_view name = syntax::as<syntax::AttributeExpr>(expr).attribute.text();
      found = found || name == "grad" || name == "main_grad";
    });
  return found;
}

} // namespace

bool names_optimizer(std::string_view name) {
  name = name.substr(name.rfind('.') + 1);  // npos + 1 is 0
  return name.find("optim") != std::string_view::npos || name == "opt";
}

std::vector<GivenOptimizer> given_optimizers(const Record& record, const Scene& scene) {
  std::vector<GivenOptimizer> found;
  if (scene.root->truncated || by_hand(scene, nullptr)) return found;
  for (const Happening& cleared : scene.all) {
    const OperationEvent& event = *cleared.event;
    if (event.row->operation != Operation::zero_grad || cleared.loops.empty() || cleared.in_handler || !repeats(*cleared.loops.back())) continue;
    const bool made = event.self.is(Kind::instance) && (event.self.as<Instance>()->cls || is_made(scene, event.self.object()));
    if (made || (!event.self.is(Kind::unknown) && !event.self.is(Kind::instance))) continue;
    const std::string name = object_text(record, event, "");
    const syntax::Stmt* function = function_around(record, event.place);
    // Methods of the object may step it, and whoever has the object.
    if (!names_optimizer(name) || name.find('.') != std::string::npos || !function || !record.in_file(event.place)) continue;
    if (!is_kept(record, event.place.chunk, *function, name) || works_on_gradients(*function)) continue;
    GivenOptimizer one{name, &cleared, nullptr, nullptr};
    bool asked = false;
    for (const Happening& each : scene.all) {
      const Operation operation = each.event->row->operation;
      if (operation == Operation::optimizer_step || operation == Operation::scaler_step) one.stepped = &each;
      if (operation == Operation::backward && !each.loops.empty() && each.loops.back() == cleared.loops.back() && !each.in_handler) one.backward = &each;
      else asked = asked || operation == Operation::backward;
      asked = asked || operation == Operation::gradient_asked || operation == Operation::gradient_written;
    }
    if (one.stepped && (stepped_optimizer(*one.stepped->event).object() != event.self.object() || one.stepped->loops.empty() || one.stepped->loops.back() != cleared.loops.back())) continue;
    if (!asked) found.push_back(one);
  }
  return found;
}

} // namespace stepzero::rules
