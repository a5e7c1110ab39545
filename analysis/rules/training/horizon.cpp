#include "rules/training/horizon.hpp"

#include "rules/source.hpp"
#include "rules/training/parts.hpp"
#include "values/kept.hpp"

#include <algorithm>

namespace stepzero::rules {

using namespace interpreter;
using symbolic::Int;
using values::Kind;

Int length_of(const Record& record, const LoopEvent& loop) {
  return loop.unrolled ? record.symbols.constant(static_cast<std::int64_t>(loop.iterations.size()))
                       : loop.length;
}
std::set<Int> atoms_of(const Record& record, Int size) {
  std::set<Int> found;
  record.symbols.atoms(size, [&](Int atom) { found.insert(atom); });
  return found;
}

Int rounds_around(const Record& record, const std::vector<const TrainingEvent*>& operations) {
  auto& s = record.symbols;
  std::set<const LoopEvent*> counted;
  Int all = s.constant(0);
  for (const TrainingEvent* each : operations) {
    if (each->in_handler || each->loops.empty()) return nullptr;
    if (!counted.insert(each->loops.back()).second) continue;
    Int iterations = length_of(record, *each->loops.back());
    // Of a loop that is run iteration by iteration each iteration has inner loops of its own.
    for (const LoopEvent* outer : each->loops)
      if (outer != each->loops.back() && !outer->unrolled && iterations)
        iterations = outer->length ? s.mul(iterations, outer->length) : nullptr;
    if (!iterations) return nullptr;
    all = s.add(all, iterations);
  }
  return counted.empty() ? nullptr : all;
}

bool same_size(const Record& record, Int a, Int b) {
  std::set<Int> atoms = atoms_of(record, a);
  for (const Int atom : atoms_of(record, b)) atoms.insert(atom);
  for (const std::int64_t begin : {11, 29}) {
    std::vector<symbolic::Assignment> values;
    for (const Int atom : atoms)
      values.push_back({atom, begin + 6 * static_cast<std::int64_t>(values.size())});
    const auto left = record.symbols.value(record.symbols.substitute(a, values)),
               right = record.symbols.value(record.symbols.substitute(b, values));
    if (!left || left != right) return false;
  }
  return true;
}
bool same_size_at_first(const Record& record, Int size, Int left) {
  const std::set<Int> own = atoms_of(record, size);
  std::vector<symbolic::Assignment> none;
  for (const Int atom : atoms_of(record, left))
    if (!own.contains(atom)) none.push_back({atom, 0});
  return !own.empty() && none.size() == 1 && same_size(record, size, record.symbols.substitute(left, none));
}

namespace {

// An integer, or what was used as one; null if it is none.
Int size_of(Value value) {
  if (value.is(Kind::unknown)) return value.as<values::Unknown>()->integer;
  return value.is(Kind::integer) ? value.integer() : nullptr;
}

// What the run found an expression of a function to be, for the step that a schedule was asked about. Null
// where it found several values.
class Found {
public:
  Found(const Record& record, std::uint32_t chunk) : record_(record) {
    for (const Fact& fact : record.facts) {
      const Int value = fact.place.chunk == chunk && fact.role == Fact::Role::expression ? size_of(fact.value)
                                                                                         : nullptr;
      if (!value) continue;
      const auto [at, first] = values_.try_emplace({fact.place.span.begin, fact.place.span.end}, value);
      if (!first && at->second != value) at->second = nullptr;
    }
  }
  Int of(const syntax::Expr& expr) const {
    if (expr.kind == syntax::ExprKind::integer)
      return record_.symbols.constant(syntax::as<syntax::IntegerExpr>(expr).value);
    const auto at = values_.find({expr.span.begin, expr.span.end});
    return at == values_.end() ? nullptr : at->second;
  }

private:
  const Record& record_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Int> values_;
};

// float(x), max(1, x), (x): the x.
const syntax::Expr& bare(const syntax::Expr& expr) {
  if (expr.kind != syntax::ExprKind::call) return expr;
  const auto& call = syntax::as<syntax::CallExpr>(expr);
  if (call.function->kind != syntax::ExprKind::name || !call.keywords.empty()) return expr;
  const std::string_view name = syntax::as<syntax::NameExpr>(*call.function).id.text();
  if ((name == "float" || name == "int") && call.arguments.size() == 1) return bare(*call.arguments[0]);
  const auto is_number = [](const syntax::Expr& argument) {
    return argument.kind == syntax::ExprKind::integer || argument.kind == syntax::ExprKind::real;
  };
  if ((name == "max" || name == "min") && call.arguments.size() == 2)
    for (const std::size_t i : {0, 1})
      if (is_number(*call.arguments[i])) return bare(*call.arguments[1 - i]);
  return expr;
}

// The step at which two numbers are equal of which one counts steps; null if there is none.
Int meeting(const Record& record, Int step, Int a, Int b) {
  auto& s = record.symbols;
  const Int difference = s.sub(a, b);
  const symbolic::Assignment at_first[] = {{step, 0}}, at_next[] = {{step, 1}};
  const Int none = s.substitute(difference, at_first), one = s.substitute(difference, at_next);
  const auto slope = s.value(s.sub(one, none));
  if (slope == 1) return s.negate(none);
  return slope == -1 ? none : nullptr;
}

// What the program's own function of the step compares it with, or divides it by.
std::vector<Int> marks_in(const Record& record, const values::Function& function, Int step) {
  std::vector<Int> marks;
  const Found found(record, function.chunk);
  auto& s = record.symbols;
  const auto has_step = [&](Int value) { return value && atoms_of(record, value).contains(step); };
  // math.pi * step: the step.
  const auto counted = [&](const syntax::Expr& whole) {
    const syntax::Expr* expr = &bare(whole);
    while (!found.of(*expr) && expr->kind == syntax::ExprKind::binary &&
        syntax::as<syntax::BinaryExpr>(*expr).op == syntax::BinaryOp::mul) {
      const auto& product = syntax::as<syntax::BinaryExpr>(*expr);
      expr = &bare(has_step(found.of(bare(*product.right))) ? *product.right : *product.left);
    }
    return found.of(*expr);
  };
  const auto meet = [&](const syntax::Expr& left, const syntax::Expr& right) {
    const Int a = counted(left), b = counted(right);
    if (!a || !b || has_step(a) == has_step(b)) return;
    if (const Int mark = meeting(record, step, a, b)) marks.push_back(mark);
  };
  const auto look = [&](const syntax::Expr& expr) {
    if (expr.kind == syntax::ExprKind::binary) {
      const auto& binary = syntax::as<syntax::BinaryExpr>(expr);
      using enum syntax::BinaryOp;
      if (binary.op == div || binary.op == floordiv) meet(*binary.left, *binary.right);
      // (total - step): nothing is left at its zero.
      const Int value = binary.op == sub ? found.of(expr) : nullptr;
      if (const Int mark = has_step(value) ? meeting(record, step, value, s.constant(0)) : nullptr)
        marks.push_back(mark);
    } else if (expr.kind == syntax::ExprKind::compare) {
      const auto& compare = syntax::as<syntax::CompareExpr>(expr);
      if (compare.rights.size() == 1) meet(*compare.left, *compare.rights[0]);
    } else if (expr.kind == syntax::ExprKind::call) {
      const auto& call = syntax::as<syntax::CallExpr>(expr);
      if (call.arguments.size() == 2 && call.keywords.empty()) meet(*call.arguments[0], *call.arguments[1]);
    }
  };
  if (function.lambda)
    for_each_expression(*function.lambda->body, look);
  else if (function.stmt)
    for_each_expression(*function.stmt, look);
  return marks;
}

// The function that a value calls in the end, and of a list of them those.
void functions_of(Value value, std::vector<const values::Function*>& found) {
  switch (value.kind) {
  case Kind::function: found.push_back(value.as<values::Function>()); break;
  case Kind::bound: functions_of(value.as<values::Bound>()->function, found); break;
  case Kind::partial: functions_of(value.as<values::Partial>()->function, found); break;
  case Kind::list:
    for (const Value& item : values::Heap::list_state(value)->items) functions_of(item, found);
    break;
  default: break;
  }
}

}  // namespace

Marks marks_of(const Record& record, const OperationEvent& made) {
  Marks marks;
  const auto add = [&](Marks::Of of, std::string_view name) {
    const Value value = argument(made, name);
    if (const Int size = size_of(value)) {
      marks.of = of;
      marks.at.push_back(size);
    } else if (value.is(Kind::list)) {
      marks.of = of;
      for (const Value& item : values::Heap::list_state(value)->items) {
        const Int number = size_of(item);
        if (!number) return marks.at.clear();
        marks.at.push_back(number);
      }
    }
  };
  using enum Marks::Of;
  for (const std::string_view name : {"total_steps", "num_training_steps"}) add(total, name);
  const Int epochs = size_of(argument(made, "epochs")), each = size_of(argument(made, "steps_per_epoch"));
  if (marks.at.empty() && epochs && each) {
    marks.of = total;
    marks.at.push_back(record.symbols.mul(epochs, each));
  }
  marks.ends = marks.of == total;
  add(total, "total_iters");
  marks.raises = marks.ends && static_cast<bool>(argument(made, "max_lr"));
  add(period, "T_max");
  for (const std::string_view name : {"step_size", "milestones"}) add(changes, name);
  if (const Value step = attribute(made.self, values::OptimizerState::step); step.is(Kind::integer)) {
    std::vector<const values::Function*> functions;
    functions_of(argument(made, "lr_lambda"), functions);
    for (const values::Function* function : functions)
      for (const Int mark : marks_in(record, *function, step.integer())) {
        marks.of = factor;
        marks.at.push_back(mark);
      }
  }
  return marks;
}

}  // namespace stepzero::rules
