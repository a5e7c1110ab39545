// `=`, `+=` and annotated assignments, and what goes to each kind of target.
#include "interpreter/statements/assignments.hpp"
#include "interpreter/builtins/builtins.hpp"
#include "interpreter/calls/library_calls.hpp"
#include "interpreter/calls/no_result.hpp"
#include "interpreter/calls/noted_events.hpp"
#include "interpreter/calls/unseen_code.hpp"
#include "interpreter/expressions/iterables.hpp"
#include "interpreter/expressions/unknown_items.hpp"
#include "interpreter/interpreter.hpp"
#include "interpreter/roots/annotations.hpp"
#include "interpreter/roots/residual.hpp"
#include "values/internal_rows.hpp"
#include "values/kept.hpp"

#include <algorithm>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

namespace {
constexpr std::size_t not_spread = static_cast<std::size_t>(-1);

// Of `a, b, c, d = *sizes, e` the place of the part that is spread out over several names; `not_spread` for
// what is written otherwise.
std::size_t spread_part(const Expr& target, const Expr& value) {
  if (target.kind != ExprKind::tuple || value.kind != ExprKind::tuple) return not_spread;
  const auto& targets = as<TupleExpr>(target).elements;
  const auto& parts = as<TupleExpr>(value).elements;
  const auto starred = [](const Expr* part) { return part->kind == ExprKind::starred; };
  if (std::any_of(targets.begin(), targets.end(), starred) ||
      std::count_if(parts.begin(), parts.end(), starred) != 1 || targets.size() < parts.size())
    return not_spread;
  return static_cast<std::size_t>(std::find_if(parts.begin(), parts.end(), starred) - parts.begin());
}
}  // namespace

// One statement that assigns. Where an expression in it does not return, the run is `killed_` and nothing
// more is done.
struct Assignments::Assignment {
  Interpreter& run;
  const Stmt& stmt;
  Place where{run.chunk_, stmt.span};

  void plain(const AssignStmt& assign);
  void augmented(const AugAssignStmt& assign);
  void annotated(const AnnAssignStmt& assign);

private:
  void spread(const AssignStmt& assign, std::size_t star);
  void keep_size_of_residual(const Expr& target, const BinaryExpr& sum, Value value);
  bool sums_up(const Expr& target, const Expr& value);
  bool names_target(const Expr& target, const Expr& part);
  bool weighs_target(const Expr& target, const Expr& part);
  bool fills_entry(const Expr& target);
  bool changes_container(const AugAssignStmt& assign, Value changed, Value operand);
  bool calls_own_method(const AugAssignStmt& assign, Value changed, Value operand);
  bool same_text(const Expr& a, const Expr& b) const {
    return run.record_.text(run.here(a)) == run.record_.text(run.here(b));
  }
};

void Assignments::run_assignment(const Stmt& stmt) {
  Assignment assignment{run_, stmt};
  switch (stmt.kind) {
  case StmtKind::assign: return assignment.plain(as<AssignStmt>(stmt));
  case StmtKind::aug_assign: return assignment.augmented(as<AugAssignStmt>(stmt));
  default: return assignment.annotated(as<AnnAssignStmt>(stmt));
  }
}

void Assignments::Assignment::annotated(const AnnAssignStmt& assign) {
  if (!assign.value) return;
  const Value value = run.evaluate(*assign.value);
  if (!run.killed_)
    run.annotations_->judge_annotation(assign.annotation, run.chunk_, value, run.here(*assign.value),
        run.record_.text(run.here(*assign.target)));
  if (!run.killed_) run.assignments_->run_assign(*assign.target, value);
}

void Assignments::Assignment::plain(const AssignStmt& assign) {
  if (const std::size_t star = assign.targets.size() == 1 ? spread_part(*assign.targets[0], *assign.value)
                                                          : not_spread;
      star != not_spread)
    return spread(assign, star);
  const Value value = run.evaluate(*assign.value);
  if (run.killed_) return;
  run.annotations_->name_by_comment(value, stmt);
  if (assign.targets.size() != 1) {
    for (const Expr* target : assign.targets) run.assignments_->run_assign(*target, value);
    return;
  }
  const Expr& target = *assign.targets[0];
  bool is_noted = false;
  if (assign.value->kind == ExprKind::binary) {
    keep_size_of_residual(target, as<BinaryExpr>(*assign.value), value);
    is_noted = sums_up(target, *assign.value);
  }
  is_noted = is_noted || fills_entry(target);
  if (run.killed_) return;
  if (is_noted) run.noted_->note_assigned(target, value, where);
  run.assignments_->run_assign(target, value);
  if (is_noted) run.noted_->note_assigned(target, {}, where);
}

// b, n, d, h = *x.shape, self.heads: that so many sizes are asked for tells of how many dimensions x is.
void Assignments::Assignment::spread(const AssignStmt& assign, std::size_t star) {
  const auto& targets = as<TupleExpr>(*assign.targets[0]).elements;
  const auto& parts = as<TupleExpr>(*assign.value).elements;
  std::vector<Value> given;
  given.reserve(parts.size());
  for (const Expr* part : parts)
    given.push_back(
        run.resolve(run.evaluate(part->kind == ExprKind::starred ? *as<StarredExpr>(*part).value : *part)));
  if (run.killed_) return;
  const std::size_t count = targets.size() + 1 - parts.size();
  std::vector<std::string_view> names;
  for (std::size_t i = star; i < star + count; ++i)
    names.push_back(
        targets[i]->kind == ExprKind::name ? as<NameExpr>(*targets[i]).id.text() : std::string_view());
  auto sizes = run.library_.unpack(run, given[star], names, *assign.value, run.here(*assign.value));
  if (!sizes) sizes = run.take(given[star], run.here(*assign.value));
  const bool of_shape = given[star].is(Kind::unknown) && given[star].as<values::Unknown>()->shape_of;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const bool of_star = i >= star && i < star + count;
    const Value part = !of_star           ? given[i < star ? i : i - count + 1]
        : sizes && sizes->size() == count ? (*sizes)[i - star]
        : !sizes && of_shape
        ? run.subscript(given[star], run.heap().integer(static_cast<std::int64_t>(i - star)), *targets[i])
        : run.heap().unseen("", run.here(*targets[i]));
    run.assignments_->run_assign(*targets[i], part);
  }
}

void Assignments::Assignment::keep_size_of_residual(const Expr& target, const BinaryExpr& sum, Value value) {
  if (!run.policy_.operands_fit || target.kind != ExprKind::name || sum.op == BinaryOp::matmul) return;
  for (const Expr* operand : {sum.left, sum.right})
    if (operand->kind == ExprKind::name && as<NameExpr>(*operand).id == as<NameExpr>(target).id)
      if (const values::Slot& slot = run.variable(as<NameExpr>(*operand).id); slot.value)
        keep_updated(run, slot.value, value);
}

// total = total + loss, and a running mean: mean = 0.9 * mean + 0.1 * loss.
bool Assignments::Assignment::sums_up(const Expr& target, const Expr& value) {
  const auto& sum = as<BinaryExpr>(value);
  return sum.op == BinaryOp::add &&
      (names_target(target, *sum.left) || weighs_target(target, *sum.left) ||
          weighs_target(target, *sum.right));
}

bool Assignments::Assignment::names_target(const Expr& target, const Expr& part) {
  if (part.kind == target.kind) return same_text(part, target);
  // sums[name] = sums.get(name, 0) + loss
  if (part.kind != ExprKind::call || target.kind != ExprKind::subscript) return false;
  const auto& call = as<CallExpr>(part);
  const auto& entry = as<SubscriptExpr>(target);
  if (call.function->kind != ExprKind::attribute || call.arguments.empty() ||
      as<AttributeExpr>(*call.function).attribute.text() != "get")
    return false;
  return same_text(*as<AttributeExpr>(*call.function).object, *entry.object) &&
      same_text(*call.arguments[0], *entry.index);
}

bool Assignments::Assignment::weighs_target(const Expr& target, const Expr& part) {
  if (part.kind != ExprKind::binary || as<BinaryExpr>(part).op != BinaryOp::mul) return false;
  return names_target(target, *as<BinaryExpr>(part).left) ||
      names_target(target, *as<BinaryExpr>(part).right);
}

// history[step] = loss: each iteration has an entry of its own.
bool Assignments::Assignment::fills_entry(const Expr& target) {
  if (target.kind != ExprKind::subscript || as<SubscriptExpr>(target).index->kind != ExprKind::name ||
      !run.noted_->in_loop())
    return false;
  const Expr& index = *as<SubscriptExpr>(target).index;
  const Value key = run.resolve(run.lookup(as<NameExpr>(index).id, index));
  return !run.killed_ && key.is(Kind::integer) && !run.symbols().value(key.integer());
}

void Assignments::Assignment::augmented(const AugAssignStmt& assign) {
  const Value before = run.evaluate(*assign.target);
  const Value operand = run.evaluate(*assign.value);
  if (run.killed_) return;
  const Value changed = run.resolve(before);
  if (changes_container(assign, changed, operand) || calls_own_method(assign, changed, operand)) return;
  const BinaryExpr& node = run.record_.augmented
                               .try_emplace(&stmt,
                                   BinaryExpr{{ExprKind::binary, stmt.span}, assign.op, assign.target,
                                       assign.value, assign.target->span})
                               .first->second;
  const Value made = changed.is(Kind::tensor)
      ? run.library_.augment(run, assign.op, changed, operand, node, where)
      : run.binary(assign.op, before, operand, node);
  const bool sums = assign.op == BinaryOp::add && !run.killed_;
  if (sums) run.noted_->note_assigned(*assign.target, operand, where);
  run.assignments_->run_assign(*assign.target, made);
  if (sums) run.noted_->note_assigned(*assign.target, {}, where);
}

namespace {
// The method of a list, a set or a dict that the operator calls; empty if it calls none.
std::string_view method_in_place(Value changed, BinaryOp op) {
  if (changed.is(Kind::dict)) return op == BinaryOp::bit_or ? "update" : "";
  if (changed.as<values::List>()->kind != values::ListKind::set) return op == BinaryOp::add ? "extend" : "";
  switch (op) {
  case BinaryOp::bit_or: return "update";
  case BinaryOp::bit_and: return "intersection_update";
  case BinaryOp::sub: return "difference_update";
  case BinaryOp::bit_xor: return "symmetric_difference_update";
  default: return "";
  }
}
}  // namespace

bool Assignments::Assignment::changes_container(const AugAssignStmt& assign, Value changed, Value operand) {
  if (!changed.is(Kind::list) && !changed.is(Kind::dict)) return false;
  if (const std::string_view method = method_in_place(changed, assign.op); !method.empty()) {
    Arguments arguments{{operand}, {}, false};
    run.builtins_->call_method(changed, method, arguments, where);
    // The target is assigned to, which a property or an element sees.
    if (assign.target->kind != ExprKind::name) run.assignments_->run_assign(*assign.target, changed);
    return true;
  }
  if (!changed.is(Kind::list) || changed.as<values::List>()->kind == values::ListKind::set ||
      assign.op != BinaryOp::mul)
    return false;
  const BinaryExpr times{
      {ExprKind::binary, stmt.span}, assign.op, assign.target, assign.value, assign.target->span};
  const Value made = run.resolve(run.binary(assign.op, changed, operand, times));
  if (made.is(Kind::list)) run.heap().set_list(changed, *values::Heap::list_state(made));
  return true;
}

bool Assignments::Assignment::calls_own_method(const AugAssignStmt& assign, Value changed, Value operand) {
  if (!changed.is(Kind::instance)) return false;
  constexpr std::string_view names[] = {"add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "pow",
      "lshift", "rshift", "and", "or", "xor"};
  const Value method = run.find_method(
      changed.as<values::Instance>(), Name("__i" + std::string(names[static_cast<int>(assign.op)]) + "__"));
  if (!method) return false;
  run.assignments_->run_assign(*assign.target, run.call(method, {{operand}, {}, false}, where));
  return true;
}

namespace {
// One integer or another: a size that depends on a condition.
bool is_either_integer(Value value) {
  if (value.is(Kind::unknown)) {
    const auto* unknown = value.as<values::Unknown>();
    return unknown->integer && !unknown->only_compared && !unknown->state.value;
  }
  if (!value.is(Kind::choice)) return value.is(Kind::integer);
  return is_either_integer(value.as<values::Choice>()->yes) &&
      is_either_integer(value.as<values::Choice>()->no);
}
}  // namespace

// object[index] = value
void Assignments::store_subscript(Value object, Value index, Value value, const Expr& target) {
  object = run_.resolve(object);
  // Each side gets the item only if its condition holds.
  if (object.is(Kind::choice)) {
    const auto store = [&](Value side) {
      store_subscript(side, index, value, target);
      return Value::none();
    };
    run_.over_choices(object, store, run_.here(target));
    return;
  }
  // Containers of modules hold their parts in a list or a dict, where the class has no way of its own.
  if (object.is(Kind::instance) &&
      !(object.as<values::Instance>()->cls &&
          run_.find_in_order(object.as<values::Instance>()->cls->order, Name("__setitem__"))))
    for (const values::KeptKey parts : {values::ContainerState::items, values::ContainerState::dict})
      if (const values::Slot* slot = object.as<values::Instance>()->attributes.find(Name(parts));
          slot && slot->value) {
        object = run_.resolve(slot->value);
        break;
      }
  // os.environ["WORLD_SIZE"] = ...: who communicates from here on is not as the job was started.
  if (const Value key = run_.resolve(index); object.is(Kind::library) && key.is(Kind::string) &&
      run_.library_.find(
          std::string(object.as<values::LibrarySymbol>()->path) + "[" + std::string(key.text()) + "]"))
    if (OperationEvent* event = run_.noted_->record_implied(
            values::InternalRow::unseen_communication, {}, {}, {}, run_.here(target)))
      run_.append(event);
  if (object.is(Kind::library))
    if (const Row* setter = run_.library_.find(
            std::string(object.as<values::LibrarySymbol>()->path) + ".__setitem__");
        setter && setter->kind == values::RowKind::function)
      run_.library_calls_->call_library(*run_.library_symbol(setter->path).as<values::LibrarySymbol>(), {},
          {{index, value}, {}, false}, run_.here(target), nullptr);
  if (object.is(Kind::dict))
    run_.dict_set(object, index, value);
  else if (object.is(Kind::unknown) && !object.as<values::Unknown>()->state.value) {
    run_.step(
        1 + object.as<values::Unknown>()->items.size());  // each of them is compared, and may be made anew
    // A table of a library that is not seen makes a column of its own of a list.
    const Value stored = run_.resolve(value);
    const bool becomes_column = object.as<values::Unknown>()->unseen &&
        (stored.is(Kind::list) || stored.is(Kind::tuple));
    if (becomes_column) run_.unseen_->escape(stored);
    store_item(run_, *object.as<values::Unknown>(), index,
        becomes_column ? heap().unknown_from({stored}, run_.here(target)) : value);
  } else if (object.is(Kind::tensor))
    run_.library_.store(run_, object, index, value, target, run_.here(target));
  else if (object.is(Kind::list)) {
    values::ListState state = *values::Heap::list_state(object);
    const Value place_of = run_.resolve(index);
    const auto at = run_.to_constant(place_of);
    const auto size = static_cast<std::int64_t>(state.items.size());
    if (at && !state.open && *at < size && *at >= -size)
      state.items[static_cast<std::size_t>(*at < 0 ? *at + size : *at)] = value;
    else if (place_of.is(Kind::slice) && !state.open) {
      const auto picked = run_.iterables_->slice_of(size, *place_of.as<values::SliceObject>());
      const auto items = run_.take(value, run_.here(target));
      const Value by = run_.resolve(place_of.as<values::SliceObject>()->step);
      const bool plain = !by || by.is(Kind::none) || run_.to_constant(by) == 1;
      if (picked && items && plain) {
        const auto lower = place_of.as<values::SliceObject>()->lower;
        std::int64_t from = picked->empty()
            ? (run_.resolve(lower).is(Kind::none) ? 0 : run_.to_constant(lower).value_or(0))
            : picked->front();
        if (from < 0) from += size;
        from = std::clamp<std::int64_t>(from, 0, size);
        state.items.erase(state.items.begin() + from,
            state.items.begin() + from + static_cast<std::ptrdiff_t>(picked->size()));
        state.items.insert(state.items.begin() + from, items->begin(), items->end());
      } else if (picked && items && picked->size() == items->size()) {
        for (std::size_t i = 0; i < picked->size(); ++i)
          state.items[static_cast<std::size_t>((*picked)[i])] = (*items)[i];
      } else {
        state.rest = heap().merge(run_.element(object, run_.here(target)),
            run_.element(value, run_.here(target)), Sharing::uniform);
        state.items.clear();
        state.open = true;
        state.length = nullptr;
      }
    } else {
      for (Value& item : state.items) item = heap().merge(item, value, Sharing::uniform);
      if (state.open) state.rest = heap().merge(state.rest, value, Sharing::uniform);
    }
    heap().set_list(object, std::move(state));
  } else if (object.is(Kind::instance)) {
    if (const Value method = run_.find_method(object.as<values::Instance>(), Name("__setitem__")))
      run_.call(method, {{index, value}, {}, false}, run_.here(target));
  }
}

namespace {
// Who counts memory tells sums in the program's own names: what nothing has named yet goes by the name of
// what has it.
void name_sizes(values::Heap& heap, std::string_view name, Value of) {
  symbolic::Context& s = heap.symbols();
  const auto give = [&](symbolic::Int size, std::string_view before, const std::string& after) {
    if (const symbolic::AtomInfo* info = size ? s.atom_info(size) : nullptr; info && info->name.empty())
      s.rename(size, std::string(before) + std::string(name) + after);
  };
  if (name == "_") return;
  if (of.is(Kind::unknown)) give(of.as<values::Unknown>()->integer, "", "");
  if (of.is(Kind::list)) {
    // Of a list that may have any length this is one for all who ask.
    if (values::ListState state = *values::Heap::list_state(of);
        state.open && !state.length && of.as<values::List>()->kind == values::ListKind::list) {
      symbolic::AtomInfo info;
      info.lower = static_cast<std::int64_t>(state.items.size());
      info.sharing = heap.sharing(of);
      // A name that the program gives to the number is the better one: `vocab_size = len(chars)`.
      info.name = "len(" + std::string(name) + ")";
      info.stand_in = true;
      state.length = s.fresh(info);
      heap.set_list(of, std::move(state));
    }
    give(values::Heap::list_state(of)->length, "len(", ")");
  }
  if (!of.is(Kind::tensor)) return;
  auto* tensor = of.as<values::Tensor>();
  // Data of which no size is known have one of their own, unless a batch is yet to be made of them.
  const auto lacks_sizes = [](const values::TensorState& state) {
    return !state.shape.ndim_known ||
        std::ranges::any_of(state.shape.dims, [](const values::Dim& dim) { return !dim.size; });
  };
  const values::TensorState& now = *tensor->now();
  const bool is_made = now.made &&
      (now.made->states.empty() ||
          std::ranges::any_of(
              now.made->states, [&](const values::TensorState* from) { return from && lacks_sizes(*from); }));
  if (tensor->role == values::TensorRole::plain && now.shape.ndim_known && now.graph.empty() && !is_made &&
      lacks_sizes(now)) {
    values::TensorState known = now;
    for (values::Dim& dim : known.shape.dims)
      if (!dim.size) dim.size = s.fresh({"", 0, {}, symbolic::Sharing::unseen});
    heap.set(tensor->state, Value::of(Kind::state, heap.state(known)));
  }
  const auto& dims = tensor->now()->shape.dims;
  for (std::size_t i = 0; i < dims.size(); ++i) give(dims[i].size, "", ".shape[" + std::to_string(i) + "]");
}
}  // namespace

constexpr int most_nested_sides = 8;  // choices within a choice: each has two sides

void Assignments::run_assign(const Expr& target, Value value, bool of_comprehension) {
  // To be shown, it goes by the name that the program gives it.
  if (run_.policy_.names_sizes && run_.in_roots_ && value.is(Kind::choice) && run_.dry_runs_ == 0 &&
      (target.kind == ExprKind::name || target.kind == ExprKind::attribute)) {
    value = run_.resolve(value);
    const Name name = target.kind == ExprKind::name ? as<NameExpr>(target).id
                                                    : as<AttributeExpr>(target).attribute;
    if (value.is(Kind::choice) && is_either_integer(value)) value = Value::of(run_.stand_in(name.text()));
  }
  switch (target.kind) {
  case ExprKind::name: {
    const Name name = as<NameExpr>(target).id;
    if (value.is(Kind::unknown) && value.as<values::Unknown>()->name.empty())
      value.as<values::Unknown>()->name = name.text();
    const bool counted = record_.conditions.contains(values::RecordCondition::counted);
    if (value.is(Kind::integer) && name.text() != "_" &&
        ((run_.policy_.names_sizes && symbols().has_stand_in(value.integer())) || counted))
      symbols().rename(value.integer(), std::string(name.text()));
    if (counted && !of_comprehension) name_sizes(heap(), name.text(), value);
    heap().set(run_.variable(name), value);
    run_.note(Fact::Role::assignment, run_.here(target), value);
    return;
  }
  case ExprKind::attribute: {
    const auto& attribute = as<AttributeExpr>(target);
    const Value object = run_.evaluate(*attribute.object);
    run_.set_attribute(object, attribute.attribute, value, run_.here(target));
    const bool on_self = attribute.object->kind == ExprKind::name &&
        as<NameExpr>(*attribute.object).id.text() == "self";
    run_.note(on_self ? Fact::Role::attribute : Fact::Role::expression, run_.here(target), value);
    return;
  }
  case ExprKind::subscript: {
    const auto& subscript_target = as<SubscriptExpr>(target);
    const Value object = run_.evaluate(*subscript_target.object);
    store_subscript(object, run_.evaluate(*subscript_target.index), value, target);
    return;
  }
  case ExprKind::starred: return run_assign(*as<StarredExpr>(target).value, value);
  case ExprKind::tuple: return run_unpack(target, as<TupleExpr>(target).elements, value);
  case ExprKind::list: return run_unpack(target, as<ListExpr>(target).elements, value);
  default: return;
  }
}

// A choice of tuples is unpacked position by position. What does not fit raises: the way that goes on has
// come from another side.
void Assignments::unpack_choice(const Expr& target, List<const Expr*> targets, Value value) {
  const auto item = [&](Value side, std::size_t i, const auto& again, int depth) -> Value {
    if (side.is(Kind::choice) && depth < most_nested_sides) {
      const auto* choice = side.as<values::Choice>();
      const Value yes = again(choice->yes, i, again, depth + 1), no = again(choice->no, i, again, depth + 1);
      return yes && no ? heap().choose(choice->condition, yes, no) : yes ? yes : no;
    }
    if (side.is(Kind::none)) return {};
    const auto items = run_.elements(side, run_.here(target));
    if (!items) return run_.element(side, run_.here(target));
    if (items->size() == targets.size()) return (*items)[i];
    return side.is(Kind::tuple) ? Value{} : run_.element(side, run_.here(target));
  };
  for (std::size_t i = 0; i < targets.size(); ++i) {
    Value part = targets[i]->kind == ExprKind::starred ? Value{} : item(value, i, item, 0);
    run_assign(*targets[i], part ? part : heap().unseen(""));
  }
}

void Assignments::run_unpack(const Expr& target, List<const Expr*> targets, Value value) {
  value = run_.resolve(value);
  if (const Value made = refuse_nothing(run_, value, NoResult::unpacking, run_.here(target))) value = made;
  if (value.is(Kind::choice)) return unpack_choice(target, targets, value);
  std::size_t star = targets.size();
  std::vector<std::string_view> names(targets.size());
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (targets[i]->kind == ExprKind::starred) star = i;
    if (targets[i]->kind == ExprKind::name) names[i] = as<NameExpr>(*targets[i]).id.text();
  }
  std::optional<std::vector<Value>> items;
  if (star == targets.size()) items = run_.library_.unpack(run_, value, names, target, run_.here(target));
  if (!items) items = run_.take(value, run_.here(target));
  const bool fits = items &&
      (star == targets.size() ? items->size() == targets.size() : items->size() + 1 >= targets.size());
  if (!fits) {
    for (std::size_t i = 0; i < targets.size(); ++i) {
      // Each part of an unknown has a name of its own: `B, T = x.shape`. What follows a star is
      // counted from the end.
      const auto at = static_cast<std::int64_t>(i) -
          (i > star ? static_cast<std::int64_t>(targets.size()) : 0);
      Value part = items ? heap().unseen("", run_.here(target))
                         : run_.subscript(value, heap().integer(at), *targets[i]);
      if (targets[i]->kind == ExprKind::starred)
        part = heap().open_list(run_.element(value, run_.here(target)));
      run_assign(*targets[i], part);
    }
    return;
  }
  const std::size_t extra = items->size() + 1 - targets.size();
  for (std::size_t i = 0, from = 0; i < targets.size(); ++i) {
    if (i == star) {
      run_assign(*targets[i],
          heap().list({items->begin() + static_cast<std::ptrdiff_t>(from),
              items->begin() + static_cast<std::ptrdiff_t>(from + extra)}));
      from += extra;
    } else {
      run_assign(*targets[i], (*items)[from++]);
    }
  }
}

}  // namespace stepzero::interpreter
