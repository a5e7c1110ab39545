// `with` and `try`: what is entered and left, and what is caught.
#include "interpreter/statements/contexts.hpp"
#include "interpreter/calls/function_calls.hpp"
#include "interpreter/calls/noted_events.hpp"
#include "interpreter/interpreter.hpp"
#include "interpreter/paths/speculation.hpp"
#include "interpreter/statements/assignments.hpp"

#include "interpreter/calls/unseen_code.hpp"
#include "interpreter/classes/self_writes.hpp"
#include "syntax/walk.hpp"
#include "values/internal_rows.hpp"
#include "values/kept.hpp"

#include <algorithm>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

namespace {
values::Known gradients_under(const Record& record, Value manager, values::Known outer) {
  if (manager.is(Kind::choice)) {
    const auto* choice = manager.as<values::Choice>();
    const values::Known yes = gradients_under(record, choice->yes, outer),
                        no = gradients_under(record, choice->no, outer);
    return yes == no ? yes : values::Known::unknown;
  }
  const auto* instance = manager.is(Kind::instance) ? manager.as<values::Instance>() : nullptr;
  if (!instance || !instance->native || !instance->native->row ||
      instance->native->row->operation != values::Operation::grad_region)
    return outer;
  const values::Slot* on = instance->attributes.find(Name(values::ContextState::on));
  const auto answer = on && on->value.is(Kind::boolean) ? record.symbols.decide(on->value.condition())
                                                        : symbolic::Answer::unknown;
  return answer == symbolic::Answer::yes ? values::Known::yes
      : answer == symbolic::Answer::no   ? values::Known::no
                                         : values::Known::unknown;
}

const values::Instance* region_of(const Record& record, Value manager, const values::Instance* outer) {
  // One that is entered where a condition of the library's own holds, or does not, is named: readers see that
  // it may be no other.
  if (manager.is(Kind::choice)) {
    const auto* choice = manager.as<values::Choice>();
    const auto* yes = region_of(record, choice->yes, nullptr);
    const auto* no = region_of(record, choice->no, nullptr);
    if (outer || static_cast<bool>(yes) == static_cast<bool>(no)) return nullptr;
    const Cond condition = yes ? choice->condition : record.symbols.logical_not(choice->condition);
    return std::ranges::any_of(
               record.conditions, [&](const auto& named) { return named.second == condition; })
        ? yes ? yes : no
        : nullptr;
  }
  const auto* instance = manager.is(Kind::instance) ? manager.as<values::Instance>() : nullptr;
  if (!instance || !instance->native || !instance->native->row ||
      instance->native->row->operation != values::Operation::autocast_region)
    return outer;
  const values::Slot* enabled = instance->attributes.find(Name(values::ContextState::enabled));
  return enabled && enabled->value.is(Kind::boolean) &&
          record.symbols.decide(enabled->value.condition()) == symbolic::Answer::no
      ? nullptr
      : instance;
}
}  // namespace

// The library's own managers, and what may be one of them.
void Contexts::enter(Value manager, Place where) {
  manager = run_.resolve(manager);
  if (manager.is(Kind::instance)
          ? !run_.is_a(manager, run_.library_.types().context)
          : !manager.is(Kind::choice) && !manager.is(Kind::unknown) && !manager.is(Kind::device))
    return;
  if (manager.is(Kind::instance) && manager.object() == run_.unentered_) run_.unentered_ = nullptr;
  const values::Known gradients = gradients_under(
      record_, manager, run_.around_ ? run_.around_->gradients : values::Known::yes);
  record_.arounds.push_back(std::make_unique<Around>(Around{manager, where, run_.around_, gradients,
      region_of(record_, manager, run_.around_ ? run_.around_->casts : nullptr)}));
  run_.around_ = record_.arounds.back().get();
}

values::Known Interpreter::records_gradients() const {
  const values::Known here = around_ ? around_->gradients : values::Known::yes;
  return here == values::Known::yes && (switches_ > 0 || unentered_) ? values::Known::unknown : here;
}

// `with` an item of it: what is entered, the rest of the statement, and what is left.
struct Contexts::WithItem {
  Interpreter& run;
  const WithStmt& stmt;
  std::size_t item;
  const Expr& expr = *stmt.items[item].context;
  const Expr* target = stmt.items[item].target;
  Value manager = {};  // resolved

  Flow result();

private:
  Flow through_generator();
  Flow around_any();
  Flow around_body();
  Value entered(Value& leave_method, bool& catches);
  bool any_way_is(Value value, bool if_unknown, std::string_view class_path);
  Flow rest() const { return run.contexts_->run_with(stmt, item + 1); }
  Place where() const { return run.here(expr); }
};

Flow Contexts::run_with(const WithStmt& stmt, std::size_t item) {
  return item == stmt.items.size() ? run_.run_block(stmt.body) : WithItem{run_, stmt, item}.result();
}

Flow Contexts::WithItem::result() {
  manager = run.resolve(run.evaluate(expr));
  if (run.killed_) {
    run.killed_ = false;
    return run.leave(ExitKind::raise, stmt, run.raised_);
  }
  return FunctionCalls::is_pending(manager) ? through_generator() : around_any();
}

namespace {
bool holds_back(Value manager) {
  if (manager.is(Kind::choice))
    return holds_back(manager.as<values::Choice>()->yes) || holds_back(manager.as<values::Choice>()->no);
  const auto* native = manager.is(Kind::instance) ? manager.as<values::Instance>()->native : nullptr;
  return native && native->row && native->row->covers == values::Covers::no_sync;
}
}  // namespace

// Whether gradients are sent decides what the other ranks wait for: where each rank chooses by its own data,
// the body is run in both ways.
Flow Contexts::WithItem::around_any() {
  if (!manager.is(Kind::choice) || !holds_back(manager)) return around_body();
  const auto* choice = manager.as<values::Choice>();
  if (run.symbols().sharing(choice->condition) != Sharing::local) return around_body();
  const auto side = [&](Value one) {
    manager = run.resolve(one);
    return around_any();
  };
  return run.fork(
      choice->condition, nullptr, where(), [&] { return side(choice->yes); },
      [&] { return side(choice->no); });
}

// The body of the with runs where the manager's generator yields. Where that yields on several ways, the body
// runs on each of them, if that is soon done. A way that has run it knows.
Flow Contexts::WithItem::through_generator() {
  Frame* const frame = run.frame_;
  const std::uint32_t chunk = run.chunk_;
  Flow flow = Flow::dead;
  bool is_entered = false, fails = false;
  TryTarget* outside = nullptr;  // that was told of what the body raises
  constexpr std::uint64_t soon = 2000;
  std::uint64_t first_steps = 0;
  values::Slot& has_run = run.heap().slot_of(
      run.heap().make<values::Instance>()->attributes, Name(values::ContextState::ran));
  std::function<Value(Value)> body = [&](Value yielded) {
    if (has_run.value || first_steps > soon) return Value::none();
    run.heap().set(has_run, run.heap().boolean(true));
    const bool again = std::exchange(is_entered, true);
    const std::uint64_t steps_before = run.record_.steps;
    Frame* const inner = run.frame_;
    const std::uint32_t inner_chunk = run.chunk_;
    run.frame_ = frame;
    run.chunk_ = chunk;
    if (target) run.assignments_->run_assign(*target, yielded);
    for (Frame* each = run.frame_; each && !outside; each = each->outer)
      if (!each->tries.empty()) outside = each->tries.back();
    const std::size_t depth = run.path_.size(), told = outside ? outside->raises.size() : 0;
    const Flow left = rest();
    flow = again && flow == Flow::normal ? flow : left;
    run.frame_ = inner;
    run.chunk_ = inner_chunk;
    first_steps = std::max(first_steps, run.record_.steps - steps_before);
    if (again) return Value::none();
    // What the body raises for certain is raised by the yield.
    const Event* last = run.block_->events.empty() ? nullptr : run.block_->events.back();
    if (flow == Flow::dead && run.path_.size() == depth && last && last->kind == EventKind::exit &&
        static_cast<const ExitEvent*>(last)->exit == ExitKind::raise &&
        (!outside || outside->raises.size() == told + 1))
      fails = run.killed_ = true;
    return Value::none();
  };
  run.function_calls_->drain(manager, where(), body);
  if (fails && !run.killed_) {
    if (outside) outside->raises.shrink(outside->raises.size() - 1);
    return Flow::normal;
  }
  if (!is_entered) {
    if (target) run.assignments_->run_assign(*target, run.heap().unseen(""));
    return rest();
  }
  run.killed_ = false;
  return flow;
}

// Is it an object of that class on any of its ways?
bool Contexts::WithItem::any_way_is(Value value, bool if_unknown, std::string_view class_path) {
  value = run.resolve(value);
  if (value.is(Kind::choice))
    return any_way_is(value.as<values::Choice>()->yes, if_unknown, class_path) ||
        any_way_is(value.as<values::Choice>()->no, if_unknown, class_path);
  return (if_unknown && value.is(Kind::unknown)) || run.is_a(value, class_path);
}

// What `as` names.
Value Contexts::WithItem::entered(Value& leave_method, bool& catches) {
  Value given = manager;
  if (manager.is(Kind::instance)) {
    auto* object = manager.as<values::Instance>();
    if (const Value enter = run.find_method(object, Name("__enter__"))) given = run.call(enter, {}, where());
    leave_method = run.find_method(object, Name("__exit__"));
    // One that returns something may say that the failure has been seen to.
    if (const Value method = leave_method.is(Kind::bound) ? leave_method.as<values::Bound>()->function
                                                          : leave_method;
        method.is(Kind::function) && method.as<values::Function>()->stmt)
      catches = catches || returns_something(method.as<values::Function>()->stmt->body);
    // What its base class has called on the quiet may fill what it holds.
    if (object->cls && (object->cls->open || object->cls->native))
      for (const auto& [name, slot] : std::vector(object->attributes.entries()))
        if (slot->value.is(Kind::list) || slot->value.is(Kind::dict)) run.unseen_->escape(slot->value);
  } else if (manager.is(Kind::unknown)) {
    // A file is its own manager.
    const values::Slot* path = manager.as<values::Unknown>()->attributes.find(Name(values::FileState::path));
    if (!path) given = run.heap().unseen("", where());
  }
  return given;
}

Flow Contexts::WithItem::around_body() {
  bool catches = any_way_is(manager, false, values::InternalRow::catches);
  const bool casts = any_way_is(
      manager, true, values::InternalRow::casts);  // what is not known may be such a manager, too
  const bool may_choose_device = manager.is(Kind::device) || manager.is(Kind::unknown) ||
      manager.is(Kind::choice);
  Value leave_method;
  const Value given = entered(leave_method, catches);
  if (target) run.assignments_->run_assign(*target, given);
  const Around* const around = run.around_;
  run.contexts_->enter(manager, where());
  run.casts_ += casts;
  run.device_contexts_ += may_choose_device;
  run.guards_ += catches;
  run.expected_ += catches;
  const Flow flow = rest();
  run.expected_ -= catches;
  run.guards_ -= catches;
  run.casts_ -= casts;
  run.around_ = around;
  run.device_contexts_ -= may_choose_device;
  if (leave_method && flow == Flow::normal)
    run.call(leave_method, {{Value::none(), Value::none(), Value::none()}, {}, false}, where());
  run.killed_ = false;
  return flow;
}

symbolic::Answer Contexts::is_instance_of_raised(std::string_view exception) {
  return catches(run_.library_symbol("builtins." + std::string(exception)), run_.raised_);
}

// Does a handler of that type catch what was raised?
symbolic::Answer Contexts::catches(Value type, Value raised) {
  type = run_.resolve(type);
  raised = run_.resolve(raised);
  if (!raised || raised.is(Kind::unknown) || raised.is(Kind::choice)) return symbolic::Answer::unknown;
  if (raised.is(Kind::class_) || raised.is(Kind::library)) return run_.is_subclass(raised, type);
  if (raised.is(Kind::instance)) return run_.is_subclass(run_.type_of(raised, {}), type);
  return symbolic::Answer::unknown;
}

namespace {
// Exceptions that no operation on tensors raises: who catches them leaves its failures alone.
bool leaves_failures(Interpreter& run, Value type) {
  constexpr std::string_view others[] = {"KeyboardInterrupt", "KeyError", "StopIteration",
      "StopAsyncIteration", "ImportError", "ModuleNotFoundError", "OSError", "IOError", "FileNotFoundError",
      "FileExistsError", "PermissionError", "EOFError", "SystemExit", "GeneratorExit", "TimeoutError",
      "ConnectionError", "ConnectionResetError", "BrokenPipeError", "UnicodeDecodeError"};
  type = run.resolve(type);
  if (type.is(Kind::tuple))
    return std::ranges::all_of(
        type.as<values::Tuple>()->items, [&](Value each) { return leaves_failures(run, each); });
  if (!type.is(Kind::library) || !type.as<values::LibrarySymbol>()->path.starts_with("builtins."))
    return false;
  return std::ranges::find(others, type.as<values::LibrarySymbol>()->path.substr(9)) != std::end(others);
}
// A handler that only tells of the failure, cleans up and lets it go on saves no run from it.
bool raises_again(const ExceptHandler& handler) {
  if (handler.body.empty() || handler.body.back()->kind != StmtKind::raise) return false;
  bool leaves = false;
  for (const Stmt* stmt : handler.body)
    syntax::for_each_statement(*stmt, [&](const Stmt& part) {
      leaves = leaves || part.kind == StmtKind::return_ || part.kind == StmtKind::break_ ||
          part.kind == StmtKind::continue_;
    });
  return !leaves;
}
// Is it for what one process runs out of, and others need not?
bool takes_exhaustion(Interpreter& run, Value type) {
  type = run.resolve(type);
  if (type.is(Kind::tuple))
    return std::ranges::any_of(
        type.as<values::Tuple>()->items, [&](Value each) { return takes_exhaustion(run, each); });
  const auto* row = type.is(Kind::library) ? type.as<values::LibrarySymbol>()->row : nullptr;
  return row && row->exhausts;
}
// Is it for the end of an iterator, which a new one takes the place of?
bool takes_end(Interpreter& run, Value type) {
  return run.resolve(type) == run.library_symbol("builtins.StopIteration");
}
}  // namespace

// `try`: its body, then, as far as it may fail, the handlers, each begun from any place where the body may
// have been left.
struct Contexts::TryRun {
  TryRun(Interpreter& interpreter, const TryStmt& statement)
      : run(interpreter), stmt(statement), event(run.record_.event<AttemptEvent>()), outer_block(run.block_),
        ways(run), target{ways.depth(), {run.heap(), ways.mark()}, false, {}} {
    event->place = {run.chunk_, stmt.span};
    event->calls = run.site_;
  }
  Flow result();

private:
  bool run_body();  // could nothing in it fail?
  void run_else();
  const ExceptHandler* certain_handler();
  Flow run_certain(const ExceptHandler& handler);
  Flow run_handlers();
  void run_handler(const ExceptHandler& handler, const values::Delta& finished, bool of_exhaustion);
  void note_taken(const ExceptHandler& handler);
  Flow finish();

  Interpreter& run;
  const TryStmt& stmt;
  AttemptEvent* event;
  Block* const outer_block;
  Speculation ways;
  TryTarget target;
  Flow flow = Flow::normal;
  std::vector<Exit> handled;
};

Flow Contexts::run_try(const TryStmt& stmt) { return TryRun(run_, stmt).result(); }

Flow Contexts::TryRun::result() {
  const bool safe = run_body();
  if (!stmt.handlers.empty() && safe) {
    run_else();
    return finish();
  }
  if (const ExceptHandler* certain = certain_handler()) return run_certain(*certain);
  run_else();
  return run_handlers();
}

bool Contexts::TryRun::run_body() {
  const bool has_handlers = !stmt.handlers.empty();
  run.block_ = &event->body;
  if (has_handlers) run.frame_->tries.push_back(&target);
  for (const ExceptHandler& handler : stmt.handlers)
    if (!raises_again(handler)) target.taken.push_back(handler.type ? run.evaluate(*handler.type) : Value{});
  const bool guards = target.guards = std::ranges::any_of(
      target.taken, [&](Value type) { return !type || !leaves_failures(run, type); });
  run.guards_ += guards;
  run.catching_ += has_handlers;
  const auto risks = run.may_raise_ + run.heap().unknowns();
  flow = run.run_block(stmt.body);
  const bool safe = risks == run.may_raise_ + run.heap().unknowns() && target.raises.empty() && run.step();
  run.guards_ -= guards;
  run.catching_ -= has_handlers;
  if (has_handlers) run.frame_->tries.pop_back();
  return safe;
}

void Contexts::TryRun::run_else() {
  run.block_ = &event->orelse;
  if (flow == Flow::normal) flow = run.run_block(stmt.orelse);
}

// Where the body fails for certain, and with what is known, the first handler of its type runs, and no other.
const ExceptHandler* Contexts::TryRun::certain_handler() {
  if (stmt.handlers.empty() || flow != Flow::dead || target.raises.empty() || run.generic_depth_ != 0 ||
      run.symbols().decide(target.raises.front().condition) != symbolic::Answer::yes)
    return nullptr;
  for (const ExceptHandler& handler : stmt.handlers) {
    const auto answer = handler.type
        ? run.contexts_->catches(run.evaluate(*handler.type), target.raises.front().value)
        : symbolic::Answer::yes;
    if (answer != symbolic::Answer::no) return answer == symbolic::Answer::yes ? &handler : nullptr;
  }
  return nullptr;
}

Flow Contexts::TryRun::run_certain(const ExceptHandler& handler) {
  const Value exception = target.raises.front().value;
  ways.become(target.raises.front().delta);
  run.block_ = &event->handlers.emplace_back();
  event->caught = true;
  if (!handler.name.empty()) run.heap().set(run.variable(handler.name), exception);
  const Value outer = std::exchange(run.caught_, exception);
  flow = run.run_block(handler.body);
  run.caught_ = outer;
  return finish();
}

Flow Contexts::TryRun::run_handlers() {
  const bool only_imports = std::ranges::all_of(stmt.body, [](const Stmt* part) {
    return part->kind == StmtKind::import || part->kind == StmtKind::import_from ||
        part->kind == StmtKind::assign || part->kind == StmtKind::pass;
  });
  const values::Delta finished = ways.writes();
  const bool goes_on = flow == Flow::normal;
  ways.forget_path();
  event->raised = run.symbols().opaque("an exception", only_imports ? Sharing::uniform : Sharing::unseen);
  for (const ExceptHandler& handler : stmt.handlers) {
    const Value type = handler.type ? run.evaluate(*handler.type) : Value{};
    const bool of_exhaustion = type && takes_exhaustion(run, type);
    // A run that is asked what it takes of a GPU's memory has enough of it, and is in the midst of its data.
    if (goes_on && run.record_.conditions.contains(values::RecordCondition::counted) &&
        (of_exhaustion || (type && takes_end(run, type))))
      continue;
    run_handler(handler, finished, of_exhaustion);
  }
  if (!stmt.handlers.empty()) {
    ways.rewind();
    if (goes_on) run.heap().apply(finished);
    flow = run.merge_exits(ways, handled, goes_on ? Flow::normal : Flow::dead, nullptr, false);
  }
  return finish();
}

void Contexts::TryRun::run_handler(
    const ExceptHandler& handler, const values::Delta& finished, bool of_exhaustion) {
  ways.rewind();
  // The body may have been left anywhere: what it wrote may or may not be there.
  values::JoinedValues joined;
  run.heap().join(ways.mark(), finished, nullptr, Sharing::unseen, &joined);
  for (const Exit& exit : target.raises)
    run.heap().join(ways.mark(), exit.delta, nullptr, Sharing::unseen, &joined);
  run.block_ = &event->handlers.emplace_back();
  run.path_.push_back(event->raised);
  note_taken(handler);
  if (of_exhaustion) event->exhausted = static_cast<int>(event->handlers.size()) - 1;
  if (!handler.name.empty())
    run.heap().set(run.variable(handler.name), run.heap().unknown("", Sharing::local));
  const Value outer = std::exchange(run.caught_, Value{});
  AttemptEvent* const handling = std::exchange(run.handling_, event);
  if (run.run_block(handler.body) == Flow::normal) handled.push_back({ways.writes(), event->raised, {}});
  run.handling_ = handling;
  run.caught_ = outer;
}

// What a handler takes: the failure to read or write a file, and which of the exceptions that the body is
// seen to raise.
void Contexts::TryRun::note_taken(const ExceptHandler& handler) {
  const Value type = handler.type ? run.evaluate(*handler.type) : Value{};
  const auto takes = [&](Value exception) {
    return !type || run.contexts_->catches(type, exception) == symbolic::Answer::yes;
  };
  const auto takes_builtin = [&](std::string_view name) {
    return takes(run.library_symbol("builtins." + std::string(name)));
  };
  std::vector<Value> taken;
  for (const Exit& exit : target.raises)
    if (exit.value && takes(exit.value)) taken.push_back(exit.value);
  const bool of_files = takes_builtin("FileNotFoundError") || takes_builtin("PermissionError");
  const Value of_work = run.heap().boolean(takes_builtin("RuntimeError"));
  if (OperationEvent* noted = run.noted_->record_implied(values::InternalRow::handler, {},
          {run.heap().boolean(of_files), run.heap().tuple(std::move(taken)), of_work}, {},
          {run.chunk_, stmt.span}))
    run.append(noted);
}

Flow Contexts::TryRun::finish() {
  run.block_ = &event->finally;
  if (flow == Flow::normal) flow = run.run_block(stmt.finally);
  run.block_ = outer_block;
  run.append(event);
  ways.commit();
  return flow;
}

}  // namespace stepzero::interpreter
