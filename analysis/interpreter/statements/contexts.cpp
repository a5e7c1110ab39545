// `with` and `try`: what is entered and left, and what is caught.
#include "interpreter/interpreter.hpp"
#include "interpreter/paths/speculation.hpp"

#include "interpreter/classes/set_on_self.hpp"

#include <algorithm>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

// The library's own managers, and what may be one of them.
void Interpreter::enter(Value manager, Place where) {
  manager = resolve(manager);
  if (manager.is(Kind::instance) ? !is_a(manager, library_.types().context) : !manager.is(Kind::choice) && !manager.is(Kind::unknown) && !manager.is(Kind::device)) return;
  if (manager.is(Kind::instance) && manager.object() == unentered_) unentered_ = nullptr;
  const values::Known gradients = gradients_under(manager, around_ ? around_->gradients : values::Known::yes);
  record_.arounds.push_back(std::make_unique<Around>(Around{manager, where, around_, gradients, region_of(manager, around_ ? around_->casts : nullptr)}));
  around_ = record_.arounds.back().get();
}

values::Known Interpreter::gradients_under(Value manager, values::Known outer) const {
  if (manager.is(Kind::choice)) {
    const auto* choice = manager.as<values::Choice>();
    const values::Known yes = gradients_under(choice->yes, outer), no = gradients_under(choice->no, outer);
    return yes == no ? yes : values::Known::unknown;
  }
  const auto* instance = manager.is(Kind::instance) ? manager.as<values::Instance>() : nullptr;
  if (!instance || !instance->native || !instance->native->row || instance->native->row->operation != values::Operation::grad_region) return outer;
  const values::Slot* on = instance->attributes.find(Name("$on"));
  const auto answer = on && on->value.is(Kind::boolean) ? record_.symbols.decide(on->value.condition()) : symbolic::Answer::unknown;
  return answer == symbolic::Answer::yes ? values::Known::yes : answer == symbolic::Answer::no ? values::Known::no : values::Known::unknown;
}

const values::Instance* Interpreter::region_of(Value manager, const values::Instance* outer) const {
  // One that is entered where a condition of the library's own holds, or does not, is named: readers see that it may be no other.
  if (manager.is(Kind::choice)) {
    const auto* choice = manager.as<values::Choice>();
    const auto* yes = region_of(choice->yes, nullptr);
    const auto* no = region_of(choice->no, nullptr);
    if (outer || static_cast<bool>(yes) == static_cast<bool>(no)) return nullptr;
    const Cond condition = yes ? choice->condition : record_.symbols.logical_not(choice->condition);
    return std::ranges::any_of(record_.conditions, [&](const auto& named) { return named.second == condition; }) ? yes ? yes : no : nullptr;
  }
  const auto* instance = manager.is(Kind::instance) ? manager.as<values::Instance>() : nullptr;
  if (!instance || !instance->native || !instance->native->row || instance->native->row->operation != values::Operation::autocast_region) return outer;
  const values::Slot* enabled = instance->attributes.find(Name("$enabled"));
  return enabled && enabled->value.is(Kind::boolean) && record_.symbols.decide(enabled->value.condition()) == symbolic::Answer::no ? nullptr : instance;
}

values::Known Interpreter::records_gradients() const {
  const values::Known here = around_ ? around_->gradients : values::Known::yes;
  return here == values::Known::yes && (switches_ > 0 || unentered_) ? values::Known::unknown : here;
}

Flow Interpreter::run_with(const WithStmt& stmt, std::size_t item) {
  if (item == stmt.items.size()) return run_block(stmt.body);
  const Expr& expr = *stmt.items[item].context;
  const Expr* target = stmt.items[item].target;
  const Value manager = resolve(evaluate(expr));
  if (killed_) {
    killed_ = false;
    return leave(ExitKind::raise, stmt, raised_);
  }
  if (is_pending(manager)) {
    // The body of the with runs where the manager's generator yields.
    Frame* const frame = frame_;
    const std::uint32_t chunk = chunk_;
    Flow flow = Flow::dead;
    bool entered = false, fails = false;
    TryTarget* outside = nullptr;  // that was told of what the body raises
    // Where the generator yields on several ways, the body runs on each of them, if that is soon done. A way that has run it knows.
    constexpr std::uint64_t soon = 2000;
    std::uint64_t first_steps = 0;
    values::Slot& has_run = heap().slot_of(heap().make<values::Instance>()->attributes, Name("$ran"));
    std::function<Value(Value)> body = [&](Value yielded) {
      if (has_run.value || first_steps > soon) return Value::none();
      heap().set(has_run, heap().boolean(true));
      const bool again = std::exchange(entered, true);
      const std::uint64_t steps_before = record_.steps;
      Frame* const inner = frame_;
      const std::uint32_t inner_chunk = chunk_;
      frame_ = frame;
      chunk_ = chunk;
      if (target) run_assign(*target, yielded);
      for (Frame* each = frame_; each && !outside; each = each->outer)
        if (!each->tries.empty()) outside = each->tries.back();
      const std::size_t depth = path_.size(), told = outside ? outside->raises.size() : 0;
      const Flow left = run_with(stmt, item + 1);
      flow = again && flow == Flow::normal ? flow : left;
      frame_ = inner;
      chunk_ = inner_chunk;
      first_steps = std::max(first_steps, record_.steps - steps_before);
      if (again) return Value::none();
      // What the body raises for certain is raised by the yield.
      const Event* last = block_->events.empty() ? nullptr : block_->events.back();
      if (flow == Flow::dead && path_.size() == depth && last && last->kind == EventKind::exit && static_cast<const ExitEvent*>(last)->exit == ExitKind::raise &&
          (!outside || outside->raises.size() == told + 1))
        fails = killed_ = true;
      return Value::none();
    };
    drain(manager, here(expr), body);
    if (fails && !killed_) {
      if (outside) outside->raises.pop_back();
      return Flow::normal;
    }
    if (!entered) {
      if (target) run_assign(*target, heap().external(""));
      return run_with(stmt, item + 1);
    }
    killed_ = false;
    return flow;
  }
  Value entered = manager;
  Value leave_method;
  const std::function<bool(Value)> expects_failure = [&](Value value) {
    if (!value.is(Kind::choice)) return is_a(value, "$catches");
    return expects_failure(value.as<values::Choice>()->yes) || expects_failure(value.as<values::Choice>()->no);
  };
  bool catches = expects_failure(manager);
  // What is not known may be such a manager, too.
  const std::function<bool(Value)> chooses_types = [&](Value value) {
    value = resolve(value);
    if (!value.is(Kind::choice)) return value.is(Kind::unknown) || is_a(value, "$casts");
    return chooses_types(value.as<values::Choice>()->yes) || chooses_types(value.as<values::Choice>()->no);
  };
  const bool casts = chooses_types(manager);
  const bool may_choose_device = manager.is(Kind::device) || manager.is(Kind::unknown) || manager.is(Kind::choice);
  if (manager.is(Kind::instance)) {
    auto* object = manager.as<values::Instance>();
    if (const Value enter = find_method(object, Name("__enter__"))) entered = call(enter, {}, here(expr));
    leave_method = find_method(object, Name("__exit__"));
    // One that returns something may say that the failure has been seen to.
    if (const Value method = leave_method.is(Kind::bound) ? leave_method.as<values::Bound>()->function : leave_method; method.is(Kind::function) && method.as<values::Function>()->stmt)
      catches = catches || returns_something(method.as<values::Function>()->stmt->body);
    // What its base class has called behind the scenes may fill what it holds.
    if (object->cls && (object->cls->open || object->cls->native))
      for (const auto& [name, slot] : std::vector(object->attributes.entries()))
        if (slot->value.is(Kind::list) || slot->value.is(Kind::dict)) escape(slot->value);
  } else if (manager.is(Kind::unknown)) {
    // A file is its own manager.
    const values::Slot* path = manager.as<values::Unknown>()->attributes.find(Name("$path"));
    if (!path) entered = heap().external("", here(expr));
  }
  if (target) run_assign(*target, entered);
  const Around* const around = around_;
  enter(manager, here(expr));
  casts_ += casts;
  device_contexts_ += may_choose_device;
  guards_ += catches;
  expected_ += catches;
  const Flow flow = run_with(stmt, item + 1);
  expected_ -= catches;
  guards_ -= catches;
  casts_ -= casts;
  around_ = around;
  device_contexts_ -= may_choose_device;
  if (leave_method && flow == Flow::normal)
    call(leave_method, {{Value::none(), Value::none(), Value::none()}, {}, false}, here(expr));
  killed_ = false;
  return flow;
}

symbolic::Answer Interpreter::is_instance_of_raised(std::string_view exception) { return catches(library_symbol("builtins." + std::string(exception)), raised_); }

// Does a handler of that type catch what was raised?
symbolic::Answer Interpreter::catches(Value type, Value raised) {
  type = resolve(type);
  raised = resolve(raised);
  if (!raised || raised.is(Kind::unknown) || raised.is(Kind::choice)) return symbolic::Answer::unknown;
  if (raised.is(Kind::class_) || raised.is(Kind::library)) return is_subclass(raised, type);
  if (raised.is(Kind::instance)) return is_subclass(type_of(raised, {}), type);
  return symbolic::Answer::unknown;
}

namespace {
// Exceptions that no operation on tensors raises: who catches them leaves its failures alone.
bool leaves_failures(Interpreter& run, Value type) {
  constexpr std::string_view others[] = {"KeyboardInterrupt", "KeyError", "StopIteration", "StopAsyncIteration", "ImportError", "ModuleNotFoundError", "OSError",
                                         "IOError", "FileNotFoundError", "FileExistsError", "PermissionError", "EOFError", "SystemExit", "GeneratorExit"};
  type = run.resolve(type);
  if (type.is(Kind::tuple)) return std::ranges::all_of(type.as<values::Tuple>()->items, [&](Value each) { return leaves_failures(run, each); });
  if (!type.is(Kind::library) || !type.as<values::LibrarySymbol>()->path.starts_with("builtins.")) return false;
  return std::ranges::find(others, type.as<values::LibrarySymbol>()->path.substr(9)) != std::end(others);
}
// Is it for what one process runs out of, and others need not?
bool takes_exhaustion(Interpreter& run, Value type) {
  type = run.resolve(type);
  if (type.is(Kind::tuple)) return std::ranges::any_of(type.as<values::Tuple>()->items, [&](Value each) { return takes_exhaustion(run, each); });
  const auto* row = type.is(Kind::library) ? type.as<values::LibrarySymbol>()->row : nullptr;
  return row && row->exhausts;
}
} // namespace

Flow Interpreter::run_try(const TryStmt& stmt) {
  auto* event = record_.event<AttemptEvent>();
  event->place = {chunk_, stmt.span};
  event->calls = site_;
  Block* const block = block_;
  Speculation ways(*this);
  const values::Mark mark = ways.mark();
  TryTarget target{mark, ways.depth(), {}};
  const bool has_handlers = !stmt.handlers.empty();

  bool only_imports = true;
  for (const Stmt* part : stmt.body)
    only_imports = only_imports && (part->kind == StmtKind::import || part->kind == StmtKind::import_from ||
                                    part->kind == StmtKind::assign || part->kind == StmtKind::pass);

  block_ = &event->body;
  if (has_handlers) frame_->tries.push_back(&target);
  const bool guards = std::ranges::any_of(stmt.handlers, [&](const ExceptHandler& handler) { return !handler.type || !leaves_failures(*this, evaluate(*handler.type)); });
  guards_ += guards;
  catching_ += has_handlers;
  const auto risks = may_raise_ + heap().unknowns();
  Flow flow = run_block(stmt.body);
  const bool safe = risks == may_raise_ + heap().unknowns() && target.raises.empty() && step();
  guards_ -= guards;
  catching_ -= has_handlers;
  if (has_handlers) frame_->tries.pop_back();

  // What a handler takes: the failure to read or write a file, and which of the exceptions that the body is seen to raise.
  const auto note_taken = [&](const ExceptHandler& handler) {
    const Value type = handler.type ? evaluate(*handler.type) : Value{};
    const auto takes = [&](Value exception) { return !type || catches(type, exception) == symbolic::Answer::yes; };
    std::vector<Value> taken;
    for (const Exit& exit : target.raises)
      if (exit.value && takes(exit.value)) taken.push_back(exit.value);
    const bool of_files = takes(library_symbol("builtins.FileNotFoundError")) || takes(library_symbol("builtins.PermissionError"));
    if (OperationEvent* noted = record_implied("$handler", {}, {heap().boolean(of_files), heap().tuple(std::move(taken)), heap().boolean(takes(library_symbol("builtins.RuntimeError")))}, {}, {chunk_, stmt.span})) append(noted);
  };
  const auto finish = [&](Flow at_end) {
    block_ = &event->finally;
    if (at_end == Flow::normal) at_end = run_block(stmt.finally);
    block_ = block;
    append(event);
    ways.commit();
    return at_end;
  };
  // Nothing in the body can fail: no handler runs.
  if (has_handlers && safe) {
    block_ = &event->orelse;
    if (flow == Flow::normal) flow = run_block(stmt.orelse);
    return finish(flow);
  }
  // It fails for certain, and with what is known: the first handler of its type runs, and no other.
  if (has_handlers && flow == Flow::dead && !target.raises.empty() && generic_depth_ == 0 &&
      symbols().decide(target.raises.front().condition) == symbolic::Answer::yes) {
    const Value exception = target.raises.front().value;
    for (const ExceptHandler& handler : stmt.handlers) {
      const auto answer = handler.type ? catches(evaluate(*handler.type), exception) : symbolic::Answer::yes;
      if (answer == symbolic::Answer::no) continue;
      if (answer == symbolic::Answer::unknown) break;
      ways.become(target.raises.front().delta);
      block_ = &event->handlers.emplace_back();
      event->caught = true;
      if (!handler.name.empty()) heap().set(variable(handler.name), exception);
      const Value outer = caught_;
      caught_ = exception;
      flow = run_block(handler.body);
      caught_ = outer;
      return finish(flow);
    }
  }

  block_ = &event->orelse;
  if (flow == Flow::normal) flow = run_block(stmt.orelse);
  const values::Delta finished = ways.writes();
  const bool goes_on = flow == Flow::normal;
  ways.forget_path();

  std::vector<Exit> handled;
  const Cond raised = symbols().opaque("an exception", only_imports ? Sharing::uniform : Sharing::unseen);
  event->raised = raised;
  for (const ExceptHandler& handler : stmt.handlers) {
    const bool of_exhaustion = handler.type && takes_exhaustion(*this, evaluate(*handler.type));
    // A run that is asked what it takes of a GPU's memory has enough of it.
    if (of_exhaustion && goes_on && record_.conditions.contains("$counted")) continue;
    ways.rewind();
    // The body may have been left anywhere: what it wrote may or may not be there.
    heap().join(mark, finished, nullptr, Sharing::unseen);
    for (const Exit& exit : target.raises) heap().join(mark, exit.delta, nullptr, Sharing::unseen);
    block_ = &event->handlers.emplace_back();
    path_.push_back(raised);
    note_taken(handler);
    if (of_exhaustion) event->exhausted = static_cast<int>(event->handlers.size()) - 1;
    if (!handler.name.empty()) heap().set(variable(handler.name), heap().unknown("", Sharing::local));
    const Value outer = caught_;
    AttemptEvent* const handling = handling_;
    caught_ = {};
    handling_ = event;
    if (run_block(handler.body) == Flow::normal) handled.push_back({ways.writes(), raised, {}});
    handling_ = handling;
    caught_ = outer;
  }
  if (has_handlers) {
    ways.rewind();
    if (goes_on) heap().apply(finished);
    flow = merge_exits(ways, handled, goes_on ? Flow::normal : Flow::dead, nullptr, false);
  }
  return finish(flow);
}

} // namespace stepzero::interpreter
