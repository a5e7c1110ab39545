// Where a function leaves what a call of it returns. Reads the text of one function: knows names, lists and
// dictionaries, no aliases.
#include "rules/name_hints.hpp"
#include "rules/ranks/requests.hpp"
#include "rules/shape/blocks.hpp"
#include "rules/source.hpp"

#include <algorithm>

namespace stepzero::rules {

using namespace interpreter;
using namespace syntax;

namespace {

class Dropped {
public:
  // `returning`: what it returns ends here, too.
  explicit Dropped(const Stmt& function, bool returning = false)
      : function_(function), returning_(returning) {
    for_each_statement(function_, [&](const Stmt& each) {
      rebound_ = rebound_ || each.kind == StmtKind::global || each.kind == StmtKind::nonlocal;
    });
  }

  // Does all that the function does with the value of the expression end in the function?
  bool ends_here(Span value) {
    if (rebound_) return false;  // a name of another scope is read elsewhere
    bool ends = false;
    for_each_statement(function_, [&](const Stmt& stmt) { ends = ends || takes(stmt, value); });
    return ends;
  }

  bool returned() const { return returned_; }

private:
  bool takes(const Stmt& stmt, Span value) {
    switch (stmt.kind) {
    case StmtKind::expression:
      return is(as<ExpressionStmt>(stmt).value, value) ||
          put_into_list(*as<ExpressionStmt>(stmt).value, value);
    case StmtKind::assign: {
      const auto& assign = as<AssignStmt>(stmt);
      return assign.targets.size() == 1 && holds(assign.value, value) && keeps(*assign.targets[0], &stmt);
    }
    case StmtKind::ann_assign:
      return holds(as<AnnAssignStmt>(stmt).value, value) && keeps(*as<AnnAssignStmt>(stmt).target, &stmt);
    case StmtKind::return_:
      if (!returning_ || !holds(as<ReturnStmt>(stmt).value, value)) return false;
      return returned_ = true;
    case StmtKind::aug_assign:
      return as<AugAssignStmt>(stmt).op == BinaryOp::add && holds(as<AugAssignStmt>(stmt).value, value) &&
          keeps(*as<AugAssignStmt>(stmt).target, nullptr);
    case StmtKind::for_:
      return iterates(as<ForStmt>(stmt).iterable, value) && never_read(*as<ForStmt>(stmt).target, stmt);
    default: return false;
    }
  }

  static bool is(const Expr* expr, Span value) { return expr && expr->span == value; }
  // `call`, `[call]`, `[call for x in …]`, `{name: call}`, `[*call]`
  static bool holds(const Expr* expr, Span value) {
    if (!expr) return false;
    if (expr->span == value) return true;
    const auto any = [&](const auto& parts) {
      return std::any_of(parts.begin(), parts.end(), [&](const Expr* part) { return holds(part, value); });
    };
    switch (expr->kind) {
    case ExprKind::list: return any(as<ListExpr>(*expr).elements);
    case ExprKind::tuple: return any(as<TupleExpr>(*expr).elements);
    case ExprKind::starred: return holds(as<StarredExpr>(*expr).value, value);
    case ExprKind::comprehension:
      return is(as<ComprehensionExpr>(*expr).element, value) || is(as<ComprehensionExpr>(*expr).value, value);
    case ExprKind::dict: {
      const auto& items = as<DictExpr>(*expr).items;
      return std::any_of(
          items.begin(), items.end(), [&](const DictItem& item) { return is(item.value, value); });
    }
    case ExprKind::call: {  // the one request of a list: batch_isend_irecv(…).pop()
      const auto& call = as<CallExpr>(*expr);
      return call.function->kind == ExprKind::attribute && call.arguments.empty() &&
          is_attribute(*call.function, Says::taking_out) &&
          is(as<AttributeExpr>(*call.function).object, value);
    }
    default: return false;
    }
  }
  // `call`, `call.values()`, `enumerate(call)`
  static bool iterates(const Expr* expr, Span value) {
    if (!expr || expr->span == value) return expr;
    if (expr->kind != ExprKind::call) return false;
    const auto& call = as<CallExpr>(*expr);
    if (call.function->kind == ExprKind::attribute) {
      const auto& method = as<AttributeExpr>(*call.function);
      return is(method.object, value) && call.arguments.empty() &&
          says(method.attribute.text(), Says::giving_items);
    }
    return call.function->kind == ExprKind::name && call.arguments.size() == 1 &&
        says(as<NameExpr>(*call.function).id.text(), Says::passing_on) && iterates(call.arguments[0], value);
  }
  // works.append(call), works.extend(call.values())
  bool put_into_list(const Expr& expr, Span value) {
    if (expr.kind != ExprKind::call) return false;
    const auto& call = as<CallExpr>(expr);
    if (call.function->kind != ExprKind::attribute || call.arguments.empty() || !call.keywords.empty())
      return false;
    const auto& method = as<AttributeExpr>(*call.function);
    const std::string_view name = method.attribute.text();
    const Expr* last = call.arguments[call.arguments.size() - 1];
    const bool puts = (says(name, Says::putting) && holds(last, value)) ||
        (says(name, Says::extending) && (holds(last, value) || iterates(last, value)));
    return puts && keeps(*method.object, nullptr);
  }

  bool never_read(const Expr& target, const Stmt& loop) const {
    bool read = false;
    for_each_expression(target, [&](const Expr& part) {
      read = read || part.kind == ExprKind::attribute || part.kind == ExprKind::subscript ||
          (part.kind == ExprKind::name && !reads(as<NameExpr>(part).id, &loop).empty());
    });
    return !read;
  }

  static bool rebinds(const Stmt& stmt, Name name) {
    if (stmt.kind != StmtKind::assign) return false;
    const auto& targets = as<AssignStmt>(stmt).targets;
    return std::any_of(targets.begin(), targets.end(), [&](const Expr* target) {
      return target->kind == ExprKind::name && as<NameExpr>(*target).id == name;
    });
  }

  static bool runs_over(const Stmt& stmt, Name name) {
    return stmt.kind == StmtKind::for_ && as<ForStmt>(stmt).target->kind == ExprKind::name &&
        as<NameExpr>(*as<ForStmt>(stmt).target).id == name;
  }

  // Finds where a name is read before it is bound anew.
  struct Reads {
    Name name;
    std::vector<const Expr*> found;

    void expression(const Expr* expr) {
      if (expr)
        for_each_expression(*expr, [&](const Expr& each) {
          if (each.kind == ExprKind::name && as<NameExpr>(each).id == name) found.push_back(&each);
        });
    }
    // True: up to the statement of the block that binds it.
    bool along(syntax::Block block, std::size_t from = 0) {
      for (std::size_t i = from; i < block.size(); ++i) {
        if (statement(*block[i]) || rebinds(*block[i], name)) return true;
      }
      return false;
    }
    bool statement(const Stmt& stmt) {
      switch (stmt.kind) {
      case StmtKind::for_:
        expression(as<ForStmt>(stmt).iterable);
        if (!runs_over(stmt, name)) along(as<ForStmt>(stmt).body);
        along(as<ForStmt>(stmt).orelse);
        return false;
      case StmtKind::while_:
        expression(as<WhileStmt>(stmt).test);
        along(as<WhileStmt>(stmt).body);
        along(as<WhileStmt>(stmt).orelse);
        return false;
      case StmtKind::if_: {
        expression(as<IfStmt>(stmt).test);
        const bool yes = along(as<IfStmt>(stmt).body);
        return along(as<IfStmt>(stmt).orelse) && yes;
      }
      case StmtKind::with:
        for (const WithItem& item : as<WithStmt>(stmt).items) expression(item.context);
        return along(as<WithStmt>(stmt).body);
      default:
        for_each_expression(stmt, [&](const Expr& each) {
          if (each.kind == ExprKind::name && as<NameExpr>(each).id == name) found.push_back(&each);
        });
        return false;
      }
    }
  };

  // Where the name is read; with `binding`, where what that statement binds to it may be.
  std::vector<const Expr*> reads(Name name, const Stmt* binding) const {
    Reads reads{name, {}};
    const auto path = binding ? enclosing(function_, binding->span) : std::vector<Enclosing>();
    if (path.empty()) {
      for_each_expression(function_, [&](const Expr& each) {
        if (each.kind == ExprKind::name && as<NameExpr>(each).id == name) reads.found.push_back(&each);
      });
      return reads.found;
    }
    for_each_statement(function_, [&](const Stmt& stmt) {
      if (stmt.kind == StmtKind::function && &stmt != &function_) reads.statement(stmt);
    });
    if (binding->kind == StmtKind::for_ && reads.along(as<ForStmt>(*binding).body)) return reads.found;
    for (std::size_t i = path.size(); i-- > 0;) {
      if (reads.along(path[i].block, path[i].index + 1)) return reads.found;
      const Stmt* around = i > 0 ? path[i - 1].stmt : nullptr;
      if (!around) break;
      // The next iteration of a loop; and what follows where something else fails.
      if (around->kind == StmtKind::while_) reads.expression(as<WhileStmt>(*around).test);
      if (around->kind == StmtKind::while_ || (around->kind == StmtKind::for_ && !runs_over(*around, name)))
        reads.along(path[i].block);
      if (around->kind == StmtKind::try_) reads.statement(*around);
    }
    return reads.found;
  }

  // Is it a name of this function, or an item of one, of which nothing is read to wait for it? `binding`: the
  // statement that gives it the name; null: what has the name is changed.
  bool keeps(const Expr& target, const Stmt* binding) {
    if (target.kind == ExprKind::subscript) return keeps(*as<SubscriptExpr>(target).object, nullptr);
    if (target.kind != ExprKind::name) return false;
    const Name name = as<NameExpr>(target).id;
    if (!binding && !made_here(name)) return false;
    if (std::find(asked_.begin(), asked_.end(), std::pair(name, binding)) != asked_.end()) return true;
    asked_.emplace_back(name, binding);
    const auto all = reads(name, binding);
    return std::all_of(all.begin(), all.end(),
        [&](const Expr* each) { return written_or_counted(*each) || ends_here(each->span); });
  }

  static bool makes_container(const Expr& value) {
    if (value.kind == ExprKind::list || value.kind == ExprKind::dict || value.kind == ExprKind::comprehension)
      return true;
    if (value.kind != ExprKind::call || as<CallExpr>(value).function->kind != ExprKind::name) return false;
    return says(as<NameExpr>(*as<CallExpr>(value).function).id.text(), Says::making_container);
  }
  // Is it a list or dictionary that the function makes? What a parameter or an attribute holds is another's,
  // too.
  bool made_here(Name name) const {
    bool made = false, another = false;
    const auto look = [&](const Expr* target, const Expr* value) {
      if (!target || !value || target->kind != ExprKind::name || as<NameExpr>(*target).id != name) return;
      made = true;
      another = another || !makes_container(*value);
    };
    for_each_statement(function_, [&](const Stmt& stmt) {
      if (stmt.kind == StmtKind::assign)
        for (const Expr* target : as<AssignStmt>(stmt).targets)
          look(target, as<AssignStmt>(stmt).targets.size() == 1 ? as<AssignStmt>(stmt).value : nullptr);
      if (stmt.kind == StmtKind::ann_assign)
        look(as<AnnAssignStmt>(stmt).target, as<AnnAssignStmt>(stmt).value);
    });
    return made && !another;
  }

  // works.append(…), works[i] = …, works += …, len(works), works.clear()
  bool written_or_counted(const Expr& name) {
    bool harmless = false;
    for_each_statement(function_, [&](const Stmt& stmt) {
      if (stmt.kind == StmtKind::aug_assign) harmless = harmless || as<AugAssignStmt>(stmt).target == &name;
      if (stmt.kind == StmtKind::assign)
        for (const Expr* target : as<AssignStmt>(stmt).targets)
          harmless = harmless ||
              (target->kind == ExprKind::subscript && as<SubscriptExpr>(*target).object == &name);
      if (stmt.kind != StmtKind::expression || as<ExpressionStmt>(stmt).value->kind != ExprKind::call) return;
      const auto& call = as<CallExpr>(*as<ExpressionStmt>(stmt).value);
      if (call.function->kind != ExprKind::attribute || as<AttributeExpr>(*call.function).object != &name)
        return;
      const std::string_view method = as<AttributeExpr>(*call.function).attribute.text();
      harmless = harmless || says(method, Says::putting) || says(method, Says::extending) ||
          says(method, Says::emptying);
    });
    if (harmless) return true;
    for_each_expression(function_, [&](const Expr& expr) {
      if (expr.kind != ExprKind::call) return;
      const auto& call = as<CallExpr>(expr);
      harmless = harmless ||
          (call.function->kind == ExprKind::name &&
              says(as<NameExpr>(*call.function).id.text(), Says::measuring) && call.arguments.size() == 1 &&
              call.arguments[0] == &name);
    });
    return harmless;
  }

  const Stmt& function_;
  const bool returning_;
  bool rebound_ = false, returned_ = false;
  std::vector<std::pair<Name, const Stmt*>> asked_;
};

// Does the function around return what the call gives, and nothing else of it stays anywhere?
bool returns_it(const Record& record, Place call) {
  const FunctionStmt* function = function_around(record, call);
  if (!function) return false;
  Dropped dropped(*function, true);
  return dropped.ends_here(call.span) && dropped.returned();
}

bool starts_request(const OperationEvent& event) {
  return (event.row->message && event.row->message->starts) ||
      (event.row->collective && event.row->collective->async >= 0 && event.result.is(values::Kind::instance));
}

}  // namespace

bool is_dropped(const Record& record, Place call) {
  const FunctionStmt* function = record.in_file(call) ? function_around(record, call) : nullptr;
  return function && Dropped(*function).ends_here(call.span) && !ends_at_barrier(record, call);
}

std::vector<Mismatch> dropped_requests(const Record& record) {
  std::vector<Mismatch> dropped;
  const auto tell = [&](const Event& event, std::string text) -> Mismatch& {
    Mismatch made;
    made.cause = Cause::request;
    made.place = event.place;
    made.calls = event.calls;
    made.text = std::move(text) +
        ": its tensor may be read or written before the communication has ended. Keep what it returns, and call `wait()` on it.";
    return dropped.emplace_back(std::move(made));
  };
  // The calls around, outermost first.
  std::vector<const CallEvent*> calls;
  const std::function<void(const interpreter::Block&)> look = [&](const interpreter::Block& block) {
    for (const Event* event : block.events) {
      if (event->kind == EventKind::call) {
        calls.push_back(static_cast<const CallEvent*>(event));
        look(calls.back()->body);
        calls.pop_back();
        continue;
      }
      for (const interpreter::Block* inner : blocks_of(*event)) look(*inner);
      if (event->kind != EventKind::operation || !starts_request(static_cast<const OperationEvent&>(*event)))
        continue;
      const values::Row& row = *static_cast<const OperationEvent&>(*event).row;
      const std::string_view name = row.message ? row.message->name : row.collective->name;
      if (is_dropped(record, event->place)) tell(*event, "Nothing waits for this " + call_text(name));
      // What a function of the program returns is dropped by who calls it.
      const Event* from = event;
      for (auto call = calls.rbegin(); call != calls.rend() && returns_it(record, from->place); ++call) {
        if (is_dropped(record, (*call)->place)) {
          const std::string_view function = (*call)->function ? std::string_view((*call)->function->qualified)
                                                              : std::string_view();
          tell(**call,
              "Nothing waits for the " + call_text(name) + " that `" +
                  std::string(function.substr(function.rfind('.') + 1)) + "` starts and returns")
              .related.push_back({event->place, "started here"});
          break;
        }
        from = *call;
      }
    }
  };
  for (const auto& root : record.roots) look(root->block);
  return dropped;
}

}  // namespace stepzero::rules
