// loop/manual-optimization: a class takes optimization into its own hands and leaves a part of it out, or
// does by hand what its framework does as well. Knows what the class and its bases write, all of which have
// to be seen.
#include "libraries/frameworks/called_methods.hpp"
#include "rules/classes.hpp"
#include "rules/name_hints.hpp"
#include "rules/report.hpp"
#include "rules/rule.hpp"
#include "rules/source.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <set>

namespace stepzero::rules::loop::manual_optimization {

using namespace interpreter;
using namespace syntax;
using values::code;

namespace {

// What the class writes of the flag: always False, never anything, or something else.
enum class Flag : std::uint8_t { unset, off, other };
Flag flag_of(const values::Class& cls, std::string_view flag) {
  bool off = false, other = false;
  const auto names = [&](const Expr* target) {
    return (target->kind == ExprKind::attribute && as<AttributeExpr>(*target).attribute.text() == flag) ||
        (target->kind == ExprKind::name && as<NameExpr>(*target).id.text() == flag);
  };
  const auto write = [&](const Expr* value) {
    const bool no = value && value->kind == ExprKind::boolean && !as<BooleanExpr>(*value).value;
    (no ? off : other) = true;
  };
  for (const values::Class* each : cls.order) {
    // Written under a condition, it is what the program chooses.
    for (const Stmt* stmt : each->stmt->body) {
      const auto look = [&](const Stmt& inner, bool plain) {
        const bool assigns = inner.kind == StmtKind::assign &&
            std::ranges::any_of(as<AssignStmt>(inner).targets, names);
        const bool annotates = inner.kind == StmtKind::ann_assign && names(as<AnnAssignStmt>(inner).target);
        if (assigns) plain ? write(as<AssignStmt>(inner).value) : void(other = true);
        if (annotates) plain ? write(as<AnnAssignStmt>(inner).value) : void(other = true);
        if (inner.kind == StmtKind::function && as<FunctionStmt>(inner).name.text() == flag) {
          // A property that returns a constant.
          const auto& body = as<FunctionStmt>(inner).body;
          if (!body.empty() && body.back()->kind == StmtKind::return_)
            write(as<ReturnStmt>(*body.back()).value);
          else
            other = true;
        }
      };
      look(*stmt, true);
      if (stmt->kind != StmtKind::function) continue;
      for (const Stmt* inner : as<FunctionStmt>(*stmt).body) {
        look(*inner, true);
        for_each_statement(*inner, [&](const Stmt& deeper) {
          if (&deeper != inner) look(deeper, false);
        });
      }
    }
  }
  return other ? Flag::other : off ? Flag::off : Flag::unset;
}

// The methods that the text of the classes calls, with the first place of each.
struct Called {
  const Expr* call = nullptr;
  std::uint32_t chunk = 0;
};
struct Calls {
  std::map<std::string_view, Called> by_name;
  bool hands_itself_on = false;  // `helper(self)`, `train(opt, loss)` with what the class holds
  bool writes_gradients = false;
  bool has(std::string_view name) const { return by_name.contains(name); }
};
Calls calls_of(const values::Class& cls) {
  Calls calls;
  for (const values::Class* each : cls.order)
    for_each_expression(*each->stmt, [&](const Expr& expr) {
      if (is_attribute(expr, Says::gradient)) calls.writes_gradients = true;
      if (expr.kind != ExprKind::call) return;
      const auto& call = as<CallExpr>(expr);
      if (call.function->kind == ExprKind::attribute)
        calls.by_name.try_emplace(
            as<AttributeExpr>(*call.function).attribute.text(), Called{&expr, each->chunk});
      for (const Expr* argument : call.arguments)
        if (argument->kind == ExprKind::name && as<NameExpr>(*argument).id.text() == "self" &&
            !(call.function->kind == ExprKind::name && as<NameExpr>(*call.function).id.text() == "super"))
          calls.hands_itself_on = true;
    });
  return calls;
}

// The optimizers are given to another function: `train(opt, loss)`.
bool hands_optimizers_on(const FunctionStmt& method, std::string_view optimizers) {
  std::set<std::string_view> names;
  for (const Stmt* stmt : method.body)
    for_each_statement(*stmt, [&](const Stmt& each) {
      if (each.kind != StmtKind::assign) return;
      bool gives = false;
      for_each_expression(*as<AssignStmt>(each).value, [&](const Expr& expr) {
        gives = gives ||
            (expr.kind == ExprKind::attribute && as<AttributeExpr>(expr).attribute.text() == optimizers);
      });
      if (gives)
        for (const Expr* target : as<AssignStmt>(each).targets)
          for_each_expression(*target, [&](const Expr& part) {
            if (part.kind == ExprKind::name) names.insert(as<NameExpr>(part).id.text());
          });
    });
  bool found = false;
  for_each_expression(method, [&](const Expr& expr) {
    if (expr.kind != ExprKind::call) return;
    for (const Expr* argument : as<CallExpr>(expr).arguments)
      found = found ||
          (argument->kind == ExprKind::name && names.contains(as<NameExpr>(*argument).id.text()));
  });
  return found;
}

// Is it a call of the method of the object itself, or of what it returned: `self.manual_backward(loss)`,
// `self.optimizers().step()`?
const Expr* own_call(const FunctionStmt& method, std::string_view name, std::string_view of) {
  const Expr* found = nullptr;
  for_each_expression(method, [&](const Expr& expr) {
    if (found || expr.kind != ExprKind::call || as<CallExpr>(expr).function->kind != ExprKind::attribute)
      return;
    const auto& function = as<AttributeExpr>(*as<CallExpr>(expr).function);
    if (function.attribute.text() != name) return;
    const Expr& object = *function.object;
    const bool is_self = object.kind == ExprKind::name && as<NameExpr>(object).id.text() == "self";
    const bool of_call = !of.empty() && object.kind == ExprKind::call &&
        as<CallExpr>(object).function->kind == ExprKind::attribute &&
        as<AttributeExpr>(*as<CallExpr>(object).function).attribute.text() == of;
    if (of.empty() ? is_self : of_call) found = &expr;
  });
  return found;
}
bool returns_something(const FunctionStmt& method) {
  return method.scope.returns_value && !method.scope.is_generator;
}

class Check {
public:
  explicit Check(Report& report) : report_(report) {}

  void look(const values::Function& function, const libraries::OptimizationByHand& by) {
    const values::Class& cls = *function.owner;
    const FunctionStmt& method = *function.stmt;
    const Flag flag = flag_of(cls, by.flag);
    if (flag == Flag::other) return;
    if (flag == Flag::unset) return look_at_automatic(function, method, by);
    const Calls calls = calls_of(cls);
    if (calls.hands_itself_on || calls.writes_gradients || hands_optimizers_on(method, by.optimizers)) return;
    const bool backward = calls.has(by.backward) || calls.has("backward"), step = calls.has("step"),
               clears = calls.has("zero_grad"), gives = calls.has(by.optimizers) || calls.has("optimizer");
    const std::string off = code(std::string(by.flag) + " = False");
    const auto at = [&](std::string_view name) {
      const auto found = calls.by_name.find(name);
      return found == calls.by_name.end() ? Place{function.chunk, method.name_span}
                                          : Place{found->second.chunk, found->second.call->span};
    };
    if (!backward && !step && !gives) {
      if (!returns_something(method)) return;
      tell({function.chunk, method.name_span},
          "With " + off +
              " the loss that this returns is thrown away: the framework runs no backward and no step, and the model is never trained. Run them here, or leave the flag alone.");
    } else if (backward && !step) {
      tell(at(calls.has(by.backward) ? by.backward : "backward"),
          "With " + off +
              " the framework runs no step, and this class runs none: the model is never trained. Call `step()` of the optimizer after the backward.");
    } else if (step && !backward) {
      tell(at("step"),
          "With " + off +
              " the framework runs no backward, and this class runs none: the optimizer steps without gradients. Call " +
              code("self." + std::string(by.backward) + "(loss)") + " before the step.");
    } else if (backward && step && !clears) {
      tell(at(calls.has(by.backward) ? by.backward : "backward"),
          "With " + off +
              " the framework clears no gradients, and this class never does: each step also applies the gradients of all earlier batches. Call `zero_grad()` of the optimizer before the backward.");
    }
  }

private:
  Report& report_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> told_;

  // The framework makes the backward and the step of what is returned. That its loss has had a backward
  // already is told by call/framework-method.
  void look_at_automatic(
      const values::Function& function, const FunctionStmt& method, const libraries::OptimizationByHand& by) {
    if (const Expr* call = own_call(method, by.backward, {}))
      return tell({function.chunk, call->span},
          code("self." + std::string(by.backward)) +
              " raises \"please disable automatic optimization\" where the framework optimizes by itself. Set " +
              code("self." + std::string(by.flag) + " = False") + " in `__init__`, or only return the loss.");
    if (!returns_something(method)) return;
    if (const Expr* call = own_call(method, "step", by.optimizers))
      tell({function.chunk, call->span},
          "The framework runs the step after the backward of the loss that " + code(by.method) +
              " returns: this one steps before there are gradients of this batch. Leave it out, or set " +
              code("self." + std::string(by.flag) + " = False") + ".");
  }

  void tell(Place place, const std::string& text) {
    if (told_.insert({place.chunk, place.span.begin}).second)
      report_.add(Severity::warning, place, nullptr, text);
  }
};

void check(const Record& record, Report& report) {
  Check rule(report);
  for (const values::Function* function : functions_that_ran(record)) {
    if (!function->owner || function->owner->open || function->stmt->body.empty() ||
        !record.in_file({function->chunk, function->stmt->name_span}))
      continue;
    for (const libraries::OptimizationByHand& by : libraries::optimizations_by_hand())
      if (function->name.text() == by.method && derives(*function->owner, by.of) &&
          std::ranges::all_of(
              function->owner->order, [](const values::Class* each) { return each->stmt && !each->open; }))
        rule.look(*function, by);
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "loop/manual-optimization",
    .severity = Severity::warning,
    .summary =
        "a LightningModule optimizes by hand and leaves a part out, or does what Lightning does as well",
    .why =
        "With `automatic_optimization = False` Lightning runs no backward, no step and clears no gradients: `training_step` has to. What is left out is left out without a word, since Lightning "
        "cannot know what is meant. Without the flag Lightning does all of it with the loss that is returned, and refuses `manual_backward`.",
    .wrong = "def training_step(self, batch, index):\n"
             "    optimizer = self.optimizers()\n"
             "    loss = self.net(batch).mean()\n"
             "    self.manual_backward(loss)\n"
             "    optimizer.step()\n",
    .right = "def training_step(self, batch, index):\n"
             "    optimizer = self.optimizers()\n"
             "    optimizer.zero_grad()\n"
             "    loss = self.net(batch).mean()\n"
             "    self.manual_backward(loss)\n"
             "    optimizer.step()\n",
    .silent =
        "Flags that are set under a condition or to a variable; classes that hand themselves or their optimizers to a helper, write gradients themselves or have bases that are not seen; "
        "methods that do the rest anywhere in the class.",
    .fix = "None: where the missing call belongs is yours to say.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::loop::manual_optimization
