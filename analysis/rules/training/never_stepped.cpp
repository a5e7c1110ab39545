// What clears the gradients and computes them is asked of the run. What steps the optimizer is asked of the
// text of the whole program: an optimizer that a function is given is another value in each function that is
// run by itself, so no event of one tells of that of another, and code that is handed it leaves none.
#include "rules/training/never_stepped.hpp"

#include "rules/name_hints.hpp"
#include "rules/source.hpp"
#include "rules/training/edits.hpp"
#include "rules/training/given_optimizer.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

namespace stepzero::rules {

using namespace interpreter;
using namespace syntax;
using values::Operation;

namespace {

// Does it mean an optimizer, or one of several: `enc_opt`?
bool is_optimizer(std::string_view name) {
  return names_optimizer(name) || says(name.substr(name.rfind('.') + 1), Says::one_of_optimizers);
}

// A call of a method: of what, and which.
struct MethodCall {
  const CallExpr* call = nullptr;
  const Expr* object = nullptr;
  std::string_view method;
};
void for_each_method_call(const Stmt& stmt, const std::function<void(const MethodCall&)>& each) {
  for_each_expression(stmt, [&](const Expr& expr) {
    if (expr.kind != ExprKind::call || as<CallExpr>(expr).function->kind != ExprKind::attribute) return;
    const auto& method = as<AttributeExpr>(*as<CallExpr>(expr).function);
    each({&as<CallExpr>(expr), method.object, method.attribute.text()});
  });
}

// Is the expression the optimizer, by the last of its names?
bool is_called(const Expr& expr, std::string_view name) {
  return (expr.kind == ExprKind::name && as<NameExpr>(expr).id.text() == name) ||
      (expr.kind == ExprKind::attribute && as<AttributeExpr>(expr).attribute.text() == name);
}

// The function of the program of that name; null: none, or several.
const FunctionStmt* only_function(const Record& record, std::string_view name) {
  const FunctionStmt* found = nullptr;
  for (const ChunkOf& chunk : record.chunks) {
    const Stmt* top = chunk.statement();
    if (!top || top->kind != StmtKind::function || as<FunctionStmt>(*top).name.text() != name) continue;
    if (found) return nullptr;
    found = &as<FunctionStmt>(*top);
  }
  return found;
}

// Does it write into anything in place but gradients, as a step by hand does? Clipping writes into these.
bool writes_weights(const FunctionStmt& function) {
  const auto of_gradient = [](const Expr& written) {
    bool gradient = false;
    for_each_expression(
        written, [&](const Expr& part) { gradient = gradient || is_attribute(part, Says::gradient); });
    return gradient;
  };
  bool writes = false;
  for (const Stmt* stmt : function.body) {
    for_each_method_call(*stmt, [&](const MethodCall& each) {
      writes = writes || (each.method.ends_with('_') && !of_gradient(*each.object));
    });
    for_each_statement(*stmt, [&](const Stmt& each) {
      if (each.kind == StmtKind::aug_assign) writes = true;
      if (each.kind == StmtKind::assign)
        for (const Expr* target : as<AssignStmt>(each).targets)
          writes = writes || (target->kind == ExprKind::attribute && !of_gradient(*target));
    });
  }
  return writes;
}

// What the program does with whatever is called so: everything else may step it.
class Uses {
public:
  Uses(const Record& record, const std::vector<const Stmt*>& statements, std::string_view name, int depth = 0)
      : record_(record), name_(name), depth_(depth) {
    for (const Stmt* top : statements) look(*top);
  }
  bool only_known() const { return uses_ == known_; }

private:
  void look(const Stmt& top) {
    for_each_expression(top, [&](const Expr& expr) {
      uses_ += is_called(expr, name_);
      if (expr.kind == ExprKind::attribute && is_called(*as<AttributeExpr>(expr).object, name_))
        known_ += says(as<AttributeExpr>(expr).attribute.text(), Says::of_optimizer);
      if (expr.kind == ExprKind::call) look_at_arguments(as<CallExpr>(expr));
      if (expr.kind == ExprKind::compare)
        known_ += is_called(*as<CompareExpr>(expr).left, name_) && as<CompareExpr>(expr).rights.size() == 1 &&
            as<CompareExpr>(expr).rights[0]->kind == ExprKind::none;
    });
    for_each_statement(top, [&](const Stmt& each) {
      if (each.kind == StmtKind::if_) known_ += is_called(*as<IfStmt>(each).test, name_);
      if (each.kind != StmtKind::assign) return;
      for (const Expr* target : as<AssignStmt>(each).targets) known_ += assigned(*target);
      // `self.optimizer = optimizer`
      const Expr* value = as<AssignStmt>(each).value;
      known_ += value && is_called(*value, name_) && as<AssignStmt>(each).targets.size() == 1 &&
          is_called(*as<AssignStmt>(each).targets[0], name_);
    });
  }
  // Targets that are plain names are no expressions that are evaluated.
  int assigned(const Expr& target) const {
    if (target.kind == ExprKind::attribute) return is_called(target, name_);
    return 0;
  }
  void look_at_arguments(const CallExpr& call) {
    // Who saves, schedules or unscales it leaves the step to the program, and so does who hands it on under
    // its name: the function that gets it is looked at, too.
    const std::string_view called = last_name(*call.function);
    const bool leaves = says(called, Says::scheduling) || says(called, Says::leaving_optimizer);
    for (std::size_t i = 0; i < call.arguments.size(); ++i)
      known_ += is_called(*call.arguments[i], name_) && (leaves || only_looked_at(*call.function, i));
    for (const Keyword& keyword : call.keywords)
      known_ += is_called(*keyword.value, name_) && (leaves || keyword.name.text() == name_);
  }

  // A function of the program that is given it, and does no more with it than what is known: it clips.
  bool only_looked_at(const Expr& called, std::size_t argument) const {
    constexpr int deepest = 2;  // functions that hand it on
    const FunctionStmt* function = called.kind == ExprKind::name && depth_ < deepest
        ? only_function(record_, as<NameExpr>(called).id.text())
        : nullptr;
    if (!function || argument >= function->parameters->list.size() || writes_weights(*function)) return false;
    const std::string_view name = function->parameters->list[argument].name.text();
    return Uses(record_, {function->body.begin(), function->body.end()}, name, depth_ + 1).only_known();
  }

  const Record& record_;
  std::string_view name_;
  int uses_ = 0, known_ = 0, depth_ = 0;
};

// Does the function make or use gradients in another way, or step something that is not told from it? `any`:
// any optimizer at all.
bool may_step_otherwise(const FunctionStmt& function, std::string_view name, bool any) {
  bool may = false;
  for (const Stmt* stmt : function.body) {
    for_each_expression(*stmt, [&](const Expr& expr) { may = may || is_attribute(expr, Says::gradient); });
    for_each_method_call(*stmt, [&](const MethodCall& each) {
      const std::string_view object = last_name(*each.object);
      if (says(each.method, Says::stepping) && !says(object, Says::schedule) &&
          (any || !is_optimizer(object)))
        may = may || each.call->arguments.empty() || is_called(*each.call->arguments[0], name);
    });
  }
  return may;
}

// Are all bases of the class around known not to step anything?
bool of_plain_class(const Record& record, Place place) {
  const ChunkOf& chunk = record.chunk(place);
  for (const Enclosing& each : enclosing(*chunk.chunk->stmt, place.span)) {
    if (each.stmt->kind != StmtKind::class_) continue;
    for (const Expr* base : as<ClassStmt>(*each.stmt).bases) {
      const std::string_view name = last_name(*base);
      const bool plain = says(name, Says::stepping_nothing);
      const bool seen = std::ranges::any_of(record.chunks, [&](const ChunkOf& other) {
        const Stmt* top = other.statement();
        return top && top->kind == StmtKind::class_ && as<ClassStmt>(*top).name.text() == name &&
            std::ranges::all_of(as<ClassStmt>(*top).bases,
                [](const Expr* above) { return says(last_name(*above), Says::stepping_nothing); });
      });
      if (!plain && !seen) return false;
    }
  }
  return true;
}

// Where the optimizer may be stepped before the next round clears the gradients: in the function itself if it
// is the function's own; in the class if it is an attribute, and nobody else is given the object; else
// anywhere.
std::vector<const Stmt*> where_stepped(
    const Record& record, Place place, const FunctionStmt& function, const std::string& name, bool in_loop) {
  std::vector<const Stmt*> all;
  for (const ChunkOf& chunk : record.chunks)
    if (const Stmt* top = chunk.statement()) all.push_back(top);
  if (!in_loop) return all;
  if (name.find('.') == std::string::npos) {
    bool own = std::ranges::any_of(
        function.parameters->list, [&](const Parameter& each) { return each.name.text() == name; });
    for_each_statement(function, [&](const Stmt& stmt) {
      if (stmt.kind != StmtKind::assign) return;
      for (const Expr* target : as<AssignStmt>(stmt).targets)
        own = own || record.text({place.chunk, target->span}) == name;
    });
    return own ? std::vector<const Stmt*>{&function} : all;
  }
  if (!name.starts_with("self.") || name.find('.', 5) != std::string::npos) return all;
  std::vector<const Stmt*> classes;
  for (const Enclosing& each : enclosing(*record.chunk(place).chunk->stmt, place.span))
    if (each.stmt->kind == StmtKind::class_) classes = {each.stmt};
  for (std::size_t i = 0; i < classes.size() && classes.size() < all.size(); ++i)
    for (const Expr* base : as<ClassStmt>(*classes[i]).bases)
      for (const Stmt* top : all)
        if (top->kind == StmtKind::class_ && as<ClassStmt>(*top).name.text() == last_name(*base) &&
            std::ranges::find(classes, top) == classes.end())
          classes.push_back(top);
  bool given = classes.empty();
  for (const Stmt* each : classes)
    for_each_expression(*each, [&](const Expr& expr) {
      if (expr.kind == ExprKind::call)
        for (const Expr* argument : as<CallExpr>(expr).arguments)
          given = given || is_called(*argument, "self");
    });
  return given ? all : classes;
}

const Stmt* loop_around(const Record& record, Place place) {
  const Stmt* loop = nullptr;
  for (const Enclosing& each : enclosing(*record.chunk(place).chunk->stmt, place.span)) {
    if (each.stmt->kind == StmtKind::function) loop = nullptr;
    if (each.stmt->kind == StmtKind::for_ || each.stmt->kind == StmtKind::while_) loop = each.stmt;
  }
  return loop;
}

// The optimizers that the function is given, or that a method of its class puts into the object.
std::vector<std::string> optimizers_at_hand(const Record& record, Place place, const FunctionStmt& function) {
  std::vector<std::string> names;
  for (const Parameter& each : function.parameters->list)
    if (is_optimizer(each.name.text())) names.emplace_back(each.name.text());
  for (const Enclosing& each : enclosing(*record.chunk(place).chunk->stmt, place.span))
    if (each.stmt->kind == StmtKind::class_)
      for_each_statement(*each.stmt, [&](const Stmt& stmt) {
        if (stmt.kind != StmtKind::assign) return;
        for (const Expr* target : as<AssignStmt>(stmt).targets) {
          const std::string name(record.text({place.chunk, target->span}));
          if (target->kind == ExprKind::attribute && name.starts_with("self.") && is_optimizer(name) &&
              std::ranges::find(names, name) == names.end())
            names.push_back(name);
        }
      });
  return names;
}

// Gradients that the run has seen cleared: by what, as the program calls it, and where.
struct Cleared {
  std::string by;
  Place place;
};

}  // namespace

std::vector<NeverStepped> never_stepped(const Record& record) {
  std::vector<NeverStepped> found;
  std::set<std::pair<const FunctionStmt*, std::string>> asked;
  std::map<const FunctionStmt*, std::vector<Cleared>> all_cleared;
  visit_operations(record, with_operation(Operation::zero_grad), [&](const OperationEvent& event) {
    if (!record.in_file(event.place)) return;
    const std::string by = object_text(record, event, "");
    const Place place = as_it_stands(record, event.place);
    if (const FunctionStmt* function = by.empty() ? nullptr : function_around(record, place))
      all_cleared[function].push_back({by, place});
  });
  visit_operations(record, with_operation(Operation::backward), [&](const OperationEvent& backward) {
    if (!record.in_file(backward.place)) return;
    const Place place = as_it_stands(record, backward.place);
    const FunctionStmt* function = function_around(record, place);
    if (!function) return;
    const Stmt* loop = loop_around(record, place);
    const auto of_function = all_cleared.find(function);
    if (of_function == all_cleared.end()) return;
    for (const auto& [clearing, cleared] : of_function->second) {
      const bool in_loop = loop && loop_around(record, cleared) == loop;
      const bool itself = is_optimizer(clearing);
      for (const std::string& name :
          itself ? std::vector{clearing} : optimizers_at_hand(record, place, *function)) {
        // Whoever calls the function may step what he gave it.
        if (!in_loop && (!itself || name.find('.') == std::string::npos)) continue;
        const bool of_object = name.find('.') != std::string::npos;
        if (!asked.insert({function, name}).second || (of_object && !of_plain_class(record, place))) continue;
        const std::string last = name.substr(name.rfind('.') + 1);
        if (may_step_otherwise(*function, last, !itself)) continue;
        if (Uses(record, where_stepped(record, place, *function, name, in_loop), last).only_known())
          found.push_back({name, clearing, &backward, cleared, in_loop});
      }
    }
  });
  return found;
}

}  // namespace stepzero::rules
