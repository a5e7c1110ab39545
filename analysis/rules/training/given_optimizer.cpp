// What functions do with an optimizer that they are given, where no call hands them one. Nobody runs them
// with an optimizer, so their text is read.
#include "rules/training/given_optimizer.hpp"

#include "libraries/table/table.hpp"
#include "libraries/torch/meaning/gradients.hpp"
#include "rules/name_hints.hpp"
#include "rules/source.hpp"
#include "rules/training/absent.hpp"

#include <algorithm>
#include <array>

namespace stepzero::rules {

using namespace interpreter;
using values::Kind;
using values::Operation;

namespace {

// Does it leave an optimizer where it is, and as it is? Methods by what their rows mean; and what optimizers,
// and those that wrap one, hold.
bool leaves_as_it_is(std::string_view attribute) {
  if (says(attribute, Says::of_optimizer) || says(attribute, Says::inside_optimizer)) return true;
  const values::Row* row = libraries::table().find("torch.optim.Optimizer." + std::string(attribute));
  return row &&
      (row->operation == Operation::zero_grad || row->operation == Operation::optimizer_step ||
          row->operation == Operation::state_taken || row->operation == Operation::state_put);
}

// Is everything that the function does with the optimizer one of these? Else others may step it.
bool is_kept(
    const Record& record, std::uint32_t chunk, const syntax::FunctionStmt& function, std::string_view name) {
  int uses = 0, known = 0;
  for (const syntax::Stmt* stmt : function.body)
    for_each_expression(*stmt, [&](const syntax::Expr& expr) {
      // A scaler steps it, which is seen; apex's way to scale a loss takes it for the scale that belongs to
      // it.
      if (expr.kind == syntax::ExprKind::call &&
          says(record.text({chunk, syntax::as<syntax::CallExpr>(expr).function->span}), Says::scaling_by))
        for (const syntax::Expr* argument : syntax::as<syntax::CallExpr>(expr).arguments)
          known += record.text({chunk, argument->span}) == name;
      // `optimizer is not None`
      if (expr.kind == syntax::ExprKind::compare) {
        const auto& compare = syntax::as<syntax::CompareExpr>(expr);
        known += record.text({chunk, compare.left->span}) == name && compare.rights.size() == 1 &&
            compare.rights[0]->kind == syntax::ExprKind::none;
      }
      if (expr.kind != syntax::ExprKind::name && expr.kind != syntax::ExprKind::attribute) return;
      uses += record.text({chunk, expr.span}) == name;
      if (expr.kind != syntax::ExprKind::attribute) return;
      const auto& part = syntax::as<syntax::AttributeExpr>(expr);
      known += record.text({chunk, part.object->span}) == name && leaves_as_it_is(part.attribute.text());
    });
  // `if optimizer:`
  for (const syntax::Stmt* stmt : function.body)
    for_each_statement(*stmt, [&](const syntax::Stmt& one) {
      if (one.kind == syntax::StmtKind::if_)
        known += record.text({chunk, syntax::as<syntax::IfStmt>(one).test->span}) == name;
    });
  return uses > 0 && uses == known;
}

// What the function does with gradients by itself: does it make some, and does it use them in any other way
// than to throw them away?
struct OfGradients {
  bool made = false, used = false;
};
bool is_gradient(const syntax::Expr& expr) { return is_attribute(expr, Says::gradient); }
OfGradients of_gradients(const Record& record, std::uint32_t chunk, const syntax::FunctionStmt& function) {
  OfGradients found;
  int uses = 0, of_no_use = 0;
  for (const syntax::Stmt* stmt : function.body) {
    for_each_expression(*stmt, [&](const syntax::Expr& expr) {
      uses += is_gradient(expr);
      if (expr.kind == syntax::ExprKind::call &&
          syntax::as<syntax::CallExpr>(expr).function->kind == syntax::ExprKind::attribute) {
        const auto& method = syntax::as<syntax::AttributeExpr>(*syntax::as<syntax::CallExpr>(expr).function);
        const bool of_gradient = is_gradient(*method.object) ||
            (method.object->kind == syntax::ExprKind::attribute &&
                is_gradient(*syntax::as<syntax::AttributeExpr>(*method.object).object));
        found.made = found.made ||
            (of_gradient && method.attribute.text().ends_with('_') &&
                libraries::gradient_write_of(method.attribute.text()) == libraries::GradientWrite::other);
      }
      if (expr.kind != syntax::ExprKind::compare) return;
      // `p.grad is not None`
      const auto& compare = syntax::as<syntax::CompareExpr>(expr);
      of_no_use += is_gradient(*compare.left) && compare.rights.size() == 1 &&
          compare.rights[0]->kind == syntax::ExprKind::none;
    });
    for_each_statement(*stmt, [&](const syntax::Stmt& one) {
      if (one.kind != syntax::StmtKind::assign) return;
      const auto& assign = syntax::as<syntax::AssignStmt>(one);
      for (const syntax::Expr* target : assign.targets) {
        const bool whole = is_gradient(*target);
        const bool data = target->kind == syntax::ExprKind::attribute &&
            is_gradient(*syntax::as<syntax::AttributeExpr>(*target).object);
        const bool away = whole && assign.value && assign.value->kind == syntax::ExprKind::none;
        of_no_use += away;
        // `p.grad = averaged(p.grad)` is made of what a backward has left.
        bool remade = false;
        if ((whole || data) && assign.value)
          for_each_expression(*assign.value, [&](const syntax::Expr& part) {
            remade = remade ||
                (part.kind == syntax::ExprKind::attribute &&
                    record.text({chunk, part.span}) == record.text({chunk, target->span}));
          });
        found.made = found.made || ((whole || data) && !away && !remade);
      }
    });
  }
  found.used = uses > of_no_use;
  return found;
}

}  // namespace

bool names_optimizer(std::string_view name) {
  return says(name.substr(name.rfind('.') + 1), Says::optimizer);  // npos + 1 is 0
}

std::vector<GivenOptimizer> given_optimizers(const Record& record, const TrainingRoot& training_root) {
  std::vector<GivenOptimizer> found;
  if (training_root.root->truncated || makes_gradients(record, training_root, nullptr)) return found;
  for (const TrainingEvent& cleared : training_root.all) {
    const OperationEvent& event = *cleared.event;
    if (event.row->operation != Operation::zero_grad || cleared.loops.empty() || cleared.in_handler ||
        !repeats(*cleared.loops.back()))
      continue;
    const bool made = event.self.is(Kind::instance) &&
        (event.self.as<Instance>()->cls || is_made(training_root, event.self.object()));
    if (made || (!event.self.is(Kind::unknown) && !event.self.is(Kind::instance))) continue;
    const std::string name = object_text(record, event, "");
    const syntax::FunctionStmt* function = function_around(record, event.place);
    // Methods of the object may step it, and whoever has the object.
    if (!names_optimizer(name) || name.find('.') != std::string::npos || !function ||
        !record.in_file(event.place))
      continue;
    const OfGradients gradients = of_gradients(record, event.place.chunk, *function);
    if (!is_kept(record, event.place.chunk, *function, name) || gradients.made) continue;
    GivenOptimizer one{name, &cleared, nullptr, nullptr, gradients.used || by_hand(training_root, nullptr)};
    bool asked = false;
    for (const TrainingEvent& each : training_root.all) {
      const Operation operation = each.event->row->operation;
      if (operation == Operation::optimizer_step || operation == Operation::scaler_step) one.stepped = &each;
      if (operation == Operation::backward && !each.loops.empty() &&
          each.loops.back() == cleared.loops.back() && !each.in_handler)
        one.backward = &each;
      else
        asked = asked || operation == Operation::backward;
      asked = asked || operation == Operation::gradient_asked;
    }
    if (one.stepped &&
        (stepped_optimizer(*one.stepped->event).object() != event.self.object() ||
            one.stepped->loops.empty() || one.stepped->loops.back() != cleared.loops.back()))
      continue;
    if (!asked) found.push_back(one);
  }
  return found;
}

}  // namespace stepzero::rules
